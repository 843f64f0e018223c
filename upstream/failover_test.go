package upstream_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/upstream"
)

// A scripted is an Upstream that does something else in each call. The last step is
// repeated.
type scripted struct {
	steps []upstream.Func

	mu    sync.Mutex
	calls int
}

func script(steps ...upstream.Func) *scripted { return &scripted{steps: steps} }

func (s *scripted) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	s.mu.Lock()
	step := s.steps[min(s.calls, len(s.steps)-1)]
	s.calls++
	s.mu.Unlock()
	return step(ctx, r, w)
}

// responds returns a step that responds with a text, as a server does.
func responds(text string) upstream.Func {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Loss([]content.Loss{{Path: "loss of " + text, Severity: content.LossHint}})
		w.Start(upstream.Start{Model: "m", Upstream: text, UpstreamID: "id of " + text})
		for _, c := range text {
			w.Text(string(c))
		}
		return w.Usage(content.Usage{Output: int64(len(text))})
	}
}

// failsWith returns a step that fails with err before it writes anything.
func failsWith(err error) upstream.Func {
	return func(context.Context, *upstream.Request, *upstream.Writer) error { return err }
}

func code(c upstream.Code) upstream.Func { return failsWith(&upstream.Error{Code: c}) }

func rateLimit(wait time.Duration) upstream.Func {
	return failsWith(&upstream.Error{Code: upstream.CodeRateLimit, RetryAfter: wait})
}

// cut returns a step that fails after the text, which may be empty.
func cut(text string) upstream.Func {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Loss([]content.Loss{{Path: "loss of a cut response", Severity: content.LossHint}})
		w.Start(upstream.Start{Model: "cut", Upstream: "cut"})
		w.Usage(content.Usage{Input: 7})
		w.Text(text)
		return &upstream.Error{Code: upstream.CodeBadGateway, Upstream: "cut"}
	}
}

// silent writes nothing until its context ends.
func silent(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
	w.Start(upstream.Start{Model: "silent", Upstream: "silent"})
	w.Usage(content.Usage{Input: 5})
	<-ctx.Done()
	return context.Cause(ctx)
}

// stuck ignores its context for an hour.
func stuck(context.Context, *upstream.Request, *upstream.Writer) error {
	time.Sleep(time.Hour)
	return nil
}

// after returns a step that waits before it continues with another one.
func after(d time.Duration, next upstream.Func) upstream.Func {
	return func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
		if err := formattest.Sleep(ctx, d); err != nil {
			return err
		}
		return next(ctx, r, w)
	}
}

// refuses returns a step that reports a loss of a request, which RejectLoss may refuse.
func refuses(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
	if err := w.Loss([]content.Loss{{Path: "top_k", Severity: content.LossDropped, Reason: "no top_k"}}); err != nil {
		return err
	}
	return w.Text("without top_k")
}

// An attemptLog records attempts as short texts.
type attemptLog struct {
	mu   sync.Mutex
	list []upstream.Attempt
}

func (l *attemptLog) trace() *upstream.Trace {
	return &upstream.Trace{AttemptDone: func(_ context.Context, a upstream.Attempt) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.list = append(l.list, a)
	}}
}

