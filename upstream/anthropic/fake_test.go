package anthropic_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/generatecontent"
	fakes "github.com/polywire/polywire/internal/test/fake/anthropic"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream/anthropic"
)

const hostKey = "sk-test-host-key"

// strict starts a strict fake of the vendor and returns a client for it.
func strict(t *testing.T, o anthropic.Options, fo fakes.Options) (*anthropic.Client, *fakes.Server) {
	t.Helper()
	fo.Key = hostKey
	f := fakes.New(t, fo)
	o.BaseURL, o.Key, o.Platform = f.URL, hostKey, anthropic.Platform(fo.Platform)
	switch fo.Platform {
	case fakes.Vertex:
		o.Project, o.Location = "my-project", "global"
	case fakes.Foundry:
		o.BaseURL += "/anthropic"
	}
	c, err := anthropic.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return c, f
}

// refusals returns the requests that the fake refused, with the reasons.
func refusals(f *fakes.Server) string {
	var b strings.Builder
	for _, r := range f.Refused() {
		b.WriteString(r.Rule + ": " + r.Message + "\n" + string(r.Body) + "\n")
	}
	return b.String()
}

// post sends a body to a handler.
func post(h http.Handler, path, body string) *httptest.ResponseRecorder {
	r := newAsk(body)
	path, query, _ := strings.Cut(path, "?")
	r.URL.Path, r.URL.RawQuery = path, query
	return served(h, r)
}

func newAsk(body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	return r
}

func served(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func fronts(c *anthropic.Client) (m, g http.Handler) {
	return messages.NewHandler(c, nil), generatecontent.NewHandler(c, nil)
}
