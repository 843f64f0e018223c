package generatecontent

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// errorWording is an error in this format.
type errorWording struct {
	status int
	name   string // error.status
	text   string // the default message
}

const invalidArgument = "INVALID_ARGUMENT"

// wordingOf maps failures to this format's names and statuses. limit is the limit of
// bodies.
func wordingOf(f *handler.Failure, limit int64) errorWording {
	switch f.Detail {
	case handler.DetailMissingKey:
		return errorWording{403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers (callers without established identity). " +
			"Please use API Key or other form of API consumer identity to call this API."}
	case handler.DetailInvalidKey:
		return errorWording{400, invalidArgument, textBadKey}
	case handler.DetailConflictingKeys:
		return errorWording{400, invalidArgument, "x-goog-api-key, key and Authorization hold different API keys. Please send one."}
	case handler.DetailMediaType:
		return errorWording{400, invalidArgument, "Content-Type must be application/json."}
	case handler.DetailCharset:
		return errorWording{400, invalidArgument, "The charset of the request body is not supported. Please send UTF-8."}
	case handler.DetailContentEncoding:
		return errorWording{400, invalidArgument, "Compressed request bodies are not supported."}
	case handler.DetailBodyTimeout:
		return errorWording{400, invalidArgument, "The request body took too long to arrive."}
	}
	if f.Code == upstream.CodeTooLarge {
		return errorWording{400, invalidArgument, "Request payload size exceeds the limit: " + strconv.FormatInt(limit, 10) + " bytes."}
	}
	return codeWording(f.Code)
}

const textBadKey = "API key not valid. Please pass a valid API key."

