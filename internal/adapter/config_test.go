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

// TestNewRefuses checks that New reports all problems on one line and no key.
func TestNewRefuses(t *testing.T) {
	const (
		shape = "BaseURL: must begin with http:// or https:// and a host"
		place = "BaseURL: must not contain user-info or a fragment"
		char  = "contains a line break or another control character"
	)
	key := func(context.Context) (string, error) { return "", nil }
	for _, tt := range []struct {
		name     string
		change   func(*Config)
		problems string
	}{
		{"empty URL", func(c *Config) { c.BaseURL = "" }, shape},
		{"host without scheme", func(c *Config) { c.BaseURL = "example.com" }, shape},
		{"another scheme", func(c *Config) { c.BaseURL = "ftp://example.com" }, shape},
		{"no host", func(c *Config) { c.BaseURL = "http://" }, shape},
		{"password in the URL", func(c *Config) { c.BaseURL = "http://u:secret@example.com" }, place},
		{"fragment in the URL", func(c *Config) { c.BaseURL = "http://example.com/#secret" }, place},
		{"invalid URL", func(c *Config) { c.BaseURL = "http://a b/?key=secret" }, "BaseURL: is not a valid URL"},
		{"line break in the key", func(c *Config) { c.Key = "secret\n" }, "Key: " + char},
		{"zero byte in the key", func(c *Config) { c.Key = "secret\x00" }, "Key: " + char},
		{"escape character in the key", func(c *Config) { c.Key = "\x1b[secret" }, "Key: " + char},
		{"delete character in the key", func(c *Config) { c.Key = "secret\x7f" }, "Key: " + char},
		{"Key and KeyFunc", func(c *Config) { c.Key, c.KeyFunc = "secret", key }, "Key: only one of Key and KeyFunc may be set"},
		{"invalid KeyHeader", func(c *Config) { c.KeyHeader = "x key" }, `KeyHeader: "x key" is not a valid header name`},
		{"negative limit", func(c *Config) { c.Limits.Body = -1 }, "Limits.Body: is negative"},
		{"negative MaxResponse", func(c *Config) { c.MaxResponse = -1 }, "MaxResponse: is negative"},
		{"line break in a header", func(c *Config) { c.Header = http.Header{"X-A": {"b", "secret\r\nb"}} }, `Header: the value of "X-A" ` + char},
		{"invalid header name", func(c *Config) { c.Header = http.Header{"X A": {"secret"}} }, `Header: "X A" is not a valid header name`},
		{"header name outside of ASCII", func(c *Config) { c.Header = http.Header{"\u212a": {"a"}} }, "Header: \"\u212a\" is not a valid header name"},
		{"several", func(c *Config) {
			c.BaseURL, c.Key, c.Limits = "", "secret\r", content.Limits{Depth: -1, Values: -2}
		}, shape + "; Key: " + char + "; Limits.Depth: is negative; Limits.Values: is negative"},
	} {
		c := Config{Name: "vendor", BaseURL: "http://example.com"}
		tt.change(&c)
		s, err := New(c)
		if s != nil || err == nil {
			t.Errorf("%s: %v, %v", tt.name, s, err)
			continue
		}
		if diff := cmp.Diff("vendor: "+tt.problems, err.Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	_, err := New(Config{Name: "vendor", BaseURL: "x"}, "limit X: it is odd", "limit Y: it is even")
	if err == nil || err.Error() != "vendor: limit X: it is odd; limit Y: it is even; "+shape {
		t.Errorf("with the adapter's own: %v", err)
	}
}

// TestVersions checks that the version is added unless the URL ends in one.
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
		s, err := New(Config{BaseURL: tt.base, Versions: tt.versions})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.request(t.Context(), &Request{Path: "/x"})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.URL.String(); got != tt.want {
			t.Errorf("%s with %v: %s, want %s", tt.base, tt.versions, got, tt.want)
		}
	}
}

// TestNothingThere checks that the cause of a 404 has the URL without keys and query.
func TestNothingThere(t *testing.T) {
	for _, status := range []int{404, 405, 400, 302} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, "words")
		}, func(c *Config) { c.BaseURL += "/sk-proj-0123456789abcdefghij/v1?tenant=secret" })
		_, err := s.Do(t.Context(), &Request{Path: "/models/a%2Fb?after=secret"})
		var e *upstream.Error
		if !errors.As(err, &e) || e.Text != "words" || !errors.Is(e, errOwn) {
			t.Errorf("%d: %#v, want the format's own error", status, err)
			continue
		}
		cause := e.Err.Error()
		if !strings.HasSuffix(cause, ", requested URL http://"+s.base.Host+"/base/[removed]/v1/models/a%2Fb") || strings.Contains(cause, "secret") || strings.Contains(cause, "sk-") {
			t.Errorf("%d: %s", status, cause)
		}
	}
}

// TestKeyFunc checks that an invalid key of KeyFunc fails each request without
// quoting the key.
func TestKeyFunc(t *testing.T) {
	for key, cause := range map[string]string{
		"good\tk\u00e9y": "",
		"secret\n":       "acme: the key that KeyFunc returned contains a line break or another control character",
		"\x1bsecret":     "acme: the key that KeyFunc returned contains a line break or another control character",
	} {
		asked := false
		s := serve(t, func(http.ResponseWriter, *http.Request) { asked = true }, func(c *Config) {
			c.Name = "acme"
			c.KeyFunc = func(context.Context) (string, error) { return key, nil }
		})
		_, err := s.Send(t.Context(), &Request{Path: "/x"}, func(string) error { return nil })
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

// TestKeyFuncError checks that the error of a KeyFunc contains no key that it returns beside.
func TestKeyFuncError(t *testing.T) {
	cause := errors.New("refreshing ya30-not-a-known-form failed")
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("the request was sent") }, func(c *Config) {
		c.KeyFunc = func(context.Context) (string, error) { return "ya30-not-a-known-form", cause }
	})
	_, err := s.Do(t.Context(), &Request{Path: "/x"})
	var e *upstream.Error
	if !errors.As(err, &e) || e.Code != upstream.CodeInternal || !errors.Is(err, cause) || strings.Contains(e.Err.Error(), "ya30") ||
		!strings.Contains(e.Err.Error(), "refreshing [removed] failed") {
		t.Errorf("got %v", err)
	}
}

// TestTwoKeys checks that a header for the key and a key are not accepted together.
func TestTwoKeys(t *testing.T) {
	key := func(context.Context) (string, error) { return "k", nil }
	for _, tt := range []struct {
		c       Config
		refused bool
	}{
		{Config{Key: "k", Header: http.Header{"Authorization": {"Bearer x"}}}, true},
		{Config{KeyFunc: key, Header: http.Header{"authorization": {"Bearer x"}}}, true},
		{Config{Key: "k", KeyHeader: "x-api-key", Header: http.Header{"X-Api-Key": {"x"}}}, true},
		{Config{Key: "k", KeyHeader: "x-api-key", Header: http.Header{"Authorization": {"Bearer x"}}}, false}, // of a proxy
		{Config{Header: http.Header{"Authorization": {"Bearer x"}}}, false},
	} {
		tt.c.Name, tt.c.BaseURL = "acme", "http://h"
		_, err := New(tt.c)
		if refused := err != nil && strings.Contains(err.Error(), "may not be set, because the key is sent in it"); refused != tt.refused {
			t.Errorf("%v, %q: got %v", tt.c.Header, tt.c.KeyHeader, err)
		}
	}
}
