package crosstest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestLeaving checks that the context of the upstream ends within a second after the
// client disconnects, in any way and at each stage.
func TestLeaving(t *testing.T) {
	for name, leave := range map[string]func(c *wire){
		"close": func(c *wire) { c.Close() },
		"reset": (*wire).reset,
		"half":  func(c *wire) { _ = c.CloseWrite() },
	} {
		eachMode(t, func(t *testing.T, s wireFormat, m mode) {
			for _, begun := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, begun %v", name, begun), func(t *testing.T) {
					up := waiting{begun, make(chan struct{}, 1), make(chan error, 1)}
					o, done := reporting()
					c := dial(t, s.onLoopback(t, up, o, startHTTP1))
					c.write(t, m.withBody(m.body))
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
						c.answer(t, s, m).wants(t, s.failure(upstream.CodeUnavailable), "")
					}
				})
			}
		})
	}
}

// TestHTTP2 streams over HTTP/2, and disconnects during a stream.
func TestHTTP2(t *testing.T) {
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		send := func(server *httptest.Server, c context.Context, body string) *http.Response {
			r, err := http.NewRequestWithContext(c, "POST", server.URL+m.path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Anthropic-Version", "2023-06-01")
			res, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { res.Body.Close() })
			if res.ProtoMajor != 2 {
				t.Fatalf("over %s", res.Proto)
			}
			return res
		}
		const maxBody = 1 << 20
		server := s.onLoopback(t, hello, upstream.HandlerOptions{Limits: content.Limits{Body: maxBody}}, startHTTP2)
		if a := s.receive(t, m, send(server, t.Context(), m.body)); a.word != "" || !strings.Contains(a.body, "Hello") {
			t.Errorf("%s", a.body)
		}
		s.receive(t, m, send(server, t.Context(), "{}")).wants(t, s.failure(upstream.CodeInvalid), "")
		s.receive(t, m, send(server, t.Context(), strings.Repeat(" ", maxBody+1))).wants(t, s.failure(upstream.CodeTooLarge), "")
		if !m.stream {
			return
		}
		up := waiting{true, make(chan struct{}, 1), make(chan error, 1)}
		o, done := reporting()
		c, cancel := context.WithCancel(t.Context())
		defer cancel()
		res := send(s.onLoopback(t, up, o, startHTTP2), c, m.body)
		if b, err := bufio.NewReader(res.Body).ReadByte(); err != nil {
			t.Fatalf("%q, %v", b, err)
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
	})
}

