package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// An encoding is the expected document of a request.
type encoding struct {
	has, not string // in the document
	losses   []content.Loss
}

// A formatsCase is a request and its encodings in both formats.
type formatsCase struct {
	name            string
	compatible      bool
	model           string // default gpt-5.2
	change          func(*upstream.Request)
	chat, responses encoding
}

// withTools sets tools and a choice.
func withTools(c content.ToolChoice, tools ...content.Tool) func(*upstream.Request) {
	return func(r *upstream.Request) { r.Tools, r.Choice = tools, c }
}

func choose(mode content.ChoiceMode, names ...string) content.ToolChoice {
	return content.ToolChoice{Mode: mode, Names: names}
}

var (
	gTool = content.Tool{Name: "g"}

	requiredTool = content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`}}
	webSearcher  = content.Tool{Kind: "web_search_20250305", Name: "web_search", Format: "messages", Raw: `{"type":"web_search_20250305","name":"web_search"}`}
	bash         = content.Tool{Kind: "computer_20250124", Name: "bash", Format: "messages", Raw: `{"type":"computer_20250124","name":"bash"}`}

	noSearch = []content.Loss{lower.ToolVendor.At("tools.0")}
	mapped   = []content.Loss{lower.ToolMapped.At("tools.0")}
)

// choiceCases are about tools and tool choices. The choice of generateContent applies
// to functions only, that of Messages to all tools.
var choiceCases = []formatsCase{
	{name: "no function, web search allowed", change: withTools(choose(content.ChoiceNone), googleSearch, fTool),
		chat:      encoding{has: `"tool_choice":"none"`, losses: noSearch},
		responses: encoding{has: `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"web_search"}]}`, losses: mapped}},
	{name: "web search without functions", change: withTools(choose(content.ChoiceNone), googleSearch),
		chat:      encoding{not: "tool_choice", losses: noSearch},
		responses: encoding{has: `"tool_choice":"auto"`, losses: mapped}},
	{name: "any function, not web search", change: withTools(choose(content.ChoiceAny), googleSearch, fTool, gTool),
		chat:      encoding{has: `"tool_choice":"required"`, losses: noSearch},
		responses: encoding{has: `"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]}`, losses: mapped}},
	{name: "one function or web search", change: withTools(choose(content.ChoiceValidated, "f"), googleSearch, fTool, gTool),
		chat: encoding{has: `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}`,
			losses: []content.Loss{lower.ToolVendor.At("tools.0"), lower.ToolStrict.At("tools.1.input")}},
		responses: encoding{has: `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"},{"type":"web_search"}]}`,
			losses: []content.Loss{lower.ToolMapped.At("tools.0"), lower.ToolStrict.At("tools.1.input")}}},
	{name: "all functions by name", change: withTools(choose(content.ChoiceValidated, "f", "g"), fTool, gTool),
		chat:      encoding{has: `"tool_choice":"auto"`, losses: []content.Loss{lower.ToolStrict.At("tools.0.input")}},
		responses: encoding{has: `"tool_choice":"auto"`, losses: []content.Loss{lower.ToolStrict.At("tools.0.input")}}},
	{name: "validated arguments", change: withTools(choose(content.ChoiceValidated), requiredTool),
		chat: encoding{has: `"parameters":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true`,
			not: "tool_choice\":{", losses: []content.Loss{onlyListedArguments}},
		responses: encoding{has: `"parameters":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true`,
			losses: []content.Loss{onlyListedArguments}}},
	{name: "all functions by name, compatible server", compatible: true, change: withTools(choose(content.ChoiceAny, "f", "g"), fTool, gTool),
		chat: encoding{has: `"tool_choice":"required"`}, responses: encoding{has: `"tool_choice":"required"`}},
	{name: "no tool", change: withTools(choose(content.ChoiceNone), webSearcher, fTool),
		chat:      encoding{has: `"tool_choice":"none"`, losses: noSearch},
		responses: encoding{has: `"tool_choice":"none"`, losses: mapped}},
	{name: "any tool", change: withTools(choose(content.ChoiceAny), webSearcher, fTool),
		chat:      encoding{has: `"tool_choice":"required"`, losses: noSearch},
		responses: encoding{has: `"tool_choice":"required"`, losses: mapped}},
	{name: "built-in tool by name", change: withTools(choose(content.ChoiceAny, "web_search"), webSearcher, fTool),
		chat:      encoding{not: "tool_choice", losses: []content.Loss{lower.ChoiceNamesNone.At("choice.names"), lower.ToolVendor.At("tools.0")}},
		responses: encoding{has: `"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"web_search"}]}`, losses: mapped}},
	{name: "unknown tool", change: withTools(choose(content.ChoiceAny, "bash"), bash, fTool, gTool),
		chat:      encoding{not: "tool_choice", losses: []content.Loss{lower.ChoiceNamesNone.At("choice.names"), lower.ToolVendor.At("tools.0")}},
		responses: encoding{not: "tool_choice", losses: []content.Loss{lower.ChoiceNamesNone.At("choice.names"), lower.ToolVendor.At("tools.0")}}},
	{name: "duplicate web search", change: withTools(content.ToolChoice{}, googleSearch, googleSearch),
		chat:      encoding{losses: []content.Loss{lower.ToolVendor.At("tools.0"), lower.ToolVendor.At("tools.1")}},
		responses: encoding{has: `"tools":[{"type":"web_search"}]`, losses: []content.Loss{lower.ToolMapped.At("tools.0"), lower.ToolTwice.At("tools.1")}}},
	{name: "restrictions of web search", change: withTools(content.ToolChoice{}, content.Tool{Kind: "web_search_20250305", Format: "messages", Raw: `{"blocked_domains":["a.example"],"allowed_callers":["direct"]}`}),
		chat:      encoding{losses: noSearch},
		responses: encoding{has: `"tools":[{"type":"web_search"}]`, losses: []content.Loss{lower.ToolMapped.At("tools.0"), foreign.ToolRestrictions.At("tools.0.blocked_domains")}}},
}

