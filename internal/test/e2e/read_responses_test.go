package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/polywire/polywire/internal/test/formattest"
)

type responsesPart struct {
	Type        string            `json:"type"`
	Text        string            `json:"text"`
	Refusal     string            `json:"refusal"`
	Annotations []json.RawMessage `json:"annotations"`
}

type responsesItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Status    string          `json:"status"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Namespace string          `json:"namespace"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Encrypted string          `json:"encrypted_content"`
	Content   []responsesPart `json:"content"`
	Summary   []responsesPart `json:"summary"`
}

type responsesDocument struct {
	ID         string `json:"id"`
	Object     string `json:"object"`
	CreatedAt  int64  `json:"created_at"`
	Status     string `json:"status"`
	Model      string `json:"model"`
	Incomplete *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Failed      *openAIError               `json:"error"`
	Output      *[]json.RawMessage         `json:"output"`
	Usage       map[string]json.RawMessage `json:"usage"`
	InputTokens *int                       `json:"input_tokens"`
}

// readResponses reads a response as clients of Responses do: openai-clients.md §8. A Turn has the
// items of the output.
func readResponses(a *response, m mode) {
	if m == sse && strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		readResponsesStream(a)
		return
	}
	var d responsesDocument
	if err := json.Unmarshal([]byte(a.Body), &d); err != nil {
		a.broken("no JSON: %v", err)
		return
	}
	switch {
	case a.openAIFailure(d.Failed):
	case m == count && d.InputTokens != nil && d.Object == "response.input_tokens":
		a.Tokens, a.Whole = *d.InputTokens, true
	default:
		a.responsesEnd(&d)
		a.Whole = a.Broken == "" && a.Status == http.StatusOK && !a.Aborted
	}
}

// responsesEnd reads a response that has ended.
func (a *response) responsesEnd(d *responsesDocument) {
	if d.Object != "response" || d.ID == "" || d.Model == "" || d.CreatedAt == 0 || d.Output == nil {
		a.broken("missing members of a response: %+v", *d)
		return
	}
	a.ID, a.Model, a.Stop = d.ID, d.Model, d.Status
	if d.Incomplete != nil {
		a.Stop += " " + d.Incomplete.Reason
	}
	if (d.Status == "incomplete") != (d.Incomplete != nil) {
		a.broken("status %q with incomplete_details %v", d.Status, d.Incomplete)
	}
	a.usage(d.Usage)
	a.Turn = *d.Output
	for _, raw := range a.Turn {
		a.item(raw)
	}
}

// item adds an item of the output.
func (a *response) item(raw json.RawMessage) {
	var i responsesItem
	if err := json.Unmarshal(raw, &i); err != nil {
		a.broken("invalid JSON in an item: %v", err)
		return
	}
	if i.ID == "" {
		a.broken("an item without id: %s", raw)
	}
	switch i.Type {
	case "message":
		if i.Role != "assistant" {
			a.broken("a message of %q", i.Role)
		}
		for _, p := range i.Content {
			if len(p.Annotations) > 0 {
				a.Detail = string(p.Annotations[0])
			}
			if p.Type == "refusal" {
				a.Elements = append(a.Elements, element{Kind: "refusal", Text: p.Refusal})
				continue
			}
			a.Elements = append(a.Elements, element{Kind: "text", Text: p.Text})
		}
	case "reasoning":
		a.Elements = append(a.Elements, element{Kind: "thinking", Text: textsOf(i.Summary), Sig: i.Encrypted, ID: i.ID})
	case "function_call":
		e := element{Kind: "call", ID: i.CallID, Name: i.Name, Text: i.Namespace, Args: canonical([]byte(i.Arguments))}
		if e.ID == "" || i.Status != "incomplete" && e.Args[0] != '{' {
			a.broken("a tool call without id, or arguments that are not an object: %s", raw)
		}
		a.Elements = append(a.Elements, e)
	case "custom_tool_call":
		a.Elements = append(a.Elements, element{Kind: "custom", ID: i.CallID, Name: i.Name, Text: i.Input})
	default:
		a.Elements = append(a.Elements, element{Kind: i.Type, Text: string(raw)})
	}
}

func textsOf(parts []responsesPart) (s string) {
	for _, p := range parts {
		s += p.Text
	}
	return s
}

type responsesEvent struct {
	Type     string             `json:"type"`
	Sequence *int               `json:"sequence_number"`
	Response *responsesDocument `json:"response"`
	Output   *int               `json:"output_index"`
	Content  *int               `json:"content_index"`
	Summary  *int               `json:"summary_index"`
	ItemID   string             `json:"item_id"`
	Item     json.RawMessage    `json:"item"`
	Part     *responsesPart     `json:"part"`
	Note     json.RawMessage    `json:"annotation"`

	Delta     *string `json:"delta"`
	Text      *string `json:"text"`
	Refusal   *string `json:"refusal"`
	Arguments *string `json:"arguments"`
	Input     *string `json:"input"`

	Message string  `json:"message"`
	Code    *string `json:"code"`
}

