package anthropic_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// TestSteppedDown checks that a value that the server refuses is replaced and remembered for other
// formats' clients, and that a client of the format gets the error. The error of the effort is
// recorded.
func TestSteppedDown(t *testing.T) {
	var bodies []string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		w.Header().Set("Content-Type", "application/json")
		reply := `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
		refuse := func(text string) {
			w.WriteHeader(http.StatusBadRequest)
			reply = `{"type":"error","error":{"type":"invalid_request_error","message":"` + text + `"}}`
		}
		switch body := string(b); {
		case strings.Contains(body, `"xhigh"`):
			refuse("This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.")
		case strings.Contains(body, `"max_tokens":90000`):
			refuse("max_tokens: 90000 > 64000, which is the maximum allowed number of output tokens for claude-opus-9")
		}
		_, _ = io.WriteString(w, reply)
	}))
	defer ts.Close()
	c, err := anthropic.New(&anthropic.Options{BaseURL: ts.URL, HTTPClient: ts.Client()})
	if err != nil {
		t.Fatal(err)
	}
	limit := int64(90000)
	req := &upstream.Request{Model: "claude-opus-9", MaxTokens: &limit, Thinking: upstream.Thinking{Effort: "xhigh"},
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "q"}}}}}
	for round, want := range []int{3, 4} {
		reply, err := upstream.Collect(t.Context(), c, req)
		if err != nil {
			t.Fatal(err)
		}
		var lost []string
		for _, l := range reply.Losses {
			lost = append(lost, l.Path)
		}
		last := bodies[len(bodies)-1]
		if diff := cmp.Diff([]string{"thinking.effort", "max_tokens"}, lost); round == 0 && diff != "" {
			t.Errorf("losses (-want +got):\n%s", diff)
		}
		if len(lost) != 2 || len(bodies) != want || !strings.Contains(last, `"effort":"high"`) || !strings.Contains(last, `"max_tokens":64000`) {
			t.Errorf("round %d: %d requests, losses %v, sent %s", round, len(bodies), lost, last)
		}
	}
	own := req.Clone()
	own.Header = []upstream.HeaderField{{Name: "Anthropic-Version", Value: "2023-06-01"}}
	if _, err := upstream.Collect(t.Context(), c, own); err == nil || len(bodies) != 5 {
		t.Errorf("a client of the format: %v after %d requests", err, len(bodies))
	}
}
