package legal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

var short = &Rules{Name: Rule{Most: 16, Others: "_-"}, ID: Rule{Most: 16, Others: "_-"}}

func use(id, name string) *content.ToolUse { return &content.ToolUse{ID: id, Name: name} }

func result(id, name string) *content.ToolResult { return &content.ToolResult{ID: id, Name: name} }

func turns(parts ...[]content.Part) []content.Turn {
	var list []content.Turn
	for i, p := range parts {
		role := content.Assistant
		if i%2 == 1 {
			role = content.User
		}
		list = append(list, content.Turn{Role: role, Parts: p})
	}
	return list
}

func parts(p ...content.Part) []content.Part { return p }

// pairs returns the ids of calls and results, each as a list.
func pairs(n *upstream.Request) (calls, results []string) {
	for _, t := range n.Turns {
		for _, p := range t.Parts {
			switch p := p.(type) {
			case *content.ToolUse:
				calls = append(calls, p.ID)
			case *content.ToolResult:
				results = append(results, p.ID)
			}
		}
	}
	return calls, results
}

func TestRule(t *testing.T) {
	r := Rule{Most: 16, Others: "_-", Letter: true}
	for _, s := range []string{"a", "_", "get-weather_2", "Z123456789012345"} {
		if !r.Fits(s) || r.Make(s, 0) != s {
			t.Errorf("%q is legal, and becomes %q", s, r.Make(s, 0))
		}
	}
	seen := map[string]string{}
	for _, s := range []string{"", "1st", "a.b", "a b", "a:b", "é", "Z1234567890123456", "Z1234567890123457", strings.Repeat("x", 300)} {
		got := r.Make(s, 0)
		if r.Fits(s) {
			t.Errorf("%q is not legal", s)
		}
		if !r.Fits(got) {
			t.Errorf("%q became %q, which is not legal", s, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q both became %q", s, other, got)
		}
		seen[got] = s
		if again := r.Make(s, 0); again != got {
			t.Errorf("%q became %q, and then %q", s, got, again)
		}
		if next := r.Make(s, 1); next == got || !r.Fits(next) {
			t.Errorf("%q became %q, and after that %q", s, got, next)
		}
	}
}

func TestMakeLegalIsSame(t *testing.T) {
	n := &upstream.Request{
		Tools: []content.Tool{{Name: "a"}, {Name: "web.search", Kind: "web_search"}},
		Turns: turns(parts(use("c1", "a"), use("c2", "a")), parts(result("c1", ""), result("c2", "a"))),
	}
	var log loss.Log
	if got, names := Make(n, short, &log); got != n || names != nil || log.Losses != nil {
		t.Errorf("a legal request was changed: %v %v", got, log.Losses)
	}
}

func TestMakeNames(t *testing.T) {
	long := "mcp__server__a_tool_with_a_long_name"
	n := &upstream.Request{
		Tools:  []content.Tool{{Name: "ok"}, {Name: long}, {Name: "a.b"}},
		Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{long}},
		Turns:  turns(parts(use("c1", long), use("c2", "gone.tool")), parts(result("c1", long), result("c2", ""))),
	}
	before := n.Clone()
	var log loss.Log
	got, names := Make(n, short, &log)
	if diff := cmp.Diff(before, n); diff != "" {
		t.Errorf("the request itself was changed:\n%s", diff)
	}
	for i, tool := range got.Tools {
		if !short.Name.Fits(tool.Name) {
			t.Errorf("tool %d is called %q", i, tool.Name)
		}
	}
	legal := got.Tools[1].Name
	first, back := got.Turns[0].Parts[0].(*content.ToolUse), got.Turns[1].Parts[0].(*content.ToolResult)
	if got.Choice.Names[0] != legal || first.Name != legal || back.Name != legal {
		t.Errorf("one tool has the names %q, %q, %q and %q", legal, got.Choice.Names[0], first.Name, back.Name)
	}
	want := []content.Loss{RenamedTool.At("tools.1.name"), RenamedTool.At("tools.2.name")}
	if diff := cmp.Diff(want, log.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}

	events := []upstream.Event{
		{Kind: upstream.EventOpen, Part: use("x", legal)},
		{Kind: upstream.EventOpen, Part: use("y", "ok")},
	}
	kept := events[1].Part
	if !names.Restore(events) || events[0].Part.(*content.ToolUse).Name != long || events[1].Part != kept {
		t.Errorf("restored %v", events)
	}
}