// String returns the attempts in the order in which they began: index, code and, for
// the chosen one, a star.
func (l *attemptLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.SortStableFunc(l.list, func(a, b upstream.Attempt) int { return a.Start.Compare(b.Start) })
	var words []string
	for _, a := range l.list {
		word := fmt.Sprint(a.Index)
		if a.Code != "" {
			word += " " + string(a.Code)
		}
		if a.Chosen {
			word += "*"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// ask calls u in a bubble and returns the text of the response followed by the code of
// the error, the attempts, and the time that passed.
func ask(t *testing.T, u upstream.Upstream, r *upstream.Request) (got, attempts string, took time.Duration) {
	t.Helper()
	var log attemptLog
	start := time.Now()
	reply, err := upstream.Collect(upstream.WithTrace(t.Context(), log.trace()), u, r)
	took = time.Since(start)
	for _, p := range reply.Parts {
		got += p.(*content.Text).Text
	}
	var e *upstream.Error
	_, isViolation := err.(*content.Violation) // it may have an Error as its cause
	switch list, _ := content.Violations(err); {
	case !isViolation && errors.As(err, &e):
		got += "!" + string(e.Code)
		if e.RetryAfter > 0 {
			got += " " + e.RetryAfter.String()
		}
	case len(list) > 0:
		got += "!" + list[0].Path
	case err != nil:
		got += "!" + err.Error()
	}
	return got, log.String(), took
}

type ups = []upstream.Upstream

func TestFailover(t *testing.T) {
	const (
		overloaded  = upstream.CodeOverloaded
		unavailable = upstream.CodeUnavailable
	)
	order := func(list ...int) func(context.Context, *upstream.Request) []int {
		return func(context.Context, *upstream.Request) []int { return list }
	}
	keyRefused := failsWith(&upstream.Error{Code: upstream.CodeBadGateway, KeyRefused: true})
	final := failsWith(&upstream.Error{Code: unavailable, Header: []upstream.HeaderField{{Name: "x-should-retry", Value: "false"}}})
	violation := failsWith(&content.Violation{Code: content.CodeValue, Path: "turns.0", Text: "is bad"})
	once := &upstream.FailoverOptions{Retries: -1}
	tests := []struct {
		name     string
		list     ups
		opts     *upstream.FailoverOptions
		want     string
		attempts string
		minTime  time.Duration // that the call takes
		maxTime  time.Duration
	}{
		{"first responds", ups{responds("a"), responds("b")}, nil, "a", "0*", 0, 0},
		{"rate limit", ups{rateLimit(time.Hour), responds("b")}, nil, "b", "0 rate_limit, 1*", 0, 0},
		{"several", ups{code(overloaded), code(unavailable), code(upstream.CodeTimeout), code(upstream.CodeBadGateway), responds("e")}, nil,
			"e", "0 overloaded, 1 unavailable, 2 timeout, 3 bad_gateway, 4*", 0, 0},
		{"deadline of the upstream", ups{failsWith(context.DeadlineExceeded), responds("b")}, nil, "b", "0 timeout, 1*", 0, 0},
		{"wrapped error", ups{failsWith(fmt.Errorf("model: %w", &upstream.Error{Code: overloaded})), responds("b")}, nil, "b", "0 overloaded, 1*", 0, 0},

		{"invalid request", ups{code(upstream.CodeInvalid), responds("b")}, nil, "!invalid", "0 invalid", 0, 0},
		{"violation", ups{violation, responds("b")}, nil, "!turns.0", "0 invalid", 0, 0},
		{"quota", ups{code(upstream.CodeQuota), responds("b")}, nil, "!quota", "0 quota", 0, 0},
		{"error of the host", ups{failsWith(errors.New("bug")), responds("b")}, nil, "!bug", "0 internal", 0, 0},
		{"invalid output", ups{upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Part(nil)
		}), responds("b")}, nil, "!upstream: nil Part", "0 internal", 0, 0},
		{"ignored error of the Writer", ups{upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			w.Part(nil)
			return nil
		}), responds("b")}, nil, "!upstream: nil Part", "0 internal", 0, 0},
		{"refused key", ups{keyRefused, responds("b")}, nil, "!bad_gateway", "0 bad_gateway", 0, 0},
		{"refused key, allowed", ups{keyRefused, responds("b")}, &upstream.FailoverOptions{RefusedKeys: true}, "b", "0 bad_gateway, 1*", 0, 0},
		{"refused key is not retried", ups{keyRefused}, &upstream.FailoverOptions{RefusedKeys: true}, "!bad_gateway", "0 bad_gateway", 0, 0},
		{"other codes", ups{code(upstream.CodeQuota), code(overloaded), responds("c")}, &upstream.FailoverOptions{Codes: []upstream.Code{upstream.CodeQuota}},
			"!quota", "0 quota, 1 overloaded", 0, 0},
		{"no codes", ups{code(overloaded), responds("b")}, &upstream.FailoverOptions{Codes: []upstream.Code{}}, "!overloaded", "0 overloaded", 0, 0},

		{"later violation is skipped", ups{code(overloaded), violation, responds("c")}, nil, "c", "0 overloaded, 1 invalid, 2*", 0, 0},
		{"later violation hides nothing", ups{code(overloaded), violation}, once, "!overloaded", "0 overloaded, 1 invalid", 0, 0},
		{"violation with a cause", ups{failsWith(&content.Violation{Code: content.CodeValue, Path: "turns.0", Text: "is bad", Err: &upstream.Error{Code: unavailable}}), responds("b")},
			nil, "!turns.0", "0 invalid", 0, 0},
		{"violation as a cause", ups{rateLimit(time.Hour), script(failsWith(&upstream.Error{Code: overloaded, Err: &content.Violation{Path: "choices"}}), responds("b"))},
			nil, "b", "0 rate_limit, 1 overloaded, 1*", 125 * time.Millisecond, 250 * time.Millisecond},
		{"violation in a retry", ups{script(rateLimit(time.Second), violation), rateLimit(time.Minute)}, nil, "!turns.0", "0 rate_limit, 1 rate_limit, 0 invalid", time.Second, time.Second},
		{"later error ends", ups{code(overloaded), code(upstream.CodeNotFound), responds("c")}, nil, "!overloaded", "0 overloaded, 1 not_found", 0, 0},

		{"cut before content", ups{cut(""), responds("b")}, nil, "b", "0 bad_gateway, 1*", 0, 0},
		{"cut after content", ups{cut("half"), responds("b")}, nil, "half!bad_gateway", "0 bad_gateway*", 0, 0},

		{"all down", ups{code(overloaded), code(unavailable)}, once, "!overloaded", "0 overloaded, 1 unavailable", 0, 0},
		{"all down, one to wait for", ups{code(overloaded), rateLimit(time.Minute), rateLimit(9 * time.Second), rateLimit(time.Hour)}, nil,
			"!rate_limit 9s", "0 overloaded, 1 rate_limit, 2 rate_limit, 3 rate_limit, 0 overloaded, 0 overloaded", 375 * time.Millisecond, 750 * time.Millisecond},

		{"retry", ups{script(code(overloaded), responds("a"))}, nil, "a", "0 overloaded, 0*", 125 * time.Millisecond, 250 * time.Millisecond},
		{"two retries", ups{code(overloaded)}, nil, "!overloaded", "0 overloaded, 0 overloaded, 0 overloaded", 375 * time.Millisecond, 750 * time.Millisecond},
		{"more retries", ups{code(overloaded)}, &upstream.FailoverOptions{Retries: 5}, "!overloaded",
			"0 overloaded, 0 overloaded, 0 overloaded, 0 overloaded, 0 overloaded, 0 overloaded", 2875 * time.Millisecond, 5750 * time.Millisecond},
		{"no retries", ups{code(overloaded)}, once, "!overloaded", "0 overloaded", 0, 0},
		{"retry after all others", ups{script(code(overloaded), responds("a")), rateLimit(time.Hour)}, nil, "a", "0 overloaded, 1 rate_limit, 0*",
			125 * time.Millisecond, 250 * time.Millisecond},
		{"Retry-After", ups{script(rateLimit(1500*time.Millisecond), responds("a"))}, nil, "a", "0 rate_limit, 0*", 1500 * time.Millisecond, 1500 * time.Millisecond},
		{"Retry-After too long", ups{script(rateLimit(2001*time.Millisecond), responds("a"))}, nil, "!rate_limit 2.001s", "0 rate_limit", 0, 0},
		{"shortest wait first", ups{rateLimit(2 * time.Second), script(rateLimit(time.Second), responds("b"))}, nil, "b", "0 rate_limit, 1 rate_limit, 1*", time.Second, time.Second},
		{"server wants no retry", ups{final, final}, nil, "!unavailable", "0 unavailable, 1 unavailable", 0, 0},

		{"order", ups{responds("a"), code(overloaded), responds("c")}, &upstream.FailoverOptions{Order: order(1, 2)}, "c", "1 overloaded, 2*", 0, 0},
		{"order with repetition", ups{script(rateLimit(time.Second), responds("a")), responds("b")}, &upstream.FailoverOptions{Order: order(0, 0, 1)},
			"a", "0 rate_limit, 0*", time.Second, time.Second},
		{"repetition without retries", ups{code(overloaded), responds("b")}, &upstream.FailoverOptions{Order: order(0, 0, 1), Retries: -1}, "b", "0 overloaded, 1*", 0, 0},
		{"repetition that must not be", ups{rateLimit(time.Hour), responds("b")}, &upstream.FailoverOptions{Order: order(0, 0, 1)}, "b", "0 rate_limit, 1*", 0, 0},
		{"no order", ups{responds("a")}, &upstream.FailoverOptions{Order: order()}, "!unavailable", "", 0, 0},
		{"invalid index", ups{responds("a")}, &upstream.FailoverOptions{Order: order(0, 1)}, "!upstream: FailoverOptions.Order returned the index 1 for a list of 1 upstreams", "", 0, 0},
		{"negative index", ups{responds("a")}, &upstream.FailoverOptions{Order: order(-1)}, "!upstream: FailoverOptions.Order returned the index -1 for a list of 1 upstreams", "", 0, 0},

		{"silence", ups{upstream.Func(silent), responds("b")}, &upstream.FailoverOptions{FirstContent: 5 * time.Second}, "b", "0 timeout, 1*", 5 * time.Second, 5 * time.Second},
		{"silence everywhere", ups{upstream.Func(silent)}, &upstream.FailoverOptions{FirstContent: 5 * time.Second, Retries: 1}, "!timeout", "0 timeout, 0 timeout",
			10125 * time.Millisecond, 10250 * time.Millisecond},
		{"slow after the first content", ups{upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
			w.Text("a")
			return after(time.Minute, responds("b"))(ctx, nil, w)
		})}, &upstream.FailoverOptions{FirstContent: 5 * time.Second}, "a!" + "upstream: Start must be called once, before other output", "0 internal*", time.Minute, time.Minute},
		{"unresponsive", ups{upstream.Func(stuck), responds("b")}, &upstream.FailoverOptions{FirstContent: 5 * time.Second}, "b", "0 timeout, 1*", 6 * time.Second, 6 * time.Second},

		{"hedge wins", ups{upstream.Func(silent), responds("b")}, &upstream.FailoverOptions{Hedge: time.Second}, "b", "0 canceled, 1*", time.Second, time.Second},
		{"hedge loses", ups{after(3*time.Second, responds("a")), after(3*time.Second, responds("b"))}, &upstream.FailoverOptions{Hedge: time.Second},
			"a", "0*, 1 canceled", 3 * time.Second, 3 * time.Second},
		{"not hedged in time", ups{after(time.Second-1, responds("a")), responds("b")}, &upstream.FailoverOptions{Hedge: time.Second}, "a", "0*", time.Second - 1, time.Second - 1},
		{"nothing to hedge with", ups{after(3*time.Second, responds("a"))}, &upstream.FailoverOptions{Hedge: time.Second}, "a", "0*", 3 * time.Second, 3 * time.Second},
		{"hedge fails", ups{after(3*time.Second, responds("a")), code(overloaded), code(upstream.CodeInvalid)}, &upstream.FailoverOptions{Hedge: time.Second},
			"a", "0*, 1 overloaded, 2 invalid", 3 * time.Second, 3 * time.Second},
		{"hedge after an error", ups{code(overloaded), upstream.Func(silent), responds("c")}, &upstream.FailoverOptions{Hedge: time.Second}, "c", "0 overloaded, 1 canceled, 2*", time.Second, time.Second},
		{"at most two at once", ups{upstream.Func(silent), upstream.Func(silent), responds("c")}, &upstream.FailoverOptions{Hedge: time.Second, FirstContent: 5 * time.Second},
			"c", "0 timeout, 1 canceled, 2*", 5 * time.Second, 5 * time.Second},
		{"loser ignores its context", ups{upstream.Func(stuck), responds("b")}, &upstream.FailoverOptions{Hedge: time.Second}, "b", "0 canceled, 1*", 2 * time.Second, 2 * time.Second},
		{"both fail", ups{after(2*time.Second, code(overloaded)), after(2*time.Second, code(unavailable))}, &upstream.FailoverOptions{Hedge: time.Second, Retries: -1},
			"!overloaded", "0 overloaded, 1 unavailable", 3 * time.Second, 3 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, attempts, took := ask(t, upstream.Failover(tt.list, tt.opts), &upstream.Request{Stream: true})
				if got != tt.want || attempts != tt.attempts {
					t.Errorf("got %q after the attempts %q, want %q after %q", got, attempts, tt.want, tt.attempts)
				}
				formattest.Took(t, "the call", took, tt.minTime, tt.maxTime-tt.minTime)
				time.Sleep(2 * time.Hour) // for what ignores its context
			})
		})
	}
}

