package e2e

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// vertexEndpoint is the Messages handler with clients that are configured for Vertex AI.
var vertexEndpoint = func() endpoint {
	e := endpoints[0]
	e.request = vertexRequest
	return e
}()

// vertexRequest returns the request that messagesRequest returns, on the paths of Vertex AI.
// The model and the version change their places.
func vertexRequest(model, members string, m mode) *http.Request {
	const version = `"anthropic_version":"vertex-2023-10-16"`
	r := messagesRequest(model, members+","+version, m)
	name := model + ":rawPredict"
	switch m {
	case sse:
		name = model + ":streamRawPredict"
	case count:
		name = "count-tokens:rawPredict" // the model stays in the body
	}
	r.URL.Path = "/v1/projects/p/locations/global/publishers/anthropic/models/" + name
	if m != count {
		body, _ := io.ReadAll(r.Body)
		text := strings.Replace(string(body), `"model":"`+model+`",`, "", 1)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	}
	r.Header.Del("Anthropic-Version")
	r.Header.Del("X-Api-Key")
	r.Header.Set("Authorization", "Bearer "+clientKey)
	return r
}

// TestVertexPaths runs a conversation on the paths of the vendor and on those of Vertex AI.
// Each upstream must receive the same requests.
func TestVertexPaths(t *testing.T) {
	all := maps.Clone(clouds)
	if race.Enabled {
		clear(all) // see TestClouds
	}
	for _, b := range adapters {
		all[b.name] = b
	}
	for name, b := range all {
		for _, m := range []mode{whole, sse} {
			t.Run(name+" "+string(m), func(t *testing.T) {
				t.Parallel()
				var sent [2][]any
				for i, e := range []endpoint{endpoints[0], vertexEndpoint} {
					up, vendor := b.start(t, vendor{keep: true, forbid: secrets})
					g := newGateway(e, up, upstream.HandlerOptions{})
					k := session{client: &messagesClient{how: m}, think: true,
						via: func(int) (*gateway, adapter, *fake.Server) { return g, b, vendor }}
					k.run(t, conversation())
					members := k.client.members(true)
					if a := g.ask(b.model, members, count); a.Status != 200 || a.Tokens < 1 || a.Report.Model != b.model {
						t.Errorf("count: %d %s, model %q", a.Status, a.Body, a.Report.Model)
					}
					for _, r := range vendor.Requests() {
						document := r.Body
						if inner := gjson.GetBytes(document, "input.invokeModel.body"); inner.Exists() { // Bedrock counts it
							document, _ = base64.StdEncoding.DecodeString(inner.Str)
						}
						var body any
						if err := json.Unmarshal(document, &body); err != nil {
							t.Fatal(err)
						}
						sent[i] = append(sent[i], map[string]any{"path": r.Path, "body": body,
							"version": r.Header.Get("Anthropic-Version"), "beta": r.Header.Get("Anthropic-Beta")})
					}
				}
				if diff := cmp.Diff(sent[0], sent[1]); diff != "" {
					t.Errorf("requests on the paths of the vendor and of Vertex AI (-vendor +vertex):\n%s", diff)
				}
			})
		}
	}
}

// TestVertexToVertex checks that the body of a client for Vertex AI reaches Vertex AI with
// its bytes.
func TestVertexToVertex(t *testing.T) {
	const body = `{ "messages":[{"role":"user","content":"H\u0069"}],  "max_tokens":64, "x":1.0, "stream":true, "anthropic_version" : "vertex-2023-10-16" }`
	const path = "/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict"
	var got *http.Request
	var sent []byte
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		sent, _ = io.ReadAll(r.Body)
		http.Error(w, "{}", http.StatusBadRequest)
	}))
	defer vendor.Close()
	up, err := anthropic.New(&anthropic.Options{Platform: anthropic.PlatformVertex, Project: "p", Location: "global",
		BaseURL: vendor.URL, Key: hostKey, HTTPClient: httpClient(t)})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Anthropic-Beta", "context-1m-2025-08-07")
	messages.NewHandler(up, nil).ServeHTTP(httptest.NewRecorder(), r)
	if string(sent) != body || got.URL.Path != path || got.Header.Get("Anthropic-Beta") != "context-1m-2025-08-07" {
		t.Errorf("%s %v\n%s", got.URL.Path, got.Header, sent)
	}
}
