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
	bash        = content.Tool{Kind: "bash_20250124", Name: "bash", Format: "messages", Raw: `{"type":"bash_20250124","name":"bash"}`}

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
		chat:      saying{has: `"response_format":{"type":"json_object"}`, losses: []content.Loss{lostJSONWord.At("output.media_type")}},
		responses: saying{has: `"text":{"format":{"type":"json_object"}}`, losses: []content.Loss{resJSONObject.At("output.media_type")}}},
	{name: "an object of the other vendor's", change: ofForm(jsonType, `{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}`, true),
		chat: saying{has: `"schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true`,
			losses: []content.Loss{onlyListed}},
		responses: saying{has: `"schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},"strict":true`,
			losses: []content.Loss{onlyListed}}},
	{name: "the same as JSON Schema", change: ofForm(jsonType, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, false),
		chat:      saying{has: `"strict":false`, losses: []content.Loss{lostSchemaStrict.At("output.schema")}},
		responses: saying{has: `"strict":false`, losses: []content.Loss{lostSchemaStrict.At("output.schema")}}},
}

var onlyListed = content.Loss{Severity: content.LossHint, Path: "output.schema", Reason: "strict schemas allow listed members only"}

var held0 = []content.Loss{resUnknownPart.At("turns.0.parts.0"), lostHeldTurn.At("turns.0")}

// turnCases are about turns, thinking and files.
var turnCases = []bothCase{
	{name: "a turn of which nothing is left", change: says(turnOf(content.User, &content.Unknown{Format: "messages", Kind: "container_upload", Raw: "{}"})),
		chat:      saying{has: `"messages":[{"role":"user","content":"` + held + `"}]`, losses: []content.Loss{lostUnknownPart.At("turns.0.parts.0"), lostHeldTurn.At("turns.0")}},
		responses: saying{has: `"input":[{"role":"user","content":"` + held + `"}]`, losses: held0}},
	{name: "an answer of which nothing is left", change: says(turnOf(content.Assistant, &content.Unknown{Format: "messages", Kind: "x", Raw: "{}"})),
		chat:      saying{has: `"messages":[{"role":"user","content":"` + held + `"}]`, losses: []content.Loss{lostUnknownPart.At("turns.0.parts.0"), lostHeldTurn.At("turns.0")}},
		responses: saying{has: `"input":[{"role":"user","content":"` + held + `"}]`, losses: []content.Loss{lostVendorPart.At("turns.0.parts.0"), lostHeldTurn.At("turns.0")}}},
	{name: "system text that holds no longer", change: says(turnOf(content.User, sayText("T1")),
		content.Turn{Role: content.System, Parts: partsOf(sayText("GONE")), Extra: ofMessages(`{"clear_at":"next_user_message"}`)},
		turnOf(content.Assistant, sayText("A1")), turnOf(content.User, sayText("T2"))),
		chat: saying{not: "GONE"}, responses: saying{not: "GONE"}},
	{name: "a budget for a model that does not think", model: "gpt-4.1", change: func(r *upstream.Request) {
		r.Tools, r.Thinking = []content.Tool{fTool}, upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &seven}
	},
		chat:      saying{not: "effort", losses: []content.Loss{lostThinkingOn.At("thinking.mode"), lostNoBudget.At("thinking.budget")}},
		responses: saying{not: "effort", losses: []content.Loss{lostThinkingOn.At("thinking.mode"), lostNoBudget.At("thinking.budget")}}},
	{name: "a budget and an effort", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &seven, Effort: "high", Display: "omitted"}),
		chat:      saying{has: `"reasoning_effort":"high"`, losses: []content.Loss{lostNoBudget.At("thinking.budget")}},
		responses: saying{has: `"reasoning":{"effort":"high"}`, losses: []content.Loss{lostNoBudget.At("thinking.budget")}}},
	{name: "a text that is code", change: says(turnOf(content.User, &content.Document{Source: &content.Base64{MediaType: "application/x-javascript", Data: "bGV0IGE7"}})),
		chat:      saying{has: `let a;`, losses: []content.Loss{lostDocumentText.At("turns.0.parts.0")}},
		responses: saying{has: `let a;`, losses: []content.Loss{lostDocumentText.At("turns.0.parts.0")}}},
	{name: "how closely files are looked at", change: func(r *upstream.Request) {
		r.Turns[0].Parts = partsOf(&content.Document{Title: "a.pdf", Source: pdf})
		withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`)(r)
	},
		chat:      saying{not: "detail", losses: []content.Loss{lostDetail.At("turns.0.parts.0")}},
		responses: saying{has: `"file_data":"data:application/pdf;base64,JVBERi0=","detail":"low"`}},
	{name: "how closely a file is looked at", change: says(turnOf(content.User, &content.Document{Title: "a.pdf", Source: pdf, Extra: resolution("MEDIA_RESOLUTION_HIGH")})),
		chat:      saying{not: "detail", losses: []content.Loss{codec.ForeignMembers.At("turns.0.parts.0.extra")}},
		responses: saying{has: `"detail":"high"`}},
	{name: "what the other vendor keeps", change: func(r *upstream.Request) {
		r.Extra = ofMessages(`{"thread":{"type":"continue","id":"t"},"context_management":{"edits":[]},"compaction":{"type":"summarize"}}`)
	},
		chat:      saying{losses: foreignOnes},
		responses: saying{losses: foreignOnes}},
}

var foreignOnes = []content.Loss{codec.ForeignKept.At("extra.thread"), codec.ForeignMembers.At("extra.context_management"), codec.ForeignSetting.At("extra.compaction")}

// TestBoth says requests in both formats, with all that is lost.
func TestBoth(t *testing.T) {
	for _, tests := range [][]bothCase{choiceCases, formCases, turnCases} {
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

// TestNoAnswer checks that a request which asks for no answer is refused in plain
// words: Messages fills its caches that way.
func TestNoAnswer(t *testing.T) {
	none := func(r *upstream.Request) { r.MaxTokens = number(int64(0)) }
	x := lossCase{change: none}
	for _, fault := range []error{x.plan(t).fault, planOf(t, setting(none), KindVendor, 0).fault} {
		if list, _ := content.Violations(fault); len(list) != 1 || list[0].Path != "max_tokens" || list[0].Code != content.CodeRange {
			t.Errorf("got %v", fault)
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
