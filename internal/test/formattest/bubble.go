package formattest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/upstream"
)

// A Server is an HTTP server over pipes for tests in bubbles. Time is fake in a
// bubble, and a goroutine that is left when the test ends fails the test. The
// Client connects to this server regardless of the host in the URL. A request
// whose response may not be read to its end needs the context of the test.
type Server struct {
	http.Client
	line listener
}

// Dial returns the client's side of a new connection.
func (s *Server) Dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case s.line.conns <- server:
		return client, nil
	case <-s.line.over:
		return nil, net.ErrClosed
	}
}

// A listener accepts the connections that Dial makes.
type listener struct {
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.over:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.over) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.UnixAddr{} }

// Bubble runs f in a bubble with a server for h. The server has stopped when
// Bubble returns, even if f ends the test in the middle of a response.
func Bubble(t *testing.T, h http.Handler, f func(t *testing.T, s *Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &Server{line: listener{conns: make(chan net.Conn), over: make(chan struct{})}}
		transport := &http.Transport{
			DisableCompression: true,
			DialContext:        func(context.Context, string, string) (net.Conn, error) { return s.Dial() },
		}
		s.Transport = transport
		srv := &http.Server{Handler: h}
		served := make(chan error)
		go func() { served <- srv.Serve(&s.line) }()
		whole := false
		defer func() {
			stop := func() error { return srv.Shutdown(context.Background()) }
			if !whole { // f has ended the test; a response may not be read to its end
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
		f(t, s)
		whole = true
	})
}

// Sleep waits for d. It returns the cause if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Took checks that got is between d and d+slack. what names the operation in the
// error.
func Took(t *testing.T, what string, got, d, slack time.Duration) {
	t.Helper()
	if got < d || got > d+slack {
		t.Errorf("%s took %v, want %v to %v", what, got, d, d+slack)
	}
}

// Pausing is an upstream that responds with "ab" after 50 seconds and "cd" after 40 more.
var Pausing upstream.Func = func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
	for _, part := range []struct {
		pause time.Duration
		text  string
	}{{50 * time.Second, "ab"}, {40 * time.Second, "cd"}} {
		if err := Sleep(ctx, part.pause); err != nil {
			return err
		}
		if err := w.Text(part.text); err != nil {
			return err
		}
	}
	return nil
}
