package chatcompletions

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"

func own(json string) *content.Extra { return &content.Extra{Format: Format, JSON: json} }

func ptr[T any](v T) *T { return &v }

func parsed(t testing.TB, body string) *Request {
	t.Helper()
	r, err := ParseRequest([]byte(body))
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return r
}

func TestParseMessages(t *testing.T) {
	for _, tt := range []struct {
		name, messages string
		system         []content.Part
		turns          []content.Turn
	}{
		{"leading system and developer messages are system texts",
			`{"role":"system","content":"a"},{"role":"developer","name":"n","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]},{"role":"user","content":"d"}`,
			[]content.Part{&content.Text{Text: "a"}, &content.Text{Text: "b", Extra: own(`{"role":"developer","name":"n"}`)},
				&content.Text{Text: "c"}},
			[]content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "d"}}}}},
		{"later ones are turns",
			`{"role":"user","content":"a"},{"role":"developer","content":"b"},{"role":"system","content":"c"}`, nil,
			[]content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "a"}}},
				{Role: content.RoleSystem, Parts: []content.Part{&content.Text{Text: "b"}}, Extra: own(`{"role":"developer"}`)},
				{Role: content.RoleSystem, Parts: []content.Part{&content.Text{Text: "c"}}}}},
		{"the last of system messages only is a turn",
			`{"role":"system","content":"a"},{"role":"developer","content":"b"}`,
			[]content.Part{&content.Text{Text: "a"}},
			[]content.Turn{{Role: content.RoleSystem, Parts: []content.Part{&content.Text{Text: "b", Extra: own(`{"role":"developer"}`)}}}}},
		{"results in a row are one turn",
			`{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}},{"id":"2","type":"custom","custom":{"name":"g","input":"raw"}}]},` +
				`{"role":"tool","tool_call_id":"1","content":"x"},{"role":"tool","tool_call_id":"2","name":"g","content":[{"type":"text","text":"y"}]},{"role":"user","content":"z"}`, nil,
			[]content.Turn{
				{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "1", Name: "f", Input: `{"a": 1}`}, &content.ToolUse{ID: "2", Name: "g", Freeform: true, Text: "raw"}}},
				{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "1", Parts: []content.Part{&content.Text{Text: "x"}}},
					&content.ToolResult{ID: "2", Name: "g", Parts: []content.Part{&content.Text{Text: "y"}}}}},
				{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "z"}}}}},
		{"parts of the assistant have one order",
			`{"tool_calls":[{"id":"1","index":0,"type":"function","function":{"name":"f","arguments":""}}],"refusal":"no","content":"text","reasoning_content":"why","role":"assistant","annotations":[],"audio":null},{"role":"tool","tool_call_id":"1","content":""}`, nil,
			[]content.Turn{{Role: content.RoleAssistant, Parts: []content.Part{&content.Thinking{Text: "why"}, &content.Text{Text: "text"},
				&content.Text{Text: "no", Refusal: true}, &content.ToolUse{ID: "1", Name: "f"}}},
				{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "1"}}}}},
		{"reasoning is read if reasoning_content is absent, and kept if it differs",
			`{"role":"assistant","content":"a","reasoning":"r"},{"role":"assistant","content":"a","reasoning":"r","reasoning_content":"c"},{"role":"assistant","content":[{"type":"refusal","refusal":"no"}],"audio":{"id":"a1"}}`, nil,
			[]content.Turn{{Role: content.RoleAssistant, Parts: []content.Part{&content.Thinking{Text: "r"}, &content.Text{Text: "a"}}},
				{Role: content.RoleAssistant, Parts: []content.Part{&content.Thinking{Text: "c"}, &content.Text{Text: "a"}}, Extra: own(`{"reasoning":"r"}`)},
				{Role: content.RoleAssistant, Parts: []content.Part{&content.Text{Text: "no", Refusal: true}}, Extra: own(`{"audio":{"id":"a1"}}`)}}},
		{"deprecated functions have no ids",
			`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"x"}`, nil,
			[]content.Turn{{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{Name: "f", Input: "{}"}}},
				{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{Name: "f", Parts: []content.Part{&content.Text{Text: "x"}}}}}}},
		{"files",
			`{"role":"user","name":"ann","content":[{"type":"text","text":"t","prompt_cache_breakpoint":{"mode":"explicit","ttl":"30m"}},` +
				`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + png + `","detail":"high"}},{"type":"image_url","image_url":{"url":"https://example.com/a.png"},"x":1},` +
				`{"type":"image_url","image_url":"https://example.com/b.png"},` +
				`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}},{"type":"file","file":{"file_id":"file-1"}},{"type":"file","file":{"file_id":"file-1","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}},` +
				`{"type":"input_audio","input_audio":{"data":"AAAA","format":"mp3"}},{"type":"video_url","video_url":{"url":"u"}}]}`, nil,
			[]content.Turn{{Role: content.RoleUser, Extra: own(`{"name":"ann"}`), Parts: []content.Part{
				&content.Text{Text: "t", Cache: &content.Cache{TTL: "30m"}},
				&content.Image{Source: &content.Base64{MediaType: "image/png", Data: png}, Extra: own(`{"detail":"high"}`)},
				&content.Image{Source: &content.URL{URL: "https://example.com/a.png"}, Extra: own(`{"x":1}`)},
				&content.Image{Source: &content.URL{URL: "https://example.com/b.png"}},
				&content.Document{Title: "a.pdf", Source: &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjQK"}},
				&content.Document{Source: &content.File{ID: "file-1"}},
				&content.Document{Source: &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjQK"}, Extra: own(`{"file_id":"file-1"}`)},
				&content.Media{Source: &content.Base64{MediaType: "audio/mp3", Data: "AAAA"}},
				&content.Unknown{Format: Format, Kind: "video_url", Raw: `{"type":"video_url","video_url":{"url":"u"}}`}}}}},
		{"arguments that are not an object are kept as text",
			`{"role":"assistant","content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":"}}]},{"role":"tool","tool_call_id":"1","content":"x"}`, nil,
			[]content.Turn{{Role: content.RoleAssistant, Parts: []content.Part{
				&content.ToolUse{ID: "1", Name: "f", Input: `{"arguments":"{\"a\":"}`, Extra: own(`{"arguments":"{\"a\":"}`)}}},
				{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "1", Parts: []content.Part{&content.Text{Text: "x"}}}}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := parsed(t, `{"model":"m","messages":[`+tt.messages+`]}`)
			if diff := cmp.Diff(tt.system, r.System); diff != "" {
				t.Errorf("system (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.turns, r.Messages); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if err := r.Validate(nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUpstream has the neutral form of all settings.
func TestUpstream(t *testing.T) {
	hi := []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "hi"}}}}
	for _, tt := range []struct {
		name, members string
		want          upstream.Request
	}{
		{"limits and sampling", `"max_tokens":5,"temperature":0.5,"top_p":0.25,"presence_penalty":1,"frequency_penalty":-1,"seed":7,"top_k":3,"n":2,"stop":"a"`,
			upstream.Request{MaxTokens: ptr(int64(5)), Temperature: ptr(0.5), TopP: ptr(0.25), PresencePenalty: ptr(1.0), FrequencyPenalty: ptr(-1.0),
				Seed: ptr(int64(7)), TopK: ptr(int64(3)), Candidates: 2, StopSequences: []string{"a"}}},
		{"max_completion_tokens, a list of stops", `"max_completion_tokens":9,"stop":["a","b"],"n":1`,
			upstream.Request{MaxTokens: ptr(int64(9)), StopSequences: []string{"a", "b"}}},
		{"identity", `"user":"u","service_tier":"flex","stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false}`,
			upstream.Request{UserID: "u", ServiceTier: "flex", Stream: true}},
		{"two identities", `"user":"u","safety_identifier":"s"`, upstream.Request{UserID: "s", Extra: own(`{"user":"u"}`)}},
		{"effort", `"reasoning_effort":"high","verbosity":"low"`,
			upstream.Request{Thinking: upstream.Thinking{Effort: "high", Display: "auto"}, Output: upstream.Output{Verbosity: "low"}}},
		{"no effort", `"reasoning_effort":"none"`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingOff}}},
		{"text", `"response_format":{"type":"text"}`, upstream.Request{}},
		{"object", `"response_format":{"type":"json_object"}`, upstream.Request{Output: upstream.Output{MediaType: "application/json"}}},
		{"schema", `"response_format":{"type":"json_schema","json_schema":{"name":"n","description":"d","schema":{"type":"object"},"strict":false,"x":1}}`,
			upstream.Request{Output: upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: `{"type":"object"}`}, Name: "n", Description: "d", Strict: ptr(false)},
				Extra: own(`{"response_format":{"json_schema":{"x":1}}}`)}},
		{"audio", `"modalities":["text","audio"],"audio":{"format":"wav","voice":"alloy"}`,
			upstream.Request{Output: upstream.Output{Modalities: []string{"text", "audio"}}, Extra: own(`{"audio":{"format":"wav","voice":"alloy"}}`)}},
		{"tools", `"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"},"strict":null}},` +
			`{"type":"custom","custom":{"name":"g","format":{"type":"grammar","grammar":{"syntax":"lark","definition":"start: x"}}}},` +
			`{"type":"custom","custom":{"name":"h","format":{"type":"text"}}},{"function":{"name":"i"},"cache_control":{"type":"ephemeral"}},{"type":"web","name":"w"}],"parallel_tool_calls":false`,
			upstream.Request{Tools: []content.Tool{
				{Name: "f", Description: "d", Input: content.Schema{JSON: `{"type":"object"}`}},
				{Name: "g", Freeform: true, Grammar: &content.Grammar{Syntax: "lark", Definition: "start: x"}},
				{Name: "h", Freeform: true},
				{Name: "i", Cache: new(content.Cache)},
				{Name: "w", Kind: "web", Format: Format, Raw: `{"type":"web","name":"w"}`}},
				Choice: content.ToolChoice{NoParallel: true}}},
		{"functions", `"functions":[{"name":"f","parameters":{"type":"object"}}],"function_call":{"name":"f"}`,
			upstream.Request{Tools: []content.Tool{{Name: "f", Input: content.Schema{JSON: `{"type":"object"}`}}},
				Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}}},
		{"choice of one", `"tool_choice":{"type":"function","function":{"name":"f"}}`,
			upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}}},
		{"choice of a custom tool", `"tool_choice":{"type":"custom","custom":{"name":"g"}}`,
			upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"g"}}}},
		{"choice of some", `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}},{"type":"custom","custom":{"name":"g"}}]}}`,
			upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f", "g"}}}},
		{"required", `"tool_choice":"required"`, upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceAny}}},
		{"none", `"tool_choice":"none"`, upstream.Request{Choice: content.ToolChoice{Mode: content.ChoiceNone}}},
		{"null everywhere", `"max_tokens":null,"stop":null,"tools":null,"tool_choice":null,"response_format":null,"stream":null,"n":null,"user":null,"metadata":null,"logprobs":null`,
			upstream.Request{}},
		{"others", `"metadata":{"a":"b"},"store":true,"logprobs":true,"top_logprobs":2,"logit_bias":{"1":-1},"prompt_cache_key":"k","new_member":[1]`,
			upstream.Request{Extra: own(`{"metadata":{"a":"b"},"store":true,"logprobs":true,"top_logprobs":2,"logit_bias":{"1":-1},"prompt_cache_key":"k","new_member":[1]}`)}},
		{"thinking turned off as other servers do", `"enable_thinking":false`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingOff}, Extra: own(`{"enable_thinking":false}`)}},
		{"thinking turned off in a template", `"chat_template_kwargs":{"enable_thinking":false}`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingOff}, Extra: own(`{"chat_template_kwargs":{"enable_thinking":false}}`)}},
		{"thinking turned on as other servers do", `"thinking":{"type":"enabled"}`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "auto"}, Extra: own(`{"thinking":{"type":"enabled"}}`)}},
		{"thinking turned on, with the member for the effort", `"thinking":{"type":"enabled"},"reasoning_effort":"max"`, upstream.Request{Thinking: upstream.Thinking{Effort: "max", Display: "auto"}, Extra: own(`{"thinking":{"type":"enabled"}}`)}},
		{"thinking turned off, with the member for the effort", `"enable_thinking":false,"reasoning_effort":"low"`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "low"}, Extra: own(`{"enable_thinking":false}`)}},
		{"effort of another server", `"reasoning":{"effort":"high","exclude":false}`, upstream.Request{Thinking: upstream.Thinking{Effort: "high", Display: "auto"}, Extra: own(`{"reasoning":{"effort":"high","exclude":false}}`)}},
		{"no effort of another server", `"reasoning":{"effort":"none"}`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingOff}, Extra: own(`{"reasoning":{"effort":"none"}}`)}},
		{"thinking off, with an effort", `"reasoning":{"effort":"low","enabled":false}`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingOff}, Extra: own(`{"reasoning":{"effort":"low","enabled":false}}`)}},
		{"amount of another server", `"reasoning":{"max_tokens":2000}`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptr(int64(2000)), Display: "auto"}, Extra: own(`{"reasoning":{"max_tokens":2000}}`)}},
		{"amount beside a switch", `"enable_thinking":true,"thinking_budget":1000`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptr(int64(1000)), Display: "auto"}, Extra: own(`{"enable_thinking":true,"thinking_budget":1000}`)}},
		{"amount without a type", `"thinking":{"budget_tokens":3000}`, upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptr(int64(3000)), Display: "auto"}, Extra: own(`{"thinking":{"budget_tokens":3000}}`)}},
		{"thinking that is hidden", `"reasoning":{"effort":"low","exclude":true}`, upstream.Request{Thinking: upstream.Thinking{Effort: "low", Display: "omitted"}, Extra: own(`{"reasoning":{"effort":"low","exclude":true}}`)}},
		{"thinking that is hidden, as Groq has it", `"reasoning_format":"hidden","reasoning_effort":"high"`, upstream.Request{Thinking: upstream.Thinking{Effort: "high", Display: "omitted"}, Extra: own(`{"reasoning_format":"hidden"}`)}},
		{"thinking that is not included", `"include_reasoning":false`, upstream.Request{Thinking: upstream.Thinking{Display: "omitted"}, Extra: own(`{"include_reasoning":false}`)}},
		{"others with some that are written", `"user":"u","safety_identifier":"s","store":true`, upstream.Request{UserID: "s", Extra: own(`{"user":"u","store":true}`)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := `{"model":"m","messages":[{"role":"user","content":"hi"}],` + tt.members + `}`
			n, losses, err := DecodeRequest([]byte(body), nil)
			if err != nil || len(losses) > 0 {
				t.Fatal(err, losses)
			}
			if text, ok := upstream.WireOf(n, Format); !ok || text != body {
				t.Errorf("the document is %q", text)
			}
			tt.want.Model, tt.want.Turns = "m", hi
			d := &tt.want.Defaults
			d.Format, d.LooseOutput = Format, true
			if d.Display == "" {
				d.Display = "omitted"
			}
			if diff := cmp.Diff(&tt.want, n, cmpopts.IgnoreFields(upstream.Request{}, "Wire")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestViolations has documents that are refused, with the vendor's param and code.
func TestViolations(t *testing.T) {
	user := func(parts string) string {
		return `{"model":"m","messages":[{"role":"user","content":[` + parts + `]}]}`
	}
	messages := func(list string) string { return `{"model":"m","messages":[` + list + `]}` }
	with := func(members string) string {
		return `{"model":"m","messages":[{"role":"user","content":"hi"}],` + members + `}`
	}
	for _, tt := range []struct {
		body string
		path string
		code content.Code
		text string // beginning
	}{
		{`{"messages":[{"role":"user","content":"hi"}]}`, "model", content.CodeMissing, "Missing required parameter: 'model'."},
		{`{"model":"m"}`, "messages", content.CodeMissing, "Missing required parameter: 'messages'."},
		{`{"model":"m","messages":[]}`, "messages", content.CodeRange, "Invalid 'messages': empty array. Expected an array with minimum length 1"},
		{`{"model":"m","messages":"hi"}`, "messages", content.CodeType, "Invalid type for 'messages': expected an array of objects, but got a string instead."},
		{`[]`, "", content.CodeType, "The request body must be a JSON object."},
		{`{"model":1,"messages":[{"role":"user","content":"hi"}]}`, "model", content.CodeType, "Invalid type for 'model': expected a string, but got an integer instead."},
		{messages(`{"role":"user","content":{}}`), "messages[0].content", content.CodeType,
			"Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an object instead."},
		{messages(`{"role":"user"}`), "messages[0].content", content.CodeMissing, "Missing required parameter: 'messages[0].content'."},
		{messages(`{"role":"user","content":null}`), "messages[0].content", content.CodeType, "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got null instead."},
		{messages(`{"role":"assistant","content":null}`), "messages[0].content", content.CodeType, "Invalid type for 'messages[0].content'"},
		{messages(`{"content":"hi"}`), "messages[0].role", content.CodeMissing, "Missing required parameter: 'messages[0].role'."},
		{messages(`{"role":"model","content":"hi"}`), "messages[0].role", content.CodeValue,
			"Invalid value: 'model'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'."},
		{messages(`{"role":"","content":"hi"}`), "messages[0].role", content.CodeRange, "Invalid 'messages[0].role': empty string."},
		{messages(`1`), "messages[0]", content.CodeType, "Invalid type for 'messages[0]': expected an object, but got an integer instead."},
		{messages(`{"role":"user","content":"hi","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]}`), "messages[0].tool_calls", content.CodeUnknown, "Unknown parameter: 'messages[0].tool_calls'."},
		{messages(`{"role":"user","content":"hi","Role":"system"}`), "messages[0].Role", content.CodeUnknown, "Unknown parameter: 'messages[0].Role'."},
		{user(`{"text":"a"}`), "messages[0].content[0].type", content.CodeMissing, "Missing required parameter: 'messages[0].content[0].type'."},
		{user(`{"type":"text"}`), "messages[0].content[0].text", content.CodeMissing, "Missing required parameter: 'messages[0].content[0].text'."},
		{user(`{"type":"refusal","refusal":"a"}`), "messages[0].content[0].type", content.CodeOrder, "Invalid value: 'refusal'. Supported values are: 'text', 'image_url', 'input_audio', and 'file'."},
		{messages(`{"role":"system","content":[{"type":"image_url","image_url":{"url":"https://example.com"}}]},{"role":"user","content":"a"}`), "messages[0].content[0].type", content.CodeOrder, "Invalid value: 'image_url'. Value must be 'text'."},
		{user(`{"type":"image_url"}`), "messages[0].content[0].image_url", content.CodeMissing, "Missing required parameter"},
		{user(`{"type":"image_url","image_url":{}}`), "messages[0].content[0].image_url.url", content.CodeMissing, "Missing required parameter"},
		{user(`{"type":"image_url","image_url":{"url":""}}`), "messages[0].content[0].image_url.url", content.CodeRange, "Invalid 'messages[0].content[0].image_url.url': empty string."},
		{user(`{"type":"image_url","image_url":{"url":"ftp://x"}}`), "messages[0].content[0].image_url.url", content.CodeValue, "Invalid 'messages[0].content[0].image_url.url'. Expected a valid URL"},
		{user(`{"type":"image_url","image_url":{"url":"data:image/png;base64,####"}}`), "messages[0].content[0].image_url.url", content.CodeMedia, "Invalid 'messages[0].content[0].image_url.url'. Expected a base64-encoded data URL"},
		{user(`{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + png + `"}}`), "messages[0].content[0].image_url.url", content.CodeMedia, "Invalid 'messages[0].content[0].image_url.url': the file does not match"},
		{user(`{"type":"file","file":{"filename":"a.pdf"}}`), "messages[0].content[0].file.file_id", content.CodeMissing, "Missing required parameter: 'messages[0].content[0].file.file_id'."},
		{user(`{"type":"file","file":{"file_data":"data:image/png;base64,` + png + `"}}`), "messages[0].content[0].file.file_data", content.CodeMedia, "Invalid file data: 'messages[0].content[0].file.file_data'. Expected"},
		{user(`{"type":"input_audio","input_audio":{"data":"?","format":"wav"}}`), "messages[0].content[0].input_audio.data", content.CodeMedia, "Invalid 'messages[0].content[0].input_audio.data'. Expected base64-encoded audio"},
		{messages(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"user","content":"hi"}`), "messages[1].role", content.CodePairing,
			"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a"},
		{messages(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"}`), "messages", content.CodePairing,
			"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: b"},
		{messages(`{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"a","content":"x"}`), "messages[1].role", content.CodePairing,
			"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."},
		{messages(`{"role":"tool","content":"x"}`), "messages[0].tool_call_id", content.CodeMissing, "Missing required parameter: 'messages[0].tool_call_id'."},
		{messages(`{"role":"function","content":"x"}`), "messages[0].name", content.CodeMissing, "Missing required parameter: 'messages[0].name'."},
		{messages(`{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":"{}"}}]}`), "messages[0].tool_calls[0].id", content.CodeMissing, "Missing required parameter"},
		{messages(`{"role":"assistant","tool_calls":[{"id":"a","type":"x","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"a","content":"x"}`), "messages[0].tool_calls[0].type", content.CodeValue, "Invalid value: 'x'. Supported values are: 'function' and 'custom'."},
		{messages(`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{}}}]},{"role":"tool","tool_call_id":"a","content":"x"}`), "messages[0].tool_calls[0].function.arguments", content.CodeType, "Invalid type for 'messages[0].tool_calls[0].function.arguments': expected a string, but got an object instead."},
		{messages(`{"role":"assistant","tool_calls":[{"id":"a","type":"function"}]},{"role":"tool","tool_call_id":"a","content":"x"}`), "messages[0].tool_calls[0].function", content.CodeMissing, "Missing required parameter"},

		{with(`"temperature":2.5`), "temperature", content.CodeRange, "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead."},
		{with(`"temperature":"1"`), "temperature", content.CodeType, "Invalid type for 'temperature': expected a decimal, but got a string instead."},
		{with(`"top_p":-1`), "top_p", content.CodeRange, "Invalid 'top_p': decimal below minimum value."},
		{with(`"presence_penalty":3`), "presence_penalty", content.CodeRange, "Invalid 'presence_penalty'"},
		{with(`"n":0`), "n", content.CodeRange, "Invalid 'n': integer below minimum value. Expected a value >= 1, but got 0 instead."},
		{with(`"n":130`), "n", content.CodeRange, "Invalid 'n': integer above maximum value. Expected a value <= 128, but got 130 instead."},
		{with(`"max_tokens":-1`), "max_tokens", content.CodeRange, "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got -1 instead."},
		{with(`"max_tokens":1.5`), "max_tokens", content.CodeType, "Invalid type for 'max_tokens': expected an integer, but got a decimal instead."},
		{with(`"max_tokens":1,"max_completion_tokens":1`), "max_tokens", content.CodeConflict, "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."},
		{with(`"stop":["a","b","c","d","e"]`), "stop", content.CodeLimit, "Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length 5 instead."},
		{with(`"stop":[1]`), "stop[0]", content.CodeType, "Invalid type for 'stop[0]'"},
		{with(`"stream_options":{"include_usage":true}`), "stream_options", content.CodeConflict, "The 'stream_options' parameter is only allowed when 'stream' is enabled."},
		{with(`"top_logprobs":2`), "top_logprobs", content.CodeConflict, "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled."},
		{with(`"logprobs":true,"top_logprobs":21`), "top_logprobs", content.CodeRange, "Invalid 'top_logprobs': integer above maximum value."},
		{with(`"logit_bias":{"5":101}`), "logit_bias.5", content.CodeRange, "Invalid 'logit_bias.5': integer above maximum value. Expected a value <= 100, but got 101 instead."},
		{with(`"logit_bias":{"5":-100.5}`), "logit_bias.5", content.CodeRange, "Invalid 'logit_bias.5': decimal below minimum value."},
		{with(`"metadata":{"a":1}`), "metadata.a", content.CodeType, "Invalid type for 'metadata.a': expected a string"},
		{with(`"response_format":{"type":"json"}`), "response_format.type", content.CodeValue, "Invalid value: 'json'. Supported values are: 'json_object', 'json_schema', and 'text'."},
		{with(`"response_format":{"type":"json_schema"}`), "response_format.json_schema", content.CodeMissing, "Missing required parameter: 'response_format.json_schema'."},
		{with(`"response_format":{"type":"json_schema","json_schema":{"name":"a b","schema":{}}}`), "response_format.json_schema.name", content.CodeValue, "Invalid 'response_format.json_schema.name': string does not match pattern."},
		{with(`"response_format":{}`), "response_format.type", content.CodeMissing, "Missing required parameter: 'response_format.type'."},
		{with(`"tools":[{"type":"function"}]`), "tools[0].function", content.CodeMissing, "Missing required parameter: 'tools[0].function'."},
		{with(`"tools":[{"type":"function","function":{}}]`), "tools[0].function.name", content.CodeMissing, "Missing required parameter: 'tools[0].function.name'."},
		{with(`"tools":[{"type":"function","function":{"name":"a b"}}]`), "tools[0].function.name", content.CodeValue,
			"Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."},
		{with(`"tools":[{"type":"function","function":{"name":"` + strings.Repeat("a", 65) + `"}}]`), "tools[0].function.name", content.CodeRange,
			"Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 65 instead."},
		{with(`"tools":[{"type":"custom","custom":{"name":"a","format":{"type":"grammar"}}}]`), "tools[0].custom.format.grammar", content.CodeMissing, "Missing required parameter"},
		{with(`"tools":[{"type":"function","function":{"name":"a","parameters":"x"}}]`), "tools[0].function.parameters", content.CodeType, "Invalid type for 'tools[0].function.parameters': expected an object"},
		{with(`"tools":[{}]`), "tools[0].type", content.CodeMissing, "Missing required parameter: 'tools[0].type'."},
		{with(`"functions":[{}]`), "functions[0].name", content.CodeMissing, "Missing required parameter: 'functions[0].name'."},
		{with(`"tool_choice":"some"`), "tool_choice", content.CodeValue, "Invalid value: 'some'. Supported values are: 'none', 'auto', and 'required'."},
		{with(`"tool_choice":{"type":"function"}`), "tool_choice.function", content.CodeMissing, "Missing required parameter: 'tool_choice.function'."},
		{with(`"tool_choice":{"type":"function","function":{}}`), "tool_choice.function.name", content.CodeMissing, "Missing required parameter: 'tool_choice.function.name'."},
		{with(`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"x","tools":[]}}`), "tool_choice.allowed_tools.mode", content.CodeValue, "Invalid value: 'x'. Supported values are: 'auto' and 'required'."},
		{with(`"tool_choice":1`), "tool_choice", content.CodeType, "Invalid type for 'tool_choice': expected one of a string or object, but got an integer instead."},
	} {
		_, _, err := DecodeRequest([]byte(tt.body), nil)
		list, _ := content.Violations(err)
		if len(list) != 1 || list[0].Path != tt.path || list[0].Code != tt.code || !strings.HasPrefix(list[0].Text, tt.text) {
			t.Errorf("%s\nwant %s %s %s", tt.body, tt.code, tt.path, tt.text)
			for _, v := range list {
				t.Errorf("got  %s %s %s", v.Code, v.Path, v.Text)
			}
		}
	}
}

// TestStrict has documents that only Strict refuses.
func TestStrict(t *testing.T) {
	with := func(members string) string {
		return `{"model":"m","messages":[{"role":"user","content":"hi"}],` + members + `}`
	}
	for _, tt := range []struct{ body, path string }{
		{with(`"x":1`), "x"},
		{with(`"top_k":1`), "top_k"},
		{with(`"service_tier":"x"`), "service_tier"},
		{with(`"reasoning_effort":"x"`), "reasoning_effort"},
		{with(`"tool_choice":"auto"`), "tool_choice"},
		{with(`"parallel_tool_calls":true`), "parallel_tool_calls"},
		{with(`"tools":[{"function":{"name":"f"}}]`), "tools[0].type"},
		{with(`"tools":[{"type":"web"}]`), "tools[0].type"},
		{with(`"tools":[{"type":"function","function":{"name":"f","x":1}}]`), "tools[0].function.x"},
		{with(`"tools":[{"type":"function","function":{"name":"f"}}],"tool_choice":{"type":"function","function":{"name":"g"}}`), "tool_choice"},
		{with(`"response_format":{"type":"json_object"}`), "response_format"},
		{with(`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`), "response_format.json_schema.name"},
		{`{"model":"m","messages":[{"role":"user","name":"a b","content":"hi"}]}`, "messages[0].name"},
		{`{"model":"m","messages":[{"role":"user","content":[]}]}`, "messages[0].content"},
		{`{"model":"m","messages":[{"role":"user","content":[{"type":"video_url"}]}]}`, "messages[0].content[0].type"},
		{`{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com","detail":"x"}}]}]}`, "messages[0].content[0].image_url.detail"},
		{`{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_data":"data:text/plain;base64,aGk="}}]}]}`, "messages[0].content[0].file.file_data"},
		{`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":[{"type":"image_url","image_url":{"url":"https://example.com"}}]}]}`, "messages[1].content[0].type"},
		{`{"model":"m","messages":[{"role":"assistant","content":"a","tool_calls":[]}]}`, "messages[0].tool_calls"},
	} {
		if _, _, err := DecodeRequest([]byte(tt.body), nil); err != nil {
			t.Errorf("%s: %v", tt.body, err)
		}
		_, _, err := DecodeRequest([]byte(tt.body), &ValidateOptions{Strict: true})
		if list, _ := content.Violations(err); len(list) != 1 || list[0].Path != tt.path {
			t.Errorf("%s: want %s, got %v", tt.body, tt.path, err)
		}
	}
}

func TestModelOfPath(t *testing.T) {
	body := []byte(`{"model":null,"messages":[{"role":"user","content":"hi"}]}`)
	if n, _, err := DecodeRequest(body, &ValidateOptions{Model: "deployment"}); err != nil || n.Model != "deployment" {
		t.Errorf("%+v, %v", n, err)
	}
	if _, _, err := DecodeRequest(body, nil); err == nil {
		t.Error("a request without a model is accepted")
	}
}

// TestCacheControl checks the cache marks of clients of OpenRouter, in the form of requests for Claude that
// such servers have accepted.
func TestCacheControl(t *testing.T) {
	r := parsed(t, `{"model":"anthropic/claude-sonnet-4.6","messages":[
		{"role":"system","content":[{"cache_control":{"ttl":"5m","type":"ephemeral"},"text":"s","type":"text"}]},
		{"role":"user","content":[{"type":"text","text":"u"},{"cache_control":{"type":"ephemeral"},"image_url":{"url":"https://example.com/a.png"},"type":"image_url"},
			{"type":"text","text":"v","cache_control":null}]}],
		"tools":[{"cache_control":{"ttl":"1h","type":"ephemeral"},"function":{"name":"f","parameters":{"type":"object"}},"type":"function"}]}`)
	if err := r.Validate(nil); err != nil {
		t.Fatal(err)
	}
	n := r.Upstream()
	got := []*content.Cache{n.System[0].(*content.Text).Cache, n.Turns[0].Parts[0].(*content.Text).Cache,
		n.Turns[0].Parts[1].(*content.Image).Cache, n.Turns[0].Parts[2].(*content.Text).Cache, n.Tools[0].Cache}
	want := []*content.Cache{{TTL: "5m"}, nil, {}, nil, {TTL: "1h"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("marks (-want +got):\n%s", diff)
	}
	for neutral, want := range map[string]string{
		"system.0.cache":        "messages[0].content[0].cache_control",
		"turns.0.parts.1.cache": "messages[1].content[1].cache_control",
		"tools.0.cache":         "tools[0].cache_control",
	} {
		if got := r.Path(neutral); got != want {
			t.Errorf("%s: got %s, want %s", neutral, got, want)
		}
	}
}
