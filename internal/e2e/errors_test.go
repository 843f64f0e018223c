package e2e

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/fake"
	vendorgemini "github.com/polywire/polywire/internal/fake/gemini"
	"github.com/polywire/polywire/upstream"
)

// A fault is how a vendor fails, and what each front makes of it: robustness.md
// R5.3, openai.md §6, messages.md §6.1, generatecontent.md §7.1.
type fault struct {
	name   string
	pieces func(back string) []fake.Piece
	// messages and generate are "status type" for each front.
	messages, generate string
	// says has to stand in the message, hides must not.
	says, hides string
	// own is "status type" for the front of the vendor's own format, if that is
	// another; there the client gets the vendor's message, whatever hides says.
	own string
	// wait says that the client is told to wait for seven seconds.
	wait bool
}

func status(code int, message string) func(string) []fake.Piece {
	return func(string) []fake.Piece { return []fake.Piece{fake.Status{Code: code, Message: message}} }
}

// waiting is a 429 that says how long to wait, in each vendor's way.
func waiting(back string) []fake.Piece {
	s := fake.Status{Code: 429, Message: "Slow down WO1"}
	if back == toGemini {
		s.Details = vendorgemini.RetryInfo("7s")
	} else {
		s.Header = map[string]string{"Retry-After": "7"}
	}
	return []fake.Piece{s}
}

// spent is a quota that does not come back by waiting.
func spent(back string) []fake.Piece {
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

var faults = []fault{
	{name: "bad request", pieces: status(400, "The field WO1 is wrong"), messages: "400 invalid_request_error", generate: "400 INVALID_ARGUMENT", says: "The field WO1 is wrong"},
	{name: "keys and links in words", pieces: status(400, "Bad WO1 key sk-ant-REDACTED at https://user:pw@host.example/p?sig=SECRET1"), messages: "400 invalid_request_error", generate: "400 INVALID_ARGUMENT", says: "WO1", hides: "SECRET1"},
	{name: "the host's key is wrong", pieces: status(401, "invalid key WO1 of organization acme"), messages: "502 api_error", generate: "502 UNAVAILABLE", hides: "WO1"},
	{name: "the host may not", own: "403 permission_error PERMISSION_DENIED", pieces: status(403, "no access WO1"), messages: "502 api_error", generate: "502 UNAVAILABLE", hides: "WO1"},
	{name: "no such model", pieces: status(404, "model WO1 not found"), messages: "404 not_found_error", generate: "404 NOT_FOUND", says: "WO1"},
	{name: "too many requests", pieces: waiting, messages: "429 rate_limit_error", generate: "429 RESOURCE_EXHAUSTED", says: "WO1", wait: true},
	{name: "quota is spent", pieces: spent, messages: "429 rate_limit_error", generate: "429 RESOURCE_EXHAUSTED"},
	{name: "internal error", own: "500 api_error INTERNAL", pieces: status(500, "stack trace WO1"), messages: "503 api_error", generate: "503 UNAVAILABLE", hides: "WO1"},
	{name: "time-out", own: "504 timeout_error DEADLINE_EXCEEDED", pieces: status(504, "too late WO1"), messages: "504 timeout_error", generate: "504 DEADLINE_EXCEEDED", hides: "WO1"},
	{name: "an HTML page", pieces: reply(502, "text/html", "<html><body>WO1 nginx</body></html>"), messages: "503 api_error", generate: "503 UNAVAILABLE", hides: "WO1"},
	{name: "an empty error", pieces: reply(502, "", ""), messages: "503 api_error", generate: "503 UNAVAILABLE"},
	{name: "an HTML page with status 200", pieces: reply(200, "text/html", "<html>WO1</html>"), messages: "502 api_error", generate: "502 UNAVAILABLE", hides: "WO1"},
	{name: "nothing with status 200", pieces: reply(200, "application/json", ""), messages: "502 api_error", generate: "502 UNAVAILABLE"},
	{name: "a redirect", pieces: func(string) []fake.Piece {
		return []fake.Piece{fake.Reply{Code: 307, Header: map[string]string{"Location": "http://internal.example/WO1"}}}
	}, messages: "502 api_error", generate: "502 UNAVAILABLE", hides: "WO1"},
	{name: "cut before anything", pieces: func(string) []fake.Piece { return []fake.Piece{fake.Cut{}} }, messages: "503 api_error", generate: "503 UNAVAILABLE"},
}

func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, f front, b back) {
		up, vendor := b.start(t, vendor{forbid: secrets})
		g := newGateway(f, up, upstream.HandlerOptions{})
		for _, c := range faults {
			t.Run(c.name, func(t *testing.T) {
				for _, m := range f.modes {
					vendor.Say(c.pieces(b.name)...)
					a := g.ask(b.model, (&spoken{}).asking(f), m)
					c.check(t, f, m, a, b.format == f.name)
				}
			})
		}
	})
}

