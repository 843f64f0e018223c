package openai

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// A lossCase is a request with one loss.
type lossCase struct {
	rule       *loss.Rule
	path       string
	model      string // default gpt-4.1
	compatible bool
	refusals   refusals
	dialect    Dialect // Kind is ignored
	change     func(r *upstream.Request)
}

func turnOf(role content.Role, parts ...content.Part) content.Turn {
	return content.Turn{Role: role, Parts: parts}
}

func resultOf(id string, parts ...content.Part) *content.ToolResult {
	return &content.ToolResult{ID: id, Parts: parts}
}

// withTurns replaces the turns.
func withTurns(turns ...content.Turn) func(*upstream.Request) {
	return func(r *upstream.Request) { r.Turns = turns }
}

// withUserParts adds parts to the only turn.
func withUserParts(parts ...content.Part) func(*upstream.Request) {
	return func(r *upstream.Request) { r.Turns[0].Parts = append(r.Turns[0].Parts, parts...) }
}

// withCall sets a turn with a tool call and the parts after it.
func withCall(after ...content.Part) func(*upstream.Request) {
	return withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, useOf("c1", "f", "{}")), turnOf(content.RoleUser, after...))
}

func withTool(t content.Tool) func(*upstream.Request) {
	return func(r *upstream.Request) { r.Tools = append(r.Tools, t) }
}

var (
	plainTool      = content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}
	unknownMembers = &content.Extra{Format: "messages", JSON: `{"x":1}`}
	png            = &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}
	pdf            = &content.Base64{MediaType: "application/pdf", Data: "JVBERi0="}
	half           = 0.5
	seven          = int64(7)
)

// resolution returns generateContent's resolution of an image.
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

