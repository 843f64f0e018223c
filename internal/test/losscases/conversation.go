package losscases

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

var conversation = []Feature{
	{Name: loss.SystemFiles, Row: "*image in system text*", Cases: []Case{
		{Set: func(r *upstream.Request) { r.System = []content.Part{hello, png} }},
		{When: "for audio", From: by(g), Set: func(r *upstream.Request) {
			r.System = []content.Part{hello, audio(base64("audio/wav", wavData))}
		}},
	}},
	{Name: loss.Attribution, From: by(m), Cases: []Case{
		{Set: func(r *upstream.Request) {
			r.System = []content.Part{text("x-anthropic-billing-header: cc_version=2.1.197.90a; cc_entrypoint=cli; cch=71fea;"), hello}
		}},
	}},
	{Name: loss.SystemTurn, From: by(m, chat, responses), Cases: []Case{
		{Set: turns(user(hello), system(hello), assistant(hello), user(hello))},
		{Unlisted: true, Set: turns(system(hello), user(hello))},
		{Unlisted: true, Set: turns(user(hello), assistant(hello), system(hello), user(hello))},
		{Unlisted: true, Set: turns(user(hello), assistant(hello), system(hello), user(hello)), Model: "claude-opus-5"},
	}},
	{Name: loss.TurnOrder, Row: "consecutive turns of one role", Cases: []Case{
		{Set: turns(user(hello), user(hello), assistant(hello), assistant(hello), user(hello))},
		{When: "with tool calls", Set: all(declared(function("f")), turns(user(hello), assistant(call("call_1", "f")), assistant(call("call_2", "f")),
			user(result("call_1", hello)), user(result("call_2", hello))))},
	}},
	{Name: loss.TurnOrder, Row: "assistant turn at the beginning", Cases: []Case{
		{Set: turns(assistant(hello), user(hello))},
		{When: "by Claude 4.1 and earlier", To: []Server{Messages}, Model: "claude-opus-4-1", Set: turns(assistant(hello), user(hello))},
		{When: "with `Dialect.StrictRoles`", To: []Server{OtherChat}, Dialect: strictRoles, Set: turns(assistant(hello), user(hello))},
	}},
	{Name: loss.TurnOrder, Row: "assistant turn at the end, to be continued", Cases: []Case{
		{Set: turns(user(hello), assistant(text("It is")))},
		{When: "by Claude 4.5 and earlier", To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: turns(user(hello), assistant(text("It is")))},
		{When: "by Mistral's server", To: []Server{OtherChat}, Host: mistral, Set: turns(user(hello), assistant(text("It is")))},
	}},
	{Name: loss.EmptyText, From: by(g, chat, responses), Cases: []Case{
		{Set: parts(text(""))},
		{When: "as the last turn", Set: turns(user(hello), assistant(hello), user(text("")))},
		{Unlisted: true, Set: turns(user(hello), assistant(), user(hello))},
		{Unlisted: true, To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: turns(user(hello), assistant(text("It is \n")))},
	}},
	{Name: loss.TextCitations, From: by(m, responses), Cases: []Case{
		{Set: earlier(&content.Text{Text: "a", Citations: []content.Citation{{Kind: content.CiteWeb, URL: "https://example.com/"}}})},
	}},
	{Name: loss.TextRefusal, From: by(chat, responses), Cases: []Case{
		{Set: earlier(&content.Text{Text: "a", Refusal: true})},
	}},
	{Name: loss.Signature, Cases: []Case{
		{Set: earlier(&content.Text{Text: "a", Signature: signed(alien, "x")})},
	}},
	{Name: loss.CacheMarks, From: by(m, chat, responses), Cases: []Case{
		{Set: parts(&content.Text{Text: "a", Cache: &content.Cache{}})},
		{When: "by GPT-5.6 and later", To: []Server{OpenAIChat, Responses}, Model: "gpt-5.6-sol", Set: parts(&content.Text{Text: "a", Cache: &content.Cache{}})},
		{When: "by OpenRouter's server", To: []Server{OtherChat}, Host: openRouter, Set: parts(&content.Text{Text: "a", Cache: &content.Cache{}})},
		{Unlisted: true, To: []Server{OpenAIChat, Responses}, Model: "gpt-5.6-sol", Set: parts(&content.Text{Text: "a", Cache: &content.Cache{TTL: "1h"}})},
		{Unlisted: true, Set: declared(content.Tool{Name: "f", Input: content.Schema{JSON: simpleSchema}, Cache: &content.Cache{}})},
		{Unlisted: true, Set: parts(&content.Text{Cache: &content.Cache{}})},
		onBedrock(parts(&content.Text{Text: "a", Cache: &content.Cache{Extra: extra(m, `{"scope":"global"}`)}})),
	}},
}

