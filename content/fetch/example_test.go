package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/content/fetch"
)

// serve returns the address of a server with one image, on loopback.
func serve() (addr netip.AddrPort, stop func()) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "GIF89a\x0d\x00\x07\x00")
	}))
	return s.Listener.Addr().(*net.TCPAddr).AddrPort(), s.Close
}

func Example() {
	addr, stop := serve()
	defer stop()
	link := &content.URL{URL: fmt.Sprintf("http://%v/cat.gif?size=2", addr)}

	// By default, files are fetched from public hosts over https.
	public, err := fetch.New(nil)
	if err != nil {
		panic(err)
	}
	_, err = public.Resolve(context.Background(), link)
	fmt.Println(err)

	// This host also has a file server, on one port of one machine.
	own, err := fetch.New(&fetch.Options{
		AllowHTTP:     true,
		AllowPrefixes: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Ports:         []uint16{addr.Port()},
	})
	if err != nil {
		panic(err)
	}
	blob, err := own.Resolve(context.Background(), link)
	fmt.Println(blob.MediaType, len(blob.Data), err)
	// Output:
	// the link must begin with https://
	// image/gif 10 <nil>
}

func ExampleCheck() {
	for _, link := range []string{
		"https://example.com/cat.gif",
		"https://127.1/",
		"https://[::ffff:169.254.169.254]/latest/",
		"https://user:password@example.com/",
	} {
		fmt.Println(fetch.Check(link))
	}
	// Output:
	// <nil>
	// the link names a host that is not a valid name or address
	// the link names a host that is not on the public internet
	// the link must not contain a user name or password
}

// A cache caches files by link. A real cache would limit its size and the age of files.
type cache struct {
	next  *fetch.Fetcher
	files sync.Map
}

func (c *cache) Resolve(ctx context.Context, s content.Source) (content.Blob, error) {
	link, ok := s.(*content.URL)
	if !ok {
		return content.Blob{}, content.ErrUnresolved
	}
	if b, ok := c.files.Load(link.URL); ok {
		return b.(content.Blob), nil
	}
	b, err := c.next.Resolve(ctx, link)
	if err == nil {
		c.files.Store(link.URL, b)
	}
	return b, err
}

// Check lets handlers refuse invalid links before anything is fetched.
func (c *cache) Check(link string) error { return c.next.Check(link) }

func ExampleFetcher_cache() {
	addr, stop := serve()
	f, err := fetch.New(&fetch.Options{AllowHTTP: true, AllowPrivate: true, AnyPort: true})
	if err != nil {
		panic(err)
	}
	c := &cache{next: f}
	link := &content.URL{URL: fmt.Sprintf("http://%v/cat.gif", addr)}
	first, err := c.Resolve(context.Background(), link)
	fmt.Println(first.MediaType, err)

	stop() // the origin is gone
	second, err := c.Resolve(context.Background(), link)
	fmt.Println(second.MediaType, err)
	// Output:
	// image/gif <nil>
	// image/gif <nil>
}

func ExampleFetcher_Resolve_failure() {
	f, err := fetch.New(&fetch.Options{
		Lookup: func(context.Context, string, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
		},
	})
	if err != nil {
		panic(err)
	}
	_, err = f.Resolve(context.Background(), &content.URL{URL: "https://intranet.example.com/plan.pdf?sig=secret"})
	fmt.Println("to the client:", err)
	var problem *content.Violation
	if errors.As(err, &problem) {
		fmt.Println("to the log:", problem.Err)
	}
	// Output:
	// to the client: the file at https://intranet.example.com/plan.pdf could not be fetched; make sure that the link is public and works
	// to the log: the address 10.0.0.1 is not permitted
}