var partLossCases = []lossCase{
	{rule: lower.HeaderNotSent, path: "headers.anthropic-workspace-id", change: func(r *upstream.Request) {
		r.Header = []upstream.HeaderField{{Name: "anthropic-version", Value: "2023-06-01"}, {Name: "Anthropic-Workspace-Id", Value: "w"}}
	}},
	{rule: lower.RenamedTool, path: "tools.0.name", change: withTool(content.Tool{Name: "a.b", Input: plainTool.Input})},
	{rule: lower.RenamedCall, path: "turns.1.parts.0.id", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, useOf("", "f", "{}")), turnOf(content.RoleUser, &content.ToolResult{Name: "f"}))},
	{rule: lower.SystemFile, path: "system.0", change: func(r *upstream.Request) { r.System = partsOf(png) }},
	{rule: lower.SystemTurn, path: "turns.0", compatible: true, change: withTurns(turnOf(content.RoleSystem, textOf("s")), turnOf(content.RoleUser, textOf("q")))},
	{rule: lower.CallOrder, path: "turns.1.parts.1", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, useOf("c1", "f", "{}"), textOf("late")), turnOf(content.RoleUser, resultOf("c1")))},
	{rule: lower.Signature, path: "turns.1.parts.0.signature", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, &content.ToolUse{ID: "c1", Name: "f", Signature: content.Signature{Format: "generatecontent", Data: "x"}}), turnOf(content.RoleUser, resultOf("c1")))},
	{rule: lower.CacheMark, path: "turns.0.parts.1.cache", change: withUserParts(&content.Text{Text: "x", Cache: &content.Cache{}})},
	{rule: lower.CacheTime, path: "turns.0.parts.1.cache", model: "gpt-5.6-sol", change: withUserParts(&content.Text{Text: "x", Cache: &content.Cache{TTL: "1h"}})},
	{rule: lower.Thinking, path: "turns.1.parts.0", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, thinkingPart("hm", ""), textOf("a")), turnOf(content.RoleUser, textOf("q")))},
	{rule: lower.ThinkingMissing, path: "turns.1.parts.0", compatible: true, refusals: refusals{thinkingMember: "reasoning_content"}, change: withCall(resultOf("c1"))},
	{rule: lower.ThinkingEmpty, path: "turns.1.parts.0", compatible: true, dialect: Dialect{Reasoning: "reasoning"}, change: withCall(resultOf("c1"))},
	{rule: lower.Thinking, path: "turns.1.parts.0", compatible: true, refusals: refusals{fields: fieldReasoning}, change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, thinkingPart("hm", "reasoning"), useOf("c1", "f", "{}")), turnOf(content.RoleUser, resultOf("c1")))},
	{rule: lower.RenamedCall, path: "turns.1.parts.0.id", compatible: true, refusals: refusals{shortIDs: true}, change: withCall(resultOf("c1"))},
	{rule: lower.Prefill, path: "turns.1.parts.0", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, textOf("It is")))},
	{rule: lower.FileUnreadable, path: "turns.0.parts.1", compatible: true, dialect: Dialect{DescribeUnreadable: true}, change: withUserParts(&content.Document{Source: pdf})},
	{rule: lower.FileUnreadable, path: "turns.2.parts.0.parts.0", compatible: true, dialect: Dialect{DescribeUnreadable: true, TextOnly: true}, change: withCall(resultOf("c1", png))},
	{rule: lower.FileDetail, path: "extra.generationConfig.mediaResolution", change: withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_MEDIUM"}}`)},
	{rule: lower.FileDetail, path: "extra.generationConfig.mediaResolution", compatible: true, change: withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`)},
	{rule: foreign.MembersLoss, path: "turns.0.parts.1.extra", change: withUserParts(&content.Image{Source: png.Source, Extra: resolution("MEDIA_RESOLUTION_MEDIUM")})},
	{rule: foreign.MembersLoss, path: "turns.0.parts.1.extra", compatible: true, change: withUserParts(&content.Image{Source: png.Source, Extra: resolution("MEDIA_RESOLUTION_LOW")})},
	{rule: lower.OwnMembers, path: "turns.0.parts.1.extra", change: withUserParts(&content.Image{Source: png.Source, Extra: &content.Extra{Format: ChatFormat, JSON: `{"detail":"low","x":1}`}})},
	{rule: lower.VendorPart, path: "turns.0.parts.1", change: withUserParts(&content.ServerToolResult{Format: "messages", Kind: "x", Content: "{}"})},
	{rule: foreign.ReferenceAsText, path: "turns.2.parts.0.parts.0", change: withCall(resultOf("c1", &content.Unknown{Format: "messages", Kind: "tool_reference", Raw: `{"tool_name":"x"}`}))},
	{rule: foreign.ToolAsFunction, path: "tools.0", change: func(r *upstream.Request) {
		r.Tools = []content.Tool{{Format: "messages", Kind: "bash_20250124", Name: "bash", Raw: `{"type":"bash_20250124","name":"bash"}`}}
	}},
	{rule: foreign.SummaryAsText, path: "turns.0.parts.1", change: withUserParts(&content.Unknown{Format: "messages", Kind: "compaction", Raw: `{"content":"x"}`})},
	{rule: lower.UnknownPart, path: "turns.0.parts.1", change: withUserParts(&content.Unknown{Format: "messages", Kind: "x", Raw: "{}"})},
	{rule: foreign.MembersLoss, path: "turns.0.parts.1.extra", change: withUserParts(&content.Text{Text: "x", Extra: unknownMembers})},
	{rule: lower.OwnMembers, path: "turns.0.parts.1.extra", change: withUserParts(&content.Text{Text: "x", Extra: &content.Extra{Format: ChatFormat, JSON: `{"x":1}`}})},
	{rule: foreign.MembersLoss, path: "turns.0.parts.1.source.extra", change: withUserParts(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo=", Extra: unknownMembers}})},
	{rule: foreign.MembersLoss, path: "turns.0.parts.1.source.extra", change: withUserParts(&content.Document{Title: "T", Source: &content.PlainText{Text: "x", Extra: unknownMembers}})},
	{rule: lower.EmptyMessage, path: "turns.2", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, textOf("a")), turnOf(content.RoleUser, textOf("")))},
	{rule: lower.EmptyTurn, path: "turns.1", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant), turnOf(content.RoleUser, textOf("q")))},
	{rule: lower.EmptyTurn, path: "turns.1", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleUser))},
	{rule: lower.TurnPlaceholder, path: "turns.0", change: withTurns(turnOf(content.RoleUser, vendorPart), turnOf(content.RoleAssistant, textOf("a")), turnOf(content.RoleUser, textOf("q")))},
	{rule: lower.FileDetail, path: "turns.0.parts.1", change: func(r *upstream.Request) {
		withUserParts(&content.Document{Source: pdf})(r)
		withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`)(r)
	}},
	{rule: foreign.MembersLoss, path: "turns.0.parts.1.extra", change: withUserParts(&content.Image{Source: png.Source, Extra: &content.Extra{Format: "generatecontent", JSON: `{"mediaResolution":{"level":"MEDIA_RESOLUTION_LOW","numTokens":5}}`}})},
	{rule: lower.EmptyText, path: "turns.0.parts.1", change: withUserParts(textOf(""))},
	{rule: lower.DocumentCitations, path: "turns.0.parts.1.citations", change: withUserParts(&content.SearchResult{Title: "T", Citations: true})},
	{rule: lower.CacheMark, path: "turns.1.parts.0.cache", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, &content.ToolUse{ID: "c1", Name: "f", Cache: &content.Cache{}}), turnOf(content.RoleUser, resultOf("c1")))},
	{rule: lower.ThinkingBroken, path: "turns.1.parts.0.signature", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, &content.ToolUse{ID: "c1", Name: "f", Signature: content.Signature{Format: ChatFormat, Data: "[]"}}), turnOf(content.RoleUser, resultOf("c1")))},
	{rule: lower.CacheTime, path: "turns.0.parts.1.cache", model: "gpt-5.6-sol", change: withUserParts(&content.Text{Text: "x", Cache: &content.Cache{Extra: unknownMembers}})},
	{rule: lower.TextCitations, path: "turns.1.parts.0.citations", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, &content.Text{Text: "a", Citations: []content.Citation{{Kind: content.CiteWeb}}}))},
	{rule: lower.AssistantFile, path: "turns.1.parts.0", change: withTurns(turnOf(content.RoleUser, textOf("q")), turnOf(content.RoleAssistant, png))},
	{rule: lower.DocumentText, path: "turns.0.parts.1", change: withUserParts(&content.Document{Source: &content.PlainText{Text: "x"}})},
	{rule: lower.DocumentTitle, path: "turns.0.parts.1", change: withUserParts(&content.Document{Source: &content.PlainText{Text: "x"}, Title: "T"})},
	{rule: lower.DocumentParts, path: "turns.0.parts.1.source", change: withUserParts(&content.Document{Source: &content.Parts{Parts: partsOf(textOf("x"))}})},
	{rule: lower.DocumentCitations, path: "turns.0.parts.1.citations", change: withUserParts(&content.Document{Source: pdf, Citations: true})},
	{rule: lower.SearchResult, path: "turns.0.parts.1", change: withUserParts(&content.SearchResult{Title: "T", Source: "https://a.example/", Parts: partsOf(textOf("x"))})},
	{rule: lower.ResultImage, path: "turns.2.parts.0.parts.0", change: withCall(resultOf("c1", png))},
	{rule: lower.ResultFile, path: "turns.2.parts.0.parts.0", change: withCall(resultOf("c1", &content.Document{Source: pdf}))},
	{rule: lower.ResultParts, path: "turns.2.parts.0", change: withCall(resultOf("c1", textOf("a"), textOf("b")))},
	{rule: lower.ResultError, path: "turns.2.parts.0.error", change: withCall(&content.ToolResult{ID: "c1", Error: true})},
	{rule: lower.ResultOrder, path: "turns.2.parts.1", change: withCall(textOf("x"), resultOf("c1"))},
	{rule: lower.ResultMissing, path: "turns.1.parts.0", change: withCall(textOf("x"))},
	{rule: lower.ResultOrphan, path: "turns.0.parts.1", change: withUserParts(resultOf("gone", textOf("x")))},
}

