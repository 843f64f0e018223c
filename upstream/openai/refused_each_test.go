package openai

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A refusedCase is a request that would have a field if the model were not
// known to refuse it, and where that shows.
type refusedCase struct {
	path   string // of the loss; empty if the same is said otherwise
	says   Dialect
	change func(*upstream.Request)
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

// chatRefused has a case for each field of chat completions.
var chatRefused = map[field]refusedCase{
	fieldTemperature:   {"temperature", Dialect{}, func(r *upstream.Request) { r.Temperature = &one }}, // what is usual elsewhere
	fieldTopP:          {"top_p", Dialect{}, func(r *upstream.Request) { r.TopP = &one }},
	fieldTopK:          {"top_k", Dialect{}, func(r *upstream.Request) { r.TopK = &seven }},
	fieldPresence:      {"presence_penalty", Dialect{}, func(r *upstream.Request) { r.PresencePenalty = &half }},
	fieldFrequency:     {"frequency_penalty", Dialect{}, func(r *upstream.Request) { r.FrequencyPenalty = &half }},
	fieldSeed:          {"seed", Dialect{}, func(r *upstream.Request) { r.Seed = &seven }},
	fieldStop:          {"stop_sequences", Dialect{}, func(r *upstream.Request) { r.StopSequences = []string{"x"} }},
	fieldEffort:        {"thinking", Dialect{}, thinkingOf(upstream.Thinking{Effort: "high"})},
	fieldParallel:      {"choice.no_parallel", Dialect{}, oneCall},
	fieldStreamOptions: {"stream", Dialect{}, func(r *upstream.Request) { r.Stream = true }},
	fieldPadding:       {"", Dialect{Kind: KindVendor}, func(r *upstream.Request) { r.Stream = true }},
	fieldUser:          {"user_id", Dialect{Kind: KindVendor}, func(r *upstream.Request) { r.UserID = "u" }},
	fieldLimit:         {"", Dialect{}, func(r *upstream.Request) { r.MaxTokens = &seven }},
	fieldLogprobs: {"extra.generationConfig.responseLogprobs", Dialect{}, func(r *upstream.Request) {
		r.Extra = &content.Extra{Format: "generatecontent", JSON: `{"generationConfig":{"responseLogprobs":true}}`}
	}},
	fieldDescription: {"tools.0.description", Dialect{}, withTool(content.Tool{
		Name: "f", Input: plainTool.Input, Description: strings.Repeat("x", longestDescription+1)})},
	fieldDeveloper: {"", Dialect{Kind: KindVendor}, func(r *upstream.Request) { r.Model, r.System = "gpt-5", partsOf(sayText("s")) }},
	fieldReasoning: {"turns.1.parts.0", Dialect{}, says(q, turnOf(content.RoleAssistant, thoughtOf("hm", "reasoning"), useOf("c1", "f", "{}")), turnOf(content.RoleUser, resultOf("c1")))},
	fieldSwitch:    {"thinking.mode", Dialect{Thinking: switchThinking, Efforts: []string{"low"}}, thinkingOf(upstream.Thinking{Mode: upstream.ThinkingOff})},
	fieldChoice:    {"choice.names", Dialect{Kind: KindVendor}, oneName},
	fieldJSONObject: {"", Dialect{}, func(r *upstream.Request) {
		r.Output.MediaType, r.Turns[0].Parts = jsonType, partsOf(sayText("JSON!"))
	}},
}

// resRefused has one for each field of responses.
var resRefused = map[field]refusedCase{
	fieldTemperature: chatRefused[fieldTemperature],
	fieldTopP:        chatRefused[fieldTopP],
	fieldEffort:      chatRefused[fieldEffort],
	fieldParallel:    chatRefused[fieldParallel],
	fieldUser:        chatRefused[fieldUser],
	fieldPadding:     chatRefused[fieldPadding],
	fieldDeveloper: {"", Dialect{Kind: KindVendor}, func(r *upstream.Request) {
		r.Model, r.Turns = "gpt-5", append(r.Turns, turnOf(content.RoleSystem, sayText("s")))
	}},
	fieldReasoning:   {"thinking", Dialect{}, func(*upstream.Request) {}},
	fieldSummary:     {"thinking.display", Dialect{}, thinkingOf(upstream.Thinking{Effort: "low", Display: "summarized"})},
	fieldChoice:      chatRefused[fieldChoice],
	fieldJSONObject:  chatRefused[fieldJSONObject],
	fieldResultShape: {"tools.0.output", Dialect{Kind: KindVendor}, withTool(content.Tool{Name: "f", Output: plainTool.Input})},
}

// TestRefusedEach checks, for everything that a server may be known to refuse,
// that each later request without it tells so before anything is sent, and that
// the request has it as long as nothing is known.
func TestRefusedEach(t *testing.T) {
	all := func(list []refusedName) (f field) {
		for _, x := range list {
			f |= x.field
		}
		return f
	}
	for _, format := range []struct {
		name  string
		all   field
		cases map[field]refusedCase
		plan  func(o Options, known refusals, r *upstream.Request) (sent field, losses []content.Loss, fault error)
	}{
		{"chat", all(fields) | fieldJSONObject, chatRefused, func(o Options, known refusals, r *upstream.Request) (field, []content.Loss, error) {
			c, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			c.memory.add(r.Model, known)
			p := c.plan(r, false)
			return p.sent, p.losses, p.fault
		}},
		{"responses", all(resFields), resRefused, func(o Options, known refusals, r *upstream.Request) (field, []content.Loss, error) {
			c, err := NewResponses(o)
			if err != nil {
				t.Fatal(err)
			}
			c.memory.add(r.Model, known)
			p := c.plan(r, false)
			return p.sent, p.losses, p.fault
		}},
	} {
		for f := field(1); f <= format.all; f <<= 1 {
			x, ok := format.cases[f]
			if format.all&f == 0 {
				continue
			}
			if !ok {
				t.Errorf("%s: there is no case for field %b", format.name, f)
				continue
			}
			o := Options{BaseURL: "http://localhost/v1", Dialect: x.says}
			ask := func(known refusals) (field, []content.Loss, error) {
				r := &upstream.Request{Model: "m", Turns: []content.Turn{q}}
				x.change(r)
				return format.plan(o, known, r)
			}
			sent, losses, err := ask(refusals{})
			if sent&f == 0 || at(losses, x.path) || err != nil {
				t.Errorf("%s, %b: not sent at first: %v %v", format.name, f, losses, err)
			}
			if sent, losses, err = ask(refusals{fields: f}); f != fieldLimit && sent&f != 0 || at(losses, x.path) != (x.path != "") || err != nil {
				t.Errorf("%s, %b: sent %v, losses %v, want one at %q; %v", format.name, f, sent&f != 0, losses, x.path, err)
			}
		}
	}
}

// at reports whether one of the losses is at a path.
func at(losses []content.Loss, path string) bool {
	for _, l := range losses {
		if l.Path == path {
			return true
		}
	}
	return false
}