func ofForm(mediaType, schema string, open bool) func(*upstream.Request) {
	return func(r *upstream.Request) {
		r.Output = upstream.Output{MediaType: mediaType, Schema: content.Schema{JSON: schema, OpenAPI: open}}
	}
}

// formCases are about the form of the response.
var formCases = []formatsCase{
	{name: "enum text", change: ofForm("text/x.enum", `{"type":"STRING","enum":["a","b c"]}`, true),
		chat:      encoding{has: `{"role":"developer","content":"Answer with one of these lines and nothing else:\na\nb c"}`, not: "response_format", losses: []content.Loss{lower.OutputEnum.At("output.media_type")}},
		responses: encoding{has: `{"role":"developer","content":"Answer with one of these lines and nothing else:\na\nb c"}`, not: `"text":`, losses: []content.Loss{lower.OutputEnum.At("output.media_type")}}},
	{name: "enum text without values", change: ofForm("text/x.enum", `{"type":"STRING"}`, true),
		chat:      encoding{not: "response_format", losses: []content.Loss{lower.OutputType.At("output.media_type")}},
		responses: encoding{not: `"text":`, losses: []content.Loss{lower.OutputType.At("output.media_type")}}},
	{name: "schema with other media type", change: ofForm("application/xml", openSchema, false),
		chat:      encoding{not: "response_format", losses: []content.Loss{lower.OutputType.At("output.media_type")}},
		responses: encoding{not: `"text":`, losses: []content.Loss{lower.OutputType.At("output.media_type")}}},
	{name: "schema true", change: ofForm(jsonType, `true`, false),
		chat:      encoding{has: `"response_format":{"type":"json_object"}`, losses: anyObjectLosses},
		responses: encoding{has: `"text":{"format":{"type":"json_object"}}`, losses: anyObjectLosses}},
	{name: "schema true without media type", change: ofForm("", ` true`, false),
		chat:      encoding{has: `"response_format":{"type":"json_object"}`, losses: anyObjectLosses},
		responses: encoding{has: `{"role":"developer","content":"Answer in JSON."}`, losses: anyObjectLosses}},
	{name: "no schema, JSON in conversation", change: func(r *upstream.Request) {
		ofForm(jsonType, "", false)(r)
		r.Turns[0].Parts = partsOf(textOf("Say it as JSON."))
	},
		chat:      encoding{not: "Answer", losses: onlyObjectLosses},
		responses: encoding{not: "Answer", losses: onlyObjectLosses}},
	// Chat Completions looks at all messages, Responses only at the input.
	{name: "no schema, JSON in system text", change: func(r *upstream.Request) {
		ofForm(jsonType, "", false)(r)
		r.System, r.Defaults.Format = partsOf(textOf("Respond only with valid JSON.")), "openai-chat"
	},
		chat:      encoding{not: "Answer"},
		responses: encoding{has: `{"role":"developer","content":"Answer in JSON."}`, losses: anyObjectLosses}},
	{name: "schema false", change: ofForm(jsonType, `false`, false),
		chat:      encoding{has: `"response_format":{"type":"json_object"}`, losses: unsatisfiableLosses},
		responses: encoding{has: `"text":{"format":{"type":"json_object"}}`, losses: unsatisfiableLosses}},
	{name: "OpenAPI object", change: ofForm(jsonType, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}`, true),
		chat: encoding{has: `"schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true`,
			losses: []content.Loss{onlyListed}},
		responses: encoding{has: `"schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true`,
			losses: []content.Loss{onlyListed}}},
	{name: "formats without meaning for strings", change: ofForm(jsonType, `{"type":"OBJECT","properties":{"a":{"type":"STRING","format":"enum","enum":["x"]},"n":{"type":"INTEGER","format":"int32"}},"required":["a","n"]}`, true),
		chat: encoding{has: `"schema":{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"n":{"type":"integer"}},"required":["a","n"],"additionalProperties":false},"strict":true`,
			losses: []content.Loss{noteAt("a.format"), noteAt("n.format"), onlyListed}},
		responses: encoding{has: `"schema":{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"n":{"type":"integer"}},"required":["a","n"],"additionalProperties":false},"strict":true`,
			losses: []content.Loss{noteAt("a.format"), noteAt("n.format"), onlyListed}}},
	{name: "format of strict schemas", change: ofForm(jsonType, `{"type":"OBJECT","properties":{"a":{"type":"STRING","format":"date-time"}},"required":["a"]}`, true),
		chat:      encoding{has: `{"a":{"type":"string","format":"date-time"}},"required":["a"],"additionalProperties":false},"strict":true`, losses: []content.Loss{onlyListed}},
		responses: encoding{has: `{"a":{"type":"string","format":"date-time"}},"required":["a"],"additionalProperties":false},"strict":true`, losses: []content.Loss{onlyListed}}},
	{name: "format not in strict schemas", change: ofForm(jsonType, `{"type":"OBJECT","properties":{"a":{"type":"STRING","format":"uri"}},"required":["a"]}`, true),
		chat:      encoding{has: `{"a":{"type":"string","format":"uri"}},"required":["a"]},"strict":false`, losses: []content.Loss{lower.OutputStrict.At("output.schema")}},
		responses: encoding{has: `"strict":false`, losses: []content.Loss{lower.OutputStrict.At("output.schema")}}},
	{name: "closed schema with format not in strict schemas", change: ofForm(jsonType, `{"type":"object","properties":{"a":{"type":"string","format":"uri"}},"required":["a"],"additionalProperties":false}`, false),
		chat:      encoding{has: `{"a":{"type":"string","format":"uri"}},"required":["a"],"additionalProperties":false},"strict":false`, losses: []content.Loss{lower.OutputStrict.At("output.schema")}},
		responses: encoding{has: `"strict":false`, losses: []content.Loss{lower.OutputStrict.At("output.schema")}}},
	{name: "member without type", change: ofForm(jsonType, `{"type":"OBJECT","properties":{"a":{"description":"d"}},"required":["a"]}`, true),
		chat:      encoding{has: `{"a":{"description":"d"}},"required":["a"]},"strict":false`, losses: []content.Loss{lower.OutputStrict.At("output.schema")}},
		responses: encoding{has: `"strict":false`, losses: []content.Loss{lower.OutputStrict.At("output.schema")}}},
	{name: "JSON Schema without additionalProperties", change: ofForm(jsonType, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, false),
		chat:      encoding{has: `"strict":true`, losses: []content.Loss{onlyListed}},
		responses: encoding{has: `"strict":true`, losses: []content.Loss{onlyListed}}},
	{name: "any object, by its schema", change: ofForm(jsonType, `{"type":"object"}`, false),
		chat:      encoding{has: `"strict":false`, losses: []content.Loss{lower.OutputStrict.At("output.schema")}},
		responses: encoding{has: `"strict":false`, losses: []content.Loss{lower.OutputStrict.At("output.schema")}}},
	{name: "JSON Schema of a client whose vendor is not strict", change: func(r *upstream.Request) {
		ofForm(jsonType, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, false)(r)
		r.Defaults.LooseOutput = true
	}, chat: encoding{not: "strict"}, responses: encoding{not: "strict"}},
}

