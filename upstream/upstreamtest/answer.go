package upstreamtest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// An answer is what events say, put together by the comment of EventKind alone.
type answer struct {
	req    *upstream.Request
	blocks []*block
	usages []content.Usage
	stops  map[int]*upstream.Stop // the last of each candidate
	losses []content.Loss
	early  int // of the losses: those before everything else
	faults []error
}

// A block is a part that was written.
type block struct {
	candidate int
	part      content.Part
	text      strings.Builder // of EventText and EventInput
	signed    []content.Signature
	closed    int // how many blocks had been closed when it was; 0 while it is open
}

// read puts the events of a call together.
func (r *result) read() *answer {
	a := &answer{req: r.req, stops: map[int]*upstream.Stop{}}
	for _, f := range r.frames {
		a.faults = append(a.faults, errors.New(f))
	}
	seen := reading{a: a}
	for i := range r.events {
		seen.event(i, &r.events[i])
	}
	for i, b := range a.blocks {
		if b.closed == 0 && r.run == nil {
			a.faults = append(a.faults, fmt.Errorf("block %d is open at the end", i))
		}
	}
	return a
}

// A reading is where in an answer a reader is.
type reading struct {
	a       *answer
	n       int
	begun   bool // there was something but losses
	started bool // it is too late for a Start
	closed  int
}

func (s *reading) fail(format string, args ...any) {
	s.a.faults = append(s.a.faults, fmt.Errorf("event %d: %s", s.n, fmt.Sprintf(format, args...)))
}

func (s *reading) event(n int, e *upstream.Event) {
	s.n = n
	a := s.a
	switch e.Kind {
	case upstream.EventLoss:
		if e.Loss == nil {
			s.fail("an EventLoss without a Loss")
			return
		}
		a.losses = append(a.losses, *e.Loss)
		if !s.begun {
			a.early = len(a.losses)
		}
		return
	case upstream.EventExtra:
		s.begun = true
		return
	case upstream.EventStart:
		s.start(e)
	case upstream.EventUsage:
		if e.Usage == nil {
			s.fail("an EventUsage without a Usage")
		} else {
			a.usages = append(a.usages, *e.Usage)
		}
	case upstream.EventStop:
		switch {
		case e.Stop == nil:
			s.fail("an EventStop without a Stop")
		case e.Stop.Reason != "" || a.stops[e.Candidate] == nil:
			a.stops[e.Candidate] = e.Stop
		}
	default:
		s.block(e)
	}
	s.begun, s.started = true, true
}

func (s *reading) start(e *upstream.Event) {
	switch {
	case s.started:
		s.fail("a Start comes first, and once")
	case e.Start == nil:
		s.fail("an EventStart without a Start")
	case e.Start.Usage != nil:
		s.fail("an EventStart whose Start has a Usage; that is an event of its own, right behind")
	}
}

// block takes an event that is about a block.
func (s *reading) block(e *upstream.Event) {
	a := s.a
	if e.Kind == upstream.EventOpen {
		switch {
		case e.Block != len(a.blocks):
			s.fail("block %d opens, but %d is the next", e.Block, len(a.blocks))
		case content.IsNil(e.Part):
			s.fail("block %d opens with a nil part", e.Block)
		case e.Candidate < 0:
			s.fail("block %d is of candidate %d", e.Block, e.Candidate)
		}
		if textOf(e.Part) != "" {
			s.fail("block %d opens with a text, which belongs into an EventText", e.Block)
		}
		a.blocks = append(a.blocks, &block{candidate: e.Candidate, part: e.Part})
		return
	}
	if e.Block < 0 || e.Block >= len(a.blocks) {
		s.fail("an event of kind %d for block %d, of which there are %d", e.Kind, e.Block, len(a.blocks))
		return
	}
	b := a.blocks[e.Block]
	switch {
	case b.candidate != e.Candidate:
		s.fail("block %d belongs to candidate %d and gets an event of candidate %d", e.Block, b.candidate, e.Candidate)
	case e.Kind == upstream.EventSignature:
		s.signature(e, b)
	case b.closed > 0:
		s.fail("an event of kind %d for block %d, which is closed", e.Kind, e.Block)
	case !takes(b.part, e):
		s.fail("block %d is a %T and gets an event of kind %d", e.Block, b.part, e.Kind)
	case e.Kind == upstream.EventClose:
		s.closed++
		b.closed = s.closed
	default:
		b.text.WriteString(e.Text)
	}
}

