package e2e

import "testing"

// askedO1 and askedR1 are requests with one text in OpenAI's formats.
const (
	askedO1 = `"messages":[{"role":"user","content":"T1"}]`
	askedR1 = `"input":"T1"`
)

// chatFeatures are requests of clients of Chat Completions: openai-clients.md §5 and openai.md §2.
var chatFeatures = []feature{
	{
		name: "texts of all roles",
		body: `"messages":[{"role":"system","content":"S1"},{"role":"developer","name":"boss","content":[{"type":"text","text":"S2"},{"type":"text","text":"S3"}]},
			{"role":"user","name":"ada","content":"T1"},{"role":"assistant","content":"A1"},{"role":"user","content":[{"type":"text","text":"T2"},{"type":"text","text":"T3"}]}]`,
		marks: []string{"S1 @ system.0", "S2 @ system.1", "S3 @ system.2", "T1 @ turns.0", "A1 @ turns.1", "T2 @ turns.2", "T3 @ turns.2", "boss @ system.1", "ada @ turns.0"},
	},
	{
		name:  "system text in the middle",
		body:  `"messages":[{"role":"user","content":"T1"},{"role":"assistant","content":"A1"},{"role":"developer","content":"S1"},{"role":"user","content":"T2"}]`,
		marks: []string{"T1 @ turns.0", "A1 @ turns.1", "S1 @ turns.2", "T2 @ turns.3"},
	},
	{
		name: "calls and results",
		body: `"messages":[{"role":"user","content":"T1"},{"role":"assistant","content":"A1","tool_calls":[{"id":"c1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"AR1\"}"}},
			{"id":"c2","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"AR2\"}"}}]},{"role":"tool","tool_call_id":"c2","content":"RE2"},
			{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"RE1"}]},{"role":"user","content":"T2"}],` + chatToolbox,
		marks: []string{"T1 @ turns.0", "A1 @ turns.1.parts.0", "AR1 @ turns.1.parts.1", "AR2 @ turns.1.parts.2", "RE1 @ turns.2", "RE2 @ turns.2", "T2 @ turns.3", "get_weather @ tools.0"},
	},
	{
		name:  "calls without text",
		body:  `"messages":[{"role":"user","content":"T1"},{"role":"assistant","content":"","refusal":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"get_time","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"RE1"}],` + chatToolbox,
		marks: []string{"get_time @ turns.1.parts.0", "RE1 @ turns.2"},
	},
	{
		name:  "refusal of the assistant",
		body:  `"messages":[{"role":"user","content":"T1"},{"role":"assistant","content":null,"refusal":"NO1"},{"role":"user","content":"T2"}]`,
		marks: []string{"NO1 @ turns.1"},
	},
	{
		name: "images, a file and audio",
		body: `"messages":[{"role":"user","content":[{"type":"text","text":"T1"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + testPNG + `","detail":"high"}},
			{"type":"file","file":{"filename":"FI1.pdf","file_data":"data:application/pdf;base64,` + testPDF + `"}}]}]`,
		marks: []string{"IHDR @ turns.0.parts.1", "trailer @ turns.0.parts.2", "FI1 @ turns.0.parts.2"},
	},
	{
		name:  "a link to an image",
		body:  `"messages":[{"role":"user","content":[{"type":"text","text":"T1"},{"type":"image_url","image_url":{"url":"https://a.example/x.png"}}]}]`,
		marks: []string{"IHDR @ turns.0.parts.1"},
	},
	{
		name:  "thinking of another server",
		body:  `"messages":[{"role":"user","content":"T1"},{"role":"assistant","reasoning_content":"TH1","content":"A1"},{"role":"user","content":"T2"}]`,
		marks: []string{"A1 @ turns.1", "TH1 @ turns.1.parts.0"},
	},
	{
		name: "functions, deprecated",
		body: `"functions":[{"name":"fu1","description":"DE1","parameters":{"type":"object"}}],"function_call":{"name":"fu1"},
			"messages":[{"role":"user","content":"T1"},{"role":"assistant","content":null,"function_call":{"name":"fu1","arguments":"{\"a\":\"AR1\"}"}},{"role":"function","name":"fu1","content":"RE1"}]`,
		marks: []string{"fu1 @ tools.0", "DE1 @ tools.0", "AR1 @ turns.1", "RE1 @ turns.2"},
	},
	{
		name:  "strict tools and a choice",
		body:  `"tools":[{"type":"function","function":{"name":"t1","strict":true,"parameters":{"type":"object","properties":{"pr1":{"type":"string"}},"required":["pr1"],"additionalProperties":false}}}],"tool_choice":{"type":"function","function":{"name":"t1"}},"parallel_tool_calls":false,` + askedO1,
		marks: []string{"t1 @ tools.0", "pr1 @ tools.0"},
	},
	{
		name:  "allowed tools",
		body:  chatToolbox + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[{"type":"function","function":{"name":"get_time"}}]}},` + askedO1,
		marks: []string{"get_time @ tools.1"},
	},
	{
		name: "sampling",
		body: `"max_completion_tokens":70001,"temperature":0.25,"top_p":0.375,"seed":70002,"presence_penalty":0.125,"frequency_penalty":0.0625,"stop":["EN1","EN2"],"logit_bias":{"70003":5},` + askedO1,
		marks: []string{"70001 @ max_tokens", "0.25 @ temperature", "0.375 @ top_p", "70002 @ seed", "0.125 @ presence_penalty", "0.0625 @ frequency_penalty",
			"EN1 @ stop_sequences", "EN2 @ stop_sequences", "70003 @ extra.logit_bias"},
	},
	{
		name: "members of the vendor",
		body: `"metadata":{"k":"ME1"},"store":true,"user":"US1","safety_identifier":"SA1","prompt_cache_key":"CK1","prompt_cache_retention":"24h","service_tier":"flex",
			"prediction":{"type":"content","content":"PR1"},"web_search_options":{"search_context_size":"low"},"moderation":{"model":"MO1"},"verbosity":"low",` + askedO1,
		marks: []string{"ME1 @ extra.metadata", "store @ extra.store", "US1 @ extra.user", "SA1 @ user_id", "CK1 @ extra.prompt_cache_key", "24h @ extra.prompt_cache_retention",
			"flex @ service_tier", "PR1 @ extra.prediction", "low @ extra.web_search_options", "MO1 @ extra.moderation", "verbosity @ output.verbosity"},
	},
	{
		name:  "unknown members",
		body:  `"unknown_one":"UN1","messages":[{"role":"user","content":[{"type":"text","text":"T1","unknown_two":"UN2"}],"unknown_three":"UN3"}]`,
		marks: []string{"UN1 @ extra.unknown_one", "UN2 @ turns.0", "UN3 @ turns.0"},
	},
	{
		name:  "JSON without a schema",
		body:  `"response_format":{"type":"json_object"},"messages":[{"role":"user","content":"T1 as json"}]`,
		marks: []string{"T1 @ turns.0"},
		sent:  map[string][]string{toGemini: {"generationConfig.responseMimeType = application/json"}, toResp: {"text.format.type = json_object"}},
	},
}