// TestFailoverWhole checks that a whole response is used only if it is complete, as far
// as memory allows.
func TestFailoverWhole(t *testing.T) {
	piece := strings.Repeat("x", 1<<10)
	words := func(n int, err error) upstream.Func {
		return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for range n {
				w.Text(piece)
			}
			return err
		}
	}
	bad := &upstream.Error{Code: upstream.CodeBadGateway}
	const long = 8 << 10 // pieces that are too long together
	complete := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Frame(&upstream.Frame{Complete: true, Events: []upstream.Event{
			{Kind: upstream.EventOpen, Part: &content.Text{}}, {Kind: upstream.EventText, Text: "all"}, {Kind: upstream.EventClose}, {Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd}},
		}})
		return bad
	})
	for _, tt := range []struct {
		name string
		list ups
		opts *upstream.FailoverOptions
		want string
		log  string
	}{
		{"complete", ups{words(3, nil), responds("b")}, nil, strings.Repeat(piece, 3), "0*"},
		{"cut", ups{words(3, bad), responds("b")}, nil, "b", "0 bad_gateway, 1*"},
		{"cut late", ups{words(long-9, bad), responds("b")}, nil, "b", "0 bad_gateway, 1*"},
		{"cut too late", ups{words(long, bad), responds("b")}, nil, strings.Repeat(piece, long) + "!bad_gateway", "0 bad_gateway*"},
		{"empty", ups{words(0, nil), responds("b")}, nil, "", "0*"},
		{"whole frame", ups{complete, responds("b")}, nil, "all!bad_gateway", "0 bad_gateway*"},
		{"no time limit", ups{after(time.Hour, responds("a")), responds("b")}, &upstream.FailoverOptions{FirstContent: time.Second, Hedge: time.Second}, "a", "0*"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, attempts, _ := ask(t, upstream.Failover(tt.list, tt.opts), &upstream.Request{})
				if got != tt.want || attempts != tt.log {
					t.Errorf("got %d bytes, %.40q after %q, want %.40q after %q", len(got), got, attempts, tt.want, tt.log)
				}
			})
		})
	}
}

