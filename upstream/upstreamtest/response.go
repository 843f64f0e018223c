package upstreamtest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A response is built from events by the rules that upstream.EventKind documents.
type response struct {
	request  *upstream.Request
	blocks   []*block
	usages   []content.Usage
	stops    map[int]*upstream.Stop // the last of each candidate
	losses   []content.Loss
	early    int // number of losses before all other events
	problems []error
}

// A block is a part of a response.
type block struct {
	candidate  int
	part       content.Part
	text       strings.Builder // joined EventText and EventInput
	signatures []content.Signature
	closed     int // its position among the closed blocks, from 1; 0 if it is open
}

// response builds the response of a call.
func (r *result) response() *response {
	resp := &response{request: r.request, stops: map[int]*upstream.Stop{}}
	for _, f := range r.frameProblems {
		resp.problems = append(resp.problems, errors.New(f))
	}
	asm := assembler{response: resp}
	for i := range r.events {
		asm.event(i, &r.events[i])
	}
	for i, b := range resp.blocks {
		if b.closed == 0 && r.runErr == nil {
			resp.problems = append(resp.problems, fmt.Errorf("block %d is still open at the end", i))
		}
	}
	return resp
}

// An assembler builds a response from events.
type assembler struct {
	response *response
	index    int
	begun    bool // there was an event other than EventLoss
	started  bool // there was an event that must follow EventStart
	closed   int
}

func (a *assembler) problem(format string, args ...any) {
	a.response.problems = append(a.response.problems, fmt.Errorf("event %d: %s", a.index, fmt.Sprintf(format, args...)))
}

func (a *assembler) event(n int, e *upstream.Event) {
	a.index = n
	resp := a.response
	switch e.Kind {
	case upstream.EventLoss:
		if e.Loss == nil {
			a.problem("EventLoss without a Loss")
			return
		}
		resp.losses = append(resp.losses, *e.Loss)
		if !a.begun {
			resp.early = len(resp.losses)
		}
		return
	case upstream.EventExtra:
		a.begun = true
		return
	case upstream.EventStart:
		a.start(e)
	case upstream.EventUsage:
		if e.Usage == nil {
			a.problem("EventUsage without a Usage")
		} else {
			resp.usages = append(resp.usages, *e.Usage)
		}
	case upstream.EventStop:
		switch {
		case e.Stop == nil:
			a.problem("EventStop without a Stop")
		case e.Stop.Reason != "" || resp.stops[e.Candidate] == nil:
			resp.stops[e.Candidate] = e.Stop
		}
	default:
		a.block(e)
	}
	a.begun, a.started = true, true
}

func (a *assembler) start(e *upstream.Event) {
	switch {
	case a.started:
		a.problem("EventStart must be the first event, and the only one of its kind")
	case e.Start == nil:
		a.problem("EventStart without a Start")
	case e.Start.Usage != nil:
		a.problem("the Start of EventStart has a Usage; send an EventUsage after it")
	}
}

// block adds an event of a block.
func (a *assembler) block(e *upstream.Event) {
	resp := a.response
	if e.Kind == upstream.EventOpen {
		switch {
		case e.Block != len(resp.blocks):
			a.problem("EventOpen of block %d, want block %d", e.Block, len(resp.blocks))
		case content.IsNil(e.Part):
			a.problem("EventOpen of block %d has a nil part", e.Block)
		case e.Candidate < 0:
			a.problem("block %d has the negative candidate %d", e.Block, e.Candidate)
		}
		if textOf(e.Part) != "" {
			a.problem("EventOpen of block %d has a text; send it in an EventText", e.Block)
		}
		resp.blocks = append(resp.blocks, &block{candidate: e.Candidate, part: e.Part})
		return
	}
	if e.Block < 0 || e.Block >= len(resp.blocks) {
		a.problem("%v for block %d, but there are %d blocks", e.Kind, e.Block, len(resp.blocks))
		return
	}
	b := resp.blocks[e.Block]
	switch {
	case b.candidate != e.Candidate:
		a.problem("block %d of candidate %d has an event of candidate %d", e.Block, b.candidate, e.Candidate)
	case e.Kind == upstream.EventSignature:
		a.signature(e, b)
	case b.closed > 0:
		a.problem("%v for block %d, which is closed", e.Kind, e.Block)
	case !accepts(b.part, e):
		a.problem("block %d is a %T and cannot have an %v", e.Block, b.part, e.Kind)
	case e.Kind == upstream.EventClose:
		a.closed++
		b.closed = a.closed
	default:
		b.text.WriteString(e.Text)
	}
}

