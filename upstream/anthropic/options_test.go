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

// TestBaseURL checks base URLs with and without version and slash. The cause of a
// 404 has the URL without its query.
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
		c, err := anthropic.New(&anthropic.Options{BaseURL: ts.URL + tt.base, HTTPClient: ts.Client()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = upstream.Collect(t.Context(), c, greeting())
		if asked != tt.path+tt.query {
			t.Errorf("%q: asked for %s", tt.base, asked)
		}
		var e *upstream.Error
		if !errors.As(err, &e) || !strings.HasSuffix(e.Err.Error(), ", requested URL "+ts.URL+tt.path) {
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
		o    anthropic.Options
		want string
	}{
		{anthropic.Options{BaseURL: "http://u:secret@h/v1"}, "anthropic: BaseURL: must not contain user-info or a fragment"},
		{anthropic.Options{Key: "secret\n"}, "anthropic: Key: contains a line break or another control character"},
		{anthropic.Options{Key: "secret", KeyFunc: key}, "anthropic: Key: only one of Key and KeyFunc may be set"},
		{anthropic.Options{Platform: "azure"}, `anthropic: Platform: "azure" is unknown`},
		{anthropic.Options{Platform: anthropic.PlatformVertex, MaxTokens: -1},
			"anthropic: Project: is required for PlatformVertex; Location: is required for PlatformVertex; MaxTokens: is negative"},
		{anthropic.Options{Platform: anthropic.PlatformVertex, Project: "..", Location: "evil.example/"},
			`anthropic: Project: ".." must consist of lower-case letters, digits and any of "-.:"; ` +
				`Location: "evil.example/" must consist of lower-case letters, digits and any of "-"`},
		{anthropic.Options{Platform: anthropic.PlatformVertex, Project: "p", Location: "x y"}, `anthropic: Location: "x y" must consist of lower-case letters, digits and any of "-"`},
		{anthropic.Options{Platform: anthropic.PlatformBedrock}, `anthropic: BaseURL: is required for platform "bedrock"`},
		{anthropic.Options{Platform: anthropic.PlatformFoundry, Location: "us"}, `anthropic: Location: is only for PlatformVertex; BaseURL: is required for platform "foundry"`},
		{anthropic.Options{Project: "p"}, "anthropic: Project: is only for PlatformVertex"},
		{anthropic.Options{MaxTokens: -1, MaxResponse: -1}, "anthropic: MaxTokens: is negative; MaxResponse: is negative"},
	} {
		if _, err := anthropic.New(&tt.o); err == nil || err.Error() != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}
