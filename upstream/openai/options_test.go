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

// A base URL brings its version, and ends in a slash or not. Where there is
// nothing, the cause names the path that was asked for, and no more of the URL.
func TestBaseURL(t *testing.T) {
	var asked string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RequestURI()
		http.NotFound(w, r)
	}))
	defer ts.Close()
	hello := &upstream.Request{Model: "m", Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi."}}}}}
	for _, tt := range []struct{ base, path, query string }{
		{"", "", ""}, // some servers have no version
		{"/", "", ""},
		{"/v1", "/v1", ""},
		{"/v1/", "/v1", ""},
		{"/prefix", "/prefix", ""},
		{"/prefix/v1", "/prefix/v1", ""},
		{"/openai/v1?api-version=secret", "/openai/v1", "?api-version=secret"},
	} {
		o := openai.Options{BaseURL: ts.URL + tt.base, HTTPClient: ts.Client()}
		chat, err1 := openai.New(o)
		responses, err2 := openai.NewResponses(o)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for at, up := range map[string]upstream.Upstream{"/chat/completions": chat, "/responses": responses} {
			_, err := upstream.Collect(t.Context(), up, hello)
			if asked != tt.path+at+tt.query {
				t.Errorf("%q: asked for %s", tt.base, asked)
			}
			var e *upstream.Error
			if !errors.As(err, &e) || !strings.HasSuffix(e.Err.Error(), ", asked for "+tt.path+at) {
				t.Errorf("%q: %v", tt.base, err)
			}
		}
	}
}

// What is wrong with options is told on one line that repeats no key.
func TestRefusedOptions(t *testing.T) {
	const char = "there is a line break or another control character in it"
	key := func(context.Context) (string, error) { return "", nil }
	for _, tt := range []struct {
		o    openai.Options
		want string
	}{
		{openai.Options{BaseURL: "localhost:8000/v1"}, "openai chat: base URL: it has to begin with http:// or https:// and a host"},
		{openai.Options{BaseURL: "http://u:secret@h/v1"}, "openai chat: base URL: it has no place for user-info or a fragment"},
		{openai.Options{Key: "secret\r\n"}, "openai chat: key: no header can hold it: " + char},
		{openai.Options{Key: "secret", KeyFunc: key}, "openai chat: key: there is both a Key and a KeyFunc"},
		{openai.Options{KeyHeader: "api key"}, `openai chat: key header: "api key" is no name of a header`},
		{openai.Options{Project: "secret\n"}, `openai chat: header "Openai-Project": ` + char},
		{openai.Options{Reply: -1}, "openai chat: limit Reply: it is negative"},
		{openai.Options{Dialect: openai.Dialect{Kind: 9}}, "openai chat: kind: 9 is none"},
		{openai.Options{BaseURL: "h", Dialect: openai.Dialect{
			Efforts: []string{"low", "lots"}, Reasoning: "role", Thinking: "temperature", ThinkTags: 9,
		}}, `openai chat: efforts: "lots" is none; reasoning: thoughts cannot go back as "role"; ` +
			`thinking: "temperature" does not turn it on and off; think tags: 9 are none; ` +
			"base URL: it has to begin with http:// or https:// and a host"},
	} {
		_, err1 := openai.New(tt.o)
		_, err2 := openai.NewResponses(tt.o)
		for name, err := range map[string]error{"openai chat": err1, "openai responses": err2} {
			if want := strings.Replace(tt.want, "openai chat", name, 1); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}
