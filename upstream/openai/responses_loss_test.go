package openai

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// planOf says a request to a vendor's or another's server of nobody.
func planOf(t testing.TB, n *upstream.Request, kind ServerKind, refused field) *plan {
	t.Helper()
	return planWith(t, n, Dialect{Kind: kind, Files: true}, refused)
}

// planWith is planOf with any dialect.
func planWith(t testing.TB, n *upstream.Request, says Dialect, refused field) *plan {
	t.Helper()
	c, err := NewResponses(Options{BaseURL: "http://localhost:1/v1", Dialect: says})
	if err != nil {
		t.Fatal(err)
	}
	if refused != 0 {
		c.memory.add(n.Model, refusals{fields: refused})
	}
	return c.plan(n, false)
}

func number[T any](n T) *T { return &n }

// asked is a request of the user's parts.
func asked(model string, parts ...content.Part) *upstream.Request {
	return &upstream.Request{Model: model, Turns: []content.Turn{{Role: content.RoleUser, Parts: parts}}}
}

// answered is a conversation with one answer.
func answered(parts ...content.Part) *upstream.Request {
	return &upstream.Request{Model: "gpt-6.2-sol", Turns: []content.Turn{
		{Role: content.RoleUser, Parts: partsOf(sayText("a"))}, {Role: content.RoleAssistant, Parts: parts}, {Role: content.RoleUser, Parts: partsOf(sayText("b"))},
	}}
}

func with(r *upstream.Request, change func(*upstream.Request)) *upstream.Request {
	change(r)
	return r
}

const openSchema = `{"type":"object","properties":{"a":{"type":"string"}}}`

var fTool = content.Tool{Name: "f", Input: content.Schema{JSON: openSchema}}

