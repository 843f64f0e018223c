package messages

import (
	"io"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// AppendJSON appends the request as a document. The document is canonical: the
// members of the format's objects have a fixed order, null and default values are
// omitted, and content is always a list. Values that may be any JSON keep their
// bytes. Parsing the document returns an equal request.
//
// AppendJSON returns an error that holds a [*content.Violation] if the format cannot
// represent the request. Examples are a nil part, a part of another format, and
// invalid JSON text in a field. [Request.Body] does the same without copying large
// files.
func (r *Request) AppendJSON(dst []byte) ([]byte, error) {
	var w jsonwire.Writer
	if err := r.write(&w); err != nil {
		return dst, err
	}
	return codec.Append(dst, &w)
}

// write writes the request as a document.
func (r *Request) write(w *jsonwire.Writer) error { return r.writeAs(requestType, w) }

// writeAs writes r with the members of a table.
func (r *Request) writeAs(t *object.Type, w *jsonwire.Writer) error {
	w.Grow(codec.DocumentSize(r.System, r.Messages, r.Tools))
	e := newEncoder(w)
	e.Parsed = r.jsonParsed
	w.BeginObject()
	e.members(t, r)
	w.EndObject()
	return e.Violations.Err()
}

// An encoder writes a request by the tables of objects.
type encoder struct{ object.Encoder }

func newEncoder(w *jsonwire.Writer) encoder {
	return encoder{object.Encoder{Encoder: codec.Encoder{W: w}, Format: Format}}
}

// members writes the members of the struct at from.
func (e *encoder) members(t *object.Type, from any) {
	for f := range t.Written(from) {
		if !e.Member(f, from) {
			e.special(f, from, f.At(from))
		}
	}
	e.Rest(t, *t.Extra(from))
}

// special writes a member of the struct at in whose Go field, at from, needs rules of the
// format.
func (e *encoder) special(f *object.Field, in, from any) {
	switch from := from.(type) {
	case *bool:
		switch in := in.(type) {
		case *content.Document:
			e.citationsSwitch(f, *from, in.Extra)
		case *content.SearchResult:
			e.citationsSwitch(f, *from, in.Extra)
		}
	case *content.Role:
		e.Name(f)
		e.W.String(string(*from))
	case *content.Signature:
		e.signature(f, *from)
	case *content.Schema:
		e.inputSchema(f, from)
	case *[]content.Turn:
		e.turns(f, *from)
	case *[]content.Part:
		e.content(f, *from)
	case *content.Source:
		e.source(*from)
	case *[]content.Citation:
		e.citations(f, *from)
	case *[]content.Tool:
		e.List(f.Name, len(*from), func(i int) { e.tool(&(*from)[i]) })
	default:
		s := f.Value.Object.Pointer(from)
		e.Begin(f.Name)
		e.members(f.Value.Object, s)
		if c, ok := s.(*ToolChoice); ok && c.Type == "tool" && c.Name == "" {
			e.W.Member("name", "") // this type requires it
		}
		e.End()
	}
}

func (e *encoder) turns(f *object.Field, turns []content.Turn) {
	e.List(f.Name, len(turns), func(i int) {
		e.W.BeginObject()
		e.members(messageType, &turns[i])
		e.W.EndObject()
	})
}

// content writes a list of parts.
func (e *encoder) content(f *object.Field, parts []content.Part) {
	tagged := f.Value.Elem == taggedBlock
	e.List(f.Name, len(parts), func(i int) { e.part(parts[i], tagged) })
}

// part writes a part. If tagged is true, the paths of violations in the part include the
// type of its block, as the vendor's paths do.
func (e *encoder) part(p content.Part, tagged bool) {
	if content.IsNil(p) {
		e.Violation(content.CodeMissing, "", "the part must not be nil")
		return
	}
	if u, ok := p.(*content.Unknown); ok {
		e.unknown(u)
		return
	}
	kind, t := typeOf(p)
	if kind == "" {
		e.Violation(content.CodeUnsupported, "", "this kind of part is not supported by the Messages format")
		return
	}
	e.W.BeginObject()
	e.W.Member("type", kind)
	if tagged {
		e.Path.Push(kind)
		defer e.Path.Pop()
	}
	e.members(t, p)
	e.W.EndObject()
}

// unknown writes a part that is stored as JSON text.
func (e *encoder) unknown(u *content.Unknown) {
	switch {
	case u.Format != Format:
		e.Violation(content.CodeUnsupported, "", "a part of another format is not supported by the Messages format")
	case !jsonwire.IsObject(u.Raw):
		e.Violation(content.CodeType, "", textObject)
	case e.Valid("", u.Raw):
		e.W.Raw(u.Raw)
	}
}

// signature writes the data of s. It reports a violation if s is of another vendor.
func (e *encoder) signature(f *object.Field, s content.Signature) {
	if s == (content.Signature{}) && !f.Required {
		return
	}
	if s.Format != Format && s.Data != "" {
		e.Violation(content.CodeUnsupported, f.Name, "the signature must be one of the Messages format, not of another vendor")
	}
	e.Name(f)
	e.W.String(s.Data)
}

// inputSchema writes the schema of a tool, which is required.
func (e *encoder) inputSchema(f *object.Field, s *content.Schema) {
	switch {
	case s.OpenAPI:
		e.Violation(content.CodeUnsupported, f.Name, "the schema must be JSON Schema")
	case s.JSON == "":
		e.Raw(f.Name, `{"type":"object"}`)
	default:
		e.Free(f.Name, s.JSON)
	}
}

// citationsSwitch writes {"enabled": true} for a document or search result, with the
// unknown members of that object that the Extra of the block has.
func (e *encoder) citationsSwitch(f *object.Field, on bool, x *content.Extra) {
	rest := "" // the object with the unknown members
	if x != nil && x.Format == Format {
		rest = gjson.Get(x.JSON, "citations").Raw
	}
	if !on && !jsonwire.IsObject(rest) {
		return
	}
	e.Begin(f.Name)
	if on {
		e.W.BoolMember("enabled", true)
	}
	if rest != "" {
		e.Rest(citationsSwitch.Object, &content.Extra{Format: Format, JSON: rest})
	}
	e.End()
}

func (e *encoder) citations(f *object.Field, list []content.Citation) {
	e.List(f.Name, len(list), func(i int) {
		e.W.BeginObject()
		e.citation(&list[i])
		e.W.EndObject()
	})
}

// citation writes the members of one citation.
func (e *encoder) citation(c *content.Citation) {
	if c.Kind == "" { // Extra holds all members
		if c.Extra == nil || c.Extra.Format != Format {
			e.Violation(content.CodeUnsupported, "", "a citation without a kind needs an Extra in the Messages format")
		}
		e.Rest(noMembers, c.Extra)
		return
	}
	f := citationFormOf("", c.Kind)
	if f == nil {
		e.Violation(content.CodeUnsupported, "", "this kind of citation is not supported by the Messages format")
		return
	}
	e.W.Member("type", f.tag)
	e.members(f.of, c)
}

var noMembers = object.Kept("")

// source writes the source of an image or a document.
func (e *encoder) source(s content.Source) {
	tag, _ := sourceTag(s)
	t := typeOfTag(sourceTypes, tag)
	e.W.Name("source")
	e.Path.Push("source")
	e.W.BeginObject()
	if t == nil {
		e.Violation(content.CodeMissing, "", "the source is nil or of a kind that the Messages format does not support")
	} else {
		e.W.Member("type", tag)
		depth := e.Path.Depth()
		if t == partsType {
			e.Path.Push(tag)
		}
		e.members(t, s)
		e.Path.Truncate(depth)
	}
	e.W.EndObject()
	e.Path.Pop()
}

func (e *encoder) tool(t *content.Tool) {
	if t.Kind != "" {
		e.unknown(&content.Unknown{Format: t.Format, Kind: t.Kind, Raw: t.Raw})
		return
	}
	e.Path.Push("custom")
	e.W.BeginObject()
	e.members(customToolType, t)
	e.W.EndObject()
	e.Path.Pop()
}

// A Body is an encoded request. It refers to large files instead of copying them.
// Later changes of the request do not affect it. It is safe for concurrent use.
type Body struct{ w jsonwire.Writer }

// Body encodes the request. It returns the errors of [Request.AppendJSON].
// [Body.Len] is the Content-Length of an HTTP request, and [Body.Reader] can serve
// as its GetBody. If the request is a translation, long texts have the escapes of the client's
// document.
func (r *Request) Body() (*Body, error) { return r.body(requestType) }

func (r *Request) body(t *object.Type) (*Body, error) {
	b := &Body{}
	b.w.Literals = r.literals
	if err := r.writeAs(t, &b.w); err != nil {
		return nil, err
	}
	return b, nil
}

// Len returns the length of the document in bytes.
func (b *Body) Len() int64 { return int64(b.w.Len()) }

// Reader returns a new reader of the whole document, which also implements
// [io.WriterTo] and [io.Seeker].
func (b *Body) Reader() io.ReadCloser { return b.w.Reader() }
