package upstream

import (
	"context"
	"errors"
	"slices"

	"github.com/polywire/polywire/content"
)

// First returns an Upstream that sends each request to the first of ups that can
// represent it without a loss that Request.RejectLoss does not allow:
//
//	models.Handle("smart", upstream.First(claude, gemini, local))
//
// First calls [Preflight] for one Upstream after the other until the losses are
// allowed. It skips an Upstream whose Preflight fails, for example because it does not
// support the request or the model. An Upstream without Preflight is assumed to have no
// losses. If no Upstream can be used, First uses the first of ups, which then reports
// the error.
//
// By default RejectLoss is 0 and allows all losses, so the first Upstream whose
// Preflight succeeds is used. To select by losses set HandlerOptions.RejectLoss, or
// Request.RejectLoss in an [Edit] around First.
//
// The selection depends on the request alone. If Generate fails, for example because a
// server is down, the next Upstream is not tried: see [Failover].
//
// All upstreams receive the same model name. For an Upstream that needs another one,
// set it in the options of the adapter or wrap the Upstream in an Edit that calls
// [Request.WithModel].
//
// CountTokens, Preflight, EncodeRequest and FormatOf use the Upstream that would be
// selected. Models returns the list of the first Upstream that has one. First panics if ups is empty or
// contains nil.
func First(ups ...Upstream) Upstream {
	if len(ups) == 0 || slices.Contains(ups, nil) { // bounded by the host
		panic("upstream: First: no Upstream or a nil Upstream")
	}
	return &failover{list: slices.Clone(ups), first: true}
}

// choose returns the index of the Upstream that [First] uses for r, and the result of its
// Preflight.
func (f *failover) choose(ctx context.Context, r *Request) (chosen int, losses []content.Loss, err error) {
	for i, up := range f.list {
		l, e := Preflight(ctx, up, r)
		switch {
		case ctx.Err() != nil:
			return 0, nil, context.Cause(ctx)
		case errors.Is(e, ErrUnsupported), e == nil && !rejects(r, l):
			return i, l, e
		case i == 0:
			losses, err = l, e
		}
	}
	return 0, losses, err
}

// rejects reports whether the request does not allow the losses.
func rejects(r *Request, losses []content.Loss) bool {
	// one pass
	return r.RejectLoss != 0 && slices.ContainsFunc(losses, func(l content.Loss) bool { return l.Severity >= r.RejectLoss })
}

// firstModels returns the list of the first Upstream that has one. It reports the
// errors of the upstreams before it as [Mux.Models] does.
func firstModels(ctx context.Context, ups []Upstream) ([]Model, error) {
	var failures listErrors
	for _, up := range ups {
		list, err := Models(ctx, up)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil:
			failures.report(ctx)
			return list, nil
		case !errors.Is(err, ErrUnsupported):
			failures = append(failures, err)
		}
	}
	return nil, failures.err()
}