const think1 = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}`

// resLossCase is a request that makes a rule fire.
type resLossCase struct {
	rule    *loss.Rule
	path    string
	kind    ServerKind
	req     *upstream.Request
	refused field
}

// setting is a request with a change.
func setting(change func(*upstream.Request)) *upstream.Request {
	return with(asked("gpt-5.2", sayText("hi")), change)
}

func resPartLosses() []resLossCase {
	const v, c = KindVendor, KindCompatible
	hi := sayText("hi")
	alien := content.Signature{Format: "alien", Data: "s"}
	alienExtra := &content.Extra{Format: "alien", JSON: `{"x":1}`}
	pdf := &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjQK"}
	return []resLossCase{
		{legal.HeaderNotSent, "headers.anthropic-workspace-id", v, setting(func(r *upstream.Request) {
			r.Header = []upstream.Field{{Name: "anthropic-version", Value: "2023-06-01"}, {Name: "Anthropic-Workspace-Id", Value: "w"}}
		}), 0},
		{legal.RenamedTool, "tools.0.name", v, setting(func(r *upstream.Request) { r.Tools = []content.Tool{{Name: "a.b"}} }), 0},
		{legal.RenamedCall, "turns.1.parts.0.id", v, answered(useOf(strings.Repeat("x", 65), "f", "")), 0},
		{resSystemFile, "system.0", v, setting(func(r *upstream.Request) { r.System = partsOf(&content.Image{}) }), 0},
		{lostSystemTurn, "turns.1", c, setting(func(r *upstream.Request) {
			r.Turns = append(r.Turns, content.Turn{Role: content.RoleSystem, Parts: partsOf(hi)})
		}), 0},
		{legal.ReferenceAsText, "turns.0.parts.0.parts.0", v, asked("m", resultOf("c1", &content.Unknown{Format: "messages", Kind: "tool_reference", Raw: `{"tool_name":"x"}`})), 0},
		{legal.ToolAsFunction, "tools.0", v, setting(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Format: "messages", Kind: "memory_20250818", Name: "memory", Raw: `{"type":"memory_20250818","name":"memory"}`}}
		}), 0},
		{legal.SummaryAsText, "turns.0.parts.0", v, asked("m", &content.Unknown{Format: "messages", Kind: "compaction", Raw: `{"content":"x"}`}), 0},
		{codec.EmptyMessage, "turns.0", v, asked("m", &content.Text{}), 0},
		{resUnknownPart, "turns.0.parts.0", v, asked("m", &content.Unknown{Format: "alien", Kind: "x"}), 0},
		{lostVendorPart, "turns.1.parts.0", v, answered(&content.ServerToolUse{Format: "alien"}, hi), 0},
		{codec.ForeignMembers, "turns.0.parts.0.extra", v, asked("m", &content.Text{Text: "a", Extra: alienExtra}), 0},
		{lostOwn, "turns.0.parts.0.extra", v, asked("m", &content.Text{Text: "a", Extra: &content.Extra{Format: ResponsesFormat, JSON: `{"x":1}`}}), 0},
		{codec.ForeignMembers, "turns.0.parts.0.source.extra", v, asked("m", &content.Document{Title: "T", Source: &content.PlainText{Text: "x", Extra: alienExtra}}), 0},
		{codec.ForeignKept, "extra.cachedContent", v, setting(withMembers(`{"cachedContent":"c"}`)), 0},
		{codec.ForeignPlace, "extra.inference_geo", v, setting(func(r *upstream.Request) {
			r.Extra = &content.Extra{Format: "messages", JSON: `{"inference_geo":"eu"}`}
		}), 0},
		{codec.ForeignSafety, "extra.safetySettings", v, setting(withMembers(`{"safetySettings":[{}]}`)), 0},
		{codec.ForeignSetting, "extra.generationConfig.speechConfig", v, setting(withMembers(`{"generationConfig":{"speechConfig":{"languageCode":"de"}}}`)), 0},
		{lostDetail, "extra.generationConfig.mediaResolution", v, setting(withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_MEDIUM"}}`)), 0},
		{codec.ForeignMembers, "turns.0.parts.0.extra", c, asked("m", &content.Image{Source: png.Source, Extra: resolution("MEDIA_RESOLUTION_LOW")}), 0},
		{lostWritten, "extra.text.format", v, setting(func(r *upstream.Request) {
			r.Extra = &content.Extra{Format: ResponsesFormat, JSON: `{"text":{"format":{"type":"text"}}}`}
		}), 0},
		{lostWritten, "extra.store", v, setting(func(r *upstream.Request) { r.Extra = &content.Extra{Format: ResponsesFormat, JSON: `{"store":true}`} }), 0},
		{resCiting, "turns.0.parts.0", v, asked("m", &content.SearchResult{Citations: true}), 0},
		{resCitations, "turns.1.parts.0", v, answered(&content.Text{Text: "a", Citations: []content.Citation{{}}}), 0},
		{resByAssistant, "turns.1.parts.0", v, answered(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}), 0},
		{resCiting, "turns.0.parts.0", v, asked("m", &content.Document{Source: pdf, Citations: true}), 0},
		{lostPrefill, "turns.1.parts.0", v, with(answered(hi), func(r *upstream.Request) { r.Turns = r.Turns[:2] }), 0},
		{resForeignThought, "turns.1.parts.0", v, answered(&content.Thinking{Text: "hm", Signature: alien}, hi), 0},
		{resLooseThought, "turns.1.parts.0", v, answered(hidden(think1)), 0},
		{resRefusedThought, "turns.1.parts.0", v, answered(hidden(think1), hi), fieldReasoning},
		{resBrokenState, "turns.1.parts.0", v, answered(hidden(`{"type":"message"}`), hi), 0},
		{resUnaskedItem, "turns.1.parts.0", v, answered(hidden(`{"type":"additional_tools","role":"developer","tools":[]}`), hi), 0},
		{resMoved, "turns.1.parts.1", v, answered(hi, &content.Text{Signature: content.Signature{Format: ResponsesFormat, Data: envelope.Join([]envelope.Thought{{Thinking: hidden(think1), Back: 3}})}}, hi), 0},
		{resThoughtless, "thinking", v, asked("gpt-5.2", hi), fieldReasoning},
		{lostEmptyTurn, "turns.1", v, answered(), 0},
		{lostHeldTurn, "turns.0", v, with(answered(hi), func(r *upstream.Request) { r.Turns[0].Parts = partsOf(upload) }), 0},
		{codec.ForeignNuance, "tools.0.extra.input_examples", v, setting(withTool(content.Tool{Name: "f", Extra: ofMessages(`{"input_examples":[{}]}`)})), 0},
		{codec.ForeignUnknown, "extra.x", v, setting(func(r *upstream.Request) { r.Extra = foreign }), 0},
		{lostEmptyText, "turns.0.parts.0", v, asked("m", sayText(""), hi), 0},
		{lostSignature, "turns.1.parts.0", v, answered(&content.Text{Text: "a", Signature: alien}), 0},
		{lostCache, "turns.0.parts.0", v, asked("gpt-5.2", &content.Text{Text: "a", Cache: &content.Cache{}}), 0},
		{lostCacheTime, "turns.0.parts.0", v, asked("gpt-6.2-sol", &content.Text{Text: "a", Cache: &content.Cache{TTL: "1h"}}), 0},
		{lostDocumentText, "turns.0.parts.0", v, asked("m", &content.Document{Source: &content.PlainText{Text: "a"}}), 0},
		{lostDocumentTitle, "turns.0.parts.0", v, asked("m", &content.Document{Context: "c", Source: pdf}), 0},
		{lostDocumentParts, "turns.0.parts.0", v, asked("m", &content.Document{Source: &content.Parts{Parts: partsOf(hi)}}), 0},
		{lostSearch, "turns.0.parts.0", v, asked("m", &content.SearchResult{Parts: partsOf(hi)}), 0},
		{lostResultParts, "turns.2.parts.0", c, with(answered(useOf("c1", "f", "")), func(r *upstream.Request) {
			r.Turns[2].Parts = partsOf(&content.ToolResult{ID: "c1", Parts: partsOf(hi, hi)})
		}), 0},
		{lostResultError, "turns.2.parts.0", v, with(answered(useOf("c1", "f", "")), func(r *upstream.Request) {
			r.Turns[2].Parts = partsOf(&content.ToolResult{ID: "c1", Error: true})
		}), 0},
		{lostResultNone, "turns.1.parts.0", v, answered(useOf("c1", "f", "")), 0},
		{lostResultOrphan, "turns.0.parts.0", v, asked("m", &content.ToolResult{ID: "c1", Parts: partsOf(hi)}), 0},
	}
}

