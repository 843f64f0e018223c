package upstreamtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// errCanceled is the cause of canceled contexts.
var errCanceled = errors.New("upstreamtest: the client has disconnected")

func (c *checker) checkCancelBefore() error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	cancel(errCanceled)
	r := c.call(ctx, withStream(c.options.Text, true), untilDone(ctx), 0)
	if r.abortErr == nil && r.generateErr == nil {
		return errors.New("Generate returned nil, which marks the response as complete; its context had ended before the call")
	}
	return r.abortErr
}

// untilDone accepts writes until ctx ends.
func untilDone(ctx context.Context) sendFunc {
	return func(int, bool) error { return context.Cause(ctx) }
}

// settleTime is how long the suite waits for something that may not happen.
const settleTime = 50 * time.Millisecond

func (c *checker) checkCancelSilent() error {
	if c.options.Silent == nil {
		return skip("Options.Silent is nil")
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	timer := time.AfterFunc(settleTime, func() { cancel(errCanceled) })
	defer timer.Stop()
	r := c.call(ctx, withStream(c.options.Silent, true), untilDone(ctx), 0)
	switch {
	case r.abortErr != nil:
		return r.abortErr
	case ctx.Err() == nil:
		return fmt.Errorf("Options.Silent: Generate returned %v before its context ended", r.generateErr)
	case r.generateErr == nil:
		return errors.New("Generate returned nil, which marks the response as complete; its context had ended before anything was written")
	}
	return nil
}

func (c *checker) checkCancelMidway() error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	gone := false
	r := c.call(ctx, withStream(c.options.Long, true), func(_ int, text bool) error {
		if gone {
			return errCanceled
		}
		if text {
			gone = true
			cancel(errCanceled)
		}
		return nil
	}, 0)
	switch {
	case r.abortErr != nil:
		return r.abortErr
	case ctx.Err() == nil && r.generateErr == nil:
		return skip("the response to Options.Long has no text")
	case r.generateErr == nil && c.cutShort(r):
		return errors.New("Generate returned nil, which marks the response as complete; its context had ended between two writes")
	}
	return nil
}

// cutShort reports whether r cannot be a complete response to Long.
func (c *checker) cutShort(r *result) bool {
	if r.sinkErr != nil {
		return true
	}
	if c.options.Brief {
		return false
	}
	ref := c.reference("Long")
	if ref == nil {
		return false
	}
	if c.options.Deterministic {
		return r.sends < ref.result.sends
	}
	return r.sends*2 < ref.result.sends
}

func (c *checker) checkCancelBlocked() error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	r := c.call(ctx, withStream(c.options.Long, true), func(_ int, text bool) error {
		if !text {
			return context.Cause(ctx)
		}
		cancel(errCanceled)
		return errCanceled // handlers interrupt the write
	}, 0)
	switch {
	case r.abortErr != nil:
		return r.abortErr
	case r.sinkErr != nil && r.generateErr == nil:
		return errors.New("Generate returned nil, which marks the response as complete; its context had ended during a write")
	}
	return nil
}

// errSink is the error of failing Sinks.
var errSink = errors.New("upstreamtest: the write failed")

func (c *checker) checkWriter() error {
	at := []int{1, 2}
	if c.options.Brief {
		at = []int{2}
	} else if ref := c.reference("Long"); ref != nil && ref.result.sends > 4 {
		at = append(at, ref.result.sends/2)
	}
	var all []error
	for _, n := range at {
		r := c.call(c.ctx, withStream(c.options.Long, true), func(i int, _ bool) error {
			if i >= n {
				return errSink
			}
			return nil
		}, 0)
		switch {
		case r.abortErr != nil:
			all = append(all, r.abortErr)
		case r.sinkErr == nil: // the response ended before
		case r.generateErr == nil:
			all = append(all, fmt.Errorf("Generate returned nil although write %d had failed", n))
		case !errors.Is(r.generateErr, errSink):
			all = append(all, fmt.Errorf("write %d failed with %q, but Generate returned %q, which does not wrap it", n, errSink, r.generateErr))
		}
	}
	return errors.Join(all...)
}

// checkBackpressure blocks a write for a while and measures the heap.
func (c *checker) checkBackpressure() error {
	var full error
	before := heapSize()
	held := false
	r := c.call(c.ctx, withStream(c.options.Long, true), func(_ int, text bool) error {
		if held || !text {
			return nil
		}
		held = true
		for range 8 {
			time.Sleep(settleTime / 2)
			if n := heapSize() - before; n > c.options.Buffer {
				full = fmt.Errorf("the heap grew by %d bytes during a blocked write; Options.Buffer allows %d", n, c.options.Buffer)
				break
			}
		}
		return errSink
	}, 0)
	return errors.Join(r.abortErr, full)
}

func heapSize() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// lingerTime is how long the suite waits for late writes.
const lingerTime = 250 * time.Millisecond

// checkLate looks for writes after Generate has returned. Handlers drop them;
// here the Writer stays open for a while.
func (c *checker) checkLate() error {
	whole := c.call(c.ctx, withStream(c.options.Long, true), nil, lingerTime)
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	cut := c.call(ctx, withStream(c.options.Long, true), func(_ int, text bool) error {
		if text {
			cancel(errCanceled)
		}
		return nil // the Upstream may write more
	}, lingerTime)
	var all []error
	for _, r := range []*result{whole, cut} {
		if r.abortErr != nil {
			all = append(all, r.abortErr)
		}
		if r.late > 0 {
			how := "Generate returned"
			if r == cut {
				how = "its context ended and Generate returned"
			}
			all = append(all, fmt.Errorf("%d writes after %s; Generate must wait for its goroutines that write", r.late, how))
		}
	}
	return errors.Join(all...)
}

// checkLeaks looks for goroutines that every call leaves. Those of the first call,
// such as idle connections, may stay for later calls.
func (c *checker) checkLeaks() error {
	const calls = 4
	kinds := []struct {
		name string
		call func() *result
	}{
		{"after a complete response", func() *result { return c.call(c.ctx, withStream(c.options.Text, true), nil, 0) }},
		{"after the context ended", c.cancelMidway},
		{"after a write failed", func() *result {
			return c.call(c.ctx, withStream(c.options.Long, true), func(_ int, text bool) error {
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
			if r.abortErr != nil {
				all = append(all, r.abortErr)
			}
			labels = append(labels, r.label)
			time.Sleep(pollInterval) // connections return to their pool later
		}
		stacks := leakedBy(labels, c.options.Grace)
		if len(stacks) == calls {
			all = append(all, fmt.Errorf("each call leaves a goroutine %s:\n%s", k.name, stacks[0]))
		}
	}
	return errors.Join(all...)
}

func (c *checker) cancelMidway() *result {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	return c.call(ctx, withStream(c.options.Long, true), func(_ int, text bool) error {
		if text {
			cancel(errCanceled)
		}
		return context.Cause(ctx)
	}, 0)
}

// leakedBy returns the stack of one goroutine for each call that has left any. It
// waits for d, or until one of the calls has left none.
func leakedBy(labels []string, d time.Duration) []string {
	for pause := pollInterval; ; pause *= 2 {
		var stacks []string
		for _, l := range labels {
			if of := goroutinesOf(l); len(of) > 0 {
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
