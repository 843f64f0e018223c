package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/upstream"
)

// A saying is what one of the formats makes of a request.
type saying struct {
	has, not string // of the document
	losses   []content.Loss
}

// bothCase is a request, and what both formats make of it.
type bothCase struct {
	name            string
	compatible      bool
	model           string // gpt-5.2 if empty
	change          func(*upstream.Request)
	chat, responses saying
}

// tooled is a request with tools and a choice.
func tooled(c content.ToolChoice, tools ...content.Tool) func(*upstream.Request) {
	return func(r *upstream.Request) { r.Tools, r.Choice = tools, c }
}

func chosen(mode content.ChoiceMode, names ...string) content.ToolChoice {
	return content.ToolChoice{Mode: mode, Names: names}
}

var (
	gTool       = content.Tool{Name: "g"}
	webSearcher = content.Tool{Kind: "web_search_20250305", Name: "web_search", Format: "messages", Raw: `{"type":"web_search_20250305","name":"web_search"}`}
	bash        = content.Tool{Kind: "computer_20250124", Name: "bash", Format: "messages", Raw: `{"type":"computer_20250124","name":"bash"}`}

	noSearch = []content.Loss{lostVendorTool.At("tools.0")}
	mapped   = []content.Loss{resMappedTool.At("tools.0")}
)

// choiceCases are about tools and which of them may be called. The choice of
// content generation concerns functions only, that of Messages all tools.
var choiceCases = []bothCase{
	{name: "no function, but a search", change: tooled(chosen(content.ChoiceNone), googleSearch, fTool),
		chat:      saying{has: `"tool_choice":"none"`, losses: noSearch},
		responses: saying{has: `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"web_search"}]}`, losses: mapped}},
	{name: "a search only, and no function", change: tooled(chosen(content.ChoiceNone), googleSearch),
		chat:      saying{not: "tool_choice", losses: noSearch},
		responses: saying{has: `"tool_choice":"auto"`, losses: mapped}},
	{name: "any function, never a search", change: tooled(chosen(content.ChoiceAny), googleSearch, fTool, gTool),
		chat:      saying{has: `"tool_choice":"required"`, losses: noSearch},
		responses: saying{has: `"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"f"},{"type":"function","name":"g"}]}`, losses: mapped}},
	{name: "one function or a search", change: tooled(chosen(content.ChoiceValidated, "f"), googleSearch, fTool, gTool),
		chat: saying{has: `"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}`,
			losses: []content.Loss{lostVendorTool.At("tools.0"), lostValidated.At("choice.mode")}},
		responses: saying{has: `"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"},{"type":"web_search"}]}`,
			losses: []content.Loss{resMappedTool.At("tools.0"), lostValidated.At("choice.mode")}}},
	{name: "all functions by name", change: tooled(chosen(content.ChoiceValidated, "f", "g"), fTool, gTool),
		chat:      saying{has: `"tool_choice":"auto"`, losses: []content.Loss{lostValidated.At("choice.mode")}},
		responses: saying{has: `"tool_choice":"auto"`, losses: []content.Loss{lostValidated.At("choice.mode")}}},
	{name: "all functions by name, elsewhere", compatible: true, change: tooled(chosen(content.ChoiceAny, "f", "g"), fTool, gTool),
		chat: saying{has: `"tool_choice":"required"`}, responses: saying{has: `"tool_choice":"required"`}},
	{name: "no tool at all", change: tooled(chosen(content.ChoiceNone), webSearcher, fTool),
		chat:      saying{has: `"tool_choice":"none"`, losses: noSearch},
		responses: saying{has: `"tool_choice":"none"`, losses: mapped}},
	{name: "any tool at all", change: tooled(chosen(content.ChoiceAny), webSearcher, fTool),
		chat:      saying{has: `"tool_choice":"required"`, losses: noSearch},
		responses: saying{has: `"tool_choice":"required"`, losses: mapped}},
	{name: "a built-in tool by name", change: tooled(chosen(content.ChoiceAny, "web_search"), webSearcher, fTool),
		chat:      saying{not: "tool_choice", losses: []content.Loss{lostVendorTool.At("tools.0"), lostForced.At("choice.names")}},
		responses: saying{has: `"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"web_search"}]}`, losses: mapped}},
	{name: "a tool that is not there", change: tooled(chosen(content.ChoiceAny, "bash"), bash, fTool, gTool),
		chat:      saying{not: "tool_choice", losses: []content.Loss{lostVendorTool.At("tools.0"), lostForced.At("choice.names")}},
		responses: saying{not: "tool_choice", losses: []content.Loss{resVendorTool.At("tools.0"), lostForced.At("choice.names")}}},
	{name: "a search twice", change: tooled(content.ToolChoice{}, googleSearch, googleSearch),
		chat:      saying{losses: []content.Loss{lostVendorTool.At("tools.0"), lostVendorTool.At("tools.1")}},
		responses: saying{has: `"tools":[{"type":"web_search"}]`, losses: []content.Loss{resMappedTool.At("tools.0"), resToolAgain.At("tools.1")}}},
	{name: "bounds of a search", change: tooled(content.ToolChoice{}, content.Tool{Kind: "web_search_20250305", Format: "messages", Raw: `{"blocked_domains":["a.example"],"allowed_callers":["direct"]}`}),
		chat:      saying{losses: noSearch},
		responses: saying{has: `"tools":[{"type":"web_search"}]`, losses: []content.Loss{resMappedTool.At("tools.0"), resToolBounds.At("tools.0")}}},
}

