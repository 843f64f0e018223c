package conformance

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/script"
)

// Values of call.Cloud.
const (
	vertexCloud  = "vertex"
	bedrockCloud = "bedrock"
)

// A cloudSDK is a client that is configured for a cloud.
type cloudSDK struct {
	sdk
	cloud string
}

func (s cloudSDK) ask(ctx context.Context, c call) (*answer, error) {
	c.Cloud = s.cloud
	return s.sdk.ask(ctx, c)
}

func (s cloudSDK) count(ctx context.Context, c call) (int64, error) {
	c.Cloud = s.cloud
	return s.sdk.count(ctx, c)
}

// bothClouds runs a scenario plain and streamed, with each client for each cloud.
func bothClouds(t *testing.T, f func(t *testing.T, c cloudSDK, stream bool)) {
	t.Helper()
	for _, cloud := range []string{vertexCloud, bedrockCloud} {
		t.Run(cloud, func(t *testing.T) {
			both(t, func(t *testing.T, c sdk, stream bool) { f(t, cloudSDK{c, cloud}, stream) })
		})
	}
}

// cloudModels are names that the clouds give to a model.
var cloudModels = map[string]string{
	vertexCloud:  "claude-sonnet-4-5@20250929",
	bedrockCloud: "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}

// request is request with a name that the cloud gives to a model.
func (s cloudSDK) request(turns arr, more obj) obj {
	r := request(turns, more)
	r["model"] = cloudModels[s.cloud]
	return r
}

// TestCloudTools runs a loop with parallel calls and thinking on the paths of each cloud.
func TestCloudTools(t *testing.T) {
	bothClouds(t, func(t *testing.T, c cloudSDK, stream bool) {
		s := serve(t, nil)
		more := obj{"tools": arr{weather, clock}, "thinking": obj{"type": "enabled", "budget_tokens": 1024}}
		question := user(play(script.Think("Two calls."), script.Say("Let me look."), script.Call("weather", `{"city":"Oslo"}`), script.Call("clock", "")))
		a := s.mustAsk(t, c, stream, c.request(arr{question}, more))
		wantKinds(t, a, "thinking", "text", "tool_use", "tool_use")
		if a.StopReason != "tool_use" || a.Model != cloudModels[c.cloud] {
			t.Errorf("stop reason %q, model %q", a.StopReason, a.Model)
		}
		wantJSON(t, "input", obj{"city": "Oslo"}, a.Blocks[2].Input)
		b := s.mustAsk(t, c, stream, c.request(arr{question, a.Turn, results(t, a, "rain", "09:41")}, more))
		wantLines(t, b, "weather answered: rain", "clock answered: 09:41")
		if !strings.Contains(b.text(), signature(messages.Format, "Two calls.")) {
			t.Errorf("the thinking was not returned unchanged:\n%s", b.text())
		}
	})
}

// TestCloudErrors checks that the clients read errors: of the request, of the key and of the
// upstream, before and in a response. Those of Bedrock have other forms.
func TestCloudErrors(t *testing.T) {
	type outcome struct {
		status int
		kind   string
	}
	outcomes := map[string][3]outcome{
		vertexCloud:  {{400, "invalid_request_error"}, {401, "authentication_error"}, {529, "overloaded_error"}},
		bedrockCloud: {{400, ""}, {403, ""}, {503, ""}},
	}
	bothClouds(t, func(t *testing.T, c cloudSDK, stream bool) {
		check := func(s *server, err error, want outcome, text string) {
			t.Helper()
			var f *failure
			if !errors.As(err, &f) {
				t.Fatalf("got %v, want %v", err, want)
			}
			if f.Status != want.status || f.Type != want.kind || !strings.Contains(f.Cause, text) {
				t.Errorf("got %v, want %v with %q", err, want, text)
			}
			if r := s.report(t); r.Err == nil || f.RequestID != r.ID {
				t.Errorf("the client received request id %q, the host %q with error %v", f.RequestID, r.ID, r.Err)
			}
		}
		want := outcomes[c.cloud]
		s := serve(t, nil)
		_, err := s.ask(t, c, stream, c.request(arr{user(arr{text("")})}, nil))
		check(s, err, want[0], "text content blocks must be non-empty")

		_, err = c.ask(t.Context(), call{BaseURL: s.url, Key: "wrong", Stream: stream, Params: c.request(arr{user("Hi.")}, nil)})
		check(s, err, want[1], "invalid x-api-key")

		overloaded := &upstream.Error{Code: upstream.CodeOverloaded, Text: "try later"}
		s = serveModel(t, upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { return overloaded }), nil)
		_, err = s.ask(t, c, stream, c.request(arr{user("Hi.")}, nil))
		check(s, err, want[2], "try later")

		if !stream {
			return
		}
		s = serveModel(t, upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return cmp.Or(w.Text("Hello"), error(overloaded))
		}), nil)
		if _, err := s.ask(t, c, stream, c.request(arr{user("Hi.")}, nil)); err == nil || !strings.Contains(err.Error(), "try later") {
			t.Errorf("error in the stream: %v", err)
		}
	})
}