// TestFailoverSame checks that a response behind a Failover is the same as without,
// although whole responses are held and their text is joined.
func TestFailoverSame(t *testing.T) {
	blocks := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for _, s := range []string{"a", "b", "c"} {
			w.Thinking(s)
			w.Thinking(s)
			w.Signature(content.Signature{Data: s})
			w.Text(s)
			w.Text(s)
			w.Cite(content.Citation{Text: s})
			w.Text(s)
			call := w.ToolCall(s, "f")
			call.Input("{")
			w.Usage(content.Usage{Output: 1})
			call.Input("}")
		}
		return nil
	})
	random := rand.New(rand.NewPCG(1, 2))
	list := ups{blocks, adapter}
	for range 2000 {
		code := make([]byte, random.IntN(60))
		for i := range code {
			code[i] = byte(random.UintN(256))
		}
		list = append(list, upstream.Func(func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
			return program(code, new([]error)).Generate(ctx, r, w) // uses up its code
		}))
	}
	for i, up := range list {
		for _, stream := range []bool{true, false} {
			r := &upstream.Request{Stream: stream}
			want, wantErr := upstream.Collect(t.Context(), up, r)
			got, err := upstream.Collect(t.Context(), upstream.Failover(ups{up}, nil), r)
			if wantErr != nil {
				want.Parts, got.Parts = nil, nil // may have been held
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%d, stream %v: %s", i, stream, diff)
			}
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("%d, stream %v: got the error %v, want %v", i, stream, err, wantErr)
			}
		}
	}
}

// TestFailoverNested checks that a Failover in another one loses nothing of a response
// that is chosen because of its size.
func TestFailoverNested(t *testing.T) {
	steps := func(steps ...func(w *upstream.Writer) error) upstream.Upstream {
		return upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for _, step := range steps {
				if err := step(w); err != nil {
					return err
				}
			}
			return nil
		})
	}
	extra := func(size int) func(w *upstream.Writer) error {
		return func(w *upstream.Writer) error {
			return w.Send([]upstream.Event{{Kind: upstream.EventExtra, Text: strings.Repeat("x", size)}})
		}
	}
	text := func(w *upstream.Writer) error { return w.Text("a") }
	usage := func(w *upstream.Writer) error { return w.Usage(content.Usage{Output: 5}) }
	stop := func(w *upstream.Writer) error { return w.Stop(upstream.Stop{Reason: content.StopMaxTokens}) }
	for _, tt := range []struct {
		name   string
		stream bool
		up     upstream.Upstream
	}{
		{"stream", true, steps(extra(70<<10), usage, stop)},
		{"stream with text", true, steps(extra(70<<10), extra(1), text, usage, stop)},
		{"whole", false, steps(extra(9<<20), text, usage, stop)},
	} {
		r := &upstream.Request{Stream: tt.stream}
		want, err := upstream.Collect(t.Context(), tt.up, r)
		if err != nil {
			t.Fatal(err)
		}
		for _, opts := range []*upstream.FailoverOptions{nil, {Hedge: time.Hour}} {
			u := upstream.Failover(ups{upstream.Failover(ups{upstream.Failover(ups{tt.up}, opts)}, opts)}, opts)
			var log attemptLog
			got, err := upstream.Collect(upstream.WithTrace(t.Context(), log.trace()), u, r)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: %v\n%s", tt.name, err, diff)
			}
			for _, a := range log.list {
				if a.Usage.Output != 5 || !a.Chosen {
					t.Errorf("%s: got the attempt %+v", tt.name, a)
				}
			}
		}
	}
}

// TestFailoverAllocations checks that a delta behind a Failover allocates nothing.
func TestFailoverAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for _, opts := range []*upstream.FailoverOptions{nil, {FirstContent: time.Hour, Hedge: time.Hour}} {
		deltas := func(n int) float64 {
			u := upstream.Failover(ups{upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
				frame := upstream.Frame{Events: make([]upstream.Event, 1)}
				if err := w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{}}}); err != nil {
					return err
				}
				for range n {
					frame.Events[0] = upstream.Event{Kind: upstream.EventText, Text: "word "}
					if err := w.Frame(&frame); err != nil {
						return err
					}
				}
				return nil
			})}, opts)
			sink := upstream.SinkFunc(func([]upstream.Event) error { return nil })
			return testing.AllocsPerRun(20, func() {
				if err := upstream.Run(t.Context(), u, &upstream.Request{Stream: true}, sink); err != nil {
					t.Error(err)
				}
			})
		}
		if few, many := deltas(10), deltas(1010); many-few >= 1 {
			t.Errorf("1000 deltas take %v allocations, want 0", many-few)
		}
	}
}

