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

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// broken lists what can be wrong with an Upstream, by the only check that sees
// it.
var broken = []struct{ check, flaw string }{
	{"answer", "breaks off"},
	{"sequence", "a usage in the start"},
	{"sequence", "a frame that is no JSON"},
	{"stop", "always waits for a result"},
	{"stop", "is done after a call"},
	{"stop", "a reason of its own"},
	{"stop", "a second answer without a stop"},
	{"text", "half a character"},
	{"usage", "counts down"},
	{"usage", "forgets the prompt"},
	{"usage", "negative count"},
	{"calls", "no id"},
	{"calls", "an id twice"},
	{"calls", "no tool of the request"},
	{"calls", "half of the arguments"},
	{"calls", "a list of arguments"},
	{"calls", "no call"},
	{"thinking", "thinks aloud"},
	{"thinking", "signs with nothing"},
	{"thinking", "an empty thought"},
	{"stream", "says less at once"},
	{"cancellation/before", "nil if it is over"},
	{"cancellation/silent", "sleeps"},
	{"cancellation/silent", "talks in silence"},
	{"cancellation/midway", "nil midway"},
	{"cancellation/blocked", "nil when blocked"},
	{"writer", "nil when the write failed"},
	{"writer", "another error"},
	{"backpressure", "reads ahead"},
	{"late", "writes late"},
	{"late", "writes on"},
	{"leaks", "leaks"},
	{"unsupported", "drops parts"},
	{"unsupported", "does not say where"},
	{"unsupported", "plain refusal"},
	{"losses", "loses late"},
	{"losses", "loss without severity"},
	{"losses", "one loss at a time"},
	{"losses", "own words for refused losses"},
	{"refusals", "refuses as internal"},
	{"refusals", "refuses without a text"},
	{"failures", "tells Go's text"},
	{"failures", "own code"},
	{"failures", "untyped failure"},
	{"readonly", "forgets the user"},
	{"readonly", "appends to the system text"},
	{"concurrency", "mixes answers up"},
	{"odd", "no turns"},
	{"count", "counts nothing"},
	{"count", "counts everything alike"},
	{"count", "generates to count"},
	{"models", "a model without an id"},
	{"models", "a model twice"},
	{"preflight", "foresees nothing"},
	{"preflight", "generates to foresee"},
	{"secrets", "tells a secret in a header"},
	{"secrets", "tells a secret in an error"},
}

// found returns the names of the checks that failed.
func found(t *testing.T, err error) []string {
	t.Helper()
	seen := map[string]bool{}
	if err != nil {
		for _, err := range err.(interface{ Unwrap() []error }).Unwrap() {
			var f *upstreamtest.Failure
			if !errors.As(err, &f) {
				t.Fatalf("a %T: %v", err, err)
			}
			seen[f.Check] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func TestBroken(t *testing.T) {
	for _, tt := range broken {
		t.Run(tt.check+"/"+tt.flaw, func(t *testing.T) {
			bubble := synctest.Test
			if tt.check == "late" {
				// Who waits for the Writer's mutex stops the clock of a bubble.
				bubble = func(t *testing.T, f func(*testing.T)) { f(t) }
			}
			bubble(t, func(t *testing.T) {
				f := &fake{flaw: tt.flaw, end: make(chan struct{})}
				defer close(f.end)
				o := all()
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

func TestEveryCheckHasItsBroken(t *testing.T) {
	doc := map[string]bool{}
	for _, b := range broken {
		doc[b.check] = true
	}
	for _, name := range upstreamtest.Names() {
		if !doc[name] {
			t.Errorf("no broken Upstream for the check %q", name)
		}
	}
}

// parrot is an Upstream of 15 lines.
var parrot = upstream.Func(func(_ context.Context, req *upstream.Request, w *upstream.Writer) error {
	for i, p := range req.Last() {
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
		"alone": u,
		"Mux":   &m,
		"Edit": upstream.Edit(u, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
			c := r.Clone()
			c.System = append(c.System, &content.Text{Text: "Be kind."})
			return c, nil
		}),
		"Tap": upstream.Tap(u, func(_ context.Context, _ *upstream.Request, to upstream.Sink) upstream.Sink {
			return upstream.SinkFunc(func(events []upstream.Event) error {
				for i := range events {
					events[i].Text = strings.ReplaceAll(events[i].Text, "fox", "dog")
				}
				return to.Send(events)
			})
		}),
	}
}

func TestGood(t *testing.T) {
	for name, u := range wrapped(&fake{}) {
		t.Run("fake/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if err := upstreamtest.Check(t.Context(), u, all()); err != nil {
					t.Error(err)
				}
			})
		})
	}
	for name, u := range wrapped(parrot) {
		t.Run("parrot/"+name, func(t *testing.T) { upstreamtest.Run(t, u, nil) })
	}
}

// TestBadEnds checks that what ends a goroutine is told, and ends nothing else.
func TestBadEnds(t *testing.T) {
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
		"unknown check":  {parrot, &upstreamtest.Options{Skip: []string{"lates"}}},
		"negative Grace": {parrot, &upstreamtest.Options{Grace: -1}},
	} {
		if err := upstreamtest.Check(t.Context(), tt.u, tt.o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	o := &upstreamtest.Options{Skip: []string{"unsupported"}}
	silent := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		return w.Text("whatever you say")
	})
	if err := upstreamtest.Check(t.Context(), silent, o); err != nil {
		t.Errorf("with Skip: %v", err)
	}
}

// An Upstream that returns nil at once fails the checks that it breaks, and no
// check panics.
func TestNilAtOnce(t *testing.T) {
	up := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { return nil })
	for name, o := range map[string]*upstreamtest.Options{"no options": nil, "all options": all(), "deterministic": {Deterministic: true}} {
		err := upstreamtest.Check(t.Context(), up, o)
		if err == nil || strings.Contains(err.Error(), "panic") || !slices.Contains(found(t, err), "answer") {
			t.Errorf("%s: %.2000v", name, err)
		}
	}
}