var googleSearch = content.Tool{Kind: "googleSearch", Format: "generatecontent", Raw: "{}"}

func resToolLosses() []resLossCase {
	const v = KindVendor
	hi := sayText("hi")
	return []resLossCase{
		{resVendorTool, "tools.0", v, setting(func(r *upstream.Request) { r.Tools = []content.Tool{{Kind: "bash_20250124", Format: "messages"}} }), 0},
		{resMappedTool, "tools.0", v, setting(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Kind: "googleSearch", Format: "generatecontent", Raw: "{}"}}
		}), 0},
		{resToolBounds, "tools.0", v, setting(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Kind: "web_search_20250305", Format: "messages", Raw: `{"type":"web_search_20250305","max_uses":3}`}}
		}), 0},
		{resToolOutput, "tools.0.output", KindCompatible, setting(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Name: "f", Output: content.Schema{JSON: openSchema}}}
		}), 0},
		{resToolCache, "tools.0", v, setting(func(r *upstream.Request) { r.Tools = []content.Tool{{Name: "f", Cache: &content.Cache{}}} }), 0},
		{lostToolStrict, "tools.0.input", v, setting(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Name: "f", Strict: true, Input: content.Schema{JSON: `{"type":"object","patternProperties":{"^a":{}}}`}}}
		}), 0},
		{lostChoice, "choice.mode", v, setting(func(r *upstream.Request) { r.Choice.Mode = content.ChoiceAny }), 0},
		{lostChoiceOther, "choice.mode", v, setting(func(r *upstream.Request) { r.Tools = []content.Tool{fTool}; r.Choice.Mode = "odd" }), 0},
		{lostValidated, "choice.mode", v, setting(func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool}
			r.Choice.Mode = content.ChoiceValidated
		}), 0},
		{lostChoiceTrust, "choice.names", KindCompatible, setting(func(r *upstream.Request) {
			r.Tools, r.Choice = []content.Tool{fTool}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
		}), 0},
		{lostChoiceNames, "choice.names", v, setting(func(r *upstream.Request) {
			r.Tools, r.Choice = []content.Tool{fTool, {Name: "g"}}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
		}), fieldChoice},
		{resToolOutput, "tools.0.output", v, setting(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Name: "f", Output: content.Schema{JSON: openSchema}}}
		}), fieldResultShape},
		{lostForced, "choice.names", v, setting(func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool}
			r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"g"}}
		}), 0},
		{lostChoiceGone, "choice.names", v, setting(func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool}
			r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "g"}}
		}), 0},
		{lostChoiceFree, "choice.mode", v, setting(func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool, googleSearch}
			r.Choice.Mode = content.ChoiceNone
		}), fieldChoice},
		{resToolAgain, "tools.1", v, setting(func(r *upstream.Request) { r.Tools = []content.Tool{googleSearch, googleSearch} }), 0},
		{resToolSettings, "tools.0", v, setting(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Kind: "web_search_20250305", Format: "messages", Raw: `{"type":"web_search_20250305","user_location":{"type":"exact"}}`}}
		}), 0},
		{lostParallel, "choice.no_parallel", v, with(asked("o3", hi), func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool}
			r.Choice.NoParallel = true
		}), 0},
	}
}

