package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/upstream"
)

// A vendorResponse is a response of a vendor and what a client must receive.
// Clients of both formats receive the same, except in fields that are lists by
// format.
type vendorResponse struct {
	name   string
	pieces []fake.Piece
	only   string // the only adapter that can send it; empty: all
	think  bool   // the client requests thinking
	tools  bool   // the client declares tools

	text, thoughts string
	calls          []string
	// stop is the reason, "messages/generateContent".
	stop string
	// detail is contained in the text beside the reason, by format.
	detail map[string]string
	// usage is the expected token counts, by format.
	usage map[string]map[string]int
}

var greeting = []fake.Piece{fake.Text("Hello "), fake.Text("there.")}

// commonResponses are responses that all vendors can send.
var commonResponses = []vendorResponse{
	{name: "text", pieces: greeting, text: "Hello there.", stop: "end_turn/STOP"},
	{name: "unicode in small pieces", pieces: []fake.Piece{fake.Split(1), fake.Text("☃ 🏳️‍🌈 <&> \"\\ \u2028 日本")}, text: "☃ 🏳️‍🌈 <&> \"\\ \u2028 日本", stop: "end_turn/STOP"},
	{name: "long text", pieces: []fake.Piece{fake.Split(5000), fake.Text(huge)}, text: huge, stop: "end_turn/STOP"},
	{
		name: "parallel tool calls after text", tools: true,
		pieces: []fake.Piece{fake.Text("Both."), fake.Call("get_weather", `{"city":"Rome","n":12345678901234567890,"f":1.10}`), fake.Call("get_time", `{}`)},
		text:   "Both.", calls: []string{`get_weather {"city":"Rome","f":1.10,"n":12345678901234567890}`, `get_time {}`}, stop: "tool_use/STOP",
	},
	{
		name: "tool call without arguments in one event", tools: true,
		pieces: []fake.Piece{fake.Split(0), fake.Call("get_time", "")}, calls: []string{`get_time {}`}, stop: "tool_use/STOP",
	},
	{
		name: "arguments split at every byte", tools: true,
		pieces: []fake.Piece{fake.Split(1), fake.Call("get_weather", `{"city":"Z\u00fcrich \"☃\" \\","deep":{"a":[1,{"b":null}]}}`)},
		calls:  []string{`get_weather {"city":"Zürich \"☃\" \\","deep":{"a":[1,{"b":null}]}}`}, stop: "tool_use/STOP",
	},
	{
		name: "thinking", think: true, tools: true,
		pieces:   []fake.Piece{fake.Thinking("Let me think about it."), fake.Text("Done."), fake.Call("get_time", `{"tz":"CET"}`)},
		thoughts: "Let me think about it.", text: "Done.", calls: []string{`get_time {"tz":"CET"}`}, stop: "tool_use/STOP",
	},
	{
		name: "thinking without text and redacted thinking", think: true, tools: true,
		pieces: []fake.Piece{fake.Thinking(""), fake.Redacted("hidden"), fake.Text("Done.")}, text: "Done.", stop: "end_turn/STOP",
	},
	{
		name: "usage", pieces: []fake.Piece{fake.Usage{Input: 100, Output: 20, CacheRead: 40}, fake.Text("Done.")}, text: "Done.", stop: "end_turn/STOP",
		usage: map[string]map[string]int{
			"messages":        {"input_tokens": 100, "cache_read_input_tokens": 40, "output_tokens": 20},
			"generatecontent": {"promptTokenCount": 140, "cachedContentTokenCount": 40, "candidatesTokenCount": 20, "totalTokenCount": 160},
			"chatcompletions": {"prompt_tokens": 140, "cached_tokens": 40, "completion_tokens": 20, "total_tokens": 160},
			"responses":       {"input_tokens": 140, "cached_tokens": 40, "output_tokens": 20, "total_tokens": 160},
		},
	},
	{
		name: "usage with thinking", think: true,
		pieces: []fake.Piece{fake.Usage{Input: 100, Output: 20, Thinking: 7}, fake.Thinking("Hm."), fake.Text("Done.")}, thoughts: "Hm.", text: "Done.", stop: "end_turn/STOP",
		usage: map[string]map[string]int{
			"messages":        {"input_tokens": 100, "output_tokens": 27, "thinking_tokens": 7},
			"generatecontent": {"promptTokenCount": 100, "candidatesTokenCount": 20, "thoughtsTokenCount": 7, "totalTokenCount": 127},
			"chatcompletions": {"prompt_tokens": 100, "completion_tokens": 27, "reasoning_tokens": 7, "total_tokens": 127},
			"responses":       {"input_tokens": 100, "output_tokens": 27, "reasoning_tokens": 7, "total_tokens": 127},
		},
	},
	{name: "no usage", pieces: []fake.Piece{fake.NoUsage{}, fake.Text("Done.")}, text: "Done.", stop: "end_turn/STOP"},
	{name: "keep-alives", pieces: []fake.Piece{fake.Ping{}, fake.Text("Do"), fake.Ping{}, fake.Text("ne.")}, text: "Done.", stop: "end_turn/STOP"},
	{name: "model other than requested", pieces: []fake.Piece{fake.Model("other-model-1"), fake.Text("Done.")}, text: "Done.", stop: "end_turn/STOP"},
	{name: "writes of one byte", pieces: []fake.Piece{fake.Chop(1), fake.Text("Düne.")}, text: "Düne.", stop: "end_turn/STOP"},
	{name: "huge event", pieces: []fake.Piece{fake.Huge(1 << 20), fake.Text("Done.")}, text: "Done.", stop: "end_turn/STOP"},
}

