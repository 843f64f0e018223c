package e2e

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

type messagesBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Citations json.RawMessage `json:"citations,omitempty"`
}

type messagesError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type messagesMessage struct {
	ID           string                     `json:"id"`
	Type         string                     `json:"type"`
	Role         string                     `json:"role"`
	Model        string                     `json:"model"`
	Content      []json.RawMessage          `json:"content"`
	StopReason   *string                    `json:"stop_reason"`
	StopSequence *string                    `json:"stop_sequence"`
	StopDetails  json.RawMessage            `json:"stop_details"`
	Usage        map[string]json.RawMessage `json:"usage"`
	Error        *messagesError             `json:"error"`
	InputTokens  *int                       `json:"input_tokens"`
}

// readMessages reads a response as Messages clients do: it requires event lines
// and block stops, indexes from 0, and all blocks closed before message_delta.
func readMessages(a *response, m mode) {
	if m == sse && strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		readMessagesStream(a)
		return
	}
	var msg messagesMessage
	if err := json.Unmarshal([]byte(a.Body), &msg); err != nil {
		a.broken("no JSON: %v", err)
		return
	}
	switch {
	case msg.Error != nil:
		a.Err = &failure{Type: msg.Error.Type, Message: msg.Error.Message, Retry: a.Header.Get("Retry-After")}
		if a.Status == http.StatusOK {
			a.broken("error with status 200")
		}
	case msg.InputTokens != nil && m == count:
		a.Tokens, a.Whole = *msg.InputTokens, true
	default:
		a.message(&msg)
		a.Turn = msg.Content
		for _, raw := range msg.Content {
			a.block(raw)
		}
		a.Whole = msg.StopReason != nil && a.Status == http.StatusOK && !a.Aborted
		if msg.StopReason == nil {
			a.broken("no stop_reason")
		}
	}
}

func (a *response) message(msg *messagesMessage) {
	if msg.Type != "message" || msg.Role != "assistant" || msg.Content == nil || msg.Usage == nil {
		a.broken("missing members of the message: %+v", *msg)
	}
	a.ID, a.Model = msg.ID, msg.Model
	a.stops(msg.StopReason, msg.StopSequence, msg.StopDetails)
	a.usage(msg.Usage)
}

func (a *response) stops(reason, sequence *string, details json.RawMessage) {
	a.Stop, a.Detail = "", ""
	if reason != nil {
		a.Stop = *reason
	}
	if sequence != nil {
		a.Detail = *sequence
	} else if len(details) > 0 && string(details) != "null" {
		a.Detail = string(details)
	}
}

func (a *response) usage(u map[string]json.RawMessage) {
	if a.Usage == nil {
		a.Usage = map[string]int{}
	}
	for k, v := range u {
		if n, err := strconv.Atoi(string(v)); err == nil {
			a.Usage[k] = n
		}
		var inner map[string]int
		if json.Unmarshal(v, &inner) == nil {
			for k, n := range inner {
				a.Usage[k] = n
			}
		}
	}
}

// block adds a whole content block.
func (a *response) block(raw json.RawMessage) {
	var b messagesBlock
	if err := json.Unmarshal(raw, &b); err != nil {
		a.broken("invalid JSON in a block: %v", err)
		return
	}
	switch b.Type {
	case "text":
		a.Elements = append(a.Elements, element{Kind: "text", Text: b.Text})
	case "thinking":
		a.Elements = append(a.Elements, element{Kind: "thinking", Text: b.Thinking, Sig: b.Signature})
	case "redacted_thinking":
		a.Elements = append(a.Elements, element{Kind: "redacted", Sig: b.Data})
	case "tool_use":
		if canonical(b.Input)[0] != '{' {
			a.broken("input of a tool call: want an object: %s", b.Input)
		}
		a.Elements = append(a.Elements, element{Kind: "call", ID: b.ID, Name: b.Name, Args: canonical(b.Input)})
	default:
		a.Elements = append(a.Elements, element{Kind: b.Type, Text: string(raw)})
	}
}

type messagesEvent struct {
	Type    string           `json:"type"`
	Message *messagesMessage `json:"message"`
	Index   *int             `json:"index"`
	Block   json.RawMessage  `json:"content_block"`
	Delta   struct {
		Type         string          `json:"type"`
		Text         string          `json:"text"`
		Thinking     string          `json:"thinking"`
		Signature    string          `json:"signature"`
		Partial      string          `json:"partial_json"`
		Citation     json.RawMessage `json:"citation"`
		StopReason   *string         `json:"stop_reason"`
		StopSequence *string         `json:"stop_sequence"`
		StopDetails  json.RawMessage `json:"stop_details"`
	} `json:"delta"`
	Usage map[string]json.RawMessage `json:"usage"`
	Error *messagesError             `json:"error"`
}

// An openBlock is a block that is not closed yet.
type openBlock struct {
	messagesBlock
	raw       json.RawMessage
	partial   string
	citations []json.RawMessage
	open      bool
	signed    int
}

// A messagesStream is the state of a stream while it is read.
type messagesStream struct {
	a      *response
	blocks []*openBlock
	begun  bool
	stop   bool
	over   bool
}