var results = []Feature{
	{Name: loss.CallID, Cases: []Case{
		{Set: called(result("call_1", hello))},
		{When: "without an id", From: by(g), Set: all(declared(function("f")), turns(user(hello), assistant(call("", "f")), user(&content.ToolResult{Name: "f", Parts: []content.Part{hello}})))},
		{When: "with a dot", From: by(g, chat, responses), Set: all(declared(function("f")), turns(user(hello), assistant(call("call.1", "f")), user(result("call.1", hello))))},
		{When: "over 40 characters", To: []Server{OpenAIChat, OtherChat}, Set: all(declared(function("f")), turns(user(hello), assistant(call("call_"+long[:36], "f")), user(result("call_"+long[:36], hello))))},
		{When: "over 64 characters", To: []Server{Messages, GenerateContent, Responses}, Set: all(declared(function("f")),
			turns(user(hello), assistant(call("call_"+long[:60], "f")), user(result("call_"+long[:60], hello))))},
		{When: "by Mistral's server", To: []Server{OtherChat}, Host: mistral, Set: called(result("call_1", hello))},
	}},
	{Name: loss.CallOrder, Row: "text after a tool call", Cases: []Case{
		{Set: all(declared(function("f")), turns(user(hello), assistant(call("call_1", "f"), hello), user(result("call_1", hello))))},
	}},
	{Name: loss.ResultPairs, Row: "*tool call without a result*", Cases: []Case{
		{Set: called(hello)},
	}},
	{Name: loss.ResultPairs, Row: "*tool result without a call*", Cases: []Case{
		{Set: all(declared(function("f")), parts(result("call_1", hello)))},
	}},
	{Name: loss.ResultOrder, Row: "tool results after other parts, or in several turns", From: by(g, responses), Cases: []Case{
		{Set: all(declared(function("f")), turns(user(hello), assistant(call("call_1", "f"), call("call_2", "f")), user(hello, result("call_1", hello)), user(result("call_2", hello))))},
	}},
	{Name: loss.TurnOrder, Row: "other parts after tool results", Cases: []Case{
		{Set: called(result("call_1", hello), hello)},
		{When: "with `Dialect.StrictRoles`", To: []Server{OtherChat}, Dialect: strictRoles, Set: called(result("call_1", hello), hello)},
	}},
	{Name: loss.ResultParts, Cases: []Case{
		{Set: called(result("call_1", text("a"), text("b")))},
	}},
	{Name: loss.ResultObject, From: by(g), Cases: []Case{
		{Set: called(&content.ToolResult{ID: "call_1", Name: "f", Object: `{"a":1}`})},
	}},
	{Name: loss.ResultImage, Cases: []Case{
		{Set: called(result("call_1", png))},
		{When: "by Gemini 2.5", To: []Server{GenerateContent}, Model: "gemini-2.5-pro", Set: called(result("call_1", png))},
	}},
	{Name: loss.ResultDocument, Cases: []Case{
		{Set: called(result("call_1", pdf)), Dialect: acceptsFiles},
	}},
	{Name: loss.ResultError, Cases: []Case{
		{Set: called(&content.ToolResult{ID: "call_1", Name: "f", Parts: []content.Part{hello}, Error: true})},
	}},
	{Name: loss.VendorPart, Cases: []Case{
		{Set: earlier(hello, &content.ServerToolUse{Format: alien, ID: "s", Name: "search", Input: "{}"}, &content.ServerToolResult{Format: alien, ID: "s", Content: "{}"})},
		{Unlisted: true, Set: turns(user(&content.ServerToolResult{Format: alien, Kind: "x", ID: "s", Content: "{}"}), assistant(hello), user(hello))},
		onBedrock(earlier(hello, &content.ServerToolUse{Format: m, Kind: "server_tool_use", ID: "srvtoolu_1", Name: "web_search", Input: "{}"})),
		{Unlisted: true, To: []Server{Responses}, Set: earlier(hello, &content.Thinking{
			Redacted: signed(responses, `{"type":"mcp_call","id":"mcp_1"}`)}, hello)},
	}},
	{Name: loss.VendorPart, Row: "code that the vendor has run, and its output", From: by(m), Cases: []Case{
		{Set: earlier(hello, &content.ServerToolUse{Format: m, Kind: "server_tool_use", ID: "srvtoolu_1", Name: "code_execution", Input: `{"code":"a"}`},
			&content.ServerToolResult{Format: m, Kind: "code_execution_tool_result", ID: "srvtoolu_1", Content: `{"stdout":"b"}`})},
	}},
	{Name: loss.VendorPart, Row: "queries with which the vendor has searched (`web_search_call`)", From: by(responses), Cases: []Case{
		{Set: earlier(hello, &content.Unknown{Format: responses, Kind: "web_search_call", Raw: `{"type":"web_search_call","action":{"type":"search","query":"a"}}`}, hello)},
	}},
	{Name: loss.VendorPart, Row: "searches for tools that the vendor has run (`tool_search_call`, `tool_search_tool_result`)", From: by(m, responses), Cases: []Case{
		{Set: earlier(hello, &content.Unknown{Format: responses, Kind: "tool_search_call", Raw: `{"type":"tool_search_call","execution":"server"}`}, hello)},
	}},
	{Name: loss.VendorPart, Row: "calls of functions that the request does not declare", From: by(g, chat, responses), Cases: []Case{
		{Set: turns(user(hello), assistant(call("call_1", "f")), user(result("call_1", hello)))},
	}},
	{Name: loss.VendorPart, Row: "summary of the conversation (`compaction`)", From: by(m), Cases: []Case{
		{Set: earlier(hello, &content.Unknown{Format: m, Kind: "compaction", Raw: `{"type":"compaction","content":"x"}`})},
		{When: "if it is encrypted", Set: earlier(hello, &content.Unknown{Format: m, Kind: "compaction", Raw: `{"type":"compaction","encrypted_content":"x"}`})},
	}},
	{Name: loss.VendorPart, Row: "references to tools (`tool_reference`)", From: by(m), Cases: []Case{
		{Set: called(result("call_1", &content.Unknown{Format: m, Kind: "tool_reference", Raw: `{"type":"tool_reference","tool_name":"f"}`}))},
	}},
	{Name: loss.VendorPart, Row: "encrypted summary of Responses (`compaction`)", From: by(responses), Cases: []Case{
		{Set: earlier(hello, &content.Unknown{Format: responses, Kind: "compaction", Raw: `{"type":"compaction","encrypted_content":"x"}`})},
	}},
	{Name: loss.UnknownPart, Also: loss.VendorPart, Cases: []Case{
		{From: by(m), Set: parts(&content.Unknown{Format: m, Kind: "x", Raw: `{"type":"x"}`})},
		{From: by(responses), To: []Server{Messages, GenerateContent, OpenAIChat, OtherChat}, Set: parts(&content.Unknown{Format: responses, Kind: "x", Raw: `{"type":"x"}`})},
	}},
}

const long = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
