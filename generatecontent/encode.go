package generatecontent

import (
	"encoding/base64"
	"io"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
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
	w.Grow(r.size())
	w.BeginObject()
	e.Text("model", r.Model)
	e.contents(r)
	e.rest(r)
	w.EndObject()
	return e.Violations.Err()
}

// An encoder writes a request.
type encoder struct{ codec.Encoder }

func newEncoder(w *jsonwire.Writer) *encoder {
	return &encoder{codec.Encoder{W: w, Path: codec.Path{Style: codec.Bracketed}, DisplayPath: snake}}
}

// rest writes the top-level members other than model and contents.
func (e *encoder) rest(r *Request) {
	e.system(r)
	e.tools(r.Tools)
	e.toolConfig(r)
	e.safety(r)
	e.config(r)
	e.Text("cachedContent", r.CachedContent)
	e.Text("serviceTier", r.ServiceTier)
	e.OptFlag("store", r.Store)
	e.OptRaw("labels", r.Labels)
	e.Text("continuationToken", r.ContinuationToken)
	e.OptRaw("processingOptions", r.ProcessingOptions)
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
		e.parts(t.Parts)
		e.extra(t.Extra, contentFields, contentTyped)
		e.W.EndObject()
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

func (e *encoder) role(t *content.Turn) {
	switch t.Role {
	case content.RoleUser:
		e.Must("role", "user")
	case content.RoleAssistant:
		e.Must("role", "model")
	default:
		e.Violation(content.CodeValue, "role", "the roles are user and assistant")
	}
}

func (e *encoder) system(r *Request) {
	s := r.SystemInstruction
	if s == nil {
		return
	}
	e.Begin("systemInstruction")
	e.parts(s.Parts)
	e.extra(s.Extra, contentFields, contentTyped)
	e.End()
}

// parts writes a list of parts.
func (e *encoder) parts(parts []content.Part) {
	if len(parts) == 0 {
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

// tools writes adjacent functions into one tool object, and any other tool into a separate
// object. [canonicalPlaces] has the same order.
func (e *encoder) tools(list []content.Tool) {
	if len(list) == 0 {
		return
	}
	e.W.Name("tools")
	e.W.BeginArray()
	e.Path.Push("tools")
	for i := 0; len(list) > 0; i++ {
		e.Path.PushIndex(i)
		e.W.BeginObject()
		n := slices.IndexFunc(list, func(t content.Tool) bool { return t.Kind != "" })
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

func (e *encoder) declarations(list []content.Tool) {
	e.W.Name("functionDeclarations")
	e.W.BeginArray()
	e.Path.Push("function_declarations")
	for i := range list {
		t := &list[i]
		e.Path.PushIndex(i)
		e.W.BeginObject()
		e.Text("name", t.Name)
		e.Text("description", t.Description)
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

func (e *encoder) toolConfig(r *Request) {
	c := r.ToolConfig
	if c == nil {
		return
	}
	e.Begin("toolConfig")
	if f := c.FunctionCalling; f != nil {
		e.Begin("functionCallingConfig")
		e.Text("mode", f.Mode)
		e.Strings("allowedFunctionNames", f.AllowedFunctionNames)
		e.extra(f.Extra, callingFields, callingTyped)
		e.End()
	}
	e.OptRaw("retrievalConfig", c.RetrievalConfig)
	e.Flag("includeServerSideToolInvocations", c.IncludeServerSideToolInvocations)
	e.extra(c.Extra, toolConfigFields, toolConfigTyped)
	e.End()
}

func (e *encoder) safety(r *Request) {
	if len(r.SafetySettings) == 0 {
		return
	}
	e.W.Name("safetySettings")
	e.W.BeginArray()
	e.Path.Push("safety_settings")
	for i := range r.SafetySettings {
		s := &r.SafetySettings[i]
		e.Path.PushIndex(i)
		e.W.BeginObject()
		e.Text("category", s.Category)
		e.Text("threshold", s.Threshold)
		e.extra(s.Extra, safetyFields, safetyTyped)
		e.W.EndObject()
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

func (e *encoder) config(r *Request) {
	c := r.GenerationConfig
	if c == nil {
		return
	}
	e.Begin("generationConfig")
	e.OptNumber("temperature", c.Temperature)
	e.OptNumber("topP", c.TopP)
	e.OptInt("topK", c.TopK)
	if c.CandidateCount != 0 {
		e.Int("candidateCount", c.CandidateCount)
	}
	e.OptInt("maxOutputTokens", c.MaxOutputTokens)
	e.Strings("stopSequences", c.StopSequences)
	e.OptNumber("presencePenalty", c.PresencePenalty)
	e.OptNumber("frequencyPenalty", c.FrequencyPenalty)
	e.OptInt("seed", c.Seed)
	e.Flag("responseLogprobs", c.ResponseLogprobs)
	e.OptInt("logprobs", c.Logprobs)
	e.Text("responseMimeType", c.ResponseMimeType)
	if c.ResponseSchema != "" {
		e.Free("responseSchema", c.ResponseSchema)
	}
	e.OptRaw("responseJsonSchema", c.ResponseJSONSchema)
	e.OptRaw("responseFormat", c.ResponseFormat)
	e.Strings("responseModalities", c.ResponseModalities)
	e.imageConfig(c.ImageConfig)
	e.thinking(c.ThinkingConfig)
	e.OptRaw("speechConfig", c.SpeechConfig)
	e.Text("mediaResolution", c.MediaResolution)
	e.extra(c.Extra, configFields, configTyped)
	e.End()
}

func (e *encoder) imageConfig(c *ImageConfig) {
	if c == nil {
		return
	}
	e.Begin("imageConfig")
	e.Text("aspectRatio", c.AspectRatio)
	e.Text("imageSize", c.ImageSize)
	e.extra(c.Extra, imageFields, imageTyped)
	e.End()
}

func (e *encoder) thinking(c *ThinkingConfig) {
	if c == nil {
		return
	}
	e.Begin("thinkingConfig")
	e.OptFlag("includeThoughts", c.IncludeThoughts)
	e.OptInt("thinkingBudget", c.ThinkingBudget)
	e.Text("thinkingLevel", c.ThinkingLevel)
	e.extra(c.Extra, thinkingFields, thinkingTyped)
	e.End()
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
	defer e.W.EndObject()
	switch p := p.(type) {
	case *content.Text:
		e.Must("text", p.Text)
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
		e.Violation(content.CodeUnsupported, "", "a request in this format cannot contain a part of this kind")
	}
}

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

// side writes the members of a part other than its data: a signature of this format, and
// the members of its Extra except typed ones and inner.
func (e *encoder) side(s content.Signature, x *content.Extra, typed uint64, inner string) {
	if s.Data != "" && s.Format == Format {
		e.Must("thoughtSignature", s.Data)
	}
	if x != nil {
		has := partFields.has(typed | (1<<partData - 1))
		e.Extra(x, Format, func(name string) bool { return inner != "" && name == inner || has(name) })
	}
}

// inner writes the members that an Extra has for the object of that name.
func (e *encoder) inner(x *content.Extra, name string, m *message, typed int) {
	if x == nil || x.Format != Format || !strings.Contains(x.JSON, name) {
		return
	}
	doc, err := jsonwire.Parse(x.JSON, codec.UnlimitedJSON)
	if err != nil {
		return // side reports it
	}
	defer doc.Close()
	if object := doc.Root().Get(name); object.Kind() == jsonwire.Object {
		e.Extra(&content.Extra{Format: Format, JSON: object.Raw()}, Format, m.has(1<<typed-1))
	}
}

func (e *encoder) thought(p *content.Thinking) {
	if p.Redacted != (content.Signature{}) {
		e.Violation(content.CodeUnsupported, "", "this format has no redacted thinking")
		return
	}
	e.Must("text", p.Text)
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
			e.Text("mimeType", s.MediaType)
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
			e.fileData(s.MediaType, s.URL, s.Extra)
			return
		}
	case *content.File:
		if s != nil {
			e.fileData(s.MediaType, s.ID, s.Extra)
			return
		}
	}
	e.Violation(content.CodeMissing, "", "the source is nil, or this format does not have its kind")
}

func (e *encoder) fileData(mediaType, uri string, x *content.Extra) {
	e.Begin("fileData")
	e.Text("mimeType", mediaType)
	e.Text("fileUri", uri)
	e.extra(x, fileFields, fileTyped)
	e.End()
}

func (e *encoder) call(p *content.ToolUse) {
	const name = "functionCall"
	e.Begin(name)
	e.Text("id", p.ID)
	e.Text("name", p.Name)
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
	e.Text("id", p.ID)
	e.Text("name", p.Name)
	texts, files := resultTexts(p.Parts)
	e.response(p, texts)
	if files {
		e.files(p.Parts)
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

// response writes the response object of a function: the object of the result if it
// agrees with the texts, or else one that is made of the texts.
func (e *encoder) response(p *content.ToolResult, texts []string) {
	joined := strings.Join(texts, "\n")
	if p.Object != "" && (len(texts) == 0 || hasResultText(p, joined)) {
		e.Free("response", p.Object)
		return
	}
	if len(texts) == 0 && !p.Error {
		e.Free("response", "")
		return
	}
	e.Begin("response")
	if p.Error {
		e.Must("error", joined)
	} else {
		e.Must("output", joined)
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
		e.Violation(content.CodeUnsupported, "", "a function response contains only texts and files")
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
		e.Violation(content.CodeUnsupported, "", "the tool call is of another format")
		return
	}
	e.Begin(p.Kind)
	e.Text("id", p.ID)
	if p.Kind == partFields.camel[fCode] {
		e.members(p.Input, codeFields)
		e.End()
		e.side(p.Signature, p.Extra, 1<<fSignature, "")
		return
	}
	e.Text("toolType", p.Name)
	if p.Input != "" {
		e.Free("args", p.Input)
	}
	e.inner(p.Extra, p.Kind, serverCallFields, callTyped)
	e.End()
	e.side(p.Signature, p.Extra, 1<<fSignature, p.Kind)
}

func (e *encoder) serverResult(p *content.ServerToolResult) {
	if p.Format != Format || !e.isServer(p.Kind, fCodeResult, fServerResponse) {
		e.Violation(content.CodeUnsupported, "", "the tool result is of another format")
		return
	}
	e.Begin(p.Kind)
	e.Text("id", p.ID)
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

const (
	maxRoom  = 512 << 10 // the largest initial buffer of a document
	partRoom = 80        // the JSON around a part
	toolRoom = 120
)

// size estimates the length of the encoded request without files.
func (r *Request) size() int {
	n := 256
	if s := r.SystemInstruction; s != nil {
		n += sizeOf(s.Parts)
	}
	for i := range r.Contents {
		if n > maxRoom {
			return maxRoom
		}
		n += partRoom + sizeOf(r.Contents[i].Parts)
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		n += toolRoom + len(t.Description) + len(t.Input.JSON) + len(t.Output.JSON) + len(t.Raw)
	}
	return min(n+n/16, maxRoom)
}

func sizeOf(parts []content.Part) (n int) {
	for _, p := range parts {
		n += partRoom
		if content.IsNil(p) {
			continue
		}
		switch p := p.(type) {
		case *content.Text:
			n += len(p.Text) + len(p.Signature.Data)
		case *content.Thinking:
			n += len(p.Text) + len(p.Signature.Data)
		case *content.ToolUse:
			n += len(p.Input) + len(p.Signature.Data)
		case *content.ToolResult:
			n += len(p.Object) + sizeOf(p.Parts)
		}
	}
	return n
}

// A Body is an encoded request. It references large files instead of copying them. It does
// not change when the request does, and is safe for concurrent use.
type Body struct{ w jsonwire.Writer }

// Body encodes the request. It fails as [Request.AppendJSON] does. Len is the
// Content-Length. GetBody of an HTTP request can return a new Reader for each attempt.
func (r *Request) Body() (*Body, error) {
	b := &Body{}
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
