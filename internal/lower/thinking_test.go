package lower

import (
	"math"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/upstream"
)

// whose returns target with the mode of requests without settings.
func whose(mode upstream.ThinkingMode, target func(*Target)) func(*Target) {
	return func(t *Target) {
		target(t)
		t.Thinking.Default = mode
	}
}

// TestDefaults lowers requests without settings of thinking.
func TestDefaults(t *testing.T) {
	const off, auto = upstream.ThinkingOff, upstream.ThinkingAuto
	older := upstream.Defaults{Format: "client", Thinking: off, Display: "summarized"}
	newer := upstream.Defaults{Format: "client", Thinking: auto, Display: "omitted"}
	dial := func(x Dial) func(t *Target) { return func(t *Target) { t.Thinking.Dial = &x } }
	levels := func(x Levels) func(t *Target) { return func(t *Target) { t.Thinking.Levels = &x } }
	silent := func(d upstream.Defaults) upstream.Request { return upstream.Request{Defaults: d} }
	sends := func(effort string) func(r *Request) {
		return func(r *Request) { r.Thinking.Effort, r.Effort = effort, effort }
	}
	becomes := func(x upstream.Thinking) func(r *Request) { return func(r *Request) { r.Thinking = x } }
	reported := []Loss{lost(ThinkingByDefault, "thinking")}
	some := []string{"low", "medium", "high"}
	all := append([]string{"none"}, some...)
	testSettings(t, []settingsCase{
		{name: "off, by an effort", target: whose(auto, dial(Dial{Efforts: all})), from: silent(older), to: sends("none")},
		{name: "off, by the least effort", target: whose(auto, dial(Dial{Efforts: some})), from: silent(older), to: sends("low"), losses: reported},
		{name: "off, as the model is", target: whose(off, dial(Dial{Efforts: all})), from: silent(older)},
		{name: "off, for an unknown model", target: dial(Dial{Efforts: all}), from: silent(older)},
		{name: "off, which the server refuses", target: whose(auto, dial(Dial{Refused: true})), from: silent(older), losses: reported},
		{name: "unknown", target: whose(auto, dial(Dial{Efforts: all})), from: silent(upstream.Defaults{Format: "client"})},
		{name: "of the target's format", target: whose(auto, dial(Dial{Efforts: all})), from: silent(upstream.Defaults{Format: own, Thinking: off})},
		{name: "an effort", target: whose(auto, dial(Dial{Efforts: all})),
			from: upstream.Request{Defaults: older, Thinking: upstream.Thinking{Effort: "high"}}, to: sends("high")},
		{name: "on, by an effort", target: whose(off, dial(Dial{Efforts: all, Display: DisplayWords})), from: silent(newer),
			to: func(r *Request) {
				sends("medium")(r)
				r.Thinking.Display = "omitted"
			}, losses: reported},
		{name: "on, which the model cannot", target: whose(off, dial(Dial{Never: true})), from: silent(newer), losses: reported},

		{name: "off, by a budget", target: whose(auto, levels(Levels{Budgets: &Budgets{Low: 1, High: 9, Off: true}})), from: silent(older),
			to: becomes(upstream.Thinking{Mode: off})},
		{name: "off, by the lowest budget", target: whose(auto, levels(Levels{Budgets: &Budgets{Low: 7, High: 9}})), from: silent(older),
			to: becomes(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: value(int64(7)), Display: "omitted"}), losses: reported},
		{name: "off, by the lowest level", target: whose(auto, levels(Levels{MinLevel: "low", MaxBudget: 9, Shown: true})), from: silent(older),
			to: becomes(upstream.Thinking{Effort: "low"}), losses: reported},

		{name: "shown", target: levels(Levels{Shown: true}), from: upstream.Request{Defaults: older, Thinking: upstream.Thinking{Mode: auto}},
			to: becomes(upstream.Thinking{Mode: auto, Display: "summarized"})},
		{name: "not shown", target: levels(Levels{Shown: true}), from: upstream.Request{Defaults: newer, Thinking: upstream.Thinking{Mode: auto}},
			to: becomes(upstream.Thinking{Mode: auto, Display: "omitted"})},
	})
}

