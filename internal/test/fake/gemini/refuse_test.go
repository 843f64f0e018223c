package gemini

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
)

// post sends a POST request with the required headers to the fake.
func (s *Server) post(path, body string, header ...string) *http.Response {
	return fake.Post(s, path, body, append([]string{"X-Goog-Api-Key", "k"}, header...)...)
}

const (
	hi    = `{"role":"user","parts":[{"text":"hi"}]}`
	sig   = `,"thoughtSignature":"skip_thought_signature_validator"`
	call1 = `{"functionCall":{"name":"f","id":"1","args":{}}` + sig + `}`
	call2 = `{"functionCall":{"name":"g","id":"2","args":{}}}`
	res1  = `{"functionResponse":{"name":"f","id":"1","response":{}}}`
	res2  = `{"functionResponse":{"name":"g","id":"2","response":{}}}`
)

func in(members string) string { return `{"contents":[` + hi + `],` + members + `}` }

func config(members string) string { return in(`"generationConfig":{` + members + `}`) }

func schemaBody(s string) string {
	return in(`"tools":[{"functionDeclarations":[{"name":"f","parameters":` + s + `}]}]`)
}

func talk(contents ...string) string { return `{"contents":[` + strings.Join(contents, ",") + `]}` }

func turn(role string, parts ...string) string {
	return `{"role":"` + role + `","parts":[` + strings.Join(parts, ",") + `]}`
}

