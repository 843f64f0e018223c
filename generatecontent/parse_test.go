package generatecontent

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
)

func extra(json string) *content.Extra { return &content.Extra{Format: Format, JSON: json} }

func plainText(s string) *content.Text { return &content.Text{Text: s} }

func signed(s string) content.Signature { return content.Signature{Format: Format, Data: s} }

func TestParseAllFields(t *testing.T) {
	body := `{"model":"models/m","contents":[
	 {"role":"user","parts":[{"text":"a\n"},
	  {"inlineData":{"mimeType":"image/png","data":"AAAA","displayName":"d"},"mediaResolution":{"level":"MEDIA_RESOLUTION_LOW"}},
	  {"inlineData":{"mimeType":"audio/wav","data":"AAAA"}},{"inlineData":{"mimeType":"text/csv","data":"AAAA"}},
	  {"fileData":{"mimeType":"video/mp4","fileUri":"https://www.youtube.com/watch?v=x"}},
	  {"fileData":{"mimeType":"application/pdf","fileUri":"https://generativelanguage.googleapis.com/v1beta/files/f"}}]},
	 {"role":"model","parts":[{"text":"h","thought":true},{"text":"b","thoughtSignature":"AAAA"},
	  {"functionCall":{"id":"i","name":"f","args":{"b":1,"a":2}},"thoughtSignature":"AA=="},
	  {"executableCode":{"id":"e","language":"PYTHON","code":"c"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"o"}},
	  {"toolCall":{"id":"t","toolType":"URL_CONTEXT","args":{"u":1}}},{"toolResponse":{"id":"t","toolType":"URL_CONTEXT","response":{"r":1}}},
	  {"newKind":{"x":1}}]},
	 {"role":"user","parts":[{"functionResponse":{"id":"i","name":"f","response":{"output":"ok"}}},
	  {"functionResponse":{"name":"g","response":{"output":{"t":1}},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}},
	  {"functionResponse":{"name":"h","response":{"error":"bad"},"willContinue":true}},
	  {"functionResponse":{"name":"k","response":{"x":1,"error":"bad"}}},{"functionResponse":{"name":"l","response":{"result":"r"}}}]}],
	 "systemInstruction":{"role":"user","parts":[{"text":"s"}]},
	 "tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"OBJECT"},"responseJsonSchema":{"b":1},"behavior":"BLOCKING"}]},
	  {"googleSearch":{}}],
	 "toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]},"retrievalConfig":{"languageCode":"de"},"includeServerSideToolInvocations":true},
	 "safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF","method":"SEVERITY"}],
	 "generationConfig":{"temperature":0.5,"topK":3,"stopSequences":["e"],"responseModalities":["TEXT","IMAGE"],"imageConfig":{"aspectRatio":"1:1"},
	  "thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"},"responseMimeType":"application/json","responseSchema":{"type":"STRING"},
	  "speechConfig":{"languageCode":"de"},"audioTimestamp":true},
	 "cachedContent":"c","serviceTier":"flex","store":true,"labels":{"a":"b"},"continuationToken":"AAAA","processingOptions":{"p":1},"x":[1]}`
	image := func() *content.Base64 { return &content.Base64{MediaType: "image/png", Data: "AAAA"} }
	temperature, topK, yes := 0.5, int64(3), true
	want := &Request{
		Model: "models/m",
		Contents: []content.Turn{
			{Role: content.RoleUser, Parts: []content.Part{plainText("a\n"),
				&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "AAAA", Extra: extra(`{"displayName":"d"}`)},
					Extra: extra(`{"mediaResolution":{"level":"MEDIA_RESOLUTION_LOW"}}`)},
				&content.Media{Source: &content.Base64{MediaType: "audio/wav", Data: "AAAA"}},
				&content.Document{Source: &content.Base64{MediaType: "text/csv", Data: "AAAA"}},
				&content.Media{Source: &content.URL{URL: "https://www.youtube.com/watch?v=x", MediaType: "video/mp4"}},
				&content.Document{Source: &content.File{ID: "https://generativelanguage.googleapis.com/v1beta/files/f", MediaType: "application/pdf"}}}},
			{Role: content.RoleAssistant, Parts: []content.Part{&content.Thinking{Text: "h"},
				&content.Text{Text: "b", Signature: signed("AAAA")},
				&content.ToolUse{ID: "i", Name: "f", Input: `{"b":1,"a":2}`, Signature: signed("AA==")},
				&content.ServerToolUse{Format: Format, Kind: "executableCode", ID: "e", Name: "codeExecution", Input: `{"language":"PYTHON","code":"c"}`},
				&content.ServerToolResult{Format: Format, Kind: "codeExecutionResult", Content: `{"outcome":"OUTCOME_OK","output":"o"}`},
				&content.ServerToolUse{Format: Format, Kind: "toolCall", ID: "t", Name: "URL_CONTEXT", Input: `{"u":1}`},
				&content.ServerToolResult{Format: Format, Kind: "toolResponse", ID: "t", Content: `{"toolType":"URL_CONTEXT","response":{"r":1}}`},
				&content.Unknown{Format: Format, Kind: "newKind", Raw: `{"newKind":{"x":1}}`}}},
			{Role: content.RoleUser, Parts: []content.Part{
				&content.ToolResult{ID: "i", Name: "f", Parts: []content.Part{plainText("ok")}},
				&content.ToolResult{Name: "g", Object: `{"output":{"t":1}}`,
					Parts: []content.Part{plainText(`{"t":1}`), &content.Image{Source: image()}}},
				&content.ToolResult{Name: "h", Error: true, Parts: []content.Part{plainText("bad")},
					Extra: extra(`{"functionResponse":{"willContinue":true}}`)},
				&content.ToolResult{Name: "k", Error: true, Object: `{"x":1,"error":"bad"}`,
					Parts: []content.Part{plainText(`{"x":1,"error":"bad"}`)}},
				&content.ToolResult{Name: "l", Object: `{"result":"r"}`, Parts: []content.Part{plainText("r")}}}},
		},
		SystemInstruction: &Instruction{Parts: []content.Part{plainText("s")}},
		Tools: []content.Tool{
			{Name: "f", Description: "d", Input: content.Schema{JSON: `{"type":"OBJECT"}`, OpenAPI: true},
				Output: content.Schema{JSON: `{"b":1}`}, Extra: extra(`{"behavior":"BLOCKING"}`)},
			{Kind: "googleSearch", Format: Format, Raw: "{}"}},
		ToolConfig: &ToolConfig{FunctionCalling: &FunctionCalling{Mode: "ANY", AllowedFunctionNames: []string{"f"}},
			IncludeServerSideToolInvocations: true, Extra: extra(`{"retrievalConfig":{"languageCode":"de"}}`)},
		SafetySettings: []SafetySetting{{Category: "HARM_CATEGORY_HARASSMENT", Threshold: "OFF", Extra: extra(`{"method":"SEVERITY"}`)}},
		GenerationConfig: &GenerationConfig{Temperature: &temperature, TopK: &topK, StopSequences: []string{"e"},
			ResponseModalities: []string{"TEXT", "IMAGE"}, ImageConfig: &ImageConfig{AspectRatio: "1:1"},
			ThinkingConfig:   &ThinkingConfig{IncludeThoughts: &yes, ThinkingLevel: "LOW"},
			ResponseMimeType: "application/json", ResponseSchema: `{"type":"STRING"}`,
			Extra: extra(`{"speechConfig":{"languageCode":"de"},"audioTimestamp":true}`)},
		CachedContent: "c", ServiceTier: "flex", Store: &yes,
		Extra: extra(`{"labels":{"a":"b"},"continuationToken":"AAAA","processingOptions":{"p":1},"x":[1]}`),
	}
	got, err := ParseRequest([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, ignoreOrigin); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	checkRoundTrip(t, got)
}

