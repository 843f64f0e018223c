package messages

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/upstream"
)

// A pipeServer is a real server over pipes, for bubbles: time is fake in it, and
// a goroutine that is left over when the test ends fails the test.
type pipeServer struct {
	http.Client
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func (p *pipeServer) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *pipeServer) Close() error {
	p.once.Do(func() { close(p.over) })
	return nil
}

func (p *pipeServer) Addr() net.Addr { return &net.UnixAddr{} }

// dial returns the client's side of a new connection.
func (p *pipeServer) dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

// inBubble runs f with a server for h. What the server does is over when it
// returns.
func inBubble(t *testing.T, up upstream.Upstream, o Options, f func(t *testing.T, p *pipeServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipeServer{conns: make(chan net.Conn), over: make(chan struct{})}
		transport := &http.Transport{
			DisableCompression: true,
			DialContext:        func(context.Context, string, string) (net.Conn, error) { return p.dial() },
		}
		p.Transport = transport
		srv := &http.Server{Handler: NewHandler(up, &o)}
		served := make(chan error)
		go func() { served <- srv.Serve(p) }()
		whole := false
		defer func() {
			stop := func() error { return srv.Shutdown(context.Background()) }
			if !whole { // f has ended the test, and answers may be half read
				stop = srv.Close
			}
			transport.CloseIdleConnections()
			if err := stop(); err != nil {
				t.Error(err)
			}
			if err := <-served; !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		}()
		f(t, p)
		whole = true
	})
}

// send sends a request with a body.
func (p *pipeServer) send(t *testing.T, ctx context.Context, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://pipe/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("anthropic-version", "2023-06-01")
	return p.Do(r)
}

// mustSend sends a request and reads the whole answer.
func (p *pipeServer) mustSend(t *testing.T, body string) (*http.Response, string) {
	t.Helper()
	res, err := p.send(t, t.Context(), body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%v after %q", err, all)
	}
	return res, string(all)
}

// mustEnd checks a stream by the grammar, and returns the type of its error, if
// it has one.
func mustEnd(t *testing.T, stream string) (a *accumulator, kind string) {
	t.Helper()
	a, err := accumulate(stream)
	if err != nil {
		t.Fatalf("%v\n%s", err, stream)
	}
	if a.failure != nil {
		kind = a.failure["error"].(map[string]any)["type"].(string)
	}
	return a, kind
}

// took checks that something took at least d, and not much longer.
func took(t *testing.T, what string, got, d, slack time.Duration) {
	t.Helper()
	if got < d || got > d+slack {
		t.Errorf("%s took %v, want %v to %v", what, got, d, d+slack)
	}
}

// A probe is an OnDone and a place for what an upstream saw.
type probe struct {
	reports []*upstream.Report
}

func (p *probe) serving() upstream.Serving {
	return upstream.Serving{OnDone: func(_ context.Context, r *upstream.Report) { p.reports = append(p.reports, r) }}
}

// one returns the only report.
func (p *probe) one(t *testing.T) *upstream.Report {
	t.Helper()
	synctest.Wait()
	if len(p.reports) != 1 {
		t.Fatalf("%d reports, want 1", len(p.reports))
	}
	return p.reports[0]
}

// A test that ends amid an answer must not leave anything behind: that would
// be a panic of the whole process.
func TestBubbleEndsEarly(t *testing.T) {
	over := false
	up := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		defer func() { over = true }()
		if err := w.Text("a"); err != nil {
			return err
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	t.Run("", func(t *testing.T) {
		inBubble(t, up, Options{}, func(t *testing.T, p *pipeServer) {
			if _, err := p.send(t, t.Context(), streamBody); err != nil {
				t.Error(err)
			}
			t.SkipNow()
		})
	})
	if !over {
		t.Error("the answer was not ended")
	}
}
