package generatecontent

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/redact"
	"github.com/polywire/polywire/upstream"
)

// errorWording is an error in this format.
type errorWording struct {
	status int
	name   string // error.status
	text   string // the default message
}

const invalidArgument = "INVALID_ARGUMENT"

// wordingOf maps failures to this format's names and statuses.
func wordingOf(f *handler.Failure) errorWording {
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
	w := codeWording(f.Code)
	switch {
	case f.Limit > 0:
		w.text = "Request payload size exceeds the limit: " + strconv.FormatInt(f.Limit, 10) + " bytes."
	case f.Allow != "":
		w.text += " Please use " + f.Allow + "."
	}
	return w
}

const textBadKey = "API key not valid. Please pass a valid API key."

// codeWordings are the errors of all codes. The last one is also that of other codes.
var codeWordings = [...]struct {
	code upstream.Code
	errorWording
}{
	{upstream.CodeInvalid, errorWording{400, invalidArgument, "Request contains an invalid argument."}},
	{upstream.CodeUnauthenticated, errorWording{401, "UNAUTHENTICATED", "Request had invalid authentication credentials."}},
	{upstream.CodeBilling, errorWording{402, "RESOURCE_EXHAUSTED", "A payment is required."}},
	{upstream.CodePermission, errorWording{403, "PERMISSION_DENIED", "The caller does not have permission."}},
	{upstream.CodeNotFound, errorWording{404, "NOT_FOUND", "Requested entity was not found."}},
	{upstream.CodeMethod, errorWording{405, "UNIMPLEMENTED", "This HTTP method is not allowed here."}},
	{upstream.CodeConflict, errorWording{409, "ABORTED", "The operation was aborted because it conflicts with another request."}},
	{upstream.CodeTooLarge, errorWording{400, invalidArgument, "Request payload size exceeds the limit."}},
	{upstream.CodeRateLimit, errorWording{429, "RESOURCE_EXHAUSTED", "Resource has been exhausted: there are too many requests."}},
	{upstream.CodeQuota, errorWording{429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan and billing details."}},
	{upstream.CodeUnavailable, errorWording{503, "UNAVAILABLE", "The service is currently unavailable."}},
	{upstream.CodeTimeout, errorWording{504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."}},
	{upstream.CodeOverloaded, errorWording{503, "UNAVAILABLE", "The model is overloaded. Please try again later."}},
	{upstream.CodeUnsupported, errorWording{400, "FAILED_PRECONDITION", "This feature is not supported."}},
	{upstream.CodeBadGateway, errorWording{502, "UNAVAILABLE", "The upstream returned an invalid or incomplete response."}},
	{upstream.CodeInternal, errorWording{500, "INTERNAL", "An internal error has occurred. Please retry."}},
}

func codeWording(c upstream.Code) errorWording {
	i := 0
	for i < len(codeWordings)-1 && codeWordings[i].code != c {
		i++
	}
	return codeWordings[i].errorWording
}

// A violationLine is a violation as this format reports it.
type violationLine struct{ field, text, line string }

// toViolationLine formats a violation. A violation that parsing found has a complete
// text. The text of any other follows its path.
func toViolationLine(e *content.Violation) violationLine {
	l := violationLine{field: handler.OneLine(e.Path, handler.MaxViolationText), text: handler.OneLine(e.Text, handler.MaxViolationText)}
	switch {
	case e.Path == "" && (e.Code == content.CodeSyntax || e.Code == content.CodeLimit), e.Code == content.CodeType, e.Code == content.CodeUnknown:
		l.line = l.text
	case e.Path == "":
		l.line = "* GenerateContentRequest: " + l.text
	default:
		l.line = "* GenerateContentRequest." + l.field + ": " + l.text
	}
	return l
}

// violationLines formats violations up to the size limit, and returns the number of the
// others. star reports whether parsing did not find one of them.
func violationLines(f *handler.Failure) (list []violationLine, more int, star bool) {
	size := 0
	for i, e := range f.Violations {
		l := toViolationLine(e)
		if size += len(l.line); size > handler.MaxViolations {
			return list, f.More + len(f.Violations) - i, star
		}
		star = star || l.line != l.text
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
	doc := f.OpenDetails(Format)
	if doc == nil {
		return d
	}
	defer doc.Close()
	root := doc.Root()
	code := root.Get("code")
	if !code.Exists() || !root.Get("message").Exists() { // not an error object
		d.list = "[" + string(jsonwire.AppendCompact(nil, f.Details.JSON)) + "]"
		return d
	}
	if n, ok := code.Int(); ok && n >= 400 && n <= 599 {
		if e := f.DecodeDetails(DecodeError, envelopeError); e != nil && e.Code == f.Code && e.Text == f.Text {
			d.same, d.status = true, cmp.Or(f.Status, int(n))
			return d
		}
	}
	d.status = f.VendorStatus()
	if list := root.Get("details"); list.Kind() == jsonwire.Array {
		d.list = string(jsonwire.AppendCompact(nil, list.Raw()))
	}
	d.rest = handler.OtherMembers(root, isErrorMember)
	return d
}

// isErrorMember reports whether every error has the member, or can have it.
func isErrorMember(name string) bool {
	return name == "code" || name == "message" || name == "status" || name == "details"
}

// statusFor returns the status of the response to a request that failed.
func statusFor(f *handler.Failure) int {
	if status := readDetails(f).status; status != 0 {
		return status
	}
	return wordingOf(f).status
}

// appendError appends the error object. Its code is a number and comes first, because
// clients read nothing else as an error.
func appendError(dst []byte, f *handler.Failure) []byte {
	w, d := wordingOf(f), readDetails(f)
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
		b = append(b, list[i].line...)
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

// DecodeError decodes a server's response with a status other than 2xx. The body may be
// truncated, empty, an array with one element, or not JSON.
//
// The Code follows from the status, with these exceptions. It is [upstream.CodeBadGateway]
// for errors that concern the program's account with the vendor, such as a rejected key
// (also with status 400 and 403), a missing payment, or an unsupported location. It is also
// CodeBadGateway for a wrong URL and for a proxy: a redirect, or a status of 400 to 499
// without an error object or with one about the URL, except for rate limits and time-outs. It is
// [upstream.CodeQuota] for a daily quota and a quota of zero.
//
// The Text is the message of the error envelope if the status is 400, 404, 413, 422 or
// 429. It is one line of at most 2 KiB without keys, user information and URL queries.
// For a rejected key the Text is a sentence that does not contain the vendor's message.
//
// Details and Status are the error object of the envelope and the status, for handlers
// of this format. Errors about a rejected key and a wrong URL have neither. Header has the vendor's
// headers about rate limits and retries. RetryAfter is taken from the details of the
// envelope, its message, or the header, in this order. Err, for logs, has the status and
// the redacted message.
func DecodeError(status int, header http.Header, body []byte) *upstream.Error {
	f := vendorError{VendorError: codec.VendorError{Status: status, Size: len(body)}}
	codec.ErrorBody(body, f.read)
	if f.Wait == 0 {
		f.Wait = codec.RetryAfter(header)
	}
	e, isPublic := f.Neutral(f.upstreamCode(), &f)
	if isPublic {
		e.Header = codec.ErrorHeader(header, "X-Ratelimit-", "Ratelimit")
	}
	return e
}

// envelopeError returns the error of an envelope that was sent with status 200.
func envelopeError(v jsonwire.Value) *upstream.Error {
	f := vendorError{VendorError: codec.VendorError{Document: v.Raw(), Read: envelopeError}}
	f.read(v)
	e, _ := f.Neutral(f.upstreamCode(), &f)
	return e
}

// A vendorError is a vendor's error as it was received. Its Kind is the status of the envelope, such
// as NOT_FOUND, and its Code the reason of the first ErrorInfo.
type vendorError struct {
	codec.VendorError
	daily bool // the quota is per day, or zero
}

// read decodes an envelope, or the first element of an array of envelopes.
func (f *vendorError) read(v jsonwire.Value) {
	if v.Kind() == jsonwire.Array {
		for _, x := range v.Elems() {
			v = x
			break
		}
	}
	x := v.Get("error")
	if x.Kind() != jsonwire.Object {
		return
	}
	f.Found = true
	f.Kind = strings.ToUpper(x.Get("status").Str())
	f.Object = codec.Details(Format, x)
	text := x.Get("message").Str()
	f.Message = redact.Line(text)
	if n, ok := object.Int(x.Get("code"), object.Int32); ok {
		f.Number = int(n)
	}
	for _, d := range x.Get("details").Elems() {
		f.detail(d)
	}
	if f.Wait == 0 {
		f.Wait = parseRetryIn(text)
	}
	f.daily = f.daily || isZeroQuota(text)
}

// detail decodes one element of the details.
func (f *vendorError) detail(v jsonwire.Value) {
	kind := v.Get("@type").Str()
	switch kind[strings.LastIndexByte(kind, '.')+1:] {
	case "ErrorInfo":
		f.Code = cmp.Or(f.Code, v.Get("reason").Str())
	case "RetryInfo":
		f.Wait = parseDelay(v.Get("retryDelay").Str())
	case "QuotaFailure":
		for _, x := range v.Get("violations").Elems() {
			id := strings.ToLower(x.Get("quotaId").Str())
			f.daily = f.daily || strings.Contains(id, "perday") || strings.Contains(id, "daily")
		}
	}
}

// parseRetryIn returns the delay that a message asks for, or 0.
func parseRetryIn(text string) time.Duration {
	_, rest, found := strings.Cut(text, "Please retry in ")
	if !found {
		return 0
	}
	n := strings.IndexFunc(rest, func(r rune) bool { return !strings.ContainsRune("0123456789.hms", r) })
	if n >= 0 {
		rest = rest[:n]
	}
	return parseDelay(strings.TrimRight(rest, "."))
}

// parseDelay parses a duration. It returns 0 if s is invalid.
func parseDelay(s string) time.Duration {
	if len(s) > 32 {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0
	}
	return d
}

// isZeroQuota reports whether a message is about a quota of zero.
func isZeroQuota(text string) bool {
	_, rest, found := strings.Cut(text, "limit: 0")
	return found && (rest == "" || rest[0] < '0' || rest[0] > '9') && !strings.HasPrefix(rest, ".")
}

// statusNames lists the names of the gRPC codes in numeric order, with the HTTP status of
// each.
var statusNames = [...]struct {
	name   string
	status int
}{
	{"OK", 0}, {"CANCELLED", 499}, {"UNKNOWN", 500}, {"INVALID_ARGUMENT", 400}, {"DEADLINE_EXCEEDED", 504}, {"NOT_FOUND", 404},
	{"ALREADY_EXISTS", 409}, {"PERMISSION_DENIED", 403}, {"RESOURCE_EXHAUSTED", 429}, {"FAILED_PRECONDITION", 400}, {"ABORTED", 409},
	{"OUT_OF_RANGE", 400}, {"UNIMPLEMENTED", 501}, {"INTERNAL", 500}, {"UNAVAILABLE", 503}, {"DATA_LOSS", 500}, {"UNAUTHENTICATED", 401},
}

// envelopeStatus returns the HTTP status for an envelope that was not sent with an error
// status, or 0.
func (f *vendorError) envelopeStatus() int {
	if f.Number >= 400 && f.Number <= 599 {
		return f.Number
	}
	for i, s := range statusNames {
		if f.Kind == s.name || f.Kind == "" && i == f.Number {
			return s.status
		}
	}
	return 0
}

// upstreamCode returns the neutral code.
func (f *vendorError) upstreamCode() upstream.Code {
	switch f.Kind {
	case "UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION":
		return upstream.CodeBadGateway // about the host's key, location or account
	}
	status := f.Status
	if status < 400 {
		status = f.envelopeStatus()
	}
	switch status {
	case 499: // canceled at the vendor, not by this client
		return upstream.CodeUnavailable
	case http.StatusServiceUnavailable:
		return upstream.CodeOverloaded
	case http.StatusNotImplemented:
		if f.Found {
			return upstream.CodeUnsupported
		}
	case http.StatusTooManyRequests:
		if f.daily {
			return upstream.CodeQuota
		}
	}
	return f.LongPrompt(codec.StatusCode(status))
}
