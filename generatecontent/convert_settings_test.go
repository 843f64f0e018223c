package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

func thinking(t upstream.Thinking) *upstream.Request { return &upstream.Request{Thinking: t} }

func configured(config string) string { return `,"generationConfig":` + config }

func thinkingConfigJSON(config string) string { return configured(`{"thinkingConfig":` + config + `}`) }

// settingMappings convert settings other than tools.
var settingMappings = []mapping{
	{name: "sampling", from: &upstream.Request{MaxTokens: ptrTo[int64](9), Temperature: ptrTo(0.5), TopP: ptrTo(0.25), TopK: ptrTo[int64](3), Seed: ptrTo[int64](7),
		PresencePenalty: ptrTo(1.5), FrequencyPenalty: ptrTo(-2.0), StopSequences: []string{"e"}, Candidates: 2},
		want: configured(`{"temperature":0.5,"topP":0.25,"topK":3,"candidateCount":2,"maxOutputTokens":9,"stopSequences":["e"],"presencePenalty":1.5,"frequencyPenalty":-2,"seed":7}`)},
	{name: "sampling out of bounds", from: &upstream.Request{MaxTokens: ptrTo[int64](1 << 40), Temperature: ptrTo(2.5), TopP: ptrTo(1.5), TopK: ptrTo[int64](0), Seed: ptrTo[int64](1 << 40),
		PresencePenalty: ptrTo(2.0), FrequencyPenalty: ptrTo(-3.0)},
		lost:  []string{"degraded max_tokens", "dropped temperature", "dropped top_p", "dropped top_k", "dropped seed", "dropped presence_penalty", "dropped frequency_penalty"},
		rules: []*loss.Rule{maxTokensRange, temperatureRange, topPRange, topKRange, seedRange, penaltyRange, penaltyRange}},
	{name: "stop sequences", from: &upstream.Request{StopSequences: []string{"a", "", "b", "c", "d", "e", "f"}},
		want: configured(`{"stopSequences":["a","b","c","d","e"]}`), lost: []string{"hint stop_sequences", "dropped stop_sequences"}, rules: []*loss.Rule{stopEmpty, stopsOverLimit}},

	{name: "thinking off", from: thinking(upstream.Thinking{Mode: upstream.ThinkingOff}), want: thinkingConfigJSON(`{"thinkingBudget":0}`)},
	{name: "budget", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptrTo[int64](2048)}), want: thinkingConfigJSON(`{"thinkingBudget":2048}`)},
	{name: "missing budget", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget}), want: thinkingConfigJSON(`{"thinkingBudget":-1}`),
		lost: []string{"hint thinking.budget"}, rules: []*loss.Rule{missingBudget}},
	{name: "budget and effort", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptrTo[int64](2048), Effort: "low"}), want: thinkingConfigJSON(`{"thinkingBudget":2048}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{effortBesideBudget}},
	{name: "budget and unsupported effort", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptrTo[int64](2048), Effort: "xhigh"}), want: thinkingConfigJSON(`{"thinkingBudget":2048}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{effortBesideBudget}},
	{name: "effort with thinking off", from: thinking(upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"}), want: thinkingConfigJSON(`{"thinkingBudget":0}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{effortOff}},
	{name: "adaptive with unsupported effort", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "max"}), want: thinkingConfigJSON(`{"thinkingLevel":"HIGH"}`),
		lost: []string{"degraded thinking.effort"}, rules: []*loss.Rule{effortHighest}},
	{name: "adaptive", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto}), want: thinkingConfigJSON(`{"thinkingBudget":-1}`)},
	{name: "adaptive with effort", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "medium", Display: "summarized"}),
		want: thinkingConfigJSON(`{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`)},
	{name: "highest effort", from: thinking(upstream.Thinking{Effort: "max", Display: "full"}), want: thinkingConfigJSON(`{"includeThoughts":true,"thinkingLevel":"HIGH"}`),
		lost: []string{"degraded thinking.effort", "degraded thinking.display"}, rules: []*loss.Rule{effortHighest, displaySummary}},
	{name: "display of updates", from: thinking(upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "updates"}), want: thinkingConfigJSON(`{"includeThoughts":true,"thinkingBudget":-1}`),
		lost: []string{"degraded thinking.display"}, rules: []*loss.Rule{displaySummary}},
	{name: "unknown values", from: thinking(upstream.Thinking{Mode: "x", Effort: "y", Display: "z"}),
		lost: []string{"dropped thinking.mode", "dropped thinking.effort", "hint thinking.display"}, rules: []*loss.Rule{thinkingMode, effortUnknown, displayUnknown}},
	{name: "thinking between tools", from: thinking(upstream.Thinking{Mode: upstream.ThinkingBetweenTools, Display: "omitted"}), want: thinkingConfigJSON(`{"includeThoughts":false,"thinkingBudget":-1}`),
		lost: []string{"degraded thinking.mode"}, rules: []*loss.Rule{thinkingBetween}},
	{name: "budget without mode", from: thinking(upstream.Thinking{Budget: ptrTo[int64](5)}), lost: []string{"dropped thinking.budget"}, rules: []*loss.Rule{budgetWithoutMode}},

	{name: "response schema", from: &upstream.Request{Output: upstream.Output{Schema: content.Schema{JSON: `{"type":"OBJECT","properties":{"a":{"const":1}}}`}}},
		want: configured(`{"responseMimeType":"application/json","responseJsonSchema":{"type":"object","properties":{"a":{"enum":[1]}}}}`),
		lost: []string{"hint output.media_type"}, rules: []*loss.Rule{impliedType}},
	{name: "closed response schema", target: Target{ClosedSchemas: true},
		from: &upstream.Request{Output: upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: `{"type":"string"}`}}},
		want: configured(`{"responseMimeType":"application/json","responseSchema":{"type":"STRING"}}`)},
	{name: "other output", from: &upstream.Request{Output: upstream.Output{MediaType: "text/html", Modalities: []string{"text", "smell"}, AspectRatio: "17:9", ImageSize: "9K", Extra: foreignExtra(`{"x":1}`)}},
		want: configured(`{"responseModalities":["TEXT"]}`),
		lost: []string{"dropped output.extra.x", "dropped output.modalities", "dropped output.aspect_ratio", "dropped output.image_size", "dropped output.media_type"}},
	{name: "images", from: &upstream.Request{Output: upstream.Output{Modalities: []string{"text", "image"}, AspectRatio: "16:9", ImageSize: "2K"}},
		want: configured(`{"responseModalities":["TEXT","IMAGE"],"imageConfig":{"aspectRatio":"16:9","imageSize":"2K"}}`)},
	{name: "automatic service tier", from: &upstream.Request{ServiceTier: "auto"}},
	{name: "user id and service tier", from: &upstream.Request{UserID: "u", ServiceTier: "scale"}, lost: []string{"hint service_tier", "hint user_id"}, rules: []*loss.Rule{tierUnknown, unsupportedUserID}},
	{name: "service tier with another name", from: &upstream.Request{ServiceTier: "standard_only"}, want: `,"serviceTier":"standard"`},
	{name: "members of another format", from: &upstream.Request{Extra: foreignExtra(`{"context_management":{}}`)}, lost: []string{"hint extra.context_management"}},
	{name: "schema also in extra members", from: &upstream.Request{Extra: foreignExtra(`{"output_format":{"type":"json_schema","schema":{}},"output_config":{"format":{"type":"json_schema"},"task_budget":{"type":"tokens","total":20000}}}`)},
		lost: []string{"dropped extra.output_config.task_budget"}, rules: []*loss.Rule{codec.ForeignSetting}},
	{name: "members of another format that change the response", from: &upstream.Request{Extra: foreignExtra(`{"thread":{"type":"create"},"compaction":{"type":"summarize"},"fallbacks":"default"}`)},
		lost:  []string{"dropped extra.thread", "dropped extra.compaction", "degraded extra.fallbacks"},
		rules: []*loss.Rule{codec.ForeignKept, codec.ForeignSetting, codec.ForeignNuance}},
	{name: "place of processing", from: &upstream.Request{Extra: foreignExtra(`{"inference_geo":"eu"}`)},
		lost: []string{"dropped extra.inference_geo"}, rules: []*loss.Rule{codec.ForeignPlace}},
	{name: "safety settings of another format", from: &upstream.Request{Extra: &content.Extra{Format: "openai-chat", JSON: `{"moderation":{"model":"m"}}`}},
		lost: []string{"degraded extra.moderation"}, rules: []*loss.Rule{codec.ForeignSafety}},
}

