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
	const piece = "and then the f"
	for _, n := range []int{1, 100, 1 << 10, 1 << 16} {
		var p Builder
		allocs := testing.AllocsPerRun(1, func() {
			p = Builder{}
			for range n {
				p.Add(piece)
			}
		})
		room := p.last.Cap()
		for _, c := range p.chunks {
			room += len(c)
		}
		if room > p.Len()*5/4+1<<10 || allocs > 100 {
			t.Errorf("%d bytes take %d, in %v allocations", p.Len(), room, allocs)
		}
		want := strings.Repeat(piece, n)
		for range 2 {
			if p.String() != want || p.Len() != len(want) {
				t.Errorf("%d strings are not whole", n)
			}
			p.Add("x")
			want += "x"
		}
	}
	var p Builder
	p.Add(strings.Repeat(piece, 1<<16))
	if p.last.Cap() > p.Len()*5/4 {
		t.Errorf("one piece of %d bytes takes %d", p.Len(), p.last.Cap())
	}
}
