package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// run calls an Upstream made of f and returns its response, a short text for each event
// and a bar between batches.
func run(t *testing.T, r *upstream.Request, f upstream.Func) (string, error) {
	t.Helper()
	var g grammar
	var words []string
	err := upstream.Run(t.Context(), f, r, upstream.SinkFunc(func(events []upstream.Event) error {
		for i := range events {
			words = append(words, word(&events[i]))
		}
		words = append(words, "|")
		return g.Send(events)
	}))
	if err == nil {
		g.whole()
	}
	if g.err != nil {
		t.Errorf("invalid order: %v", g.err)
	}
	return strings.TrimSuffix(strings.Join(words, " "), " |"), err
}

func word(e *upstream.Event) string {
	switch e.Kind {
	case upstream.EventStart:
		return "start:" + e.Start.Model
	case upstream.EventOpen:
		name := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", e.Part), "*content."))
		if u, ok := e.Part.(*content.ToolUse); ok {
			name = u.ID
		}
		return fmt.Sprintf("%d(%s", e.Block, name)
	case upstream.EventText, upstream.EventInput:
		return fmt.Sprintf("%d:%s", e.Block, e.Text)
	case upstream.EventCitation:
		return fmt.Sprintf("%d^%s", e.Block, e.Citation.Text)
	case upstream.EventSignature:
		return fmt.Sprintf("%d!%s", e.Block, e.Signature.Data)
	case upstream.EventClose:
		return fmt.Sprintf("%d)", e.Block)
	case upstream.EventUsage:
		return fmt.Sprintf("usage:%d", e.Usage.Output)
	case upstream.EventStop:
		return "stop:" + string(e.Stop.Reason)
	case upstream.EventLoss:
		return "loss:" + e.Loss.Path
	}
	return "extra"
}

func TestWriter(t *testing.T) {
	sig := content.Signature{Data: "s"}
	tests := []struct {
		name string
		f    func(w *upstream.Writer)
		want string
	}{
		{"nothing", func(w *upstream.Writer) {}, "stop:end"},
		{"empty pieces", func(w *upstream.Writer) { w.Text(""); w.Thinking(""); w.Loss(nil); w.ToolCall("a", "x").Input("") },
			"0(a | 0) stop:tool_use"},
		{"text", func(w *upstream.Writer) { w.Text("a"); w.Text("b") }, "0(text 0:a | 0:b | 0) stop:end"},
		{"thinking, then text", func(w *upstream.Writer) { w.Thinking("a"); w.Text("b"); w.Thinking("c") },
			"0(thinking 0:a | 0) 1(text 1:b | 1) 2(thinking 2:c | 2) stop:end"},
		{"signed thinking", func(w *upstream.Writer) { w.Thinking("a"); w.Signature(sig); w.Thinking("b") },
			"0(thinking 0:a | 0!s 0) | 1(thinking 1:b | 1) stop:end"},
		{"signature without a block", func(w *upstream.Writer) { w.Signature(sig); w.Text("a") }, "0(thinking 0!s 0) | 1(text 1:a | 1) stop:end"},
		{"late signature", func(w *upstream.Writer) { w.Thinking("a"); w.Text("b"); w.Signature(sig); w.Text("c") },
			"0(thinking 0:a | 0) 1(text 1:b | 1!s | 1:c | 1) stop:end"},
		{"signed part", func(w *upstream.Writer) { w.Part(&content.Image{}); w.Signature(sig) }, "0(image 0) | 0!s | stop:end"},
		{"signed tool call", func(w *upstream.Writer) {
			c := w.ToolCall("a", "x")
			w.Signature(sig)
			c.Input("{}")
			c.Close()
			w.Signature(sig)
		},
			"0(a | 0!s | 0:{} | 0) | 0!s | stop:tool_use"},
		{"concurrent tool calls", func(w *upstream.Writer) {
			w.Text("t")
			a, b := w.ToolCall("a", "x"), w.ToolCall("b", "x")
			b.Input("{")
			a.Input("{}")
			w.Text("between")
			b.Input("}")
			a.Close()
			a.Close()
			a.Input("")
		}, "0(text 0:t | 0) 1(a | 2(b | 2:{ | 1:{} | 3(text 3:between | 2:} | 1) | 2) 3) stop:tool_use"},
		{"citation", func(w *upstream.Writer) { w.Thinking("h"); w.Cite(content.Citation{Text: "c"}); w.Text("a") },
			"0(thinking 0:h | 0) 1(text 1^c | 1:a | 1) stop:end"},
		{"parts", func(w *upstream.Writer) { w.Text("a"); w.Part(&content.Text{Text: "b"}); w.Text("c") },
			"0(text 0:a | 0) 1(text 1:b 1) | 2(text 2:c | 2) stop:end"},
		{"tool call as a part", func(w *upstream.Writer) { w.Part(&content.ToolUse{Name: "x", Input: "{}"}) }, "0(call_0 0) | stop:tool_use"},
		{"start, usage, stops", func(w *upstream.Writer) {
			w.Start(upstream.Start{Model: "m"})
			w.Stop(upstream.Stop{Reason: content.StopMaxTokens})
			w.Text("a")
			w.Usage(content.Usage{Output: 3})
			w.Stop(upstream.Stop{Reason: content.StopEnd})
		}, "start:m | stop:max_tokens | 0(text 0:a | usage:3 | stop:end | 0)"},
		{"losses before and after", func(w *upstream.Writer) {
			w.Loss([]content.Loss{{Path: "p"}, {Path: "q"}})
			w.Start(upstream.Start{})
			w.Loss([]content.Loss{{Path: "r"}})
		}, "loss:p loss:q | start: | loss:r | stop:end"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := run(t, &upstream.Request{}, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
				tt.f(w)
				return nil
			})
			if err != nil || got != tt.want {
				t.Errorf("got  %s, %v\nwant %s", got, err, tt.want)
			}
		})
	}
}

