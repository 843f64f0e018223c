package openaiformat

import (
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
	f := VendorError{format: format, VendorError: codec.VendorError{Status: status, Size: len(body), ID: header.Get("x-request-id")}}
	codec.ErrorBody(body, f.decode)
	f.Wait = f.parseRetryAfter(header)
	e, isPublic := f.neutral(f.upstreamCode(codec.StatusCode(status)))
	if !isPublic {
		return e
	}
	forwarded := []string{"X-Ratelimit-", "Ratelimit"}
	if f.Object == nil {
		forwarded = nil // a handler would take them for its own
	}
	e.Header = codec.ErrorHeader(header, forwarded...)
	if strings.EqualFold(header.Get("x-should-retry"), "false") {
		switch e.Code {
		case upstream.CodeRateLimit:
			e.Code, e.RetryAfter = upstream.CodeQuota, 0
		case upstream.CodeUnavailable, upstream.CodeOverloaded:
			e.Code, e.RetryAfter = upstream.CodeBadGateway, 0
		}
	}
	return e
}

// DecodeErrorObject decodes an error in place of a response or within a stream: an
// error object, or an object that contains one. read decodes the same value again: see
// [codec.VendorError].
func DecodeErrorObject(format content.Format, v jsonwire.Value, read func(jsonwire.Value) *upstream.Error) *upstream.Error {
	f := VendorError{format: format, VendorError: codec.VendorError{Document: v.Raw(), Read: read}}
	f.decode(v)
	f.Wait = f.parseRetryAfter(nil)
	status := f.Number
	if status < 400 || status > 599 {
		status = http.StatusInternalServerError
		if f.Kind == "invalid_request_error" {
			status = http.StatusBadRequest
		}
	}
	e, _ := f.neutral(f.upstreamCode(codec.StatusCode(status)))
	return e
}

// neutral is [codec.VendorError.Neutral] with the messages that clients of these formats see.
func (f *VendorError) neutral(c upstream.Code) (e *upstream.Error, isPublic bool) {
	e, isPublic = f.Neutral(c, f)
	if isPublic {
		e.Text = ""
		if f.canShowText(c) {
			e.Text = f.Text()
		}
	}
	return e, isPublic
}

// A VendorError holds the server's error, for logs and for retries.
type VendorError struct {
	codec.VendorError
	format       content.Format
	flagged      bool   // by a filter
	Reasons      string // of a filter, as JSON
	failedOutput bool   // the error has the output of the model that is invalid
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
	f.Object = codec.Details(f.format, v)
	for _, first := range v.Get("errors").Elems() {
		if !x.Exists() {
			x = first
		}
	}
	switch x.Kind() {
	case jsonwire.Object:
		v = x
		f.Object = codec.Details(f.format, v)
	case jsonwire.String:
		f.Found, f.Message = true, redact.Line(x.Str())
		return
	}
	switch x := v.Get("detail"); x.Kind() {
	case jsonwire.String:
		f.Found, f.Message = true, redact.Line(x.Str())
		return
	case jsonwire.Array:
		f.decodeDetails(x)
		return
	}
	f.Kind, f.Param = v.Get("type").Str(), v.Get("param").Str()
	f.Message = redact.Line(v.Get("message").Str())
	f.Code = v.Get("code").Str()
	f.Number = int(Count(v.Get("code")))
	if n, err := strconv.Atoi(f.Code); err == nil {
		f.Number, f.Code = n, ""
	}
	f.decodeReasons(v)
	f.failedOutput = v.Get("failed_generation").Kind() == jsonwire.String
	if raw := v.Get("metadata").Get("raw").Str(); raw != "" {
		f.Message = strings.TrimSpace(f.Message + ": " + redact.Line(raw))
	}
	f.Found = f.Message != "" || f.Kind != "" || f.Code != ""
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
		f.Found, f.Param = true, strings.Join(at, ".")
		f.Message = redact.Line(strings.TrimSpace(f.Param + ": " + x.Get("msg").Str()))
		return
	}
}

// upstreamCode returns the Code for an error. c is the Code of its status.
func (f *VendorError) upstreamCode(c upstream.Code) upstream.Code {
	if f.isModelError() {
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
	case f.Status == http.StatusPaymentRequired || f.Number == http.StatusPaymentRequired:
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
	return f.Wait == 0 && strings.Contains(text, "quota") && !strings.Contains(text, "retry in ") &&
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
	if f.Status == http.StatusPaymentRequired || f.Status == 0 && f.Number == http.StatusPaymentRequired {
		return false // about the host's account
	}
	switch c {
	case upstream.CodeInvalid, upstream.CodeNotFound, upstream.CodeTooLarge, upstream.CodeRateLimit, upstream.CodeQuota:
		return f.Found
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
