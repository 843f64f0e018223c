package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

func TestRedirects(t *testing.T) {
	w := newTestNetwork(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n, status int
		switch {
		case r.URL.Path == "/a/file.png":
			_, _ = w.Write([]byte(png))
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case r.URL.Path == "/a/relative":
			w.Header().Set("Location", "file.png?x#y")
			w.WriteHeader(http.StatusSeeOther)
		case r.URL.Path == "/long":
			w.Header()["Location"] = []string{"/" + strings.Repeat("a", 8<<10)}
			w.WriteHeader(http.StatusFound)
		case strings.HasSuffix(r.URL.Path, "b/long"):
			w.Header()["Location"] = []string{strings.Repeat("a", 5<<10)}
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/none":
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/two":
			w.Header()["Location"] = []string{"/a/file.png", "/a/file.png"}
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/refresh":
			w.Header().Set("Refresh", "0; url=/a/file.png")
			w.WriteHeader(http.StatusNoContent)
		case scan(r.URL.Path, "/down/%d", &n) && n > 0:
			http.Redirect(w, r, fmt.Sprintf("/down/%d", n-1), http.StatusMovedPermanently)
		case scan(r.URL.Path, "/down/%d", &n):
			_, _ = w.Write([]byte(png))
		case scan(r.URL.Path, "/status/%d", &status):
			w.Header().Set("Location", "/a/file.png")
			w.WriteHeader(status)
		default:
			redirector().ServeHTTP(w, r)
		}
	}))
	w.names.set("other.example.com", public)
	base := "https://files.example.com"
	for _, tt := range []struct {
		name, link string
		change     func(*Options)
		conns      int // to the origin: one more than the redirects that were followed
		ok         bool
	}{
		{"301", base + "/status/301", nil, 2, true},
		{"302", base + "/status/302", nil, 2, true},
		{"303", base + "/status/303", nil, 2, true},
		{"307", base + "/status/307", nil, 2, true},
		{"308", base + "/status/308", nil, 2, true},
		{"300", base + "/status/300", nil, 1, false},
		{"304", base + "/status/304", nil, 1, false},
		{"305", base + "/status/305", nil, 1, false},
		{"to another name", toLink("https://other.example.com/a/file.png"), nil, 2, true},
		{"relative", base + "/a/relative", nil, 2, true},
		{"without a scheme", toLink("//other.example.com/a/file.png"), nil, 2, true},
		{"without a scheme, to loopback", toLink("//127.0.0.1/a/file.png"), nil, 1, false},
		{"three redirects", base + "/down/3", nil, 4, true},
		{"four redirects", base + "/down/4", nil, 4, false},
		{"one redirect, limit 1", base + "/down/1", func(o *Options) { o.Limits.Redirects = 1 }, 2, true},
		{"two redirects, limit 1", base + "/down/2", func(o *Options) { o.Limits.Redirects = 1 }, 2, false},
		{"NoRedirects", base + "/down/1", func(o *Options) { o.NoRedirects = true }, 1, false},
		{"a loop", base + "/loop", nil, 4, false},
		{"no Location", base + "/none", nil, 1, false},
		{"two Locations", base + "/two", nil, 1, false},
		{"Refresh", base + "/refresh", nil, 1, false},
		{"to http", toLink("http://files.example.com/a/file.png"), nil, 1, false},
		{"to http, which is allowed", toLink("http://files.example.com/a/file.png"), func(o *Options) { o.AllowHTTP = true }, 1, false},
		{"to user-info", toLink("https://user:pw@files.example.com/a/file.png"), nil, 1, false},
		{"to a port", toLink("https://files.example.com:8443/a/file.png"), nil, 1, false},
		{"to port 80", toLink("https://files.example.com:80/a/file.png"), nil, 1, false},
		{"to ftp", toLink("ftp://files.example.com/a/file.png"), nil, 1, false},
		{"to a file", toLink("file:///etc/passwd"), nil, 1, false},
		{"to data", toLink("data:image/png;base64,iVBORw0KGgo="), nil, 1, false},
		{"to localhost", toLink("https://localhost/"), nil, 1, false},
		{"to a number", toLink("https://2130706433/"), nil, 1, false},
		{"to metadata", toLink("https://metadata.google.internal/"), nil, 1, false},
		{"to a backslash", toLink("https:\\\\files.example.com\\a/file.png"), nil, 1, false},
		{"to a space", toLink("https://files.example.com/ /a/file.png"), nil, 1, false},
		{"empty Location", toLink(""), nil, 1, false},
		{"too long", base + "/long", nil, 1, false},
		{"too long when resolved", base + "/" + strings.Repeat("b", 4<<10) + "/long", nil, 1, false},
		{"to a host that is not listed", toLink("https://other.example.com/a/file.png"), func(o *Options) {
			o.Hosts = func(host string) bool { return host == "files.example.com" }
		}, 1, false},
		{"to metadata with AllowPrivate", toLink("https://169.254.169.254/latest/meta-data/"), func(o *Options) {
			o.AllowPrivate, o.AllowHTTP, o.AnyPort = true, true, true
		}, 1, false},
	} {
		b, err := fetch(t, w.fetcher(tt.change), tt.link)
		var e *content.Violation
		switch {
		case tt.ok && (err != nil || string(b.Data) != png || b.MediaType != "image/png"):
			t.Errorf("%s: %q, %v", tt.name, b, err)
		case !tt.ok && !errors.As(err, &e):
			t.Errorf("%s: %q, %v", tt.name, b, err)
		case !tt.ok && (strings.Contains(e.Text, "?") || strings.Contains(e.Text, "pw")):
			t.Errorf("%s: the text contains secrets: %s", tt.name, e.Text)
		}
		if d := w.takeDialed(); len(d) != tt.conns || !onlyPublic(d) {
			t.Errorf("%s: dialed %q, want the origin %d times", tt.name, d, tt.conns)
		}
	}
	w.checkClosed()
}

func scan(path, format string, n *int) bool {
	k, err := fmt.Sscanf(path, format, n)
	return k == 1 && err == nil
}

// TestRedirectToHTTPS follows a redirect from http to https.
func TestRedirectToHTTPS(t *testing.T) {
	plain := newScript(t, say("HTTP/1.1 301 Moved\r\nLocation: https://files.example.com/a\r\nContent-Length: 0\r\n\r\n"))
	w := newTestNetwork(t, redirector())
	f := w.fetcher(func(o *Options) {
		o.AllowHTTP = true
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasSuffix(address, ":443") {
				return w.dial(ctx, network, address)
			}
			return (&net.Dialer{}).DialContext(ctx, network, plain.Addr().String())
		}
	})
	if b, err := fetch(t, f, "http://files.example.com/a"); err != nil || string(b.Data) != png {
		t.Errorf("%q, %v", b, err)
	}
	checkEnded(t, &plain.open)
	w.checkClosed()
}
