package anthropic

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

func TestFamilyOf(t *testing.T) {
	for name, want := range map[string]family{
		"claude-opus-4-5-20251101":                   {"opus", 45},
		"claude-opus-5-5":                            {"opus", 55},
		"claude-sonnet-5":                            {"sonnet", 50},
		"claude-sonnet-4-20250514":                   {"sonnet", 40},
		"claude-haiku-4-5@20251001":                  {"haiku", 45},
		"claude-3-5-sonnet-20241022":                 {"sonnet", 35},
		"claude-3-opus-latest":                       {"opus", 30},
		"claude-3.7-sonnet":                          {"sonnet", 37},
		"us.anthropic.claude-opus-4-1-20250805-v1:0": {"opus", 41},
		"anthropic/claude-fable-5-1":                 {"fable", 51},
		"Claude-Mythos-5":                            {"mythos", 50},
		"claude-mythos-preview":                      {},
		"claude-2.1":                                 {},
		"claude-instant":                             {},
		"gpt-5":                                      {},
		"my-claude-opus-house-blend":                 {},
		"claude-opus-4-6-fast":                       {"opus", 46},
		"":                                           {},
	} {
		if got := familyOf(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// A fitted is the part of a fitted request that tests compare.
type fitted struct {
	Thinking upstream.ThinkingMode
	Budget   int64
	Effort   string
	Display  string
	Max      int64
	Choice   content.ChoiceMode
	T, P     float64 // 0: none
	K        int64
	Roles    string
	Tools    int
	Losses   []string
}

func ptr[T any](v T) *T { return &v }

type fitCase struct {
	name, model string
	n           upstream.Request
	want        fitted
}

func fitCases() []fitCase {
	think := func(t upstream.Thinking) upstream.Request { return upstream.Request{Thinking: t} }
	auto, off := upstream.Thinking{Mode: upstream.ThinkingAuto}, upstream.Thinking{Mode: upstream.ThinkingOff}
	budget := func(n int64) upstream.Thinking { return upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: &n} }
	between := upstream.Thinking{Mode: upstream.ThinkingBetweenTools}
	cli := upstream.Request{Temperature: ptr(1.0), TopP: ptr(0.95), TopK: ptr(int64(64))}
	must := content.ToolChoice{Mode: content.ChoiceAny}
	tool := []content.Tool{{Name: "n"}}
	system := []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "q"}}},
		{Role: content.RoleSystem, Parts: []content.Part{&content.Text{Text: "s"}}}}
	const def = defaultLimit
	return []fitCase{
		{"default limit", "claude-sonnet-5", upstream.Request{}, fitted{Max: def}},
		{"default limit of an old model", "claude-3-haiku-20240307", upstream.Request{}, fitted{Max: 4096}},
		{"limit above the model's maximum", "claude-opus-4-1", upstream.Request{MaxTokens: ptr(int64(65536))},
			fitted{Max: 32000, Losses: []string{"degraded max_tokens"}}},
		{"limit of an unknown model", "house", upstream.Request{MaxTokens: ptr(int64(999999))}, fitted{Max: 999999}},

		{"budget", "claude-sonnet-4-5", think(budget(8192)), fitted{Thinking: "budget", Budget: 8192, Max: def}},
		{"budget for a model without budgets", "claude-opus-4-8", think(budget(8192)),
			fitted{Thinking: "auto", Max: def, Losses: []string{"degraded thinking.budget"}}},
		{"small budget", "claude-sonnet-4-5", think(budget(512)),
			fitted{Thinking: "budget", Budget: 1024, Max: def, Losses: []string{"degraded thinking.budget"}}},
		{"budget above the default limit", "claude-sonnet-4-5", think(budget(40000)), fitted{Thinking: "budget", Budget: 40000, Max: 64000}},
		{"budget above the model's maximum", "claude-opus-4-5", think(budget(65535)),
			fitted{Thinking: "budget", Budget: 63999, Max: 64000, Losses: []string{"degraded thinking.budget"}}},
		{"budget equal to the model's maximum", "claude-opus-4-5", think(budget(64000)),
			fitted{Thinking: "budget", Budget: 63999, Max: 64000, Losses: []string{"degraded thinking.budget"}}},
		{"budget above the client's limit", "claude-sonnet-4-5", upstream.Request{Thinking: budget(8192), MaxTokens: ptr(int64(4000))},
			fitted{Thinking: "budget", Budget: 3999, Max: 4000, Losses: []string{"degraded thinking.budget"}}},
		{"limit below the minimum budget", "claude-sonnet-4-5", upstream.Request{Thinking: budget(8192), MaxTokens: ptr(int64(500))},
			fitted{Thinking: "off", Max: 500, Losses: []string{"degraded thinking.budget"}}},
		{"adaptive thinking", "claude-opus-4-6", think(auto), fitted{Thinking: "auto", Max: def}},
		{"adaptive thinking for a model with budgets", "claude-haiku-4-5", upstream.Request{Thinking: auto, MaxTokens: ptr(int64(9000))},
			fitted{Thinking: "budget", Budget: 4500, Max: 9000, Losses: []string{"degraded thinking.mode"}}},
		{"model without thinking", "claude-3-5-sonnet", think(auto), fitted{Max: 8192, Losses: []string{"degraded thinking.mode"}}},
		{"off", "claude-sonnet-5", think(off), fitted{Thinking: "off", Max: def}},
		{"thinking off for a model without thinking", "claude-3-5-sonnet", think(off), fitted{Max: 8192}},
		{"thinking off for a model that always thinks", "claude-fable-5", think(off), fitted{Thinking: "auto", Effort: "low", Max: def, Losses: []string{"degraded thinking.mode"}}},
		{"thinking off for a model that thinks between tool calls", "claude-sonnet-5-5", think(off),
			fitted{Thinking: "between_tools", Max: def, Losses: []string{"degraded thinking.mode"}}},
		{"thinking between tool calls", "claude-sonnet-5-5", think(between), fitted{Thinking: "between_tools", Max: def}},
		{"thinking between tool calls for another model", "claude-opus-5", think(between), fitted{Thinking: "auto", Max: def, Losses: []string{"degraded thinking.mode"}}},
		{"effort without a mode", "claude-opus-4-8", think(upstream.Thinking{Effort: "high", Display: "summarized"}),
			fitted{Thinking: "auto", Effort: "high", Display: "summarized", Max: def}},
		{"display without a mode", "claude-opus-5", think(upstream.Thinking{Display: "summarized"}),
			fitted{Thinking: "auto", Display: "summarized", Max: def}},
		{"display at the lowest effort", "claude-opus-5-5", think(upstream.Thinking{Effort: "minimal", Display: "summarized"}),
			fitted{Thinking: "auto", Effort: "low", Display: "summarized", Max: def, Losses: []string{"degraded thinking.effort"}}},
		{"omitted display", "claude-opus-5", think(upstream.Thinking{Display: "omitted"}), fitted{Max: def}},
		{"display for a model without thinking", "claude-opus-4-8", think(upstream.Thinking{Display: "summarized"}),
			fitted{Max: def, Losses: []string{"hint thinking.display"}}},
		{"effort for a model with budgets and efforts", "claude-opus-4-5", think(upstream.Thinking{Effort: "low", Display: "summarized"}),
			fitted{Thinking: "budget", Budget: 1024, Effort: "low", Display: "summarized", Max: def, Losses: []string{"degraded thinking.effort"}}},
		{"effort for a model with budgets", "claude-haiku-4-5", think(upstream.Thinking{Effort: "high"}),
			fitted{Thinking: "budget", Budget: 24576, Max: 24576 + def, Losses: []string{"degraded thinking.effort"}}},
		{"medium effort for a model with budgets", "claude-sonnet-4-5", think(upstream.Thinking{Effort: "medium"}),
			fitted{Thinking: "budget", Budget: 8192, Max: def, Losses: []string{"degraded thinking.effort"}}},
		{"high effort with a large limit", "claude-sonnet-4-5", upstream.Request{Thinking: upstream.Thinking{Effort: "high"}, MaxTokens: ptr(int64(64000))},
			fitted{Thinking: "budget", Budget: 24576, Max: 64000, Losses: []string{"degraded thinking.effort"}}},
		{"effort with a small limit", "claude-sonnet-4-5", upstream.Request{Thinking: upstream.Thinking{Effort: "high"}, MaxTokens: ptr(int64(1500))},
			fitted{Thinking: "budget", Budget: 1024, Max: 1500, Losses: []string{"degraded thinking.effort"}}},
		{"effort with a limit below the minimum budget", "claude-sonnet-4-5", upstream.Request{Thinking: upstream.Thinking{Effort: "high"}, MaxTokens: ptr(int64(500))},
			fitted{Thinking: "off", Max: 500, Losses: []string{"degraded thinking.budget"}}},
		{"lowest effort for a model with budgets", "claude-sonnet-4-5", think(upstream.Thinking{Effort: "minimal"}),
			fitted{Thinking: "off", Max: def, Losses: []string{"degraded thinking.effort"}}},
		{"effort and budget", "claude-sonnet-4-5", think(upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: ptr(int64(2000)), Effort: "low"}),
			fitted{Thinking: "budget", Budget: 2000, Max: def, Losses: []string{"degraded thinking.effort"}}},
		{"effort without thinking", "claude-opus-5", think(upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"}),
			fitted{Thinking: "off", Effort: "high", Max: def, Losses: []string{"degraded thinking.effort"}}},
		{"unknown model", "house", upstream.Request{Thinking: upstream.Thinking{Effort: "high"},
			Temperature: ptr(0.5), TopP: ptr(0.9), TopK: ptr(int64(3))},
			fitted{Effort: "high", T: 0.5, P: 0.9, K: 3, Max: def}},

		{"sampling of an old model", "claude-sonnet-4-5", cli, fitted{P: 0.95, K: 64, Max: def}},
		{"temperature and top_p", "claude-sonnet-4-5", upstream.Request{Temperature: ptr(0.2), TopP: ptr(0.9)},
			fitted{T: 0.2, Max: def, Losses: []string{"dropped top_p"}}},
		{"sampling of a new model", "claude-sonnet-5", cli, fitted{Max: def, Losses: []string{"dropped top_p", "dropped top_k"}}},
		{"sampling while it thinks", "claude-sonnet-4-5", upstream.Request{Temperature: ptr(0.2), Thinking: budget(2000)},
			fitted{Thinking: "budget", Budget: 2000, Max: def, Losses: []string{"dropped temperature"}}},
		{"all sampling while it thinks", "claude-sonnet-4-5", upstream.Request{Temperature: ptr(0.2), TopP: ptr(0.9), TopK: ptr(int64(3)), Thinking: budget(2000)},
			fitted{Thinking: "budget", Budget: 2000, Max: def, Losses: []string{"dropped temperature", "dropped top_p", "dropped top_k"}}},
		{"temperature for a model without sampling", "claude-sonnet-5", upstream.Request{Temperature: ptr(0.2)},
			fitted{Max: def, Losses: []string{"dropped temperature"}}},

		{"required tool call", "claude-sonnet-5", upstream.Request{Choice: must, Tools: tool}, fitted{Choice: "any", Tools: 1, Max: def}},
		{"required tool call for a model without it", "claude-opus-5-5", upstream.Request{Choice: must, Tools: tool},
			fitted{Choice: "auto", Tools: 1, Max: def, Losses: []string{"degraded choice.mode"}}},
		{"required tool call with a thinking budget", "claude-sonnet-4-5", upstream.Request{Choice: must, Tools: tool, Thinking: budget(2000)},
			fitted{Thinking: "off", Choice: "any", Tools: 1, Max: def, Losses: []string{"degraded thinking.mode"}}},
		{"system turns", "claude-opus-5-5", upstream.Request{Turns: system}, fitted{Roles: "user system ", Max: def}},
		{"system turns for a model without them", "claude-sonnet-5", upstream.Request{Turns: system},
			fitted{Roles: "user user ", Max: def, Losses: []string{"degraded turns.1"}}},
		{"system turns of an unknown model", "house", upstream.Request{Turns: system},
			fitted{Roles: "user user ", Max: def, Losses: []string{"degraded turns.1"}}},
		{"tool calls without tools", "house", upstream.Request{Turns: []content.Turn{
			{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "1", Name: "a"}, &content.ToolUse{ID: "2", Name: "b"}, &content.ToolUse{ID: "3", Name: "a"}}},
			{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "1"}, &content.ToolResult{ID: "2"}, &content.ToolResult{ID: "3"}}}}}, fitted{Roles: "assistant user ", Tools: 2, Choice: "none", Max: def, Losses: []string{"hint tools"}}},
	}
}

