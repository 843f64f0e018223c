package conformance

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

// A googleServer is the handler of the content generation format over an
// upstream, and what it reported.
type googleServer struct{ *server }

func serveGoogle(t *testing.T, up upstream.Upstream) googleServer {
	t.Helper()
	s := &server{reports: make(chan *upstream.Report, 64), budget: &upstream.Budget{}}
	h := generatecontent.NewHandler(up, &generatecontent.Options{Serving: upstream.Serving{
		Authenticate: upstream.Keys(key),
		OnDone:       func(_ context.Context, r *upstream.Report) { s.reports <- r },
		Budget:       s.budget,
	}})
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	s.url, s.stop = ts.URL, ts.Close
	return googleServer{s}
}

// keyless takes the key out of requests: the SDK refuses to be without one.
type keyless struct{ http.RoundTripper }

func (k keyless) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("x-goog-api-key")
	return k.RoundTripper.RoundTrip(r)
}

// open makes a client that sends the key k, or none if k is empty.
func (s googleServer) open(t *testing.T, k string) *genai.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	config := &genai.ClientConfig{
		APIKey: k, Backend: genai.BackendGeminiAPI,
		HTTPClient:  &http.Client{Transport: transport},
		HTTPOptions: genai.HTTPOptions{BaseURL: s.url},
	}
	if k == "" {
		config.APIKey, config.HTTPClient.Transport = "k-unsent", keyless{transport}
	}
	c, err := genai.NewClient(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A googleAnswer is what the SDK made of a reply.
type googleAnswer struct {
	content *genai.Content // the pieces of each part put together
	chunks  int
	finish  genai.FinishReason
	usage   *genai.GenerateContentResponseUsageMetadata
	id      string
	model   string
}

// add takes a chunk of a stream, or a whole answer.
func (a *googleAnswer) add(r *genai.GenerateContentResponse) {
	a.chunks++
	a.id, a.model = r.ResponseID, r.ModelVersion
	if r.UsageMetadata != nil {
		a.usage = r.UsageMetadata
	}
	for _, c := range r.Candidates {
		if c.FinishReason != "" {
			a.finish = c.FinishReason
		}
		if c.Content == nil {
			continue
		}
		for _, p := range c.Content.Parts {
			a.part(p)
		}
	}
}

// part adds a part, or continues the one before. A signature closes its part.
func (a *googleAnswer) part(p *genai.Part) {
	n := len(a.content.Parts)
	isText := p.FunctionCall == nil && p.InlineData == nil
	if isText && n > 0 {
		last := a.content.Parts[n-1]
		if last.FunctionCall == nil && last.InlineData == nil && last.Thought == p.Thought && last.ThoughtSignature == nil {
			last.Text += p.Text
			last.ThoughtSignature = p.ThoughtSignature
			return
		}
	}
	if isText && p.Text == "" && p.ThoughtSignature == nil {
		return
	}
	c := *p
	a.content.Parts = append(a.content.Parts, &c)
}

// said joins the texts that are no thoughts.
func (a *googleAnswer) said() string { return a.joined(false) }

func (a *googleAnswer) joined(thoughts bool) string {
	var b strings.Builder
	for _, p := range a.content.Parts {
		if p.Thought == thoughts {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func (a *googleAnswer) calls() (list []*genai.FunctionCall) {
	for _, p := range a.content.Parts {
		if p.FunctionCall != nil {
			list = append(list, p.FunctionCall)
		}
	}
	return list
}

// gather reads a stream to its end, or to its first error.
func gather(stream iter.Seq2[*genai.GenerateContentResponse, error]) (*googleAnswer, error) {
	a := &googleAnswer{content: &genai.Content{Role: genai.RoleModel}}
	for chunk, err := range stream {
		if err != nil {
			return a, err
		}
		a.add(chunk)
	}
	return a, nil
}

const googleModel = "demo-1"

// ask sends one request with the right key.
func (s googleServer) ask(t *testing.T, stream bool, turns []*genai.Content, config *genai.GenerateContentConfig) (*googleAnswer, error) {
	t.Helper()
	c := s.open(t, key)
	return gather(func(yield func(*genai.GenerateContentResponse, error) bool) {
		if stream {
			c.Models.GenerateContentStream(t.Context(), googleModel, turns, config)(yield)
			return
		}
		yield(c.Models.GenerateContent(t.Context(), googleModel, turns, config))
	})
}

// must is ask for a request that is to be answered.
func (s googleServer) must(t *testing.T, stream bool, turns []*genai.Content, config *genai.GenerateContentConfig) *googleAnswer {
	t.Helper()
	a, err := s.ask(t, stream, turns, config)
	if err != nil {
		t.Fatalf("the request failed: %v", err)
	}
	s.sound(t, stream, a)
	return a
}

// sound checks an answer against what the host was told.
func (s googleServer) sound(t *testing.T, stream bool, a *googleAnswer) {
	t.Helper()
	r := s.report(t)
	mode := "plain"
	if stream {
		mode = "stream"
	}
	if r.Err != nil || r.Status != http.StatusOK || r.Mode != mode || r.Format != generatecontent.Format {
		t.Errorf("reported as %s %s with status %d and error %v", r.Format, r.Mode, r.Status, r.Err)
	}
	if r.Model != googleModel || a.model != googleModel || a.id == "" {
		t.Errorf("asked %q; %q answered with id %q", r.Model, a.model, a.id)
	}
	u := a.usage
	if u == nil {
		t.Fatal("no usage")
	}
	got := [3]int64{int64(u.PromptTokenCount), int64(u.CandidatesTokenCount), int64(u.ThoughtsTokenCount)}
	if want := [3]int64{r.Usage.Prompt(), r.Usage.Output, r.Usage.Thinking}; got != want {
		t.Errorf("the client saw %d tokens of prompt, answer and thoughts, the host %d", got, want)
	}
	if int64(u.TotalTokenCount) != got[0]+got[1]+got[2] {
		t.Errorf("%d tokens in total, of %d", u.TotalTokenCount, got)
	}
}

// bothGoogle runs a scenario plain and streamed, over echo.
func bothGoogle(t *testing.T, f func(t *testing.T, s googleServer, stream bool)) {
	t.Helper()
	t.Run("plain", func(t *testing.T) { f(t, serveGoogle(t, echo.New()), false) })
	t.Run("stream", func(t *testing.T) { f(t, serveGoogle(t, echo.New()), true) })
}

// wantLines checks that echo described what was sent.
func (a *googleAnswer) wantLines(t *testing.T, lines ...string) {
	t.Helper()
	wantLines(t, &answer{Blocks: []block{{Type: "text", Text: a.said()}}}, lines...)
}