var requestLossCases = []lossCase{
	{rule: lower.ToolVendor, path: "tools.0", change: withTool(content.Tool{Name: "web_search", Kind: "web_search_20250305"})},
	{rule: lower.ToolOutput, path: "tools.0.output", change: withTool(content.Tool{Name: "f", Input: plainTool.Input, Output: plainTool.Input})},
	{rule: lower.ToolStrict, path: "tools.0.input", change: withTool(content.Tool{Name: "f", Strict: new(true), Input: content.Schema{JSON: `{"type":"object","patternProperties":{"^a":{"type":"string"}}}`}})},
	{rule: lower.ToolCache, path: "tools.0.cache", change: withTool(content.Tool{Name: "f", Input: plainTool.Input, Cache: &content.Cache{}})},
	{rule: lower.ToolDescription, path: "tools.0.description", refusals: refusals{fields: fieldDescription}, change: withTool(content.Tool{Name: "f", Input: plainTool.Input, Description: strings.Repeat("x", 1025)})},
	{rule: lower.ToolStrict, path: "tools.0.input", change: func(r *upstream.Request) {
		r.Tools, r.Choice.Mode = []content.Tool{{Name: "f", Input: content.Schema{JSON: openSchema}}}, content.ChoiceValidated
	}},
	{rule: lower.ThinkingByDefault, path: "thinking", model: "gpt-5", change: func(r *upstream.Request) {
		r.Defaults = upstream.Defaults{Format: "messages", Thinking: upstream.ThinkingOff}
	}},
	{rule: lower.ChoiceNoTools, path: "choice.mode", change: func(r *upstream.Request) { r.Choice.Mode = content.ChoiceAny }},
	{rule: lower.ChoiceUnknown, path: "choice.mode", change: func(r *upstream.Request) {
		r.Tools, r.Choice.Mode = []content.Tool{plainTool}, "odd"
	}},
	{rule: foreign.MembersLoss, path: "extra.labels", change: withMembers(`{"labels":{}}`)},
	{rule: foreign.StateLoss, path: "extra.cachedContent", change: withMembers(`{"cachedContent":"c"}`)},
	{rule: foreign.LocationLoss, path: "extra.inference_geo", change: func(r *upstream.Request) {
		r.Extra = &content.Extra{Format: "messages", JSON: `{"inference_geo":"eu"}`}
	}},
	{rule: foreign.SafetyLoss, path: "extra.safetySettings", change: withMembers(`{"safetySettings":[{}]}`)},
	{rule: foreign.SettingLoss, path: "extra.generationConfig.responseLogprobs", model: "o3", change: withMembers(`{"generationConfig":{"responseLogprobs":true}}`)},
	{rule: lower.ChoiceNames, path: "choice.names", compatible: true, change: func(r *upstream.Request) {
		r.Tools = []content.Tool{plainTool, {Name: "g", Input: plainTool.Input}, {Name: "h"}}
		r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "g"}}
	}},
	{rule: lower.ChoiceNames, path: "choice.names", refusals: refusals{fields: fieldToolChoice}, change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool, {Name: "g"}}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
	}},
	{rule: lower.ChoiceNamesSome, path: "choice.names", change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "gone"}}
	}},
	{rule: lower.ChoiceNamesNone, path: "choice.names", change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"gone"}}
	}},
	{rule: lower.ChoiceNames, path: "choice.names", change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool}, content.ToolChoice{Mode: content.ChoiceValidated, Names: []string{"gone"}}
	}},
	{rule: foreign.InfluenceLoss, path: "tools.0.extra.allowed_callers", change: withTool(content.Tool{Name: "f", Extra: ofMessages(`{"allowed_callers":["code_execution_20250825"]}`)})},
	{rule: foreign.UnknownLoss, path: "extra.x", change: func(r *upstream.Request) { r.Extra = unknownMembers }},
	{rule: lower.ChoiceNamesTrust, path: "choice.names", compatible: true, change: func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
	}},
	{rule: lower.MemberReplaced, path: "extra.store", change: func(r *upstream.Request) { r.Extra = &content.Extra{Format: ChatFormat, JSON: `{"store":true}`} }},
	{rule: lower.TemperatureThinking, path: "temperature", compatible: true, dialect: Dialect{Thinking: "thinking"}, change: func(r *upstream.Request) { r.Temperature = &half }},
	{rule: lower.TopPThinking, path: "top_p", compatible: true, dialect: Dialect{Thinking: "thinking"}, change: func(r *upstream.Request) { r.TopP = &half }},
	{rule: lower.ModeOff, path: "thinking.mode", compatible: true, dialect: Dialect{Thinking: "thinking", Efforts: []string{"low"}}, refusals: refusals{fields: fieldThinkingSwitch}, change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff})},
	{rule: lower.ModeOn, path: "thinking.mode", compatible: true, dialect: Dialect{Thinking: "thinking"}, refusals: refusals{fields: fieldThinkingSwitch}, change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingAuto})},
	{rule: lower.ChoiceParallel, path: "choice.no_parallel", model: "o3", change: func(r *upstream.Request) {
		r.Tools, r.Choice.NoParallel = []content.Tool{plainTool}, true
	}},
	{rule: lower.Temperature, path: "temperature", model: "gpt-6.2-sol", change: func(r *upstream.Request) { r.Temperature = &half }},
	{rule: lower.TopP, path: "top_p", model: "gpt-5", change: func(r *upstream.Request) { r.TopP = &half }},
	{rule: lower.LimitLowered, path: "max_tokens", model: "gpt-4o", change: func(r *upstream.Request) { r.MaxTokens = number(int64(16385)) }},
	{rule: lower.TopK, path: "top_k", change: func(r *upstream.Request) { r.TopK = &seven }},
	{rule: lower.Seed, path: "seed", refusals: refusals{fields: fieldSeed}, change: func(r *upstream.Request) { r.Seed = &seven }},
	{rule: lower.Penalties, path: "presence_penalty", model: "o3", change: func(r *upstream.Request) { r.PresencePenalty = &half }},
	{rule: lower.StopsOff, path: "stop_sequences", model: "o3", change: func(r *upstream.Request) { r.StopSequences = []string{"a"} }},
	{rule: lower.StopsOverLimit, path: "stop_sequences", change: func(r *upstream.Request) { r.StopSequences = strings.Split("abcde", "") }},
	{rule: lower.ModeOff, path: "thinking.mode", model: "gpt-5", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff})},
	{rule: lower.ModeNone, path: "thinking.mode", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingAuto})},
	{rule: lower.ModeNone, path: "thinking.effort", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "high"})},
	{rule: lower.ModeNone, path: "thinking.effort", change: thinkingOf(upstream.Thinking{Effort: "high"})},
	{rule: lower.ModeOn, path: "thinking.effort", compatible: true, dialect: Dialect{Efforts: []string{}}, change: thinkingOf(upstream.Thinking{Effort: "high"})},
	{rule: lower.ModeAuto, path: "thinking.mode", model: "gpt-5.1", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingAuto})},
	{rule: lower.ModeBetween, path: "thinking.mode", model: "gpt-5", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingBetweenTools})},
	{rule: lower.ModeUnknown, path: "thinking.mode", change: thinkingOf(upstream.Thinking{Mode: "odd"})},
	{rule: lower.BudgetAlone, path: "thinking.budget", change: thinkingOf(upstream.Thinking{Budget: &seven})},
	{rule: lower.BudgetAsEffort, path: "thinking.budget", model: "gpt-5", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &seven})},
	{rule: lower.BudgetOmitted, path: "thinking.budget", model: "gpt-5", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &seven, Effort: "low"})},
	{rule: lower.EffortOff, path: "thinking.effort", model: "gpt-5.1", change: thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"})},
	{rule: lower.EffortNearest, path: "thinking.effort", model: "gpt-5", change: thinkingOf(upstream.Thinking{Effort: "max"})},
	{rule: lower.EffortTools, path: "thinking", model: "gpt-5.6-sol", change: withTool(plainTool)},
	{rule: lower.EffortRefused, path: "thinking", compatible: true, refusals: refusals{fields: fieldEffort}, change: thinkingOf(upstream.Thinking{Effort: "low"})},
	{rule: lower.DisplayNever, path: "thinking.display", change: thinkingOf(upstream.Thinking{Display: "full"})},
	{rule: lower.OutputStrict, path: "output.schema", change: func(r *upstream.Request) {
		r.Output.Schema.JSON = `{"type":"object","patternProperties":{"^a":{"type":"string"}}}`
	}},
	{rule: lower.OutputUnsatisfiable, path: "output.schema", change: func(r *upstream.Request) { r.Output.Schema.JSON = "false" }},
	{rule: lower.OutputObject, path: "output.media_type", change: func(r *upstream.Request) { r.Output.MediaType = "application/json" }},
	{rule: lower.OutputOnlyObject, path: "output.media_type", change: func(r *upstream.Request) {
		r.Output.MediaType, r.Turns = "application/json", []content.Turn{turnOf(content.RoleUser, textOf("List them as JSON."))}
	}},
	{rule: lower.OutputType, path: "output.media_type", change: func(r *upstream.Request) { r.Output.MediaType = "text/x.enum" }},
	{rule: lower.OutputEnum, path: "output.media_type", change: func(r *upstream.Request) {
		r.Output = upstream.Output{MediaType: "text/x.enum", Schema: content.Schema{JSON: `{"type":"STRING","enum":["a","b"]}`, OpenAPI: true}}
	}},
	{rule: lower.OutputModalities, path: "output.modalities", change: func(r *upstream.Request) { r.Output.Modalities = []string{"text", "image"} }},
	{rule: lower.OutputImage, path: "output.aspect_ratio", change: func(r *upstream.Request) { r.Output.AspectRatio = "16:9" }},
	{rule: lower.UserDigest, path: "user_id", change: func(r *upstream.Request) { r.UserID = strings.Repeat("u", 129) }},
	{rule: lower.User, path: "user_id", compatible: true, change: func(r *upstream.Request) { r.UserID = "u" }},
	{rule: lower.ServiceTier, path: "service_tier", change: func(r *upstream.Request) { r.ServiceTier = "unheard" }},
	{rule: lower.UsageNotSent, path: "stream", refusals: refusals{fields: fieldStreamOptions}, change: func(r *upstream.Request) { r.Stream = true }},
}

