package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/reqctx"
)

// An Upstream generates responses. It must be safe for concurrent use.
type Upstream interface {
	// Generate writes the response to req with the methods of w and returns when the
	// response is complete.
	//
	// If Generate returns nil, open blocks are closed. A response without a Stop ends
	// with StopToolUse if it contains a tool call, and with StopEnd otherwise. If
	// Generate returns an [*Error], the client receives its Code and Text. A
	// [*content.Violation] is sent as an error of the request. Any other error is sent
	// as an internal error without its text. Output written before an error has already
	// been sent.
	//
	// If a method of w returns an error, Generate should return that error: the client
	// has left, a reported loss is not allowed, or the output was invalid.
	//
	// ctx is done when the client leaves or a timeout expires. If Generate does not
	// return within Timeouts.Grace after that, the handler stops waiting for it and
	// drops further output.
	//
	// req is read-only and valid until Generate returns. Several goroutines may use w
	// until then, but only one may use a given [ToolCallWriter]. Output is sent in the
	// order of the calls.
	Generate(ctx context.Context, req *Request, w *Writer) error
}

// A Func is a function that implements [Upstream].
type Func func(ctx context.Context, req *Request, w *Writer) error

// Generate calls f(ctx, req, w).
func (f Func) Generate(ctx context.Context, req *Request, w *Writer) error { return f(ctx, req, w) }

// Run calls u.Generate with req and sends the events of the response to sink. Handlers,
// [Tap], [Collect] and [Events] use it. Run starts no goroutine and does not recover
// panics. It returns the error of Generate or, if that is nil, the first error of a
// method of the Writer, such as an error of sink.
//
// The events are in valid order: see [EventKind]. Calls of sink.Send do not overlap,
// and none is made after Run returns. If Run returns nil, every block is closed and the
// last [EventStop] of each candidate is its stop reason.
//
// If req depends on state that only the vendor of its Wire keeps, such as a thread of
// Messages, and u would send it in another format ([FormatOf]), Run returns the [*Error]
// for the client and does not call u. So do [CountTokens] and [EncodeRequest].
func Run(ctx context.Context, u Upstream, req *Request, sink Sink) error {
	ctx, err := checkFormat(ctx, u, req)
	if err != nil {
		return err
	}
	w := newWriter(req, sink)
	defer w.invalidate() // also after a panic
	err = u.Generate(ctx, req, w)
	return w.finish(err)
}

// checkFormat returns the error of a request that depends on state of the vendor of its
// document if u would send it in another format. In the returned context a [Failover] calls
// only upstreams of the format.
func checkFormat(ctx context.Context, u Upstream, r *Request) (context.Context, error) {
	if r == nil {
		return ctx, nil
	}
	d := document.Of(r.Wire)
	if !d.HasState() {
		return ctx, nil
	}
	if v := reqctx.From(ctx); v.StateFormat != d.In {
		c := *v
		c.StateFormat = d.In
		ctx = reqctx.With(ctx, &c)
	}
	return ctx, d.CheckFormat(FormatOf(ctx, u, r))
}

// A TokenCounter is an Upstream that can count the tokens of a request without
// generating a response. Use [CountTokens] to call it.
type TokenCounter interface {
	CountTokens(ctx context.Context, r *Request) (TokenCount, error)
}

// A TokenCount is the number of tokens in a request.
type TokenCount struct {
	Tokens    int64
	Cached    int64 // tokens that would be read from a cache, included in Tokens
	Estimated bool  // the count does not come from the vendor of the model

	// Upstream is the name of the adapter that counted, and UpstreamID the id that its
	// server gave the exchange: see [Error]. They are empty if unknown.
	Upstream, UpstreamID string

	// Losses are the losses of the request in the format in which it was counted. They
	// may be empty if Estimated is set. Request.RejectLoss does not apply to counting.
	Losses []content.Loss

	// Extra holds the other members of the vendor's response.
	Extra *content.Extra
}

// A ModelLister is an Upstream that can list its models. Use [Models] to call it.
type ModelLister interface {
	Models(ctx context.Context) ([]Model, error)
}

// A Model describes a model of an Upstream. Only ID is required.
type Model struct {
	ID          string
	Name        string // display name
	Description string
	Created     time.Time
	MaxInput    int64 // tokens; 0 if unknown
	MaxOutput   int64 // tokens; 0 if unknown
	Thinking    bool  // the model supports thinking
	Extra       *content.Extra
}

