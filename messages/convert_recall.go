package messages

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
)

// restoreThinking restores the thinking that the signature s of the part at path carries,
// except blocks that the client returned. The parts of out from an index on are
// the step that the thinking belongs to.
func (c *converter) restoreThinking(out []content.Part, from int, s content.Signature, path string) []content.Part {
	list, ok := envelope.DecodeThinking(Format, s.Data)
	if !ok {
		c.lose(lostState, path+".signature")
		return out
	}
	list = slices.DeleteFunc(list, func(s envelope.State) bool {
		m := thinkingKey(s.Thinking)
		at, kept := c.kept[m]
		if !kept {
			c.kept[m] = -1
		}
		return kept && at < from || m.Data == "" || s.TextSignature
	})
	if len(list) == 0 {
		return out
	}
	return envelope.Restore(out[:from], slices.Clone(out[from:]), list,
		func(s *envelope.State) int { return c.kept[thinkingKey(s.Thinking)] - from },
		func(s *envelope.State) content.Part { return s.Thinking })
}

// noteReturned notes the index of a thinking block that the client returned.
func (c *converter) noteReturned(p content.Part, at int) {
	if t, ok := p.(*content.Thinking); ok && t != nil && c.kept != nil {
		c.kept[thinkingKey(t)] = at
	}
}

// dropTrailing drops the thinking at the end of a turn, which the vendor refuses.
// Blank texts behind it are dropped later. path is that of the last part.
func (c *converter) dropTrailing(parts []content.Part, path string) []content.Part {
	end := len(parts)
	for i := end - 1; i >= 0; i-- {
		switch p := parts[i].(type) {
		case *content.Thinking:
			end = i
			continue
		case *content.Text:
			if p != nil && isBlank(p.Text) {
				continue
			}
		}
		break
	}
	if end < len(parts) {
		c.lose(lostTrailing, path)
	}
	return parts[:end]
}

// carrierSignature returns the signature of a part that carries thinking. Messages
// does not sign such parts: a signature of this format on them is a list of
// [envelope.State].
func carrierSignature(p content.Part) content.Signature {
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

func hasCarrier(t content.Turn) bool {
	return slices.ContainsFunc(t.Parts, func(p content.Part) bool { return carrierSignature(p).Data != "" })
}

// noteThinking stores the thinking blocks in the turns of a run, and the texts of those
// that its signatures carry.
func (c *converter) noteThinking(run []content.Turn) {
	c.kept = make(map[content.Signature]int)
	var texts strings.Builder
	for k := range run {
		for _, p := range run[k].Parts {
			if t, ok := p.(*content.Thinking); ok && t != nil {
				c.kept[thinkingKey(t)] = -1
			}
			thoughts, _ := envelope.DecodeThinking(Format, carrierSignature(p).Data)
			for _, t := range thoughts {
				texts.WriteString(t.Text)
			}
		}
	}
	delete(c.kept, content.Signature{})
	c.shown = texts.String()
}

// thinkingKey returns the signature or redacted data of this format, which identifies
// a thinking block. It is zero for other blocks.
func thinkingKey(t *content.Thinking) content.Signature {
	switch Format {
	case t.Redacted.Format:
		return t.Redacted
	case t.Signature.Format:
		return t.Signature
	}
	return content.Signature{}
}
