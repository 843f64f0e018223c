package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// A refusal is an error of the vendor. Status 0 is 400.
type refusal struct {
	rule, message string
	status        int
	kind          string // type of the error; empty means that of the status
	details       string // JSON
	google        string // status of an error object of Google Cloud, which is sent instead
}

// kinds is messages.md §6.1.
var kinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
	404: "not_found_error", 409: "conflict_error", 413: "request_too_large", 429: "rate_limit_error",
	500: "api_error", 502: "api_error", 503: "api_error", 504: "timeout_error", 529: "overloaded_error",
}

// defaultMessages are the vendor's default messages by status.
var defaultMessages = map[int]string{
	401: "invalid x-api-key", 429: "This request would exceed your organization's rate limit",
	500: "Internal server error", 529: "Overloaded", 413: "Request exceeds the maximum size",
}

func (s *Server) refuse(w http.ResponseWriter, req *fake.Request, id uint32, no *refusal) {
	s.Refuse(req, no.rule, no.message)
	writeError(w, id, no)
}

func writeError(w http.ResponseWriter, id uint32, no *refusal) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(cmp.Or(no.status, http.StatusBadRequest))
	_, _ = w.Write(envelope(id, no))
}

// envelope is messages.md §6.1.
func envelope(id uint32, no *refusal) []byte {
	status := cmp.Or(no.status, http.StatusBadRequest)
	if no.google != "" {
		b, _ := json.Marshal(map[string]any{"error": map[string]any{"code": status, "message": no.message, "status": no.google}})
		return b
	}
	kind := cmp.Or(no.kind, kinds[status])
	if kind == "" {
		kind = kinds[400]
		if status >= 500 {
			kind = kinds[500]
		}
	}
	inner := map[string]any{"type": kind, "message": no.message}
	if no.details != "" {
		inner["details"] = json.RawMessage(no.details)
	}
	b, _ := json.Marshal(map[string]any{"type": "error", "error": inner, "request_id": requestID(id)})
	return b
}

// statusRefusal returns the vendor's error for a status in the script.
func statusRefusal(st fake.Status) *refusal {
	message := cmp.Or(st.Message, defaultMessages[st.Code], http.StatusText(st.Code))
	return &refusal{status: st.Code, kind: st.Type, message: message, details: st.Details}
}

// checkShape checks the body against the shapes. It returns the first problem
// with the vendor's text, messages.md §2.
func (a *ask) checkShape() *refusal {
	shape := body()
	if a.count {
		shape = count()
	}
	c := fake.Checker{Beta: a.betas}
	shape(&c, nil, a.doc)
	if len(c.Problems) == 0 {
		return nil
	}
	p := c.Problems[0]
	message := dotted(p.At)
	if message != "" {
		message += ": "
	}
	return &refusal{rule: "shape", message: message + problemText(p)}
}

func problemText(p fake.Problem) string {
	switch p.What {
	case fake.Unknown:
		return "Extra inputs are not permitted"
	case fake.Missing:
		return "Field required"
	case fake.BadTag:
		return fmt.Sprintf("Input tag '%s' found using 'type' does not match any of the expected tags: %s", p.Got.Str, quoted(p.Want, ", "))
	case fake.BadValue:
		return valueText(p.Want)
	}
	names := map[string]string{
		"object": "a valid dictionary", "array": "a valid list", "string": "a valid string",
		"boolean": "a valid boolean", "integer": "a valid integer", "number": "a valid number",
	}
	if n := names[p.Want]; n != "" {
		return "Input should be " + n
	}
	return "Input should be a valid " + p.Want
}

func valueText(want string) string {
	if list, ok := strings.CutPrefix(want, "one of "); ok {
		return "Input should be " + quoted(list, " or ")
	}
	if pattern, ok := strings.CutPrefix(want, "pattern "); ok {
		return "String should match pattern '" + pattern + "'"
	}
	if n, ok := strings.CutPrefix(want, "at least "); ok {
		if n, ok := strings.CutSuffix(n, " characters"); ok {
			return "String should have at least " + n + " character"
		}
		return "Input should be greater than or equal to " + n
	}
	if n, ok := strings.CutPrefix(want, "at most "); ok {
		if n, ok := strings.CutSuffix(n, " characters"); ok {
			return "String should have at most " + n + " characters"
		}
		return "Input should be less than or equal to " + n
	}
	if want == "base64" {
		return "invalid base64 data"
	}
	return want
}

func quoted(list, with string) string {
	names := strings.Split(list, ", ")
	for i, n := range names {
		names[i] = "'" + n + "'"
	}
	return strings.Join(names, with)
}

// dotted returns a path in the vendor's notation, including the tags of unions.
func dotted(at fake.Path) string {
	var steps []string
	for _, p := range at {
		if p.Index >= 0 {
			steps = append(steps, strconv.Itoa(p.Index))
			continue
		}
		steps = append(steps, p.Key)
	}
	return strings.Join(steps, ".")
}