var refused = []struct{ name, rule, body, message string }{
	{"not JSON", "json", `{"contents"`, "Invalid JSON payload received"},
	{"unknown member", "shape", in(`"foo":1`), `Unknown name "foo": Cannot find field.`},
	{"unknown schema keyword", "shape", schemaBody(`{"type":"OBJECT","additionalProperties":false}`), `Unknown name "additionalProperties" at 'tools[0].function_declarations[0].parameters': Cannot find field.`},
	{"unknown keyword in a property", "shape", schemaBody(`{"type":"OBJECT","properties":{"a":{"const":1}}}`), `Unknown name "const" at 'tools[0].function_declarations[0].parameters.properties[0].value'`},
	{"list of types", "shape", schemaBody(`{"type":["STRING","NULL"]}`), `Unknown name "type" at 'tools[0].function_declarations[0].parameters': Proto field is not repeating, cannot start list.`},
	{"bad enum", "shape", in(`"safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"SOME"}]`), `Invalid value at 'safety_settings[0].threshold' (type.googleapis.com/google.ai.generativelanguage.v1beta.SafetySetting.HarmBlockThreshold), "SOME"`},
	{"bad number", "shape", config(`"maxOutputTokens":"abc"`), `Invalid value at 'generation_config.max_output_tokens' (TYPE_INT32), "abc"`},
	{"system instruction as a string", "shape", in(`"systemInstruction":"x"`), `Invalid value at 'system_instruction' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content), "x"`},
	{"two data members", "shape", talk(turn("user", `{"inlineData":{"mimeType":"image/png","data":"AA=="},"text":"x"}`)), "Invalid value at 'contents[0].parts[0]' (oneof), oneof field 'data' is already set. Cannot set 'text'"},
	{"bad base64", "shape", talk(turn("user", `{"inlineData":{"mimeType":"image/png","data":"a b"}}`)), "Invalid value at 'contents[0].parts[0].inline_data.data' (TYPE_BYTES), Base64 decoding failed"},
	{"args as a string", "shape", talk(turn("model", `{"functionCall":{"name":"f","args":"{}"}}`)), "contents[0].parts[0].function_call.args"},
	{"only Vertex", "shape", config(`"audioTimestamp":true`), `Unknown name "audioTimestamp" at 'generation_config'`},
	{"no contents", "contents", `{}`, "* GenerateContentRequest.contents: contents is not specified\n"},
	{"role", "role", talk(turn("assistant", `{"text":"x"}`)), "Please use a valid role: user, model."},
	{"no parts", "parts", talk(`{"role":"user","parts":[]}`), "contents[0].parts"},
	{"empty part", "part", talk(turn("user", `{"text":"x"}`, `{}`)), "* GenerateContentRequest.contents[0].parts[1].data: required oneof field 'data' must have one initialized field"},
	{"system without text", "system", in(`"systemInstruction":{"parts":[{"inlineData":{"mimeType":"image/png","data":"AA=="}}]}`), "system_instruction.parts[0]"},
	{"media type", "media", talk(turn("user", `{"inlineData":{"mimeType":"application/zip","data":"AA=="}}`)), "Unsupported MIME type: application/zip"},
	{"file without URI", "media", talk(turn("user", `{"fileData":{"mimeType":"image/png"}}`)), "file_uri"},
	{"video data without video", "video", talk(turn("user", `{"text":"x","videoMetadata":{"fps":1}}`)), "only for video"},
	{"cache and system", "cached", in(`"cachedContent":"cachedContents/x","systemInstruction":{"parts":[{"text":"x"}]}`), "CachedContent can not be used"},
	{"legacy category", "safety", in(`"safetySettings":[{"category":"HARM_CATEGORY_TOXICITY","threshold":"OFF"}]`), "safety_settings[0]: element predicate failed"},
	{"duplicate category", "safety", in(`"safetySettings":[{"category":"HARM_CATEGORY_JAILBREAK","threshold":"OFF"},{"category":"HARM_CATEGORY_JAILBREAK","threshold":"OFF"}]`), "duplicate"},
	{"temperature", "temperature", config(`"temperature":2.5`), "temperature must be in the range [0.0, 2.0]"},
	{"topP", "topP", config(`"topP":1.5`), "top_p"},
	{"topK", "topK", config(`"topK":0`), "top_k"},
	{"candidates", "candidateCount", config(`"candidateCount":2`), "Multiple candidates is not enabled"},
	{"max tokens", "maxOutputTokens", config(`"maxOutputTokens":0`), "Request contains an invalid argument."},
	{"presence", "presencePenalty", config(`"presencePenalty":2`), "invalid argument"},
	{"frequency", "frequencyPenalty", config(`"frequencyPenalty":-3`), "invalid argument"},
	{"stop sequences", "stopSequences", config(`"stopSequences":["1","2","3","4","5","6"]`), "must not exceed 5"},
	{"logprobs", "logprobs", config(`"logprobs":3`), "logprobs"},
	{"mime type", "responseMimeType", config(`"responseMimeType":"image/png"`), "application/json"},
	{"schema without mime type", "responseSchema", config(`"responseJsonSchema":{}`), "response_mime_type"},
	{"both schemas", "responseSchema", config(`"responseMimeType":"application/json","responseJsonSchema":{},"responseSchema":{"type":"STRING"}`), "only one of"},
	{"budget and level", "thinking", config(`"thinkingConfig":{"thinkingBudget":1,"thinkingLevel":"LOW"}`), "only set only one of"},
	{"ref with siblings", "jsonSchema", config(`"responseMimeType":"application/json","responseJsonSchema":{"$ref":"#/$defs/a","description":"x","$defs":{"a":{}}}`), "$ref"},
	{"two voices", "speech", config(`"speechConfig":{"voiceConfig":{},"multiSpeakerVoiceConfig":{}}`), "only one of voice_config"},
	{"aspect ratio", "image", config(`"imageConfig":{"aspectRatio":"7:1"}`), "aspect_ratio"},
	{"function name", "function-name", in(`"tools":[{"functionDeclarations":[{"name":"1a"}]}]`), "Invalid function name"},
	{"missing name", "function-name", in(`"tools":[{"functionDeclarations":[{"description":"a"}]}]`), "Invalid function name"},
	{"duplicate function", "function-duplicate", in(`"tools":[{"functionDeclarations":[{"name":"f"},{"name":"f"}]}]`), "Duplicate function declaration found: f"},
	{"both parameters", "function-schema", in(`"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT"},"parametersJsonSchema":{}}]}]`), "only one of parameters and parameters_json_schema"},
	{"root not an object", "function-schema", schemaBody(`{"type":"STRING"}`), "non-nullable OBJECT"},
	{"array without items", "function-schema", schemaBody(`{"type":"OBJECT","properties":{"a":{"type":"ARRAY"}}}`), "properties[a].items: missing field."},
	{"enum of numbers", "function-schema", schemaBody(`{"type":"OBJECT","properties":{"a":{"type":"INTEGER","enum":["1"]}}}`), "enum: only allowed for STRING type"},
	{"required undefined", "function-schema", schemaBody(`{"type":"OBJECT","required":["a"]}`), "required[0]: property is not defined"},
	{"anyOf with other members", "function-schema", schemaBody(`{"type":"OBJECT","properties":{"a":{"description":"x","anyOf":[{"type":"STRING"}]}}}`), "anyOf must be the only field"},
	{"names with AUTO", "allowed-names", in(`"tools":[{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO","allowedFunctionNames":["f"]}}`), "mode ANY or VALIDATED"},
	{"undeclared names", "allowed-names", in(`"tools":[{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["g"]}}`), "subset"},
	{"mode without tools", "mode-tools", in(`"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`), "without function_declarations"},
	{"empty tool", "tool-empty", in(`"tools":[{}]`), "tools[0]"},
	{"search and functions", "built-in", in(`"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}]`), "include_server_side_tool_invocations"},
	{"incomplete time range", "search-range", in(`"tools":[{"googleSearch":{"timeRangeFilter":{"startTime":"2026-01-01T00:00:00Z"}}}]`), "time_range_filter"},
	{"call without a name", "call-name", talk(hi, turn("model", `{"functionCall":{"args":{}}`+sig+`}`), turn("user", res1)), "Name cannot be empty"},
	{"user call", "part-role", talk(turn("user", call1), turn("user", res1)), "function call turn"},
	{"call first", "call-turn", talk(turn("model", call1), turn("user", res1)), "comes immediately after a user turn"},
	{"result missing", "response-count", talk(hi, turn("model", call1, call2), turn("user", res1)), "equal to the number of function call parts"},
	{"extra result", "response-count", talk(hi, turn("model", call1), turn("user", res1, res2)), "equal to the number of function call parts"},
	{"results split", "response-count", talk(hi, turn("model", call1, call2), turn("user", res1), turn("user", res2)), "equal to the number of function call parts"},
	{"result without call", "response-count", talk(turn("user", res1)), "equal to the number"},
	{"missing results", "response-count", talk(hi, turn("model", call1)), "equal to the number"},
	{"unknown id", "response-match", talk(hi, turn("model", call1), turn("user", strings.Replace(res1, `"1"`, `"9"`, 1))), "has no function call"},
	{"signature missing", "signature-missing", talk(hi, turn("model", strings.Replace(call1, sig, "", 1)), turn("user", res1)), "Function call `f` in the 2. content block is missing a `thought_signature`."},
	{"signature on the second call", "signature-missing", talk(hi, turn("model", strings.Replace(call1, sig, "", 1), strings.TrimSuffix(call2, "}")+sig+"}"), turn("user", res1, res2)), "missing a `thought_signature`"},
	{"damaged signature", "signature", talk(hi, turn("model", strings.Replace(call1, "skip_", "skipt", 1)), turn("user", res1)), "Corrupted thought signature."},
}

