package e2e

import (
	"testing"

	"github.com/polywire/polywire/upstream"
)

const (
	beside = `"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"t"},{"name":"u"},{"name":"v"}]}]`
	one    = `"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"t"}]}]`
)

// generateToClaude are requests of generateContent clients to Claude models.
var generateToClaude = []feature{
	{
		name: "thinking not requested",
		body: `"generationConfig":{"thinkingConfig":{"thinkingBudget":2048}},` + askedG1,
		sent: claude("thinking.display = omitted", "thinking.budget_tokens = 2048"),
	},
	{
		name:  "thinking of an adaptive model",
		model: map[string]string{toClaude: "claude-opus-5"},
		body:  `"generationConfig":{"thinkingConfig":{"includeThoughts":true}},` + askedG1,
		sent:  claude("thinking.type = adaptive", "thinking.display = summarized"),
	},
	{
		name:  "minimal level for a model that always thinks",
		model: map[string]string{toClaude: "claude-opus-5-5"},
		body:  `"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"MINIMAL"}},` + askedG1,
		sent:  claude("thinking.type = adaptive", "thinking.display = summarized", "output_config.effort = low"),
		loss:  claude("degraded thinking.effort"),
	},
	{
		name:  "level for a model with budgets only",
		model: map[string]string{toClaude: "claude-opus-4-5"},
		body:  `"generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW"}},` + askedG1,
		sent:  claude("thinking.budget_tokens = 1024", "output_config.effort = low"),
		loss:  claude("degraded thinking.effort"),
	},
	{
		name:  "largest budget without an output limit",
		model: map[string]string{toClaude: "claude-opus-4-5"},
		body:  `"generationConfig":{"thinkingConfig":{"thinkingBudget":65535}},` + askedG1,
		sent:  claude("max_tokens = 64000", "thinking.budget_tokens = 63999"),
		loss:  claude("degraded thinking.budget"),
	},
	{
		name: "allowed names with a search tool",
		body: beside + `,"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["t"]}},` + askedG1,
		sent: claude("tools.# = 2", "tools.0.name = web_search", "tools.1.name = t", "tool_choice.type = auto"),
		loss: claude("degraded choice.names", "degraded tools.0"),
	},
	{
		name: "no function with a search tool",
		body: beside + `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}},` + askedG1,
		sent: claude("tools.# = 1", "tools.0.name = web_search", "tool_choice.type = auto"),
		loss: claude("degraded choice.mode", "degraded tools.0"),
	},
	{
		name: "any function with a search tool",
		body: beside + `,"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},` + askedG1,
		sent: claude("tools.# = 4", "tool_choice.type = any"),
		loss: claude("degraded choice.mode", "degraded tools.0"),
	},
	{
		name: "only function with a search tool",
		body: one + `,"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},` + askedG1,
		sent: claude("tools.# = 2", "tool_choice.type = tool", "tool_choice.name = t"),
		loss: claude("degraded tools.0"),
	},
	{
		name: "allowed names of all functions",
		body: declaredT + `,"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["t","u"]}},` + askedG1,
		sent: claude("tools.# = 2", "tool_choice.type = any"),
	},
	{
		name: "two searches",
		body: `"tools":[{"googleSearch":{}},{"googleSearch":{}}],` + askedG1,
		sent: claude("tools.# = 1"),
		loss: claude("degraded tools.0", "degraded tools.1"),
	},
	{
		name: "response schema that allows everything",
		body: `"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":true},` + askedG1,
		sent: claude("output_config.format.type = json_schema"),
		loss: claude("hint output.schema"),
	},
	{
		name: "text response format",
		body: `"generationConfig":{"responseFormat":{"text":{"mimeType":"APPLICATION_JSON","schema":{"type":"object","properties":{"p1":{"type":"string"}},"required":["p1"],"additionalProperties":false}}}},` + askedG1,
		sent: claude("output_config.format.schema.properties.p1.type = string"),
	},
	{
		name: "text response format and older member",
		body: `"generationConfig":{"responseMimeType":"text/plain","responseFormat":{"text":{"mimeType":"APPLICATION_JSON","schema":{"type":"object"}}}},` + askedG1,
		sent: claude("! output_config"),
		loss: claude("dropped extra.generationConfig.responseFormat.text"),
	},
	{
		name: "enum response",
		body: `"generationConfig":{"responseMimeType":"text/x.enum","responseSchema":{"type":"STRING","enum":["a","b c"]}},` + askedG1,
		sent: claude("system.0.text = Answer with one of these lines and nothing else:\na\nb c", "! output_config"),
		loss: claude("degraded output.media_type"),
	},
	{
		name: "image and audio response formats",
		body: `"generationConfig":{"responseFormat":{"image":{"mimeType":"IMAGE_JPEG"},"audio":{"mimeType":"AUDIO_WAV"}}},` + askedG1,
		loss: claude("dropped extra.generationConfig.responseFormat.image", "dropped extra.generationConfig.responseFormat.audio"),
	},
	{
		name: "settings that change the response",
		body: `"generationConfig":{"routingConfig":{"autoMode":{}},"translationConfig":{"targetLanguageCode":"de"},"enableAffectiveDialog":true,
			"audioTranscriptionConfig":{"mode":"SMART"},"mediaResolution":"MEDIA_RESOLUTION_LOW"},"modelArmorConfig":{"promptTemplateName":"p"},
			"toolConfig":{"retrievalConfig":{"languageCode":"de"}},"labels":{"a":"b"},` + askedG1,
		loss: claude("dropped extra.generationConfig.routingConfig", "dropped extra.generationConfig.translationConfig",
			"dropped extra.generationConfig.enableAffectiveDialog", "dropped extra.generationConfig.audioTranscriptionConfig",
			"hint extra.generationConfig.mediaResolution", "degraded extra.modelArmorConfig", "dropped extra.toolConfig.retrievalConfig",
			"hint extra.labels"),
	},
	{
		name: "zero penalties",
		body: `"generationConfig":{"presencePenalty":0,"frequencyPenalty":0},` + askedG1,
	},
	{
		name: "validated mode without tools",
		body: `"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"}},` + askedG1,
		loss: claude("hint choice"),
	},
	{
		name: "model turn with code only",
		body: `"contents":[{"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"1"}}]},{"role":"user","parts":[{"text":"T1"}]}]`,
		sent: claude("messages.0.content.0.text = Code that the server has run:\n\n1\n\n"),
		loss: claude("degraded turns.0.parts.0"),
	},
	{
		name:  "request that only Gemini supports",
		body:  `"contents":[{"role":"user","parts":[{"toolResponse":{"toolType":"URL_CONTEXT","response":{"a":1}}}]}]`,
		fails: map[string]string{toClaude: "contents[0].parts[0]"},
	},
	{
		name: "tool result that refers to its files",
		body: declaredT + `,"contents":[{"role":"user","parts":[{"text":"T1"}]},{"role":"model","parts":[{"functionCall":{"id":"c1","name":"t","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"t","response":{"a":{"$ref":"one.png"}},"parts":[{"inlineData":{"mimeType":"image/png","data":"` + testPNG + `","displayName":"one.png"}}]}}]}]`,
		sent: claude("messages.2.content.0.content.1.text = one.png:", "messages.2.content.0.content.2.type = image"),
	},
}

func claude(list ...string) map[string][]string { return map[string][]string{toClaude: list} }

func TestGenerateToClaude(t *testing.T) {
	b := adapterNamed(t, toClaude)
	up, vendor := b.start(t, vendor{trust: true, forbid: secrets})
	g := newGateway(endpointNamed("generatecontent"), up, upstream.HandlerOptions{Resolver: stored{}, Links: stored{}})
	for _, c := range generateToClaude {
		t.Run(c.name, func(t *testing.T) { c.run(t, g, b, vendor) })
	}
}
