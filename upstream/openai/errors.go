package openai

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// decodeError reads an answer with a status other than 2xx in the format own:
// header and body as they came, the body perhaps cut, empty, or not JSON.
//
// The Code follows the status, then the vendor's code and type. What is between
// the host and its vendor, such as a key that is refused, is
// [upstream.CodeBadGateway]; credit that is used up is [upstream.CodeQuota],
// which clients do not try again. The server's words become the Text where the
// request is at fault, or for limits of rates: as one line without secrets. Err,
// for logs, is a *vendorError.
func decodeError(own content.Format, status int, header http.Header, body []byte) *upstream.Error {
	f := vendorError{own: own, status: status, size: len(body), id: header.Get("x-request-id")}
	codec.ErrorBody(body, f.take)
	f.after = f.wait(header)
	e := &upstream.Error{Code: f.better(codec.StatusCode(status)), Err: &f}
	if f.refused() {
		return e
	}
	rates := []string{"X-Ratelimit-", "Ratelimit"}
	if f.object == nil {
		rates = nil // a handler would take them for its own
	} else if status >= 400 && status <= 599 {
		e.Details, e.Status = f.object, status
	}
	e.Header = codec.ErrorHeader(header, rates...)
	if f.told(e.Code) {
		e.Text = f.text()
	}
	final := strings.EqualFold(header.Get("x-should-retry"), "false")
	switch e.Code {
	case upstream.CodeRateLimit:
		if final {
			e.Code = upstream.CodeQuota
			break
		}
		e.RetryAfter = f.after
	case upstream.CodeUnavailable, upstream.CodeOverloaded:
		if final {
			e.Code = upstream.CodeBadGateway
			break
		}
		e.RetryAfter = f.after
	}
	return e
}

// failure returns the error that v tells in place of an answer, or within a
// stream: an error object, or something that holds one.
func failure(v jsonwire.Value) *upstream.Error {
	f := vendorError{own: ChatFormat, original: v.Raw(), read: failure}
	f.take(v)
	f.after = f.wait(nil)
	status := f.number
	if status < 400 || status > 599 {
		status = http.StatusInternalServerError
		if f.kind == "invalid_request_error" {
			status = http.StatusBadRequest
		}
	}
	e := &upstream.Error{Code: f.better(codec.StatusCode(status)), Err: &f}
	if f.refused() {
		return e
	}
	e.Details = f.object
	if f.told(e.Code) {
		e.Text = f.text()
	}
	if e.Code == upstream.CodeRateLimit {
		e.RetryAfter = f.after
	}
	return e
}

// A vendorError is an error in the server's words, for the host's log and for
// those who try again in other words.
type vendorError struct {
	own     content.Format
	status  int // 0 within an answer
	found   bool
	kind    string
	code    string
	number  int // a code that is a number: an HTTP status
	param   string
	message string // cleaned
	flagged bool   // a filter tells its reasons
	why     string // what a filter says besides, as JSON
	after   time.Duration
	id      string // of the request
	size    int    // of a body that tells nothing

	object *content.Extra // the error object

	// Of an error that is not the body of a failure: its JSON, and what reads it.
	original string
	read     func(jsonwire.Value) *upstream.Error
}

// Original lets adapters remove their keys before the error is read.
func (f *vendorError) Original() (text string, read func(jsonwire.Value) *upstream.Error) {
	return f.original, f.read
}

// Error returns all of it on one line.
func (f *vendorError) Error() string {
	var b strings.Builder
	b.WriteString("the upstream failed")
	if f.status != 0 {
		fmt.Fprintf(&b, " with status %d", f.status)
	}
	if !f.found {
		fmt.Fprintf(&b, " and no error envelope in %d bytes", f.size)
	}
	for _, s := range []string{f.kind, f.code, f.param} {
		if s != "" {
			fmt.Fprintf(&b, " (%s)", codec.Clip(redact.Line(s)))
		}
	}
	if f.message != "" {
		b.WriteString(": " + f.message)
	}
	if id := redact.Line(f.id); id != "" {
		fmt.Fprintf(&b, " [request %s]", codec.Clip(id))
	}
	return b.String()
}

