package conformance

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream"
)

// A googleServer is the generateContent handler over an upstream, with its
// reports.
type googleServer struct {
	*server
	sdk googleSDK
}

// serveGoogle starts a server of up on loopback for the client c.
func serveGoogle(t *testing.T, c googleSDK, up upstream.Upstream) googleServer {
	t.Helper()
	return serveGoogleWith(t, c, up, upstream.HandlerOptions{}, func(h http.Handler) http.Handler { return h })
}

// serveGoogleWith is serveGoogle with options and a wrapper of the handler.
func serveGoogleWith(t *testing.T, c googleSDK, up upstream.Upstream, how upstream.HandlerOptions, around func(http.Handler) http.Handler) googleServer {
	t.Helper()
	s := newServer(&how)
	s.start(t, around(generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: how})))
	return googleServer{s, c}
}

// A googleAnswer is a response as the SDK reads it.
type googleAnswer struct {
	content *genai.Content // with the pieces of each part joined
	chunks  int
	finish  genai.FinishReason
	usage   *genai.GenerateContentResponseUsageMetadata
	id      string
	model   string
}

func newGoogleAnswer() *googleAnswer {
	return &googleAnswer{content: &genai.Content{Role: genai.RoleModel}}
}

// add adds a chunk of a stream, or a whole response.
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

// part adds a part or continues the previous one. A signature ends its part.
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

// text joins the texts that are not thinking.
func (a *googleAnswer) text() string { return a.joined(false) }

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

// call returns a request with the right key.
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

// mustAsk is ask for a request that must succeed.
func (s googleServer) mustAsk(t *testing.T, stream bool, turns []*genai.Content, config *genai.GenerateContentConfig) *googleAnswer {
	t.Helper()
	a, err := s.ask(t, stream, turns, config)
	if err != nil {
		t.Fatalf("the request failed: %v", err)
	}
	s.checkReport(t, stream, a)
	return a
}

// checkReport compares a response with the host's report.
func (s googleServer) checkReport(t *testing.T, stream bool, a *googleAnswer) {
	t.Helper()
	r := s.report(t)
	mode := "plain"
	if stream {
		mode = "stream"
	}
	if r.Err != nil || r.Status != http.StatusOK || r.Mode != mode || r.Format != generatecontent.Format {
		t.Errorf("report: %s %s, status %d, error %v", r.Format, r.Mode, r.Status, r.Err)
	}
	if r.Model != googleModel || a.model != googleModel || a.id == "" {
		t.Errorf("model %q requested; model %q with id %q responded", r.Model, a.model, a.id)
	}
	u := a.usage
	if u == nil {
		t.Fatal("no usage")
	}
	got := [3]int64{int64(u.PromptTokenCount), int64(u.CandidatesTokenCount), int64(u.ThoughtsTokenCount)}
	if want := [3]int64{r.Usage.Prompt(), r.Usage.Output, r.Usage.Thinking}; got != want {
		t.Errorf("the client received %d tokens of prompt, response and thinking, the host %d", got, want)
	}
	if int64(u.TotalTokenCount) != got[0]+got[1]+got[2] {
		t.Errorf("total of %d tokens, want %d", u.TotalTokenCount, got)
	}
}

// wantLines checks that echo's description of the request has these lines.
func (a *googleAnswer) wantLines(t *testing.T, lines ...string) {
	t.Helper()
	wantLines(t, &answer{Blocks: []block{{Type: "text", Text: a.text()}}}, lines...)
}
