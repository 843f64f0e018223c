package e2e

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/test/formattest"
)

type chatCall struct {
	Index    *int   `json:"index,omitempty"`
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function *struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function,omitempty"`
	Custom *struct {
		Name  string `json:"name"`
		Input string `json:"input"`
	} `json:"custom,omitempty"`
}

type chatMessage struct {
	Role        string            `json:"role"`
	Content     *string           `json:"content"`
	Refusal     *string           `json:"refusal"`
	Reasoning   string            `json:"reasoning_content"`
	Calls       []chatCall        `json:"tool_calls"`
	Annotations []json.RawMessage `json:"annotations"`
}

// An openAIError is the error object of both formats of OpenAI.
type openAIError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

type chatChoice struct {
	Index    int             `json:"index"`
	Message  *chatMessage    `json:"message"`
	Delta    *chatMessage    `json:"delta"`
	Finish   *string         `json:"finish_reason"`
	Logprobs json.RawMessage `json:"logprobs"`
}

type chatDocument struct {
	ID      string                     `json:"id"`
	Object  string                     `json:"object"`
	Created int64                      `json:"created"`
	Model   string                     `json:"model"`
	Choices *[]chatChoice              `json:"choices"`
	Usage   map[string]json.RawMessage `json:"usage"`
	Error   *openAIError               `json:"error"`
	Filter  json.RawMessage            `json:"prompt_filter_results"`
}

// readChat reads a response as clients of Chat Completions do: openai-clients.md §7. A Turn is the
// message that a client returns: its content and tool calls, and nothing else.
func readChat(a *response, m mode) {
	if m == sse && strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		readChatStream(a)
		return
	}
	var d chatDocument
	if err := json.Unmarshal([]byte(a.Body), &d); err != nil {
		a.broken("no JSON: %v", err)
		return
	}
	if a.openAIFailure(d.Error) {
		return
	}
	s := chatStream{a: a, object: "chat.completion"}
	s.head(&d)
	if d.Choices == nil || len(*d.Choices) == 0 {
		a.broken("no choices")
		return
	}
	for _, c := range *d.Choices {
		if c.Message == nil || c.Message.Role != "assistant" || c.Finish == nil {
			a.broken("a choice lacks its message or its finish_reason")
			return
		}
		s.choice(c.Index).chatMessage = *c.Message
		s.choice(c.Index).finish = *c.Finish
	}
	s.keep()
	a.Whole = a.Broken == "" && a.Status == http.StatusOK && !a.Aborted
}

// openAIFailure reads the error of a response that is not a stream. It reports whether there is one.
func (a *response) openAIFailure(e *openAIError) bool {
	if e == nil {
		return false
	}
	a.failOpenAI(e)
	a.Err.Retry = a.Header.Get("Retry-After")
	if a.Status == http.StatusOK {
		a.broken("error with status 200")
	}
	return true
}

// failOpenAI sets the failure. Its type has the code after a space, if there is one.
func (a *response) failOpenAI(e *openAIError) {
	a.Err = &failure{Type: e.Type, Message: e.Message}
	if e.Code != nil {
		a.Err.Type += " " + *e.Code
	}
	if e.Message == "" || e.Type == "" {
		a.broken("an error without a type or a message")
	}
}

// A chatStream is the state of a stream while it is read.
type chatStream struct {
	a       *response
	object  string
	created int64
	choices []*sentChoice
	usage   bool
	over    bool
}

type sentChoice struct {
	chatMessage
	begun  bool
	finish string
}

func (s *chatStream) choice(k int) *sentChoice {
	for len(s.choices) <= k {
		s.choices = append(s.choices, new(sentChoice))
	}
	return s.choices[k]
}

// head checks what all documents of a response have in common.
func (s *chatStream) head(d *chatDocument) {
	if d.Object != s.object || d.ID == "" || d.Model == "" || d.Created == 0 {
		s.a.broken("missing members of a document: %+v", *d)
	}
	if s.a.ID != "" && (s.a.ID != d.ID || s.a.Model != d.Model || s.created != d.Created) {
		s.a.broken("id, model or time changes")
	}
	s.a.ID, s.a.Model, s.created = d.ID, d.Model, d.Created
	s.a.usage(d.Usage)
}

func readChatStream(a *response) {
	s := chatStream{a: a, object: "chat.completion.chunk"}
	done := false
	for e := range strings.SplitSeq(strings.ReplaceAll(a.Body, "\r\n", "\n"), "\n\n") {
		data, ok := strings.CutPrefix(e, "data: ")
		switch {
		case e == "" || strings.HasPrefix(e, ":") && !strings.Contains(e, "\n"):
		case !ok || strings.Contains(data, "\n"):
			a.broken("unreadable event %.60q", e)
		case done || a.Err != nil:
			a.broken("%.60q after the end", e)
		case data == "[DONE]":
			done = true
		default:
			s.chunk(data)
		}
	}
	if done && !s.over {
		a.broken("[DONE] before all choices have ended")
	}
	if done {
		if err := formattest.ReadSent("/v1/chat/completions", a.Body); err != nil {
			a.broken("%v", err)
		}
	}
	s.keep()
	a.Whole = done && a.Broken == "" && !a.Aborted && strings.HasSuffix(a.Body, "\n\n")
}