func resSettingLosses() []resLossCase {
	const v, c = KindVendor, KindCompatible
	hi := sayText("hi")
	return []resLossCase{
		{lostTemperature, "temperature", v, with(asked("gpt-6.2-sol", hi), func(r *upstream.Request) { r.Temperature = number(0.5) }), 0},
		{lostTopP, "top_p", v, with(asked("gpt-6.2-sol", hi), func(r *upstream.Request) { r.TopP = number(0.5) }), 0},
		{resTopK, "top_k", v, setting(func(r *upstream.Request) { r.TopK = number(int64(5)) }), 0},
		{resSeed, "seed", v, setting(func(r *upstream.Request) { r.Seed = number(int64(5)) }), 0},
		{resPenalties, "presence_penalty", v, setting(func(r *upstream.Request) { r.PresencePenalty = number(0.5) }), 0},
		{resStops, "stop_sequences", v, setting(func(r *upstream.Request) { r.StopSequences = []string{"x"} }), 0},
		{resCandidates, "candidates", v, setting(func(r *upstream.Request) { r.Candidates = 2 }), 0},
		{lostLimit, "max_tokens", v, with(asked("gpt-4.1", hi), func(r *upstream.Request) { r.MaxTokens = number(int64(32769)) }), 0},
		{resFewTokens, "max_tokens", v, setting(func(r *upstream.Request) { r.MaxTokens = number(int64(1)) }), 0},
		{lostThinkingOff, "thinking.mode", v, with(asked("gpt-6.2-sol", hi), func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingOff }), 0},
		{lostThinkingOn, "thinking.mode", v, with(asked("gpt-4.1", hi), func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingAuto }), 0},
		{lostThinkingOn, "thinking.effort", v, with(asked("gpt-4.1", hi), func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "high"}
		}), 0},
		{lostThinkingAuto, "thinking.mode", v, setting(func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingAuto }), 0},
		{lostBetween, "thinking.mode", v, setting(func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingBetweenTools }), 0},
		{lostBudget, "thinking.budget", v, setting(func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: number(int64(5000))}
		}), 0},
		{lostNoBudget, "thinking.budget", v, setting(func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: number(int64(2000)), Effort: "high"}
		}), 0},
		{lostEffortOff, "thinking.effort", v, setting(func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"}
		}), 0},
		{resMute, "thinking.display", v, with(asked("gpt-4.1", hi), func(r *upstream.Request) { r.Thinking.Display = "summarized" }), 0},
		{resFullDisplay, "thinking.display", v, setting(func(r *upstream.Request) { r.Thinking = upstream.Thinking{Effort: "low", Display: "updates"} }), 0},
		{lostEffort, "thinking.effort", v, setting(func(r *upstream.Request) { r.Thinking.Effort = "max" }), 0},
		{lostEffortField, "thinking", v, setting(func(r *upstream.Request) { r.Thinking.Effort = "low" }), fieldEffort},
		{resFullDisplay, "thinking.display", v, setting(func(r *upstream.Request) { r.Thinking = upstream.Thinking{Effort: "low", Display: "full"} }), 0},
		{resSummary, "thinking.display", v, setting(func(r *upstream.Request) { r.Thinking = upstream.Thinking{Effort: "low", Display: "summarized"} }), fieldSummary},
		{lostSchemaStrict, "output.schema", v, setting(func(r *upstream.Request) { r.Output.Schema.JSON = `{"type":"object","patternProperties":{"^a":{}}}` }), 0},
		{lostSchemaNever, "output.schema", v, setting(func(r *upstream.Request) { r.Output.Schema.JSON = "false" }), 0},
		{lostJSONObject, "output.media_type", v, setting(func(r *upstream.Request) { r.Output.MediaType = jsonType }), 0},
		{resOutputType, "output.media_type", v, setting(func(r *upstream.Request) { r.Output.MediaType = "text/x.enum" }), 0},
		{lostOutputEnum, "output.media_type", v, setting(func(r *upstream.Request) {
			r.Output = upstream.Output{MediaType: "text/x.enum", Schema: content.Schema{JSON: `{"type":"string","enum":["a"]}`}}
		}), 0},
		{resModalities, "output.modalities", v, setting(func(r *upstream.Request) { r.Output.Modalities = []string{"text", "image"} }), 0},
		{resOutputImage, "output.aspect_ratio", v, setting(func(r *upstream.Request) { r.Output.AspectRatio = "1:1" }), 0},
		{lostUserDigest, "user_id", v, setting(func(r *upstream.Request) { r.UserID = strings.Repeat("u", 129) }), 0},
		{lostUser, "user_id", c, setting(func(r *upstream.Request) { r.UserID = "u" }), 0},
		{lostTier, "service_tier", v, setting(func(r *upstream.Request) { r.ServiceTier = "gold" }), 0},
	}
}

