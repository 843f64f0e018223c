package losscases

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

func temperature(v float64) change { return func(r *upstream.Request) { r.Temperature = &v } }
func topP(v float64) change        { return func(r *upstream.Request) { r.TopP = &v } }
func topK(v int64) change          { return func(r *upstream.Request) { r.TopK = &v } }
func seed(v int64) change          { return func(r *upstream.Request) { r.Seed = &v } }
func presence(v float64) change    { return func(r *upstream.Request) { r.PresencePenalty = &v } }
func stops(list ...string) change  { return func(r *upstream.Request) { r.StopSequences = list } }
func userID(s string) change       { return func(r *upstream.Request) { r.UserID = s } }
func tier(name string) change      { return func(r *upstream.Request) { r.ServiceTier = name } }

// Models without sampling, beside the current one of Messages.
const noSampling = "by GPT-5, GPT-6.2, o3 and o4-mini"

var sampling = []Feature{
	{Name: loss.MaxTokens, Cases: []Case{
		{Set: limit(1000)},
		{When: "above the model's limit", To: []Server{Messages, GenerateContent}, Set: limit(1e6)},
		{When: "above the model's limit", To: []Server{OpenAIChat, Responses}, Model: "gpt-4.1", Set: limit(1e6)},
		{When: "below 16", Set: limit(1)},
		{Unlisted: true, To: []Server{GenerateContent}, Set: limit(1 << 40)},
	}},
	{Name: loss.Temperature, Cases: []Case{
		{Set: temperature(0.5)},
		{When: "while the model thinks", To: []Server{OpenAIChat, Responses}, Set: all(temperature(0.5), effort("low"))},
		{When: noSampling, To: []Server{OpenAIChat, Responses}, Model: "gpt-6.2-sol", Set: temperature(0.5)},
		{When: "by Claude 4.6 and earlier", To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: temperature(0.5)},
		{When: "above 1.0 by Claude 4.6 and earlier", To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: temperature(1.5)},
		{When: "while DeepSeek's models think", To: []Server{OtherChat}, Host: deepSeek, Set: all(temperature(0.5), auto)},
		{When: "if the server rejects it", To: []Server{OtherChat}, Rejects: []string{"temperature"}, Set: temperature(0.5)},
		{Unlisted: true, To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: all(withBudget(2048, 4096), temperature(0.5))},
		{Unlisted: true, Set: temperature(2.5)},
	}},
	{Name: loss.TopP, Cases: []Case{
		{Set: topP(0.5)},
		{When: "while the model thinks", To: []Server{OpenAIChat, Responses}, Set: all(topP(0.5), effort("low"))},
		{When: noSampling, To: []Server{OpenAIChat, Responses}, Model: "gpt-6.2-sol", Set: topP(0.5)},
		{When: "by Claude 4.6 and earlier", To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: topP(0.5)},
		{When: "while DeepSeek's models think", To: []Server{OtherChat}, Host: deepSeek, Set: all(topP(0.5), auto)},
		{When: "if the server rejects it", To: []Server{OtherChat}, Rejects: []string{"top_p"}, Set: topP(0.5)},
		{Unlisted: true, To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: all(temperature(0.5), topP(0.5))},
		{Unlisted: true, To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: all(withBudget(2048, 4096), topP(0.5))},
		{Unlisted: true, Set: topP(1.5)},
	}},
	{Name: loss.TopK, Cases: []Case{
		{Set: topK(5)},
		{When: "by Claude 4.6 and earlier", To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: topK(5)},
		{When: "if the server rejects it", To: []Server{OtherChat}, Rejects: []string{"top_k"}, Set: topK(5)},
		{Unlisted: true, To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: all(withBudget(2048, 4096), topK(5))},
		{Unlisted: true, To: []Server{Messages}, Model: "claude-sonnet-4-5", Set: topK(-5)},
		{Unlisted: true, Set: topK(1 << 40)},
	}},
	{Name: loss.Seed, From: by(g, chat), Cases: []Case{
		{Set: seed(5)},
		{When: "if the server rejects it", To: []Server{OtherChat}, Rejects: []string{"seed"}, Set: seed(5)},
		{Unlisted: true, Set: seed(1 << 40)},
	}},
	{Name: loss.Penalties, From: by(g, chat), Cases: []Case{
		{Set: presence(0.5)},
		{When: "while the model thinks", To: []Server{OpenAIChat}, Set: all(presence(0.5), effort("low"))},
		{When: noSampling, To: []Server{OpenAIChat}, Model: "gpt-6.2-sol", Set: presence(0.5)},
		{When: "if the server rejects it", To: []Server{OtherChat}, Rejects: []string{"presence_penalty"}, Set: presence(0.5)},
		{Unlisted: true, Set: presence(5)},
		{Unlisted: true, To: []Server{Messages}, Set: func(r *upstream.Request) { r.FrequencyPenalty = ptr(0.5) }},
	}},
	{Name: loss.StopSequences, Cases: []Case{
		{Set: stops("END")},
		{When: "by GPT-4.1", To: []Server{OpenAIChat}, Model: "gpt-4.1", Set: stops("END")},
		{When: "over four", To: []Server{OtherChat}, Set: stops("a", "b", "c", "d", "e")},
		{When: "over five", From: by(m), To: []Server{GenerateContent}, Set: stops("a", "b", "c", "d", "e", "f")},
		{When: "for white space", To: []Server{Messages}, Set: stops("\n")},
		{When: "if the server rejects them", To: []Server{OtherChat}, Rejects: []string{"stop"}, Set: stops("END")},
		{Unlisted: true, Set: stops("")},
	}},
	{Name: loss.Candidates, From: by(g, chat), Cases: []Case{
		{Set: func(r *upstream.Request) { r.Candidates = 2 }},
	}},
}

