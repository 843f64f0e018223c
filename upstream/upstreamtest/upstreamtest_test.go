package upstreamtest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// flaws lists what can be wrong with an Upstream, and the only check that must
// find it.
var flaws = []struct{ check, flaw string }{
	{"response", "error after half of the response"},
	{"sequence", "usage in the start event"},
	{"sequence", "frame that is not JSON"},
	{"stop", "always stops for tool use"},
	{"stop", "stops with end after a call"},
	{"stop", "unknown stop reason"},
	{"stop", "second candidate without a stop"},
	{"text", "incomplete character"},
	{"usage", "decreasing count"},
	{"usage", "no prompt tokens at the end"},
	{"usage", "negative count"},
	{"calls", "empty id"},
	{"calls", "duplicate id"},
	{"calls", "unknown tool"},
	{"calls", "incomplete arguments"},
	{"calls", "arguments in a list"},
	{"calls", "no call"},
	{"thinking", "thinking as text"},
	{"thinking", "empty signature"},
	{"thinking", "empty thinking block"},
	{"stream", "shorter plain response"},
	{"cancellation/before", "nil for an ended context"},
	{"cancellation/silent", "ignores its context"},
	{"cancellation/silent", "responds to the silent request"},
	{"cancellation/midway", "nil for a context that ends midway"},
	{"cancellation/blocked", "nil for a blocked write"},
	{"writer", "nil for a failed write"},
	{"writer", "replaces the error of the Writer"},
	{"backpressure", "unbounded buffer"},
	{"late", "writes after the response"},
	{"late", "writes after the context ended"},
	{"leaks", "leaves a goroutine"},
	{"unsupported", "drops parts silently"},
	{"unsupported", "drops system texts"},
	{"unsupported", "drops earlier turns"},
	{"unsupported", "drops tools"},
	{"unsupported", "error without a path"},
	{"unsupported", "untyped error for a part"},
	{"losses", "late loss"},
	{"losses", "loss without severity"},
	{"losses", "one loss at a time"},
	{"losses", "replaces the error of Writer.Loss"},
	{"invalid", "internal error"},
	{"invalid", "violation without a text"},
	{"failures", "text of a Go error"},
	{"failures", "unknown code"},
	{"failures", "untyped error"},
	{"readonly", "changes the user id"},
	{"readonly", "appends to the system parts"},
	{"concurrency", "mixes responses"},
	{"malformed", "panics without turns"},
	{"count", "zero tokens"},
	{"count", "constant tokens"},
	{"count", "generates to count"},
	{"models", "model without an id"},
	{"models", "duplicate model"},
	{"preflight", "no losses"},
	{"preflight", "generates in Preflight"},
	{"secrets", "secret in a header"},
	{"secrets", "secret in an error"},
}