var (
	anyObjectLosses     = []content.Loss{lower.OutputObject.At("output.media_type")}
	onlyObjectLosses    = []content.Loss{lower.OutputOnlyObject.At("output.media_type")}
	unsatisfiableLosses = []content.Loss{lower.OutputUnsatisfiable.At("output.schema"), lower.OutputObject.At("output.media_type")}
)

var onlyListedArguments = content.Loss{Severity: content.LossHint, Path: "tools.0.input", Reason: onlyListed.Reason}

var onlyListed = content.Loss{Severity: content.LossHint, Path: "output.schema", Reason: "strict schemas must forbid properties that are not listed; additionalProperties false was added"}

// noteAt returns the loss of an annotation in the response schema.
func noteAt(member string) content.Loss {
	return content.Loss{Severity: content.LossHint, Path: "output.schema.properties." + member, Reason: "the target does not support this annotation; it was dropped"}
}

// vendorPart is a part of another vendor.
var vendorPart = &content.Unknown{Format: "messages", Kind: "container_upload", Raw: "{}"}

// placeholderText is sent for an earlier turn of which nothing is left.
const placeholderText = "[Here was something that you cannot be shown.]"

var placeholderLosses = []content.Loss{lower.TurnPlaceholder.At("turns.0"), lower.UnknownPart.At("turns.0.parts.0")}