const jsonType = "application/json"

func schemaOutput(json string) change {
	return output(upstream.Output{MediaType: jsonType, Schema: content.Schema{JSON: json}})
}

var settings = []Feature{
	{Name: loss.OutputSchema, Cases: []Case{
		{Set: schemaOutput(strictSchema)},
		{When: "if OpenAI's strict mode cannot represent it", To: []Server{OpenAIChat, OtherChat, Responses}, Set: schemaOutput(openSchema)},
		{When: "with `patternProperties`", To: []Server{Messages, GenerateContent}, Set: schemaOutput(openSchema)},
		{When: "with limits of lengths and numbers", To: []Server{Messages, GenerateContent}, Set: schemaOutput(`{"type":"object","properties":{"a":{"type":"string","minLength":3}},"required":["a"],"additionalProperties":false}`)},
		{When: "beside functions by Gemini 2.5", To: []Server{GenerateContent}, Model: "gemini-2.5-pro", Set: all(declared(function("f")), schemaOutput(strictSchema))},
		{Unlisted: true, Set: schemaOutput(`{"type":"STRING"}`)},
		{Unlisted: true, Set: schemaOutput("false")},
		{Unlisted: true, Set: schemaOutput("true")},
	}},
	{Name: loss.OutputSchema, Row: "name and description of the schema of the response", From: by(chat, responses), Cases: []Case{
		{Set: output(upstream.Output{MediaType: jsonType, Schema: content.Schema{JSON: strictSchema}, Name: "n", Description: "d"})},
	}},
	{Name: loss.OutputVerbosity, From: by(chat, responses), Cases: []Case{
		{Set: output(upstream.Output{Verbosity: "low"})},
		{When: "before GPT-5", To: []Server{OpenAIChat, Responses}, Model: "gpt-4.1", Set: output(upstream.Output{Verbosity: "low"})},
	}},
	{Name: loss.OutputType, Row: "JSON without a schema", From: by(g, chat, responses), Cases: []Case{
		{Set: output(upstream.Output{MediaType: jsonType})},
		{Unlisted: true, Set: all(output(upstream.Output{MediaType: jsonType}), parts(&content.Text{Text: "List them as JSON."}))},
		{Unlisted: true, Set: output(upstream.Output{MediaType: "text/odd"})},
		{Unlisted: true, To: []Server{GenerateContent}, Set: output(upstream.Output{Schema: content.Schema{JSON: strictSchema}})},
	}},
	{Name: loss.OutputType, Row: "one of several values (`text/x.enum`)", From: by(g), Cases: []Case{
		{Set: output(upstream.Output{MediaType: "text/x.enum", Schema: content.Schema{JSON: `{"type":"STRING","enum":["a","b"]}`, OpenAPI: true}})},
	}},
	{Name: loss.OutputModalities, Row: "image output", From: by(g), Cases: []Case{
		{Set: output(upstream.Output{Modalities: []string{"text", "image"}})},
		{Unlisted: true, Set: output(upstream.Output{Modalities: []string{"odd"}})},
	}},
	{Name: loss.OutputModalities, Row: "audio output", From: by(g, chat), Cases: []Case{
		{Set: output(upstream.Output{Modalities: []string{"audio"}})},
	}},
	{Name: loss.OutputImage, From: by(g), Cases: []Case{
		{Set: output(upstream.Output{AspectRatio: "16:9"})},
		{Unlisted: true, Set: output(upstream.Output{ImageSize: "odd"})},
	}},
	{Name: loss.UserID, From: by(m, chat, responses), Cases: []Case{
		{Set: userID("u")},
		{When: "over 128 characters", To: []Server{OpenAIChat, Responses}, Set: userID(strings.Repeat("u", 129))},
		{Unlisted: true, Set: userID(strings.Repeat("u", 600))},
	}},
	{Name: loss.ServiceTier, Cases: []Case{
		{Set: tier("auto")},
		{When: "for `standard_only`", From: by(m), Set: tier("standard_only")},
		{When: "for `flex`", From: by(g, chat, responses), Set: tier("flex")},
		{When: "for `priority`", From: by(g, chat, responses), Set: tier("priority")},
		{Unlisted: true, Set: tier("gold")},
	}},
	{Name: loss.Headers, Row: "headers of the client's format", From: by(m), Cases: []Case{
		{Set: func(r *upstream.Request) {
			r.Header = []upstream.HeaderField{{Name: "anthropic-version", Value: "2023-06-01"}, {Name: "Anthropic-Workspace-Id", Value: "w"}}
		}},
		onBedrock(beta("new-2027-01-01")),
	}},
	{Name: loss.ResponseUsage, Cases: []Case{
		{Unlisted: true, To: []Server{OtherChat}, Rejects: []string{"stream_options"}, Set: func(r *upstream.Request) { r.Stream = true }},
	}},
}

