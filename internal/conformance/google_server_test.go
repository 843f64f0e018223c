package conformance

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

// A googleServer is the handler of the content generation format over an
// upstream, and what it reported.
type googleServer struct {
	*server
	sdk googleSDK
}

// serveGoogle starts a server of up on loopback, to be driven by c.
func serveGoogle(t *testing.T, c googleSDK, up upstream.Upstream) googleServer {
	t.Helper()
	return serveGoogleSo(t, c, up, upstream.HandlerOptions{}, func(h http.Handler) http.Handler { return h })
}

// serveGoogleSo is serveGoogle with settings, and with something around the
// handler.
func serveGoogleSo(t *testing.T, c googleSDK, up upstream.Upstream, how upstream.HandlerOptions, around func(http.Handler) http.Handler) googleServer {
	t.Helper()
	s := &server{reports: make(chan *upstream.Report, 64), budget: &upstream.Budget{}}
	how.Authenticate, how.Budget = upstream.Keys(key), s.budget
	how.OnDone = func(_ context.Context, r *upstream.Report) { s.reports <- r }
	h := around(generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: how}))
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.path.Store(&r.URL.Path)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(ts.Close)
	s.url, s.stop = ts.URL, ts.Close
	return googleServer{s, c}
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

func newGoogleAnswer() *googleAnswer {
	return &googleAnswer{content: &genai.Content{Role: genai.RoleModel}}
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

const googleModel = "demo-1"

// call is a request with the right key.
func (s googleServer) call(turns []*genai.Content, config *genai.GenerateContentConfig) googleCall {
	return googleCall{BaseURL: s.url, Key: key, Model: googleModel, Contents: turns, Config: config}
}

// ask sends one request with the right key.
func (s googleServer) ask(t *testing.T, stream bool, turns []*genai.Content, config *genai.GenerateContentConfig) (*googleAnswer, error) {
	t.Helper()
	c := s.call(turns, config)
	c.Stream = stream
	return s.sdk.ask(t.Context(), c)
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

// wantLines checks that echo described what was sent.
func (a *googleAnswer) wantLines(t *testing.T, lines ...string) {
	t.Helper()
	wantLines(t, &answer{Blocks: []block{{Type: "text", Text: a.said()}}}, lines...)
}
