package fetch

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/polywire/polywire/content"
)

// A script is an origin with arbitrary behavior after a request, without TLS, on
// loopback.
type script struct {
	net.Listener
	sent atomic.Int64 // bytes written
	open atomic.Int32
}

func newScript(t *testing.T, play func(w io.Writer)) *script {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &script{Listener: l}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.open.Add(1)
			go func() {
				defer s.open.Add(-1)
				defer c.Close()
				for r := bufio.NewReader(c); ; {
					if line, err := r.ReadString('\n'); err != nil || line == "\r\n" {
						break
					}
				}
				play(counting{c, &s.sent})
			}()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return s
}

type counting struct {
	w io.Writer
	n *atomic.Int64
}

func (c counting) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n.Add(int64(n))
	return n, err
}

// fetcher returns a Fetcher whose connections lead to the script.
func (s *script) fetcher(t *testing.T, change func(*Options)) *Fetcher {
	o := Options{AllowHTTP: true}
	o.Lookup = func(context.Context, string, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr(public)}, nil
	}
	o.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Addr().String())
	}
	if change != nil {
		change(&o)
	}
	f, err := New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func say(text string) func(io.Writer) {
	return func(w io.Writer) { _, _ = io.WriteString(w, text) }
}

// flood writes head and then again until a write fails.
func flood(head, again string) func(io.Writer) {
	return func(w io.Writer) {
		_, err := io.WriteString(w, head)
		for err == nil {
			_, err = io.WriteString(w, again)
		}
	}
}

const (
	notFetched = " could not be fetched; make sure that the link is public and works"
	socketRoom = 16 << 20 // maximum size of the buffers of two sockets
)

