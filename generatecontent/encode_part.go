package generatecontent

import (
	"encoding/base64"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// part writes one part.
func (e *encoder) part(p content.Part) {
	if content.IsNil(p) {
		e.Violation(content.CodeMissing, "", "the part is nil")
		return
	}
	if u, ok := p.(*content.Unknown); ok {
		e.unknown(u)
		return
	}
	e.W.BeginObject()
	defer e.W.EndObject()
	switch p := p.(type) {
	case *content.Text:
		e.partText(p, p.Text)
		e.AsNoted(p, "thought")
		e.side(p.Signature, p.Extra, 1<<fThought|1<<fSignature, "")
	case *content.Thinking:
		e.thought(p)
	case *content.Image:
		e.source(p.Source)
		e.side(p.Signature, p.Extra, 1<<fSignature, "")
	case *content.Document:
		e.source(p.Source)
		e.side(p.Signature, p.Extra, 1<<fSignature, "")
	case *content.Media:
		e.source(p.Source)
		e.side(p.Signature, p.Extra, 1<<fSignature, "")
	case *content.ToolUse:
		e.call(p)
	case *content.ToolResult:
		e.result(p)
	case *content.ServerToolUse:
		e.serverCall(p)
	case *content.ServerToolResult:
		e.serverResult(p)
	default:
		e.Violation(content.CodeUnsupported, "", "a part of this kind cannot be said in this format")
	}
}

// unknown writes a part that is kept as JSON text.
func (e *encoder) unknown(u *content.Unknown) {
	switch {
	case u.Format != Format:
		e.Violation(content.CodeUnsupported, "", "a part of another format cannot be said in this format")
	case !jsonwire.IsObject(u.Raw):
		e.Violation(content.CodeType, "", "the part must be a JSON object")
	case e.Valid("", u.Raw):
		e.W.Raw(u.Raw)
	}
}

// side writes what stands beside a part's data: a signature of this format, and
// the members of its Extra but those that are typed and those of inner.
func (e *encoder) side(s content.Signature, x *content.Extra, typed uint64, inner string) {
	if s.Data != "" && s.Format == Format {
		e.Must("thoughtSignature", s.Data)
	}
	if x != nil {
		has := partFields.has(typed | (1<<partData - 1))
		e.Extra(x, Format, func(name string) bool { return inner != "" && name == inner || has(name) })
	}
}

// inner writes the members that an Extra has for the object of a name in it.
func (e *encoder) inner(x *content.Extra, name string, m *message, typed int) {
	if x == nil || x.Format != Format || !strings.Contains(x.JSON, name) {
		return
	}
	doc, err := jsonwire.Parse(x.JSON, codec.UnlimitedJSON)
	if err != nil {
		return // side tells
	}
	defer doc.Close()
	if object := doc.Root().Get(name); object.Kind() == jsonwire.Object {
		e.Extra(&content.Extra{Format: Format, JSON: object.Raw()}, Format, m.has(1<<typed-1))
	}
}

func (e *encoder) thought(p *content.Thinking) {
	if p.Redacted != (content.Signature{}) {
		e.Violation(content.CodeUnsupported, "", "a redacted thought cannot be said in this format")
		return
	}
	e.partText(p, p.Text)
	e.W.Name("thought")
	e.W.Bool(true)
	e.side(p.Signature, p.Extra, 1<<fThought|1<<fSignature, "")
}

// source writes a file.
func (e *encoder) source(s content.Source) {
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			e.Begin("inlineData")
			e.Text(s, "mimeType", s.MediaType)
			e.Must("data", s.Data)
			e.extra(s.Extra, blobFields, blobTyped)
			e.End()
			return
		}
	case *content.PlainText:
		if s != nil {
			e.Begin("inlineData")
			e.Must("mimeType", s.Type())
			e.Must("data", base64.StdEncoding.EncodeToString([]byte(s.Text)))
			e.End()
			return
		}
	case *content.URL:
		if s != nil {
			e.fileData(s, s.MediaType, s.URL, s.Extra)
			return
		}
	case *content.File:
		if s != nil {
			e.fileData(s, s.MediaType, s.ID, s.Extra)
			return
		}
	}
	e.Violation(content.CodeMissing, "", "the source is nil or of a kind that this format does not have")
}

func (e *encoder) fileData(node any, mediaType, uri string, x *content.Extra) {
	e.Begin("fileData")
	e.Text(node, "mimeType", mediaType)
	e.Text(node, "fileUri", uri)
	e.extra(x, fileFields, fileTyped)
	e.End()
}

func (e *encoder) call(p *content.ToolUse) {
	const name = "functionCall"
	e.Begin(name)
	e.Text(p, "id", p.ID)
	e.Text(p, "name", p.Name)
	if p.Input != "" {
		e.Free("args", p.Input)
	}
	e.inner(p.Extra, name, callFields, callTyped)
	e.End()
	e.side(p.Signature, p.Extra, 1<<fSignature, name)
}

