package e2e

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/fake"
	vendorgemini "github.com/polywire/polywire/internal/test/fake/gemini"
	"github.com/polywire/polywire/upstream"
)

// A vendorFailure is an error of a vendor and the expected error of each
// endpoint: robustness.md R5.3, openai.md §6, messages.md §6.1,
// generatecontent.md §7.1.
type vendorFailure struct {
	name   string
	pieces func(back string) []fake.Piece
	// messages and generate are "status type" of each endpoint, openAI is "status type code" of
	// OpenAI's: openai-clients.md §9.
	messages, generate, openAI string
	// contains must be in the message, omits must not.
	contains, omits string
	// own is "status type" in the vendor's own format, if it differs. There the
	// client receives the vendor's message, even if it contains omits. OpenAI's formats share one.
	own string
	// wait reports whether the client must be asked to wait seven seconds.
	wait bool
}

func status(code int, message string) func(string) []fake.Piece {
	return func(string) []fake.Piece { return []fake.Piece{fake.Status{Code: code, Message: message}} }
}

// rateLimit returns a 429 that asks the client to wait, in each vendor's form.
func rateLimit(back string) []fake.Piece {
	s := fake.Status{Code: 429, Message: "Slow down WO1"}
	if back == toGemini {
		s.Details = vendorgemini.RetryInfo("7s")
	} else {
		s.Header = map[string]string{"Retry-After": "7"}
	}
	return []fake.Piece{s}
}

// spentQuota returns a 429 for a quota for which waiting does not help.
func spentQuota(back string) []fake.Piece {
	s := fake.Status{Code: 429, Message: "You exceeded your current quota WO1"}
	switch back {
	case toGemini:
		s.Details = vendorgemini.QuotaFailure("GenerateRequestsPerDayPerProjectPerModel-FreeTier")
	case toChat, toResp:
		s.Type, s.Details = "insufficient_quota", "insufficient_quota"
	}
	return []fake.Piece{s}
}

func reply(code int, kind, body string) func(string) []fake.Piece {
	return func(string) []fake.Piece { return []fake.Piece{fake.Reply{Code: code, ContentType: kind, Body: body}} }
}