// lowered returns what a model gets of a request.
func lowered(t *testing.T, model string, n *upstream.Request) (*lower.Request, []content.Loss, error) {
	t.Helper()
	c, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := c.plan(n.WithModel(model))
	return p.Request, p.Losses, p.Err
}

func TestTarget(t *testing.T) {
	for _, tt := range fitCases() {
		t.Run(tt.name, func(t *testing.T) {
			if len(tt.n.Turns) == 0 {
				tt.n.Turns = []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "q"}}}}
			}
			before := tt.n.Clone()
			n, losses, err := lowered(t, tt.model, &tt.n)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, look(&n.Request, losses)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tt.n.Clone()); diff != "" {
				t.Errorf("the request itself was changed:\n%s", diff)
			}
		})
	}
}

// TestAssistantFirst tests a conversation that begins with the assistant. Models since 4.5
// accept it.
func TestAssistantFirst(t *testing.T) {
	n := &upstream.Request{Turns: []content.Turn{
		{Role: content.RoleAssistant, Parts: []content.Part{&content.Text{Text: "Welcome"}}},
		{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "hi"}}},
	}}
	for model, want := range map[string]int{"claude-opus-4-1": 3, "claude-sonnet-4-5": 2, "house": 2} {
		r, losses, err := lowered(t, model, n)
		if err != nil || len(r.Turns) != want || lossplaces.Has(losses, lower.AssistantFirst.At("turns.0")) != (want == 3) {
			t.Errorf("%s: %d turns, want %d; %v, %v", model, len(r.Turns), want, losses, err)
		}
	}
}

