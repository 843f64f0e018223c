package response

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// The tests of this file are scripts. A line is a batch of events, separated by " | ", and the
// indented lines after it are the calls of the Format and the losses that it causes. An event
// is its kind, the number of its block and the rest:
//
//	open 0 call f {"a":1}   also: text, filled (when it has text), thinking, hidden, server, image
//	                        refusal; free n f any text: a call of a free-form tool in a namespace
//	open 0@1 text           of candidate 1
//	text 0 a                or "\xf0\x9f", in the syntax of Go
//	input 0 {"a":
//	text 0 a !              with extra members
//	sign 0 s                of the client's format; "foreign": of another one
//	close 0
//
// A line that begins with "own:" is a frame of the client's format that can be forwarded.
// "own(no):" is one that cannot, "own(whole):" a whole response, and "other:" a frame of another
// format. Methods of the engine that a Format calls have a line of their own:
//
//	finish        at the end of the response
//	finish text   the same for a response that was cut
//	begin 0       [Engine.Begin]
//	waiting 0     [Engine.beginWaiting]

const testFormat content.Format = "test"

// A recorder is a Format that records its calls.
type recorder struct {
	Engine[string]
	atEnd   bool // tool calls begin at their end
	linger  bool // thinking ends when the next block begins
	forward bool // frames can be forwarded
	log     []string
}

var (
	ruleCandidates = &loss.Rule{Reason: "other candidates"}
	ruleMembers    = &loss.Rule{Reason: "members"}
	ruleSent       = &loss.Rule{Reason: "sent arguments"}
)

func newRecorder() *recorder {
	r := new(recorder)
	r.Init(r, r, testFormat, 2, 1000, Rules{EventMembers: ruleMembers, SentCall: ruleSent})
	return r
}

func (r *recorder) note(format string, a ...any) {
	r.log = append(r.log, strings.TrimSpace(fmt.Sprintf(format, a...)))
}

func (r *recorder) OpenBlock(b *Block[string], _ []upstream.Event) When {
	if b.State != "" || b.Begun || b.Forwarded || b.Closed || b.EndsInRune() || b.Arguments() != b.input {
		r.note("leftovers: %+v", b)
	}
	b.State = fmt.Sprint("state of ", b.Number)
	switch p := b.Part.(type) {
	case *content.Text:
		if p.Extra != nil {
			return Filled
		}
	case *content.Thinking:
		if p.Redacted.Data != "" {
			b.Kind = Thinking
			r.Candidates[b.Candidate].State.Open(b.Number, b.Index, p, &r.Room)
			return Never
		}
	case *content.ToolUse, *content.ServerToolUse:
		if c, ok := p.(*content.ToolUse); ok && c.Name == "hidden" {
			return Never
		}
		if r.atEnd {
			return AtEnd
		}
		return Runnable
	}
	return Now
}

func (r *recorder) BeginBlock(b *Block[string]) {
	r.note("before %d", b.Number)
	r.FinishClosed()
	r.note("begin %d", b.Number)
}

func (r *recorder) WriteText(b *Block[string], text string, e *upstream.Event) {
	switch {
	case e == nil:
		r.note("write %d %q, no event", b.Number, text)
	case e.Extra != nil:
		r.note("write %d %q, members", b.Number, text)
	default:
		r.note("write %d %q", b.Number, text)
	}
}

func (r *recorder) Cite(b *Block[string], e *upstream.Event) { r.note("cite %d", b.Number) }

func (r *recorder) Sign(b *Block[string], s content.Signature, late bool) {
	if want := fmt.Sprint("state of ", b.Number); b.State != want {
		r.note("the state is %q, not %q", b.State, want)
	}
	if late {
		r.note("sign %d %s, late", b.Number, s.Data)
	} else {
		r.note("sign %d %s", b.Number, s.Data)
	}
}

func (r *recorder) CloseBlock(b *Block[string]) bool {
	return r.linger && b.Kind == Thinking && b.Begun
}

func (r *recorder) EndBlock(b *Block[string], rest string) {
	switch {
	case !b.Begun:
		r.note("end %d, empty", b.Number)
	case b.Kind == Call && r.atEnd:
		r.note("end %d %s", b.Number, b.Arguments())
	case rest != "":
		r.note("end %d %q", b.Number, rest)
	default:
		r.note("end %d", b.Number)
	}
}

func (r *recorder) Broken(b *Block[string]) { r.note("broken %d", b.Number) }
func (r *recorder) Forget(b *Block[string]) { r.note("forget %d", b.Number) }

func (r *recorder) Other(b *Block[string], e *upstream.Event) {
	if e.Kind == upstream.EventBlockExtra {
		r.note("other %d %v", b.Number, e.Kind)
	} else {
		r.note("other %v", e.Kind)
	}
}

func (r *recorder) CanForward(*upstream.Frame, []upstream.Event) bool { return r.forward }

