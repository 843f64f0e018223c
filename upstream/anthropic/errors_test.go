package anthropic_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/fake"
	fakes "github.com/polywire/polywire/internal/test/fake/anthropic"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

const (
	askMessages = `{"model":"claude-sonnet-5","max_tokens":100,"messages":[{"role":"user","content":"hi"}]}`
	askGenerate = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`
)

// through sends one request through each handler, plain and streamed.
func through(t *testing.T, c *anthropic.Client, o upstream.HandlerOptions, check func(name string, stream bool, w *httptest.ResponseRecorder)) {
	t.Helper()
	m := messages.NewHandler(c, &messages.Options{HandlerOptions: o})
	g := generatecontent.NewHandler(c, &generatecontent.Options{HandlerOptions: o})
	check("messages", false, post(m, "/v1/messages", askMessages))
	check("messages", true, post(m, "/v1/messages", strings.Replace(askMessages, "{", `{"stream":true,`, 1)))
	check("generatecontent", false, post(g, "/v1beta/models/claude-sonnet-5:generateContent", askGenerate))
	check("generatecontent", true, post(g, "/v1beta/models/claude-sonnet-5:streamGenerateContent?alt=sse", askGenerate))
}

// statuses maps statuses of the Messages handler to those of the other one.
var statuses = map[int]int{529: 503, 413: 400, 402: 502, 403: 502, 500: 503}

// TestFailures checks the responses to clients for errors of the vendor: the
// status, the error object, and the vendor's text if clients may see it. They must
// not contain secrets.
func TestFailures(t *testing.T) {
	html := "<html><body>nginx at 10.1.2.3 " + hostKey + "</body></html>"
	status := func(code int, message string) fake.Status { return fake.Status{Code: code, Message: message} }
	tests := []struct {
		name   string
		answer fake.Piece
		status int    // of Messages, where the vendor has none
		words  string // of the vendor's message; "!" in front: Messages alone gets them; "!!": no client
	}{
		{"400", status(400, "tools.3: no such tool"), 400, "tools.3: no such tool"},
		{"401", status(401, "invalid x-api-key of acme"), 502, "!!acme"},
		{"402", status(402, "acme has not paid"), 402, "!acme"},
		{"403", status(403, "acme may not"), 403, "!acme"},
		{"403 for the key", status(403, "Your API key of acme has been disabled"), 502, "!!acme"},
		{"404", status(404, "model: claude-x"), 404, "model: claude-x"},
		{"413", status(413, "Request exceeds 32 MB"), 413, "exceeds 32 MB"},
		{"429", status(429, "over the limit of requests"), 429, "over the limit of requests"},
		{"500", status(500, "acme's disk is full"), 500, "!acme"},
		{"529", status(529, "acme is overloaded"), 529, "!acme"},
		{"400 with a key in it", status(400, "bad key "+hostKey), 400, "bad key"},
		{"502 as a page", fake.Reply{Code: 502, ContentType: "text/html", Body: html}, 503, "!!nginx"},
		{"400 as a page", fake.Reply{Code: 400, ContentType: "text/html", Body: html}, 502, "!!nginx"},
		{"503 with nothing", fake.Reply{Code: 503}, 503, ""},
		{"302", fake.Reply{Code: 302, Header: map[string]string{"Location": "https://other.example/"}}, 502, "!!other"},
		{"200 as a page", fake.Reply{Code: 200, ContentType: "text/html", Body: html}, 502, "!!nginx"},
		{"200 with nothing", fake.Reply{Code: 200, ContentType: "application/json"}, 502, ""},
		{"200 with an error", fake.Reply{Code: 200, ContentType: "application/json",
			Body: `{"type":"error","error":{"type":"overloaded_error","message":"acme"}}`}, 529, "!acme"},
		{"200 with something else", fake.Reply{Code: 200, ContentType: "application/json", Body: `{"choices":[]}`}, 502, "!!choices"},
		{"compressed", fake.Reply{Code: 200, ContentType: "application/json", Header: map[string]string{"Content-Encoding": "br"}, Body: "x"}, 502, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, f := strict(t, anthropic.Options{}, fakes.Options{})
			for range 4 {
				f.Say(tt.answer)
			}
			through(t, c, upstream.HandlerOptions{}, func(front string, stream bool, w *httptest.ResponseRecorder) {
				want, words := tt.status, strings.TrimPrefix(tt.words, "!")
				if other, ok := statuses[want]; ok && front != "messages" {
					want, words = other, tt.words
				}
				failed(t, front, stream, w, want, words)
				private(t, w, f.URL)
			})
		})
	}
}

// failed checks an error before the first byte.
func failed(t *testing.T, front string, stream bool, w *httptest.ResponseRecorder, status int, words string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("%s, streamed %v: status %d, want %d: %s", front, stream, w.Code, status, w.Body)
	}
	envelope := `"error":{`
	if !strings.Contains(strings.ReplaceAll(w.Body.String(), ": ", ":"), envelope) || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		t.Errorf("%s, streamed %v: no envelope: %v %s", front, stream, w.Header(), w.Body)
	}
	not, no := strings.CutPrefix(words, "!")
	not = strings.TrimPrefix(not, "!")
	if got := strings.Contains(w.Body.String(), not); no == got && words != "" {
		t.Errorf("%s, streamed %v: the words %q: %s", front, stream, words, w.Body)
	}
}

// private checks that a response contains no secrets.
func private(t *testing.T, w *httptest.ResponseRecorder, at string) {
	t.Helper()
	all := w.Body.String()
	for name, v := range w.Header() {
		all += name + ": " + strings.Join(v, ",") + "\n"
	}
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{hostKey, u.Host, "127.0.0.1", "localhost", "Organization-Id"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is included: %s", secret, all)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	c, f := strict(t, anthropic.Options{}, fakes.Options{})
	for range 4 {
		f.Say(fake.Status{Code: 429, Header: map[string]string{"Retry-After": "7"}})
	}
	through(t, c, upstream.HandlerOptions{}, func(front string, stream bool, w *httptest.ResponseRecorder) {
		losses := w.Header().Get("Retry-After") == "7"
		if front == "generatecontent" {
			losses = strings.Contains(w.Body.String(), `"7s"`)
		}
		if !losses {
			t.Errorf("%s, streamed %v: %v %s", front, stream, w.Header(), w.Body)
		}
	})
}

// TestUnreachable checks the responses to clients if the server does not respond.
func TestUnreachable(t *testing.T) {
	const refused = "http://127.0.0.1:1" // a port that was free just now may be another program's next
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	mute := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that the client leaves
		<-r.Context().Done()
	}))
	defer mute.Close()
	dropped := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer dropped.Close()
	for _, tt := range []struct {
		name, at string
		client   *http.Client
		times    upstream.Timeouts
		status   int
	}{
		{"connection refused", refused, nil, upstream.Timeouts{}, 503},
		{"unknown certificate", secure.URL, &http.Client{Transport: &http.Transport{}}, upstream.Timeouts{}, 503},
		{"wrong protocol", strings.Replace(refusedBy(t), "http:", "https:", 1), nil, upstream.Timeouts{}, 503},
		{"timeout of the HTTP client", mute.URL, &http.Client{Timeout: 20 * time.Millisecond}, upstream.Timeouts{}, 504},
		{"timeout of the handler", mute.URL, nil, upstream.Timeouts{FirstByte: 20 * time.Millisecond}, 504},
		{"cut before the headers", dropped.URL, nil, upstream.Timeouts{}, 503},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := anthropic.New(&anthropic.Options{BaseURL: tt.at, Key: hostKey, HTTPClient: tt.client})
			if err != nil {
				t.Fatal(err)
			}
			through(t, c, upstream.HandlerOptions{Timeouts: tt.times}, func(front string, stream bool, w *httptest.ResponseRecorder) {
				failed(t, front, stream, w, tt.status, "")
				private(t, w, tt.at)
			})
		})
	}
}

// refusedBy starts a server without TLS.
func refusedBy(t *testing.T) string {
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	return s.URL
}

// TestBroken checks incomplete responses: a plain one is an error, a stream ends
// with an error, and a truncated stream never looks complete.
func TestBroken(t *testing.T) {
	long := fake.Text(strings.Repeat("word ", 50))
	tests := []struct {
		name  string
		turn  []fake.Piece
		whole int // status of a whole answer
	}{
		{"cut", []fake.Piece{long, fake.Cut{}}, 502},
		{"cut in an event", []fake.Piece{long, fake.CutEvent{}, long}, 502},
		{"malformed", []fake.Piece{long, fake.Malformed{}, long}, 502},
		{"gigantic", []fake.Piece{long, fake.Huge(2 << 20), long}, 502},
		{"error event in the stream", []fake.Piece{long, fake.Status{Code: 529, Message: "acme is overloaded"}}, 529},
		{"silence", []fake.Piece{long, fake.Silence(0), long}, 504},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, f := strict(t, anthropic.Options{Limits: content.Limits{Body: 1 << 20}, MaxResponse: 1 << 20}, fakes.Options{})
			for range 4 {
				f.Say(tt.turn...)
			}
			times := upstream.Timeouts{Idle: 100 * time.Millisecond, FirstByte: 100 * time.Millisecond}
			if tt.name != "silence" {
				times = upstream.Timeouts{}
			}
			through(t, c, upstream.HandlerOptions{Timeouts: times}, func(front string, stream bool, w *httptest.ResponseRecorder) {
				private(t, w, f.URL)
				if !stream {
					want, words := tt.whole, "!acme"
					if other, ok := statuses[want]; ok && front != "messages" {
						want = other
					} else if ok {
						words = "acme"
					}
					failed(t, front, stream, w, want, words)
					return
				}
				ended(t, front, w)
				if got := strings.Contains(w.Body.String(), "acme"); got != (front == "messages" && tt.whole == 529) {
					t.Errorf("%s: the vendor's message: %s", front, w.Body)
				}
			})
		})
	}
}

// ended checks that a stream has begun and ends in its format's error.
func ended(t *testing.T, front string, w *httptest.ResponseRecorder) {
	t.Helper()
	body := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(body, "word") {
		t.Errorf("%s: status %d: %s", front, w.Code, body)
	}
	last := body[strings.LastIndex(strings.TrimRight(body, "\r\n"), "data: ")+len("data: "):]
	if !strings.Contains(last, `"error":{`) || strings.Contains(body, "message_stop") || strings.Contains(body, "finishReason") {
		t.Errorf("%s: the stream ends in %s", front, last)
	}
}
