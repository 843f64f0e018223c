package upstreamtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// errGone is what contexts end with here.
var errGone = errors.New("upstreamtest: the client left")

func (c *checker) cancelBefore() error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	cancel(errGone)
	r := c.call(ctx, withStream(c.o.Text, true), whileListening(ctx), 0)
	if r.fault == nil && r.err == nil {
		return errors.New("Generate returned nil although its context had ended before: that says the answer is whole")
	}
	return r.fault
}

// whileListening takes Sends until ctx ends.
func whileListening(ctx context.Context) sending {
	return func(int, bool) error { return context.Cause(ctx) }
}

// settle is how long something may take to happen that need not happen.
const settle = 50 * time.Millisecond

func (c *checker) cancelSilent() error {
	if c.o.Silent == nil {
		return skip("it needs Options.Silent")
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	timer := time.AfterFunc(settle, func() { cancel(errGone) })
	defer timer.Stop()
	r := c.call(ctx, withStream(c.o.Silent, true), whileListening(ctx), 0)
	switch {
	case r.fault != nil:
		return r.fault
	case ctx.Err() == nil:
		return fmt.Errorf("Options.Silent was answered: Generate returned %v before its context ended", r.err)
	case r.err == nil:
		return errors.New("Generate returned nil when its context ended: that says the answer is whole")
	}
	return nil
}

func (c *checker) cancelMidway() error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	gone := false
	r := c.call(ctx, withStream(c.o.Long, true), func(_ int, text bool) error {
		if gone {
			return errGone
		}
		if text {
			gone = true
			cancel(errGone) // this piece has still arrived
		}
		return nil
	}, 0)
	switch {
	case r.fault != nil:
		return r.fault
	case ctx.Err() == nil && r.err == nil:
		return skip("Options.Long was answered without a text")
	case r.err == nil && c.cutShort(r):
		return errors.New("Generate returned nil when its context ended midway: that says the answer is whole")
	}
	return nil
}

// cutShort reports whether r cannot be the whole of the answer to Long.
func (c *checker) cutShort(r *result) bool {
	if r.failed != nil {
		return true
	}
	if c.o.Brief {
		return false // there is nothing to compare it with
	}
	ref := c.reference("Long")
	if ref == nil {
		return false
	}
	if c.o.Deterministic {
		return r.sends < ref.result.sends
	}
	return r.sends*2 < ref.result.sends
}

func (c *checker) cancelBlocked() error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	r := c.call(ctx, withStream(c.o.Long, true), func(_ int, text bool) error {
		if !text {
			return context.Cause(ctx)
		}
		cancel(errGone)
		return errGone // the write was cut, as handlers do it
	}, 0)
	switch {
	case r.fault != nil:
		return r.fault
	case r.failed != nil && r.err == nil:
		return errors.New("Generate returned nil although its context had ended while the client took nothing")
	}
	return nil
}

// errSink is what sinks fail with here.
var errSink = errors.New("upstreamtest: the sink fails")

func (c *checker) writer() error {
	at := []int{1, 2}
	if c.o.Brief {
		at = []int{2}
	} else if ref := c.reference("Long"); ref != nil && ref.result.sends > 4 {
		at = append(at, ref.result.sends/2)
	}
	var all []error
	for _, n := range at {
		r := c.call(c.ctx, withStream(c.o.Long, true), func(i int, _ bool) error {
			if i >= n {
				return errSink
			}
			return nil
		}, 0)
		switch {
		case r.fault != nil:
			all = append(all, r.fault)
		case r.failed == nil: // the answer was over before
		case r.err == nil:
			all = append(all, fmt.Errorf("Generate returned nil although the Writer had failed at Send %d", n))
		case !errors.Is(r.err, errSink):
			all = append(all, fmt.Errorf("the Writer failed with %q at Send %d, and Generate returned %q, which does not wrap it", errSink, n, r.err))
		}
	}
	return errors.Join(all...)
}

// backpressure holds an answer up for a while and looks at the heap.
func (c *checker) backpressure() error {
	var full error
	before := heap()
	held := false
	r := c.call(c.ctx, withStream(c.o.Long, true), func(_ int, text bool) error {
		if held || !text {
			return nil
		}
		held = true
		for range 8 {
			time.Sleep(settle / 2)
			if n := heap() - before; n > c.o.Buffer {
				full = fmt.Errorf("the heap has grown by %d bytes while the client took nothing, more than Options.Buffer, %d", n, c.o.Buffer)
				break
			}
		}
		return errSink // enough was seen
	}, 0)
	return errors.Join(r.fault, full)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// linger is how long it is waited for what may come late.
const linger = 250 * time.Millisecond

// late looks for what is written after Generate returned. A handler drops it
// without a trace; here the Writer stays open for a while.
func (c *checker) late() error {
	whole := c.call(c.ctx, withStream(c.o.Long, true), nil, linger)
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	cut := c.call(ctx, withStream(c.o.Long, true), func(_ int, text bool) error {
		if text {
			cancel(errGone)
		}
		return nil // a client that left may take more
	}, linger)
	var all []error
	for _, r := range []*result{whole, cut} {
		if r.fault != nil {
			all = append(all, r.fault)
		}
		if r.late > 0 {
			how := "Generate had returned"
			if r == cut {
				how = "its context had ended and Generate had returned"
			}
			all = append(all, fmt.Errorf("%d times something was written after %s: wait for goroutines that write", r.late, how))
		}
	}
	return errors.Join(all...)
}

// leaks looks for goroutines that each call of a kind leaves. What the first
// one leaves may be kept for later calls, such as idle connections.
func (c *checker) leaks() error {
	const calls = 4
	kinds := []struct {
		name string
		call func() *result
	}{
		{"after a whole answer", func() *result { return c.call(c.ctx, withStream(c.o.Text, true), nil, 0) }},
		{"after an answer whose context ended", c.leave},
		{"after an answer whose Writer failed", func() *result {
			return c.call(c.ctx, withStream(c.o.Long, true), func(_ int, text bool) error {
				if text {
					return errSink
				}
				return nil
			}, 0)
		}},
	}
	var all []error
	for _, k := range kinds {
		k.call()
		var labels []string
		for range calls {
			r := k.call()
			if r.fault != nil {
				all = append(all, r.fault)
			}
			labels = append(labels, r.label)
			time.Sleep(look) // connections go back to their pool behind the answer
		}
		stacks := leftBy(labels, c.o.Grace)
		if len(stacks) == calls {
			all = append(all, fmt.Errorf("a goroutine is left behind by each call, %s:\n%s", k.name, stacks[0]))
		}
	}
	return errors.Join(all...)
}

func (c *checker) leave() *result {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	return c.call(ctx, withStream(c.o.Long, true), func(_ int, text bool) error {
		if text {
			cancel(errGone)
		}
		return context.Cause(ctx)
	}, 0)
}

// leftBy returns the stack of one goroutine for each call that left any, after
// d or as soon as one of the calls left none.
func leftBy(labels []string, d time.Duration) []string {
	for pause := look; ; pause *= 2 {
		var stacks []string
		for _, l := range labels {
			if of := labelled(l); len(of) > 0 {
				stacks = append(stacks, of[0])
			}
		}
		if len(stacks) < len(labels) || d <= 0 {
			return stacks
		}
		pause = min(pause, d)
		d -= pause
		time.Sleep(pause)
	}
}
