package generatecontent

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

// inBubble runs f with a server for up. What the server does is over when it
// returns.
func inBubble(t *testing.T, up upstream.Upstream, o Options, f func(t *testing.T, p *pipeServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &pipeServer{conns: make(chan net.Conn), over: make(chan struct{})}
		transport := &http.Transport{
			DisableCompression: true,
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				select {
				case p.conns <- server:
					return client, nil
				case <-p.over:
					return nil, net.ErrClosed
				}
			},
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

// send sends a request with a small body.
func (p *pipeServer) send(ctx context.Context, t *testing.T, path string, edits ...func(*http.Request)) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://pipe"+path, strings.NewReader(smallBody))
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range edits {
		edit(r)
	}
	res, err := p.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A read is what one read of a body has brought, and when.
type read struct {
	after time.Duration
	data  string
}

// reads reads a body to its end, piece by piece.
func reads(t *testing.T, res *http.Response, start time.Time) (list []read) {
	t.Helper()
	defer res.Body.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := res.Body.Read(buf)
		if n > 0 {
			list = append(list, read{time.Since(start), string(buf[:n])})
		}
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatalf("%v after %v", err, list)
		}
	}
}

func joinedReads(list []read) string {
	var b strings.Builder
	for _, r := range list {
		b.WriteString(r.data)
	}
	return b.String()
}

// sleep waits, or fails when ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// took checks that something took at least d, and not much longer.
func took(t *testing.T, what string, got, d, slack time.Duration) {
	t.Helper()
	if got < d || got > d+slack {
		t.Errorf("%s took %v, want %v to %v", what, got, d, d+slack)
	}
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
			p.send(t.Context(), t, "/v1beta/models/m:streamGenerateContent")
			t.SkipNow()
		})
	})
	if !over {
		t.Error("the answer was not ended")
	}
}