func codeWording(c upstream.Code) errorWording {
	switch c {
	case upstream.CodeInvalid:
		return errorWording{400, invalidArgument, "Request contains an invalid argument."}
	case upstream.CodeUnauthenticated:
		return errorWording{401, "UNAUTHENTICATED", "Request had invalid authentication credentials."}
	case upstream.CodeBilling:
		return errorWording{402, "RESOURCE_EXHAUSTED", "A payment is required."}
	case upstream.CodePermission:
		return errorWording{403, "PERMISSION_DENIED", "The caller does not have permission."}
	case upstream.CodeNotFound:
		return errorWording{404, "NOT_FOUND", "Requested entity was not found."}
	case upstream.CodeMethod:
		return errorWording{405, "UNIMPLEMENTED", "This HTTP method is not allowed here."}
	case upstream.CodeConflict:
		return errorWording{409, "ABORTED", "The operation was aborted because it conflicts with another request."}
	case upstream.CodeRateLimit:
		return errorWording{429, "RESOURCE_EXHAUSTED", "Resource has been exhausted: there are too many requests."}
	case upstream.CodeQuota:
		return errorWording{429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."}
	case upstream.CodeUnavailable:
		return errorWording{503, "UNAVAILABLE", "The service is currently unavailable."}
	case upstream.CodeTimeout:
		return errorWording{504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."}
	case upstream.CodeOverloaded:
		return errorWording{503, "UNAVAILABLE", "The model is overloaded. Please try again later."}
	case upstream.CodeUnsupported:
		return errorWording{400, "FAILED_PRECONDITION", "This feature is not supported."}
	case upstream.CodeBadGateway:
		return errorWording{502, "UNAVAILABLE", "The upstream returned an invalid response."}
	}
	return errorWording{500, "INTERNAL", "An internal error has occurred. Please retry."}
}

const (
	maxMessage   = 16 << 10 // of all violations together
	maxViolation = 2 << 10  // of one
)

// A violationLine is a violation as this format reports it.
type violationLine struct{ field, text, whole string }

// toViolationLine formats a violation. A violation that parsing found has a complete
// text. The text of any other follows its path.
func toViolationLine(e *content.Violation) violationLine {
	l := violationLine{field: handler.OneLine(e.Path, maxViolation), text: handler.OneLine(e.Text, maxViolation)}
	switch {
	case e.Path == "" && (e.Code == content.CodeSyntax || e.Code == content.CodeLimit), e.Code == content.CodeType, e.Code == content.CodeUnknown:
		l.whole = l.text
	case e.Path == "":
		l.whole = "* GenerateContentRequest: " + l.text
	default:
		l.whole = "* GenerateContentRequest." + l.field + ": " + l.text
	}
	return l
}

// violationLines formats violations up to the size limit, and returns the number of the
// others. star reports whether parsing did not find one of them.
func violationLines(f *handler.Failure) (list []violationLine, more int, star bool) {
	size := 0
	for i, e := range f.Violations {
		l := toViolationLine(e)
		if size += len(l.whole); size > maxMessage {
			return list, f.More + len(f.Violations) - i, star
		}
		star = star || l.whole != l.text
		list = append(list, l)
	}
	return list, f.More, star
}

// errorDetails are the Details of a failure in this format.
type errorDetails struct {
	same   bool   // the vendor's error object still matches the failure and is written unchanged
	status int    // of the response; 0 means that of the code
	list   string // otherwise: a list of details that replaces those of the failure
	rest   string // other members, each after a comma
}

// readDetails parses the Details of a failure.
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
	code := root.Get("code")
	if !code.Exists() || !root.Get("message").Exists() { // not an error object
		d.list = "[" + string(jsonwire.AppendCompact(nil, f.Details.JSON)) + "]"
		return d
	}
	if n, ok := code.Int(); ok && n >= 400 && n <= 599 {
		var e *upstream.Error
		body := []byte(`{"error":` + f.Details.JSON + `}`)
		if d.status = f.Status; d.status != 0 {
			e = DecodeError(d.status, nil, body)
		} else {
			d.status = int(n)
			codec.ErrorBody(body, func(v jsonwire.Value) { e = envelopeError(v) })
		}
		if d.same = e != nil && e.Details != nil && e.Code == f.Code && e.Text == f.Text; d.same {
			return d
		}
	}
	if d.status = 0; codec.StatusCode(f.Status) == f.Code {
		d.status = f.Status
	}
	var rest []byte
	for name, v := range root.Members() {
		switch name {
		case "code", "message", "status":
		case "details":
			if v.Kind() == jsonwire.Array {
				d.list = string(jsonwire.AppendCompact(nil, v.Raw()))
			}
		default:
			rest = jsonwire.AppendString(append(rest, ','), name)
			rest = jsonwire.AppendCompact(append(rest, ':'), v.Raw())
		}
	}
	d.rest = string(rest)
	return d
}

// statusFor returns the status of the response to a request that failed.
func statusFor(f *handler.Failure, limit int64) int {
	if status := readDetails(f).status; status != 0 {
		return status
	}
	return wordingOf(f, limit).status
}

// appendError appends the error object. Its code is a number and comes first, because
// clients read nothing else as an error. limit is the limit of bodies.
func appendError(dst []byte, f *handler.Failure, limit int64) []byte {
	w, d := wordingOf(f, limit), readDetails(f)
	if d.same {
		return append(jsonwire.AppendCompact(append(dst, `{"error":`...), f.Details.JSON), '}')
	}
	if d.status != 0 {
		w.status = d.status
	}
	list, more, star := violationLines(f)
	text := f.Text
	switch {
	case len(list) > 0:
		text = joinLines(list, more, star)
	case text == "":
		text = w.text
	case f.Code == upstream.CodeInvalid && codec.IsPromptTooLong(text):
		text = tooLongMessage(text)
	}
	dst = jsonwire.AppendInt(append(dst, `{"error":{"code":`...), int64(w.status))
	dst = jsonwire.AppendString(append(dst, `,"message":`...), text)
	dst = append(append(append(dst, `,"status":"`...), w.name...), '"')
	if d.list != "" {
		dst = append(append(dst, `,"details":`...), d.list...)
	} else {
		dst = appendDetails(dst, f, list, text)
	}
	return append(append(dst, d.rest...), "}}"...)
}

// tooLongMessage returns the message of an upstream about a prompt that is too long, in
// the vendor's words. It removes those of Messages.
func tooLongMessage(text string) string {
	const open, exceeds = "The input token count", " exceeds the maximum number of tokens allowed"
	if strings.Contains(text, exceeds) {
		return text
	}
	message := open + exceeds
	tokens, limit, ok := codec.Overflow(text)
	if ok {
		message = fmt.Sprintf("%s (%d)%s (%d).", open, tokens, exceeds, limit)
	}
	rest := text
	if len(rest) >= len(codec.PromptTooLong) && strings.EqualFold(rest[:len(codec.PromptTooLong)], codec.PromptTooLong) {
		rest = strings.TrimLeft(rest[len(codec.PromptTooLong):], ":. ")
	}
	switch foreign := strings.Contains(strings.ToLower(rest), codec.PromptTooLong) || ok && len(rest) < len(text); {
	case ok && foreign:
		return message
	case rest == "" || foreign:
		return message + "."
	case ok:
		return message + " " + rest
	}
	return message + ": " + rest
}

// joinLines returns the message about violations, one a line.
func joinLines(list []violationLine, more int, star bool) string {
	var b []byte
	for i := range list {
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(b, list[i].whole...)
	}
	if more > 0 {
		b = append(strconv.AppendInt(append(b, "\nand "...), int64(more), 10), " more"...)
	}
	if star {
		b = append(b, '\n')
	}
	return string(b)
}

const typeHead = `{"@type":"type.googleapis.com/google.rpc.`

// quotaFailure is the detail of a quota that waiting does not refill. Clients decide by
// the quota's id whether to try again. The daily quota is the longest that they know.
const quotaFailure = `QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_requests",` +
	`"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]},`

func appendDetails(dst []byte, f *handler.Failure, list []violationLine, text string) []byte {
	const open = `,"details":[`
	from := len(dst)
	dst = append(dst, open...)
	if len(list) > 0 {
		dst = append(dst, typeHead+`BadRequest","fieldViolations":[`...)
		for i := range list {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendViolation(dst, &list[i])
		}
		dst = append(dst, `]},`...)
	}
	if f.Detail == handler.DetailInvalidKey || f.Detail == handler.DetailConflictingKeys {
		dst = append(dst, typeHead+`ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com",`+
			`"metadata":{"service":"generativelanguage.googleapis.com"}},`...)
		dst = append(dst, typeHead+`LocalizedMessage","locale":"en-US","message":`...)
		dst = append(jsonwire.AppendString(dst, text), "},"...)
	}
	if f.Code == upstream.CodeQuota {
		dst = append(dst, typeHead+quotaFailure...)
	}
	if f.RetryAfter > 0 {
		dst = append(dst, typeHead+`RetryInfo","retryDelay":"`...)
		dst = append(appendDuration(dst, f.RetryAfter), `"},`...)
	}
	if len(dst) == from+len(open) {
		return dst[:from]
	}
	dst[len(dst)-1] = ']'
	return dst
}

func appendViolation(dst []byte, l *violationLine) []byte {
	dst = append(dst, '{')
	if l.field != "" {
		dst = append(jsonwire.AppendString(append(dst, `"field":`...), l.field), ',')
	}
	return append(jsonwire.AppendString(append(dst, `"description":`...), l.text), '}')
}

// appendDuration appends a duration in the vendor's form, such as "1.5s".
func appendDuration(dst []byte, d time.Duration) []byte {
	return append(strconv.AppendFloat(dst, d.Seconds(), 'f', -1, 64), 's')
}
