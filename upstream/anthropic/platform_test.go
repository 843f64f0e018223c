package anthropic_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/lossplaces"
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
		{"members of clouds at a path of the API", anthropic.Options{}, `{"model":"m",` + rest + `,"anthropic_beta":["x"], "anthropic_version":"vertex-2023-10-16" }`, cloudRequest{
			URI: "/v1/messages?beta=true", Version: "2023-06-01", Beta: "context-1m-2025-08-07",
			Body: `{"model":"claude-haiku-4-5@20251001",` + rest + `,"anthropic_beta":["x"], "anthropic_version":"vertex-2023-10-16" }`,
		}},
		{"betas in the body", anthropic.Options{Platform: anthropic.PlatformVertex}, `{"model":"m",` + rest + `,"anthropic_beta":["computer-use-2025-11-24","x"]}`, cloudRequest{
			URI:  "/v1/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-haiku-4-5@20251001:rawPredict",
			Beta: "context-1m-2025-08-07,computer-use-2025-11-24",
			Body: `{"anthropic_version":"vertex-2023-10-16",` + rest + `}`,
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
			URI: "/model/anthropic.claude-opus-4-6-v1/count-tokens",
			Body: `{"input":{"invokeModel":{"body":"` + base64.StdEncoding.EncodeToString([]byte(
				`{"anthropic_version":"bedrock-2023-05-31","max_tokens":2001,`+strings.TrimPrefix(document, `{"model":"m",`))) + `"}}}`,
		}},
		{anthropic.PlatformFoundry, `{"input_tokens":7}`, cloudRequest{URI: "/v1/messages/count_tokens", Version: "2023-06-01", Body: document}},
	} {
		o := anthropic.Options{Platform: tt.platform}
		if tt.platform == anthropic.PlatformBedrock {
			o.MapModel = func(string) string { return "us.anthropic.claude-opus-4-6-v1" }
		}
		c, got := cloud(t, tt.answer, o)
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

// TestWholeCount checks that a document for a response, which clients of Bedrock send for
// counting, becomes a count request.
func TestWholeCount(t *testing.T) {
	const path = "/v1/projects/-/locations/-/publishers/anthropic/models/count-tokens:rawPredict"
	const document = `{"anthropic_version":"bedrock-2023-05-31","model":"m","max_tokens":9,"temperature":1,"top_k":2,"stop_sequences":["."],"metadata":{"user_id":"u"},` +
		`"messages":[{"role":"user","content":"hi"}]}`
	for platform, want := range map[anthropic.Platform]string{
		"":                       `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`,
		anthropic.PlatformVertex: `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}],"anthropic_version":"vertex-2023-10-16"}`,
	} {
		c, got := cloud(t, `{"input_tokens":7}`, anthropic.Options{Platform: platform})
		if w := ask(t, c, path, document, nil); w.Body.String() != `{"input_tokens":7}` {
			t.Errorf("%q: %s", platform, w.Body)
		}
		if diff := cmp.Diff(want, got.Body); diff != "" {
			t.Errorf("%q: sent (-want +got):\n%s", platform, diff)
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

// TestPlatformLosses checks what is sent of requests with betas, members, tools and parts
// that platforms do not have, and the losses.
func TestPlatformLosses(t *testing.T) {
	const vertex, bedrock, foundry = anthropic.PlatformVertex, anthropic.PlatformBedrock, anthropic.PlatformFoundry
	const hi = `"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]`
	for _, tt := range []struct {
		name      string
		platforms []anthropic.Platform
		betas     string
		allow     func(string) bool
		document  string // the members beside model and max_tokens
		want      string // the same as sent; empty: as in document
		wantBetas string
		losses    []string
	}{
		{name: "betas of a coding agent", platforms: []anthropic.Platform{vertex},
			betas:    "claude-code-20250219,interleaved-thinking-2025-05-14,prompt-caching-scope-2026-01-05,advanced-tool-use-2025-11-20",
			document: hi, wantBetas: "interleaved-thinking-2025-05-14,tool-search-tool-2025-10-19",
			losses: []string{"hint headers.anthropic-beta.claude-code-20250219", "hint headers.anthropic-beta.prompt-caching-scope-2026-01-05"}},
		{name: "betas of a coding agent", platforms: []anthropic.Platform{bedrock},
			betas:    "advanced-tool-use-2025-11-20,claude-code-20250219,context-management-2025-06-27,tool-search-tool-2025-10-19",
			document: hi, wantBetas: "context-management-2025-06-27,tool-search-tool-2025-10-19",
			losses: []string{"hint headers.anthropic-beta.claude-code-20250219"}},
		{name: "betas of a coding agent", platforms: []anthropic.Platform{foundry}, betas: "claude-code-20250219,fast-mode-2026-02-01",
			document: hi, wantBetas: "claude-code-20250219", losses: []string{"hint headers.anthropic-beta.fast-mode-2026-02-01"}},
		{name: "unusual beta", platforms: []anthropic.Platform{vertex, bedrock}, betas: "a.b", document: hi, losses: []string{"hint headers.anthropic-beta"}},
		{name: "host's choice of betas", platforms: []anthropic.Platform{vertex, bedrock, foundry}, betas: "new-2027-01-01,fast-mode-2026-02-01,other",
			allow: func(s string) bool { return s != "other" }, document: `"speed":"fast",` + hi, wantBetas: "new-2027-01-01,fast-mode-2026-02-01"},
		{name: "member without its beta", platforms: []anthropic.Platform{vertex, bedrock, foundry},
			document: `"speed":"fast",` + hi, want: hi, losses: []string{"hint extra.speed"}},
		{name: "members", platforms: []anthropic.Platform{vertex, bedrock},
			document: `"container":"c","mcp_servers":[],"fallbacks":[{"model":"n"}],"diagnostics":{"previous_message_id":"m"},"inference_geo":"us","service_tier":"auto",
				"output_config":{"effort":"low","task_budget":{"type":"tokens","total":20000}},` + hi,
			want: hi + `,"output_config":{"effort":"low"}`,
			losses: []string{"dropped extra.output_config.task_budget", "dropped extra.container", "dropped extra.inference_geo", "hint extra.mcp_servers",
				"hint extra.diagnostics", "degraded extra.fallbacks", "hint service_tier"}},
		{name: "clearing of thinking", platforms: []anthropic.Platform{bedrock},
			document: `"context_management":{"edits":[{"type":"clear_thinking_20251015"}]},` + hi, want: hi, losses: []string{"hint extra.context_management"}},
		{name: "clearing of thinking beside others", platforms: []anthropic.Platform{bedrock},
			document: `"context_management":{"edits":[{"type":"clear_thinking_20251015"},{"type":"clear_tool_uses_20250919"}]},` + hi,
			want:     `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},` + hi, losses: []string{"hint extra.context_management"}},
		{name: "clearing of thinking", platforms: []anthropic.Platform{vertex, foundry},
			document: `"context_management":{"edits":[{"type":"clear_thinking_20251015"}]},` + hi},
		{name: "automatic cache mark", platforms: []anthropic.Platform{vertex, bedrock},
			document: `"cache_control":{"type":"ephemeral","ttl":"1h","x_new":1},` + hi,
			want:     `"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral","ttl":"1h","x_new":1}}]}]`},
		{name: "automatic cache mark", platforms: []anthropic.Platform{foundry}, document: `"cache_control":{"type":"ephemeral"},` + hi},
		{name: "older form of a schema", platforms: []anthropic.Platform{bedrock},
			document: `"output_format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false}},` + hi,
			want:     `"output_config":{"format":{"type":"json_schema","schema":{"type":"object","additionalProperties":false}}},` + hi,
			losses:   []string{"hint headers.anthropic-beta.structured-outputs-2025-11-13", "hint extra.output_format"}, betas: "structured-outputs-2025-11-13"},
		{name: "members that remain", platforms: []anthropic.Platform{vertex, bedrock, foundry},
			document: `"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},"metadata":{"user_id":"u"},"x_new":1,` + hi},
		{name: "any place", platforms: []anthropic.Platform{vertex, bedrock}, document: `"inference_geo":"global",` + hi, want: hi,
			losses: []string{"hint extra.inference_geo"}},
		{name: "scope of cache marks", platforms: []anthropic.Platform{vertex, bedrock},
			document: `"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h","scope":"global"}}],` + hi,
			want:     `"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],` + hi,
			losses:   []string{"hint system.0.cache.extra.scope"}},
		{name: "null", platforms: []anthropic.Platform{vertex, bedrock},
			document: `"speed":null,"mcp_servers":null,"inference_geo":null,"service_tier":null,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","scope":null}}],` + hi,
			want:     `"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],` + hi},
		{name: "null of an accepted member", platforms: []anthropic.Platform{vertex, bedrock, foundry}, document: `"temperature":null,` + hi, want: hi},
		{name: "tools", platforms: []anthropic.Platform{vertex},
			document: `"tools":[{"type":"web_search_20250305","name":"web_search"},{"type":"web_fetch_20250910","name":"web_fetch"},{"type":"bash_20250124","name":"bash"},
				{"name":"f","input_schema":{"type":"object"},"allowed_callers":["code_execution_20250825"],"input_examples":[{}]}],` + hi,
			want: hi + `,"tools":[{"type":"web_search_20250305","name":"web_search"},{"type":"bash_20250124","name":"bash"},
				{"name":"f","input_schema":{"type":"object"},"input_examples":[{}]}]`,
			wantBetas: "web-search-2025-03-05", losses: []string{"dropped tools.1", "degraded tools.3.extra.allowed_callers"}},
		{name: "tools", platforms: []anthropic.Platform{bedrock},
			document: `"tools":[{"type":"web_search_20250305","name":"web_search"},{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"}],` + hi,
			want:     hi + `,"tools":[{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"}]`, wantBetas: "tool-search-tool-2025-10-19",
			losses: []string{"dropped tools.0"}},
		{name: "tools that remain", platforms: []anthropic.Platform{foundry},
			document: `"tools":[{"type":"web_search_20250305","name":"web_search"},{"type":"web_fetch_20250910","name":"web_fetch"},{"type":"code_execution_20250825","name":"code_execution"}],` + hi},
		{name: "calls", platforms: []anthropic.Platform{vertex, bedrock},
			document: `"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"a"},
				{"type":"server_tool_use","id":"srvtoolu_1","name":"web_fetch","input":{"url":"https://a.example"}},
				{"type":"web_fetch_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"web_fetch_tool_result_error","error_code":"unavailable"}}]},{"role":"user","content":[{"type":"text","text":"hi"}]}]`,
			want:   `"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"hi"}]}]`,
			losses: []string{"dropped turns.1.parts.1", "dropped turns.1.parts.2"}},
	} {
		for _, platform := range tt.platforms {
			t.Run(tt.name+" "+string(platform), func(t *testing.T) {
				c, got := cloud(t, reply, anthropic.Options{Platform: platform, AllowBeta: tt.allow})
				n := parsed(t, `{"model":"m","max_tokens":9,`+tt.document+`}`, tt.betas)
				losses, err := upstream.Preflight(t.Context(), c, n)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.losses, lossList(losses)); diff != "" {
					t.Errorf("losses (-want +got):\n%s", diff)
				}
				r, err := upstream.Collect(t.Context(), c, n)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(lossList(losses), lossList(r.Losses)); diff != "" {
					t.Errorf("losses of Generate (-Preflight +Generate):\n%s", diff)
				}
				sent := fields(t, got.Body)
				if platform == bedrock {
					got.Beta = strings.NewReplacer(`[`, ``, `]`, ``, `"`, ``).Replace(sent["anthropic_beta"])
				}
				if got.Beta != tt.wantBetas {
					t.Errorf("sent the betas %q, want %q", got.Beta, tt.wantBetas)
				}
				want := tt.want
				if want == "" {
					want = tt.document
				}
				for _, name := range []string{"model", "anthropic_version", "anthropic_beta", "max_tokens"} {
					delete(sent, name)
				}
				if diff := cmp.Diff(fields(t, "{"+want+"}"), sent); diff != "" {
					t.Errorf("sent (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// parsed returns the request of a client with betas, as the handler passes it on.
func parsed(t *testing.T, document, betas string) *upstream.Request {
	t.Helper()
	var n *upstream.Request
	capture := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		n = r
		return w.Text("hi")
	})
	header := http.Header{}
	if betas != "" {
		header.Set("Anthropic-Beta", betas)
	}
	if code, answer := ask2(messages.NewHandler(capture, nil), document, header); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	return n
}

// fields returns the members of an object as compact JSON text with sorted names.
func fields(t *testing.T, object string) map[string]string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(object), &m); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	out := make(map[string]string)
	for name, v := range m {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}

func lossList(losses []content.Loss) (list []string) {
	list = append(list, lossplaces.Names(losses)...)
	return list
}

// TestPlatformFiles checks links and stored files in a document of the format. Links are
// loaded for platforms that do not accept them, even if links may be forwarded.
func TestPlatformFiles(t *testing.T) {
	image := func(source string) string {
		return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":` + source + `}]}]}`
	}
	const data = `{"type":"base64","media_type":"image/gif","data":"R0lGODlhAQABAAAAADs="}`
	link := image(`{"type":"url","url":"https://a.example.com/x.gif"}`)
	file := image(`{"type":"file","file_id":"file_011CNha8iCJcU1wXNR6q4V8w"}`)
	for _, tt := range []struct {
		platform  anthropic.Platform
		document  string
		want      string // in the body
		violation string
	}{
		{anthropic.PlatformVertex, link, data, ""},
		{anthropic.PlatformBedrock, link, data, ""},
		{anthropic.PlatformFoundry, link, `"https://a.example.com/x.gif"`, ""},
		{anthropic.PlatformVertex, file, "", "turns.0.parts.0.source"},
		{anthropic.PlatformBedrock, file, "", "turns.0.parts.0.source"},
		{anthropic.PlatformFoundry, file, `"file_011CNha8iCJcU1wXNR6q4V8w"`, ""},
	} {
		c, got := cloud(t, reply, anthropic.Options{Platform: tt.platform})
		var err error
		edit := upstream.Func(func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
			r.Resolver = &files{}
			err = c.Generate(ctx, r, w)
			return err
		})
		h := messages.NewHandler(edit, &messages.Options{HandlerOptions: upstream.HandlerOptions{ForwardLinks: true}, FilesWithoutBeta: true})
		_, answer := ask2(h, tt.document, nil)
		var v *content.Violation
		if errors.As(err, &v) != (tt.violation != "") || v != nil && v.Path != tt.violation || v == nil && err != nil {
			t.Errorf("%s: error %v, want one at %q", tt.platform, err, tt.violation)
		}
		if !strings.Contains(got.Body, tt.want) || (tt.violation != "") != (got.Body == "") {
			t.Errorf("%s: sent %s, want %s; the client received %s", tt.platform, got.Body, tt.want, answer)
		}
	}
}

// TestPlatformState checks that a request is refused that continues a conversation which the
// vendor stores.
func TestPlatformState(t *testing.T) {
	for _, platform := range []anthropic.Platform{anthropic.PlatformVertex, anthropic.PlatformBedrock} {
		c, got := cloud(t, reply, anthropic.Options{Platform: platform})
		n := greeting()
		n.Extra = &content.Extra{Format: messages.Format, JSON: `{"thread":{"type":"continue","previous_message_id":"msg_1"}}`}
		_, err := upstream.Collect(t.Context(), c, n)
		var v *content.Violation
		if !errors.As(err, &v) || v.Path != "extra.thread" || got.URI != "" {
			t.Errorf("%s: %v, sent to %s", platform, err, got.URI)
		}
	}
}

// TestPlatformVersion checks that a later version of the client is sent.
func TestPlatformVersion(t *testing.T) {
	for _, platform := range []anthropic.Platform{anthropic.PlatformVertex, anthropic.PlatformBedrock, anthropic.PlatformFoundry} {
		c, got := cloud(t, reply, anthropic.Options{Platform: platform})
		n := parsed(t, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`, "")
		n.Header = []upstream.HeaderField{{Name: "anthropic-version", Value: "2026-10-21"}}
		r, err := upstream.Collect(t.Context(), c, n)
		if err != nil || r.Losses != nil {
			t.Error(err, r.Losses)
		}
		if version := got.Version + strings.Trim(fields(t, got.Body)["anthropic_version"], `"`); version != "2026-10-21" {
			t.Errorf("%s: sent the version %q", platform, version)
		}
	}
}

// TestInterleavedBeta checks that the beta for thinking between tool calls is sent for the
// models for which platforms accept it.
func TestInterleavedBeta(t *testing.T) {
	const beta = "interleaved-thinking-2025-05-14"
	for model, want := range map[string]string{"claude-sonnet-4-5@20250929": beta, "claude-opus-4-6": beta, "claude-opus-4-8": "", "my-profile": beta} {
		c, got := cloud(t, reply, anthropic.Options{Platform: anthropic.PlatformVertex})
		n := parsed(t, `{"model":"`+model+`","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`, beta)
		r, err := upstream.Collect(t.Context(), c, n)
		if err != nil || got.Beta != want || (want == "") != (len(r.Losses) == 1) {
			t.Errorf("%s: %v, sent the betas %q, losses %v", model, err, got.Beta, r.Losses)
		}
	}
}

// TestPlatformReplacedTools checks that a tool of another vendor is replaced only by one that
// the platform has.
func TestPlatformReplacedTools(t *testing.T) {
	for platform, want := range map[anthropic.Platform]string{
		anthropic.PlatformVertex:  `[{"name":"web_search","type":"web_search_20250305"}]`,
		anthropic.PlatformBedrock: "",
		anthropic.PlatformFoundry: `[{"name":"web_search","type":"web_search_20250305"},{"name":"web_fetch","type":"web_fetch_20250910"}]`,
	} {
		c, got := cloud(t, reply, anthropic.Options{Platform: platform})
		n := greeting()
		n.Tools = []content.Tool{
			{Kind: "googleSearch", Format: "generatecontent", Raw: "{}"}, {Kind: "urlContext", Format: "generatecontent", Raw: "{}"},
		}
		if _, err := upstream.Collect(t.Context(), c, n); err != nil {
			t.Fatal(err)
		}
		if tools := fields(t, got.Body)["tools"]; tools != want {
			t.Errorf("%s: sent the tools %s, want %s", platform, tools, want)
		}
		if platform == anthropic.PlatformVertex && got.Beta != "web-search-2025-03-05" {
			t.Errorf("sent the betas %q", got.Beta)
		}
	}
}

// TestVertexErrors checks errors of the vendor and those of Google Cloud.
func TestVertexErrors(t *testing.T) {
	const google = `{"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED"}}`
	for _, tt := range []struct {
		status int
		body   string
		code   upstream.Code
		text   string
	}{
		{429, google, upstream.CodeRateLimit, "Quota exceeded."},
		{429, "[" + google + "]", upstream.CodeRateLimit, "Quota exceeded."},
		{404, `{"error":{"code":404,"message":"Publisher Model was not found.","status":"NOT_FOUND"}}`, upstream.CodeNotFound, "Publisher Model was not found."},
		{401, `{"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}}`, upstream.CodeBadGateway, ""},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: Field required"}}`, upstream.CodeInvalid, "max_tokens: Field required"},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, upstream.CodeOverloaded, ""},
	} {
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		}))
		c, err := anthropic.New(&anthropic.Options{Platform: anthropic.PlatformVertex, Project: "p", Location: "global", BaseURL: ts.URL})
		if err != nil {
			t.Fatal(err)
		}
		_, err = upstream.Collect(t.Context(), c, greeting())
		ts.Close()
		var e *upstream.Error
		if !errors.As(err, &e) || e.Code != tt.code || tt.text != "" && e.Text != tt.text || strings.Contains(e.Text, "authentication") {
			t.Errorf("%d %s: %+v", tt.status, tt.body, e)
		}
	}
}

// TestBedrockCountEstimates checks that tokens are estimated for models that Bedrock does not
// count.
func TestBedrockCountEstimates(t *testing.T) {
	asked := false
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":"The provided model doesn't support counting tokens."}}`)
	}))
	defer ts.Close()
	c, err := anthropic.New(&anthropic.Options{Platform: anthropic.PlatformBedrock, BaseURL: ts.URL})
	if err != nil {
		t.Fatal(err)
	}
	for model, sends := range map[string]bool{
		"arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc": false,
		"anthropic.claude-3-haiku-20240307-v1:0":                                   true,
	} {
		asked = false
		n := greeting()
		n.Model = model
		if got, err := upstream.CountTokens(t.Context(), c, n); err != nil || !got.Estimated || asked != sends {
			t.Errorf("%s: %+v %v, asked the server: %v", model, got, err, asked)
		}
	}
}