func (r *recorder) Forward(f *upstream.Frame, events []upstream.Event) {
	r.note("forward %s", f.Data)
	r.Track(events)
}

func (r *recorder) Tracked(b *Block[string], e *upstream.Event) {
	if b == nil {
		r.note("tracked %v", e.Kind)
		return
	}
	b.State = fmt.Sprint("state of ", b.Number)
	r.note("tracked %d %v", b.Number, e.Kind)
}

// run runs a line of a script and returns what it caused.
func (r *recorder) run(t *testing.T, line string) []string {
	r.log = nil
	word, rest, _ := strings.Cut(line, " ")
	number := func() *Block[string] {
		n, err := strconv.Atoi(rest)
		if err != nil || r.At(n) == nil {
			t.Fatalf("%q: no open block %q", line, rest)
		}
		return r.At(n)
	}
	switch word {
	case "finish":
		reason := content.StopEnd
		if rest == "cut" {
			reason = content.StopMaxTokens
		}
		for k := range r.Candidates {
			r.FinishLastCall(k, reason)
		}
		r.FinishClosed()
	case "begin":
		r.Begin(number())
	case "waiting":
		r.beginWaiting(number())
	default:
		r.send(t, line)
	}
	for _, l := range lossplaces.Of(r.Losses()) {
		r.note("lose %s: %s", l.Path, l.Reason)
	}
	if err := r.Err(); err != nil {
		r.note("error: %v", err)
	}
	return r.log
}

// send sends the batch of a line.
func (r *recorder) send(t *testing.T, line string) {
	var f *upstream.Frame
	if how, rest, ok := strings.Cut(line, ": "); ok && !strings.Contains(how, " ") {
		f = &upstream.Frame{Format: testFormat, Data: rest}
		switch how {
		case "own":
			r.forward = true
		case "own(no)":
			r.forward = false
		case "own(whole)":
			r.forward, f.Complete = true, true
		case "other":
			r.forward, f.Format = true, "other"
		default:
			t.Fatalf("unknown frame %q", line)
		}
		line = rest
	}
	var events []upstream.Event
	for s := range strings.SplitSeq(line, " | ") {
		events = append(events, parseEvent(t, s))
	}
	if f != nil {
		events[0].Frame, f.Events = f, events
		f.Events[0].Frame = f
	}
	r.Events(events)
}

// parseEvent parses an event of a script.
func parseEvent(t *testing.T, s string) (e upstream.Event) {
	s, members := strings.CutSuffix(s, " !")
	if members {
		e.Extra = &content.Extra{Format: testFormat, JSON: `{"z":1}`}
	}
	word, s, _ := strings.Cut(s, " ")
	number, s, _ := strings.Cut(s, " ")
	number, candidate, _ := strings.Cut(number, "@")
	e.Block, _ = strconv.Atoi(number)
	e.Candidate, _ = strconv.Atoi(candidate)
	if text, err := strconv.Unquote(s); err == nil {
		s = text
	}
	switch word {
	case "open":
		e.Kind, e.Part = upstream.EventOpen, parsePart(t, s)
	case "text":
		e.Kind, e.Text = upstream.EventText, s
	case "input":
		e.Kind, e.Text = upstream.EventInput, s
	case "cite":
		e.Kind, e.Citation = upstream.EventCitation, &content.Citation{Text: s}
	case "sign":
		e.Kind, e.Signature = upstream.EventSignature, &content.Signature{Format: testFormat, Data: s}
	case "foreign":
		e.Kind, e.Signature = upstream.EventSignature, &content.Signature{Format: "other", Data: s}
	case "extra":
		e.Kind = upstream.EventBlockExtra
	case "close":
		e.Kind = upstream.EventClose
	case "start":
		e.Kind, e.Start = upstream.EventStart, &upstream.Start{ID: s}
	case "usage":
		e.Kind, e.Usage = upstream.EventUsage, &content.Usage{Input: 7}
	case "stop":
		e.Kind, e.Stop = upstream.EventStop, &upstream.Stop{Reason: content.StopReason(s)}
	case "members":
		e.Kind = upstream.EventExtra
	default:
		t.Fatalf("unknown event %q", word)
	}
	return e
}

func parsePart(t *testing.T, s string) content.Part {
	kind, s, _ := strings.Cut(s, " ")
	name, input, _ := strings.Cut(s, " ")
	if text, err := strconv.Unquote(input); err == nil {
		input = text
	}
	switch kind {
	case "text":
		return new(content.Text)
	case "filled":
		return &content.Text{Extra: new(content.Extra)}
	case "thinking":
		return new(content.Thinking)
	case "hidden":
		return &content.Thinking{Redacted: content.Signature{Format: "other", Data: "x"}}
	case "refusal":
		return &content.Text{Refusal: true}
	case "free":
		tool, text, _ := strings.Cut(input, " ")
		return &content.ToolUse{Namespace: strings.Trim(name, "-"), Name: tool, Freeform: true, Text: text}
	case "call":
		return &content.ToolUse{Name: strings.Trim(name, "-"), Input: input}
	case "server":
		return &content.ServerToolUse{Name: name, Input: input}
	case "image":
		return new(content.Image)
	}
	t.Fatalf("unknown part %q", kind)
	return nil
}