// TestFailoverHeld checks that the beginning of a stream is held until the first
// content, and what content is.
func TestFailoverHeld(t *testing.T) {
	type writer = *upstream.Writer
	image := &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "AA=="}}
	for _, tt := range []struct {
		name  string
		write func(w writer)
		want  string
	}{
		{"nothing", func(w writer) {}, "b"},
		{"start, usage and stop", func(w writer) {
			w.Start(upstream.Start{})
			w.Usage(content.Usage{Input: 1})
			w.Stop(upstream.Stop{Reason: content.StopEnd})
		}, "b"},
		{"losses and extras", func(w writer) {
			w.Loss([]content.Loss{{Path: "x"}})
			w.Send([]upstream.Event{{Kind: upstream.EventExtra, Text: "ping"}})
		}, "b"},
		{"empty text", func(w writer) { w.Part(&content.Text{}) }, "b"},
		{"empty thinking", func(w writer) { w.Part(&content.Thinking{}) }, "b"},
		{"text", func(w writer) { w.Text("a") }, "a"},
		{"thinking", func(w writer) { w.Thinking("a") }, "a"},
		{"signature", func(w writer) { w.Signature(content.Signature{Data: "s"}) }, "a"},
		{"redacted thinking", func(w writer) { w.Part(&content.Thinking{Redacted: content.Signature{Data: "s"}}) }, "a"},
		{"citation", func(w writer) { w.Cite(content.Citation{Text: "c"}) }, "a"},
		{"tool call", func(w writer) { w.ToolCall("", "f") }, "a"},
		{"image", func(w writer) { w.Part(image) }, "a"},
		{"64 KiB of other events", func(w writer) {
			w.Send([]upstream.Event{{Kind: upstream.EventExtra, Text: strings.Repeat("x", 64<<10)}})
		}, "a"},
		{"hundreds of other events", func(w writer) {
			for range 300 {
				w.Send([]upstream.Event{{Kind: upstream.EventExtra, Text: "ping"}})
			}
		}, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cut := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
				tt.write(w)
				return &upstream.Error{Code: upstream.CodeOverloaded}
			})
			var log attemptLog
			_, err := upstream.Collect(upstream.WithTrace(t.Context(), log.trace()), upstream.Failover(ups{cut, responds("b")}, nil), &upstream.Request{Stream: true})
			want := map[string]string{"a": "0 overloaded*", "b": "0 overloaded, 1*"}[tt.want]
			if got := log.String(); got != want || (err == nil) != (tt.want == "b") {
				t.Errorf("got %q and %v, want %q", got, err, want)
			}
		})
	}
}

// TestFailoverReport checks that only the chosen attempt is part of the response, and
// what is known of all of them.
func TestFailoverReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log attemptLog
		ctx := upstream.WithTrace(t.Context(), log.trace())
		start := time.Now()
		u := upstream.Failover(ups{after(time.Second, cut("")), upstream.Func(silent), after(2*time.Second, responds("abc"))}, &upstream.FailoverOptions{Hedge: 3 * time.Second})
		got, err := upstream.Collect(ctx, u, &upstream.Request{Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		want := &upstream.Response{
			Start: upstream.Start{Model: "m", Upstream: "abc", UpstreamID: "id of abc"},
			Parts: []content.Part{&content.Text{Text: "abc"}}, Stop: upstream.Stop{Reason: content.StopEnd},
			Usage: content.Usage{Output: 3}, Losses: []content.Loss{{Path: "loss of abc", Severity: content.LossHint}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		attempts := []upstream.Attempt{
			{Index: 0, Upstream: "cut", Start: start, Duration: time.Second, Usage: content.Usage{Input: 7}, Code: upstream.CodeBadGateway},
			{Index: 1, Upstream: "silent", Start: start.Add(time.Second), Duration: 5 * time.Second, Usage: content.Usage{Input: 5}, Code: upstream.CodeCanceled},
			{Index: 2, Upstream: "abc", UpstreamID: "id of abc", Start: start.Add(4 * time.Second), FirstContent: 2 * time.Second, Duration: 2 * time.Second,
				Usage: content.Usage{Output: 3}, Chosen: true},
		}
		if log.String() != "0 bad_gateway, 1 canceled, 2*" {
			t.Errorf("got the attempts %q", log.String())
		}
		for i := range log.list {
			if (log.list[i].Err == nil) != (log.list[i].Code == "") {
				t.Errorf("attempt %d has the code %q and the error %v", i, log.list[i].Code, log.list[i].Err)
			}
			log.list[i].Err = nil
		}
		if diff := cmp.Diff(attempts, log.list); diff != "" {
			t.Error(diff)
		}
	})
}

// TestFailoverFirstContentError checks that the error names the upstream.
func TestFailoverFirstContentError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := upstream.Failover(ups{upstream.Func(silent)}, &upstream.FailoverOptions{FirstContent: time.Second, Retries: -1})
		_, err := upstream.Collect(t.Context(), u, &upstream.Request{Stream: true})
		var e *upstream.Error
		if !errors.As(err, &e) || e.Code != upstream.CodeTimeout || e.Upstream != "silent" {
			t.Errorf("got %#v", err)
		}
	})
}

