package crosstest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// hello responds with one word.
var hello = upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
	return w.Text("Hello.")
})

// A waiting upstream waits for the end of its context.
type waiting struct {
	begun  bool          // writes a word before
	called chan struct{} // receives a value before it waits, unless nil
	ended  chan error    // receives the cause, unless nil
}

func (u waiting) Generate(c context.Context, _ *upstream.Request, w *upstream.Writer) error {
	if u.begun {
		if err := w.Text("ab"); err != nil {
			return err
		}
	}
	if u.called != nil {
		u.called <- struct{}{}
	}
	<-c.Done()
	if u.ended != nil {
		u.ended <- context.Cause(c)
	}
	return c.Err()
}

// checkInFlight checks the use of a budget.
func checkInFlight(t *testing.T, b *upstream.Budget, requests int, bytes int64) {
	t.Helper()
	if n, size := b.InFlight(); int(n) != requests || size != bytes {
		t.Errorf("in flight: %d requests and %d bytes, want %d and %d", n, size, requests, bytes)
	}
}

// A probe records the reports of a handler in a bubble.
type probe []*upstream.Report

func (p *probe) options() upstream.HandlerOptions {
	return upstream.HandlerOptions{
		Budget: new(upstream.Budget),
		OnDone: func(_ context.Context, r *upstream.Report) { *p = append(*p, r) },
	}
}

// one returns the only report.
func (p *probe) one(t *testing.T) *upstream.Report {
	t.Helper()
	synctest.Wait()
	if len(*p) != 1 {
		t.Fatalf("%d reports, want 1", len(*p))
	}
	return (*p)[0]
}

// A bubble is a server of a format in a synctest bubble.
type bubble struct {
	*formattest.Server
	format wireFormat
}

// inBubble runs f with a server for up.
func (s wireFormat) inBubble(t *testing.T, up upstream.Upstream, o upstream.HandlerOptions, f func(t *testing.T, b *bubble)) {
	t.Helper()
	formattest.Bubble(t, s.handler(up, o), func(t *testing.T, server *formattest.Server) { f(t, &bubble{server, s}) })
}

// send sends a request.
func (b *bubble) send(t *testing.T, ctx context.Context, m mode) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://pipe"+m.path, strings.NewReader(m.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	return b.Do(r)
}

// ask sends a request and reads the response.
func (b *bubble) ask(t *testing.T, m mode) *answer {
	t.Helper()
	res, err := b.send(t, t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return b.format.receive(t, m, res)
}

// Tests on loopback wait for events, with a long timeout.
const soon = 10 * time.Second

// await waits for an event.
func await[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(soon):
		t.Fatalf("%s: nothing happened", what)
	}
	return v
}

// reporting returns options that send every report to the test.
func reporting() (upstream.HandlerOptions, <-chan *upstream.Report) {
	c := make(chan *upstream.Report, 100)
	return upstream.HandlerOptions{
		Budget: new(upstream.Budget),
		OnDone: func(_ context.Context, r *upstream.Report) { c <- r },
	}, c
}

// onLoopback serves up on loopback until the test ends.
func (s wireFormat) onLoopback(t *testing.T, up upstream.Upstream, o upstream.HandlerOptions, start func(*httptest.Server)) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(s.handler(up, o))
	start(server)
	t.Cleanup(server.Close)
	return server
}

func startHTTP1(s *httptest.Server) { s.Start() }
func startHTTP2(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() }

// readBody reads a body to its end, or to the break after the error of a generateContent
// stream.
func readBody(from io.Reader) ([]byte, error) {
	b, err := io.ReadAll(from)
	if err == io.ErrUnexpectedEOF {
		end := bytes.TrimRight(b, "\r\n]")
		last := bytes.LastIndexByte(end, '\n')
		if bytes.HasPrefix(bytes.TrimPrefix(end[last+1:], []byte("data: ")), []byte(`{"error":{"code":`)) {
			return b, nil
		}
	}
	return b, err
}

// send sends a request, which edits may change, and reads the response.
func send(t *testing.T, url, body string, edits ...func(*http.Request)) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return new(http.Response), ""
	}
	r.Header.Set("Anthropic-Version", "2023-06-01")
	for _, edit := range edits {
		edit(r)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return new(http.Response), ""
	}
	defer res.Body.Close()
	b, err := readBody(res.Body)
	if err != nil {
		t.Errorf("%v after %q", err, b)
	}
	return res, string(b)
}

// once makes the server close the connection after the response.
func once(r *http.Request) { r.Close = true }

// head returns the head of a handwritten request with an additional header line.
func (m mode) head(line string) string {
	return "POST " + m.path + " HTTP/1.1\r\nHost: x\r\nAnthropic-Version: 2023-06-01\r\n" + line + "\r\n\r\n"
}

// withBody returns a handwritten request with another body.
func (m mode) withBody(body string) string {
	return m.head(fmt.Sprint("Content-Length: ", len(body))) + body
}

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

func (w *wire) write(t *testing.T, data string) {
	t.Helper()
	if _, err := io.WriteString(w.TCPConn, data); err != nil {
		t.Fatal(err)
	}
}

// answer reads one response.
func (w *wire) answer(t *testing.T, s wireFormat, m mode) *answer {
	t.Helper()
	res, err := http.ReadResponse(w.Reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.receive(t, m, res)
}

// reset closes the connection with a reset instead of an end.
func (w *wire) reset() { _ = w.SetLinger(0); w.Close() }

// closed checks that the server closed the connection and sent nothing before.
func (w *wire) closed(t *testing.T) {
	t.Helper()
	b, err := io.ReadAll(w.Reader)
	var timeout net.Error
	if len(b) > 0 || errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("%q, %v; want the connection closed", b, err)
	}
}