// A Preflighter is an Upstream that can report the losses of a request without sending
// it. Use [Preflight] to call it.
type Preflighter interface {
	Preflight(ctx context.Context, r *Request) ([]content.Loss, error)
}

// A FormatReporter is an Upstream that sends requests to a server in one wire format.
// Use [FormatOf] to call it.
type FormatReporter interface {
	// FormatOf returns the wire format in which r would be sent, without sending it. If
	// r was parsed from a document of that format, all members of the document are
	// sent. It returns an error if there is no such format, for example because a [Mux]
	// has no Upstream for the model.
	FormatOf(ctx context.Context, r *Request) (content.Format, error)
}

// FormatOf returns the wire format in which u would send r. It uses the first Upstream
// in the chain of wrapped upstreams that is a [FormatReporter]. [Edit] changes r first;
// a [Mux] and [First] use the Upstream that they select for r. It returns "" if there
// is no FormatReporter: such an Upstream uses only the fields of the Request.
//
// [Run] and the handlers use it for requests that refer to state at a vendor, which only an
// Upstream of the same format can use: see messages.NewHandler.
func FormatOf(ctx context.Context, u Upstream, r *Request) (content.Format, error) {
	return operate(ctx, u, r, FormatOf, FormatReporter.FormatOf, func() (content.Format, error) { return "", nil })
}

// ErrUnsupported is the error that [Models], [Preflight], [EncodeRequest] and [RequestKey]
// return, wrapped, if neither the Upstream nor any Upstream that it wraps has the method. It
// wraps [errors.ErrUnsupported].
var ErrUnsupported = fmt.Errorf("upstream: %w", errors.ErrUnsupported)

// CountTokens returns the number of tokens in r. It uses the first Upstream in the
// chain of wrapped upstreams that is a [TokenCounter]. If there is no TokenCounter, it
// returns [EstimateTokens] of r, as changed by each [Edit] in the chain.
func CountTokens(ctx context.Context, u Upstream, r *Request) (TokenCount, error) {
	ctx, err := checkFormat(ctx, u, r)
	if err != nil {
		return TokenCount{}, err
	}
	return operate(ctx, u, r, CountTokens, TokenCounter.CountTokens, func() (TokenCount, error) {
		return TokenCount{Tokens: EstimateTokens(r), Estimated: true}, nil
	})
}

// Models returns the models of u. It uses the first Upstream in the chain of wrapped
// upstreams that is a [ModelLister]. If there is no ModelLister, the error wraps
// [ErrUnsupported].
func Models(ctx context.Context, u Upstream) ([]Model, error) {
	for ; u != nil; u = unwrap(u) {
		if l, ok := u.(ModelLister); ok {
			return l.Models(ctx)
		}
	}
	return nil, fmt.Errorf("listing models: %w", ErrUnsupported)
}

// Preflight returns the losses of r, as u would pass them to [Writer.Loss]. It sends
// nothing. It uses the first Upstream in the chain of wrapped upstreams that is a
// [Preflighter]; if there is no Preflighter, the error wraps [ErrUnsupported]. The
// adapters of this module report each loss for at most 1,000 places.
func Preflight(ctx context.Context, u Upstream, r *Request) ([]content.Loss, error) {
	return operate(ctx, u, r, Preflight, Preflighter.Preflight, func() ([]content.Loss, error) {
		return nil, fmt.Errorf("preflight: %w", ErrUnsupported)
	})
}

// operate calls method of the first T in the chain of u and the upstreams that it wraps. A
// router in the chain, such as a [Mux], passes r on: again is called with the Upstream that it
// selects. If there is no T, operate calls otherwise.
func operate[T, R any](ctx context.Context, u Upstream, r *Request, again func(context.Context, Upstream, *Request) (R, error),
	method func(T, context.Context, *Request) (R, error), otherwise func() (R, error)) (R, error) {
	for u != nil {
		if t, ok := u.(T); ok {
			return method(t, ctx, r)
		}
		if f, ok := u.(interface {
			route(context.Context, *Request) (Upstream, *Request, error)
		}); ok {
			up, to, err := f.route(ctx, r)
			if err != nil {
				var none R
				return none, err
			}
			return again(ctx, up, to)
		}
		u = unwrap(u)
	}
	return otherwise()
}

// unwrap returns the Upstream that u wraps, or nil.
func unwrap(u Upstream) Upstream {
	if w, ok := u.(interface{ Unwrap() Upstream }); ok {
		return w.Unwrap()
	}
	return nil
}