func (s *chatStream) chunk(data string) {
	var d chatDocument
	if err := json.Unmarshal([]byte(data), &d); err != nil {
		s.a.broken("invalid JSON: %v in %.80q", err, data)
		return
	}
	if d.Error != nil {
		s.a.failOpenAI(d.Error)
		return
	}
	if d.Filter != nil && len(s.choices) == 0 {
		return // Azure's first chunk has nothing else
	}
	s.head(&d)
	if d.Choices == nil {
		s.a.broken("a chunk without choices")
		return
	}
	if len(*d.Choices) == 0 {
		if !s.over || d.Usage == nil || s.usage {
			s.a.broken("a chunk with usage before the end, or a second one")
		}
		s.usage = true
	}
	for _, c := range *d.Choices {
		s.delta(s.choice(c.Index), c)
	}
	s.over = len(s.choices) > 0
	for _, c := range s.choices {
		s.over = s.over && c.finish != ""
	}
}

func (s *chatStream) delta(to *sentChoice, c chatChoice) {
	if c.Delta == nil {
		s.a.broken("a chunk without a delta")
		return
	}
	if to.finish != "" {
		s.a.broken("a delta after the finish_reason")
	}
	if !to.begun && c.Delta.Role != "assistant" {
		s.a.broken("the first delta has no role")
	}
	to.begun = true
	for _, x := range []struct{ to, from **string }{{&to.Content, &c.Delta.Content}, {&to.Refusal, &c.Delta.Refusal}} {
		if *x.from != nil {
			if *x.to == nil {
				*x.to = new(string)
			}
			**x.to += **x.from
		}
	}
	to.Reasoning += c.Delta.Reasoning
	to.Annotations = append(to.Annotations, c.Delta.Annotations...)
	for _, call := range c.Delta.Calls {
		s.call(to, call)
	}
	if c.Finish != nil {
		to.finish = *c.Finish
	}
}

func (s *chatStream) call(to *sentChoice, c chatCall) {
	switch {
	case c.Index == nil || *c.Index > len(to.Calls):
		s.a.broken("tool call: want index %d", len(to.Calls))
	case *c.Index == len(to.Calls):
		if c.ID == "" || c.Function == nil && c.Custom == nil || c.Type != "function" && c.Type != "custom" {
			s.a.broken("a tool call begins without id, type or name: %+v", c)
		}
		c.Index = nil
		to.Calls = append(to.Calls, c)
	default:
		known := &to.Calls[*c.Index]
		if c.Function != nil && known.Function != nil {
			known.Function.Arguments += c.Function.Arguments
		} else if c.Custom != nil && known.Custom != nil {
			known.Custom.Input += c.Custom.Input
		} else {
			s.a.broken("the type of a tool call changes")
		}
	}
}

// keep sets the elements of the response, and the turn of the first choice.
func (s *chatStream) keep() {
	for k, c := range s.choices {
		s.elements(c)
		if k > 0 {
			continue
		}
		s.a.Stop = c.finish
		if len(c.Annotations) > 0 {
			s.a.Detail = string(c.Annotations[0])
		}
		kept := map[string]any{"role": "assistant", "content": c.Content}
		if len(c.Calls) > 0 {
			kept["tool_calls"] = c.Calls
		}
		if c.Content == nil || *c.Content == "" {
			if kept["content"] = nil; len(c.Calls) == 0 {
				kept["content"] = ""
			}
		}
		raw, _ := json.Marshal(kept)
		s.a.Turn = append(s.a.Turn, raw)
	}
}

func (s *chatStream) elements(c *sentChoice) {
	add := func(kind, text string) {
		if text != "" {
			s.a.Elements = append(s.a.Elements, element{Kind: kind, Text: text})
		}
	}
	add("thinking", c.Reasoning)
	if c.Content != nil {
		add("text", *c.Content)
	}
	if c.Refusal != nil {
		add("refusal", *c.Refusal)
	}
	for n, call := range c.Calls {
		e := element{Kind: "call", ID: call.ID}
		switch {
		case call.Function != nil:
			e.Name, e.Args = call.Function.Name, canonical([]byte(call.Function.Arguments))
			if e.Args[0] != '{' && (c.finish == "tool_calls" || n < len(c.Calls)-1) {
				s.a.broken("arguments of a tool call: want an object: %s", call.Function.Arguments)
			}
		case call.Custom != nil:
			e.Kind, e.Name, e.Text = "custom", call.Custom.Name, call.Custom.Input
		}
		s.a.Elements = append(s.a.Elements, e)
	}
	if c.finish == "tool_calls" && len(c.Calls) == 0 {
		s.a.broken("finish_reason %s with %s tool calls", c.finish, strconv.Itoa(len(c.Calls)))
	}
}
