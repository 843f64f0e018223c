package openai_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/upstream/openai"
)

// TestLogprobs checks that a generateContent client receives the log probabilities that
// it asks for.
func TestLogprobs(t *testing.T) {
	const (
		hi      = `{"token":"Hi","logprob":-0.5,"bytes":[72,105],"top_logprobs":[{"token":"Hi","logprob":-0.5,"bytes":[72,105]},{"token":"Ho","logprob":-2,"bytes":null}]}`
		dot     = `{"token":".","logprob":-0.25,"bytes":[46],"top_logprobs":[]}`
		tail    = `"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`
		whole   = `{"id":"c","object":"chat.completion","model":"gpt-4.1","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"logprobs":{"content":[` + hi + `,` + dot + `],"refusal":null},` + tail
		chunk   = `{"id":"c","object":"chat.completion.chunk","model":"gpt-4.1","choices":[{"index":0,"delta":`
		stream  = "data: " + chunk + `{"content":"Hi"},"logprobs":{"content":[` + hi + `],"refusal":null},"finish_reason":null}]}` + "\n\ndata: " + chunk + `{"content":"."},"logprobs":{"content":[` + dot + `],"refusal":null},"finish_reason":null}]}` + "\n\ndata: " + chunk + `{},"logprobs":null,` + tail + "\n\ndata: [DONE]\n\n"
		gotHi   = `{"token":"Hi","logProbability":-0.5}`
		gotDot  = `{"token":".","logProbability":-0.25}`
		topHi   = `{"candidates":[` + gotHi + `,{"token":"Ho","logProbability":-2}]}`
		average = `"avgLogprobs":-0.375`
		refusal = `{"error":{"message":"Unsupported parameter: 'logprobs' is not supported with this model.","type":"invalid_request_error","param":"logprobs","code":"unsupported_parameter"}}`
		asks    = `"generationConfig":{"responseLogprobs":true,"logprobs":2},`
		lost    = "dropped generation_config.response_logprobs"
	)
	tests := []struct {
		name, path, model, config string
		refuses                   bool
		sent, want                []string // parts of the last request and of the response
		never                     string   // in the response and its headers
	}{
		{name: "whole", path: ":generateContent", model: "gpt-4.1", config: asks, sent: []string{`"logprobs":true`, `"top_logprobs":2`},
			want: []string{`"logprobsResult":{"topCandidates":[` + topHi + `,{"candidates":[]}],"chosenCandidates":[` + gotHi + `,` + gotDot + `]}`, average}, never: "response_logprobs"},
		{name: "streamed", path: ":streamGenerateContent?alt=sse", model: "gpt-4.1", config: asks, sent: []string{`"logprobs":true`, `"top_logprobs":2`},
			want: []string{`"logprobsResult":{"topCandidates":[` + topHi + `],"chosenCandidates":[` + gotHi + `]}`, `"logprobsResult":{"chosenCandidates":[` + gotDot + `]}`, average}, never: "response_logprobs"},
		{name: "without other members", path: ":generateContent", model: "gpt-4.1", config: `"generationConfig":{"responseLogprobs":true},`, sent: []string{`"logprobs":true}`},
			want: []string{`"chosenCandidates":[` + gotHi + `,` + gotDot + `]`}, never: "response_logprobs"},
		{name: "not requested", path: ":generateContent", model: "gpt-4.1", never: "ogprobs"},
		{name: "model that thinks", path: ":generateContent", model: "o3-mini", config: asks, want: []string{lost + ", generation_config.logprobs"}, never: "logprobsResult"},
		{name: "server that rejects them", path: ":generateContent", model: "gpt-4.1", config: asks, refuses: true, want: []string{lost}, never: "logprobsResult"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var last string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				last = string(b)
				w.Header().Set("Content-Type", "application/json")
				switch {
				case tt.refuses && strings.Contains(last, "logprobs"):
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, refusal)
				case strings.Contains(last, `"stream":true`):
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, stream)
				default:
					_, _ = io.WriteString(w, whole)
				}
			}))
			defer s.Close()
			c, err := openai.New(&openai.Options{BaseURL: s.URL + "/v1"})
			if err != nil {
				t.Fatal(err)
			}
			res := post(t, c, "/v1beta/models/"+tt.model+tt.path, `{`+tt.config+`"contents":[{"role":"user","parts":[{"text":"Hello"}]}]}`)
			got := strings.Join(res.Header()["Polywire-Loss"], "\n") + "\n" + res.Body.String()
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("%s is missing in\n%s", want, got)
				}
			}
			for _, want := range tt.sent {
				if !strings.Contains(last, want) {
					t.Errorf("%s was not sent: %s", want, last)
				}
			}
			if len(tt.sent) == 0 && strings.Contains(last, "logprobs") {
				t.Errorf("sent: %s", last)
			}
			if tt.never != "" && strings.Contains(strings.Replace(got, lost, "", 1), tt.never) {
				t.Errorf("%s is in\n%s", tt.never, got)
			}
		})
	}
}