func (s *reading) signature(e *upstream.Event, b *block) {
	switch {
	case e.Signature == nil:
		s.fail("an EventSignature without a Signature")
	case b.closed > 0 && s.closed-b.closed >= 4:
		s.fail("a signature of block %d, since which four others were closed", e.Block)
	default:
		b.signed = append(b.signed, *e.Signature)
	}
}

// takes reports whether a block may get an event that is no signature.
func takes(p content.Part, e *upstream.Event) bool {
	switch e.Kind {
	case upstream.EventText:
		switch p.(type) {
		case *content.Text, *content.Thinking:
			return true
		}
	case upstream.EventInput:
		switch p.(type) {
		case *content.ToolUse, *content.ServerToolUse:
			return true
		}
	case upstream.EventCitation:
		_, ok := p.(*content.Text)
		return ok && e.Citation != nil
	case upstream.EventBlockExtra, upstream.EventClose:
		return true
	}
	return false
}

func textOf(p content.Part) string {
	if content.IsNil(p) {
		return ""
	}
	switch p := p.(type) {
	case *content.Text:
		return p.Text
	case *content.Thinking:
		return p.Text
	}
	return ""
}

func frameFault(f *upstream.Frame) string {
	switch {
	case f.Format == "":
		return "" // no sink writes it as it is
	case f.Data != "" && jsonwire.Valid(f.Data, jsonwire.Limits{Depth: 1 << 10, Values: 1 << 24}) != nil:
		return "the Data of a Frame is no JSON"
	}
	for _, data := range f.Before {
		if jsonwire.Valid(data, jsonwire.Limits{Depth: 1 << 10, Values: 1 << 24}) != nil {
			return "the Before of a Frame has a text that is not valid JSON"
		}
	}
	return ""
}

// input returns the arguments of a block that is a call.
func (b *block) input() string {
	if b.text.Len() > 0 {
		return b.text.String()
	}
	switch p := b.part.(type) {
	case *content.ToolUse:
		return p.Input
	case *content.ServerToolUse:
		return p.Input
	}
	return ""
}

// said returns the answer's text, joined.
func (a *answer) said() string {
	var all strings.Builder
	for _, b := range a.blocks {
		if _, ok := b.part.(*content.Text); ok {
			all.WriteString(b.text.String())
		}
	}
	return all.String()
}

// meaning lists what a client would make of the answer, in order. How texts
// are cut into pieces and blocks, and what ids are called, is left out.
func (a *answer) meaning() []string {
	var list []string
	add := func(b *block, kind, text string) {
		head := fmt.Sprintf("candidate %d, %s: ", b.candidate, kind)
		if n := len(list); n > 0 && strings.HasPrefix(list[n-1], head) && kind != "call" {
			list[n-1] += text
			return
		}
		list = append(list, head+text)
	}
	for _, b := range a.blocks {
		switch p := b.part.(type) {
		case *content.Text:
			if b.text.Len() > 0 {
				add(b, "text", b.text.String())
			}
		case *content.Thinking:
			add(b, "thought", b.text.String())
		case *content.ToolUse:
			in := b.input()
			if jsonwire.ValidObject(in) {
				in = string(jsonwire.AppendCompact(nil, in))
			}
			add(b, "call", p.Name+" "+in)
		default:
			add(b, fmt.Sprintf("%T", p), b.text.String())
		}
	}
	if s := a.stops[0]; s != nil {
		list = append(list, "stop: "+string(s.Reason)+" "+s.Sequence)
	}
	return list
}

// unlike returns how two meanings differ, or "".
func unlike(a, b []string) string {
	for i := 0; i < max(len(a), len(b)); i++ {
		x, y := "nothing more", "nothing more"
		if i < len(a) {
			x = clip(a[i])
		}
		if i < len(b) {
			y = clip(b[i])
		}
		if x != y || i < len(a) && i < len(b) && a[i] != b[i] {
			return x + " against " + y
		}
	}
	return ""
}

// clip returns the beginning of s, quoted, and how long it is.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:most], len(s))
}
