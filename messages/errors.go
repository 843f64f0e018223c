package messages

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// errorInfo is the representation of an [upstream.Code] in this format.
type errorInfo struct {
	code      upstream.Code
	read      bool // an error of the vendor's server with this type has this code
	status    int
	errorType string // error.type
	text      string // used if the error has no text
}

// errorInfos are the representations of all codes. The last one is also that of other codes. Of
// those with a type, the first that is read is the code of that type: errors of the types
// authentication_error, permission_error and billing_error concern the program's account.
var errorInfos = [...]errorInfo{
	{upstream.CodeInvalid, true, 400, "invalid_request_error", "The request is invalid"},
	{upstream.CodeUnauthenticated, false, 401, "authentication_error", "invalid x-api-key"},
	{upstream.CodeBilling, false, 402, "billing_error", "A payment is required"},
	{upstream.CodePermission, false, 403, "permission_error", "Your API key does not have permission to use the specified resource"},
	{upstream.CodeNotFound, true, 404, "not_found_error", "Not found"},
	{upstream.CodeMethod, false, 405, "invalid_request_error", "Method not allowed"},
	{upstream.CodeConflict, true, 409, "conflict_error", "The request conflicts with another request"},
	{upstream.CodeTooLarge, true, 413, "request_too_large", "Request exceeds the maximum size"},
	{upstream.CodeRateLimit, true, 429, "rate_limit_error", "This request would exceed your rate limit"},
	{upstream.CodeQuota, false, 429, "rate_limit_error", "Your quota is used up"},
	{upstream.CodeUnavailable, true, 503, "api_error", "The service is unavailable"},
	{upstream.CodeTimeout, true, 504, "timeout_error", "The request took too long"},
	{upstream.CodeOverloaded, true, 529, "overloaded_error", "Overloaded"},
	{upstream.CodeUnsupported, false, 400, "invalid_request_error", "This feature is not supported"},
	{upstream.CodeBadGateway, false, 502, "api_error", "The upstream returned an invalid or incomplete response"},
	{upstream.CodeInternal, false, 500, "api_error", "Internal server error"},
}

// errorInfoOf returns the representation of a code.
func errorInfoOf(c upstream.Code) *errorInfo {
	i := 0
	for i < len(errorInfos)-1 && errorInfos[i].code != c {
		i++
	}
	return &errorInfos[i]
}

// detailText returns the text and the error_code of an error that the handler
// found. Either may be empty.
func detailText(d handler.Detail) (text, code string) {
	switch d {
	case handler.DetailMissingKey:
		return "x-api-key header is required", ""
	case handler.DetailInvalidKey:
		return "invalid x-api-key", ""
	case handler.DetailConflictingKeys:
		return "authorization and x-api-key hold different keys; send one", ""
	case handler.DetailMediaType:
		return "content-type: must be application/json", ""
	case handler.DetailCharset:
		return "content-type: the charset of the request body is not supported; send UTF-8", "unsupported_charset"
	case handler.DetailContentEncoding:
		return "content-encoding: compressed request bodies are not supported", "request_body_encoding_unsupported"
	case handler.DetailBodyTimeout:
		return "The request body took too long to arrive", "request_body_timeout"
	}
	return "", ""
}

// promptTooLong returns the text of an upstream about a prompt that is too long,
// with a prefix that clients recognize.
func promptTooLong(text string) string {
	if strings.HasPrefix(strings.ToLower(text), codec.PromptTooLong) {
		return text
	}
	if tokens, limit, ok := codec.Overflow(text); ok {
		return fmt.Sprintf("%s: %d tokens > %d maximum (%s)", codec.PromptTooLong, tokens, limit, text)
	}
	return codec.PromptTooLong + ": " + text
}

// errorMessage returns the text for people: the violations, one per line as the
// vendor writes them, or the most specific text of f.
func errorMessage(f *handler.Failure) string {
	if len(f.Violations) == 0 {
		if f.Code == upstream.CodeInvalid && codec.IsPromptTooLong(f.Text) {
			return promptTooLong(f.Text)
		}
		if f.Text != "" {
			return f.Text
		}
		text, _ := detailText(f.Detail)
		text = cmp.Or(text, errorInfoOf(f.Code).text)
		switch {
		case f.Limit > 0:
			text += " of " + strconv.FormatInt(f.Limit, 10) + " bytes"
		case f.Allow != "":
			text += "; use " + f.Allow
		}
		return text
	}
	return f.Lines((*content.Violation).Error)
}

// errorDetails is the representation of the Details of a failure in this format.
type errorDetails struct {
	sameFormat bool   // the Details are of this format
	verbatim   bool   // the Details are an error object of the vendor that matches the failure; it is written unchanged
	status     int    // of the response; 0 means the status of the code
	rest       string // unless verbatim: members other than type and message, each after a comma
}

// readDetails returns the Details of a failure.
func readDetails(f *handler.Failure) (d errorDetails) {
	doc := f.OpenDetails(Format)
	if doc == nil {
		return d
	}
	defer doc.Close()
	root := doc.Root()
	d.sameFormat = true
	kind := root.Get("type").Str()
	if kind == "" || !root.Get("message").Exists() { // not an error object
		d.rest = `,"details":` + string(jsonwire.AppendCompact(nil, f.Details.JSON))
		return d
	}
	if e := f.DecodeDetails(DecodeError, failureOf); e != nil && e.Code == f.Code && e.Text == f.Text {
		d.verbatim = true
		if d.status = f.Status; d.status == 0 {
			d.status = typeStatus(kind)
		}
		return d
	}
	d.status = f.VendorStatus()
	d.rest = handler.OtherMembers(root, func(name string) bool { return name == "type" || name == "message" })
	return d
}