func TestMakeNamesCollide(t *testing.T) {
	first := short.Name.Make("a.b", 0)
	n := &upstream.Request{Tools: []content.Tool{{Name: "a.b"}, {Name: first}}}
	got, _ := Make(n, short, new(loss.Log))
	if got.Tools[0].Name == got.Tools[1].Name || got.Tools[1].Name != first {
		t.Errorf("the tools are called %q and %q", got.Tools[0].Name, got.Tools[1].Name)
	}
}

func TestMakeIDs(t *testing.T) {
	odd := short.ID.Make("call.1:x", 0)
	tests := []struct {
		name           string
		turns          []content.Turn
		calls, results []string
	}{
		{"odd letters",
			turns(parts(use("call.1:x", "a")), parts(result("call.1:x", ""))),
			[]string{odd}, []string{odd}},
		{"none at all, by name and order",
			turns(parts(use("", "a"), use("", "b"), use("", "a")), parts(result("", "b"), result("", "a"), result("", "a"))),
			[]string{"call_1", "call_2", "call_3"}, []string{"call_2", "call_1", "call_3"}},
		{"one that is made up is already there",
			turns(parts(use("", "a"), use("call_1", "a")), parts(result("call_1", ""), result("", "a"))),
			[]string{"call_2", "call_1"}, []string{"call_1", "call_2"}},
		{"each turn begins anew",
			turns(parts(use("call_0", "a")), parts(result("call_0", "")), parts(use("call_0", "a")), parts(result("call_0", ""))),
			[]string{"call_0", short.ID.Make("call_0", 1)}, []string{"call_0", short.ID.Make("call_0", 1)}},
		{"a result without its call",
			turns(nil, parts(result("call.1:x", ""), result("ok", ""), result("", "a"))),
			nil, []string{odd, "ok", ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var log loss.Log
			got, _ := Make(&upstream.Request{Turns: test.turns}, short, &log)
			calls, results := pairs(got)
			if diff := cmp.Diff([][]string{test.calls, test.results}, [][]string{calls, results}); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
			if len(log.Losses) != 1 || log.Losses[0].Reason != RenamedCall.Reason {
				t.Errorf("losses: %v", log.Losses)
			}
		})
	}
}

// TestMakePrefix checks what prompt caches need: a turn more changes nothing of
// the turns before it.
func TestMakePrefix(t *testing.T) {
	var list []content.Turn
	var last *upstream.Request
	for i := range 6 {
		list = append(list, turns(parts(use("call_0", "a.b"), use("", "c")), parts(result("call_0", ""), result("", "c")))...)
		got, _ := Make(&upstream.Request{Turns: list, Tools: []content.Tool{{Name: "a.b"}}}, short, new(loss.Log))
		if i > 0 {
			if diff := cmp.Diff(last.Turns, got.Turns[:len(last.Turns)]); diff != "" {
				t.Fatalf("after %d turns the earlier ones differ:\n%s", len(list), diff)
			}
		}
		last = got
	}
}

func TestAnyID(t *testing.T) {
	rules := &Rules{Name: Rule{Most: 16}, AnyID: true}
	n := &upstream.Request{Turns: turns(parts(use("", "a"), use("x y", "a"), use("x y", "a")), parts(result("", "a")))}
	if got, _ := Make(n, rules, new(loss.Log)); got != n {
		t.Error("ids that may be anything were changed")
	}
}
