package generatecontent

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// DecodeError decodes a server's response with a status other than 2xx. The body may be
// truncated, empty, an array with one element, or not JSON.
//
// The Code follows from the status, with two exceptions. It is
// [upstream.CodeBadGateway] for errors between the host and its vendor, such as a
// rejected key (also with status 400 and 403), missing payment, or an unsupported
// location. It is [upstream.CodeQuota] for a daily quota and a quota of zero.
//
// The Text is the message of the error envelope if the status is 400, 404, 413, 422 or
// 429. It is one line of at most 2 KiB without keys, user information and URL queries.
//
// Details and Status are the error object of the envelope and the status, for handlers
// of this format. Errors about a rejected key have neither. Header has the vendor's
// headers about rate limits and retries. RetryAfter is taken from the details of the
// envelope, its message, or the header, in this order. Err, for logs, has the status and
// the redacted message.
func DecodeError(status int, header http.Header, body []byte) *upstream.Error {
	f := vendorError{httpStatus: status, after: codec.RetryAfter(header), size: len(body)}
	codec.ErrorBody(body, f.read)
	e := f.toUpstream()
	if !f.refused() {
		e.Header = codec.ErrorHeader(header, "X-Ratelimit-", "Ratelimit")
	}
	return e
}

// failure returns the error of an envelope that was sent with status 200.
func (d *decoder) failure(v jsonwire.Value) *upstream.Error { return envelopeError(v) }

// envelopeError returns the error of an envelope.
func envelopeError(v jsonwire.Value) *upstream.Error {
	f := vendorError{original: v.Raw()}
	f.read(v)
	return f.toUpstream()
}

// A vendorError is a vendor's error as it was received, for the host's log.
type vendorError struct {
	httpStatus int // the HTTP status, 0 in a stream
	envelope   bool
	code       int    // code of the envelope, 0 if it is not a number
	status     string // status of the envelope, such as NOT_FOUND
	message    string // redacted
	reason     string // of the first ErrorInfo
	delay      time.Duration
	daily      bool           // the quota is per day, or zero
	after      time.Duration  // of the headers
	size       int            // of a body without an envelope
	details    *content.Extra // the error object
	original   string         // the envelope as JSON, if its HTTP status was 200
}

// Original returns the envelope and a function that decodes it. Adapters use them to
// remove their keys from the envelope.
func (f *vendorError) Original() (text string, read func(jsonwire.Value) *upstream.Error) {
	return f.original, envelopeError
}

// Error returns the status, the code and the message on one line.
func (f *vendorError) Error() string {
	var b strings.Builder
	b.WriteString("the upstream failed")
	if f.httpStatus != 0 {
		fmt.Fprintf(&b, " with status %d", f.httpStatus)
	}
	if !f.envelope {
		fmt.Fprintf(&b, " and no error envelope in %d bytes", f.size)
		return b.String()
	}
	fmt.Fprintf(&b, ": %d %s", f.code, codec.Clip(redact.Line(f.status)))
	if f.reason != "" {
		fmt.Fprintf(&b, " (%s)", codec.Clip(redact.Line(f.reason)))
	}
	if f.message != "" {
		fmt.Fprintf(&b, ": %s", f.message)
	}
	return b.String()
}

// read decodes an envelope, or the first element of an array of envelopes.
func (f *vendorError) read(v jsonwire.Value) {
	if v.Kind() == jsonwire.Array {
		for _, x := range v.Elems() {
			v = x
			break
		}
	}
	x := v.Get("error")
	if x.Kind() != jsonwire.Object {
		return
	}
	f.envelope = true
	f.status = strings.ToUpper(x.Get("status").Str())
	f.details = codec.Details(Format, x)
	text := x.Get("message").Str()
	f.message = redact.Line(text)
	if n, ok := wholeNumber(x.Get("code"), 32); ok {
		f.code = int(n)
	}
	for _, d := range x.Get("details").Elems() {
		f.detail(d)
	}
	if f.delay == 0 {
		f.delay = parseRetryIn(text)
	}
	f.daily = f.daily || isZeroQuota(text)
}

// detail decodes one element of the details.
func (f *vendorError) detail(v jsonwire.Value) {
	kind := v.Get("@type").Str()
	switch kind[strings.LastIndexByte(kind, '.')+1:] {
	case "ErrorInfo":
		if f.reason == "" {
			f.reason = v.Get("reason").Str()
		}
	case "RetryInfo":
		f.delay = parseDelay(v.Get("retryDelay").Str())
	case "QuotaFailure":
		for _, x := range v.Get("violations").Elems() {
			id := strings.ToLower(x.Get("quotaId").Str())
			f.daily = f.daily || strings.Contains(id, "perday") || strings.Contains(id, "daily")
		}
	}
}

