package lower

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/internal/test/losstable"
	"github.com/polywire/polywire/upstream"
)

// plainFunctions is a target with neither free-form tools nor namespaces.
var plainFunctions = &Target{
	Names: &NameRules{Name: Charset{MaxBytes: 24, Punctuation: "_-"}, AnyID: true},
	Tools: ToolRules{Schema: schema.JSONSchema}, Choice: ChoiceRules{Lists: true, Single: true},
}

const noArguments = `{"type":"object","properties":{}}`

func freeformCallOf(id, namespace, name, text string) *content.ToolUse {
	return &content.ToolUse{ID: id, Namespace: namespace, Name: name, Freeform: true, Text: text}
}

// freeformRequest returns a request with tools and a conversation that has called them.
func freeformRequest() *upstream.Request {
	return &upstream.Request{
		Tools: []content.Tool{
			{Name: "exec", Namespace: "functions", Description: "Runs it.", Freeform: true, Grammar: &content.Grammar{Syntax: "lark", Definition: "start: /.+/"}},
			{Name: "wait", Namespace: "functions", Input: content.Schema{JSON: noArguments}},
			{Name: "note", Freeform: true},
			{Name: "wait", Input: content.Schema{JSON: noArguments}},
		},
		Turns: []content.Turn{
			{Role: content.RoleUser, Parts: partsOf(&content.Text{Text: "Hi"})},
			{Role: content.RoleAssistant, Parts: partsOf(freeformCallOf("1", "functions", "exec", "say \"hi\"\n"), &content.ToolUse{ID: "2", Namespace: "functions", Name: "wait", Input: "{}"})},
			{Role: content.RoleUser, Parts: partsOf(&content.ToolResult{ID: "1", Name: "exec"}, &content.ToolResult{ID: "2", Name: "wait"})},
		},
	}
}

func TestFreeform(t *testing.T) {
	n := freeformRequest()
	before := n.Clone()
	got, losses, err := Lower(n, plainFunctions, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, n); diff != "" {
		t.Errorf("the request itself was changed:\n%s", diff)
	}
	input := content.Schema{JSON: freeformSchema}
	want := []content.Tool{
		{Name: "functions__exec", Description: "Runs it.\n\nThe input must match this Lark grammar:\n\nstart: /.+/", Input: input},
		{Name: "functions__wait", Input: content.Schema{JSON: noArguments}},
		{Name: "note", Input: input},
		{Name: "wait", Input: content.Schema{JSON: noArguments}},
	}
	if diff := cmp.Diff(want, got.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	calls := []content.Part{
		&content.ToolUse{ID: "1", Name: "functions__exec", Input: `{"input":"say \"hi\"\n"}`},
		&content.ToolUse{ID: "2", Name: "functions__wait", Input: "{}"},
	}
	if diff := cmp.Diff(calls, got.Turns[1].Parts); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	for i, name := range []string{"functions__exec", "functions__wait"} {
		if r, ok := got.Turns[2].Parts[i].(*content.ToolResult); !ok || r.Name != name && r.Name != "" {
			t.Errorf("result %d has the name %q", i, r.Name)
		}
	}
	reports := []string{
		toolLost(ToolNamespace, 0, "namespace").text(), toolLost(ToolFreeform, 0, "").text(), toolLost(ToolGrammar, 0, "grammar").text(),
		toolLost(ToolNamespace, 1, "namespace").text(), toolLost(ToolFreeform, 2, "").text(),
	}
	if diff := cmp.Diff(reports, settingsReports(each(losses))); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	if _, more, err := Lower(&got.Request, plainFunctions, false); err != nil || len(more) > 0 {
		t.Errorf("lowered again: %v %v", more, err)
	}
}

func (x Loss) text() string { return settingsReports([]Loss{x})[0] }

// TestFreeformKept checks a target that has both.
func TestFreeformKept(t *testing.T) {
	target := *plainFunctions
	names := *target.Names
	target.Names, names.Namespaces, target.Tools.Freeform = &names, true, true
	n := freeformRequest()
	got, losses, err := Lower(n, &target, false)
	if err != nil || len(losses) > 0 || got.Names != nil {
		t.Fatal(err, losses, got.Names)
	}
	if diff := cmp.Diff(n.Turns[:2], got.Turns[:2]); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(n.Tools[0], got.Tools[0]); diff != "" {
		t.Errorf("tool (-want +got):\n%s", diff)
	}
	n.Tools[0].Namespace = "the functions"
	got, losses, _ = Lower(n, &target, false)
	if valid := got.Tools[0].Namespace; !names.Name.valid(valid) || got.Tools[0].Name != "exec" {
		t.Errorf("the namespace %q became %q", n.Tools[0].Namespace, valid)
	}
	if diff := cmp.Diff([]string{toolLost(RenamedTool, 0, "namespace").text()}, settingsReports(each(losses))); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

func TestNamespaceNames(t *testing.T) {
	long := strings.Repeat("n", 30)
	n := &upstream.Request{Tools: []content.Tool{
		{Name: "b__c", Namespace: "a"}, {Name: "c", Namespace: "a__b"}, {Name: "f", Namespace: "x y"}, {Name: "f", Namespace: long}, {Name: "f", Namespace: long + "n"}, {Name: "a__f"}, {Name: "f", Namespace: "a"},
	}}
	got, names, _ := renamed(n, plainFunctions.Names)
	seen := make(map[string]bool)
	for i, tool := range got.Tools {
		if !plainFunctions.Names.Name.valid(tool.Name) || seen[tool.Name] || tool.Namespace != "" {
			t.Errorf("tool %d is %+v", i, tool)
		}
		seen[tool.Name] = true
		r := NewRestorer(names)
		f := upstream.Frame{Format: "f", Events: []upstream.Event{{Kind: upstream.EventOpen, Part: useOf("", tool.Name)}}}
		r.Restore(&f)
		if back := f.Events[0].Part.(*content.ToolUse); back.Name != n.Tools[i].Name || back.Namespace != n.Tools[i].Namespace || (f.Format == "") != (n.Tools[i].Namespace != "") {
			t.Errorf("%+v was restored as %+v in a frame of %q", n.Tools[i], back, f.Format)
		}
	}
	if got.Tools[0].Name != "a__b__c" || got.Tools[5].Name != "a__f" {
		t.Errorf("the first is called %q, the one with a valid name %q", got.Tools[0].Name, got.Tools[5].Name)
	}
	again, _, _ := renamed(n, plainFunctions.Names)
	if diff := cmp.Diff(got.Tools, again.Tools); diff != "" {
		t.Errorf("names change (-first +second):\n%s", diff)
	}
	if got, _, _ := renamed(n, anyName); got.Tools[2].Name != "x y__f" || got.Tools[1].Name == got.Tools[0].Name {
		t.Errorf("without rules: %+v", got.Tools)
	}
}

func TestNamespaceChoice(t *testing.T) {
	n := &upstream.Request{Tools: []content.Tool{
		{Name: "exec", Namespace: "a"}, {Name: "exec", Namespace: "b"}, {Name: "wait", Namespace: "a"}, {Name: "wait"}, {Name: "a__exec"},
	}}
	for _, tt := range []struct{ names, want []string }{
		{[]string{"wait"}, []string{"wait"}},
		{[]string{"wait", "exec", "exec"}, []string{"wait", plainFunctions.Names.Name.convert("a__exec", 1), "b__exec"}},
		{[]string{"other"}, []string{"other"}},
	} {
		n.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: tt.names}
		got, _, _ := renamed(n, plainFunctions.Names)
		if diff := cmp.Diff(tt.want, got.Choice.Names); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.names, diff)
		}
		if diff := cmp.Diff(tt.names, n.Choice.Names); diff != "" {
			t.Errorf("the request itself was changed:\n%s", diff)
		}
	}
}