// checkScript runs the lines of a script that are not indented, and compares what each
// causes with the indented lines after it.
func checkScript(t *testing.T, r *recorder, script string) {
	t.Helper()
	script = strings.Trim(strings.ReplaceAll(script, "\n\t\t", "\n"), "\n\t")
	var got []string
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, "\t") {
			continue
		}
		line = strings.TrimSuffix(line, "\n")
		got = append(got, line)
		for _, s := range r.run(t, line) {
			got = append(got, "\t"+s)
		}
	}
	if diff := cmp.Diff(strings.Split(script, "\n"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEngine(t *testing.T) {
	for _, tt := range []struct {
		name          string
		atEnd, linger bool
		candidates    *loss.Rule
		script        string
	}{
		{name: "text", script: `
		start 0 id | open 0 text | text 0 a
			other EventStart
			before 0
			begin 0
			write 0 "a"
		text 0 b !
			write 0 "b", members
		cite 0 c
			cite 0
		extra 0
			other 0 EventBlockExtra
		usage 0
			other EventUsage
		close 0
			end 0
		stop 0 end
			other EventStop
		finish
		`},
		{name: "events of blocks that are not open", script: `
		text 0 a
		input 0 {}
		cite 0 c
		foreign 0 s
			lose parts: the signature of another format came too late to be carried; the signature was dropped
		close 0
		`},
		{name: "characters in pieces", script: `
		open 0 text
			before 0
			begin 0
		text 0 "a\xf0\x9f"
			write 0 "a"
		text 0 "\x98"
			write 0 ""
		text 0 "\x80b"
			write 0 "😀b"
		text 0 "\xe6"
			write 0 ""
		close 0
			end 0 "\xe6"
		`},
		{name: "characters in pieces of two blocks", script: `
		open 0 text | open 1 thinking
			before 0
			begin 0
			before 1
			begin 1
		text 0 "\xc3" | text 1 "\xc3" | text 0 "\xa9" | text 1 "\xa8"
			write 0 ""
			write 1 ""
			write 0 "é"
			write 1 "è"
		`},

		{name: "arguments in pieces", script: `
		open 0 call f
		input 0 " \n"
		input 0 {"a":
			before 0
			begin 0
			write 0 " \n{\"a\":"
		input 0 "\"\xc3" !
			write 0 "\"", members
		input 0 "\xa9\"}"
			write 0 "é\"}"
		close 0
			end 0
		`},
		{name: "complete in one batch", script: `
		open 0 call f | input 0 {"a": | input 0 1} | close 0
			before 0
			begin 0
			write 0 "{\"a\":"
			write 0 "1}"
			end 0
		open 1 call f {"a":1} | close 1
			before 1
			begin 1
			write 1 "{\"a\":1}", no event
			end 1
		open 2 call f {"old":1} | input 2 {} | close 2
			before 2
			begin 2
			write 2 "{}"
			end 2
		`},
		{name: "complete after its start", script: `
		open 0 call f
		input 0 {"a": | input 0 1} | close 0
			before 0
			begin 0
			write 0 "{\"a\":"
			write 0 "1}"
			end 0
		`},
		{name: "with its start", script: `
		open 0 call f {"a":1}
		close 0
			before 0
			begin 0
			write 0 "{\"a\":1}", no event
			end 0
		open 1 call f {"old":1}
		input 1 {}
			before 1
			begin 1
			write 1 "{}"
		close 1
			end 1
		`},
		{name: "blank arguments", script: `
		open 0 call f | input 0 " \t" | close 0
		open 1 text
			before 0
			begin 0
			end 0
			before 1
			begin 1
		`},
		{name: "null", script: `
		open 0 call f | input 0 " null" | close 0
			before 0
			begin 0
			end 0
		open 1 call f null | close 1
			before 1
			begin 1
			end 1
		open 2 call f
		input 2 nu
		input 2 ll
		close 2
			before 2
			begin 2
			end 2
		`},
		{name: "members of arguments without a place", script: `
		open 0 call f !
			lose parts.0: members
		input 0 " " !
			lose parts.0: members
		input 0 [ !
			lose parts.0: members
		close 0 !
			broken 0
			lose parts.0: the arguments are not a JSON object; the tool call was dropped
			lose parts.0: members
		`},
		{name: "broken before it begins", script: `
		open 0 call f | input 0 {"a" | close 0
			broken 0
			lose parts.0: the arguments are not a JSON object; the tool call was dropped
		open 1 call f
		input 1 [1]
		close 1
			broken 1
			lose parts.1: the arguments are not a JSON object; the tool call was dropped
		open 2 call f
		input 2 {"a": | input 2 x} | close 2
			broken 2
			lose parts.2: the arguments are not a JSON object; the tool call was dropped
		open 3 call f "x"
		close 3
			broken 3
			lose parts.3: the arguments are not a JSON object; the tool call was dropped
		`},
		{name: "broken after it has begun", script: `
		open 0 call f
		input 0 {"a":
			before 0
			begin 0
			write 0 "{\"a\":"
		input 0 x
			write 0 "x"
		close 0
			broken 0
			end 0
			lose parts.0: sent arguments
		`},
		{name: "broken after it has begun for another block", script: `
		open 0 call f
		open 1 text
			before 0
			begin 0
			before 1
			begin 1
		input 0 [1]
		close 0
			broken 0
			write 0 "[1]", no event
			end 0
			lose parts.0: sent arguments
		`},
		{name: "nameless", script: `
		open 0 call - {} | close 0
			before 0
			begin 0
			broken 0
			lose parts.0: a tool call without a name was dropped
		`},
		{name: "tools of the server", script: `
		open 0 server s
		input 0 {"q":
			before 0
			begin 0
			write 0 "{\"q\":"
		input 0 1}
			write 0 "1}"
		close 0
			end 0
		open 1 server s [] | close 1
			before 1
			begin 1
			end 1
			lose parts.1: the arguments of a built-in tool are not a JSON object; they were dropped
		open 2 server s | close 2
			before 2
			begin 2
			end 2
		open 3 server s
		input 3 {x
			before 3
			begin 3
			write 3 "{x"
		close 3
			end 3
			lose parts.3: sent arguments
		`},
		{name: "cut at the end", script: `
		open 0 call f | close 0
		finish cut
			lose parts.0: the response was cut before the arguments began; the tool call was dropped
		finish cut
		`},
		{name: "complete at the end", script: `
		open 0 call f
		close 0
		finish
			before 0
			begin 0
			end 0
		`},
		{name: "not cut, as a block follows", script: `
		open 0 call f
		close 0
		open 1 text
			before 0
			begin 0
			end 0
			before 1
			begin 1
		`},
		{name: "not cut, as a block has opened after it", script: `
		open 0 call f | open 1 call g {
		close 0
			before 0
			begin 0
			end 0
		close 1
			broken 1
			lose parts.1: the arguments are not a JSON object; the tool call was dropped
		`},
		{name: "not cut, as its block has begun", script: `
		open 0 call f | open 1 text | close 1 | close 0
			before 0
			begin 0
			before 1
			begin 1
			end 1
			end 0
		finish cut
		`},
		{name: "a server tool is not cut", script: `
		open 0 server s | close 0
			before 0
			begin 0
			end 0
		finish cut
		`},
		{name: "cut in one candidate", atEnd: true, script: `
		open 0 call f | open 1@1 call g | close 0 | close 1@1
		open 2@1 text
			before 1
			begin 1
			end 1
			before 2
			begin 2
		finish cut
			lose parts.0: the response was cut before the arguments began; the tool call was dropped
		`},

		{name: "a candidate without blocks before one whose call may be cut", script: `
		stop 0@1 end
			other EventStop
		open 0 call f | close 0
		open 1@1 call g
		finish cut
			lose parts.0: the response was cut before the arguments began; the tool call was dropped
		`},
		{name: "waiting calls begin in order of opening", script: `
		open 0 call f | open 1 call g | open 2 server s
		open 3 text
			before 0
			begin 0
			before 1
			begin 1
			before 2
			begin 2
			before 3
			begin 3
		input 1 {} | input 0 {}
			write 1 "{}"
			write 0 "{}"
		`},
		{name: "a later call begins first", script: `
		open 0 call f | open 1 call g
		input 1 {}
			before 0
			begin 0
			before 1
			begin 1
			write 1 "{}"
		`},
		{name: "calls that may be broken wait", script: `
		open 0 call f {"a" | open 1 call g | open 2 call h
		input 1 [
		open 3 text
		input 0 {}
			before 0
			begin 0
			write 0 "{}"
		close 0 | close 1
			end 0
			broken 1
			before 2
			begin 2
			before 3
			begin 3
			lose parts.1: the arguments are not a JSON object; the tool call was dropped
		`},
		{name: "a call with valid arguments does not wait", script: `
		open 0 call f {"a":1}
		open 1 image
			before 0
			begin 0
			before 1
			begin 1
		close 0
			write 0 "{\"a\":1}", no event
			end 0
		`},
		{name: "waiting calls begin for a block that does not", script: `
		open 0 call f | open 1 call g
		waiting 1
			before 0
			begin 0
		`},
		{name: "blocks end before waiting calls begin", linger: true, script: `
		open 0 thinking | close 0 | open 1 call f | open 2 call g | open 3 thinking
			before 0
			begin 0
			before 1
			end 0
			begin 1
			before 2
			begin 2
			before 3
			begin 3
		`},
		{name: "thinking ends before the next block begins", linger: true, script: `
		open 0 thinking | text 0 "\xc3" | close 0
			before 0
			begin 0
			write 0 ""
		sign 0 s
			sign 0 s
		open 1 call f
		input 1 {
			before 1
			end 0 "\xc3"
			begin 1
			write 1 "{"
		sign 0 s
			sign 0 s, late
		`},
		{name: "thinking ends with the response", linger: true, script: `
		open 0 thinking | open 1 thinking | close 1 | close 0
			before 0
			begin 0
			before 1
			begin 1
		finish
			end 0
			end 1
		`},
		{name: "a call that may be cut does not end with thinking", linger: true, script: `
		open 0 thinking | close 0 | open 1 call f | close 1
			before 0
			begin 0
		finish cut
			end 0
			lose parts.1: the response was cut before the arguments began; the tool call was dropped
		`},

		{name: "calls that begin when they are complete", atEnd: true, script: `
		open 0 call f | input 0 {"a": | input 0 1} !
			lose parts.0: members
		close 0
			before 0
			begin 0
			end 0 {"a":1}
		open 1 call f {"a":1}
		close 1
			before 1
			begin 1
			end 1 {"a":1}
		open 2 call f | input 2 null | close 2
			before 2
			begin 2
			end 2
		open 3 call f | input 3 x | close 3
			broken 3
			lose parts.3: the arguments are not a JSON object; the tool call was dropped
		open 4 call - | input 4 {} | close 4
			broken 4
			lose parts.4: a tool call without a name was dropped
		open 5 server s | input 5 x | close 5
			before 5
			begin 5
			end 5 x
		`},
		{name: "a call that is complete later keeps its place", atEnd: true, script: `
		open 0 call f | open 1 text | close 1
		close 0
			before 0
			begin 0
			end 0
			before 1
			begin 1
			end 1
		`},

		{name: "a hidden block", script: `
		open 0 hidden | text 0 a | sign 0 s | close 0
			sign 0 s
		sign 0 t
			sign 0 t, late
		`},
		{name: "a hidden call", script: `
		open 0 call hidden | input 0 { ! | close 0
		finish cut
		`},
		{name: "a hidden block that begins", script: `
		open 0 call f | open 1 hidden
		begin 1
			before 0
			begin 0
			before 1
			begin 1
		text 1 a
			write 1 "a"
		close 1
			end 1
		`},

		{name: "late signatures", script: `
		open 0 text | close 0 | open 1 text | close 1 | open 2 text | close 2 | open 3 call f | close 3
			before 0
			begin 0
			end 0
			before 1
			begin 1
			end 1
			before 2
			begin 2
			end 2
		sign 3 d | sign 2 c | sign 1 b ! | sign 0 a
			sign 3 d
			sign 2 c, late
			sign 1 b, late
			sign 0 a, late
			lose parts.1: members
		sign 3 ""
			sign 3
		`},
		{name: "the signature of a block that has been forgotten", script: `
		open 0 hidden | open 1 hidden | open 2 hidden | open 3 hidden | open 4 hidden | open 5 hidden | open 6 hidden | open 7 hidden | open 8 hidden | open 9 hidden
		close 9 | close 8 | close 7 | close 6 | close 5 | close 4 | close 3 | close 2
		sign 9 s
			sign 9 s, late
		close 1
			forget 9
		foreign 9 s | sign 9 s
			lose parts: the signature of another format came too late to be carried; the signature was dropped
			lose parts: the signature has an unknown format, or the part cannot have one; the signature was dropped
		sign 9 ""
		sign 1 s
			sign 1 s, late
		close 0
			forget 8
		`},

		{name: "members of events", script: `
		open 0@1 text ! | sign 0@1 s ! | close 0@1 ! | sign 0@1 t !
			before 0
			begin 0
			sign 0 s
			end 0
			sign 0 t, late
			lose candidates.1.parts.0: members
		open 1 text ! | open 2@1 text !
			before 1
			begin 1
			before 2
			begin 2
			lose parts.0: members
			lose candidates.1.parts.1: members
		close 7 !
			lose parts: members
		`},
		{name: "too many candidates", script: `
		open 0@2 text
			error: upstream: bad_gateway: the response has too many candidates
		`},
		{name: "only some candidates", candidates: ruleCandidates, script: `
		open 0 text | open 1@2 text | open 2@1 text
			before 0
			begin 0
			before 2
			begin 2
			lose candidates: other candidates
		open 3@3 text | text 1@2 a | stop 1@2 end | close 1@2
		close 2@1
			end 2
		`},

		{name: "frames", script: `
		own: open 0 text | text 0 a
			forward open 0 text | text 0 a
			tracked 0 EventOpen
			tracked 0 EventText
		own: text 0 b ! | cite 0 c | extra 0
			forward text 0 b ! | cite 0 c | extra 0
			tracked 0 EventText
			tracked 0 EventCitation
			tracked 0 EventBlockExtra
		own(no): text 0 c
			write 0 "c"
		other: text 0 d
			write 0 "d"
		own(whole): text 0 e
			write 0 "e"
		text 0 f
			write 0 "f"
		own: close 0
			forward close 0
			tracked 0 EventClose
		own: usage 0 | stop 0 end
			forward usage 0 | stop 0 end
			tracked EventUsage
			tracked EventStop
		own: sign 0 s
			forward sign 0 s
			tracked EventSignature
		sign 0 s
			sign 0 s, late
		own(no): open 1 text
			before 1
			begin 1
		close 1
			end 1
		`},
		{name: "events of a call that a frame has opened", script: `
		own: open 0 call f {}
			forward open 0 call f {}
			tracked 0 EventOpen
		input 0 "[\"\xc3" | input 0 "\xa9"
			write 0 "[\""
			write 0 "é"
		close 0
			end 0
		`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecorder()
			r.atEnd, r.linger, r.rules.Candidates = tt.atEnd, tt.linger, tt.candidates
			checkScript(t, r, tt.script)
		})
	}
}

// TestFreeform checks calls of free-form tools and namespaces, for a format that has them and
// for one that does not.
func TestFreeform(t *testing.T) {
	for _, tt := range []struct {
		name       string
		has, atEnd bool
		script     string
	}{
		{name: "streamed", has: true, script: `
		open 0 free n f
		input 0 "ls "
			before 0
			begin 0
			write 0 "ls "
		input 0 {x
			write 0 "{x"
		close 0
			end 0
		`},
		{name: "white space", has: true, script: `
		open 0 free n f
		input 0 " "
			before 0
			begin 0
			write 0 " "
		close 0
			end 0
		`},
		{name: "complete", has: true, script: `
		open 0 free n f ls -l | close 0
			before 0
			begin 0
			write 0 "ls -l", no event
			end 0
		open 1 free n f | input 1 a | input 1 b | close 1
			before 1
			begin 1
			write 1 "a"
			write 1 "b"
			end 1
		open 2 text | open 3 free n f x
			before 2
			begin 2
		close 3
			before 3
			begin 3
			write 3 "x", no event
			end 3
		`},
		{name: "before another block", has: true, script: `
		open 0 free n f
		open 1 text
			before 0
			begin 0
			before 1
			begin 1
		input 0 a
			write 0 "a"
		close 0
			end 0
		`},
		{name: "without a text", has: true, script: `
		open 0 free n f
		close 0
		finish
			before 0
			begin 0
			end 0
		`},
		{name: "cut before its text", has: true, script: `
		open 0 free n f
		close 0
		finish cut
			lose parts.0: the response was cut before the arguments began; the tool call was dropped
		`},
		{name: "complete at its end", has: true, atEnd: true, script: `
		open 0 free n f
		input 0 {x
		close 0
			before 0
			begin 0
			end 0 {x
		`},
		{name: "a format without them", script: `
		open 0 free n f
			lose parts.0: the format has no namespaces of tools; that of the tool call was omitted
			lose parts.0: the format has no calls of free-form tools; the text is the argument input of the tool call
		input 0 "say \"a\"\n"
		input 0 !
			lose parts.0: members
		close 0
			before 0
			begin 0
			write 0 "{\"input\":\"say \\\"a\\\"\\n\"}", no event
			end 0
		`},
		{name: "a format without them, at the end", atEnd: true, script: `
		open 0 free - f {} | close 0
			before 0
			begin 0
			end 0 {"input":"{}"}
			lose parts.0: the format has no calls of free-form tools; the text is the argument input of the tool call
		`},
		{name: "a format without them, no text", script: `
		open 0 free - f
			lose parts.0: the format has no calls of free-form tools; the text is the argument input of the tool call
		close 0
		finish
			before 0
			begin 0
			write 0 "{\"input\":\"\"}", no event
			end 0
		`},
		{name: "a refusal", script: `
		open 0 refusal
			before 0
			begin 0
			lose parts.0: the format does not mark refusals; the text of the refusal is a text like others
		`},
		{name: "a refusal of a format that marks it", has: true, script: `
		open 0 refusal
			before 0
			begin 0
		`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecorder()
			r.atEnd, r.rules.Freeform, r.rules.Namespaces, r.rules.Refusals = tt.atEnd, tt.has, tt.has, tt.has
			checkScript(t, r, tt.script)
		})
	}
}

