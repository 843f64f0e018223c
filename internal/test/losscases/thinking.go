package losscases

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// loop is a conversation in which the client returns the result of a tool call. The
// assistant's turn begins with earlier.
func loop(earlier ...content.Part) change {
	return all(declared(function("f")), turns(user(hello), assistant(append(earlier, call("call_1", "f"))...), user(result("call_1", hello))))
}

// ofResponses is thinking of Responses.
var ofResponses = &content.Thinking{Text: "a", Signature: signed(responses, `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}`)}

func effort(name string) change { return thinks(upstream.Thinking{Effort: name}) }

func display(name string) change {
	return thinks(upstream.Thinking{Mode: upstream.ThinkingAuto, Effort: "low", Display: name})
}

// withBudget lets the model think with a budget.
func withBudget(tokens, limitTokens int64) change {
	return all(limit(limitTokens), thinks(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &tokens}))
}

// unspecified is a request without settings of thinking, of a client whose vendor has a mode then.
func unspecified(mode upstream.ThinkingMode) change {
	return func(r *upstream.Request) { r.Defaults = upstream.Defaults{Format: m, Thinking: mode} }
}

var thinking = []Feature{
	{Name: loss.ThinkingHistory, Row: "thinking of another vendor", Cases: []Case{
		{Set: earlier(&content.Thinking{Text: "a", Signature: signed(alien, "x")}, hello)},
		{Unlisted: true, Set: loop(&content.Thinking{Text: "a"})},
		{Unlisted: true, To: []Server{Messages}, Set: earlier(hello, &content.Thinking{Text: "a", Signature: signed(m, "eA==")})},
		{Unlisted: true, To: []Server{Responses}, Set: earlier(hello, ofResponses)},
	}},
	{Name: loss.LostThinking, Row: "tool call without its thinking", Cases: []Case{
		{Set: loop()},
		{When: "in earlier steps", To: []Server{GenerateContent}, Set: all(loop(), func(r *upstream.Request) { r.Turns = append(r.Turns, assistant(hello), user(hello)) })},
		{When: "by Gemini 2.5", To: []Server{GenerateContent}, Model: "gemini-2.5-pro", Set: loop()},
		{When: "with a thinking budget by Claude 4.5", To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: all(loop(), withBudget(2048, 4096))},
		{When: "with `Dialect.Reasoning`", To: []Server{OtherChat}, Dialect: returnsThinking, Set: loop()},
		{When: "if the server requires it", To: []Server{OtherChat}, Rejects: []string{"messages: The `reasoning_content` in the thinking mode must be passed back to the API."}, Set: loop()},
		{When: "if the client has altered it", To: []Server{Responses}, Set: loop(&content.Thinking{Redacted: signed(responses, `{"type":"x"}`)})},
		{When: "if the client has altered it", To: []Server{Messages}, Set: loop(&content.Text{Text: "a", Signature: signed(m, "odd")})},
		{Unlisted: true, To: []Server{OtherResponses}, Rejects: []string{"include"}, Set: auto},
		{Unlisted: true, To: []Server{Responses}, Rejects: []string{"include"}, Set: all(auto, earlier(ofResponses, hello))},
	}},
	{Name: loss.ThinkingMode, Row: "thinking turned on", Cases: []Case{
		{Set: auto},
		{When: "by models that think by default (GPT-5, GPT-6.2, o3)", To: []Server{OpenAIChat, Responses}, Model: "gpt-5", Set: auto},
		{Unlisted: true, To: []Server{OpenAIChat, Responses}, Model: "gpt-4.1", Set: auto},
		{When: "by Gemini 2.0", To: []Server{GenerateContent}, Model: "gemini-2.0-flash", Set: auto},
		{When: "by Claude 3.5", To: []Server{Messages}, Model: "claude-3-5-haiku", Set: auto},
		{When: "by Claude 4.5", To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: all(limit(4096), auto)},
		{When: "with a budget and a required tool call by Claude 4.5", To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: all(withBudget(2048, 4096), chosen(content.ToolChoice{Mode: content.ChoiceAny}, "f"))},
		{Unlisted: true, Set: thinks(upstream.Thinking{Mode: "odd"})},
	}},
	{Name: loss.ThinkingMode, Row: "thinking turned off", Cases: []Case{
		{Set: thinks(upstream.Thinking{Mode: upstream.ThinkingOff})},
		{When: "by GPT-5, o3 and GPT-6.2", To: []Server{OpenAIChat, Responses}, Model: "gpt-5", Set: thinks(upstream.Thinking{Mode: upstream.ThinkingOff})},
		{When: "by Claude Opus 5.5 and Sonnet 5.5", To: []Server{Messages}, Model: "claude-sonnet-5-5", Set: thinks(upstream.Thinking{Mode: upstream.ThinkingOff})},
		{When: "by Gemini 2.5 Flash", To: []Server{GenerateContent}, Model: "gemini-2.5-flash", Set: thinks(upstream.Thinking{Mode: upstream.ThinkingOff})},
		{When: "if `Dialect.Efforts` has no `none`", To: []Server{OtherChat}, Dialect: alwaysThinks, Set: thinks(upstream.Thinking{Mode: upstream.ThinkingOff})},
	}},
	{Name: loss.ThinkingMode, Row: "thinking is not specified", From: by(m), Cases: []Case{
		{Set: unspecified(upstream.ThinkingOff)},
		{When: "by GPT-5, o3 and GPT-6.2", To: []Server{OpenAIChat, Responses}, Model: "gpt-5", Set: unspecified(upstream.ThinkingOff)},
		{When: "by Gemini 2.5 Flash", To: []Server{GenerateContent}, Model: "gemini-2.5-flash", Set: unspecified(upstream.ThinkingOff)},
		{When: "for Claude 5 and later, which think then", To: []Server{OpenAIChat, Responses}, Model: "gpt-5.2", Set: unspecified(upstream.ThinkingAuto)},
	}},
	{Name: loss.ThinkingMode, Row: "thinking between tool calls only", From: by(m), Cases: []Case{
		{Set: thinks(upstream.Thinking{Mode: upstream.ThinkingBetweenTools})},
	}},
	{Name: loss.ThinkingBudget, Cases: []Case{
		{Set: withBudget(4096, 16384)},
		{When: "by Claude 4.6 and earlier", To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: withBudget(4096, 16384)},
		{Unlisted: true, To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: withBudget(4096, 2048)},
		{When: "above 32,768 by Gemini 2.5 Pro", To: []Server{GenerateContent}, Model: "gemini-2.5-pro", Set: withBudget(50000, 65536)},
		{Unlisted: true, Set: all(limit(16384), thinks(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptr(int64(4096)), Effort: "high"}))},
		{Unlisted: true, To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: withBudget(512, 512)},
		{Unlisted: true, Set: thinks(upstream.Thinking{Budget: ptr(int64(4096))})},
		{Unlisted: true, Set: thinks(upstream.Thinking{Mode: upstream.ThinkingBudget})},
	}},
	{Name: loss.ThinkingEffort, Row: "effort low, medium or high", Also: loss.ThinkingMode, Cases: []Case{
		{Set: effort("low")},
		{When: "by GPT-4.1", To: []Server{OpenAIChat, Responses}, Model: "gpt-4.1", Set: effort("low")},
		{When: "by Gemini 2.5", To: []Server{GenerateContent}, Model: "gemini-2.5-pro", Set: effort("low")},
		{When: "by Claude Sonnet 4.5", To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: all(limit(16384), effort("low"))},
		{When: "with tools by GPT-5.4 and later", To: []Server{OpenAIChat}, Model: "gpt-5.6-sol", Set: all(declared(function("f")), effort("low"))},
		{When: "with tools by GPT-6.2 and others that accept them in Responses only", To: []Server{OpenAIChat}, Model: "gpt-6.2-sol", Set: all(declared(function("f")), effort("low"))},
		{When: "for low and medium by Mistral's server", To: []Server{OtherChat}, Host: mistral, Set: effort("low")},
		{When: "if the server rejects it", To: []Server{OtherChat}, Rejects: []string{"reasoning_effort"}, Set: effort("low")},
		{When: "while thinking is off", From: by(m), Set: thinks(upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "high"})},
		{Unlisted: true, To: []Server{OpenAIChat, Responses}, Model: "ft:unknown", Set: effort("low")},
		{Unlisted: true, To: []Server{OtherChat}, Dialect: openai.Dialect{Efforts: []string{}}, Set: effort("low")},
		{Unlisted: true, Set: effort("odd")},
		{Unlisted: true, To: []Server{Messages}, Set: thinks(upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"})},
		{Unlisted: true, To: []Server{Messages}, Model: "claude-3-5-haiku", Set: effort("low")},
	}},
	{Name: loss.ThinkingEffort, Row: "effort minimal", From: by(g, chat, responses), Cases: []Case{
		{Set: effort("minimal")},
		{When: "by GPT-5", To: []Server{OpenAIChat, Responses}, Model: "gpt-5", Set: effort("minimal")},
		{Unlisted: true, To: []Server{GenerateContent}, Set: effort("minimal")},
	}},
	{Name: loss.ThinkingEffort, Row: "effort xhigh", From: by(m, chat, responses), Cases: []Case{
		{Set: effort("xhigh")},
		{When: "by GPT-5 and o3", To: []Server{OpenAIChat, Responses}, Model: "gpt-5", Set: effort("xhigh")},
	}},
	{Name: loss.ThinkingEffort, Row: "effort max", From: by(m), Cases: []Case{
		{Set: effort("max")},
	}},
	{Name: loss.ThinkingDisplay, Row: "summary of the thinking", Cases: []Case{
		{Set: display("summarized")},
		{When: "by GPT-4.1", To: []Server{Responses}, Model: "gpt-4.1", Set: thinks(upstream.Thinking{Display: "summarized"})},
		{When: "if the server rejects summaries", To: []Server{Responses}, Rejects: []string{"summary"}, Set: thinks(upstream.Thinking{Effort: "low", Display: "summarized"})},
		{Unlisted: true, Set: display("omitted")},
		{Unlisted: true, Set: thinks(upstream.Thinking{Mode: upstream.ThinkingAuto, Display: "odd"})},
		{Unlisted: true, Set: thinks(upstream.Thinking{Mode: upstream.ThinkingOff, Display: "summarized"})},
	}},
	{Name: loss.ThinkingDisplay, Row: "updates of the thinking", From: by(m), Cases: []Case{
		{Set: display("updates")},
		{Unlisted: true, Set: display("full")},
	}},
}
