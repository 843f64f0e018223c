package handler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// A Detail refines the code of a failure, for formats that have a text or code for
// it.
type Detail uint8

const (
	NoDetail              Detail = iota
	DetailMissingKey             // the request has no key
	DetailInvalidKey             // the key is invalid
	DetailConflictingKeys        // the request has two different keys
	DetailMediaType              // the Content-Type is not JSON
	DetailCharset                // the charset is not supported
	DetailContentEncoding        // the body has a Content-Encoding
	DetailBodyTimeout            // the body took longer than Timeouts.Body
	DetailPath                   // there is nothing at the path
)

// A Failure is the error response to a request.
type Failure struct {
	Code   upstream.Code
	Detail Detail

	// Text is for the client: one line of bounded length, or empty for the format's
	// default text.
	Text string

	// Violations are the violations of the document with wire paths, More the number
	// of further ones.
	Violations []*content.Violation
	More       int

	// Details is the error object of a vendor or of the host, Status its HTTP
	// status. Header is added to the response: see [upstream.Error].
	Details *content.Extra
	Status  int
	Header  []upstream.HeaderField

	RetryAfter time.Duration
	Allow      string // the allowed methods, with CodeMethod
	Limit      int64  // the maximum size of a body in bytes, if the handler refuses one with CodeTooLarge
	Err        error  // the cause, for the host only

	// Reason describes the error in logs and reports if neither Detail nor Err does.
	// It contains no text of the client.
	Reason string

	Upstream, UpstreamID string // see [upstream.Error]

	byHost bool // the host's context or deadline ended the request
}

// Error returns the code and the cause, for logs.
func (f *Failure) Error() string {
	cause := f.Err
	var e *upstream.Error
	if errors.As(cause, &e) {
		cause = e.Err // the cause, not the text for the client
	}
	text := string(f.Code)
	if r := f.reason(); r != "" {
		text += ": " + r
	}
	switch {
	case cause != nil:
		text += ": " + cause.Error()
	case e != nil && e.Text != "":
		text += ": " + e.Text
	}
	return text
}

