package messages

import (
	"io"
	"math"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
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
func (r *Request) write(w *jsonwire.Writer) error {
	e := encoder{codec.Encoder{W: w}}
	w.Grow(r.size())
	w.BeginObject()
	e.Must("model", r.Model)
	e.OptInt("max_tokens", r.MaxTokens)
	e.settings(r)
	e.turns(r.Messages)
	e.extra(r.Extra, &requestNames)
	w.EndObject()
	return e.Violations.Err()
}

// An encoder writes a request.
type encoder struct {
	codec.Encoder
}

// settings writes the top level except model, max_tokens and messages.
func (e *encoder) settings(r *Request) {
	if len(r.System) > 0 {
		e.content("system", r.System, false)
	}
	e.Flag("stream", r.Stream)
	e.metadata(r)
	e.Strings("stop_sequences", r.StopSequences)
	e.optNumber("temperature", r.Temperature)
	e.optNumber("top_p", r.TopP)
	e.OptInt("top_k", r.TopK)
	e.tools(r)
	e.toolChoice(r)
	e.thinking(r)
	e.outputConfig(r)
	e.Text("service_tier", r.ServiceTier)
	e.Text("inference_geo", r.InferenceGeo)
	e.Text("speed", r.Speed)
	e.cache(r.CacheControl)
	e.OptRaw("container", r.Container)
	e.OptRaw("diagnostics", r.Diagnostics)
	e.OptRaw("mcp_servers", r.MCPServers)
	e.OptRaw("context_management", r.ContextManagement)
	e.OptRaw("compaction", r.Compaction)
	e.outputFormat("output_format", r.OutputFormat)
	e.OptRaw("thread", r.Thread)
	e.OptRaw("fallbacks", r.Fallbacks)
	e.OptRaw("fallback_credit_token", r.FallbackCreditToken)
	e.OptRaw("billing_policy", r.BillingPolicy)
}

func (e *encoder) turns(turns []content.Turn) {
	e.W.Name("messages")
	e.W.BeginArray()
	e.Path.Push("messages")
	for i := range turns {
		t := &turns[i]
		e.Path.PushIndex(i)
		e.W.BeginObject()
		e.Must("role", string(t.Role))
		e.content("content", t.Parts, true)
		e.extra(t.Extra, &messageNames)
		e.W.EndObject()
		e.Path.Pop()
	}
	e.Path.Pop()
	e.W.EndArray()
}

// optNumber is OptNumber with the vendor's error text.
func (e *encoder) optNumber(name string, f *float64) {
	if f != nil && (math.IsNaN(*f) || math.IsInf(*f, 0)) {
		e.Violation(content.CodeRange, name, textFinite)
		return
	}
	e.OptNumber(name, f)
}

// object writes a member whose value is the JSON object in json, or {} if json is
// empty. It reports a violation if json is not an object.
func (e *encoder) jsonObject(name, json string) {
	if json == "" {
		json = "{}"
	}
	if !jsonwire.IsObject(json) {
		e.Violation(content.CodeType, name, textNotObject)
		return
	}
	e.Raw(name, json)
}

// extra writes the members of x that have no field, if x is of this format. It
// skips the names in n, which the encoder writes from fields.
func (e *encoder) extra(x *content.Extra, n *codec.Names) {
	if x != nil && (x.Format == Format || x.Format == "") {
		e.Extra(x, x.Format, n.Has)
	}
}

// content writes a member whose value is a list of parts. See part for tagged.
func (e *encoder) content(name string, parts []content.Part, tagged bool) {
	e.W.Name(name)
	e.Path.Push(name)
	e.parts(parts, tagged)
	e.Path.Pop()
}

func (e *encoder) parts(parts []content.Part, tagged bool) {
	e.W.BeginArray()
	for i, p := range parts {
		e.Path.PushIndex(i)
		e.part(p, tagged)
		e.Path.Pop()
	}
	e.W.EndArray()
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
	kind := kindOf(p)
	if kind == "" {
		e.Violation(content.CodeUnsupported, "", "this kind of part is not supported by the Messages format")
		return
	}
	e.W.BeginObject()
	e.Must("type", kind)
	if tagged {
		e.Path.Push(kind)
		defer e.Path.Pop()
	}
	e.fields(p)
	e.W.EndObject()
}

// kindOf returns the "type" of the block that represents p, or "" if the format
// has no such block.
func kindOf(p content.Part) string {
	switch p := p.(type) {
	case *content.Text:
		return "text"
	case *content.Image:
		return "image"
	case *content.Document:
		return "document"
	case *content.Thinking:
		if p.Redacted != (content.Signature{}) {
			return "redacted_thinking"
		}
		return "thinking"
	case *content.ToolUse:
		return "tool_use"
	case *content.ToolResult:
		return "tool_result"
	case *content.SearchResult:
		return "search_result"
	case *content.ServerToolUse:
		if p.Format == Format {
			return p.Kind
		}
	case *content.ServerToolResult:
		if p.Format == Format {
			return p.Kind
		}
	case *content.Unknown:
		if p.Format == Format {
			return p.Kind
		}
	}
	return ""
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

// fields writes the members of a block after its type.
func (e *encoder) fields(p content.Part) {
	switch p := p.(type) {
	case *content.Text:
		e.Must("text", p.Text)
		e.citations(p)
		e.cache(p.Cache)
		e.extra(p.Extra, &textNames)
	case *content.Image:
		e.source(p.Source)
		e.cache(p.Cache)
		e.extra(p.Extra, &imageNames)
	case *content.Document:
		e.source(p.Source)
		e.Text("title", p.Title)
		e.Text("context", p.Context)
		e.citationsConfig(p.Citations, p.Extra)
		e.cache(p.Cache)
		e.extra(p.Extra, &documentNames)
	case *content.SearchResult:
		e.Must("source", p.Source)
		e.Must("title", p.Title)
		e.content("content", p.Parts, false)
		e.citationsConfig(p.Citations, p.Extra)
		e.cache(p.Cache)
		e.extra(p.Extra, &searchResultNames)
	case *content.Thinking:
		e.thinkingBlock(p)
	default:
		e.toolFields(p)
	}
}

func (e *encoder) thinkingBlock(p *content.Thinking) {
	if p.Redacted != (content.Signature{}) {
		e.Must("data", e.signatureData(p.Redacted, "data"))
		e.extra(p.Extra, &redactedNames)
		return
	}
	e.Must("thinking", p.Text)
	if p.Signature != (content.Signature{}) {
		e.Must("signature", e.signatureData(p.Signature, "signature"))
	}
	e.extra(p.Extra, &thinkingBlockNames)
}

// signatureData returns the data of s. It reports a violation if s is of another
// vendor.
func (e *encoder) signatureData(s content.Signature, name string) string {
	if s.Format != Format && s.Data != "" {
		e.Violation(content.CodeUnsupported, name, "the signature must be one of the Messages format, not of another vendor")
	}
	return s.Data
}

// toolFields writes the members of tool calls and tool results.
func (e *encoder) toolFields(p content.Part) {
	switch p := p.(type) {
	case *content.ToolUse:
		e.Must("id", p.ID)
		e.Must("name", p.Name)
		e.jsonObject("input", p.Input)
		e.cache(p.Cache)
		e.extra(p.Extra, &toolUseNames)
	case *content.ServerToolUse:
		e.Must("id", p.ID)
		e.Must("name", p.Name)
		e.jsonObject("input", p.Input)
		e.cache(p.Cache)
		e.extra(p.Extra, &serverToolUseNames)
	case *content.ToolResult:
		e.Must("tool_use_id", p.ID)
		if len(p.Parts) > 0 {
			e.content("content", p.Parts, true)
		}
		e.Flag("is_error", p.Error)
		e.cache(p.Cache)
		e.extra(p.Extra, &toolResultNames)
	case *content.ServerToolResult:
		e.Must("tool_use_id", p.ID)
		e.OptRaw("content", p.Content)
		e.cache(p.Cache)
		e.extra(p.Extra, &serverToolResultNames)
	}
}

func (e *encoder) cache(c *content.Cache) {
	if c == nil {
		return
	}
	e.W.Name("cache_control")
	e.Path.Push("cache_control")
	e.W.BeginObject()
	e.Must("type", "ephemeral")
	e.Text("ttl", c.TTL)
	e.extra(c.Extra, &cacheNames)
	e.W.EndObject()
	e.Path.Pop()
}

// citationsConfig writes the member "citations" of a document or search result if
// on is set or if the Extra of the block has unknown members of that object.
func (e *encoder) citationsConfig(on bool, x *content.Extra) {
	const name = "citations"
	rest := "" // the object with the unknown members
	if doc := codec.Open(x, Format); doc != nil {
		rest = doc.Root().Get(name).Raw()
		doc.Close()
	}
	if !on && !jsonwire.IsObject(rest) {
		return
	}
	e.W.Name(name)
	e.W.BeginObject()
	if on {
		e.W.Name("enabled")
		e.W.Bool(true)
	}
	if err := e.W.MembersExcept(rest, citationsNames.Has); err != nil && rest != "" {
		e.Violation(content.CodeSyntax, name, "is not valid JSON: "+err.Error())
	}
	e.W.EndObject()
}

func (e *encoder) citations(t *content.Text) {
	if len(t.Citations) == 0 {
		return
	}
	e.W.Name("citations")
	e.Path.Push("citations")
	e.W.BeginArray()
	for i := range t.Citations {
		e.Path.PushIndex(i)
		e.W.BeginObject()
		e.citation(&t.Citations[i])
		e.W.EndObject()
		e.Path.Pop()
	}
	e.W.EndArray()
	e.Path.Pop()
}

// citation writes the members of one citation.
func (e *encoder) citation(c *content.Citation) {
	if c.Kind == "" { // Extra holds all members
		if c.Extra == nil || c.Extra.Format != Format {
			e.Violation(content.CodeUnsupported, "", "a citation without a kind needs an Extra in the Messages format")
		}
		e.extra(c.Extra, &codec.Names{})
		return
	}
	f := citationFormOf("", c.Kind)
	if f == nil {
		e.Violation(content.CodeUnsupported, "", "this kind of citation is not supported by the Messages format")
		return
	}
	e.Must("type", f.tag)
	e.Must("cited_text", c.Text)
	if c.Title != "" {
		e.Must(f.title, c.Title)
	} else {
		e.W.Name(f.title)
		e.W.Null()
	}
	if f.url != "" {
		e.Must(f.url, c.URL)
	}
	if f.index != "" {
		e.Int(f.index, c.Index)
		e.Int(f.start, c.Start)
		e.Int(f.end, c.End)
	}
	if f.file {
		e.Text("file_id", c.FileID)
	}
	e.extra(c.Extra, f.names)
}

// source writes the source of an image or a document.
func (e *encoder) source(s content.Source) {
	e.W.Name("source")
	e.Path.Push("source")
	defer e.Path.Pop()
	e.W.BeginObject()
	defer e.W.EndObject()
	switch s := s.(type) {
	case *content.Base64:
		if s != nil {
			e.Must("type", "base64")
			e.Must("media_type", s.MediaType)
			e.Must("data", s.Data)
			e.extra(s.Extra, &base64Names)
			return
		}
	case *content.URL:
		if s != nil {
			e.Must("type", "url")
			e.Must("url", s.URL)
			e.extra(s.Extra, &urlNames)
			return
		}
	case *content.File:
		if s != nil {
			e.Must("type", "file")
			e.Must("file_id", s.ID)
			e.extra(s.Extra, &fileNames)
			return
		}
	case *content.PlainText:
		if s != nil {
			e.Must("type", "text")
			e.Must("media_type", s.Type())
			e.Must("data", s.Text)
			e.extra(s.Extra, &base64Names)
			return
		}
	case *content.Parts:
		if s != nil {
			e.Must("type", "content")
			e.Path.Push("content")
			e.content("content", s.Parts, true)
			e.Path.Pop()
			e.extra(s.Extra, &contentNames)
			return
		}
	}
	e.Violation(content.CodeMissing, "", "the source is nil or of a kind that the Messages format does not support")
}

func (e *encoder) tools(r *Request) {
	if len(r.Tools) == 0 {
		return
	}
	e.W.Name("tools")
	e.Path.Push("tools")
	e.W.BeginArray()
	for i := range r.Tools {
		e.Path.PushIndex(i)
		e.tool(&r.Tools[i])
		e.Path.Pop()
	}
	e.W.EndArray()
	e.Path.Pop()
}

func (e *encoder) tool(t *content.Tool) {
	if t.Kind != "" {
		e.unknown(&content.Unknown{Format: t.Format, Kind: t.Kind, Raw: t.Raw})
		return
	}
	e.Path.Push("custom")
	defer e.Path.Pop()
	e.W.BeginObject()
	e.Must("name", t.Name)
	e.Text("description", t.Description)
	switch {
	case t.Input.OpenAPI:
		e.Violation(content.CodeUnsupported, "input_schema", "the schema must be JSON Schema")
	case t.Input.JSON == "": // the member is required
		e.Raw("input_schema", `{"type":"object"}`)
	default:
		e.jsonObject("input_schema", t.Input.JSON)
	}
	e.Flag("strict", t.Strict)
	e.cache(t.Cache)
	e.extra(t.Extra, &toolNames)
	e.W.EndObject()
}

func (e *encoder) metadata(r *Request) {
	if r.Metadata == nil {
		return
	}
	m := r.Metadata
	e.Begin("metadata")
	e.Text("user_id", m.UserID)
	e.extra(m.Extra, &metadataNames)
	e.End()
}

func (e *encoder) toolChoice(r *Request) {
	if r.ToolChoice == nil {
		return
	}
	c := r.ToolChoice
	e.Begin("tool_choice")
	e.Text("type", c.Type)
	e.Text("name", c.Name)
	e.Flag("disable_parallel_tool_use", c.DisableParallelToolUse)
	e.extra(c.Extra, &choiceNames)
	e.End()
}

func (e *encoder) thinking(r *Request) {
	if r.Thinking == nil {
		return
	}
	t := r.Thinking
	e.Begin("thinking")
	e.Text("type", t.Type)
	e.OptInt("budget_tokens", t.BudgetTokens)
	e.Text("display", t.Display)
	e.extra(t.Extra, &thinkingNames)
	e.End()
}

func (e *encoder) outputConfig(r *Request) {
	if r.OutputConfig == nil {
		return
	}
	c := r.OutputConfig
	e.Begin("output_config")
	e.Text("effort", c.Effort)
	e.outputFormat("format", c.Format)
	e.extra(c.Extra, &outputConfigNames)
	e.End()
}

func (e *encoder) outputFormat(name string, f *OutputFormat) {
	if f == nil {
		return
	}
	e.Begin(name)
	e.Text("type", f.Type)
	if f.Schema != "" {
		e.jsonObject("schema", f.Schema)
	}
	e.extra(f.Extra, &outputFormatNames)
	e.End()
}

const (
	textOverhead   = 48        // estimated bytes around a text
	maxInitialSize = 512 << 10 // limit for the initial buffer of a document
)

// size estimates the length of the document without long texts, which are not
// copied.
func (r *Request) size() int {
	n := 512 + partsSize(r.System)
	if c := r.OutputConfig.format(); c != nil {
		n += copiedSize(c.Schema)
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		n += 2*textOverhead + len(t.Name) + copiedSize(t.Description) + copiedSize(t.Input.JSON) + copiedSize(t.Raw)
	}
	for i := range r.Messages {
		n += textOverhead + partsSize(r.Messages[i].Parts)
	}
	return min(n, maxInitialSize)
}

// copiedSize estimates the bytes that the writer copies for s.
func copiedSize(s string) int {
	if len(s) >= longText {
		return textOverhead
	}
	return len(s) + len(s)/8 // some of it is escaped
}

// longText is the length from which the writer does not copy a text.
const longText = 4 << 10

// partsSize estimates the length of parts without long texts.
func partsSize(parts []content.Part) int {
	n := 0
	for _, p := range parts {
		n += textOverhead
		if content.IsNil(p) {
			continue
		}
		switch p := p.(type) {
		case *content.Text:
			n += copiedSize(p.Text)
		case *content.Thinking:
			n += copiedSize(p.Text) + copiedSize(p.Signature.Data) + copiedSize(p.Redacted.Data)
		case *content.ToolUse:
			n += textOverhead + len(p.ID) + len(p.Name) + copiedSize(p.Input)
		case *content.ToolResult:
			n += textOverhead + len(p.ID) + partsSize(p.Parts)
		case *content.SearchResult:
			n += textOverhead + copiedSize(p.Source) + copiedSize(p.Title) + partsSize(p.Parts)
		case *content.Document:
			n += textOverhead + copiedSize(p.Title) + copiedSize(p.Context)
			if s, ok := p.Source.(*content.Parts); ok && s != nil {
				n += partsSize(s.Parts)
			}
		case *content.Image:
			n += 2 * textOverhead
		}
	}
	return n
}

// A Body is an encoded request. It refers to large files instead of copying them.
// Later changes of the request do not affect it. It is safe for concurrent use.
type Body struct{ w jsonwire.Writer }

// Body encodes the request. It returns the errors of [Request.AppendJSON].
// [Body.Len] is the Content-Length of an HTTP request, and [Body.Reader] can serve
// as its GetBody.
func (r *Request) Body() (*Body, error) {
	b := &Body{}
	if err := r.write(&b.w); err != nil {
		return nil, err
	}
	return b, nil
}

// Len returns the length of the document in bytes.
func (b *Body) Len() int64 { return int64(b.w.Len()) }

// Reader returns a new reader of the whole document, which also implements
// [io.WriterTo] and [io.Seeker].
func (b *Body) Reader() io.ReadCloser { return b.w.Reader() }