// take reads the envelopes of all servers that are known.
func (f *vendorError) take(v jsonwire.Value) {
	if v.Kind() == jsonwire.Array {
		for _, x := range v.Elems() {
			f.take(x)
			return
		}
	}
	if v.Kind() != jsonwire.Object {
		return
	}
	x := v.Get("error")
	f.object = codec.Details(f.own, v)
	for _, first := range v.Get("errors").Elems() {
		if !x.Exists() {
			x = first
		}
	}
	switch x.Kind() {
	case jsonwire.Object:
		v = x
		f.object = codec.Details(f.own, v)
	case jsonwire.String:
		f.found, f.message = true, redact.Line(x.Str())
		return
	}
	switch x := v.Get("detail"); x.Kind() {
	case jsonwire.String:
		f.found, f.message = true, redact.Line(x.Str())
		return
	case jsonwire.Array:
		f.details(x)
		return
	}
	f.kind, f.param = v.Get("type").Str(), v.Get("param").Str()
	f.message = redact.Line(v.Get("message").Str())
	f.code = v.Get("code").Str()
	f.number = int(count(v.Get("code")))
	if n, err := strconv.Atoi(f.code); err == nil {
		f.number, f.code = n, ""
	}
	f.reasons(v)
	if raw := v.Get("metadata").Get("raw").Str(); raw != "" {
		f.message = strings.TrimSpace(f.message + ": " + redact.Line(raw))
	}
	f.found = f.message != "" || f.kind != "" || f.code != ""
}

// mostReasons bounds what is kept of a filter's reasons.
const mostReasons = 8 << 10

// reasons reads those of a filter.
func (f *vendorError) reasons(v jsonwire.Value) {
	inner := v.Get("innererror")
	f.flagged = v.Get("metadata").Get("reasons").Len() > 0 || inner.Get("code").Is("ResponsibleAIPolicyViolation")
	for _, x := range [...]jsonwire.Value{inner, v.Get("misalignment"), v.Get("metadata")} {
		if x.Kind() == jsonwire.Object && len(x.Raw()) <= mostReasons {
			f.why = x.Raw()
			return
		}
	}
}

// details reads a list of what is wrong, as some servers validate.
func (f *vendorError) details(list jsonwire.Value) {
	for _, x := range list.Elems() {
		var at []string
		for _, step := range x.Get("loc").Elems() {
			if s := step.Str(); s != "" && s != "body" {
				at = append(at, s)
			}
		}
		f.found, f.param = true, strings.Join(at, ".")
		f.message = redact.Line(strings.TrimSpace(f.param + ": " + x.Get("msg").Str()))
		return
	}
}

// refused reports whether the server refuses the host's key.
func (f *vendorError) refused() bool {
	status := f.status
	if status == 0 {
		status = f.number
	}
	return codec.KeyRefused(status, []string{f.code, f.kind}, f.param, f.message)
}

// better returns a better code than that of the status, if there is one.
func (f *vendorError) better(c upstream.Code) upstream.Code {
	if f.refused() {
		return upstream.CodeBadGateway
	}
	switch f.code {
	case "credit_balance_exhausted", "organization_spend_limit_exceeded", "project_spend_limit_exceeded",
		"organization_usage_limit_exceeded", "insufficient_quota", "billing_hard_limit_reached":
		return upstream.CodeQuota
	case "context_length_exceeded", "content_filter", "content_policy_violation", "invalid_prompt",
		"bio_policy", "misalignment_policy_violation":
		return upstream.CodeInvalid
	case "model_not_found":
		return upstream.CodeNotFound
	case "rate_limit_exceeded":
		return rate(c)
	case "slow_down":
		if f.status == http.StatusTooManyRequests {
			return rate(c)
		}
		return upstream.CodeOverloaded
	case "server_is_overloaded":
		return upstream.CodeOverloaded
	case "tool_use_failed":
		return upstream.CodeUnavailable // the model's fault: another attempt may do
	case "server_error", "vector_store_timeout":
		return upstream.CodeUnavailable
	}
	return f.byKind(c)
}