// vendorResponses are responses of one vendor.
var vendorResponses = []vendorResponse{
	{name: "output limit", only: toClaude, pieces: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "max_tokens"}}, text: "Do", stop: "max_tokens/MAX_TOKENS"},
	{name: "stop sequence", only: toClaude, pieces: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "stop_sequence", Sequence: "END"}}, text: "Do", stop: "stop_sequence/STOP",
		detail: map[string]string{"messages": "END"}},
	{name: "refusal", only: toClaude, pieces: []fake.Piece{fake.Text("No"), fake.Stop{Reason: "refusal", Details: `{"type":"refusal","category":"cyber","explanation":"Declined."}`}}, text: "No", stop: "refusal/SAFETY",
		detail: map[string]string{"messages": "cyber"}},
	{name: "context window exceeded", only: toClaude, pieces: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "model_context_window_exceeded"}}, text: "Do", stop: "model_context_window_exceeded/MAX_TOKENS"},
	{name: "pause", only: toClaude, pieces: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "pause_turn"}}, text: "Do", stop: "pause_turn/OTHER"},
	{name: "cache writes", only: toClaude, pieces: []fake.Piece{fake.Usage{Input: 10, Output: 2, CacheRead: 3, CacheWrite: 4}, fake.Text("Done.")}, text: "Done.", stop: "end_turn/STOP",
		usage: map[string]map[string]int{
			"messages":        {"input_tokens": 10, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 3, "output_tokens": 2},
			"generatecontent": {"promptTokenCount": 17, "cachedContentTokenCount": 3, "candidatesTokenCount": 2},
			"chatcompletions": {"prompt_tokens": 17, "cached_tokens": 3, "cache_write_tokens": 4, "completion_tokens": 2},
			"responses":       {"input_tokens": 17, "cached_tokens": 3, "cache_write_tokens": 4, "output_tokens": 2},
		}},
	{name: "output limit", only: toGemini, pieces: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "MAX_TOKENS"}}, text: "Do", stop: "max_tokens/MAX_TOKENS"},
	{name: "output limit within thinking", only: toGemini, pieces: []fake.Piece{fake.Usage{Input: 3, Thinking: 60}, fake.Stop{Reason: "MAX_TOKENS"}}, stop: "max_tokens/MAX_TOKENS"},
	{name: "safety", only: toGemini, pieces: []fake.Piece{fake.Text("N"), fake.Stop{Reason: "SAFETY"}}, text: "N", stop: "refusal/SAFETY"},
	{name: "recitation", only: toGemini, pieces: []fake.Piece{fake.Text("N"), fake.Stop{Reason: "RECITATION"}}, text: "N", stop: "refusal/RECITATION"},
	{name: "blocked prompt", only: toGemini, pieces: []fake.Piece{fake.Blocked("PROHIBITED_CONTENT")}, stop: "refusal/blocked"},
	{name: "malformed tool call", only: toGemini, tools: true, pieces: []fake.Piece{fake.Stop{Reason: "MALFORMED_FUNCTION_CALL", Details: "Malformed"}}, stop: "max_tokens/MALFORMED_FUNCTION_CALL"},
	{name: "tool prompt counts", only: toGemini, pieces: []fake.Piece{fake.Usage{Input: 10, Output: 2, ToolPrompt: 5}, fake.Text("Done.")}, text: "Done.", stop: "end_turn/STOP",
		usage: map[string]map[string]int{
			"messages":        {"input_tokens": 15, "output_tokens": 2},
			"generatecontent": {"promptTokenCount": 10, "toolUsePromptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 17},
			"chatcompletions": {"prompt_tokens": 15, "completion_tokens": 2, "total_tokens": 17},
			"responses":       {"input_tokens": 15, "output_tokens": 2, "total_tokens": 17},
		}},
	{name: "output limit", only: toChat, pieces: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "length"}}, text: "Do", stop: "max_tokens/MAX_TOKENS"},
	{name: "filtered", only: toChat, pieces: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "content_filter"}}, text: "Do", stop: "refusal/SAFETY"},
	{name: "output limit", only: toResp, pieces: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "max_output_tokens"}}, text: "Do", stop: "max_tokens/MAX_TOKENS"},
	{name: "filtered", only: toResp, pieces: []fake.Piece{fake.Text("Do"), fake.Stop{Reason: "content_filter"}}, text: "Do", stop: "refusal/SAFETY"},
}

