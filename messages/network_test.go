package messages

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/upstream"
)

// The tests in this file need a network: they use a server on loopback. They wait
// for events, with long timeouts.

const soon = 10 * time.Second

// onLoopback serves up on loopback until the test ends.
func onLoopback(t *testing.T, up upstream.Upstream, o Options, start func(*httptest.Server)) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(NewHandler(up, &o))
	start(s)
	t.Cleanup(s.Close)
	return s
}

func startHTTP2(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() }

// A wire is a connection to a server for handwritten requests.
type wire struct {
	*net.TCPConn
	*bufio.Reader
}

func dial(t *testing.T, s *httptest.Server) *wire {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(soon))
	return &wire{c.(*net.TCPConn), bufio.NewReader(c)}
}

func (w *wire) Read(p []byte) (int, error) { return w.Reader.Read(p) }

func (w *wire) say(t *testing.T, parts ...string) {
	t.Helper()
	if _, err := io.WriteString(w.TCPConn, strings.Join(parts, "")); err != nil {
		t.Fatal(err)
	}
}

// answer reads one response.
func (w *wire) answer(t *testing.T) (*http.Response, string) {
	t.Helper()
	res, err := http.ReadResponse(w.Reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%v after %q", err, body)
	}
	return res, string(body)
}

// closed reports whether the server closed the connection. Data before the end
// is an error.
func (w *wire) closed(t *testing.T) {
	t.Helper()
	b, err := io.ReadAll(w.Reader)
	var timeout net.Error
	if len(b) > 0 || errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("%q, %v; want the connection closed", b, err)
	}
}

func lengthAnd(body string) string {
	return requestHead(fmt.Sprintf("Content-Length: %d", len(body))) + body
}

// await waits for an event, with a timeout.
func await[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(soon):
		t.Fatalf("%s: nothing happened", what)
	}
	return v
}

// A waiting upstream optionally writes a word, then waits for the end of its
// context.
type waiting struct {
	word   bool
	called chan struct{}
	ended  chan error
}

func newWaiting(word bool) *waiting {
	return &waiting{word, make(chan struct{}, 1), make(chan error, 1)}
}

func (u *waiting) Generate(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
	if u.word {
		if err := w.Text("a"); err != nil {
			return err
		}
	}
	u.called <- struct{}{}
	<-c.Done()
	u.ended <- context.Cause(c)
	return c.Err()
}

// reports returns options that send every report to the test.
func reports() (upstream.HandlerOptions, <-chan *upstream.Report) {
	c := make(chan *upstream.Report, 100)
	return upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { c <- r }}, c
}

// TestLeaving checks that the context of the upstream ends within a second after
// the client disconnects, in any way and at each stage.
func TestLeaving(t *testing.T) {
	reset := func(c *wire) { _ = c.SetLinger(0); c.Close() }
	for name, leave := range map[string]func(c *wire){
		"close": func(c *wire) { c.Close() },
		"reset": reset,
		"half":  func(c *wire) { _ = c.CloseWrite() },
	} {
		for _, tt := range []struct {
			body string
			word bool
		}{{smallBody, false}, {streamBody, false}, {streamBody, true}} {
			t.Run(fmt.Sprintf("%s, stream %v, begun %v", name, tt.body == streamBody, tt.word), func(t *testing.T) {
				up := newWaiting(tt.word)
				serving, done := reports()
				c := dial(t, onLoopback(t, up, Options{HandlerOptions: serving}, (*httptest.Server).Start))
				c.say(t, lengthAnd(tt.body))
				await(t, "call", up.called)
				left := time.Now()
				leave(c)
				await(t, "end of the call", up.ended)
				if d := time.Since(left); d > time.Second {
					t.Errorf("the context of the upstream ended after %v", d)
				}
				if r := await(t, "report", done); r.Code != upstream.CodeCanceled || r.Err == nil {
					t.Errorf("report: %+v", r)
				}
				if name == "half" { // a client that only stopped sending gets an error
					if _, body := c.answer(t); !strings.Contains(body, "api_error") {
						t.Errorf("answer %q", body)
					}
				}
			})
		}
	}
}

