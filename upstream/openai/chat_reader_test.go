package openai

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
	"github.com/polywire/polywire/upstream"
)

// collect reads a stream into a reply, as a host would see it.
func collectChat(t *testing.T, src io.Reader, tags ThinkTags) (*upstream.Response, error) {
	t.Helper()
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		r := newChatReader(src, content.Limits{}, tags)
		r.newID = func() string { return "made" }
		return adapter.Relay(t.Context(), w, r, adapter.Head{}, nil)
	})
	return upstream.Collect(t.Context(), up, &upstream.Request{Model: "m"})
}

// whole reads a whole answer.
func wholeChat(t *testing.T, text string, tags ThinkTags) (*upstream.Response, error) {
	t.Helper()
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		f, err := decodeChat(text, content.Limits{}, tags, false)
		if err != nil {
			return err
		}
		return adapter.WriteResponse(w, f, adapter.Head{}, nil)
	})
	return upstream.Collect(t.Context(), up, &upstream.Request{Model: "m"})
}

// sse makes a stream of chunks.
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

func sayText(s string) *content.Text { return &content.Text{Text: s} }

func useOf(id, name, input string) *content.ToolUse {
	return &content.ToolUse{ID: id, Name: name, Input: input}
}

func thoughtOf(s, data string) *content.Thinking {
	p := &content.Thinking{Text: s}
	if data != "" {
		p.Signature = content.Signature{Format: ChatFormat, Data: data}
	}
	return p
}

func partsOf(p ...content.Part) []content.Part { return p }

func frag(members string) string { return chunkOf(`{"tool_calls":[{` + members + `}]}`) }

var hi = chunkOf(`{"content":"hi"}`)

// unsure is a chunk of a server that gives every one a finish_reason.
func unsure(delta string) string {
	return `{"choices":[{"index":0,"delta":` + delta + `,"finish_reason":""}]}`
}

