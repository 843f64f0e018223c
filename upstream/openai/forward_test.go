package openai

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// A client of Chat Completions receives the chunks of OpenAI's server byte for byte, with the model
// that it requested. The chunk with the usage is for the report, unless the client asks for it.
func TestChunksPass(t *testing.T) {
	const (
		head   = `data: {"id":"c1","object":"chat.completion.chunk","created":9,"model":"`
		text   = `","service_tier":"default","usage":null,"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi","refusal":null},"logprobs":null,"finish_reason":null}],"obfuscation":"a"}` + "\n\n"
		finish = `","service_tier":"default","usage":null,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"obfuscation":"b"}` + "\n\n"
		usage  = `","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}}` + "\n\n"
		done   = "data: [DONE]\n\n"
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		const model = "m-2026"
		_, _ = io.WriteString(w, head+model+text+head+model+finish+head+model+usage+done)
	}))
	defer server.Close()
	const whole = `{ "id":"c1","object":"chat.completion","model": "%","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"x":1,"usage":{"prompt_tokens":4,"completion_tokens":2}}`
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, strings.Replace(whole, "%", "m-2026", 1))
	}))
	defer plain.Close()
	for _, tt := range []struct {
		url  string
		body string
		want string
	}{
		{plain.URL, `"n":1`, strings.Replace(whole, "%", "m", 1)},
		{server.URL, `"stream":true,"stream_options":{"include_usage":true}`, head + "m" + text + head + "m" + finish + head + "m" + usage + done},
		{server.URL, `"stream":true,"stream_options":{}`, head + "m" + text + head + "m" + finish + done},
	} {
		var report *upstream.Report
		up, err := New(&Options{BaseURL: tt.url + "/v1", Key: "k", Dialect: Dialect{Kind: ServerOpenAI}})
		if err != nil {
			t.Fatal(err)
		}
		h := chatcompletions.NewHandler(up, &chatcompletions.Options{HandlerOptions: upstream.HandlerOptions{
			OnDone: func(_ context.Context, r *upstream.Report) { report = r }}})
		r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"Hi"}],`+tt.body+`}`))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if diff := cmp.Diff(tt.want, w.Body.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.body, diff)
		}
		if report == nil || report.Usage.Prompt() != 4 || report.Usage.Completion() != 2 {
			t.Errorf("report = %+v", report)
		}
	}
}

// Chunks of several choices are encoded anew, with their log probabilities.
func TestLogprobsOfChoices(t *testing.T) {
	const probabilities = `{"content":[{"token":"%","logprob":-0.5,"bytes":null,"top_logprobs":[]}],"refusal":null}`
	var body strings.Builder
	for i, text := range []string{"A", "B"} {
		body.WriteString(`data: {"id":"c1","object":"chat.completion.chunk","created":9,"model":"m","choices":[{"index":` + string('0'+rune(i)) +
			`,"delta":{"role":"assistant","content":"` + text + `"},"logprobs":` + strings.Replace(probabilities, "%", text, 1) + `,"finish_reason":"stop"}]}` + "\n\n")
	}
	body.WriteString("data: [DONE]\n\n")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body.String())
	}))
	defer server.Close()
	up, err := New(&Options{BaseURL: server.URL + "/v1", Key: "k", Dialect: Dialect{Kind: ServerOpenAI}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(
		`{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,"n":2,"logprobs":true}`))
	w := httptest.NewRecorder()
	chatcompletions.NewHandler(up, nil).ServeHTTP(w, r)
	for _, text := range []string{"A", "B"} {
		if want := strings.Replace(probabilities, "%", text, 1); !strings.Contains(w.Body.String(), want) {
			t.Errorf("the response has no %s:\n%s", want, w.Body)
		}
	}
}