// turnCases are about turns, thinking and files.
var turnCases = []formatsCase{
	{name: "turn with dropped parts only", change: withTurns(turnOf(content.RoleUser, vendorPart), turnOf(content.RoleAssistant, textOf("A1")), turnOf(content.RoleUser, textOf("T2"))),
		chat:      encoding{has: `"messages":[{"role":"user","content":"` + placeholderText + `"},`, losses: []content.Loss{lower.TurnPlaceholder.At("turns.0"), lower.UnknownPart.At("turns.0.parts.0")}},
		responses: encoding{has: `"input":[{"role":"user","content":"` + placeholderText + `"},`, losses: placeholderLosses}},
	{name: "expired system turn", change: withTurns(turnOf(content.RoleUser, textOf("T1")),
		content.Turn{Role: content.RoleSystem, Parts: partsOf(textOf("GONE")), Extra: ofMessages(`{"clear_at":"next_user_message"}`)},
		turnOf(content.RoleAssistant, textOf("A1")), turnOf(content.RoleUser, textOf("T2"))),
		chat: encoding{not: "GONE"}, responses: encoding{not: "GONE"}},
	{name: "budget for model without thinking", model: "gpt-4.1", change: func(r *upstream.Request) {
		r.Tools, r.Thinking = []content.Tool{fTool}, upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &seven}
	},
		chat:      encoding{not: "effort", losses: []content.Loss{lower.ModeNone.At("thinking.mode"), lower.ModeNone.At("thinking.budget")}},
		responses: encoding{not: "effort", losses: []content.Loss{lower.ModeNone.At("thinking.mode"), lower.ModeNone.At("thinking.budget")}}},
	{name: "budget and effort", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &seven, Effort: "high", Display: "omitted"}),
		chat:      encoding{has: `"reasoning_effort":"high"`, losses: []content.Loss{lower.BudgetOmitted.At("thinking.budget")}},
		responses: encoding{has: `"reasoning":{"effort":"high"}`, losses: []content.Loss{lower.BudgetOmitted.At("thinking.budget")}}},
	{name: "source code", change: withTurns(turnOf(content.RoleUser, &content.Document{Source: &content.Base64{MediaType: "application/x-javascript", Data: "bGV0IGE7"}})),
		chat:      encoding{has: `let a;`, losses: []content.Loss{lower.DocumentText.At("turns.0.parts.0")}},
		responses: encoding{has: `let a;`, losses: []content.Loss{lower.DocumentText.At("turns.0.parts.0")}}},
	{name: "default resolution of files", change: func(r *upstream.Request) {
		r.Turns[0].Parts = partsOf(&content.Document{Title: "a.pdf", Source: pdf})
		withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`)(r)
	},
		chat:      encoding{not: "detail", losses: []content.Loss{lower.FileDetail.At("turns.0.parts.0")}},
		responses: encoding{has: `"file_data":"data:application/pdf;base64,JVBERi0=","detail":"low"`}},
	{name: "resolution of one file", change: withTurns(turnOf(content.RoleUser, &content.Document{Title: "a.pdf", Source: pdf, Extra: resolution("MEDIA_RESOLUTION_HIGH")})),
		chat:      encoding{not: "detail", losses: []content.Loss{foreign.MembersLoss.At("turns.0.parts.0.extra")}},
		responses: encoding{has: `"detail":"high"`}},
	{name: "context settings of Messages", change: func(r *upstream.Request) {
		r.Extra = ofMessages(`{"context_management":{"edits":[]},"compaction":{"type":"summarize"}}`)
	},
		chat:      encoding{losses: foreignOnes},
		responses: encoding{losses: foreignOnes}},
}

// withResult sets a conversation with one tool call and its result.
func withResult(object string, parts ...content.Part) func(*upstream.Request) {
	return withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, &content.ToolUse{ID: "c1", Name: "f", Input: "{}"}),
		turnOf(content.RoleUser, &content.ToolResult{ID: "c1", Object: object, Parts: parts}))
}

// namedImage returns an image with a displayName and other members of generateContent.
func namedImage(members string) *content.Image {
	return &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "AAAA", Extra: &content.Extra{Format: "generatecontent", JSON: members}}}
}

const twoRefs = `{"a":{"$ref":"one.png"},"b":{"$ref":"two.png"}}`

var (
	helloFile    = &content.Document{Source: &content.Base64{MediaType: "text/plain", Data: "SGVsbG8="}}
	helloLosses  = []content.Loss{lower.DocumentText.At("turns.2.parts.0.parts.1")}
	joinedLosses = []content.Loss{lower.ResultParts.At("turns.2.parts.0"), helloLosses[0]}
	imageLosses  = []content.Loss{lower.ResultImage.At("turns.2.parts.0.parts.1"), lower.ResultImage.At("turns.2.parts.0.parts.2")}
	namedLoss    = foreign.MembersLoss.At("turns.2.parts.0.parts.1.source.extra")
)

// resultCases are about tool results that are objects.
var resultCases = []formatsCase{
	{name: "text file with object", change: withResult(`{"a": 1}`, textOf(`{"a": 1}`), helloFile),
		chat:      encoding{has: `"content":"{\"a\": 1}\n\nHello"`, losses: joinedLosses},
		responses: encoding{has: `"output":[{"type":"input_text","text":"{\"a\": 1}"},{"type":"input_text","text":"Hello"}]`, losses: helloLosses}},
	{name: "text file with object, compatible server", compatible: true, change: withResult(`{"a": 1}`, textOf(`{"a": 1}`), helloFile),
		chat:      encoding{has: `"content":"{\"a\": 1}\n\nHello"`, losses: joinedLosses},
		responses: encoding{has: `"output":"{\"a\": 1}\n\nHello"`, losses: joinedLosses}},
	{name: "text file repeated in object", change: withResult(`{"result":"Hello"}`, textOf("Hello"), helloFile),
		chat:      encoding{has: `"content":"{\"result\":\"Hello\"}\n\nHello"`, losses: joinedLosses},
		responses: encoding{has: `"output":[{"type":"input_text","text":"{\"result\":\"Hello\"}"},{"type":"input_text","text":"Hello"}]`, losses: helloLosses}},
	{name: "text not in object", change: withResult(`{"output":{"t":1}}`, textOf(`{"t":1}`), textOf("more")),
		chat:      encoding{has: `"content":"{\"output\":{\"t\":1}}\n\nmore"`, losses: []content.Loss{lower.ResultParts.At("turns.2.parts.0")}},
		responses: encoding{has: `"output":[{"type":"input_text","text":"{\"output\":{\"t\":1}}"},{"type":"input_text","text":"more"}]`}},
	{name: "images referenced by object", change: withResult(twoRefs, textOf(twoRefs), namedImage(`{"displayName":"one.png"}`), namedImage(`{"displayName":"two.png"}`)),
		chat:      encoding{has: `{"type":"text","text":"one.png:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"text","text":"two.png:"},{"type":"image_url"`, losses: imageLosses},
		responses: encoding{has: `{"type":"input_text","text":"one.png:"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"input_text","text":"two.png:"},{"type":"input_image"`}},
	{name: "image with name and other members", change: withResult(`{"$ref":"one.png"}`, textOf(`{"$ref":"one.png"}`), namedImage(`{"displayName":"one.png","x":1}`)),
		chat:      encoding{has: `{"type":"text","text":"one.png:"},{"type":"image_url"`, losses: []content.Loss{namedLoss, imageLosses[0]}},
		responses: encoding{has: `{"type":"input_text","text":"one.png:"},{"type":"input_image"`, losses: []content.Loss{namedLoss}}},
	{name: "image with unreferenced name", change: withResult(`{"a":1}`, textOf(`{"a":1}`), namedImage(`{"displayName":"one.png"}`)),
		chat:      encoding{not: "one.png", losses: []content.Loss{namedLoss, imageLosses[0]}},
		responses: encoding{not: "one.png", losses: []content.Loss{namedLoss}}},
	{name: "service tier auto, compatible server", compatible: true, change: func(r *upstream.Request) { r.ServiceTier = "auto" },
		chat: encoding{not: "tier"}, responses: encoding{not: "tier"}},
	{name: "service tier auto", change: func(r *upstream.Request) { r.ServiceTier = "auto" },
		chat: encoding{has: `"service_tier":"auto"`}, responses: encoding{has: `"service_tier":"auto"`}},
	{name: "unspecified service tier", change: func(r *upstream.Request) { r.ServiceTier = "unspecified" },
		chat: encoding{not: "tier"}, responses: encoding{not: "tier"}},
	{name: "aspect ratio and size of images", change: func(r *upstream.Request) { r.Output.AspectRatio, r.Output.ImageSize = "16:9", "2K" },
		chat:      encoding{losses: []content.Loss{lower.OutputImage.At("output.aspect_ratio"), lower.OutputImage.At("output.image_size")}},
		responses: encoding{losses: []content.Loss{lower.OutputImage.At("output.aspect_ratio"), lower.OutputImage.At("output.image_size")}}},
	{name: "thinking off with display", model: "o3", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff, Display: "summarized"}),
		chat:      encoding{has: `"reasoning_effort":"low"`, losses: []content.Loss{lower.ModeOff.At("thinking.mode"), lower.DisplayNever.At("thinking.display")}},
		responses: encoding{has: `"reasoning":{"effort":"low","summary":"auto"}`, losses: []content.Loss{lower.ModeOff.At("thinking.mode")}}},
	{name: "thinking off with display, model without thinking", model: "gpt-4.1", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff, Display: "summarized"}),
		chat:      encoding{not: "effort", losses: []content.Loss{lower.DisplayNever.At("thinking.display")}},
		responses: encoding{not: "summary"}},
}

