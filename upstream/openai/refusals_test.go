package openai

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
)

// A refusedCase is a request that has a field unless the model rejects it.
type refusedCase struct {
	path    string // of the loss; empty if there is an equivalent
	dialect Dialect
	change  func(*upstream.Request)
}

var (
	oneName = func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool, {Name: "g"}}, content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"f"}}
	}
	oneCall = func(r *upstream.Request) {
		r.Tools, r.Choice = []content.Tool{plainTool}, content.ToolChoice{Mode: content.ChoiceAuto, NoParallel: true}
	}
	one = 1.0
)

// chatRefused has a case for each field of Chat Completions.
var chatRefused = map[field]refusedCase{
	fieldTemperature:      {"temperature", Dialect{}, func(r *upstream.Request) { r.Temperature = &one }}, // the default of other servers
	fieldTopP:             {"top_p", Dialect{}, func(r *upstream.Request) { r.TopP = &one }},
	fieldTopK:             {"top_k", Dialect{}, func(r *upstream.Request) { r.TopK = &seven }},
	fieldPresencePenalty:  {"presence_penalty", Dialect{}, func(r *upstream.Request) { r.PresencePenalty = &half }},
	fieldFrequencyPenalty: {"frequency_penalty", Dialect{}, func(r *upstream.Request) { r.FrequencyPenalty = &half }},
	fieldSeed:             {"seed", Dialect{}, func(r *upstream.Request) { r.Seed = &seven }},
	fieldStop:             {"stop_sequences", Dialect{}, func(r *upstream.Request) { r.StopSequences = []string{"x"} }},
	fieldEffort:           {"thinking", Dialect{}, thinkingOf(upstream.Thinking{Effort: "high"})},
	fieldParallel:         {"choice.no_parallel", Dialect{}, oneCall},
	fieldStreamOptions:    {"stream", Dialect{}, func(r *upstream.Request) { r.Stream = true }},
	fieldObfuscation:      {"", Dialect{Kind: ServerOpenAI}, func(r *upstream.Request) { r.Stream = true }},
	fieldUser:             {"user_id", Dialect{Kind: ServerOpenAI}, func(r *upstream.Request) { r.UserID = "u" }},
	fieldMaxTokens:        {"", Dialect{}, func(r *upstream.Request) { r.MaxTokens = &seven }},
	fieldLogprobs: {"extra.generationConfig.responseLogprobs", Dialect{}, func(r *upstream.Request) {
		r.Extra = &content.Extra{Format: "generatecontent", JSON: `{"generationConfig":{"responseLogprobs":true}}`}
	}},
	fieldCacheKey:  {"", Dialect{Kind: ServerOpenAI}, func(*upstream.Request) {}},
	fieldCacheMark: {"system.0.cache", Dialect{CacheControl: true}, withSystemMark("")},
	fieldCacheTime: {"system.0.cache", Dialect{CacheControl: true}, withSystemMark("1h")},
	fieldDescription: {"tools.0.description", Dialect{}, withTool(content.Tool{
		Name: "f", Input: plainTool.Input, Description: strings.Repeat("x", chatcompletions.MaxDescription+1)})},
	fieldDeveloper:      {"", Dialect{Kind: ServerOpenAI}, func(r *upstream.Request) { r.Model, r.System = "gpt-5", partsOf(textOf("s")) }},
	fieldReasoning:      {"turns.1.parts.0", Dialect{}, withTurns(q, turnOf(content.RoleAssistant, thinkingPart("hm", "reasoning"), useOf("c1", "f", "{}")), turnOf(content.RoleUser, resultOf("c1")))},
	fieldThinkingSwitch: {"thinking.mode", Dialect{Thinking: chatcompletions.ThinkingObject, Efforts: []string{"low"}}, thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff})},
	fieldToolChoice:     {"choice.names", Dialect{Kind: ServerOpenAI}, oneName},
	fieldVerbosity: {"output.verbosity", Dialect{Kind: ServerOpenAI}, func(r *upstream.Request) {
		r.Model, r.Output.Verbosity = "gpt-5", "low"
	}},
	fieldJSONObject: {"", Dialect{}, func(r *upstream.Request) {
		r.Output.MediaType, r.Turns[0].Parts = jsonType, partsOf(textOf("JSON!"))
	}},
}

