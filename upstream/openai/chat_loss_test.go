package openai

import (
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// lossCase is a request that makes a rule fire.
type lossCase struct {
	rule   *loss.Rule
	path   string
	model  string // gpt-4.1 if empty
	local  bool
	known  refusals
	says   Dialect // Kind is not looked at
	change func(r *upstream.Request)
}

func turnOf(role content.Role, parts ...content.Part) content.Turn {
	return content.Turn{Role: role, Parts: parts}
}

func resultOf(id string, parts ...content.Part) *content.ToolResult {
	return &content.ToolResult{ID: id, Parts: parts}
}

// says replaces the turns.
func says(turns ...content.Turn) func(*upstream.Request) {
	return func(r *upstream.Request) { r.Turns = turns }
}

// user adds parts to the only turn.
func user(parts ...content.Part) func(*upstream.Request) {
	return func(r *upstream.Request) { r.Turns[0].Parts = append(r.Turns[0].Parts, parts...) }
}

// called is a turn of a call and what comes behind.
func called(behind ...content.Part) func(*upstream.Request) {
	return says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, useOf("c1", "f", "{}")), turnOf(content.RoleUser, behind...))
}

func withTool(t content.Tool) func(*upstream.Request) {
	return func(r *upstream.Request) { r.Tools = append(r.Tools, t) }
}

var (
	plainTool = content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}
	foreign   = &content.Extra{Format: "messages", JSON: `{"x":1}`}
	png       = &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}
	pdf       = &content.Base64{MediaType: "application/pdf", Data: "JVBERi0="}
	half      = 0.5
	seven     = int64(7)
)

// resolution is what another format says of how closely an image is looked at.
func resolution(level string) *content.Extra {
	return &content.Extra{Format: "generatecontent", JSON: `{"mediaResolution":{"level":"` + level + `"}}`}
}

func thinkingOf(t upstream.Thinking) func(*upstream.Request) {
	return func(r *upstream.Request) { r.Thinking = t }
}

func ofMessages(object string) *content.Extra {
	return &content.Extra{Format: "messages", JSON: object}
}

func withMembers(object string) func(*upstream.Request) {
	return func(r *upstream.Request) { r.Extra = &content.Extra{Format: "generatecontent", JSON: object} }
}

