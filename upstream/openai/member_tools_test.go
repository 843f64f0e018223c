package openai_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/gemini"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// TestMemberTools checks that the web search of a Chat Completions request becomes the tool of each
// vendor, with its settings as far as that has them.
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
			[]string{"degraded extra.web_search_options", "degraded extra.web_search_options"}},
		{"generateContent", "gemini-3-pro-preview", search, google, `[{"googleSearch":{}}]`,
			[]string{"degraded extra.web_search_options", "degraded extra.web_search_options"}},
		{"Responses", "gpt-5.2", search, responses,
			`[{"type":"web_search","search_context_size":"low","user_location":{"type":"approximate","city":"Oslo","country":"NO"}}]`, nil},
		{"without settings", "gpt-5.2", `"web_search_options":{}`, responses, `[{"type":"web_search"}]`, nil},
		{"null", "gpt-5.2", `"web_search_options":null`, responses, ``, nil},
		{"beside a function", "gemini-3-pro-preview", `"web_search_options":{},"tools":[{"type":"function","function":{"name":"f"}}]`, google,
			`[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}}]`, []string{"degraded extra.web_search_options"}},
		{"beside a function, which the model rejects", "gemini-2.5-pro", `"web_search_options":{},"tools":[{"type":"function","function":{"name":"f"}}]`, google,
			`[{"functionDeclarations":[{"name":"f"}]}]`, []string{"dropped extra.web_search_options"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, _, err := chatcompletions.DecodeRequest([]byte(`{"model":"`+tt.model+`","max_completion_tokens":99,"messages":[{"role":"user","content":"a"}],`+tt.members+`}`), nil)
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
