package openaiformat

import (
	"cmp"
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

// DecodeError decodes an error response. The body may be truncated, empty, or not JSON.
//
// The Code depends on the status and on the error's code and type. Errors of the
// program's account, such as an invalid key, are [upstream.CodeBadGateway], and so are those
// about a wrong URL and those of a proxy. Used-up
// credit is [upstream.CodeQuota], which clients do not retry. An error about the model's
// output is [upstream.CodeInternal]. For invalid requests, rate limits and these, Text is the server's message on one line without secrets. For an invalid
// key it is a sentence that does not contain the server's message. Err, for logs, is a
// *VendorError.
func DecodeError(format content.Format, status int, header http.Header, body []byte) *upstream.Error {
	f := VendorError{format: format, Status: status, bodySize: len(body), requestID: header.Get("x-request-id")}
	codec.ErrorBody(body, f.decode)
	f.retryAfter = f.parseRetryAfter(header)
	e := &upstream.Error{Code: f.upstreamCode(codec.StatusCode(status)), Err: &f}
	switch {
	case f.isKeyRefused():
		e.Text, e.KeyRefused = codec.KeyRefusedText, true
		return e
	case codec.IsHostError(status, f.found, f.Message):
		e.Code = upstream.CodeBadGateway
		return e
	}
	forwarded := []string{"X-Ratelimit-", "Ratelimit"}
	if f.object == nil {
		forwarded = nil // a handler would take them for its own
	} else if status >= 400 && status <= 599 {
		e.Details, e.Status = f.object, status
	}
	e.Header = codec.ErrorHeader(header, forwarded...)
	if f.canShowText(e.Code) {
		e.Text = f.Text()
	}
	final := strings.EqualFold(header.Get("x-should-retry"), "false")
	switch e.Code {
	case upstream.CodeRateLimit:
		if final {
			e.Code = upstream.CodeQuota
			break
		}
		e.RetryAfter = f.retryAfter
	case upstream.CodeUnavailable, upstream.CodeOverloaded:
		if final {
			e.Code = upstream.CodeBadGateway
			break
		}
		e.RetryAfter = f.retryAfter
	}
	return e
}

// DecodeErrorObject decodes an error in place of a response or within a stream: an
// error object, or an object that contains one. read decodes the same value again, for
// [VendorError.Original].
func DecodeErrorObject(format content.Format, v jsonwire.Value, read func(jsonwire.Value) *upstream.Error) *upstream.Error {
	f := VendorError{format: format, original: v.Raw(), read: read}
	f.decode(v)
	f.retryAfter = f.parseRetryAfter(nil)
	status := f.numericCode
	if status < 400 || status > 599 {
		status = http.StatusInternalServerError
		if f.Kind == "invalid_request_error" {
			status = http.StatusBadRequest
		}
	}
	e := &upstream.Error{Code: f.upstreamCode(codec.StatusCode(status)), Err: &f}
	if f.isKeyRefused() {
		e.Text, e.KeyRefused = codec.KeyRefusedText, true
		return e
	}
	e.Details = f.object
	if f.canShowText(e.Code) {
		e.Text = f.Text()
	}
	if e.Code == upstream.CodeRateLimit {
		e.RetryAfter = f.retryAfter
	}
	return e
}

// A VendorError holds the server's error, for logs and for retries.
type VendorError struct {
	format       content.Format
	Status       int // 0 within a response
	found        bool
	Kind         string
	Code         string
	numericCode  int // a code that is an HTTP status
	Param        string
	Message      string // on one line, without secrets
	flagged      bool   // by a filter
	Reasons      string // of a filter, as JSON
	failedOutput bool   // the error has the output of the model that is invalid
	retryAfter   time.Duration
	requestID    string
	bodySize     int // of a body without an error object

	object *content.Extra

	// The JSON and the decoder of an error within a response.
	original string
	read     func(jsonwire.Value) *upstream.Error
}

// Original returns the JSON and its decoder, for adapters that remove their keys from
// an error.
func (f *VendorError) Original() (text string, read func(jsonwire.Value) *upstream.Error) {
	return f.original, f.read
}

// Error returns all fields on one line.
func (f *VendorError) Error() string {
	var b strings.Builder
	b.WriteString("the upstream failed")
	if f.Status != 0 {
		fmt.Fprintf(&b, " with status %d", f.Status)
	}
	if !f.found {
		fmt.Fprintf(&b, " and no error envelope in %d bytes", f.bodySize)
	}
	for _, s := range []string{f.Kind, f.Code, f.Param} {
		if s != "" {
			fmt.Fprintf(&b, " (%s)", codec.Clip(redact.Line(s)))
		}
	}
	if f.Message != "" {
		b.WriteString(": " + f.Message)
	}
	if id := redact.Line(f.requestID); id != "" {
		fmt.Fprintf(&b, " [request %s]", codec.Clip(id))
	}
	return b.String()
}

// decode decodes the error envelopes of all known servers.
func (f *VendorError) decode(v jsonwire.Value) {
	if v.Kind() == jsonwire.Array {
		for _, x := range v.Elems() {
			f.decode(x)
			return
		}
	}
	if v.Kind() != jsonwire.Object {
		return
	}
	x := v.Get("error")
	f.object = codec.Details(f.format, v)
	for _, first := range v.Get("errors").Elems() {
		if !x.Exists() {
			x = first
		}
	}
	switch x.Kind() {
	case jsonwire.Object:
		v = x
		f.object = codec.Details(f.format, v)
	case jsonwire.String:
		f.found, f.Message = true, redact.Line(x.Str())
		return
	}
	switch x := v.Get("detail"); x.Kind() {
	case jsonwire.String:
		f.found, f.Message = true, redact.Line(x.Str())
		return
	case jsonwire.Array:
		f.decodeDetails(x)
		return
	}
	f.Kind, f.Param = v.Get("type").Str(), v.Get("param").Str()
	f.Message = redact.Line(v.Get("message").Str())
	f.Code = v.Get("code").Str()
	f.numericCode = int(Count(v.Get("code")))
	if n, err := strconv.Atoi(f.Code); err == nil {
		f.numericCode, f.Code = n, ""
	}
	f.decodeReasons(v)
	f.failedOutput = v.Get("failed_generation").Kind() == jsonwire.String
	if raw := v.Get("metadata").Get("raw").Str(); raw != "" {
		f.Message = strings.TrimSpace(f.Message + ": " + redact.Line(raw))
	}
	f.found = f.Message != "" || f.Kind != "" || f.Code != ""
}

// maxReasons bounds the recorded JSON of a filter's reasons, in bytes.
const maxReasons = 8 << 10

// decodeReasons decodes the reasons of a filter.
func (f *VendorError) decodeReasons(v jsonwire.Value) {
	inner := v.Get("innererror")
	f.flagged = v.Get("metadata").Get("reasons").Len() > 0 || inner.Get("code").Is("ResponsibleAIPolicyViolation")
	for _, x := range [...]jsonwire.Value{inner, v.Get("misalignment"), v.Get("metadata")} {
		if x.Kind() == jsonwire.Object && len(x.Raw()) <= maxReasons {
			f.Reasons = x.Raw()
			return
		}
	}
}

// decodeDetails decodes the first element of a list of validation errors, as FastAPI
// sends them.
func (f *VendorError) decodeDetails(list jsonwire.Value) {
	for _, x := range list.Elems() {
		var at []string
		for _, step := range x.Get("loc").Elems() {
			if s := step.Str(); s != "" && s != "body" {
				at = append(at, s)
			}
		}
		f.found, f.Param = true, strings.Join(at, ".")
		f.Message = redact.Line(strings.TrimSpace(f.Param + ": " + x.Get("msg").Str()))
		return
	}
}

// isKeyRefused reports whether the server rejects the API key.
func (f *VendorError) isKeyRefused() bool {
	status := cmp.Or(f.Status, f.numericCode)
	return codec.KeyRefused(status, []string{f.Code, f.Kind}, f.Param, f.Message)
}

// upstreamCode returns the Code for an error. c is the Code of its status.
func (f *VendorError) upstreamCode(c upstream.Code) upstream.Code {
	switch {
	case f.isKeyRefused():
		return upstream.CodeBadGateway
	case f.isModelError():
		return upstream.CodeInternal // a retry may succeed, and the server works
	}
	switch f.Code {
	case "credit_balance_exhausted", "organization_spend_limit_exceeded", "project_spend_limit_exceeded",
		"organization_usage_limit_exceeded", "insufficient_quota", "billing_hard_limit_reached":
		return upstream.CodeQuota
	case "context_length_exceeded", "content_filter", "content_policy_violation", "invalid_prompt",
		"bio_policy", "misalignment_policy_violation":
		return upstream.CodeInvalid
	case "model_not_found", "DeploymentNotFound":
		return upstream.CodeNotFound
	case "rate_limit_exceeded":
		return rateLimitCode(c)
	case "slow_down":
		if f.Status == http.StatusTooManyRequests {
			return rateLimitCode(c)
		}
		return upstream.CodeOverloaded
	case "server_is_overloaded":
		return upstream.CodeOverloaded
	case "server_error", "vector_store_timeout":
		return upstream.CodeUnavailable
	}
	return f.codeByType(c)
}

// isModelError reports whether the model's output is invalid: a tool call that does not match
// its schema, or text that is not the required JSON. Servers report it as an error of the
// request.
func (f *VendorError) isModelError() bool {
	switch f.Code {
	case "tool_use_failed", "json_validate_failed", "output_parse_failed":
		return true
	}
	text := strings.ToLower(f.Message)
	return f.failedOutput || strings.Contains(text, "parameters for tool") && strings.Contains(text, "did not match schema") ||
		strings.Contains(text, "tool call validation failed")
}

// codeByType returns the Code by the error's type, then by its message.
func (f *VendorError) codeByType(c upstream.Code) upstream.Code {
	switch f.Kind {
	case "insufficient_quota":
		return upstream.CodeQuota
	case "permission_error":
		return upstream.CodeBadGateway
	case "service_unavailable_error":
		return upstream.CodeOverloaded
	case "tokens", "requests", "rate_limit_error":
		return rateLimitCode(c)
	}
	switch {
	case c == upstream.CodeRateLimit && f.isQuotaSpent():
		return upstream.CodeQuota
	case c == upstream.CodeBadGateway && f.flagged:
		return upstream.CodeInvalid
	case f.Status == http.StatusPaymentRequired || f.numericCode == http.StatusPaymentRequired:
		return upstream.CodeQuota
	case f.Status == 425 || f.Status == 498:
		return upstream.CodeOverloaded
	case f.IsTooLong() && (c == upstream.CodeUnavailable || c == upstream.CodeTooLarge || c == upstream.CodeBadGateway):
		return upstream.CodeInvalid
	}
	return c
}

// rateLimitCode returns the Code of a rate limit. A single request above the limit
// remains too large: a retry cannot succeed.
func rateLimitCode(c upstream.Code) upstream.Code {
	if c == upstream.CodeTooLarge {
		return c
	}
	return upstream.CodeRateLimit
}

// isQuotaSpent reports whether the message is about a quota that waiting does not
// refill. Some rate limits have a similar text, but with a time to wait.
func (f *VendorError) isQuotaSpent() bool {
	text := strings.ToLower(f.Message)
	return f.retryAfter == 0 && strings.Contains(text, "quota") && !strings.Contains(text, "retry in ") &&
		(strings.Contains(text, "billing") || strings.Contains(text, "insufficient") || strings.Contains(text, "credit"))
}

// IsFiltered reports whether a filter rejected the prompt or stopped the response. Some
// servers report a flagged prompt as invalid_prompt.
func (f *VendorError) IsFiltered() bool {
	switch f.Code {
	case "content_filter", "content_policy_violation", "image_content_policy_violation", "bio_policy", "misalignment_policy_violation":
		return true
	case "invalid_prompt":
		text := strings.ToLower(f.Message)
		return strings.Contains(text, "flagged") || strings.Contains(text, "polic") || strings.Contains(text, "safety")
	}
	return f.flagged
}

// IsTooLong reports whether the prompt exceeds the model's context.
func (f *VendorError) IsTooLong() bool {
	return f.Code == "context_length_exceeded" || f.Kind == "too_many_prompt_tokens" || f.Kind == "exceed_context_size_error" || codec.IsPromptTooLong(f.Message)
}

// canShowText reports whether the client may see the server's message.
func (f *VendorError) canShowText(c upstream.Code) bool {
	if f.Status == http.StatusPaymentRequired || f.Status == 0 && f.numericCode == http.StatusPaymentRequired {
		return false // about the host's account
	}
	switch c {
	case upstream.CodeInvalid, upstream.CodeNotFound, upstream.CodeTooLarge, upstream.CodeRateLimit, upstream.CodeQuota:
		return f.found
	case upstream.CodeInternal:
		return f.isModelError()
	}
	return false
}

// Text returns the server's message. If only the code reports that the prompt is too
// long, Text adds it: handlers detect that by the text.
func (f *VendorError) Text() string {
	if f.IsTooLong() && !codec.IsPromptTooLong(f.Message) {
		return strings.TrimSuffix(codec.PromptTooLong+": "+f.Message, ": ")
	}
	return f.Message
}

// parseRetryAfter returns the delay that the server specifies.
func (f *VendorError) parseRetryAfter(h http.Header) time.Duration {
	if d := codec.RetryAfter(h); d > 0 {
		return d
	}
	if _, rest, ok := strings.Cut(f.Message, "try again in "); ok {
		duration, _, _ := strings.Cut(rest, " ")
		if d, err := time.ParseDuration(strings.TrimRight(duration, ".,")); err == nil && d > 0 {
			return d
		}
	}
	return 0
}