// withSystemMark returns a change that adds a system text with a cache mark.
func withSystemMark(ttl string) func(*upstream.Request) {
	return func(r *upstream.Request) {
		r.System = partsOf(&content.Text{Text: "s", Cache: &content.Cache{TTL: ttl}})
	}
}

// responsesRefused has a case for each field of responses.
var responsesRefused = map[field]refusedCase{
	fieldTemperature: chatRefused[fieldTemperature],
	fieldTopP:        chatRefused[fieldTopP],
	fieldEffort:      chatRefused[fieldEffort],
	fieldParallel:    chatRefused[fieldParallel],
	fieldUser:        chatRefused[fieldUser],
	fieldObfuscation: chatRefused[fieldObfuscation],
	fieldDeveloper: {"", Dialect{Kind: ServerOpenAI}, func(r *upstream.Request) {
		r.Model, r.Turns = "gpt-5", append(r.Turns, turnOf(content.RoleSystem, textOf("s")))
	}},
	fieldCacheKey: chatRefused[fieldCacheKey],
	fieldCacheMark: {"system.0.cache", Dialect{Kind: ServerOpenAI}, func(r *upstream.Request) {
		r.Model = "gpt-5.6"
		withSystemMark("")(r)
	}},
	fieldCacheTime: {"system.0.cache", Dialect{Kind: ServerOpenAI}, func(r *upstream.Request) {
		r.Model = "gpt-5.6"
		withSystemMark("12h")(r)
	}},
	fieldVerbosity:    chatRefused[fieldVerbosity],
	fieldPhase:        {"", Dialect{Kind: ServerOpenAI}, withTurns(q, turnOf(content.RoleAssistant, textOf("x")), q)},
	fieldReasoning:    {"thinking", Dialect{}, func(*upstream.Request) {}},
	fieldSummary:      {"thinking.display", Dialect{}, thinkingOf(upstream.Thinking{Effort: "low", Display: "summarized"})},
	fieldToolChoice:   chatRefused[fieldToolChoice],
	fieldJSONObject:   chatRefused[fieldJSONObject],
	fieldOutputSchema: {"tools.0.output", Dialect{Kind: ServerOpenAI}, withTool(content.Tool{Name: "f", Output: plainTool.Input})},
}

// TestRefusedEach checks that requests have each field until it is rejected, and that
// each later request reports the loss before it is sent.
func TestRefusedEach(t *testing.T) {
	all := func(list []fieldName) (f field) {
		for _, x := range list {
			f |= x.field
		}
		return f
	}
	for _, format := range []struct {
		name  string
		all   field
		cases map[field]refusedCase
		plan  func(o Options, known refusals, r *upstream.Request) (sent field, losses []content.Loss, err error)
	}{
		{"chat", all(chatFieldNames) | fieldJSONObject, chatRefused, func(o Options, known refusals, r *upstream.Request) (field, []content.Loss, error) {
			c, err := New(&o)
			if err != nil {
				t.Fatal(err)
			}
			c.refusals.Add(r.Model, known.and)
			p := c.plan(r)
			_, losses, err := send(t, p)
			return p.sent(), losses, err
		}},
		{"responses", all(responsesFieldNames), responsesRefused, func(o Options, known refusals, r *upstream.Request) (field, []content.Loss, error) {
			c, err := NewResponses(&o)
			if err != nil {
				t.Fatal(err)
			}
			c.refusals.Add(r.Model, known.and)
			p := c.plan(r)
			_, losses, err := send(t, p)
			return p.sent(), losses, err
		}},
	} {
		for f := field(1); f <= format.all; f <<= 1 {
			x, ok := format.cases[f]
			if format.all&f == 0 {
				continue
			}
			if !ok {
				t.Errorf("%s: field %b has no case", format.name, f)
				continue
			}
			o := Options{BaseURL: "http://localhost/v1", Dialect: x.dialect}
			ask := func(known refusals) (field, []content.Loss, error) {
				r := &upstream.Request{Model: "m", Turns: []content.Turn{q}}
				x.change(r)
				return format.plan(o, known, r)
			}
			sent, losses, err := ask(refusals{})
			if sent&f == 0 || hasLossAt(losses, x.path) || err != nil {
				t.Errorf("%s, %b: not sent at first: %v %v", format.name, f, losses, err)
			}
			if sent, losses, err = ask(refusals{fields: f}); f != fieldMaxTokens && sent&f != 0 || hasLossAt(losses, x.path) != (x.path != "") || err != nil {
				t.Errorf("%s, %b: sent %v, losses %v, want one at %q; %v", format.name, f, sent&f != 0, losses, x.path, err)
			}
		}
	}
}

