package messages

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// DecodeError reads the answer of a server with a status other than 2xx: header
// and body as they came, the body perhaps cut, empty, or not JSON.
//
// The Code follows the status, then the error's type. What is between the host and
// its vendor, such as a key that is refused, also under 400 and 403, or payment
// that is due, is [upstream.CodeBadGateway]. The message of an error envelope under
// 400, 404, 413, 422 and 429 becomes the Text: as one line of at most 2 KiB, out of
// which keys, user-info and queries are taken.
//
// Details and Status are the envelope's error object and the status, for handlers
// of this format, whatever the status is; a refused key has none. Header has the
// headers about rates and about trying again, and RetryAfter is that of the
// headers, a number or a date; milliseconds count more. UpstreamID is the vendor's
// request id, of the header or else of the envelope. Err, for logs, has the
// status, the type, the cleaned message and the request id.
func DecodeError(status int, header http.Header, body []byte) *upstream.Error {
	f := vendorError{status: status, id: header.Get("request-id"), size: len(body)}
	codec.ErrorBody(body, f.take)
	e := &upstream.Error{Code: codec.StatusCode(status), UpstreamID: printable(f.id), Err: &f}
	refused := codec.KeyRefused(status, []string{f.kind, f.detail}, "", f.message)
	switch {
	case refused:
		e.Code = upstream.CodeBadGateway
		return e
	case f.envelope:
		e.Code = f.code(e.Code)
		switch status {
		case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge,
			http.StatusUnprocessableEntity, http.StatusTooManyRequests:
			if e.Code != upstream.CodeBadGateway {
				e.Text = f.message
			}
		default:
			if e.Code == upstream.CodeInvalid { // the prompt is too long
				e.Text = f.message
			}
		}
		if status >= 400 && status <= 599 {
			e.Details, e.Status = f.details, status
		}
	}
	e.Header = codec.ErrorHeader(header, rateHeaders[:]...)
	switch e.Code {
	case upstream.CodeRateLimit, upstream.CodeUnavailable, upstream.CodeOverloaded:
		e.RetryAfter = codec.RetryAfter(header)
	}
	return e
}

// rateHeaders are how the names of headers begin that are about rates.
var rateHeaders = [...]string{"Anthropic-Ratelimit-", "Anthropic-Priority-", "Anthropic-Fast-", "X-Ratelimit-", "Ratelimit"}

// typeCode is the way back of [tell]. told says whether the words of this type
// may be passed on.
func typeCode(kind string) (code upstream.Code, told bool) {
	for _, c := range [...]upstream.Code{
		upstream.CodeInvalid, upstream.CodeNotFound, upstream.CodeTooLarge, upstream.CodeRateLimit,
	} {
		if tell(c).kind == kind {
			return c, true
		}
	}
	for _, c := range [...]upstream.Code{
		upstream.CodeConflict, upstream.CodeUnavailable, upstream.CodeTimeout, upstream.CodeOverloaded,
	} {
		if tell(c).kind == kind {
			return c, false
		}
	}
	// authentication_error, permission_error and billing_error, which are
	// about the host, and what nobody knows.
	return upstream.CodeBadGateway, false
}

// failure returns the error that an envelope in place of an answer, or in a
// stream, tells.
func (d *decoder) failure(v jsonwire.Value) *upstream.Error { return failureOf(v) }

func failureOf(v jsonwire.Value) *upstream.Error {
	f := vendorError{original: v.Raw()}
	f.take(v)
	code, told := typeCode(f.kind)
	e := &upstream.Error{Code: code, UpstreamID: printable(f.id), Err: &f}
	if codec.KeyRefused(0, []string{f.kind, f.detail}, "", f.message) {
		e.Code = upstream.CodeBadGateway
		return e
	}
	e.Code, e.Details = f.code(code), f.details
	if told || e.Code == upstream.CodeInvalid {
		e.Text = f.message
	}
	return e
}

// A vendorError is an error in the vendor's words, for the host's log.
type vendorError struct {
	status   int // 0 within a stream
	envelope bool
	kind     string
	message  string         // cleaned
	detail   string         // the error code in the details
	id       string         // of the request
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
	if f.status != 0 {
		fmt.Fprintf(&b, " with status %d", f.status)
	}
	switch {
	case f.envelope:
		fmt.Fprintf(&b, ": %s", codec.Clip(redact.Line(f.kind)))
		if f.detail != "" {
			fmt.Fprintf(&b, " (%s)", codec.Clip(redact.Line(f.detail)))
		}
		if f.message != "" {
			fmt.Fprintf(&b, ": %s", f.message)
		}
	default:
		fmt.Fprintf(&b, " and no error envelope in %d bytes", f.size)
	}
	if id := printable(f.id); id != "" {
		fmt.Fprintf(&b, " [request %s]", id)
	}
	return b.String()
}

// printable returns an id as it may stand in a log.
func printable(id string) string {
	if len(id) > codec.MaxQuoted || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return id
}

// take reads an envelope.
func (f *vendorError) take(v jsonwire.Value) {
	x := v.Get("error")
	if x.Kind() != jsonwire.Object {
		return
	}
	f.envelope = true
	f.kind = x.Get("type").Str()
	f.message = redact.Line(x.Get("message").Str())
	f.detail = x.Get("details").Get("error_code").Str()
	f.details = codec.Details(Format, x)
	if f.id == "" {
		f.id = v.Get("request_id").Str()
	}
}

// code returns a better code than the one of the status or type, if there is
// one.
func (f *vendorError) code(c upstream.Code) upstream.Code {
	switch f.kind {
	case "authentication_error", "permission_error", "billing_error":
		return upstream.CodeBadGateway
	}
	if (c == upstream.CodeUnavailable || c == upstream.CodeTooLarge) && codec.IsPromptTooLong(f.message) {
		return upstream.CodeInvalid
	}
	switch f.detail {
	case "contract_spend_limit_reached", "enforced_spend_limit_reached":
		if c == upstream.CodeRateLimit {
			return upstream.CodeQuota
		}
	}
	return c
}
