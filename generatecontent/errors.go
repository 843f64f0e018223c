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

// wording is how this format tells a failure.
type wording struct {
	status int
	name   string // error.status
	text   string // where nobody said anything better
}

const invalidArgument = "INVALID_ARGUMENT"

// tellFailure is the one table from what failed to this format's names and
// statuses. limit is that of bodies.
func tellFailure(f *handler.Failure, limit int64) wording {
	switch f.Detail {
	case handler.DetailMissingKey:
		return wording{403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers (callers without established identity). " +
			"Please use API Key or other form of API consumer identity to call this API."}
	case handler.DetailInvalidKey:
		return wording{400, invalidArgument, textBadKey}
	case handler.DetailConflictingKeys:
		return wording{400, invalidArgument, "The request has API keys that differ: x-goog-api-key, key and Authorization must agree. Please send one."}
	case handler.DetailMediaType:
		return wording{400, invalidArgument, "Content-Type must be application/json."}
	case handler.DetailCharset:
		return wording{400, invalidArgument, "The charset of the request body is not supported. Please send UTF-8."}
	case handler.DetailContentEncoding:
		return wording{400, invalidArgument, "Compressed request bodies are not supported."}
	case handler.DetailBodyTimeout:
		return wording{400, invalidArgument, "The request body took too long to arrive."}
	}
	if f.Code == upstream.CodeTooLarge {
		return wording{400, invalidArgument, "Request payload size exceeds the limit: " + strconv.FormatInt(limit, 10) + " bytes."}
	}
	return tellCode(f.Code)
}

const textBadKey = "API key not valid. Please pass a valid API key."

func tellCode(c upstream.Code) wording {
	switch c {
	case upstream.CodeInvalid:
		return wording{400, invalidArgument, "Request contains an invalid argument."}
	case upstream.CodeUnauthenticated:
		return wording{401, "UNAUTHENTICATED", "Request had invalid authentication credentials."}
	case upstream.CodeBilling:
		return wording{402, "RESOURCE_EXHAUSTED", "Payment is due."}
	case upstream.CodePermission:
		return wording{403, "PERMISSION_DENIED", "The caller does not have permission."}
	case upstream.CodeNotFound:
		return wording{404, "NOT_FOUND", "Requested entity was not found."}
	case upstream.CodeMethod:
		return wording{405, "UNIMPLEMENTED", "This HTTP method is not allowed here."}
	case upstream.CodeConflict:
		return wording{409, "ABORTED", "The operation was aborted: another request is in the way."}
	case upstream.CodeRateLimit:
		return wording{429, "RESOURCE_EXHAUSTED", "Resource has been exhausted: there are too many requests."}
	case upstream.CodeQuota:
		return wording{429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."}
	case upstream.CodeUnavailable:
		return wording{503, "UNAVAILABLE", "The service is currently unavailable."}
	case upstream.CodeTimeout:
		return wording{504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."}
	case upstream.CodeOverloaded:
		return wording{503, "UNAVAILABLE", "The model is overloaded. Please try again later."}
	case upstream.CodeUnsupported:
		return wording{400, "FAILED_PRECONDITION", "This is not available here."}
	case upstream.CodeBadGateway:
		return wording{502, "UNAVAILABLE", "The upstream gave no usable answer."}
	}
	return wording{500, "INTERNAL", "An internal error has occurred. Please retry."}
}

const (
	maxMessage = 16 << 10 // of all faults together
	maxFault   = 2 << 10  // of one
)

// A line is how one fault is told.
type line struct{ field, text, whole string }

// lineOf tells a fault. What reading found has a text that says everything; all
// else is told with the path in front.
func lineOf(e *content.Violation) line {
	l := line{field: handler.OneLine(e.Path, maxFault), text: handler.OneLine(e.Text, maxFault)}
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

// violations tells faults, as many as there is room for, and returns how many more
// there are. star tells that one of them is not of reading.
func violations(f *handler.Failure) (list []line, more int, star bool) {
	size := 0
	for i, e := range f.Violations {
		l := lineOf(e)
		if size += len(l.whole); size > maxMessage {
			return list, f.More + len(f.Violations) - i, star
		}
		star = star || l.whole != l.text
		list = append(list, l)
	}
	return list, f.More, star
}

// An errorDetails is what the Details of a failure say in this format.
type errorDetails struct {
	same   bool   // they are a vendor's error object that still means what the failure means: it is written as it is
	status int    // of the response; 0 means that of the code
	list   string // otherwise: a list of details, in place of those of the failure
	rest   string // and other members, each with a comma in front
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
			codec.ErrorBody(body, func(v jsonwire.Value) { e = failureOf(v) })
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
	return tellFailure(f, limit).status
}

// appendError appends the envelope. The code is a number, and stands first:
// clients read nothing else as an error. limit is that of bodies.
func appendError(dst []byte, f *handler.Failure, limit int64) []byte {
	w, d := tellFailure(f, limit), readDetails(f)
	if d.same {
		return append(jsonwire.AppendCompact(append(dst, `{"error":`...), f.Details.JSON), '}')
	}
	if d.status != 0 {
		w.status = d.status
	}
	list, more, star := violations(f)
	text := f.Text
	switch {
	case len(list) > 0:
		text = joined(list, more, star)
	case text == "":
		text = w.text
	case f.Code == upstream.CodeInvalid && codec.IsPromptTooLong(text):
		text = tooLong(text)
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

// tooLong returns the message of an upstream about a prompt that is too long, in
// the vendor's words and without those of Messages.
func tooLong(text string) string {
	const open, exceeds = "The input token count", " exceeds the maximum number of tokens allowed"
	if strings.Contains(text, exceeds) {
		return text
	}
	said := open + exceeds
	tokens, limit, ok := codec.Overflow(text)
	if ok {
		said = fmt.Sprintf("%s (%d)%s (%d).", open, tokens, exceeds, limit)
	}
	rest := text
	if len(rest) >= len(codec.PromptTooLong) && strings.EqualFold(rest[:len(codec.PromptTooLong)], codec.PromptTooLong) {
		rest = strings.TrimLeft(rest[len(codec.PromptTooLong):], ":. ")
	}
	switch foreign := strings.Contains(strings.ToLower(rest), codec.PromptTooLong) || ok && len(rest) < len(text); {
	case ok && foreign:
		return said
	case rest == "" || foreign:
		return said + "."
	case ok:
		return said + " " + rest
	}
	return said + ": " + rest
}

// joined is the message about faults, one a line.
func joined(list []line, more int, star bool) string {
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

// quotaFailure says that waiting does not refill a quota. Clients tell by the
// quota's id whether to try again; that of a day is the longest that they know.
const quotaFailure = `QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_requests",` +
	`"quotaId":"GenerateRequestsPerDayPerProjectPerModel"}]},`

func appendDetails(dst []byte, f *handler.Failure, list []line, text string) []byte {
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

func appendViolation(dst []byte, l *line) []byte {
	dst = append(dst, '{')
	if l.field != "" {
		dst = append(jsonwire.AppendString(append(dst, `"field":`...), l.field), ',')
	}
	return append(jsonwire.AppendString(append(dst, `"description":`...), l.text), '}')
}

// appendDuration appends a duration as the vendor writes them: "1.5s".
func appendDuration(dst []byte, d time.Duration) []byte {
	return append(strconv.AppendFloat(dst, d.Seconds(), 'f', -1, 64), 's')
}