// TestMaxArguments checks that the arguments of all open tool calls together are limited.
func TestMaxArguments(t *testing.T) {
	half := strings.Repeat(" ", maxArguments/2)
	type batch struct {
		events []upstream.Event
		err    error
	}
	open := func(n int, input string) upstream.Event {
		return upstream.Event{Kind: upstream.EventOpen, Block: n, Part: &content.ToolUse{Name: "f", Input: input}}
	}
	input := func(n int, text string) upstream.Event {
		return upstream.Event{Kind: upstream.EventInput, Block: n, Text: text}
	}
	closing := func(n int) upstream.Event { return upstream.Event{Kind: upstream.EventClose, Block: n} }
	frame := func(e upstream.Event) []upstream.Event {
		events := []upstream.Event{e}
		f := &upstream.Frame{Format: testFormat, Events: events}
		events[0].Frame = f
		return events
	}
	for _, tt := range []struct {
		name    string
		atEnd   bool
		batches []batch
	}{
		{"two calls", false, []batch{
			{[]upstream.Event{open(0, ""), open(1, ""), input(0, half), input(1, half)}, nil},
			{[]upstream.Event{input(1, " ")}, errArgumentsTooLarge},
		}},
		{"one has ended", false, []batch{
			{[]upstream.Event{open(0, ""), open(1, ""), input(0, half), input(1, half), closing(0), open(2, ""), input(2, half)}, nil},
			{[]upstream.Event{input(2, " ")}, errArgumentsTooLarge},
		}},
		{"one was broken", false, []batch{
			{[]upstream.Event{open(0, ""), input(0, half), input(0, "x"), closing(0), open(1, ""), input(1, half), input(1, half)}, nil},
			{[]upstream.Event{input(1, " ")}, errArgumentsTooLarge},
		}},
		{"one was hidden", false, []batch{
			{[]upstream.Event{{Kind: upstream.EventOpen, Part: &content.ToolUse{Name: "hidden"}}, input(0, half), input(0, half), open(1, ""), input(1, half), input(1, half)}, nil},
		}},
		{"one had no name", false, []batch{
			{[]upstream.Event{{Kind: upstream.EventOpen, Part: new(content.ToolUse)}, input(0, "{"+half[1:]), closing(0), open(1, ""), input(1, half), input(1, half)}, nil},
		}},
		{"one was cut", false, []batch{
			{[]upstream.Event{open(0, ""), input(0, half)}, nil},
			{[]upstream.Event{closing(0), open(1, ""), input(1, half), input(1, half)}, nil},
			{[]upstream.Event{input(1, " ")}, errArgumentsTooLarge},
		}},
		{"calls that begin when they are complete", true, []batch{
			{[]upstream.Event{open(0, ""), input(0, half), input(0, half)}, nil},
			{[]upstream.Event{closing(0), open(1, ""), input(1, half), input(1, half)}, nil},
			{[]upstream.Event{input(1, " ")}, errArgumentsTooLarge},
		}},
		{"complete when they open", false, []batch{
			{[]upstream.Event{open(0, ""), input(0, "{"+half), input(0, half+"}"), closing(0)}, nil},
			{[]upstream.Event{open(1, "{"+half+half+"}"), closing(1)}, nil},
			{[]upstream.Event{open(2, ""), input(2, half), input(2, half)}, nil},
		}},
		{"in frames of calls that frames have opened", false, []batch{
			{frame(open(0, "")), nil},
			{frame(input(0, half)), nil},
			{[]upstream.Event{input(0, half)}, nil},
			{frame(input(0, half)), nil},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecorder()
			r.atEnd, r.forward = tt.atEnd, true
			for i, b := range tt.batches {
				r.log = nil
				if r.Events(b.events); r.Err() != b.err {
					t.Fatalf("batch %d: error %v, want %v", i, r.Err(), b.err)
				}
			}
		})
	}
}

