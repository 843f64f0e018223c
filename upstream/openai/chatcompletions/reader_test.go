package chatcompletions

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// collectChat collects a stream into a response.
func collectChat(t *testing.T, src io.Reader, tags ThinkTags) (*upstream.Response, error) {
	t.Helper()
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		r := NewStreamReaderWith(src, content.Limits{}, DecodeOptions{ThinkTags: tags})
		r.newID = func() string { return "made" }
		return adapter.Relay(t.Context(), w, r, adapter.StartInfo{}, nil)
	})
	return upstream.Collect(t.Context(), up, &upstream.Request{Model: "m"})
}

// completeChat decodes a complete response.
func completeChat(t *testing.T, text string, tags ThinkTags) (*upstream.Response, error) {
	t.Helper()
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		f, err := DecodeFrame(text, content.Limits{}, DecodeOptions{ThinkTags: tags})
		if err != nil {
			return err
		}
		return adapter.WriteResponse(w, f, adapter.StartInfo{}, nil)
	})
	return upstream.Collect(t.Context(), up, &upstream.Request{Model: "m"})
}

// events returns a stream of chunks.
func events(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

func chunkOf(delta string) string { return `{"choices":[{"index":0,"delta":` + delta + `}]}` }

const (
	stopped  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	toolStop = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	done     = `[DONE]`
)

func textOf(s string) *content.Text { return &content.Text{Text: s} }

func useOf(id, name, input string) *content.ToolUse {
	return &content.ToolUse{ID: id, Name: name, Input: input}
}

func thinkingPart(s, data string) *content.Thinking {
	p := &content.Thinking{Text: s}
	if data != "" {
		p.Signature = content.Signature{Format: Format, Data: data}
	}
	return p
}

func partsOf(p ...content.Part) []content.Part { return p }

func fragmentOf(members string) string { return chunkOf(`{"tool_calls":[{` + members + `}]}`) }

var hi = chunkOf(`{"content":"hi"}`)

// unsureChunk returns a chunk of a server that sends an empty finish_reason with each
// chunk.
func unsureChunk(delta string) string {
	return `{"choices":[{"index":0,"delta":` + delta + `,"finish_reason":""}]}`
}

// chatQuirks are nonstandard streams and the responses that they mean.
var chatQuirks = []struct {
	name   string
	chunks []string
	parts  []content.Part
	reason content.StopReason
}{
	{"OpenAI", []string{chunkOf(`{"role":"assistant","content":"","refusal":null}`), hi, chunkOf(`{"content":" there"}`), stopped, done},
		partsOf(textOf("hi there")), content.StopEnd},
	{"no [DONE]", []string{hi, stopped}, partsOf(textOf("hi")), content.StopEnd},
	{"no finish_reason", []string{hi, done}, partsOf(textOf("hi")), content.StopEnd},
	{"reasoning_content", []string{chunkOf(`{"reasoning_content":"hm"}`), chunkOf(`{"reasoning_content":"m"}`), hi, stopped},
		partsOf(thinkingPart("hmm", "reasoning_content"), textOf("hi")), content.StopEnd},
	{"reasoning and an alias", []string{chunkOf(`{"reasoning":"hm","reasoning_content":"","reasoning_text":"hm"}`), hi, stopped},
		partsOf(thinkingPart("hm", "reasoning"), textOf("hi")), content.StopEnd},
	{"two aliases with the same text", []string{chunkOf(`{"reasoning":"hm","reasoning_content":"hm"}`), hi, stopped},
		partsOf(thinkingPart("hm", "reasoning_content"), textOf("hi")), content.StopEnd},
	{"null and empty content with calls", []string{chunkOf(`{"content":null}`), chunkOf(`{"content":"","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`), toolStop},
		partsOf(useOf("c1", "f", "{}")), content.StopToolUse},
	{"content list", []string{chunkOf(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"hi"},{"type":"reference","ids":[1]}]}`), stopped},
		partsOf(thinkingPart("hm", ""), textOf("hi")), content.StopEnd},
	{"content list of all kinds", []string{chunkOf(`{"content":["h",{"text":"i"},{"type":"image_url","image_url":"https://a.example/a.png"},{"type":"thinking","thinking":"hm"},{"type":"refusal","refusal":"No."}]}`), stopped},
		partsOf(textOf("hi"), &content.Image{Source: &content.URL{URL: "https://a.example/a.png"}}, thinkingPart("hm", ""), &content.Text{Text: "No.", Refusal: true}), content.StopRefusal},
	{"audio with transcript", []string{chunkOf(`{"audio":{"id":"a1","transcript":"h"}}`), chunkOf(`{"audio":{"transcript":"i","data":"AAAA"}}`), chunkOf(`{"audio":{"expires_at":1}}`), stopped}, partsOf(textOf("hi")), content.StopEnd},
	{"text of legacy completions", []string{`{"choices":[{"index":0,"text":"hi","finish_reason":"stop"}]}`}, partsOf(textOf("hi")), content.StopEnd},
	{"token probabilities and padding", []string{`{"choices":[{"index":0,"delta":{"content":"hi"},"logprobs":{"content":[{"token":"hi","logprob":-9999.0,"bytes":null,"top_logprobs":[]}],"refusal":null},"token_ids":[1],"prompt_logprobs":null}],"obfuscation":"x","moderation":{},"created":"now","system_fingerprint":null}`, stopped},
		partsOf(textOf("hi")), content.StopEnd},
	{"null, missing and empty choices", []string{`{"choices":null}`, `{"id":"","model":"","prompt_filter_results":[]}`, `{"choices":[]}`, hi, stopped}, partsOf(textOf("hi")), content.StopEnd},
	{"null error", []string{`{"error":null,"choices":[{"index":0,"delta":{"content":"hi"}}]}`, stopped}, partsOf(textOf("hi")), content.StopEnd},
	{"role in every chunk", []string{chunkOf(`{"role":"assistant","content":"h"}`), chunkOf(`{"role":"assistant","content":"i"}`), stopped}, partsOf(textOf("hi")), content.StopEnd},
	{"interleaved parallel calls", []string{
		fragmentOf(`"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}`), fragmentOf(`"index":0,"function":{"arguments":"{\"x\":"}`), fragmentOf(`"index":0,"function":{"arguments":"1}"}`),
		fragmentOf(`"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}`), fragmentOf(`"index":1,"function":{"arguments":"{}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("b", "g", "{}")), content.StopToolUse},
	{"all calls at index 0", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}`), fragmentOf(`"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("b", "f", `{"x":2}`)), content.StopToolUse},
	{"no index", []string{fragmentOf(`"id":"a","function":{"name":"f","arguments":"{}"}`), fragmentOf(`"id":"b","function":{"name":"g","arguments":"{}"}`), toolStop},
		partsOf(useOf("a", "f", "{}"), useOf("b", "g", "{}")), content.StopToolUse},
	{"index -1", []string{fragmentOf(`"index":-1,"id":"a","function":{"name":"f","arguments":"{"}`), fragmentOf(`"index":-1,"function":{"arguments":"}"}`), toolStop},
		partsOf(useOf("a", "f", "{}")), content.StopToolUse},
	{"no ids at index 0", []string{fragmentOf(`"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}`), fragmentOf(`"index":0,"function":{"name":"f","arguments":"{\"x\":2}"}`), toolStop},
		partsOf(useOf("made", "f", `{"x":1}`), useOf("made_2", "f", `{"x":2}`)), content.StopToolUse},
	{"id and name in every fragment", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}`), fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"1}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`)), content.StopToolUse},
	{"same id for two calls", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), fragmentOf(`"index":1,"id":"a","function":{"name":"f","arguments":"{"}`), fragmentOf(`"index":1,"id":"a","function":{"arguments":"}"}`), toolStop},
		partsOf(useOf("a", "f", "{}"), useOf("a_2", "f", "{}")), content.StopToolUse},
	{"name in fragments", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"get"}`), fragmentOf(`"index":0,"id":"a","function":{"name":"get_x","arguments":"{}"}`), toolStop},
		partsOf(useOf("a", "get_x", "{}")), content.StopToolUse},
	{"late id", []string{fragmentOf(`"index":0,"id":"","function":{"name":"f","arguments":"{"}`), fragmentOf(`"index":0,"id":"a","function":{"arguments":"}"}`), toolStop},
		partsOf(useOf("a", "f", "{}")), content.StopToolUse},
	{"null id", []string{fragmentOf(`"index":0,"id":null,"function":{"name":"f","arguments":"{}"}`), toolStop}, partsOf(useOf("made", "f", "{}")), content.StopToolUse},
	{"arguments as object", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":{"x": [1, 2.50]}}`), toolStop}, partsOf(useOf("a", "f", `{"x":[1,2.50]}`)), content.StopToolUse},
	{"missing, null and empty arguments", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f"}`), fragmentOf(`"index":1,"id":"b","function":{"name":"f","arguments":null}`), fragmentOf(`"index":2,"id":"c","function":{"name":"f","arguments":""}`), toolStop},
		partsOf(useOf("a", "f", ""), useOf("b", "f", ""), useOf("c", "f", "")), content.StopToolUse},
	{"cut arguments", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`, done},
		partsOf(useOf("a", "f", `{"x`)), content.StopMaxTokens},
	{"stop with calls", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), stopped}, partsOf(useOf("a", "f", "{}")), content.StopToolUse},
	{"end_turn with calls", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"end_turn"}]}`}, partsOf(useOf("a", "f", "{}")), content.StopToolUse},
	{"filter with calls", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`}, partsOf(useOf("a", "f", "{}")), content.StopSafety},
	{"call without name", []string{hi, fragmentOf(`"index":0,"id":"a","function":{"arguments":"{}"}`), toolStop}, partsOf(textOf("hi")), content.StopMalformedCall},
	{"only a call without name", []string{fragmentOf(`"index":0,"id":"a","function":{"name":null}`), fragmentOf(`"index":0,"function":{"arguments":"{}"}`), stopped}, nil, content.StopMalformedCall},
	{"call without name and another call", []string{fragmentOf(`"index":0,"id":"a","function":{"arguments":"{}"}`), fragmentOf(`"index":1,"id":"b","function":{"name":"f","arguments":"{}"}`), toolStop}, partsOf(useOf("b", "f", "{}")), content.StopMalformedCall},
	{"custom call", []string{hi, fragmentOf(`"index":0,"id":"a","type":"custom","custom":{"name":"g","input":"x"}`), toolStop},
		partsOf(textOf("hi"), &content.ToolUse{ID: "a", Name: "g", Freeform: true, Text: "x"}), content.StopToolUse},
	{"custom call in pieces", []string{fragmentOf(`"index":0,"id":"a","type":"custom","custom":{"name":"g","input":""}`), fragmentOf(`"index":0,"custom":{"input":"{} {"}`), fragmentOf(`"index":0,"custom":{"input":"\\n}"}`),
		fragmentOf(`"index":1,"id":"b","type":"function","function":{"name":"f","arguments":"{}"}`), toolStop},
		partsOf(&content.ToolUse{ID: "a", Name: "g", Freeform: true, Text: "{} {\\n}"}, useOf("b", "f", "{}")), content.StopToolUse},
	{"quotes in arguments", []string{fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":\"\\\"}"}`), fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"\"}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":"\"}"}`)), content.StopToolUse},
	{"tool_calls without a call", []string{hi, toolStop}, partsOf(textOf("hi")), content.StopEnd},
	{"function_call", []string{chunkOf(`{"function_call":{"name":"f","arguments":""}}`), chunkOf(`{"function_call":{"arguments":"{}"}}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"function_call"}]}`}, partsOf(useOf("made", "f", "{}")), content.StopToolUse},
	{"two finish reasons and a late delta", []string{hi, stopped, chunkOf(`{"content":"!"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`, done}, partsOf(textOf("hi!")), content.StopEnd},
	{"empty finish in every chunk, then another", []string{unsureChunk(`{"content":"h"}`), unsureChunk(`{"content":"i"}`), unsureChunk(`{"content":""}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`}, partsOf(textOf("hi")), content.StopMaxTokens},
	{"empty finish in every chunk, no [DONE]", []string{unsureChunk(`{"content":"h"}`), unsureChunk(`{"content":"i"}`), unsureChunk(`{"content":""}`)}, partsOf(textOf("hi")), content.StopEnd},
	{"empty finish in every chunk, with calls", []string{unsureChunk(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`), unsureChunk(`{}`)}, partsOf(useOf("a", "f", "{}")), content.StopToolUse},
	{"model_length", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"model_length"}]}`}, partsOf(textOf("hi")), content.StopMaxTokens},
	{"unknown finish", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"repetition"}]}`}, partsOf(textOf("hi")), content.StopEnd},
	{"refusal", []string{chunkOf(`{"refusal":"I can"}`), chunkOf(`{"refusal":"not"}`), stopped, done}, partsOf(&content.Text{Text: "I cannot", Refusal: true}), content.StopRefusal},
	{"refusal as finish", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"refusal"}]}`}, partsOf(textOf("hi")), content.StopRefusal},
	{"stop sequence", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":"END"}]}`}, partsOf(textOf("hi")), content.StopSequence},
	{"stop token", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":128001}]}`}, partsOf(textOf("hi")), content.StopEnd},
	{"Azure filter", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","content_filter_results":{"hate":{"filtered":false},"violence":{"filtered":true,"severity":"high"}}}]}`}, partsOf(textOf("hi")), content.StopSafety},
	{"Azure filter without result", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","content_filter_results":{"hate":{"filtered":false}}}]}`}, partsOf(textOf("hi")), content.StopEnd},
	{"encrypted thinking with text", []string{chunkOf(`{"reasoning_content":"hm","encrypted_content":"s1"}`), chunkOf(`{"reasoning_content":"m","encrypted_content":"s1"}`), hi, stopped},
		partsOf(thinkingPart("hmm", `{"encrypted_content":"s1s1"}`), textOf("hi")), content.StopEnd},
	{"repeated image", []string{chunkOf(`{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}`), chunkOf(`{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}`), stopped},
		partsOf(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}), content.StopEnd},
	{"citation", []string{hi, chunkOf(`{"annotations":[{"type":"url_citation","url_citation":{"start_index":0,"end_index":2,"url":"https://a.example/","title":"A"}}]}`), stopped},
		partsOf(&content.Text{Text: "hi", Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://a.example/", Title: "A", End: 2}}}), content.StopEnd},
	{"citation with calls", []string{`{"choices":[{"index":0,"message":{"content":"hi","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}],"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example/","title":"A"}}]},"finish_reason":"tool_calls"}]}`},
		partsOf(&content.Text{Text: "hi", Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://a.example/", Title: "A"}}}, useOf("a", "f", "{}")), content.StopToolUse},
	{"accumulated message with deltas", []string{`{"choices":[{"index":0,"message":{"role":"assistant","content":"h"},"delta":{"role":"assistant","content":"h"}}]}`,
		`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"delta":{"role":"assistant","content":"i"}}]}`,
		`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}`},
		partsOf(textOf("hi")), content.StopEnd},
	{"message with empty deltas", []string{`{"choices":[{"index":0,"message":{"role":"assistant","content":"h"},"delta":{"role":"assistant","content":""}}]}`,
		`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}`},
		partsOf(textOf("hi")), content.StopEnd},
	{"text between calls", []string{chunkOf(`{"content":"a"}`), fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), chunkOf(`{"content":"b"}`), fragmentOf(`"index":1,"id":"b","function":{"name":"g","arguments":"{}"}`), stopped},
		partsOf(textOf("a"), useOf("a", "f", "{}"), textOf("b"), useOf("b", "g", "{}")), content.StopToolUse},
}

// TestChatQuirks checks nonstandard streams.
func TestChatQuirks(t *testing.T) {
	for _, test := range chatQuirks {
		t.Run(test.name, func(t *testing.T) {
			got, err := collectChat(t, strings.NewReader(events(test.chunks...)), ThinkTagsOff)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.parts, got.Parts); diff != "" || got.Stop.Reason != test.reason {
				t.Errorf("stop %s, want %s; parts (-want +got):\n%s", got.Stop.Reason, test.reason, diff)
			}
		})
	}
}

// TestChatFailures checks streams that are not complete responses.
func TestChatFailures(t *testing.T) {
	tests := []struct {
		name, stream string
		code         upstream.Code
		text         string
	}{
		{"empty", "", upstream.CodeBadGateway, ""},
		{"blanks", "\n\n  \r\n", upstream.CodeBadGateway, ""},
		{"cut", events(hi), upstream.CodeBadGateway, ""},
		{"cut, with empty finish in every chunk", events(unsureChunk(`{"role":"assistant","content":""}`), unsureChunk(`{"content":"h"}`), unsureChunk(`{"content":"i"}`)), upstream.CodeBadGateway, ""},
		{"only [DONE]", events(done), upstream.CodeBadGateway, ""},
		{"no delta", events(chunkOf(`{"role":"assistant","content":""}`), stopped, done), upstream.CodeBadGateway, ""},
		{"error", events(hi, `{"error":{"message":"Oh no.","type":"server_error"}}`), upstream.CodeUnavailable, ""},
		{"error of request", events(`{"error":{"message":"Bad x.","type":"invalid_request_error","param":"x","code":null}}`), upstream.CodeInvalid, "Bad x."},
		{"error with status", events(`{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"slow down"}}}`), upstream.CodeRateLimit, "Provider returned error: slow down"},
		{"invalid tool call", events(hi, `{"error":{"message":"parameters for tool f did not match schema: missing properties: name","type":"invalid_request_error","code":"tool_use_failed","status_code":400}}`),
			upstream.CodeInternal, "parameters for tool f did not match schema: missing properties: name"},
		{"event named error", "event: error\ndata: {\"message\":\"Oh no.\"}\n\n", upstream.CodeUnavailable, ""},
		{"error as text", events(`{"error":"model 'x' not found"}`), upstream.CodeUnavailable, ""},
		{"legacy error", events(`{"object":"error","message":"Too long.","code":400}`), upstream.CodeInvalid, "Too long."},
		{"list of errors", `[{"error":{"code":400,"message":"Bad."}}]`, upstream.CodeInvalid, "Bad."},
		{"document in place of events", `{"error":{"message":"Bad.","type":"invalid_request_error"}}`, upstream.CodeInvalid, "Bad."},
		{"error in choice", events(`{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":502,"message":"gone"}}]}`), upstream.CodeUnavailable, ""},
		{"finish error", events(hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`, done), upstream.CodeUnavailable, ""},
		{"insufficient resources", events(hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"insufficient_system_resource"}]}`), upstream.CodeUnavailable, ""},
		{"too many choices", events(hi, `{"choices":[{"index":128,"delta":{"content":"hi"}}]}`, stopped), upstream.CodeBadGateway, ""},
		{"too many calls", events(completeCalls(strings.Repeat(`{"function":{"name":"f"}},`, maxDecodedCalls)+`{"function":{"name":"f"}}`), done), upstream.CodeBadGateway, ""},
		{"not JSON", events(hi, `{"choices":`, done), upstream.CodeBadGateway, ""},
		{"not an object", events(hi, `1`, done), upstream.CodeBadGateway, ""},
		{"context exceeded", events(`{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":"context_length_exceeded"}}`), upstream.CodeInvalid, "Your input exceeds the context window of this model."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := collectChat(t, strings.NewReader(test.stream), ThinkTagsOff)
			var e *upstream.Error
			if !errors.As(err, &e) || e.Code != test.code || e.Text != test.text {
				t.Errorf("%v: %#v, want %s %q", err, e, test.code, test.text)
			}
		})
	}
}

// TestCompleteMessage checks that a complete response is decoded from its message: some
// servers also send an empty delta or one that repeats it.
func TestCompleteMessage(t *testing.T) {
	const (
		message = `"message":{"role":"assistant","content":"hi","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`
		delta   = `"delta":{"role":"assistant","content":"hi","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`
	)
	want := partsOf(textOf("hi"), useOf("a", "f", "{}"))
	for _, choice := range []string{
		message,
		message + `,"delta":{}`,
		message + `,"delta":{"role":"assistant","content":""}`,
		`"delta":{"role":"assistant","content":""},` + message,
		message + "," + delta,
		delta,
		`"message":null,` + delta,
	} {
		body := `{"choices":[{"index":0,` + choice + `,"finish_reason":"tool_calls"}]}`
		whole, err := completeChat(t, body, ThinkTagsOff)
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if diff := cmp.Diff(want, whole.Parts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", body, diff)
		}
		stream, err := collectChat(t, strings.NewReader(body), ThinkTagsOff) // in place of a stream
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if diff := cmp.Diff(want, stream.Parts); diff != "" {
			t.Errorf("%s in place of a stream (-want +got):\n%s", body, diff)
		}
	}
}

// TestCompleteFailures checks documents that are not complete responses.
func TestCompleteFailures(t *testing.T) {
	for _, test := range []struct {
		body string
		code upstream.Code
		text string
	}{
		{"", upstream.CodeBadGateway, ""},
		{"{}", upstream.CodeBadGateway, ""},
		{`{"choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"stop"}]}`, upstream.CodeBadGateway, ""},
		{`{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"error"}]}`, upstream.CodeUnavailable, ""},
		{`{"choices":[{"index":0,"message":{"content":""},"error":{"code":429,"message":"Slow down."}}]}`, upstream.CodeRateLimit, "Slow down."},
		{`{"error":{"message":"Bad.","type":"invalid_request_error"},"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]}`, upstream.CodeInvalid, "Bad."},
		{`{"object":"error","message":"There is no model x.","type":"NotFoundError","code":404}`, upstream.CodeNotFound, "There is no model x."},
		{`{"error":{"message":"No credit.","type":"insufficient_quota","code":"insufficient_quota"}}`, upstream.CodeQuota, "No credit."},
	} {
		_, err := completeChat(t, test.body, ThinkTagsOff)
		var e *upstream.Error
		if !errors.As(err, &e) || e.Code != test.code || e.Text != test.text {
			t.Errorf("%s: %v, want %s %q", test.body, err, test.code, test.text)
		}
	}
}

// TestChatFraming sends one response in all framings.
func TestChatFraming(t *testing.T) {
	chunks := []string{`{"id":"x1","model":"m1","choices":[{"index":0,"delta":{"content":"hi"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`}
	const document = `{"id":"x1","model":"m1","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`
	want, err := collectChat(t, strings.NewReader(events(append(chunks, done)...)), ThinkTagsOff)
	if err != nil {
		t.Fatal(err)
	}
	if want.Start.ID != "x1" || want.Start.Model != "m1" || want.Usage.Input != 3 || want.Usage.Output != 2 {
		t.Fatalf("%+v", want)
	}
	plain := events(append(chunks, done)...)
	for name, stream := range map[string]string{
		"CRLF":                 strings.ReplaceAll(plain, "\n", "\r\n"),
		"no space after colon": strings.ReplaceAll(plain, "data: ", "data:"),
		"comments":             ": PROCESSING\n\n" + strings.ReplaceAll(plain, "\n\n", "\n\n: keep-alive\n\n\n"),
		"byte order mark":      "\ufeff" + plain,
		"blank lines":          strings.Repeat("\n", 2000) + plain,
		"space after [DONE]":   strings.Replace(plain, "[DONE]", "[DONE] ", 1),
		"all event fields":     strings.ReplaceAll(plain, "data:", "id: 1\nretry: 10\nevent: message\ndata:"),
		"no final blank line":  strings.TrimSuffix(events(chunks...), "\n\n"),
		"document":             "\n\n" + document,
	} {
		t.Run(name, func(t *testing.T) {
			for form, src := range map[string]io.Reader{"whole": strings.NewReader(stream), "byte by byte": iotest.OneByteReader(strings.NewReader(stream))} {
				got, err := collectChat(t, src, ThinkTagsOff)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%s: %v (-want +got):\n%s", form, err, diff)
				}
			}
			got, err := completeChat(t, stream, ThinkTagsOff)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("in place of a document: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// readChat decodes a stream to its end, with or without templates.
func readChat(src io.Reader, templates bool) ([]upstream.Event, error) {
	r := NewStreamReader(src, &content.Limits{Body: 1 << 20})
	r.newID = func() string { return "made" }
	var all []upstream.Event
	for {
		f, err := r.Next()
		if err != nil {
			return all, err
		}
		for _, e := range f.Events {
			e.Frame = nil
			all = append(all, e)
		}
		if !templates {
			r.template = chunkTemplate{}
		}
	}
}

func FuzzChatReader(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	for _, s := range formattest.RecordedSeeds(f, "openai-chat", (*formattest.Record).Stream) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		want, werr := readChat(strings.NewReader(stream), true)
		for name, src := range map[string]io.Reader{
			"byte by byte": iotest.OneByteReader(strings.NewReader(stream)),
			"halves":       iotest.HalfReader(strings.NewReader(stream)),
			"slowly":       strings.NewReader(stream),
		} {
			got, err := readChat(src, name != "slowly")
			if (err == io.EOF) != (werr == io.EOF) {
				t.Fatalf("%s: %v, want %v", name, err, werr)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", name, diff)
			}
		}
		var e *upstream.Error
		if werr != io.EOF && !errors.As(werr, &e) {
			t.Fatalf("got the error %v", werr)
		}
		// The events must be in an order that a Writer accepts.
		if _, err := collectChat(t, strings.NewReader(stream), ThinkTagsLeading); err != nil && !errors.As(err, &e) {
			t.Fatalf("invalid order of events: %v", err)
		}
	})
}

var fuzzSeeds = []string{
	events(chunkOf(`{"content":"a"}`), chunkOf(`{"content":"b"}`), chunkOf(`{"content":"\n"}`), stopped, done),
	events(chunkOf(`{"reasoning_content":"a"}`), chunkOf(`{"reasoning_content":"b"}`), chunkOf(`{"content":"c"}`), chunkOf(`{"content":"d"}`), stopped),
	events(fragmentOf(`"index":0,"id":"a","function":{"name":"f","arguments":""}`), fragmentOf(`"index":0,"function":{"arguments":"{\"x\":"}`), fragmentOf(`"index":0,"function":{"arguments":"1"}`), fragmentOf(`"index":0,"function":{"arguments":"}"}`), toolStop, done),
	events(callQuirks[1].chunks...), events(callQuirks[2].chunks...), events(callQuirks[6].chunks...),
	events(fragmentOf(`"index":0,"function":{"name":"f","arguments":"{}"}`), fragmentOf(`"index":0,"function":{"name":"f","arguments":"{}"}`), toolStop),
	events(chunkOf(`{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]}`), chunkOf(`{"reasoning":"b","reasoning_details":[{"type":"reasoning.text","text":"b","index":0}]}`), stopped),
	events(`{"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"y"}}]}`, stopped, `{"choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}`),
	events(chunkOf(`{"refusal":"n","content":""}`), chunkOf(`{"refusal":"n","content":"x"}`), stopped),
	events(chunkOf(`{"reasoning":"a","reasoning_details":[{"type":"x","data":"y"}]}`), chunkOf(`{"reasoning":"b","reasoning_details":[{"type":"x","data":"y"}]}`), stopped),
	events(unsureChunk(`{"content":"a"}`), unsureChunk(`{"content":"b"}`), unsureChunk(`{"content":""}`), unsureChunk(`{"content":"c"}`), unsureChunk(`{}`)),
	events(chunkOf(`{"thinking_blocks":[{"type":"thinking","thinking":"a","signature":"s"}]}`), chunkOf(`{"thinking_blocks":[{"type":"thinking","thinking":"a"}]}`), chunkOf(`{"thinking_blocks":[{"type":"thinking","thinking":"a"}]}`), stopped),
	events(`{"error":{"message":"no"}}`), "\n\n{\"choices\":[{\"message\":{\"content\":\"a\"}}]}", ": x\n\ndata:[DONE]", "<html>",
}

// TestChatCut checks that a stream without its finish_reason never looks complete,
// wherever it was cut.
func TestChatCut(t *testing.T) {
	stream := fuzzSeeds[2]
	last := strings.Index(stream, `{"choices":[{"index":0,"delta":{},"finish_reason"`)
	for i := range stream {
		_, err := readChat(strings.NewReader(stream[:i]), true)
		if err == io.EOF && i < last+len(toolStop) {
			t.Errorf("cut at %d, it looks complete:\n%s", i, stream[:i])
		}
	}
	for _, end := range []int{last, last + len(toolStop) + len("\n\n")} {
		_, err := readChat(io.MultiReader(strings.NewReader(stream[:end]), iotest.ErrReader(io.ErrUnexpectedEOF)), true)
		if (err == io.EOF) != (end > last) {
			t.Errorf("the connection breaks at %d: %v", end, err)
		}
	}
}
