package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"google.golang.org/genai"

	"github.com/polywire/polywire/upstream"
)

// A listener records what a server writes. Its model waits until a number of
// keep-alives were written.
type listener struct {
	pings   chan struct{}
	begun   chan struct{} // closed when the headers were written
	fail    error         // returned instead of a response, if not nil
	mu      sync.Mutex
	written []byte
}

const pings = 3

// Generate waits for keep-alives before each word and before the end.
func (l *listener) Generate(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
	if err := await(ctx, l.begun); err != nil {
		return err
	}
	for _, word := range []string{"One ", "two ", "three.", ""} {
		for range pings {
			if err := await(ctx, l.pings); err != nil {
				return err
			}
		}
		if l.fail != nil {
			return l.fail
		}
		if err := w.Text(word); err != nil {
			return err
		}
	}
	return nil
}

func await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(10 * time.Second):
		return errors.New("no keep-alive in 10 s")
	}
}

// A tapped is a ResponseWriter that reports writes to a listener.
type tapped struct {
	http.ResponseWriter
	l *listener
}

func (w tapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w tapped) WriteHeader(status int) {
	w.ResponseWriter.WriteHeader(status)
	close(w.l.begun)
}

func (w tapped) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.l.mu.Lock()
	w.l.written = append(w.l.written, b...)
	w.l.mu.Unlock()
	if s := string(bytes.TrimSpace(b)); s == "" || s == "data:" {
		select {
		case w.l.pings <- struct{}{}:
		default: // more than the test waits for
		}
	}
	return n, err
}

// TestGoogleKeepAlive checks keep-alives, which are the beginning of the next
// event, before the first event and between events. Each client must read the
// same response as without them.
func TestGoogleKeepAlive(t *testing.T) {
	eachGoogle(t, func(t *testing.T, c googleSDK) {
		l := newListener(nil)
		s := l.serve(t, c)
		a, err := s.ask(t, true, genai.Text("Count."), nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.text() != "One two three." || a.finish != genai.FinishReasonStop {
			t.Errorf("text %q, finish reason %q", a.text(), a.finish)
		}
		s.stop()
		l.check(t)
	})
}

// check checks that the server wrote only events, each with keep-alives.
func (l *listener) check(t *testing.T) {
	t.Helper()
	for event := range bytes.SplitSeq(bytes.TrimSuffix(l.written, []byte("\r\n\r\n")), []byte("\r\n\r\n")) {
		data, ok := bytes.CutPrefix(event, []byte("data: "))
		doc := bytes.TrimLeft(data, " ")
		if !ok || !json.Valid(doc) {
			t.Errorf("not an event: %q", event)
		}
		if n := 1 + len(data) - len(doc); n < pings-1 { // one may belong to the previous event
			t.Errorf("%d keep-alives in an event, want at least %d: %q", n, pings-1, event)
		}
	}
}

// TestLibrariesKeepAlive is TestGoogleKeepAlive for libraries. Some of them
// fail on other forms of keep-alives.
func TestLibrariesKeepAlive(t *testing.T) {
	for _, lib := range libraries {
		if lib.format != "google" {
			continue
		}
		t.Run(lib.name, func(t *testing.T) {
			l := newListener(nil)
			s := l.serve(t, nil)
			r, err := lib.run(t, libraryCall{BaseURL: s.url, Key: key, Stream: true, Prompt: "Count.", MaxTokens: 4096})
			if err != nil {
				t.Fatal(err)
			}
			if r.Text != "One two three." {
				t.Errorf("the text is %q", r.Text)
			}
			s.stop()
			l.check(t)
		})
	}
}

// TestGoogleLateFailure checks that an error after the headers and before the
// first event is sent in the stream.
func TestGoogleLateFailure(t *testing.T) {
	eachGoogle(t, func(t *testing.T, c googleSDK) {
		l := newListener(&upstream.Error{Code: upstream.CodeOverloaded, Text: "Too much to do."})
		s := l.serve(t, c)
		a, err := s.ask(t, true, genai.Text("Count."), nil)
		s.wantFailure(t, err, http.StatusServiceUnavailable, "UNAVAILABLE", "Too much to do.")
		if a.chunks != 0 {
			t.Errorf("failed after %d chunks", a.chunks)
		}
	})
}

func newListener(fail error) *listener {
	return &listener{pings: make(chan struct{}, 1), begun: make(chan struct{}), fail: fail}
}

// serve starts a server of l that sends keep-alives immediately.
func (l *listener) serve(t *testing.T, c googleSDK) googleServer {
	t.Helper()
	return serveGoogleWith(t, c, l, upstream.HandlerOptions{Timeouts: upstream.Timeouts{KeepAlive: time.Millisecond}}, l.tap)
}

func (l *listener) tap(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(tapped{w, l}, r) })
}

// TestGoogleArrayKeepAlive checks that keep-alives in the array form are white
// space, also before the array.
func TestGoogleArrayKeepAlive(t *testing.T) {
	l := newListener(nil)
	s := l.serve(t, nil)
	a, _ := s.array(t, "", key, asking("Count.", "")).all(t)
	if a.text() != "One two three." || a.finish != genai.FinishReasonStop {
		t.Errorf("text %q, finish reason %q", a.text(), a.finish)
	}
	s.stop()
	if n := bytes.Count(l.written, []byte("\r\n\r\n")); n < 3*pings {
		t.Errorf("%d keep-alives, want at least %d", n, 3*pings)
	}
}
