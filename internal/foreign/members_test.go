package foreign

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/test/race"
)

// TestMembers checks by the documents of the formats which members change the
// response. What agents send with every request must be no more than a hint.
func TestMembers(t *testing.T) {
	const m, g, c, r = "messages", "generatecontent", "openai-chat", "openai-responses"
	for _, tt := range []struct {
		name         string
		format       content.Format
		in           Kind
		json         string
		want         string // the severity and the tail of each loss
		wantThatRule *loss.Rule
	}{
		{"nothing", m, Request, `{}`, "", nil},
		{"what an agent sends", m, Request, `{"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},"cache_control":{"type":"ephemeral"}}`,
			"hint context_management, hint cache_control", MembersLoss},
		{"an edit besides", m, Request, `{"context_management":{"edits":[{"type":"clear_thinking_20251015"},{"type":"clear_tool_uses_20250919"}]}}`,
			"dropped context_management", SettingLoss},
		{"another member of the context", m, Request, `{"context_management":{"edits":[],"x":1}}`, "dropped context_management", SettingLoss},
		{"no context", m, Request, `{"context_management":{},"thread":null}`, "hint context_management, hint thread", MembersLoss},
		{"thread", m, Request, `{"thread":{"type":"continue","previous_message_id":"msg_1"}}`, "dropped thread", StateLoss},
		{"settings of Messages", m, Request, `{"compaction":{"type":"summarize"},"mcp_servers":[{"name":"a"}],"container":{"skills":[{}]}}`,
			"dropped compaction, dropped mcp_servers, dropped container", SettingLoss},
		{"no settings of Messages", m, Request, `{"mcp_servers":[],"container":null}`, "hint mcp_servers, hint container", MembersLoss},
		{"where", m, Request, `{"inference_geo":"us"}`, "dropped inference_geo", LocationLoss},
		{"anywhere, and how fast", m, Request, `{"inference_geo":"global","speed":"fast","diagnostics":{},"billing_policy":{},"metadata":{"a":1}}`,
			"hint inference_geo, hint speed, hint diagnostics, hint billing_policy, hint metadata", MembersLoss},
		{"fallbacks", m, Request, `{"fallbacks":"default"}`, "degraded fallbacks", InfluenceLoss},
		{"task budget", m, Request, `{"output_config":{"task_budget":{"type":"tokens","total":20000}}}`, "dropped output_config.task_budget", SettingLoss},
		{"response formats", m, Request, `{"output_format":{"type":"json_schema","schema":{}},"output_config":{"format":{"type":"odd"}}}`,
			"dropped output_config.format", SettingLoss},
		{"effort of a turn", m, Turn, `{"output_config":{"effort":"low"}}`, "dropped output_config", SettingLoss},
		{"when to clear", m, Turn, `{"clear_at":"next_user_message"}`, "", nil},
		{"unknown time to clear", m, Turn, `{"clear_at":"soon"}`, "hint ", MembersLoss},
		{"callers", m, Tool, `{"allowed_callers":["code_execution_20250825"]}`, "degraded allowed_callers", InfluenceLoss},
		{"loading of a tool", m, Tool, `{"defer_loading":true,"eager_input_streaming":true}`, "hint ", MembersLoss},
		{"parts of an earlier response", m, Part, `{"caller":{"type":"direct"},"x":1}`, "hint ", MembersLoss},

		{"nothing stored", c, Request, `{"store":false,"background":false}`, "", nil},
		{"role of a message", c, Turn, `{"role":"developer"}`, "", nil},
		{"role of a system text", c, Part, `{"role":"developer"}`, "", nil},
		{"author", c, Turn, `{"role":"developer","name":"n"}`, "hint ", MembersLoss},
		{"earlier audio", c, Turn, `{"audio":{"id":"a"}}`, "degraded audio", InfluenceLoss},
		{"arguments that are not an object", c, Part, `{"arguments":"["}`, "degraded arguments", ArgumentsLoss},
		{"members of the response's form", c, Request, `{"response_format":{"json_schema":{"x":1},"y":1}}`,
			"dropped response_format.json_schema.x, dropped response_format.y", UnknownLoss},

		{"harmless", g, Request, `{"store":true,"labels":{"a":"b"},"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`,
			"hint store, hint labels, hint generationConfig.mediaResolution", MembersLoss},
		{"kept", g, Request, `{"cachedContent":"cachedContents/a","continuationToken":"AAAA"}`, "dropped cachedContent, dropped continuationToken", StateLoss},
		{"safety", g, Request, `{"safetySettings":[{}],"modelArmorConfig":{"a":1}}`, "degraded safetySettings, degraded modelArmorConfig", SafetyLoss},
		{"no safety", g, Request, `{"safetySettings":[]}`, "hint safetySettings", MembersLoss},
		{"settings of a configuration", g, Request,
			`{"generationConfig":{"routingConfig":{"a":1},"enableAffectiveDialog":true,"translationConfig":{"targetLanguageCode":"de"},"audioTranscriptionConfig":{"mode":"SMART"}}}`,
			"dropped generationConfig.routingConfig, dropped generationConfig.enableAffectiveDialog, " +
				"dropped generationConfig.translationConfig, dropped generationConfig.audioTranscriptionConfig", SettingLoss},
		{"setting turned off", g, Request, `{"generationConfig":{"enableAffectiveDialog":false}}`, "hint generationConfig.enableAffectiveDialog", MembersLoss},
		{"where to look", g, Request, `{"toolConfig":{"retrievalConfig":{"languageCode":"de"},"includeServerSideToolInvocations":true}}`,
			"dropped toolConfig.retrievalConfig, hint toolConfig.includeServerSideToolInvocations", nil},
		{"image format", g, Request, `{"generationConfig":{"responseFormat":{"text":{"mimeType":"TEXT_PLAIN"},"image":{"mimeType":"IMAGE_JPEG"}}}}`,
			"dropped generationConfig.responseFormat.image", SettingLoss},
		{"formats in a list", g, Request, `{"generationConfig":{"responseFormat":[{"audio":{"mimeType":"AUDIO_WAV"}}]}}`,
			"dropped generationConfig.responseFormat.audio", SettingLoss},
		{"two text formats", g, Request, `{"generationConfig":{"responseMimeType":"text/plain","responseFormat":{"text":{"mimeType":"APPLICATION_JSON"}}}}`,
			"dropped generationConfig.responseFormat.text", SettingLoss},
		{"unknown text format", g, Request, `{"generationConfig":{"responseFormat":{"text":{"mimeType":"TEXT_XML"}}}}`,
			"dropped generationConfig.responseFormat.text", SettingLoss},
		{"partial arguments of a tool call", g, Part, `{"functionCall":{"partialArgs":[{"jsonPath":"$.a"}],"willContinue":true}}`,
			"dropped functionCall.partialArgs, hint ", nil},
		{"metadata of a part", g, Part, `{"partMetadata":{"a":1}}`, "hint ", MembersLoss},
		{"streamed arguments", g, Choice, `{"streamFunctionCallArguments":true}`, "hint ", MembersLoss},

		{"chat", c, Request, `{"metadata":{},"logit_bias":{"1":2},"verbosity":"low"}`, "hint metadata, dropped logit_bias, degraded verbosity", nil},
		{"thinking turned off", c, Request, `{"enable_thinking":false,"thinking":{"type":"disabled"},"chat_template_kwargs":{"enable_thinking":false}}`,
			"", nil},
		{"thinking turned on", c, Request, `{"enable_thinking":true,"thinking":{"type":"enabled","x":1},"reasoning":{"effort":"high","max_tokens":{}}}`,
			"dropped thinking.x, hint reasoning.max_tokens", nil},
		{"responses", r, Request, `{"previous_response_id":"r"}`, "dropped previous_response_id", StateLoss},
		{"compaction at OpenAI", r, Request, `{"context_management":[{"type":"compaction","compact_threshold":1000}]}`, "dropped context_management", SettingLoss},

		{"unknown", m, Request, `{"frobnicate":false}`, "dropped frobnicate", UnknownLoss},
		{"unknown and null", m, Request, `{"frobnicate":null}`, "hint frobnicate", MembersLoss},
		{"another format's", c, Request, `{"thread":{"type":"create"}}`, "dropped thread", UnknownLoss},
		{"unknown format", "house", Request, `{"safetySettings":[{}]}`, "dropped safetySettings", UnknownLoss},
		{"unknown member of a tool", g, Tool, `{"x":1}`, "dropped x", UnknownLoss},
		{"not an object", g, Request, `[1]`, "dropped ", UnknownLoss},
		{"wrong type", g, Request, `{"generationConfig":7}`, "dropped generationConfig", UnknownLoss},
		{"not JSON", g, Turn, `{"a`, "hint ", MembersLoss},
		{"names that are not plain", m, Request, `{"b":1,"a b":2,"speed":"fast"}`, "dropped b, hint speed, dropped ", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for tail, rule := range Members(&content.Extra{Format: tt.format, JSON: tt.json}, tt.in) {
				got = append(got, rule.Severity.String()+" "+tail)
				if tt.wantThatRule != nil && rule != tt.wantThatRule {
					t.Errorf("%s: reported by %q", tail, rule.Reason)
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	for range Members(nil, Request) {
		t.Error("a nil Extra has losses")
	}
}

// TestMembersBound checks that the number of reports is bounded and that the
// iteration can stop.
func TestMembersBound(t *testing.T) {
	json := "{"
	for i := range 3 * loss.MaxNames {
		json += `"m` + strconv.Itoa(i) + `":1,`
	}
	x := &content.Extra{Format: "messages", JSON: json + `"z":1}`}
	n, last := 0, ""
	for at := range Members(x, Request) {
		n, last = n+1, at
	}
	if n != loss.MaxNames+1 || last != "" {
		t.Errorf("%d losses, the last at %q; want %d and one for the rest", n, last, loss.MaxNames)
	}
	for range Members(x, Request) {
		n--
		break
	}
	if n != loss.MaxNames {
		t.Error("the iteration went on after break")
	}
}

// TestMembersAllocs checks that members that are not reported cost no allocations, nor does
// a report of a member of the Extra itself. Agents send such members in every turn.
func TestMembersAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("pools drop things at random under the race detector")
	}
	for _, tt := range []struct {
		in   Kind
		json string
	}{
		{Turn, `{"clear_at":"never"}`},
		{Part, `{"caller":{"type":"direct"}}`},
		{Request, `{"output_config":{},"speed":"fast","context_management":{"edits":[]}}`},
	} {
		x := &content.Extra{Format: "messages", JSON: tt.json}
		if n := testing.AllocsPerRun(50, func() {
			for range Members(x, tt.in) {
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", tt.json, n)
		}
	}
}

func TestIsRepresented(t *testing.T) {
	for _, tt := range []struct {
		x    content.Extra
		in   Kind
		want bool
	}{
		{content.Extra{Format: "openai-chat", JSON: `{"role":"developer"}`}, Turn, true},
		{content.Extra{Format: "openai-chat", JSON: `{"role":"developer"}`}, Part, true},
		{content.Extra{Format: "openai-chat", JSON: `{"role":"developer","name":"n"}`}, Part, false},
		{content.Extra{Format: "openai-chat", JSON: `{"role":"developer"}`}, Tool, false},
		{content.Extra{Format: "messages", JSON: `{"clear_at":"never"}`}, Turn, false},
		{content.Extra{JSON: `{"role":"developer"}`}, Turn, false},
	} {
		if got := IsRepresented(&tt.x, tt.in); got != tt.want {
			t.Errorf("%+v in %d: %v", tt.x, tt.in, got)
		}
	}
}
