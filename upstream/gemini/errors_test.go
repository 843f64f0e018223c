package gemini_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/fake"
	vendorfake "github.com/polywire/polywire/internal/test/fake/gemini"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/gemini"
)

const (
	hostKey = "AIzaSyHost-key-0123456789012345678901"
	quota   = "You exceeded your current quota, please check your plan and billing details."
)

// A failure is an error before the first byte, and the responses to the clients of
// both handlers: two statuses, an error name, and the vendor's text if clients may
// see it.
type failure struct {
	name             string
	turn             []fake.Piece
	messages, native int
	kind, status     string // error.type and error.status
	words            string // of the vendor's message; "!" in front: for its own clients only
	retry            string // seconds
}

func status(code int, message string) []fake.Piece {
	return []fake.Piece{fake.Status{Code: code, Message: message}}
}

func page(code int, kind, body string) []fake.Piece {
	return []fake.Piece{fake.Reply{Code: code, ContentType: kind, Body: body}}
}

var failures = []failure{
	{"400", status(400, "No such thing."), 400, 400, "invalid_request_error", "INVALID_ARGUMENT", "No such thing.", ""},
	{"key in the message", status(400, "Bad key "+hostKey), 400, 400, "invalid_request_error", "INVALID_ARGUMENT", "Bad key", ""},
	{"401", status(401, "Who?"), 502, 502, "api_error", "", "", ""},
	{"403 for the key", status(403, "Your API key was reported as leaked."), 502, 502, "api_error", "", "", ""},
	{"402", status(402, "Your prepayment credits are depleted."), 502, 402, "api_error", "RESOURCE_EXHAUSTED", "!Your prepayment credits are depleted.", ""},
	{"403", status(403, "Not you."), 502, 403, "api_error", "PERMISSION_DENIED", "!Not you.", ""},
	{"404", status(404, "models/x is not found."), 404, 404, "not_found_error", "NOT_FOUND", "models/x is not found.", ""},
	{"429", []fake.Piece{fake.Status{Code: 429, Message: quota, Details: vendorfake.RetryInfo("31s")}}, 429, 429, "rate_limit_error", "RESOURCE_EXHAUSTED", quota, "31"},
	{"429 for the day", []fake.Piece{fake.Status{Code: 429, Message: quota, Details: vendorfake.QuotaFailure("GenerateRequestsPerDayPerProjectPerModel-FreeTier")}},
		429, 429, "rate_limit_error", "RESOURCE_EXHAUSTED", quota, ""},
	{"429 with a header", []fake.Piece{fake.Status{Code: 429, Message: quota, Header: map[string]string{"Retry-After": "7"}}}, 429, 429, "rate_limit_error", "RESOURCE_EXHAUSTED", quota, "7"},
	{"429 with a date", []fake.Piece{fake.Status{Code: 429, Message: quota, Header: map[string]string{"Date": "Sat, 21 Nov 2026 07:00:00 GMT", "Retry-After": "Sat, 21 Nov 2026 07:00:09 GMT"}}}, 429, 429, "rate_limit_error", "RESOURCE_EXHAUSTED", quota, "9"},
	{"500", status(500, "own words"), 503, 500, "api_error", "INTERNAL", "!own words", ""},
	{"503", status(503, "own words"), 529, 503, "overloaded_error", "UNAVAILABLE", "!own words", ""},
	{"504", status(504, "own words"), 504, 504, "timeout_error", "DEADLINE_EXCEEDED", "!own words", ""},
	{"HTML page with an error status", page(502, "text/html", "<h1>secret words</h1>"), 503, 503, "api_error", "UNAVAILABLE", "", ""},
	{"HTML page with a success status", page(200, "text/html", "<h1>secret words</h1>"), 502, 502, "api_error", "", "", ""},
	{"empty error", page(500, "", ""), 503, 503, "api_error", "UNAVAILABLE", "", ""},
	{"empty response", page(200, "application/json", ""), 502, 502, "api_error", "", "", ""},
	{"error with a success status", page(200, "application/json", `{"error":{"code":404,"message":"models/x is not found.","status":"NOT_FOUND"}}`),
		404, 404, "not_found_error", "NOT_FOUND", "models/x is not found.", ""},
	{"redirect", []fake.Piece{fake.Reply{Code: 302, Header: map[string]string{"Location": "http://secret.example/"}}}, 502, 502, "api_error", "", "", ""},
	{"invalid JSON", []fake.Piece{fake.Malformed{}, fake.Text("secret words")}, 502, 502, "api_error", "", "", ""},
	{"response over the limit", []fake.Piece{fake.Huge(3 << 20), fake.Text("a")}, 502, 502, "api_error", "", "", ""},
}