// hasLossAt reports whether one of the losses is at a path.
func hasLossAt(losses []content.Loss, path string) bool {
	for _, l := range lossplaces.Of(losses) {
		if l.Path == path {
			return true
		}
	}
	return false
}

// TestResponsesLearn checks the fields that error messages name.
func TestResponsesLearn(t *testing.T) {
	temperature := 0.5
	sent := &lower.Request{Request: upstream.Request{Temperature: &temperature, Stream: true, Thinking: upstream.Thinking{Display: "summarized"},
		Turns: []content.Turn{turnOf(content.RoleAssistant, textOf("a"))}}, Effort: "low"}
	for _, tt := range []struct {
		body        string
		status      int
		want        field
		again, keep bool
	}{
		{`{"error":{"message":"Encrypted content is not supported with this model.","type":"invalid_request_error","param":null,"code":null}}`, 400, fieldReasoning, true, true},
		{`{"error":{"message":"Unsupported parameter.","param":"reasoning.effort","code":"unsupported_parameter"}}`, 400, fieldEffort, true, true},
		{`{"error":{"message":"Your organization must be verified to generate reasoning summaries.","param":"reasoning.summary","code":"unsupported_value"}}`, 400, fieldSummary, true, true},
		{`{"error":{"message":"Unknown parameter: 'include'.","param":"include","code":"unknown_parameter"}}`, 422, fieldReasoning, true, true},
		{`{"error":{"message":"Unknown parameter: 'stream_options.include_obfuscation'.","param":"stream_options.include_obfuscation","code":"unknown_parameter"}}`, 400, fieldObfuscation, true, true},
		{`{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted","type":"extra_forbidden"}]}`, 422, fieldObfuscation, true, true},
		{`{"error":{"message":"Unknown parameter: 'input[1].phase'.","param":"input[1].phase","code":"unknown_parameter"}}`, 400, fieldPhase, true, true},
		{`{"error":{"message":"Unsupported parameter.","param":"top_p","code":"unsupported_parameter"}}`, 400, 0, false, false},
		{`{"error":{"message":"Unsupported parameter.","param":"temperature","code":"unsupported_parameter"}}`, 500, 0, false, false},
		{`{"error":{"message":"No tool output found for function call call_x.","param":"input","code":null}}`, 400, 0, false, false},
		{`{"error":{"message":"x","code":"invalid_encrypted_content"}}`, 400, 0, true, false},
		{`{"error":{"message":"Item 'rs_1' of type 'reasoning' was provided without its required following item.","code":null}}`, 400, 0, true, false},
		{`{"error":{"message":"Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.","code":null}}`, 400, 0, true, false},
		{`{"error":{"message":"Item with id 'rs_1' not found. Items are not persisted when store is set to false.","code":null}}`, 404, 0, true, false},
		{`{"error":{"message":"The model 'x' does not exist or you do not have access to it.","code":"model_not_found"}}`, 404, 0, false, false},
		{`{"error":{"message":"temperature must be at most 0.1","param":"temperature","code":null}}`, 400, 0, false, false},
	} {
		c := &client{format: ResponsesFormat}
		p := &plan{Plan: adapter.Plan{Request: sent}, client: c, shape: openaiformat.Shape{Encrypted: true, NoPadding: true, Phases: true}}
		retry := p.learn(openaiformat.DecodeError(ResponsesFormat, tt.status, nil, []byte(tt.body)))
		remembered := c.refusals.Get("") != refusals{}
		if p.target.refusals.fields != tt.want || retry != tt.again || remembered != tt.keep {
			t.Errorf("%s: %b, retry %v, remembered %v", tt.body, p.target.refusals.fields, retry, remembered)
		}
	}
}