// member is a row for a member of the request that only one format has.
func member(f content.Format, name, json string) Feature {
	return Feature{Name: loss.Members, Row: name, From: by(f), Cases: []Case{{Set: members(f, json)}}}
}

// shared is a row for a member of the request that both formats of OpenAI have. A server of one
// gets it from clients of the other.
func shared(name, ofChat, ofResponses string) Feature {
	return Feature{Name: loss.Members, Row: name, Cases: []Case{
		{From: by(chat), To: []Server{Messages, GenerateContent, Responses}, Set: members(chat, ofChat)},
		{From: by(responses), To: []Server{Messages, GenerateContent, OpenAIChat, OtherChat}, Set: members(responses, ofResponses)},
	}}
}

// detailed returns an image with a resolution, of a format of OpenAI.
func detailed(f content.Format) content.Part {
	return &content.Image{Source: base64("image/png", pngData), Extra: extra(f, `{"detail":"low"}`)}
}

// onBedrock returns an unlisted case at Bedrock.
func onBedrock(set change) Case {
	return Case{Unlisted: true, To: []Server{Messages}, Platform: anthropic.PlatformBedrock, Set: set}
}

// beta returns a change that sets a beta of a client of Messages.
func beta(name string) change {
	return func(r *upstream.Request) {
		r.Header = []upstream.HeaderField{{Name: "anthropic-version", Value: "2023-06-01"}, {Name: "anthropic-beta", Value: name}}
	}
}