var foreignOnes = []content.Loss{foreign.MembersLoss.At("extra.context_management"), foreign.SettingLoss.At("extra.compaction")}

// TestFormats checks documents and losses of requests in both formats.
func TestFormats(t *testing.T) {
	for _, tests := range [][]formatsCase{choiceCases, formCases, turnCases, resultCases} {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				model := tt.model
				if model == "" {
					model = "gpt-5.2"
				}
				x := lossCase{compatible: tt.compatible, model: model, change: tt.change}
				p := x.plan(t)
				check(t, tt.chat, documentOf(t, p), lossplaces.Of(p.Losses))
				kind := ServerOpenAI
				if tt.compatible {
					kind = ServerCompatible
				}
				r := newPlan(t, with(newRequest(model, textOf("q")), tt.change), kind, 0)
				check(t, tt.responses, documentOf(t, r), lossplaces.Of(r.Losses))
			})
		}
	}
}

// TestForeignState checks that a request that refers to a conversation stored at
// another vendor is rejected: the model would not see it.
func TestForeignState(t *testing.T) {
	for _, x := range []struct {
		format content.Format
		member string
	}{
		{"messages", `"thread":{"type":"create"}`},
		{"messages", `"thread":{"type":"continue","previous_message_id":"msg_1"}`},
		{"generatecontent", `"cachedContent":"cachedContents/a"`},
		{"generatecontent", `"continuationToken":"AAAA"`},
		{ResponsesFormat, `"previous_response_id":"resp_1"`},
		{ResponsesFormat, `"conversation":"conv_1"`},
	} {
		name, _, _ := strings.Cut(strings.Trim(x.member, `"`), `"`)
		kept := func(r *upstream.Request) { r.Extra = &content.Extra{Format: x.format, JSON: "{" + x.member + "}"} }
		chat := lossCase{change: kept}
		for _, p := range []*plan{chat.plan(t), newPlan(t, with(newRequest("gpt-4.1", textOf("q")), kept), ServerOpenAI, 0)} {
			list, _ := content.Violations(p.Err)
			if len(list) != 1 || list[0].Path != "extra."+name || list[0].Code != content.CodeUnsupported {
				t.Errorf("%s: got %v, want a violation at extra.%s", p.client.format, p.Err, name)
			}
		}
	}
}

