package adapter

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// What is wrong with a configuration is told on one line, and no key is.
func TestNewRefuses(t *testing.T) {
	const (
		shape = "base URL: it has to begin with http:// or https:// and a host"
		place = "base URL: it has no place for user-info or a fragment"
		char  = "there is a line break or another control character in it"
	)
	key := func(context.Context) (string, error) { return "", nil }
	for _, tt := range []struct {
		name   string
		change func(*Config)
		faults string
	}{
		{"no URL", func(c *Config) { c.Base = "" }, shape},
		{"a host", func(c *Config) { c.Base = "example.com" }, shape},
		{"another scheme", func(c *Config) { c.Base = "ftp://example.com" }, shape},
		{"no host", func(c *Config) { c.Base = "http://" }, shape},
		{"a password", func(c *Config) { c.Base = "http://u:secret@example.com" }, place},
		{"a fragment", func(c *Config) { c.Base = "http://example.com/#secret" }, place},
		{"no URL at all", func(c *Config) { c.Base = "http://a b/?key=secret" }, "base URL: it cannot be read"},
		{"a line break in a key", func(c *Config) { c.Key = "secret\n" }, "key: no header can hold it: " + char},
		{"a zero byte in a key", func(c *Config) { c.Key = "secret\x00" }, "key: no header can hold it: " + char},
		{"an escape in a key", func(c *Config) { c.Key = "\x1b[secret" }, "key: no header can hold it: " + char},
		{"a deletion in a key", func(c *Config) { c.Key = "secret\x7f" }, "key: no header can hold it: " + char},
		{"two sources of a key", func(c *Config) { c.Key, c.KeyFunc = "secret", key }, "key: there is both a Key and a KeyFunc"},
		{"no header for the key", func(c *Config) { c.KeyHeader = "x key" }, `key header: "x key" is no name of a header`},
		{"a negative limit", func(c *Config) { c.Limits.Body = -1 }, "limit Body: it is negative"},
		{"a negative reply", func(c *Config) { c.MaxResponse = -1 }, "limit Reply: it is negative"},
		{"a broken header", func(c *Config) { c.Header = http.Header{"X-A": {"b", "secret\r\nb"}} }, `header "X-A": ` + char},
		{"no header's name", func(c *Config) { c.Header = http.Header{"X A": {"secret"}} }, `header "X A": it is no name of a header`},
		{"a letter that no header's name has", func(c *Config) { c.Header = http.Header{"\u212a": {"a"}} }, "header \"\u212a\": it is no name of a header"},
		{"several", func(c *Config) {
			c.Base, c.Key, c.Limits = "", "secret\r", content.Limits{Depth: -1, Values: -2}
		}, shape + "; key: no header can hold it: " + char + "; limit Depth: it is negative; limit Values: it is negative"},
	} {
		c := Config{Name: "vendor", Base: "http://example.com"}
		tt.change(&c)
		s, err := New(c)
		if s != nil || err == nil {
			t.Errorf("%s: %v, %v", tt.name, s, err)
			continue
		}
		if diff := cmp.Diff("vendor: "+tt.faults, err.Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	_, err := New(Config{Name: "vendor", Base: "x"}, "limit X: it is odd", "limit Y: it is even")
	if err == nil || err.Error() != "vendor: limit X: it is odd; limit Y: it is even; "+shape {
		t.Errorf("with the adapter's own: %v", err)
	}
}

// A version goes in front of the paths, unless the URL ends in one.
func TestVersions(t *testing.T) {
	for _, tt := range []struct {
		base     string
		versions []string
		want     string
	}{
		{"http://h", nil, "http://h/x"},
		{"http://h/v1", nil, "http://h/v1/x"},
		{"http://h", []string{"v2", "v1"}, "http://h/v2/x"},
		{"http://h/", []string{"v2", "v1"}, "http://h/v2/x"},
		{"http://h/v2", []string{"v2", "v1"}, "http://h/v2/x"},
		{"http://h/v1", []string{"v2", "v1"}, "http://h/v1/x"},
		{"http://h/v1/", []string{"v2", "v1"}, "http://h/v1/x"},
		{"http://h/v1?a=b", []string{"v2", "v1"}, "http://h/v1/x?a=b"},
		{"http://h/v3", []string{"v2", "v1"}, "http://h/v3/v2/x"},
		{"http://h/v1/p", []string{"v2", "v1"}, "http://h/v1/p/v2/x"},
		{"http://h/p%2Fv1", []string{"v2", "v1"}, "http://h/p%2Fv1/v2/x"},
		{"http://v1", []string{"v1"}, "http://v1/v1/x"},
	} {
		s, err := New(Config{Base: tt.base, Versions: tt.versions})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.request(t.Context(), &Exchange{Path: "/x"})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.URL.String(); got != tt.want {
			t.Errorf("%s with %v: %s, want %s", tt.base, tt.versions, got, tt.want)
		}
	}
}

// Where there is nothing, the cause names the path that was asked for, and
// nothing else of the URL. What the format says stays as it was.
func TestNothingThere(t *testing.T) {
	for status, named := range map[int]bool{404: true, 405: true, 400: false, 500: false} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "words")
		}, func(c *Config) { c.Base += "/sk-proj-0123456789abcdefghij/v1?tenant=secret" })
		_, err := s.Do(t.Context(), &Exchange{Path: "/models/a%2Fb?after=secret"})
		var e *upstream.Error
		if !errors.As(err, &e) || e.Text != "words" || !errors.Is(e, errOwn) {
			t.Errorf("%d: %#v, want the format's own error", status, err)
			continue
		}
		cause := e.Err.Error()
		if strings.HasSuffix(cause, ", asked for /base/[removed]/v1/models/a%2Fb") != named || strings.Contains(cause, "secret") || strings.Contains(cause, "sk-") {
			t.Errorf("%d: %s, a path in it: want %v", status, cause, named)
		}
	}
}

// A key that KeyFunc returns is judged with each request. The cause says what is
// wrong with it, and not the key.
func TestKeyFunc(t *testing.T) {
	for key, cause := range map[string]string{
		"good\tk\u00e9y": "",
		"secret\n":       "acme: no header can hold the key that KeyFunc returned: there is a line break or another control character in it",
		"\x1bsecret":     "acme: no header can hold the key that KeyFunc returned: there is a line break or another control character in it",
	} {
		asked := false
		s := serve(t, func(http.ResponseWriter, *http.Request) { asked = true }, func(c *Config) {
			c.Name = "acme"
			c.KeyFunc = func(context.Context) (string, error) { return key, nil }
		})
		_, err := s.Send(t.Context(), &Exchange{Path: "/x"}, func(string) error { return nil })
		var e *upstream.Error
		switch {
		case cause == "":
			if err != nil || !asked {
				t.Errorf("%q: %v", key, err)
			}
		case asked || !errors.As(err, &e) || e.Code != upstream.CodeInternal || e.Text != "" || e.Err.Error() != cause:
			t.Errorf("%q: %v", key, err)
		}
	}
}
