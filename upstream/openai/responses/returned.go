package responses

import (
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// State of other vendors in what clients return. Each has one place:
//
//   - Thinking is an item of type "reasoning". Its "summary" is the visible text. Its "encrypted_content" is an envelope of the kind
//     [envelope.KindThinking] and of the vendor's format, whose data is the result of
//     [envelope.EncodeThinking] for that one block: the signature or the redacted data. Its text is
//     that of "summary", unless the data has one. Thinking without state has [envelope.Unsigned] if the
//     client returns "encrypted_content", and otherwise none.
//   - The signature of a tool call is in its "call_id", and so is thinking that the client did not
//     get as an item: see [envelope.Pending.CallID].
//   - A summary of the conversation is an item of type "compaction", whose "encrypted_content" is
//     an envelope of the kind [envelope.KindPart] and of the format compactionFormat, whose data
//     is the text. [encodeCompaction] makes it, and [decodeCompaction] reads it.
//
// A signature of this format is a whole item as JSON text: see [stateItem].

// compactionFormat is the format of envelopes with a summary of the conversation. No vendor has it.
const compactionFormat content.Format = "summary"

// encodeCompaction returns the encrypted_content of an item of type "compaction" with a summary.
// ok is false if the summary is too large.
func encodeCompaction(summary string) (state string, ok bool) {
	return envelope.Encode(compactionFormat, envelope.KindPart, summary)
}

// summaryPrefix is before a summary that is sent as text.
const summaryPrefix = "Summary of the conversation so far:\n\n"

// decodeState decodes the state of other vendors in turns. dropped reports whether a call was
// returned without the reasoning that held its state.
func decodeState(turns []content.Turn) (decoded envelope.Decoded, dropped bool) {
	o := stateDecoder{turns: turns, turn: -1, ids: envelope.DecodeIDs(turns)}
	decoded = envelope.DecodeTurns(turns, o.decodePart)
	return decoded, o.dropped
}

// A stateDecoder decodes the state in the turns of a request.
type stateDecoder struct {
	turns   []content.Turn
	ids     envelope.CallIDs
	turn    int  // that is being decoded
	carried bool // the client returned reasoning with state since the last call
	dropped bool // the client dropped reasoning that held the state of a call
}

// decodePart decodes the state of a part.
func (o *stateDecoder) decodePart(turn int, p content.Part) (content.Part, *loss.Rule) {
	for o.turn < turn {
		if o.turn++; o.turns[o.turn].Role == content.RoleUser {
			o.carried = false
		}
	}
	switch p := p.(type) { // other kinds have no state, or state in an id
	case *content.Thinking:
		if p != nil && (p.Signature == content.Signature{Format: Format, Data: envelope.Unsigned} || isSentReasoning(p)) {
			return &content.Thinking{Text: p.Text, Extra: p.Extra}, nil
		}
		if p != nil && envelope.IsEnvelope(p.Signature.Data) && p.Signature.Format == Format {
			q, lost := decodeThinking(p)
			o.carried = o.carried || lost == nil
			return q, lost
		}
		return p, nil
	case *content.Unknown:
		if p != nil && p.Kind == typeCompaction && p.Format == Format {
			if summary, ok := decodeCompaction(p.Raw); ok {
				return &content.Text{Text: summaryPrefix + summary}, nil
			}
		}
		return p, nil
	case *content.ToolUse:
		if p == nil {
			break
		}
		carried := o.carried
		o.carried = false
		q, lost := o.ids.Decode(p)
		if o.ids.IsMarked(p.ID) && !carried {
			o.dropped, lost = true, envelope.NotReturned
		}
		return q, lost
	}
	return o.ids.Decode(p)
}

// isSentReasoning reports whether an item of reasoning has only an id that an [encoder] has made, and no
// state. The vendor does not know the id, and refuses it.
func isSentReasoning(t *content.Thinking) bool {
	item := itemOf(t)
	return item != "" && isSentID(gjson.Get(item, "id").Str) && gjson.Get(item, "encrypted_content").Str == ""
}

// decodeThinking decodes the thinking of another vendor.
func decodeThinking(t *content.Thinking) (content.Part, *loss.Rule) {
	q := *t
	if e, ok := envelope.Decode(t.Signature.Data); ok {
		if one, ok := e.Single(); ok {
			q.Signature, q.Redacted = one.Signature, one.Redacted
			if q.Redacted.Data != "" || one.Text != "" {
				q.Text = one.Text
			}
			return &q, nil
		}
	}
	q.Signature = envelope.WithoutFormat(t.Signature)
	return &q, envelope.Damaged
}

// decodeCompaction returns the summary in an item that this module has made. ok is false for an
// item of another server, and for one that was damaged, which Validate reports.
func decodeCompaction(raw string) (summary string, ok bool) {
	e, ok := envelope.Decode(compactionState(raw))
	if !ok || e.Format != compactionFormat || e.Kind != envelope.KindPart {
		return "", false
	}
	return e.Data, true
}

// isOwnCompaction reports whether an item has a summary that this module has made, perhaps a
// damaged one.
func isOwnCompaction(i *Item) bool {
	if len(i.Parts) != 1 {
		return false
	}
	u, ok := i.Parts[0].(*content.Unknown)
	return ok && u != nil && envelope.IsEnvelope(compactionState(u.Raw))
}

// compactionState returns the encrypted_content of an item.
func compactionState(raw string) string {
	doc, err := jsonwire.Parse(raw, codec.UnlimitedJSON)
	if err != nil {
		return ""
	}
	defer doc.Close()
	return doc.Root().Get("encrypted_content").Str()
}

// stateItem returns an item of reasoning in the form in which its server accepts it: without
// members that servers send but reject. It returns "" if the item has nothing but text.
func stateItem(item jsonwire.Value) string {
	id, secret := item.Get("id"), item.Get("encrypted_content")
	if id.Str() == "" && secret.Str() == "" {
		return ""
	}
	accepted := item.Get("summary").Kind() == jsonwire.Array
	for name := range item.Members() {
		switch name {
		case "type", "id", "summary", "content", "encrypted_content":
		default:
			accepted = false
		}
	}
	if accepted {
		return item.Raw()
	}
	return acceptedReasoning(item)
}

// acceptedReasoning returns an item of reasoning without members that servers send but reject.
func acceptedReasoning(item jsonwire.Value) string {
	id, secret := item.Get("id"), item.Get("encrypted_content")
	var w jsonwire.Writer
	w.BeginObject()
	w.Member("type", typeReasoning)
	if id.Str() != "" {
		w.RawMember("id", id.Raw())
	}
	w.Name("summary")
	if s := item.Get("summary"); s.Kind() == jsonwire.Array {
		w.Raw(s.Raw())
	} else {
		w.Raw("[]")
	}
	if c := item.Get("content"); c.Kind() == jsonwire.Array && c.Len() > 0 {
		w.RawMember("content", c.Raw())
	}
	if secret.Str() != "" {
		w.RawMember("encrypted_content", secret.Raw())
	}
	w.EndObject()
	return w.Text()
}