// elsewhere are the rules that other tests break.
var elsewhere = []string{"count", "function-count", "responseTools", "signature-dummy", "signature-kept"}

type failure struct {
	Error struct {
		Code            int
		Message, Status string
		Details         []struct {
			Type            string `json:"@type"`
			FieldViolations []struct{ Field, Description string }
		}
	}
}

func TestRefusals(t *testing.T) {
	broken := map[string]bool{}
	for _, tt := range refused {
		t.Run(tt.name, func(t *testing.T) {
			s := NewHandler(Options{Key: "k"})
			res := s.post("/v1beta/models/gemini-3.8-flash:generateContent", tt.body)
			var body failure
			if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
				t.Fatal(err)
			}
			if got := s.Last().Rule; got != tt.rule || !strings.Contains(body.Error.Message, tt.message) {
				t.Errorf("rule %q, message %q; want rule %q, message with %q", got, body.Error.Message, tt.rule, tt.message)
			}
			if res.StatusCode != 400 || body.Error.Code != 400 || body.Error.Status != "INVALID_ARGUMENT" {
				t.Errorf("status %d, error %+v", res.StatusCode, body.Error)
			}
			broken[tt.rule] = true
		})
	}
	for _, r := range rules() {
		if !broken[r.name] && !slices.Contains(elsewhere, r.name) {
			t.Errorf("no body breaks rule %q of %s", r.name, r.ref)
		}
	}
}