// TestFailoverLosses checks that the losses of a request are reported if it fails, and
// RejectLoss, which does not select an Upstream.
func TestFailoverLosses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		u      upstream.Upstream
		reject content.Severity
		want   string
		losses string
	}{
		{"allowed", upstream.Failover(ups{upstream.Func(refuses), responds("b")}, nil), 0, "without top_k", "top_k"},
		{"not allowed", upstream.Failover(ups{upstream.Func(refuses), responds("b")}, nil), content.LossDropped, "!top_k", "top_k"},
		{"not allowed by a later one", upstream.Failover(ups{code(upstream.CodeOverloaded), upstream.Func(refuses), responds("c")}, nil), content.LossDropped, "c", "loss of c"},
		{"First selects", upstream.Failover(ups{upstream.First(loses("a", content.LossDropped), code(upstream.CodeOverloaded)), upstream.First(loses("a", content.LossDropped), loses("c"))}, nil),
			content.LossDropped, "c:", ""},
		{"an Edit allows it", upstream.Failover(ups{code(upstream.CodeOverloaded), upstream.Edit(upstream.Func(refuses), func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
			r = r.Clone()
			r.RejectLoss = 0
			return r, nil
		})}, nil), content.LossDropped, "without top_k", "top_k"},
		{"fails later", upstream.Failover(ups{cut("")}, &upstream.FailoverOptions{Retries: -1}), 0, "!bad_gateway", "loss of a cut response"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reply, err := upstream.Collect(t.Context(), tt.u, &upstream.Request{RejectLoss: tt.reject})
			var losses []string
			for _, l := range lossplaces.Of(reply.Losses) {
				losses = append(losses, l.Path)
			}
			got, _, _ := ask(t, tt.u, &upstream.Request{RejectLoss: tt.reject})
			if got != tt.want || strings.Join(losses, " ") != tt.losses {
				t.Errorf("got %q, %v and the losses %q, want %q and %q", got, err, losses, tt.want, tt.losses)
			}
		})
	}
}

// TestFailoverFrames checks that the frames of the chosen attempt pass unchanged, also
// those that were held, although adapters use one Frame for all pieces.
func TestFailoverFrames(t *testing.T) {
	for name, u := range map[string]upstream.Upstream{
		"first":  upstream.Failover(ups{adapter, responds("b")}, nil),
		"second": upstream.Failover(ups{code(upstream.CodeOverloaded), adapter}, nil),
		"cut":    upstream.Failover(ups{cut(""), adapter}, nil),
		"tapped": tap(func(events []event_, to upstream.Sink) error { return to.Send(events) })(upstream.Failover(ups{adapter}, nil)),
		"tap":    upstream.Failover(ups{tap(func(events []event_, to upstream.Sink) error { return to.Send(events) })(adapter)}, nil),
		"timed":  upstream.Failover(ups{adapter}, &upstream.FailoverOptions{FirstContent: time.Hour}),
		"nested": upstream.Failover(ups{upstream.Failover(ups{cut(""), adapter}, nil)}, nil),
		"Edit":   upstream.Failover(ups{upstream.Edit(adapter, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) { return r.Clone(), nil })}, nil),
		"in a Mux": func() upstream.Upstream {
			var m upstream.Mux
			m.Handle("*", upstream.Failover(ups{adapter}, nil))
			return &m
		}(),
	} {
		if got := verbatim(t, streamed(u)); got != "start think sign odd open a b close stop" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

// streamed returns u with requests for streamed responses.
func streamed(u upstream.Upstream) upstream.Upstream {
	return upstream.Edit(u, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		r = r.Clone()
		r.Stream = true
		return r, nil
	})
}

// TestFailoverContinues checks that a wrapper may write before and after the response
// of a Failover.
func TestFailoverContinues(t *testing.T) {
	half := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Thinking("")
		w.Usage(content.Usage{Output: 9})
		return &upstream.Error{Code: upstream.CodeOverloaded}
	})
	call := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.ToolCall("", "f").Input("{}")
		return w.Text("in")
	})
	inner := upstream.Failover(ups{half, call}, nil)
	for _, stream := range []bool{true, false} {
		got, err := run(t, &upstream.Request{Stream: stream}, func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
			w.ToolCall("", "f").Close()
			w.Text("before")
			if err := inner.Generate(ctx, r, w); err != nil {
				return err
			}
			w.ToolCall("", "f")
			return w.Text("after")
		})
		want := "0(call_0 | 0) | 1(text 1:before | 1) 2(call_1 | 2:{} | 3(text 3:in | 2) 3) stop:tool_use | 4(call_2 | 5(text 5:after | 4) 5)"
		if got != want || err != nil {
			t.Errorf("stream %v: got %s, %v, want %s", stream, got, err, want)
		}
	}
}

// TestFailoverContext checks that a call ends with its context.
func TestFailoverContext(t *testing.T) {
	left := errors.New("left")
	for name, tt := range map[string]struct {
		list ups
		opts *upstream.FailoverOptions
		log  string
	}{
		"before":          {ups{responds("a")}, nil, ""},
		"silence":         {ups{upstream.Func(silent), responds("b")}, nil, "0 canceled"},
		"silence, timed":  {ups{upstream.Func(silent), responds("b")}, &upstream.FailoverOptions{FirstContent: time.Hour}, "0 canceled"},
		"silence, hedged": {ups{upstream.Func(silent), upstream.Func(silent)}, &upstream.FailoverOptions{Hedge: time.Millisecond}, "0 canceled, 1 canceled"},
		"error at the end": {ups{upstream.Func(func(ctx context.Context, _ *upstream.Request, _ *upstream.Writer) error {
			<-ctx.Done()
			return &upstream.Error{Code: upstream.CodeUnavailable}
		}), responds("b")}, nil, "0 unavailable"},
		"wait": {ups{rateLimit(2 * time.Second)}, nil, "0 rate_limit"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log attemptLog
				ctx, cancel := context.WithCancelCause(upstream.WithTrace(t.Context(), log.trace()))
				if name == "before" {
					cancel(left)
				}
				time.AfterFunc(time.Second, func() { cancel(left) })
				start := time.Now()
				_, err := upstream.Collect(ctx, upstream.Failover(tt.list, tt.opts), &upstream.Request{Stream: true})
				if err != left || log.String() != tt.log || time.Since(start) > time.Second {
					t.Errorf("got %v after the attempts %q and %v, want %q", err, log.String(), time.Since(start), tt.log)
				}
			})
		})
	}
	t.Run("deadline before a retry in the order", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			order := func(context.Context, *upstream.Request) []int { return []int{0, 0, 1} }
			u := upstream.Failover(ups{rateLimit(2 * time.Second), responds("b")}, &upstream.FailoverOptions{Order: order})
			if reply, err := upstream.Collect(ctx, u, &upstream.Request{}); err != nil || len(reply.Parts) != 1 {
				t.Errorf("got %v, %v, want the response of the second upstream", reply.Parts, err)
			}
		})
	})
	t.Run("deadline before a retry", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			start := time.Now()
			_, err := upstream.Collect(ctx, upstream.Failover(ups{rateLimit(2 * time.Second)}, nil), &upstream.Request{})
			var e *upstream.Error
			if !errors.As(err, &e) || time.Since(start) > 0 {
				t.Errorf("got %v after %v", err, time.Since(start))
			}
		})
	})
}