func TestWriterInvalidEvents(t *testing.T) {
	ev := func(events ...upstream.Event) func(*upstream.Writer) error {
		return func(w *upstream.Writer) error { return w.Send(events) }
	}
	open := upstream.Event{Kind: upstream.EventOpen, Part: &content.Text{}}
	tests := map[string]func(w *upstream.Writer) error{
		"nil part":     func(w *upstream.Writer) error { return w.Part(nil) },
		"nil pointer":  func(w *upstream.Writer) error { return w.Part((*content.Image)(nil)) },
		"late start":   func(w *upstream.Writer) error { w.Text("a"); return w.Start(upstream.Start{}) },
		"second start": func(w *upstream.Writer) error { w.Start(upstream.Start{}); return w.Start(upstream.Start{}) },
		"too many open calls": func(w *upstream.Writer) error {
			for range 1000 {
				w.ToolCall("", "x")
			}
			if err := w.Usage(content.Usage{}); err != nil {
				t.Errorf("1000 calls: %v", err)
			}
			return w.ToolCall("", "x").Close()
		},
		"no kind":              ev(upstream.Event{}),
		"unknown kind":         ev(upstream.Event{Kind: 100}),
		"open without a part":  ev(upstream.Event{Kind: upstream.EventOpen}),
		"open twice":           ev(open, open),
		"negative block":       ev(upstream.Event{Kind: upstream.EventOpen, Part: &content.Text{}, Block: -1}),
		"text without a block": ev(upstream.Event{Kind: upstream.EventText, Text: "a"}),
		"text after close":     ev(open, upstream.Event{Kind: upstream.EventClose}, upstream.Event{Kind: upstream.EventText}),
		"input for a text":     ev(open, upstream.Event{Kind: upstream.EventInput, Text: "{}"}),
		"another candidate":    ev(open, upstream.Event{Kind: upstream.EventText, Candidate: 1}),
		"a block of the Writer's": func(w *upstream.Writer) error {
			w.Text("a")
			return ev(upstream.Event{Kind: upstream.EventText, Block: -1})(w)
		},
		"signature without a block": ev(upstream.Event{Kind: upstream.EventSignature, Signature: &content.Signature{}}),
		"signature without one":     ev(open, upstream.Event{Kind: upstream.EventSignature}),
		"citation without one":      ev(open, upstream.Event{Kind: upstream.EventCitation}),
		"usage without one":         ev(upstream.Event{Kind: upstream.EventUsage}),
		"loss without one":          ev(upstream.Event{Kind: upstream.EventLoss}),
		"no frame":                  func(w *upstream.Writer) error { return w.Frame(nil) },
		"negative start":            ev(upstream.Event{Kind: upstream.EventStart, Candidate: -1, Start: &upstream.Start{}}),
		"negative usage":            ev(upstream.Event{Kind: upstream.EventUsage, Candidate: -1, Usage: &content.Usage{}}),
		"negative stop":             ev(upstream.Event{Kind: upstream.EventStop, Candidate: -1, Stop: &upstream.Stop{}}),
		"negative extra":            ev(upstream.Event{Kind: upstream.EventExtra, Candidate: -1, Extra: &content.Extra{}}),
		"late start event":          ev(open, upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{}}),
	}
	for name, f := range tests {
		_, err := run(t, &upstream.Request{}, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			first := f(w)
			if first == nil {
				t.Errorf("%s: no error", name)
			}
			if again := w.Text("more"); again != first {
				t.Errorf("%s: then %v", name, again)
			}
			return nil
		})
		if err == nil {
			t.Errorf("%s: Run returned nil", name)
		}
	}
}

