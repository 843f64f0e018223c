package generatecontent

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
)

const (
	ask   = `{"role":"user","parts":[{"text":"a"}]}`
	gif   = `R0lGODlhDQAHAAAAAA==`
	callF = `{"role":"model","parts":[{"functionCall":{"name":"f","id":"1"}}]}`
	respF = `{"role":"user","parts":[{"functionResponse":{"name":"f","id":"1","response":{}}}]}`
)

func body(contents, rest string) string { return `{"contents":[` + contents + `]` + rest + `}` }

func TestValidate(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string
	}{
		{"no contents", `{}`, []string{"missing contents: contents is not specified"}},
		{"no parts", body(`{"role":"user"},{"role":"user","parts":[]}`, ""), []string{
			"missing contents[0].parts: contents.parts must not be empty", "missing contents[1].parts: contents.parts must not be empty"}},
		{"empty text", body(`{"role":"user","parts":[{"text":""}]},{"role":"model","parts":[{"text":""}]},{"parts":[{"text":""},{"text":""}]}`, ""), nil},
		{"user turn without data", body(`{"parts":[{},{"thought":true}]}`, ""), []string{
			"missing contents[0].parts[0].data: required oneof field 'data' must have one initialized field"}},
		{"model turn without data", body(ask+`,{"role":"model","parts":[{}]},`+ask, ""), nil},
		{"model name", body(ask, `,"model":"models/a?b"`), []string{"value model: unexpected model name format"}},
		{"longest model name", body(ask, `,"model":"`+strings.Repeat("m", 1024)+`"`), nil},
		{"long model name", body(ask, `,"model":"`+strings.Repeat("m", 1025)+`"`), []string{"limit model: a model name must not be longer than 1024 bytes"}},
		{"system", body(ask, `,"systemInstruction":{"parts":[{"text":"a"},{"fileData":{"fileUri":"gs://a","mimeType":"image/png"}}]}`),
			[]string{"value system_instruction.parts[1]: system_instruction supports only text content"}},
		{"files", body(`{"parts":[{},{"inlineData":{"data":"`+gif+`"}},{"inlineData":{"mimeType":"image/png","data":"`+gif+`"}},`+
			`{"inlineData":{"mimeType":"application/zip","data":"AAAA"}},{"inlineData":{"mimeType":"image/png"}},`+
			`{"fileData":{"fileUri":"https://a.example/x"}},{"fileData":{"mimeType":"image/png"}},{"inlineData":{"mimeType":"image/gif","data":"`+gif+`"}},`+
			`{"inlineData":{"mimeType":"text/plain","data":"/w=="}},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}`, ""), []string{
			"missing contents[0].parts[1].inline_data.mime_type: mime_type must be set",
			"media contents[0].parts[2].inline_data.mime_type: the bytes are not of type image/png but image/gif",
			"value contents[0].parts[3].inline_data.mime_type: Unsupported MIME type: application/zip",
			"missing contents[0].parts[4].inline_data.data: data must be set",
			"missing contents[0].parts[5].file_data.mime_type: mime_type must be set",
			"missing contents[0].parts[6].file_data.file_uri: file_uri must be set",
			"media contents[0].parts[8].inline_data.data: the file is not UTF-8 text",
			"media contents[0].parts[9].inline_data.data: Unable to process input image: the file has an incomplete or invalid image header",
		}},
		{"audio and newer images", body(`{"parts":[{"inlineData":{"mimeType":"audio/L16;codec=pcm;rate=24000","data":"AAAA"}},`+
			`{"inlineData":{"mimeType":"image/heic","data":"AAAA"}}]}`, ""), nil},
		{"roles of calls", body(`{"parts":[{"functionCall":{"name":""}}]},{"role":"model","parts":[{"functionResponse":{}}]}`, ""), []string{
			"order contents[0].parts[0].function_call: only the model can make function calls",
			"missing contents[0].parts[0].function_call.name: Name cannot be empty.",
			"order contents[1].parts[0].function_response: only the user can send function responses",
			"missing contents[1].parts[0].function_response.name: Name cannot be empty.",
		}},
		{"files in results", body(ask+","+callF+`,{"parts":[{"functionResponse":{"name":"f","parts":[{"inlineData":{"mimeType":"image/png","data":"`+gif+`"}}]}}]}`, ""),
			[]string{"media contents[2].parts[0].function_response.parts[0].inline_data.mime_type: the bytes are not of type image/png but image/gif"}},
		{"tools", body(ask, `,"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"1a"},{"name":"a.b:c-d"},{"name":"a.b:c-d"},{}]}]`), []string{
			"value tools[1].function_declarations[0].name: " + textFunctionName,
			"conflict tools[1].function_declarations[2].name: Duplicate function declaration found: a.b:c-d",
			"value tools[1].function_declarations[3].name: " + textFunctionName,
		}},
		{"schemas", body(ask, `,"tools":[{"functionDeclarations":[{"name":"a","parameters":{"type":"OBJECT","properties":{"x":{"type":"ARRAY"},`+
			`"y":{"type":"INTEGER","enum":["1"]},"z":{"anyOf":[{"type":"ARRAY"}]}},"required":["x","w"]}},{"name":"b","parameters":{"type":"STRING"}},`+
			`{"name":"c","parametersJsonSchema":{"type":"array"}}]}]`), []string{
			"value tools[0].function_declarations[0].parameters.required[1]: property is not defined",
			"missing tools[0].function_declarations[0].parameters.properties[x].items: missing field.",
			"conflict tools[0].function_declarations[0].parameters.properties[y].enum: only allowed for STRING type",
			"missing tools[0].function_declarations[0].parameters.properties[z].any_of[0].items: missing field.",
			"value tools[0].function_declarations[1].parameters: the schema must be a non-nullable OBJECT",
		}},
		{"allowed names", body(ask, `,"tools":[{"functionDeclarations":[{"name":"a"}]}],"toolConfig":{"functionCallingConfig":{"allowedFunctionNames":["a","b"]}}`), []string{
			"conflict tool_config.function_calling_config.allowed_function_names: allowed_function_names should only be set when the mode is ANY or VALIDATED",
			"value tool_config.function_calling_config.allowed_function_names: allowed_function_names should be a subset of the provided function_declarations",
		}},
		{"cached", body(ask, `,"cachedContent":"c","toolConfig":{}`), []string{
			"conflict cached_content: CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config."}},
		{"safety", body(ask, `,"safetySettings":[{"category":"HARM_CATEGORY_MEDICAL"},{"category":7},{"category":"harm_category_harassment"}]`), []string{
			"value safety_settings[0]: element predicate failed: $.category in (" + strings.Join(safetyCategories, ", ") + ")",
			"conflict safety_settings[2].category: there is more than one setting for HARM_CATEGORY_HARASSMENT",
		}},
		{"sampling", body(ask, `,"generationConfig":{"temperature":2.1,"topP":-0.1,"topK":0,"candidateCount":-1,"maxOutputTokens":0,`+
			`"stopSequences":["1","2","3","4","5","6"],"presencePenalty":3,"logprobs":5}`), []string{
			"range generation_config.temperature: temperature must be in the range [0.0, 2.0]",
			"range generation_config.top_p: top_p must be in the range [0.0, 1.0]",
			"range generation_config.presence_penalty: presence_penalty must be in the range [-2.0, 2.0]",
			"range generation_config.top_k: top_k must be at least 1",
			"range generation_config.max_output_tokens: max_output_tokens must be at least 1",
			"range generation_config.candidate_count: candidate_count must be at least 0",
			"limit generation_config.stop_sequences: the number of stop_sequences must not exceed 5",
			"conflict generation_config.logprobs: logprobs needs response_logprobs to be true",
		}},
		{"output", body(ask, `,"generationConfig":{"responseMimeType":"text/html","responseSchema":{"type":"ARRAY"},`+
			`"thinkingConfig":{"thinkingBudget":-2,"thinkingLevel":"LOW"}}`), []string{
			"conflict generation_config.response_schema: a schema needs response_mime_type 'application/json' or 'text/x.enum'",
			"missing generation_config.response_schema.items: missing field.",
			"conflict generation_config.thinking_config: You can only set only one of thinking budget and thinking level.",
			"range generation_config.thinking_config.thinking_budget: thinking_budget must be in the range [-1, 65535]",
		}},
		{"parse violations first and not repeated", `{"contents":[{"role":"bot","parts":[1]}],"generationConfig":{"topK":"x"}}`, []string{
			"value contents[0].role: Please use a valid role: user, model.",
			"type contents[0].parts[0]: Invalid value at 'contents[0].parts[0]' (" + api + "Part), 1",
			`type generation_config.top_k: Invalid value at 'generation_config.top_k' (TYPE_INT32), "x"`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := ParseRequest([]byte(tt.body))
			if r == nil {
				t.Fatal("not parsed")
			}
			if diff := cmp.Diff(tt.want, formattest.Violations(r.Validate(nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The parser applies the rules of schemas, too: alone, in every spelling, and beside a schema
// that is valid. A schema that moves to another place is validated there.
func TestValidateSchemas(t *testing.T) {
	const object = "value : the schema must be a non-nullable OBJECT"
	for _, tt := range []struct {
		schema string
		want   []string // with paths in the schema
	}{
		{`{"type":"OBJECT"}`, nil},
		{`{ "type" : "object", "nullable" : false }`, nil},
		{`{"type":6,"properties":{"a":{"type":"array","items":{}}},"required":"a"}`, nil},
		{`{}`, []string{object}},
		{`{"type":null,"description":"d"}`, []string{object}},
		{`{"type":"string"}`, []string{object}},
		{`{"type":"object","nullable":true}`, []string{object}},
		{`{"type":"object","items":{"type":"array"}}`, []string{"missing items.items: missing field."}},
		{`{"type":"object","items":{"type":5,"items":null}}`, []string{"missing items.items: missing field."}},
		{`{"type":"object","any_of":{"type":"Array"}}`, []string{"missing any_of[0].items: missing field."}},
		{`{"type":"object","properties":{"a":{"type":"integer","enum":"1"}}}`,
			[]string{"conflict properties[a].enum: only allowed for STRING type"}},
		{`{"type":"object","properties":{"a":{}},"required":["a","b"]}`, []string{"value required[1]: property is not defined"}},
		{`{"type":"object","required":"b"}`, []string{"value required[0]: property is not defined"}},
		{`{"required":["b"],"properties":null,"type":"object"}`, []string{"value required[0]: property is not defined"}},
	} {
		want := func(at string, skip string) (list []string) {
			for _, s := range tt.want {
				code, rest, _ := strings.Cut(s, " ")
				if path, text, _ := strings.Cut(rest, ": "); s != skip {
					list = append(list, code+" "+strings.TrimSuffix(at+"."+path, ".")+": "+text)
				}
			}
			return list
		}
		r, err := ParseRequest([]byte(`{"contents":[{"parts":[{"text":"a"}]}],"tools":[{"functionDeclarations":[` +
			`{"name":"a","parameters":{"type":"OBJECT"}},{"name":"b","response":` + tt.schema + `},{"name":"c","parameters":` + tt.schema + `}]}],` +
			`"generationConfig":{"responseMimeType":"application/json","responseSchema":` + tt.schema + `}}`))
		if err != nil {
			t.Fatalf("%s: %v", tt.schema, err)
		}
		const functions = "tools[0].function_declarations"
		config := want("generation_config.response_schema", object)
		all := slices.Concat(want(functions+"[1].response", object), want(functions+"[2].parameters", ""), config)
		if diff := cmp.Diff(all, formattest.Violations(r.Validate(nil))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.schema, diff)
		}
		b, c := &r.Tools[1], &r.Tools[2]
		b.Input, c.Input, b.Output = b.Output, content.Schema{}, content.Schema{}
		if diff := cmp.Diff(slices.Concat(want(functions+"[1].parameters", ""), config), formattest.Violations(r.Validate(nil))); diff != "" {
			t.Errorf("%s, moved (-want +got):\n%s", tt.schema, diff)
		}
	}
}

// TestValidatePairing checks the order of turns. Both messages are the vendor's.
func TestValidatePairing(t *testing.T) {
	const (
		after  = "order contents[2]: Please ensure that function response turn comes immediately after a function call turn."
		callG  = `{"role":"model","parts":[{"functionCall":{"name":"g"}}]}`
		two    = `{"role":"model","parts":[{"functionCall":{"name":"f","id":"1"}},{"functionCall":{"name":"g","id":"2"}}]}`
		twoRes = `{"role":"user","parts":[{"functionResponse":{"name":"g","id":"other"}},{"text":"x"},{"functionResponse":{"name":"f","id":"1"}}]}`
	)
	tests := []struct {
		name, contents string
		want           []string
	}{
		{"one", ask + "," + callF + "," + respF, nil},
		{"parallel, in another order, one unknown id", ask + "," + two + "," + twoRes, nil},
		{"results of a step in two turns", ask + "," + callF + "," + callG + "," + twoRes, nil},
		{"two steps", ask + "," + callF + "," + respF + "," + callF + "," + respF, nil},
		{"too few", ask + "," + two + "," + respF, []string{"pairing contents[2]: " + textResultCount}},
		{"split", ask + "," + two + "," + respF + `,{"role":"tool","parts":[{"functionResponse":{"name":"g"}}]},` + ask, nil},
		{"split, one twice", ask + "," + two + "," + respF + "," + respF, []string{
			"pairing contents[3].parts[0].function_response.name: the previous function call turn has no call of this function without a response"}},
		{"split, and one too many", ask + "," + two + "," + respF + "," + respF + "," + respF, []string{"pairing contents[2]: " + textResultCount}},
		{"none", ask + "," + callF + "," + ask, []string{"pairing contents[2]: " + textResultCount}},
		{"at the end", ask + "," + callF, []string{"pairing contents[1]: " + textResultCount}},
		{"at the beginning", callF + "," + respF, []string{
			"order contents[0]: Please ensure that function call turn comes immediately after a user turn or after a function response turn."}},
		{"response without call", ask + `,{"role":"model","parts":[{"text":"x"}]},` + respF, []string{after}},
		{"response of another function", ask + "," + callG + "," + respF, []string{
			"pairing contents[2].parts[0].function_response.name: the previous function call turn has no call of this function without a response"}},
		{"same response twice", ask + "," + two + `,{"parts":[{"functionResponse":{"name":"g"}},{"functionResponse":{"name":"g"}}]}`, []string{
			"pairing contents[2].parts[1].function_response.name: the previous function call turn has no call of this function without a response"}},
		{"by id, and again by name", ask + "," + two + `,{"parts":[{"functionResponse":{"name":"f"}},{"functionResponse":{"name":"f","id":"1"}}]}`, []string{
			"pairing contents[2].parts[0].function_response.name: the previous function call turn has no call of this function without a response"}},
		{"one id for both", ask + "," + strings.ReplaceAll(two, `"id":"2"`, `"id":"1"`) +
			`,{"parts":[{"functionResponse":{"name":"f","id":"1"}},{"functionResponse":{"name":"g","id":"1"}}]}`, nil},
		{"id of an earlier step", ask + "," + callF + "," + respF + "," + callG + `,{"parts":[{"functionResponse":{"name":"g","id":"1"}}]}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseRequest([]byte(body(tt.contents, "")))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, formattest.Violations(r.Validate(nil))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if err := r.Validate(&ValidateOptions{Count: true}); err != nil {
				t.Errorf("countTokens: %v", err)
			}
		})
	}
}

func TestValidateLimits(t *testing.T) {
	file := `{"inlineData":{"mimeType":"image/gif","data":"` + gif + `"}}`
	r, err := ParseRequest([]byte(body(`{"parts":[`+file+`,`+file+`,{"inlineData":{"mimeType":"application/zip","data":"AAAA"}}]}`, "")))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(&ValidateOptions{MediaTypes: []string{"application/zip"}}); err != nil {
		t.Error(err)
	}
	for want, lim := range map[string]content.Limits{
		"limit contents: too many files in the request: 3, the limit is 2":                                {Files: 2},
		"limit contents[0].parts[0].inline_data.data: the file has 13 bytes, the limit is 12":             {FileBytes: 12},
		"at most 12 pixels in width and height":                                                           {ImageSide: 12},
		"limit contents[0].parts[1].inline_data.data: Unable to process input image: it may have at most": {ImagePixels: 90},
	} {
		got := strings.Join(formattest.Violations(r.Validate(&ValidateOptions{Limits: lim, MediaTypes: []string{"application/zip"}})), "\n")
		if !strings.Contains(got, want) {
			t.Errorf("%+v: got\n%s\nwant …%s…", lim, got, want)
		}
	}
}

// TestValidateConstructedRequest checks that nil values are violations and do not panic.
func TestValidateConstructedRequest(t *testing.T) {
	r := &Request{
		SystemInstruction: &Instruction{Parts: []content.Part{nil, (*content.Text)(nil)}},
		Contents: []content.Turn{{Role: content.RoleSystem, Parts: []content.Part{
			nil, (*content.Image)(nil), &content.Image{}, &content.Document{Source: (*content.URL)(nil)}, &content.SearchResult{},
			&content.ToolResult{Name: "n", Parts: []content.Part{nil, &content.Thinking{}}}}}},
		Tools: []content.Tool{{Kind: "x", Format: "other"}, {Name: "f", Input: content.Schema{OpenAPI: true, JSON: "{"}}},
	}
	got := formattest.Violations(r.Validate(nil))
	want := []string{
		"value contents[0].role: Please use a valid role: user, model.",
		"missing contents[0].parts[0].data: " + textNoData,
		"missing contents[0].parts[1].data: " + textNoData,
		"missing contents[0].parts[2].data: " + textNoData,
		"missing contents[0].parts[3].data: " + textNoData,
		"unsupported contents[0].parts[4]: a request in this format cannot contain a part of this kind",
		"unsupported contents[0].parts[5].function_response.parts[0]: a function response contains only texts and files",
		"unsupported contents[0].parts[5].function_response.parts[1]: a function response contains only texts and files",
		"order contents[0]: Please ensure that function response turn comes immediately after a function call turn.",
		"value system_instruction.parts[0]: system_instruction supports only text content",
		"value system_instruction.parts[1]: system_instruction supports only text content",
		"unsupported tools[0]: the tool is built into another vendor's API",
		"syntax tools[1].function_declarations[0].parameters: the schema is not a JSON object",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := r.AppendJSON(nil); err == nil {
		t.Error("AppendJSON: no error")
	}
	const deep = 100_000
	r.Tools[1].Input.JSON = strings.Repeat(`{"items":`, deep) + "{}" + strings.Repeat("}", deep)
	if err := r.Validate(nil); err == nil || !strings.Contains(err.Error(), "nested too deep") {
		t.Errorf("a deep schema: %.200v", err)
	}
}

// TestStrictResults checks that Strict requires all results of a step in one turn with a
// role of the vendor.
func TestStrictResults(t *testing.T) {
	two := `{"role":"model","parts":[{"functionCall":{"name":"f","id":"1"}},{"functionCall":{"name":"g","id":"2"}}]}`
	for name, tt := range map[string]struct {
		contents string
		want     []string
	}{
		"split": {ask + "," + two + "," + respF + `,{"role":"user","parts":[{"functionResponse":{"name":"g"}}]}`, []string{
			"pairing contents[2]: " + textResultCount,
			"order contents[3]: Please ensure that function response turn comes immediately after a function call turn."}},
		"role": {ask + "," + callF + "," + strings.Replace(respF, "user", "tool", 1), []string{
			"value contents[2].role: Please use a valid role: user, model."}},
		"Vertex's image options": {ask + `],"generationConfig":{"imageConfig":{"imageOutputOptions":{"mimeType":"image/png","compressionQuality":5}}},"tools":[`, nil},
		"function":               {ask + "," + callF + "," + strings.Replace(respF, "user", "function", 1), nil},
	} {
		r, err := ParseRequest([]byte(body(tt.contents, "")))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, formattest.Violations(r.Validate(&ValidateOptions{Strict: true}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestStrictConstructedRequest checks that Strict finds the unknown names of a constructed
// request in every place, and all names of a document.
func TestStrictConstructedRequest(t *testing.T) {
	odd := extra(`{"odd":1}`)
	r := &Request{
		Contents: []content.Turn{{Role: content.RoleUser, Extra: odd, Parts: []content.Part{
			&content.Text{Text: "a", Extra: odd},
			&content.Image{Source: &content.Base64{MediaType: "image/png", Data: png, Extra: odd}}}}},
		SystemInstruction: &Instruction{Parts: []content.Part{&content.Text{Text: "s"}}, Extra: odd},
		Tools:             []content.Tool{{Name: "f", Extra: odd}, {Kind: "oddTool", Format: Format, Raw: "{}"}},
		ToolConfig:        &ToolConfig{FunctionCalling: &FunctionCalling{Extra: odd}},
		SafetySettings:    []SafetySetting{{Category: "HARM_CATEGORY_HARASSMENT", Extra: odd}},
		GenerationConfig:  &GenerationConfig{ThinkingConfig: &ThinkingConfig{Extra: odd}, Extra: odd},
		Extra:             odd,
	}
	if err := r.Validate(nil); err != nil {
		t.Errorf("without strict rules: %v", err)
	}
	var at []string
	list, _ := content.Violations(r.Validate(&ValidateOptions{Strict: true}))
	for _, e := range list {
		if e.Code != content.CodeUnknown {
			t.Errorf("got %+v", e)
		}
		at = append(at, e.Path)
	}
	slices.Sort(at)
	want := []string{"", "contents[0]", "contents[0].parts[0]", "contents[0].parts[1].inline_data", "generation_config",
		"generation_config.thinking_config", "safety_settings[0]", "system_instruction", "tool_config.function_calling_config",
		"tools[0].function_declarations[0]", "tools[1]"}
	if diff := cmp.Diff(want, at); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	doc, err := r.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ParseRequest(doc)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(formattest.Violations(r.Validate(&ValidateOptions{Strict: true})), formattest.Violations(parsed.Validate(&ValidateOptions{Strict: true}))); diff != "" {
		t.Errorf("(-made +parsed):\n%s", diff)
	}
}

// validDocuments are valid documents that contain all unions of the format.
var validDocuments = []string{
	`{"contents":[{"role":"user","parts":[{"text":"a"}]}]}`,
	`{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/gif","data":"` + gif + `","displayName":"d"}}]}]}`,
	`{"contents":[{"role":"user","parts":[{"fileData":{"mimeType":"image/gif","fileUri":"https://a.example/b"}}]}]}`,
	`{"contents":[{"role":"user","parts":[{"text":"a"},{"fileData":{"mimeType":"video/mp4","fileUri":"files/b"},"videoMetadata":{"fps":2}}]},
		{"role":"model","parts":[{"text":"b","thought":true,"thoughtSignature":"AAAA"},{"functionCall":{"id":"1","name":"f","args":{"a":1}}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"1","name":"f","response":{"a":1},"parts":[{"inlineData":{"mimeType":"image/gif","data":"` + gif + `"}}]}}]}],
		"tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"OBJECT","properties":{
			"x":{"type":"ARRAY","items":{"type":"STRING"}},"y":{"type":"STRING","enum":["a"]},"z":{"anyOf":[{"type":"STRING"}]}},"required":["x"]}}]}],
		"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}}`,
	`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"executableCode":{"id":"1","language":"PYTHON","code":"c"}},
		{"codeExecutionResult":{"id":"1","outcome":"OUTCOME_OK","output":"o"}},{"toolCall":{"id":"1","toolType":"GOOGLE_MAPS","args":{}}},
		{"toolResponse":{"id":"1","toolType":"GOOGLE_MAPS","response":{}}}]}]}`,
	`{"contents":[{"role":"user","parts":[{"text":"a"}]}],"systemInstruction":{"parts":[{"text":"s"}]},
		"tools":[{"googleSearch":{"timeRangeFilter":{"startTime":"2026-01-01T00:00:00Z","endTime":"2026-01-02T00:00:00Z"}}},{"codeExecution":{}},{"urlContext":{}},
		{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object"},"responseJsonSchema":{"type":"object"}}]},{"googleMaps":{}},
		{"fileSearch":{"fileSearchStoreNames":["a"]}},{"computerUse":{"environment":"ENVIRONMENT_BROWSER"}}],
		"toolConfig":{"retrievalConfig":{"latLng":{"latitude":1,"longitude":2}},"includeServerSideToolInvocations":true}}`,
	`{"contents":[{"role":"user","parts":[{"text":"a"}]}],"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}],
		"generationConfig":{"temperature":1,"topK":1,"responseLogprobs":true,"logprobs":2,"responseMimeType":"application/json","responseSchema":{"type":"STRING"},
		"thinkingConfig":{"includeThoughts":true,"thinkingBudget":5},"speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"x"}}},
		"imageConfig":{"aspectRatio":"1:1"}},"cachedContent":"cachedContents/a","serviceTier":"standard","model":"models/m","labels":{"a":"b"}}`,
	`{"contents":[{"role":"user","parts":[{"text":"a"}]}],"generationConfig":{"responseFormat":{"text":{"mimeType":"APPLICATION_JSON","schema":{"type":"object"}}},
		"responseModalities":["TEXT"],"thinkingConfig":{"thinkingLevel":"LOW"},"stopSequences":["a"]}}`,
}

// TestWrongTypesReportedOnce checks that a member or element of a wrong type is one
// violation and causes no others.
func TestWrongTypesReportedOnce(t *testing.T) {
	formattest.CheckWrongTypes(t, validDocuments, func(body string) (validate func() error, parsed error) {
		r, err := ParseRequest([]byte(body))
		return func() error { return r.Validate(nil) }, err
	})
}