// TestPlatformModelNames checks that the limits of models are found by the names that
// platforms have for them.
func TestPlatformModelNames(t *testing.T) {
	for _, tt := range []struct {
		platform anthropic.Platform
		model    string
		limits   map[string]int64
		want     string
	}{
		{anthropic.PlatformVertex, "claude-3-5-sonnet-v2@20241022", nil, "8192"},
		{anthropic.PlatformVertex, "claude-sonnet-4-5@20250929", map[string]int64{"claude-sonnet-4-5": 1000}, "1000"},
		{anthropic.PlatformBedrock, "anthropic.claude-3-5-sonnet-20241022-v2:0", nil, "8192"},
		{anthropic.PlatformBedrock, "us.anthropic.claude-opus-4-1-20250805-v1:0", nil, "32000"},
		{anthropic.PlatformBedrock, "global.anthropic.claude-opus-4-6-v1", nil, "128000"},
		{anthropic.PlatformBedrock, "us.anthropic.claude-sonnet-4-5-20250929-v1:0", map[string]int64{"claude-sonnet-4-5": 1000}, "1000"},
		{anthropic.PlatformBedrock, "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-3-haiku-20240307-v1:0", nil, "4096"},
		{anthropic.PlatformBedrock, "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0", map[string]int64{"anthropic.claude-sonnet-4-5": 1000}, "1000"},
	} {
		c, got := cloud(t, reply, anthropic.Options{Platform: tt.platform, OutputLimits: tt.limits})
		n := greeting()
		n.Model, n.MaxTokens = tt.model, value(int64(1_000_000))
		if _, err := upstream.Collect(t.Context(), c, n); err != nil {
			t.Fatal(err)
		}
		if max := fields(t, got.Body)["max_tokens"]; max != tt.want {
			t.Errorf("%s: max_tokens is %s, want %s", tt.model, max, tt.want)
		}
	}
}