func TestHostileOrigins(t *testing.T) {
	kib := strings.Repeat("x", 1<<10)
	for _, tt := range []struct {
		name string
		play func(io.Writer)
		want string // text after the link; "" means that the file is valid
		sent int64  // maximum, without socket buffers
	}{
		{"a file", say("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n" + png), "", 200},
		{"chunks", say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n" + png + "\r\n0\r\n\r\n"), "", 200},
		{"until closed", say("HTTP/1.0 200 OK\r\n\r\n" + png), "", 200},
		{"bytes after the Content-Length", say("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n" + png + kib), "", 2 << 10},
		{"identity", say("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Length: 12\r\n\r\n" + png), "", 200},
		{"interim response", say("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n" + png), "", 200},

		{"empty response", say(""), notFetched, 0},
		{"not HTTP", say("SSH-2.0-x\r\n"), notFetched, 100},
		{"empty file", say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), " is empty", 100},
		{"empty file until closed", say("HTTP/1.0 200 OK\r\n\r\n"), " is empty", 100},
		{"truncated", say("HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n" + png), notFetched, 100},
		{"truncated chunk", say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\n" + png), notFetched, 100},
		{"no last chunk", say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nc\r\n" + png + "\r\n"), notFetched, 100},
		{"invalid chunk", say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), notFetched, 100},
		{"two lengths", say("HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Length: 13\r\n\r\n" + png + "x"), notFetched, 200},
		{"a negative length", say("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n" + png), notFetched, 100},
		{"a length beyond the limit", flood("HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n"+png, kib), " is larger than 1048576 bytes", 0},
		{"maximum length", flood("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n"+png, kib), " is larger than 1048576 bytes", 0},
		{"endless", flood("HTTP/1.1 200 OK\r\n\r\n"+png, kib), " is larger than 1048576 bytes", 1 << 20},
		{"endless chunks", flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "400\r\n"+kib+"\r\n"), " is larger than 1048576 bytes", 1 << 20},
		{"endless small chunks", flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1;"+kib+"\r\nx\r\n"), notFetched, 1 << 20},
		{"endless headers", flood("HTTP/1.1 200 OK\r\n", "X: "+kib+"\r\n"), notFetched, 64 << 10},
		{"many headers", say("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+kib+"\r\n", 60) + "Content-Length: 12\r\n\r\n" + png), "", 64 << 10},
		{"too many headers", say("HTTP/1.1 200 OK\r\n" + strings.Repeat("X: "+kib+"\r\n", 64) + "Content-Length: 12\r\n\r\n" + png), notFetched, 68 << 10},
		{"an endless header", flood("HTTP/1.1 200 OK\r\nX: ", kib), notFetched, 64 << 10},
		{"an endless status line", flood("HTTP/1.1 200 ", kib), notFetched, 64 << 10},
		{"endless interim responses", flood("", "HTTP/1.1 103 Early Hints\r\nLink: "+kib+"\r\n\r\n"), notFetched, 64 << 10},
		{"an endless trailer", flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\nc\r\n"+png+"\r\n0\r\nX: ", kib), notFetched, 64 << 10},
		{"endless 404", flood("HTTP/1.1 404 Not Found\r\n\r\n", kib), " could not be fetched: the server returned status 404 instead of 200", 0},
		{"an endless redirect", flood("HTTP/1.1 302 Found\r\nLocation: http://127.1/\r\n\r\n", kib), notFetched, 0},
		{"gzip", say("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\n" + png), " was sent with a Content-Encoding; it must be sent uncompressed", 200},
		{"unknown coding", say("HTTP/1.1 200 OK\r\nContent-Encoding: identity\r\nContent-Encoding: , zip\r\nContent-Length: 12\r\n\r\n" + png), " was sent with a Content-Encoding; it must be sent uncompressed", 200},
		{"gzip in transfer", say("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + png), notFetched, 200},
		{"206", say("HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-11/99\r\nContent-Length: 12\r\n\r\n" + png), " could not be fetched: the server returned status 206 instead of 200", 200},
		{"204", say("HTTP/1.1 204 No Content\r\n\r\n"), " could not be fetched: the server returned status 204 instead of 200", 100},
		{"401", say("HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n"), " could not be fetched: the server returned status 401 instead of 200", 100},
		{"500", say("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"), " could not be fetched: the server returned status 500 instead of 200", 100},
		{"101", say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"), " could not be fetched: the server returned status 101 instead of 200", 100},
		{"HTTP/2", say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), notFetched, 100},
		{"wrong Content-Type", say("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 6\r\n\r\n<html>"), " does not match its Content-Type, image/png", 200},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t, tt.play)
			f := s.fetcher(t, func(o *Options) { o.Limits.File = 1 << 20 })
			b, err := fetch(t, f, "http://files.example.com/a?key")
			var e *content.Violation
			switch {
			case tt.want == "" && (err != nil || string(b.Data) != png):
				t.Errorf("%q, %v", b.Data, err)
			case tt.want != "" && !errors.As(err, &e):
				t.Errorf("%q, %v", b.Data, err)
			case tt.want != "" && (e.Text != "the file at http://files.example.com/a"+tt.want || e.Err == nil):
				t.Errorf("%q (%v), want %q", e.Text, e.Err, tt.want)
			}
			checkEnded(t, &s.open)
			if n := s.sent.Load(); n > tt.sent+socketRoom {
				t.Errorf("the origin wrote %d bytes", n)
			}
		})
	}
}

// TestPromisedMemory checks memory use for an origin that announces a large body and
// sends little.
func TestPromisedMemory(t *testing.T) {
	s := newScript(t, say("HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n"+png))
	f := s.fetcher(t, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := fetch(t, f, "http://files.example.com/a"); err == nil {
		t.Error("a truncated file was accepted")
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 512<<10 {
		t.Errorf("%d bytes were allocated for 12 that arrived", n)
	}
	checkEnded(t, &s.open)
}

// TestRead reads bodies in pieces of different sizes, with known and unknown length.
func TestRead(t *testing.T) {
	f, err := New(&Options{Limits: Limits{File: 300_000}})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{0, 1, initialBuffer - 1, initialBuffer, initialBuffer + 1, 2 * initialBuffer, 299_999, 300_000, 300_001} {
		want := strings.Repeat("0123456789", size/10+1)[:size]
		for _, length := range []int64{-1, int64(size), int64(size) + 1, int64(size) - 1} {
			if length < -1 {
				continue
			}
			got, err := f.readBody(io.MultiReader(strings.NewReader(want[:size/2]), strings.NewReader(want[size/2:])), length)
			if good := size <= 300_000 && (length == -1 || length == int64(size)); (err == nil) != good {
				t.Errorf("%d bytes of %d: %v", size, length, err)
			} else if good && string(got) != want {
				t.Errorf("%d bytes of %d: other bytes", size, length)
			}
			if room := cap(got) - len(got); room > len(got)/4+1 {
				t.Errorf("%d bytes of %d: room for %d more", size, length, room)
			}
		}
	}
}