func TestDial(t *testing.T) {
	think := func(x upstream.Thinking) upstream.Request { return upstream.Request{Thinking: x} }
	dial := func(x Dial) func(t *Target) {
		return func(t *Target) {
			d := x
			t.Thinking.Dial = &d
		}
	}
	sends := func(x upstream.Thinking) func(r *Request) {
		return func(r *Request) { r.Thinking, r.Effort = x, x.Effort }
	}
	efforts := []string{"none", "low", "high"}
	const off, auto, budget, between = upstream.ThinkingOff, upstream.ThinkingAuto, upstream.ThinkingBudget, upstream.ThinkingBetweenTools
	function := content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}
	tool := func(x upstream.Thinking) upstream.Request {
		return upstream.Request{Thinking: x, Tools: []content.Tool{function}}
	}
	testSettings(t, []settingsCase{
		{name: "nothing", target: dial(Dial{Efforts: efforts})},
		{name: "an effort", target: dial(Dial{Efforts: efforts}), from: think(upstream.Thinking{Effort: "low"}), to: sends(upstream.Thinking{Effort: "low"})},
		{
			name: "the nearest effort", target: dial(Dial{Efforts: efforts}), from: think(upstream.Thinking{Mode: auto, Effort: "medium"}),
			to: sends(upstream.Thinking{Effort: "low"}), losses: []Loss{lost(EffortNearest, "thinking.effort")},
		},
		{
			name: "an unknown effort", target: dial(Dial{Efforts: []string{"high"}}), from: think(upstream.Thinking{Effort: "odd"}),
			to: sends(upstream.Thinking{Effort: "high"}), losses: []Loss{lost(EffortNearest, "thinking.effort")},
		},
		{
			name: "a budget", target: dial(Dial{Efforts: efforts}), from: think(upstream.Thinking{Mode: budget, Budget: value(int64(9000))}),
			to: sends(upstream.Thinking{Effort: "high"}), losses: []Loss{lost(BudgetAsEffort, "thinking.budget")},
		},
		{
			name: "a budget beside an effort", target: dial(Dial{Efforts: efforts}), from: think(upstream.Thinking{Mode: budget, Budget: value(int64(9000)), Effort: "low"}),
			to: sends(upstream.Thinking{Effort: "low"}), losses: []Loss{lost(BudgetOmitted, "thinking.budget")},
		},
		{
			name: "a budget without a mode", target: dial(Dial{Efforts: efforts}), from: think(upstream.Thinking{Budget: value(int64(9000))}),
			to: sends(upstream.Thinking{}), losses: []Loss{lost(BudgetAlone, "thinking.budget")},
		},
		{name: "off", target: dial(Dial{Efforts: efforts}), from: think(upstream.Thinking{Mode: off}), to: sends(upstream.Thinking{Effort: "none"})},
		{
			name: "off, which the model cannot", target: dial(Dial{Efforts: []string{"high", "low"}}), from: think(upstream.Thinking{Mode: off, Effort: "max"}),
			to:     sends(upstream.Thinking{Effort: "low"}),
			losses: []Loss{lost(EffortOff, "thinking.effort"), lost(ModeOff, "thinking.mode")},
		},
		{
			name: "a budget, for a model that cannot think", target: dial(Dial{Never: true}),
			from: think(upstream.Thinking{Mode: budget, Budget: value(int64(9000)), Effort: "low"}),
			to:   sends(upstream.Thinking{}), losses: []Loss{lost(ModeNone, "thinking.mode"), lost(ModeNone, "thinking.effort"), lost(ModeNone, "thinking.budget")},
		},
		{
			name: "an effort, for a model without known efforts", target: dial(Dial{}), from: think(upstream.Thinking{Mode: auto, Effort: "low"}),
			to: sends(upstream.Thinking{}), losses: []Loss{lost(ModeOn, "thinking.mode"), lost(ModeOn, "thinking.effort")},
		},
		{name: "off, which the model always is", target: dial(Dial{Never: true}), from: think(upstream.Thinking{Mode: off}), to: sends(upstream.Thinking{})},
		{
			name: "on, which the model cannot", target: dial(Dial{Never: true}), from: think(upstream.Thinking{Mode: between}),
			to: sends(upstream.Thinking{}), losses: []Loss{lost(ModeNone, "thinking.mode")},
		},
		{
			name: "on, by an effort", target: whose(off, dial(Dial{Efforts: append(efforts, "medium")})), from: think(upstream.Thinking{Mode: auto}),
			to: sends(upstream.Thinking{Effort: "medium", Mode: ""}), losses: []Loss{lost(ModeAuto, "thinking.mode")},
		},
		{name: "on, as by default", target: dial(Dial{Efforts: efforts}), from: think(upstream.Thinking{Mode: auto}), to: sends(upstream.Thinking{Mode: auto})},
		{
			name: "refused", target: dial(Dial{Refused: true}), from: think(upstream.Thinking{Effort: "low"}),
			to: sends(upstream.Thinking{}), losses: []Loss{lost(EffortRefused, "thinking")},
		},
		{
			name: "unknown mode", target: dial(Dial{Efforts: efforts}), from: think(upstream.Thinking{Mode: "odd", Effort: "low"}),
			to: sends(upstream.Thinking{Effort: "low"}), losses: []Loss{lost(ModeUnknown, "thinking.mode")},
		},

		{
			name: "switch on", target: dial(Dial{Efforts: efforts, Switch: "think"}), from: think(upstream.Thinking{Effort: "low"}),
			to: func(r *Request) {
				sends(upstream.Thinking{Mode: auto, Effort: "low"})(r)
				r.Switch = SwitchOn
			},
		},
		{
			name: "switch off", target: dial(Dial{Efforts: efforts, Switch: "think"}),
			from: upstream.Request{Thinking: upstream.Thinking{Mode: off}, Extra: &content.Extra{Format: own, JSON: `{"think":1,"a":2}`}},
			to: func(r *Request) {
				r.Switch, r.Extra = SwitchOff, &content.Extra{Format: own, JSON: `{"a":2}`}
			},
			losses: []Loss{lost(MemberReplaced, "extra.think")},
		},
		{
			name: "switch refused", target: dial(Dial{Efforts: efforts, Switch: "think", SwitchRefused: true}), from: think(upstream.Thinking{Mode: auto}),
			to: sends(upstream.Thinking{}), losses: []Loss{lost(ModeOn, "thinking.mode")},
		},

		{
			name: "tools, without an effort", target: dial(Dial{Efforts: efforts, Tools: DialToolsDefault}), from: tool(upstream.Thinking{}),
		},
		{
			name: "tools, with an effort", target: dial(Dial{Efforts: efforts, Tools: DialToolsDefault}), from: tool(upstream.Thinking{Effort: "low"}),
			to: sends(upstream.Thinking{Effort: "none"}), losses: []Loss{lost(EffortTools, "thinking")},
		},
		{
			name: "tools, off", target: dial(Dial{Efforts: efforts, Tools: DialToolsOff}), from: tool(upstream.Thinking{}),
			to: sends(upstream.Thinking{Effort: "none"}), losses: []Loss{lost(EffortTools, "thinking")},
		},
		{name: "tools, rejected", target: dial(Dial{Tools: DialToolsRejected}), from: tool(upstream.Thinking{}), errors: "tools: this model"},

		{
			name: "hidden", target: dial(Dial{Efforts: efforts, Display: DisplayHidden}), from: think(upstream.Thinking{Mode: auto, Display: "full"}),
			to: sends(upstream.Thinking{Mode: auto}), losses: []Loss{lost(DisplayNever, "thinking.display")},
		},
		{
			name: "what there is, hidden", target: dial(Dial{Efforts: efforts, Display: DisplayHidden}), from: think(upstream.Thinking{Effort: "low", Display: "auto"}),
			to: sends(upstream.Thinking{Effort: "low"}),
		},
		{
			name: "what there is, as a summary", target: dial(Dial{Efforts: efforts, Display: DisplayWords}), from: think(upstream.Thinking{Effort: "low", Display: "auto"}),
			to: sends(upstream.Thinking{Effort: "low", Display: "auto"}),
		},
		{
			name: "what there is, without thinking", target: dial(Dial{Never: true, Display: DisplayWords}), from: think(upstream.Thinking{Display: "auto"}),
			to: sends(upstream.Thinking{}),
		},
		{
			name: "what there is, refused", target: dial(Dial{Efforts: efforts, Display: DisplayRejects}), from: think(upstream.Thinking{Effort: "low", Display: "auto"}),
			to: sends(upstream.Thinking{Effort: "low", Display: "omitted"}),
		},
		{
			name: "summary by default", target: dial(Dial{Efforts: efforts, Display: DisplayWords}), from: think(upstream.Thinking{Mode: auto}),
			to: sends(upstream.Thinking{Mode: auto, Display: "auto"}),
		},
		{
			name: "all, as a summary", target: dial(Dial{Efforts: efforts, Display: DisplayWords}), from: think(upstream.Thinking{Effort: "low", Display: "full"}),
			to: sends(upstream.Thinking{Effort: "low", Display: "detailed"}), losses: []Loss{lost(DisplaySummary, "thinking.display")},
		},
		{
			name: "summary without thinking", target: dial(Dial{Never: true, Display: DisplayWords}), from: think(upstream.Thinking{Display: "full"}),
			to: sends(upstream.Thinking{}), losses: []Loss{lost(DisplayNoThinking, "thinking.display")},
		},
		{
			name: "summary, refused", target: dial(Dial{Efforts: efforts, Display: DisplayRejects}), from: think(upstream.Thinking{Mode: auto}),
			to: sends(upstream.Thinking{Mode: auto, Display: "omitted"}), losses: []Loss{lost(DisplayRefused, "thinking.display")},
		},
		{
			name: "not carried", target: func(t *Target) { dial(Dial{})(t); t.Thinking.NotCarried = true },
			losses: []Loss{lost(ThinkingNotCarried, "thinking")},
		},
		{
			name: "no control", target: func(t *Target) { t.Thinking = ThinkingRules{} },
			from: think(upstream.Thinking{Mode: auto, Effort: "low", Display: "full"}), to: sends(upstream.Thinking{}),
			losses: []Loss{lost(ModeNone, "thinking.mode"), lost(ModeNone, "thinking.effort")},
		},
		{
			name: "no control, an unknown mode", target: func(t *Target) { t.Thinking = ThinkingRules{} },
			from: think(upstream.Thinking{Mode: "odd", Budget: value(int64(7)), Display: "full", Extra: &content.Extra{Format: own, JSON: `{"a":1}`}}),
			to:   sends(upstream.Thinking{}),
			losses: []Loss{lost(OwnMembers, "thinking.extra"), lost(ModeUnknown, "thinking.mode"), lost(BudgetAlone, "thinking.budget"),
				lost(DisplayNoThinking, "thinking.display"),
			},
		},
	})
}