func (x *lossCase) plan(t *testing.T) *plan {
	t.Helper()
	o := Options{Dialect: x.dialect, CacheKey: noKey}
	if x.compatible {
		o.BaseURL = "http://localhost/v1"
	}
	c, err := New(&o)
	if err != nil {
		t.Fatal(err)
	}
	model := x.model
	if model == "" {
		model = "gpt-4.1"
	}
	if x.compatible {
		model = "qwen3"
	}
	c.refusals.Add(model, x.refusals.and)
	r := &upstream.Request{Model: model, Turns: []content.Turn{turnOf(content.RoleUser, textOf("q"))}}
	x.change(r)
	return c.plan(r)
}

// noKey is an Options.CacheKey for tests of other members.
func noKey(context.Context, *upstream.Request) string { return "" }

// chatRules returns the rules of all losses of requests in Chat Completions: those of the rows.
func chatRules() (rules []*loss.Rule) {
	for _, x := range slices.Concat(partLossCases, requestLossCases) {
		rules = append(rules, x.rule)
	}
	return rules
}

// checkRules checks that all losses of a plan are of known rules. Those of schemas are in
// package schema.
func checkRules(t *testing.T, p *plan, known []*loss.Rule) {
	t.Helper()
	for _, l := range lossplaces.Of(p.Losses) {
		isRow := slices.ContainsFunc(known, func(r *loss.Rule) bool { return r.Of(l) })
		if !isRow && !strings.Contains(l.Path, ".input") && !strings.HasPrefix(l.Path, "output.schema") {
			t.Errorf("no row has the rule of the loss at %s: %s", l.Path, l.Reason)
		}
	}
}

// TestLosses checks the path of every loss, and that there are no others.
func TestLosses(t *testing.T) {
	rules := chatRules()
	for _, x := range slices.Concat(partLossCases, requestLossCases) {
		p := x.plan(t)
		if !lossplaces.Has(p.Losses, x.rule.At(x.path)) {
			t.Errorf("%s: want %v in %v", x.rule.Feature, x.rule.At(x.path), p.Losses)
		}
		if kept := x.rule == foreign.StateLoss; kept != (p.Err != nil) {
			t.Errorf("%s: %v", x.rule.Feature, p.Err)
		}
		checkRules(t, p, rules)
	}
}

// TestNoLoss checks a request without losses.
func TestNoLoss(t *testing.T) {
	for name, change := range map[string]func(*upstream.Request){
		"texts":          withUserParts(textOf("b")),
		"image":          withUserParts(png),
		"a PDF":          withUserParts(&content.Document{Source: pdf, Title: "a.pdf"}),
		"tool call":      withCall(resultOf("c1", textOf("r")), textOf("next")),
		"tool":           withTool(plainTool),
		"default values": func(r *upstream.Request) { one := 1.0; r.Model, r.Temperature = "gpt-5", &one },
		"schema": func(r *upstream.Request) {
			r.Output.Schema.JSON = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
		},
	} {
		x := lossCase{change: change}
		if p := x.plan(t); len(p.Losses) > 0 || p.Err != nil {
			t.Errorf("%s: %v %v", name, p.Losses, p.Err)
		}
	}
}