func (c *fault) check(t *testing.T, f front, m mode, a *answer, same bool) {
	t.Helper()
	want := c.messages
	if f.name != "messages" {
		want = c.generate
	}
	hides := c.hides
	if same && c.own != "" {
		list := strings.Fields(c.own)
		want, hides = list[0]+" "+list[1], ""
		if f.name != "messages" {
			want = list[0] + " " + list[2]
		}
		if !strings.Contains(a.Err.Message, "WO1") {
			t.Errorf("%s: the vendor's message is missing: %s", m, clip(a.Body))
		}
	}
	if a.Broken != "" || a.Err == nil || a.Whole {
		t.Errorf("%s: broken %q, error %+v, whole %v: %s", m, a.Broken, a.Err, a.Whole, clip(a.Body))
		return
	}
	if got := statusType(a); got != want && !strings.HasPrefix(c.name, "cut") {
		t.Errorf("%s: answered %q, want %q: %s", m, got, want, clip(a.Body))
	}
	if f.name != "messages" && a.Err.Code != a.Status {
		t.Errorf("%s: the code %d is not the status %d", m, a.Err.Code, a.Status)
	}
	if !strings.Contains(a.Err.Message, c.says) || hides != "" && strings.Contains(a.Body, hides) || a.Err.Message == "" {
		t.Errorf("%s: says %q: it needs %q and must not hold %q", m, a.Err.Message, c.says, hides)
	}
	retry := a.Err.Retry
	if f.name == "messages" {
		retry = a.Header.Get("Retry-After")
	}
	if told := retry == "7" || retry == "7s"; told != c.wait || !c.wait && retry != "" {
		t.Errorf("%s: told to wait for %q", m, retry)
	}
}

func statusType(a *answer) string {
	return strconv.Itoa(a.Status) + " " + a.Err.Type
}

// leaks returns what an answer tells of the host's own affairs.
func leaks(a *answer) string {
	told := a.Body
	for name, values := range a.Header {
		told += name + ": " + strings.Join(values, ",") + "\n"
	}
	for _, secret := range []string{hostKey, "127.0.0.1", "internal.example", "vendor.example", "nginx"} {
		if strings.Contains(told, secret) {
			return secret
		}
	}
	return ""
}

// TestFailsMidway checks what a client sees of a stream that fails when a part
// of the answer is out: that part, and the format's error, never an end.
func TestFailsMidway(t *testing.T) {
	ways := map[string][]fake.Piece{
		"overloaded":    {fake.Text("Once upon "), fake.Text("a time"), fake.Status{Code: 503, Message: "WO1"}},
		"cut":           {fake.Text("Once upon "), fake.Text("a time"), fake.Cut{}},
		"ended early":   {fake.Text("Once upon "), fake.Text("a time"), fake.End{}},
		"half an event": {fake.Text("Once upon "), fake.Text("a time"), fake.CutEvent{}, fake.Text("END")},
		"no JSON":       {fake.Text("Once upon "), fake.Text("a time"), fake.Malformed{}, fake.Text("END")},
		"odd bytes":     {fake.Text("Once upon "), fake.Text("a time"), fake.Wire("data: {\"x\":\n\n"), fake.Cut{}},
	}
	each(t, func(t *testing.T, f front, b back) {
		up, vendor := b.start(t, vendor{forbid: secrets})
		g := newGateway(f, up, upstream.HandlerOptions{})
		for name, pieces := range ways {
			t.Run(name, func(t *testing.T) {
				for _, m := range f.modes {
					vendor.Say(pieces...)
					a := g.ask(b.model, (&spoken{}).asking(f), m)
					if a.Whole || a.Broken != "" || a.Err == nil {
						t.Errorf("%s: whole %v, broken %q, error %+v, aborted %v\n%s", m, a.Whole, a.Broken, a.Err, a.Aborted, clip(a.Body))
						continue
					}
					if m != whole {
						if diff := cmp.Diff("Once upon a time", a.text("text")); diff != "" {
							t.Errorf("%s: text (-want +got):\n%s", m, diff)
						}
					}
					if got := strings.Contains(a.Body, "WO1"); got != (b.format == f.name && name == "overloaded") {
						t.Errorf("%s: the vendor's words of a failure of its own: %s", m, a.Err.Message)
					}
				}
			})
		}
	})
}
