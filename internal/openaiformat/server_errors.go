package openaiformat

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// A ServerError is an error as both formats send it to clients.
type ServerError struct {
	Status  int
	Message string
	Type    string
	Param   string // the place in the request; empty: null
	Code    string // empty: null

	vendor string // the vendor's error object, which is sent unchanged
	rest   string // unless vendor is set: other members, each after a comma
}

// wording is the representation of an [upstream.Code].
type wording struct {
	upstream upstream.Code
	status   int
	kind     string // error.type
	code     string // error.code; empty: null
	text     string // used if the error has no text
}

const (
	typeInvalid = "invalid_request_error"
	typeServer  = "server_error"
	typeQuota   = "insufficient_quota"
)

// wordings are the representations of all codes. The last one is also that of other codes.
var wordings = [...]wording{
	{upstream.CodeInvalid, 400, typeInvalid, "", "The request is invalid."},
	{upstream.CodeUnauthenticated, 401, typeInvalid, "invalid_api_key", "Incorrect API key provided."},
	{upstream.CodeBilling, 402, typeQuota, "billing_hard_limit_reached", "A payment is required."},
	{upstream.CodePermission, 403, typeInvalid, "insufficient_permissions", "You have insufficient permissions for this operation."},
	{upstream.CodeNotFound, 404, typeInvalid, "model_not_found", "The model does not exist or you do not have access to it."},
	{upstream.CodeMethod, 405, typeInvalid, "method_not_supported", "This HTTP method is not allowed here."},
	{upstream.CodeConflict, 409, typeInvalid, "conflict", "The request conflicts with another request."},
	{upstream.CodeTooLarge, 413, typeInvalid, "request_too_large", "The request exceeds the maximum size."},
	{upstream.CodeRateLimit, 429, "rate_limit_error", "rate_limit_exceeded", "Rate limit reached. Please try again later."},
	{upstream.CodeQuota, 429, typeQuota, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."},
	{upstream.CodeUnavailable, 503, typeServer, "service_unavailable", "The service is unavailable. Please try again later."},
	{upstream.CodeTimeout, 504, typeServer, "timeout", "The request took too long."},
	{upstream.CodeOverloaded, 503, "service_unavailable_error", "server_is_overloaded", "The server is overloaded. Please try again later."},
	{upstream.CodeUnsupported, 400, typeInvalid, "unsupported_parameter", "This feature is not supported."},
	{upstream.CodeBadGateway, 502, typeServer, "bad_gateway", "The upstream returned an invalid or incomplete response."},
	{upstream.CodeInternal, 500, typeServer, "", "The server had an error while processing your request."},
}

// wordingOf returns the representation of a code.
func wordingOf(c upstream.Code) wording {
	i := 0
	for i < len(wordings)-1 && wordings[i].upstream != c {
		i++
	}
	return wordings[i]
}

// setDetail replaces the code and the text by those of an error that the handler found.
func (w *wording) setDetail(f *handler.Failure) {
	switch f.Detail {
	case handler.DetailMissingKey:
		w.code, w.text = "", "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth "+
			"(i.e. Authorization: Bearer YOUR_KEY)."
	case handler.DetailInvalidKey:
		w.code, w.text = "invalid_api_key", "Incorrect API key provided."
	case handler.DetailConflictingKeys:
		w.code, w.text = "", "authorization and api-key hold different keys. Please send one."
	case handler.DetailMediaType:
		w.text = "content-type must be application/json."
	case handler.DetailCharset:
		w.text = "The charset of the request body is not supported. Please send UTF-8."
	case handler.DetailContentEncoding:
		w.text = "Compressed request bodies are not supported."
	case handler.DetailPath:
		w.code = ""
	case handler.DetailBodyTimeout:
		w.text = "The request body took too long to arrive."
	}
	switch {
	case f.Limit > 0:
		w.text = "The request exceeds the maximum size of " + strconv.FormatInt(f.Limit, 10) + " bytes."
	case f.Allow != "":
		w.text += " Please use " + f.Allow + "."
	}
}

// NewServerError returns the error for a failure of a request in the given format, which is one
// of the two.
func NewServerError(format content.Format, f *handler.Failure) ServerError {
	w := wordingOf(f.Code)
	w.setDetail(f)
	e := ServerError{Status: w.status, Type: w.kind, Code: w.code, Message: w.text}
	switch {
	case len(f.Violations) > 0:
		first := f.Violations[0]
		e.Message, e.Param, e.Code = f.Lines(violationLine), handler.OneLine(first.Path, handler.MaxViolationText), violationCode(first)
	case f.Text != "":
		e.Message = f.Text
	}
	if f.Details != nil && foreign.SameVendor(f.Details.Format, format) {
		e.addDetails(f, format)
	}
	if f.Code == upstream.CodeInvalid && len(f.Violations) == 0 && codec.IsPromptTooLong(f.Text) {
		e.Code = "context_length_exceeded"
	}
	return e
}

// violationCode returns the vendor's code of a violation, or "" if it has none.
func violationCode(v *content.Violation) string {
	if v.Vendor != "" {
		return v.Vendor
	}
	switch v.Code {
	case content.CodeMissing:
		return "missing_required_parameter"
	case content.CodeType:
		return "invalid_type"
	case content.CodeValue, content.CodeRange, content.CodeMedia:
		return "invalid_value"
	case content.CodeUnknown:
		return "unknown_parameter"
	case content.CodeUnsupported:
		return "unsupported_parameter"
	}
	return ""
}

// violationLine returns a violation as the vendor writes it. A text that quotes the path
// is complete.
func violationLine(v *content.Violation) string {
	at := "'" + v.Path + "'"
	if v.Path == "" || strings.Contains(v.Text, at) {
		return v.Text
	}
	switch v.Code {
	case content.CodeMissing:
		return "Missing required parameter: " + at + "."
	case content.CodeType:
		return "Invalid type for " + at + ": " + v.Text
	case content.CodeUnknown:
		return "Unknown parameter: " + at + "."
	case content.CodeUnsupported:
		return "Unsupported parameter: " + at + ": " + v.Text
	}
	return "Invalid " + at + ": " + v.Text
}

// addDetails adds the Details of a failure. The error object of a vendor replaces e if it has
// the meaning of the failure. If the host has changed the text or the code, e keeps the
// message, and the type, too, if the code differs; it gets the other members. Details without
// a message are those of the host, whose members replace those of e.
func (e *ServerError) addDetails(f *handler.Failure, format content.Format) {
	doc := f.OpenDetails(f.Details.Format)
	if doc == nil {
		return
	}
	defer doc.Close()
	root := doc.Root()
	isObject := root.Get("message").Exists()
	sameCode, sameText := false, false
	if isObject {
		if again := decodeDetails(f); again != nil {
			sameCode = again.Code == f.Code
			sameText = again.Text == f.Text
		}
	}
	if f.Status != 0 && (sameCode || codec.StatusCode(f.Status) == f.Code) {
		e.Status = f.Status
	} else if n, ok := root.Get("code").Int(); ok && sameCode && n >= 400 && n <= 599 {
		e.Status = int(n)
	}
	if sameCode && sameText {
		e.Message = redact.Line(root.Get("message").Str())
		if isEvent := root.Get("type").Is("error"); !isEvent && (f.Details.Format == format || root.Get("type").Exists()) {
			e.vendor = f.Details.JSON
		}
	}
	var rest []byte
	for name, v := range root.Members() {
		var to *string
		switch name {
		case "message":
			continue
		case "type":
			if to = &e.Type; v.Kind() != jsonwire.String || v.Is("error") {
				continue
			}
		case "sequence_number": // of an event
			continue
		case "param":
			to = &e.Param
		case "code":
			to = &e.Code
		default:
			rest = codec.AppendNext(rest, name, v.Raw())
			continue
		}
		if sameCode || !isObject {
			*to = Scalar(v)
		}
	}
	e.rest = string(rest)
}

// decodeDetails decodes the Details of a failure as the adapter has decoded the vendor's error.
func decodeDetails(f *handler.Failure) *upstream.Error {
	format := f.Details.Format
	response := func(status int, h http.Header, body []byte) *upstream.Error {
		return DecodeError(format, status, h, body)
	}
	return f.DecodeDetails(response, func(v jsonwire.Value) *upstream.Error {
		e := DecodeErrorObject(format, v, nil)
		// Events of Responses have no status: their codes classify them as requests.
		if f.Code == upstream.CodeInvalid && e.Code == upstream.CodeUnavailable && redact.Line(v.Get("error").Get("message").Str()) == f.Text {
			e.Code, e.Text = f.Code, f.Text
		}
		return e
	})
}

// Append appends the document {"error":{…}}.
func (e *ServerError) Append(dst []byte) []byte {
	return append(e.AppendObject(append(dst, `{"error":`...)), '}')
}

// AppendObject appends the error object.
func (e *ServerError) AppendObject(dst []byte) []byte {
	if e.vendor != "" {
		return jsonwire.AppendCompact(dst, e.vendor)
	}
	dst = jsonwire.AppendString(append(dst, `{"message":`...), e.Message)
	dst = jsonwire.AppendString(append(dst, `,"type":`...), e.Type)
	dst = appendNullable(append(dst, `,"param":`...), e.Param)
	dst = appendNullable(append(dst, `,"code":`...), e.Code)
	return append(append(dst, e.rest...), '}')
}

// appendNullable appends a string, or null for an empty one.
func appendNullable(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return jsonwire.AppendString(dst, s)
}
