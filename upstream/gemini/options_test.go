package gemini_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/gemini"
)

// TestBaseURL checks base URLs with and without version and slash. The cause of a
// 404 has the URL without its query.
func TestBaseURL(t *testing.T) {
	var asked string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RequestURI()
		http.NotFound(w, r)
	}))
	defer ts.Close()
	const method = "/models/m:generateContent"
	for _, tt := range []struct{ version, base, path, query string }{
		{"", "", "/v1beta", ""},
		{"", "/", "/v1beta", ""},
		{"", "/v1beta", "/v1beta", ""},
		{"", "/v1beta/", "/v1beta", ""},
		{"", "/v1", "/v1", ""},
		{"", "/v1beta1/", "/v1beta1", ""},
		{"", "/prefix", "/prefix/v1beta", ""},
		{"", "/prefix/v1alpha", "/prefix/v1alpha", ""},
		{"", "/v1?tenant=secret", "/v1", "?tenant=secret"},
		{"", "/v2", "/v2/v1beta", ""},
		{"v1", "", "/v1", ""},
		{"v1", "/v1/", "/v1", ""},
		{"v1beta", "/v1", "/v1/v1beta", ""},
		{"v2", "/v2", "/v2", ""},
	} {
		c, err := gemini.New(&gemini.Options{BaseURL: ts.URL + tt.base, Version: tt.version, HTTPClient: ts.Client()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = upstream.Collect(t.Context(), c, greeting())
		if asked != tt.path+method+tt.query {
			t.Errorf("%q, version %q: asked for %s", tt.base, tt.version, asked)
		}
		var e *upstream.Error
		if !errors.As(err, &e) || !strings.HasSuffix(e.Err.Error(), ", requested URL "+ts.URL+tt.path+method) {
			t.Errorf("%q: %v", tt.base, err)
		}
	}
}

// greeting is a request of no format.
func greeting() *upstream.Request {
	return &upstream.Request{Model: "m", Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi."}}}}}
}

// TestRefusedOptions checks that problems are on one line without a key.
func TestRefusedOptions(t *testing.T) {
	key := func(context.Context) (string, error) { return "", nil }
	for _, tt := range []struct {
		o    gemini.Options
		want string
	}{
		{gemini.Options{BaseURL: "http://u:secret@h/v1"}, "gemini: BaseURL: must not contain user-info or a fragment"},
		{gemini.Options{Key: "secret\n"}, "gemini: Key: contains a line break or another control character"},
		{gemini.Options{Key: "secret", KeyFunc: key}, "gemini: Key: only one of Key and KeyFunc may be set"},
		{gemini.Options{Version: "V/1", MaxResponse: -1}, `gemini: Version: "V/1" must consist of lower-case letters and digits; MaxResponse: is negative`},
	} {
		if _, err := gemini.New(&tt.o); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}
