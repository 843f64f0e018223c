package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// bothClients returns clients of both formats for a server that always sends the same
// response.
func bothClients(t *testing.T, status int, kind, body string) (clients map[string]upstream.Upstream, asked *int) {
	t.Helper()
	asked = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*asked++
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	chat, err := openai.New(&openai.Options{BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	responses, err := openai.NewResponses(&openai.Options{BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]upstream.Upstream{"chat": chat, "responses": responses}, asked
}

// TestFilteredPrompt checks that a prompt that a filter rejects is an empty response,
// streamed and not, over both formats to both handlers, and is not sent again. Similar
// errors remain errors.
func TestFilteredPrompt(t *testing.T) {
	const azure = `{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":true,"severity":"high"}}}`
	tests := []struct {
		name, body    string
		status        int
		word, details string // of a response; word is empty for an error
		text          string
	}{
		{"OpenAI filter", `{"error":{"message":"Blocked. Lower temperature is not allowed.","type":"invalid_request_error","param":null,"code":"content_filter"}}`,
			400, "content_filter", "", "Blocked. Lower temperature is not allowed."},
		{"Azure's", `{"error":{"message":"The response was filtered.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":` + azure + `}}`,
			400, "content_filter", azure, "The response was filtered."},
		{"Azure, no code", `{"error":{"message":"Filtered.","code":null,"innererror":` + azure + `}}`, 400, "content_filter", azure, "Filtered."},
		{"policy", `{"error":{"message":"No.","type":"invalid_request_error","code":"content_policy_violation"}}`, 400, "content_policy_violation", "", "No."},
		{"flagged prompt", `{"error":{"message":"Invalid prompt: your prompt was flagged.","type":"invalid_request_error","code":"invalid_prompt"}}`,
			400, "invalid_prompt", "", "Invalid prompt: your prompt was flagged."},
		{"router moderation", `{"error":{"code":403,"message":"Flagged","metadata":{"reasons":["violence"],"provider_name":"x"}}}`,
			403, "content_filter", `{"reasons":["violence"],"provider_name":"x"}`, "Flagged"},
		{"with status 200", `{"error":{"message":"Blocked.","code":"content_filter"}}`, 200, "content_filter", "", "Blocked."},
		{"invalid prompt", `{"error":{"message":"Invalid prompt: the list is empty.","type":"invalid_request_error","code":"invalid_prompt"}}`, 400, "", "", ""},
		{"invalid value", `{"error":{"message":"content_filter is not known.","type":"invalid_request_error","code":"invalid_value"}}`, 400, "", "", ""},
	}
	for _, tt := range tests {
		clients, asked := bothClients(t, tt.status, "application/json", tt.body)
		for name, c := range clients {
			t.Run(tt.name+", "+name, func(t *testing.T) {
				half := 0.5
				req := simpleRequest("m", "q")
				req.Temperature = &half
				*asked = 0
				a, err := upstream.Collect(t.Context(), c, req)
				if (err == nil) != (tt.word != "") || *asked != 1 {
					t.Fatalf("%v after %d requests", err, *asked)
				}
				if err != nil {
					return
				}
				want := upstream.Stop{Reason: content.StopSafety, Format: a.Stop.Format, RawReason: tt.word, Details: tt.details, Message: tt.text}
				if diff := cmp.Diff(want, a.Stop); diff != "" || len(a.Parts) > 0 || a.Stop.Format == "" {
					t.Errorf("%d parts; the end (-want +got):\n%s", len(a.Parts), diff)
				}
				checkFiltered(t, c, tt.text)
			})
		}
	}
}

// checkFiltered sends requests through both handlers, streamed and not.
func checkFiltered(t *testing.T, c upstream.Upstream, text string) {
	t.Helper()
	for _, stream := range []bool{false, true} {
		body, path, verb := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"}]`, "/v1beta/models/m:", "generateContent"
		if stream {
			body, verb = body+`,"stream":true`, "streamGenerateContent?alt=sse"
		}
		w := post(t, c, "/v1/messages", body+"}")
		got := w.Body.String()
		if w.Code != 200 || !strings.Contains(got, `"stop_reason":"refusal"`) || !strings.Contains(got, `"explanation":"`+text+`"`) || strings.Contains(got, `"error"`) {
			t.Errorf("Messages, stream %v: %d %s", stream, w.Code, got)
		}
		w = post(t, c, path+verb, `{"contents":[{"role":"user","parts":[{"text":"q"}]}]}`)
		got = strings.TrimPrefix(w.Body.String(), "data: ")
		if end := gjson.Get(got, "candidates.0.finishReason").Str; w.Code != 200 || end != "SAFETY" || gjson.Get(got, "candidates.0.finishMessage").Str != text {
			t.Errorf("generateContent, stream %v: %d %s", stream, w.Code, got)
		}
	}
}

// TestFilteredStream checks that a response that a filter stops keeps its earlier
// content.
func TestFilteredStream(t *testing.T) {
	streams := map[string]string{
		"chat": `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"So far"}}]}` + "\n\n" +
			`data: {"error":{"message":"Stopped.","code":"content_filter"}}` + "\n\n",
		"responses": `data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"So far"}` + "\n\n" +
			`data: {"type":"response.failed","response":{"status":"failed","error":{"code":"misalignment_policy_violation","message":"Stopped."}}}` + "\n\n",
	}
	for name, stream := range streams {
		clients, _ := bothClients(t, 200, "text/event-stream", stream)
		for _, streamed := range []bool{false, true} {
			req := simpleRequest("m", "q")
			req.Stream = streamed
			a, err := upstream.Collect(t.Context(), clients[name], req)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if streamed {
				if diff := cmp.Diff([]content.Part{&content.Text{Text: "So far"}}, a.Parts); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			if a.Stop.Reason != content.StopSafety || a.Stop.Message != "Stopped." {
				t.Errorf("%s: ended with %+v", name, a.Stop)
			}
			w := post(t, clients[name], "/v1/messages", `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"q"}]}`)
			got := w.Body.String()
			stop, end := strings.Index(got, "content_block_stop"), strings.Index(got, `"stop_reason":"refusal"`)
			if w.Code != 200 || !strings.Contains(got, "So far") || stop < 0 || end < stop || !strings.Contains(got, "message_stop") {
				t.Errorf("%s: %d %s", name, w.Code, got)
			}
		}
	}
}