// TestOwnState checks that a request of the Responses API is refused if it refers to a stored
// conversation or asks for a response in the background, and not because of default values.
func TestOwnState(t *testing.T) {
	for member, refused := range map[string]bool{
		`"previous_response_id":"resp_1"`: true, `"conversation":{"id":"conv_1"}`: true, `"background":true`: true,
		`"previous_response_id":null`: false, `"conversation":null`: false, `"background":false`: false, `"prompt":{"id":"pmpt_1"}`: false,
	} {
		name, _, _ := strings.Cut(strings.Trim(member, `"`), `"`)
		p := newPlan(t, with(newRequest("gpt-5.2", textOf("q")), func(r *upstream.Request) {
			r.Extra = &content.Extra{Format: ResponsesFormat, JSON: "{" + member + "}"}
		}), ServerOpenAI, 0)
		list, _ := content.Violations(p.Err)
		if refused && (len(list) != 1 || list[0].Path != "extra."+name || list[0].Code != content.CodeUnsupported) || !refused && p.Err != nil || len(p.Losses) > 0 {
			t.Errorf("%s: got %v, losses %v", member, p.Err, p.Losses)
		}
		if sent := strings.Contains(p.write(t.Context()).Text(), name); sent != (name == "prompt") {
			t.Errorf("%s: sent is %v", member, sent)
		}
	}
}

