package upstream

import (
	"errors"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/redact"
)

// A Code classifies an [Error]. Each wire format has an error type and an HTTP status
// for it. Handlers treat an Error with any other Code, or with none, as CodeInternal;
// the log and the Report contain the invalid Code.
type Code string

const (
	CodeInvalid         Code = "invalid"         // the request is invalid
	CodeUnauthenticated Code = "unauthenticated" // the client sent no API key, or an invalid one
	CodeBilling         Code = "billing"         // a payment is required
	CodePermission      Code = "permission"      // the API key does not permit the request
	CodeNotFound        Code = "not_found"       // the model or file does not exist
	CodeMethod          Code = "method"          // the path does not support the HTTP method
	CodeConflict        Code = "conflict"        // the request conflicts with another one
	CodeTooLarge        Code = "too_large"       // the body is too large
	CodeRateLimit       Code = "rate_limit"      // too many requests
	CodeQuota           Code = "quota"           // a quota is exhausted, and waiting does not help
	CodeInternal        Code = "internal"        // an error of the host, or with a Text, invalid output of the model
	CodeUnavailable     Code = "unavailable"     // the upstream cannot be reached or does not work
	CodeTimeout         Code = "timeout"         // a timeout expired
	CodeOverloaded      Code = "overloaded"      // the host or upstream has too much load
	CodeUnsupported     Code = "unsupported"     // not supported here
	CodeBadGateway      Code = "bad_gateway"     // the upstream sent an invalid response, or refused the host's own credentials
	CodeCanceled        Code = "canceled"        // the client left; used in a [Report] only
)

// An Error is a failure of an Upstream. Handlers send it to the client in the error
// format of the wire format.
type Error struct {
	Code Code

	// Text is sent to the client. It must not contain secrets. If it is empty, the
	// format's default text for the Code is sent.
	Text string

	// RetryAfter is how long the client should wait before it tries again. 0 means
	// unspecified.
	RetryAfter time.Duration

	// Upstream is the name of the adapter that failed, and UpstreamID the id that its
	// server gave the exchange. Handlers send the id to the client in the header
	// Upstream-Request-Id, and write both to the log and to the [Report]. They are
	// empty if unknown.
	Upstream, UpstreamID string

	// KeyRefused reports that a server refused the key of the host, not one of the
	// client. The Code is then CodeBadGateway. [Failover] does not hide such an error,
	// because the host has to correct its configuration.
	KeyRefused bool

	// Details, if not nil, is a JSON object with details for programs. Handlers of its
	// format send it; others ignore it. It must not contain a key or a request id.
	//
	// A host may set the details of its own errors: for Messages the value of
	// error.details, such as {"error_code":"thread_not_found"}; for generateContent
	// an element of error.details, an object with "@type"; for Chat Completions and
	// Responses an object whose members replace those of error, such as {"code":"x"}.
	//
	// Adapters set the vendor's whole error object, recognized by its members message
	// and type (Messages), code (generateContent) or both of these (Chat Completions and
	// Responses). Handlers send it instead of
	// their own error object if it has the same meaning as Code and Text. If these were
	// changed, the handler sends type, status and message according to Code and Text,
	// and the other members of Details.
	Details *content.Extra

	// Status is the HTTP status of a vendor's error object in Details. It is used only
	// if it has the same meaning as Code. 0 means the status of Code.
	Status int

	// Header holds headers for the client, from the vendor's response or from the host.
	// Handlers send those about waiting and rate limits that clients of their format
	// know, and those of HandlerOptions.ResponseHeaders. RetryAfter takes precedence over
	// Retry-After.
	Header []HeaderField

	// Err is the cause. It is written to the log and never sent to the client.
	Err error
}

// Error returns the code, the text and the cause in one line of at most 2 KiB, for the
// log of the host. It removes the queries of URLs and texts that may be keys.
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

// Unwrap returns e.Err.
func (e *Error) Unwrap() error { return e.Err }

// ErrClosed is the error of all methods of a [Writer] after Generate has returned.
var ErrClosed = errors.New("upstream: Writer used after Generate returned")
