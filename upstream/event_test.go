package upstream_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

type (
	event_ = upstream.Event
	edit   = func(events []event_, to upstream.Sink) error
)

// pieces returns a vendor's response: thinking, text and an unknown event.
func pieces() []upstream.Frame {
	const thought, text = 0, 1
	return []upstream.Frame{
		{Name: "start", Events: []event_{{Kind: upstream.EventStart, Start: &upstream.Start{Model: "m"}}, {Kind: upstream.EventUsage, Usage: &content.Usage{Input: 3}}}},
		{Name: "think", Events: []event_{{Kind: upstream.EventOpen, Block: thought, Part: &content.Thinking{}}, {Kind: upstream.EventText, Block: thought, Text: "hm"}}},
		{Name: "sign", Events: []event_{{Kind: upstream.EventSignature, Block: thought, Signature: &content.Signature{Data: "s"}}, {Kind: upstream.EventClose, Block: thought}}},
		{Name: "odd", Events: []event_{{Kind: upstream.EventExtra, Extra: &content.Extra{JSON: `{"x":1}`}}}},
		{Name: "open", Events: []event_{{Kind: upstream.EventOpen, Block: text, Part: &content.Text{}}}},
		{Name: "a", Events: []event_{{Kind: upstream.EventText, Block: text, Text: "secret"}}},
		{Name: "b", Events: []event_{{Kind: upstream.EventText, Block: text, Text: "b"}, {Kind: upstream.EventUsage, Usage: &content.Usage{Output: 1}}}},
		{Name: "close", Events: []event_{{Kind: upstream.EventClose, Block: text}}},
		{Name: "stop", Events: []event_{{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd}}}},
	}
}

// adapter uses one Frame for all pieces.
var adapter = upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
	var f upstream.Frame
	for _, p := range pieces() {
		f.Name, f.Events = p.Name, append(f.Events[:0], p.Events...)
		if err := w.Frame(&f); err != nil {
			return err
		}
	}
	return nil
})

// verbatim returns the names of the frames that a sink can send unchanged, and "-" for
// each batch that it must encode.
func verbatim(t *testing.T, u upstream.Upstream) string {
	t.Helper()
	var names []string
	var g grammar
	err := upstream.Run(t.Context(), u, &upstream.Request{}, upstream.SinkFunc(func(events []event_) error {
		if f := upstream.FrameOf(events); f != nil {
			names = append(names, f.Name)
		} else {
			names = append(names, "-")
		}
		return g.Send(events)
	}))
	if err != nil || g.whole() != nil {
		t.Errorf("got %v, %v", err, g.err)
	}
	return strings.Join(names, " ")
}

func tap(f edit) func(upstream.Upstream) upstream.Upstream {
	return func(u upstream.Upstream) upstream.Upstream {
		return upstream.Tap(u, func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
			return upstream.SinkFunc(func(events []event_) error { return f(events, to) }), nil
		})
	}
}

