package generatecontent

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// AppendJSON appends the request as a document, and returns an error that
// holds a [*content.Violation] if the format cannot say what is in it: a nil part,
// a part of another format, or free JSON that is none. A request that was
// parsed and has not been changed gives the same JSON value again if it was
// canonical (camelCase, lists, names of enums, plain numbers, no empty parts),
// and else its canonical form, with free JSON byte for byte; the members of the
// format's own objects come in a fixed order. [Request.Body] does without
// copying large files.
func (r *Request) AppendJSON(dst []byte) ([]byte, error) {
	var w jsonwire.Writer
	if err := r.write(&w); err != nil {
		return dst, err
	}
	return codec.Append(dst, &w)
}

// write writes the request as a document.
func (r *Request) write(w *jsonwire.Writer) error {
	e := newEncoder(w, r.Form.spellings())
	w.Grow(r.size())
	w.BeginObject()
	e.Text(r, "model", r.Model)
	e.contents(r)
	e.rest(r)
	w.EndObject()
	return e.Violations.Err()
}

// An encoder writes a request.
type encoder struct{ codec.Encoder }

func newEncoder(w *jsonwire.Writer, notes map[codec.NoteKey]string) *encoder {
	return &encoder{codec.Encoder{W: w, Notes: notes, Path: codec.Path{Style: codec.Bracketed}, DisplayPath: snake}}
}

// rest writes what stands at the top level besides model and contents.
func (e *encoder) rest(r *Request) {
	e.system(r)
	e.tools(r)
	e.toolConfig(r)
	e.safety(r)
	e.config(r)
	e.Text(r, "cachedContent", r.CachedContent)
	e.Text(r, "serviceTier", r.ServiceTier)
	e.OptFlag(r, "store", r.Store)
	e.OptRaw(r, "labels", r.Labels)
	e.Text(r, "continuationToken", r.ContinuationToken)
	e.OptRaw(r, "processingOptions", r.ProcessingOptions)
	e.extra(r.Extra, requestFields, requestTyped)
}

// extra writes the members of this format that have no Go field.
func (e *encoder) extra(x *content.Extra, m *message, typed int) {
	if x != nil {
		e.Extra(x, Format, m.has(1<<typed-1))
	}
}

// has returns a function that reports whether a name is one of a set of fields.
func (m *message) has(set uint64) func(name string) bool {
	return func(name string) bool {
		i := m.find(name)
		return i >= 0 && set&(1<<i) != 0
	}
}

func (e *encoder) contents(r *Request) {
	if len(r.Contents) == 0 {
		e.AsNoted(r, "contents")
		return
	}
	e.W.Name("contents")
	e.W.BeginArray()
	e.Path.Push("contents")
	for i := range r.Contents {
		t := &r.Contents[i]
		e.Path.PushIndex(i)
		e.W.BeginObject()
		e.role(t)
		e.parts(t, t.Parts)
		e.extra(t.Extra, contentFields, contentTyped)
		e.W.EndObject()
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

func (e *encoder) role(t *content.Turn) {
	raw, noted := e.Noted(t, "role")
	switch {
	case t.Role == content.RoleAssistant:
		e.Must("role", "model")
	case t.Role != content.RoleUser:
		e.Violation(content.CodeValue, "role", "the roles are user and assistant")
	case !noted:
		e.Must("role", "user")
	case raw != codec.Absent:
		e.W.Name("role")
		e.W.Raw(raw)
	}
}

func (e *encoder) system(r *Request) {
	s := r.SystemInstruction
	if s == nil {
		return
	}
	e.Begin("systemInstruction")
	e.parts(s, s.Parts)
	e.AsNoted(s, "role")
	e.extra(s.Extra, contentFields, contentTyped)
	e.End()
}

// parts writes a list of parts.
func (e *encoder) parts(node any, parts []content.Part) {
	if len(parts) == 0 {
		e.AsNoted(node, "parts")
		return
	}
	e.W.Name("parts")
	e.W.BeginArray()
	e.Path.Push("parts")
	for i, p := range parts {
		e.Path.PushIndex(i)
		e.part(p)
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

// toolPlaces returns where each tool stands in the document: as it did when it
// was parsed, if the tools are still the same number and kind. Else functions
// that follow each other are in one tool object.
func (r *Request) toolPlaces() []place {
	if f := r.Form; f != nil && len(f.tools) == len(r.Tools) {
		same := true
		for i, at := range f.tools {
			same = same && (at.inner == builtIn) == (r.Tools[i].Kind != "")
		}
		if same {
			return f.tools
		}
	}
	list := make([]place, len(r.Tools))
	last := place{-1, builtIn}
	for i := range r.Tools {
		switch {
		case r.Tools[i].Kind != "":
			last = place{last.outer + 1, builtIn}
		case last.inner == builtIn:
			last = place{last.outer + 1, 0}
		default:
			last.inner++
		}
		list[i] = last
	}
	return list
}

func (e *encoder) tools(r *Request) {
	if len(r.Tools) == 0 {
		e.AsNoted(r, "tools")
		return
	}
	e.W.Name("tools")
	e.W.BeginArray()
	e.Path.Push("tools")
	at := r.toolPlaces()
	for from := 0; from < len(at); {
		to := from + 1
		for to < len(at) && at[to].outer == at[from].outer {
			to++
		}
		e.Path.PushIndex(at[from].outer)
		e.tool(r.Tools[from:to])
		e.Path.Pop()
		from = to
	}
	e.Path.Pop()
	e.W.EndArray()
}

// tool writes one tool object.
func (e *encoder) tool(list []content.Tool) {
	e.W.BeginObject()
	for len(list) > 0 {
		t := &list[0]
		if t.Kind != "" {
			if t.Format != Format {
				e.Violation(content.CodeUnsupported, "", "the tool is another vendor's own")
			} else {
				e.Raw(t.Kind, t.Raw)
			}
			list = list[1:]
			continue
		}
		n := slices.IndexFunc(list, func(t content.Tool) bool { return t.Kind != "" })
		if n < 0 {
			n = len(list)
		}
		e.declarations(list[:n])
		list = list[n:]
	}
	e.W.EndObject()
}

func (e *encoder) declarations(list []content.Tool) {
	e.W.Name("functionDeclarations")
	e.W.BeginArray()
	e.Path.Push("function_declarations")
	for i := range list {
		t := &list[i]
		e.Path.PushIndex(i)
		e.W.BeginObject()
		e.Text(t, "name", t.Name)
		e.Text(t, "description", t.Description)
		e.schema("parameters", "parametersJsonSchema", t.Input)
		e.schema("response", "responseJsonSchema", t.Output)
		e.extra(t.Extra, declFields, declTyped)
		e.W.EndObject()
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

// schema writes a schema under the name of its dialect.
func (e *encoder) schema(openAPI, jsonSchema string, s content.Schema) {
	switch {
	case s.JSON == "":
	case s.OpenAPI:
		e.Free(openAPI, s.JSON)
	default:
		e.Raw(jsonSchema, s.JSON)
	}
}
