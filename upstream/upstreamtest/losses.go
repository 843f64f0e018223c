package upstreamtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// unsupported sends a part that nobody knows along with Text.
func (c *checker) unsupported() error {
	req := withStream(c.o.Text, true)
	turn := lastUser(req)
	path := fmt.Sprintf("turns.%d.parts.%d", turn, len(req.Turns[turn].Parts))
	req.Turns[turn].Parts = append(req.Turns[turn].Parts, &content.Unknown{Format: foreign, Kind: "hologram", Raw: `{"type":"hologram"}`})
	r := c.call(c.ctx, req, nil, 0)
	if r.fault != nil {
		return r.fault
	}
	if r.err != nil {
		if err := tellable(r.err); err != nil {
			return fmt.Errorf("a part of an unknown kind is refused: %w", err)
		}
		if !names(r.err, path) {
			return fmt.Errorf("a part of an unknown kind is refused, but not where it stands, %s: %v", path, r.err)
		}
		return nil
	}
	a := r.read()
	if slices.ContainsFunc(a.losses, func(l content.Loss) bool { return under(l.Path, path) }) {
		return nil
	}
	if ref := c.reference("Text"); ref != nil && c.o.Deterministic && unlike(ref.answer.meaning(), a.meaning()) != "" {
		return nil // it has reached the model
	}
	return fmt.Errorf("a part of an unknown kind at %s was dropped in silence: refuse it with a *content.Violation, or tell Writer.Loss", path)
}

// names reports whether an error says that something at path is at fault.
func names(err error, path string) bool {
	faults, _ := content.Violations(err)
	if slices.ContainsFunc(faults, func(f *content.Violation) bool { return under(f.Path, path) }) {
		return true
	}
	var failure *upstream.Error
	return errors.As(err, &failure) && strings.Contains(failure.Text, path)
}

// under reports whether a path is the given one or leads on from it.
func under(path, top string) bool {
	return path == top || strings.HasPrefix(path, top+".")
}

// lossy returns the request that something of is lost, if there is one.
func (c *checker) lossy() *upstream.Request {
	r := cmp.Or(c.o.Lossy, rich(c.o.Model)).Clone()
	r.RejectLoss = 0
	return r
}

func (c *checker) losses() error {
	req := c.lossy()
	r := c.call(c.ctx, req, nil, 0)
	a := r.read()
	early := a.losses[:a.early]
	switch {
	case r.fault != nil:
		return r.fault
	case r.run != nil && c.o.Lossy == nil:
		return skip("a request with a bit of everything is refused; it needs Options.Lossy")
	case r.run != nil:
		return fmt.Errorf("Options.Lossy was not answered: %w", r.run)
	}
	all := lossFaults(a)
	if len(early) == 0 {
		if c.o.Lossy != nil && len(all) == 0 {
			all = append(all, errors.New("nothing of Options.Lossy was reported as a loss"))
		}
		return errors.Join(all...)
	}
	if err := c.refuses(req, early); err != nil {
		all = append(all, err)
	}
	return errors.Join(all...)
}

// lossFaults returns what is wrong with the losses of an answer.
func lossFaults(a *answer) (all []error) {
	for i, l := range a.losses {
		fail := func(what string) {
			all = append(all, fmt.Errorf("the loss at %q (%s, %q) %s", l.Path, l.Severity, l.Reason, what))
		}
		switch {
		case l.Severity < content.LossHint || l.Severity > content.LossDropped:
			fail("has no severity")
		case l.Reason == "":
			fail("has no reason")
		case i < a.early && l.Path == "":
			fail("does not say where")
		case i >= a.early && ofRequest(l.Path):
			fail("is the request's, and was told after the answer had begun: RejectLoss comes too late for it")
		}
		if err := sentence(l.Reason); err != nil {
			all = append(all, fmt.Errorf("the loss at %q: %w", l.Path, err))
		}
	}
	return all
}

// ofRequest reports whether a path leads into a request and not an answer.
func ofRequest(path string) bool {
	top, _, more := strings.Cut(path, ".")
	return more && slices.Contains([]string{"system", "turns", "tools"}, top)
}

// refuses asks for what has losses once with all of them forbidden, and once
// with all of them allowed by just one degree.
func (c *checker) refuses(req *upstream.Request, early []content.Loss) error {
	strict := req.Clone()
	strict.RejectLoss = content.LossHint
	r := c.call(c.ctx, strict, nil, 0)
	faults, _ := content.Violations(r.err)
	switch {
	case r.fault != nil:
		return r.fault
	case r.err == nil:
		return errors.New("Generate returned nil although RejectLoss forbids the request's losses")
	case len(r.events) > len(r.read().losses):
		return errors.New("the answer had begun before RejectLoss was heeded: give Writer.Loss all losses first")
	case len(faults) == 0:
		return fmt.Errorf("RejectLoss forbids the request's losses, and Generate returned %q: return what Writer.Loss returned", r.err)
	case len(faults) < min(len(early), content.MaxViolations):
		return fmt.Errorf("%d losses were told, of %d that the request has: give Writer.Loss all of them at once", len(faults), len(early))
	}
	most := slices.MaxFunc(early, func(a, b content.Loss) int { return cmp.Compare(a.Severity, b.Severity) }).Severity
	if most == content.LossDropped {
		return nil
	}
	mild := req.Clone()
	mild.RejectLoss = most + 1
	if r := c.call(c.ctx, mild, nil, 0); r.run != nil {
		return fmt.Errorf("no loss is as grave as %s, and still a request that refuses those fails: %w", mild.RejectLoss, r.run)
	}
	return nil
}

func (c *checker) preflight() error {
	var known bool
	var all []error
	for _, req := range []*upstream.Request{withStream(c.o.Text, true), c.lossy()} {
		told, err := c.foresee(req, c.o.Timeout)
		if errors.Is(err, errors.ErrUnsupported) {
			return skip("the Upstream has no Preflight")
		}
		known = true
		r := c.call(c.ctx, req, nil, 0)
		switch {
		case r.fault != nil:
			all = append(all, r.fault)
		case err != nil && r.run == nil:
			all = append(all, fmt.Errorf("Preflight refuses what Generate answers: %w", err))
		case err == nil && r.run == nil:
			a := r.read()
			if d := unlike(paths(told), paths(a.losses[:a.early])); d != "" {
				all = append(all, fmt.Errorf("Preflight tells other losses than Generate: %s", d))
			}
		}
	}
	if known && c.o.Silent != nil {
		if _, err := c.foresee(c.o.Silent, c.o.Grace); errors.Is(err, errNoReturn) {
			all = append(all, fmt.Errorf("Preflight of Options.Silent, as if it sent something: %w", err))
		}
	}
	return errors.Join(all...)
}

func (c *checker) foresee(req *upstream.Request, limit time.Duration) ([]content.Loss, error) {
	return within(c.ctx, limit, func(ctx context.Context) ([]content.Loss, error) {
		return upstream.Preflight(ctx, c.u, req.Clone())
	})
}

// paths returns losses as texts, in an order of their own.
func paths(losses []content.Loss) (list []string) {
	for _, l := range losses {
		list = append(list, l.Path+" "+l.Severity.String())
	}
	slices.Sort(list)
	return list
}