func TestModes(t *testing.T) {
	const off, auto, budget, between = upstream.ThinkingOff, upstream.ThinkingAuto, upstream.ThinkingBudget, upstream.ThinkingBetweenTools
	think := func(x upstream.Thinking) upstream.Request {
		return upstream.Request{Thinking: x, MaxTokens: value(int64(20000))}
	}
	format := func(t *Target) { t.Thinking.Modes = &Modes{Member: "thinking", StepThinking: true} }
	model := func(m ModelModes) func(t *Target) {
		return func(t *Target) {
			t.Thinking.Modes = &Modes{Model: &m, StepThinking: true}
			t.Limit.Default = 30000
		}
	}
	budgets := ModelModes{Known: true, Budgets: true, Off: true}
	adaptive := ModelModes{Known: true, Adaptive: true, Off: true, Efforts: true, HighOff: true}
	always := ModelModes{Known: true, Adaptive: true, Efforts: true}
	becomes := func(x upstream.Thinking) func(r *Request) { return func(r *Request) { r.Thinking = x } }
	call := []content.Turn{
		user(text("a")), assistant(&content.ToolUse{ID: "1", Name: "f", Input: "{}"}),
		user(&content.ToolResult{ID: "1", Name: "f", Parts: []content.Part{text("b")}}),
	}
	function := content.Tool{Name: "f", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}
	testSettings(t, []settingsCase{
		{name: "format: a budget", target: format, from: think(upstream.Thinking{Mode: budget, Budget: value(int64(7)), Display: "omitted"})},
		{
			name: "format: what it does not have", target: format, from: think(upstream.Thinking{Mode: auto, Effort: "minimal", Display: "full"}),
			to:     becomes(upstream.Thinking{Mode: auto, Effort: "low", Display: "summarized"}),
			losses: []Loss{lost(DisplaySummary, "thinking.display"), lost(EffortNearest, "thinking.effort")},
		},
		{
			name: "format: a display that it does not have", target: format, from: think(upstream.Thinking{Mode: auto, Display: "odd"}),
			to: becomes(upstream.Thinking{Mode: auto}), losses: []Loss{lost(DisplayUnknown, "thinking.display")},
		},
		{name: "format: a display of its own", target: format, from: think(upstream.Thinking{Mode: auto, Display: "updates"})},
		{
			name: "a budget without its mode", target: model(adaptive), from: think(upstream.Thinking{Budget: value(int64(7))}),
			to: becomes(upstream.Thinking{}), losses: []Loss{lost(BudgetAlone, "thinking.budget")},
		},
		{
			name: "a budget beside another mode", target: model(adaptive), from: think(upstream.Thinking{Mode: auto, Budget: value(int64(7))}),
			to: becomes(upstream.Thinking{Mode: auto}), losses: []Loss{lost(BudgetAlone, "thinking.budget")},
		},
		{
			name: "format: own members beside an unknown mode", target: format,
			from:   think(upstream.Thinking{Mode: "odd", Extra: &content.Extra{Format: own, JSON: `{"a":1}`}}),
			to:     becomes(upstream.Thinking{Extra: &content.Extra{Format: own, JSON: `{"a":1}`}}),
			losses: []Loss{lost(ModeUnknown, "thinking.mode")},
		},
		{
			name: "the largest budget", target: model(budgets), from: upstream.Request{Thinking: upstream.Thinking{Mode: budget, Budget: value(int64(math.MaxInt64))}},
			to: func(r *Request) {
				r.MaxTokens, r.Thinking.Budget = value(int64(math.MaxInt64)), value(int64(math.MaxInt64-1))
			},
			losses: []Loss{lost(BudgetRange, "thinking.budget")},
		},
		{
			name: "format: without a mode", target: format, from: think(upstream.Thinking{Budget: value(int64(7)), Effort: "odd", Display: "full"}),
			to:     becomes(upstream.Thinking{}),
			losses: []Loss{lost(BudgetAlone, "thinking.budget"), lost(DisplayNone, "thinking.display"), lost(EffortUnknown, "thinking.effort")},
		},
		{
			name: "format: a mode of its own", target: format,
			from: upstream.Request{Thinking: upstream.Thinking{Budget: value(int64(7))}, Extra: &content.Extra{Format: own, JSON: `{"thinking":{}}`}},
		},
		{
			name: "format: unknown mode", target: format, from: think(upstream.Thinking{Mode: "odd", Display: "full", Effort: "low"}),
			to: becomes(upstream.Thinking{Effort: "low"}), losses: []Loss{lost(ModeUnknown, "thinking.mode")},
		},
		{
			name: "format: the display of thinking between tool calls", target: format, from: think(upstream.Thinking{Mode: between, Display: "omitted"}),
			to: becomes(upstream.Thinking{Mode: between}), losses: []Loss{lost(DisplayNone, "thinking.display")},
		},

		{
			name: "what there is, adaptive", target: model(adaptive), from: think(upstream.Thinking{Effort: "low", Display: "auto"}),
			to: becomes(upstream.Thinking{Mode: auto, Effort: "low", Display: "summarized"}),
		},
		{
			name: "what there is, with budgets", target: model(budgets), from: think(upstream.Thinking{Effort: "low", Display: "auto"}),
			to:     becomes(upstream.Thinking{Mode: budget, Budget: value(int64(1024))}),
			losses: []Loss{lost(EffortAsBudget, "thinking.effort")},
		},
		{name: "what there is, unknown model", target: model(ModelModes{}), from: think(upstream.Thinking{Display: "auto"}), to: becomes(upstream.Thinking{})},
		{name: "a budget", target: model(budgets), from: think(upstream.Thinking{Mode: budget, Budget: value(int64(2000))})},
		{
			name: "a small budget", target: model(budgets), from: think(upstream.Thinking{Mode: budget, Budget: value(int64(7))}),
			to:     becomes(upstream.Thinking{Mode: budget, Budget: value(int64(1024))}),
			losses: []Loss{lost(BudgetRange, "thinking.budget")},
		},
		{
			name: "a budget beyond the limit", target: model(budgets), from: think(upstream.Thinking{Mode: budget, Budget: value(int64(30000))}),
			to:     becomes(upstream.Thinking{Mode: budget, Budget: value(int64(19999))}),
			losses: []Loss{lost(BudgetRange, "thinking.budget")},
		},
		{
			name: "a budget beyond the default limit", target: model(budgets), from: upstream.Request{Thinking: upstream.Thinking{Mode: budget, Budget: value(int64(40000))}},
			to: func(r *Request) { r.MaxTokens = value(int64(70000)) },
		},
		{
			name: "no room for a budget", target: model(budgets),
			from:   upstream.Request{MaxTokens: value(int64(100)), Thinking: upstream.Thinking{Mode: budget, Budget: value(int64(2000)), Display: "full"}},
			to:     becomes(upstream.Thinking{Mode: off}),
			losses: []Loss{lost(BudgetNone, "thinking.budget")},
		},
		{
			name: "automatic, as a budget", target: model(budgets), from: think(upstream.Thinking{Mode: auto}),
			to: becomes(upstream.Thinking{Mode: budget, Budget: value(int64(8192))}), losses: []Loss{lost(ModeAuto, "thinking.mode")},
		},
		{
			name: "automatic, as a budget that leaves room for text", target: model(budgets),
			from:   upstream.Request{Thinking: upstream.Thinking{Mode: auto}, MaxTokens: value(int64(4000))},
			to:     becomes(upstream.Thinking{Mode: budget, Budget: value(int64(2000))}),
			losses: []Loss{lost(ModeAuto, "thinking.mode")},
		},
		{
			name: "automatic with an effort, as a budget", target: model(budgets), from: think(upstream.Thinking{Mode: auto, Effort: "low", Display: "summarized"}),
			to:     becomes(upstream.Thinking{Mode: budget, Budget: value(int64(1024)), Display: "summarized"}),
			losses: []Loss{lost(EffortAsBudget, "thinking.effort")},
		},
		{
			name: "a budget, as automatic", target: model(adaptive), from: think(upstream.Thinking{Mode: budget, Budget: value(int64(2000))}),
			to: becomes(upstream.Thinking{Mode: auto}), losses: []Loss{lost(BudgetAuto, "thinking.budget")},
		},
		{
			name: "an effort, as a budget", target: model(budgets), from: think(upstream.Thinking{Effort: "medium"}),
			to:     becomes(upstream.Thinking{Mode: budget, Budget: value(int64(8192))}),
			losses: []Loss{lost(EffortAsBudget, "thinking.effort")},
		},
		{name: "an effort", target: model(adaptive), from: think(upstream.Thinking{Effort: "medium"}), to: becomes(upstream.Thinking{Mode: auto, Effort: "medium"})},
		{
			name: "the least effort", target: model(adaptive), from: think(upstream.Thinking{Effort: "minimal"}),
			to: becomes(upstream.Thinking{Mode: off, Effort: "low"}), losses: []Loss{lost(EffortNearest, "thinking.effort")},
		},
		{
			name: "the highest effort, off", target: model(adaptive), from: think(upstream.Thinking{Mode: off, Effort: "max"}),
			to: becomes(upstream.Thinking{Mode: off, Effort: "high"}), losses: []Loss{lost(EffortNearest, "thinking.effort")},
		},
		{
			name: "off, which the model cannot", target: model(always), from: think(upstream.Thinking{Mode: off}),
			to: becomes(upstream.Thinking{Mode: auto, Effort: "low"}), losses: []Loss{lost(ModeOff, "thinking.mode")},
		},
		{
			name: "shown, as by default", target: whose(auto, model(always)), from: think(upstream.Thinking{Display: "summarized"}),
			to: becomes(upstream.Thinking{Mode: auto, Display: "summarized"}),
		},
		{
			name: "no thinking", target: model(ModelModes{Known: true, Never: true, Off: true}), from: think(upstream.Thinking{Mode: between, Effort: "low", Display: "full"}),
			to:     becomes(upstream.Thinking{}),
			losses: []Loss{lost(ModeNone, "thinking.mode"), lost(EffortNone, "thinking.effort")},
		},
		{
			name: "nothing to turn off", target: model(ModelModes{Known: true, Never: true, Off: true}), from: think(upstream.Thinking{Mode: off}),
			to: becomes(upstream.Thinking{}),
		},
		{
			name: "a required call", target: model(budgets),
			from: upstream.Request{
				MaxTokens: value(int64(9000)), Thinking: upstream.Thinking{Mode: budget, Budget: value(int64(2000))},
				Choice: content.ToolChoice{Mode: content.ChoiceAny}, Tools: []content.Tool{function},
			},
			to: becomes(upstream.Thinking{Mode: off}), losses: []Loss{lost(ModeForcedTool, "thinking.mode")},
		},
		{
			name: "a call without its thinking", target: model(budgets),
			from: upstream.Request{
				MaxTokens: value(int64(9000)), Thinking: upstream.Thinking{Mode: budget, Budget: value(int64(2000))},
				Turns: call, Tools: []content.Tool{function},
			},
			to: becomes(upstream.Thinking{Mode: off}), losses: []Loss{lost(ModeMissing, "thinking.mode")},
		},
		{
			name: "a call without its thinking, beside an effort", target: model(budgets),
			from: upstream.Request{MaxTokens: value(int64(9000)), Thinking: upstream.Thinking{Effort: "low"}, Turns: call, Tools: []content.Tool{function}},
			to:   becomes(upstream.Thinking{Mode: off}), losses: []Loss{lost(ModeMissing, "thinking.mode")},
		},
	})
}