var partLosses = []lossCase{
	{rule: legal.HeaderNotSent, path: "headers.anthropic-workspace-id", change: func(r *upstream.Request) {
		r.Header = []upstream.Field{{Name: "anthropic-version", Value: "2023-06-01"}, {Name: "Anthropic-Workspace-Id", Value: "w"}}
	}},
	{rule: legal.RenamedTool, path: "tools.0.name", change: withTool(content.Tool{Name: "a.b", Input: plainTool.Input})},
	{rule: legal.RenamedCall, path: "turns.1.parts.0.id", change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, useOf("", "f", "{}")), turnOf(content.RoleUser, &content.ToolResult{Name: "f"}))},
	{rule: lostSystemFile, path: "system.0", change: func(r *upstream.Request) { r.System = partsOf(png) }},
	{rule: lostSystemTurn, path: "turns.0", local: true, change: says(turnOf(content.RoleSystem, sayText("s")), turnOf(content.RoleUser, sayText("q")))},
	{rule: lostCallOrder, path: "turns.1.parts.1", change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, useOf("c1", "f", "{}"), sayText("late")), turnOf(content.RoleUser, resultOf("c1")))},
	{rule: lostSignature, path: "turns.1.parts.0", change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, &content.ToolUse{ID: "c1", Name: "f", Signature: content.Signature{Format: "generatecontent", Data: "x"}}), turnOf(content.RoleUser, resultOf("c1")))},
	{rule: lostCache, path: "turns.0.parts.1", change: user(&content.Text{Text: "x", Cache: &content.Cache{}})},
	{rule: lostCacheTime, path: "turns.0.parts.1", model: "gpt-5.6-sol", change: user(&content.Text{Text: "x", Cache: &content.Cache{TTL: "1h"}})},
	{rule: lostThought, path: "turns.1.parts.0", change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, thoughtOf("hm", ""), sayText("a")), turnOf(content.RoleUser, sayText("q")))},
	{rule: lostThoughtGone, path: "turns.1.parts.0", local: true, known: refusals{echo: "reasoning_content"}, change: called(resultOf("c1"))},
	{rule: lostThoughtless, path: "turns.1.parts.0", local: true, says: Dialect{Reasoning: "reasoning"}, change: called(resultOf("c1"))},
	{rule: lostThought, path: "turns.1.parts.0", local: true, known: refusals{fields: fieldReasoning}, change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, thoughtOf("hm", "reasoning"), useOf("c1", "f", "{}")), turnOf(content.RoleUser, resultOf("c1")))},
	{rule: legal.RenamedCall, path: "turns.1.parts.0.id", local: true, known: refusals{shortIDs: true}, change: called(resultOf("c1"))},
	{rule: lostPrefill, path: "turns.1.parts.0", change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, sayText("It is")))},
	{rule: lostUnread, path: "turns.0.parts.1", local: true, says: Dialect{DescribeUnreadable: true}, change: user(&content.Document{Source: pdf})},
	{rule: lostUnread, path: "turns.2.parts.0.parts.0", local: true, says: Dialect{DescribeUnreadable: true, TextOnly: true}, change: called(resultOf("c1", png))},
	{rule: lostDetail, path: "extra.generationConfig.mediaResolution", change: withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_MEDIUM"}}`)},
	{rule: lostDetail, path: "extra.generationConfig.mediaResolution", local: true, change: withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`)},
	{rule: codec.ForeignMembers, path: "turns.0.parts.1.extra", change: user(&content.Image{Source: png.Source, Extra: resolution("MEDIA_RESOLUTION_MEDIUM")})},
	{rule: codec.ForeignMembers, path: "turns.0.parts.1.extra", local: true, change: user(&content.Image{Source: png.Source, Extra: resolution("MEDIA_RESOLUTION_LOW")})},
	{rule: lostOwn, path: "turns.0.parts.1.extra", change: user(&content.Image{Source: png.Source, Extra: &content.Extra{Format: ChatFormat, JSON: `{"detail":"low","x":1}`}})},
	{rule: lostVendorPart, path: "turns.0.parts.1", change: user(&content.ServerToolResult{Format: "messages", Kind: "x", Content: "{}"})},
	{rule: legal.ReferenceAsText, path: "turns.2.parts.0.parts.0", change: called(resultOf("c1", &content.Unknown{Format: "messages", Kind: "tool_reference", Raw: `{"tool_name":"x"}`}))},
	{rule: legal.ToolAsFunction, path: "tools.0", change: func(r *upstream.Request) {
		r.Tools = []content.Tool{{Format: "messages", Kind: "bash_20250124", Name: "bash", Raw: `{"type":"bash_20250124","name":"bash"}`}}
	}},
	{rule: legal.SummaryAsText, path: "turns.0.parts.1", change: user(&content.Unknown{Format: "messages", Kind: "compaction", Raw: `{"content":"x"}`})},
	{rule: lostUnknownPart, path: "turns.0.parts.1", change: user(&content.Unknown{Format: "messages", Kind: "x", Raw: "{}"})},
	{rule: codec.ForeignMembers, path: "turns.0.parts.1.extra", change: user(&content.Text{Text: "x", Extra: foreign})},
	{rule: lostOwn, path: "turns.0.parts.1.extra", change: user(&content.Text{Text: "x", Extra: &content.Extra{Format: ChatFormat, JSON: `{"x":1}`}})},
	{rule: codec.ForeignMembers, path: "turns.0.parts.1.source.extra", change: user(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo=", Extra: foreign}})},
	{rule: codec.ForeignMembers, path: "turns.0.parts.1.source.extra", change: user(&content.Document{Title: "T", Source: &content.PlainText{Text: "x", Extra: foreign}})},
	{rule: codec.EmptyMessage, path: "turns.2", change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, sayText("a")), turnOf(content.RoleUser, sayText("")))},
	{rule: lostEmptyTurn, path: "turns.1", change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant), turnOf(content.RoleUser, sayText("q")))},
	{rule: lostEmptyTurn, path: "turns.1", change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleUser))},
	{rule: lostHeldTurn, path: "turns.0", change: says(turnOf(content.RoleUser, upload), turnOf(content.RoleAssistant, sayText("a")), turnOf(content.RoleUser, sayText("q")))},
	{rule: lostDetail, path: "turns.0.parts.1", change: func(r *upstream.Request) {
		user(&content.Document{Source: pdf})(r)
		withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`)(r)
	}},
	{rule: codec.ForeignMembers, path: "turns.0.parts.1.extra", change: user(&content.Image{Source: png.Source, Extra: &content.Extra{Format: "generatecontent", JSON: `{"mediaResolution":{"level":"MEDIA_RESOLUTION_LOW","numTokens":5}}`}})},
	{rule: lostEmptyText, path: "turns.0.parts.1", change: user(sayText(""))},
	{rule: lostCiting, path: "turns.0.parts.1", change: user(&content.SearchResult{Title: "T", Citations: true})},
	{rule: lostCache, path: "turns.1.parts.0", change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, &content.ToolUse{ID: "c1", Name: "f", Cache: &content.Cache{}, Signature: content.Signature{Format: ChatFormat, Data: "[]"}}), turnOf(content.RoleUser, resultOf("c1")))},
	{rule: lostCacheTime, path: "turns.0.parts.1", model: "gpt-5.6-sol", change: user(&content.Text{Text: "x", Cache: &content.Cache{Extra: foreign}})},
	{rule: lostCitations, path: "turns.1.parts.0", change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, &content.Text{Text: "a", Citations: []content.Citation{{Kind: content.CiteWeb}}}))},
	{rule: lostByAssistant, path: "turns.1.parts.0", change: says(turnOf(content.RoleUser, sayText("q")), turnOf(content.RoleAssistant, png))},
	{rule: lostDocumentText, path: "turns.0.parts.1", change: user(&content.Document{Source: &content.PlainText{Text: "x"}})},
	{rule: lostDocumentTitle, path: "turns.0.parts.1", change: user(&content.Document{Source: &content.PlainText{Text: "x"}, Title: "T"})},
	{rule: lostDocumentParts, path: "turns.0.parts.1", change: user(&content.Document{Source: &content.Parts{Parts: partsOf(sayText("x"))}})},
	{rule: lostCiting, path: "turns.0.parts.1", change: user(&content.Document{Source: pdf, Citations: true})},
	{rule: lostSearch, path: "turns.0.parts.1", change: user(&content.SearchResult{Title: "T", Source: "https://a.example/", Parts: partsOf(sayText("x"))})},
	{rule: lostResultImage, path: "turns.2.parts.0.parts.0", change: called(resultOf("c1", png))},
	{rule: lostResultDocument, path: "turns.2.parts.0.parts.0", change: called(resultOf("c1", &content.Document{Source: pdf}))},
	{rule: lostResultParts, path: "turns.2.parts.0", change: called(resultOf("c1", sayText("a"), sayText("b")))},
	{rule: lostResultError, path: "turns.2.parts.0", change: called(&content.ToolResult{ID: "c1", Error: true})},
	{rule: lostResultOrder, path: "turns.2.parts.1", change: called(sayText("x"), resultOf("c1"))},
	{rule: lostResultNone, path: "turns.1.parts.0", change: called(sayText("x"))},
	{rule: lostResultOrphan, path: "turns.0.parts.1", change: user(resultOf("gone", sayText("x")))},
}

