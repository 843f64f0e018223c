package openai_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// TestMemberTools checks that members of requests become tools of a vendor: the web search of Chat
// Completions, with its settings as far as the vendor has them, and the MCP servers of Messages.
func TestMemberTools(t *testing.T) {
	const search = `"web_search_options":{"search_context_size":"low","user_location":{"type":"approximate","approximate":{"city":"Oslo","country":"NO"}}}`
	claude, err := anthropic.New(&anthropic.Options{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	google, err := gemini.New(&gemini.Options{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	responses, err := openai.NewResponses(&openai.Options{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, model, members string
		to                   upstream.Upstream
		want                 string // tools
		losses               []string
	}{
		{"Messages", "claude-opus-4-8", search, claude,
			`[{"type":"web_search_20250305","name":"web_search","user_location":{"type":"approximate","city":"Oslo","country":"NO"}}]`,
			[]string{"degraded extra.web_search_options", "degraded extra.web_search_options.search_context_size"}},
		{"generateContent", "gemini-3-pro-preview", search, google, `[{"googleSearch":{}}]`,
			[]string{"degraded extra.web_search_options", "degraded extra.web_search_options.search_context_size"}},
		{"Responses", "gpt-5.2", search, responses,
			`[{"type":"web_search","search_context_size":"low","user_location":{"type":"approximate","city":"Oslo","country":"NO"}}]`, nil},
		{"without settings", "gpt-5.2", `"web_search_options":{}`, responses, `[{"type":"web_search"}]`, nil},
		{"null", "gpt-5.2", `"web_search_options":null`, responses, ``, nil},
		{"beside a function", "gemini-3-pro-preview", `"web_search_options":{},"tools":[{"type":"function","function":{"name":"f"}}]`, google,
			`[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}}]`, []string{"degraded extra.web_search_options"}},
		{"beside a function, which the model rejects", "gemini-2.5-pro", `"web_search_options":{},"tools":[{"type":"function","function":{"name":"f"}}]`, google,
			`[{"functionDeclarations":[{"name":"f"}]}]`, []string{"dropped extra.web_search_options"}},
		{"MCP servers", "gpt-5.2", `"mcp_servers":[{"type":"url","name":"deepwiki","url":"https://mcp.example/mcp"},
			{"type":"url","name":"cal","url":"https://cal.example/","authorization_token":"t","tool_configuration":{"enabled":true,"allowed_tools":["free"]}},
			{"type":"url","name":"off","url":"https://off.example/","tool_configuration":{"enabled":false}}]`, responses,
			`[{"type":"mcp","server_label":"deepwiki","server_url":"https://mcp.example/mcp","require_approval":"never"},` +
				`{"type":"mcp","server_label":"cal","server_url":"https://cal.example/","authorization":"t","allowed_tools":["free"],"require_approval":"never"}]`, nil},
		{"MCP servers with a name that is not valid", "gpt-5.2", `"mcp_servers":[{"type":"url","name":"1 a","url":"https://mcp.example/"}]`, responses, ``,
			[]string{"dropped extra.mcp_servers"}},
		{"MCP servers of which tools are excluded", "gpt-5.2", `"mcp_servers":[{"type":"url","name":"cal","url":"https://cal.example/"}],
			"tools":[{"type":"mcp_toolset","mcp_server_name":"cal","configs":{"delete":{"enabled":false}}}]`, responses, ``,
			[]string{"dropped extra.mcp_servers", "dropped tools.0"}},
		{"MCP servers with toolsets", "gpt-5.2", `"mcp_servers":[{"type":"url","name":"all","url":"https://a.example/"},{"type":"url","name":"some","url":"https://b.example/"},{"type":"url","name":"none","url":"https://c.example/"}],
			"tools":[{"type":"mcp_toolset","mcp_server_name":"all"},{"type":"mcp_toolset","mcp_server_name":"some","default_config":{"enabled":false},"configs":{"list":{"enabled":true},"new":{}}},
			{"type":"mcp_toolset","mcp_server_name":"none","default_config":{"enabled":false}}]`, responses,
			`[{"type":"mcp","server_label":"all","server_url":"https://a.example/","require_approval":"never"},` +
				`{"type":"mcp","server_label":"some","server_url":"https://b.example/","allowed_tools":["list"],"require_approval":"never"}]`, nil},
		{"MCP servers whose tools are deferred", "gpt-5.2", `"mcp_servers":[{"type":"url","name":"cal","url":"https://cal.example/"}],
			"tools":[{"type":"mcp_toolset","mcp_server_name":"cal","default_config":{"defer_loading":true}}]`, responses, ``,
			[]string{"dropped extra.mcp_servers", "dropped tools.0"}},
		{"MCP servers, which the vendor does not have", "gemini-3-pro-preview", `"mcp_servers":[{"type":"url","name":"cal","url":"https://cal.example/"}]`, google, ``,
			[]string{"dropped extra.mcp_servers", "hint thinking"}}, // this model cannot turn thinking off
	} {
		t.Run(tt.name, func(t *testing.T) {
			decode := func(body []byte) (*upstream.Request, []content.Loss, error) {
				return chatcompletions.DecodeRequest(body, nil)
			}
			if strings.HasPrefix(tt.name, "MCP") {
				decode = func(body []byte) (*upstream.Request, []content.Loss, error) { return messages.DecodeRequest(body, nil) }
			}
			n, _, err := decode([]byte(`{"model":"` + tt.model + `","max_tokens":99,"messages":[{"role":"user","content":"a"}],` + tt.members + `}`))
			if err != nil {
				t.Fatal(err)
			}
			doc, err := upstream.EncodeRequest(t.Context(), tt.to, n)
			if err != nil {
				t.Fatal(err)
			}
			list, err := upstream.Preflight(t.Context(), tt.to, n)
			if err != nil {
				t.Fatal(err)
			}
			var losses []string
			for _, l := range list {
				losses = append(losses, l.Severity.String()+" "+l.Path)
			}
			slices.Sort(losses)
			if diff := cmp.Diff(tt.losses, losses); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			if got := gjson.Get(doc.Document, "tools").Raw; got != tt.want {
				t.Errorf("tools %s\nwant  %s", got, tt.want)
			}
		})
	}
}
