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

// SummaryAsText is reported by [Portable]. Every codec's table but that of
// Messages has it.
var SummaryAsText = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDegraded,
	Reason: "the summary of the earlier conversation is sent as text"}

// Portable returns n if it is for Messages, or has none of the parts that only
// Messages has but any model can use; else a copy in which these are neutral. Each
// part stays one part, at its place.
//
// A compaction block, which stands for the conversation before it, becomes its
// text. One whose content only the vendor can read stays: see backend.Kept.
func Portable(n *upstream.Request, own content.Format, log *loss.Log) *upstream.Request {
	if own == messagesFormat {
		return n
	}
	to := n
	for i := range n.Turns {
		parts, changed := portableParts(n.Turns[i].Parts, func() string { return "turns." + strconv.Itoa(i) + ".parts" }, log)
		if !changed {
			continue
		}
		if to == n {
			c := *n
			c.Turns, to = slices.Clone(n.Turns), &c
		}
		to.Turns[i].Parts = parts
	}
	return to
}

// portableParts returns parts, or a changed copy of them. at says where they are.
func portableParts(parts []content.Part, at func() string, log *loss.Log) (list []content.Part, changed bool) {
	list = parts
	for i, p := range parts {
		u, ok := p.(*content.Unknown)
		if !ok || u == nil || u.Format != messagesFormat {
			continue
		}
		text, rule := asText(u)
		if rule == nil {
			continue
		}
		if !changed {
			list, changed = slices.Clone(parts), true
		}
		list[i] = &content.Text{Text: text}
		log.Add(rule, at()+"."+strconv.Itoa(i))
	}
	return list, changed
}

// asText returns the text that represents a block of Messages, and the rule by
// which that is reported; no rule if there is none.
func asText(u *content.Unknown) (string, *loss.Rule) {
	if u.Kind == "compaction" {
		if text := member(u, "content"); text != "" {
			return "Summary of the conversation so far:\n\n" + text, SummaryAsText
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
