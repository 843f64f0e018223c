package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

func withTools(tools ...content.Tool) *upstream.Request { return &upstream.Request{Tools: tools} }

func choosing(c content.ToolChoice, tools ...content.Tool) *upstream.Request {
	return &upstream.Request{Tools: tools, Choice: c}
}

func vendorTool(kind, raw string) content.Tool {
	return content.Tool{Kind: kind, Format: elsewhere, Name: "x", Raw: raw}
}

// aSearch is another vendor's.
var aSearch = content.Tool{Kind: "web_search_20250305", Format: elsewhere, Name: "web_search", Raw: `{}`}

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

// How tools become tools.
var toolMappings = []mapping{
	{name: "no tools", from: withTools()},
	{name: "schemas", from: withTools(content.Tool{Name: "f", Description: "d", Input: content.Schema{JSON: wants}, Output: content.Schema{JSON: `{"type":"string"}`}},
		content.Tool{Name: "g", Input: content.Schema{JSON: `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`, OpenAPI: true}},
		content.Tool{Name: "h", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}),
		want: `,"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":` + wants + `,"responseJsonSchema":{"type":"string"}},` +
			`{"name":"g","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}},{"name":"h"}]}]`},
	{name: "capitals in a schema", from: withTools(content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`}}),
		want: `,"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"string"}}}}]}]`},
	{name: "closed schemas", target: Target{ClosedSchemas: true}, from: withTools(content.Tool{Name: "f", Input: content.Schema{JSON: wants}}),
		want: `,"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT","properties":{"type":{"type":"STRING"},"n":{"type":"INTEGER","nullable":true}},"required":["n"]}}]}]`,
		lost: []string{"hint tools.0.input.additionalProperties"}},
	{name: "what the vendor does not look at", from: withTools(content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`}}),
		want: `,"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{"a":{"type":"string","minLength":1}}}}]}]`,
		lost: []string{"degraded tools.0.input.properties.a.minLength"}},
	{name: "what stands beside a tool", from: withTools(content.Tool{Name: "f", Strict: true, Cache: &content.Cache{}, Extra: elsewheres(`{"defer_loading":true,"allowed_callers":["code_execution_20250825"],"x":1}`)}),
		want: declaredF, lost: []string{"degraded tools.0.extra.allowed_callers", "dropped tools.0.extra.x", "hint tools.0.extra", "hint tools.0.cache", "degraded tools.0.strict"},
		rules: []*loss.Rule{codec.ForeignNuance, codec.ForeignUnknown, codec.ForeignMembers, cacheMark, strictTool}},
	{name: "tools of a vendor", from: withTools(vendorTool("web_search_20250305", `{"type":"web_search_20250305","name":"web_search","max_uses":8}`), content.Tool{Name: "f"},
		vendorTool("web_fetch_20250910", `{}`), vendorTool("code_execution_20250825", `{"type":"x","name":"y"}`), vendorTool("web_search", `{}`), vendorTool("bash_20250124", `{}`)),
		want:  `,"tools":[{"functionDeclarations":[{"name":"f"}]},{"googleSearch":{}},{"urlContext":{}},{"codeExecution":{}}],"toolConfig":{"includeServerSideToolInvocations":true}`,
		lost:  []string{"degraded tools.0", "dropped tools.0", "degraded tools.2", "degraded tools.3", "degraded tools.4", "dropped tools.5"},
		rules: []*loss.Rule{mappedTool, mappedToolBounds, mappedTool, mappedTool, mappedTool, codec.ForeignTool}},
	{name: "how a tool of a vendor works", from: withTools(vendorTool("web_search_20260318", `{"type":"x","user_location":{"type":"approximate"},"allowed_callers":["direct"],"max_uses":null,"strict":true}`),
		vendorTool("web_fetch_20260318", `{"allowed_callers":["code_execution_20260120"]}`), vendorTool("code_execution_20250825", `{"allowed_callers":["direct"],"blocked_domains":["a.example"],"citations":{"enabled":true}}`)),
		want:  `,"tools":[{"googleSearch":{}},{"urlContext":{}},{"codeExecution":{}}]`,
		lost:  []string{"degraded tools.0", "degraded tools.0", "degraded tools.1", "degraded tools.1", "degraded tools.2", "dropped tools.2", "degraded tools.2"},
		rules: []*loss.Rule{mappedTool, mappedToolSettings, mappedTool, mappedToolSettings, mappedTool, mappedToolBounds, mappedToolSettings}},
	{name: "any tool, of which one is a vendor's", from: choosing(content.ToolChoice{Mode: content.ChoiceAny}, content.Tool{Name: "f"}, vendorTool("code_execution_20250825", `{}`)),
		want: `,"tools":[{"functionDeclarations":[{"name":"f"}]},{"codeExecution":{}}],"toolConfig":{"functionCallingConfig":{"mode":"ANY"},"includeServerSideToolInvocations":true}`,
		lost: []string{"degraded tools.1", "degraded choice.mode"}, rules: []*loss.Rule{mappedTool, choiceForced}},
	{name: "one function beside a tool of a vendor", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}, content.Tool{Name: "f"}, vendorTool("code_execution_20250825", `{}`)),
		want: calling(`{"mode":"ANY","allowedFunctionNames":["f"]}`)},
	{name: "one function that may be called beside a tool of a vendor", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch, vendorTool("bash_20250124", `{}`)),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"dropped tools.2", "hint choice.mode"}, rules: []*loss.Rule{codec.ForeignTool, choiceValidated}},
	{name: "the same without a mode", from: choosing(content.ToolChoice{Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"hint choice.mode"}, rules: []*loss.Rule{choiceValidated}},
	{name: "the same with checked arguments", from: choosing(content.ToolChoice{Mode: content.ChoiceValidated, Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`)},
	{name: "the same where tools do not mix", target: Target{NoMixedTools: true}, from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f"}}, content.Tool{Name: "f"}, aSearch),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"hint choice.mode"}},
	{name: "one function that may be called beside a tool of this vendor", from: choosing(content.ToolChoice{Mode: content.ChoiceValidated, Names: []string{"f"}}, content.Tool{Kind: "googleSearch", Format: Format, Raw: "{}"}, content.Tool{Name: "f"}),
		want: `,"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED","allowedFunctionNames":["f"]}}`},
	{name: "a function and a tool of a vendor that may be called", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f", "web_search"}}, aSearch, content.Tool{Name: "f"}, content.Tool{Name: "g"}),
		want: besideSearch(`{"name":"f"},{"name":"g"}`, `{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"degraded tools.0", "hint choice.mode"}, rules: []*loss.Rule{mappedTool, choiceValidated}},
	{name: "a function or a tool of a vendor that must be called", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "web_search"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"ANY","allowedFunctionNames":["f"]}`), lost: []string{"degraded tools.0", "degraded choice.mode"}, rules: []*loss.Rule{mappedTool, choiceForced}},
	{name: "only a tool of a vendor that may be called", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"web_search"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"NONE"}`), lost: []string{"degraded tools.0"}, rules: []*loss.Rule{mappedTool}},
	{name: "only a tool of a vendor that must be called", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"web_search"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"NONE"}`), lost: []string{"degraded tools.0", "degraded choice.mode"}, rules: []*loss.Rule{mappedTool, choiceForced}},
	{name: "a tool that goes by its kind", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"code_interpreter"}}, aSearch, content.Tool{Kind: "code_interpreter", Format: elsewhere, Raw: `{}`}),
		want: `,"tools":[{"codeExecution":{}}]`, lost: []string{"degraded tools.1", "hint choice.mode"}, rules: []*loss.Rule{mappedTool, choiceNoTools}},
	{name: "names of nothing beside a tool of a vendor", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"x"}}, aSearch, content.Tool{Name: "f"}),
		want: besideSearch(`{"name":"f"}`, `{"mode":"AUTO"}`), lost: []string{"degraded tools.0", "dropped choice.names"}, rules: []*loss.Rule{mappedTool, choiceNames}},
	{name: "tools of a vendor alone", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"web_search"}}, aSearch),
		want: `,"tools":[{"googleSearch":{}}]`, lost: []string{"degraded tools.0", "degraded choice.mode"}, rules: []*loss.Rule{mappedTool, choiceForced}},
	{name: "none, of which one is another vendor's", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, vendorTool("web_search_20250305", `{"max_uses":8}`), content.Tool{Name: "f", Cache: &content.Cache{}}),
		want: calling(`{"mode":"NONE"}`), lost: []string{"hint tools.1.cache"}, rules: []*loss.Rule{cacheMark}},
	{name: "none, of which one is this vendor's", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, content.Tool{Kind: "googleSearch", Format: Format, Raw: "{}"}, content.Tool{Name: "f"}),
		want: `,"tools":[{"googleSearch":{}},{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`},
	{name: "none of the tools of another vendor", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, vendorTool("web_search_20250305", `{}`))},
	{name: "none, where tools do not mix", target: Target{NoMixedTools: true}, from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, vendorTool("web_search", `{}`), content.Tool{Name: "f"}),
		want: calling(`{"mode":"NONE"}`)},
	{name: "tools of a vendor beside functions", target: Target{NoMixedTools: true}, from: withTools(vendorTool("web_search_20250305", `{}`), content.Tool{Name: "f"}),
		want: declaredF, lost: []string{"dropped tools.0"}, rules: []*loss.Rule{toolBesideFunctions}},

	{name: "auto", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto}, aTool...), want: calling(`{"mode":"AUTO"}`)},
	{name: "any", from: choosing(content.ToolChoice{Mode: content.ChoiceAny}, aTool...), want: calling(`{"mode":"ANY"}`)},
	{name: "none", from: choosing(content.ToolChoice{Mode: content.ChoiceNone}, aTool...), want: calling(`{"mode":"NONE"}`)},
	{name: "one tool", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}, NoParallel: true}, aTool...),
		want: calling(`{"mode":"ANY","allowedFunctionNames":["f"]}`), lost: []string{"dropped choice.no_parallel"}, rules: []*loss.Rule{choiceParallel}},
	{name: "names that may be called", from: choosing(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f"}}, aTool...),
		want: calling(`{"mode":"VALIDATED","allowedFunctionNames":["f"]}`), lost: []string{"hint choice.mode"}, rules: []*loss.Rule{choiceValidated}},
	{name: "names that are none", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "x"}}, aTool...),
		want: calling(`{"mode":"ANY","allowedFunctionNames":["f"]}`), lost: []string{"dropped choice.names"}, rules: []*loss.Rule{choiceNames}},
	{name: "only names that are none", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"x"}}, aTool...),
		want: declaredF, lost: []string{"dropped choice.names"}},
	{name: "names where nothing may be called", from: choosing(content.ToolChoice{Mode: content.ChoiceNone, Names: []string{"f"}}, aTool...),
		want: calling(`{"mode":"NONE"}`), lost: []string{"hint choice.names"}, rules: []*loss.Rule{choiceNoneNames}},
	{name: "a choice without tools", from: choosing(content.ToolChoice{Mode: content.ChoiceAny, NoParallel: true}),
		lost: []string{"hint choice.mode"}, rules: []*loss.Rule{choiceNoTools}},
	{name: "an unknown choice", from: choosing(content.ToolChoice{Mode: "x", Extra: elsewheres(`{"x":1}`)}, aTool...),
		want: declaredF, lost: []string{"dropped choice.extra.x", "dropped choice.mode"}, rules: []*loss.Rule{codec.ForeignUnknown, choiceMode}},
}