// TestRestorer checks what becomes of the arguments of a function in place of a free-form
// tool. A frame is a line of events; "=" marks a frame that stays the vendor's.
func TestRestorer(t *testing.T) {
	names := &Names{original: map[toolID]toolID{{name: "ns__exec"}: {"ns", "exec"}}, freeform: map[toolID]bool{{name: "ns__exec"}: true}}
	open := func(block int, name, input string) upstream.Event {
		return upstream.Event{Kind: upstream.EventOpen, Block: block, Part: &content.ToolUse{Name: name, Input: input}}
	}
	opened := func(block int) upstream.Event {
		return upstream.Event{Kind: upstream.EventOpen, Block: block, Part: &content.ToolUse{Namespace: "ns", Name: "exec", Freeform: true}}
	}
	input := func(block int, text string) upstream.Event {
		return upstream.Event{Kind: upstream.EventInput, Block: block, Text: text}
	}
	end := func(block int) upstream.Event { return upstream.Event{Kind: upstream.EventClose, Block: block} }
	text := upstream.Event{Kind: upstream.EventText, Block: 9, Text: "t"}
	stop := upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopMaxTokens}}
	lost := func(path string) upstream.Event {
		l := codec.ResponseFreeform.At(path)
		return upstream.Event{Kind: upstream.EventLoss, Loss: &l}
	}
	members := func(path string) upstream.Event {
		l := codec.ResponseFreeformMembers.At(path)
		return upstream.Event{Kind: upstream.EventLoss, Loss: &l}
	}
	list := func(e ...upstream.Event) []upstream.Event { return e }
	for _, tt := range []struct {
		name     string
		from, to [][]upstream.Event
	}{
		{"whole", [][]upstream.Event{list(open(0, "ns__exec", `{"input":"a\nb"}`), end(0), text)}, [][]upstream.Event{list(opened(0), input(0, "a\nb"), end(0), text)}},
		{"pieces", [][]upstream.Event{list(open(0, "ns__exec", "{}")), list(input(0, `{"inp`)), list(input(0, `ut":"a\u00`), text), list(input(0, `e9"}`), end(0))},
			[][]upstream.Event{list(opened(0)), nil, list(text), list(input(0, "aé"), end(0))}},
		{"other calls", [][]upstream.Event{list(open(0, "f", "{}"), input(0, `{"input":"x"}`), end(0))}, [][]upstream.Event{list(open(0, "f", "{}"), input(0, `{"input":"x"}`), end(0))}},
		{"two at once", [][]upstream.Event{list(open(0, "ns__exec", ""), open(1, "ns__exec", "")), list(input(1, `{"input":"b"}`), input(0, `{"input":"a"}`)), list(end(0), end(1))},
			[][]upstream.Event{list(opened(0), opened(1)), nil, list(input(0, "a"), end(0), input(1, "b"), end(1))}},
		{"no input", [][]upstream.Event{list(open(0, "ns__exec", ""), end(0))}, [][]upstream.Event{list(opened(0), end(0))}},
		{"an empty text", [][]upstream.Event{list(open(0, "ns__exec", `{"input":""}`), end(0))}, [][]upstream.Event{list(opened(0), end(0))}},
		{"not JSON", [][]upstream.Event{list(open(0, "f", "{}"), end(0), open(1, "ns__exec", "ls -l"), end(1))},
			[][]upstream.Event{list(open(0, "f", "{}"), end(0), opened(1), lost("parts.1"), input(1, "ls -l"), end(1))}},
		{"another object", [][]upstream.Event{list(open(0, "ns__exec", `{"cmd":"ls"}`), end(0))}, [][]upstream.Event{list(opened(0), lost("parts.0"), input(0, `{"cmd":"ls"}`), end(0))}},
		{"not a text", [][]upstream.Event{list(open(0, "ns__exec", `{"input":["ls"]}`), end(0))}, [][]upstream.Event{list(opened(0), lost("parts.0"), input(0, `{"input":["ls"]}`), end(0))}},
		{"more members", [][]upstream.Event{list(open(0, "ns__exec", `{"why":1,"input":"ls"}`), end(0))}, [][]upstream.Event{list(opened(0), members("parts.0"), input(0, "ls"), end(0))}},
		{"cut and left open", [][]upstream.Event{list(open(0, "ns__exec", ""), input(0, `{"input":"l`)), list(stop)}, [][]upstream.Event{list(opened(0)), list(lost("parts.0"), input(0, `{"input":"l`), stop)}},
		{"too large", [][]upstream.Event{list(open(0, "ns__exec", ""), input(0, strings.Repeat(" ", maxFreeform+1))), list(input(0, "x"), end(0))},
			[][]upstream.Event{list(opened(0), lost("parts.0"), input(0, strings.Repeat(" ", maxFreeform+1))), list(input(0, "x"), end(0))}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := NewRestorer(names)
			for i, events := range tt.from {
				f := upstream.Frame{Format: "f", Events: events}
				before := cmp.Equal(events, tt.to[i])
				r.Restore(&f)
				if diff := cmp.Diff(tt.to[i], f.Events, cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("frame %d (-want +got):\n%s", i, diff)
				}
				if kept := f.Format != ""; kept != before {
					t.Errorf("frame %d stays the vendor's: %v", i, kept)
				}
			}
			if r.kept != 0 || len(r.calls) > 0 {
				t.Errorf("left over: %d bytes, %d calls", r.kept, len(r.calls))
			}
		})
	}
}

func TestLossTable(t *testing.T) {
	losstable.Check(t, "restored", codec.ResponseFreeform, codec.ResponseFreeformMembers)
}

func TestRefusal(t *testing.T) {
	refused := &content.Text{Text: "No.", Refusal: true}
	n := &upstream.Request{Turns: []content.Turn{
		{Role: content.RoleUser, Parts: partsOf(&content.Text{Text: "Hi"})}, {Role: content.RoleAssistant, Parts: partsOf(refused)},
		{Role: content.RoleUser, Parts: partsOf(&content.Text{Text: "Why?"})},
	}}
	for _, has := range []bool{true, false} {
		target := *plainFunctions
		target.Refusals = has
		got, losses, err := Lower(n, &target, false)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{Loss{Rule: TextRefusal, Path: In(Turns, 1).In(Parts, 0).Member("refusal")}.text()}
		if has {
			want = nil
		}
		if diff := cmp.Diff(want, settingsReports(each(losses))); diff != "" {
			t.Errorf("losses (-want +got):\n%s", diff)
		}
		if p := got.Turns[1].Parts[0].(*content.Text); p.Refusal != has || p.Text != "No." || !refused.Refusal {
			t.Errorf("the refusal became %+v", p)
		}
	}
}