// TestMemory checks that the memory of a response does not depend on its length, and that
// the blocks that are reused have no leftovers, which the recorder notes.
func TestMemory(t *testing.T) {
	r := newRecorder()
	r.linger = true
	scripts := []string{
		`open %d text | text %[1]d "\xc3" | close %[1]d`,
		`open %d thinking | text %[1]d "\xc3" | close %[1]d`,
		`open %d hidden | text %[1]d a | close %[1]d`,
		`open %d call f | input %[1]d {"a" | input %[1]d :1} | close %[1]d`,
		`open %d call f {"a":1} | close %[1]d`,
		`open %d call f | close %[1]d`,
		`open %d call f | input %[1]d [1] | close %[1]d`,
		`open %d call - {} | close %[1]d`,
		`open %d server s x | close %[1]d`,
		`own: open %d text | text %[1]d a | close %[1]d`,
	}
	for n := range 100 * len(scripts) {
		for _, s := range r.run(t, fmt.Sprintf(scripts[n%len(scripts)], n)) {
			if strings.HasPrefix(s, "leftovers") || strings.HasPrefix(s, "the state") {
				t.Fatalf("block %d: %s", n, s)
			}
		}
	}
	r.run(t, "finish")
	if len(r.Blocks()) != 0 || r.arguments != 0 {
		t.Errorf("%d blocks are open, with %d bytes of arguments", len(r.Blocks()), r.arguments)
	}
	if cap(r.open) > 8 || cap(r.closed) > maxClosed+1 || len(r.closed)+len(r.free) > maxClosed+4 {
		t.Errorf("room for %d open and %d closed blocks, %d free ones", cap(r.open), cap(r.closed), len(r.free))
	}
	for _, b := range r.free {
		if !reflect.ValueOf(b).Elem().IsZero() {
			t.Errorf("leftovers: %+v", b)
		}
	}
	for _, b := range r.closed {
		if b.Part != nil || b.args.Len() > 0 || b.input != "" {
			t.Errorf("block %d keeps its content: %+v", b.Number, b)
		}
	}
}

