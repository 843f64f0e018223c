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
	read      visibility
	status    int
	errorType string // error.type
	text      string // used if the error has no text
}

// A visibility is how an error of the vendor's server is read whose type is that of a code.
type visibility uint8

const (
	notRead    visibility = iota // it has another code
	readHidden                   // clients do not see its message
	readPublic
)

// errorInfos are the representations of all codes. The last one is also that of other codes. Of
// those with a type, the first that is read is the code of that type: errors of the types
// authentication_error, permission_error and billing_error concern the program's account.
var errorInfos = [...]errorInfo{
	{upstream.CodeInvalid, readPublic, 400, "invalid_request_error", "The request is invalid"},
	{upstream.CodeUnauthenticated, notRead, 401, "authentication_error", "invalid x-api-key"},
	{upstream.CodeBilling, notRead, 402, "billing_error", "A payment is required"},
	{upstream.CodePermission, notRead, 403, "permission_error", "Your API key does not have permission to use the specified resource"},
	{upstream.CodeNotFound, readPublic, 404, "not_found_error", "Not found"},
	{upstream.CodeMethod, notRead, 405, "invalid_request_error", "Method not allowed"},
	{upstream.CodeConflict, readHidden, 409, "conflict_error", "The request conflicts with another request"},
	{upstream.CodeTooLarge, readPublic, 413, "request_too_large", "Request exceeds the maximum size"},
	{upstream.CodeRateLimit, readPublic, 429, "rate_limit_error", "This request would exceed your rate limit"},
	{upstream.CodeQuota, notRead, 429, "rate_limit_error", "Your quota is used up"},
	{upstream.CodeUnavailable, readHidden, 503, "api_error", "The service is unavailable"},
	{upstream.CodeTimeout, readHidden, 504, "timeout_error", "The request took too long"},
	{upstream.CodeOverloaded, readHidden, 529, "overloaded_error", "Overloaded"},
	{upstream.CodeUnsupported, notRead, 400, "invalid_request_error", "This feature is not supported"},
	{upstream.CodeBadGateway, notRead, 502, "api_error", "The upstream returned an invalid or incomplete response"},
	{upstream.CodeInternal, notRead, 500, "api_error", "Internal server error"},
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
	if f.Details == nil || f.Details.Format != Format {
		return d
	}
	doc, err := jsonwire.Parse(f.Details.JSON, jsonwire.Limits{AllowInvalidUTF8: true})
	if err != nil {
		return d
	}
	defer doc.Close()
	root := doc.Root()
	if root.Kind() != jsonwire.Object {
		return d
	}
	d.sameFormat = true
	kind := root.Get("type").Str()
	if kind == "" || !root.Get("message").Exists() { // not an error object
		d.rest = `,"details":` + string(jsonwire.AppendCompact(nil, f.Details.JSON))
	} else {
		body := `{"type":"error","error":` + f.Details.JSON + `}`
		var e *upstream.Error
		if d.status = f.Status; f.Status != 0 {
			e = DecodeError(f.Status, nil, []byte(body))
		} else {
			codec.ErrorBody([]byte(body), func(v jsonwire.Value) { e = failureOf(v) })
			d.status = typeStatus(kind)
		}
		d.verbatim = e != nil && e.Details != nil && e.Code == f.Code && e.Text == f.Text
	}
	if d.verbatim || d.rest != "" {
		return d
	}
	if d.status = 0; codec.StatusCode(f.Status) == f.Code {
		d.status = f.Status
	}
	var rest []byte
	for name, v := range root.Members() {
		if name != "type" && name != "message" {
			rest = jsonwire.AppendString(append(rest, ','), name)
			rest = jsonwire.AppendCompact(append(rest, ':'), v.Raw())
		}
	}
	d.rest = string(rest)
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
	if code, _ := typeCode(kind); code != upstream.CodeBadGateway {
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
	f := vendorError{status: status, id: header.Get("request-id"), size: len(body)}
	codec.ErrorBody(body, f.read)
	e := &upstream.Error{Code: codec.StatusCode(status), UpstreamID: printable(f.id), Err: &f}
	refused := codec.KeyRefused(status, []string{f.kind, f.detail}, "", f.message)
	switch {
	case refused:
		e.Code, e.Text, e.KeyRefused = upstream.CodeBadGateway, codec.KeyRefusedText, true
		return e
	case codec.IsHostError(status, f.envelope, f.message):
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

// rateHeaders are prefixes of the names of headers about rate limits.
var rateHeaders = [...]string{"Anthropic-Ratelimit-", "Anthropic-Priority-", "Anthropic-Fast-", "X-Ratelimit-", "Ratelimit"}

// typeCode is the inverse of [errorInfoOf]. isPublic reports whether clients may see messages of the
// type.
func typeCode(kind string) (code upstream.Code, isPublic bool) {
	for i := range errorInfos {
		if e := &errorInfos[i]; e.errorType == kind && e.read != notRead {
			return e.code, e.read == readPublic
		}
	}
	return upstream.CodeBadGateway, false
}

// failureOf returns the error that an error object represents, in a stream or as a response.
func failureOf(v jsonwire.Value) *upstream.Error {
	f := vendorError{original: v.Raw()}
	f.read(v)
	code, public := typeCode(f.kind)
	e := &upstream.Error{Code: code, UpstreamID: printable(f.id), Err: &f}
	if codec.KeyRefused(0, []string{f.kind, f.detail}, "", f.message) {
		e.Code, e.Text, e.KeyRefused = upstream.CodeBadGateway, codec.KeyRefusedText, true
		return e
	}
	e.Code, e.Details = f.code(code), f.details
	if public || e.Code == upstream.CodeInvalid {
		e.Text = f.message
	}
	return e
}

// A vendorError is an error of the vendor, for the program's log.
type vendorError struct {
	status   int // 0 in a stream
	envelope bool
	kind     string
	message  string         // without secrets
	detail   string         // the error code in the details
	id       string         // of the request
	size     int            // of a body without an error object
	details  *content.Extra // the error object
	original string         // the document, unless it is the body of a failed response
}

// Original lets adapters remove their keys from the document before it is decoded.
func (f *vendorError) Original() (text string, read func(jsonwire.Value) *upstream.Error) {
	return f.original, failureOf
}

// Error returns all members on one line.
func (f *vendorError) Error() string {
	var b strings.Builder
	b.WriteString("the upstream failed")
	if f.status != 0 {
		fmt.Fprintf(&b, " with status %d", f.status)
	}
	switch {
	case f.envelope:
		if f.kind != "" {
			fmt.Fprintf(&b, ": %s", codec.Clip(redact.Line(f.kind)))
		}
		if f.detail != "" {
			fmt.Fprintf(&b, " (%s)", codec.Clip(redact.Line(f.detail)))
		}
		if f.message != "" {
			fmt.Fprintf(&b, ": %s", f.message)
		}
	default:
		fmt.Fprintf(&b, " without an error object in a body of %d bytes", f.size)
	}
	if id := printable(f.id); id != "" {
		fmt.Fprintf(&b, " [request %s]", id)
	}
	return b.String()
}

// printable returns an id if logs may contain it, or else an empty string.
func printable(id string) string {
	if len(id) > codec.MaxQuoted || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return id
}

// read reads a document with an error object.
func (f *vendorError) read(v jsonwire.Value) {
	x := v.Get("error")
	if x.Kind() != jsonwire.Object {
		return
	}
	f.envelope = true
	f.kind = cmp.Or(x.Get("type").Str(), x.Get("code").Str()) // a gateway before the server may have codes
	f.message = redact.Line(x.Get("message").Str())
	f.detail = x.Get("details").Get("error_code").Str()
	f.details = codec.Details(Format, x)
	f.id = cmp.Or(f.id, v.Get("request_id").Str())
}

// code returns a more exact code than that of the status or type, or c.
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
