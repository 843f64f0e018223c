package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

// spelled is a request of generateContent with members of all kinds in snake_case.
const spelled = `{"contents":[{"role":"user","parts":[{"text":"a"},{"inline_data":{"mime_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="},"media_resolution":{"level":"media_resolution_high"}}]}],
"generation_config":{"speech_config":{"voice_config":{"prebuilt_voice_config":{"voice_name":"v"}}},"max_output_tokens":9},"labels":{"a_b":"c"},
"tools":[{"function_declarations":[{"name":"f","parameters":{"type":"object","properties":{"a_b":{"any_of":[{"type":"string","max_length":"3"},{"type":"integer"}]}}}}]},{"google_search":{"search_types":{"web_search":{}}}}]}`

// camel is the same request in camelCase.
var camel = strings.NewReplacer("inline_data", "inlineData", "mime_type", "mimeType", `"media_resolution"`, `"mediaResolution"`, "media_resolution_high", "MEDIA_RESOLUTION_HIGH",
	"generation_config", "generationConfig", "speech_config", "speechConfig", `"voice_config`, `"voiceConfig`, "prebuilt_voice_config", "prebuiltVoiceConfig", "voice_name", "voiceName",
	"max_output_tokens", "maxOutputTokens", "function_declarations", "functionDeclarations", "any_of", "anyOf", "max_length", "maxLength", "google_search", "googleSearch",
	"search_types", "searchTypes", "web_search", "webSearch").Replace(spelled)

// TestSpellings checks that both spellings of a request, however a host edits it, give the same
// document and losses for every server, and that an unedited one passes as the client wrote it.
func TestSpellings(t *testing.T) {
	other := content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "other"}}}
	edits := map[string]func(r *upstream.Request) *upstream.Request{
		"none":      func(r *upstream.Request) *upstream.Request { return r },
		"WithModel": func(r *upstream.Request) *upstream.Request { return r.WithModel("gemini-2.5-flash") },
		"Clone":     func(r *upstream.Request) *upstream.Request { return r.Clone() },
		"shallow copy with other turns": func(r *upstream.Request) *upstream.Request {
			c := *r
			c.Turns = []content.Turn{other}
			return &c
		},
		"in place": func(r *upstream.Request) *upstream.Request {
			r.Turns[0].Parts[0].(*content.Text).Text = "other"
			return r
		},
	}
	for to, up := range everyUpstream(t, nil) {
		for how, edit := range edits {
			t.Run(how+" to "+to, func(t *testing.T) {
				encode := func(body string) (document string, losses []content.Loss) {
					n, _, err := generatecontent.DecodeRequest([]byte(body), nil)
					if err != nil {
						t.Fatal(err)
					}
					n.Model = "gemini-2.5-flash"
					n = edit(n)
					e, err := upstream.EncodeRequest(t.Context(), up, n)
					if err != nil {
						t.Fatal(err)
					}
					if losses, err = upstream.Preflight(t.Context(), up, n); err != nil {
						t.Fatal(err)
					}
					return e.Document, losses
				}
				snake, losses := encode(spelled)
				want, wantLosses := encode(camel)
				if passes := to == "gemini" && (how == "none" || how == "WithModel"); passes {
					want = spelled
				}
				if diff := cmp.Diff(want, snake); diff != "" {
					t.Errorf("document (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(wantLosses, losses); diff != "" {
					t.Errorf("losses (-want +got):\n%s", diff)
				}
				if edited := strings.Contains(snake, "other"); edited != (strings.Contains(how, "other") || how == "in place") {
					t.Errorf("edited %v: %s", edited, snake)
				}
				if to == "gemini" && how == "Clone" {
					for _, name := range []string{`"speechConfig":{"voiceConfig"`, `"a_b"`, `"searchTypes":{"webSearch"`, `"level":"MEDIA_RESOLUTION_HIGH"`, `"anyOf"`, `"labels":{"a_b":"c"}`} {
						if !strings.Contains(snake, name) {
							t.Errorf("no %s in %s", name, snake)
						}
					}
				}
			})
		}
	}
}
