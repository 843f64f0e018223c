package anthropic_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// cloudRequest is what a server of a platform received.
type cloudRequest struct{ URI, Key, Authorization, Version, Beta, Body string }

// cloud starts a server that responds to each request with the same text, and returns a
// client of a platform for it.
func cloud(t *testing.T, answer string, o anthropic.Options) (*anthropic.Client, *cloudRequest) {
	t.Helper()
	got := new(cloudRequest)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := r.Header
		*got = cloudRequest{r.RequestURI, h.Get("X-Api-Key"), h.Get("Authorization"), h.Get("Anthropic-Version"), h.Get("Anthropic-Beta"), string(body)}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(ts.Close)
	o.BaseURL = ts.URL + o.BaseURL
	if o.Platform == anthropic.PlatformVertex {
		o.Project, o.Location = "my-project", "europe-west1"
	}
	c, err := anthropic.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return c, got
}

// TestPlatformDocument checks that a document of the format keeps its bytes except for the
// members that a platform moves.
func TestPlatformDocument(t *testing.T) {
	const rest = `"max_tokens": 9 ,"messages":[{"role":"user","content":"A\u00e9"}]`
	const document = `{ "model":"m", ` + rest + `,"stream":false}`
	for _, tt := range []struct {
		name string
		o    anthropic.Options
		sent string
		want cloudRequest
	}{
		{"Vertex", anthropic.Options{Platform: anthropic.PlatformVertex, Key: "token"}, document, cloudRequest{
			URI:           "/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-haiku-4-5@20251001:rawPredict",
			Authorization: "Bearer token", Beta: "context-1m-2025-08-07",
			Body: `{"anthropic_version":"vertex-2023-10-16",  ` + rest + `,"stream":false}`,
		}},
		{"Vertex, URL with version", anthropic.Options{Platform: anthropic.PlatformVertex, BaseURL: "/proxy/v1"}, document, cloudRequest{
			URI:  "/proxy/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-haiku-4-5@20251001:rawPredict",
			Beta: "context-1m-2025-08-07",
			Body: `{"anthropic_version":"vertex-2023-10-16",  ` + rest + `,"stream":false}`,
		}},
		{"Vertex, streamed", anthropic.Options{Platform: anthropic.PlatformVertex}, `{"model":"m","stream":true,` + rest + `}`, cloudRequest{
			URI:  "/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-haiku-4-5@20251001:streamRawPredict",
			Beta: "context-1m-2025-08-07",
			Body: `{"anthropic_version":"vertex-2023-10-16","stream":true,` + rest + `}`,
		}},
		{"Bedrock", anthropic.Options{Platform: anthropic.PlatformBedrock, Key: "token"}, document, cloudRequest{
			URI: "/model/claude-haiku-4-5%4020251001/invoke", Authorization: "Bearer token",
			Body: `{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["context-1m-2025-08-07"],  ` + rest + `}`,
		}},
		{"Bedrock, streamed", anthropic.Options{Platform: anthropic.PlatformBedrock}, `{` + rest + `,"model":"m","stream":true}`, cloudRequest{
			URI:  "/model/claude-haiku-4-5%4020251001/invoke-with-response-stream",
			Body: `{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["context-1m-2025-08-07"],` + rest + `}`,
		}},
		{"Foundry", anthropic.Options{Platform: anthropic.PlatformFoundry, BaseURL: "/anthropic", Key: "key"}, document, cloudRequest{
			URI: "/anthropic/v1/messages?beta=true", Key: "key", Version: "2023-06-01", Beta: "context-1m-2025-08-07",
			Body: `{ "model":"claude-haiku-4-5@20251001", ` + rest + `,"stream":false}`,
		}},
		{"Foundry with a token", anthropic.Options{Platform: anthropic.PlatformFoundry, BaseURL: "/anthropic/v1", Key: "token", Bearer: true}, document, cloudRequest{
			URI: "/anthropic/v1/messages?beta=true", Authorization: "Bearer token", Version: "2023-06-01", Beta: "context-1m-2025-08-07",
			Body: `{ "model":"claude-haiku-4-5@20251001", ` + rest + `,"stream":false}`,
		}},
		{"members of clouds", anthropic.Options{}, `{"model":"m",` + rest + `,"anthropic_beta":["x"], "anthropic_version":"vertex-2023-10-16" }`, cloudRequest{
			URI: "/v1/messages?beta=true", Version: "2023-06-01", Beta: "context-1m-2025-08-07",
			Body: `{"model":"claude-haiku-4-5@20251001",` + rest + ` }`,
		}},
		{"version of another cloud", anthropic.Options{Platform: anthropic.PlatformBedrock}, `{"anthropic_version":"vertex-2023-10-16","model":"m",` + rest + `}`, cloudRequest{
			URI:  "/model/claude-haiku-4-5%4020251001/invoke",
			Body: `{"anthropic_beta":["context-1m-2025-08-07"],"anthropic_version":"bedrock-2023-05-31",` + rest + `}`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.MapModel = func(string) string { return "claude-haiku-4-5@20251001" }
			c, got := cloud(t, reply, tt.o)
			code, answer := ask2(messages.NewHandler(c, nil), tt.sent, http.Header{"Anthropic-Beta": {"context-1m-2025-08-07"}})
			if code != http.StatusOK {
				t.Error(code, answer)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlatformEncoded checks requests that are encoded: they have the members of the platform
// and no others.
func TestPlatformEncoded(t *testing.T) {
	for _, tt := range []struct {
		platform anthropic.Platform
		want     cloudRequest
	}{
		{anthropic.PlatformVertex, cloudRequest{
			URI:  "/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models/a%2Fb%3Ac:streamRawPredict",
			Body: `{"max_tokens":32000,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}],"anthropic_version":"vertex-2023-10-16"}`,
		}},
		{anthropic.PlatformBedrock, cloudRequest{
			URI:  "/model/a%2Fb%3Ac/invoke-with-response-stream",
			Body: `{"max_tokens":32000,"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}],"anthropic_version":"bedrock-2023-05-31"}`,
		}},
		{anthropic.PlatformFoundry, cloudRequest{
			URI: "/v1/messages", Version: "2023-06-01",
			Body: `{"model":"a/b:c","max_tokens":32000,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"Hi."}]}]}`,
		}},
	} {
		c, got := cloud(t, reply, anthropic.Options{Platform: tt.platform})
		n := greeting()
		n.Model, n.Stream = "a/b:c", true
		if _, err := upstream.Collect(t.Context(), c, n); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(&tt.want, got); diff != "" {
			t.Errorf("%s: sent (-want +got):\n%s", tt.platform, diff)
		}
	}
}

// TestPlatformModel checks that a model that would change the path is refused.
func TestPlatformModel(t *testing.T) {
	for _, platform := range []anthropic.Platform{anthropic.PlatformVertex, anthropic.PlatformBedrock} {
		for _, model := range []string{"", ".", "..", strings.Repeat("m", 1025)} {
			c, got := cloud(t, reply, anthropic.Options{Platform: platform})
			n := greeting()
			n.Model = model
			_, err := upstream.Collect(t.Context(), c, n)
			var v *content.Violation
			if !errors.As(err, &v) || v.Path != "model" || got.URI != "" {
				t.Errorf("%s: %.10q: %v, sent to %s", platform, model, err, got.URI)
			}
			if _, err := upstream.Preflight(t.Context(), c, n); !errors.As(err, &v) {
				t.Errorf("%s: %.10q: Preflight returned %v", platform, model, err)
			}
		}
		c, got := cloud(t, reply, anthropic.Options{Platform: platform})
		n := greeting()
		n.Model = "../../x"
		if _, err := upstream.Collect(t.Context(), c, n); err != nil || !strings.Contains(got.URI, "/..%2F..%2Fx") {
			t.Errorf("%s: sent to %s: %v", platform, got.URI, err)
		}
	}
}

// TestPlatformCount checks count requests.
func TestPlatformCount(t *testing.T) {
	const document = `{"model":"m","messages":[{"role":"user","content":"hi"}],"thinking":{"type":"enabled","budget_tokens":2000}}`
	for _, tt := range []struct {
		platform anthropic.Platform
		answer   string
		want     cloudRequest
	}{
		{anthropic.PlatformVertex, `{"input_tokens":7}`, cloudRequest{
			URI:  "/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models/count-tokens:rawPredict",
			Body: `{"anthropic_version":"vertex-2023-10-16",` + document[1:],
		}},
		{anthropic.PlatformBedrock, `{"inputTokens":7}`, cloudRequest{
			URI: "/model/m/count-tokens",
			Body: `{"input":{"invokeModel":{"body":"` + base64.StdEncoding.EncodeToString([]byte(
				`{"anthropic_version":"bedrock-2023-05-31","max_tokens":2001,`+strings.TrimPrefix(document, `{"model":"m",`))) + `"}}}`,
		}},
		{anthropic.PlatformFoundry, `{"input_tokens":7}`, cloudRequest{URI: "/v1/messages/count_tokens", Version: "2023-06-01", Body: document}},
	} {
		c, got := cloud(t, tt.answer, anthropic.Options{Platform: tt.platform})
		w := ask(t, c, "/v1/messages/count_tokens", document, nil)
		if w.Body.String() != `{"input_tokens":7}` {
			t.Errorf("%s: %s", tt.platform, w.Body)
		}
		if diff := cmp.Diff(&tt.want, got); diff != "" {
			t.Errorf("%s: sent (-want +got):\n%s", tt.platform, diff)
		}
		n, err := upstream.CountTokens(t.Context(), c, greeting())
		if err != nil || n.Tokens != 7 || n.Estimated {
			t.Errorf("%s: %+v %v", tt.platform, n, err)
		}
	}
}

// TestPlatformModels checks that platforms without a list of models are skipped in lists.
func TestPlatformModels(t *testing.T) {
	for _, platform := range []anthropic.Platform{anthropic.PlatformVertex, anthropic.PlatformBedrock, anthropic.PlatformFoundry} {
		c, got := cloud(t, `{"data":[]}`, anthropic.Options{Platform: platform})
		if _, err := upstream.Models(t.Context(), c); !errors.Is(err, upstream.ErrUnsupported) || got.URI != "" {
			t.Errorf("%s: %v, sent to %s", platform, err, got.URI)
		}
	}
}

// TestVertexHosts checks the default hosts of locations.
func TestVertexHosts(t *testing.T) {
	for location, host := range map[string]string{
		"global": "aiplatform.googleapis.com", "us": "aiplatform.us.rep.googleapis.com", "eu": "aiplatform.eu.rep.googleapis.com",
		"europe-west1": "europe-west1-aiplatform.googleapis.com",
	} {
		asked := ""
		c, err := anthropic.New(&anthropic.Options{Platform: anthropic.PlatformVertex, Project: "p", Location: location,
			HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
				asked = r.URL.String()
				return nil, context.DeadlineExceeded
			})}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = upstream.Collect(t.Context(), c, greeting())
		if want := "https://" + host + "/v1/projects/p/locations/" + location + "/publishers/anthropic/models/m:rawPredict"; asked != want {
			t.Errorf("%s: asked for %s, want %s", location, asked, want)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
