package lower

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

var shortNames = &NameRules{Name: Charset{MaxBytes: 16, Punctuation: "_-"}, ID: Charset{MaxBytes: 16, Punctuation: "_-"}}

func useOf(id, name string) *content.ToolUse { return &content.ToolUse{ID: id, Name: name} }

func resultOf(id, name string) *content.ToolResult { return &content.ToolResult{ID: id, Name: name} }

func turnsOf(parts ...[]content.Part) []content.Turn {
	var list []content.Turn
	for i, p := range parts {
		role := content.RoleAssistant
		if i%2 == 1 {
			role = content.RoleUser
		}
		list = append(list, content.Turn{Role: role, Parts: p})
	}
	return list
}

func partsOf(p ...content.Part) []content.Part { return p }

// idsOf returns the ids of calls and results, each as a list.
func idsOf(n *upstream.Request) (calls, results []string) {
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

func TestCharset(t *testing.T) {
	r := Charset{MaxBytes: 16, Punctuation: "_-", LetterFirst: true}
	for _, s := range []string{"a", "_", "get-weather_2", "Z123456789012345"} {
		if !r.valid(s) || r.convert(s, 0) != s {
			t.Errorf("%q is valid but became %q", s, r.convert(s, 0))
		}
	}
	seen := map[string]string{}
	for _, s := range []string{"", "1st", "a.b", "a b", "a:b", "é", "Z1234567890123456", "Z1234567890123457", strings.Repeat("x", 300)} {
		got := r.convert(s, 0)
		if r.valid(s) {
			t.Errorf("%q is not valid", s)
		}
		if !r.valid(got) {
			t.Errorf("%q became %q, which is not valid", s, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q both became %q", s, other, got)
		}
		seen[got] = s
		if again := r.convert(s, 0); again != got {
			t.Errorf("%q became %q, and then %q", s, got, again)
		}
		if next := r.convert(s, 1); next == got || !r.valid(next) {
			t.Errorf("%q became %q, and after that %q", s, got, next)
		}
	}
}

// TestExactLength checks ids of an exact length: the beginning of a digest.
func TestExactLength(t *testing.T) {
	c := Charset{Length: 9}
	for _, s := range []string{"aB3dE6gH9", "123456789"} {
		if !c.valid(s) || c.convert(s, 0) != s {
			t.Errorf("%q is valid but became %q", s, c.convert(s, 0))
		}
	}
	for _, s := range []string{"", "abcdefgh", "abcdefghij", "abcd_fghi", "abcdefgé"} {
		sum := sha256.Sum256([]byte(s))
		if got := c.convert(s, 0); c.valid(s) || got != fmt.Sprintf("%x", sum)[:9] || !c.valid(got) {
			t.Errorf("%q became %q", s, got)
		}
		if next := c.convert(s, 1); next == c.convert(s, 0) || !c.valid(next) {
			t.Errorf("%q became %q, and after that %q", s, c.convert(s, 0), next)
		}
	}
	rules := &NameRules{Name: shortNames.Name, ID: c}
	n := &upstream.Request{Turns: turnsOf(partsOf(useOf("", "f"), useOf("toolu_01", "f"), useOf("toolu_01", "f")), partsOf(resultOf("", "f"), resultOf("toolu_01", "f")))}
	got, _, lost := renamed(n, rules)
	calls, results := idsOf(got)
	want := []string{c.convert("call_1", 0), c.convert("toolu_01", 0), c.convert("toolu_01", 1)}
	if diff := cmp.Diff([][]string{want, {want[0], want[1]}}, [][]string{calls, results}); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]content.Loss{RenamedCall.At("turns.0.parts.0.id")}, losses(lost)); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

func TestRenameValid(t *testing.T) {
	n := &upstream.Request{
		Tools: []content.Tool{{Name: "a"}, {Name: "web.search", Kind: "web_search"}},
		Turns: turnsOf(partsOf(useOf("c1", "a"), useOf("c2", "a")), partsOf(resultOf("c1", ""), resultOf("c2", "a"))),
	}
	if got, names, lost := renamed(n, shortNames); got != n || names != nil || lost != nil {
		t.Errorf("a valid request was changed: %v %v", got, lost)
	}
}

func TestRenameNames(t *testing.T) {
	long := "mcp__server__a_tool_with_a_long_name"
	n := &upstream.Request{
		Tools:  []content.Tool{{Name: "ok"}, {Name: long}, {Name: "a.b"}},
		Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{long}},
		Turns:  turnsOf(partsOf(useOf("c1", long), useOf("c2", "gone.tool")), partsOf(resultOf("c1", long), resultOf("c2", ""))),
	}
	before := n.Clone()
	got, names, lost := renamed(n, shortNames)
	if diff := cmp.Diff(before, n); diff != "" {
		t.Errorf("the request itself was changed:\n%s", diff)
	}
	for i, tool := range got.Tools {
		if !shortNames.Name.valid(tool.Name) {
			t.Errorf("tool %d is called %q", i, tool.Name)
		}
	}
	valid := got.Tools[1].Name
	first, back := got.Turns[0].Parts[0].(*content.ToolUse), got.Turns[1].Parts[0].(*content.ToolResult)
	if got.Choice.Names[0] != valid || first.Name != valid || back.Name != valid {
		t.Errorf("one tool has the names %q, %q, %q and %q", valid, got.Choice.Names[0], first.Name, back.Name)
	}
	want := []content.Loss{RenamedTool.At("tools.1.name"), RenamedTool.At("tools.2.name"), RenamedTool.At("turns.0.parts.1.name")}
	if diff := cmp.Diff(want, losses(lost)); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}

	f := upstream.Frame{Format: "f", Events: []upstream.Event{
		{Kind: upstream.EventOpen, Part: useOf("x", valid)},
		{Kind: upstream.EventOpen, Part: useOf("y", "ok")},
	}}
	events, kept := f.Events, f.Events[1].Part
	if NewRestorer(names).Restore(&f); f.Format != "" || events[0].Part.(*content.ToolUse).Name != long || events[1].Part != kept {
		t.Errorf("restored %v", events)
	}
}

