package generatecontent

import (
	"encoding/base64"
	"io"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/partfield"
)

// AppendJSON appends the request as a document in canonical form. Parsing the document
// gives an equal request, and equal requests give the same bytes: members in a fixed
// order, names in camelCase, enums by name, no members with empty or default values.
// Values that may be any JSON are copied, with their key order and numbers.
//
// It returns an error with a [*content.Violation] for each value that the format cannot
// represent: a nil part, a part of another format, or invalid JSON text in a field.
// [Request.Body] does the same without copying large files.
func (r *Request) AppendJSON(dst []byte) ([]byte, error) {
	var w jsonwire.Writer
	if err := r.write(&w); err != nil {
		return dst, err
	}
	return codec.Append(dst, &w)
}

// write writes the request as a document.
func (r *Request) write(w *jsonwire.Writer) error {
	e := newEncoder(w)
	e.Parsed = r.jsonParsed
	var system []content.Part
	if s := r.SystemInstruction; s != nil {
		system = s.Parts
	}
	w.Grow(codec.DocumentSize(system, r.Contents, r.Tools))
	w.BeginObject()
	e.members(requestType, r)
	w.EndObject()
	return e.Violations.Err()
}

// An encoder writes a request by the tables of objects.
type encoder struct{ object.Encoder }

func newEncoder(w *jsonwire.Writer) *encoder {
	return &encoder{object.Encoder{Format: Format,
		Encoder: codec.Encoder{W: w, Path: codec.Path{Style: codec.Bracketed}, DisplayPath: snake}}}
}

// members writes the members of the struct at from.
func (e *encoder) members(t *object.Type, from any) {
	e.fields(t, from)
	e.Rest(t, *t.Extra(from))
}

// inner writes a member whose value is the struct at from.
func (e *encoder) inner(name string, t *object.Type, from any) {
	e.Begin(name)
	e.members(t, from)
	e.End()
}

// fields writes the members that the struct at from has fields for.
func (e *encoder) fields(t *object.Type, from any) {
	for f := range t.Written(from) {
		if !e.Member(f, from) {
			e.special(f, f.At(from))
		}
	}
}

// special writes a member whose Go field, at from, needs rules of the format.
func (e *encoder) special(f *object.Field, from any) {
	switch from := from.(type) { // other kinds have no member of these types
	case *ignored:
	case *content.Role:
		e.role(*from)
	case *content.Signature:
		if from.Data != "" && from.Format == Format {
			e.W.Member(f.Name, from.Data)
		}
	case *content.Schema:
		e.schema(f, from)
	case *content.Source:
		e.source(*from)
	case *[]content.Turn:
		objects(e, f, *from, func(t *content.Turn) { e.members(contentType, t) })
	case *[]SafetySetting:
		objects(e, f, *from, func(s *SafetySetting) { e.members(safetyType, s) })
	case *[]content.Tool:
		e.tools(f, *from)
	case *[]content.Part:
		if f.Value.Elem == responsePart {
			e.files(f, *from)
		} else {
			e.parts(f.Name, *from)
		}
	case *content.Thinking:
		e.W.BoolMember(f.Name, true)
	case *content.ToolUse:
		e.data(f.Name, callType, from, from.Extra)
	case *content.ToolResult:
		if f.IsTag {
			e.data(f.Name, responseType, from, from.Extra)
		} else {
			e.response(f, from)
		}
	case *content.ServerToolUse:
		e.serverCall(from)
	case *content.ServerToolResult:
		e.serverResult(from)
	default:
		if s := f.Value.Object.Pointer(from); s != nil {
			e.inner(f.Name, f.Value.Object, s)
		}
	}
}

// objects writes a list of objects unless it is empty.
func objects[T any](e *encoder, f *object.Field, list []T, members func(*T)) {
	if len(list) == 0 {
		return
	}
	e.List(f.Name, len(list), func(i int) {
		e.W.BeginObject()
		members(&list[i])
		e.W.EndObject()
	})
}

func (e *encoder) role(r content.Role) {
	switch r {
	case content.RoleUser:
		e.W.Member("role", "user")
	case content.RoleAssistant:
		e.W.Member("role", "model")
	default:
		e.Violation(content.CodeValue, "role", "the roles are user and assistant")
	}
}

// parts writes a list of parts.
func (e *encoder) parts(name string, parts []content.Part) {
	if len(parts) == 0 {
		return
	}
	e.List(name, len(parts), func(i int) { e.part(parts[i]) })
}

