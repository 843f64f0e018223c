package upstream

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/polywire/polywire/internal/reqctx"
)

const (
	maxRetryWait = 2 * time.Second        // longest wait before a retry
	firstBackoff = 250 * time.Millisecond // before the first retry; doubled for each further one

	// abandonAfter is how long Failover waits for an attempt to return after it was
	// dropped. It is the default of Timeouts.Grace.
	abandonAfter = time.Second
)

// A call is one call of Generate of a [Failover]. Its goroutine starts attempts and
// waits for them. Attempts run on this goroutine, too, unless their time is limited.
type call struct {
	f      *failover
	ctx    context.Context
	req    *Request
	to     *Writer // locked during the call
	sink   Sink    // of to; used by the chosen attempt only
	tracer *tracer
	values *reqctx.Values
	timed  bool          // attempts run on goroutines of their own
	done   chan *attempt // if timed: attempts that have returned
	over   chan struct{} // if timed: closed at the end of the call

	order    []int
	at       int       // position of the next attempt in order
	retries  int       // that are left
	last     bool      // no further attempts are made
	tried    []history // by index of the Upstream
	attempts []*attempt
	running  []*attempt // not yet returned or abandoned
	final    *attempt   // of the first Upstream, with an error after which no attempt may follow
	panicked *panicked  // of the first attempt that panicked

	mu     sync.Mutex
	chosen *attempt
}

// A history describes the attempts with one Upstream.
type history struct {
	called   bool
	refused  bool      // it must not be called again
	failures int       // number of failed attempts
	retryAt  time.Time // earliest time of the next attempt
}

func (f *failover) Generate(ctx context.Context, r *Request, w *Writer) error {
	order, err := f.candidates(ctx, r)
	if err != nil {
		return err
	}
	if f.first {
		return f.list[order[0]].Generate(ctx, r, w)
	}
	w.mu.Lock() // attempts write to w.sink
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	c := &call{
		f: f, ctx: ctx, req: r, to: w, sink: w.sink, tracer: tracerFrom(ctx), values: reqctx.From(ctx),
		timed: r.Stream && (f.opts.FirstContent > 0 || f.opts.Hedge > 0),
		order: order, retries: f.retries(), tried: make([]history, len(f.list)),
	}
	if c.timed {
		c.done, c.over = make(chan *attempt), make(chan struct{})
		defer c.end()
	}
	return c.serve()
}

// end ends attempts that are still running, because a function of a Trace panicked. They
// write nothing after it returns.
func (c *call) end() {
	close(c.over)
	for _, a := range c.running {
		c.mu.Lock()
		a.drop(errCallEnded, time.Now())
		c.mu.Unlock()
		a.w.invalidate() // waits for the current write
	}
}

// serve makes attempts until one is chosen or none is left.
func (c *call) serve() error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	ended := c.ctx.Done()
	for {
		now := time.Now()
		wake := c.expire(now)
		i, due := c.next(now)
		switch {
		case i >= 0 && !due.After(now):
			c.start(i, now)
			continue
		case i >= 0:
			wake = earlier(wake, due)
		case len(c.running) == 0:
			return c.result()
		}
		if wake.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(wake.Sub(now))
		}
		select {
		case a := <-c.done:
			c.returned(a)
		case <-timer.C:
		case <-ended:
			ended = nil // next starts no further attempts
		}
	}
}

// earlier returns the earlier of two times. The zero time is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// next returns the index of the Upstream to call next, and when. It returns -1 if none
// can be called now or later.
func (c *call) next(now time.Time) (i int, due time.Time) {
	if c.last || c.ctx.Err() != nil {
		return -1, due
	}
	beside, chosen := c.active()
	if chosen {
		return -1, due
	}
	i, due = c.pick()
	switch {
	case i < 0:
		return -1, due
	case len(beside) > 0:
		if len(beside) > 1 || c.f.opts.Hedge == 0 || !c.req.Stream || c.tried[i].called {
			return -1, due
		}
		return i, beside[0].info.Start.Add(c.f.opts.Hedge)
	}
	return i, due
}

// active returns the running attempts that were not dropped, and reports whether one is
// chosen.
func (c *call) active() (list []*attempt, chosen bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.running {
		if a.dropped == nil {
			list = append(list, a)
		}
	}
	return list, c.chosen != nil
}

// pick returns the next Upstream in the order, and when it may be called. At the end of
// the order, that is the one that may be called again first. It returns -1 if there is
// none. It skips retries that would have to wait beyond the deadline of the context.
func (c *call) pick() (i int, due time.Time) {
	deadline, limited := c.ctx.Deadline()
	again := func(h *history) bool {
		return c.retries > 0 && !h.refused && !(limited && h.retryAt.After(deadline))
	}
	for ; c.at < len(c.order); c.at++ {
		i := c.order[c.at]
		h := &c.tried[i]
		if !h.called || again(h) {
			return i, h.retryAt
		}
	}
	i = -1
	for _, k := range c.order {
		if h := &c.tried[k]; again(h) && (i < 0 || h.retryAt.Before(due)) {
			i, due = k, h.retryAt
		}
	}
	return i, due
}