// request returns a request to which a vendor can send the response.
func (s *vendorResponse) request(f endpoint) string {
	c := f.client()
	c.say("Hello?")
	body := c.members(s.think)
	if !s.tools {
		for _, tools := range []string{messagesToolbox, generateToolbox, chatToolbox, responsesToolbox} {
			body = strings.Replace(body, tools+",", "", 1)
		}
	}
	return body
}

// client returns a client of the endpoint.
func (f endpoint) client() client {
	switch f.name {
	case "messages":
		return &messagesClient{}
	case "generatecontent":
		return &generateClient{}
	case "chatcompletions":
		return &chatClient{}
	}
	return &responsesClient{}
}

// stopFor returns the stop reason for a client: openai-clients.md §7 and §8.
func (s *vendorResponse) stopFor(f endpoint) string {
	messages, generate, _ := strings.Cut(s.stop, "/")
	list := map[string][2]string{
		"tool_use": {"tool_calls", "completed"}, "refusal": {"content_filter", "incomplete content_filter"},
		"max_tokens": {"length", "incomplete max_output_tokens"}, "model_context_window_exceeded": {"length", "incomplete max_output_tokens"},
		"pause_turn": {"length", "incomplete max_output_tokens"},
	}
	openAI, ok := list[messages]
	if !ok {
		openAI = [2]string{"stop", "completed"}
	}
	return map[string]string{"messages": messages, "generatecontent": generate, "chatcompletions": openAI[0], "responses": openAI[1]}[f.name]
}

func TestAnswers(t *testing.T) {
	eachOf(t, allEndpoints, func(t *testing.T, f endpoint, b adapter) {
		up, vendor := b.start(t, vendor{forbid: secrets})
		g := newGateway(f, up, upstream.HandlerOptions{})
		for _, s := range append(append([]vendorResponse(nil), commonResponses...), vendorResponses...) {
			if s.only != "" && s.only != b.name {
				continue
			}
			s.think = s.think && thinks(f.client(), b)
			t.Run(s.name, func(t *testing.T) {
				for _, m := range f.modes {
					vendor.Say(s.pieces...)
					a := g.ask(b.model, s.request(f), m)
					s.check(t, f, b, m, a)
				}
			})
		}
	})
}

func (s *vendorResponse) check(t *testing.T, f endpoint, b adapter, m mode, a *response) {
	t.Helper()
	checkReportedOnce(t, m, a)
	if a.Status != http.StatusOK || a.Broken != "" || !a.Whole {
		t.Errorf("%s: status %d, broken %q, whole %v\n%s", m, a.Status, a.Broken, a.Whole, clip(a.Body))
		return
	}
	if got := a.text("text"); got != s.text {
		t.Errorf("%s: text %q, want %q", m, clip(got), clip(s.text))
	}
	// Chat Completions has no member that asks to see the thinking: only Claude sends it.
	shown := b.name != toChat && (f.name != "chatcompletions" || b.name == toClaude)
	if got := a.text("thinking"); got != s.thoughts && shown {
		t.Errorf("%s: thinking %q, want %q", m, got, s.thoughts)
	}
	var calls []string
	ids := map[string]bool{}
	for _, c := range a.calls() {
		calls = append(calls, c.Name+" "+c.Args)
		if c.ID == "" && f.name != "generatecontent" || c.ID != "" && ids[c.ID] {
			t.Errorf("%s: missing or duplicate id of a tool call: %q", m, c.ID)
		}
		ids[c.ID] = true
	}
	if diff := cmp.Diff(s.calls, calls); diff != "" {
		t.Errorf("%s: tool calls (-want +got):\n%s", m, diff)
	}
	want := s.stopFor(f)
	if a.Stop != want || !strings.Contains(a.Detail, s.detail[f.name]) {
		t.Errorf("%s: stop reason %q (%s), want %q (%s)", m, a.Stop, a.Detail, want, s.detail[f.name])
	}
	for k, n := range s.usage[f.name] {
		if b.name == toChat && k == "thinking_tokens" {
			continue
		}
		if a.Usage[k] != n {
			t.Errorf("%s: %s is %d, want %d; all: %v", m, k, a.Usage[k], n, fmt.Sprint(a.Usage))
		}
	}
	if a.ID == "" || a.Model == "" {
		t.Errorf("%s: id %q, model %q", m, a.ID, a.Model)
	}
}