// fronts returns both handlers with a client of the vendor.
func fronts(t *testing.T, url string) (client *gemini.Client, list map[string]http.Handler) {
	t.Helper()
	c, err := gemini.New(&gemini.Options{BaseURL: url, Key: hostKey, Limits: content.Limits{Body: 1 << 20}, MaxResponse: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return c, map[string]http.Handler{"messages": messages.NewHandler(c, nil), "native": generatecontent.NewHandler(c, nil)}
}

func send(h http.Handler, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// question sends a request to a handler.
func question(h http.Handler, front string, stream bool) *httptest.ResponseRecorder {
	switch {
	case front == "messages" && stream:
		return send(h, "/v1/messages", `{"model":"gemini-3.8-flash","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"q"}]}`)
	case front == "messages":
		return send(h, "/v1/messages", `{"model":"gemini-3.8-flash","max_tokens":9,"messages":[{"role":"user","content":"q"}]}`)
	case stream:
		return send(h, "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse", `{"contents":[{"parts":[{"text":"q"}]}]}`)
	}
	return send(h, "/v1beta/models/gemini-3.8-flash:generateContent", `{"contents":[{"parts":[{"text":"q"}]}]}`)
}

// checkClean checks that a response contains no secrets.
func checkClean(t *testing.T, url string, w *httptest.ResponseRecorder) {
	t.Helper()
	all := w.Body.String()
	for name, values := range w.Header() {
		all += "\n" + name + ": " + strings.Join(values, ",")
	}
	for _, secret := range []string{hostKey, "secret", strings.TrimPrefix(url, "http://"), "127.0.0.1", "dial", "unexpected EOF", "goroutine"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is in the answer:\n%s", secret, all)
		}
	}
}

func (f *failure) check(t *testing.T, front string, w *httptest.ResponseRecorder) {
	t.Helper()
	code, kind := f.messages, `"type":"`+f.kind+`"`
	if front == "native" {
		code, kind = f.native, `"status":"`+f.status
	}
	words, own := strings.CutPrefix(f.words, "!")
	if w.Code != code || !strings.Contains(w.Body.String(), kind) || strings.Contains(w.Body.String(), words) == (own && front != "native") && words != "" {
		t.Errorf("%s: status %d, want %d with %s and %q: %s", front, w.Code, code, kind, f.words, w.Body)
	}
	if got := w.Header().Get("Retry-After"); got != f.retry {
		t.Errorf("%s: Retry-After is %q, want %q", front, got, f.retry)
	}
	// If the vendor has a header for it, its own clients receive the header and no
	// other details.
	inBody := f.retry != "" && !strings.Contains(f.name, "with a")
	if delay := `"retryDelay":"` + f.retry + `s"`; front == "native" && inBody != strings.Contains(w.Body.String(), delay) {
		t.Errorf("want %s in %s", delay, w.Body)
	}
}

func TestErrors(t *testing.T) {
	vendor := vendorfake.New(t, vendorfake.Options{})
	_, list := fronts(t, vendor.URL)
	for _, tt := range failures {
		t.Run(tt.name, func(t *testing.T) {
			for front, h := range list {
				for _, stream := range []bool{false, true} {
					vendor.Say(tt.turn...)
					w := question(h, front, stream)
					tt.check(t, front, w)
					checkClean(t, vendor.URL, w)
				}
			}
		})
	}
	if vendor.Left() > 0 {
		t.Errorf("%d answers were not asked for", vendor.Left())
	}
}

// TestUnreachable checks closed ports, and servers that do not speak HTTP or have no
// valid certificate.
func TestUnreachable(t *testing.T) {
	const closed = "http://127.0.0.1:1" // a port that was free just now may be another program's next
	ts := httptest.NewUnstartedServer(http.NotFoundHandler())
	ts.Config.ErrorLog = log.New(io.Discard, "", 0)
	ts.StartTLS()
	t.Cleanup(ts.Close)
	for name, url := range map[string]string{"closed port": closed, "unknown certificate": ts.URL} {
		_, list := fronts(t, url)
		for front, h := range list {
			w := question(h, front, true)
			f := failure{messages: 503, native: 503, kind: "api_error", status: "UNAVAILABLE"}
			t.Run(name, func(t *testing.T) {
				f.check(t, front, w)
				checkClean(t, strings.TrimPrefix(url, "https://"), w)
			})
		}
	}
}

// TestTimeout checks a vendor that sends nothing for longer than the timeout.
func TestTimeout(t *testing.T) {
	v := vendorfake.New(t, vendorfake.Options{})
	c, err := gemini.New(&gemini.Options{BaseURL: v.URL, Key: hostKey, HTTPClient: &http.Client{Timeout: 20 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	v.Say(fake.Silence(0))
	w := question(messages.NewHandler(c, nil), "messages", true)
	(&failure{messages: 504, kind: "timeout_error"}).check(t, "messages", w)
	checkClean(t, v.URL, w)
}

// TestErrorsMidway checks that an error within a response is reported in the
// response, which never looks complete.
func TestErrorsMidway(t *testing.T) {
	vendor := vendorfake.New(t, vendorfake.Options{})
	_, list := fronts(t, vendor.URL)
	for name, turn := range map[string][]fake.Piece{
		"a cut":             {fake.Text("some words of it"), fake.Cut{}},
		"half an event":     {fake.Text("some words of it"), fake.CutEvent{}, fake.Text("more words")},
		"an error":          {fake.Text("some words of it"), fake.Status{Code: 503, Message: "own words"}},
		"invalid JSON":      {fake.Text("some words of it"), fake.Malformed{}, fake.Text("more words")},
		"no reason to stop": {fake.Text("some words of it"), fake.End{}},
		"a gigantic event":  {fake.Text("some words of it"), fake.Huge(3 << 20), fake.Text("more words")},
	} {
		t.Run(name, func(t *testing.T) {
			for front, h := range list {
				if name != "an error" && name != "no reason to stop" && name != "a gigantic event" { // which a whole answer has nothing of
					vendor.Say(turn...)
					w := question(h, front, false)
					(&failure{messages: 502, native: 502, kind: "api_error"}).check(t, front, w)
					checkClean(t, vendor.URL, w)
				}
				vendor.Say(turn...)
				w := question(h, front, true)
				body := w.Body.String()
				if w.Code != http.StatusOK || !strings.Contains(body, "some words") || !strings.Contains(body, `"error"`) ||
					strings.Contains(body, "message_stop") || strings.Contains(body, "finishReason") {
					t.Errorf("%s: %d %s", front, w.Code, body)
				}
				if got := strings.Contains(body, "own words"); got != (front == "native" && name == "an error") {
					t.Errorf("%s: the vendor's message: %s", front, body)
				}
				checkClean(t, vendor.URL, w)
			}
		})
	}
}

// TestResembling checks servers that resemble the vendor and leave out most members.
func TestResembling(t *testing.T) {
	for name, answer := range map[string]struct{ kind, body string }{
		"bare":         {"application/json", `{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}`},
		"no type":      {"", `{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}],"stray":[1]}`},
		"snake case":   {"application/json", `{"candidates":[{"content":{"parts":{"text":"Hi"}},"finish_reason":"stop"}]}`},
		"no reason":    {"application/json", `{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}]}`},
		"odd call ids": {"application/json", `{"candidates":[{"content":{"parts":[{"text":"Hi"},{"functionCall":{"name":"f","args":"{\"a\":1}"}}]},"finishReason":"STOP"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := vendor(t, answer.kind, answer.body, gemini.Options{})
			w := question(messages.NewHandler(c, nil), "messages", false)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"text":"Hi"`) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}

// TestEmptyAnswer checks a response that is empty because thinking used up the
// limit.
func TestEmptyAnswer(t *testing.T) {
	c, _ := vendor(t, "application/json", `{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS","index":0}],`+
		`"usageMetadata":{"promptTokenCount":20,"thoughtsTokenCount":60,"totalTokenCount":80},"modelVersion":"gemini-3.8-flash","responseId":"r-0024"}`, gemini.Options{})
	w := question(messages.NewHandler(c, nil), "messages", false)
	if m := read[message](t, w.Body.String()); m.StopReason != "max_tokens" || m.Usage.Output != 60 || m.Usage.Input != 20 {
		t.Errorf("%+v", m)
	}
}

// TestRefusedLoss checks that a rejected loss is reported before anything is sent.
func TestRefusedLoss(t *testing.T) {
	v := vendorfake.New(t, vendorfake.Options{})
	c, _ := fronts(t, v.URL)
	h := messages.NewHandler(c, &messages.Options{HandlerOptions: upstream.HandlerOptions{RejectLoss: content.LossDropped}})
	w := send(h, "/v1/messages", `{"model":"m","max_tokens":9,"stop_sequences":["a","b","c","d","e","f"],"messages":[{"role":"user","content":"q"}]}`)
	if w.Code != http.StatusBadRequest || len(v.Requests()) > 0 {
		t.Errorf("%d %s, %d requests", w.Code, w.Body, len(v.Requests()))
	}
}