func look(n *upstream.Request, losses []content.Loss) fitted {
	f := fitted{Thinking: n.Thinking.Mode, Effort: n.Thinking.Effort, Display: n.Thinking.Display, Max: *n.MaxTokens, Choice: n.Choice.Mode, Tools: len(n.Tools)}
	if n.Thinking.Budget != nil {
		f.Budget = *n.Thinking.Budget
	}
	if n.Temperature != nil {
		f.T = *n.Temperature
	}
	if n.TopP != nil {
		f.P = *n.TopP
	}
	if n.TopK != nil {
		f.K = *n.TopK
	}
	if len(n.Turns) > 1 {
		for _, turn := range n.Turns {
			f.Roles += string(turn.Role) + " "
		}
	}
	f.Losses = append(f.Losses, lossplaces.Names(losses)...)
	return f
}

// TestMissingThinking tests which missing thinking blocks disable thinking.
func TestMissingThinking(t *testing.T) {
	use, result, text := &content.ToolUse{ID: "1", Name: "n"}, &content.ToolResult{ID: "1"}, &content.Text{Text: "t"}
	thinking := &content.Thinking{Text: "why", Signature: content.Signature{Format: messages.Format, Data: "s"}}
	budget := int64(2000)
	for _, tt := range []struct {
		mode    upstream.ThinkingMode
		turns   [][]content.Part
		missing bool
	}{
		{upstream.ThinkingBudget, [][]content.Part{{text}, {use}, {result}}, true},
		{upstream.ThinkingBudget, [][]content.Part{{text}, {text, use}, {result}}, true},
		{upstream.ThinkingBudget, [][]content.Part{{text}, {thinking, use}, {result}}, false},
		{upstream.ThinkingBudget, [][]content.Part{{text}, {use}, {result}, {text}, {text}}, false},
		{upstream.ThinkingAuto, [][]content.Part{{text}, {use}, {result}}, false},
		{upstream.ThinkingBudget, [][]content.Part{{text}}, false},
		// Only the first step of a tool loop must begin with thinking.
		{upstream.ThinkingBudget, [][]content.Part{{text}, {thinking, use}, {result}, {use}, {result}}, false},
		{upstream.ThinkingBudget, [][]content.Part{{text}, {use}, {result}, {thinking, use}, {result}}, true},
		// Other parts besides results end a loop.
		{upstream.ThinkingBudget, [][]content.Part{{text}, {thinking, use}, {result}, {use}, {result, text}}, true},
		{upstream.ThinkingBudget, [][]content.Part{{text}, {use}, {result}, {thinking, use}, {result, text}}, false},
	} {
		n := &upstream.Request{Thinking: upstream.Thinking{Mode: tt.mode, Budget: &budget}, Tools: []content.Tool{{Name: "n"}}}
		for i, p := range tt.turns {
			role := content.RoleUser
			if i%2 == 1 {
				role = content.RoleAssistant
			}
			n.Turns = append(n.Turns, content.Turn{Role: role, Parts: p})
		}
		r, losses, err := lowered(t, "house", n)
		if err != nil {
			t.Fatal(err)
		}
		reported := lossplaces.Has(losses, lower.ModeMissing.At("thinking.mode"))
		if off := r.Thinking.Mode == upstream.ThinkingOff; off != tt.missing || reported != tt.missing {
			t.Errorf("%s %v: off is %v, reported is %v", tt.mode, tt.turns, off, reported)
		}
	}
}

