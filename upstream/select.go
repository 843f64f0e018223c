package upstream

import (
	"context"
	"errors"
	"sync/atomic"
)

// Select returns an Upstream that passes each request to the Upstream that f returns for it, in every
// operation: generating, counting tokens, preflight, encoding and FormatOf. An error of f is the
// error of the operation, as if Generate had returned it. To change the request, too, return an
// [Edit]. A nil Upstream without an error is an internal error.
//
// To list models, f is called with a Request that has no field set: an f that selects by ctx lists
// the models of a tenant. f must be safe for concurrent use, and should return the same for equal
// requests. Select panics if f is nil. For names of models see [Mux], for losses [First], for errors
// [Failover].
func Select(f func(ctx context.Context, r *Request) (Upstream, error)) Upstream {
	if f == nil {
		panic("upstream: Select: nil function")
	}
	return selector{func(ctx context.Context, r *Request) (Upstream, *Request, error) {
		up, err := f(ctx, r)
		if err == nil && up == nil {
			err = errors.New("upstream: the function of a Select returned a nil Upstream and no error")
		}
		return up, r, err
	}}
}

type selector struct{ router }

// Models returns the models of the Upstream for a Request without fields.
func (s selector) Models(ctx context.Context) ([]Model, error) {
	up, _, err := s.route(ctx, new(Request))
	if err != nil {
		return nil, err
	}
	return Models(ctx, up)
}

// A router returns the Upstream of a request, and the request that it receives. Operations look through
// it: see [operate].
type router func(ctx context.Context, r *Request) (Upstream, *Request, error)

func (f router) route(ctx context.Context, r *Request) (Upstream, *Request, error) { return f(ctx, r) }

// Generate generates the response with the Upstream for r.
func (f router) Generate(ctx context.Context, r *Request, w *Writer) error {
	up, changed, err := f(ctx, r)
	if err != nil {
		return err
	}
	if changed != r {
		w.setRequest(changed)
	}
	return up.Generate(ctx, changed, w)
}

// A Swap is an Upstream that passes requests to another one, which can be replaced while it is used,
// such as when a configuration is read again. Requests that have begun keep the Upstream with which
// they began. The zero Swap has none: what it is asked to do for a request fails with
// [CodeUnavailable]. A Swap is safe for concurrent use and must not be copied.
type Swap struct{ current atomic.Pointer[Upstream] }

// Store makes u the Upstream of all calls that begin from now on. It panics if u is nil.
func (s *Swap) Store(u Upstream) {
	if u == nil {
		panic("upstream: Swap: nil Upstream")
	}
	s.current.Store(&u)
}

// Generate generates the response with the current Upstream.
func (s *Swap) Generate(ctx context.Context, r *Request, w *Writer) error {
	return s.Unwrap().Generate(ctx, r, w)
}

// Unwrap returns the current Upstream. With it all operations use the current one. Before the first
// Store it returns one that fails.
func (s *Swap) Unwrap() Upstream {
	if u := s.current.Load(); u != nil {
		return *u
	}
	return noUpstream
}

var noUpstream = Select(func(context.Context, *Request) (Upstream, error) {
	return nil, &Error{Code: CodeUnavailable, Err: errors.New("upstream: Swap without an Upstream: call Store before it is used")}
})