func TestErrorsStick(t *testing.T) {
	errGone := errors.New("gone")
	sends := 0
	sink := upstream.SinkFunc(func([]upstream.Event) error {
		if sends++; sends == 2 {
			return errGone
		}
		return nil
	})
	err := upstream.Run(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Text("a")
		c := w.ToolCall("", "x") // fails; the next call returns the error
		for _, got := range []error{c.Input("{}"), c.Close(), w.Text(""), w.Usage(content.Usage{}), w.Loss(nil),
			w.Send(nil), w.Frame(&upstream.Frame{}), w.Stop(upstream.Stop{})} {
			if got != errGone {
				t.Errorf("got %v", got)
			}
		}
		return nil // Run still returns the error
	}), &upstream.Request{}, sink)
	if err != errGone || sends != 2 {
		t.Errorf("got %v after %d sends", err, sends)
	}
}

func TestGenerateErrors(t *testing.T) {
	errBad := errors.New("bad")
	got, err := run(t, &upstream.Request{}, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Text("a")
		w.Stop(upstream.Stop{Reason: content.StopEnd})
		return errBad
	})
	if err != errBad || got != "0(text 0:a | stop:end" {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestRefusedLosses(t *testing.T) {
	losses := []content.Loss{
		{Path: "top_k", Severity: content.LossDropped, Reason: "there is no top_k"},
		{Path: "system.0", Severity: content.LossHint, Reason: "no cache"},
		{Path: "turns.0.parts.1", Severity: content.LossDegraded, Reason: "moved"},
	}
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		if err := w.Loss(losses); err != nil {
			return err
		}
		return w.Text("paid")
	})
	pass := func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
		return to, nil
	}
	for name, u := range map[string]upstream.Func{"plain": up, "tapped": upstream.Tap(up, pass).Generate} {
		for refuse, want := range map[content.Severity]int{0: 0, content.LossHint: 3, content.LossDegraded: 2, content.LossDropped: 1} {
			got, err := run(t, &upstream.Request{RejectLoss: refuse}, u)
			list, _ := content.Violations(err)
			if len(list) != want || want == 0 && err != nil {
				t.Errorf("%s, refuse %v: got %v", name, refuse, err)
			}
			if reported := strings.HasPrefix(got, "loss:top_k loss:system.0 loss:turns.0.parts.1"); !reported {
				t.Errorf("%s, refuse %v: the losses were not reported: %s", name, refuse, got)
			}
			if paid := strings.Contains(got, "paid"); paid != (want == 0) {
				t.Errorf("%s, refuse %v: got %s", name, refuse, got)
			}
			for _, e := range list {
				if e.Code != content.CodeUnsupported || e.Path == "" || e.Text == "" {
					t.Errorf("got %+v", e)
				}
			}
		}
	}
	// RejectLoss does not apply to losses of the response.
	_, err := run(t, &upstream.Request{RejectLoss: content.LossHint}, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Text("a")
		return w.Loss(losses)
	})
	if err != nil {
		t.Errorf("a loss of the answer: %v", err)
	}
}

