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
// states must have the same format. It does not encode their Extra: a client that
// makes up an envelope could add any member to the request of the vendor.
func EncodeThinking(list []State) string {
	var w jsonwire.Writer
	w.BeginArray()
	for _, s := range list {
		w.BeginObject()
		writeString(&w, "text", s.Text)
		writeString(&w, "signature", s.Signature.Data)
		writeString(&w, "redacted", s.Redacted.Data)
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

// maxStateValues is the number of JSON values of a state: the object and its members.
const maxStateValues = 5

// States returns the number of states in the list of an envelope of the kind
// [KindThinking], and 0 for any other envelope. Each becomes a part. It does not
// decode them. If there are more than limit, or more JSON values than limit states
// have, it stops and returns limit+1.
func (e Envelope) States(limit int) int {
	if e.Kind != KindThinking {
		return 0
	}
	limit = min(limit, MaxSize) // no list is longer
	var doc jsonwire.Doc
	defer doc.Close()
	err := doc.Parse(e.Data, jsonwire.Limits{Values: 1 + maxStateValues*limit})
	if invalid, ok := err.(*jsonwire.SyntaxError); ok && invalid.Reason == jsonwire.TooManyValues {
		return limit + 1
	}
	return min(doc.Root().Len(), limit+1)
}

// DecodeThinking decodes the result of [EncodeThinking] for states of format f. It
// returns false if data is anything else. It ignores the members that EncodeThinking
// does not write: see the package comment about trust. The parser of a request has
// counted the states.
func DecodeThinking(f content.Format, data string) ([]State, bool) {
	doc, err := jsonwire.Parse(data, jsonwire.Limits{Values: MaxSize})
	if err != nil {
		return nil, false
	}
	defer doc.Close()
	root := doc.Root()
	if root.Kind() != jsonwire.Array {
		return nil, false
	}
	list := make([]State, 0, root.Len())
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
