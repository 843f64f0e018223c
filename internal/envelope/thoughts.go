package envelope

import (
	"math"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A Thought is one that a part behind it carries: the next call or, in an answer
// without one, a text at its end. Its place is counted back from there in bytes
// of text, since clients split and join texts. No call stands in between.
//
// The promise holds for answers of one vendor, of thoughts, signed or redacted,
// texts, calls and files in any order, whole or streamed, and items of built-in
// tools that are told as redacted thoughts. It is made to clients that give back
// calls in their order with their signatures. Every thought that a call carries
// comes back letter by letter, and in its place among what else comes back. The
// client may leave out thoughts, all texts, or files; it may split texts, join
// them up to one that is signed, and make turns of pieces. Thoughts behind the
// last call come back from clients that keep the signatures of texts too, and
// are lost with others.
//
// Thoughts on both sides of what is not carried, such as a vendor's own tool at
// work, come back next to each other, each as it was and in order, which is what
// vendors ask for.
//
// Where a client alters texts, thoughts still come back whole, in order, on
// their side of every call, and at the beginning if they were there, which is
// all that vendors check. Among the texts they may be off. That is reported
// where it shows: texts are too short, or a place is amid a letter, or is not the
// beginning where it was. Thoughts that cannot be carried at all are reported
// when the answer is told: [TooLarge], [TwoVendors], [TooLate].
type Thought struct {
	*content.Thinking

	Back  int  // bytes of text between the thought and the end of the carrying text, or the call
	Past  int  // parts between them that are neither texts nor thoughts, such as images
	First bool // only thoughts stood between it and the beginning, the call before it or the carrier before it

	// OfText says that this is no thinking but the signature of the text that
	// ends at its place: Signature, and nothing else.
	OfText bool
}

// Join writes thoughts of one format for an envelope of the kind Thoughts, in
// their order.
func Join(list []Thought) string {
	var w jsonwire.Writer
	w.BeginArray()
	for _, t := range list {
		w.BeginObject()
		field(&w, "text", t.Text)
		field(&w, "signature", t.Signature.Data)
		field(&w, "redacted", t.Redacted.Data)
		if t.Extra != nil && t.Extra.JSON != "" {
			w.Name("extra")
			w.Raw(t.Extra.JSON)
		}
		number(&w, "back", t.Back)
		number(&w, "past", t.Past)
		if t.First {
			w.Name("first")
			w.Bool(true)
		}
		if t.OfText {
			w.Name("text_signature")
			w.Bool(true)
		}
		w.EndObject()
	}
	w.EndArray()
	return w.Text()
}

func field(w *jsonwire.Writer, name, value string) {
	if value != "" {
		w.Name(name)
		w.String(value)
	}
}

func number(w *jsonwire.Writer, name string, n int) {
	if n > 0 {
		w.Name(name)
		w.Int(int64(n))
	}
}

// Split reads what Join wrote. It reports false for anything else.
func Split(f content.Format, data string) ([]Thought, bool) {
	doc, err := jsonwire.Parse(data, jsonwire.Limits{Depth: 256, Values: 1_000_000})
	if err != nil {
		return nil, false
	}
	defer doc.Close()
	root := doc.Root()
	if root.Kind() != jsonwire.Array {
		return nil, false
	}
	var list []Thought
	for _, v := range root.Elems() {
		if v.Kind() != jsonwire.Object {
			return nil, false
		}
		t := Thought{Thinking: &content.Thinking{Text: v.Get("text").Str()}}
		if s := v.Get("signature").Str(); s != "" {
			t.Signature = content.Signature{Format: f, Data: s}
		}
		if s := v.Get("redacted").Str(); s != "" {
			t.Redacted = content.Signature{Format: f, Data: s}
		}
		if x := v.Get("extra"); x.Kind() == jsonwire.Object {
			t.Extra = &content.Extra{Format: f, JSON: x.Raw()}
		}
		t.Back, t.Past = count(v.Get("back")), count(v.Get("past"))
		t.First, _ = v.Get("first").Bool()
		t.OfText, _ = v.Get("text_signature").Bool()
		list = append(list, t)
	}
	return list, len(list) > 0
}

// count returns a number that is one of bytes or parts.
func count(v jsonwire.Value) int {
	n, ok := v.Int()
	if !ok || n < 0 {
		return 0
	}
	return int(min(n, math.MaxInt32))
}

// In a neutral request, what fronts have opened looks like this:
//
//   - A signature, or a redacted thought, of the kind Own is that of its part.
//   - Thoughts are the signature of a part that the format named by it never
//     signs itself, such as a call in the format of Messages; its Data is what
//     Join wrote.
//   - Signatures of the part behind or in front stand in redacted thoughts that
//     are none: see Neighbour and Rejoin.