// TestToolCallErrors checks that invalid tool calls are errors.
// TestFreeformCall writes and collects the call of a free-form tool, whose input is any text.
func TestFreeformCall(t *testing.T) {
	got, err := upstream.Collect(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		use := content.ToolUse{ID: "a", Name: "exec", Namespace: "functions", Freeform: true}
		c := w.BeginToolCall(&use)
		use.Name = "changed"
		_ = c.Input("ls {")
		_ = c.Input(" -l\n")
		_ = c.Close()
		return w.Part(&content.ToolUse{ID: "b", Name: "note", Freeform: true, Text: "{"})
	}), new(upstream.Request))
	want := []content.Part{
		&content.ToolUse{ID: "a", Name: "exec", Namespace: "functions", Freeform: true, Text: "ls { -l\n"},
		&content.ToolUse{ID: "b", Name: "note", Freeform: true, Text: "{"},
	}
	if diff := cmp.Diff(want, got.Parts); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestToolCallErrors(t *testing.T) {
	for want, f := range map[string]func(w *upstream.Writer){
		"upstream: Input called after Close of a tool call": func(w *upstream.Writer) {
			a := w.ToolCall("a", "x")
			a.Close()
			a.Input("{}")
		},
		`upstream: two tool calls with the id "a"`: func(w *upstream.Writer) { w.ToolCall("a", "x"); w.ToolCall("a", "y") },
		`upstream: two tool calls with the id "b"`: func(w *upstream.Writer) {
			w.Part(&content.ToolUse{ID: "b", Name: "x"})
			w.Part(&content.ToolUse{ID: "b", Name: "x"})
		},
		"upstream: nil Part":                 func(w *upstream.Writer) { w.BeginToolCall(nil) },
		"upstream: tool call without a name": func(w *upstream.Writer) { w.ToolCall("a", "") },
	} {
		_, err := run(t, &upstream.Request{}, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			f(w)
			return nil
		})
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestIDs(t *testing.T) {
	r := &upstream.Request{Turns: []content.Turn{
		{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "call_0"}, (*content.ToolUse)(nil), &content.ToolUse{ID: "call_7"}, &content.ToolUse{ID: "toolu_9"}}},
		{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "call_12"}, nil, &content.ToolResult{ID: "call_99999999999999999999"}}},
	}}
	got, err := run(t, r, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.ToolCall("call_14", "x").Close()
		w.ToolCall("", "x").Close()
		w.ToolCall("own", "x").Close()
		w.Part(&content.ToolUse{Name: "x"})
		return w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.ToolUse{ID: "call_20"}}})
	})
	if want := "0(call_14 | 0) | 1(call_15 | 1) | 2(own | 2) | 3(call_16 3) | 4(call_20 | 4) stop:tool_use"; err != nil || got != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// TestLateAndConcurrent uses the Writer late and from several goroutines. Run it with -race.
