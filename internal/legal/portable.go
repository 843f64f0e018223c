package legal

import (
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// messagesFormat is the format whose parts [Portable] converts.
const messagesFormat content.Format = "messages"

// The rules by which [Portable] reports. The table of every codec except Messages
// includes them.
var (
	SummaryAsText = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDegraded,
		Reason: "the summary of the earlier conversation is sent as text"}
	ReferenceAsText = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDegraded,
		Reason: "the tool reference is sent as the name of the tool"}
	ToolAsFunction = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDegraded,
		Reason: "the vendor-defined tool that the client runs is sent as a function with the vendor's schema"}
)

// Portable converts parts that only Messages has, but that any model can use, to
// neutral ones. It returns n if own is Messages or if n has no such parts,
// otherwise a copy. Each part stays one part, at its index.
//
// A compaction block becomes its summary as text. A compaction block that is
// encrypted stays: adapters refuse it. A tool reference becomes the name of the
// tool. Vendor-defined tools that the client runs (bash, the text editor, memory)
// become functions with the same names, so that clients recognize the tool calls.
func Portable(n *upstream.Request, own content.Format, log *loss.Log) *upstream.Request {
	if own == messagesFormat {
		return n
	}
	to := n
	if tools, changed := functions(n.Tools, log); changed {
		c := *n
		c.Tools, to = tools, &c
	}
	turns := false
	for i := range n.Turns {
		parts, changed := portableParts(n.Turns[i].Parts, func() string { return "turns." + strconv.Itoa(i) + ".parts" }, log)
		if !changed {
			continue
		}
		if !turns {
			c := *to
			c.Turns, to, turns = slices.Clone(n.Turns), &c, true
		}
		to.Turns[i].Parts = parts
	}
	return to
}

// portableParts returns parts, or a changed copy. at returns their path.
func portableParts(parts []content.Part, at func() string, log *loss.Log) (list []content.Part, changed bool) {
	list = parts
	for i, p := range parts {
		var q content.Part
		switch p := p.(type) {
		case *content.ToolResult:
			if p == nil {
				continue
			}
			inner, other := portableParts(p.Parts, func() string { return at() + "." + strconv.Itoa(i) + ".parts" }, log)
			if !other {
				continue
			}
			r := *p
			r.Parts, q = inner, &r
		case *content.Unknown:
			if p == nil || p.Format != messagesFormat {
				continue
			}
			text, rule := asText(p)
			if rule == nil {
				continue
			}
			q = &content.Text{Text: text}
			log.Add(rule, at()+"."+strconv.Itoa(i))
		default:
			continue
		}
		if !changed {
			list, changed = slices.Clone(parts), true
		}
		list[i] = q
	}
	return list, changed
}

// asText returns the text for a block of Messages and the rule that reports it. The
// rule is nil if the block has no text form.
func asText(u *content.Unknown) (string, *loss.Rule) {
	switch u.Kind {
	case "compaction":
		if text := gjson.Get(u.Raw, "content").Str; text != "" {
			return "Summary of the conversation so far:\n\n" + text, SummaryAsText
		}
	case "tool_reference":
		if name := gjson.Get(u.Raw, "tool_name").Str; name != "" {
			return name, ReferenceAsText
		}
	}
	return "", nil
}

// Encrypted reports whether a part is an encrypted summary of earlier turns, which
// only the vendor of Messages can read.
func Encrypted(p content.Part) bool {
	u, ok := p.(*content.Unknown)
	return ok && u != nil && u.Format == messagesFormat && u.Kind == "compaction" &&
		gjson.Get(u.Raw, "content").Str == "" && gjson.Get(u.Raw, "encrypted_content").Str != ""
}