var foreignMembers = []Feature{
	member(m, "`speed`, `diagnostics`", `{"speed":"fast"}`),
	{Name: loss.Members, Row: "`cache_control`", From: by(m), Cases: []Case{
		{Set: members(m, `{"cache_control":{"type":"ephemeral"}}`)},
		{When: "by GPT-5.6 and later", To: []Server{OpenAIChat, Responses}, Model: "gpt-5.6-sol", Set: members(m, `{"cache_control":{"type":"ephemeral"}}`)},
		{When: "by OpenRouter's server", To: []Server{OtherChat}, Host: openRouter, Set: members(m, `{"cache_control":{"type":"ephemeral"}}`)},
	}},
	member(m, "`inference_geo`", `{"inference_geo":"eu"}`),
	member(m, "`container`, `compaction`", `{"container":"c"}`),
	member(m, "`mcp_servers`", `{"mcp_servers":[{"type":"url","name":"a","url":"https://mcp.example/"}]}`),
	{Name: loss.Members, Row: "`context_management`", From: by(m), Cases: []Case{
		{Set: members(m, `{"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}}`)},
		{When: "if it only clears thinking", Set: members(m, `{"context_management":{"edits":[{"type":"clear_thinking_20251015"}]}}`)},
		onBedrock(members(m, `{"speed":"fast","container":"c","inference_geo":"us","fallbacks":[{"model":"n"}]}`)),
		onBedrock(members(m, `{"thread":{"type":"continue"}}`)),
		onBedrock(members(m, `{"context_management":{"edits":[{"type":"clear_thinking_20251015"}]}}`)),
	}},
	member(m, "`fallbacks`", `{"fallbacks":["a"]}`),
	member(m, "`thread`", `{"thread":"t"}`),
	member(g, "`labels`, `store`", `{"labels":{"a":"b"}}`),
	member(g, "`safetySettings`, `modelArmorConfig`", `{"safetySettings":[{"category":"x"}]}`),
	member(g, "`cachedContent`", `{"cachedContent":"cachedContents/c"}`),
	member(g, "`responseLogprobs`", `{"generationConfig":{"responseLogprobs":true}}`),
	member(g, "`speechConfig`, `routingConfig`", `{"generationConfig":{"speechConfig":{"a":1}}}`),
	{Name: loss.Members, Row: "`mediaResolution`", From: by(g), Cases: []Case{
		{Set: all(parts(png), members(g, `{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`))},
		{Unlisted: true, To: []Server{OpenAIChat}, Set: all(parts(pdf), members(g, `{"generationConfig":{"mediaResolution":"MEDIA_RESOLUTION_LOW"}}`))},
	}},
	shared("`metadata`, `store`, `prompt_cache_key`", `{"metadata":{"a":"b"}}`, `{"metadata":{"a":"b"}}`),
	shared("`logprobs`, `top_logprobs`", `{"logprobs":true,"top_logprobs":2}`, `{"include":["message.output_text.logprobs"],"top_logprobs":2}`),
	member(chat, "`web_search_options`", `{"web_search_options":{"search_context_size":"low"}}`),
	member(chat, "`logit_bias`, `audio`", `{"logit_bias":{"1":2}}`),
	member(chat, "`prediction`, `stream_options`", `{"prediction":{"type":"content","content":"a"}}`),
	member(responses, "`truncation`", `{"truncation":"auto"}`),
	member(responses, "`max_tool_calls`, `context_management`", `{"max_tool_calls":2}`),
	member(responses, "`previous_response_id`, `conversation`, `prompt`", `{"previous_response_id":"resp_1"}`),
	member(responses, "`reasoning.context`", `{"reasoning":{"context":"current_turn"}}`),
	{Name: loss.Members, Row: "`detail` of an image", Cases: []Case{
		{From: by(chat), To: []Server{Messages, GenerateContent, Responses}, Set: parts(detailed(chat))},
		{From: by(responses), To: []Server{Messages, GenerateContent, OpenAIChat, OtherChat}, Set: parts(detailed(responses))},
	}},
	{Name: loss.Members, Row: "description of a namespace", From: by(responses), Cases: []Case{
		{Set: declared(content.Tool{Name: "f", Namespace: "n", Input: content.Schema{JSON: simpleSchema}, Extra: extra(responses, `{"namespace":{"description":"d"}}`)})},
	}},
	{Name: loss.Members, Row: "arguments of a tool call that are not a JSON object", Cases: []Case{
		{From: by(chat), To: []Server{Messages, GenerateContent, Responses}, Set: brokenCall(chat)},
		{From: by(responses), To: []Server{Messages, GenerateContent, OpenAIChat, OtherChat}, Set: brokenCall(responses)},
	}},
	{Name: loss.Members, Row: "`name` of the author of a message", From: by(chat), Cases: []Case{
		{Set: func(r *upstream.Request) { r.Turns[0].Extra = extra(chat, `{"name":"a"}`) }},
	}},
	{Name: loss.Members, Row: "unknown members of the request", Cases: []Case{
		{From: by(m), Set: members(m, `{"x":1}`)},
		{From: by(g), To: []Server{Messages}, Set: members(g, `{"x":1}`)},
		{Unlisted: true, To: []Server{OpenAIChat}, Set: members(chat, `{"store":true}`)},
		{Unlisted: true, To: []Server{OpenAIChat}, Set: parts(&content.Text{Text: "a", Extra: extra(chat, `{"x":1}`)})},
	}},
	{Name: loss.Members, Row: "unknown members of turns and parts", Cases: []Case{
		{From: by(m), Set: parts(&content.Text{Text: "a", Extra: extra(m, `{"x":1}`)})},
		{From: by(g), To: []Server{Messages}, Set: parts(&content.Text{Text: "a", Extra: extra(g, `{"x":1}`)})},
		{Unlisted: true, To: []Server{Messages, GenerateContent}, Set: func(r *upstream.Request) {
			r.Turns = append(r.Turns[:1:1], withMembers(call("call_1", "f")), withMembers(call("call_2", "f")), user(result("call_1"), result("call_2")))
		}},
	}},
	{Name: loss.Members, Row: "members of tools: `allowed_callers`, `input_examples`", From: by(m), Cases: []Case{
		{Set: declared(content.Tool{Name: "f", Input: content.Schema{JSON: simpleSchema}, Extra: extra(m, `{"input_examples":[{}]}`)})},
	}},
}

// withMembers returns an assistant turn with members of the server's own format.
func withMembers(part content.Part) content.Turn {
	t := assistant(part)
	t.Extra = extra("", `{"x":1}`)
	return t
}

// brokenCall is a conversation with a call that a model of the format f has not written as JSON.
func brokenCall(f content.Format) change {
	return all(declared(function("f")), turns(user(hello),
		assistant(&content.ToolUse{ID: "call_1", Name: "f", Input: `{"arguments":"["}`, Extra: extra(f, `{"arguments":"["}`)}), user(result("call_1"))))
}
