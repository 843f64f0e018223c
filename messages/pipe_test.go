package messages

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/polywire/polywire/internal/formattest"
	"github.com/polywire/polywire/upstream"
)

// A pipeServer is a server of this format in a bubble.
type pipeServer struct{ *formattest.Server }

// inBubble runs f with a server for up.
func inBubble(t *testing.T, up upstream.Upstream, o Options, f func(t *testing.T, p *pipeServer)) {
	t.Helper()
	formattest.Bubble(t, NewHandler(up, &o), func(t *testing.T, s *formattest.Server) { f(t, &pipeServer{s}) })
}

// send sends a request with a body.
func (p *pipeServer) send(t *testing.T, ctx context.Context, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", "http://pipe/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("anthropic-version", "2023-06-01")
	return p.Do(r)
}

// mustSend sends a request and reads the complete response.
func (p *pipeServer) mustSend(t *testing.T, body string) (*http.Response, string) {
	t.Helper()
	res, err := p.send(t, t.Context(), body)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%v after %q", err, all)
	}
	return res, string(all)
}

// mustEnd checks a stream by the grammar, and returns the type of its error, if
// it has one.
func mustEnd(t *testing.T, stream string) (a *accumulator, kind string) {
	t.Helper()
	a, err := accumulate(stream)
	if err != nil {
		t.Fatalf("%v\n%s", err, stream)
	}
	if a.failure != nil {
		kind = a.failure["error"].(map[string]any)["type"].(string)
	}
	return a, kind
}

// A probe records the calls of OnDone and the requests of an upstream.
type probe struct {
	reports []*upstream.Report
}

func (p *probe) serving() upstream.HandlerOptions {
	return upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { p.reports = append(p.reports, r) }}
}

// one returns the only report.
func (p *probe) one(t *testing.T) *upstream.Report {
	t.Helper()
	synctest.Wait()
	if len(p.reports) != 1 {
		t.Fatalf("%d reports, want 1", len(p.reports))
	}
	return p.reports[0]
}