// TestDeltaAllocations checks that a delta allocates nothing, except room for arguments.
func TestDeltaAllocations(t *testing.T) {
	for _, tt := range []struct {
		name, open, delta string
		atEnd, forward    bool
	}{
		{name: "text", open: "open 0 text", delta: "text 0 some text"},
		{name: "thinking", open: "open 0 thinking", delta: "text 0 some thinking"},
		{name: "arguments", open: `open 0 call f | input 0 {"a":"`, delta: "input 0 abc"},
		{name: "arguments, written later", open: "open 0 call f", delta: "input 0 abc", atEnd: true},
		{name: "text within other blocks", open: "open 0 text | open 1 call f | open 2 text | open 3@1 text", delta: "text 2 some text"},
		{name: "text in a frame", open: "open 0 text", delta: "text 0 some text", forward: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecorder()
			r.atEnd = tt.atEnd
			r.run(t, tt.open)
			f := &counter{recorder: r}
			r.format, r.stream, r.forward = f, f, tt.forward
			events := []upstream.Event{parseEvent(t, tt.delta)}
			if tt.forward {
				events[0].Frame = &upstream.Frame{Format: testFormat, Events: events}
			}
			const runs = 1000
			if n := testing.AllocsPerRun(runs, func() { r.Events(events) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
			if want := runs + 1; f.deltas != want && !tt.atEnd {
				t.Errorf("%d deltas, want %d", f.deltas, want)
			}
		})
	}
}

// A counter counts deltas.
type counter struct {
	*recorder
	deltas int
}

func (c *counter) WriteText(*Block[string], string, *upstream.Event)  { c.deltas++ }
func (c *counter) Forward(_ *upstream.Frame, events []upstream.Event) { c.Track(events) }
func (c *counter) Tracked(*Block[string], *upstream.Event)            { c.deltas++ }

// TestParts checks that parts become complete blocks of their candidates.
func TestParts(t *testing.T) {
	r := newRecorder()
	r.Parts(0, []content.Part{new(content.Text), &content.ToolUse{Name: "f"}, nil, &content.ToolUse{Name: "g", Input: "{}"}})
	r.Parts(1, []content.Part{new(content.Image), &content.ToolUse{Name: "h", Input: "x"}})
	for _, l := range lossplaces.Of(r.Losses()) {
		r.note("lose %s: %s", l.Path, l.Reason)
	}
	want := []string{
		"before 0", "begin 0", "end 0",
		"before 1", "begin 1", "end 1",
		"before 2", "begin 2", "end 2",
		"before 3", "begin 3", `write 3 "{}", no event`, "end 3",
		"before 4", "begin 4", "end 4",
		"broken 5",
		"lose candidates.1.parts.1: the arguments are not a JSON object; the tool call was dropped",
	}
	if diff := cmp.Diff(want, r.log); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a, b := r.Candidates[0], r.Candidates[1]; a.Calls != 2 || a.Broken || b.Calls != 0 || !b.Broken {
		t.Errorf("candidates: %+v", r.Candidates)
	}
}

// TestRecord checks that the engine stores what describes the whole response, from frames
// that are forwarded, too.
func TestRecord(t *testing.T) {
	for _, script := range []string{
		"start 0 id | usage 0 | stop 0 one | stop 0@1 two | stop 0 end",
		"own: start 0 id | usage 0 | stop 0 one | stop 0@1 two | stop 0 end",
	} {
		r := newRecorder()
		r.run(t, script)
		if r.Start.ID != "id" || r.Usage.Input != 7 || len(r.Candidates) != 2 ||
			r.Candidates[0].Stop.Reason != "end" || r.Candidates[1].Stop.Reason != "two" || r.Candidates[1].Index != 1 {
			t.Errorf("%s: %+v, %+v", script, r.Start, r.Candidates)
		}
		r.run(t, script[:strings.IndexByte(script, 's')]+"open 0 call f {} | close 0")
		if n := r.Candidates[0].Calls; n != 1 {
			t.Errorf("%s: %d tool calls", script, n)
		}
		if r.Own != strings.HasPrefix(script, "own") {
			t.Errorf("%s: Own is %v", script, r.Own)
		}
	}
}
