package messages

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/seal"
)

// recall puts the thoughts that a part stands for back into their places among
// the parts in front of it, but for those that the client has kept.
func (c *converter) recall(out []content.Part, p content.Part, path string) []content.Part {
	s := carrier(p)
	if s.Data == "" {
		return out
	}
	thoughts, ok := seal.Split(Format, s.Data)
	if !ok {
		c.lose(lostState, path+".signature")
		return out
	}
	for _, t := range thoughts {
		if m := mark(t.Thinking); m.Data != "" && !c.kept[m] {
			c.kept[m] = true
			out = c.insert(out, t)
		}
	}
	return out
}

// mostWalked bounds how many parts are passed on the way back to the places of
// thoughts, over a whole request. Clients that have these signatures from here
// stay far below.
const mostWalked = 1 << 20

// insert puts a thought in front of the last t.Back bytes of text. Texts that
// the client has altered may be shorter: then it stands in front of all of them.
func (c *converter) insert(out []content.Part, t seal.Thought) []content.Part {
	i := len(out)
	for back := t.Back; back > 0 && i > 0 && c.walked < mostWalked; c.walked++ {
		text, ok := out[i-1].(*content.Text)
		if !ok || text == nil {
			break
		}
		i--
		if len(text.Text) <= back {
			back -= len(text.Text)
			continue
		}
		cut := len(text.Text) - back
		for cut > 0 && !utf8.RuneStart(text.Text[cut]) {
			cut--
		}
		if cut == 0 {
			break
		}
		head, tail := content.Text{Text: text.Text[:cut]}, *text
		tail.Text = text.Text[cut:]
		out[i] = &tail
		out = slices.Insert(out, i, content.Part(&head))
		i++
		break
	}
	c.walked += len(out) - i
	return slices.Insert(out, i, content.Part(t.Thinking))
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
			thoughts, _ := seal.Split(Format, carrier(p).Data)
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