var requestLosses = []lossCase{
	{rule: lostVendorTool, path: "tools.0", change: withTool(content.Tool{Name: "web_search", Kind: "web_search_20250305"})},
	{rule: lostToolOutput, path: "tools.0.output", change: withTool(content.Tool{Name: "f", Input: plainTool.Input, Output: plainTool.Input})},
	{rule: lostToolStrict, path: "tools.0.input", change: withTool(content.Tool{Name: "f", Strict: true, Input: content.Schema{JSON: `{"type":"object","patternProperties":{"^a":{"type":"string"}}}`}})},
	{rule: lostToolCache, path: "tools.0", change: withTool(content.Tool{Name: "f", Input: plainTool.Input, Cache: &content.Cache{}})},
	{rule: lostDescription, path: "tools.0.description", known: refusals{fields: fieldDescription}, change: withTool(content.Tool{Name: "f", Input: plainTool.Input, Description: strings.Repeat("x", 1025)})},
	{rule: lostValidated, path: "choice.mode", change: func(r *upstream.Request) {
		r.Tools, r.Choice.Mode = []content.Tool{plainTool}, content.ChoiceValidated
	}},
	{rule: lostChoice, path: "choice.mode", change: func(r *upstream.Request) { r.Choice.Mode = content.ChoiceAny }},
	{rule: lostChoiceOther, path: "choice.mode", change: func(r *upstream.Request) {
		r.Tools, r.Choice.Mode = []content.Tool{plainTool}, "odd"
	}},
	{rule: codec.ForeignMembers, path: "extra.labels", change: withMembers(`{"labels":{}}`)},
	{rule: codec.ForeignKept, path: "extra.cachedContent", change: withMembers(`{"cachedContent":"c"}`)},
	{rule: codec.ForeignPlace, path: "extra.inference_geo", change: func(r *upstream.Request) {
		r.Extra = &content.Extra{Format: "messages", JSON: `{"inference_geo":"eu"}`}
	}},
	{rule: codec.ForeignSafety, path: "extra.safetySettings", change: withMembers(`{"safetySettings":[{}]}`)},
	{rule: codec.ForeignSetting, path: "extra.generationConfig.responseLogprobs", model: "o3", change: withMembers(`{"generationConfig":{"responseLogprobs":true}}`)},
	{rule: lostChoiceNames, path: "choice.names", local: true, change: func(r *upstream.Request) {
		r.Tools = []content.Tool{plainTool, {Name: "g", Input: plainTool.Input}, {Name: "h"}}
		r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "g"}}
	}},
	{rule: lostChoiceNames, path: "choice.names", known: refusals{fields: fieldChoice}, change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool, {Name: "g"}}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
	}},
	{rule: lostChoiceGone, path: "choice.names", change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "gone"}}
	}},
	{rule: lostForced, path: "choice.names", change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"gone"}}
	}},
	{rule: lostChoiceNames, path: "choice.names", change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool}, content.ToolChoice{Mode: content.ChoiceValidated, Names: []string{"gone"}}
	}},
	{rule: codec.ForeignNuance, path: "tools.0.extra.allowed_callers", change: withTool(content.Tool{Name: "f", Extra: ofMessages(`{"allowed_callers":["code_execution_20250825"]}`)})},
	{rule: codec.ForeignUnknown, path: "extra.x", change: func(r *upstream.Request) { r.Extra = foreign }},
	{rule: lostChoiceTrust, path: "choice.names", local: true, change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
	}},
	{rule: lostWritten, path: "extra.store", change: func(r *upstream.Request) { r.Extra = &content.Extra{Format: ChatFormat, JSON: `{"store":true}`} }},
	{rule: lostTemperature, path: "temperature", local: true, says: Dialect{Thinking: "thinking"}, change: func(r *upstream.Request) { r.Temperature = &half }},
	{rule: lostThinkingOff, path: "thinking.mode", local: true, says: Dialect{Thinking: "thinking", Efforts: []string{"low"}}, known: refusals{fields: fieldSwitch}, change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff})},
	{rule: lostThinkingOn, path: "thinking.mode", local: true, says: Dialect{Thinking: "thinking"}, known: refusals{fields: fieldSwitch}, change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingAuto})},
	{rule: lostParallel, path: "choice.no_parallel", model: "o3", change: func(r *upstream.Request) {
		r.Tools, r.Choice.NoParallel = []content.Tool{plainTool}, true
	}},
	{rule: lostTemperature, path: "temperature", model: "gpt-6.2-sol", change: func(r *upstream.Request) { r.Temperature = &half }},
	{rule: lostTopP, path: "top_p", model: "gpt-5", change: func(r *upstream.Request) { r.TopP = &half }},
	{rule: lostLimit, path: "max_tokens", model: "gpt-4o", change: func(r *upstream.Request) { r.MaxTokens = number(int64(16385)) }},
	{rule: lostTopK, path: "top_k", change: func(r *upstream.Request) { r.TopK = &seven }},
	{rule: lostSeed, path: "seed", known: refusals{fields: fieldSeed}, change: func(r *upstream.Request) { r.Seed = &seven }},
	{rule: lostPenalties, path: "presence_penalty", model: "o3", change: func(r *upstream.Request) { r.PresencePenalty = &half }},
	{rule: lostStop, path: "stop_sequences", model: "o3", change: func(r *upstream.Request) { r.StopSequences = []string{"a"} }},
	{rule: lostStops, path: "stop_sequences", change: func(r *upstream.Request) { r.StopSequences = strings.Split("abcde", "") }},
	{rule: lostThinkingOff, path: "thinking.mode", model: "gpt-5", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff})},
	{rule: lostThinkingOn, path: "thinking.mode", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingAuto})},
	{rule: lostThinkingOn, path: "thinking.effort", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "high"})},
	{rule: lostThinkingOn, path: "thinking.effort", change: thinkingOf(upstream.Thinking{Effort: "high"})},
	{rule: lostThinkingAuto, path: "thinking.mode", model: "gpt-5.1", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingAuto})},
	{rule: lostBetween, path: "thinking.mode", model: "gpt-5", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingBetweenTools})},
	{rule: lostBudget, path: "thinking.budget", model: "gpt-5", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &seven})},
	{rule: lostNoBudget, path: "thinking.budget", model: "gpt-5", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &seven, Effort: "low"})},
	{rule: lostEffortOff, path: "thinking.effort", model: "gpt-5.1", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"})},
	{rule: lostEffort, path: "thinking.effort", model: "gpt-5", change: thinkingOf(upstream.Thinking{Effort: "max"})},
	{rule: lostEffortTools, path: "thinking", model: "gpt-5.6-sol", change: withTool(plainTool)},
	{rule: lostEffortField, path: "thinking", local: true, known: refusals{fields: fieldEffort}, change: thinkingOf(upstream.Thinking{Effort: "low"})},
	{rule: lostDisplay, path: "thinking.display", change: thinkingOf(upstream.Thinking{Display: "full"})},
	{rule: lostSchemaStrict, path: "output.schema", change: func(r *upstream.Request) {
		r.Output.Schema.JSON = `{"type":"object","patternProperties":{"^a":{"type":"string"}}}`
	}},
	{rule: lostSchemaNever, path: "output.schema", change: func(r *upstream.Request) { r.Output.Schema.JSON = "false" }},
	{rule: lostJSONObject, path: "output.media_type", change: func(r *upstream.Request) { r.Output.MediaType = "application/json" }},
	{rule: lostOutputType, path: "output.media_type", change: func(r *upstream.Request) { r.Output.MediaType = "text/x.enum" }},
	{rule: lostOutputEnum, path: "output.media_type", change: func(r *upstream.Request) {
		r.Output = upstream.Output{MediaType: "text/x.enum", Schema: content.Schema{JSON: `{"type":"STRING","enum":["a","b"]}`, OpenAPI: true}}
	}},
	{rule: lostModalities, path: "output.modalities", change: func(r *upstream.Request) { r.Output.Modalities = []string{"text", "image"} }},
	{rule: lostOutputImage, path: "output.aspect_ratio", change: func(r *upstream.Request) { r.Output.AspectRatio = "16:9" }},
	{rule: lostUserDigest, path: "user_id", change: func(r *upstream.Request) { r.UserID = strings.Repeat("u", 129) }},
	{rule: lostUser, path: "user_id", local: true, change: func(r *upstream.Request) { r.UserID = "u" }},
	{rule: lostTier, path: "service_tier", change: func(r *upstream.Request) { r.ServiceTier = "unheard" }},
	{rule: lostUsage, path: "stream", known: refusals{fields: fieldStreamOptions}, change: func(r *upstream.Request) { r.Stream = true }},
}