// quirks are what compatible servers do, and what it means.
var quirks = []struct {
	name   string
	chunks []string
	parts  []content.Part
	reason content.StopReason
}{
	{"the vendor's own", []string{chunkOf(`{"role":"assistant","content":"","refusal":null}`), hi, chunkOf(`{"content":" there"}`), stopped, done},
		partsOf(sayText("hi there")), content.StopEnd},
	{"no end mark", []string{hi, stopped}, partsOf(sayText("hi")), content.StopEnd},
	{"no finish_reason", []string{hi, done}, partsOf(sayText("hi")), content.StopEnd},
	{"reasoning_content", []string{chunkOf(`{"reasoning_content":"hm"}`), chunkOf(`{"reasoning_content":"m"}`), hi, stopped},
		partsOf(thoughtOf("hmm", "reasoning_content"), sayText("hi")), content.StopEnd},
	{"reasoning, and an alias", []string{chunkOf(`{"reasoning":"hm","reasoning_content":"","reasoning_text":"hm"}`), hi, stopped},
		partsOf(thoughtOf("hm", "reasoning"), sayText("hi")), content.StopEnd},
	{"two aliases at once", []string{chunkOf(`{"reasoning":"hm","reasoning_content":"hm"}`), hi, stopped},
		partsOf(thoughtOf("hm", "reasoning_content"), sayText("hi")), content.StopEnd},
	{"content null and empty beside calls", []string{chunkOf(`{"content":null}`), chunkOf(`{"content":"","tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`), toolStop},
		partsOf(useOf("c1", "f", "{}")), content.StopToolUse},
	{"content as a list", []string{chunkOf(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"hi"},{"type":"reference","ids":[1]}]}`), stopped},
		partsOf(thoughtOf("hm", ""), sayText("hi")), content.StopEnd},
	{"content as a list of all kinds", []string{chunkOf(`{"content":["h",{"text":"i"},{"type":"image_url","image_url":"https://a.example/a.png"},{"type":"thinking","thinking":"hm"},{"type":"refusal","refusal":"No."}]}`), stopped},
		partsOf(sayText("hi"), &content.Image{Source: &content.URL{URL: "https://a.example/a.png"}}, thoughtOf("hm", ""), sayText("No.")), content.StopRefusal},
	{"sound with its words", []string{chunkOf(`{"audio":{"id":"a1","transcript":"h"}}`), chunkOf(`{"audio":{"transcript":"i","data":"AAAA"}}`), chunkOf(`{"audio":{"expires_at":1}}`), stopped}, partsOf(sayText("hi")), content.StopEnd},
	{"the text of older servers", []string{`{"choices":[{"index":0,"text":"hi","finish_reason":"stop"}]}`}, partsOf(sayText("hi")), content.StopEnd},
	{"token probabilities and padding", []string{`{"choices":[{"index":0,"delta":{"content":"hi"},"logprobs":{"content":[{"token":"hi","logprob":-9999.0,"bytes":null,"top_logprobs":[]}],"refusal":null},"token_ids":[1],"prompt_logprobs":null}],"obfuscation":"x","moderation":{},"created":"now","system_fingerprint":null}`, stopped},
		partsOf(sayText("hi")), content.StopEnd},
	{"choices null, missing and empty", []string{`{"choices":null}`, `{"id":"","model":"","prompt_filter_results":[]}`, `{"choices":[]}`, hi, stopped}, partsOf(sayText("hi")), content.StopEnd},
	{"error null", []string{`{"error":null,"choices":[{"index":0,"delta":{"content":"hi"}}]}`, stopped}, partsOf(sayText("hi")), content.StopEnd},
	{"role everywhere", []string{chunkOf(`{"role":"assistant","content":"h"}`), chunkOf(`{"role":"assistant","content":"i"}`), stopped}, partsOf(sayText("hi")), content.StopEnd},
	{"parallel calls in turn", []string{
		frag(`"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}`), frag(`"index":0,"function":{"arguments":"{\"x\":"}`), frag(`"index":0,"function":{"arguments":"1}"}`),
		frag(`"index":1,"id":"b","type":"function","function":{"name":"g","arguments":""}`), frag(`"index":1,"function":{"arguments":"{}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("b", "g", "{}")), content.StopToolUse},
	{"all calls at index 0", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}`), frag(`"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\":2}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`), useOf("b", "f", `{"x":2}`)), content.StopToolUse},
	{"no index", []string{frag(`"id":"a","function":{"name":"f","arguments":"{}"}`), frag(`"id":"b","function":{"name":"g","arguments":"{}"}`), toolStop},
		partsOf(useOf("a", "f", "{}"), useOf("b", "g", "{}")), content.StopToolUse},
	{"index -1", []string{frag(`"index":-1,"id":"a","function":{"name":"f","arguments":"{"}`), frag(`"index":-1,"function":{"arguments":"}"}`), toolStop},
		partsOf(useOf("a", "f", "{}")), content.StopToolUse},
	{"no ids at index 0", []string{frag(`"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}`), frag(`"index":0,"function":{"name":"f","arguments":"{\"x\":2}"}`), toolStop},
		partsOf(useOf("made", "f", `{"x":1}`), useOf("made_2", "f", `{"x":2}`)), content.StopToolUse},
	{"id and name in every fragment", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}`), frag(`"index":0,"id":"a","function":{"name":"f","arguments":"1}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":1}`)), content.StopToolUse},
	{"the same id for two calls", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), frag(`"index":1,"id":"a","function":{"name":"f","arguments":"{"}`), frag(`"index":1,"id":"a","function":{"arguments":"}"}`), toolStop},
		partsOf(useOf("a", "f", "{}"), useOf("a_2", "f", "{}")), content.StopToolUse},
	{"a name that grows", []string{frag(`"index":0,"id":"a","function":{"name":"get"}`), frag(`"index":0,"id":"a","function":{"name":"get_x","arguments":"{}"}`), toolStop},
		partsOf(useOf("a", "get_x", "{}")), content.StopToolUse},
	{"an id that comes late", []string{frag(`"index":0,"id":"","function":{"name":"f","arguments":"{"}`), frag(`"index":0,"id":"a","function":{"arguments":"}"}`), toolStop},
		partsOf(useOf("a", "f", "{}")), content.StopToolUse},
	{"an id that is null", []string{frag(`"index":0,"id":null,"function":{"name":"f","arguments":"{}"}`), toolStop}, partsOf(useOf("made", "f", "{}")), content.StopToolUse},
	{"arguments as an object", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":{"x": [1, 2.50]}}`), toolStop}, partsOf(useOf("a", "f", `{"x":[1,2.50]}`)), content.StopToolUse},
	{"arguments missing, null and empty", []string{frag(`"index":0,"id":"a","function":{"name":"f"}`), frag(`"index":1,"id":"b","function":{"name":"f","arguments":null}`), frag(`"index":2,"id":"c","function":{"name":"f","arguments":""}`), toolStop},
		partsOf(useOf("a", "f", ""), useOf("b", "f", ""), useOf("c", "f", "")), content.StopToolUse},
	{"arguments that are cut", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`, done},
		partsOf(useOf("a", "f", `{"x`)), content.StopMaxTokens},
	{"stop with calls", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), stopped}, partsOf(useOf("a", "f", "{}")), content.StopToolUse},
	{"end_turn with calls", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"end_turn"}]}`}, partsOf(useOf("a", "f", "{}")), content.StopToolUse},
	{"a filter outranks calls", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`}, partsOf(useOf("a", "f", "{}")), content.StopSafety},
	{"a call without a name", []string{hi, frag(`"index":0,"id":"a","function":{"arguments":"{}"}`), toolStop}, partsOf(sayText("hi")), content.StopMalformedCall},
	{"nothing but a call without a name", []string{frag(`"index":0,"id":"a","function":{"name":null}`), frag(`"index":0,"function":{"arguments":"{}"}`), stopped}, nil, content.StopMalformedCall},
	{"a call without a name beside another", []string{frag(`"index":0,"id":"a","function":{"arguments":"{}"}`), frag(`"index":1,"id":"b","function":{"name":"f","arguments":"{}"}`), toolStop}, partsOf(useOf("b", "f", "{}")), content.StopMalformedCall},
	{"a call of another kind", []string{hi, frag(`"index":0,"id":"a","type":"custom","custom":{"name":"g","input":"x"}`), toolStop}, partsOf(sayText("hi")), content.StopEnd},
	{"quotes in arguments", []string{frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":\"\\\"}"}`), frag(`"index":0,"id":"a","function":{"name":"f","arguments":"\"}"}`), toolStop},
		partsOf(useOf("a", "f", `{"x":"\"}"}`)), content.StopToolUse},
	{"tool_calls without a call", []string{hi, toolStop}, partsOf(sayText("hi")), content.StopEnd},
	{"function_call", []string{chunkOf(`{"function_call":{"name":"f","arguments":""}}`), chunkOf(`{"function_call":{"arguments":"{}"}}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"function_call"}]}`}, partsOf(useOf("made", "f", "{}")), content.StopToolUse},
	{"finish twice, and a delta behind", []string{hi, stopped, chunkOf(`{"content":"!"}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`, done}, partsOf(sayText("hi!")), content.StopEnd},
	{"an empty finish everywhere, and another", []string{unsure(`{"content":"h"}`), unsure(`{"content":"i"}`), unsure(`{"content":""}`), `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`}, partsOf(sayText("hi")), content.StopMaxTokens},
	{"an empty finish everywhere, and no end mark", []string{unsure(`{"content":"h"}`), unsure(`{"content":"i"}`), unsure(`{"content":""}`)}, partsOf(sayText("hi")), content.StopEnd},
	{"an empty finish everywhere, with calls", []string{unsure(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`), unsure(`{}`)}, partsOf(useOf("a", "f", "{}")), content.StopToolUse},
	{"model_length", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"model_length"}]}`}, partsOf(sayText("hi")), content.StopMaxTokens},
	{"an unknown finish", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"repetition"}]}`}, partsOf(sayText("hi")), content.StopEnd},
	{"a refusal", []string{chunkOf(`{"refusal":"I can"}`), chunkOf(`{"refusal":"not"}`), stopped, done}, partsOf(sayText("I cannot")), content.StopRefusal},
	{"a refusal as the reason", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"refusal"}]}`}, partsOf(sayText("hi")), content.StopRefusal},
	{"a stop sequence", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":"END"}]}`}, partsOf(sayText("hi")), content.StopSequence},
	{"a stop token", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":128001}]}`}, partsOf(sayText("hi")), content.StopEnd},
	{"a filter of the host's", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","content_filter_results":{"hate":{"filtered":false},"violence":{"filtered":true,"severity":"high"}}}]}`}, partsOf(sayText("hi")), content.StopSafety},
	{"a filter that found nothing", []string{hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","content_filter_results":{"hate":{"filtered":false}}}]}`}, partsOf(sayText("hi")), content.StopEnd},
	{"an encrypted thought beside its text", []string{chunkOf(`{"reasoning_content":"hm","encrypted_content":"s1"}`), chunkOf(`{"reasoning_content":"m","encrypted_content":"s1"}`), hi, stopped},
		partsOf(thoughtOf("hmm", `{"encrypted_content":"s1s1"}`), sayText("hi")), content.StopEnd},
	{"an image twice", []string{chunkOf(`{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}`), chunkOf(`{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}`), stopped},
		partsOf(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}), content.StopEnd},
	{"a citation", []string{hi, chunkOf(`{"annotations":[{"type":"url_citation","url_citation":{"start_index":0,"end_index":2,"url":"https://a.example/","title":"A"}}]}`), stopped},
		partsOf(&content.Text{Text: "hi", Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://a.example/", Title: "A"}}}), content.StopEnd},
	{"a citation beside calls", []string{`{"choices":[{"index":0,"message":{"content":"hi","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}],"annotations":[{"type":"url_citation","url_citation":{"url":"https://a.example/","title":"A"}}]},"finish_reason":"tool_calls"}]}`},
		partsOf(&content.Text{Text: "hi", Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://a.example/", Title: "A"}}}, useOf("a", "f", "{}")), content.StopToolUse},
	{"messages so far beside deltas", []string{`{"choices":[{"index":0,"message":{"role":"assistant","content":"h"},"delta":{"role":"assistant","content":"h"}}]}`,
		`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"delta":{"role":"assistant","content":"i"}}]}`,
		`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}`},
		partsOf(sayText("hi")), content.StopEnd},
	{"a message beside empty deltas", []string{`{"choices":[{"index":0,"message":{"role":"assistant","content":"h"},"delta":{"role":"assistant","content":""}}]}`,
		`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}`},
		partsOf(sayText("hi")), content.StopEnd},
	{"text between calls", []string{chunkOf(`{"content":"a"}`), frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), chunkOf(`{"content":"b"}`), frag(`"index":1,"id":"b","function":{"name":"g","arguments":"{}"}`), stopped},
		partsOf(sayText("a"), useOf("a", "f", "{}"), sayText("b"), useOf("b", "g", "{}")), content.StopToolUse},
}

// TestQuirks holds the reader to the rules for what compatible servers do.
func TestQuirks(t *testing.T) {
	for _, test := range quirks {
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

// TestFailures checks what is no whole answer.
func TestFailures(t *testing.T) {
	tests := []struct {
		name, stream string
		code         upstream.Code
		text         string
	}{
		{"nothing at all", "", upstream.CodeBadGateway, ""},
		{"blanks", "\n\n  \r\n", upstream.CodeBadGateway, ""},
		{"cut", events(hi), upstream.CodeBadGateway, ""},
		{"cut, with an empty finish everywhere", events(unsure(`{"role":"assistant","content":""}`), unsure(`{"content":"h"}`), unsure(`{"content":"i"}`)), upstream.CodeBadGateway, ""},
		{"the end mark only", events(done), upstream.CodeBadGateway, ""},
		{"no delta at all", events(chunkOf(`{"role":"assistant","content":""}`), stopped, done), upstream.CodeBadGateway, ""},
		{"an error", events(hi, `{"error":{"message":"Oh no.","type":"server_error"}}`), upstream.CodeUnavailable, ""},
		{"an error of the request", events(`{"error":{"message":"Bad x.","type":"invalid_request_error","param":"x","code":null}}`), upstream.CodeInvalid, "Bad x."},
		{"an error with a status", events(`{"error":{"code":429,"message":"Provider returned error","metadata":{"raw":"slow down"}}}`), upstream.CodeRateLimit, "Provider returned error: slow down"},
		{"an event named error", "event: error\ndata: {\"message\":\"Oh no.\"}\n\n", upstream.CodeUnavailable, ""},
		{"an error as text", events(`{"error":"model 'x' not found"}`), upstream.CodeUnavailable, ""},
		{"an old error", events(`{"object":"error","message":"Too long.","code":400}`), upstream.CodeInvalid, "Too long."},
		{"a list of errors", `[{"error":{"code":400,"message":"Bad."}}]`, upstream.CodeInvalid, "Bad."},
		{"a document in place of events", `{"error":{"message":"Bad.","type":"invalid_request_error"}}`, upstream.CodeInvalid, "Bad."},
		{"an error of a choice", events(`{"choices":[{"index":0,"delta":{},"finish_reason":"error","error":{"code":502,"message":"gone"}}]}`), upstream.CodeUnavailable, ""},
		{"finish error", events(hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`, done), upstream.CodeUnavailable, ""},
		{"no resources", events(hi, `{"choices":[{"index":0,"delta":{},"finish_reason":"insufficient_system_resource"}]}`), upstream.CodeUnavailable, ""},
		{"too many choices", events(hi, `{"choices":[{"index":128,"delta":{"content":"hi"}}]}`, stopped), upstream.CodeBadGateway, ""},
		{"too many calls", events(wholeCalls(strings.Repeat(`{"function":{"name":"f"}},`, mostCalls)+`{"function":{"name":"f"}}`), done), upstream.CodeBadGateway, ""},
		{"no JSON", events(hi, `{"choices":`, done), upstream.CodeBadGateway, ""},
		{"no object", events(hi, `1`, done), upstream.CodeBadGateway, ""},
		{"the context is full", events(`{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":"context_length_exceeded"}}`), upstream.CodeInvalid, "Your input exceeds the context window of this model."},
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

// TestWholeMessage checks that a whole response is read from its message: some
// servers put an empty delta beside it, or one that repeats it.
func TestWholeMessage(t *testing.T) {
	const (
		message = `"message":{"role":"assistant","content":"hi","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`
		delta   = `"delta":{"role":"assistant","content":"hi","tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`
	)
	want := partsOf(sayText("hi"), useOf("a", "f", "{}"))
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
		whole, err := wholeChat(t, body, ThinkTagsOff)
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

// TestWholeFailures checks what is no answer in one piece.
func TestWholeFailures(t *testing.T) {
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
		_, err := wholeChat(t, test.body, ThinkTagsOff)
		var e *upstream.Error
		if !errors.As(err, &e) || e.Code != test.code || e.Text != test.text {
			t.Errorf("%s: %v, want %s %q", test.body, err, test.code, test.text)
		}
	}
}

// TestFraming says one answer in every framing that there is.
func TestFraming(t *testing.T) {
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
		"CRLF":                    strings.ReplaceAll(plain, "\n", "\r\n"),
		"no space":                strings.ReplaceAll(plain, "data: ", "data:"),
		"comments":                ": PROCESSING\n\n" + strings.ReplaceAll(plain, "\n\n", "\n\n: keep-alive\n\n\n"),
		"byte order mark":         "\ufeff" + plain,
		"blank lines":             strings.Repeat("\n", 2000) + plain,
		"a space behind the mark": strings.Replace(plain, "[DONE]", "[DONE] ", 1),
		"fields of all kinds":     strings.ReplaceAll(plain, "data:", "id: 1\nretry: 10\nevent: message\ndata:"),
		"no last blank line":      strings.TrimSuffix(events(chunks...), "\n\n"),
		"a document":              "\n\n" + document,
	} {
		t.Run(name, func(t *testing.T) {
			for form, src := range map[string]io.Reader{"whole": strings.NewReader(stream), "by bytes": iotest.OneByteReader(strings.NewReader(stream))} {
				got, err := collectChat(t, src, ThinkTagsOff)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%s: %v (-want +got):\n%s", form, err, diff)
				}
			}
			got, err := wholeChat(t, stream, ThinkTagsOff)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("in place of a document: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}