// byKind goes by the type, then by words of the message.
func (f *vendorError) byKind(c upstream.Code) upstream.Code {
	switch f.kind {
	case "insufficient_quota":
		return upstream.CodeQuota
	case "permission_error":
		return upstream.CodeBadGateway
	case "service_unavailable_error":
		return upstream.CodeOverloaded
	case "tokens", "requests", "rate_limit_error":
		return rate(c)
	}
	switch {
	case c == upstream.CodeRateLimit && f.spent():
		return upstream.CodeQuota
	case c == upstream.CodeBadGateway && f.flagged:
		return upstream.CodeInvalid
	case f.status == http.StatusPaymentRequired || f.number == http.StatusPaymentRequired:
		return upstream.CodeQuota
	case f.status == 425 || f.status == 498:
		return upstream.CodeOverloaded
	case f.tooLong() && (c == upstream.CodeUnavailable || c == upstream.CodeTooLarge || c == upstream.CodeBadGateway):
		return upstream.CodeInvalid
	}
	return c
}

// rate returns the code of a limit of rates. A request that is over such a limit
// by itself is too large, however long one waits.
func rate(c upstream.Code) upstream.Code {
	if c == upstream.CodeTooLarge {
		return c
	}
	return upstream.CodeRateLimit
}

// spent reports whether the message is about a quota that waiting does not
// refill. Others say the word of rates too, but then how long to wait.
func (f *vendorError) spent() bool {
	text := strings.ToLower(f.message)
	return f.after == 0 && strings.Contains(text, "quota") && !strings.Contains(text, "retry in ") &&
		(strings.Contains(text, "billing") || strings.Contains(text, "insufficient") || strings.Contains(text, "credit"))
}

// filtered reports whether a filter has refused the prompt, or has stopped the
// answer. Some servers say that a prompt is invalid, and mean that it is flagged.
func (f *vendorError) filtered() bool {
	switch f.code {
	case "content_filter", "content_policy_violation", "image_content_policy_violation", "bio_policy", "misalignment_policy_violation":
		return true
	case "invalid_prompt":
		text := strings.ToLower(f.message)
		return strings.Contains(text, "flagged") || strings.Contains(text, "polic") || strings.Contains(text, "safety")
	}
	return f.flagged
}

// tooLong reports whether the prompt does not fit into the model's context.
func (f *vendorError) tooLong() bool {
	return f.code == "context_length_exceeded" || f.kind == "too_many_prompt_tokens" || f.kind == "exceed_context_size_error" || codec.IsPromptTooLong(f.message)
}

// told reports whether the server's words may go to the client under a code.
func (f *vendorError) told(c upstream.Code) bool {
	if f.status == http.StatusPaymentRequired || f.status == 0 && f.number == http.StatusPaymentRequired {
		return false // it is about the host's account
	}
	switch c {
	case upstream.CodeInvalid, upstream.CodeNotFound, upstream.CodeTooLarge, upstream.CodeRateLimit, upstream.CodeQuota:
		return f.found
	}
	return false
}

// text returns the server's message. Where only a code reports that a prompt is
// too long, the text does, too: handlers know it by the text.
func (f *vendorError) text() string {
	if f.tooLong() && !codec.IsPromptTooLong(f.message) {
		return strings.TrimSuffix(codec.PromptTooLong+": "+f.message, ": ")
	}
	return f.message
}

// wait returns how long the server asks to wait.
func (f *vendorError) wait(h http.Header) time.Duration {
	if d := codec.RetryAfter(h); d > 0 {
		return d
	}
	if _, rest, ok := strings.Cut(f.message, "try again in "); ok {
		word, _, _ := strings.Cut(rest, " ")
		if d, err := time.ParseDuration(strings.TrimRight(word, ".,")); err == nil && d > 0 {
			return d
		}
	}
	return 0
}
