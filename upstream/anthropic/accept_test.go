package anthropic_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	fakes "github.com/polywire/polywire/internal/test/fake/anthropic"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// models has one model of each family that accepts different settings.
var models = []string{"claude-3-5-sonnet-20241022", "claude-opus-4-1", "claude-haiku-4-5-20251001", "claude-opus-4-5", "claude-opus-4-6",
	"claude-opus-4-8", "claude-sonnet-5", "claude-opus-5", "claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-1", "house-blend"}

func value[T any](v T) *T { return &v }

func parts(p ...content.Part) []content.Part { return p }

func text(s string) *content.Text { return &content.Text{Text: s} }

const jpeg = "/9j/4AAQSkZJRgABAQAA"

// odd returns requests of clients of other formats.
func odd() map[string]*upstream.Request {
	const u, a, s = content.RoleUser, content.RoleAssistant, content.RoleSystem
	other := content.Format("generatecontent")
	turn := func(r content.Role, p ...content.Part) content.Turn { return content.Turn{Role: r, Parts: p} }
	ask := []content.Turn{turn(u, text("hi"))}
	tool := content.Tool{Name: "find", Input: content.Schema{JSON: `{"type":"OBJECT","properties":{"q":{"type":"STRING"}},"required":["q"]}`, OpenAPI: true}}
	search := content.Tool{Kind: "googleSearch", Format: other, Raw: "{}"}
	call := func(id, name string) *content.ToolUse {
		return &content.ToolUse{ID: id, Name: name, Input: `{"q":"x"}`}
	}
	budget := upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: value(int64(8192)), Display: "summarized"}
	loop := []content.Turn{turn(u, text("hi")), turn(a, &content.Thinking{Text: "lost"}, call("", "find"), call("", "find")),
		turn(u, &content.ToolResult{Name: "find", Object: `{"a":1}`}, &content.ToolResult{Name: "find", Error: true, Parts: parts(text("no"))})}
	return map[string]*upstream.Request{
		"plain":   {Turns: ask},
		"sampled": {Turns: ask, Temperature: value(1.0), TopP: value(0.95), TopK: value(int64(64)), Thinking: upstream.Thinking{Effort: "high", Display: "summarized"}},
		"hot":     {Turns: ask, Temperature: value(1.7), Seed: value(int64(3)), StopSequences: []string{"\n", "END"}, Candidates: 2},
		"budget":  {Turns: ask, Thinking: budget, TopK: value(int64(3))},
		"small":   {Turns: ask, Thinking: budget, MaxTokens: value(int64(512))},
		"large":   {Turns: ask, MaxTokens: value(int64(100_000)), Thinking: upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: value(int64(1))}},
		"most":    {Turns: ask, Thinking: upstream.Thinking{Mode: upstream.ThinkingBudget, Budget: value(int64(65535)), Display: "omitted"}},
		"shown":   {Turns: ask, Thinking: upstream.Thinking{Effort: "minimal", Display: "summarized"}},
		"auto":    {Turns: ask, Thinking: upstream.Thinking{Mode: upstream.ThinkingAuto}},
		"off":     {Turns: ask, Thinking: upstream.Thinking{Mode: upstream.ThinkingOff, Effort: "max"}},
		"between": {Turns: ask, Thinking: upstream.Thinking{Mode: upstream.ThinkingBetweenTools}},
		"forced": {Turns: ask, Tools: []content.Tool{tool, {Name: "bare"}}, Thinking: budget,
			Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"find"}, NoParallel: true}},
		"choice without tools":  {Turns: ask, Tools: []content.Tool{}, Choice: content.ToolChoice{Mode: content.ChoiceNone}},
		"loop without thoughts": {Turns: loop, Tools: []content.Tool{tool}, Thinking: budget},
		"loop without tools":    {Turns: loop},
		"long names": {Turns: []content.Turn{turn(u, text("hi")), turn(a, call("call.1:x", strings.Repeat("n.", 100))),
			turn(u, &content.ToolResult{ID: "call.1:x"})}, Tools: []content.Tool{{Name: strings.Repeat("n.", 100)}}},
		"split steps": {Turns: []content.Turn{turn(u, text("hi")), turn(a, text("So ")), turn(a, text(" ")), turn(a, call("1", "find")), turn(a, call("2", "find")),
			turn(u, text("and"), &content.ToolResult{ID: "2"}), turn(u, &content.ToolResult{ID: "1", Parts: parts(text(""))})}, Tools: []content.Tool{tool}},
		"unpaired": {Turns: []content.Turn{turn(u, &content.ToolResult{ID: "0", Parts: parts(text("old"))}), turn(a, call("1", "find")), turn(u, text("go on"))},
			Tools: []content.Tool{tool}},
		"system turns": {System: parts(text("be brief"), text("")), Turns: []content.Turn{turn(s, text("before all")), turn(u, text("hi")), turn(s, text("now in French")),
			turn(a, text("oui")), turn(s, text("and misplaced")), turn(u, text("hi"))}},
		"assistant first": {Turns: []content.Turn{turn(a, text("Welcome")), turn(u, text("hi"))}},
		"files": {Turns: []content.Turn{turn(u, &content.Image{Source: &content.Base64{MediaType: "image/png", Data: jpeg}},
			&content.Document{Source: &content.Base64{MediaType: "text/csv", Data: "YSxi"}, Title: strings.Repeat("t", 600)},
			&content.Document{Source: &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjcK"}}, text("hi")),
			turn(a, &content.Image{Source: &content.Base64{MediaType: "image/jpeg", Data: jpeg}}, text("a picture")), turn(u, text("more"))}},
		"files in results": {Turns: []content.Turn{turn(u, text("hi")), turn(a, call("1", "find")), turn(u, &content.ToolResult{ID: "1",
			Parts: parts(text("see"), &content.Image{Source: &content.Base64{MediaType: "image/jpeg", Data: jpeg}},
				&content.Document{Source: &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjcK"}})})}, Tools: []content.Tool{tool}},
		"an answer by a schema": {Turns: ask, Output: upstream.Output{MediaType: "application/json", Schema: content.Schema{
			JSON: `{"type":"OBJECT","properties":{"n":{"type":"INTEGER","minimum":1},"s":{"type":"STRING","maxLength":9}},"required":["n"]}`}}},
		"an answer that may be anything": {Turns: ask, Output: upstream.Output{MediaType: "application/json", Schema: content.Schema{JSON: "true"}}},
		"odd schemas": {Turns: ask, Tools: []content.Tool{
			{Name: "a", Input: content.Schema{JSON: `{"anyOf":[{"type":"object","properties":{"x":{"type":"STRING"}}},{"type":"object"}]}`}},
			{Name: "b", Input: content.Schema{JSON: `{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"x":{"enum":["a"]}}}}}`}},
			{Name: "c", Strict: new(true), Input: content.Schema{JSON: `{"type":"object","properties":{"x":{"type":"array","items":{"type":"string","maxLength":3},"maxItems":9}}}`}},
			{Name: "d", Input: content.Schema{JSON: `true`}}}},
		"tools of another vendor": {Turns: ask, Tools: []content.Tool{{Kind: "googleSearch", Format: other, Raw: "{}"}, {Kind: "googleMaps", Format: other, Raw: "{}"},
			{Kind: "codeExecution", Format: other, Raw: "{}"}, {Kind: "urlContext", Format: other, Raw: "{}"}}},
		"one tool twice":         {Turns: ask, Tools: []content.Tool{search, search}},
		"no call but a search":   {Turns: loop, Tools: []content.Tool{search, tool}, Choice: content.ToolChoice{Mode: content.ChoiceNone}},
		"a call beside a search": {Turns: ask, Tools: []content.Tool{search, tool}, Choice: content.ToolChoice{Mode: content.ChoiceAny}},
		"only other parts first": {Turns: []content.Turn{turn(a, &content.ServerToolUse{Format: other, Kind: "executableCode", Name: "c"}), turn(u, text("hi"))}},
		"vendor's parts": {Turns: []content.Turn{turn(u, text("hi")), turn(a, &content.ServerToolUse{Format: other, Kind: "executableCode", Name: "c"},
			&content.Thinking{Text: "t", Signature: content.Signature{Format: other, Data: "x"}}, text("so")), turn(u, text("more"))}},
		"a long user": {Turns: ask, UserID: strings.Repeat("u", 600), ServiceTier: "flex"},
	}
}

// TestAccepted checks that the vendor accepts requests of other formats for each family of
// models, plain, streamed and as counts.
func TestAccepted(t *testing.T) {
	for _, model := range models {
		t.Run(model, func(t *testing.T) {
			c, f := strict(t, anthropic.Options{}, fakes.Options{})
			f.Always(fake.Text("yes"))
			for name, n := range odd() {
				n.Model = model
				for _, stream := range []bool{false, true} {
					n.Stream = stream
					if _, err := upstream.Collect(t.Context(), c, n); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
				if _, err := c.CountTokens(t.Context(), n); err != nil {
					t.Errorf("%s: counting: %v", name, err)
				}
				losses, err := c.Preflight(t.Context(), n)
				r, _ := upstream.Collect(t.Context(), c, n)
				if diff := cmp.Diff(losses, r.Losses); diff != "" || err != nil {
					t.Errorf("%s: Preflight and Generate report: %v\n%s", name, err, diff)
				}
			}
			if s := refusals(f); s != "" {
				t.Errorf("the vendor has refused:\n%s", s)
			}
		})
	}
}

// TestEmptyLastMessage checks that a request without content for the model is not sent, and
// that the violation names the part or the turn.
func TestEmptyLastMessage(t *testing.T) {
	const u, a = content.RoleUser, content.RoleAssistant
	alien := &content.Unknown{Format: "generatecontent", Kind: "x", Raw: `{"x":1}`}
	turn := func(r content.Role, p ...content.Part) content.Turn { return content.Turn{Role: r, Parts: p} }
	c, f := strict(t, anthropic.Options{}, fakes.Options{})
	f.Always(fake.Text("yes"))
	for _, tt := range []struct {
		name  string
		turns []content.Turn
		want  string
	}{
		{"last message with only an unknown part", []content.Turn{turn(u, alien)}, "turns.0.parts.0"},
		{"last message with only white space", []content.Turn{turn(u, text(" \n"))}, ""},
		{"unsupported last message", []content.Turn{turn(u, text("hi")), turn(a, text("yes?")), turn(u, text(""), alien)}, "turns.2.parts.1"},
		{"empty last message", []content.Turn{turn(u, text("hi")), turn(a, text("yes?")), turn(u)}, ""},
		{"system turn after an empty message", []content.Turn{turn(u, text("hi")), turn(a, text("yes?")), turn(u, alien), turn(content.RoleSystem, text("S"))}, "turns.2.parts.0"},
		{"last message in two turns", []content.Turn{turn(u, text("hi")), turn(a, text("yes?")), turn(u, alien), turn(u, text(" "))}, "turns.2.parts.0"},
		{"last message with one text", []content.Turn{turn(u, text("hi")), turn(a, text("yes?")), turn(u, alien), turn(u, text("go on"))}, ""},
		{"unsupported earlier message", []content.Turn{turn(u, alien), turn(a, text("yes?")), turn(u, text("hi"))}, ""},
		{"assistant turn last", []content.Turn{turn(u, alien, text("hi"))}, ""},
		{"prefill", []content.Turn{turn(u, text("hi")), turn(a, text("So"))}, ""},
	} {
		n := &upstream.Request{Model: "claude-haiku-4-5", Turns: tt.turns}
		losses, err := c.Preflight(t.Context(), n)
		var violation *content.Violation
		if got := errors.As(err, &violation); got != (tt.want != "") || got && (violation.Path != tt.want || violation.Code != content.CodeUnsupported) {
			t.Errorf("%s: %v, want a violation at %q", tt.name, err, tt.want)
		}
		r, again := upstream.Collect(t.Context(), c, n)
		if (again == nil) != (err == nil) {
			t.Errorf("%s: Preflight returned %v, Generate %v", tt.name, err, again)
		}
		if diff := cmp.Diff(losses, r.Losses, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: Preflight and Generate report:\n%s", tt.name, diff)
		}
		if strings.Contains(tt.want, "parts") && !slices.ContainsFunc(lossplaces.Of(losses), func(l content.Loss) bool { return l.Path == tt.want && l.Severity == content.LossDropped }) {
			t.Errorf("%s: the dropped part is not reported: %v", tt.name, losses)
		}
	}
	if s := refusals(f); s != "" {
		t.Errorf("the vendor has refused:\n%s", s)
	}
}

// TestMaxTokensZero checks that max_tokens 0 is sent for clients of the format only, and
// that the default does not replace it.
func TestMaxTokensZero(t *testing.T) {
	c, f := strict(t, anthropic.Options{}, fakes.Options{})
	f.Always(fake.Text("yes"))
	client := []upstream.HeaderField{{Name: "Anthropic-Version", Value: "2023-06-01"}}
	for _, tt := range []struct {
		limit  int64
		header []upstream.HeaderField
		good   bool
	}{{0, nil, false}, {-1, nil, false}, {1, nil, true}, {0, client, true}} {
		n := &upstream.Request{Model: "claude-haiku-4-5", MaxTokens: &tt.limit, Header: tt.header,
			Turns: []content.Turn{{Role: content.RoleUser, Parts: parts(text("hi"))}}}
		losses, err := c.Preflight(t.Context(), n)
		var violation *content.Violation
		if got := errors.As(err, &violation); got == tt.good || got && (violation.Path != "max_tokens" || violation.Code != content.CodeUnsupported) || len(losses) > 0 {
			t.Errorf("%d: %v, lost %v", tt.limit, err, losses)
		}
		if _, err := upstream.Collect(t.Context(), c, n); (err == nil) != tt.good {
			t.Errorf("%d: %v", tt.limit, err)
		}
	}
	if s := refusals(f); s != "" {
		t.Errorf("the vendor has refused:\n%s", s)
	}
}
