package fetch

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// TestRequest checks everything that an origin receives, also after a redirect.
func TestRequest(t *testing.T) {
	got := make(chan string, 2)
	w := newTestNetwork(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/to" {
			http.SetCookie(w, &http.Cookie{Name: "c", Value: "1"})
			w.Header().Set("Location", "/é.png?q=é&k=%41#top")
			w.WriteHeader(http.StatusFound)
			return
		}
		dump, err := httputil.DumpRequest(r, true)
		if err != nil {
			t.Error(err)
		}
		got <- string(dump)
		_, _ = w.Write([]byte(png))
	}))
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	if _, err := fetch(t, w.fetcher(nil), "https://files.example.com/to#top"); err != nil {
		t.Fatal(err)
	}
	want := "GET /%C3%A9.png?q=%C3%A9&k=%41 HTTP/1.1\r\nHost: files.example.com\r\nAccept: */*\r\nAccept-Encoding: identity\r\n" +
		"Connection: close\r\nUser-Agent: " + userAgent + "\r\n\r\n"
	if diff := cmp.Diff(want, <-got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	w.checkClosed()
}

func TestMediaTypes(t *testing.T) {
	gif, jpeg, webp := "GIF89a......", "\xff\xd8\xff......", "RIFF....WEBP"
	for _, tt := range []struct {
		body  string
		label []string
		want  string // if ok
		ok    bool
	}{
		{png, []string{"image/png"}, "image/png", true},
		{png, []string{"text/html"}, "image/png", true},
		{png, nil, "image/png", true},
		{pdf, []string{"application/octet-stream"}, "application/pdf", true},
		{gif, []string{"image/png"}, "image/gif", true},
		{jpeg, []string{"image/jpg"}, "image/jpeg", true},
		{webp, []string{""}, "image/webp", true},
		{"hello", []string{"text/plain; charset=utf-8"}, "text/plain", true},
		{"hello", []string{"Text/HTML"}, "text/html", true},
		{"hello", []string{"text/plain; charset"}, "text/plain", true},
		{"hello", []string{"text/plain", "text/html"}, "", true},
		{"hello", []string{"nonsense"}, "", true},
		{"hello", []string{"a b/c d"}, "", true},
		{"hello", nil, "", true},
		{"hello", []string{"image/png"}, "", false},
		{"hello", []string{"IMAGE/JPG"}, "", false},
		{"hello", []string{"application/pdf; x=y"}, "", false},
		{" " + pdf, []string{"application/pdf"}, "", false},
		{png[:7], []string{"image/png"}, "", false},
	} {
		w := newTestNetwork(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = tt.label
			_, _ = io.WriteString(w, tt.body)
		}))
		b, err := fetch(t, w.fetcher(nil), "https://files.example.com/a")
		var e *content.Violation
		switch {
		case tt.ok && (err != nil || b.MediaType != tt.want || string(b.Data) != tt.body):
			t.Errorf("%q as %q: %q, %v; want %q", tt.body, tt.label, b.MediaType, err, tt.want)
		case !tt.ok && (!errors.As(err, &e) || e.Code != content.CodeMedia):
			t.Errorf("%q as %q: %q, %v; want a violation", tt.body, tt.label, b.MediaType, err)
		}
		w.origin.Close()
	}
}

