package openai

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// TestCacheMarks checks the forms of cache marks in both formats.
func TestCacheMarks(t *testing.T) {
	const openRouter = "https://openrouter.ai/api/v1"
	marked := func(ttl string) *content.Text { return &content.Text{Text: "s", Cache: &content.Cache{TTL: ttl}} }
	system := func(p ...content.Part) func(*upstream.Request) {
		return func(n *upstream.Request) { n.System = p }
	}
	result := func(cache *content.Cache, parts ...content.Part) func(*upstream.Request) {
		return withTurns(q, turnOf(content.RoleAssistant, useOf("c1", "f", "{}")), turnOf(content.RoleUser, &content.ToolResult{ID: "c1", Parts: parts, Cache: cache}))
	}
	automatic := func(json string, turns ...content.Turn) func(*upstream.Request) {
		return func(n *upstream.Request) {
			n.Turns, n.Extra = turns, &content.Extra{Format: "messages", JSON: `{"cache_control":` + json + `}`}
		}
	}
	files := func(cache *content.Cache) func(*upstream.Request) {
		return withTurns(turnOf(content.RoleUser, textOf("q"), &content.Image{Source: png.Source, Cache: cache}))
	}
	const image = `"image_url":"data:image/png;base64,iVBORw0KGgo="`
	mark := new(content.Cache)
	for _, tt := range []struct {
		name            string
		base, model     string
		change          func(*upstream.Request)
		at              string // of what is checked
		chat, responses string
		losses          []content.Loss
	}{
		{"no lifetime", "", "gpt-5.6", system(marked("")), "0.content.0", `{"type":"text","text":"s","prompt_cache_breakpoint":{"mode":"explicit"}}`,
			`{"type":"input_text","text":"s","prompt_cache_breakpoint":{"mode":"explicit"}}`, nil},
		{"shorter lifetime", "", "gpt-5.6", system(marked("5m")), "0.content.0.prompt_cache_breakpoint", `{"mode":"explicit"}`, `{"mode":"explicit"}`,
			[]content.Loss{lower.CacheTime.At("system.0.cache")}},
		{"longer lifetime", "", "gpt-6.1-terra", system(marked("1h")), "0.content.0.prompt_cache_breakpoint", `{"mode":"explicit","ttl":"12h"}`, `{"mode":"explicit","ttl":"12h"}`,
			[]content.Loss{lower.CacheTime.At("system.0.cache")}},
		{"own lifetime", "", "gpt-5.6", system(marked("30m")), "0.content.0.prompt_cache_breakpoint", `{"mode":"explicit","ttl":"30m"}`, `{"mode":"explicit","ttl":"30m"}`, nil},
		{"unknown lifetime", "", "gpt-5.6", system(marked("2d")), "0.content.0.prompt_cache_breakpoint", `{"mode":"explicit"}`, `{"mode":"explicit"}`,
			[]content.Loss{lower.CacheTime.At("system.0.cache")}},
		{"model without marks", "", "gpt-5.2", system(marked("1h")), "0.content.0.prompt_cache_breakpoint", "", "", []content.Loss{lower.CacheMark.At("system.0.cache")}},

		{"result", "", "gpt-5.6", result(mark, textOf("r")), "2.content", `[{"type":"text","text":"r","prompt_cache_breakpoint":{"mode":"explicit"}}]`, "", nil},
		{"result without a mark", "", "gpt-5.6", result(nil, textOf("r")), "2.content", `[{"type":"text","text":"r"}]`, "", nil},
		{"result of texts, the first with a mark", "", "gpt-5.6", result(nil, marked(""), textOf("r")), "2.content", `[{"type":"text","text":"s\n\nr","prompt_cache_breakpoint":{"mode":"explicit"}}]`, "",
			[]content.Loss{lower.ResultParts.At("turns.2.parts.0")}},
		{"result in Responses", "", "gpt-5.6", result(mark, textOf("r")), "2.output", "", `[{"type":"input_text","text":"r","prompt_cache_breakpoint":{"mode":"explicit"}}]`, nil},
		{"empty result", "", "gpt-5.6", result(mark), "2.content", `""`, "", []content.Loss{lower.EmptyMark.At("turns.2.parts.0.cache")}},
		{"file", "", "gpt-5.6", files(mark), "0.content.1", `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="},"prompt_cache_breakpoint":{"mode":"explicit"}}`,
			`{"type":"input_image",` + image + `,"prompt_cache_breakpoint":{"mode":"explicit"}}`, nil},

		{"at the end", "", "gpt-5.6", automatic(`{"type":"ephemeral"}`, q, turnOf(content.RoleAssistant, textOf("a")), turnOf(content.RoleUser, textOf("b"), textOf("c"))), "2.content.1",
			`{"type":"text","text":"c","prompt_cache_breakpoint":{"mode":"explicit"}}`, `{"type":"input_text","text":"c","prompt_cache_breakpoint":{"mode":"explicit"}}`, nil},
		{"at the end, with a lifetime", "", "gpt-5.6", automatic(`{"type":"ephemeral","ttl":"1h"}`, q), "0.content.0.prompt_cache_breakpoint",
			`{"mode":"explicit","ttl":"12h"}`, `{"mode":"explicit","ttl":"12h"}`, []content.Loss{lower.CacheTime.At("extra.cache_control")}},
		{"at the end, where a mark is", "", "gpt-5.6", automatic(`{"type":"ephemeral","ttl":"1h"}`, turnOf(content.RoleUser, marked("30m"))), "0.content.0.prompt_cache_breakpoint",
			`{"mode":"explicit","ttl":"30m"}`, `{"mode":"explicit","ttl":"30m"}`, nil},
		{"at the end, behind a result", "", "gpt-5.6", automatic(`{"type":"ephemeral"}`, q, turnOf(content.RoleAssistant, useOf("c1", "f", "{}")), turnOf(content.RoleUser, resultOf("c1", textOf("r")))), "2.content.0",
			`{"type":"text","text":"r","prompt_cache_breakpoint":{"mode":"explicit"}}`, "", nil},
		{"at the end, empty result", "", "gpt-5.6", automatic(`{"type":"ephemeral"}`, q, turnOf(content.RoleAssistant, useOf("c1", "f", "{}")), turnOf(content.RoleUser, resultOf("c1"))), "2.content",
			`""`, "", []content.Loss{foreign.MembersLoss.At("extra.cache_control")}},
		{"no mark at the end", "", "gpt-5.6", automatic(`null`, q), "0.content", `"q"`, `"q"`, []content.Loss{foreign.MembersLoss.At("extra.cache_control")}},
		{"at the end, model without marks", "", "gpt-5.2", automatic(`{"type":"ephemeral"}`, q), "0.content", `"q"`, `"q"`, []content.Loss{foreign.MembersLoss.At("extra.cache_control")}},
		{"at the end, cache_control", openRouter, "m", automatic(`{"type":"ephemeral","ttl":"5m"}`, q), "0.content", `[{"type":"text","text":"q","cache_control":{"type":"ephemeral","ttl":"5m"}}]`, "", nil},

		{"cache_control", openRouter, "m", system(marked("")), "0.content", `[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}]`, "", nil},
		{"cache_control with lifetime", openRouter, "m", system(marked("1h")), "0.content.0.cache_control", `{"type":"ephemeral","ttl":"1h"}`, "", nil},
		{"cache_control of a result", openRouter, "m", result(mark, textOf("r")), "2.content", `[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}}]`, "", nil},
		{"cache_control of a file", openRouter, "m", files(mark), "0.content.1", `{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}`, "",
			[]content.Loss{lower.CacheMark.At("turns.0.parts.1.cache")}},
		{"texts without marks stay apart", openRouter, "m", system(textOf("a"), textOf("b")), "0.content", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "", nil},
		{"other server", "http://localhost/v1", "m", system(marked("")), "0.content", `"s"`, "", []content.Loss{lower.CacheMark.At("system.0.cache")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			chat, responses := bothClients(t, Options{BaseURL: tt.base})
			n := &upstream.Request{Model: tt.model, Turns: []content.Turn{q}, Tools: []content.Tool{plainTool}}
			tt.change(n)
			if p := chat.plan(n); tt.chat != "" || tt.responses == "" {
				if diff := cmp.Diff(tt.chat, gjson.Get(documentOf(t, p), "messages."+tt.at).Raw); diff != "" {
					t.Errorf("Chat Completions (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.losses, withoutThinking(p.Losses)); diff != "" {
					t.Errorf("losses in Chat Completions (-want +got):\n%s", diff)
				}
			}
			if tt.responses == "" {
				return
			}
			p := responses.plan(n)
			if diff := cmp.Diff(tt.responses, gjson.Get(documentOf(t, p), "input."+tt.at).Raw); diff != "" {
				t.Errorf("Responses (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.losses, p.Losses); diff != "" {
				t.Errorf("losses in Responses (-want +got):\n%s", diff)
			}
		})
	}
}

// withoutThinking returns losses without those of thinking, which some models cannot combine
// with tools.
func withoutThinking(losses []content.Loss) (list []content.Loss) {
	for _, l := range lossplaces.Of(losses) {
		if l.Path != "thinking" {
			list = append(list, l)
		}
	}
	return list
}

// TestKeepAttribution checks the line of a coding agent before its system prompt.
func TestKeepAttribution(t *testing.T) {
	const line = "x-anthropic-billing-header: cc_version=2.1.197.90a; cc_entrypoint=cli;"
	for _, base := range []string{"", "http://localhost/v1", "https://api.mistral.ai/v1"} {
		for _, keep := range []bool{false, true} {
			n := &upstream.Request{Model: "gpt-5.2", System: partsOf(textOf(line)), Turns: []content.Turn{q}}
			chat, responses := bothClients(t, Options{BaseURL: base, KeepAttribution: keep})
			for _, p := range []*plan{chat.plan(n), responses.plan(n)} {
				system := gjson.Get(documentOf(t, p), `messages.#(role!="user").content`).Str + gjson.Get(documentOf(t, p), "instructions").Str
				want, losses := "", []content.Loss{lower.Attribution.At("system.0")}
				if keep {
					want, losses = line, nil
				}
				if diff := cmp.Diff(losses, p.Losses); diff != "" || system != want {
					t.Errorf("%q, keep %v: system text %q, losses (-want +got):\n%s", base, keep, system, diff)
				}
			}
		}
	}
}

// TestToolMark checks the cache mark of a tool, which OpenRouter accepts beside the function.
func TestToolMark(t *testing.T) {
	for base, want := range map[string]string{"https://openrouter.ai/api/v1": `{"type":"ephemeral","ttl":"1h"}`, "http://localhost/v1": ""} {
		chat, _ := bothClients(t, Options{BaseURL: base})
		tool := plainTool
		tool.Cache = &content.Cache{TTL: "1h"}
		p := chat.plan(&upstream.Request{Model: "m", Turns: []content.Turn{q}, Tools: []content.Tool{tool}})
		if got := gjson.Get(documentOf(t, p), "tools.0.cache_control").Raw; got != want {
			t.Errorf("%s: got %s, want %s", base, got, want)
		}
		if lost := lossplaces.Has(p.Losses, lower.ToolCache.At("tools.0.cache")); lost != (want == "") {
			t.Errorf("%s: losses %v", base, p.Losses)
		}
	}
}