var vendorFailures = []vendorFailure{
	{name: "bad request", openAI: "400 invalid_request_error", pieces: status(400, "The field WO1 is wrong"), messages: "400 invalid_request_error", generate: "400 INVALID_ARGUMENT", contains: "The field WO1 is wrong"},
	{name: "key and URL in the message", openAI: "400 invalid_request_error", pieces: status(400, "Bad WO1 key sk-ant-REDACTED at https://user:pw@host.example/p?sig=SECRET1"), messages: "400 invalid_request_error", generate: "400 INVALID_ARGUMENT", contains: "WO1", omits: "SECRET1"},
	{name: "invalid host key", openAI: "502 server_error bad_gateway", pieces: status(401, "invalid key WO1 of organization acme"), messages: "502 api_error", generate: "502 UNAVAILABLE", omits: "WO1"},
	{name: "host not permitted", openAI: "502 server_error bad_gateway", own: "403 permission_error PERMISSION_DENIED invalid_request_error", pieces: status(403, "no access WO1"), messages: "502 api_error", generate: "502 UNAVAILABLE", omits: "WO1"},
	{name: "unknown model", openAI: "404 invalid_request_error model_not_found", pieces: status(404, "model WO1 not found"), messages: "404 not_found_error", generate: "404 NOT_FOUND", contains: "WO1"},
	{name: "too many requests", openAI: "429 rate_limit_error rate_limit_exceeded", pieces: rateLimit, messages: "429 rate_limit_error", generate: "429 RESOURCE_EXHAUSTED", contains: "WO1", wait: true},
	{name: "exhausted quota", openAI: "429 insufficient_quota insufficient_quota", pieces: spentQuota, messages: "429 rate_limit_error", generate: "429 RESOURCE_EXHAUSTED"},
	{name: "internal error", openAI: "503 server_error service_unavailable", own: "500 api_error INTERNAL server_error", pieces: status(500, "stack trace WO1"), messages: "503 api_error", generate: "503 UNAVAILABLE", omits: "WO1"},
	{name: "timeout", openAI: "504 server_error timeout", own: "504 timeout_error DEADLINE_EXCEEDED server_error", pieces: status(504, "too late WO1"), messages: "504 timeout_error", generate: "504 DEADLINE_EXCEEDED", omits: "WO1"},
	{name: "an HTML page", openAI: "503 server_error service_unavailable", pieces: reply(502, "text/html", "<html><body>WO1 nginx</body></html>"), messages: "503 api_error", generate: "503 UNAVAILABLE", omits: "WO1"},
	{name: "empty error", openAI: "503 server_error service_unavailable", pieces: reply(502, "", ""), messages: "503 api_error", generate: "503 UNAVAILABLE"},
	{name: "HTML page with status 200", openAI: "502 server_error bad_gateway", pieces: reply(200, "text/html", "<html>WO1</html>"), messages: "502 api_error", generate: "502 UNAVAILABLE", omits: "WO1"},
	{name: "empty body with status 200", openAI: "502 server_error bad_gateway", pieces: reply(200, "application/json", ""), messages: "502 api_error", generate: "502 UNAVAILABLE"},
	{name: "redirect", openAI: "502 server_error bad_gateway", pieces: func(string) []fake.Piece {
		return []fake.Piece{fake.Reply{Code: 307, Header: map[string]string{"Location": "http://internal.example/WO1"}}}
	}, messages: "502 api_error", generate: "502 UNAVAILABLE", omits: "WO1"},
	{name: "cut before the first byte", openAI: "503 server_error service_unavailable", pieces: func(string) []fake.Piece { return []fake.Piece{fake.Cut{}} }, messages: "503 api_error", generate: "503 UNAVAILABLE"},
}

func TestErrors(t *testing.T) {
	eachOf(t, allEndpoints, func(t *testing.T, f endpoint, b adapter) {
		up, vendor := b.start(t, vendor{forbid: secrets})
		g := newGateway(f, up, upstream.HandlerOptions{})
		for _, c := range vendorFailures {
			t.Run(c.name, func(t *testing.T) {
				if c.name == "unknown model" && strings.Contains(t.Name(), "→azure") {
					// The host maps the model to a deployment of another name.
					c.messages, c.generate, c.contains, c.omits = "502 api_error", "502 UNAVAILABLE", "", "WO1"
					c.openAI = "502 server_error bad_gateway"
				}
				if c.name == "exhausted quota" && b.name == toClaude { // the vendor has no such error
					c.openAI = "429 rate_limit_error rate_limit_exceeded"
				}
				for _, m := range f.modes {
					vendor.Say(c.pieces(b.name)...)
					a := g.ask(b.model, (&vendorResponse{}).request(f), m)
					c.check(t, f, m, a, b.sendsErrorsOf(f))
				}
			})
		}
	})
}

// sendsErrorsOf reports whether the errors of a vendor are of the format of an endpoint. OpenAI's
// formats have the same.
func (b adapter) sendsErrorsOf(f endpoint) bool {
	isOpenAI := f.name == "chatcompletions" || f.name == "responses"
	return b.format == f.name || isOpenAI && (b.name == toChat || b.name == toResp)
}

