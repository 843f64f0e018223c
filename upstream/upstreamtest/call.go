package upstreamtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/polywire/polywire/upstream"
)

// A result is how one call of Generate went.
type result struct {
	req    *upstream.Request
	label  string
	events []upstream.Event // without their frames
	frames []string         // what is wrong with frames
	sends  int              // Sends before Generate returned
	late   int              // Sends after it had
	failed error            // what the sink failed with before Generate returned
	err    error            // of Generate
	run    error            // of Run
	fault  error            // what no Upstream may do: panic, not return
}

// A sending is told of each Send but those that only close the answer: n
// counts from 1, text says that there was some text. Its error is the sink's.
type sending func(n int, text bool) error

// A tape is a Sink that records.
type tape struct {
	sending sending
	fails   chan struct{} // closed at the first failure of the sink

	mu       sync.Mutex
	r        result
	busy     bool // in Send
	returned bool // Generate has
	shut     bool // Run has, or was given up
}

var errShut = errors.New("upstreamtest: the call is over")

func (t *tape) Send(events []upstream.Event) error {
	n, err := t.take(events)
	if err == nil && t.sending != nil {
		err = t.sending(n, hasText(events))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy = false
	if err != nil && t.r.failed == nil && !t.returned {
		t.r.failed = err
		close(t.fails)
	}
	return err
}

func (t *tape) take(events []upstream.Event) (n int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shut {
		return 0, errShut
	}
	if t.busy {
		t.r.frames = append(t.r.frames, "Send was called while another Send was under way")
	}
	t.busy = true
	if f := upstream.FrameOf(events); f != nil {
		if fault := frameFault(f); fault != "" {
			t.r.frames = append(t.r.frames, fault)
		}
	}
	for i := range events {
		e := events[i]
		e.Frame = nil // not valid for longer than the Send
		t.r.events = append(t.r.events, e)
	}
	if t.returned {
		t.r.late++
	} else {
		t.r.sends++
	}
	return t.r.sends, nil
}

func hasText(events []upstream.Event) bool {
	for i := range events {
		if events[i].Kind == upstream.EventText {
			return true
		}
	}
	return false
}

// finish returns what there is, and lets nothing more in.
func (t *tape) finish(run, fault error) *result {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shut = true
	r := t.r
	r.run, r.fault = run, fault
	return &r
}

// A probe stands between Run and the Upstream, to see what Generate returns,
// and what is written after it has.
type probe struct {
	u      upstream.Upstream
	t      *tape
	linger func()
}

func (p *probe) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	err := p.u.Generate(ctx, r, w)
	p.t.mu.Lock()
	p.t.returned = true
	p.t.r.err = err
	p.t.mu.Unlock()
	if p.linger != nil {
		p.linger()
		p.t.mu.Lock()
		p.t.shut = true // what Run adds to end the answer is not late
		p.t.mu.Unlock()
	}
	return err
}

const labelName = "upstreamtest"

// call has the Upstream answer req. It returns when Run has, or when the
// Upstream is overdue: Grace after ctx has ended or the sink has failed.
func (c *checker) call(ctx context.Context, req *upstream.Request, s sending, linger time.Duration) *result {
	label := rand.Text()
	ctx, cancel := context.WithCancel(pprof.WithLabels(ctx, pprof.Labels(labelName, label)))
	defer cancel()
	t := &tape{sending: s, fails: make(chan struct{})}
	t.r.req, t.r.label = req, label
	p := &probe{u: c.u, t: t}
	if linger > 0 {
		p.linger = func() { alone(label, linger) }
	}
	done := make(chan error, 1) // what went wrong, or nil
	var run error
	go func() {
		pprof.SetGoroutineLabels(ctx)
		fault := errors.New("Generate ended its goroutine, as t.FailNow does, instead of returning")
		defer func() {
			if v := recover(); v != nil {
				fault = fmt.Errorf("Generate panicked: %v\n%s", v, debug.Stack())
			}
			done <- fault
		}()
		run = upstream.Run(ctx, p, req, t)
		fault = nil
	}()
	fault, returned := c.wait(ctx, cancel, t, done)
	var r *result
	if returned {
		r = t.finish(run, fault)
	} else {
		r = t.finish(fault, fault)
	}
	c.record.keep(c.o.Secrets, r)
	return r
}

// wait returns what is on done, or what kept it from coming.
func (c *checker) wait(ctx context.Context, cancel func(), t *tape, done <-chan error) (fault error, returned bool) {
	total := time.NewTimer(c.o.Timeout)
	defer total.Stop()
	var late error
	select {
	case fault := <-done:
		return fault, true
	case <-ctx.Done():
		late = fmt.Errorf("Generate did not return within %v of the end of its context", c.o.Grace)
	case <-t.fails:
		late = fmt.Errorf("Generate did not return within %v of an error of the Writer", c.o.Grace)
	case <-total.C:
		late = fmt.Errorf("Generate did not return within %v", c.o.Timeout)
		cancel()
		defer func() { fault = cmp.Or(fault, late) }() // also if the end of ctx has helped
	}
	grace := time.NewTimer(c.o.Grace)
	defer grace.Stop()
	select {
	case fault := <-done:
		return fault, true
	case <-grace.C:
		return late, false
	}
}

// within calls f, with a bound on its time, and turns panics into errors.
func within[T any](ctx context.Context, d time.Duration, f func(ctx context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errors.New("it ended its goroutine instead of returning")}
		defer func() {
			if v := recover(); v != nil {
				o.err = fmt.Errorf("it panicked: %v\n%s", v, debug.Stack())
			}
			done <- o
		}()
		o.value, o.err = f(ctx)
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.value, o.err
	case <-timer.C:
		var none T
		return none, fmt.Errorf("%w within %v", errNoReturn, d)
	}
}

var errNoReturn = errors.New("it did not return")
