package openaiformat

import (
	"crypto/rand"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// Text returns a text or the JSON of another value. Some servers send a JSON value where the
// format has a text: arguments of a tool call, or the content of a response with a schema.
func Text(v jsonwire.Value) string {
	switch v.Kind() {
	case jsonwire.String:
		return v.Str()
	case jsonwire.None, jsonwire.Null:
		return ""
	}
	return string(jsonwire.AppendCompact(nil, v.Raw()))
}

// TextKinds are the kinds of values that Text is for.
const TextKinds = codec.Texts | codec.Objects | codec.Lists | codec.Numbers

// Scalar returns an id or a name, which some servers send as a number.
func Scalar(v jsonwire.Value) string {
	if v.Kind() == jsonwire.Number {
		return v.Raw()
	}
	return v.Str()
}

// SetInput changes arguments that are not a JSON object within the depth. Models write such arguments, and clients
// return them. Other formats accept only objects; the text remains in the Extra. doc is reused.
func SetInput(r *object.Reader, doc *jsonwire.Doc, depth int, u *content.ToolUse) {
	if u.Input == "" {
		return
	}
	switch codec.TrimBlank(u.Input) {
	case "", "null", "[]": // some languages write an empty object as a list
		u.Input = ""
		return
	}
	if jsonwire.IsObject(u.Input) && doc.Parse(u.Input, jsonwire.Limits{Depth: depth}) == nil {
		doc.Close()
		return
	}
	text := r.Member("arguments", u.Input)
	u.Extra, u.Input = r.Joined(text, u.Extra), text.JSON
	r.Quota.Bytes(2 * len(text.JSON))
}

// NewCallID returns an id for a tool call without one.
func NewCallID() string { return "call_" + strings.ToLower(rand.Text()[:24]) }

// CitedRange returns the bounds of the text that a citation of a web page is for, in characters.
// Both are 0 if they are missing or not valid.
func CitedRange(v jsonwire.Value) (start, end int64) {
	start, hasStart := v.Get("start_index").Int()
	end, hasEnd := v.Get("end_index").Int()
	if !hasStart || !hasEnd || start < 0 || end < start {
		return 0, 0
	}
	return start, end
}

// WithModel returns the document of a response with another name of the model, or "" if it has none.
func WithModel(doc, model string) string {
	d, err := jsonwire.Parse(doc, jsonwire.Limits{})
	if err != nil {
		return ""
	}
	defer d.Close()
	at := d.Root().Get("model")
	if !at.Exists() {
		return ""
	}
	return doc[:at.Offset()] + string(jsonwire.AppendString(nil, model)) + doc[at.End():]
}

// BeginLeftover begins a member of the object that w writes, of members without a neutral field. The
// caller writes its value with the result, which is w.
func BeginLeftover(w *jsonwire.Writer, name string) *jsonwire.Writer {
	if w.Len() == 0 {
		w.BeginObject()
	}
	w.Name(name)
	return w
}

// EndLeftover returns the members that w has, followed by those of x without a field in t. Without a
// member in w it returns x.
func EndLeftover(w *jsonwire.Writer, t *object.Type, x *content.Extra, f content.Format) *content.Extra {
	if w.Len() == 0 {
		return x
	}
	WriteMembers(w, t, codec.Own(x, f))
	w.EndObject()
	return &content.Extra{Format: f, JSON: w.Text()}
}

// WriteMembers writes the members in x, except those that a field of t holds. x may be nil.
func WriteMembers(w *jsonwire.Writer, t *object.Type, x *content.Extra) {
	if x != nil {
		_ = w.MembersExcept(x.JSON, t.Holds) // text that is not valid JSON has no members
	}
}
