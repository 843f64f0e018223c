package upstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/polywire/polywire/content"
)

// A TokenCounter is an Upstream that can say how many tokens a request has
// without answering it. Call it through [CountTokens].
type TokenCounter interface {
	CountTokens(ctx context.Context, r *Request) (TokenCount, error)
}

// A TokenCount is how many tokens a request has.
type TokenCount struct {
	Tokens    int64
	Cached    int64 // of these, how many a cache would give
	Estimated bool  // not counted by the model's own vendor

	// Upstream is the name of the adapter that counted, and UpstreamID the id that
	// its server gave the exchange: see [Error]. They are empty where unknown.
	Upstream, UpstreamID string

	// Losses are those of the request on its way to where it is counted: the
	// count is of what is left. An estimate may be of the whole, and tell none.
	// None of them makes counting fail, whatever the request's RejectLoss says.
	Losses []content.Loss

	// Extra holds what else the vendor's answer said.
	Extra *content.Extra
}

// A ModelLister is an Upstream that can say which models it has. Call it
// through [Models].
type ModelLister interface {
	Models(ctx context.Context) ([]Model, error)
}

// A Model describes one model of an Upstream. Only ID is needed.
type Model struct {
	ID          string
	Name        string // for people
	Description string
	Created     time.Time
	MaxInput    int64 // tokens; 0 if not known
	MaxOutput   int64
	Thinking    bool
	Extra       *content.Extra
}

// A Preflighter is an Upstream that can say what a request would lose on its
// way, without sending anything. Call it through [Preflight].
type Preflighter interface {
	Preflight(ctx context.Context, r *Request) ([]content.Loss, error)
}

// A FormatReporter is an Upstream that sends requests to a server, in the wire
// format of that server. Call it through [FormatOf].
type FormatReporter interface {
	// FormatOf returns the format in which r is sent. In that format the document
	// that r was parsed from is sent as it is, or encoded anew with all of its
	// members. It sends nothing. The error is that of a request that is refused
	// whatever its format is.
	FormatOf(ctx context.Context, r *Request) (content.Format, error)
}

// FormatOf returns the wire format in which u, or the first Upstream it wraps
// that can report it, would send r: [Edit] changes r first, a [Mux] and [First]
// ask the Upstream that would answer. It returns "" if there is none, as for a
// [Func]: such an Upstream gets the neutral request only.
//
// Handlers ask it where a request depends on state at a vendor that only an
// Upstream of their own format can reach: see messages.Handler.
func FormatOf(ctx context.Context, u Upstream, r *Request) (content.Format, error) {
	if f, ok := find[FormatReporter](u); ok {
		return f.FormatOf(ctx, r)
	}
	return "", nil
}

// ErrUnsupported is what Models and Preflight return, wrapped, if neither u nor
// anything it wraps has the ability. It wraps [errors.ErrUnsupported].
var ErrUnsupported = fmt.Errorf("upstream: %w", errors.ErrUnsupported)

// CountTokens asks u, or the first it wraps that can count. If there is none,
// the count is [EstimateTokens] of the request as the innermost Upstream would
// get it, so that what [Edit] adds is counted.
func CountTokens(ctx context.Context, u Upstream, r *Request) (TokenCount, error) {
	if c, ok := find[TokenCounter](u); ok {
		return c.CountTokens(ctx, r)
	}
	return TokenCount{Tokens: EstimateTokens(r), Estimated: true}, nil
}

// Models asks u, or the first it wraps that can list its models. The error
// wraps [ErrUnsupported] if there is none.
func Models(ctx context.Context, u Upstream) ([]Model, error) {
	if l, ok := find[ModelLister](u); ok {
		return l.Models(ctx)
	}
	return nil, fmt.Errorf("listing models: %w", ErrUnsupported)
}

// Preflight asks u, or the first it wraps that knows. The error wraps
// [ErrUnsupported] if there is none. The losses are those that [Writer.Loss] would
// be given: of each thing at most 1,000 places by the adapters of this module.
func Preflight(ctx context.Context, u Upstream, r *Request) ([]content.Loss, error) {
	if p, ok := find[Preflighter](u); ok {
		return p.Preflight(ctx, r)
	}
	return nil, fmt.Errorf("preflight: %w", ErrUnsupported)
}

// find looks for an ability in u and in what it unwraps to, as errors.As does.
func find[T any](u Upstream) (T, bool) {
	for u != nil {
		if t, ok := u.(T); ok {
			return t, true
		}
		w, ok := u.(interface{ Unwrap() Upstream })
		if !ok {
			break
		}
		u = w.Unwrap()
	}
	var none T
	return none, false
}
