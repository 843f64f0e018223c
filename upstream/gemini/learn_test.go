package gemini_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/gemini"
)

// TestSteppedDown checks that a setting of thinking that the server refuses is replaced, reported and
// remembered.
func TestSteppedDown(t *testing.T) {
	for _, tt := range []struct {
		name, model         string
		thinking            upstream.Thinking
		mark, refusal, want string
		path                string
	}{
		{"a level", "gemini-3.9-flash", upstream.Thinking{Effort: "minimal"}, `"MINIMAL"`,
			"Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.", `"thinkingLevel":"LOW"`, "thinking.effort"},
		{"off", "gemini-3.9-flash", upstream.Thinking{Mode: upstream.ThinkingOff}, `"MINIMAL"`,
			"Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.", `"thinkingLevel":"LOW"`, "thinking.mode"},
		{"off, for an unknown model", "m", upstream.Thinking{Mode: upstream.ThinkingOff}, `"thinkingBudget":0`,
			"Budget 0 is invalid. This model only works in thinking mode.", `{"contents":[{"role":"user","parts":[{"text":"q"}]}]}`, "thinking.mode"},
		{"a budget", "m", upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: new(int64(60000))}, `60000`,
			"The thinking budget 60000 is invalid. Please choose a value between 512 and 24576.", `"thinkingBudget":24576`, "thinking.budget"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var bodies []string
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(b))
				w.Header().Set("Content-Type", "application/json")
				if strings.Contains(string(b), tt.mark) {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, `{"error":{"code":400,"message":"`+tt.refusal+`","status":"INVALID_ARGUMENT"}}`)
					return
				}
				_, _ = io.WriteString(w, `{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]},"finishReason":"STOP"}]}`)
			}))
			defer ts.Close()
			c, err := gemini.New(&gemini.Options{BaseURL: ts.URL, HTTPClient: ts.Client()})
			if err != nil {
				t.Fatal(err)
			}
			req := &upstream.Request{Model: tt.model, Thinking: tt.thinking,
				Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "q"}}}}}
			for round, want := range []int{2, 3} {
				reply, err := upstream.Collect(t.Context(), c, req)
				if err != nil {
					t.Fatal(err)
				}
				if last := bodies[len(bodies)-1]; len(bodies) != want || !strings.Contains(last, tt.want) {
					t.Errorf("round %d: %d requests, the last %s", round, len(bodies), last)
				}
				found := false
				for _, l := range reply.Losses {
					found = found || l.Path == tt.path
				}
				if !found {
					t.Errorf("round %d: losses %v", round, reply.Losses)
				}
			}
		})
	}
}