func ofForm(mediaType, schema string, open bool) func(*upstream.Request) {
	return func(r *upstream.Request) {
		r.Output = upstream.Output{MediaType: mediaType, Schema: content.Schema{JSON: schema, OpenAPI: open}}
	}
}

// formCases are about the form of the answer.
var formCases = []bothCase{
	{name: "one of a few words", change: ofForm("text/x.enum", `{"type":"STRING","enum":["a","b c"]}`, true),
		chat:      saying{has: `{"role":"developer","content":"Answer with one of these lines and nothing else:\na\nb c"}`, not: "response_format", losses: []content.Loss{lostOutputEnum.At("output.media_type")}},
		responses: saying{has: `{"role":"developer","content":"Answer with one of these lines and nothing else:\na\nb c"}`, not: `"text":`, losses: []content.Loss{lostOutputEnum.At("output.media_type")}}},
	{name: "words without a list", change: ofForm("text/x.enum", `{"type":"STRING"}`, true),
		chat:      saying{not: "response_format", losses: []content.Loss{lostOutputType.At("output.media_type")}},
		responses: saying{not: `"text":`, losses: []content.Loss{resOutputType.At("output.media_type")}}},
	{name: "a schema of another format", change: ofForm("application/xml", openSchema, false),
		chat:      saying{not: "response_format", losses: []content.Loss{lostOutputType.At("output.media_type")}},
		responses: saying{not: `"text":`, losses: []content.Loss{resOutputType.At("output.media_type")}}},
	{name: "a schema that allows everything", change: ofForm(jsonType, `true`, false),
		chat:      saying{has: `"response_format":{"type":"json_object"}`, losses: anyObject},
		responses: saying{has: `"text":{"format":{"type":"json_object"}}`, losses: anyObject}},
	{name: "the same without a media type", change: ofForm("", ` true`, false),
		chat:      saying{has: `"response_format":{"type":"json_object"}`, losses: anyObject},
		responses: saying{has: `{"role":"developer","content":"Answer in JSON."}`, losses: anyObject}},
	{name: "no schema, and the word in the conversation", change: func(r *upstream.Request) {
		ofForm(jsonType, "", false)(r)
		r.Turns[0].Parts = partsOf(sayText("Say it as JSON."))
	},
		chat:      saying{has: `{"role":"developer","content":"Answer in JSON."}`, losses: anyObject},
		responses: saying{has: `{"role":"developer","content":"Answer in JSON."}`, losses: anyObject}},
	{name: "a schema that allows nothing", change: ofForm(jsonType, `false`, false),
		chat:      saying{has: `"response_format":{"type":"json_object"}`, losses: nothingFits},
		responses: saying{has: `"text":{"format":{"type":"json_object"}}`, losses: nothingFits}},
	{name: "an object of the other vendor's", change: ofForm(jsonType, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}`, true),
		chat: saying{has: `"schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true`,
			losses: []content.Loss{onlyListed}},
		responses: saying{has: `"schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true`,
			losses: []content.Loss{onlyListed}}},
	{name: "formats that say nothing of a text", change: ofForm(jsonType, `{"type":"OBJECT","properties":{"a":{"type":"STRING","format":"enum","enum":["x"]},"n":{"type":"INTEGER","format":"int32"}},"required":["a","n"]}`, true),
		chat: saying{has: `"schema":{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"n":{"type":"integer"}},"required":["a","n"],"additionalProperties":false},"strict":true`,
			losses: []content.Loss{noteAt("a.format"), noteAt("n.format"), onlyListed}},
		responses: saying{has: `"schema":{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"n":{"type":"integer"}},"required":["a","n"],"additionalProperties":false},"strict":true`,
			losses: []content.Loss{noteAt("a.format"), noteAt("n.format"), onlyListed}}},
	{name: "a format that strict schemas have", change: ofForm(jsonType, `{"type":"OBJECT","properties":{"a":{"type":"STRING","format":"date-time"}},"required":["a"]}`, true),
		chat:      saying{has: `{"a":{"type":"string","format":"date-time"}},"required":["a"],"additionalProperties":false},"strict":true`, losses: []content.Loss{onlyListed}},
		responses: saying{has: `{"a":{"type":"string","format":"date-time"}},"required":["a"],"additionalProperties":false},"strict":true`, losses: []content.Loss{onlyListed}}},
	{name: "a format that they lack", change: ofForm(jsonType, `{"type":"OBJECT","properties":{"a":{"type":"STRING","format":"uri"}},"required":["a"]}`, true),
		chat:      saying{has: `{"a":{"type":"string","format":"uri"}},"required":["a"]},"strict":false`, losses: []content.Loss{lostSchemaStrict.At("output.schema")}},
		responses: saying{has: `"strict":false`, losses: []content.Loss{lostSchemaStrict.At("output.schema")}}},
	{name: "a closed schema with a format that they lack", change: ofForm(jsonType, `{"type":"object","properties":{"a":{"type":"string","format":"uri"}},"required":["a"],"additionalProperties":false}`, false),
		chat:      saying{has: `{"a":{"type":"string","format":"uri"}},"required":["a"],"additionalProperties":false},"strict":false`, losses: []content.Loss{lostSchemaStrict.At("output.schema")}},
		responses: saying{has: `"strict":false`, losses: []content.Loss{lostSchemaStrict.At("output.schema")}}},
	{name: "a member without a type", change: ofForm(jsonType, `{"type":"OBJECT","properties":{"a":{"description":"d"}},"required":["a"]}`, true),
		chat:      saying{has: `{"a":{"description":"d"}},"required":["a"]},"strict":false`, losses: []content.Loss{lostSchemaStrict.At("output.schema")}},
		responses: saying{has: `"strict":false`, losses: []content.Loss{lostSchemaStrict.At("output.schema")}}},
	{name: "the same as JSON Schema", change: ofForm(jsonType, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, false),
		chat:      saying{has: `"strict":false`, losses: []content.Loss{lostSchemaStrict.At("output.schema")}},
		responses: saying{has: `"strict":false`, losses: []content.Loss{lostSchemaStrict.At("output.schema")}}},
}