func TestOtherSources(t *testing.T) {
	f, err := New(&Options{Transport: panicTripper{}})
	if err != nil {
		t.Fatal(err)
	}
	var none *content.URL
	for _, s := range []content.Source{&content.File{ID: "f"}, &content.PlainText{}, none, nil} {
		if _, err := f.Resolve(t.Context(), s); !errors.Is(err, content.ErrUnresolved) {
			t.Errorf("%T: %v", s, err)
		}
	}
	var e *content.Violation
	if _, err := (Off{}).Resolve(t.Context(), &content.URL{URL: "https://files.io/"}); !errors.As(err, &e) || e.Code != content.CodeUnsupported {
		t.Errorf("Off: %v", err)
	}
	if _, err := (Off{}).Resolve(t.Context(), &content.File{}); !errors.Is(err, content.ErrUnresolved) {
		t.Errorf("Off: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Resolve(ctx, &content.URL{URL: "https://files.io/"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that is over: %v", err)
	}
}

// TestSecretsOfLinks checks that error texts contain no secrets of links.
func TestSecretsOfLinks(t *testing.T) {
	w := newTestNetwork(t, http.NotFoundHandler())
	for link, want := range map[string]string{
		"https://files.example.com/a/b.png?sig=KEY#KEY":               "https://files.example.com/a/b.png",
		"https://files.example.com?sig=KEY":                           "https://files.example.com",
		"https://files.example.com:443/é%20?KEY":                      "https://files.example.com:443/%C3%A9%20",
		"https://files.example.com/" + strings.Repeat("a", 600) + "?": "https://files.example.com/" + strings.Repeat("a", 486) + "…",
	} {
		_, err := fetch(t, w.fetcher(nil), link)
		if got, want := err.Error(), "the file at "+want+" could not be fetched: the server returned status 404 instead of 200"; got != want {
			t.Errorf("%s\ngot  %s\nwant %s", link, got, want)
		}
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		_, err = fetch(t, w.fetcher(func(o *Options) { o.RootCAs = nil }), link)
		var e *content.Violation
		if !errors.As(err, &e) || !strings.HasSuffix(e.Text, notFetched) || strings.Contains(e.Text+e.Err.Error(), "KEY") {
			t.Errorf("%s: %v, %v", u.Host, err, e)
		}
	}
	w.checkClosed()
}

func TestBadOptions(t *testing.T) {
	lookUp := new(net.Resolver).LookupNetIP
	for name, o := range map[string]Options{
		"Limits.URL":         {Limits: Limits{URL: -1}},
		"Limits.File":        {Limits: Limits{File: 1 << 60}},
		"Limits.Header":      {Limits: Limits{Header: -1}},
		"Limits.Redirects":   {Limits: Limits{Redirects: 1000}},
		"Limits.Concurrency": {Limits: Limits{Concurrency: -64}},
		"Timeouts.Lookup":    {Timeouts: Timeouts{Lookup: -1}},
		"Timeouts.Connect":   {Timeouts: Timeouts{Connect: -1}},
		"Timeouts.TLS":       {Timeouts: Timeouts{TLS: -1}},
		"Timeouts.Header":    {Timeouts: Timeouts{Header: -1}},
		"Timeouts.Total":     {Timeouts: Timeouts{Total: 2 * time.Hour}},
		"Ports":              {Ports: []uint16{8443, 0}},
		"AllowPrefixes":      {AllowPrefixes: []netip.Prefix{{}}},
		"DenyPrefixes":       {DenyPrefixes: prefixList("::ffff:0:0/90")},
		"NAT64Prefixes":      {NAT64Prefixes: prefixList("64:ff9b::/95")},
		"NAT64Prefixes ":     {NAT64Prefixes: prefixList("10.0.0.0/32")},
		"AllowNames":         {AllowNames: []string{""}},
		"AllowNames ":        {AllowNames: []string{"."}},
		"AllowNames  ":       {AllowNames: []string{"a b"}},
		"AllowNames   ":      {AllowNames: []string{"10.0.0.1"}},
		"AllowNames    ":     {AllowNames: []string{"*.corp"}},
		"RootCAs":            {Transport: panicTripper{}, RootCAs: x509.NewCertPool()},
		"Lookup":             {Transport: panicTripper{}, Lookup: lookUp},
		"Dial":               {Transport: panicTripper{}, Dial: new(net.Dialer).DialContext},
		"Proxy":              {Transport: panicTripper{}, Proxy: http.ProxyFromEnvironment},
	} {
		name = strings.TrimSpace(name)
		if f, err := New(&o); f != nil || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

// TestProxy sends requests through a proxy. The texts of links are still checked.
func TestProxy(t *testing.T) {
	asked := make(chan string, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.String()
		_, _ = w.Write([]byte(png))
	}))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	secret := newSecret(t)
	o := Options{AllowHTTP: true, AnyPort: true, Proxy: func(r *http.Request) (*url.URL, error) {
		if r.URL.Host == "direct.example.com" {
			return nil, nil
		}
		return at, nil
	}}
	o.Lookup = func(context.Context, string, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	f, err := New(&o)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := fetch(t, f, "http://files.example.com/a?b"); err != nil || string(b.Data) != png {
		t.Errorf("%q, %v", b.Data, err)
	}
	if got := <-asked; got != "http://files.example.com/a?b" {
		t.Errorf("the proxy was asked for %q", got)
	}
	for _, link := range []string{"http://" + secret.Addr().String(), "http://localhost/", "http://１２７.0.0.1/", "http://direct.example.com/"} {
		if _, err := fetch(t, f, link); err == nil {
			t.Errorf("%s was fetched", link)
		}
	}
	if n := secret.accepted.Load(); n != 0 || len(asked) != 0 {
		t.Errorf("%d connections, %d questions to the proxy", n, len(asked))
	}
}

// TestPanics checks functions of the host that panic on goroutines of the transport.
func TestPanics(t *testing.T) {
	w := newTestNetwork(t, redirector())
	for name, change := range map[string]func(*Options){
		"Lookup": func(o *Options) {
			o.Lookup = func(context.Context, string, string) ([]netip.Addr, error) { panic("x") }
		},
		"Dial": func(o *Options) {
			o.Dial = func(context.Context, string, string) (net.Conn, error) { panic("x") }
		},
	} {
		_, err := fetch(t, w.fetcher(change), "https://files.example.com/a")
		var e *content.Violation
		if !errors.As(err, &e) || !strings.Contains(e.Err.Error(), "panic") {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.checkClosed()
}

// TestTransport checks a Transport of the host that misbehaves.
func TestTransport(t *testing.T) {
	var answer http.Response
	f, err := New(&Options{Transport: tripper(func(r *http.Request) (*http.Response, error) {
		a := answer
		a.Request = r
		return &a, nil
	}), Limits: Limits{File: 20}})
	if err != nil {
		t.Fatal(err)
	}
	body := func(s string) io.ReadCloser { return io.NopCloser(bytes.NewReader([]byte(s))) }
	for _, tt := range []struct {
		name   string
		answer http.Response
		ok     bool
	}{
		{"a file", http.Response{StatusCode: 200, ContentLength: 12, Body: body(png)}, true},
		{"of unknown length", http.Response{StatusCode: 200, ContentLength: -1, Body: body(png)}, true},
		{"decoded", http.Response{StatusCode: 200, ContentLength: -1, Body: body(png), Uncompressed: true}, false},
		{"too long", http.Response{StatusCode: 200, ContentLength: -1, Body: body(png + png)}, false},
		{"longer than Content-Length", http.Response{StatusCode: 200, ContentLength: 12, Body: body(png + "x")}, false},
		{"endless after Content-Length", http.Response{StatusCode: 200, ContentLength: 12, Body: io.NopCloser(endless{})}, false},
		{"shorter than Content-Length", http.Response{StatusCode: 200, ContentLength: 13, Body: body(png)}, false},
		{"inwards", http.Response{StatusCode: 302, Header: http.Header{"Location": {"https://127.0.0.1/"}}, Body: body("")}, false},
	} {
		answer = tt.answer
		if b, err := fetch(t, f, "https://files.example.com/a"); (err == nil) != tt.ok || tt.ok && string(b.Data) != png {
			t.Errorf("%s: %q, %v", tt.name, b.Data, err)
		}
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestMetered(t *testing.T) {
	const size = 300_000
	w := newTestNetwork(t, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(rw, r, "/", http.StatusFound)
			return
		}
		_, _ = rw.Write([]byte(strings.Repeat("x", size)))
	}))
	f := w.fetcher(nil)
	for _, tt := range []struct {
		path  string
		limit int64
	}{{"/", size}, {"/moved", size}, {"/", size - 1}, {"/", 0}} {
		var bytes int64
		full := errors.New("limit reached")
		m := f.Metered(func(n int64) error {
			if bytes += n; bytes > tt.limit {
				return full
			}
			return nil
		})
		b, err := m.Resolve(t.Context(), &content.URL{URL: "https://files.example.com" + tt.path})
		if tt.limit == size && (err != nil || len(b.Data) != size || bytes != size) {
			t.Errorf("%s: %d bytes, %d were reported: %v", tt.path, len(b.Data), bytes, err)
		}
		if tt.limit < size && (err == nil || len(b.Data) != 0) {
			t.Errorf("at most %d: %d bytes, %v", tt.limit, len(b.Data), err)
		}
	}
	if c, ok := f.Metered(nil).(interface{ Check(string) error }); !ok || c.Check("https://localhost") == nil {
		t.Error("it has another Check")
	}
}
