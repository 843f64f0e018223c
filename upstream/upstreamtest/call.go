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

// A result is the result of one call of Generate.
type result struct {
	request       *upstream.Request
	label         string
	events        []upstream.Event // without frames
	frameProblems []string         // problems of frames and of calls of Send
	sends         int              // calls of Send before Generate returned
	late          int              // calls of Send after Generate returned
	sinkErr       error            // first error of the Sink before Generate returned
	generateErr   error            // returned by Generate
	runErr        error            // returned by Run
	abortErr      error            // Generate panicked or did not return
}

// A sendFunc is called for each Send but the last, which closes the response. n
// counts from 1; text reports whether there was a text event. The Sink returns
// its error.
type sendFunc func(n int, text bool) error

// A recorder is a Sink that records events.
type recorder struct {
	onSend     sendFunc
	sinkFailed chan struct{} // closed by the first error of the Sink

	mu       sync.Mutex
	result   result
	busy     bool // a Send is running
	returned bool // Generate has returned
	closed   bool // Run has returned, or was abandoned
}

var errClosed = errors.New("upstreamtest: the call of Generate has ended")

func (t *recorder) Send(events []upstream.Event) error {
	n, err := t.record(events)
	if err == nil && t.onSend != nil {
		err = t.onSend(n, hasText(events))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.busy = false
	if err != nil && t.result.sinkErr == nil && !t.returned {
		t.result.sinkErr = err
		close(t.sinkFailed)
	}
	return err
}

func (t *recorder) record(events []upstream.Event) (n int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return 0, errClosed
	}
	if t.busy {
		t.result.frameProblems = append(t.result.frameProblems, "Send was called during another Send")
	}
	t.busy = true
	if f := upstream.FrameOf(events); f != nil {
		if problem := checkFrame(f); problem != "" {
			t.result.frameProblems = append(t.result.frameProblems, problem)
		}
	}
	for i := range events {
		e := events[i]
		e.Frame = nil // is valid during Send only
		t.result.events = append(t.result.events, e)
	}
	if t.returned {
		t.result.late++
	} else {
		t.result.sends++
	}
	return t.result.sends, nil
}

func hasText(events []upstream.Event) bool {
	for i := range events {
		if events[i].Kind == upstream.EventText {
			return true
		}
	}
	return false
}

// close returns the result. Later calls of Send fail.
func (t *recorder) close(runErr, abortErr error) *result {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	r := t.result
	r.runErr, r.abortErr = runErr, abortErr
	return &r
}

// A probe wraps an Upstream. It records when and with which error Generate
// returns. linger delays the return to Run.
type probe struct {
	u        upstream.Upstream
	recorder *recorder
	linger   func()
}

func (p *probe) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	err := p.u.Generate(ctx, r, w)
	p.recorder.mu.Lock()
	p.recorder.returned = true
	p.recorder.result.generateErr = err
	p.recorder.mu.Unlock()
	if p.linger != nil {
		p.linger()
		p.recorder.mu.Lock()
		p.recorder.closed = true // events of Run are not late
		p.recorder.mu.Unlock()
	}
	return err
}

const labelName = "upstreamtest"

// call calls Generate for req. It returns when Generate has returned, at the
// latest Grace after ctx has ended or the Sink has failed.
func (c *checker) call(ctx context.Context, req *upstream.Request, s sendFunc, linger time.Duration) *result {
	label := rand.Text()
	ctx, cancel := context.WithCancel(pprof.WithLabels(ctx, pprof.Labels(labelName, label)))
	defer cancel()
	rec := &recorder{onSend: s, sinkFailed: make(chan struct{})}
	rec.result.request, rec.result.label = req, label
	p := &probe{u: c.u, recorder: rec}
	if linger > 0 {
		p.linger = func() { waitAlone(label, linger) }
	}
	done := make(chan error, 1)
	var runErr error
	go func() {
		pprof.SetGoroutineLabels(ctx)
		abortErr := errors.New("Generate ended its goroutine, as t.FailNow does, and did not return")
		defer func() {
			if v := recover(); v != nil {
				abortErr = fmt.Errorf("Generate panicked: %v\n%s", v, debug.Stack())
			}
			done <- abortErr
		}()
		runErr = upstream.Run(ctx, p, req, rec)
		abortErr = nil
	}()
	abortErr, returned := c.wait(ctx, cancel, rec, done)
	var r *result
	if returned {
		r = rec.close(runErr, abortErr)
	} else {
		r = rec.close(abortErr, abortErr)
	}
	c.secretLeaks.inspect(c.options.Secrets, r)
	return r
}

// wait waits for done, and reports whether Generate has returned in time.
func (c *checker) wait(ctx context.Context, cancel func(), rec *recorder, done <-chan error) (abortErr error, returned bool) {
	total := time.NewTimer(c.options.Timeout)
	defer total.Stop()
	var late error
	select {
	case abortErr := <-done:
		return abortErr, true
	case <-ctx.Done():
		late = fmt.Errorf("Generate did not return within %v of the end of its context", c.options.Grace)
	case <-rec.sinkFailed:
		late = fmt.Errorf("Generate did not return within %v of an error of the Writer", c.options.Grace)
	case <-total.C:
		late = fmt.Errorf("Generate did not return within %v", c.options.Timeout)
		cancel()
		defer func() { abortErr = cmp.Or(abortErr, late) }() // even if it returns now
	}
	grace := time.NewTimer(c.options.Grace)
	defer grace.Stop()
	select {
	case abortErr := <-done:
		return abortErr, true
	case <-grace.C:
		return late, false
	}
}

// within calls f. It returns an error if f panics or takes longer than d.
func within[T any](ctx context.Context, d time.Duration, f func(ctx context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		o := outcome{err: errors.New("it ended its goroutine and did not return")}
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
