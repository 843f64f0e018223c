package messages

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
)

// decodeState decodes the state of other vendors in turns. dropped reports whether a call
// was returned without the thinking block that held its state.
func decodeState(turns []content.Turn) (decoded envelope.Decoded, dropped bool) {
	o := stateDecoder{turns: turns, turn: -1, ids: envelope.DecodeIDs(turns)}
	decoded = envelope.DecodeTurns(turns, o.decodePart)
	return decoded, o.dropped
}

// A stateDecoder decodes the state in the turns of a request.
type stateDecoder struct {
	turns []content.Turn
	ids   envelope.CallIDs

	turn    int                            // that is being decoded
	calls   map[string][]content.Signature // by id: the state that thinking blocks of the assistant turns in a row hold for later calls
	carried bool                           // the client returned a block with state since the last call
	dropped bool                           // the client dropped a block that held the state of a call
}

// decodePart decodes the state of a part.
func (o *stateDecoder) decodePart(turn int, p content.Part) (q content.Part, lost *loss.Rule) {
	for o.turn < turn {
		if o.turn++; o.turns[o.turn].Role == content.RoleUser {
			o.calls, o.carried = nil, false
		}
	}
	switch p := p.(type) {
	case *content.Thinking:
		if p != nil {
			return o.decodeThinking(p)
		}
	case *content.ToolUse:
		if p != nil {
			return o.decodeCall(p)
		}
	}
	return o.ids.Decode(p)
}

// decodeCall decodes the id of a call, and sets the signature that its id or a block before it
// has carried.
func (o *stateDecoder) decodeCall(p *content.ToolUse) (q content.Part, lost *loss.Rule) {
	carried := o.carried
	o.carried = false
	q, lost = o.ids.Decode(p)
	if o.ids.IsMarked(p.ID) {
		c := q.(*content.ToolUse) // a copy
		switch list := o.calls[c.ID]; {
		case len(list) > 0:
			c.Signature, o.calls[c.ID] = list[0], list[1:]
		case !carried:
			o.dropped, lost = true, envelope.NotReturned
		}
	}
	return q, lost
}

// decodeThinking decodes the state that a thinking block holds.
func (o *stateDecoder) decodeThinking(t *content.Thinking) (q content.Part, lost *loss.Rule) {
	switch {
	case t.Redacted.Format == Format && envelope.IsEnvelope(t.Redacted.Data):
		q, lost = decodeRedacted(t)
		o.carried = o.carried || lost == nil
		return q, lost
	case t.Redacted.Data == "" && t.Signature.Format == Format && envelope.IsEnvelope(t.Signature.Data):
	default:
		return t, nil
	}
	c := *t
	e, ok := envelope.Decode(t.Signature.Data)
	switch {
	case ok && e.Kind == envelope.KindCall:
		id, sig := e.CallSignature()
		if o.calls == nil {
			o.calls = make(map[string][]content.Signature)
		}
		o.calls[id] = append(o.calls[id], sig)
		c.Signature = content.Signature{}
	case ok && e.Kind == envelope.KindPart && e.Format == envelope.UnsignedFormat:
		c.Signature = content.Signature{}
		return &c, nil
	case ok && e.Kind == envelope.KindPart:
		c.Signature = content.Signature{Format: e.Format, Data: e.Data}
	case ok && e.Kind == envelope.KindThinking:
		one, valid := e.Single()
		if !valid {
			c.Signature = envelope.WithoutFormat(t.Signature)
			return &c, envelope.Damaged
		}
		if c.Signature = one.Signature; c.Text == "" {
			c.Text = one.Text
		}
		if c.Signature.Data == "" {
			return &c, nil
		}
	default:
		c.Signature = envelope.WithoutFormat(t.Signature)
		return &c, envelope.Damaged
	}
	o.carried = true
	return &c, nil
}

func decodeRedacted(t *content.Thinking) (q content.Part, lost *loss.Rule) {
	c := *t
	e, ok := envelope.Decode(t.Redacted.Data)
	if !ok || e.Kind != envelope.KindPart {
		c.Redacted = envelope.WithoutFormat(t.Redacted)
		return &c, envelope.Damaged
	}
	c.Redacted = content.Signature{Format: e.Format, Data: e.Data}
	return &c, nil
}

// unsigned reports whether turns have thinking with an empty signature, a citation of
// the web without an index, a search of another vendor, or a text in base64. Clients return such parts of other
// vendors' responses, and the Messages vendor refuses them.
func unsigned(turns []content.Turn) bool {
	for i := range turns {
		for _, p := range turns[i].Parts {
			switch p := p.(type) { // other kinds have no such members
			case *content.Thinking:
				if p != nil && p.Signature == (content.Signature{Format: Format}) && p.Redacted == (content.Signature{}) {
					return true
				}
			case *content.ServerToolUse:
				if foreign.IsCopy(p) {
					return true
				}
			case *content.Document:
				if isBase64Text(p) {
					return true
				}
			case *content.ToolResult:
				if p != nil && slices.ContainsFunc(p.Parts, isBase64Text) { // one pass
					return true
				}
			case *content.Text:
				// one pass
				if p != nil && slices.ContainsFunc(p.Citations, func(c content.Citation) bool { return isUnindexed(&c) }) {
					return true
				}
			}
		}
	}
	return false
}

// isBase64Text reports whether a part is a text in base64, which the handler accepts
// and the vendor accepts as a text source only.
func isBase64Text(p content.Part) bool {
	d, ok := p.(*content.Document)
	if !ok || d == nil {
		return false
	}
	s, ok := d.Source.(*content.Base64)
	return ok && s != nil && s.MediaType == plainType
}