func (e *encoder) result(p *content.ToolResult) {
	const name = "functionResponse"
	e.Begin(name)
	e.Text(p, "id", p.ID)
	e.Text(p, "name", p.Name)
	texts, files := resultTexts(p.Parts)
	e.response(p, texts)
	if files {
		e.files(p.Parts)
	} else {
		e.AsNoted(p, "parts")
	}
	e.inner(p.Extra, name, responseFields, responseTyped)
	e.End()
	e.side(content.Signature{}, p.Extra, 0, name)
}

// resultTexts returns the texts of a result, and whether it has other parts.
func resultTexts(parts []content.Part) (texts []string, files bool) {
	for _, q := range parts {
		if t, ok := q.(*content.Text); ok && t != nil {
			texts = append(texts, t.Text)
		} else {
			files = true
		}
	}
	return texts, files
}

// response writes what a function gave back: its object, if that still says
// what the texts say, else the texts.
func (e *encoder) response(p *content.ToolResult, texts []string) {
	said := strings.Join(texts, "\n")
	if p.Object != "" && (len(texts) == 0 || tells(p, said)) {
		e.Free("response", p.Object)
		return
	}
	if len(texts) == 0 && !p.Error {
		if raw, noted := e.Noted(p, "response"); !noted || raw != codec.Absent {
			e.Free("response", "")
		}
		return
	}
	e.Begin("response")
	if p.Error {
		e.Must("error", said)
	} else {
		e.Must("output", said)
	}
	e.End()
}

// tells reports whether the object of a result tells just what its texts and
// its Error do.
func tells(p *content.ToolResult, said string) bool {
	doc, err := jsonwire.Parse(p.Object, codec.UnlimitedJSON)
	if err != nil {
		return true // it will be told that it is no JSON
	}
	defer doc.Close()
	text, failed, _ := tell(doc.Root())
	return text == said && failed == p.Error
}

// files writes the parts of a result that are no texts.
func (e *encoder) files(parts []content.Part) {
	e.W.Name("parts")
	e.W.BeginArray()
	e.Path.Push("parts")
	for i, q := range parts {
		if t, ok := q.(*content.Text); ok && t != nil {
			continue
		}
		e.Path.PushIndex(i)
		e.responsePart(q)
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

func (e *encoder) responsePart(p content.Part) {
	s, x := sourceOf(p)
	if u, ok := p.(*content.Unknown); ok && u != nil {
		e.unknown(u)
		return
	}
	e.W.BeginObject()
	if s == nil {
		e.Violation(content.CodeUnsupported, "", "a result holds texts and files in this format")
	} else {
		e.source(s)
		if x != nil {
			e.Extra(x, Format, responsePartFields.has(1<<fRespInline|1<<fRespFile))
		}
	}
	e.W.EndObject()
}

// sourceOf returns the source of a part that is a file, and its Extra.
func sourceOf(p content.Part) (content.Source, *content.Extra) {
	if content.IsNil(p) {
		return nil, nil
	}
	switch p := p.(type) {
	case *content.Image:
		return p.Source, p.Extra
	case *content.Document:
		return p.Source, p.Extra
	case *content.Media:
		return p.Source, p.Extra
	}
	return nil, nil
}

func (e *encoder) serverCall(p *content.ServerToolUse) {
	if p.Format != Format || !e.isServer(p.Kind, fCode, fServerCall) {
		e.Violation(content.CodeUnsupported, "", "a tool of another format cannot be said in this format")
		return
	}
	e.Begin(p.Kind)
	e.Text(p, "id", p.ID)
	if p.Kind == partFields.camel[fCode] {
		e.members(p.Input, codeFields)
		e.End()
		e.side(p.Signature, p.Extra, 1<<fSignature, "")
		return
	}
	e.Text(p, "toolType", p.Name)
	if p.Input != "" {
		e.Free("args", p.Input)
	}
	e.inner(p.Extra, p.Kind, serverCallFields, callTyped)
	e.End()
	e.side(p.Signature, p.Extra, 1<<fSignature, p.Kind)
}

func (e *encoder) serverResult(p *content.ServerToolResult) {
	if p.Format != Format || !e.isServer(p.Kind, fCodeResult, fServerResponse) {
		e.Violation(content.CodeUnsupported, "", "a result of another format cannot be said in this format")
		return
	}
	e.Begin(p.Kind)
	e.Text(p, "id", p.ID)
	e.members(p.Content, codeResultFields)
	e.End()
	e.side(p.Signature, p.Extra, 1<<fSignature, "")
}

func (e *encoder) isServer(kind string, a, b int) bool {
	return kind == partFields.camel[a] || kind == partFields.camel[b]
}

// members writes the members of an object but its id.
func (e *encoder) members(object string, m *message) {
	if object != "" {
		e.Extra(&content.Extra{Format: Format, JSON: object}, Format, m.has(1<<fServerID))
	}
}

// partText writes the text of a part, unless it is empty and was left out.
func (e *encoder) partText(node any, text string) {
	if raw, noted := e.Noted(node, "text"); text != "" || !noted || raw != codec.Absent {
		e.Must("text", text)
	}
}
