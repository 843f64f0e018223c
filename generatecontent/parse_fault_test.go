package generatecontent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/formattest"
)

const api = "type.googleapis.com/google.ai.generativelanguage.v1beta."

var faultTests = []struct {
	body string
	want []string
}{
	{`{"contents":[{"parts":[{"text":"a","inlineData":{}}]}]}`, []string{
		`type contents[0].parts[0]: Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'inlineData'`}},
	{`{"systemInstruction":"be brief"}`, []string{
		`type system_instruction: Invalid value at 'system_instruction' (` + api + `Content), "be brief"`}},
	{`{"safetySettings":[{"threshold":"SOME"}]}`, []string{
		`type safety_settings[0].threshold: Invalid value at 'safety_settings[0].threshold' (` + api + `SafetySetting.HarmBlockThreshold), "SOME"`}},
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
	// Names that a laxer reader would know, and both spellings at once.
	{`{"Contents":[],"generation_config":{"TopK":1},"generationConfig":{}}`, []string{
		`unknown : Invalid JSON payload received. Unknown name "Contents": Cannot find field. Did you mean "contents"?`,
		`unknown generation_config: Invalid JSON payload received. Unknown name "TopK" at 'generation_config': Cannot find field. Did you mean "topK"?`,
		`unknown : Invalid JSON payload received. Unknown name "generationConfig": The field is already set as "generationConfig" or "generation_config".`}},
	{`{"contents":[{"parts":[{"inlineData\u0000x":{}}]}]}`, []string{
		"unknown contents[0].parts[0]: Invalid JSON payload received. Unknown name \"inlineData\x00x\" at 'contents[0].parts[0]': Cannot find field. Did you mean \"inlineData\"?"}},
	// null is no element; roles are few; a schema has one dialect.
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
	{`{"labels":{"a":1},"store":"true","continuationToken":"*","contents":[{"parts":[{"videoMetadata":{"startOffset":"1"},"text":"a"}]}]}`, []string{
		`type labels[0].value: Invalid value at 'labels[0].value' (TYPE_STRING), 1`,
		`type store: Invalid value at 'store' (TYPE_BOOL), "true"`,
		`type continuation_token: Invalid value at 'continuation_token' (TYPE_BYTES), Base64 decoding failed for "*"`,
		`type contents[0].parts[0].video_metadata.start_offset: Invalid value at 'contents[0].parts[0].video_metadata.start_offset' (type.googleapis.com/google.protobuf.Duration), "1"`}},
}

func TestParseFaults(t *testing.T) {
	for _, tt := range faultTests {
		r, err := ParseRequestString(tt.body)
		if diff := cmp.Diff(tt.want, formattest.Faults(err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.body, diff)
		}
		// Validate tells them again, and does not repeat them in other words.
		got := formattest.Faults(r.Validate(nil))
		if len(got) < len(tt.want) || !cmp.Equal(got[:len(tt.want)], tt.want) {
			t.Errorf("%s: Validate tells\n%q", tt.body, got)
		}
	}
}
