package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire"
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// post sends a request of Messages.
func post(t *testing.T, up upstream.Upstream, body string) (status int, response string) {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(body))
	r.Header.Set("Anthropic-Version", "2023-06-01")
	polywire.NewHandler(up, nil).ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		name, messages string
		status         int
		want           string
	}{
		{"address", `[{"role":"user","content":"I am ada@example.com."}]`, 200, "I am [address]."},
		{"escaped", `[{"role":"user","content":"I am ada\u0040example.com."}]`, 200, "I am [address]."},
		{"forbidden", `[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":[{"type":"text","text":"FORBIDDEN"}]}]`, 400, "messages.2.content.0: the content policy"},
		{"in arguments", `[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":["forbidden"]}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"b"}]}]`, 400, "messages.1.content.0.input.a.0: "},
		{"file", `[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjQ="}}]}]`, 400, "messages.0.content.0.source: this service does not accept files"},
	} {
		status, got := post(t, guard(echo.New(), check), `{"model":"demo","max_tokens":99,"messages":`+tt.messages+`}`)
		if status != tt.status || !strings.Contains(got, tt.want) || strings.Contains(got, "ada@") {
			t.Errorf("%s: %d %s, want %d with %q", tt.name, status, got, tt.status, tt.want)
		}
	}
}

func TestResponses(t *testing.T) {
	model := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		for _, delta := range []string{"Write to ada@exa", "mple.com. ", "Then the forb", "idden word. ", "End."} {
			if err := w.Text(delta); err != nil {
				return err
			}
		}
		return nil
	})
	_, got := post(t, guard(model, check), `{"model":"demo","max_tokens":99,"stream":true,"messages":[{"role":"user","content":"a"}]}`)
	if !strings.Contains(got, `"text":"Write to [address]. "`) || !strings.Contains(got, "event: error") || strings.Contains(got, "forb") || strings.Contains(got, "message_stop") {
		t.Errorf("got %s", got)
	}
	response, err := upstream.Collect(t.Context(), guard(upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Part(&content.ToolUse{Name: "send", Input: `{"to":"ada@example.com"}`})
	}), check), &upstream.Request{})
	if err != nil || response.Parts[0].(*content.ToolUse).Input != `{"to":"[address]"}` {
		t.Errorf("got %v, %v", response.Parts, err)
	}
}

func TestUpstream(t *testing.T) {
	upstreamtest.Run(t, guard(echo.New(), check), &upstreamtest.Options{Model: "demo", Deterministic: true})
}
