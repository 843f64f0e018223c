package response

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestQueue checks the order of blocks that overlap: that in which they opened. See
// TestEngine for the syntax.
func TestQueue(t *testing.T) {
	for _, tt := range []struct {
		name       string
		sequential bool
		script     string
	}{
		{name: "a call that is left open", sequential: true, script: `
		open 0 call f | input 0 {} | open 1 text | text 1 after
		close 1
		close 0
			before 0
			begin 0
			end 0 {}
			before 1
			begin 1
			write 1 "after"
			end 1
		`},
		{name: "a text continues while others wait, and then the next", sequential: true, script: `
		open 0 text | text 0 a
			before 0
			begin 0
			write 0 "a"
		open 1 call f | open 2 text | text 2 c | input 1 {} | close 1
		text 0 b
			write 0 "b"
		close 0
			end 0
			before 1
			begin 1
			end 1 {}
			before 2
			begin 2
			write 2 "c"
		text 2 d | close 2
			write 2 "d"
			end 2
		`},
		{name: "a text without text", script: `
		open 0 filled | open 1 text | text 1 b
		close 1
		text 0 a
			before 0
			begin 0
			write 0 "a"
			before 1
			begin 1
			write 1 "b"
			end 1
		close 0
			end 0
		`},
		{name: "a text that stays empty", script: `
		open 0 filled | text 0 | open 1 text | text 1 b
		close 0
			end 0, empty
			before 1
			begin 1
			write 1 "b"
		`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecorder()
			r.atEnd, r.rules.Sequential = tt.sequential, tt.sequential
			checkScript(t, r, tt.script)
		})
	}
}

// TestFinishQueued checks that the end of a response closes what others wait for.
func TestFinishQueued(t *testing.T) {
	r := newRecorder()
	r.atEnd, r.rules.Sequential = true, true
	checkScript(t, r, `
		open 0 call f {} | open 1 call g {} | open 2 text | text 2 a
		`)
	r.FinishQueued(0)
	if got := strings.Join(r.log, "\n"); !strings.HasSuffix(got, "end 0 {}\nbefore 1\nbegin 1\nend 1 {}\nbefore 2\nbegin 2\nwrite 2 \"a\"") {
		t.Errorf("log:\n%s", got)
	}
}

// TestManyQueued checks that the cost of queued blocks is linear, and their size limited.
func TestManyQueued(t *testing.T) {
	r := newRecorder()
	r.atEnd, r.rules.Sequential = true, true
	r.Events([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.ToolUse{Name: "f"}}})
	n := 0
	for n = 1; r.Err() == nil; n++ {
		r.Events([]upstream.Event{{Kind: upstream.EventOpen, Block: n, Part: &content.Image{}}, {Kind: upstream.EventClose, Block: n}})
	}
	if limit := maxArguments / eventCost / 2; n < limit || n > limit+2 {
		t.Errorf("an error after %d blocks, want %d", n, limit)
	}
	r.Events([]upstream.Event{{Kind: upstream.EventClose}})
	if len(r.queued) > 1 || len(r.Candidates[0].queue) > 1 {
		t.Errorf("%d blocks wait", len(r.queued))
	}
}
