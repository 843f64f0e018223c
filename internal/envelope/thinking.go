package envelope

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A State is one element of the list in an envelope of the kind [KindThinking]: a
// thinking block that the vendor has signed or redacted, or the signature of a
// text. The tool call after it holds the envelope or, in a response without a
// later call, the last text.
//
// A client that returns tool calls in order with their signatures or ids returns
// every state that a call carries, byte for byte. It may drop thinking, texts and
// files, split and join texts, and return one response in several turns. States
// after the last call return only from clients that keep the signatures of texts.
//
// States return in order at the start of their step; see [Restore]. Vendors check
// that thinking is unaltered, in order, and on its side of every tool call. No
// vendor checks its position among texts. State that cannot be carried is reported
// when the response is encoded: [TooLarge], [TwoVendors], [TooLate].
type State struct {
	*content.Thinking

	// TextSignature reports that this is not a thinking block but the signature
	// of a text. Only the field Signature is set.
	TextSignature bool
}

// EncodeThinking returns the data of an envelope of the kind [KindThinking]. All
// states must have the same format.
func EncodeThinking(list []State) string {
	var w jsonwire.Writer
	w.BeginArray()
	for _, s := range list {
		w.BeginObject()
		writeString(&w, "text", s.Text)
		writeString(&w, "signature", s.Signature.Data)
		writeString(&w, "redacted", s.Redacted.Data)
		if s.Extra != nil && s.Extra.JSON != "" {
			w.Name("extra")
			w.Raw(s.Extra.JSON)
		}
		if s.TextSignature {
			w.Name("text_signature")
			w.Bool(true)
		}
		w.EndObject()
	}
	w.EndArray()
	return w.Text()
}

// writeString writes a member with a string, unless the string is empty.
func writeString(w *jsonwire.Writer, name, value string) {
	if value != "" {
		w.Name(name)
		w.String(value)
	}
}

// DecodeThinking decodes the result of [EncodeThinking] for states of format f. It
// returns false if data is anything else. It ignores unknown members, such as "back",
// "past" and "first" of earlier versions.
func DecodeThinking(f content.Format, data string) ([]State, bool) {
	doc, err := jsonwire.Parse(data, jsonwire.Limits{Depth: 256, Values: 1_000_000})
	if err != nil {
		return nil, false
	}
	defer doc.Close()
	root := doc.Root()
	if root.Kind() != jsonwire.Array {
		return nil, false
	}
	var list []State
	for _, v := range root.Elems() {
		if v.Kind() != jsonwire.Object {
			return nil, false
		}
		s := State{Thinking: &content.Thinking{Text: v.Get("text").Str()}}
		if data := v.Get("signature").Str(); data != "" {
			s.Signature = content.Signature{Format: f, Data: data}
		}
		if data := v.Get("redacted").Str(); data != "" {
			s.Redacted = content.Signature{Format: f, Data: data}
		}
		if x := v.Get("extra"); x.Kind() == jsonwire.Object {
			s.Extra = &content.Extra{Format: f, JSON: x.Raw()}
		}
		s.TextSignature, _ = v.Get("text_signature").Bool()
		list = append(list, s)
	}
	return list, len(list) > 0
}

// Restore appends the parts of a step to dst, with the states of list among them.
// A step is the parts between two tool calls. The states come first, in order. A
// block that the client returned as a part of the step stays where it is, and the
// states after it in list follow it.
//
// find returns the index in step of a state that the client returned, or a
// negative number. part returns the part for a state.
func Restore[P any](dst, step []P, list []State, find func(*State) int, part func(*State) P) []P {
	next := 0 // index in step
	for i := range list {
		switch at := find(&list[i]); {
		case at < 0:
			dst = append(dst, part(&list[i]))
		case at >= next:
			dst = append(dst, step[next:at+1]...)
			next = at + 1
		}
	}
	return append(dst, step[next:]...)
}
