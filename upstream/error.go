package upstream

import (
	"errors"
	"strings"
	"time"

	"github.com/polywire/polywire/internal/scrub"
)

// A Code says how an answer failed. Each format has its own type and status
// for it. An [*Error] with another Code, or without one, is a mistake of the
// Upstream: it is reported as CodeInternal, and log and report name the mistake.
type Code string

const (
	CodeInvalid         Code = "invalid"         // the request is at fault
	CodeUnauthenticated Code = "unauthenticated" // no key, or a bad one: the client's
	CodeBilling         Code = "billing"         // payment is due
	CodePermission      Code = "permission"      // the key may not do this
	CodeNotFound        Code = "not_found"       // no such model or file
	CodeMethod          Code = "method"          // the path exists, but not for this HTTP method
	CodeConflict        Code = "conflict"        // another request is in the way
	CodeTooLarge        Code = "too_large"       // the body is over the limit
	CodeRateLimit       Code = "rate_limit"      // too many requests
	CodeQuota           Code = "quota"           // a quota that waiting does not refill
	CodeInternal        Code = "internal"        // a fault of ours
	CodeUnavailable     Code = "unavailable"     // the upstream cannot be reached, or does not work
	CodeTimeout         Code = "timeout"         // it took too long
	CodeOverloaded      Code = "overloaded"      // more load than can be served now
	CodeUnsupported     Code = "unsupported"     // not available here
	CodeBadGateway      Code = "bad_gateway"     // the upstream answered nonsense, or refused the host
	CodeCanceled        Code = "canceled"        // the client left before the answer was whole; only in a Report
)

// An Error says how an answer failed.
type Error struct {
	Code Code

	// Text goes out to the client: a sentence without secrets. Empty means the
	// format's usual sentence for the Code.
	Text string

	// RetryAfter, if not zero, tells the client how long to wait.
	RetryAfter time.Duration

	// Upstream is the name of the adapter that failed, and UpstreamID the id
	// that its server gave the exchange. Handlers send the id to the client in
	// the header Upstream-Request-Id; both are in the log and in the [Report].
	// They are empty where unknown.
	Upstream, UpstreamID string

	// Err is the cause. It goes to the host's log and to nobody else.
	Err error
}

// Error returns all that is known, in one line of at most 2 KiB: the code, the
// text and the cause. It is for the host: clients are told the Text alone. What
// looks like a key, and the queries of URLs, are taken out.
func (e *Error) Error() string {
	s, cause := "upstream: "+string(e.Code), ""
	if e.Err != nil {
		cause = ": " + e.Err.Error()
	}
	if e.Text != "" && !strings.Contains(cause, e.Text) {
		s += ": " + e.Text
	}
	return scrub.Line(s + cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrClosed is what the methods of a Writer return after Generate returned.
var ErrClosed = errors.New("upstream: the answer is over")
