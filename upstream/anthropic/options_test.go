package anthropic_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// A base URL may end in the version or not, and in a slash or not. Where there is
// nothing, the cause names the path that was asked for, and no more of the URL.
func TestBaseURL(t *testing.T) {
	var asked string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RequestURI()
		http.NotFound(w, r)
	}))
	defer ts.Close()
	for _, tt := range []struct{ base, path, query string }{
		{"", "/v1/messages", ""},
		{"/", "/v1/messages", ""},
		{"/v1", "/v1/messages", ""},
		{"/v1/", "/v1/messages", ""},
		{"/prefix", "/prefix/v1/messages", ""},
		{"/prefix/", "/prefix/v1/messages", ""},
		{"/prefix/v1", "/prefix/v1/messages", ""},
		{"/v1?tenant=secret", "/v1/messages", "?tenant=secret"},
		{"/v1beta", "/v1beta/v1/messages", ""},
	} {
		c, err := anthropic.New(anthropic.Options{BaseURL: ts.URL + tt.base, HTTPClient: ts.Client()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = upstream.Collect(t.Context(), c, greeting())
		if asked != tt.path+tt.query {
			t.Errorf("%q: asked for %s", tt.base, asked)
		}
		var e *upstream.Error
		if !errors.As(err, &e) || !strings.HasSuffix(e.Err.Error(), ", asked for "+tt.path) {
			t.Errorf("%q: %v", tt.base, err)
		}
	}
}

// greeting is a request of no format.
func greeting() *upstream.Request {
	return &upstream.Request{Model: "m", Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi."}}}}}
}

// What is wrong with options is told on one line that repeats no key.
func TestRefusedOptions(t *testing.T) {
	key := func(context.Context) (string, error) { return "", nil }
	for _, tt := range []struct {
		o    anthropic.Options
		want string
	}{
		{anthropic.Options{BaseURL: "http://u:secret@h/v1"}, "anthropic: base URL: it has no place for user-info or a fragment"},
		{anthropic.Options{Key: "secret\n"}, "anthropic: key: no header can hold it: there is a line break or another control character in it"},
		{anthropic.Options{Key: "secret", KeyFunc: key}, "anthropic: key: there is both a Key and a KeyFunc"},
		{anthropic.Options{MaxTokens: -1, Reply: -1}, "anthropic: limit MaxTokens: it is negative; limit Reply: it is negative"},
	} {
		if _, err := anthropic.New(tt.o); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}
