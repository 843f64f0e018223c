package codec

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// TestLost checks by the documents of the formats which members change the
// answer. What agents send with every request must be no more than a hint.
func TestLostMembers(t *testing.T) {
	const m, g, c, r = "messages", "generatecontent", "openai-chat", "openai-responses"
	for _, tt := range []struct {
		name         string
		format       content.Format
		path, json   string
		want         string // "severity what-follows-the-path", in a row
		wantThatRule *loss.Rule
	}{
		{"nothing", m, "extra", `{}`, "", nil},
		{"what an agent sends", m, "extra", `{"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},"cache_control":{"type":"ephemeral"}}`,
			"hint .context_management, hint .cache_control", ForeignMembers},
		{"an edit besides", m, "extra", `{"context_management":{"edits":[{"type":"clear_thinking_20251015"},{"type":"clear_tool_uses_20250919"}]}}`,
			"dropped .context_management", ForeignSetting},
		{"another member of the context", m, "extra", `{"context_management":{"edits":[],"x":1}}`, "dropped .context_management", ForeignSetting},
		{"no context", m, "extra", `{"context_management":{},"thread":null}`, "hint .context_management, hint .thread", ForeignMembers},
		{"thread", m, "extra", `{"thread":{"type":"continue","previous_message_id":"msg_1"}}`, "dropped .thread", ForeignState},
		{"settings of Messages", m, "extra", `{"compaction":{"type":"summarize"},"mcp_servers":[{"name":"a"}],"container":{"skills":[{}]}}`,
			"dropped .compaction, dropped .mcp_servers, dropped .container", ForeignSetting},
		{"no settings of Messages", m, "extra", `{"mcp_servers":[],"container":null}`, "hint .mcp_servers, hint .container", ForeignMembers},
		{"where", m, "extra", `{"inference_geo":"us"}`, "dropped .inference_geo", ForeignLocation},
		{"anywhere, and how fast", m, "extra", `{"inference_geo":"global","speed":"fast","diagnostics":{},"billing_policy":{},"metadata":{"a":1}}`,
			"hint .inference_geo, hint .speed, hint .diagnostics, hint .billing_policy, hint .metadata", ForeignMembers},
		{"fallbacks", m, "extra", `{"fallbacks":"default"}`, "degraded .fallbacks", ForeignInfluence},
		{"task budget", m, "extra", `{"output_config":{"task_budget":{"type":"tokens","total":20000}}}`, "dropped .output_config.task_budget", ForeignSetting},
		{"response formats", m, "extra", `{"output_format":{"type":"json_schema","schema":{}},"output_config":{"format":{"type":"odd"}}}`,
			"dropped .output_config.format", ForeignSetting},
		{"effort of a turn", m, "turns.1.extra", `{"output_config":{"effort":"low"}}`, "dropped .output_config", ForeignSetting},
		{"when to clear", m, "turns.1.extra", `{"clear_at":"next_user_message"}`, "", nil},
		{"unknown time to clear", m, "turns.1.extra", `{"clear_at":"soon"}`, "hint ", ForeignMembers},
		{"callers", m, "tools.0.extra", `{"allowed_callers":["code_execution_20250825"]}`, "degraded .allowed_callers", ForeignInfluence},
		{"loading of a tool", m, "tools.0.extra", `{"defer_loading":true,"eager_input_streaming":true}`, "hint ", ForeignMembers},
		{"parts of an earlier response", m, "turns.0.parts.1.extra", `{"caller":{"type":"direct"},"x":1}`, "hint ", ForeignMembers},

		{"harmless", g, "extra", `{"store":true,"labels":{"a":"b"},"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`,
			"hint .store, hint .labels, hint .generationConfig.mediaResolution", ForeignMembers},
		{"kept", g, "extra", `{"cachedContent":"cachedContents/a","continuationToken":"AAAA"}`, "dropped .cachedContent, dropped .continuationToken", ForeignState},
		{"safety", g, "extra", `{"safetySettings":[{}],"modelArmorConfig":{"a":1}}`, "degraded .safetySettings, degraded .modelArmorConfig", ForeignSafety},
		{"no safety", g, "extra", `{"safetySettings":[]}`, "hint .safetySettings", ForeignMembers},
		{"settings of a configuration", g, "extra",
			`{"generationConfig":{"routingConfig":{"a":1},"enableAffectiveDialog":true,"translationConfig":{"targetLanguageCode":"de"},"audioTranscriptionConfig":{"mode":"SMART"}}}`,
			"dropped .generationConfig.routingConfig, dropped .generationConfig.enableAffectiveDialog, " +
				"dropped .generationConfig.translationConfig, dropped .generationConfig.audioTranscriptionConfig", ForeignSetting},
		{"setting turned off", g, "extra", `{"generationConfig":{"enableAffectiveDialog":false}}`, "hint .generationConfig.enableAffectiveDialog", ForeignMembers},
		{"where to look", g, "extra", `{"toolConfig":{"retrievalConfig":{"languageCode":"de"},"includeServerSideToolInvocations":true}}`,
			"dropped .toolConfig.retrievalConfig, hint .toolConfig.includeServerSideToolInvocations", nil},
		{"image format", g, "extra", `{"generationConfig":{"responseFormat":{"text":{"mimeType":"TEXT_PLAIN"},"image":{"mimeType":"IMAGE_JPEG"}}}}`,
			"dropped .generationConfig.responseFormat.image", ForeignSetting},
		{"formats in a list", g, "extra", `{"generationConfig":{"responseFormat":[{"audio":{"mimeType":"AUDIO_WAV"}}]}}`,
			"dropped .generationConfig.responseFormat.audio", ForeignSetting},
		{"two text formats", g, "extra", `{"generationConfig":{"responseMimeType":"text/plain","responseFormat":{"text":{"mimeType":"APPLICATION_JSON"}}}}`,
			"dropped .generationConfig.responseFormat.text", ForeignSetting},
		{"unknown text format", g, "extra", `{"generationConfig":{"responseFormat":{"text":{"mimeType":"TEXT_XML"}}}}`,
			"dropped .generationConfig.responseFormat.text", ForeignSetting},
		{"partial arguments of a tool call", g, "turns.1.parts.0.extra", `{"functionCall":{"partialArgs":[{"jsonPath":"$.a"}],"willContinue":true}}`,
			"dropped .functionCall.partialArgs, hint ", nil},
		{"metadata of a part", g, "turns.1.parts.0.extra", `{"partMetadata":{"a":1}}`, "hint ", ForeignMembers},
		{"streamed arguments", g, "choice.extra", `{"streamFunctionCallArguments":true}`, "hint ", ForeignMembers},

		{"chat", c, "extra", `{"metadata":{},"logit_bias":{"1":2},"verbosity":"low"}`, "hint .metadata, dropped .logit_bias, degraded .verbosity", nil},
		{"responses", r, "extra", `{"previous_response_id":"r"}`, "dropped .previous_response_id", ForeignState},

		{"unknown", m, "extra", `{"frobnicate":false}`, "dropped .frobnicate", ForeignUnknown},
		{"unknown and null", m, "extra", `{"frobnicate":null}`, "hint .frobnicate", ForeignMembers},
		{"another format's", c, "extra", `{"thread":{"type":"create"}}`, "dropped .thread", ForeignUnknown},
		{"unknown format", "house", "extra", `{"safetySettings":[{}]}`, "dropped .safetySettings", ForeignUnknown},
		{"unknown member of a tool", g, "tools.0.extra", `{"x":1}`, "dropped .x", ForeignUnknown},
		{"not an object", g, "extra", `[1]`, "dropped ", ForeignUnknown},
		{"wrong type", g, "extra", `{"generationConfig":7}`, "dropped .generationConfig", ForeignUnknown},
		{"not JSON", g, "turns.0.extra", `{"a`, "hint ", ForeignMembers},
		{"names that are not plain", m, "extra", `{"b":1,"a b":2,"speed":"fast"}`, "dropped .b, hint .speed, dropped ", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for at, rule := range LostMembers(&content.Extra{Format: tt.format, JSON: tt.json}, tt.path) {
				got = append(got, rule.Severity.String()+" "+strings.TrimPrefix(at, tt.path))
				if tt.wantThatRule != nil && rule != tt.wantThatRule {
					t.Errorf("%s: reported by %q", at, rule.Reason)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for range LostMembers(nil, "extra") {
		t.Error("a nil Extra has losses")
	}
}

// TestLostMembersBound checks that the number of reports is bounded and that the
// iteration can stop.
func TestLostMembersBound(t *testing.T) {
	json := "{"
	for i := range 3 * maxReported {
		json += `"m` + strconv.Itoa(i) + `":1,`
	}
	x := &content.Extra{Format: "messages", JSON: json + `"z":1}`}
	n, last := 0, ""
	for at := range LostMembers(x, "extra") {
		n, last = n+1, at
	}
	if n != maxReported+1 || last != "extra" {
		t.Errorf("%d losses, the last at %s; want %d and one for the rest", n, last, maxReported)
	}
	for range LostMembers(x, "extra") {
		n--
		break
	}
	if n != maxReported {
		t.Error("the iteration went on after break")
	}
}

func TestOnlyDirect(t *testing.T) {
	for text, want := range map[string]bool{
		`["direct"]`: true, `[]`: true, `null`: true, `["direct","code_execution_20250825"]`: false, `[1]`: false,
	} {
		doc, err := jsonwire.Parse(text, UnlimitedJSON)
		if err != nil {
			t.Fatal(err)
		}
		if got := OnlyDirect(doc.Root()); got != want {
			t.Errorf("%s: %v", text, got)
		}
		doc.Close()
	}
}