// A sentItem is an item of a stream while it is read.
type sentItem struct {
	responsesItem
	raw   json.RawMessage
	parts []string // the texts of its deltas, by part
	ended int      // parts that have ended
	done  bool     // output_item.done was read
}

// A responsesStream is the state of a stream while it is read.
type responsesStream struct {
	a      *response
	events int
	items  []*sentItem
	over   bool // a terminal event was read
	failed bool // an error event was read
	whole  bool
	done   bool // [DONE]
}

func readResponsesStream(a *response) {
	s := responsesStream{a: a}
	for e := range strings.SplitSeq(strings.ReplaceAll(a.Body, "\r\n", "\n"), "\n\n") {
		if e == "" || strings.HasPrefix(e, ":") && !strings.Contains(e, "\n") {
			continue
		}
		if s.done {
			a.broken("%.60q after [DONE]", e)
		}
		if e == "data: [DONE]" {
			s.done = true
			continue
		}
		head, data, ok := strings.Cut(e, "\ndata: ")
		name, named := strings.CutPrefix(head, "event: ")
		if !ok || !named || strings.Contains(data, "\n") {
			a.broken("unreadable event %.60q", e)
			continue
		}
		s.event(name, data)
	}
	if s.done && !s.over {
		a.broken("[DONE] without a terminal event")
	}
	if s.done {
		if err := formattest.ReadSent("/v1/responses", a.Body); err != nil {
			a.broken("%v", err)
		}
	}
	if !s.over { // an interrupted stream
		for _, i := range s.items {
			s.partial(i)
		}
	}
	a.Whole = s.whole && s.done && a.Broken == "" && !a.Aborted && strings.HasSuffix(a.Body, "\n\n")
}

func (s *responsesStream) event(name, data string) {
	var e responsesEvent
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		s.a.broken("invalid JSON in event %s: %v", name, err)
		return
	}
	switch {
	case name != e.Type:
		s.a.broken("event %q has type %q", name, e.Type)
	case e.Sequence == nil || *e.Sequence != s.events:
		s.a.broken("%s: want sequence_number %d", name, s.events)
	case s.over:
		s.a.broken("%s after the end", name)
	case s.failed && name != "response.failed":
		s.a.broken("%s after the error", name)
	case name != "error" && (name == "response.created") != (s.events == 0), (name == "response.in_progress") != (s.events == 1):
		s.a.broken("%s is event %d", name, s.events)
	}
	s.events++
	if kind, ok := strings.CutPrefix(name, "response."); ok {
		s.response(kind, &e)
		return
	}
	if name != "error" || e.Message == "" || s.events < 3 {
		s.a.broken("unknown event %s, or without a message: %s", name, data)
	}
	s.failed = true
	s.a.failOpenAI(&openAIError{Message: e.Message, Type: "error", Code: e.Code})
}

func (s *responsesStream) response(kind string, e *responsesEvent) {
	switch kind {
	case "created", "in_progress":
		if e.Response == nil || e.Response.Status != "in_progress" || e.Response.ID == "" {
			s.a.broken("%s without a response in progress", kind)
			return
		}
		if s.a.ID != "" && s.a.ID != e.Response.ID {
			s.a.broken("the id of the response changes")
		}
		s.a.ID = e.Response.ID
	case "completed", "incomplete", "failed":
		s.end(kind, e)
	case "output_item.added":
		i := &sentItem{}
		if json.Unmarshal(e.Item, &i.responsesItem) != nil || e.Output == nil || *e.Output != len(s.items) || i.ID == "" {
			s.a.broken("output_item.added: want index %d and an id", len(s.items))
		}
		s.items = append(s.items, i)
	default:
		if e.Output == nil || *e.Output < 0 || *e.Output >= len(s.items) || s.items[*e.Output].done {
			s.a.broken("%s for an item that is not open", kind)
			return
		}
		i := s.items[*e.Output]
		if kind != "output_item.done" && e.ItemID != i.ID {
			s.a.broken("%s: item_id %q, want %q", kind, e.ItemID, i.ID)
		}
		s.itemEvent(i, kind, e)
	}
}