// start makes an attempt with the Upstream i.
func (c *call) start(i int, now time.Time) {
	a := &attempt{call: c, info: Attempt{Index: i, Start: now}}
	a.w = c.to.fork(a)
	if c.req.Stream && c.f.opts.FirstContent > 0 {
		a.due = now.Add(c.f.opts.FirstContent)
	}
	a.ctx = c.tracer.start(c.ctx, a.info)
	values := *c.values
	values.ReportSend = a.noteSend
	var ctx context.Context
	ctx, a.cancel = context.WithCancelCause(reqctx.With(a.ctx, &values))
	if c.tried[i].called {
		c.retries--
	}
	c.tried[i].called = true
	c.at++
	c.running = append(c.running, a)
	c.mu.Lock()
	c.attempts = append(c.attempts, a)
	if c.chosen != nil {
		a.drop(errOtherChosen, now)
	}
	c.mu.Unlock()
	if c.timed {
		go a.runGuarded(ctx, c.f.list[i])
		return
	}
	defer func() {
		if a.err == errPanicked { // the panic goes on to the caller
			c.tracer.done(a.ctx, a.info)
		}
	}()
	a.run(ctx, c.f.list[i])
	c.returned(a)
}

// choose makes a the attempt whose response is used and drops the others. It returns an
// error if a was dropped before.
func (c *call) choose(a *attempt) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.dropped != nil {
		return a.dropped
	}
	c.chosen, a.info.Chosen = a, true
	now := time.Now()
	for _, other := range c.attempts {
		if other != a {
			other.drop(errOtherChosen, now)
		}
	}
	return nil
}

// expire drops attempts without content whose time has passed, and abandons those that
// do not return. It returns the time at which it has to be called again, or zero.
func (c *call) expire(now time.Time) (wake time.Time) {
	for _, a := range slices.Clone(c.running) {
		c.mu.Lock()
		late := c.chosen != a && a.dropped == nil && !a.returned && !a.due.IsZero() && !a.due.After(now)
		var err error
		if late {
			err = &Error{
				Code: CodeTimeout, Upstream: a.info.Upstream, UpstreamID: a.info.UpstreamID,
				Err: fmt.Errorf("the upstream sent no content within FailoverOptions.FirstContent, %v", c.f.opts.FirstContent),
			}
			a.drop(err, now)
		}
		gone := a.dropped != nil && now.Sub(a.dropTime) >= abandonAfter
		switch {
		case gone:
		case a.dropped != nil:
			wake = earlier(wake, a.dropTime.Add(abandonAfter))
		case c.chosen == nil:
			wake = earlier(wake, a.due)
		}
		c.mu.Unlock()
		if late {
			c.failed(a, err)
		}
		if gone {
			a.finish(nil)
			c.remove(a)
		}
	}
	return wake
}

// returned handles the end of an attempt.
func (c *call) returned(a *attempt) {
	if !slices.Contains(c.running, a) { // bounded by the host
		return // abandoned
	}
	c.remove(a)
	if c.panicked == nil {
		c.panicked = a.panicked
	}
	if a.err != nil && !a.info.Chosen && a.dropped == nil {
		c.failed(a, a.err)
	}
}

// remove ends the wait for an attempt.
func (c *call) remove(a *attempt) {
	c.running = slices.DeleteFunc(c.running, func(b *attempt) bool { return a == b })
	c.mu.Lock()
	info := a.info
	c.mu.Unlock()
	c.tracer.done(a.ctx, info)
}

// failed decides what may follow an attempt that failed before it was chosen.
func (c *call) failed(a *attempt, err error) {
	h := &c.tried[a.info.Index]
	h.failures++
	wait := retryAfter(err)
	isFirst := a.info.Index == c.attempts[0].info.Index
	switch _, violations := clientError(err); {
	case violations && !isFirst:
		h.refused = true
	case !c.f.goesOn(err):
		c.last = true
		if isFirst {
			c.final = a
		}
	case !mayRetry(err):
		h.refused = true
	case wait == 0:
		wait = min(firstBackoff<<min(h.failures-1, 8), maxRetryWait)
		wait -= rand.N(wait / 2)
	}
	h.retryAt = time.Now().Add(wait)
}

// mayRetry reports whether the Upstream that returned err may be called again.
func mayRetry(err error) bool {
	e, _ := clientError(err)
	if e == nil {
		return true
	}
	// one pass
	return !e.KeyRefused && e.RetryAfter <= maxRetryWait && !slices.ContainsFunc(e.Header, func(h HeaderField) bool {
		return http.CanonicalHeaderKey(h.Name) == "X-Should-Retry" && h.Value == "false"
	})
}

// retryAfter returns how long a client should wait after err, or 0.
func retryAfter(err error) time.Duration {
	if e, _ := clientError(err); e != nil {
		return e.RetryAfter
	}
	return 0
}

// result returns the result of the call after all attempts have ended.
func (c *call) result() error {
	if a := c.chosen; a != nil {
		c.to.writerState, c.to.err = a.w.writerState, a.w.sinkErr
		c.to.sinkErr, c.to.usage = a.w.sinkErr, cmp.Or(a.w.usage, c.to.usage) // for a Failover around this one
		if a.panicked != nil {
			panic(a.panicked)
		}
		return a.err
	}
	if c.panicked != nil {
		panic(c.panicked)
	}
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	best := c.final
	if best == nil {
		best = c.attempts[0]
		for _, a := range c.attempts[1:] {
			if c.f.goesOn(a.err) && sooner(retryAfter(a.err), retryAfter(best.err)) {
				best = a
			}
		}
	}
	if losses := best.losses(); len(losses) > 0 {
		if err := c.sink.Send(losses); err != nil {
			return err
		}
	}
	return best.err
}

// sooner reports whether the wait a is known and shorter than b.
func sooner(a, b time.Duration) bool { return a > 0 && (b == 0 || a < b) }