func (c *vendorFailure) check(t *testing.T, f endpoint, m mode, a *response, same bool) {
	t.Helper()
	own := map[string]int{"messages": 1, "generatecontent": 2, "chatcompletions": 3, "responses": 3}[f.name]
	want := []string{1: c.messages, 2: c.generate, 3: c.openAI}[own]
	hides := c.omits
	if same && own == 3 && strings.HasPrefix(want, "4") { // the vendor's type and code
		want = want[:3]
	}
	if same && c.own != "" {
		list := strings.Fields(c.own)
		want, hides = list[0]+" "+list[own], ""
		if !strings.Contains(a.Err.Message, "WO1") {
			t.Errorf("%s: the vendor's message is missing: %s", m, clip(a.Body))
		}
	}
	if a.Broken != "" || a.Err == nil || a.Whole {
		t.Errorf("%s: broken %q, error %+v, whole %v: %s", m, a.Broken, a.Err, a.Whole, clip(a.Body))
		return
	}
	if got := statusType(a); got != want && !strings.HasPrefix(c.name, "cut") && !(len(want) == 3 && strings.HasPrefix(got, want)) {
		t.Errorf("%s: got %q, want %q: %s", m, got, want, clip(a.Body))
	}
	if f.name == "generatecontent" && a.Err.Code != a.Status {
		t.Errorf("%s: code %d, want the status %d", m, a.Err.Code, a.Status)
	}
	if !strings.Contains(a.Err.Message, c.contains) || hides != "" && strings.Contains(a.Body, hides) || a.Err.Message == "" {
		t.Errorf("%s: message %q must contain %q and must not contain %q", m, a.Err.Message, c.contains, hides)
	}
	retry := a.Err.Retry
	if f.name != "generatecontent" {
		retry = a.Header.Get("Retry-After")
	}
	if waits := retry == "7" || retry == "7s"; waits != c.wait || !c.wait && retry != "" {
		t.Errorf("%s: Retry-After %q", m, retry)
	}
}

func statusType(a *response) string {
	return strconv.Itoa(a.Status) + " " + a.Err.Type
}

// leaks returns the first secret of the host that a response contains.
func leaks(a *response) string {
	all := a.Body
	for name, values := range a.Header {
		all += name + ": " + strings.Join(values, ",") + "\n"
	}
	for _, secret := range []string{hostKey, "127.0.0.1", "internal.example", "vendor.example", "nginx"} {
		if strings.Contains(all, secret) {
			return secret
		}
	}
	return ""
}

// TestFailureMidStream checks that a client of a stream that fails after a part
// receives that part and the format's error, and no end of the response.
func TestFailureMidStream(t *testing.T) {
	ways := map[string][]fake.Piece{
		"overloaded":       {fake.Text("Once upon "), fake.Text("a time"), fake.Status{Code: 503, Message: "WO1"}},
		"cut":              {fake.Text("Once upon "), fake.Text("a time"), fake.Cut{}},
		"ended early":      {fake.Text("Once upon "), fake.Text("a time"), fake.End{}},
		"half of an event": {fake.Text("Once upon "), fake.Text("a time"), fake.CutEvent{}, fake.Text("END")},
		"invalid JSON":     {fake.Text("Once upon "), fake.Text("a time"), fake.Malformed{}, fake.Text("END")},
		"incomplete event": {fake.Text("Once upon "), fake.Text("a time"), fake.Wire("data: {\"x\":\n\n"), fake.Cut{}},
	}
	eachOf(t, allEndpoints, func(t *testing.T, f endpoint, b adapter) {
		up, vendor := b.start(t, vendor{forbid: secrets})
		g := newGateway(f, up, upstream.HandlerOptions{})
		for name, pieces := range ways {
			t.Run(name, func(t *testing.T) {
				for _, m := range f.modes {
					vendor.Say(pieces...)
					a := g.ask(b.model, (&vendorResponse{}).request(f), m)
					if a.Whole || a.Broken != "" || a.Err == nil {
						t.Errorf("%s: whole %v, broken %q, error %+v, aborted %v\n%s", m, a.Whole, a.Broken, a.Err, a.Aborted, clip(a.Body))
						continue
					}
					if m != whole {
						if diff := cmp.Diff("Once upon a time", a.text("text")); diff != "" {
							t.Errorf("%s: text (-want +got):\n%s", m, diff)
						}
					}
					if got := strings.Contains(a.Body, "WO1"); got != (b.sendsErrorsOf(f) && name == "overloaded") {
						t.Errorf("%s: the message of the vendor's internal error: %s", m, a.Err.Message)
					}
				}
			})
		}
	})
}