// TestFailoverSinkFails checks that an error of the sink ends the call.
func TestFailoverSinkFails(t *testing.T) {
	gone := errors.New("gone")
	for _, opts := range []*upstream.FailoverOptions{nil, {FirstContent: time.Hour, Codes: []upstream.Code{upstream.CodeInternal}}} {
		second := script(responds("b"))
		err := upstream.Run(t.Context(), upstream.Failover(ups{responds("a"), second}, opts), &upstream.Request{Stream: true},
			upstream.SinkFunc(func([]upstream.Event) error { return gone }))
		if err != gone || second.calls > 0 {
			t.Errorf("got %v and %d calls", err, second.calls)
		}
	}
}

// TestFailoverPanics checks that a panic reaches the caller.
func TestFailoverPanics(t *testing.T) {
	boom := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { panic("boom") })
	late := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Text("a")
		panic("boom")
	})
	for _, u := range []upstream.Func{boom, late} {
		for _, opts := range []*upstream.FailoverOptions{nil, {FirstContent: time.Hour}} {
			var log attemptLog
			var got any
			func() {
				defer func() { got = recover() }()
				_, _ = upstream.Collect(upstream.WithTrace(t.Context(), log.trace()), upstream.Failover(ups{u, responds("b")}, opts), &upstream.Request{Stream: true})
			}()
			if !strings.HasPrefix(fmt.Sprint(got), "boom") || !strings.HasPrefix(log.String(), "0 internal") {
				t.Errorf("got %.40v after %q", got, log.String())
			}
		}
	}
}

// TestFailoverPanicHidden checks that an attempt reports its panic if another one is
// chosen.
func TestFailoverPanicHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { panic("boom") })
		var log attemptLog
		u := upstream.Failover(ups{after(2*time.Second, boom), after(2*time.Second, responds("b"))}, &upstream.FailoverOptions{Hedge: time.Second})
		_, err := upstream.Collect(upstream.WithTrace(t.Context(), log.trace()), u, &upstream.Request{Stream: true})
		if err != nil || log.String() != "0 internal, 1*" || !strings.Contains(log.list[0].Err.Error(), "boom") {
			t.Errorf("got %v after %q, first with the error %v", err, log.String(), log.list[0].Err)
		}
	})
}

// TestFailoverTracePanics checks that a panic of a function of a Trace ends the other
// attempts: nothing is written after it.
func TestFailoverTracePanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		slow := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for range 5 {
				if err := w.Text("a"); err != nil {
					cause = context.Cause(ctx)
					return err
				}
				time.Sleep(2 * time.Second)
			}
			return nil
		})
		list := ups{after(1500*time.Millisecond, slow), after(time.Hour, responds("b"))}
		ctx := upstream.WithTrace(t.Context(), &upstream.Trace{AttemptDone: func(context.Context, upstream.Attempt) { panic("trace") }})
		writes := 0
		func() {
			defer func() {
				if v := recover(); v != "trace" {
					t.Errorf("got the panic %v", v)
				}
			}()
			sink := upstream.SinkFunc(func([]upstream.Event) error { writes++; return nil })
			_ = upstream.Run(ctx, upstream.Failover(list, &upstream.FailoverOptions{Hedge: time.Second}), &upstream.Request{Stream: true}, sink)
		}()
		before := writes
		time.Sleep(time.Minute)
		synctest.Wait()
		if writes != before || cause == nil {
			t.Errorf("%d writes after the panic, and the context ended with %v", writes-before, cause)
		}
	})
}

// TestFailoverAbandoned checks that an attempt that was dropped and goes on can no
// longer write.
func TestFailoverAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late error
		stubborn := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			w.Start(upstream.Start{Model: "stubborn"})
			time.Sleep(time.Minute)
			late = w.Text("late")
			return nil
		})
		slow := upstream.Func(func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
			w.Text("b")
			time.Sleep(2 * time.Minute)
			return w.Text("c")
		})
		got, attempts, _ := ask(t, upstream.Failover(ups{stubborn, slow}, &upstream.FailoverOptions{FirstContent: time.Second}), &upstream.Request{Stream: true})
		if got != "bc" || attempts != "0 timeout, 1*" {
			t.Errorf("got %q after %q", got, attempts)
		}
		var e *upstream.Error
		if !errors.As(late, &e) || e.Code != upstream.CodeTimeout {
			t.Errorf("the late write returned %v", late)
		}
	})
}

