package codec

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

func TestArguments(t *testing.T) {
	for input, want := range map[string]struct {
		object string
		ok     bool
	}{
		"":                  {"", true},
		" \r\n\t":           {"", true},
		"null":              {"", true},
		" null\n":           {"", true},
		"{}":                {"{}", true},
		" { \"a\": [1.0] }": {" { \"a\": [1.0] }", true},
		"[1]":               {"[1]", false},
		"1":                 {"1", false},
		`""`:                {`""`, false},
		`"{}"`:              {`"{}"`, false},
		"nul":               {"nul", false},
		"Null":              {"Null", false},
		"null null":         {"null null", false},
		"\u00a0":            {"\u00a0", false}, // a space, but none of JSON's
		`{"a":1`:            {`{"a":1`, false},
		`{"a":1}{}`:         {`{"a":1}{}`, false},
		`{"a":x}`:           {`{"a":x}`, false},
		`{"a":1,"a":2}`:     {`{"a":1,"a":2}`, false}, // which one is meant?
		"{\"a\":\"\xff\"}":  {"{\"a\":\"\xff\"}", false},
	} {
		if object, ok := Arguments(input); ok != want.ok || object != want.object {
			t.Errorf("%q: got %q, %v; want %q, %v", input, object, ok, want.object, want.ok)
		}
	}
}

func TestNotStarted(t *testing.T) {
	bare := &content.ToolUse{Name: "f", Input: " \n"}
	for ended, want := range map[content.StopReason]bool{
		"": false, content.StopEnd: false, content.StopToolUse: false, content.StopPause: false,
		content.StopMaxTokens: true, content.StopContext: true, content.StopSafety: true, content.StopRefusal: true,
		content.StopSequence: true, content.StopOther: true, "a new one": true,
	} {
		if got := NotStarted(bare, ended); got != want {
			t.Errorf("ended by %q: %v, want %v", ended, got, want)
		}
	}
	for _, p := range []content.Part{nil, (*content.ToolUse)(nil), &content.Text{}, &content.ToolUse{Name: "f", Input: "{}"},
		&content.ToolUse{Name: "f", Input: "null"}, &content.ServerToolUse{Name: "f"}} {
		if NotStarted(p, content.StopMaxTokens) {
			t.Errorf("%#v: reported as not started", p)
		}
	}
}

// TestBuilder checks that many small strings need few allocations and little extra
// memory.
func TestBuilder(t *testing.T) {
	const piece, n = "and then the f", 1 << 16
	var got string
	allocs := testing.AllocsPerRun(10, func() {
		var p Builder
		for range n {
			p.Add(piece)
		}
		got = p.String()
		if p.Cap() > 3*p.Len() {
			t.Errorf("%d bytes take %d", p.Len(), p.Cap())
		}
	})
	if allocs > 12 || got != strings.Repeat(piece, n) {
		t.Errorf("%v allocations; whole: %v", allocs, got == strings.Repeat(piece, n))
	}
	var p Builder
	p.Add(strings.Repeat(piece, n))
	if p.Cap() > 2*p.Len() {
		t.Errorf("one piece of %d bytes takes %d", p.Len(), p.Cap())
	}
}
