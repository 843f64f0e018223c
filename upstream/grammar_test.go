package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A grammar is a Sink that checks the rules in the comment of EventKind.
type grammar struct {
	kinds   []content.Part // by block
	open    map[int]bool
	started bool // an EventStart is no longer allowed
	stopped bool
	events  int
	err     error // the first error
}

func (g *grammar) Send(events []upstream.Event) error {
	if len(events) == 0 {
		g.fail("a Send without events")
	}
	for i := range events {
		g.events++
		g.event(&events[i])
	}
	for i := range events { // a sink may change events
		events[i] = upstream.Event{Kind: 99, Block: -7}
	}
	return nil
}

func (g *grammar) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf("event %d: %s", g.events, fmt.Sprintf(format, args...))
	}
}

func (g *grammar) event(e *upstream.Event) {
	late := true
	switch e.Kind {
	case upstream.EventStart:
		if g.started || e.Start == nil {
			g.fail("Start comes late or without a Start")
		}
	case upstream.EventOpen:
		if e.Block != len(g.kinds) || content.IsNil(e.Part) {
			g.fail("opened block %d of %d with %v", e.Block, len(g.kinds), e.Part)
		}
		g.kinds = append(g.kinds, e.Part)
		if g.open == nil {
			g.open = map[int]bool{}
		}
		g.open[e.Block] = true
	case upstream.EventText, upstream.EventInput, upstream.EventCitation, upstream.EventBlockExtra, upstream.EventClose:
		if !g.open[e.Block] {
			g.fail("%v for block %d, which is not open", e.Kind, e.Block)
			return
		}
		if name := fmt.Sprintf("%T", g.kinds[e.Block]); !strings.Contains(map[upstream.EventKind]string{
			upstream.EventText:     "*content.Text *content.Thinking",
			upstream.EventInput:    "*content.ToolUse *content.ServerToolUse",
			upstream.EventCitation: "*content.Text",
			upstream.EventClose:    name, upstream.EventBlockExtra: name,
		}[e.Kind], name) {
			g.fail("%v for a %s", e.Kind, name)
		}
		if e.Kind == upstream.EventCitation && e.Citation == nil {
			g.fail("a citation without one")
		}
		if e.Kind == upstream.EventClose {
			delete(g.open, e.Block)
		}
	case upstream.EventSignature:
		if e.Block < 0 || e.Block >= len(g.kinds) || e.Signature == nil {
			g.fail("a signature of block %d", e.Block)
		}
	case upstream.EventUsage:
		if e.Usage == nil {
			g.fail("a usage without one")
		}
	case upstream.EventStop:
		g.stopped = true
		if e.Stop == nil {
			g.fail("a stop without one")
		}
	case upstream.EventLoss, upstream.EventExtra:
		late = false
		if e.Kind == upstream.EventLoss && e.Loss == nil {
			g.fail("a loss without one")
		}
	default:
		g.fail("%v", e.Kind)
	}
	g.started = g.started || late
}

// whole checks the end of a complete response.
func (g *grammar) whole() error {
	if len(g.open) > 0 {
		g.fail("blocks %v are open at the end", g.open)
	}
	if !g.stopped {
		g.fail("no stop")
	}
	return g.err
}

// program returns an Upstream that calls the methods of the Writer that the bytes
// select, and records their errors.
func program(code []byte, results *[]error) upstream.Upstream {
	return upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		var calls []*upstream.ToolCallWriter
		for len(code) >= 2 {
			op, arg := code[0], int(code[1])
			code = code[2:]
			err := w.Text("") // returns an earlier error
			switch op % 16 {
			case 0:
				err = w.Text("t")
			case 1:
				err = w.Thinking("h")
			case 2:
				err = w.Signature(content.Signature{Data: "s"})
			case 3:
				calls = append(calls, w.ToolCall("", "tool"))
				err = calls[len(calls)-1].Input("")
			case 4, 5:
				if len(calls) > 0 {
					err = calls[arg%len(calls)].Input("{}")
				}
			case 6:
				if len(calls) > 0 {
					err = calls[arg%len(calls)].Close()
				}
			case 7:
				err = w.Part([]content.Part{&content.Text{Text: "p"}, &content.Image{}, &content.ToolUse{}, &content.Unknown{}}[arg%4])
			case 8:
				err = w.Cite(content.Citation{})
			case 9:
				err = w.Usage(content.Usage{Output: int64(arg)})
			case 10:
				err = w.Stop(upstream.Stop{Reason: content.StopOther})
			case 11:
				err = w.Loss(make([]content.Loss, arg%3))
			case 12:
				err = w.Start(upstream.Start{Model: "m"})
			default:
				var events []upstream.Event
				for n := arg % 4; n > 0 && len(code) >= 2; n-- {
					events = append(events, event(code[0], code[1]))
					code = code[2:]
				}
				if op%16 == 13 {
					err = w.Frame(&upstream.Frame{Format: "f", Data: "{}", Events: events})
				} else {
					err = w.Send(events)
				}
			}
			*results = append(*results, err)
		}
		if len(code) == 1 && code[0] == 255 {
			return errWanted
		}
		return nil
	})
}

var errWanted = errors.New("wanted")

// event returns any event, valid or not.
func event(kind, detail byte) upstream.Event {
	e := upstream.Event{Kind: upstream.EventKind(kind % 13), Block: int(detail%8) - 1, Candidate: int(detail / 8 % 2)}
	if detail >= 240 {
		return e // the field for its kind is nil
	}
	e.Text, e.Citation, e.Signature = "x", &content.Citation{}, &content.Signature{}
	e.Start, e.Usage, e.Stop, e.Loss = &upstream.Start{}, &content.Usage{}, &upstream.Stop{}, &content.Loss{}
	e.Part = []content.Part{&content.Text{}, &content.Thinking{}, &content.ToolUse{}, (*content.Text)(nil)}[detail/16%4]
	return e
}

func FuzzWriter(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 2, 0, 3, 0, 3, 0, 4, 0, 4, 1, 6, 0, 0, 0, 10, 0})
	f.Add([]byte{12, 0, 11, 2, 7, 0, 8, 0, 9, 9, 2, 0, 2, 0})
	f.Add([]byte{14, 3, 2, 1, 3, 1, 7, 1, 13, 2, 6, 1, 8, 1, 0, 0})
	f.Add([]byte{13, 3, 2, 1, 2, 18, 7, 1, 14, 1, 6, 1, 255})
	f.Add([]byte{0, 0, 12, 0, 0, 0})
	f.Add([]byte{14, 1, 3, 9, 0, 0})
	f.Fuzz(func(t *testing.T, code []byte) {
		for _, tapped := range []bool{false, true} {
			var results []error
			var g grammar
			u := program(code, &results)
			if tapped {
				u = upstream.Tap(u, func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
					return to, nil
				})
			}
			err := upstream.Run(t.Context(), u, &upstream.Request{}, &g)
			if err == nil {
				g.whole()
			}
			if g.err != nil {
				t.Fatalf("tapped %v: %v", tapped, g.err)
			}
			var first error
			for i, e := range results {
				if first != nil && e != first {
					t.Fatalf("tapped %v: call %d returned %v after %v", tapped, i, e, first)
				}
				if first == nil {
					first = e
				}
			}
			if first != nil && err == nil {
				t.Fatalf("tapped %v: %v was forgotten", tapped, first)
			}
		}
	})
}
