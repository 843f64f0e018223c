package generatecontent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/formattest"
)

// examples returns the documents of testdata by name.
func examples(t testing.TB) map[string]string {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	bodies := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		bodies[strings.TrimSuffix(filepath.Base(f), ".json")] = string(b)
	}
	return bodies
}

// sameJSON returns how two documents differ as values. Numbers are compared by their
// spelling.
func sameJSON(t *testing.T, a, b string) string {
	t.Helper()
	return cmp.Diff(formattest.Value(t, a), formattest.Value(t, b))
}

// TestExamples checks that every example of the reference is valid and encodes to its
// canonical form.
func TestExamples(t *testing.T) {
	for name, body := range examples(t) {
		t.Run(name, func(t *testing.T) {
			parse, want := ParseRequest[[]byte], body
			switch name {
			case "q02":
				want = `{"systemInstruction":{"parts":[{"text":"Answer in one word."}]},"contents":[{"role":"user","parts":[{"text":"Capital of Peru?"}]}],` +
					`"generationConfig":{"maxOutputTokens":20,"stopSequences":["END"]}}`
			case "q03":
				want = strings.Replace(body, `,"role":"user"},"contents"`, `},"contents"`, 1)
			case "c02":
				parse = ParseCountRequest[[]byte]
				var outer map[string]json.RawMessage
				if err := json.Unmarshal([]byte(body), &outer); err != nil {
					t.Fatal(err)
				}
				want = string(outer["generateContentRequest"])
			}
			r, err := parse([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Validate(nil); err != nil {
				t.Error(err)
			}
			got, err := r.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := sameJSON(t, want, string(got)); diff != "" {
				t.Errorf("canonical form (-want +got):\n%s", diff)
			}
		})
	}
}

// spellings are documents and their canonical forms; "" means that the document is
// canonical.
var spellings = []struct{ body, want string }{
	// One object for a list, snake_case, enums in any case and by number.
	{`{"contents":{"parts":{"text":"a"}}}`,
		`{"contents":[{"role":"user","parts":[{"text":"a"}]}]}`},
	{`{"contents":[{"role":"function","parts":[{"text":"a"}]},{"role":"","parts":[{"text":"a"}]}]}`,
		`{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"user","parts":[{"text":"a"}]}]}`},
	{`{"contents":[],"generation_config":{"response_modalities":["image",1],"media_resolution":2,"response_mime_type":"a"}}`,
		`{"generationConfig":{"responseMimeType":"a","responseModalities":["IMAGE","TEXT"],"mediaResolution":"MEDIA_RESOLUTION_MEDIUM"}}`},
	{`{"safety_settings":{"category":7,"threshold":"block_none"},"tool_config":{"function_calling_config":{"mode":"any","allowed_function_names":"f"}}}`,
		`{"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}}`},
	{`{"toolConfig":{"functionCallingConfig":{"mode":"MODE_UNSPECIFIED","allowedFunctionNames":[]}},"serviceTier":"FLEX"}`,
		`{"toolConfig":{"functionCallingConfig":{}},"serviceTier":"flex"}`},
	// Numbers.
	{`{"generationConfig":{"temperature":1.0,"topP":"0.5","topK":40.0,"maxOutputTokens":"20","seed":-1,"candidateCount":0,"presencePenalty":1e-1}}`,
		`{"generationConfig":{"temperature":1,"topP":0.5,"topK":40,"maxOutputTokens":20,"presencePenalty":0.1,"seed":-1}}`},
	// Null and empty values.
	{`{"contents":null,"tools":null,"model":null,"store":null,"labels":null,"generationConfig":{"topK":null,"thinkingConfig":null,"responseSchema":null}}`,
		`{"generationConfig":{}}`},
	{`{"contents":[],"tools":[],"safetySettings":[],"cachedContent":"","store":false,"labels":{},"generationConfig":{"stopSequences":[],"imageConfig":{},"thinkingConfig":{"includeThoughts":false}}}`,
		`{"generationConfig":{"imageConfig":{},"thinkingConfig":{"includeThoughts":false}},"store":false,"labels":{}}`},
	// Parts without data.
	{`{"contents":[{"role":"model","parts":[{},{"text":"a"},{"text":""},{"thought":true},{"text":"","thoughtSignature":"AA=="}]}]}`,
		`{"contents":[{"role":"model","parts":[{"text":"a"},{"text":"","thoughtSignature":"AA=="}]}]}`},
	{`{"contents":[{"role":"model","parts":[{},{"text":""}]}]}`, `{"contents":[{"role":"model","parts":[{"text":""}]}]}`},
	{`{"contents":[{"role":"model","parts":[{"thoughtSignature":"AA=="}]}]}`,
		`{"contents":[{"role":"model","parts":[{"text":"","thoughtSignature":"AA=="}]}]}`},
	{`{"contents":[{"role":"model","parts":[{"thought":true,"thoughtSignature":"AA=="}]},{"role":"user","parts":[{"videoMetadata":{"fps":2}}]}]}`,
		`{"contents":[{"role":"model","parts":[{"text":"","thought":true,"thoughtSignature":"AA=="}]},{"role":"user","parts":[{"text":"","videoMetadata":{"fps":2}}]}]}`},
	{`{"contents":[{"role":"model","parts":[]},{"role":"model"},{}]}`,
		`{"contents":[{"role":"model"},{"role":"model"},{"role":"user"}]}`},
	// Base64 of files is rewritten; that of signatures is not.
	{`{"contents":[{"parts":[{"inline_data":{"mime_type":"audio/wav","data":"-_-_Zg","display_name":"n"},"thought_signature":"-_A"}]}]}`,
		`{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"audio/wav","data":"+/+/Zg==","displayName":"n"},"thoughtSignature":"-_A"}]}]}`},
	// Thinking, side members, free JSON.
	{`{"contents":[{"role":"model","parts":[{"text":"h","thought":true,"thoughtSignature":"AA==","partMetadata":{"snake_case":1}},{"text":"t","thought":false}]}]}`,
		`{"contents":[{"role":"model","parts":[{"text":"h","thought":true,"thoughtSignature":"AA==","partMetadata":{"snake_case":1}},{"text":"t"}]}]}`},
	{`{"contents":[{"parts":[{"file_data":{"file_uri":"gs://b/o","mime_type":"video/mp4"},"video_metadata":{"start_offset":"1.5s","fps":2},"media_resolution":{"level":"media_resolution_low"}}]}]}`,
		`{"contents":[{"role":"user","parts":[{"fileData":{"mimeType":"video/mp4","fileUri":"gs://b/o"},"videoMetadata":{"startOffset":"1.5s","fps":2},"mediaResolution":{"level":"MEDIA_RESOLUTION_LOW"}}]}]}`},
	// Tool calls and results, including those of built-in tools.
	{`{"contents":[{"role":"model","parts":[{"function_call":{"name":"f","args":{"a_b":[1.0,null]},"will_continue":true},"part_metadata":{"x":1}}]}]}`,
		`{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a_b":[1.0,null]},"willContinue":true},"partMetadata":{"x":1}}]}]}`},
	{`{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{},"scheduling":"SILENT"},"thoughtSignature":"AA=="},` +
		`{"functionResponse":{"name":"f","id":""}},{"functionResponse":{"name":"f","response":{"output":""},"parts":[]}},` +
		`{"functionResponse":{"name":"f","response":{"error":"e","more":1}}},{"functionResponse":{"name":"f","response":{"result":"r"}}}]}]}`,
		`{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{},"scheduling":"SILENT"},"thoughtSignature":"AA=="},{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"name":"f","response":{"output":""}}},{"functionResponse":{"name":"f","response":{"error":"e","more":1}}},{"functionResponse":{"name":"f","response":{"result":"r"}}}]}]}`},
	{`{"contents":[{"role":"model","parts":[{"executable_code":{"language":1,"code":"c","id":"e"}},{"codeExecutionResult":{"outcome":"outcome_ok","output":"1"}},` +
		`{"toolCall":{"toolType":"URL_CONTEXT","args":{"q":1},"id":"t","toolName":"n"},"thought":false},{"tool_response":{"tool_type":"url_context","response":{"a_b":1},"id":"t"}}]}]}`,
		`{"contents":[{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"c","id":"e"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},` +
			`{"toolCall":{"toolType":"URL_CONTEXT","args":{"q":1},"id":"t","toolName":"n"},"thought":false},{"toolResponse":{"toolType":"URL_CONTEXT","response":{"a_b":1},"id":"t"}}]}]}`},
	{`{"contents":[{"role":"model","parts":[{"newKind":{"a":1},"thought":true}]}]}`, ``},
	// Tools keep their grouping, and schemas their spelling.
	{`{"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b","behavior":"BLOCKING"}],"codeExecution":{}},{"googleSearch":{}},{"functionDeclarations":[{"name":"c"}]},{"newTool":{"a_b":1}}]}`,
		`{"tools":[{"functionDeclarations":[{"name":"a"},{"name":"b","behavior":"BLOCKING"}]},{"codeExecution":{}},{"googleSearch":{}},{"functionDeclarations":[{"name":"c"}]},{"newTool":{"a_b":1}}]}`},
	{`{"tools":{"function_declarations":{"name":"a","parameters":{"type":"object","properties":{"a_b":{"type":6,"any_of":{"type":"string"},"max_items":3,"min_items":"4","nullable":null,"x":1}},"property_ordering":["a_b"]},"response_json_schema":{"max_items":1}}}}`,
		`{"tools":[{"functionDeclarations":[{"name":"a","parameters":{"type":"OBJECT","properties":{"a_b":{"type":"OBJECT","anyOf":[{"type":"STRING"}],"maxItems":3,"minItems":"4","x":1}},"propertyOrdering":["a_b"]},"responseJsonSchema":{"max_items":1}}]}]}`},
	{`{"tools":[{"google_search_retrieval":{"dynamic_retrieval_config":{"mode":"MODE_DYNAMIC","dynamic_threshold":0.5}},"code_execution":{}}]}`,
		`{"tools":[{"googleSearchRetrieval":{"dynamicRetrievalConfig":{"mode":"MODE_DYNAMIC","dynamicThreshold":0.5}}},{"codeExecution":{}}]}`},
	// The rest.
	{`{"generationConfig":{"_responseJsonSchema":{"a_b":1},"responseFormat":[{"text":{"mimeType":"APPLICATION_JSON"}}],"speech_config":{"voice_config":{"prebuilt_voice_config":{"voice_name":"v"}}},"enableAffectiveDialog":true}}`,
		`{"generationConfig":{"responseJsonSchema":{"a_b":1},"responseFormat":[{"text":{"mimeType":"APPLICATION_JSON"}}],"speechConfig":{"voiceConfig":{"prebuiltVoiceConfig":{"voiceName":"v"}}},"enableAffectiveDialog":true}}`},
	{`{"model":"models/m","contents":[{"role":"user","parts":[{"text":"a"}],"x_y":{"b":1,"a":2}}],"new_field":{"b":1.0},"labels":{"snake_case":"v"},"processingOptions":{"a_b":1}}`, ``},
	{`{"system_instruction":{"role":"system","parts":[{"text":"s"}],"x":1},"contents":[{"parts":[{"text":"<\u003e"}]}]}`,
		`{"contents":[{"role":"user","parts":[{"text":"<>"}]}],"systemInstruction":{"parts":[{"text":"s"}],"x":1}}`},
	{`{"generationConfig":{"responseLogprobs":true,"logprobs":3,"responseSchema":{"type":"STRING"},"responseMimeType":"application/json","imageConfig":{"aspectRatio":"1:1","personGeneration":"ALLOW_ALL"},"thinkingConfig":{"thinkingBudget":-1,"thinkingLevel":"HIGH","x":1}}}`, ``},
}

func TestSpellings(t *testing.T) {
	for _, tt := range spellings {
		want := tt.want
		if want == "" {
			want = tt.body
		}
		r, err := ParseRequest([]byte(tt.body))
		if err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		got, err := r.AppendJSON(nil)
		if err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		if diff := sameJSON(t, want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.body, diff)
		}
		t.Run("", func(t *testing.T) { checkRoundTrip(t, r) })
	}
}

func TestWorkloads(t *testing.T) {
	for _, load := range workloads[:5] {
		t.Run(load.name, func(t *testing.T) {
			body := load.make()
			r, err := ParseRequest([]byte(body))
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Validate(&ValidateOptions{Strict: true}); err != nil {
				t.Fatal(err)
			}
			got, err := r.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := sameJSON(t, body, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkRoundTrip(t, r)
		})
	}
}