// answerLosses are streams that make a rule for answers fire.
var answerLosses = map[*loss.Rule]string{
	lostEmpty:      events(`{"choices":[],"usage":{"completion_tokens":3}}`, stopped),
	lostCharacters: events(chunkOf(`{"content":"a\ud800"}`), stopped),
	lostDetails:    events(chunkOf(`{"content":"a","reasoning_details":[{"type":"x","data":"`+strings.Repeat("x", mostDetails)+`"}]}`), stopped),
	lostCitation:   events(chunkOf(`{"annotations":[{"url_citation":{"url":"https://a.example/"}}]}`), chunkOf(`{"content":"a"}`), stopped),
	lostPiece:      events(chunkOf(`{"content":[{"type":"reference","ids":[1]},{"type":"text","text":"a"}]}`), stopped),
	lostInput:      events(frag(`"index":0,"id":"a","function":{"name":"f","arguments":"{}"}`), chunkOf(`{"content":"a"}`), frag(`"index":0,"function":{"arguments":"more"}`), stopped),
	lostNameless:   events(frag(`"index":0,"id":"a","function":{"arguments":"{}"}`), toolStop),
	lostExecuted:   events(chunkOf(`{"content":"a","executed_tools":[{"index":0,"type":"search","arguments":"{}","output":"x"}]}`), stopped),
	lostSigned:     events(chunkOf(`{"content":"a","extra_content":{"google":{"thought_signature":"c2ln"}}}`), stopped),
	lostCustom:     events(frag(`"index":0,"id":"a","custom":{"name":"f","input":"x"}`), chunkOf(`{"content":"a"}`), stopped),
	lostFile:       events(chunkOf(`{"content":"a","images":[{"image_url":{"url":"file:///x"}}]}`), stopped),
}

