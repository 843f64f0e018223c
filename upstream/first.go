package upstream

import (
	"context"
	"errors"
	"slices"

	"github.com/polywire/polywire/content"
)

// First returns an Upstream that hands each request to the first of ups that
// can say it without a loss that the request refuses:
//
//	models.Handle("smart", upstream.First(claude, gemini, local))
//
// What would be lost is asked of [Preflight], of one after the other, until one
// will do. An Upstream whose Preflight fails, because the request holds what it
// cannot take at all or a model that it does not have, is passed over; one that
// cannot tell counts as losing nothing. A request that refuses no loss, as its
// RejectLoss is zero, goes to the first that can take it, so who wants the choice to
// depend on losses sets [HandlerOptions] RejectLoss, or RejectLoss in an [Edit] around First.
// If none will do, the request goes to the first of the list, which says what is
// wrong in its own words.
//
// The choice is made by the request alone. One that fails later, say because a
// server is down, is not tried with the next.
//
// All of ups are asked for the same model. One that knows it by another name is
// given that by its own options, or by an Edit with [Request.WithModel].
//
// Tokens are counted, and losses told beforehand, by the Upstream that would
// answer. The models are those of the first that can list its own. First panics
// if there is no Upstream, or one of them is nil.
func First(ups ...Upstream) Upstream {
	if len(ups) == 0 || slices.Contains(ups, nil) {
		panic("upstream: First: no Upstream, or a nil one")
	}
	return &first{slices.Clone(ups)}
}

type first struct{ ups []Upstream }

// A choice is what answers a request, and what its Preflight said.
type choice struct {
	up     Upstream
	losses []content.Loss
	err    error
}

// choose returns the Upstream for a request. The error is that of a context that
// has ended.
func (f *first) choose(ctx context.Context, r *Request) (choice, error) {
	var none choice
	for i, up := range f.ups {
		c := choice{up: up}
		c.losses, c.err = Preflight(ctx, up, r)
		if ctx.Err() != nil {
			return choice{}, context.Cause(ctx)
		}
		if errors.Is(c.err, ErrUnsupported) || c.err == nil && !refuses(r, c.losses) {
			return c, nil
		}
		if i == 0 {
			none = c
		}
	}
	return none, nil
}

// refuses reports whether the request is not to be answered with these losses.
func refuses(r *Request, losses []content.Loss) bool {
	return r.RejectLoss != 0 && slices.ContainsFunc(losses, func(l content.Loss) bool { return l.Severity >= r.RejectLoss })
}

// Generate has the Upstream answer that is chosen.
func (f *first) Generate(ctx context.Context, r *Request, w *Writer) error {
	c, err := f.choose(ctx, r)
	if err != nil {
		return err
	}
	return c.up.Generate(ctx, r, w)
}

// CountTokens has the Upstream count that would answer.
func (f *first) CountTokens(ctx context.Context, r *Request) (TokenCount, error) {
	c, err := f.choose(ctx, r)
	if err != nil {
		return TokenCount{}, err
	}
	return CountTokens(ctx, c.up, r)
}

// Preflight tells what the Upstream has said that would answer.
func (f *first) Preflight(ctx context.Context, r *Request) ([]content.Loss, error) {
	c, err := f.choose(ctx, r)
	if err != nil {
		return nil, err
	}
	return c.losses, c.err
}

// FormatOf asks the Upstream that would answer.
func (f *first) FormatOf(ctx context.Context, r *Request) (content.Format, error) {
	c, err := f.choose(ctx, r)
	if err != nil {
		return "", err
	}
	return FormatOf(ctx, c.up, r)
}

// Models lists the models of the first Upstream that can. Those in front of it
// that failed are holes: see [Mux.Models].
func (f *first) Models(ctx context.Context) ([]Model, error) {
	var holes holes
	for _, up := range f.ups {
		list, err := Models(ctx, up)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil:
			holes.report(ctx)
			return list, nil
		case !errors.Is(err, ErrUnsupported):
			holes = append(holes, err)
		}
	}
	return nil, holes.err()
}
