package lower

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/upstream"
)

// TestDeferredTools checks which deferred tools are sent, and where.
func TestDeferredTools(t *testing.T) {
	unknown := func(f content.Format, kind, raw string) content.Part {
		return &content.Unknown{Format: f, Kind: kind, Raw: raw}
	}
	reference := func(name string) content.Part {
		return unknown("messages", "tool_reference", `{"tool_name":"`+name+`"}`)
	}
	turn := func(role content.Role, parts ...content.Part) content.Turn {
		return content.Turn{Role: role, Parts: parts}
	}
	call := func(name string) content.Turn {
		return turn(content.RoleAssistant, &content.ToolUse{ID: name, Name: name, Input: "{}"})
	}
	result := func(id string, parts ...content.Part) content.Turn {
		return turn(content.RoleUser, &content.ToolResult{ID: id, Parts: parts})
	}
	regex := content.Tool{Kind: "tool_search_tool_regex_20251119", Name: "tool_search_tool_regex", Format: "messages", Raw: `{}`}
	mapped := func(x *Target) {
		x.Format = "openai-responses"
		x.Tools.Vendor = func(*content.Tool) (content.Tool, []MemberLoss) {
			return content.Tool{Kind: "tool_search", Format: x.Format, Raw: `{}`}, nil
		}
	}
	long := strings.Repeat("n", 70)
	for _, tt := range []struct {
		name   string
		tools  []content.Tool // before the deferred tools a, b, c
		turns  []content.Turn
		choice []string
		target func(*Target)
		want   string // the names of the tools; a deferred one has a star
		losses []content.Loss
	}{
		{name: "nothing is loaded", want: "search", losses: []content.Loss{ToolDeferred.At("tools.1"), ToolDeferred.At("tools.2"), ToolDeferred.At("tools.3")}},
		{name: "results refer to tools", turns: []content.Turn{call("search"), result("search", reference("c"), reference("a"), reference("other"))},
			want: "search c a", losses: []content.Loss{
				foreign.ReferenceAsText.At("turns.1.parts.0.parts.0"), foreign.ReferenceAsText.At("turns.1.parts.0.parts.1"),
				foreign.ReferenceAsText.At("turns.1.parts.0.parts.2"), ToolDeferred.At("tools.2")}},
		{name: "calls", turns: []content.Turn{call("b"), result("b"), call("a"), result("a"), call("b"), result("b")},
			want: "search b a", losses: []content.Loss{ToolDeferred.At("tools.3")}},
		{name: "system turns", turns: []content.Turn{turn(content.RoleUser, text("q")),
			turn(content.RoleSystem, unknown("messages", "tool_addition", `{"tool":{"type":"tool_reference","name":"b"}}`))},
			want: "search b", losses: []content.Loss{SystemTurn.At("turns.1"), foreign.ReferenceAsText.At("turns.1.parts.0"),
				ToolDeferred.At("tools.1"), ToolDeferred.At("tools.3")}},
		{name: "tool choice", choice: []string{"c"}, want: "search c", losses: []content.Loss{ToolDeferred.At("tools.1"), ToolDeferred.At("tools.2")}},
		{name: "a search of another vendor", tools: []content.Tool{regex}, turns: []content.Turn{call("b"), result("b")}, want: "search a b c",
			losses: []content.Loss{ToolVendor.At("tools.1"), ToolNotDeferred.At("tools.2"), ToolNotDeferred.At("tools.3"), ToolNotDeferred.At("tools.4")}},
		{name: "a search that the target has in its own form", tools: []content.Tool{regex}, turns: []content.Turn{call("b"), result("b")}, target: mapped,
			want: "search tool_search b a* c*", losses: []content.Loss{ToolMapped.At("tools.1")}},
		{name: "a search of the target", tools: []content.Tool{{Kind: "tool_search_tool_bm25", Name: "s", Format: "messages", Raw: `{}`}},
			turns: []content.Turn{call("b"), result("b")}, target: func(x *Target) { x.Format = "messages" }, want: "search s a* b* c*"},
		{name: "references of the target", turns: []content.Turn{call("search"), result("search", reference("c"))},
			target: func(x *Target) { x.Format, x.Tools.References, x.Own.Vendor = "messages", true, true }, want: "search a* b* c*"},
		{name: "tools that the conversation adds", turns: []content.Turn{call("search"), result("search", reference("c"), reference("a")), call("b"), result("b")},
			choice: []string{"a"}, target: func(x *Target) { x.Tools.Additions = true }, want: "search a b, search: c", losses: []content.Loss{
				foreign.ReferenceAsText.At("turns.1.parts.0.parts.0"), foreign.ReferenceAsText.At("turns.1.parts.0.parts.1")}},
		{name: "a search of the target, and tools that the conversation adds", tools: []content.Tool{regex},
			turns: []content.Turn{call("search"), result("search", reference("b"))}, target: func(x *Target) { mapped(x); x.Tools.Additions = true },
			want: "search tool_search a* b* c*, search: b", losses: []content.Loss{
				foreign.ReferenceAsText.At("turns.1.parts.0.parts.0"), ToolMapped.At("tools.1")}},
		{name: "names that are changed", tools: []content.Tool{{Name: long, Deferred: true}}, turns: []content.Turn{call("search"), result("search", reference(long))},
			target: func(x *Target) { x.Names = &NameRules{Name: Charset{MaxBytes: 64, Punctuation: "_"}, AnyID: true} }, want: "search NAME",
			losses: []content.Loss{foreign.ReferenceAsText.At("turns.1.parts.0.parts.0"), RenamedTool.At("tools.1.name"),
				ToolDeferred.At("tools.2"), ToolDeferred.At("tools.3"), ToolDeferred.At("tools.4")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			target := Target{Format: "x", Tools: ToolRules{Freeform: true, KeepsSchema: true}}
			target.Results.AsTheyCame = true
			if tt.target != nil {
				tt.target(&target)
			}
			n := &upstream.Request{Tools: append([]content.Tool{{Name: "search"}}, tt.tools...), Turns: tt.turns}
			for _, name := range []string{"a", "b", "c"} {
				n.Tools = append(n.Tools, content.Tool{Name: name, Deferred: true})
			}
			if n.Turns == nil {
				n.Turns = []content.Turn{turn(content.RoleUser, text("q"))}
			}
			if tt.choice != nil {
				n.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: tt.choice}
				target.Choice = ChoiceRules{Lists: true, Single: true}
			}
			to, losses, err := Lower(n, &target, true)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, x := range to.Tools {
				name := x.Name
				if x.Kind != "" && name != "s" {
					name = x.Kind
				}
				if to.Names != nil && to.Names.original[toolID{name: name}].name == long {
					if sent := to.Turns[1].Parts[0].(*content.ToolResult).Parts[0].(*content.Text).Text; sent != "Loaded tool: "+name {
						t.Errorf("the tool %s is loaded as %q", name, sent)
					}
					name = "NAME"
				}
				if x.Deferred {
					name += "*"
				}
				got = append(got, name)
			}
			for id, list := range to.Added {
				got[len(got)-1] += ","
				got = append(got, id+":")
				for _, x := range list {
					got = append(got, x.Name)
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got the tools %q, want %q", s, tt.want)
			}
			var list []content.Loss
			for _, l := range each(losses) {
				list = append(list, l.Rule.At(l.Path.String()))
			}
			if diff := cmp.Diff(tt.losses, list); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			if to.Added != nil {
				return
			}
			if _, again, err := Lower(&to.Request, &target, true); err != nil || len(again) > 0 {
				t.Errorf("lowering again: %v, losses %v", err, again)
			}
		})
	}
}