// TestChatCount checks that an estimate has the losses of the request, and that there is
// none of a request that cannot be sent.
func TestChatCount(t *testing.T) {
	c, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := newRequest("m", textOf("q"))
	r.TopK = number[int64](7)
	n, err := c.CountTokens(t.Context(), r)
	if err != nil || !n.Estimated || n.Tokens != upstream.EstimateTokens(r) || len(n.Losses) != 1 || n.Losses[0].Path != "top_k" {
		t.Errorf("got %+v, %v", n, err)
	}
	r.Extra = &content.Extra{Format: "generatecontent", JSON: `{"cachedContent":"cachedContents/a"}`}
	if _, err := c.CountTokens(t.Context(), r); err == nil {
		t.Error("the tokens were counted without the cached prompt")
	}
}

// TestZeroMaxTokens checks that a request for 0 tokens is rejected and not reported as
// a changed limit. Messages clients use such requests to fill caches.
func TestZeroMaxTokens(t *testing.T) {
	for _, limit := range []int64{0, -1} {
		none := func(r *upstream.Request) { r.MaxTokens = &limit }
		x := lossCase{change: none}
		for _, p := range []*plan{x.plan(t), newPlan(t, with(newRequest("gpt-4.1", textOf("q")), none), ServerOpenAI, 0)} {
			if list, _ := content.Violations(p.Err); len(list) != 1 || list[0].Path != "max_tokens" || list[0].Code != content.CodeUnsupported {
				t.Errorf("got %v", p.Err)
			}
			if len(p.Losses) > 0 {
				t.Errorf("got losses %v", p.Losses)
			}
		}
	}
}

func check(t *testing.T, want encoding, doc string, losses []content.Loss) {
	t.Helper()
	if !strings.Contains(doc, want.has) {
		t.Errorf("want %s in %s", want.has, doc)
	}
	if want.not != "" && strings.Contains(doc, want.not) {
		t.Errorf("unexpected %s in %s", want.not, doc)
	}
	if diff := cmp.Diff(want.losses, losses, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s\nlosses (-want +got):\n%s", doc, diff)
	}
}