// TestFailoverRace starts two attempts that send content at the same time. Exactly one
// of them is used.
func TestFailoverRace(t *testing.T) {
	const words = 20
	racer := func(name string, start <-chan struct{}) upstream.Func {
		return func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
			<-start
			for range words {
				if err := w.Text(name); err != nil {
					return err
				}
			}
			return nil
		}
	}
	won := map[string]int{}
	for n := range 400 {
		start := make(chan struct{})
		second := upstream.Func(func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
			close(start)
			for range n % 8 {
				runtime.Gosched()
			}
			return racer("b", start)(ctx, r, w)
		})
		var log attemptLog
		u := upstream.Failover(ups{racer("a", start), second}, &upstream.FailoverOptions{Hedge: time.Nanosecond})
		reply, err := upstream.Collect(upstream.WithTrace(t.Context(), log.trace()), u, &upstream.Request{Stream: true})
		if err != nil || len(reply.Parts) != 1 {
			t.Fatalf("got %v, %v", reply.Parts, err)
		}
		text := reply.Parts[0].(*content.Text).Text
		if text != strings.Repeat(text[:1], words) {
			t.Fatalf("got %q", text)
		}
		won[text[:1]]++
		chosen := slices.IndexFunc(log.list, func(a upstream.Attempt) bool { return a.Chosen })
		if len(log.list) != 2 || chosen < 0 || "ab"[log.list[chosen].Index:][:1] != text[:1] || log.list[1-chosen].Code != upstream.CodeCanceled {
			t.Fatalf("attempts %q for the response %q", log.String(), text)
		}
	}
	t.Log(won)
}

// TestTraces checks that the functions of all Traces are called, and the contexts.
func TestTraces(t *testing.T) {
	type key string
	var calls []string
	trace := func(name string) *upstream.Trace {
		return &upstream.Trace{
			AttemptStart: func(ctx context.Context, a upstream.Attempt) context.Context {
				calls = append(calls, fmt.Sprint(name, " starts ", a.Index))
				return context.WithValue(ctx, key(name), a.Index)
			},
			AttemptDone: func(ctx context.Context, a upstream.Attempt) {
				calls = append(calls, fmt.Sprint(name, " ends ", a.Index, ctx.Value(key(name))))
			},
		}
	}
	seen := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Text(fmt.Sprint(ctx.Value(key("outer")), ctx.Value(key("inner")), upstream.RequestID(ctx)))
	})
	ctx := upstream.WithTrace(t.Context(), trace("outer"))
	ctx = upstream.WithTrace(ctx, &upstream.Trace{})
	ctx = upstream.WithTrace(ctx, trace("inner"))
	reply, err := upstream.Collect(ctx, upstream.Failover(ups{code(upstream.CodeOverloaded), seen}, nil), &upstream.Request{})
	if err != nil || reply.Parts[0].(*content.Text).Text != "1 1" {
		t.Errorf("got %v, %v", reply.Parts, err)
	}
	want := []string{"inner starts 0", "outer starts 0", "inner ends 0 0", "outer ends 0 0", "inner starts 1", "outer starts 1", "inner ends 1 1", "outer ends 1 1"}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Error(diff)
	}
}

func TestFailoverAbilities(t *testing.T) {
	down := &upstream.Error{Code: upstream.CodeUnavailable}
	invalid := &upstream.Error{Code: upstream.CodeInvalid}
	violation := &content.Violation{Code: content.CodeValue, Path: "turns.0", Text: "is bad"}
	ok := &vendor{name: "b", models: []upstream.Model{{ID: "m"}}}
	r := &upstream.Request{Model: "four"}
	for _, tt := range []struct {
		name   string
		list   ups
		tokens int64
		err    error
	}{
		{"first", ups{ok, &vendor{err: down}}, 4, nil},
		{"second", ups{&vendor{err: down}, ok}, 4, nil},
		{"invalid", ups{&vendor{err: invalid}, ok}, 0, invalid},
		{"all down", ups{&vendor{err: down}, &vendor{err: invalid}}, 0, down},
		{"violation", ups{&vendor{err: violation}, ok}, 0, violation},
		{"later violation", ups{&vendor{err: down}, &vendor{err: violation}, ok}, 4, nil},
	} {
		n, err := upstream.CountTokens(t.Context(), upstream.Failover(tt.list, nil), r)
		if n.Tokens != tt.tokens || err != tt.err {
			t.Errorf("%s: got %d, %v", tt.name, n.Tokens, err)
		}
	}
	calls := 0
	once := upstream.Edit(&vendor{err: down}, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		calls++
		return r, nil
	})
	twice := &upstream.FailoverOptions{Order: func(context.Context, *upstream.Request) []int { return []int{0, 0, 1} }}
	if n, err := upstream.CountTokens(t.Context(), upstream.Failover(ups{once, ok}, twice), r); n.Tokens != 4 || err != nil || calls != 1 {
		t.Errorf("repeated index: got %d, %v after %d calls", n.Tokens, err, calls)
	}
	last := &upstream.FailoverOptions{Order: func(context.Context, *upstream.Request) []int { return []int{1} }}
	u := upstream.Failover(ups{&vendor{name: "a"}, ok}, last)
	if losses, err := upstream.Preflight(t.Context(), u, r); err != nil || losses[0].Reason != "b" {
		t.Errorf("Preflight: %v, %v", losses, err)
	}
	if list, err := upstream.Models(t.Context(), upstream.Failover(ups{&vendor{err: down}, plain, ok}, nil)); err != nil || len(list) != 1 {
		t.Errorf("Models: %v, %v", list, err)
	}
	none := upstream.Failover(ups{ok}, &upstream.FailoverOptions{Order: func(context.Context, *upstream.Request) []int { return nil }})
	_, err1 := upstream.CountTokens(t.Context(), none, r)
	_, err2 := upstream.Preflight(t.Context(), none, r)
	_, err3 := upstream.FormatOf(t.Context(), none, r)
	for _, err := range []error{err1, err2, err3} {
		var e *upstream.Error
		if !errors.As(err, &e) || e.Code != upstream.CodeUnavailable {
			t.Errorf("without an order: %v", err)
		}
	}
}

func TestFailoverMisuse(t *testing.T) {
	for name, f := range map[string]func(){
		"empty":                 func() { upstream.Failover(nil, nil) },
		"nil":                   func() { upstream.Failover(ups{nil}, nil) },
		"negative FirstContent": func() { upstream.Failover(ups{plain}, &upstream.FailoverOptions{FirstContent: -1}) },
		"negative Hedge":        func() { upstream.Failover(ups{plain}, &upstream.FailoverOptions{Hedge: -1}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