func TestLateAndConcurrent(t *testing.T) {
	for _, panics := range []bool{false, true} {
		var g grammar
		over := false
		var wg sync.WaitGroup
		began := make(chan struct{})
		sink := upstream.SinkFunc(func(events []upstream.Event) error {
			if over {
				t.Error("something was written after Run had returned")
			}
			return g.Send(events)
		})
		func() {
			defer func() {
				over = true // unsynchronized, for the race detector
				if r := recover(); (r != nil) != panics {
					t.Errorf("recovered %v", r)
				}
			}()
			_ = upstream.Run(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
				for i := range 4 {
					wg.Go(func() {
						c := w.ToolCall("", "x")
						for n := range 500 {
							w.Text("a")
							c.Input("{}")
							w.Signature(content.Signature{})
							if n == 50 && i == 0 {
								close(began)
							}
						}
						c.Close()
					})
				}
				<-began
				if panics {
					panic("oops")
				}
				return nil
			}), &upstream.Request{}, sink)
		}()
		wg.Wait()
		if g.err != nil {
			t.Error(g.err)
		}
	}
}

func TestClosed(t *testing.T) {
	var kept *upstream.Writer
	var call *upstream.ToolCallWriter
	_, err := run(t, &upstream.Request{}, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		kept, call = w, w.ToolCall("a", "x")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{kept.Text("a"), kept.Stop(upstream.Stop{}), kept.Loss(nil), call.Input("x"), call.Close(), kept.ToolCall("", "").Close()} {
		if err != upstream.ErrClosed {
			t.Errorf("got %v", err)
		}
	}
}

// TestNoQueue checks that a slow sink blocks the upstream.
func TestNoQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := upstream.Run(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for i := range 10 {
				w.Text("a")
				if got, want := time.Since(began), time.Duration(i+1)*time.Second; got != want {
					t.Errorf("piece %d was taken after %v, not %v", i, got, want)
				}
			}
			return nil
		}), &upstream.Request{}, upstream.SinkFunc(func([]upstream.Event) error {
			time.Sleep(time.Second)
			return nil
		}))
		if err != nil {
			t.Error(err)
		}
	})
}

func TestTextAllocatesNothing(t *testing.T) {
	sink := upstream.SinkFunc(func([]upstream.Event) error { return nil })
	_ = upstream.Run(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Text("first")
		if n := testing.AllocsPerRun(100, func() { w.Text("more") }); n != 0 {
			t.Errorf("Text: %v allocations", n)
		}
		c := w.ToolCall("a", "x")
		if n := testing.AllocsPerRun(100, func() { c.Input("more") }); n != 0 {
			t.Errorf("Input: %v allocations", n)
		}
		f := upstream.Frame{Events: make([]upstream.Event, 0, 2)}
		w.Send([]upstream.Event{{Kind: upstream.EventOpen, Block: 2, Part: &content.Text{}}})
		if n := testing.AllocsPerRun(100, func() {
			f.Events = append(f.Events[:0], upstream.Event{Kind: upstream.EventText, Block: 2, Text: "more"})
			w.Frame(&f)
		}); n != 0 {
			t.Errorf("Frame: %v allocations", n)
		}
		return nil
	}), &upstream.Request{}, sink)
}

func TestCmpIgnoresFrames(t *testing.T) {
	a := upstream.Event{Kind: upstream.EventText, Frame: &upstream.Frame{Data: "a"}}
	b := upstream.Event{Kind: upstream.EventText, Frame: &upstream.Frame{Data: "b"}}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Error(diff)
	}
}

// TestStartUsage checks the Usage of a Start.
func TestStartUsage(t *testing.T) {
	var got [][]upstream.Event
	up := upstream.Func(func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
		return w.Start(upstream.Start{ID: "a", Usage: &content.Usage{Input: 7}})
	})
	err := upstream.Run(t.Context(), up, &upstream.Request{}, upstream.SinkFunc(func(events []upstream.Event) error {
		got = append(got, slices.Clone(events))
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]upstream.Event{
		{{Kind: upstream.EventStart, Start: &upstream.Start{ID: "a"}}, {Kind: upstream.EventUsage, Usage: &content.Usage{Input: 7}}},
		{{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