// typeStatus returns the status for an error type, or 0 if the type is unknown.
func typeStatus(kind string) int {
	switch kind {
	case "billing_error":
		return http.StatusPaymentRequired
	case "permission_error":
		return http.StatusForbidden
	}
	if code := typeCode(kind); code != upstream.CodeBadGateway {
		return errorInfoOf(code).status
	}
	return 0
}

// failureStatus returns the status of the response for f.
func failureStatus(f *handler.Failure) int {
	if status := readDetails(f).status; status != 0 {
		return status
	}
	return errorInfoOf(f.Code).status
}

// appendError appends the error response for the request with this id.
func appendError(dst []byte, id string, f *handler.Failure) []byte {
	dst = append(dst, `{"type":"error","error":`...)
	if d := readDetails(f); d.verbatim {
		dst = jsonwire.AppendCompact(dst, f.Details.JSON)
	} else {
		dst = append(dst, `{"type":"`...)
		dst = append(dst, errorInfoOf(f.Code).errorType...)
		dst = append(dst, `","message":`...)
		dst = jsonwire.AppendString(dst, errorMessage(f))
		if _, code := detailText(f.Detail); code != "" && !d.sameFormat {
			dst = append(dst, `,"details":{"error_code":"`...)
			dst = append(dst, code...)
			dst = append(dst, `"}`...)
		}
		dst = append(append(dst, d.rest...), '}')
	}
	dst = append(dst, `,"request_id":`...)
	dst = jsonwire.AppendString(dst, id)
	return append(dst, '}')
}

// DecodeError decodes a response with a status other than 2xx, from its header and body.
// The body may be truncated, empty, or not JSON.
//
// The Code follows from the status, with these exceptions. It is [upstream.CodeBadGateway]
// for errors that concern the program's account with the vendor, such as a rejected key
// (also with status 400 and 403) or a missing payment. It is also CodeBadGateway for a wrong
// URL and for a proxy: a redirect, or a status of 400 to 499 without an error object or with
// one about the URL, except for rate limits and time-outs. It is [upstream.CodeInvalid] for a
// prompt that is too long, and [upstream.CodeQuota] for a spend limit.
//
// The Text is the message of the error if the Code is CodeInvalid or the status is 400,
// 404, 413, 422 or 429. It is one line of at most 2 KiB without keys, user information and
// URL queries. For CodeBadGateway the Text is empty or, for a rejected key, a sentence
// without the vendor's message.
//
// Details and Status are the error object and the status, for handlers of this format. They
// are not set for a rejected key and a wrong URL. Header contains the headers about rate limits and
// retries. RetryAfter is the delay in these headers, which may be a number or a date; a
// delay in milliseconds takes precedence. UpstreamID is the request id of the header or
// else of the body. Err, for logs, contains the status, the type, the redacted message and
// the request id.
func DecodeError(status int, header http.Header, body []byte) *upstream.Error {
	f := codec.VendorError{Status: status, ID: header.Get("request-id"), Size: len(body), Wait: codec.RetryAfter(header)}
	codec.ErrorBody(body, func(v jsonwire.Value) { readError(&f, v) })
	e, isPublic := f.Neutral(errorCode(&f, codec.StatusCode(status)), &f)
	if isPublic {
		e.Header = codec.ErrorHeader(header, rateHeaders[:]...)
	}
	return e
}

// rateHeaders are prefixes of the names of headers about rate limits.
var rateHeaders = [...]string{"Anthropic-Ratelimit-", "Anthropic-Priority-", "Anthropic-Fast-", "X-Ratelimit-", "Ratelimit"}

// typeCode is the inverse of [errorInfoOf].
func typeCode(kind string) upstream.Code {
	for i := range errorInfos {
		if e := &errorInfos[i]; e.errorType == kind && e.read {
			return e.code
		}
	}
	return upstream.CodeBadGateway
}

// failureOf returns the error that an error object represents, in a stream or as a response.
func failureOf(v jsonwire.Value) *upstream.Error {
	f := codec.VendorError{Document: v.Raw(), Read: failureOf}
	readError(&f, v)
	e, _ := f.Neutral(errorCode(&f, typeCode(f.Kind)), &f)
	return e
}

// readError reads a document with an error object.
func readError(f *codec.VendorError, v jsonwire.Value) {
	x := v.Get("error")
	if x.Kind() != jsonwire.Object {
		return
	}
	f.Found = true
	f.Kind = cmp.Or(x.Get("type").Str(), x.Get("code").Str()) // a gateway before the server may have codes
	f.Message = redact.Line(x.Get("message").Str())
	f.Code = x.Get("details").Get("error_code").Str()
	f.Object = codec.Details(Format, x)
	f.ID = cmp.Or(f.ID, v.Get("request_id").Str())
}

// errorCode returns a more exact code than c, that of the status or type, or c.
func errorCode(f *codec.VendorError, c upstream.Code) upstream.Code {
	switch f.Kind {
	case "authentication_error", "permission_error", "billing_error":
		return upstream.CodeBadGateway
	}
	switch f.Code {
	case "contract_spend_limit_reached", "enforced_spend_limit_reached":
		if c == upstream.CodeRateLimit {
			return upstream.CodeQuota
		}
	}
	return f.LongPrompt(c)
}