// TestFlood writes without end to clients that do not read. Memory is limited, and the
// handler closes their connections.
func TestFlood(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){"HTTP/1": startHTTP1, "HTTP/2": startHTTP2} {
		eachFormat(t, func(t *testing.T, s wireFormat) {
			t.Run(name, func(t *testing.T) {
				const clients = 4
				m := s.modes[1]
				piece := strings.Repeat("x", 16<<10)
				up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
					for {
						if err := w.Text(piece); err != nil {
							return err
						}
					}
				})
				o, done := reporting()
				o.Timeouts.Write = 500 * time.Millisecond
				server := s.onLoopback(t, up, o, start)
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				for range clients {
					if name == "HTTP/1" {
						dial(t, server).write(t, m.withBody(m.body))
						continue
					}
					r, _ := http.NewRequestWithContext(t.Context(), "POST", server.URL+m.path, strings.NewReader(m.body))
					r.Header.Set("Anthropic-Version", "2023-06-01")
					// On a busy machine a stream may be cut off before its headers are
					// read; there is still a report.
					if res, err := server.Client().Do(r); err == nil {
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
		})
	}
}

// TestOneConnection checks whether the connection stays usable after a request.
func TestOneConnection(t *testing.T) {
	long := strings.Repeat(" ", 1001)
	chunked := func(m mode, body string) string {
		return m.head("Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	}
	eachFormat(t, func(t *testing.T, s wireFormat) {
		m := s.modes[0]
		rejected := func(request string) string {
			return strings.Replace(request, "Anthropic-Version: 2023-06-01", s.invalid, 1)
		}
		get := func(lines string) string {
			return "GET " + s.models + " HTTP/1.1\r\nHost: x\r\nAnthropic-Version: 2023-06-01\r\n" + lines
		}
		for _, tt := range []struct {
			name string
			sent string
			code upstream.Code // empty: served
			open bool          // the connection is good for another request
		}{
			{"served", m.withBody(m.body), "", true},
			{"served in chunks", chunked(m, m.body), "", true},
			{"invalid", m.withBody("{}"), upstream.CodeInvalid, true},
			{"invalid JSON", m.withBody("{"), upstream.CodeInvalid, true},
			{"trailing garbage", m.withBody(m.body + "x"), upstream.CodeInvalid, true},
			{"second document", m.withBody(m.body + m.body), upstream.CodeInvalid, true},
			{"not found", "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", upstream.CodeNotFound, true},
			{"wrong method", "GET " + m.path + " HTTP/1.1\r\nHost: x\r\n\r\n", upstream.CodeMethod, true},
			{"too long", m.withBody(long), upstream.CodeTooLarge, true},
			{"too long, Expect", m.head("Expect: 100-continue\r\nContent-Length: 1001"), upstream.CodeTooLarge, false},
			{"too long in chunks", chunked(m, long), upstream.CodeTooLarge, true},
			{"too long in unfinished chunks", m.head("Transfer-Encoding: chunked") + "fffffff\r\n" + long, upstream.CodeTooLarge, false},
			{"unfinished chunks", m.head("Transfer-Encoding: chunked") + "5\r\n{\"a\":\r\n", upstream.CodeInvalid, false},
			{"invalid chunks", m.head("Transfer-Encoding: chunked") + "nonsense\r\n", upstream.CodeInvalid, false},
			{"body shorter than Content-Length", m.head("Content-Length: 500") + m.body, upstream.CodeInvalid, false},
			{"no body despite Content-Length", m.head("Content-Length: 500"), upstream.CodeInvalid, false},
			{"unread", rejected(m.withBody(m.body)), upstream.CodeInvalid, true},
			{"unread in chunks", rejected(chunked(m, m.body)), upstream.CodeInvalid, true},
			{"unread, 256 KiB", rejected(m.withBody(strings.Repeat(" ", 256<<10))), upstream.CodeInvalid, true},
			{"unread, more in chunks", rejected(chunked(m, strings.Repeat(" ", 256<<10+1))), upstream.CodeInvalid, false},
			{"unread, more", rejected(m.withBody(strings.Repeat(" ", 256<<10+1))), upstream.CodeInvalid, false},
			{"unread, Expect", rejected(m.head("Expect: 100-continue\r\nContent-Length: 70")), upstream.CodeInvalid, false},
			{"unread, half", rejected(m.head("Content-Length: 70") + "half"), upstream.CodeInvalid, false},
			{"GET with a body", get("Content-Length: 4\r\n\r\nbody"), upstream.CodeNotFound, true},
			{"GET with half a body", get("Content-Length: 4\r\n\r\nbo"), upstream.CodeNotFound, false},
		} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel() // the server waits before it closes a connection
				o, done := reporting()
				o.Limits.Body = 1000
				o.Timeouts.Body = 300 * time.Millisecond
				c := dial(t, s.onLoopback(t, hello, o, startHTTP1))
				c.write(t, tt.sent)
				next := s.modes[1]
				if tt.open {
					c.write(t, next.withBody(next.body)) // pipelined
				}
				want := failure{status: 200}
				if tt.code != "" {
					want = s.failure(tt.code)
				}
				c.answer(t, s, m).wants(t, want, "")
				if r := await(t, "report", done); r.Status != want.status || (r.Code == "") != (tt.code == "") {
					t.Errorf("report: %+v", r)
				}
				if !tt.open {
					if _, err := io.WriteString(c.TCPConn, m.withBody(m.body)); err == nil {
						c.closed(t)
					}
					return
				}
				if a := c.answer(t, s, next); a.word != "" || !strings.Contains(a.body, "Hello") {
					t.Errorf("the next request: %d %s", a.status, a.body)
				}
			})
		}
	})
}

// TestContinue checks that the handler sends 100 Continue when it needs the body, and not
// before it has validated the key.
func TestContinue(t *testing.T) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		t.Parallel() // the server waits before it closes a connection
		m := s.modes[1]
		server := s.onLoopback(t, hello, upstream.HandlerOptions{Authenticate: upstream.Keys("good")}, startHTTP1)
		head := fmt.Sprintf("Expect: 100-continue\r\nContent-Length: %d\r\nAuthorization: Bearer ", len(m.body))
		c := dial(t, server)
		c.write(t, m.head(head+"good"))
		if line, err := c.ReadString('\n'); !strings.Contains(line, "100 Continue") {
			t.Fatalf("%q, %v", line, err)
		}
		_, _ = c.ReadString('\n')
		c.write(t, m.body)
		if a := c.answer(t, s, m); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
		for name, head := range map[string]string{"waits": head, "does not": strings.Replace(head, "Expect", "X", 1)} {
			c = dial(t, server)
			c.write(t, m.head(head+"bad")) // the body never comes
			if a := c.answer(t, s, m); a.status != s.wrongKey {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
			c.closed(t)
		}
	})
}

// TestCutBody checks clients that disconnect, or stop sending, within the body.
func TestCutBody(t *testing.T) {
	for name, cut := range map[string]func(c *wire){
		"close": func(c *wire) { c.Close() },
		"reset": (*wire).reset,
		"half":  func(c *wire) { _ = c.CloseWrite() },
	} {
		eachMode(t, func(t *testing.T, s wireFormat, m mode) {
			t.Run(name, func(t *testing.T) {
				o, done := reporting()
				c := dial(t, s.onLoopback(t, hello, o, startHTTP1))
				c.write(t, m.head("Content-Length: 5000")+m.body)
				cut(c)
				if name == "half" {
					c.answer(t, s, m).wants(t, s.failure(upstream.CodeInvalid), "")
				}
				if r := await(t, "report", done); r.Status != 499 || r.Code != upstream.CodeCanceled {
					t.Errorf("report: %+v", r)
				}
				checkInFlight(t, o.Budget, 0, 0)
			})
		})
	}
}
