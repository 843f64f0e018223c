package upstreamtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func (c *checker) readonly() error {
	var all []error
	for _, k := range []struct {
		name string
		req  *upstream.Request
	}{
		{"Text", c.o.Text},
		{"Call", c.o.Call},
		{"Lossy", c.o.Lossy},
		{"a request with a bit of everything", rich(c.o.Model)},
	} {
		if k.req == nil {
			continue
		}
		if err := c.unchanged(k.req); err != nil {
			all = append(all, fmt.Errorf("%s: %w", k.name, err))
		}
	}
	return errors.Join(all...)
}

// unchanged does with one request what can be done with it, also at once.
func (c *checker) unchanged(req *upstream.Request) error {
	r := roomy(req)
	before := r.Clone()
	var wg sync.WaitGroup
	var faults [2]error
	for i := range faults {
		wg.Go(func() { faults[i] = c.call(c.ctx, r, nil, 0).fault })
	}
	wg.Wait()
	if err := errors.Join(faults[:]...); err != nil {
		return err
	}
	_, err := within(c.ctx, c.o.Timeout, func(ctx context.Context) (struct{}, error) {
		_, _ = upstream.CountTokens(ctx, c.u, r) // whether they work is another check's
		_, _ = upstream.Preflight(ctx, c.u, r)
		return struct{}{}, nil
	})
	if err != nil {
		return err
	}
	if d := changed(before, r); d != "" {
		return fmt.Errorf("the request was changed: %s", d)
	}
	if d := spilled(r); d != "" {
		return fmt.Errorf("something was appended to the request's own list: %s; Clone the request, or the list", d)
	}
	return nil
}

// concurrency asks many things at once, and has all answers wait for each
// other at their beginnings.
func (c *checker) concurrency() error {
	const calls = 8
	reqs := make([]*upstream.Request, calls)
	for i := range reqs {
		if reqs[i] = withStream(c.o.Text, true); c.o.Marked != nil {
			reqs[i] = withStream(c.o.Marked(mark(i)), true)
		}
	}
	m := newMeeting(calls)
	results := make([]*result, calls)
	var wg sync.WaitGroup
	for i := range reqs {
		wg.Go(func() {
			been := 0
			results[i] = c.call(c.ctx, reqs[i], func(n int, _ bool) error {
				m.arrive(been, n)
				been = n
				m.wait(n - 1)
				return nil
			}, 0)
			m.arrive(results[i].sends, rounds)
		})
	}
	wg.Wait()
	var all []error
	for i, r := range results {
		if err := c.apart(i, r, calls); err != nil {
			all = append(all, fmt.Errorf("answer %d of %d at once: %w", i, calls, err))
		}
	}
	return errors.Join(all...)
}

// mark makes a word that no other one is a part of.
func mark(i int) string { return "marker-" + string(rune('a'+i)) + "-quartz" }

// apart looks at one of the answers that were given at once.
func (c *checker) apart(i int, r *result, calls int) error {
	a := r.read()
	switch {
	case r.fault != nil:
		return r.fault
	case r.run != nil:
		return r.run
	case len(a.faults) > 0 && c.sequence() == nil:
		return errors.Join(a.faults...) // else it is the sequence's fault
	case c.o.Marked != nil:
		return marks(i, a.said(), calls)
	}
	if ref := c.reference("Text"); ref != nil && c.o.Deterministic {
		if d := unlike(ref.answer.meaning(), a.meaning()); d != "" {
			return fmt.Errorf("it is not the answer that is given alone: %s", d)
		}
	}
	return nil
}

func marks(i int, said string, calls int) error {
	for n := range calls {
		if has := containsFold(said, mark(n)); n == i && !has {
			return fmt.Errorf("its mark %q is not in it: %s", mark(i), clip(said))
		} else if n != i && has {
			return fmt.Errorf("it holds %q, which belongs to another answer: %s", mark(n), clip(said))
		}
	}
	return nil
}

// A meeting is where calls wait for each other, at each of their first Sends.
// An Upstream may well serve one after the other: then nobody waits twice.
type meeting struct {
	mu    sync.Mutex
	given bool // up
	left  [rounds]int
	all   [rounds]chan struct{}
}

const rounds = 4

func newMeeting(n int) *meeting {
	m := &meeting{}
	for i := range rounds {
		m.left[i], m.all[i] = n, make(chan struct{})
	}
	return m
}

// arrive says that a call, which has been to the rounds before from, comes to
// those before to.
func (m *meeting) arrive(from, to int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := from; i < min(to, rounds); i++ {
		if m.left[i]--; m.left[i] == 0 {
			close(m.all[i])
		}
	}
}

// wait waits for all calls to come to a round. A round below 0 is that of a call
// whose Generate has returned without a Send.
func (m *meeting) wait(round int) {
	m.mu.Lock()
	given := m.given
	m.mu.Unlock()
	if round < 0 || round >= rounds || given {
		return
	}
	t := time.NewTimer(linger)
	defer t.Stop()
	select {
	case <-m.all[round]:
	case <-t.C:
		m.mu.Lock()
		m.given = true
		m.mu.Unlock()
	}
}

// odd asks for what no client would ask for.
func (c *checker) odd() error {
	turn := func(role content.Role, parts ...content.Part) []content.Turn {
		return []content.Turn{{Role: role, Parts: parts}}
	}
	var all []error
	for _, k := range []struct {
		name string
		req  *upstream.Request
	}{
		{"no turns", &upstream.Request{Model: c.o.Model}},
		{"a turn without parts", &upstream.Request{Model: c.o.Model, Turns: turn(content.RoleUser)}},
		{"a nil part", &upstream.Request{Model: c.o.Model, Turns: turn(content.RoleUser, nil)}},
		{"an empty text", &upstream.Request{Model: c.o.Model, Turns: turn(content.RoleUser, &content.Text{})}},
		{"a file without a source", &upstream.Request{Model: c.o.Model, Turns: turn(content.RoleUser, &content.Image{}, &content.Document{})}},
		{"a result without a call", &upstream.Request{Model: c.o.Model, Turns: turn(content.RoleUser, &content.ToolResult{})}},
		{"the model's turn", &upstream.Request{Model: c.o.Model, Turns: turn(content.RoleAssistant, &content.Text{Text: "So"})}},
		{"an unknown role", &upstream.Request{Model: c.o.Model, Turns: turn("stranger", &content.Text{Text: "\x00\xff"})}},
		{"a tool without a name", &upstream.Request{Model: c.o.Model, Turns: turn(content.RoleUser, &content.Text{Text: "Hi"}),
			Tools: make([]content.Tool, 1), Choice: content.ToolChoice{Mode: content.ChoiceAny}}},
	} {
		if r := c.call(c.ctx, k.req, nil, 0); r.fault != nil {
			all = append(all, fmt.Errorf("%s: %w", k.name, r.fault))
		}
	}
	return errors.Join(all...)
}