func readMessagesStream(a *response) {
	s := &messagesStream{a: a}
	for _, e := range strings.Split(strings.ReplaceAll(a.Body, "\r\n", "\n"), "\n\n") {
		if strings.TrimSpace(e) == "" {
			continue
		}
		name, data := "", ""
		for line := range strings.SplitSeq(e, "\n") {
			if v, ok := strings.CutPrefix(line, "event: "); ok {
				name = v
			} else if v, ok := strings.CutPrefix(line, "data: "); ok {
				data = v
			} else {
				a.broken("unexpected line %q", line)
			}
		}
		s.event(name, data)
	}
	for i, b := range s.blocks {
		if b.open && a.Err == nil && s.over {
			a.broken("block %d is not closed", i)
		}
		s.keep(b)
	}
	if !strings.HasSuffix(a.Body, "\n\n") {
		a.Whole = false
	}
}

func (s *messagesStream) event(name, data string) {
	var e messagesEvent
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		s.a.broken("invalid JSON in event %s: %v", name, err)
		return
	}
	if name != e.Type {
		s.a.broken("event %q has type %q", name, e.Type)
	}
	if s.over {
		s.a.broken("%s after the end", name)
	}
	switch e.Type {
	case "ping":
		return
	case "error":
		s.over = true
		s.a.Err = &failure{Type: e.Error.Type, Message: e.Error.Message}
		return
	case "message_start":
		if s.begun || len(e.Message.Content) > 0 {
			s.a.broken("second message_start, or one with content")
		}
		s.begun = true
		s.a.message(e.Message)
		return
	}
	if !s.begun {
		s.a.broken("%s before message_start", name)
	}
	s.body(&e)
}

func (s *messagesStream) body(e *messagesEvent) {
	switch e.Type {
	case "content_block_start":
		b := &openBlock{open: true, raw: e.Block}
		_ = json.Unmarshal(e.Block, &b.messagesBlock)
		if e.Index == nil || *e.Index != len(s.blocks) {
			s.a.broken("content_block_start: want index %d", len(s.blocks))
		}
		if s.stop {
			s.a.broken("block after the stop reason")
		}
		s.blocks = append(s.blocks, b)
	case "content_block_delta":
		if b := s.block(e); b != nil {
			s.delta(b, e)
		}
	case "content_block_stop":
		if b := s.block(e); b != nil {
			b.open = false
		}
	case "message_delta":
		s.stop = true
		s.a.stops(e.Delta.StopReason, e.Delta.StopSequence, e.Delta.StopDetails)
		s.a.usage(e.Usage)
		for i, b := range s.blocks {
			if b.open {
				s.a.broken("block %d is open at the end", i)
			}
		}
	case "message_stop":
		s.over = true
		s.a.Whole = s.stop && s.a.Stop != "" && !s.a.Aborted
	}
}

func (s *messagesStream) block(e *messagesEvent) *openBlock {
	if e.Index == nil || *e.Index < 0 || *e.Index >= len(s.blocks) || !s.blocks[*e.Index].open {
		s.a.broken("%s for a block that is not open", e.Type)
		return nil
	}
	return s.blocks[*e.Index]
}

func (s *messagesStream) delta(b *openBlock, e *messagesEvent) {
	want := map[string]string{"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "thinking",
		"input_json_delta": "tool_use", "citations_delta": "text"}[e.Delta.Type]
	if b.Type != want && !(want == "tool_use" && b.Type == "server_tool_use") {
		s.a.broken("%s in a block of type %s", e.Delta.Type, b.Type)
	}
	b.Text += e.Delta.Text
	b.Thinking += e.Delta.Thinking
	b.partial += e.Delta.Partial
	if e.Delta.Type == "signature_delta" {
		if b.signed++; b.signed > 1 {
			s.a.broken("second signature of a block")
		}
		b.Signature += e.Delta.Signature // as the Go SDK does
	}
	if e.Delta.Type == "citations_delta" {
		b.citations = append(b.citations, e.Delta.Citation)
	}
}

// keep assembles a block like an SDK's accumulator.
func (s *messagesStream) keep(b *openBlock) {
	switch {
	case b.Type == "text":
		m := map[string]any{"type": "text", "text": b.Text}
		if len(b.citations) > 0 {
			m["citations"] = b.citations
		}
		b.raw, _ = json.Marshal(m)
	case b.Type == "thinking":
		b.raw, _ = json.Marshal(map[string]any{"type": "thinking", "thinking": b.Thinking, "signature": b.Signature})
	case b.Type == "tool_use":
		if b.partial == "" {
			b.partial = "{}"
		}
		if !json.Valid([]byte(b.partial)) {
			if !b.open {
				s.a.broken("invalid JSON as input of a tool call: %s", b.partial)
			}
			b.partial = "{}"
		}
		b.raw = json.RawMessage(`{"type":"tool_use","id":` + quote(b.ID) + `,"name":` + quote(b.Name) + `,"input":` + b.partial + `}`)
	}
	s.a.Turn = append(s.a.Turn, b.raw)
	s.a.block(b.raw)
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