// tools writes adjacent functions into one tool object, and any other tool into a separate
// object. [canonicalPlaces] has the same order.
func (e *encoder) tools(f *object.Field, list []content.Tool) {
	if len(list) == 0 {
		return
	}
	e.W.Array(f.Name)
	e.Path.Push(f.Name)
	for i := 0; len(list) > 0; i++ {
		e.Path.PushIndex(i)
		e.W.BeginObject()
		n := slices.IndexFunc(list, func(t content.Tool) bool { return t.Kind != "" }) // one pass
		switch t := &list[0]; {
		case n < 0:
			n = len(list)
			fallthrough
		case n > 0:
			e.declarations(list[:n])
		case t.Format != Format:
			e.Violation(content.CodeUnsupported, "", "the tool is built into another vendor's API")
			n = 1
		default:
			e.Raw(t.Kind, t.Raw)
			n = 1
		}
		list = list[n:]
		e.W.EndObject()
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

func (e *encoder) declarations(tools []content.Tool) {
	f := toolType.Find("functionDeclarations")
	objects(e, f, tools, func(t *content.Tool) { e.members(declarationType, t) })
}

// schema writes a schema under the name of its dialect.
func (e *encoder) schema(f *object.Field, s *content.Schema) {
	switch {
	case s.JSON == "", s.OpenAPI != (f.Value == openAPI):
	case s.OpenAPI:
		e.Free(f.Name, s.JSON)
	default:
		e.Raw(f.Name, s.JSON)
	}
}

// part writes one part.
func (e *encoder) part(p content.Part) {
	if content.IsNil(p) {
		e.Violation(content.CodeMissing, "", "the part must not be nil")
		return
	}
	if u, ok := p.(*content.Unknown); ok {
		e.unknown(u)
		return
	}
	e.W.BeginObject()
	if t := e.typeOf(p); t != nil {
		e.members(t, p)
	}
	e.W.EndObject()
}

// typeOf returns the type of a part. If the format does not have the part, it reports that
// and returns nil.
func (e *encoder) typeOf(p content.Part) *object.Type {
	switch p := p.(type) { // other kinds are refused
	case *content.Text:
		return textPart
	case *content.Thinking:
		if p.Redacted != (content.Signature{}) {
			e.Violation(content.CodeUnsupported, "", "this format has no redacted thinking")
			return nil
		}
		return thinkingPart
	case *content.Image:
		return imagePart
	case *content.Document:
		return documentPart
	case *content.Media:
		return mediaPart
	case *content.ToolUse:
		return callPart
	case *content.ToolResult:
		return resultPart
	case *content.ServerToolUse:
		if p.Format == Format && (p.Kind == "toolCall" || p.Kind == executableCode) {
			return serverCallPart
		}
		e.Violation(content.CodeUnsupported, "", "the tool call is of another format")
		return nil
	case *content.ServerToolResult:
		if p.Format == Format && (p.Kind == "toolResponse" || p.Kind == codeExecutionResult) {
			return serverResultPart
		}
		e.Violation(content.CodeUnsupported, "", "the tool result is of another format")
		return nil
	}
	e.Violation(content.CodeUnsupported, "", "a request in this format cannot contain a part of this kind")
	return nil
}

const (
	executableCode      = "executableCode"
	codeExecutionResult = "codeExecutionResult"
)

// unknown writes a part that is carried as JSON text.
func (e *encoder) unknown(u *content.Unknown) {
	switch {
	case u.Format != Format:
		e.Violation(content.CodeUnsupported, "", "the part is of another format")
	case !jsonwire.IsObject(u.Raw):
		e.Violation(content.CodeType, "", "the part must be a JSON object")
	case e.Valid("", u.Raw):
		e.W.Raw(u.Raw)
	}
}

// data writes the data of a part: an object of type t, with the members that the Extra of the
// part has for it.
func (e *encoder) data(name string, t *object.Type, from any, x *content.Extra) {
	e.Begin(name)
	e.fields(t, from)
	if x != nil && strings.Contains(x.JSON, name) && jsonwire.Valid(x.JSON, codec.UnlimitedJSON) == nil {
		if inner, _ := x.Get(name); jsonwire.IsObject(inner) {
			e.Rest(t, &content.Extra{Format: x.Format, JSON: inner})
		}
	}
	e.End()
}

// source writes a file.
func (e *encoder) source(s content.Source) {
	switch s := s.(type) { // other kinds have no wire form
	case *content.Base64:
		if s != nil {
			e.inner("inlineData", blobType, s)
			return
		}
	case *content.PlainText:
		if s != nil {
			e.Begin("inlineData")
			e.W.Member("mimeType", s.Type())
			e.W.Member("data", base64.StdEncoding.EncodeToString([]byte(s.Text)))
			e.End()
			return
		}
	case *content.URL:
		if s != nil {
			e.inner("fileData", linkType, s)
			return
		}
	case *content.File:
		if s != nil {
			e.inner("fileData", fileType, s)
			return
		}
	}
	e.Violation(content.CodeMissing, "", "the source is nil, or this format does not have its kind")
}

// resultTexts returns the texts of a result.
func resultTexts(parts []content.Part) (texts []string) {
	for _, p := range parts {
		if isText(p) {
			texts = append(texts, p.(*content.Text).Text)
		}
	}
	return texts
}

func isText(p content.Part) bool {
	t, ok := p.(*content.Text)
	return ok && t != nil
}

// response writes the response object of a function: the object of the result if it
// agrees with the texts, or else one that is made of the texts.
func (e *encoder) response(f *object.Field, p *content.ToolResult) {
	texts := resultTexts(p.Parts)
	joined := strings.Join(texts, "\n")
	if p.Object != "" && (len(texts) == 0 || hasResultText(p, joined)) {
		e.Free(f.Name, p.Object)
		return
	}
	if len(texts) == 0 && !p.Error {
		e.Free(f.Name, "")
		return
	}
	e.Begin(f.Name)
	if p.Error {
		e.W.Member("error", joined)
	} else {
		e.W.Member("output", joined)
	}
	e.End()
}

// hasResultText reports whether the object of a result has the same text and Error as
// the result itself.
func hasResultText(p *content.ToolResult, want string) bool {
	doc, err := jsonwire.Parse(p.Object, codec.UnlimitedJSON)
	if err != nil {
		return true // encoding reports that it is not JSON
	}
	defer doc.Close()
	text, failed, _ := resultText(doc.Root())
	return text == want && failed == p.Error
}

// files writes the parts of a result other than texts.
func (e *encoder) files(f *object.Field, parts []content.Part) {
	if !slices.ContainsFunc(parts, func(p content.Part) bool { return !isText(p) }) { // one pass
		return
	}
	e.W.Array(f.Name)
	e.Path.Push(f.Name)
	for i, p := range parts {
		if isText(p) {
			continue
		}
		e.Path.PushIndex(i)
		e.responsePart(p)
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

func (e *encoder) responsePart(p content.Part) {
	if u, ok := p.(*content.Unknown); ok && u != nil {
		e.unknown(u)
		return
	}
	e.W.BeginObject()
	if s := partfield.SourceOf(p); s == nil {
		e.Violation(content.CodeUnsupported, "", "a function response contains only texts and files")
	} else {
		e.source(s)
		e.Rest(responsePartType, partfield.ExtraOf(p))
	}
	e.W.EndObject()
}

func (e *encoder) serverCall(p *content.ServerToolUse) {
	if p.Kind == executableCode {
		e.object(p.Kind, codeType, p, p.Input)
	} else {
		e.data(p.Kind, serverCallType, p, p.Extra)
	}
}

func (e *encoder) serverResult(p *content.ServerToolResult) {
	t := serverResponseType
	if p.Kind == codeExecutionResult {
		t = codeResultType
	}
	e.object(p.Kind, t, p, p.Content)
}

// object writes the data of a part: an object of type t whose other members are those of
// rest, which is JSON text or empty.
func (e *encoder) object(name string, t *object.Type, from any, rest string) {
	e.Begin(name)
	e.fields(t, from)
	if rest != "" {
		e.Rest(t, &content.Extra{Format: Format, JSON: rest})
	}
	e.End()
}

// A Body is an encoded request. It references large files instead of copying them. It does
// not change when the request does, and is safe for concurrent use.
type Body struct{ w jsonwire.Writer }

// Body encodes the request. It fails as [Request.AppendJSON] does. Len is the
// Content-Length. GetBody of an HTTP request can return a new Reader for each attempt. If the
// request is a translation, long texts have the escapes of the client's document.
func (r *Request) Body() (*Body, error) {
	b := &Body{}
	b.w.Literals = r.literals
	if err := r.write(&b.w); err != nil {
		return nil, err
	}
	return b, nil
}

// Len returns the length of the document in bytes.
func (b *Body) Len() int64 { return int64(b.w.Len()) }

// Reader returns a new reader of the whole document. It also implements [io.WriterTo] and
// [io.Seeker].
func (b *Body) Reader() io.ReadCloser { return b.w.Reader() }
