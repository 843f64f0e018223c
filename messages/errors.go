package messages

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// wording is how this format tells a code.
type wording struct {
	status int
	kind   string // error.type
	text   string // where nobody said anything better
}

// tell is the one table from codes to this format's names and statuses.
func tell(c upstream.Code) wording {
	switch c {
	case upstream.CodeInvalid:
		return wording{400, "invalid_request_error", "The request is invalid"}
	case upstream.CodeUnauthenticated:
		return wording{401, "authentication_error", "invalid x-api-key"}
	case upstream.CodeBilling:
		return wording{402, "billing_error", "Payment is due"}
	case upstream.CodePermission:
		return wording{403, "permission_error", "Your API key does not have permission to use the specified resource"}
	case upstream.CodeNotFound:
		return wording{404, "not_found_error", "Not found"}
	case upstream.CodeMethod:
		return wording{405, "invalid_request_error", "Method not allowed"}
	case upstream.CodeConflict:
		return wording{409, "conflict_error", "The request conflicts with another one"}
	case upstream.CodeTooLarge:
		return wording{413, "request_too_large", "Request exceeds the maximum size"}
	case upstream.CodeRateLimit:
		return wording{429, "rate_limit_error", "This request would exceed your rate limit"}
	case upstream.CodeQuota:
		return wording{429, "rate_limit_error", "Your quota is used up"}
	case upstream.CodeUnavailable:
		return wording{503, "api_error", "The service is unavailable"}
	case upstream.CodeTimeout:
		return wording{504, "timeout_error", "The request took too long"}
	case upstream.CodeOverloaded:
		return wording{529, "overloaded_error", "Overloaded"}
	case upstream.CodeUnsupported:
		return wording{400, "invalid_request_error", "This is not available here"}
	case upstream.CodeBadGateway:
		return wording{502, "api_error", "The upstream gave no usable answer"}
	}
	return wording{500, "api_error", "Internal server error"}
}

// detail returns the text and the error_code of a failure that the front has
// found; either may be empty.
func detail(d handler.Detail) (text, code string) {
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

const (
	maxMessage = 16 << 10 // of all faults together
	maxFault   = 2 << 10  // of one
)

// tooLong returns the message of an upstream about a prompt that is too long, in
// the words by which clients know that.
func tooLong(text string) string {
	if strings.HasPrefix(strings.ToLower(text), codec.PromptTooLong) {
		return text
	}
	if tokens, limit, ok := codec.Overflow(text); ok {
		return fmt.Sprintf("%s: %d tokens > %d maximum (%s)", codec.PromptTooLong, tokens, limit, text)
	}
	return codec.PromptTooLong + ": " + text
}

// message is what people read: the faults, one a line as the vendor tells
// them, or the best sentence there is.
func message(f *handler.Failure) string {
	if len(f.Violations) == 0 {
		if f.Code == upstream.CodeInvalid && codec.IsPromptTooLong(f.Text) {
			return tooLong(f.Text)
		}
		if f.Text != "" {
			return f.Text
		}
		text, _ := detail(f.Detail)
		if text == "" {
			text = tell(f.Code).text
		}
		return text
	}
	var b []byte
	more := f.More
	for i, e := range f.Violations {
		line := handler.OneLine(e.Error(), maxFault)
		if len(b)+len(line) > maxMessage {
			more += len(f.Violations) - i
			break
		}
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(b, line...)
	}
	if more > 0 {
		b = append(strconv.AppendInt(append(b, "\nand "...), int64(more), 10), " more"...)
	}
	return string(b)
}

// An errorDetails is what the Details of a failure say in this format.
type errorDetails struct {
	own    bool   // they are of this format
	same   bool   // they are a vendor's error object that still means what the failure means: it is written as it is
	status int    // of the response; 0 means that of the code
	rest   string // otherwise: members besides type and message, each with a comma in front
}

// readDetails reads the Details of a failure.
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
	d.own = true
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
			d.status = statusOf(kind)
		}
		d.same = e != nil && e.Details != nil && e.Code == f.Code && e.Text == f.Text
	}
	if d.same || d.rest != "" {
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

// statusOf returns the status that goes with a type, 0 for an unknown one.
func statusOf(kind string) int {
	switch kind {
	case "billing_error":
		return http.StatusPaymentRequired
	case "permission_error":
		return http.StatusForbidden
	}
	if code, _ := typeCode(kind); code != upstream.CodeBadGateway {
		return tell(code).status
	}
	return 0
}

// statusFor returns the status of the response to a request that failed.
func statusFor(f *handler.Failure) int {
	if status := readDetails(f).status; status != 0 {
		return status
	}
	return tell(f.Code).status
}

// appendError appends the envelope. id is the request's.
func appendError(dst []byte, id string, f *handler.Failure) []byte {
	dst = append(dst, `{"type":"error","error":`...)
	if d := readDetails(f); d.same {
		dst = jsonwire.AppendCompact(dst, f.Details.JSON)
	} else {
		dst = append(dst, `{"type":"`...)
		dst = append(dst, tell(f.Code).kind...)
		dst = append(dst, `","message":`...)
		dst = jsonwire.AppendString(dst, message(f))
		if _, code := detail(f.Detail); code != "" && !d.own {
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