// itemEvent reads an event about an open item.
func (s *responsesStream) itemEvent(i *sentItem, kind string, e *responsesEvent) {
	type group struct{ item, added, delta, ended, partDone string }
	for _, g := range []group{
		{"message", "content_part.added", "output_text.delta", "output_text.done", "content_part.done"},
		{"message", "content_part.added", "refusal.delta", "refusal.done", "content_part.done"},
		{"reasoning", "reasoning_summary_part.added", "reasoning_summary_text.delta", "reasoning_summary_text.done", "reasoning_summary_part.done"},
		{"function_call", "", "function_call_arguments.delta", "function_call_arguments.done", ""},
		{"custom_tool_call", "", "custom_tool_call_input.delta", "custom_tool_call_input.done", ""},
	} {
		if kind == "output_text.annotation.added" && i.Type == "message" && e.Note != nil {
			return
		}
		if i.Type != g.item || kind != g.added && kind != g.delta && kind != g.ended && kind != g.partDone && kind != "output_item.done" {
			continue
		}
		at := 0
		if e.Content != nil {
			at = *e.Content
		} else if e.Summary != nil {
			at = *e.Summary
		} else if g.added != "" && kind != "output_item.done" {
			s.a.broken("%s without the index of a part", kind)
		}
		if g.added == "" && len(i.parts) == 0 {
			i.parts = append(i.parts, "")
		}
		switch {
		case kind == "output_item.done":
			s.itemDone(i, e, g.added == "")
		case kind == g.added:
			if at != len(i.parts) || i.ended != at || e.Part == nil {
				s.a.broken("%s: want index %d", kind, len(i.parts))
			}
			i.parts = append(i.parts, "")
		case at != len(i.parts)-1:
			s.a.broken("%s for part %d of %d", kind, at, len(i.parts))
		case kind == g.delta:
			if e.Delta == nil || i.ended > at {
				s.a.broken("%s without a delta, or after its end", kind)
				return
			}
			i.parts[at] += *e.Delta
		case kind == g.ended:
			i.ended++
			for _, text := range []*string{e.Text, e.Refusal, e.Arguments, e.Input} {
				if text != nil && *text != i.parts[at] {
					s.a.broken("%s: %q, want %q", kind, *text, i.parts[at])
				}
			}
		default:
			if e.Part == nil || e.Part.Text+e.Part.Refusal != i.parts[at] || i.ended != at+1 {
				s.a.broken("%s: want the text %q", kind, i.parts[at])
			}
		}
		return
	}
	s.a.broken("unknown event %s of an item of type %s", kind, i.Type)
}

func (s *responsesStream) itemDone(i *sentItem, e *responsesEvent, isCall bool) {
	var end responsesItem
	if err := json.Unmarshal(e.Item, &end); err != nil {
		s.a.broken("output_item.done: %v", err)
		return
	}
	i.done, i.raw = true, e.Item
	texts := []string{}
	for _, p := range append(end.Content, end.Summary...) {
		texts = append(texts, p.Text+p.Refusal)
	}
	if isCall {
		texts = []string{end.Arguments + end.Input}
	}
	if end.ID != i.ID || end.Type != i.Type || end.CallID != i.CallID || end.Name != i.Name || strings.Join(texts, "\x00") != strings.Join(i.parts, "\x00") {
		s.a.broken("output_item.done differs from its deltas: %s; want %q", e.Item, i.parts)
	}
	if i.ended != len(i.parts) {
		s.a.broken("output_item.done before the end of its parts")
	}
}

// partial adds what a client has received of an item.
func (s *responsesStream) partial(i *sentItem) {
	if i.done {
		s.a.item(i.raw)
		return
	}
	kind := map[string]string{"message": "text", "reasoning": "thinking"}[i.Type]
	if kind != "" {
		s.a.Elements = append(s.a.Elements, element{Kind: kind, Text: strings.Join(i.parts, "")})
	}
}

func (s *responsesStream) end(kind string, e *responsesEvent) {
	s.over = true
	if e.Response == nil || e.Response.Status != kind || e.Response.ID != s.a.ID {
		s.a.broken("%s without a response of this status and id", kind)
		return
	}
	if kind == "failed" {
		if !s.failed || e.Response.Failed == nil || e.Response.Failed.Message != s.a.Err.Message {
			s.a.broken("response.failed without an error event before it, or with another error")
		}
		for _, i := range s.items {
			s.partial(i)
		}
		return
	}
	s.whole = true
	s.a.responsesEnd(e.Response)
	if len(s.a.Turn) != len(s.items) {
		s.a.broken("%d items, and %d in the last event", len(s.items), len(s.a.Turn))
		return
	}
	for n, i := range s.items {
		if !i.done || fmt.Sprint(canonical(i.raw)) != canonical(s.a.Turn[n]) {
			s.a.broken("item %d is not closed, or differs in the last event: %s and %s", n, i.raw, s.a.Turn[n])
		}
	}
}