// TestRenameReports checks that each converted name is reported once, at its first
// place.
func TestRenameReports(t *testing.T) {
	for _, rules := range []*NameRules{shortNames, {Name: Charset{MaxBytes: 16, Punctuation: "_-"}, AnyID: true}} {
		n := &upstream.Request{
			Tools:  []content.Tool{{Name: "a.b"}},
			Choice: content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"a.b", "other.tool"}},
			Turns: turnsOf(
				partsOf(useOf("c1", "gone tool é"), useOf("c2", "a.b")), partsOf(resultOf("c1", "gone tool é"), resultOf("c2", "a.b")),
				partsOf(useOf("c3", "gone tool é"), useOf("c4", "")), partsOf(resultOf("c3", ""), resultOf("c4", "other.name"))),
		}
		got, _, lost := renamed(n, rules)
		var paths []string
		for _, l := range lost {
			if l.Rule == RenamedTool {
				paths = append(paths, l.Path.String())
			}
		}
		want := []string{"tools.0.name", "choice.names", "turns.0.parts.0.name", "turns.2.parts.1.name", "turns.3.parts.1.name"}
		if diff := cmp.Diff(want, paths); diff != "" {
			t.Errorf("reports of names (-want +got):\n%s", diff)
		}
		for _, turn := range got.Turns {
			for _, p := range turn.Parts {
				if u, ok := p.(*content.ToolUse); ok && !rules.Name.valid(u.Name) {
					t.Errorf("a call of %q", u.Name)
				}
			}
		}
	}
}

// TestRenameManyNames checks that many names do not take quadratic time.
func TestRenameManyNames(t *testing.T) {
	const n = 100_000
	list := make([]content.Tool, n)
	for i := range list {
		list[i].Name = "f." + strconv.Itoa(i)
	}
	got, names, _ := renamed(&upstream.Request{Tools: list}, shortNames)
	seen := make(map[string]bool, n)
	for i, tool := range got.Tools {
		if !shortNames.Name.valid(tool.Name) || seen[tool.Name] || names.original[toolID{name: tool.Name}].name != list[i].Name {
			t.Fatalf("%q became %q", list[i].Name, tool.Name)
		}
		seen[tool.Name] = true
	}
}

// TestRenameDeferred checks calls as OpenAI's vendor writes them for a deferred tool outside of namespaces: the
// namespace is the name of the tool. All 27 recorded calls with a namespace are such.
func TestRenameDeferred(t *testing.T) {
	call := func(namespace string) *upstream.Request {
		return &upstream.Request{Tools: []content.Tool{{Name: "get_rate", Deferred: true}}, Turns: turnsOf(
			partsOf(&content.ToolUse{ID: "c1", Namespace: namespace, Name: "get_rate"}), partsOf(resultOf("c1", "get_rate")))}
	}
	rules := &NameRules{Name: Charset{MaxBytes: 64, Punctuation: "_-"}, AnyID: true}
	got, names, losses := renamed(call("get_rate"), rules)
	if diff := cmp.Diff(call(""), got); diff != "" || names != nil || len(losses) > 0 {
		t.Errorf("losses %v (-want +got):\n%s", losses, diff)
	}
	n := call("get_rate")
	n.Tools[0].Namespace = "get_rate"
	if got, _, _ = renamed(n, rules); got.Tools[0].Name != "get_rate__get_rate" || got.Turns[0].Parts[0].(*content.ToolUse).Name != got.Tools[0].Name {
		t.Errorf("a tool in a namespace became %s", got.Tools[0].Name)
	}
}

func TestRenameCollision(t *testing.T) {
	first := shortNames.Name.convert("a.b", 0)
	n := &upstream.Request{Tools: []content.Tool{{Name: "a.b"}, {Name: first}}}
	got, _, _ := renamed(n, shortNames)
	if got.Tools[0].Name == got.Tools[1].Name || got.Tools[1].Name != first {
		t.Errorf("the tools are called %q and %q", got.Tools[0].Name, got.Tools[1].Name)
	}
}

func TestAnyID(t *testing.T) {
	rules := &NameRules{Name: Charset{MaxBytes: 16}, AnyID: true}
	n := &upstream.Request{Turns: turnsOf(partsOf(useOf("", "a"), useOf("x y", "a"), useOf("x y", "a")), partsOf(resultOf("", "a")))}
	if got, _, _ := renamed(n, rules); got != n {
		t.Error("ids that may be anything were changed")
	}
}