// reason returns the handler's own description of the error, or "".
func (f *Failure) reason() string {
	if f.Reason != "" {
		return f.Reason
	}
	switch f.Detail {
	case DetailMissingKey:
		return "the request has no key"
	case DetailInvalidKey:
		return "the key is not valid"
	case DetailConflictingKeys:
		return "the request has two keys that differ"
	case DetailMediaType:
		return "the Content-Type is not application/json"
	case DetailCharset:
		return "the charset of the body is not UTF-8"
	case DetailContentEncoding:
		return "the body has a Content-Encoding"
	case DetailBodyTimeout:
		return "the body took longer than Timeouts.Body"
	}
	return ""
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// OpenDetails parses the Details if they are an object of a format. The caller must close the
// document. OpenDetails returns nil for others.
func (f *Failure) OpenDetails(format content.Format) *jsonwire.Doc {
	if f.Details == nil || f.Details.Format != format {
		return nil
	}
	doc, err := jsonwire.Parse(f.Details.JSON, jsonwire.Limits{AllowInvalidUTF8: true})
	if err != nil {
		return nil
	}
	if doc.Root().Kind() != jsonwire.Object {
		doc.Close()
		return nil
	}
	return doc
}

// DecodeDetails decodes the Details as the adapter has decoded the vendor's error: with response if
// they have a Status, or else with object. It returns nil if they are not an error object.
func (f *Failure) DecodeDetails(response func(int, http.Header, []byte) *upstream.Error, object func(jsonwire.Value) *upstream.Error) (e *upstream.Error) {
	body := []byte(`{"error":` + f.Details.JSON + `}`)
	if f.Status != 0 {
		e = response(f.Status, codec.HeaderOf(f.Header), body)
	} else {
		codec.ErrorBody(body, func(v jsonwire.Value) { e = object(v) })
	}
	if e == nil || e.Details == nil {
		return nil
	}
	return e
}

// VendorStatus returns the Status if it means the Code, or else 0.
func (f *Failure) VendorStatus() int {
	if codec.StatusCode(f.Status) != f.Code {
		return 0
	}
	return f.Status
}

// OtherMembers returns the members of an object for whose names isKnown returns false, each after a
// comma.
func OtherMembers(object jsonwire.Value, isKnown func(name string) bool) string {
	var b []byte
	for name, v := range object.Members() {
		if !isKnown(name) {
			b = codec.AppendNext(b, name, v.Raw())
		}
	}
	return string(b)
}

// Bounds of the violations in the text of an error, in bytes.
const (
	MaxViolations    = 16 << 10 // of all together
	MaxViolationText = 2 << 10  // of one
)

// Lines returns the violations as line writes each of them, one per line, and the number of
// those that exceed [MaxViolations] or are not known.
func (f *Failure) Lines(line func(*content.Violation) string) string {
	var b []byte
	more := f.More
	for i, e := range f.Violations {
		text := OneLine(line(e), MaxViolationText)
		if len(b)+len(text) > MaxViolations {
			more += len(f.Violations) - i
			break
		}
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(b, text...)
	}
	if more > 0 {
		b = append(strconv.AppendInt(append(b, "\nand "...), int64(more), 10), " more"...)
	}
	return string(b)
}

// maxText bounds the text of an upstream's error, in bytes.
const maxText = 2 << 10

// FailureFor is [FailureOf] with the paths of violations in the style of p. r is the request
// that failed, or nil if it is unknown.
func FailureFor(p Protocol, r *upstream.Request, err error) *Failure {
	return FailureOf(mapPaths(err, func(neutral string) string { return wirePath(p, r, neutral) }))
}

// mapPaths converts the paths of violations in err with path. A [*Failure] has the paths of
// the format already.
func mapPaths(err error, path func(string) string) error {
	switch e := clientError(err).(type) {
	case nil, *Failure, *upstream.Error:
		return err
	default:
		return content.MapPaths(e, path)
	}
}

// FailureOf returns the error response for err, which must not be nil. The outermost
// [*Failure], [*upstream.Error] or violations in err determine it. Other errors are
// internal errors, whose text is not sent.
func FailureOf(err error) *Failure {
	switch e := clientError(err).(type) {
	case *Failure:
		return e
	case *upstream.Error:
		f := &Failure{Code: e.Code, Text: OneLine(e.Text, maxText), RetryAfter: e.RetryAfter, Err: err, Header: e.Header,
			Upstream: e.Upstream, UpstreamID: e.UpstreamID}
		if e.Details != nil {
			f.Details, f.Status = e.Details, e.Status
		}
		if !isCode(e.Code) {
			f.Code, f.Reason = upstream.CodeInternal, fmt.Sprintf("an upstream.Error with the unknown Code %.64q", e.Code)
		}
		return f
	case nil:
	default:
		list, more := content.Violations(e)
		return &Failure{Code: upstream.CodeInvalid, Violations: list, More: more, Err: err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Failure{Code: upstream.CodeTimeout, Err: err, byHost: true}
	}
	return &Failure{Code: upstream.CodeInternal, Err: err}
}

// isCode reports whether c is a code of an [upstream.Error].
func isCode(c upstream.Code) bool {
	switch c {
	case upstream.CodeInvalid, upstream.CodeUnauthenticated, upstream.CodeBilling, upstream.CodePermission,
		upstream.CodeNotFound, upstream.CodeMethod, upstream.CodeConflict, upstream.CodeTooLarge,
		upstream.CodeRateLimit, upstream.CodeQuota, upstream.CodeInternal, upstream.CodeUnavailable,
		upstream.CodeTimeout, upstream.CodeOverloaded, upstream.CodeUnsupported, upstream.CodeBadGateway:
		return true
	}
	return false
}

// clientError returns the outermost error in err that has a response of its own, or
// nil. It returns a list of violations as a whole.
func clientError(err error) error {
	return violation.Outermost(err, func(err error) bool {
		switch err.(type) {
		case *Failure, *upstream.Error:
			return true
		}
		return false
	})
}

// logFailure logs the code and the cause of a failure. The text for the client may quote its
// request, so only that of a limit is logged, if it is all that is known. Of violations it logs the number, and the
// code and path of the first.
func (x *exchange) logFailure(ctx context.Context, f *Failure, more ...slog.Attr) {
	level, message := logLevel(ctx, f)
	attrs := []slog.Attr{slog.String("code", string(f.Code))}
	if len(f.Violations) > 0 {
		first := f.Violations[0]
		attrs = append(attrs, slog.Int("violations", len(f.Violations)+f.More), slog.String("violation", string(first.Code)))
		if first.Path != "" {
			attrs = append(attrs, slog.String("at", OneLine(first.Path, maxPath)))
		}
	} else if cause := causeText(f); cause != "" {
		attrs = append(attrs, slog.String("cause", cause))
	}
	var p *panicError
	if errors.As(f.Err, &p) {
		attrs = append(attrs, slog.String("stack", string(p.stack)))
	}
	x.logLine(ctx, level, message, append(attrs, more...)...)
}

// maxPath bounds the path of a violation, in bytes. Paths may contain the client's
// names.
const maxPath = 256

// logLevel returns the level and the message for a failure. Errors that clients
// cause are for debugging only, so that clients cannot fill the log.
func logLevel(ctx context.Context, f *Failure) (slog.Level, string) {
	switch f.Code {
	case upstream.CodeTimeout:
		if context.Cause(ctx) == errClientTimeout { // the client chose it
			return slog.LevelDebug, "request failed"
		}
		fallthrough
	case upstream.CodeInternal, upstream.CodeUnavailable, upstream.CodeBadGateway:
		if f.byHost {
			return slog.LevelWarn, "request failed"
		}
		return slog.LevelError, "request failed"
	case upstream.CodeOverloaded, upstream.CodeRateLimit, upstream.CodeQuota, upstream.CodeBilling, upstream.CodeUnsupported:
		return slog.LevelWarn, "request failed"
	}
	return slog.LevelDebug, "request refused"
}

// causeText returns the cause of a failure without texts for the client, except that of a
// limit without another cause: it is about the limit, and names it. If only the
// code is known, that is the cause.
func causeText(f *Failure) string {
	reason, err, code := f.reason(), f.Err, f.Code
	for e := (*upstream.Error)(nil); errors.As(err, &e); {
		err, code = e.Err, e.Code
	}
	switch {
	case err != nil && reason != "":
		return reason + ": " + textOf(err)
	case err != nil:
		return textOf(err)
	case reason != "":
		return reason
	case code != f.Code:
		return string(code)
	case isLimit(f.Code) && f.Text != "":
		return redact.Line(f.Text)
	}
	return ""
}

// isLimit reports whether a code is about a limit, and not about what the client sent.
func isLimit(c upstream.Code) bool {
	switch c {
	case upstream.CodeOverloaded, upstream.CodeRateLimit, upstream.CodeQuota, upstream.CodeBilling:
		return true
	}
	return false
}

// textOf returns the text of an error of the host in bounded length and without
// keys: it may quote what another server sent or received. A panic of the error's
// methods is reported instead.
func textOf(err error) (s string) {
	defer func() {
		if v := recover(); v != nil {
			s = "an error whose Error method panics"
		}
	}()
	return redact.Line(err.Error())
}

// logLine logs one line. A panic of the host's logger is ignored.
func (x *exchange) logLine(ctx context.Context, level slog.Level, message string, attrs ...slog.Attr) {
	l := x.s.options.Logger
	if l == nil {
		l = slog.Default() // at the time of the call: a program may set it after it makes handlers
	}
	defer func() { _ = recover() }()
	attrs = append(attrs,
		slog.String("request", x.id),
		slog.String("format", string(x.s.protocol.Format())),
		slog.String("path", x.report.Path))
	l.LogAttrs(ctx, level, message, attrs...)
}
