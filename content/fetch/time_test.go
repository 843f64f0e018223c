package fetch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/content"
)

// A clocked origin is at the other end of a pipe, in a synctest bubble.
type clocked struct {
	lookUp  time.Duration // duration of a lookup
	connect time.Duration // duration of a connection attempt
	addrs   int           // addresses of the name; 0 means 1
	play    func(w net.Conn)

	mu    sync.Mutex
	conns []net.Conn // returned by Dial
}

func (c *clocked) options() *Options {
	return &Options{
		AllowHTTP: true,
		Lookup: func(ctx context.Context, _, _ string) ([]netip.Addr, error) {
			addrs := []netip.Addr{netip.MustParseAddr(public)}
			for range c.addrs - 1 {
				addrs = append(addrs, addrs[len(addrs)-1].Next())
			}
			return addrs, sleep(ctx, c.lookUp)
		},
		Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if err := sleep(ctx, c.connect); err != nil {
				return nil, err
			}
			client, server := net.Pipe()
			c.mu.Lock()
			c.conns = append(c.conns, server)
			c.mu.Unlock()
			go func() {
				defer server.Close()
				c.play(server)
			}()
			return client, nil
		},
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// asked reads a request.
func asked(c net.Conn) {
	for r := bufio.NewReader(c); ; {
		if line, err := r.ReadString('\n'); err != nil || line == "\r\n" {
			return
		}
	}
}

// hush reads and writes nothing.
func hush(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// trickle writes head and then a byte per second.
func trickle(head, again string) func(net.Conn) {
	return func(c net.Conn) {
		asked(c)
		_, err := io.WriteString(c, head)
		for i := 0; err == nil; i++ {
			time.Sleep(time.Second)
			_, err = io.WriteString(c, again[i%len(again):i%len(again)+1])
		}
	}
}

func TestTimeouts(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    *clocked
		link string
		want time.Duration
	}{
		{"slow lookup", &clocked{lookUp: time.Hour}, "https://files.io/", 3 * time.Second},
		{"a slow connection", &clocked{connect: time.Hour}, "https://files.io/", 5 * time.Second},
		{"twelve slow connections", &clocked{connect: time.Hour, addrs: 12}, "https://files.io/", 5 * time.Second},
		{"slow lookup and connection", &clocked{lookUp: 2 * time.Second, connect: time.Hour}, "https://files.io/", 7 * time.Second},
		{"a silent handshake", &clocked{play: hush}, "https://files.io/", 5 * time.Second},
		{"no response", &clocked{play: hush}, "http://files.io/", 10 * time.Second},
		{"a request that is not read", &clocked{play: func(net.Conn) { time.Sleep(40 * time.Second) }}, "http://files.io/", 30 * time.Second},
		{"a trickle of headers", &clocked{play: trickle("HTTP/1.1 200 OK\r\n", "X: a\r\n")}, "http://files.io/", 10 * time.Second},
		{"a trickle of interim responses", &clocked{play: trickle("", "HTTP/1.1 103 x\r\n\r\n")}, "http://files.io/", 10 * time.Second},
		{"no body", &clocked{play: func(c net.Conn) {
			asked(c)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n")
			hush(c)
		}}, "http://files.io/", 30 * time.Second},
		{"a trickle of a body", &clocked{play: trickle("HTTP/1.1 200 OK\r\n\r\n", png)}, "http://files.io/", 30 * time.Second},
		{"a trickle of chunks", &clocked{play: trickle("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n")},
			"http://files.io/", 30 * time.Second},
		{"slow redirects", &clocked{play: func(c net.Conn) {
			asked(c)
			time.Sleep(9 * time.Second)
			_, _ = io.WriteString(c, "HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n")
		}}, "http://files.io/", 30 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, err := New(tt.c.options())
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				_, err = f.Resolve(t.Context(), &content.URL{URL: tt.link + "?secret"})
				if took := time.Since(start); took != tt.want {
					t.Errorf("it took %v, want %v", took, tt.want)
				}
				var e *content.Violation
				if !errors.As(err, &e) || e.Text != "the file at "+tt.link+notFetched {
					t.Errorf("%v", err)
				}
				still(t)
				for _, c := range tt.c.conns {
					if _, err := c.Write([]byte("x")); err == nil {
						t.Error("the connection is still open")
					}
				}
				time.Sleep(time.Minute) // lets the origin end
			})
		})
	}
}