// found returns the names of the checks that failed.
func found(t *testing.T, err error) []string {
	t.Helper()
	seen := map[string]bool{}
	if err != nil {
		for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
			var f *upstreamtest.Failure
			if !errors.As(err, &f) {
				t.Fatalf("got a %T, want a *Failure: %v", err, err)
			}
			seen[f.Check] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func TestFlaws(t *testing.T) {
	for _, tt := range flaws {
		t.Run(tt.check+"/"+tt.flaw, func(t *testing.T) {
			bubble := synctest.Test
			if tt.check == "late" {
				// Waiting for the mutex of the Writer stops the clock of a bubble.
				bubble = func(t *testing.T, f func(*testing.T)) { f(t) }
			}
			bubble(t, func(t *testing.T) {
				f := &fake{flaw: tt.flaw, end: make(chan struct{})}
				defer close(f.end)
				o := allOptions()
				o.Buffer = 2 << 20
				err := upstreamtest.Check(t.Context(), f, o)
				if diff := cmp.Diff([]string{tt.check}, found(t, err)); diff != "" {
					t.Errorf("checks that failed (-want +got):\n%s\n%v", diff, err)
				}
				t.Log(err)
			})
		})
	}
}

func TestEveryCheckHasAFlaw(t *testing.T) {
	tested := map[string]bool{}
	for _, b := range flaws {
		tested[b.check] = true
	}
	for _, name := range upstreamtest.Names() {
		if !tested[name] {
			t.Errorf("no flaw for the check %q", name)
		}
	}
}

// parrot is an Upstream of 15 lines.
var parrot = upstream.Func(func(_ context.Context, req *upstream.Request, w *upstream.Writer) error {
	for i, p := range req.LastParts() {
		t, ok := p.(*content.Text)
		if !ok {
			path := fmt.Sprintf("turns.%d.parts.%d", len(req.Turns)-1, i)
			return &content.Violation{Code: content.CodeUnsupported, Path: path, Text: "is not text"}
		}
		if err := w.Text(t.Text); err != nil {
			return err
		}
	}
	return nil
})

func wrapped(u upstream.Upstream) map[string]upstream.Upstream {
	var m upstream.Mux
	m.HandleAs("via/*", u, "*")
	m.Handle("*", u)
	return map[string]upstream.Upstream{
		"alone":    u,
		"Mux":      &m,
		"Failover": upstream.Failover([]upstream.Upstream{u, u}, nil),
		"Failover with limits": upstream.Failover([]upstream.Upstream{u, u},
			&upstream.FailoverOptions{FirstContent: time.Minute, Hedge: 30 * time.Second}),
		"Edit": upstream.Edit(u, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
			c := r.Clone()
			c.System = append(c.System, &content.Text{Text: "Be kind."})
			return c, nil
		}),
		"Tap": upstream.Tap(u, func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
			return upstream.SinkFunc(func(events []upstream.Event) error {
				for i := range events {
					events[i].Text = strings.ReplaceAll(events[i].Text, "fox", "dog")
				}
				return to.Send(events)
			}), nil
		}),
	}
}

func TestNoFlaw(t *testing.T) {
	for name, u := range wrapped(&fake{}) {
		t.Run("fake/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := upstreamtest.Check(t.Context(), u, allOptions()); err != nil {
					t.Error(err)
				}
			})
		})
	}
	for name, u := range wrapped(parrot) {
		t.Run("parrot/"+name, func(t *testing.T) { upstreamtest.Run(t, u, nil) })
	}
}

// TestPanic checks that a panic and runtime.Goexit fail a check and nothing else.
func TestPanic(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func()
		want string
	}{
		"panic":   {func() { panic("enough") }, "Generate panicked: enough"},
		"FailNow": {func() { runtime.Goexit() }, "Generate ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			u := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { tt.do(); return nil })
			err := upstreamtest.Check(t.Context(), u, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestMisuse(t *testing.T) {
	for name, tt := range map[string]struct {
		u upstream.Upstream
		o *upstreamtest.Options
	}{
		"nil Upstream":   {nil, nil},
		"unknown check":  {parrot, &upstreamtest.Options{Skip: []string{"latest"}}},
		"negative Grace": {parrot, &upstreamtest.Options{Grace: -1}},
	} {
		if err := upstreamtest.Check(t.Context(), tt.u, tt.o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	o := &upstreamtest.Options{Skip: []string{"unsupported"}}
	silent := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		return w.Text("always the same")
	})
	if err := upstreamtest.Check(t.Context(), silent, o); err != nil {
		t.Errorf("with Skip: %v", err)
	}
}

func TestEmptyResponse(t *testing.T) {
	up := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { return nil })
	for name, o := range map[string]*upstreamtest.Options{"no options": nil, "all options": allOptions(), "deterministic": {Deterministic: true}} {
		err := upstreamtest.Check(t.Context(), up, o)
		if err == nil || strings.Contains(err.Error(), "panic") || !slices.Contains(found(t, err), "response") {
			t.Errorf("%s: %.2000v", name, err)
		}
	}
}