// newPlan returns the plan of a responses request for OpenAI or a compatible server.
func newPlan(t testing.TB, n *upstream.Request, kind ServerKind, refused field) *plan {
	t.Helper()
	return newPlanWith(t, n, Dialect{Kind: kind, Files: true}, refused)
}

// newPlanWith is newPlan with any dialect.
func newPlanWith(t testing.TB, n *upstream.Request, dialect Dialect, refused field) *plan {
	t.Helper()
	c, err := NewResponses(&Options{BaseURL: "http://localhost:1/v1", Dialect: dialect, CacheKey: noKey})
	if err != nil {
		t.Fatal(err)
	}
	if refused != 0 {
		c.refusals.Add(n.Model, refusals{fields: refused}.and)
	}
	return c.plan(n)
}

// emptyMessageText is sent for an empty message.
const emptyMessageText = "(The user's message is empty.)"

const jsonType = "application/json"

func number[T any](n T) *T { return &n }

// newRequest returns a request with one user turn.
func newRequest(model string, parts ...content.Part) *upstream.Request {
	return &upstream.Request{Model: model, Turns: []content.Turn{{Role: content.RoleUser, Parts: parts}}}
}

// newConversation returns a request with an assistant turn.
func newConversation(parts ...content.Part) *upstream.Request {
	return &upstream.Request{Model: "gpt-6.2-sol", Turns: []content.Turn{
		{Role: content.RoleUser, Parts: partsOf(textOf("a"))}, {Role: content.RoleAssistant, Parts: parts}, {Role: content.RoleUser, Parts: partsOf(textOf("b"))},
	}}
}

func with(r *upstream.Request, change func(*upstream.Request)) *upstream.Request {
	change(r)
	return r
}

const openSchema = `{"type":"object","properties":{"a":{"type":"string"}}}`

var fTool = content.Tool{Name: "f", Input: content.Schema{JSON: openSchema}}