func TestLevels(t *testing.T) {
	const off, auto, budget, between = upstream.ThinkingOff, upstream.ThinkingAuto, upstream.ThinkingBudget, upstream.ThinkingBetweenTools
	think := func(x upstream.Thinking) upstream.Request { return upstream.Request{Thinking: x} }
	becomes := func(x upstream.Thinking) func(r *Request) { return func(r *Request) { r.Thinking = x } }
	levels := func(x Levels) func(t *Target) { return func(t *Target) { t.Thinking.Levels = &x } }
	format := levels(Levels{})
	leveled := levels(Levels{MinLevel: "low", MaxBudget: 5000, Shown: true})
	budgeted := levels(Levels{Budgets: &Budgets{Low: 100, High: 5000}, Shown: true})
	testSettings(t, []settingsCase{
		{name: "format: a level", target: format, from: think(upstream.Thinking{Effort: "minimal", Display: "omitted"})},
		{name: "format: a budget", target: format, from: think(upstream.Thinking{Mode: budget, Budget: value(int64(7))})},
		{
			name: "format: not both", target: format, from: think(upstream.Thinking{Mode: budget, Budget: value(int64(7)), Effort: "low"}),
			to: becomes(upstream.Thinking{Mode: budget, Budget: value(int64(7))}), losses: []Loss{lost(EffortBudget, "thinking.effort")},
		},
		{
			name: "format: both, as its own members have", from: think(upstream.Thinking{Mode: budget, Budget: value(int64(7)), Effort: "low"}),
			target: func(t *Target) {
				levels(Levels{Own: func(*content.Extra, *upstream.Thinking) bool { return true }})(t)
			},
			to:     becomes(upstream.Thinking{Mode: budget, Budget: value(int64(7))}),
			losses: []Loss{lost(EffortBudget, "thinking.effort")}, // there are no own members
		},
		{
			name: "format: a budget to be decided", target: format, from: think(upstream.Thinking{Mode: budget}),
			to: becomes(upstream.Thinking{Mode: auto}), losses: []Loss{lost(BudgetMissing, "thinking.budget")},
		},
		{
			name: "format: high and summarized", target: format, from: think(upstream.Thinking{Mode: between, Effort: "max", Display: "full"}),
			to:     becomes(upstream.Thinking{Mode: auto, Effort: "high", Display: "summarized"}),
			losses: []Loss{lost(ModeBetween, "thinking.mode"), lost(EffortNearest, "thinking.effort"), lost(DisplaySummary, "thinking.display")},
		},
		{
			name: "format: what it does not have", target: format, from: think(upstream.Thinking{Mode: "odd", Effort: "odd", Display: "odd", Budget: value(int64(7))}),
			to: becomes(upstream.Thinking{}),
			losses: []Loss{
				lost(ModeUnknown, "thinking.mode"), lost(BudgetAlone, "thinking.budget"), lost(EffortUnknown, "thinking.effort"),
				lost(DisplayUnknown, "thinking.display"),
			},
		},
		{
			name: "format: off", target: format, from: think(upstream.Thinking{Mode: off, Effort: "low"}),
			to: becomes(upstream.Thinking{Mode: off}), losses: []Loss{lost(EffortOff, "thinking.effort")},
		},

		{
			name: "levels: off", target: leveled, from: think(upstream.Thinking{Mode: off}),
			to: becomes(upstream.Thinking{Effort: "low"}), losses: []Loss{lost(ModeOff, "thinking.mode")},
		},
		{
			name: "levels: the least", target: leveled, from: think(upstream.Thinking{Mode: auto, Effort: "minimal"}),
			to: becomes(upstream.Thinking{Mode: auto, Effort: "low", Display: "summarized"}), losses: []Loss{lost(EffortNearest, "thinking.effort")},
		},
		{
			name: "levels: what there is", target: leveled, from: think(upstream.Thinking{Effort: "high", Display: "auto"}),
			to: becomes(upstream.Thinking{Effort: "high", Display: "summarized"}),
		},
		{
			name: "levels: a high budget", target: leveled, from: think(upstream.Thinking{Mode: budget, Budget: value(int64(9000)), Display: "omitted"}),
			to: becomes(upstream.Thinking{Mode: budget, Budget: value(int64(5000)), Display: "omitted"}), losses: []Loss{lost(BudgetRange, "thinking.budget")},
		},
		{
			name: "levels: of a client of the format", target: leveled,
			from: upstream.Request{Thinking: upstream.Thinking{Mode: auto}, Defaults: upstream.Defaults{Format: own}},
		},

		{
			name: "budgets: an effort", target: budgeted, from: think(upstream.Thinking{Effort: "max"}),
			to: becomes(upstream.Thinking{Mode: budget, Budget: value(int64(5000)), Display: "omitted"}), losses: []Loss{lost(EffortAsBudget, "thinking.effort")},
		},
		{
			name: "budgets: an effort and a limit", target: budgeted, from: upstream.Request{Thinking: upstream.Thinking{Effort: "low"}, MaxTokens: value(int64(1000))},
			to: func(r *Request) {
				r.Thinking = upstream.Thinking{Mode: budget, Budget: value(int64(500)), Display: "omitted"}
			},
			losses: []Loss{lost(EffortAsBudget, "thinking.effort")},
		},
		{
			name: "budgets: off", target: budgeted, from: think(upstream.Thinking{Mode: off, Display: "summarized"}),
			to:     becomes(upstream.Thinking{Mode: budget, Budget: value(int64(100)), Display: "summarized"}),
			losses: []Loss{lost(ModeOff, "thinking.mode")},
		},
		{
			name: "budgets: too small", target: budgeted, from: think(upstream.Thinking{Mode: budget, Budget: value(int64(7))}),
			to:     becomes(upstream.Thinking{Mode: budget, Budget: value(int64(100)), Display: "summarized"}),
			losses: []Loss{lost(BudgetRange, "thinking.budget")},
		},
	})
}

