package upstream

import (
	"errors"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/redact"
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

	// Details, if not nil, is a JSON object of a format that programs read. Handlers
	// of that format send it, others ignore it. It holds no key and no request id.
	//
	// A host gives its own error the details of the format: for Messages the value
	// of error.details, such as {"error_code":"thread_not_found"}; for content
	// generation an element of error.details, an object with "@type".
	//
	// Adapters give the vendor's whole error object, which is known by its members
	// message and type (Messages) or code (content generation). It is sent in place
	// of the handler's own as long as it means what Code and Text mean; where they
	// were changed, type, status and message are theirs, and the other members those
	// of Details.
	Details *content.Extra

	// Status is the HTTP status that goes with a vendor's error object in Details; 0
	// means that of Code. It counts as long as it means the same as Code.
	Status int

	// Header holds headers of the vendor's response, or of the host's, for the
	// client: Retry-After, Retry-After-Ms, X-Should-Retry, those that begin with
	// X-Ratelimit- or Ratelimit, and those that the handler's format has for rates.
	// Others are not sent. X-Ratelimit- of another format's vendor is not sent
	// either. A Retry-After in it gives way to RetryAfter where the two differ.
	Header []Field

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
	return redact.Line(s + cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrClosed is what the methods of a Writer return after Generate returned.
var ErrClosed = errors.New("upstream: the answer is over")
