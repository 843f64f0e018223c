package openai_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// TestBaseURL checks base URLs with and without a trailing slash. The error of a wrong
// one names the URL without its query.
func TestBaseURL(t *testing.T) {
	var asked string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RequestURI()
		http.NotFound(w, r)
	}))
	defer ts.Close()
	hello := &upstream.Request{Model: "m", Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi."}}}}}
	for _, tt := range []struct{ base, path, query string }{
		{"", "", ""}, // some servers have no version segment
		{"/", "", ""},
		{"/v1", "/v1", ""},
		{"/v1/", "/v1", ""},
		{"/prefix", "/prefix", ""},
		{"/prefix/v1", "/prefix/v1", ""},
		{"/openai/v1?api-version=secret", "/openai/v1", "?api-version=secret"},
	} {
		o := openai.Options{BaseURL: ts.URL + tt.base, HTTPClient: ts.Client()}
		chat, err1 := openai.New(&o)
		responses, err2 := openai.NewResponses(&o)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for at, up := range map[string]upstream.Upstream{"/chat/completions": chat, "/responses": responses} {
			_, err := upstream.Collect(t.Context(), up, hello)
			if asked != tt.path+at+tt.query {
				t.Errorf("%q: requested %s", tt.base, asked)
			}
			var e *upstream.Error
			if !errors.As(err, &e) || !strings.HasSuffix(e.Err.Error(), ", requested URL "+ts.URL+tt.path+at) {
				t.Errorf("%q: %v", tt.base, err)
			}
		}
	}
}

// TestInvalidOptions checks that all errors of options are on one line that does not
// contain the key.
func TestInvalidOptions(t *testing.T) {
	const char = "contains a line break or another control character"
	key := func(context.Context) (string, error) { return "", nil }
	for _, tt := range []struct {
		o    openai.Options
		want string
	}{
		{openai.Options{BaseURL: "localhost:8000/v1"}, "openai chat: BaseURL: must begin with http:// or https:// and a host"},
		{openai.Options{BaseURL: "http://u:secret@h/v1"}, "openai chat: BaseURL: must not contain user-info or a fragment"},
		{openai.Options{Key: "secret\r\n"}, "openai chat: Key: " + char},
		{openai.Options{Key: "secret", KeyFunc: key}, "openai chat: Key: only one of Key and KeyFunc may be set"},
		{openai.Options{KeyHeader: "api key"}, `openai chat: KeyHeader: "api key" is not a valid header name`},
		{openai.Options{Project: "secret\n"}, `openai chat: Header: the value of "Openai-Project" ` + char},
		{openai.Options{MaxResponse: -1}, "openai chat: MaxResponse: is negative"},
		{openai.Options{Deployments: map[string]string{"a": "../b", "b": "b/..", "c": "/b", "d": `..\b`, "e": "b\n"}},
			`openai chat: Deployments: "../b" is not a valid name of a deployment; Deployments: "b/.." is not a valid name of a deployment; ` +
				`Deployments: "/b" is not a valid name of a deployment; Deployments: "..\\b" is not a valid name of a deployment; ` +
				`Deployments: "b\n" is not a valid name of a deployment`},
		{openai.Options{APIVersion: "2024/10", Deployments: map[string]string{"b": "..", "a": ""}}, `openai chat: APIVersion: "2024/10" must consist of lower-case letters, digits, hyphens and dots; ` +
			`BaseURL: must be set with APIVersion, to the URL of the Azure resource; Deployments: "" is not a valid name of a deployment; Deployments: ".." is not a valid name of a deployment`},
		{openai.Options{Dialect: openai.Dialect{Kind: 9}}, "openai chat: Dialect.Kind: 9 is not a ServerKind"},
		{openai.Options{BaseURL: "h", Dialect: openai.Dialect{
			Efforts: []string{"low", "lots"}, Reasoning: "role", Thinking: "temperature", ThinkTags: 9,
		}}, `openai chat: Dialect.Efforts: "lots" is not an effort; want one of none, minimal, low, medium, high, xhigh, max; ` +
			`Dialect.Reasoning: "role" is not supported; want reasoning_content, reasoning or -; ` +
			`Dialect.Thinking: "temperature" is not supported; want thinking, chat_template_kwargs or -; ` +
			`Dialect.ThinkTags: 9 is not valid; ` +
			"BaseURL: must begin with http:// or https:// and a host"},
	} {
		_, err1 := openai.New(&tt.o)
		_, err2 := openai.NewResponses(&tt.o)
		for name, err := range map[string]error{"openai chat": err1, "openai responses": err2} {
			if want := strings.Replace(tt.want, "openai chat", name, 1); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}
