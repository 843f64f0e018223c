package gemini

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

const (
	noKey         = "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."
	noToken       = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential."
	badKey        = "API key not valid. Please pass a valid API key."
	badKeyDetails = `[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}},{"@type":"type.googleapis.com/google.rpc.LocalizedMessage","locale":"en-US","message":"` + badKey + `"}]`
)

// A refusal is an error of the vendor, generatecontent.md §7.1.
type refusal struct {
	rule, message, status string
	code                  int
	details               string // JSON
}

func invalid(rule, message string) *refusal {
	return &refusal{rule: rule, message: message, code: http.StatusBadRequest, status: "INVALID_ARGUMENT"}
}

// statuses is generatecontent.md §7.1.
var statuses = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 402: "RESOURCE_EXHAUSTED", 403: "PERMISSION_DENIED",
	404: "NOT_FOUND", 409: "ABORTED", 429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 500: "INTERNAL",
	501: "UNIMPLEMENTED", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}

// defaultMessages are the vendor's default messages by status,
// generatecontent.md §7.2.
var defaultMessages = map[int]string{
	400: "Request contains an invalid argument.", 403: "The caller does not have permission",
	429: "You exceeded your current quota, please check your plan and billing details.",
	500: "An internal error has occurred. Please retry.", 503: "The model is overloaded. Please try again later.",
	504: "Deadline expired before operation could complete.",
}

// RetryInfo returns the error detail with the delay before a retry, for
// [fake.Status].
func RetryInfo(delay string) string {
	return `[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":` + fake.Quote(delay) + `}]`
}

// Grounding returns the groundingMetadata of a candidate.
func Grounding(metadata string) fake.Member {
	return fake.Member{On: "candidate", Name: "groundingMetadata", JSON: metadata}
}

// QuotaFailure returns the error detail that names a quota, for [fake.Status].
func QuotaFailure(quotaID string) string {
	return `[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":` + fake.Quote(quotaID) + `,"quotaValue":"20"}]}]`
}

func statusRefusal(st fake.Status) *refusal {
	return &refusal{
		code: st.Code, status: cmp.Or(st.Type, statuses[st.Code], "UNKNOWN"),
		message: cmp.Or(st.Message, defaultMessages[st.Code], http.StatusText(st.Code)), details: st.Details,
	}
}

func (s *Server) refuse(w http.ResponseWriter, c *call, req *fake.Request, no *refusal) {
	s.Refuse(req, no.rule, no.message)
	writeError(w, c, no)
}

// writeError sends an error with the content type of a stream if one was
// requested, and within a JSON array if the stream is one, generatecontent.md
// §1.5 and §5.5.
func writeError(w http.ResponseWriter, c *call, no *refusal) {
	body, contentType := envelope(no), jsonType
	if c.method == "streamGenerateContent" {
		if c.sse {
			contentType = "text/event-stream"
		} else {
			body = "[" + body + "]"
		}
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(no.code)
	_, _ = w.Write([]byte(body))
}

func envelope(no *refusal) string {
	return fake.Join("error", fake.Join("code", strconv.Itoa(no.code), "message", fake.Quote(no.message), "status", fake.Quote(no.status), "details", no.details))
}

// parseBody parses the body like the vendor and reports all problems at once,
// generatecontent.md §7.3.
func parseBody(c *call) *refusal {
	doc, err := fake.Parse(c.req.Body)
	if err != nil {
		return invalid("json", "Invalid JSON payload received. Unexpected token.\n"+err.Error()+"\n^")
	}
	shape := request()
	if c.method == "countTokens" {
		shape = countRequest()
	}
	check := fake.Checker{Rename: camel, Loose: true, Beta: func(service string) bool { return service == serviceOf(c) }}
	shape(&check, nil, doc)
	if len(check.Problems) > 0 {
		return parseError(c.version, check.Problems)
	}
	c.root, c.doc = doc, doc
	if inner := get(doc, "generateContentRequest"); c.method == "countTokens" && inner != nil {
		c.doc = inner
	}
	c.contents = list(c.doc, "contents")
	if c.server.opts.Lenient {
		c.contents = joinContents(c.contents)
	}
	c.config = get(c.doc, "generationConfig")
	c.thought = get(c.config, "thinkingConfig")
	return nil
}

// serviceOf returns the service that shapes name behind a "@".
func serviceOf(c *call) string {
	if c.server.opts.Vertex != "" {
		return "vertex"
	}
	return "studio"
}

func parseError(version string, problems []fake.Problem) *refusal {
	var lines, violations []string
	for _, p := range problems {
		field, line := parserLine(version, p)
		lines = append(lines, line)
		violations = append(violations, fake.Join("field", fake.QuoteOr(field, ""), "description", fake.Quote(line)))
	}
	no := invalid("shape", strings.Join(lines, "\n"))
	no.details = `[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[` + strings.Join(violations, ",") + `]}]`
	return no
}

// parserLine returns the vendor's text for one problem, and its field.
func parserLine(version string, p fake.Problem) (field, line string) {
	at := path(p.At)
	value := ""
	if p.Got != nil {
		value = fake.Quote(p.Got.Str)
	}
	switch p.What {
	case fake.Unknown, fake.Repeated:
		parent, name := path(p.At[:len(p.At)-1]), p.At[len(p.At)-1].Key
		why := "Cannot find field."
		if p.What == fake.Repeated {
			name, why = snake(name), "Proto field is not repeating, cannot start list."
		}
		if parent == "" {
			return "", fmt.Sprintf("Invalid JSON payload received. Unknown name %q: %s", name, why)
		}
		return parent, fmt.Sprintf("Invalid JSON payload received. Unknown name %q at '%s': %s", name, parent, why)
	case fake.BadValue:
		return at, badValue(version, at, p.Want, value)
	}
	kinds := map[string]string{"string": "TYPE_STRING", "boolean": "TYPE_BOOL", "integer": "TYPE_INT32", "number": "TYPE_FLOAT"}
	kind := kinds[p.Want]
	if kind == "" {
		kind = "TYPE_MESSAGE"
	}
	if p.Got != nil && p.Got.Kind == fake.Object {
		return at, fmt.Sprintf("Invalid value at '%s' (%s), Starting an object on a scalar field", at, kind)
	}
	return at, fmt.Sprintf("Invalid value at '%s' (%s), %s", at, kind, value)
}

func badValue(version, at, want, value string) string {
	if member, ok := strings.CutPrefix(want, oneofOf); ok {
		return fmt.Sprintf("Invalid value at '%s' (oneof), oneof field 'data' is already set. Cannot set '%s'", at, member)
	}
	for _, mark := range []string{enumOf, messageOf} {
		if proto, ok := strings.CutPrefix(want, mark); ok {
			return fmt.Sprintf("Invalid value at '%s' (type.googleapis.com/google.ai.generativelanguage.%s.%s), %s", at, version, proto, value)
		}
	}
	return fmt.Sprintf("Invalid value at '%s' (TYPE_BYTES), Base64 decoding failed for %s", at, value)
}

// path returns a path in snake_case with indexes in brackets.
func path(at fake.Path) string {
	var b strings.Builder
	for _, p := range at {
		if p.Index >= 0 {
			fmt.Fprintf(&b, "[%d]", p.Index)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(snake(p.Key))
	}
	return b.String()
}