// TestLastMessage checks that a last user message of which nothing can be sent is a
// violation, and an empty one is replaced.
func TestLastMessage(t *testing.T) {
	user := func(p ...content.Part) content.Turn { return turnOf(content.RoleUser, p...) }
	hi, yes := user(textOf("hi")), turnOf(content.RoleAssistant, textOf("yes?"))
	system := turnOf(content.RoleSystem, textOf("S"))
	const last = `{"role":"user","content":"` + emptyMessageText + `"}]`
	for _, tt := range []struct {
		name  string
		turns []content.Turn
		path  string // of the violation
		has   string // in the document
	}{
		{"empty text", []content.Turn{user(textOf(""))}, "", `[` + last},
		{"white space", []content.Turn{hi, yes, user(textOf(" \n"))}, "", `{"role":"user","content":" \n"}]`},
		{"empty text in last turn", []content.Turn{hi, yes, user(textOf(""))}, "", last},
		{"empty last turn", []content.Turn{hi, yes, user()}, "", last},
		{"system turn after it", []content.Turn{hi, yes, user(textOf("")), system}, "", last},
		{"empty text after text", []content.Turn{yes, hi, user(textOf(""))}, "", `{"role":"user","content":"hi"}]`},
		{"dropped part", []content.Turn{user(vendorPart)}, "turns.0.parts.0", ""},
		{"dropped part in last turn", []content.Turn{hi, yes, user(textOf(""), vendorPart)}, "turns.2.parts.1", ""},
		{"several turns", []content.Turn{hi, yes, user(textOf("")), user(vendorPart), system}, "turns.3.parts.0", ""},
		{"text before it", []content.Turn{yes, hi, user(vendorPart)}, "", `{"role":"user","content":"hi"}]`},
		{"text after it", []content.Turn{hi, yes, user(vendorPart), hi}, "", `{"role":"user","content":"hi"}]`},
		{"only an empty assistant turn", []content.Turn{turnOf(content.RoleAssistant, textOf(""))}, "turns.0", ""},
		{"only a dropped assistant part", []content.Turn{turnOf(content.RoleAssistant, vendorPart)}, "turns.0.parts.0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := lossCase{change: withTurns(tt.turns...)}
			for _, p := range []*plan{x.plan(t), newPlan(t, requestWith(x.change), ServerOpenAI, 0)} {
				if list, _ := content.Violations(p.Err); tt.path != "" {
					if len(list) != 1 || list[0].Path != tt.path || list[0].Code != content.CodeUnsupported {
						t.Errorf("%s: got %v, want a violation at %s", p.client.format, p.Err, tt.path)
					}
				} else if doc := p.write(t.Context()).Text(); p.Err != nil || !strings.Contains(doc, tt.has) {
					t.Errorf("%s: got %v, %s; want %s", p.client.format, p.Err, doc, tt.has)
				}
				if doc := p.write(t.Context()).Text(); strings.Contains(doc, placeholderText) {
					t.Errorf("%s: the last message was replaced: %s", p.client.format, doc)
				}
			}
		})
	}
}

// TestOwnMembers checks that extra members of a format are sent in that format, and do
// not replace members with a field.
func TestOwnMembers(t *testing.T) {
	for _, own := range []content.Format{ChatFormat, ResponsesFormat, ""} {
		n := newRequest("gpt-4.1", textOf("a"))
		n.Extra = &content.Extra{Format: own, JSON: `{"model":"evil","logit_bias":{"5":1},"stream":true}`}
		for format, body := range map[content.Format]string{
			ChatFormat: chatBody(t, n), ResponsesFormat: bodyOf(t, n, ServerOpenAI),
		} {
			if got, want := strings.Contains(body, `"logit_bias":{"5":1}`), own == format || own == ""; got != want {
				t.Errorf("members of %q over %s: sent %v, want %v", own, format, got, want)
			}
			if strings.Contains(body, "evil") || strings.Contains(body, "stream") {
				t.Errorf("members of %q over %s replace others: %s", own, format, body)
			}
		}
	}
}

func chatBody(t *testing.T, n *upstream.Request) string {
	t.Helper()
	c, err := New(&Options{Dialect: Dialect{Kind: ServerOpenAI}})
	if err != nil {
		t.Fatal(err)
	}
	return documentOf(t, c.plan(n))
}
