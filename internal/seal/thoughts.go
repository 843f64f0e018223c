package seal

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A Thought is one that stood in front of the part that carries it.
type Thought struct {
	*content.Thinking

	// Back is how many bytes of text stood between the thought and the part
	// that carries it. Clients split and join texts, so this is the one sure
	// way to find its place again.
	Back int
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
		if t.Back > 0 {
			w.Name("back")
			w.Int(int64(t.Back))
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
		if n, ok := v.Get("back").Int(); ok && n > 0 {
			t.Back = int(min(n, MaxSize))
		}
		list = append(list, t)
	}
	return list, len(list) > 0
}

// In a neutral request, what fronts have opened looks like this:
//
//   - A signature, or a redacted thought, of the kind Own is that of its part.
//   - Thoughts are the signature of a part that the format named by it never
//     signs itself, such as a call in the format of Messages; its Data is what
//     Join wrote.
//   - Signatures of the part behind or in front stand in a redacted thought of
//     a format that has none, such as content generation: see Neighbour.

// Neighbour returns the redacted thought that holds a signature of the part
// behind it (Next) or in front of it (Last).
func Neighbour(f content.Format, k Kind, data string) content.Signature {
	return content.Signature{Format: f, Data: string(rune(k)) + data}
}

// OfNeighbour reads what Neighbour made.
func OfNeighbour(redacted content.Signature) (k Kind, data string, ok bool) {
	if data, ok = strings.CutPrefix(redacted.Data, string(rune(Next))); ok {
		return Next, data, true
	}
	data, ok = strings.CutPrefix(redacted.Data, string(rune(Last)))
	return Last, data, ok
}