var (
	anyObject   = []content.Loss{lostJSONObject.At("output.media_type")}
	nothingFits = []content.Loss{lostJSONObject.At("output.media_type"), lostSchemaNever.At("output.schema")}
)

var onlyListed = content.Loss{Severity: content.LossHint, Path: "output.schema", Reason: "strict schemas allow listed members only"}

// noteAt is the loss of a note in the schema of the answer.
func noteAt(member string) content.Loss {
	return content.Loss{Severity: content.LossHint, Path: "output.schema.properties." + member, Reason: "this note has no place in the target's schemas"}
}

// upload is a part that only another vendor understands.
var upload = &content.Unknown{Format: "messages", Kind: "container_upload", Raw: "{}"}

var held0 = []content.Loss{resUnknownPart.At("turns.0.parts.0"), lostHeldTurn.At("turns.0")}

// turnCases are about turns, thinking and files.
var turnCases = []bothCase{
	{name: "a turn of which nothing is left", change: says(turnOf(content.RoleUser, upload), turnOf(content.RoleAssistant, sayText("A1")), turnOf(content.RoleUser, sayText("T2"))),
		chat:      saying{has: `"messages":[{"role":"user","content":"` + held + `"},`, losses: []content.Loss{lostUnknownPart.At("turns.0.parts.0"), lostHeldTurn.At("turns.0")}},
		responses: saying{has: `"input":[{"role":"user","content":"` + held + `"},`, losses: held0}},
	{name: "system text that holds no longer", change: says(turnOf(content.RoleUser, sayText("T1")),
		content.Turn{Role: content.RoleSystem, Parts: partsOf(sayText("GONE")), Extra: ofMessages(`{"clear_at":"next_user_message"}`)},
		turnOf(content.RoleAssistant, sayText("A1")), turnOf(content.RoleUser, sayText("T2"))),
		chat: saying{not: "GONE"}, responses: saying{not: "GONE"}},
	{name: "a budget for a model that does not think", model: "gpt-4.1", change: func(r *upstream.Request) {
		r.Tools, r.Thinking = []content.Tool{fTool}, upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &seven}
	},
		chat:      saying{not: "effort", losses: []content.Loss{lostThinkingOn.At("thinking.mode"), lostNoBudget.At("thinking.budget")}},
		responses: saying{not: "effort", losses: []content.Loss{lostThinkingOn.At("thinking.mode"), lostNoBudget.At("thinking.budget")}}},
	{name: "a budget and an effort", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &seven, Effort: "high", Display: "omitted"}),
		chat:      saying{has: `"reasoning_effort":"high"`, losses: []content.Loss{lostNoBudget.At("thinking.budget")}},
		responses: saying{has: `"reasoning":{"effort":"high"}`, losses: []content.Loss{lostNoBudget.At("thinking.budget")}}},
	{name: "a text that is code", change: says(turnOf(content.RoleUser, &content.Document{Source: &content.Base64{MediaType: "application/x-javascript", Data: "bGV0IGE7"}})),
		chat:      saying{has: `let a;`, losses: []content.Loss{lostDocumentText.At("turns.0.parts.0")}},
		responses: saying{has: `let a;`, losses: []content.Loss{lostDocumentText.At("turns.0.parts.0")}}},
	{name: "how closely files are looked at", change: func(r *upstream.Request) {
		r.Turns[0].Parts = partsOf(&content.Document{Title: "a.pdf", Source: pdf})
		withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`)(r)
	},
		chat:      saying{not: "detail", losses: []content.Loss{lostDetail.At("turns.0.parts.0")}},
		responses: saying{has: `"file_data":"data:application/pdf;base64,JVBERi0=","detail":"low"`}},
	{name: "how closely a file is looked at", change: says(turnOf(content.RoleUser, &content.Document{Title: "a.pdf", Source: pdf, Extra: resolution("MEDIA_RESOLUTION_HIGH")})),
		chat:      saying{not: "detail", losses: []content.Loss{codec.ForeignMembers.At("turns.0.parts.0.extra")}},
		responses: saying{has: `"detail":"high"`}},
	{name: "settings of the other vendor's context", change: func(r *upstream.Request) {
		r.Extra = ofMessages(`{"context_management":{"edits":[]},"compaction":{"type":"summarize"}}`)
	},
		chat:      saying{losses: foreignOnes},
		responses: saying{losses: foreignOnes}},
}

// saysResult is a conversation whose only call gave back a result.
func saysResult(object string, parts ...content.Part) func(*upstream.Request) {
	return says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, &content.ToolUse{ID: "c1", Name: "f", Input: "{}"}),
		turnOf(content.RoleUser, &content.ToolResult{ID: "c1", Object: object, Parts: parts}))
}

// namedImage is an image that another format has a name for, and maybe more.
func namedImage(members string) *content.Image {
	return &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "AAAA", Extra: &content.Extra{Format: "generatecontent", JSON: members}}}
}

const twoRefs = `{"a":{"$ref":"one.png"},"b":{"$ref":"two.png"}}`

var (
	helloFile   = &content.Document{Source: &content.Base64{MediaType: "text/plain", Data: "SGVsbG8="}}
	helloLosses = []content.Loss{lostDocumentText.At("turns.2.parts.0.parts.1")}
	imageLosses = []content.Loss{lostResultImage.At("turns.2.parts.0.parts.1"), lostResultImage.At("turns.2.parts.0.parts.2")}
	oddName     = codec.ForeignMembers.At("turns.2.parts.0.parts.1.source.extra")
)

// resultCases are about results that are objects.
var resultCases = []bothCase{
	{name: "a text file beside an object", change: saysResult(`{"a": 1}`, sayText(`{"a": 1}`), helloFile),
		chat:      saying{has: `"content":"{\"a\": 1}\n\nHello"`, losses: append(helloLosses[:1:1], lostResultParts.At("turns.2.parts.0"))},
		responses: saying{has: `"output":[{"type":"input_text","text":"{\"a\": 1}"},{"type":"input_text","text":"Hello"}]`, losses: helloLosses}},
	{name: "a text file beside an object, elsewhere", compatible: true, change: saysResult(`{"a": 1}`, sayText(`{"a": 1}`), helloFile),
		chat:      saying{has: `"content":"{\"a\": 1}\n\nHello"`, losses: append(helloLosses[:1:1], lostResultParts.At("turns.2.parts.0"))},
		responses: saying{has: `"output":"{\"a\": 1}\n\nHello"`, losses: append(helloLosses[:1:1], lostResultParts.At("turns.2.parts.0"))}},
	{name: "a text file that says what the object says", change: saysResult(`{"result":"Hello"}`, sayText("Hello"), helloFile),
		chat:      saying{has: `"content":"{\"result\":\"Hello\"}\n\nHello"`, losses: append(helloLosses[:1:1], lostResultParts.At("turns.2.parts.0"))},
		responses: saying{has: `"output":[{"type":"input_text","text":"{\"result\":\"Hello\"}"},{"type":"input_text","text":"Hello"}]`, losses: helloLosses}},
	{name: "a text that the object does not say", change: saysResult(`{"output":{"t":1}}`, sayText(`{"t":1}`), sayText("more")),
		chat:      saying{has: `"content":"{\"output\":{\"t\":1}}\n\nmore"`, losses: []content.Loss{lostResultParts.At("turns.2.parts.0")}},
		responses: saying{has: `"output":[{"type":"input_text","text":"{\"output\":{\"t\":1}}"},{"type":"input_text","text":"more"}]`}},
	{name: "images that an object points at", change: saysResult(twoRefs, sayText(twoRefs), namedImage(`{"displayName":"one.png"}`), namedImage(`{"displayName":"two.png"}`)),
		chat:      saying{has: `{"type":"text","text":"one.png:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"text","text":"two.png:"},{"type":"image_url"`, losses: imageLosses},
		responses: saying{has: `{"type":"input_text","text":"one.png:"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"},{"type":"input_text","text":"two.png:"},{"type":"input_image"`}},
	{name: "an image with a name and more", change: saysResult(`{"$ref":"one.png"}`, sayText(`{"$ref":"one.png"}`), namedImage(`{"displayName":"one.png","x":1}`)),
		chat:      saying{has: `{"type":"text","text":"one.png:"},{"type":"image_url"`, losses: []content.Loss{oddName, imageLosses[0]}},
		responses: saying{has: `{"type":"input_text","text":"one.png:"},{"type":"input_image"`, losses: []content.Loss{oddName}}},
	{name: "an image with a name that nothing points at", change: saysResult(`{"a":1}`, sayText(`{"a":1}`), namedImage(`{"displayName":"one.png"}`)),
		chat:      saying{not: "one.png", losses: []content.Loss{oddName, imageLosses[0]}},
		responses: saying{not: "one.png", losses: []content.Loss{oddName}}},
	{name: "a tier that is left to the server", compatible: true, change: func(r *upstream.Request) { r.ServiceTier = "auto" },
		chat: saying{not: "tier"}, responses: saying{not: "tier"}},
	{name: "a tier that is left to the vendor", change: func(r *upstream.Request) { r.ServiceTier = "auto" },
		chat: saying{has: `"service_tier":"auto"`}, responses: saying{has: `"service_tier":"auto"`}},
	{name: "no tier", change: func(r *upstream.Request) { r.ServiceTier = "unspecified" },
		chat: saying{not: "tier"}, responses: saying{not: "tier"}},
	{name: "shape and size of images", change: func(r *upstream.Request) { r.Output.AspectRatio, r.Output.ImageSize = "16:9", "2K" },
		chat:      saying{losses: []content.Loss{lostOutputImage.At("output.aspect_ratio"), lostOutputImage.At("output.image_size")}},
		responses: saying{losses: []content.Loss{resOutputImage.At("output.aspect_ratio"), resOutputImage.At("output.image_size")}}},
	{name: "no thoughts, which are to be shown", model: "o3", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff, Display: "summarized"}),
		chat:      saying{has: `"reasoning_effort":"low"`, losses: []content.Loss{lostDisplay.At("thinking.display"), lostThinkingOff.At("thinking.mode")}},
		responses: saying{has: `"reasoning":{"effort":"low","summary":"auto"}`, losses: []content.Loss{lostThinkingOff.At("thinking.mode")}}},
	{name: "no thoughts, which are to be shown, of a model that has none", model: "gpt-4.1", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff, Display: "summarized"}),
		chat:      saying{not: "effort", losses: []content.Loss{lostDisplay.At("thinking.display")}},
		responses: saying{not: "summary"}},
}

