package fetch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

// BenchmarkFetch compares a Fetcher with a plain client that also opens a connection
// for each request, over loopback. It reports the ratio of their times.
func BenchmarkFetch(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20, 24 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			file := append([]byte(png), bytes.Repeat([]byte("x"), size-len(png))...)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(len(file)))
				_, _ = w.Write(file)
			}))
			defer s.Close()
			port := s.Listener.Addr().(*net.TCPAddr).AddrPort().Port()
			f, err := New(&Options{AllowHTTP: true, AllowPrivate: true, AnyPort: true,
				Lookup: func(context.Context, string, string) ([]netip.Addr, error) {
					return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
				}})
			if err != nil {
				b.Fatal(err)
			}
			bare := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
			var client, server time.Duration
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				start := time.Now()
				if err := get(&bare, s.URL); err != nil {
					b.Fatal(err)
				}
				server += time.Since(start)
				b.StartTimer()
				start = time.Now()
				if _, err := fetch(b, f, fmt.Sprintf("http://files.example.com:%d/a", port)); err != nil {
					b.Fatal(err)
				}
				client += time.Since(start)
			}
			b.ReportMetric(float64(client)/float64(server), "bare")
		})
	}
}

// get reads a body with io.ReadAll.
func get(c *http.Client, link string) error {
	resp, err := c.Get(link)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.ReadAll(resp.Body)
	return err
}

func BenchmarkCheck(b *testing.B) {
	f, err := New(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := f.Check("https://files.example.com/a/b/c.png?signature=0123456789abcdef"); err != nil {
			b.Fatal(err)
		}
	}
}
