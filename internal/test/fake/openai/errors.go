package openai

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// A refusal is an error of the vendor, openai.md §6. Status 0 is 400.
type refusal struct {
	rule, message, param, code, kind string
	status                           int
	bare                             bool // only a code and a message: Azure's, before the model
}

func no(param, code, format string, args ...any) *refusal {
	return &refusal{param: param, code: code, message: fmt.Sprintf(format, args...)}
}

// defaultMessages are the vendor's default errors by status: kind, code and
// message.
var defaultMessages = map[int][3]string{
	401: {"invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-x***y."},
	404: {"invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."},
	429: {"tokens", "rate_limit_exceeded", "Rate limit reached on tokens per min (TPM). Please try again in 1.2s."},
	500: {"server_error", "", "The server had an error while processing your request. Sorry about that!"},
	503: {"service_unavailable_error", "server_is_overloaded", "The model is overloaded."},
}

// statusRefusal returns the vendor's error for a status in the script, whose
// Details are the code.
func statusRefusal(st fake.Status) *refusal {
	w := defaultMessages[st.Code]
	r := &refusal{
		status: st.Code, kind: cmp.Or(st.Type, w[0]), code: st.Details,
		message: cmp.Or(st.Message, w[2], http.StatusText(st.Code)),
	}
	if r.code == "" && st.Message == "" {
		r.code = w[1]
	}
	return r
}

func (s *Server) refuse(w http.ResponseWriter, req *fake.Request, r *refusal) {
	s.Refuse(req, r.rule, r.message)
	writeError(w, r)
}

func writeError(w http.ResponseWriter, r *refusal) {
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(cmp.Or(r.status, http.StatusBadRequest))
	_, _ = w.Write([]byte(fake.Join("error", r.body())))
}

// body returns the error object of openai.md §6.
func (r *refusal) body() string {
	if r.bare {
		return fake.Join("code", fake.Quote(r.code), "message", fake.Quote(r.message))
	}
	kind := r.kind
	if kind == "" {
		kind = "invalid_request_error"
		if r.status >= 500 {
			kind = "server_error"
		}
	}
	return fake.Join("message", fake.Quote(r.message), "type", fake.Quote(kind), "param", fake.QuoteOr(r.param, "null"), "code", fake.QuoteOr(r.code, "null"))
}

// shapeRefusal returns the vendor's error for a problem of the shape.
func shapeRefusal(p fake.Problem) *refusal {
	at := dotted(p.At)
	r := no(at, "invalid_type", "Invalid type for '%s': expected %s.", at, p.Want)
	switch p.What {
	case fake.Unknown:
		r = no(at, "unknown_parameter", "Unknown parameter: '%s'.", at)
	case fake.Missing:
		r = no(at, "missing_required_parameter", "Missing required parameter: '%s'.", at)
	case fake.BadTag:
		r = no(at, "invalid_value", "Invalid value: '%s'. Supported values are: %s.", p.Got.Str, supported(p.Want))
	case fake.BadValue:
		r = valueRefusal(at, p)
	}
	r.rule = "shape"
	return r
}

func valueRefusal(at string, p fake.Problem) *refusal {
	if list, ok := strings.CutPrefix(p.Want, "one of "); ok {
		return no(at, "invalid_value", "Invalid value: '%s'. Supported values are: %s.", p.Got.Str, supported(list))
	}
	code := "invalid_value"
	switch {
	case strings.HasSuffix(p.Want, "characters") && strings.HasPrefix(p.Want, "at most"):
		code = "string_above_max_length"
	case strings.HasSuffix(p.Want, "items") && strings.HasPrefix(p.Want, "at most"):
		code = "array_above_max_length"
	case strings.HasPrefix(p.Want, "at least") && p.Got.Kind == fake.Number:
		code = "integer_below_min_value"
	}
	return no(at, code, "Invalid '%s': expected %s.", at, p.Want)
}

// supported lists names like the vendor.
func supported(list string) string {
	names := strings.Split(list, ", ")
	for i, n := range names {
		names[i] = "'" + n + "'"
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

func dotted(at fake.Path) string {
	var b strings.Builder
	for _, p := range at {
		switch {
		case p.Tag:
		case p.Index >= 0:
			fmt.Fprintf(&b, "[%d]", p.Index)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(p.Key)
		}
	}
	return b.String()
}
