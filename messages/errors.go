package messages

import (
	"strconv"

	"github.com/polywire/polywire/internal/front"
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
func detail(d front.Detail) (text, code string) {
	switch d {
	case front.DetailNoKey:
		return "x-api-key header is required", ""
	case front.DetailBadKey:
		return "invalid x-api-key", ""
	case front.DetailTwoKeys:
		return "authorization and x-api-key hold different keys; send one", ""
	case front.DetailMediaType:
		return "content-type: must be application/json", ""
	case front.DetailCharset:
		return "content-type: the charset of the request body is not supported; send UTF-8", "unsupported_charset"
	case front.DetailEncoding:
		return "content-encoding: compressed request bodies are not supported", "request_body_encoding_unsupported"
	case front.DetailBodyTime:
		return "The request body took too long to arrive", "request_body_timeout"
	}
	return "", ""
}

const (
	maxMessage = 16 << 10 // of all faults together
	maxFault   = 2 << 10  // of one
)

// message is what people read: the faults, one a line as the vendor tells
// them, or the best sentence there is.
func message(f *front.Failure) string {
	if len(f.Faults) == 0 {
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
	for i, e := range f.Faults {
		line := front.OneLine(e.Error(), maxFault)
		if len(b)+len(line) > maxMessage {
			more += len(f.Faults) - i
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

// appendError appends the envelope. id is the request's.
func appendError(dst []byte, id string, f *front.Failure) []byte {
	dst = append(dst, `{"type":"error","error":{"type":"`...)
	dst = append(dst, tell(f.Code).kind...)
	dst = append(dst, `","message":`...)
	dst = jsonwire.AppendString(dst, message(f))
	if d := f.Details; d != nil && d.Format == Format {
		dst = append(append(dst, `,"details":`...), d.JSON...)
	} else if _, code := detail(f.Detail); code != "" {
		dst = append(dst, `,"details":{"error_code":"`...)
		dst = append(dst, code...)
		dst = append(dst, `"}`...)
	}
	dst = append(dst, `},"request_id":`...)
	dst = jsonwire.AppendString(dst, id)
	return append(dst, '}')
}