// TestVertexCount counts tokens on the path of Vertex AI.
func TestVertexCount(t *testing.T) {
	each(t, func(t *testing.T, client sdk) {
		c, s := cloudSDK{client, vertexCloud}, serve(t, nil)
		params := c.request(arr{user("How many?")}, nil)
		delete(params, "max_tokens")
		n, err := c.count(t.Context(), call{BaseURL: s.url, Key: key, Params: params})
		if err != nil || n < 1 {
			t.Fatalf("%d tokens, error %v", n, err)
		}
		r := s.report(t)
		if r.Mode != "count" || r.Model != params["model"] || !strings.HasSuffix(r.Path, "/models/count-tokens:rawPredict") {
			t.Errorf("report: %+v", r)
		}
	})
}

// A googleCloudSDK is a client of generateContent that is configured for Google Cloud.
type googleCloudSDK struct{ googleSDK }

func (s googleCloudSDK) ask(ctx context.Context, c googleCall) (*googleAnswer, error) {
	c.Cloud = vertexCloud
	return s.googleSDK.ask(ctx, c)
}

func (s googleCloudSDK) chat(ctx context.Context, c googleCall) (googleChat, error) {
	c.Cloud = vertexCloud
	return s.googleSDK.chat(ctx, c)
}

func (s googleCloudSDK) count(ctx context.Context, c googleCall) (int32, error) {
	c.Cloud = vertexCloud
	return s.googleSDK.count(ctx, c)
}

// TestGoogleVertex runs a loop with a tool call, an error and a count with clients that are
// configured for Google Cloud.
func TestGoogleVertex(t *testing.T) {
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		s.sdk = googleCloudSDK{s.sdk}
		chat := s.chat(t, &genai.GenerateContentConfig{Tools: googleTools()})
		a := s.send(t, chat, stream, genai.NewPartFromText(play(script.Say("Let me look."), script.Call("weather", `{"city":"Oslo"}`), script.Call("clock", ""))))
		if len(a.calls()) != 2 || a.calls()[0].Args["city"] != "Oslo" {
			t.Fatalf("tool calls: %v", a.calls())
		}
		b := s.send(t, chat, stream, googleResults(t, a, "rain", "09:41")...)
		b.wantLines(t, "weather answered: rain", "clock answered: 09:41")

		_, err := s.ask(t, stream, genai.Text("Hi."), &genai.GenerateContentConfig{MaxOutputTokens: -1})
		var f *googleFailure
		if !errors.As(err, &f) || f.Code != http.StatusBadRequest || f.Status != "INVALID_ARGUMENT" {
			t.Errorf("error: %v", err)
		}
		s.report(t)

		if n, err := s.sdk.count(t.Context(), s.call(genai.Text("How many?"), nil)); err != nil || n < 1 {
			t.Errorf("%d tokens, error %v", n, err)
		}
		want := "/v1beta1/projects/project/locations/global/publishers/google/models/" + googleModel + ":countTokens"
		if r := s.report(t); r.Path != want || r.Model != googleModel {
			t.Errorf("model %q at %s, want %s", r.Model, r.Path, want)
		}
	})
}

// TestCloudHeaders checks that the version of the API and the betas of a client reach the
// upstream, wherever its SDK puts them.
func TestCloudHeaders(t *testing.T) {
	bothClouds(t, func(t *testing.T, c cloudSDK, stream bool) {
		var header []upstream.HeaderField
		s := serveModel(t, upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
			header = r.Header
			return w.Text("Hello")
		}), nil)
		_, err := c.ask(t.Context(), call{BaseURL: s.url, Key: key, Stream: stream, Params: c.request(arr{user("Hi.")}, nil),
			Header: map[string]string{"anthropic-beta": "interleaved-thinking-2025-05-14"}})
		if err != nil {
			t.Fatal(err)
		}
		version := "2026-10-21"
		if older(c.sdk) {
			version = "2023-06-01"
		}
		want := []upstream.HeaderField{{Name: "anthropic-version", Value: version}, {Name: "anthropic-beta", Value: "interleaved-thinking-2025-05-14"}}
		if diff := gocmp.Diff(want, header); diff != "" {
			t.Errorf("header (-want +got):\n%s", diff)
		}
	})
}
