package legal

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// messagesFormat is the format whose parts [Portable] represents.
const messagesFormat content.Format = "messages"

// These are reported by [Portable]. Every codec's table but that of Messages has
// them.
var (
	SummaryAsText = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDegraded,
		Reason: "the summary of the earlier conversation is sent as text"}
	ReferenceAsText = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDegraded,
		Reason: "the reference to a tool is sent as the tool's name"}
	ToolAsFunction = &loss.Rule{Feature: loss.VendorTool, Severity: content.LossDegraded,
		Reason: "the tool that the client runs by the vendor's schema is sent as a function with that schema"}
)

// Portable returns n if it is for Messages, or has none of the parts that only
// Messages has but any model can use; else a copy in which these are neutral. Each
// part stays one part, at its place.
//
// A compaction block, which stands for the conversation before it, becomes its
// text. One whose content only the vendor can read stays: see backend.Kept. A
// reference to a tool becomes the tool's name. Tools that the client runs, but
// whose schema is the vendor's (bash, the text editor, memory), become functions
// of their names: calls come back as calls of these tools.
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

// portableParts returns parts, or a changed copy of them. at says where they are.
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

// asText returns the text that represents a block of Messages, and the rule by
// which that is reported; no rule if there is none.
func asText(u *content.Unknown) (string, *loss.Rule) {
	switch u.Kind {
	case "compaction":
		if text := member(u, "content"); text != "" {
			return "Summary of the conversation so far:\n\n" + text, SummaryAsText
		}
	case "tool_reference":
		if name := member(u, "tool_name"); name != "" {
			return name, ReferenceAsText
		}
	}
	return "", nil
}

// Encrypted reports whether a part stands for earlier turns of the conversation
// in a form that only the vendor of Messages can read.
func Encrypted(p content.Part) bool {
	u, ok := p.(*content.Unknown)
	return ok && u != nil && u.Format == messagesFormat && u.Kind == "compaction" &&
		member(u, "content") == "" && member(u, "encrypted_content") != ""
}

// member returns a member of a block that is a string; "" if there is none.
func member(u *content.Unknown, name string) string {
	doc, err := jsonwire.Parse(u.Raw, jsonwire.Limits{Depth: 1 << 30, Values: 1 << 30}) // the host's own have let it pass
	if err != nil {
		return ""
	}
	defer doc.Close()
	return doc.Root().Get(name).Str()
}