var foreignOnes = []content.Loss{codec.ForeignMembers.At("extra.context_management"), codec.ForeignSetting.At("extra.compaction")}

// TestBoth says requests in both formats, with all that is lost.
func TestBoth(t *testing.T) {
	for _, tests := range [][]bothCase{choiceCases, formCases, turnCases, resultCases} {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				model := tt.model
				if model == "" {
					model = "gpt-5.2"
				}
				x := lossCase{local: tt.compatible, model: model, change: tt.change}
				p := x.plan(t)
				check(t, tt.chat, documentOf(t, p), p.losses)
				kind := KindVendor
				if tt.compatible {
					kind = KindCompatible
				}
				r := planOf(t, with(asked(model, sayText("q")), tt.change), kind, 0)
				if r.fault != nil {
					t.Fatal(r.fault)
				}
				check(t, tt.responses, r.doc.Text(), r.losses)
			})
		}
	}
}

// TestKept checks that a request is refused that names state of its conversation
// at another vendor: the model would not see it.
func TestKept(t *testing.T) {
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
		for _, p := range []*plan{chat.plan(t), planOf(t, with(asked("gpt-4.1", sayText("q")), kept), KindVendor, 0)} {
			list, _ := content.Violations(p.fault)
			switch {
			case x.format == p.own:
				if len(list) > 0 {
					t.Errorf("%s: own member %s: got %v", p.own, name, p.fault)
				}
			case len(list) != 1 || list[0].Path != "extra."+name || list[0].Code != content.CodeUnsupported:
				t.Errorf("%s: got %v, want a violation at extra.%s", p.own, p.fault, name)
			}
		}
	}
	r := asked("m", sayText("q"))
	r.Extra = &content.Extra{Format: "generatecontent", JSON: `{"cachedContent":"cachedContents/a"}`}
	if _, err := new(Client).CountTokens(t.Context(), r); err == nil {
		t.Error("counted without the cached prompt")
	}
}

// TestNoAnswer checks that a request which asks for no answer is refused in plain
// words, and not reported as one of few tokens: Messages fills its caches that way.
func TestNoAnswer(t *testing.T) {
	for _, limit := range []int64{0, -1} {
		none := func(r *upstream.Request) { r.MaxTokens = &limit }
		x := lossCase{change: none}
		for _, p := range []*plan{x.plan(t), planOf(t, with(asked("gpt-4.1", sayText("q")), none), KindVendor, 0)} {
			if list, _ := content.Violations(p.fault); len(list) != 1 || list[0].Path != "max_tokens" || list[0].Code != content.CodeUnsupported {
				t.Errorf("got %v", p.fault)
			}
			if len(p.losses) > 0 {
				t.Errorf("lost %v", p.losses)
			}
		}
	}
}

func check(t *testing.T, want saying, doc string, losses []content.Loss) {
	t.Helper()
	if !strings.Contains(doc, want.has) {
		t.Errorf("want %s in %s", want.has, doc)
	}
	if want.not != "" && strings.Contains(doc, want.not) {
		t.Errorf("want no %s in %s", want.not, doc)
	}
	if diff := cmp.Diff(want.losses, losses, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s\nlosses (-want +got):\n%s", doc, diff)
	}
}
