package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/reqctx"
	"github.com/polywire/polywire/internal/violation"
)

// FailoverOptions configures [Failover]. The zero value contains the defaults.
type FailoverOptions struct {
	// Codes are the codes of the errors after which Failover makes another attempt. Nil
	// means CodeOverloaded, CodeRateLimit, CodeUnavailable, CodeTimeout and
	// CodeBadGateway. An error that is neither an [*Error] nor a [*content.Violation]
	// has CodeInternal.
	Codes []Code

	// RefusedKeys also makes another attempt after an error with [Error.KeyRefused].
	// The refused Upstream is not called again for the request.
	RefusedKeys bool

	// Retries is the number of attempts, in all, with an Upstream that was already
	// called for the request. 0 means 2; a negative number means none.
	Retries int

	// FirstContent is how long an attempt for a streamed response may take until its
	// first content. It then fails with CodeTimeout. 0 means no limit. Servers send
	// nothing of a whole response before its end; to limit that time, use the Timeout
	// of an adapter's HTTPClient.
	FirstContent time.Duration

	// Hedge is how long an attempt for a streamed response may take until its first
	// content before Failover calls the next Upstream beside it. The first of the two
	// that sends content is used, and the other one is canceled. The tokens of both are
	// paid for. 0 means never.
	Hedge time.Duration

	// Order returns the upstreams to call for a request, as indexes into the list, in
	// the order of attempts. Upstreams without an index are not called. An index may be
	// repeated: see Retries. If there is no index, the request fails with
	// CodeUnavailable. An invalid index is an internal error. Order must be safe for
	// concurrent use. Nil means the order of the list. [SessionOrder] keeps each
	// conversation at one Upstream.
	Order func(ctx context.Context, r *Request) []int
}

// Failover returns an Upstream that calls the upstreams in list one after the other
// until one of them responds:
//
//	models.Handle("claude-*", upstream.Failover([]upstream.Upstream{claude, bedrock}, nil))
//
// # Attempts
//
// A call of an Upstream is an attempt. If it fails with one of FailoverOptions.Codes,
// the next Upstream in the order is called at once. After the last one, Failover calls
// upstreams again, as Retries allows: each after the RetryAfter of its error or, without
// one, after 250 ms, doubled for each further failure, less a random part of up to one
// half. It does not wait longer than 2 s or beyond the deadline of the context, and an
// Upstream whose error demands a longer wait or no retry is not called again.
//
// If an attempt fails with another Code, no further attempt follows. That includes
// violations of the request, losses that Request.RejectLoss does not allow, and refused
// keys. The end of the context ends the call. However, if an Upstream after the first
// cannot represent the request (its error is a [*content.Violation] or such a loss),
// Failover goes on without it.
//
// If no attempt succeeds, the client receives one error. If an error of the first
// Upstream allows no further attempt, it is that. Otherwise it is the one with the
// shortest RetryAfter among those that allow another attempt or, if none has one, that
// of the first attempt.
//
// # Commitment
//
// Failover passes on the events of one attempt only. It holds the events of an attempt
// until the first content: text, thinking, a signature, a citation, a tool call or
// another part. From then on the attempt is the chosen one; its error ends the response
// and no other attempt follows. Held starts, usage and losses of other attempts are
// dropped; each [Attempt] has its usage. An attempt that holds more than 64 KiB becomes
// the chosen one without content.
//
// If Request.Stream is false, the attempt is chosen when its response is complete, so
// that it may also fail later. An attempt that holds more than 8 MiB becomes the chosen
// one before it is complete.
//
// Frames pass unchanged, so a handler of the same format sends the vendor's bytes. A
// keep-alive of a handler sends the status 200 before there is a chosen attempt; an
// error is then sent in the stream.
//
// An attempt that is canceled because of FirstContent or Hedge should return. Failover
// waits for it for at most 1 s.
//
// # Combination
//
// [First] selects by what upstreams can represent and calls one Upstream; Failover
// selects by errors. To use both, make a Failover of Firsts. An Edit, a Tap or a
// circuit breaker may be around each Upstream or around the Failover. The losses that an
// Edit in the list allows are allowed.
//
// All upstreams receive the same model name. For an Upstream that needs another one, set it
// in the options of the adapter, or wrap the Upstream in an Edit that calls
// [Request.WithModel].
//
// If the handler found that a request refers to state at a vendor, only upstreams whose
// [FormatOf] is the format of that vendor are called.
//
// CountTokens calls upstreams in the order until one of them counts. Preflight and
// EncodeRequest use the first one in the order, and FormatOf the first one that may be
// called. Models returns the list of the first Upstream that has one.
//
// Failover panics if list is empty or contains nil, or if FirstContent or Hedge is
// negative.
func Failover(list []Upstream, opts *FailoverOptions) Upstream {
	if len(list) == 0 || slices.Contains(list, nil) { // bounded by the host
		panic("upstream: Failover: no Upstream or a nil Upstream")
	}
	f := &failover{list: slices.Clone(list)}
	if opts != nil {
		f.opts = *opts
	}
	if f.opts.FirstContent < 0 || f.opts.Hedge < 0 {
		panic("upstream: Failover: negative FirstContent or Hedge")
	}
	if f.opts.Codes == nil {
		f.opts.Codes = []Code{CodeOverloaded, CodeRateLimit, CodeUnavailable, CodeTimeout, CodeBadGateway}
	}
	f.opts.Codes = slices.Clone(f.opts.Codes)
	return f
}

