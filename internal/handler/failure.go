package handler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A Detail says more about a failure than its code, where formats have words
// for it.
type Detail uint8

const (
	NoDetail        Detail = iota
	DetailNoKey            // there was no key
	DetailBadKey           // the key is wrong
	DetailTwoKeys          // there were two keys that differ
	DetailMediaType        // the body is not said to be JSON
	DetailCharset          // the body is in a charset that is not understood
	DetailEncoding         // the body is compressed
	DetailBodyTime         // the body took too long
)

// A Failure is what a client is told about a request that failed.
type Failure struct {
	Code   upstream.Code
	Detail Detail

	// Text goes out. It is one line of bounded length, or empty for the
	// format's usual sentence.
	Text string

	// Violations are those of the document, More how many more there were. Paths
	// are in the format's own words.
	Violations []*content.Violation
	More       int

	// Details are the error object of a vendor, or of the host; Status goes with
	// them, and Header with the response: see [upstream.Error].
	Details *content.Extra
	Status  int
	Header  []upstream.Field

	RetryAfter time.Duration
	Allow      string // with CodeMethod: the methods that are allowed
	Err        error  // the cause; for the host only

	// Reason is what is wrong in words that quote no client: for the log and the
	// report, where neither Detail nor Err shows it.
	Reason string

	Upstream, UpstreamID string // see [upstream.Error]

	byHost bool // a context of the host's ended the call, or a deadline within it
}

// Error returns what the failure is about, for logs: the code, and the cause
// where one is known.
func (f *Failure) Error() string {
	cause := f.Err
	var e *upstream.Error
	if errors.As(cause, &e) {
		cause = e.Err // what went wrong, instead of what the client is told
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

// reason returns what is wrong, as far as the handler found it by itself.
func (f *Failure) reason() string {
	if f.Reason != "" {
		return f.Reason
	}
	switch f.Detail {
	case DetailNoKey:
		return "the request has no key"
	case DetailBadKey:
		return "the key is not valid"
	case DetailTwoKeys:
		return "the request has two keys that differ"
	case DetailMediaType:
		return "the Content-Type is not application/json"
	case DetailCharset:
		return "the charset of the body is not UTF-8"
	case DetailEncoding:
		return "the body has a Content-Encoding"
	case DetailBodyTime:
		return "the body took longer than Timeouts.Body"
	}
	return ""
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// maxText bounds the text of an upstream's error.
const maxText = 2 << 10

// Explain finds out what a client is told about err, which is not nil. What is
// outermost in err counts: a [*Failure], an [*upstream.Error] or the faults of
// a document. Everything else is an internal error without its text.
func Explain(err error) *Failure {
	switch e := outermost(err).(type) {
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

// isCode reports whether an upstream can fail with c.
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

// outermost returns the first error in err, from the outside in, that says
// something to clients. A list of faults is returned as a whole.
func outermost(err error) error {
	for err != nil {
		switch e := err.(type) {
		case *Failure, *upstream.Error, *content.Violation:
			return e
		case interface{ Unwrap() []error }:
			return first(err, e.Unwrap())
		case interface{ Unwrap() error }:
			err = e.Unwrap()
		default:
			return nil
		}
	}
	return nil
}

func first(joined error, errs []error) error {
	for _, err := range errs {
		switch e := outermost(err).(type) {
		case nil:
		case *Failure, *upstream.Error:
			return e
		default:
			return joined
		}
	}
	return nil
}

// OneLine makes s fit for one line of at most limit bytes.
func OneLine(s string, limit int) string {
	if len(s) > limit {
		cut := limit - len("…")
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ', r == 0x7f, r == '\u0085', r == '\u2028', r == '\u2029':
			return ' '
		}
		return r
	}, s)
}