// responsesFeatures are requests of clients of Responses: openai-clients.md §3 and §4.
var responsesFeatures = []feature{
	{
		name: "items",
		body: `"instructions":"S1","input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"S2"}]},{"type":"message","id":"msg_1","role":"user","content":[{"type":"input_text","text":"T1"}]},
			{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"SU1"}],"content":null},
			{"type":"message","id":"msg_2","role":"assistant","status":"completed","content":[{"type":"output_text","text":"A1","annotations":[]}]},
			{"type":"function_call","id":"fc_1","call_id":"c1","name":"get_weather","arguments":"{\"city\":\"AR1\"}","status":"completed"},
			{"type":"function_call","id":"fc_2","call_id":"c2","name":"get_time","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":"RE1"},{"type":"function_call_output","id":"fco_1","call_id":"c2","output":[{"type":"input_text","text":"RE2"}]},
			{"role":"user","content":"T2"}],` + responsesToolbox,
		marks: []string{"S1 @ system.0", "S2 @ system.1", "T1 @ turns.0", "SU1 @ turns.1.parts.0", "A1 @ turns.1.parts.1", "AR1 @ turns.1.parts.2", "get_time @ turns.1.parts.3", "RE1 @ turns.2", "RE2 @ turns.2", "T2 @ turns.2"},
	},
	{
		name: "files",
		body: `"input":[{"role":"user","content":[{"type":"input_text","text":"T1"},{"type":"input_image","image_url":"data:image/png;base64,` + testPNG + `","detail":"original"},
			{"type":"input_file","filename":"FI1.pdf","file_data":"data:application/pdf;base64,` + testPDF + `"}]},
			{"type":"function_call","call_id":"c1","name":"get_time","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":[{"type":"input_image","image_url":"data:image/png;base64,` + testPNG + `"}]}],` + responsesToolbox,
		marks: []string{"T1 @ turns.0.parts.0", "IHDR @ turns.0.parts.1", "trailer @ turns.0.parts.2", "FI1 @ turns.0.parts.2"},
	},
	{
		name:  "a refusal, and a message that is incomplete",
		body:  `"input":[{"role":"user","content":"T1"},{"type":"message","id":"msg_1","role":"assistant","status":"incomplete","content":[{"type":"refusal","refusal":"NO1"}]},{"role":"user","content":"T2"}]`,
		marks: []string{"NO1 @ turns.1", "T2 @ turns.2"},
	},
	{
		name: "tools in an item",
		body: `"input":[{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"t1","description":"DE1","parameters":{"type":"object","properties":{"pr1":{"type":"string","encrypted":true}}}}]},
			{"role":"user","content":"T1"}]`,
		marks: []string{"t1 @ tools.0", "DE1 @ tools.0", "pr1 @ tools.0"},
	},
	{
		name:  "tools of the vendor",
		body:  `"tools":[{"type":"web_search","external_web_access":true},{"type":"tool_search","execution":"client","parameters":{"type":"object"}},{"type":"function","name":"t1","parameters":{"type":"object"},"strict":null}],` + askedR1,
		marks: []string{"web_search @ tools.0", "tool_search @ tools.1", "t1 @ tools.2"},
	},
	{
		name:  "calls of the vendor's tools",
		body:  `"input":[{"role":"user","content":"T1"},{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"QU1"}},{"role":"assistant","content":[{"type":"output_text","text":"A1"}]},{"role":"user","content":"T2"}],"tools":[{"type":"web_search"}]`,
		marks: []string{"QU1 @ turns.1.parts.0", "A1 @ turns.1", "T2 @ turns.2"},
	},
	{
		name:  "a summary of the vendor",
		body:  `"input":[{"type":"compaction","id":"cmp_1","encrypted_content":"EN1"},{"role":"user","content":"T1"}]`,
		fails: map[string]string{toClaude: "encrypted", toGemini: "encrypted", toChat: "encrypted"},
		marks: []string{"T1 @ turns.0"},
	},
	{
		name: "settings",
		body: `"max_output_tokens":70001,"temperature":0.25,"top_p":0.375,"max_tool_calls":70002,"parallel_tool_calls":false,"truncation":"auto","service_tier":"flex","user":"US1","safety_identifier":"SA1",
			"prompt_cache_key":"CK1","metadata":{"k":"ME1"},"store":true,"client_metadata":{"k":"CM1"},"text":{"verbosity":"low"},"include":["web_search_call.action.sources"],` + responsesToolbox + "," + askedR1,
		marks: []string{"70001 @ max_tokens", "0.25 @ temperature", "0.375 @ top_p", "70002 @ extra.max_tool_calls", "truncation @ extra.truncation", "flex @ service_tier", "US1 @ extra.user",
			"SA1 @ user_id", "CK1 @ extra.prompt_cache_key", "ME1 @ extra.metadata", "store @ extra.store", "CM1 @ extra.client_metadata", "verbosity @ output.verbosity", "web_search_call.action.sources @ extra.include"},
	},
	{
		name:  "unknown members",
		body:  `"unknown_one":"UN1","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"T1","unknown_two":"UN2"}],"internal_chat_message_metadata_passthrough":{"turn_id":"UN3"}}]`,
		marks: []string{"UN1 @ extra.unknown_one", "UN2 @ turns.0", "UN3 @ turns.0"},
	},
	{
		name:  "unknown items",
		body:  `"input":[{"role":"user","content":"T1"},{"type":"hologram","id":"ho_1","data":"UN1"},{"role":"user","content":"T2"}]`,
		marks: []string{"UN1 @ turns", "T1 @ turns.0", "T2 @ turns"},
	},
	{
		name:  "efforts",
		body:  `"reasoning":{"effort":"high","summary":"auto","context":"current_turn"},` + askedR1,
		marks: []string{"current_turn @ extra.reasoning"},
	},
}

// TestChatFeatures and TestResponsesFeatures check that nothing of a request is dropped silently.
func TestChatFeatures(t *testing.T) { runFeatures(t, endpointNamed("chatcompletions"), chatFeatures) }

func TestResponsesFeatures(t *testing.T) {
	runFeatures(t, endpointNamed("responses"), responsesFeatures)
}