// TestHTTP2 streams over HTTP/2, and disconnects during a stream.
func TestHTTP2(t *testing.T) {
	s := onLoopback(t, hello, Options{}, startHTTP2)
	send := func(s *httptest.Server, c context.Context, body string) *http.Response {
		r, err := http.NewRequestWithContext(c, "POST", s.URL+"/v1/messages", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("anthropic-version", "2023-06-01")
		res, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		if res.ProtoMajor != 2 {
			t.Fatalf("over %s", res.Proto)
		}
		return res
	}
	for _, body := range []string{smallBody, streamBody} {
		all, err := io.ReadAll(send(s, t.Context(), body).Body)
		if err != nil || !strings.Contains(string(all), "Hello") {
			t.Errorf("%v %s", err, all)
		}
	}
	checkError(t, send(s, t.Context(), "{}"), 400, "invalid_request_error", "", "")
	checkError(t, send(s, t.Context(), strings.Repeat(" ", maxBody+1)), 413, "request_too_large", "", "")

	up := newWaiting(true)
	serving, done := reports()
	c, cancel := context.WithCancel(t.Context())
	defer cancel()
	res := send(onLoopback(t, up, Options{HandlerOptions: serving}, startHTTP2), c, streamBody)
	if line, err := bufio.NewReader(res.Body).ReadString('\n'); line != "event: message_start\n" {
		t.Fatalf("%q, %v", line, err)
	}
	left := time.Now()
	cancel()
	await(t, "end of the call", up.ended)
	if d := time.Since(left); d > time.Second {
		t.Errorf("the context of the upstream ended after %v", d)
	}
	if r := await(t, "report", done); r.Code != upstream.CodeCanceled || r.Status != 200 {
		t.Errorf("report: %+v", r)
	}
}

// TestFlood writes without end to clients that do not read. Memory is limited, and
// the handler closes their connections.
func TestFlood(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){"HTTP/1": (*httptest.Server).Start, "HTTP/2": startHTTP2} {
		t.Run(name, func(t *testing.T) {
			const clients = 4
			piece := strings.Repeat("x", 16<<10)
			up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
				for {
					if err := w.Text(piece); err != nil {
						return err
					}
				}
			})
			serving, done := reports()
			serving.Timeouts.Write = 500 * time.Millisecond
			s := onLoopback(t, up, Options{HandlerOptions: serving}, start)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for range clients {
				if name == "HTTP/1" {
					dial(t, s).say(t, lengthAnd(streamBody))
					continue
				}
				r, _ := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/v1/messages", strings.NewReader(streamBody))
				r.Header.Set("anthropic-version", "2023-06-01")
				// On a busy machine a stream may be cut off before its
				// headers are read; there is still a report.
				if res, err := s.Client().Do(r); err == nil {
					defer res.Body.Close()
				}
			}
			for range clients {
				if r := await(t, "report", done); r.Code != upstream.CodeCanceled || r.Err == nil {
					t.Errorf("report: %+v", r)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			// With HTTP/2 this includes buffers of the client: up to 4 MB per stream.
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 24<<20 {
				t.Errorf("%d MB more after %d clients that do not read", grown>>20, clients)
			}
		})
	}
}

