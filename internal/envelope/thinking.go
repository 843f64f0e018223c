package envelope

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// EncodeThinking returns the data of an envelope of the kind [KindThinking]: a list of
// thinking blocks that the vendor has signed or redacted. The tool call after them holds
// the envelope or, in a response without a later call, the last text. All blocks must
// have the same format. Their Extra is not encoded: a client that makes up an envelope
// could add any member to the request of the vendor.
//
// A client that returns tool calls in order with their signatures or ids returns
// every block that a call carries, byte for byte. It may drop thinking, texts and
// files, split and join texts, and return one response in several turns. Blocks
// after the last call return only from clients that keep the signatures of texts.
//
// The blocks return in order at the start of their step; see [Restore]. Vendors check
// that thinking is unaltered, in order, and on its side of every tool call. No
// vendor checks its position among texts. State that cannot be carried is reported
// when the response is encoded: [TooLarge], [TwoVendors], [TooLate].
func EncodeThinking(list []*content.Thinking) string {
	var w jsonwire.Writer
	w.BeginArray()
	for _, t := range list {
		w.BeginObject()
		w.OptMember("text", t.Text)
		w.OptMember("signature", t.Signature.Data)
		w.OptMember("redacted", t.Redacted.Data)
		w.EndObject()
	}
	w.EndArray()
	return w.Text()
}

// maxStateValues is the number of JSON values of a block: the object and its members.
const maxStateValues = 4

// States returns the number of blocks in the list of an envelope of the kind
// [KindThinking], and 0 for any other envelope. Each becomes a part. It does not
// decode them. If there are more than limit, or more JSON values than limit blocks
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

// DecodeThinking decodes the result of [EncodeThinking] for thinking of format f. It
// returns false if data is anything else. It ignores the members that EncodeThinking
// does not write: see the package comment about trust. The parser of a request has
// counted the blocks.
func DecodeThinking(f content.Format, data string) ([]*content.Thinking, bool) {
	doc, err := jsonwire.Parse(data, jsonwire.Limits{Values: MaxSize})
	if err != nil {
		return nil, false
	}
	defer doc.Close()
	root := doc.Root()
	if root.Kind() != jsonwire.Array {
		return nil, false
	}
	list := make([]*content.Thinking, 0, root.Len())
	for _, v := range root.Elems() {
		if v.Kind() != jsonwire.Object {
			return nil, false
		}
		t := &content.Thinking{Text: v.Get("text").Str()}
		if data := v.Get("signature").Str(); data != "" && f != UnsignedFormat {
			t.Signature = content.Signature{Format: f, Data: data}
		}
		if data := v.Get("redacted").Str(); data != "" && f != UnsignedFormat {
			t.Redacted = content.Signature{Format: f, Data: data}
		}
		list = append(list, t)
	}
	return list, len(list) > 0
}

// Single returns the block of an envelope of the kind [KindThinking] that has one block.
func (e Envelope) Single() (t *content.Thinking, ok bool) {
	if e.States(1) != 1 { // counted before they are decoded
		return nil, false
	}
	list, ok := DecodeThinking(e.Format, e.Data)
	if !ok {
		return nil, false
	}
	return list[0], true
}

// Restore appends the parts of a step to dst, with the blocks of list among them.
// A step is the parts between two tool calls. The blocks come first, in order. A
// block that the client returned as a part of the step stays where it is, and the
// blocks after it in list follow it.
//
// find returns the index in step of a block that the client returned, or a
// negative number.
func Restore(dst, step []content.Part, list []*content.Thinking, find func(*content.Thinking) int) []content.Part {
	next := 0 // index in step
	for _, t := range list {
		switch at := find(t); {
		case at < 0:
			dst = append(dst, t)
		case at >= next:
			dst = append(dst, step[next:at+1]...)
			next = at + 1
		}
	}
	return append(dst, step[next:]...)
}