// TestParseSyntaxErrors checks errors after which ParseRequest returns no request.
func TestParseSyntaxErrors(t *testing.T) {
	tests := []struct {
		name, body string
		code       content.Code
		text       string // its end
	}{
		{"empty", "", content.CodeMissing, "contents is not specified"},
		{"not an object", "[]", content.CodeType, "The request must be an object."},
		{"cut", "{\"model\":\n\"m\"", content.CodeSyntax, " at line 2, column 4"},
		{"twice", `{"labels":{"a":"","\u0061":""}}`, content.CodeSyntax, `. Duplicate member name "a" at line 1, column 19`},
		{"NaN", `{"generationConfig":{"topP":NaN}}`, content.CodeSyntax, " at line 1, column 29"},
		{"half a surrogate pair", `{"model":"\ud800"}`, content.CodeSyntax, " at line 1, column 11"},
		{"deep", strings.Repeat("[", 257) + strings.Repeat("]", 257), content.CodeLimit, " at line 1, column 257"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseRequest([]byte(tt.body))
			var got *content.Violation
			if r != nil || !errors.As(err, &got) {
				t.Fatalf("got %v, %v", r, err)
			}
			path, head := "", "Invalid JSON payload received. "
			if tt.code == content.CodeMissing {
				path, head = "contents", ""
			}
			if got.Code != tt.code || got.Path != path || !strings.HasPrefix(got.Text, head) || !strings.HasSuffix(got.Text, tt.text) {
				t.Errorf("got %q %q %q, want %q …%q", got.Code, got.Path, got.Text, tt.code, tt.text)
			}
		})
	}
	if _, err := parseRequest(`{"x":[[]]}`, reading{limits: content.Limits{Depth: 2}}); err == nil {
		t.Error("a lower limit of depth has no effect")
	}
	_, err := parseRequest(`{"generationConfig":{"mediaResolution":99}}`, reading{version: "v1"})
	if got := formattest.Violations(err); len(got) != 1 || !strings.Contains(got[0], "generativelanguage.v1.GenerationConfig.MediaResolution") {
		t.Errorf("the version is not in %q", got)
	}
}

