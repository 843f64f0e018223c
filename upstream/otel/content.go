package otelwire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// maxContent bounds the JSON text of an attribute with content, approximately. A
// collector that receives OTLP over gRPC refuses a whole batch of more than 4 MiB.
const maxContent = 256 << 10

// The objects of the conventions. Parts that these do not define have a type and some
// members, which their schema allows.
type (
	message struct {
		Role   string `json:"role"`
		Parts  []part `json:"parts"`
		Finish string `json:"finish_reason,omitempty"`
	}
	part struct {
		Type      string          `json:"type"`
		ID        string          `json:"id,omitempty"`
		Name      string          `json:"name,omitempty"`
		Content   *string         `json:"content,omitempty"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
		Response  any             `json:"response,omitempty"`
		Modality  string          `json:"modality,omitempty"`
		MediaType string          `json:"mime_type,omitempty"`
		URI       string          `json:"uri,omitempty"`
		FileID    string          `json:"file_id,omitempty"`
		Title     string          `json:"title,omitempty"`
		Parts     []part          `json:"parts,omitempty"`

		ServerCall   *serverTool `json:"server_tool_call,omitempty"`
		ServerResult *serverTool `json:"server_tool_call_response,omitempty"`
	}
	serverTool struct {
		Type      string          `json:"type"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
	}
	tool struct {
		Type        string          `json:"type"`
		Name        string          `json:"name,omitempty"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	}
)

// A space is what is left of an attribute.
type space struct {
	bytes     int
	truncated bool
}

// overhead is the approximate size of the JSON text of a part without its texts.
const overhead = 64

// reserve reports whether there is space for a part.
func (s *space) reserve() bool {
	s.bytes -= overhead
	if s.bytes < 0 {
		s.truncated = true
	}
	return s.bytes >= 0
}

// text returns the beginning of t for which there is space.
func (s *space) text(t string) string {
	if n := max(s.bytes, 0); len(t) > n {
		s.truncated = true
		for n > 0 && !utf8.RuneStart(t[n]) {
			n--
		}
		t = t[:n]
	}
	s.bytes -= len(t)
	return t
}

// value returns t if it is a JSON value for which there is space, and otherwise its
// beginning as a string. It returns def if t is empty.
func (s *space) value(t, def string) json.RawMessage {
	if t == "" {
		t = def
	}
	if len(t) <= s.bytes && json.Valid([]byte(t)) {
		s.bytes -= len(t)
		return json.RawMessage(t)
	}
	return encode(s.text(t))
}

// encode returns the JSON text of v, which consists of the types above and strings.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null") // not possible: every RawMessage is valid
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// inputContent returns the attributes with the content of a request.
func inputContent(r *upstream.Request) []attribute.KeyValue {
	var attrs []attribute.KeyValue
	truncated := false
	if len(r.System) > 0 {
		s := space{bytes: maxContent}
		attrs = append(attrs, semconv.GenAISystemInstructionsKey.String(string(encode(s.parts(r.System)))))
		truncated = s.truncated
	}
	if len(r.Turns) > 0 {
		s := space{bytes: maxContent}
		list := []message{}
		for _, t := range slices.Backward(r.Turns) {
			if s.bytes < overhead {
				s.truncated = true
				break
			}
			list = append(list, message{Role: role(t), Parts: s.parts(t.Parts)})
		}
		slices.Reverse(list)
		attrs = append(attrs, semconv.GenAIInputMessagesKey.String(string(encode(list))))
		truncated = truncated || s.truncated
	}
	if len(r.Tools) > 0 {
		s := space{bytes: maxContent}
		attrs = append(attrs, semconv.GenAIToolDefinitionsKey.String(string(encode(s.tools(r.Tools)))))
		truncated = truncated || s.truncated
	}
	if truncated {
		attrs = append(attrs, keyTruncated.Bool(true))
	}
	return attrs
}

// role returns the role of a turn. The conventions have one for results of tools.
func role(t content.Turn) string {
	for _, p := range t.Parts {
		if _, ok := p.(*content.ToolResult); !ok {
			return string(t.Role)
		}
	}
	if len(t.Parts) > 0 {
		return "tool"
	}
	return string(t.Role)
}

func (s *space) tools(list []content.Tool) []tool {
	out := []tool{}
	for i := range list {
		if !s.reserve() {
			break
		}
		t := &list[i]
		o := tool{Type: t.Kind, Name: s.text(t.Name)}
		if t.Kind == "" {
			o.Type, o.Description = "function", s.text(t.Description)
			if t.Input.JSON != "" {
				o.Parameters = s.value(t.Input.JSON, "")
			}
		}
		out = append(out, o)
	}
	return out
}

func (s *space) parts(list []content.Part) []part {
	out := []part{}
	for _, p := range list {
		if content.IsNil(p) {
			continue
		}
		if !s.reserve() {
			break
		}
		out = append(out, s.part(p))
	}
	return out
}

// part returns a part without any bytes of files. JSON text of vendors may contain such
// bytes, so it is omitted too.
func (s *space) part(p content.Part) part {
	switch p := p.(type) { // other kinds have the type "unknown"
	case *content.Text:
		return s.textPart("text", p.Text)
	case *content.Thinking:
		return s.textPart("reasoning", p.Text)
	case *content.ToolUse:
		o := part{Type: "tool_call", ID: s.text(p.ID), Name: s.text(p.Name)}
		if p.Freeform {
			o.Arguments = encode(s.text(p.Text))
		} else {
			o.Arguments = s.value(p.Input, "{}")
		}
		return o
	case *content.ToolResult:
		return part{Type: "tool_call_response", ID: s.text(p.ID), Name: s.text(p.Name), Response: s.response(p.Parts)}
	case *content.ServerToolUse:
		call := &serverTool{Type: s.text(p.Kind), Arguments: s.value(p.Input, "{}")}
		return part{Type: "server_tool_call", ID: s.text(p.ID), Name: s.text(p.Name), ServerCall: call}
	case *content.ServerToolResult:
		return part{Type: "server_tool_call_response", ID: s.text(p.ID), ServerResult: &serverTool{Type: s.text(p.Kind)}}
	case *content.SearchResult:
		return part{Type: "search_result", URI: s.text(p.Source), Title: s.text(p.Title), Parts: s.parts(p.Parts)}
	case *content.Image:
		return s.file("image", p.Source)
	case *content.Document:
		o := s.file("document", p.Source)
		o.Title = s.text(p.Title)
		return o
	case *content.Media:
		return s.file("", p.Source)
	case *content.Unknown:
		return part{Type: s.text(p.Kind)}
	}
	return part{Type: "unknown"}
}

func (s *space) textPart(kind, text string) part {
	text = s.text(text)
	return part{Type: kind, Content: &text}
}

// response returns the result of a tool: a string if it is one text.
func (s *space) response(list []content.Part) any {
	if len(list) == 0 {
		return ""
	}
	if t, ok := list[0].(*content.Text); ok && t != nil && len(list) == 1 {
		return s.text(t.Text)
	}
	return s.parts(list)
}

// file returns a file without its bytes. modality may be empty: it is then that of the
// media type.
func (s *space) file(modality string, src content.Source) part {
	o := part{Type: "blob", Modality: modality}
	switch src := src.(type) {
	case *content.Base64:
		o.MediaType = src.MediaType
	case *content.URL:
		o.Type, o.MediaType = "uri", src.MediaType
		if !strings.HasPrefix(strings.ToLower(src.URL), "data:") {
			o.URI = s.text(src.URL)
		}
	case *content.File:
		o.Type, o.MediaType, o.FileID = "file", src.MediaType, s.text(src.ID)
	case *content.PlainText:
		text := s.text(src.Text)
		o.Type, o.MediaType, o.Content = "document", src.Type(), &text
	case *content.Parts:
		o.Type, o.Parts = "document", s.parts(src.Parts)
	}
	o.MediaType = s.text(o.MediaType)
	if o.Modality == "" {
		o.Modality, _, _ = strings.Cut(o.MediaType, "/")
	}
	return o
}

// A capture collects the response, without the bytes of files.
type capture struct {
	collector upstream.Collector
	events    []upstream.Event // reused
	full      bool
}

func (c *capture) add(events []upstream.Event) {
	if c.full {
		return
	}
	c.collector.Limit = maxContent
	c.events = append(c.events[:0], events...)
	for i := range c.events {
		e := &c.events[i]
		e.Frame, e.Extra = nil, nil // a Collector keeps neither Frame nor, here, Extra
		if e.Kind == upstream.EventOpen {
			e.Part = withoutBytes(e.Part)
		}
	}
	c.full = c.collector.Send(c.events) != nil
	clear(c.events)
}

// withoutBytes returns p, or a copy of it without what [space.part] omits.
func withoutBytes(p content.Part) content.Part {
	switch p := p.(type) { // other kinds have a typed message part
	case *content.Image:
		return &content.Image{Source: withoutData(p.Source)}
	case *content.Document:
		return &content.Document{Source: withoutData(p.Source), Title: p.Title}
	case *content.Media:
		return &content.Media{Source: withoutData(p.Source)}
	case *content.ServerToolResult:
		return &content.ServerToolResult{ID: p.ID, Kind: p.Kind}
	case *content.Unknown:
		return &content.Unknown{Kind: p.Kind}
	}
	return p
}

func withoutData(s content.Source) content.Source {
	if b, ok := s.(*content.Base64); ok {
		return &content.Base64{MediaType: b.MediaType}
	}
	return s
}

// attributes returns the attributes with the content of the response. stops are the
// finish reasons of the candidates.
func (c *capture) attributes(stops []string) []attribute.KeyValue {
	r := c.collector.Response()
	s := space{bytes: maxContent}
	list := []message{}
	for i, parts := range candidates(r) {
		m := message{Role: string(content.RoleAssistant), Parts: s.parts(parts)}
		if i < len(stops) {
			m.Finish = stops[i]
		}
		list = append(list, m)
	}
	attrs := []attribute.KeyValue{semconv.GenAIOutputMessagesKey.String(string(encode(list)))}
	if s.truncated || c.full {
		attrs = append(attrs, keyTruncated.Bool(true))
	}
	return attrs
}

// candidates returns the parts of each candidate.
func candidates(r *upstream.Response) [][]content.Part {
	list := [][]content.Part{r.Parts}
	for i := range r.MoreCandidates {
		list = append(list, r.MoreCandidates[i].Parts)
	}
	return list
}