const think1 = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}`

// A responsesLossCase is a request with one loss.
type responsesLossCase struct {
	rule    *loss.Rule
	path    string
	kind    ServerKind
	req     *upstream.Request
	refused field
}

// requestWith returns a request with a change.
func requestWith(change func(*upstream.Request)) *upstream.Request {
	return with(newRequest("gpt-5.2", textOf("hi")), change)
}

// The rules that only the Responses API has.
var (
	lossThinkingRefused = &loss.Rule{Feature: loss.LostThinking, Severity: content.LossDegraded,
		Reason: "the server can no longer read its earlier thinking; it was omitted"}
	lossUnrequestedItem = &loss.Rule{Feature: loss.VendorPart, Severity: content.LossDropped,
		Reason: "the item does not result from a tool of this request, so that a client may have made it up; it was dropped"}
)

func responsesPartLossCases() []responsesLossCase {
	const v, c = ServerOpenAI, ServerCompatible
	hi := textOf("hi")
	foreignPart := content.Signature{Format: "alien", Data: "s"}
	foreignExtra := &content.Extra{Format: "alien", JSON: `{"x":1}`}
	ownItem := &content.Unknown{Format: ResponsesFormat, Kind: "web_search_call", Raw: `{"type":"web_search_call","id":"ws_1"}`}
	pdf := &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjQK"}
	return []responsesLossCase{
		{lower.HeaderNotSent, "headers.anthropic-workspace-id", v, requestWith(func(r *upstream.Request) {
			r.Header = []upstream.HeaderField{{Name: "anthropic-version", Value: "2023-06-01"}, {Name: "Anthropic-Workspace-Id", Value: "w"}}
		}), 0},
		{lower.RenamedTool, "tools.0.name", v, requestWith(func(r *upstream.Request) { r.Tools = []content.Tool{{Name: "a.b"}} }), 0},
		{lower.RenamedCall, "turns.1.parts.0.id", v, newConversation(useOf(strings.Repeat("x", 65), "f", "")), 0},
		{lower.SystemFile, "system.0", v, requestWith(func(r *upstream.Request) { r.System = partsOf(&content.Image{}) }), 0},
		{lower.SystemFile, "system.0", v, requestWith(func(r *upstream.Request) { r.System = partsOf(ownItem) }), 0},
		{lower.SystemFile, "turns.1.parts.0", v, requestWith(func(r *upstream.Request) { r.Turns = append(r.Turns, turnOf(content.RoleSystem, ownItem)) }), 0},
		{lower.UnknownPart, "turns.0.parts.1", v, newRequest("m", hi, ownItem), 0},
		{lower.SystemTurn, "turns.1", c, requestWith(func(r *upstream.Request) {
			r.Turns = append(r.Turns, content.Turn{Role: content.RoleSystem, Parts: partsOf(hi)})
		}), 0},
		{foreign.ReferenceAsText, "turns.0.parts.0.parts.0", v, newRequest("m", resultOf("c1", &content.Unknown{Format: "messages", Kind: "tool_reference", Raw: `{"tool_name":"x"}`})), 0},
		{foreign.ToolAsFunction, "tools.0", v, requestWith(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Format: "messages", Kind: "memory_20250818", Name: "memory", Raw: `{"type":"memory_20250818","name":"memory"}`}}
		}), 0},
		{foreign.SummaryAsText, "turns.0.parts.0", v, newRequest("m", &content.Unknown{Format: "messages", Kind: "compaction", Raw: `{"content":"x"}`}), 0},
		{lower.EmptyMessage, "turns.0", v, newRequest("m", &content.Text{}), 0},
		{lower.UnknownPart, "turns.0.parts.0", v, newRequest("m", &content.Unknown{Format: "alien", Kind: "x"}, hi), 0},
		{lower.VendorPart, "turns.1.parts.0", v, newConversation(&content.ServerToolUse{Format: "alien"}, hi), 0},
		{foreign.MembersLoss, "turns.0.parts.0.extra", v, newRequest("m", &content.Text{Text: "a", Extra: foreignExtra}), 0},
		{lower.OwnMembers, "turns.0.parts.0.extra", v, newRequest("m", &content.Text{Text: "a", Extra: &content.Extra{Format: ResponsesFormat, JSON: `{"x":1}`}}), 0},
		{foreign.MembersLoss, "turns.0.parts.0.source.extra", v, newRequest("m", &content.Document{Title: "T", Source: &content.PlainText{Text: "x", Extra: foreignExtra}}), 0},
		{foreign.StateLoss, "extra.cachedContent", v, requestWith(withMembers(`{"cachedContent":"c"}`)), 0},
		{foreign.LocationLoss, "extra.inference_geo", v, requestWith(func(r *upstream.Request) {
			r.Extra = &content.Extra{Format: "messages", JSON: `{"inference_geo":"eu"}`}
		}), 0},
		{foreign.SafetyLoss, "extra.safetySettings", v, requestWith(withMembers(`{"safetySettings":[{}]}`)), 0},
		{foreign.SettingLoss, "extra.generationConfig.speechConfig", v, requestWith(withMembers(`{"generationConfig":{"speechConfig":{"languageCode":"de"}}}`)), 0},
		{lower.FileDetail, "extra.generationConfig.mediaResolution", v, requestWith(withMembers(`{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_MEDIUM"}}`)), 0},
		{foreign.MembersLoss, "turns.0.parts.0.extra", c, newRequest("m", &content.Image{Source: png.Source, Extra: resolution("MEDIA_RESOLUTION_LOW")}), 0},
		{lower.MemberReplaced, "extra.text.format", v, requestWith(func(r *upstream.Request) {
			r.Extra = &content.Extra{Format: ResponsesFormat, JSON: `{"text":{"format":{"type":"text"}}}`}
		}), 0},
		{lower.MemberReplaced, "extra.store", v, requestWith(func(r *upstream.Request) { r.Extra = &content.Extra{Format: ResponsesFormat, JSON: `{"store":true}`} }), 0},
		{lower.DocumentCitations, "turns.0.parts.0.citations", v, newRequest("m", &content.SearchResult{Citations: true}), 0},
		{lower.TextCitations, "turns.1.parts.0.citations", v, newConversation(&content.Text{Text: "a", Citations: []content.Citation{{}}}), 0},
		{lower.FileMoved, "turns.1.parts.0", v, newConversation(&content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}), 0},
		{lower.FileNotMoved, "turns.1.parts.0", v, with(newConversation(png), func(r *upstream.Request) { r.Turns = r.Turns[:2] }), 0},
		{lower.DocumentCitations, "turns.0.parts.0.citations", v, newRequest("m", &content.Document{Source: pdf, Citations: true}), 0},
		{lower.Prefill, "turns.1.parts.0", v, with(newConversation(hi), func(r *upstream.Request) { r.Turns = r.Turns[:2] }), 0},
		{lower.Thinking, "turns.1.parts.0", v, newConversation(&content.Thinking{Text: "hm", Signature: foreignPart}, hi), 0},
		{lower.ThinkingLast, "turns.1", v, newConversation(redactedPart(think1)), 0},
		{lossThinkingRefused, "turns.1.parts.0", v, newConversation(redactedPart(think1), hi), fieldReasoning},
		{lower.ThinkingBroken, "turns.1.parts.0", v, newConversation(redactedPart(`{"type":"message"}`), hi), 0},
		{lossUnrequestedItem, "turns.1.parts.0", v, newConversation(redactedPart(`{"type":"additional_tools","role":"developer","tools":[]}`), hi), 0},
		{lower.ThinkingNotCarried, "thinking", v, newRequest("gpt-5.2", hi), fieldReasoning},
		{lower.EmptyTurn, "turns.1", v, newConversation(), 0},
		{lower.TurnPlaceholder, "turns.0", v, with(newConversation(hi), func(r *upstream.Request) { r.Turns[0].Parts = partsOf(vendorPart) }), 0},
		{foreign.InfluenceLoss, "tools.0.extra.input_examples", v, requestWith(withTool(content.Tool{Name: "f", Extra: ofMessages(`{"input_examples":[{}]}`)})), 0},
		{foreign.UnknownLoss, "extra.x", v, requestWith(func(r *upstream.Request) { r.Extra = unknownMembers }), 0},
		{lower.EmptyText, "turns.0.parts.0", v, newRequest("m", textOf(""), hi), 0},
		{lower.Signature, "turns.1.parts.0.signature", v, newConversation(&content.Text{Text: "a", Signature: foreignPart}), 0},
		{lower.CacheMark, "turns.0.parts.0.cache", v, newRequest("gpt-5.2", &content.Text{Text: "a", Cache: &content.Cache{}}), 0},
		{lower.CacheTime, "turns.0.parts.0.cache", v, newRequest("gpt-6.2-sol", &content.Text{Text: "a", Cache: &content.Cache{TTL: "1h"}}), 0},
		{lower.DocumentText, "turns.0.parts.0", v, newRequest("m", &content.Document{Source: &content.PlainText{Text: "a"}}), 0},
		{lower.DocumentTitle, "turns.0.parts.0", v, newRequest("m", &content.Document{Context: "c", Source: pdf}), 0},
		{lower.DocumentParts, "turns.0.parts.0.source", v, newRequest("m", &content.Document{Source: &content.Parts{Parts: partsOf(hi)}}), 0},
		{lower.SearchResult, "turns.0.parts.0", v, newRequest("m", &content.SearchResult{Parts: partsOf(hi)}), 0},
		{lower.ResultParts, "turns.2.parts.0", c, with(newConversation(useOf("c1", "f", "")), func(r *upstream.Request) {
			r.Turns[2].Parts = partsOf(&content.ToolResult{ID: "c1", Parts: partsOf(hi, hi)})
		}), 0},
		{lower.ResultError, "turns.2.parts.0.error", v, with(newConversation(useOf("c1", "f", "")), func(r *upstream.Request) {
			r.Turns[2].Parts = partsOf(&content.ToolResult{ID: "c1", Error: true})
		}), 0},
		{lower.ResultOrder, "turns.2.parts.1", v, with(newConversation(useOf("c1", "f", "")), func(r *upstream.Request) {
			r.Turns[2].Parts = partsOf(hi, resultOf("c1"))
		}), 0},
		{lower.ResultMissing, "turns.1.parts.0", v, newConversation(useOf("c1", "f", "")), 0},
		{lower.ResultOrphan, "turns.0.parts.0", v, newRequest("m", &content.ToolResult{ID: "c1", Parts: partsOf(hi)}), 0},
	}
}

var googleSearch = content.Tool{Kind: "googleSearch", Format: "generatecontent", Raw: "{}"}