// TestAllProblems sends the two unknown names of E01 in the reference.
func TestAllProblems(t *testing.T) {
	s := NewHandler(Options{})
	res := s.post("/v1beta/models/m:generateContent", `{"contents":[],"foo":1,"tools":[{"functionDeclarations":[{"name":"f","parameters":{"additionalProperties":false}}]}]}`)
	var body failure
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	want := "Invalid JSON payload received. Unknown name \"foo\": Cannot find field.\nInvalid JSON payload received. Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot find field."
	if body.Error.Message != want {
		t.Errorf("message %q", body.Error.Message)
	}
	v := body.Error.Details[0].FieldViolations
	if len(v) != 2 || v[0].Field != "" || v[1].Field != "tools[0].function_declarations[0].parameters" {
		t.Errorf("violations %+v", v)
	}
}

// TestByModel tests rules of some models.
func TestByModel(t *testing.T) {
	tests := []struct{ name, model, body, rule string }{
		{"level on 2.5", "gemini-2.5-flash", config(`"thinkingConfig":{"thinkingLevel":"LOW"}`), "thinking"},
		{"level on 3", "gemini-3.8-flash", config(`"thinkingConfig":{"thinkingLevel":"low"}`), ""},
		{"minimal on pro", "gemini-3.1-pro-preview", config(`"thinkingConfig":{"thinkingLevel":"MINIMAL"}`), "thinking"},
		{"no budget on pro", "gemini-2.5-pro", config(`"thinkingConfig":{"thinkingBudget":0}`), "thinking"},
		{"budget over 2.5 flash", "gemini-2.5-flash", config(`"thinkingConfig":{"thinkingBudget":30000}`), "thinking"},
		{"dynamic budget", "gemini-2.5-pro", config(`"thinkingConfig":{"thinkingBudget":-1}`), ""},
		{"little budget on lite", "gemini-2.5-flash-lite", config(`"thinkingConfig":{"thinkingBudget":100}`), "thinking"},
		{"no signature on 2.5", "gemini-2.5-flash", talk(hi, turn("model", strings.Replace(call1, sig, "", 1)), turn("user", res1)), ""},
		{"no signature in an earlier turn", "gemini-3.8-flash", talk(hi, turn("model", strings.Replace(call1, sig, "", 1)), turn("user", res1), turn("model", `{"text":"x"}`), hi), ""},
		{"JSON and functions on 2.5", "gemini-2.5-flash", in(`"generationConfig":{"responseMimeType":"application/json"},"tools":[{"functionDeclarations":[{"name":"f"}]}]`), "responseTools"},
		{"empty object on 2.0", "gemini-2.0-flash", schemaBody(`{"type":"OBJECT","properties":{}}`), "function-schema"},
		{"results in any order", "gemini-3.8-flash", talk(hi, turn("model", call1, call2), turn("user", res2, res1)), ""},
		{"media next to results", "gemini-3.8-flash", talk(hi, turn("model", call1), turn("user", res1, `{"inlineData":{"mimeType":"image/png","data":"AA=="}}`)), ""},
		{"literal placeholder signature", "gemini-3.8-flash", talk(hi, turn("model", strings.Replace(call1, sig, `,"thought_signature":"skip_thought_signature_validator"`, 1)), turn("user", res1)), ""},
		{"empty text of the user", "gemini-2.5-flash", talk(turn("user", `{"text":""}`)), ""},
		{"empty text of the model", "gemini-3.8-flash", talk(hi, turn("model", `{"text":"x"}`, `{"text":""}`), hi), ""},
		{"tool role", "gemini-3.8-flash", talk(hi, turn("model", call1), turn("tool", res1)), "role"},
		{"placeholder signature in base64", "gemini-3.8-flash", talk(hi, turn("model", strings.Replace(call1, sig, `,"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="`, 1)), turn("user", res1)), "signature"},
		{"513 functions", "gemini-3.8-flash", in(`"tools":[{"functionDeclarations":[` + functions(513) + `]}]`), "function-count"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewHandler(Options{})
			s.post("/v1beta/models/"+tt.model+":generateContent", tt.body)
			if got := s.Last(); got.Rule != tt.rule {
				t.Errorf("rule %q, want %q: %s", got.Rule, tt.rule, got.Message)
			}
		})
	}
}

