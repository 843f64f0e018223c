package upstreamtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/polywire/polywire/upstream"
)

// Run runs all checks on u, each as a subtest. It returns when they are done. u
// must be safe for concurrent use. opts may be nil.
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
			for _, err := range unjoin(err) {
				t.Error(err)
			}
		})
	}
}

// Check runs the same checks as [Run] and returns their [*Failure] values joined into
// one error, or nil. opts may be nil.
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
		for _, err := range unjoin(err) {
			all = append(all, &Failure{Check: k.name, Err: err})
		}
	}
	return errors.Join(all...)
}

// A Failure is a rule that an Upstream breaks.
type Failure struct {
	Check string // name of the check
	Err   error
}

// Error returns the name of the check and the problem.
func (f *Failure) Error() string { return f.Check + ": " + f.Err.Error() }

// Unwrap returns f.Err.
func (f *Failure) Unwrap() error { return f.Err }

// A check checks one rule.
type check struct {
	name   string
	f      func(c *checker) error
	costly bool // skipped with Options.Brief
}

func checks() []check {
	return []check{
		{"response", (*checker).checkResponse, false},
		{"sequence", (*checker).checkSequence, false},
		{"stop", (*checker).checkStop, false},
		{"text", (*checker).checkText, false},
		{"usage", (*checker).checkUsage, false},
		{"calls", (*checker).checkCalls, false},
		{"thinking", (*checker).checkThinking, false},
		{"stream", (*checker).checkStream, true},
		{"cancellation/before", (*checker).checkCancelBefore, false},
		{"cancellation/silent", (*checker).checkCancelSilent, false},
		{"cancellation/midway", (*checker).checkCancelMidway, false},
		{"cancellation/blocked", (*checker).checkCancelBlocked, true},
		{"writer", (*checker).checkWriter, false},
		{"backpressure", (*checker).checkBackpressure, true},
		{"late", (*checker).checkLate, true},
		{"leaks", (*checker).checkLeaks, true},
		{"unsupported", (*checker).checkUnsupported, false},
		{"losses", (*checker).checkLosses, true},
		{"invalid", (*checker).checkInvalid, false},
		{"failures", (*checker).checkFailures, false},
		{"readonly", (*checker).checkReadonly, true},
		{"concurrency", (*checker).checkConcurrency, true},
		{"malformed", (*checker).checkMalformed, true},
		{"count", (*checker).checkCount, false},
		{"models", (*checker).checkModels, false},
		{"preflight", (*checker).checkPreflight, true},
		{"secrets", (*checker).checkSecrets, false},
	}
}

// A checker checks one Upstream.
type checker struct {
	ctx     context.Context
	u       upstream.Upstream
	options Options

	allReferences []*reference // responses to the requests of Options
	secretLeaks   secretLeaks
}

func newChecker(ctx context.Context, u upstream.Upstream, opts *Options) (*checker, error) {
	if u == nil {
		return nil, errors.New("upstreamtest: the Upstream is nil")
	}
	if opts != nil {
		for _, name := range opts.Skip {
			if !slices.ContainsFunc(checks(), func(k check) bool { return k.name == name }) {
				return nil, fmt.Errorf("upstreamtest: Options.Skip: no check has the name %q", name)
			}
		}
		if opts.Grace < 0 || opts.Timeout < 0 || opts.Buffer < 0 {
			return nil, errors.New("upstreamtest: Options: Grace, Timeout and Buffer must not be negative")
		}
	}
	return &checker{ctx: ctx, u: u, options: opts.withDefaults(ctx, u)}, nil
}

func (c *checker) run(k check) error {
	switch {
	case slices.Contains(c.options.Skip, k.name):
		return skip("skipped by Options.Skip")
	case k.costly && c.options.Brief:
		return skip("skipped by Options.Brief")
	}
	return k.f(c)
}

// skipped is the reason why a check was skipped.
type skipped struct{ why string }

func (s *skipped) Error() string { return "skipped: " + s.why }

func skip(why string) error { return &skipped{why} }

// unjoin returns the errors that err joins.
func unjoin(err error) []error {
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		return j.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