func (a *assembler) signature(e *upstream.Event, b *block) {
	switch {
	case e.Signature == nil:
		a.problem("EventSignature without a Signature")
	case b.closed > 0 && a.closed-b.closed >= 4:
		a.problem("signature of block %d after four other blocks were closed", e.Block)
	default:
		b.signatures = append(b.signatures, *e.Signature)
	}
}

// accepts reports whether a block of this part may have an event, other than
// EventSignature.
func accepts(p content.Part, e *upstream.Event) bool {
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

func checkFrame(f *upstream.Frame) string {
	switch {
	case f.Format == "":
		return "" // no Sink passes it through
	case f.Data != "" && jsonwire.Valid(f.Data, jsonwire.Limits{Depth: 1 << 10, Values: 1 << 24}) != nil:
		return "Data of a Frame is not valid JSON"
	}
	for _, data := range f.Preceding {
		if jsonwire.Valid(data, jsonwire.Limits{Depth: 1 << 10, Values: 1 << 24}) != nil {
			return "Preceding of a Frame has an element that is not valid JSON"
		}
	}
	return ""
}

// input returns the arguments of a tool call.
func (b *block) input() string {
	if b.text.Len() > 0 {
		return b.text.String()
	}
	switch p := b.part.(type) {
	case *content.ToolUse:
		if p.Freeform {
			return p.Text
		}
		return p.Input
	case *content.ServerToolUse:
		return p.Input
	}
	return ""
}

// text returns the joined texts of a response.
func (r *response) text() string {
	var all strings.Builder
	for _, b := range r.blocks {
		if _, ok := b.part.(*content.Text); ok {
			all.WriteString(b.text.String())
		}
	}
	return all.String()
}

// summary lists the content of a response. It ignores ids, and how texts are cut
// into pieces and blocks.
func (r *response) summary() []string {
	var list []string
	add := func(b *block, kind, text string) {
		head := fmt.Sprintf("candidate %d, %s: ", b.candidate, kind)
		if n := len(list); n > 0 && strings.HasPrefix(list[n-1], head) && kind != "call" {
			list[n-1] += text
			return
		}
		list = append(list, head+text)
	}
	for _, b := range r.blocks {
		switch p := b.part.(type) {
		case *content.Text:
			if b.text.Len() > 0 {
				add(b, "text", b.text.String())
			}
		case *content.Thinking:
			add(b, "thinking", b.text.String())
		case *content.ToolUse:
			in := b.input()
			if !p.Freeform && jsonwire.ValidObject(in) {
				in = string(jsonwire.AppendCompact(nil, in))
			}
			add(b, "call", p.Name+" "+in)
		default:
			add(b, fmt.Sprintf("%T", p), b.text.String())
		}
	}
	if s := r.stops[0]; s != nil {
		list = append(list, "stop: "+string(s.Reason)+" "+s.Sequence)
	}
	return list
}

// firstDifference returns the first difference of two lists, or "".
func firstDifference(a, b []string) string {
	for i := 0; i < max(len(a), len(b)); i++ {
		x, y := "nothing", "nothing"
		if i < len(a) {
			x = clip(a[i])
		}
		if i < len(b) {
			y = clip(b[i])
		}
		if x != y || i < len(a) && i < len(b) && a[i] != b[i] {
			return x + " and " + y
		}
	}
	return ""
}

// clip returns the beginning of s, quoted, and its length.
func clip(s string) string {
	const maxBytes = 80
	if len(s) <= maxBytes {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q… (%d bytes)", s[:maxBytes], len(s))
}