// A turn that the platform does not accept as it is shares the prompt with the turns before,
// which were sent as documents.
func TestPlatformCacheBreak(t *testing.T) {
	const turns = `"model":"claude-sonnet-4-5","max_tokens":9,"tools":[{"type":"custom","name":"f","input_schema":{"type":"object"}}],
		"messages":[{"role":"user","content":"Hi"},
		{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":1.0,"a":null},"caller":{"type":"direct"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"Done","is_error":false}%s]}]}`
	decode := func(body string) *upstream.Request {
		r, _, err := messages.DecodeRequest([]byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	prev := decode("{" + fmt.Sprintf(turns, ""))
	next := decode(`{"speed":"fast",` + fmt.Sprintf(turns, `,{"type":"text","text":"Go on"}`))
	broken := decode(`{"speed":"fast",` + strings.Replace(fmt.Sprintf(turns, ""), "Done", "Do", 1))
	for _, p := range []anthropic.Platform{anthropic.PlatformVertex, anthropic.PlatformBedrock, anthropic.PlatformFoundry} {
		o := anthropic.Options{Platform: p, BaseURL: "http://127.0.0.1:1"}
		if p == anthropic.PlatformVertex {
			o.Project, o.Location = "p", "global"
		}
		c, err := anthropic.New(&o)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := upstream.CacheBreak(t.Context(), c, prev, next); err != nil || d.Broken {
			t.Errorf("%s: %v, %v", p, d, err)
		}
		if d, err := upstream.CacheBreak(t.Context(), c, prev, broken); err != nil || d.Path != "messages.2.content.0" {
			t.Errorf("%s: %v at %q, %v", p, d, d.Path, err)
		}
	}
}
