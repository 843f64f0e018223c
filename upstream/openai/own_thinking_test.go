package openai_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// A server of the format gets the members by which a client asks for thinking, and no second setting
// for the same, also after the host has changed the request. The first is recorded (Qwen), the second (OpenRouter) too.
func TestOwnThinking(t *testing.T) {
	local, err := openai.New(&openai.Options{BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ members, want string }{
		{`"enable_thinking":false`, ``},
		{`"reasoning":{"max_tokens":2000}`, ``},
		{`"thinking":{"type":"enabled"},"reasoning_effort":"high"`, `high`},
		{`"enable_thinking":false,"reasoning_effort":"high"`, `high`},
		{`"reasoning":{"effort":"low"}`, ``},
	} {
		n, _, err := chatcompletions.DecodeRequest(`{"model":"qwen3-8b","messages":[{"role":"user","content":"hi"}],`+tt.members+`}`, nil)
		if err != nil {
			t.Fatal(err)
		}
		n.System = append(n.System, &content.Text{Text: "Be brief."})
		got, err := upstream.EncodeRequest(t.Context(), local, n)
		if err != nil || len(got.Losses) > 0 {
			t.Fatal(err, got.Losses)
		}
		own, _, _ := strings.Cut(tt.members, `,"reasoning_effort"`)
		if diff := cmp.Diff(tt.want, gjson.Get(got.Document, "reasoning_effort").Str); diff != "" || !strings.Contains(got.Document, own) {
			t.Errorf("%s: %s\n(-want +got):\n%s", tt.members, got.Document, diff)
		}
	}
}
