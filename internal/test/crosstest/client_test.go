package crosstest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// TestClientsOfCaches checks that the key of a vendor's prompt cache differs between clients
// that send the same request: by their API keys, or by the id that the host gives them.
func TestClientsOfCaches(t *testing.T) {
	var sent string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = gjson.GetBytes(body, "prompt_cache_key").Str
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	up, err := openai.New(&openai.Options{BaseURL: "http://api.openai.com/v1", Key: "k", HTTPClient: &http.Client{Transport: toServer(server.Listener.Addr().String())}})
	if err != nil {
		t.Fatal(err)
	}
	tenants := map[string]string{"key-1": "ada", "key-2": "ada", "key-3": "bob"}
	byTenant := func(ctx context.Context, _ *http.Request, key string) (context.Context, error) {
		return upstream.WithClient(ctx, tenants[key]), nil
	}
	eachMode(t, func(t *testing.T, s wireFormat, m mode) {
		keys := func(o upstream.HandlerOptions) (list [4]string) {
			h := s.handler(up, o)
			for i, key := range []string{"key-1", "key-2", "key-3", ""} {
				r := m.request()
				r.Header.Set(s.key, key)
				sent = ""
				h.ServeHTTP(httptest.NewRecorder(), r)
				if list[i] = sent; (sent == "") != (s.format == openai.ChatFormat) {
					t.Fatalf("key %q was sent", sent)
				}
			}
			return list
		}
		if s.format == openai.ChatFormat {
			keys(upstream.HandlerOptions{Authenticate: byTenant}) // the document passes as it is: its key is the client's
			return
		}
		byKey := upstream.HandlerOptions{Authenticate: func(ctx context.Context, _ *http.Request, _ string) (context.Context, error) { return ctx, nil }}
		if k := keys(byKey); k[0] == k[1] || k[1] == k[2] || k[2] == k[3] || k[0] == k[2] || k != keys(byKey) {
			t.Errorf("by API key: %q", k)
		}
		if k := keys(upstream.HandlerOptions{Authenticate: byTenant}); k[0] != k[1] || k[1] == k[2] || k[2] == k[3] {
			t.Errorf("by tenant: %q", k)
		}
	})
}

// toServer is a Transport that sends all requests to the server at an address.
type toServer string

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	c := r.Clone(r.Context())
	c.URL.Scheme, c.URL.Host = "http", string(s)
	return http.DefaultTransport.RoundTrip(c)
}