func (x *lossCase) plan(t *testing.T) *plan {
	t.Helper()
	o := Options{Dialect: x.says}
	if x.local {
		o.BaseURL = "http://localhost/v1"
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	model := x.model
	if model == "" {
		model = "gpt-4.1"
	}
	if x.local {
		model = "qwen3"
	}
	c.memory.add(model, x.known)
	r := &upstream.Request{Model: model, Turns: []content.Turn{turnOf(content.RoleUser, sayText("q"))}}
	x.change(r)
	return c.plan(r, false)
}

// TestLosses makes every rule of the table fire once, with its path, and checks
// that nothing comes from outside the table.
func TestLosses(t *testing.T) {
	fired := map[*loss.Rule]bool{}
	known := map[string]bool{}
	for _, r := range chatLosses {
		known[r.Reason] = true
	}
	for _, x := range slices.Concat(partLosses, requestLosses) {
		p := x.plan(t)
		if !slices.Contains(p.losses, x.rule.At(x.path)) {
			t.Errorf("%s: want %v in %v", x.rule.Feature, x.rule.At(x.path), p.losses)
		}
		if kept := x.rule == codec.ForeignKept; kept != (p.fault != nil) {
			t.Errorf("%s: %v", x.rule.Feature, p.fault)
		}
		for _, l := range p.losses {
			if !known[l.Reason] && !strings.Contains(l.Path, ".input") && !strings.HasPrefix(l.Path, "output.schema") {
				t.Errorf("%v is not in the table", l)
			}
		}
		fired[x.rule] = true
	}
	for r, stream := range answerLosses {
		path := "parts"
		switch r {
		case lostNameless:
			path = "parts.0"
		case lostExecuted:
			path = "executed_tools"
		case lostSigned:
			path = "extra_content"
		}
		got, err := collectChat(t, strings.NewReader(stream), ThinkTagsOff)
		if err != nil || !slices.Contains(got.Losses, r.At(path)) {
			t.Errorf("%s: %v: %v", r.Reason, err, got.Losses)
		}
		fired[r] = true
	}
	for _, r := range chatLosses {
		if !fired[r] {
			t.Errorf("nothing makes %q fire", r.Reason)
		}
	}
}

// TestNoLoss checks that what can be told loses nothing.
func TestNoLoss(t *testing.T) {
	for name, change := range map[string]func(*upstream.Request){
		"texts":      user(sayText("b")),
		"an image":   user(png),
		"a PDF":      user(&content.Document{Source: pdf, Title: "a.pdf"}),
		"a call":     called(resultOf("c1", sayText("r")), sayText("next")),
		"a tool":     withTool(plainTool),
		"usual ones": func(r *upstream.Request) { one := 1.0; r.Model, r.Temperature = "gpt-5", &one },
		"a schema": func(r *upstream.Request) {
			r.Output.Schema.JSON = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
		},
	} {
		x := lossCase{change: change}
		if p := x.plan(t); len(p.losses) > 0 || p.fault != nil {
			t.Errorf("%s: %v %v", name, p.losses, p.fault)
		}
	}
}