// TestLenient tests what [Options.Lenient] accepts.
func TestLenient(t *testing.T) {
	foreign2 := strings.TrimSuffix(call2, "}") + `,"thoughtSignature":"AAAA"}`
	tests := []struct{ name, body, rule string }{
		{"tool role", talk(hi, turn("model", call1), turn("tool", res1)), ""},
		{"results split", talk(hi, turn("model", call1, call2), turn("user", res1), turn("user", res2)), ""},
		{"missing split result", talk(hi, turn("model", call1, call2), turn("user", res1), hi), "response-count"},
		{"extra split result", talk(hi, turn("model", call1), turn("user", res1), turn("user", res2)), "response-count"},
		{"split model turn", talk(hi, turn("model", `{"text":"x"}`), turn("model", call1), turn("user", res1)), ""},
		{"missing second signature", talk(hi, turn("model", call1), turn("user", res1), turn("model", call2), turn("user", res2)), "signature-missing"},
		{"foreign signature on a second call", talk(hi, turn("model", call1, foreign2), turn("user", res1, res2)), ""},
		{"foreign signature on a first call", talk(hi, turn("model", foreign2), turn("user", res2)), "signature"},
		{"foreign signature on a text", talk(hi, turn("model", `{"text":"x","thoughtSignature":"AAAA"}`), hi), "signature-kept"},
		{"unknown role", talk(turn("assistant", `{"text":"x"}`)), "role"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewHandler(Options{Lenient: true, KeepSignatures: true})
			s.post("/v1beta/models/gemini-3.8-flash:generateContent", tt.body)
			if got := s.Last(); got.Rule != tt.rule {
				t.Errorf("rule %q, want %q: %s", got.Rule, tt.rule, got.Message)
			}
		})
	}
}

func functions(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"name":"f` + strings.Repeat("x", i%100) + string(rune('a'+i/100)) + `"}`)
	}
	return b.String()
}

func TestRefusedRequests(t *testing.T) {
	const path = "/v1beta/models/m:generateContent"
	tests := []struct {
		name, path, rule string
		status           int
		header           []string
	}{
		{"no key", path, "key", 403, []string{"X-Goog-Api-Key", ""}},
		{"wrong key", path, "key", 400, []string{"X-Goog-Api-Key", "other"}},
		{"second key", path, "key", 400, []string{"Authorization", "Bearer client"}},
		{"key in the query", path + "?key=k", "", 200, []string{"X-Goog-Api-Key", ""}},
		{"key in both headers", path, "", 200, []string{"Authorization", "Bearer k"}},
		{"unknown query", path + "?beta=true", "query", 400, nil},
		{"path", "/v1beta/models/m:embed", "path", 404, nil},
		{"Vertex path", "/v1beta1/models/m:generateContent", "path", 404, nil},
		{"slash in the name", "/v1beta/models/a/b:generateContent", "model-name", 400, nil},
		{"unknown model", "/v1beta/models/nope:generateContent", "model", 404, nil},
		{"content type", path, "content-type", 400, []string{"Content-Type", "text/plain"}},
		{"client header", path, "forbidden", 400, []string{"X-Client-Mark", "1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewHandler(Options{Key: "k", Models: []string{"m"}, Forbid: []string{"x-client-mark"}})
			res := s.post(tt.path, talk(hi), tt.header...)
			if last := s.Last(); res.StatusCode != tt.status || last.Rule != tt.rule {
				t.Errorf("status %d, rule %q (%s); want %d, %q", res.StatusCode, last.Rule, last.Message, tt.status, tt.rule)
			}
		})
	}
}

// TestReferenceAccepted sends the example requests of the wire reference.
func TestReferenceAccepted(t *testing.T) {
	fake.Accepts(t, "../../../../generatecontent/testdata/[qc][0-9][0-9].json", 20, func(name, body string) (*fake.Server, *http.Response) {
		path := "/v1beta/models/gemini-3.8-flash:generateContent"
		if name[0] == 'c' {
			path = "/v1beta/models/gemini-3.8-flash:countTokens"
		}
		s := NewHandler(Options{TrustSignatures: true})
		return s.Server, s.post(path, body)
	})
}

func TestCount(t *testing.T) {
	s := NewHandler(Options{})
	path := "/v1beta/models/gemini-3.8-flash:countTokens"
	for body, rule := range map[string]string{
		talk(turn("user", res1)): "", // countTokens accepts any order of turns
		in(`"tools":[]`):         "shape",
		`{"contents":[` + hi + `],"generateContentRequest":{"contents":[` + hi + `]}}`: "count",
		`{}`: "contents",
	} {
		s.post(path, body)
		if got := s.Last().Rule; got != rule {
			t.Errorf("%s: rule %q, want %q", body, got, rule)
		}
	}
}