// parseRetryIn returns the delay that a message asks for, or 0.
func parseRetryIn(text string) time.Duration {
	_, rest, found := strings.Cut(text, "Please retry in ")
	if !found {
		return 0
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("0123456789.hms", r) })
	if n >= 0 {
		rest = rest[:n]
	}
	return parseDelay(strings.TrimRight(rest, "."))
}

// parseDelay parses a duration. It returns 0 if s is invalid.
func parseDelay(s string) time.Duration {
	if len(s) > 32 {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// isZeroQuota reports whether a message is about a quota of zero.
func isZeroQuota(text string) bool {
	_, rest, found := strings.Cut(text, "limit: 0")
	return found && (rest == "" || rest[0] < '0' || rest[0] > '9') && !strings.HasPrefix(rest, ".")
}

// toUpstream converts the error to the neutral form.
func (f *vendorError) toUpstream() *upstream.Error {
	status := f.httpStatus
	if status < 400 {
		status = f.envelopeStatus()
	}
	e := &upstream.Error{Code: f.upstreamCode(status), Err: f}
	if f.refused() {
		return e
	}
	e.Details = f.details
	if e.Details != nil && f.httpStatus >= 400 && f.httpStatus <= 599 {
		e.Status = f.httpStatus
	}
	switch e.Code {
	case upstream.CodeInvalid, upstream.CodeNotFound, upstream.CodeTooLarge, upstream.CodeQuota, upstream.CodeRateLimit:
		e.Text = f.message // empty without an envelope
	}
	switch e.Code {
	case upstream.CodeRateLimit, upstream.CodeUnavailable, upstream.CodeOverloaded:
		if e.RetryAfter = f.delay; f.delay == 0 {
			e.RetryAfter = f.after
		}
	}
	return e
}

// statusNames lists the names of the gRPC codes in numeric order, with the HTTP status of
// each.
var statusNames = [...]struct {
	name   string
	status int
}{
	{"OK", 0}, {"CANCELLED", 499}, {"UNKNOWN", 500}, {"INVALID_ARGUMENT", 400}, {"DEADLINE_EXCEEDED", 504}, {"NOT_FOUND", 404},
	{"ALREADY_EXISTS", 409}, {"PERMISSION_DENIED", 403}, {"RESOURCE_EXHAUSTED", 429}, {"FAILED_PRECONDITION", 400}, {"ABORTED", 409},
	{"OUT_OF_RANGE", 400}, {"UNIMPLEMENTED", 501}, {"INTERNAL", 500}, {"UNAVAILABLE", 503}, {"DATA_LOSS", 500}, {"UNAUTHENTICATED", 401},
}

// envelopeStatus returns the HTTP status for an envelope that was not sent with an error
// status, or 0.
func (f *vendorError) envelopeStatus() int {
	if f.code >= 400 && f.code <= 599 {
		return f.code
	}
	for i, s := range statusNames {
		if f.status == s.name || f.status == "" && i == f.code {
			return s.status
		}
	}
	return 0
}

// refused reports whether the vendor rejected the host's key.
func (f *vendorError) refused() bool {
	return codec.KeyRefused(f.httpStatus, []string{f.status, f.reason}, "", f.message)
}

// upstreamCode returns the neutral code for an HTTP status.
func (f *vendorError) upstreamCode(status int) upstream.Code {
	switch f.status {
	case "UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION":
		return upstream.CodeBadGateway // about the host's key, location or account
	}
	if f.refused() {
		return upstream.CodeBadGateway
	}
	switch status {
	case 499: // canceled at the vendor, not by this client
		return upstream.CodeUnavailable
	case http.StatusServiceUnavailable:
		return upstream.CodeOverloaded
	case http.StatusNotImplemented:
		return upstream.CodeUnsupported
	case http.StatusTooManyRequests:
		if f.daily {
			return upstream.CodeQuota
		}
	}
	c := codec.StatusCode(status)
	if (c == upstream.CodeUnavailable || c == upstream.CodeTooLarge) && codec.IsPromptTooLong(f.message) {
		return upstream.CodeInvalid
	}
	return c
}