// TestOneConnection checks whether the connection stays usable after a request.
func TestOneConnection(t *testing.T) {
	o := Options{}
	o.Limits.Body = 1000
	o.Timeouts.Body = 300 * time.Millisecond
	long := strings.Repeat(" ", 1001)
	chunked := func(body string) string {
		return requestHead("Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	}
	for _, tt := range []struct {
		name   string
		sent   string
		status int
		kind   string
		open   bool // the connection is good for another request
	}{
		{"served", lengthAnd(smallBody), 200, "message", true},
		{"served in chunks", chunked(smallBody), 200, "message", true},
		{"invalid", lengthAnd("{}"), 400, "invalid_request_error", true},
		{"invalid JSON", lengthAnd("{"), 400, "invalid_request_error", true},
		{"trailing garbage", lengthAnd(smallBody + "x"), 400, "invalid_request_error", true},
		{"second document", lengthAnd(smallBody + smallBody), 400, "invalid_request_error", true},
		{"not found", "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not_found_error", true},
		{"wrong method", "GET /v1/messages HTTP/1.1\r\nHost: x\r\n\r\n", 405, "invalid_request_error", true},
		{"too long", lengthAnd(long), 413, "request_too_large", true},
		{"too long, Expect", requestHead("Expect: 100-continue\r\nContent-Length: 1001"), 413, "request_too_large", false},
		{"too long in chunks", chunked(long), 413, "request_too_large", true},
		{"too long in unfinished chunks", requestHead("Transfer-Encoding: chunked") + "fffffff\r\n" + long, 413, "request_too_large", false},
		{"unfinished chunks", requestHead("Transfer-Encoding: chunked") + "5\r\n{\"a\":\r\n", 400, "invalid_request_error", false},
		{"invalid chunks", requestHead("Transfer-Encoding: chunked") + "nonsense\r\n", 400, "invalid_request_error", false},
		{"body shorter than Content-Length", requestHead("Content-Length: 500") + smallBody, 400, "invalid_request_error", false},
		{"no body despite Content-Length", requestHead("Content-Length: 500"), 400, "invalid_request_error", false},
		{"unread", strings.Replace(lengthAnd(smallBody), "anthropic-version", "x", 1), 400, "invalid_request_error", true},
		{"unread in chunks", strings.Replace(chunked(smallBody), "anthropic-version", "x", 1), 400, "invalid_request_error", true},
		{"unread, 256 KiB", strings.Replace(lengthAnd(strings.Repeat(" ", 256<<10)), "anthropic-version", "x", 1), 400, "invalid_request_error", true},
		{"unread, more in chunks", strings.Replace(chunked(strings.Repeat(" ", 256<<10+1)), "anthropic-version", "x", 1), 400, "invalid_request_error", false},
		{"unread, more", strings.Replace(lengthAnd(strings.Repeat(" ", 256<<10+1)), "anthropic-version", "x", 1), 400, "invalid_request_error", false},
		{"unread, Expect", strings.Replace(requestHead("Expect: 100-continue\r\nContent-Length: 70"), "anthropic-version", "x", 1), 400, "invalid_request_error", false},
		{"unread, half", strings.Replace(requestHead("Content-Length: 70")+"half", "anthropic-version", "x", 1), 400, "invalid_request_error", false},
		{"GET with a body", "GET /v1/models HTTP/1.1\r\nHost: x\r\nAnthropic-Version: 2023-06-01\r\nContent-Length: 4\r\n\r\nbody", 404, "not_found_error", true},
		{"GET with half a body", "GET /v1/models HTTP/1.1\r\nHost: x\r\nAnthropic-Version: 2023-06-01\r\nContent-Length: 4\r\n\r\nbo", 404, "not_found_error", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			serving, done := reports()
			o := o
			o.OnDone = serving.OnDone
			c := dial(t, onLoopback(t, hello, o, (*httptest.Server).Start))
			c.say(t, tt.sent)
			if tt.open {
				c.say(t, lengthAnd(streamBody)) // pipelined
			}
			res, body := c.answer(t)
			if res.StatusCode != tt.status || !strings.Contains(body, `"type":"`+tt.kind+`"`) {
				t.Errorf("%s %s, want %d %s", res.Status, body, tt.status, tt.kind)
			}
			if r := await(t, "report", done); r.Status != tt.status || (r.Code == "") != (tt.status == 200) {
				t.Errorf("report: %+v", r)
			}
			if !tt.open {
				if _, err := io.WriteString(c.TCPConn, lengthAnd(smallBody)); err == nil {
					c.closed(t)
				}
				return
			}
			if res, body := c.answer(t); res.StatusCode != 200 || !strings.Contains(body, "Hello") {
				t.Errorf("the next request: %s %s", res.Status, body)
			}
		})
	}
}

// TestContinue checks that the handler sends 100 Continue when it needs the body,
// and not before it has validated the key.
func TestContinue(t *testing.T) {
	o := Options{}
	o.Authenticate = upstream.Keys("good")
	s := onLoopback(t, hello, o, (*httptest.Server).Start)
	head := fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\nx-api-key: ", len(smallBody))
	c := dial(t, s)
	c.say(t, requestHead(head+"good"))
	if line, err := c.ReadString('\n'); !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err)
	}
	_, _ = c.ReadString('\n')
	c.say(t, smallBody)
	if res, body := c.answer(t); res.StatusCode != 200 {
		t.Errorf("%s %s", res.Status, body)
	}
	for name, head := range map[string]string{"waits": head, "does not": strings.Replace(head, "Expect", "X", 1)} {
		c = dial(t, s)
		c.say(t, requestHead(head+"bad")) // the body never comes
		if res, body := c.answer(t); res.StatusCode != 401 {
			t.Errorf("%s: %s %s", name, res.Status, body)
		}
		c.closed(t)
	}
}

// TestCutBody checks clients that disconnect, or stop sending, within the
// body.
func TestCutBody(t *testing.T) {
	for name, cut := range map[string]func(c *wire){
		"close": func(c *wire) { c.Close() },
		"reset": func(c *wire) { _ = c.SetLinger(0); c.Close() },
		"half":  func(c *wire) { _ = c.CloseWrite() },
	} {
		t.Run(name, func(t *testing.T) {
			serving, done := reports()
			serving.Budget = new(upstream.Budget)
			c := dial(t, onLoopback(t, hello, Options{HandlerOptions: serving}, (*httptest.Server).Start))
			c.say(t, requestHead("Content-Length: 5000")+smallBody)
			cut(c)
			if name == "half" {
				if res, body := c.answer(t); res.StatusCode != 400 || !strings.Contains(body, "invalid_request_error") {
					t.Errorf("%s %s", res.Status, body)
				}
			}
			if r := await(t, "report", done); r.Status != 499 || r.Code != upstream.CodeCanceled {
				t.Errorf("report: %+v", r)
			}
			if n, bytes := serving.Budget.InFlight(); n != 0 || bytes != 0 {
				t.Errorf("in flight: %d, %d bytes", n, bytes)
			}
		})
	}
}
