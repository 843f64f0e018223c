package generatecontent

import (
	"strings"
	"testing"
)

// TestOriginal checks the document's indices of parts after dropped ones.
func TestOriginal(t *testing.T) {
	r, err := ParseRequest([]byte(`{"contents":[{"parts":[{},{"text":"1"},{},{},{"text":"4"},{}]},{"parts":[{"text":"0"}]}],` +
		`"systemInstruction":{"parts":[{"text":"0"},{},{"text":"2"}]},` +
		`"generationConfig":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ turn, part, want int }{
		{0, 0, 1}, {0, 1, 4}, {1, 0, 0}, {-1, 0, 0}, {-1, 1, 2}, {7, 3, 3},
	} {
		if got := r.original(tt.turn, tt.part); got != tt.want {
			t.Errorf("part %d of turn %d stood at %d, want %d", tt.part, tt.turn, got, tt.want)
		}
	}
	for neutral, want := range map[string]string{
		"turns.0.parts.1": "contents[0].parts[4]", "system.1": "system_instruction.parts[2]", "turns.1.parts.0": "contents[1].parts[0]",
	} {
		if got := r.path(neutral); got != want {
			t.Errorf("%s: got %s, want %s", neutral, got, want)
		}
	}
	if got := (&Request{}).original(0, 2); got != 2 {
		t.Errorf("in a request made by hand: %d", got)
	}
}

// TestPathMapping checks that paths have the document's names.
func TestPathMapping(t *testing.T) {
	const doc = `{"contents":[
		{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"fileData":{"mimeType":"image/png","fileUri":"https://a.example/"}}]},
		{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"a":1},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}},{"fileData":{"mimeType":"image/png","fileUri":"https://a.example/"}}]}},
			{"functionResponse":{"name":"f","parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}}]}],
		"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT"}},{"name":"g","parametersJsonSchema":{"type":"object"},"responseJsonSchema":{}}]}],
		"generationConfig":CONFIG}`
	for _, tt := range []struct {
		config string
		paths  map[string]string
	}{
		{`{"responseSchema":{"type":"OBJECT"},"thinkingConfig":{"thinkingBudget":1024}}`, map[string]string{
			"turns.0.parts.0.source.media_type":         "contents[0].parts[0].inline_data.mime_type",
			"turns.0.parts.0.source.data":               "contents[0].parts[0].inline_data.data",
			"turns.0.parts.0.source":                    "contents[0].parts[0].inline_data",
			"turns.0.parts.1.source":                    "contents[0].parts[1].file_data",
			"turns.0.parts.1.source.url":                "contents[0].parts[1].file_data.file_uri",
			"turns.0.parts.0.extra.videoMetadata":       "contents[0].parts[0].video_metadata",
			"turns.0.parts.0.extra":                     "contents[0].parts[0]",
			"turns.1.parts.0.input":                     "contents[1].parts[0].function_call.args",
			"turns.1.parts.0.name":                      "contents[1].parts[0].function_call.name",
			"turns.1.parts.0.signature":                 "contents[1].parts[0].thought_signature",
			"turns.2.parts.0.object":                    "contents[2].parts[0].function_response.response",
			"turns.2.parts.0.parts.0":                   "contents[2].parts[0].function_response.response",
			"turns.2.parts.0.parts.1":                   "contents[2].parts[0].function_response.parts[0]",
			"turns.2.parts.0.parts.2":                   "contents[2].parts[0].function_response.parts[1]",
			"turns.2.parts.0.parts.2.source":            "contents[2].parts[0].function_response.parts[1].file_data",
			"turns.2.parts.0.parts.1.source.media_type": "contents[2].parts[0].function_response.parts[0].inline_data.mime_type",
			"turns.2.parts.1.parts.0":                   "contents[2].parts[1].function_response.parts[0]",
			"turns.2.parts.1.id":                        "contents[2].parts[1].function_response.id",
			"turns.2.extra.x":                           "contents[2].x",
			"tools.0.extra.x":                           "tools[0].google_search.x",
			"tools.1.input.properties.n.minimum":        "tools[1].function_declarations[0].parameters.properties.n.minimum",
			"tools.2.input":                             "tools[1].function_declarations[1].parameters_json_schema",
			"tools.2.output":                            "tools[1].function_declarations[1].response_json_schema",
			"tools.1.extra.behavior":                    "tools[1].function_declarations[0].behavior",
			"system.0.extra.x":                          "system_instruction.parts[0].x",
			"extra.generationConfig.speechConfig":       "generation_config.speech_config",
			"extra.labels":                              "labels",
			"extra":                                     "",
			"choice.extra":                              "tool_config.function_calling_config",
			"choice.extra.streamFunctionCallArguments":  "tool_config.function_calling_config.stream_function_call_arguments",
			"thinking.extra.x":                          "generation_config.thinking_config.x",
			"output.schema.properties.nN.minimum":       "generation_config.response_schema.properties.nN.minimum",
			"output.schema":                             "generation_config.response_schema",
			"output.media_type":                         "generation_config.response_mime_type",
			"thinking.mode":                             "generation_config.thinking_config.thinking_budget",
			"thinking.effort":                           "generation_config.thinking_config.thinking_budget",
			"thinking.display":                          "generation_config.thinking_config.include_thoughts",
			"parts":                                     "candidates[0].content.parts",
			"parts.2.citations":                         "candidates[0].content.parts[2].citations",
			"candidates.1.stop":                         "candidates[1].finish_reason",
			"candidates":                                "generation_config.candidate_count",
		}},
		{`{"responseMimeType":"application/json","responseJsonSchema":{},"thinkingConfig":{"thinkingLevel":"LOW"}}`, map[string]string{
			"output.schema.properties.n": "generation_config.response_json_schema.properties.n",
			"output.media_type":          "generation_config.response_mime_type",
			"thinking.mode":              "generation_config.thinking_config.thinking_level",
			"thinking.budget":            "generation_config.thinking_config.thinking_level",
		}},
		{`{"responseFormat":{"text":{"mimeType":"APPLICATION_JSON","schema":{}}},"thinkingConfig":{"includeThoughts":true}}`, map[string]string{
			"output.schema.type": "generation_config.response_format.text.schema.type",
			"output.media_type":  "generation_config.response_format.text.mime_type",
			"thinking.mode":      "generation_config.thinking_config.include_thoughts",
		}},
		{`{"responseFormat":[{"image":{}},{"text":{"mimeType":"APPLICATION_JSON","schema":{}}}]}`, map[string]string{
			"output.schema": "generation_config.response_format[1].text.schema",
			"thinking.mode": "generation_config.thinking_config.thinking_budget",
		}},
	} {
		r, err := ParseRequest([]byte(strings.Replace(doc, "CONFIG", tt.config, 1)))
		if err != nil {
			t.Fatal(err)
		}
		for neutral, want := range tt.paths {
			if got := r.Path(neutral); got != want {
				t.Errorf("%s: got %s, want %s", neutral, got, want)
			}
		}
	}
}