// TestResponsesLosses makes every rule for requests fire.
func TestResponsesLosses(t *testing.T) {
	tests := slices.Concat(resPartLosses(), resToolLosses(), resSettingLosses())
	fired := map[*loss.Rule]bool{}
	for _, tt := range tests {
		got := planOf(t, tt.req, tt.kind, tt.refused).losses
		if !slices.Contains(got, tt.rule.At(tt.path)) {
			t.Errorf("want %q at %s, got %v", tt.rule.Reason, tt.path, got)
		}
		for _, l := range got {
			if !slices.ContainsFunc(responsesLosses, func(r *loss.Rule) bool { return r.At(l.Path) == l }) && !strings.Contains(l.Path, ".input") && !strings.HasPrefix(l.Path, "output.schema") {
				t.Errorf("%v is in no table", l)
			}
		}
		fired[tt.rule] = true
	}
	noted := planWith(t, asked("m", &content.Document{Source: pdf}), Dialect{DescribeUnreadable: true}, 0)
	if fired[lostUnread] = slices.Contains(noted.losses, lostUnread.At("turns.0.parts.0")); noted.fault != nil {
		t.Error(noted.fault)
	}
	for r, at := range resAnswerLosses(t) {
		if !slices.Contains(at, r.At(at[0].Path)) {
			t.Errorf("want %q, got %v", r.Reason, at)
		}
		fired[r] = true
	}
	for _, r := range responsesLosses {
		if !fired[r] {
			t.Errorf("%s, %q: fires nowhere", r.Feature, r.Reason)
		}
	}
}

