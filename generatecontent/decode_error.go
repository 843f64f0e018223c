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

// DecodeError reads the answer of a server with a status other than 2xx: header
// and body as they came, the body perhaps cut, empty, in a list of one, or not
// JSON.
//
// The Code follows the status. What is between the host and its vendor, such as
// a key that is refused (also under 400 and 403), payment that is due or a place
// that is not served, is [upstream.CodeBadGateway]; a daily quota and one of
// nothing are [upstream.CodeQuota]. The message of an error envelope under 400,
// 404, 413, 422 and 429 becomes the Text: as one line of at most 2 KiB, out of
// which keys, user-info and queries are taken.
//
// Details and Status are the envelope's error object and the status, for handlers
// of this format, whatever the status is; a refused key has none. Header has what
// the vendor says about rates and about trying again. RetryAfter is that of the
// envelope's details, of its message or of the header, in this order. Err, for
// logs, has the status and the cleaned message.
func DecodeError(status int, header http.Header, body []byte) *upstream.Error {
	f := vendorError{http: status, after: codec.RetryAfter(header), size: len(body)}
	codec.ErrorBody(body, f.take)
	e := f.error()
	if !f.refused() {
		e.Header = codec.ErrorHeader(header, "X-Ratelimit-", "Ratelimit")
	}
	return e
}

// failure returns the error that an envelope in place of an answer, or in a
// stream, tells.
func (d *decoder) failure(v jsonwire.Value) *upstream.Error { return failureOf(v) }

func failureOf(v jsonwire.Value) *upstream.Error {
	f := vendorError{original: v.Raw()}
	f.take(v)
	return f.error()
}

// A vendorError is an error in the vendor's words, for the host's log.
type vendorError struct {
	http     int // the status of the answer, 0 within a stream
	envelope bool
	code     int    // in the envelope, 0 if it is no number
	status   string // the name of the code
	message  string // cleaned
	reason   string // of the first ErrorInfo
	delay    time.Duration
	daily    bool           // the quota is one of a day, or of nothing
	after    time.Duration  // by the headers
	size     int            // of a body that is no envelope
	details  *content.Extra // the error object
	original string         // the envelope as JSON, if it was not the body of a failure
}

// Original lets adapters remove their keys before the error is read.
func (f *vendorError) Original() (text string, read func(jsonwire.Value) *upstream.Error) {
	return f.original, failureOf
}

// Error returns all of it on one line.
func (f *vendorError) Error() string {
	var b strings.Builder
	b.WriteString("the upstream failed")
	if f.http != 0 {
		fmt.Fprintf(&b, " with status %d", f.http)
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

// take reads an envelope, or a list that holds one.
func (f *vendorError) take(v jsonwire.Value) {
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
		f.delay = retryIn(text)
	}
	f.daily = f.daily || ofNothing(text)
}

// detail reads one of the details.
func (f *vendorError) detail(v jsonwire.Value) {
	kind := v.Get("@type").Str()
	switch kind[strings.LastIndexByte(kind, '.')+1:] {
	case "ErrorInfo":
		if f.reason == "" {
			f.reason = v.Get("reason").Str()
		}
	case "RetryInfo":
		f.delay = delayOf(v.Get("retryDelay").Str())
	case "QuotaFailure":
		for _, x := range v.Get("violations").Elems() {
			id := strings.ToLower(x.Get("quotaId").Str())
			f.daily = f.daily || strings.Contains(id, "perday") || strings.Contains(id, "daily")
		}
	}
}

// retryIn returns how long to wait by the words of a message.
func retryIn(text string) time.Duration {
	_, rest, found := strings.Cut(text, "Please retry in ")
	if !found {
		return 0
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("0123456789.hms", r) })
	if n >= 0 {
		rest = rest[:n]
	}
	return delayOf(strings.TrimRight(rest, "."))
}

// delayOf reads a duration; all else is 0.
func delayOf(s string) time.Duration {
	if len(s) > 32 {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// ofNothing reports whether a message tells of a quota that is zero.
func ofNothing(text string) bool {
	_, rest, found := strings.Cut(text, "limit: 0")
	return found && (rest == "" || rest[0] < '0' || rest[0] > '9') && !strings.HasPrefix(rest, ".")
}

// error says it in neutral words.
func (f *vendorError) error() *upstream.Error {
	status := f.http
	if status < 400 {
		status = f.meant()
	}
	e := &upstream.Error{Code: f.neutral(status), Err: f}
	if f.refused() {
		return e
	}
	e.Details = f.details
	if e.Details != nil && f.http >= 400 && f.http <= 599 {
		e.Status = f.http
	}
	switch e.Code {
	case upstream.CodeInvalid, upstream.CodeNotFound, upstream.CodeTooLarge, upstream.CodeQuota, upstream.CodeRateLimit:
		e.Text = f.message // empty where there was no envelope
	}
	switch e.Code {
	case upstream.CodeRateLimit, upstream.CodeUnavailable, upstream.CodeOverloaded:
		if e.RetryAfter = f.delay; f.delay == 0 {
			e.RetryAfter = f.after
		}
	}
	return e
}

// statusNames are the names of codes, in the order of their numbers, and the
// HTTP status of each.
var statusNames = [...]struct {
	name   string
	status int
}{
	{"OK", 0}, {"CANCELLED", 499}, {"UNKNOWN", 500}, {"INVALID_ARGUMENT", 400}, {"DEADLINE_EXCEEDED", 504}, {"NOT_FOUND", 404},
	{"ALREADY_EXISTS", 409}, {"PERMISSION_DENIED", 403}, {"RESOURCE_EXHAUSTED", 429}, {"FAILED_PRECONDITION", 400}, {"ABORTED", 409},
	{"OUT_OF_RANGE", 400}, {"UNIMPLEMENTED", 501}, {"INTERNAL", 500}, {"UNAVAILABLE", 503}, {"DATA_LOSS", 500}, {"UNAUTHENTICATED", 401},
}

// meant returns the HTTP status that an envelope means where the answer has
// none that tells.
func (f *vendorError) meant() int {
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

// refused reports whether the vendor refuses the host's key.
func (f *vendorError) refused() bool {
	return codec.KeyRefused(f.http, []string{f.status, f.reason}, "", f.message)
}

// neutral is the table from statuses to codes.
func (f *vendorError) neutral(status int) upstream.Code {
	switch f.status {
	case "UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION":
		return upstream.CodeBadGateway // about the host: its key, its place, its account
	}
	if f.refused() {
		return upstream.CodeBadGateway
	}
	switch status {
	case 499: // the vendor's own client left
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
