package losscases

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream/anthropic"
)

var tools = []Feature{
	{Name: loss.ToolName, Cases: []Case{
		{Set: declared(function("get_weather"))},
		{When: "with a dot", From: by(g), Set: declared(function("a.b"))},
		{When: "over 64 characters", Set: declared(function("f" + long[:64]))},
		{When: "with a digit at the beginning", From: by(m, chat, responses), Set: declared(function("1f"))},
	}},
	{Name: loss.ToolNamespace, From: by(responses), Cases: []Case{
		{Set: declared(content.Tool{Name: "f", Namespace: "n", Input: content.Schema{JSON: simpleSchema}})},
	}},
	{Name: loss.ToolFreeform, From: by(chat, responses), Cases: []Case{
		{Set: declared(content.Tool{Name: "f", Freeform: true})},
		{When: "before GPT-5", To: []Server{OpenAIChat, Responses}, Model: "gpt-4.1", Set: declared(content.Tool{Name: "f", Freeform: true})},
		{When: "with a grammar", Set: declared(content.Tool{Name: "f", Freeform: true, Grammar: &content.Grammar{Syntax: "regex", Definition: "a+"}})},
	}},
	{Name: loss.ToolDeferred, Row: "deferred tools (`defer_loading`)", From: by(m, responses), Cases: []Case{
		{Set: declared(function("f"), content.Tool{Name: "g", Deferred: true})},
		{Unlisted: true, From: by(m),
			Set: declared(function("f"), content.Tool{Name: "g", Deferred: true}, builtIn(m, "tool_search_tool_regex_20251119", `{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"}`))},
	}},
	{Name: loss.ToolSchema, Cases: []Case{
		{Set: declared(function("f"))},
		{When: "with `patternProperties`", Set: declared(withSchema(openSchema))},
		{When: "with `oneOf`", Set: declared(withSchema(`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"integer"}]}}}`))},
		{When: "with alternatives at the root", Set: declared(withSchema(
			`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`))},
		{When: "with `if`", Set: declared(withSchema(`{"type":"object","properties":{"a":{"type":"string","if":{"minLength":1},"then":{"maxLength":2}}}}`))},
		{Unlisted: true, Set: declared(withSchema(`{"type":"OBJECT"}`))},
		{Unlisted: true, Set: declared(withSchema(`{"type":"OBJECT","properties":{}}`))},
	}},
	{Name: loss.ToolStrict, From: by(m, chat, responses), Cases: []Case{
		{Set: declared(content.Tool{Name: "f", Strict: new(true), Input: content.Schema{JSON: strictSchema}})},
		{When: "by Gemini 2.0 and earlier", To: []Server{GenerateContent}, Model: "gemini-2.0-flash",
			Set: declared(content.Tool{Name: "f", Strict: new(true), Input: content.Schema{JSON: strictSchema}})},
		{When: "if OpenAI's strict mode cannot represent the schema", To: []Server{OpenAIChat, OtherChat, Responses},
			Set: declared(content.Tool{Name: "f", Strict: new(true), Input: content.Schema{JSON: openSchema}})},
	}},
	{Name: loss.ToolOutput, From: by(g, responses), Cases: []Case{
		{Set: declared(content.Tool{Name: "f", Input: content.Schema{JSON: simpleSchema}, Output: content.Schema{JSON: simpleSchema}})},
		{When: "by other servers than OpenAI's", To: []Server{OtherResponses}, Set: declared(content.Tool{Name: "f", Input: content.Schema{JSON: simpleSchema}, Output: content.Schema{JSON: simpleSchema}})},
	}},
	{Name: loss.ToolOther, Row: "description over 1,024 characters", Cases: []Case{
		{Set: declared(content.Tool{Name: "f", Description: strings.Repeat("a", 1025), Input: content.Schema{JSON: simpleSchema}})},
		{When: "if the server rejects it", To: []Server{OpenAIChat, OtherChat}, Rejects: []string{"description"},
			Set: declared(content.Tool{Name: "f", Description: strings.Repeat("a", 1025), Input: content.Schema{JSON: simpleSchema}})},
	}},
	{Name: loss.VendorTool, Row: "web search", Cases: []Case{
		{From: by(m), Set: declared(webSearch)},
		{From: by(g), To: []Server{Messages}, Set: declared(googleSearch)},
		{From: by(responses), To: []Server{Messages, GenerateContent, OpenAIChat, OtherChat}, Set: declared(openAISearch)},
		{When: "with limits (`max_uses`, domains)", From: by(m), Set: declared(builtIn(m, "web_search_20250305", `{"type":"web_search_20250305","name":"web_search","max_uses":3}`))},
		{When: "with limits (`timeRangeFilter`)", From: by(g), To: []Server{Messages}, Set: declared(builtIn(g, "googleSearch", `{"timeRangeFilter":{"startTime":"2025-01-01T00:00:00Z"}}`))},
		{When: "beside functions by Gemini 2.5", From: by(m), To: []Server{GenerateContent}, Model: "gemini-2.5-pro", Set: declared(webSearch, function("f"))},
		{When: "beside functions at Google Cloud", From: by(m), To: []Server{GenerateContent}, Model: "publishers/google/models/gemini-3.1-pro-preview", Set: declared(webSearch, function("f"))},
		{When: "on Bedrock", From: by(g), To: []Server{Messages}, Platform: anthropic.PlatformBedrock, Set: declared(googleSearch)},
		{When: "beside a function named `web_search`", From: by(g), To: []Server{Messages}, Set: declared(googleSearch, function("web_search"))},
		{Unlisted: true, Set: declared(googleSearch, googleSearch)},
		{Unlisted: true, Set: declared(webSearch, webSearch)},
		{Unlisted: true, Set: declared(builtIn(m, "web_search_20250305", `{"type":"web_search_20250305","name":"web_search","user_location":{"type":"approximate","city":"x"}}`))},
		{Unlisted: true, Set: declared(builtIn(m, "web_search_20250305", `{"type":"web_search_20250305","name":"web_search","user_location":{"type":"exact"}}`))},
	}},
	{Name: loss.VendorTool, Row: "code execution", Cases: []Case{
		{From: by(m), Set: declared(builtIn(m, "code_execution_20250825", `{"type":"code_execution_20250825","name":"code_execution"}`))},
		onBedrock(declared(builtIn(m, "code_execution_20250825", `{"type":"code_execution_20250825","name":"code_execution"}`))),
		{From: by(g), To: []Server{Messages}, Set: declared(builtIn(g, "codeExecution", `{}`))},
		{From: by(responses), To: []Server{Messages, GenerateContent, OpenAIChat, OtherChat},
			Set: declared(builtIn(responses, "code_interpreter", `{"type":"code_interpreter","container":{"type":"auto"}}`))},
	}},
	{Name: loss.VendorTool, Row: "tools that the client runs, such as `bash`", From: by(m), Cases: []Case{
		{Set: declared(builtIn(m, "bash_20250124", `{"type":"bash_20250124","name":"bash"}`))},
	}},
	{Name: loss.VendorTool, Row: "the search for tools that the client runs (`tool_search`)", From: by(responses), Cases: []Case{
		{To: []Server{Messages, GenerateContent, OpenAIChat, OtherChat}, Set: declared(builtIn(responses, "tool_search", `{"type":"tool_search","execution":"client"}`))},
	}},
	{Name: loss.VendorTool, Row: "other vendor-defined tools", Cases: []Case{
		{From: by(m), Set: declared(builtIn(m, "tool_search_tool_regex_20251119", `{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"}`))},
		{From: by(g), To: []Server{Messages}, Set: declared(builtIn(g, "googleMaps", `{}`))},
		{From: by(responses), To: []Server{Messages, GenerateContent, OpenAIChat, OtherChat},
			Set: declared(builtIn(responses, "file_search", `{"type":"file_search","vector_store_ids":["v"]}`))},
	}},
	{Name: loss.ChoiceMode, Row: "tool choice: a call is required", Cases: []Case{
		{Set: chosen(content.ToolChoice{Mode: content.ChoiceAny}, "f", "g")},
		{When: "without tools", From: by(g), Set: choice(content.ToolChoice{Mode: content.ChoiceAny})},
		{When: "beside web search", From: by(g), Set: all(declared(googleSearch), chosen(content.ToolChoice{Mode: content.ChoiceAny}, "f", "g"))},
		{When: "with web search as the only tool", From: by(m), To: []Server{GenerateContent}, Set: all(declared(webSearch), choice(content.ToolChoice{Mode: content.ChoiceAny}))},
		{When: "by Claude Opus 5.5 and Sonnet 5.5", To: []Server{Messages}, Model: "claude-opus-5-5", Set: chosen(content.ToolChoice{Mode: content.ChoiceAny}, "f")},
		{Unlisted: true, Set: chosen(content.ToolChoice{Mode: "odd"}, "f")},
		{Unlisted: true, Set: all(declared(webSearch), chosen(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"web_search"}}, "f"))},
	}},
	{Name: loss.ChoiceMode, Row: "tool choice: no calls", Cases: []Case{
		{Set: chosen(content.ToolChoice{Mode: content.ChoiceNone}, "f", "g")},
		{When: "beside web search", From: by(g), Set: all(declared(googleSearch), chosen(content.ToolChoice{Mode: content.ChoiceNone}, "f"))},
		{Unlisted: true, To: []Server{Responses}, Rejects: []string{"tool_choice"}, Set: all(declared(googleSearch), chosen(content.ToolChoice{Mode: content.ChoiceNone}, "f"))},
		{Unlisted: true, To: []Server{Responses}, Rejects: []string{"tool_choice"}, Set: all(declared(googleSearch, function("g")), chosen(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}, "f"))},
	}},
	{Name: loss.ChoiceMode, Row: "tool choice: arguments match their schema", Also: loss.ToolStrict, From: by(g), Cases: []Case{
		{Set: all(declared(withSchema(strictSchema)), choice(content.ToolChoice{Mode: content.ChoiceValidated}))},
		{When: "for schemas without a strict form, as with optional properties by OpenAI", To: []Server{OpenAIChat, Responses, OtherChat},
			Set: chosen(content.ToolChoice{Mode: content.ChoiceValidated}, "f")},
		{When: "by Claude 4 and earlier", To: []Server{Messages}, Model: "claude-sonnet-4-20250514", Set: chosen(content.ToolChoice{Mode: content.ChoiceValidated}, "f")},
	}},
	{Name: loss.ChoiceNames, Row: "tool choice: one function", Cases: []Case{
		{Set: chosen(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}, "f", "g")},
		{When: "if it is not sent", Set: chosen(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"x"}}, "f")},
		{When: "if the server rejects it", To: []Server{OtherChat}, Rejects: []string{"tool_choice"}, Set: chosen(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}, "f", "g")},
	}},
	{Name: loss.ChoiceNames, Row: "tool choice: several functions", From: by(g, chat, responses), Cases: []Case{
		{Set: chosen(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "g"}}, "f", "g", "h")},
		{When: "if some are not sent", Set: chosen(content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f", "x"}}, "f", "g")},
		{Unlisted: true, Set: chosen(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f"}}, "f", "g")},
		{Unlisted: true, Set: chosen(content.ToolChoice{Mode: content.ChoiceNone, Names: []string{"f"}}, "f", "g")},
		{Unlisted: true, Set: chosen(content.ToolChoice{Mode: content.ChoiceValidated, Names: []string{"x"}}, "f")},
		{Unlisted: true, To: []Server{GenerateContent}, Set: chosen(content.ToolChoice{Mode: content.ChoiceAuto, Names: []string{"f"}, NoParallel: true}, "f", "g")},
	}},
	{Name: loss.ChoiceParallel, From: by(m, chat, responses), Cases: []Case{
		{Set: chosen(content.ToolChoice{Mode: content.ChoiceAuto, NoParallel: true}, "f")},
		{When: "by o3 and o4-mini", To: []Server{OpenAIChat, Responses}, Model: "o3", Set: chosen(content.ToolChoice{Mode: content.ChoiceAuto, NoParallel: true}, "f")},
		{When: "if the server rejects it", To: []Server{OtherChat}, Rejects: []string{"parallel_tool_calls"}, Set: chosen(content.ToolChoice{Mode: content.ChoiceAuto, NoParallel: true}, "f")},
	}},
}

func withSchema(json string) content.Tool {
	return content.Tool{Name: "f", Input: content.Schema{JSON: json}}
}
