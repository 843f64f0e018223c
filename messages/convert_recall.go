package messages

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
)

// recall puts the thoughts that the signature s of the part at path stands for
// into their places among the parts of out from the one at an index on, but for
// those that the client has kept.
func (c *converter) recall(out []content.Part, from int, s content.Signature, path string) []content.Part {
	list, ok := envelope.Split(Format, s.Data)
	if !ok {
		c.lose(lostState, path+".signature")
		return out
	}
	list = slices.DeleteFunc(list, func(t envelope.Thought) bool {
		m := mark(t.Thinking)
		old := c.kept[m]
		c.kept[m] = true
		return old || m.Data == "" || t.OfText
	})
	if len(list) == 0 {
		return out
	}
	stretch := slices.Clone(out[from:])
	places, moved := envelope.Places(list, len(stretch), func(i int) content.Part { return stretch[i] })
	if moved {
		c.lose(lostPlace, path+".signature")
	}
	return envelope.Weave(out[:from], stretch, places, func(k int) content.Part { return list[k].Thinking }, piece)
}

// piece returns the bytes of a text from one place to another, -1 for its end.
// What belongs to the text stays with the end.
func piece(p content.Part, from, to int) content.Part {
	text := p.(*content.Text)
	if to >= 0 {
		return &content.Text{Text: text.Text[from:to]}
	}
	q := *text
	q.Text = text.Text[from:]
	return &q
}

// carrier returns the signature of a part that this format never signs, if it
// stands for thoughts of this format.
func carrier(p content.Part) content.Signature {
	var s content.Signature
	if content.IsNil(p) {
		return s
	}
	switch p := p.(type) {
	case *content.ToolUse:
		s = p.Signature
	case *content.Text:
		s = p.Signature
	case *content.Image:
		s = p.Signature
	case *content.Document:
		s = p.Signature
	case *content.ServerToolUse:
		s = p.Signature
	}
	if s.Format != Format {
		return content.Signature{}
	}
	return s
}

func carries(t content.Turn) bool {
	return slices.ContainsFunc(t.Parts, func(p content.Part) bool { return carrier(p).Data != "" })
}

// carried notes the thoughts of a run: those that it holds, and the texts of
// those that its signatures stand for.
func (c *converter) carried(run []content.Turn) {
	c.kept = make(map[content.Signature]bool)
	var texts strings.Builder
	for k := range run {
		for _, p := range run[k].Parts {
			if t, ok := p.(*content.Thinking); ok && t != nil {
				c.kept[mark(t)] = true
			}
			thoughts, _ := envelope.Split(Format, carrier(p).Data)
			for _, t := range thoughts {
				texts.WriteString(t.Text)
			}
		}
	}
	delete(c.kept, content.Signature{})
	c.shown = texts.String()
}

// mark returns what tells a thought of this vendor from others.
func mark(t *content.Thinking) content.Signature {
	switch Format {
	case t.Redacted.Format:
		return t.Redacted
	case t.Signature.Format:
		return t.Signature
	}
	return content.Signature{}
}
