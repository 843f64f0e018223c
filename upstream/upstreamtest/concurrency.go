package upstreamtest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/polywire/polywire/upstream"
)

// checkConcurrency requests several responses at once. Each of their first
// writes waits for the same write of the others.
func (c *checker) checkConcurrency() error {
	const calls = 8
	reqs := make([]*upstream.Request, calls)
	for i := range reqs {
		if reqs[i] = withStream(c.options.Text, true); c.options.Marked != nil {
			reqs[i] = withStream(c.options.Marked(mark(i)), true)
		}
	}
	b := newBarrier(calls)
	results := make([]*result, calls)
	var wg sync.WaitGroup
	for i := range reqs {
		wg.Go(func() {
			reached := 0
			results[i] = c.call(c.ctx, reqs[i], func(n int, _ bool) error {
				b.arrive(reached, n)
				reached = n
				b.wait(n - 1)
				return nil
			}, 0)
			b.arrive(results[i].sends, rounds)
		})
	}
	wg.Wait()
	var all []error
	for i, r := range results {
		if err := c.checkConcurrent(i, r, calls); err != nil {
			all = append(all, fmt.Errorf("response %d of %d concurrent ones: %w", i, calls, err))
		}
	}
	return errors.Join(all...)
}

// mark returns a word that contains no other mark.
func mark(i int) string { return "marker-" + string(rune('a'+i)) + "-quartz" }

// checkConcurrent checks one of the concurrent responses.
func (c *checker) checkConcurrent(i int, r *result, calls int) error {
	resp := r.response()
	switch {
	case r.abortErr != nil:
		return r.abortErr
	case r.runErr != nil:
		return r.runErr
	case len(resp.problems) > 0 && c.checkSequence() == nil:
		return errors.Join(resp.problems...) // else sequence reports them
	case c.options.Marked != nil:
		return checkMarks(i, resp.text(), calls)
	}
	if ref := c.reference("Text"); ref != nil && c.options.Deterministic {
		if d := firstDifference(ref.response.summary(), resp.summary()); d != "" {
			return fmt.Errorf("it differs from the response to a single request: %s", d)
		}
	}
	return nil
}

func checkMarks(i int, text string, calls int) error {
	for n := range calls {
		if has := containsFold(text, mark(n)); n == i && !has {
			return fmt.Errorf("it does not contain its mark %q: %s", mark(i), clip(text))
		} else if n != i && has {
			return fmt.Errorf("it contains %q, the mark of another response: %s", mark(n), clip(text))
		}
	}
	return nil
}

// A barrier makes calls wait for each other at each of their first Sends. An
// Upstream may serve calls one after the other: the first wait that takes too
// long opens the barrier for good.
type barrier struct {
	mu        sync.Mutex
	abandoned bool
	missing   [rounds]int
	complete  [rounds]chan struct{}
}

const rounds = 4

func newBarrier(n int) *barrier {
	b := &barrier{}
	for i := range rounds {
		b.missing[i], b.complete[i] = n, make(chan struct{})
	}
	return b
}

// arrive records that a call has reached the rounds from up to to, without to.
func (b *barrier) arrive(from, to int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := from; i < min(to, rounds); i++ {
		if b.missing[i]--; b.missing[i] == 0 {
			close(b.complete[i])
		}
	}
}

// wait waits until all calls have reached a round. It returns at once for a
// negative round, that of a call without a Send.
func (b *barrier) wait(round int) {
	b.mu.Lock()
	given := b.abandoned
	b.mu.Unlock()
	if round < 0 || round >= rounds || given {
		return
	}
	t := time.NewTimer(lingerTime)
	defer t.Stop()
	select {
	case <-b.complete[round]:
	case <-t.C:
		b.mu.Lock()
		b.abandoned = true
		b.mu.Unlock()
	}
}