// TestPrefill checks conversations that end with the assistant. Models from 4.6 on refuse such
// a text, but not an unfinished call of a tool of the server, which they continue.
func TestPrefill(t *testing.T) {
	text := []content.Part{&content.Text{Text: "t"}}
	call := []content.Part{&content.Text{Text: "t"}, &content.ServerToolUse{Format: "messages", Kind: "server_tool_use", ID: "srvtoolu_1", Name: "web_search", Input: "{}"}}
	rest := []content.Part{&content.Text{Text: "(Continue your last message.)"}}
	for _, tt := range []struct {
		model string
		last  []content.Part
		want  [][]content.Part
		lost  bool
	}{
		{"claude-sonnet-4-5", text, [][]content.Part{text, text}, false},
		{"claude-opus-4-6", text, [][]content.Part{text, text, rest}, true},
		{"claude-sonnet-5", text, [][]content.Part{text, text, rest}, true},
		{"claude-sonnet-5", call, [][]content.Part{text, call}, false},
		{"house", text, [][]content.Part{text, text}, false},
	} {
		r, losses, err := lowered(t, tt.model, &upstream.Request{Turns: []content.Turn{{Role: content.RoleUser, Parts: text}, {Role: content.RoleAssistant, Parts: tt.last}}})
		if err != nil {
			t.Fatal(err)
		}
		var got [][]content.Part
		for _, turn := range r.Turns {
			got = append(got, turn.Parts)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.model, diff)
		}
		if lost := lossplaces.Has(losses, lower.AssistantLast.At("turns.1.parts.0")); lost != tt.lost {
			t.Errorf("%s: losses %v", tt.model, losses)
		}
	}
}