// TestSettingsAllocations checks that settings that need no change cost nothing.
func TestSettingsAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget at random under the race detector")
	}
	function := content.Tool{Name: "f", Description: "d", Input: content.Schema{JSON: `{"type":"object","properties":{}}`}}
	n := upstream.Request{
		MaxTokens: value(int64(9000)), Temperature: value(0.5), TopP: value(0.5), TopK: value(int64(5)), Seed: value(int64(1)),
		StopSequences: []string{"a"}, UserID: "u", ServiceTier: "t", Stream: true,
		Thinking: upstream.Thinking{Mode: upstream.ThinkingAuto}, Tools: []content.Tool{function, function},
		Choice: content.ToolChoice{Mode: content.ChoiceAny},
	}
	target := with(func(t *Target) {
		t.Limit.Max = 10000
		t.Identity = IdentityRules{User: 10, Tiers: map[string]string{"t": "t"}}
		t.Thinking.Modes = &Modes{Model: &ModelModes{Known: true, Adaptive: true}}
	})
	to := &Request{Request: n}
	got := testing.AllocsPerRun(100, func() {
		*to = Request{Request: n}
		l := lowering{t: target, n: &n, to: to}
		l.members()
		l.output()
		l.tools()
		l.choice()
		l.limit()
		l.thinking()
		l.sampling()
		l.identity()
		if len(l.log.reports) > 0 {
			t.Fatal(Losses(l.log.reports))
		}
	})
	if got > 0 {
		t.Errorf("%v allocations", got)
	}
}
