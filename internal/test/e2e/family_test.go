package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/upstream"
)

// families are models that accept different settings, by vendor.
var families = map[string][]string{
	toClaude: {"claude-opus-4-5", "claude-sonnet-4-5-20250929", "claude-haiku-4-5", "claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8",
		"claude-opus-5", "claude-opus-5-5", "claude-sonnet-5", "claude-sonnet-5-5", "claude-fable-5", "claude-fable-5-1", "some-local-model"},
	toGemini: {"gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite", "gemini-3-pro-preview", "gemini-3.1-pro-preview", "gemini-3.8-flash", "gemini-3.5-flash-lite", "gemma-local"},
	toChat:   {"gpt-4o", "gpt-4.1", "o3", "o4-mini", "gpt-5", "gpt-5.1", "gpt-5.2", "gpt-5.4", "gpt-5.6", "gpt-6-sol", "gpt-6.1-terra", "gpt-5.1-chat-latest", "qwen-local"},
	toResp:   {"gpt-4.1", "o3", "gpt-5", "gpt-5.1", "gpt-5.4", "gpt-5.6", "gpt-6-sol", "gpt-6-astra", "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6.2-sol", "gpt-5-pro", "qwen-local"},
}

// settings are the settings that some family rejects.
var settings = map[string][]string{
	"messages": {
		`"temperature":0.4`, `"temperature":1`, `"top_p":0.5`, `"top_k":5`, `"temperature":0.4,"top_p":0.9,"top_k":5`, `"stop_sequences":["END"]`,
		`"max_tokens":1`, `"max_tokens":40000`,
		`"thinking":{"type":"disabled"}`, `"thinking":{"type":"adaptive"}`, `"thinking":{"type":"enabled","budget_tokens":1024}`,
		`"thinking":{"type":"enabled","budget_tokens":39999},"max_tokens":40000`,
		`"thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"low"}`, `"thinking":{"type":"adaptive"},"output_config":{"effort":"xhigh"}`,
		`"thinking":{"type":"adaptive"},"output_config":{"effort":"max"}`, `"thinking":{"type":"disabled"},"output_config":{"effort":"max"}`, `"output_config":{"effort":"medium"}`,
		`"tools":[{"name":"t","input_schema":{"type":"object"}}]`,
		`"tools":[{"name":"t","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"}`,
		`"tools":[{"name":"t","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"t","disable_parallel_tool_use":true},"thinking":{"type":"adaptive"}`,
		`"tools":[{"name":"t","input_schema":{"type":"object"}}],"thinking":{"type":"enabled","budget_tokens":2048},"output_config":{"effort":"high"}`,
		`"tools":[{"name":"t","input_schema":{"type":"object"}}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}}}`,
	},
	"generatecontent": {
		`"temperature":0.4`, `"temperature":2`, `"topP":0.5`, `"topK":5`, `"temperature":1,"topP":0.95,"topK":64`, `"stopSequences":["END"]`, `"maxOutputTokens":1`, `"maxOutputTokens":60000`,
		`"seed":4,"presencePenalty":0.5,"frequencyPenalty":-0.5`, `"candidateCount":1`,
		`"thinkingConfig":{"includeThoughts":true}`, `"thinkingConfig":{"thinkingBudget":0}`, `"thinkingConfig":{"thinkingBudget":-1,"includeThoughts":true}`, `"thinkingConfig":{"thinkingBudget":512}`,
		`"thinkingConfig":{"thinkingBudget":24576},"maxOutputTokens":1000`, `"thinkingConfig":{"thinkingLevel":"MINIMAL"}`, `"thinkingConfig":{"thinkingLevel":"LOW"}`,
		`"thinkingConfig":{"thinkingLevel":"HIGH","includeThoughts":true},"temperature":1,"topP":0.95,"topK":64`,
		`"responseMimeType":"application/json"`, `"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`,
	},
}