// resAnswerLosses makes the rules for answers fire, and returns what was reported,
// the loss of the rule first.
func resAnswerLosses(t *testing.T) map[*loss.Rule][]content.Loss {
	t.Helper()
	large := strings.Repeat("x", envelope.MaxSize)
	streams := map[*loss.Rule][]string{
		lostEmpty:      {resEnding("")},
		lostCharacters: {strings.Replace(resHi, `"hi"`, `"\ud800"`, 1), resEnd},
		lostDetails:    {`{"type":"response.output_item.done","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"` + large + `"}}`, resHi, resEnd},
		lostCitation:   {`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"","annotations":[{"type":"url_citation"}]}]}}`, resEnd},
		lostCustom:     {`{"type":"response.output_item.done","output_index":0,"item":{"type":"custom_tool_call","call_id":"c","name":"n","input":"x"}}`, resEnd},
		lostNameless:   {`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c"}}`, resEnd},
		resNoImage:     {`{"type":"response.output_item.done","output_index":0,"item":{"type":"image_generation_call","id":"ig_1","result":null}}`, resEnd},
		resCut:         {strings.Replace(resHi, "hi", "a STOP b", 1), resEnd},
		resLateItem:    {resAddMsg, resHi, strings.Replace(resMsgDone, `"hi"`, `"ho"`, 1), resEnd},
		resUnknownIt:   {`{"type":"response.output_item.done","output_index":0,"item":{"type":"new_call"}}`, resEnd},
	}
	got := map[*loss.Rule][]content.Loss{}
	for r, list := range streams {
		reply, err := readResponses(t, strings.NewReader(events(list...)), "STOP")
		if err != nil {
			t.Fatal(err)
		}
		losses := reply.Losses
		i := slices.IndexFunc(losses, func(l content.Loss) bool { return l.Reason == r.Reason })
		if i < 0 {
			t.Errorf("want %q, got %v", r.Reason, losses)
			continue
		}
		losses[0], losses[i] = losses[i], losses[0]
		got[r] = losses
	}
	return got
}

// TestResponsesFaults checks what cannot be told at all.
func TestResponsesFaults(t *testing.T) {
	image := func(kind string) content.Part {
		return &content.Image{Source: &content.Base64{MediaType: kind, Data: "AAAA"}}
	}
	doc := func(kind, data string) content.Part {
		return &content.Document{Source: &content.Base64{MediaType: kind, Data: data}}
	}
	tests := []struct {
		name  string
		parts []content.Part
		want  string
	}{
		{"sound", partsOf(&content.Media{Source: &content.Base64{MediaType: "audio/wav", Data: "AAAA"}}), "turns.0.parts.0"},
		{"a type of images", partsOf(sayText("a"), image("image/heic")), "turns.0.parts.1.source.media_type"},
		{"a type of files", partsOf(doc("application/zip", "AAAA")), "turns.0.parts.0.source.media_type"},
		{"a text that is none", partsOf(doc("text/plain", "/w==")), "turns.0.parts.0.source.data"},
		{"no part", partsOf((*content.Text)(nil)), "turns.0.parts.0"},
		{"in a result", partsOf(&content.ToolResult{ID: "x", Parts: partsOf(image("image/heic"))}), "turns.0.parts.0.parts.0.source.media_type"},
		{"a result in a result", partsOf(&content.ToolResult{ID: "x", Parts: partsOf(&content.ToolResult{})}), "turns.0.parts.0.parts.0"},
		{"a call of the user's", partsOf(useOf("a", "f", "")), "turns.0.parts.0"},
		{"a source of no kind", partsOf(&content.Image{}), "turns.0.parts.0.source"},
		{"another vendor's file", partsOf(&content.Image{Source: &content.File{ID: "file_011"}}), "turns.0.parts.0.source"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := planOf(t, asked("gpt-5.2", tt.parts...), KindVendor, 0).body(t.Context())
			list, _ := content.Violations(err)
			var got []string
			for _, e := range list {
				got = append(got, e.Path)
			}
			if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