func responsesToolLossCases() []responsesLossCase {
	const v = ServerOpenAI
	hi := textOf("hi")
	return []responsesLossCase{
		{lower.ToolVendor, "tools.0", v, requestWith(func(r *upstream.Request) { r.Tools = []content.Tool{{Kind: "bash_20250124", Format: "messages"}} }), 0},
		{lower.ToolMapped, "tools.0", v, requestWith(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Kind: "googleSearch", Format: "generatecontent", Raw: "{}"}}
		}), 0},
		{foreign.ToolRestrictions, "tools.0.max_uses", v, requestWith(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Kind: "web_search_20250305", Format: "messages", Raw: `{"type":"web_search_20250305","max_uses":3}`}}
		}), 0},
		{lower.ToolOutput, "tools.0.output", ServerCompatible, requestWith(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Name: "f", Output: content.Schema{JSON: openSchema}}}
		}), 0},
		{lower.ToolCache, "tools.0.cache", v, requestWith(func(r *upstream.Request) { r.Tools = []content.Tool{{Name: "f", Cache: &content.Cache{}}} }), 0},
		{lower.ToolStrict, "tools.0.input", v, requestWith(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Name: "f", Strict: new(true), Input: content.Schema{JSON: `{"type":"object","patternProperties":{"^a":{}}}`}}}
		}), 0},
		{lower.ChoiceNoTools, "choice.mode", v, requestWith(func(r *upstream.Request) { r.Choice.Mode = content.ChoiceAny }), 0},
		{lower.ChoiceUnknown, "choice.mode", v, requestWith(func(r *upstream.Request) { r.Tools = []content.Tool{fTool}; r.Choice.Mode = "odd" }), 0},
		{lower.ThinkingByDefault, "thinking", v, requestWith(func(r *upstream.Request) {
			r.Model, r.Defaults = "gpt-5", upstream.Defaults{Format: "messages", Thinking: upstream.ThinkingOff}
		}), 0},
		{lower.ChoiceNamesTrust, "choice.names", ServerCompatible, requestWith(func(r *upstream.Request) {
			r.Tools, r.Choice = []content.Tool{fTool}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
		}), 0},
		{lower.ChoiceNames, "choice.names", v, requestWith(func(r *upstream.Request) {
			r.Tools, r.Choice = []content.Tool{fTool, {Name: "g"}}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
		}), fieldToolChoice},
		{lower.ToolOutput, "tools.0.output", v, requestWith(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Name: "f", Output: content.Schema{JSON: openSchema}}}
		}), fieldOutputSchema},
		{lower.ChoiceNamesNone, "choice.names", v, requestWith(func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool}
			r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"g"}}
		}), 0},
		{lower.ChoiceNamesSome, "choice.names", v, requestWith(func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool}
			r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "g"}}
		}), 0},
		{lower.ChoiceNoBuiltIn, "choice.mode", v, requestWith(func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool, googleSearch}
			r.Choice.Mode = content.ChoiceNone
		}), fieldToolChoice},
		{lower.ToolTwice, "tools.1", v, requestWith(func(r *upstream.Request) { r.Tools = []content.Tool{googleSearch, googleSearch} }), 0},
		{foreign.ToolSettings, "tools.0.user_location", v, requestWith(func(r *upstream.Request) {
			r.Tools = []content.Tool{{Kind: "web_search_20250305", Format: "messages", Raw: `{"type":"web_search_20250305","user_location":{"type":"exact"}}`}}
		}), 0},
		{lower.ChoiceParallel, "choice.no_parallel", v, with(newRequest("o3", hi), func(r *upstream.Request) {
			r.Tools = []content.Tool{fTool}
			r.Choice.NoParallel = true
		}), 0},
	}
}