func TestFrames(t *testing.T) {
	pass := func(events []event_, to upstream.Sink) error { return to.Send(events) }
	without := func(drop func(e *event_) bool) edit {
		return func(events []event_, to upstream.Sink) error {
			if events = slices.DeleteFunc(events, func(e event_) bool { return drop(&e) }); len(events) == 0 {
				return nil
			}
			return to.Send(events)
		}
	}
	change := func(f func(e *event_)) edit {
		return func(events []event_, to upstream.Sink) error {
			for i := range events {
				f(&events[i])
			}
			return to.Send(events)
		}
	}
	const all = "start think sign odd open a b close stop"
	tests := []struct {
		name string
		taps []edit
		want string
	}{
		{"unchanged", nil, all},
		{"three taps", []edit{pass, pass, pass}, all},
		{"one text changed", []edit{pass, change(func(e *event_) { e.Text = strings.ReplaceAll(e.Text, "secret", "***") }), pass},
			"start think sign odd open - b close stop"},
		{"changed and changed back", []edit{change(func(e *event_) { e.Text += "!" }), change(func(e *event_) { e.Text = strings.TrimSuffix(e.Text, "!") })}, all},
		{"usage replaced by an equal one", []edit{change(func(e *event_) {
			if e.Usage != nil {
				u := *e.Usage
				e.Usage = &u
			}
		})}, "- think sign odd open a - close stop"},
		{"usage dropped", []edit{without(func(e *event_) bool { return e.Kind == upstream.EventUsage })}, "- think sign odd open a - close stop"},
		{"unknown dropped", []edit{without(func(e *event_) bool { return e.Kind == upstream.EventExtra })}, "start think sign open a b close stop"},
		{"first block dropped", []edit{without(func(e *event_) bool {
			return e.Block == 0 && e.Kind >= upstream.EventOpen && e.Kind <= upstream.EventClose
		})}, "start odd - - - - stop"},
		{"block inserted first", []edit{func(events []event_, to upstream.Sink) error {
			if events[0].Kind == upstream.EventOpen && events[0].Block == 0 {
				if err := to.Send([]event_{{Kind: upstream.EventOpen, Part: &content.Text{Text: "first"}}, {Kind: upstream.EventClose}}); err != nil {
					return err
				}
			}
			for i := range events {
				if k := events[i].Kind; k >= upstream.EventOpen && k <= upstream.EventClose {
					events[i].Block += 5
				}
			}
			return to.Send(events)
		}}, "start - - - odd - - - - stop"},
		{"reordered", []edit{func(events []event_, to upstream.Sink) error {
			if events[0].Kind == upstream.EventText && len(events) == 2 {
				events[0], events[1] = events[1], events[0]
			}
			return to.Send(events)
		}}, "start think sign odd open a - close stop"},
		{"split", []edit{func(events []event_, to upstream.Sink) error {
			for i := range events {
				if err := to.Send(events[i : i+1]); err != nil {
					return err
				}
			}
			return nil
		}}, "- - - - - - odd open a - - close stop"},
		{"joined", []edit{func() edit {
			var held []event_
			return func(events []event_, to upstream.Sink) error {
				held = append(held, events...)
				if k := events[len(events)-1].Kind; k != upstream.EventClose && k != upstream.EventStop {
					return nil
				}
				err := to.Send(held)
				held = held[:0]
				return err
			}
		}()}, "- - stop"},
		{"sent twice", []edit{func(events []event_, to upstream.Sink) error {
			if events[0].Text == "secret" {
				events = append(events, events[0])
			}
			return to.Send(events)
		}}, "start think sign odd open - b close stop"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var u upstream.Upstream = adapter
			for _, f := range tt.taps {
				u = tap(f)(u)
			}
			if got := verbatim(t, u); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestFrameNumbers checks a vendor that numbers blocks in another way than the Writer:
// its frames are encoded with the same meaning.
func TestFrameNumbers(t *testing.T) {
	u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Frame(&upstream.Frame{Name: "a", Events: []event_{{Kind: upstream.EventOpen, Block: 7, Part: &content.Text{Text: "x"}}}})
		stale := upstream.Frame{Name: "b"}
		stale.Events = []event_{{Kind: upstream.EventClose, Block: 7, Frame: &stale}}
		w.Frame(&stale)
		w.Frame(&upstream.Frame{Name: "empty"})
		return w.Frame(&upstream.Frame{Name: "c", Events: []event_{{Kind: upstream.EventExtra}}})
	})
	if got, want := verbatim(t, u), "- - c -"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	reply, err := upstream.Collect(t.Context(), u, &upstream.Request{})
	if diff := cmp.Diff([]content.Part{&content.Text{Text: "x"}}, reply.Parts); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestBlockExtraNumbers checks that an EventBlockExtra is renumbered with its block, and
// becomes a loss if the block is omitted.
func TestBlockExtraNumbers(t *testing.T) {
	x := &content.Extra{Format: "f", JSON: `{}`}
	var got []event_
	err := upstream.Run(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Text("first")
		_ = w.Frame(&upstream.Frame{Events: []event_{{Kind: upstream.EventOpen, Part: &content.Text{}}}})
		_ = w.Frame(&upstream.Frame{Events: []event_{{Kind: upstream.EventBlockExtra, Text: "d", Extra: x}}})
		return w.Frame(&upstream.Frame{Events: []event_{{Kind: upstream.EventBlockExtra, Block: 4, Text: "d", Extra: x}}})
	}), &upstream.Request{}, upstream.SinkFunc(func(es []event_) error {
		for _, e := range es {
			if e.Kind == upstream.EventBlockExtra || e.Kind == upstream.EventLoss {
				if upstream.FrameOf(es) != nil {
					t.Error("a frame with another number is verbatim")
				}
				got = append(got, e)
			}
		}
		return nil
	}))
	want := []event_{
		{Kind: upstream.EventBlockExtra, Block: 1, Text: "d", Extra: x},
		{Kind: upstream.EventLoss, Loss: &content.Loss{Path: "parts", Severity: content.LossHint, Reason: "a vendor's members of an omitted block were omitted"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestFrameOfNothing(t *testing.T) {
	if upstream.FrameOf(nil) != nil || upstream.FrameOf(make([]event_, 1)) != nil {
		t.Error("a frame out of nothing")
	}
}

// TestLateSignatures checks signatures after their block, also through a Tap.
func TestLateSignatures(t *testing.T) {
	sig := func(data string, block int) event_ {
		return event_{Kind: upstream.EventSignature, Block: block, Signature: &content.Signature{Data: data}}
	}
	var u upstream.Upstream = upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Send([]event_{{Kind: upstream.EventOpen, Block: 4, Part: &content.Thinking{Text: "a"}}, {Kind: upstream.EventClose, Block: 4}})
		w.Send([]event_{{Kind: upstream.EventOpen, Block: 5, Part: &content.Text{Text: "b"}}, {Kind: upstream.EventClose, Block: 5}})
		w.Text("c")
		w.Signature(content.Signature{Data: "third"})
		return w.Send([]event_{sig("first", 4), sig("second", 5)})
	})
	want := []content.Part{
		&content.Thinking{Text: "a", Signature: content.Signature{Data: "first"}},
		&content.Text{Text: "b", Signature: content.Signature{Data: "second"}},
		&content.Text{Text: "c", Signature: content.Signature{Data: "third"}},
	}
	for range 3 {
		reply, err := upstream.Collect(t.Context(), u, &upstream.Request{})
		if diff := cmp.Diff(want, reply.Parts); err != nil || diff != "" {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
		u = tap(func(events []event_, to upstream.Sink) error { return to.Send(events) })(u)
	}
}
