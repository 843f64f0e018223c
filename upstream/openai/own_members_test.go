package openai_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
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

// OpenRouter marks the end of the prompt for Claude, as the member of the same name in Messages does.
func TestAutomaticCacheMark(t *testing.T) {
	claude, err := anthropic.New(&anthropic.Options{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	n, _, err := chatcompletions.DecodeRequest(`{"model":"claude-sonnet-5","max_tokens":9,"cache_control":{"type":"ephemeral","ttl":"1h"},"messages":[{"role":"user","content":"hi"}]}`, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := upstream.EncodeRequest(t.Context(), claude, n)
	if err != nil || len(got.Losses) > 0 {
		t.Fatal(err, got.Losses)
	}
	if diff := cmp.Diff(`[{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]`, gjson.Get(got.Document, "messages.0.content").Raw); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