func TestParseCount(t *testing.T) {
	r, err := ParseCountRequest([]byte(`{"contents":[{"parts":[{"text":"a"}]}],"systemInstruction":{"parts":[{"text":"s"}]}}`))
	if err != nil || len(r.Contents) != 1 || r.SystemInstruction == nil {
		t.Errorf("%+v, %v", r, err)
	}
	nested := `{"generate_content_request":{"model":"models/m","contents":[{"parts":[{}]}]}}`
	r, err = ParseCountRequest([]byte(nested))
	if err != nil || r.Model != "models/m" {
		t.Errorf("%+v, %v", r, err)
	}
	want := []string{"missing generate_content_request.contents[0].parts[0].data: " + textNoData}
	if diff := cmp.Diff(want, formattest.Violations(r.Validate(&ValidateOptions{Count: true}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err = ParseCountRequest([]byte(`{"contents":[],"generateContentRequest":{"contents":[1]},"tools":[]}`))
	want = []string{
		`type : Invalid value (oneof), oneof field 'request' is already set. Cannot set 'contents'`,
		`unknown : Invalid JSON payload received. Unknown name "tools": It belongs in "generateContentRequest".`,
		`type generate_content_request.contents[0]: Invalid value at 'generate_content_request.contents[0]' (` + api + `Content), 1`,
	}
	if diff := cmp.Diff(want, formattest.Violations(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnknownNames checks that all unknown names are reported, in every place.
func TestUnknownNames(t *testing.T) {
	r, err := ParseRequest([]byte(`{"foo":1,"contents":[{"parts":[{"text":"a","bar":1}]}],"tools":[{"functionDeclarations":[{"name":"f",` +
		`"parameters":{"type":"OBJECT","additionalProperties":false}}]}],"generationConfig":{"speechConfig":{"baz":1}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(nil); err != nil {
		t.Errorf("by default: %v", err)
	}
	const head = "Invalid JSON payload received. Unknown name "
	want := []string{
		`unknown : ` + head + `"foo": Cannot find field.`,
		`unknown contents[0].parts[0]: ` + head + `"bar" at 'contents[0].parts[0]': Cannot find field.`,
		`unknown tools[0].function_declarations[0].parameters: ` + head +
			`"additionalProperties" at 'tools[0].function_declarations[0].parameters': Cannot find field.`,
		`unknown generation_config.speech_config: ` + head + `"baz" at 'generation_config.speech_config': Cannot find field.`,
	}
	if diff := cmp.Diff(want, formattest.Violations(r.Validate(&ValidateOptions{Strict: true}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnknownValues checks that unknown values are kept, and that Strict refuses them.
func TestUnknownValues(t *testing.T) {
	const doc = `{"contents":[` + ask + `],"safetySettings":[{"category":"HARM_CATEGORY_NEW","threshold":"a b"}],` +
		`"generationConfig":{"responseMimeType":"text/new","responseModalities":["text","HOLOGRAM"],"imageConfig":{"aspectRatio":"5:3","imageSize":"8K"},` +
		`"mediaResolution":"new"},"serviceTier":"turbo-2"}`
	r, err := ParseRequest([]byte(doc))
	if err == nil {
		err = r.Validate(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.AppendJSON(nil)
	if diff := sameJSON(t, strings.Replace(doc, `"text",`, `"TEXT",`, 1), string(got)); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	checkRoundTrip(t, r)
	const head = "Invalid value at '"
	enums := []string{
		"type safety_settings[0].category: " + head + "safety_settings[0].category' (" + api + `HarmCategory), "HARM_CATEGORY_NEW"`,
		"type safety_settings[0].threshold: " + head + "safety_settings[0].threshold' (" + api + `SafetySetting.HarmBlockThreshold), "a b"`,
		"type generation_config.response_modalities[1]: " + head + "generation_config.response_modalities[1]' (" + api + `GenerationConfig.Modality), "HOLOGRAM"`,
		"type generation_config.media_resolution: " + head + "generation_config.media_resolution' (" + api + `GenerationConfig.MediaResolution), "new"`,
		"type service_tier: " + head + "service_tier' (" + api + `ServiceTier), "turbo-2"`,
	}
	rules := []string{
		"value generation_config.image_config.aspect_ratio: '5:3' is not supported: allowed values are '" + strings.Join(aspectRatios, "', '") + "'",
		"value generation_config.image_config.image_size: '8K' is not supported: allowed values are '512', '1K', '2K', '4K'",
		"value generation_config.response_mime_type: 'text/new' is not supported: allowed values are '" + strings.Join(mimeTypes, "', '") + "'",
	}
	if diff := cmp.Diff(append(enums, rules...), formattest.Violations(r.Validate(&ValidateOptions{Strict: true}))); diff != "" {
		t.Errorf("strict (-want +got):\n%s", diff)
	}
}

const api = "type.googleapis.com/google.ai.generativelanguage.v1beta."

var violationTests = []struct {
	body string
	want []string
}{
	{`{"contents":[{"parts":[{"text":"a","inlineData":{}}]}]}`, []string{
		`type contents[0].parts[0]: Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'inlineData'`}},
	{`{"systemInstruction":"be brief"}`, []string{
		`type system_instruction: Invalid value at 'system_instruction' (` + api + `Content), "be brief"`}},
	{`{"toolConfig":{"functionCallingConfig":{"mode":"SOME"}}}`, []string{
		`type tool_config.function_calling_config.mode: Invalid value at 'tool_config.function_calling_config.mode' (` + api + `FunctionCallingConfig.Mode), "SOME"`}},
	{`{"safetySettings":[{"threshold":["SOME"]},{"category":99}]}`, []string{
		`type safety_settings[0]: Invalid JSON payload received. Unknown name "threshold" at 'safety_settings[0]': Proto field is not repeating, cannot start list.`,
		`type safety_settings[1].category: Invalid value at 'safety_settings[1].category' (` + api + `HarmCategory), 99`}},
	{`{"generationConfig":{"thinkingConfig":{"thinkingLevel":"BOGUS","thinkingBudget":1.5}}}`, []string{
		`type generation_config.thinking_config.thinking_level: Invalid value at 'generation_config.thinking_config.thinking_level' (` + api + `ThinkingConfig.ThinkingLevel), "BOGUS"`,
		`type generation_config.thinking_config.thinking_budget: Invalid value at 'generation_config.thinking_config.thinking_budget' (TYPE_INT32), 1.5`}},
	{`{"generationConfig":{"maxOutputTokens":"abc","topK":3000000000,"seed":1e2,"temperature":"NaN","logprobs":{}}}`, []string{
		`type generation_config.max_output_tokens: Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32), "abc"`,
		`type generation_config.top_k: Invalid value at 'generation_config.top_k' (TYPE_INT32), 3000000000`,
		`type generation_config.seed: Invalid value at 'generation_config.seed' (TYPE_INT32), 1e2`,
		`type generation_config.temperature: Invalid value at 'generation_config.temperature' (TYPE_FLOAT), "NaN"`,
		`type generation_config.logprobs: Invalid value at 'generation_config.logprobs' (TYPE_INT32), Starting an object on a scalar field`}},
	{`{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","data":"a b"},"thoughtSignature":"!"}]}]}`, []string{
		`type contents[0].parts[0].thought_signature: Invalid value at 'contents[0].parts[0].thought_signature' (TYPE_BYTES), Base64 decoding failed for "!"`,
		`type contents[0].parts[0].inline_data.data: Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed for "a b"`}},
	{`{"generationConfig":{"responseSchema":{"type":["STRING"],"properties":{"a":{"type":"odd"}}}}}`, []string{
		`type generation_config.response_schema: Invalid JSON payload received. Unknown name "type" at 'generation_config.response_schema': Proto field is not repeating, cannot start list.`,
		`type generation_config.response_schema.properties[0].value.type: Invalid value at 'generation_config.response_schema.properties[0].value.type' (` + api + `Type), "odd"`}},
	// Names that a lenient parser would accept, and both spellings at once.
	{`{"Contents":[],"generation_config":{"TopK":1},"generationConfig":{}}`, []string{
		`unknown : Invalid JSON payload received. Unknown name "Contents": Cannot find field. Did you mean "contents"?`,
		`unknown generation_config: Invalid JSON payload received. Unknown name "TopK" at 'generation_config': Cannot find field. Did you mean "topK"?`,
		`unknown : Invalid JSON payload received. Unknown name "generationConfig": The field is already set as "generationConfig" or "generation_config".`}},
	{`{"contents":[{"parts":[{"inlineData\u0000x":{}}]}]}`, []string{
		"unknown contents[0].parts[0]: Invalid JSON payload received. Unknown name \"inlineData\x00x\" at 'contents[0].parts[0]': Cannot find field. Did you mean \"inlineData\"?"}},
	// Null elements, unknown roles, two dialects of a schema.
	{`{"contents":[null,{"role":"assistant","parts":[null]}]}`, []string{
		`type contents[0]: Invalid value at 'contents[0]' (` + api + `Content), null`,
		`value contents[1].role: Please use a valid role: user, model.`,
		`type contents[1].parts[0]: Invalid value at 'contents[1].parts[0]' (` + api + `Part), null`}},
	{`{"tools":[{"functionDeclarations":[{"name":"f","parameters":{},"parametersJsonSchema":{}}]}]}`, []string{
		`conflict tools[0].function_declarations[0]: parameters and parameters_json_schema must not both be set`}},
	{`{"contents":[{"parts":[{"functionCall":{"args":"{}"}},{"functionResponse":{"response":[]}},{"functionResponse":{"parts":[1]}}]}]}`, []string{
		`type contents[0].parts[0].function_call.args: Invalid value at 'contents[0].parts[0].function_call.args' (type.googleapis.com/google.protobuf.Struct), "{}"`,
		`type contents[0].parts[1].function_response: Invalid JSON payload received. Unknown name "response" at 'contents[0].parts[1].function_response': Proto field is not repeating, cannot start list.`,
		`type contents[0].parts[2].function_response.parts[0]: Invalid value at 'contents[0].parts[2].function_response.parts[0]' (` + api + `FunctionResponsePart), 1`}},
	{`{"labels":[1],"store":"true","continuationToken":"*","contents":[{"parts":[{"videoMetadata":"1s","text":"a"}]}]}`, []string{
		`type store: Invalid value at 'store' (TYPE_BOOL), "true"`,
		`type contents[0].parts[0].video_metadata: Invalid value at 'contents[0].parts[0].video_metadata' (` + api + `VideoMetadata), "1s"`,
		`type : Invalid JSON payload received. Unknown name "labels": Proto field is not repeating, cannot start list.`,
		`type continuation_token: Invalid value at 'continuation_token' (TYPE_BYTES), Base64 decoding failed for "*"`}},
}

func TestParseViolations(t *testing.T) {
	for _, tt := range violationTests {
		r, err := ParseRequest([]byte(tt.body))
		if diff := cmp.Diff(tt.want, formattest.Violations(err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.body, diff)
		}
		// Validate reports the same violations and adds no others for them.
		got := formattest.Violations(r.Validate(nil))
		if len(got) < len(tt.want) || !cmp.Equal(got[:len(tt.want)], tt.want) {
			t.Errorf("%s: Validate reports\n%q", tt.body, got)
		}
	}
}