func responsesSettingLossCases() []responsesLossCase {
	const v, c = ServerOpenAI, ServerCompatible
	hi := textOf("hi")
	return []responsesLossCase{
		{lower.Temperature, "temperature", v, with(newRequest("gpt-6.2-sol", hi), func(r *upstream.Request) { r.Temperature = number(0.5) }), 0},
		{lower.TemperatureThinking, "temperature", v, requestWith(func(r *upstream.Request) { r.Temperature, r.Thinking.Effort = number(0.5), "low" }), 0},
		{lower.TopPThinking, "top_p", v, requestWith(func(r *upstream.Request) { r.TopP, r.Thinking.Effort = number(0.5), "low" }), 0},
		{lower.TopP, "top_p", v, with(newRequest("gpt-6.2-sol", hi), func(r *upstream.Request) { r.TopP = number(0.5) }), 0},
		{lower.TopK, "top_k", v, requestWith(func(r *upstream.Request) { r.TopK = number(int64(5)) }), 0},
		{lower.Seed, "seed", v, requestWith(func(r *upstream.Request) { r.Seed = number(int64(5)) }), 0},
		{lower.Penalties, "presence_penalty", v, requestWith(func(r *upstream.Request) { r.PresencePenalty = number(0.5) }), 0},
		{lower.StopsCut, "stop_sequences", v, requestWith(func(r *upstream.Request) { r.StopSequences = []string{"x"} }), 0},
		{lower.Candidates, "candidates", v, requestWith(func(r *upstream.Request) { r.Candidates = 2 }), 0},
		{lower.LimitLowered, "max_tokens", v, with(newRequest("gpt-4.1", hi), func(r *upstream.Request) { r.MaxTokens = number(int64(32769)) }), 0},
		{lower.LimitRaised, "max_tokens", v, requestWith(func(r *upstream.Request) { r.MaxTokens = number(int64(1)) }), 0},
		{lower.ModeOff, "thinking.mode", v, with(newRequest("gpt-6.2-sol", hi), func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingOff }), 0},
		{lower.ModeNone, "thinking.mode", v, with(newRequest("gpt-4.1", hi), func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingAuto }), 0},
		{lower.ModeNone, "thinking.effort", v, with(newRequest("gpt-4.1", hi), func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "high"}
		}), 0},
		{lower.ModeAuto, "thinking.mode", v, requestWith(func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingAuto }), 0},
		{lower.ModeBetween, "thinking.mode", v, requestWith(func(r *upstream.Request) { r.Thinking.Mode = upstream.ThinkingBetweenTools }), 0},
		{lower.ModeUnknown, "thinking.mode", v, requestWith(func(r *upstream.Request) { r.Thinking.Mode = "odd" }), 0},
		{lower.BudgetAlone, "thinking.budget", v, requestWith(func(r *upstream.Request) { r.Thinking.Budget = number(int64(5000)) }), 0},
		{lower.BudgetAsEffort, "thinking.budget", v, requestWith(func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: number(int64(5000))}
		}), 0},
		{lower.BudgetOmitted, "thinking.budget", v, requestWith(func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: number(int64(2000)), Effort: "high"}
		}), 0},
		{lower.EffortOff, "thinking.effort", v, requestWith(func(r *upstream.Request) {
			r.Thinking = upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"}
		}), 0},
		{lower.DisplayNoThinking, "thinking.display", v, with(newRequest("gpt-4.1", hi), func(r *upstream.Request) { r.Thinking.Display = "summarized" }), 0},
		{lower.DisplaySummary, "thinking.display", v, requestWith(func(r *upstream.Request) { r.Thinking = upstream.Thinking{Effort: "low", Display: "updates"} }), 0},
		{lower.EffortNearest, "thinking.effort", v, requestWith(func(r *upstream.Request) { r.Thinking.Effort = "max" }), 0},
		{lower.EffortRefused, "thinking", v, requestWith(func(r *upstream.Request) { r.Thinking.Effort = "low" }), fieldEffort},
		{lower.DisplaySummary, "thinking.display", v, requestWith(func(r *upstream.Request) { r.Thinking = upstream.Thinking{Effort: "low", Display: "full"} }), 0},
		{lower.DisplayRefused, "thinking.display", v, requestWith(func(r *upstream.Request) { r.Thinking = upstream.Thinking{Effort: "low", Display: "summarized"} }), fieldSummary},
		{lower.OutputStrict, "output.schema", v, requestWith(func(r *upstream.Request) { r.Output.Schema.JSON = `{"type":"object","patternProperties":{"^a":{}}}` }), 0},
		{lower.OutputUnsatisfiable, "output.schema", v, requestWith(func(r *upstream.Request) { r.Output.Schema.JSON = "false" }), 0},
		{lower.OutputObject, "output.media_type", v, requestWith(func(r *upstream.Request) { r.Output.MediaType = jsonType }), 0},
		{lower.OutputOnlyObject, "output.media_type", v, requestWith(func(r *upstream.Request) {
			r.Output.MediaType, r.Turns = jsonType, []content.Turn{turnOf(content.RoleUser, textOf("List them as JSON."))}
		}), 0},
		{lower.OutputType, "output.media_type", v, requestWith(func(r *upstream.Request) { r.Output.MediaType = "text/x.enum" }), 0},
		{lower.OutputEnum, "output.media_type", v, requestWith(func(r *upstream.Request) {
			r.Output = upstream.Output{MediaType: "text/x.enum", Schema: content.Schema{JSON: `{"type":"string","enum":["a"]}`}}
		}), 0},
		{lower.OutputModalities, "output.modalities", v, requestWith(func(r *upstream.Request) { r.Output.Modalities = []string{"text", "image"} }), 0},
		{lower.OutputImage, "output.aspect_ratio", v, requestWith(func(r *upstream.Request) { r.Output.AspectRatio = "1:1" }), 0},
		{lower.UserDigest, "user_id", v, requestWith(func(r *upstream.Request) { r.UserID = strings.Repeat("u", 129) }), 0},
		{lower.User, "user_id", c, requestWith(func(r *upstream.Request) { r.UserID = "u" }), 0},
		{lower.ServiceTier, "service_tier", v, requestWith(func(r *upstream.Request) { r.ServiceTier = "gold" }), 0},
	}
}

func responsesLossCases() []responsesLossCase {
	return slices.Concat(responsesPartLossCases(), responsesToolLossCases(), responsesSettingLossCases())
}

// responsesRules returns the rules of all losses of requests in the Responses API: those of the
// rows, and of unreadable files.
func responsesRules() []*loss.Rule {
	rules := []*loss.Rule{lower.FileUnreadable}
	for _, tt := range responsesLossCases() {
		rules = append(rules, tt.rule)
	}
	return rules
}

// TestResponsesLosses checks the path of every loss, and that there are no others.
func TestResponsesLosses(t *testing.T) {
	rules := responsesRules()
	for _, tt := range responsesLossCases() {
		p := newPlan(t, tt.req, tt.kind, tt.refused)
		if !lossplaces.Has(p.Losses, tt.rule.At(tt.path)) {
			t.Errorf("want %q at %s, got %v", tt.rule.Reason, tt.path, p.Losses)
		}
		if kept := tt.rule == foreign.StateLoss; kept != (p.Err != nil) {
			t.Errorf("%s: %v", tt.rule.Feature, p.Err)
		}
		checkRules(t, p, rules)
	}
	unreadable := newPlanWith(t, newRequest("m", &content.Document{Source: pdf}), Dialect{DescribeUnreadable: true}, 0)
	if want := lower.FileUnreadable.At("turns.0.parts.0"); !lossplaces.Has(unreadable.Losses, want) || unreadable.Err != nil {
		t.Errorf("want %v, got %v, %v", want, unreadable.Losses, unreadable.Err)
	}
}

// TestResponsesViolations checks requests that cannot be represented.
func TestResponsesViolations(t *testing.T) {
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
		{"unsupported image type", partsOf(textOf("a"), image("image/heic")), "turns.0.parts.1.source.media_type"},
		{"unsupported file type", partsOf(doc("application/zip", "AAAA")), "turns.0.parts.0.source.media_type"},
		{"invalid text file", partsOf(doc("text/plain", "/w==")), "turns.0.parts.0.source.data"},
		{"nil part", partsOf((*content.Text)(nil)), "turns.0.parts.0"},
		{"nil part in result", partsOf(&content.ToolResult{ID: "x", Parts: partsOf(image("image/heic"))}), "turns.0.parts.0.parts.0.source.media_type"},
		{"result in result", partsOf(&content.ToolResult{ID: "x", Parts: partsOf(&content.ToolResult{})}), "turns.0.parts.0.parts.0"},
		{"tool call in user turn", partsOf(useOf("a", "f", "")), "turns.0.parts.0"},
		{"unknown source", partsOf(&content.Image{}), "turns.0.parts.0.source"},
		{"file of another vendor", partsOf(&content.Image{Source: &content.File{ID: "file_011"}}), "turns.0.parts.0.source"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := send(t, newPlan(t, newRequest("gpt-5.2", tt.parts...), ServerOpenAI, 0))
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