// TestFamilies sends each setting to each family. The vendor must accept each
// request: a setting that it would reject is dropped and reported.
func TestFamilies(t *testing.T) {
	each(t, func(t *testing.T, f endpoint, b adapter) {
		if b.format == f.name {
			t.Skip("the bytes are forwarded")
		}
		up, vendor := b.start(t, vendor{})
		g := newGateway(f, up, upstream.HandlerOptions{})
		for _, model := range families[b.name] {
			for _, s := range settings[f.name] {
				for _, tools := range []bool{false, true} {
					if tools && f.name == "messages" {
						continue
					}
					body := s + "," + askedT1
					if f.name != "messages" {
						body = `"generationConfig":{` + s + `},` + askedG1
						if tools {
							body = declaredT + `,"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},` + body
						}
					}
					if a := g.ask(model, body, whole); a.Status != http.StatusOK || a.Broken != "" {
						t.Errorf("%s rejects %s (tools %v): %d %s\nsent: %s", model, s, tools, a.Status, clip(a.Body), clip(string(vendor.Last().Body)))
					}
				}
			}
		}
	})
}

// TestModels lists the vendor's models through each endpoint.
func TestModels(t *testing.T) {
	each(t, func(t *testing.T, f endpoint, b adapter) {
		up, _ := b.start(t, vendor{forbid: secrets})
		g := newGateway(f, up, upstream.HandlerOptions{})
		path, ids := "/v1/models", "data.#.id"
		if f.name != "messages" {
			path, ids = "/v1beta/models", "models.#.name"
		}
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header = f.request("m", "", whole).Header
		w := httptest.NewRecorder()
		g.handler.ServeHTTP(w, r)
		<-g.reports
		status := http.StatusOK
		if b.models == 0 { // the clouds have no list of Claude's models
			status = http.StatusNotFound
		}
		if n := len(gjson.Get(w.Body.String(), ids).Array()); w.Code != status || n != b.models {
			t.Errorf("status %d with %d models, want %d: %s", w.Code, n, b.models, clip(w.Body.String()))
		}
	})
}

// TestSwitchDuringToolCalls changes the vendor while tool calls are open. The
// new vendor must accept tool calls that it has not made.
func TestSwitchDuringToolCalls(t *testing.T) {
	each(t, switchDuringToolCalls)
	eachOpenAI(t, switchDuringToolCalls)
}

// switchDuringToolCalls sends every second turn of the clients of an endpoint to another adapter.
func switchDuringToolCalls(t *testing.T, f endpoint, first adapter) {
	for _, second := range adapters {
		if second.name == first.name {
			continue
		}
		for name, newClient := range clients() {
			c := newClient()
			if c.format() != f.name || first.format == f.name && strings.HasSuffix(name, " chat") {
				continue
			}
			if isUnsupportedSwitch(f, first, second) || isUnsupportedSwitch(f, second, first) {
				continue
			}
			t.Run(fmt.Sprintf("%s→%s", name, second.name), func(t *testing.T) {
				var gates []*gateway
				var vendors []*fake.Server
				for _, b := range []adapter{first, second} {
					up, v := b.start(t, vendor{keep: true, mixed: true})
					gates, vendors = append(gates, newGateway(f, up, upstream.HandlerOptions{})), append(vendors, v)
				}
				k := session{client: c, think: thinks(c, first), ids: true, via: func(i int) (*gateway, adapter, *fake.Server) {
					if i%2 == 0 {
						return gates[0], first, vendors[0]
					}
					return gates[1], second, vendors[1]
				}}
				k.run(t, conversation())
			})
		}
	}
}

// isUnsupportedSwitch reports whether one adapter uses the client's own format
// and the other leaves no trace in it. Then the bytes are forwarded, and the
// vendor rejects tool calls that are not its own.
func isUnsupportedSwitch(f endpoint, own, other adapter) bool {
	return own.format == f.name && other.name == toChat
}

// TestRenamed has the host respond with a model other than the requested one.
// Clients that compare the name must still return everything that the vendor
// needs.
func TestRenamed(t *testing.T) {
	for _, b := range adapters {
		for name, newClient := range clients() {
			c := newClient()
			if b.format == c.format() {
				continue
			}
			t.Run(name+"→"+b.name, func(t *testing.T) {
				t.Parallel()
				up, vendor := b.start(t, vendor{keep: true})
				g := newGateway(endpointNamed(c.format()), upstream.Edit(up, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
					return r.WithModel(b.model), nil
				}), upstream.HandlerOptions{})
				asked := b
				asked.model = "a-name-of-the-hosts-own"
				k := session{client: c, think: true, via: func(int) (*gateway, adapter, *fake.Server) { return g, asked, vendor }}
				k.run(t, conversation())
				checkThinkingNotReported(t, k.losses)
			})
		}
	}
}
