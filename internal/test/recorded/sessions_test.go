package recorded

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A session is a session of a coding agent.
type session struct {
	id, attribution, question string
}

// sessions differ as two sessions of Claude Code 2.1 do.
var sessions = []session{
	{"b55682d6-5eea-4793-98bb-f1fe50d518ab", "cc_version=2.1.197.90a; cc_entrypoint=cli;", "Which files are there?"},
	{"be5921b9-7c1c-4ef4-9d14-0c1f0d0f5e1b", "cc_version=2.1.197.683; cc_entrypoint=cli;", "What does main.go do?"},
}

const (
	identityText = "You are Claude Code, Anthropic's official CLI for Claude."
	guideText    = "\nYou are an interactive agent that helps users with software engineering tasks."
)

// request returns the request with a number of responses before it, as the agent sends it:
// digests of the session and of the request are in the first block of the system prompt, and
// the last mark moves with the conversation.
func (s *session) request(t *testing.T, responses int) *upstream.Request {
	t.Helper()
	mark := map[string]any{"type": "ephemeral"}
	block := func(text string) map[string]any { return map[string]any{"type": "text", "text": text} }
	marked := func(b map[string]any) map[string]any {
		b["cache_control"] = mark
		return b
	}
	user := []map[string]any{block("<system-reminder>\nThe date is 2026-11-23.\n</system-reminder>\n"), block(s.question)}
	turns := []map[string]any{{"role": "user", "content": user}}
	last := user[1]
	for i := range responses {
		id := fmt.Sprintf("toolu_%s%02d", strings.ReplaceAll(s.id, "-", "")[:20], i)
		last = map[string]any{"type": "tool_result", "tool_use_id": id, "content": fmt.Sprintf("main.go %d", i)}
		turns = append(turns,
			map[string]any{"role": "assistant", "content": []map[string]any{block("I look."), {"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": "ls"}}}},
			map[string]any{"role": "user", "content": []map[string]any{last}})
	}
	marked(last)
	body, err := json.Marshal(map[string]any{
		"model": "claude-sonnet-4-5", "max_tokens": 32000, "stream": true, "temperature": 1,
		"system": []map[string]any{
			block(fmt.Sprintf("x-anthropic-billing-header: %s cch=%05x;", s.attribution, 4711*(responses+1))),
			marked(block(identityText)), marked(block(guideText)),
		},
		"messages": turns,
		"tools": []map[string]any{{
			"name": "Bash", "description": "Runs a command.",
			"input_schema": map[string]any{"type": "object", "properties": map[string]any{"command": map[string]any{"type": "string"}}, "required": []string{"command"}},
		}},
		"metadata": map[string]any{"user_id": fmt.Sprintf(`{"device_id":"c5dd1a2f","account_uuid":"","session_id":%q}`, s.id)},
	})
	if err != nil {
		t.Fatal(err)
	}
	n, _, err := messages.DecodeRequest(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	n.Resolver = new(host)
	return n
}

// TestSessions checks that the prompts of an agent's session continue each other over other
// formats, and that its sessions share the tools and the system text.
func TestSessions(t *testing.T) {
	for _, d := range destinations {
		if d.format == formatMessages {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			up, err := d.make(&http.Client{Transport: new(capture)})
			if err != nil {
				t.Fatal(err)
			}
			var first []*upstream.Request
			var keys []string
			for i := range sessions {
				s := &sessions[i]
				list := []*upstream.Request{s.request(t, 0), s.request(t, 1), s.request(t, 2)}
				if err := samePrefixes(d, list); err != nil {
					t.Error(err)
				}
				n := list[0].WithModel(d.model)
				e, err := upstream.EncodeRequest(t.Context(), up, n)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(e.Document, "billing") {
					t.Error("the attribution line was sent")
				}
				first, keys = append(first, n), append(keys, stringAt(parseJSON(e.Document), "prompt_cache_key"))
			}
			diff, err := upstream.CacheBreak(t.Context(), up, first[0], first[1])
			if err != nil || diff.Path != "messages.0.content.1" {
				t.Errorf("the sessions share a prompt up to %q, %v; want up to their questions", diff.Path, err)
			}
			if keys[0] != "" && keys[0] == keys[1] {
				t.Error("two sessions have one key")
			}
		})
	}
}

// TestKeys checks which destinations get a key of the conversation.
func TestKeys(t *testing.T) {
	for _, d := range destinations {
		up, err := d.make(&http.Client{Transport: new(capture)})
		if err != nil {
			t.Fatal(err)
		}
		e, err := upstream.EncodeRequest(t.Context(), up, sessions[0].request(t, 0).WithModel(d.model))
		if err != nil {
			t.Fatal(err)
		}
		key := stringAt(parseJSON(e.Document), "prompt_cache_key")
		want := slices.Contains([]string{"chat of OpenAI", "chat of OpenAI, thinking", "chat of Mistral", "responses of OpenAI", "responses of OpenAI, cache marks"}, d.name)
		if (key != "") != want || strings.Contains(key, "-") || len(key) > 64 {
			t.Errorf("%s: key %q, want one: %v", d.name, key, want)
		}
	}
}
