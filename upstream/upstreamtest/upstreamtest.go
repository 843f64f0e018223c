package upstreamtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/polywire/polywire/upstream"
)

// Run checks u, each check as a subtest. The package comment lists them. Run
// does not return before all of them are done. u must be fit for use, as
// always from several goroutines. opts may be nil.
func Run(t *testing.T, u upstream.Upstream, opts *Options) {
	t.Helper()
	c, err := newChecker(t.Context(), u, opts)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range checks() {
		t.Run(k.name, func(t *testing.T) {
			err := c.run(k)
			var skip *skipped
			if errors.As(err, &skip) {
				t.Skip(skip.why)
			}
			for _, err := range list(err) {
				t.Error(err)
			}
		})
	}
}

// Check checks u as [Run] does. The error joins a [*Failure] for everything
// that is wrong; it is nil if nothing is. Checks that the Options leave no way
// to make are passed over. opts may be nil.
func Check(ctx context.Context, u upstream.Upstream, opts *Options) error {
	c, err := newChecker(ctx, u, opts)
	if err != nil {
		return err
	}
	var all []error
	for _, k := range checks() {
		err := c.run(k)
		var skip *skipped
		if errors.As(err, &skip) {
			continue
		}
		for _, err := range list(err) {
			all = append(all, &Failure{Check: k.name, Err: err})
		}
	}
	return errors.Join(all...)
}

// A Failure is something that an Upstream does wrong.
type Failure struct {
	Check string // which check found it, as in the package comment
	Err   error
}

// Error returns the check and what is wrong.
func (f *Failure) Error() string { return f.Check + ": " + f.Err.Error() }

// Unwrap returns what is wrong.
func (f *Failure) Unwrap() error { return f.Err }

// A check makes calls of its own and judges one thing only.
type check struct {
	name   string
	f      func(c *checker) error
	costly bool // left out of a Brief run
}

func checks() []check {
	return []check{
		{"answer", (*checker).answer, false},
		{"sequence", (*checker).sequence, false},
		{"stop", (*checker).stop, false},
		{"text", (*checker).text, false},
		{"usage", (*checker).usage, false},
		{"calls", (*checker).calls, false},
		{"thinking", (*checker).thinking, false},
		{"stream", (*checker).stream, true},
		{"cancellation/before", (*checker).cancelBefore, false},
		{"cancellation/silent", (*checker).cancelSilent, false},
		{"cancellation/midway", (*checker).cancelMidway, false},
		{"cancellation/blocked", (*checker).cancelBlocked, true},
		{"writer", (*checker).writer, false},
		{"backpressure", (*checker).backpressure, true},
		{"late", (*checker).late, true},
		{"leaks", (*checker).leaks, true},
		{"unsupported", (*checker).unsupported, false},
		{"losses", (*checker).losses, true},
		{"refusals", (*checker).refusals, false},
		{"failures", (*checker).failures, false},
		{"readonly", (*checker).readonly, true},
		{"concurrency", (*checker).concurrency, true},
		{"odd", (*checker).odd, true},
		{"count", (*checker).count, false},
		{"models", (*checker).models, false},
		{"preflight", (*checker).preflight, true},
		{"secrets", (*checker).secrets, false},
	}
}

// A checker checks one Upstream.
type checker struct {
	ctx context.Context
	u   upstream.Upstream
	o   Options

	refs   []*reference // what Text and its like are answered with
	record record
}

func newChecker(ctx context.Context, u upstream.Upstream, opts *Options) (*checker, error) {
	if u == nil {
		return nil, errors.New("upstreamtest: the Upstream is nil")
	}
	if opts != nil {
		for _, name := range opts.Skip {
			if !slices.ContainsFunc(checks(), func(k check) bool { return k.name == name }) {
				return nil, fmt.Errorf("upstreamtest: Options.Skip: there is no check %q", name)
			}
		}
		if opts.Grace < 0 || opts.Timeout < 0 || opts.Buffer < 0 {
			return nil, errors.New("upstreamtest: Options: Grace, Timeout and Buffer must not be negative")
		}
	}
	return &checker{ctx: ctx, u: u, o: opts.filled(ctx, u)}, nil
}

func (c *checker) run(k check) error {
	switch {
	case slices.Contains(c.o.Skip, k.name):
		return skip("Options.Skip names it")
	case k.costly && c.o.Brief:
		return skip("Options.Brief leaves it out")
	}
	return k.f(c)
}

// skipped says why a check was not made.
type skipped struct{ why string }

func (s *skipped) Error() string { return "skipped: " + s.why }

func skip(why string) error { return &skipped{why} }

// list returns the errors that were joined.
func list(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
