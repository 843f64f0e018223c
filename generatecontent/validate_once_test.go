package generatecontent

import (
	"testing"

	"github.com/polywire/polywire/internal/formattest"
)

// faultless are documents without a fault that have all the unions of the format.
var faultless = []string{
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

// A member or element of a wrong type is told once: no fault follows from it.
func TestWrongTypesAreToldOnce(t *testing.T) {
	formattest.WrongTypesAreToldOnce(t, faultless, func(body string) (validate func() error, parsed error) {
		r, err := ParseRequestString(body)
		return func() error { return r.Validate(nil) }, err
	})
}