func withTools(tools ...content.Tool) *upstream.Request { return &upstream.Request{Tools: tools} }

func choosing(c content.ToolChoice, tools ...content.Tool) *upstream.Request {
	return &upstream.Request{Tools: tools, Choice: c}
}

func vendorTool(kind, raw string) content.Tool {
	return content.Tool{Kind: kind, Format: foreignFormat, Name: "x", Raw: raw}
}

// aSearch is a built-in tool of another vendor.
var aSearch = content.Tool{Kind: "web_search_20250305", Format: foreignFormat, Name: "web_search", Raw: `{}`}

// besideSearch are functions and a search, and which of the functions to call.
func besideSearch(functions, config string) string {
	return `,"tools":[{"functionDeclarations":[` + functions + `]},{"googleSearch":{}}],"toolConfig":{"functionCallingConfig":` + config + `,"includeServerSideToolInvocations":true}`
}

const (
	wants     = `{"type":"object","properties":{"type":{"type":"string"},"n":{"type":["integer","null"]}},"required":["n"],"additionalProperties":false}`
	declaredF = `,"tools":[{"functionDeclarations":[{"name":"f"}]}]`
)

func calling(config string) string {
	return declaredF + `,"toolConfig":{"functionCallingConfig":` + config + `}`
}

// toolMappings convert tools and tool choices.
var toolMappings = []mapping{
	{name: "no tools", from: withTools()},
	{name: "schemas", from: withTools(content.Tool{Name: "f", Description: "d", Input: content.Schema{JSON: wants}, Output: content.Schema{JSON: `{"type":"string"}`}},
		content.Tool{Name: "g", Input: content.Schema{JSON: `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`, OpenAPI: true}},
		content.Tool{Name: "h", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}),
		want: `,"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":` + wants + `,"responseJsonSchema":{"type":"string"}},` +
			`{"name":"g","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}},{"name":"h"}]}]`},
	{name: "upper case types in a schema", from: withTools(content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`}}),
		want: `,"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"string"}}}}]}]`},
	{name: "closed schemas", target: Target{ClosedSchemas: true}, from: withTools(content.Tool{Name: "f", Input: content.Schema{JSON: wants}}),
		want: `,"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"type":{"type":"STRING"},"n":{"type":"INTEGER","nullable":true}},"required":["n"]}}]}]`,
		lost: []string{"hint tools.0.input.additionalProperties"}},
	{name: "unsupported schema keyword", from: withTools(content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`}}),
		want: `,"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"string","minLength":1}}}}]}]`,
		lost: []string{"degraded tools.0.input.properties.a.minLength"}},
	{name: "tool with cache mark and extra members", from: withTools(content.Tool{Name: "f", Strict: true, Cache: &content.Cache{}, Extra: foreignExtra(`{"defer_loading":true,"allowed_callers":["code_execution_20250825"],"x":1}`)}),
		want: declaredF, lost: []string{"degraded tools.0.extra.allowed_callers", "dropped tools.0.extra.x", "hint tools.0.extra", "hint tools.0.cache", "degraded tools.0.strict"},
		rules: []*loss.Rule{codec.ForeignNuance, codec.ForeignUnknown, codec.ForeignMembers, cacheMark, strictTool}},
	{name: "built-in tools", from: withTools(vendorTool("web_search_20250305", `{"type":"web_search_20250305","name":"web_search","max_uses":8}`), content.Tool{Name: "f"},
		vendorTool("web_fetch_20250910", `{}`), vendorTool("code_execution_20250825", `{"type":"x","name":"y"}`), vendorTool("web_search", `{}`), vendorTool("bash_20250124", `{}`)),
		want:  `,"tools":[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}},{"urlContext":{}},{"codeExecution":{}}],"toolConfig":{"includeServerSideToolInvocations":true}`,
		lost:  []string{"degraded tools.0", "dropped tools.0", "degraded tools.2", "degraded tools.3", "degraded tools.4", "dropped tools.5"},
		rules: []*loss.Rule{mappedTool, mappedToolBounds, mappedTool, mappedTool, mappedTool, codec.ForeignTool}},
	{name: "settings of a built-in tool", from: withTools(vendorTool("web_search_20260318", `{"type":"x","user_location":{"type":"approximate"},"allowed_callers":["direct"],"max_uses":null,"strict":true}`),
		vendorTool("web_fetch_20260318", `{"allowed_callers":["code_execution_20260120"]}`), vendorTool("code_execution_20250825", `{"allowed_callers":["direct"],"blocked_domains":["a.example"],"citations":{"enabled":true}}`)),
		want:  `,"tools":[{"googleSearch":{}},{"urlContext":{}},{"codeExecution":{}}]`,
		lost:  []string{"degraded tools.0", "degraded tools.0", "degraded tools.1", "degraded tools.1", "degraded tools.2", "dropped tools.2", "degraded tools.2"},
		rules: []*loss.Rule{mappedTool, mappedToolSettings, mappedTool, mappedToolSettings, mappedTool, mappedToolBounds, mappedToolSettings}},
	{name: "any tool, with a built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAny}, content.Tool{Name: "f"}, vendorTool("code_execution_20250825", `{}`)),
		want: `,"tools":[{"functionDeclarations":[{"name":"f"}]},{"codeExecution":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"},"includeServerSideToolInvocations":true}`,
		lost: []string{"degraded tools.1", "degraded choice.mode"}, rules: []*loss.Rule{mappedTool, choiceForced}},
	{name: "one required function, with a built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}, content.Tool{Name: "f"}, vendorTool("code_execution_20250825", `{}`)),
		want: calling(`{"mode":"ANY","allowedFunctionNames":["f"]}`)},
	{name: "one allowed function, with a built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch, vendorTool("bash_20250124", `{}`)),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"dropped tools.2", "hint choice.mode"}, rules: []*loss.Rule{codec.ForeignTool, choiceValidated}},
	{name: "one allowed function without mode, with a built-in tool", from: choosing(content.ToolChoice{Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"hint choice.mode"}, rules: []*loss.Rule{choiceValidated}},
	{name: "one validated function, with a built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceValidated, Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`)},
	{name: "one allowed function, with a built-in tool that cannot be mixed", target: Target{NoMixedTools: true}, from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"hint choice.mode"}},
	{name: "one allowed function, with a tool of this vendor", from: choosing(content.ToolChoice{Mode: content.ChoiceValidated, Names: []string{"f"}}, content.Tool{Kind: "googleSearch", Format: Format, Raw: "{}"}, content.Tool{Name: "f"}),
		want: `,"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["f"]}}`},
	{name: "allowed function and built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f", "web_search"}}, aSearch, content.Tool{Name: "f"}, content.Tool{Name: "g"}),
		want: besideSearch(`{"name":"f"},{"name":"g"}`, `{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"degraded tools.0", "hint choice.mode"}, rules: []*loss.Rule{mappedTool, choiceValidated}},
	{name: "required function or built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "web_search"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"ANY","allowedFunctionNames":["f"]}`), lost: []string{"degraded tools.0", "degraded choice.mode"}, rules: []*loss.Rule{mappedTool, choiceForced}},
	{name: "one allowed built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"web_search"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"NONE"}`), lost: []string{"degraded tools.0"}, rules: []*loss.Rule{mappedTool}},
	{name: "one required built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"web_search"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"NONE"}`), lost: []string{"degraded tools.0", "degraded choice.mode"}, rules: []*loss.Rule{mappedTool, choiceForced}},
	{name: "tool named by its kind", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"code_interpreter"}}, aSearch, content.Tool{Kind: "code_interpreter", Format: foreignFormat, Raw: `{}`}),
		want: `,"tools":[{"codeExecution":{}}]`, lost: []string{"degraded tools.1", "hint choice.mode"}, rules: []*loss.Rule{mappedTool, choiceNoTools}},
	{name: "unknown names, with a built-in tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"x"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"AUTO"}`), lost: []string{"degraded tools.0", "dropped choice.names"}, rules: []*loss.Rule{mappedTool, choiceNames}},
	{name: "built-in tools only", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"web_search"}}, aSearch),
		want: `,"tools":[{"googleSearch":{}}]`, lost: []string{"degraded tools.0", "degraded choice.mode"}, rules: []*loss.Rule{mappedTool, choiceForced}},
	{name: "none, with another vendor's tool", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, vendorTool("web_search_20250305", `{"max_uses":8}`), content.Tool{Name: "f", Cache: &content.Cache{}}),
		want: calling(`{"mode":"NONE"}`), lost: []string{"hint tools.1.cache"}, rules: []*loss.Rule{cacheMark}},
	{name: "none, with this vendor's tool", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, content.Tool{Kind: "googleSearch", Format: Format, Raw: "{}"}, content.Tool{Name: "f"}),
		want: `,"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`},
	{name: "none, with another vendor's tools only", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, vendorTool("web_search_20250305", `{}`))},
	{name: "none, with tools that cannot be mixed", target: Target{NoMixedTools: true}, from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, vendorTool("web_search", `{}`), content.Tool{Name: "f"}),
		want: calling(`{"mode":"NONE"}`)},
	{name: "built-in tools that cannot be mixed with functions", target: Target{NoMixedTools: true}, from: withTools(vendorTool("web_search_20250305", `{}`), content.Tool{Name: "f"}),
		want: declaredF, lost: []string{"dropped tools.0"}, rules: []*loss.Rule{toolBesideFunctions}},

	{name: "auto", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto}, aTool...), want: calling(`{"mode":"AUTO"}`)},
	{name: "any", from: choosing(content.ToolChoice{Mode: content.ChoiceAny}, aTool...), want: calling(`{"mode":"ANY"}`)},
	{name: "none", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, aTool...), want: calling(`{"mode":"NONE"}`)},
	{name: "one tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}, NoParallel: true}, aTool...),
		want: calling(`{"mode":"ANY","allowedFunctionNames":["f"]}`), lost: []string{"dropped choice.no_parallel"}, rules: []*loss.Rule{choiceParallel}},
	{name: "allowed names", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f"}}, aTool...),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"hint choice.mode"}, rules: []*loss.Rule{choiceValidated}},
	{name: "unknown names of functions", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "x"}}, aTool...),
		want: calling(`{"mode":"ANY","allowedFunctionNames":["f"]}`), lost: []string{"dropped choice.names"}, rules: []*loss.Rule{choiceNames}},
	{name: "only unknown names of functions", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"x"}}, aTool...),
		want: declaredF, lost: []string{"dropped choice.names"}},
	{name: "names with mode none", from: choosing(content.ToolChoice{Mode: content.ChoiceNone, Names: []string{"f"}}, aTool...),
		want: calling(`{"mode":"NONE"}`), lost: []string{"hint choice.names"}, rules: []*loss.Rule{choiceNoneNames}},
	{name: "choice without tools", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, NoParallel: true}),
		lost: []string{"hint choice.mode"}, rules: []*loss.Rule{choiceNoTools}},
	{name: "unknown choice", from: choosing(content.ToolChoice{Mode: "x", Extra: foreignExtra(`{"x":1}`)}, aTool...),
		want: declaredF, lost: []string{"dropped choice.extra.x", "dropped choice.mode"}, rules: []*loss.Rule{codec.ForeignUnknown, choiceMode}},
}