// A failover is the result of [Failover], or of [First]: then its order is one Upstream, which
// writes the response itself.
type failover struct {
	list  []Upstream
	opts  FailoverOptions
	first bool
}

// order returns the indexes of the upstreams for r.
func (f *failover) order(ctx context.Context, r *Request) ([]int, error) {
	if f.first {
		i, _, _ := f.choose(ctx, r)
		return []int{i}, context.Cause(ctx)
	}
	if f.opts.Order == nil {
		all := make([]int, len(f.list))
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	order := f.opts.Order(ctx, r)
	for _, i := range order {
		if i < 0 || i >= len(f.list) {
			return nil, fmt.Errorf("upstream: FailoverOptions.Order returned the index %d for a list of %d upstreams", i, len(f.list))
		}
	}
	if len(order) == 0 {
		return nil, &Error{Code: CodeUnavailable, Err: errors.New("FailoverOptions.Order returned no Upstream")}
	}
	return order, nil
}

// clientError returns the error in err that determines what the client receives: an
// Error, or violations of the request. Both results are zero for any other error.
func clientError(err error) (e *Error, violations bool) {
	found := violation.Outermost(err, func(err error) bool { _, ok := err.(*Error); return ok })
	e, ok := found.(*Error)
	return e, !ok && found != nil
}

// codeOf returns the code with which handlers report err.
func codeOf(err error) Code {
	switch e, violations := clientError(err); {
	case err == nil:
		return ""
	case e != nil:
		return e.Code
	case violations:
		return CodeInvalid
	case errors.Is(err, context.DeadlineExceeded):
		return CodeTimeout
	}
	return CodeInternal
}

// goesOn reports whether another attempt may be made after err.
func (f *failover) goesOn(err error) bool {
	if e, _ := clientError(err); e != nil && e.KeyRefused {
		return f.opts.RefusedKeys
	}
	return slices.Contains(f.opts.Codes, codeOf(err)) // bounded by the host
}

// candidates returns the indexes of the upstreams for r. If r refers to state at a
// vendor, these are upstreams that send it in the format of that vendor.
func (f *failover) candidates(ctx context.Context, r *Request) ([]int, error) {
	order, err := f.order(ctx, r)
	format := reqctx.From(ctx).StateFormat
	if err != nil || format == "" || f.first {
		return order, err
	}
	order = slices.DeleteFunc(slices.Clone(order), func(i int) bool {
		own, err := FormatOf(ctx, f.list[i], r)
		return err != nil || own != format
	})
	if len(order) == 0 {
		return nil, &Error{Code: CodeUnsupported, Err: fmt.Errorf("the request refers to state that only an upstream of the format %q can read", format)}
	}
	return order, nil
}

// retries returns the number of attempts with upstreams that were already called.
func (f *failover) retries() int {
	if f.opts.Retries == 0 {
		return 2
	}
	return max(f.opts.Retries, 0)
}

// CountTokens counts with the first Upstream that can. After an error it tries the next
// one in the same cases as Generate, but none twice.
func (f *failover) CountTokens(ctx context.Context, r *Request) (TokenCount, error) {
	order, err := f.candidates(ctx, r)
	if err != nil {
		return TokenCount{}, err
	}
	called := make([]bool, len(f.list))
	for _, i := range order {
		if called[i] {
			continue
		}
		called[i] = true
		n, failed := CountTokens(ctx, f.list[i], r)
		if failed == nil {
			return n, nil
		}
		_, violations := clientError(failed)
		skip := err != nil && violations
		err = cmp.Or(err, failed)
		if ctx.Err() != nil || !skip && !f.goesOn(failed) {
			break
		}
	}
	return TokenCount{}, err
}

// Preflight returns the losses of the first Upstream of the order.
func (f *failover) Preflight(ctx context.Context, r *Request) ([]content.Loss, error) {
	if f.first {
		_, losses, err := f.choose(ctx, r)
		return losses, err
	}
	order, err := f.candidates(ctx, r)
	if err != nil {
		return nil, err
	}
	return Preflight(ctx, f.list[order[0]], r)
}

// EncodeRequest encodes the request with the first Upstream of the order.
func (f *failover) EncodeRequest(ctx context.Context, r *Request) (EncodedRequest, error) {
	order, err := f.candidates(ctx, r)
	if err != nil {
		return EncodedRequest{}, err
	}
	return EncodeRequest(ctx, f.list[order[0]], r)
}

// FormatOf returns the format of the first Upstream that may be called for r, or if
// there is none, of the first in the order.
func (f *failover) FormatOf(ctx context.Context, r *Request) (content.Format, error) {
	order, err := f.candidates(ctx, r)
	if err != nil {
		if order, err = f.order(ctx, r); err != nil {
			return "", err
		}
	}
	return FormatOf(ctx, f.list[order[0]], r)
}

// Models returns the list of the first Upstream that has one.
func (f *failover) Models(ctx context.Context) ([]Model, error) { return firstModels(ctx, f.list) }