// still checks, in a bubble, that no goroutine of a fetch is left.
func still(t *testing.T) {
	t.Helper()
	synctest.Wait()
	if left := fetchStack(); left != "" {
		t.Errorf("left over: %s", left)
	}
}

// TestSecondAddress checks that the next address is used if the first does not respond.
func TestSecondAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clocked{addrs: 2, play: func(c net.Conn) {
			asked(c)
			_, _ = io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\n"+png)
		}}
		o := c.options()
		dial, dead := o.Dial, public+":80"
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == dead {
				return nil, sleep(ctx, time.Hour)
			}
			return dial(ctx, network, address)
		}
		f, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if b, err := fetch(t, f, "http://files.io/"); err != nil || string(b.Data) != png {
			t.Errorf("%q, %v", b.Data, err)
		}
		if took := time.Since(start); took != 2500*time.Millisecond {
			t.Errorf("it took %v, want half of the time for connections", took)
		}
	})
}

// TestClientLeaves cancels the caller's context at each stage. The fetch must end at
// once with the caller's cause.
func TestClientLeaves(t *testing.T) {
	left := errors.New("the client left")
	for name, c := range map[string]*clocked{
		"look-up":    {lookUp: time.Hour},
		"connection": {connect: time.Hour},
		"handshake":  {play: hush},
		"headers":    {play: trickle("HTTP/1.1 200 OK\r\n", "X: a\r\n")},
		"body":       {play: trickle("HTTP/1.1 200 OK\r\n\r\n", png)},
	} {
		synctest.Test(t, func(t *testing.T) {
			f, err := New(c.options())
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(1500*time.Millisecond, func() { cancel(left) })
			link := "http://files.io/"
			if name == "handshake" {
				link = "https://files.io/"
			}
			start := time.Now()
			if _, err = f.Resolve(ctx, &content.URL{URL: link}); err != left {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(start); took != 1500*time.Millisecond {
				t.Errorf("%s: it took %v to notice", name, took-1500*time.Millisecond)
			}
			still(t)
			time.Sleep(time.Minute) // lets the origin end
		})
	}
}

// TestUnresponsiveFunctions checks functions of the host that ignore their context. The
// fetch must still end, and close what they return late.
func TestUnresponsiveFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clocked{}
		o := c.options()
		late := make(chan net.Conn, 1)
		o.Dial = func(context.Context, string, string) (net.Conn, error) {
			time.Sleep(time.Hour)
			client, server := net.Pipe()
			late <- server
			return client, nil
		}
		f, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := fetch(t, f, "http://files.io/"); err == nil {
			t.Error("no error")
		}
		if took := time.Since(start); took != 30*time.Second {
			t.Errorf("it took %v", took)
		}
		conn := <-late
		time.Sleep(time.Minute)
		if _, err := conn.Write([]byte("x")); err == nil {
			t.Error("the late connection is open")
		}
	})
}

// TestConcurrency fetches more files than Limits.Concurrency.
func TestConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clocked{play: func(c net.Conn) {
			asked(c)
			time.Sleep(8 * time.Second)
			_, _ = io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\n"+png)
		}}
		o := c.options()
		o.Limits.Concurrency = 2
		f, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		var busy, good int
		results := make(chan error)
		for range 10 {
			go func() {
				_, err := fetch(t, f, "http://files.io/")
				results <- err
			}()
		}
		for range 10 {
			switch err := <-results; {
			case err == nil:
				good++
			case errors.Is(err, ErrBusy):
				busy++
				if took := time.Since(start); took != 15*time.Second {
					t.Errorf("busy after %v", took)
				}
			default:
				t.Error(err)
			}
		}
		if good != 4 || busy != 6 {
			t.Errorf("%d files, %d busy; want 4 and 6", good, busy)
		}
		if _, err := fetch(t, f, "http://files.io/"); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}
