package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/bedrock"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/script"
)

const key = "k-conformance"

// An actor plays the steps of a text that [play] returned. It describes all other requests as
// echo does.
type actor struct{ *echo.Upstream }

var (
	plays   sync.Map // replies by text
	playing atomic.Int64
)

// play returns a text to which an actor responds with steps.
func play(steps ...script.Step) string {
	text := fmt.Sprintf("Play %d.", playing.Add(1))
	plays.Store(text, script.Reply(steps))
	return text
}

func (a actor) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	for _, p := range r.LastParts() {
		if t, ok := p.(*content.Text); ok {
			if steps, ok := plays.Load(t.Text); ok {
				return steps.(script.Reply).Generate(ctx, r, w)
			}
		}
	}
	return a.Upstream.Generate(ctx, r, w)
}

// weave calls tools, each a name and its arguments, with the arguments interleaved.
func weave(calls ...[2]string) script.Step {
	return func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		var writers []*upstream.ToolCallWriter
		for _, c := range calls {
			writers = append(writers, w.ToolCall("", c[0]))
		}
		for i, more := 0, true; more; i += 7 {
			more = false
			for n, c := range calls {
				if i < len(c[1]) {
					more = true
					if err := writers[n].Input(c[1][i:min(i+7, len(c[1]))]); err != nil {
						return err
					}
				}
			}
		}
		return nil // open calls are closed
	}
}

// failing fails as an order describes: "fail CODE", with "retry DURATION" or without, or "cut".
func failing(order string) script.Step {
	fields := strings.Fields(order)
	if fields[0] == "cut" {
		return script.Cut()
	}
	e := &upstream.Error{Code: upstream.Code(fields[1]), Text: orderedMessage(order)}
	if len(fields) > 3 {
		e.RetryAfter, _ = time.ParseDuration(fields[3]) // an order is well formed
	}
	return script.Fail(e)
}

// orderedMessage returns the error message of an order, which clients may see.
func orderedMessage(order string) string { return "failed as ordered: " + strings.Fields(order)[1] }

// signature returns the line of echo's description about thinking of a script that a client returned
// unchanged, from its signature on.
func signature(format content.Format, text string) string {
	sum := sha256.Sum256([]byte("script:" + text))
	data := base64.StdEncoding.EncodeToString(sum[:])
	return fmt.Sprintf("signature %s %d bytes %s", format, len(data), digest([]byte(data)))
}

// words writes a word n times with pauses.
func words(n int, pause time.Duration) (steps script.Reply) {
	for range n {
		steps = append(steps, script.Say("word "), script.Wait(pause))
	}
	return steps
}

// A server is the real handler over an actor, with its reports and the last
// request.
type server struct {
	url     string
	stop    func() // ends the server once its handlers have returned
	reports chan *upstream.Report
	header  atomic.Pointer[http.Header] // of the last request
	path    atomic.Pointer[string]      // of the last request
	budget  *upstream.Budget
}

// serve starts a server of an actor on loopback. opts may be nil.
func serve(t *testing.T, opts *messages.Options) *server {
	t.Helper()
	return serveModel(t, actor{}, opts)
}

func serveModel(t *testing.T, up upstream.Upstream, opts *messages.Options) *server {
	t.Helper()
	if opts == nil {
		opts = &messages.Options{}
	}
	s := newServer(&opts.HandlerOptions)
	return s.start(t, bedrock.Handler(messages.NewHandler(up, opts)))
}

// newServer returns a server that is not started, and sets the options that its handler needs.
func newServer(opts *upstream.HandlerOptions) *server {
	s := &server{reports: make(chan *upstream.Report, 64), budget: &upstream.Budget{}}
	opts.Authenticate = upstream.Keys(key)
	opts.OnDone = func(_ context.Context, r *upstream.Report) { s.reports <- r }
	opts.Budget = s.budget
	return s
}

// start serves h on loopback.
func (s *server) start(t *testing.T, h http.Handler) *server {
	t.Helper()
	h = formattest.CheckStreams(t, h)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.header.Store(&r.Header)
		s.path.Store(&r.URL.Path)
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(ts.Close)
	s.url, s.stop = ts.URL, ts.Close
	return s
}

// report returns the report of the latest request.
func (s *server) report(t *testing.T) *upstream.Report {
	t.Helper()
	select {
	case r := <-s.reports:
		return r
	case <-time.After(10 * time.Second):
		t.Fatal("no report of the request")
		return nil
	}
}

// ask sends one request with the right key.
func (s *server) ask(t *testing.T, c sdk, stream bool, params any) (*answer, error) {
	t.Helper()
	return c.ask(t.Context(), call{BaseURL: s.url, Key: key, Stream: stream, Params: params})
}

// mustAsk is ask for a request that must succeed.
func (s *server) mustAsk(t *testing.T, c sdk, stream bool, params any) *answer {
	t.Helper()
	a, err := s.ask(t, c, stream, params)
	if err != nil {
		t.Fatalf("the request failed: %v", err)
	}
	r := s.report(t)
	if r.Err != nil || r.Status != http.StatusOK {
		t.Errorf("report: status %d, error %v, want 200 and none", r.Status, r.Err)
	}
	if a.RequestID == "" || a.RequestID != r.ID {
		t.Errorf("the client received request id %q, the host %q", a.RequestID, r.ID)
	}
	if a.Input != r.Usage.Prompt() || a.Output != r.Usage.Completion() {
		t.Errorf("the client received %d+%d tokens, the host %d+%d", a.Input, a.Output, r.Usage.Prompt(), r.Usage.Completion())
	}
	mode := "plain"
	if stream {
		mode = "stream"
	}
	if r.Mode != mode {
		t.Errorf("report has mode %q, want %q", r.Mode, mode)
	}
	return a
}

// both runs a scenario plain and streamed, with each client.
func both(t *testing.T, f func(t *testing.T, c sdk, stream bool)) {
	t.Helper()
	each(t, func(t *testing.T, c sdk) {
		t.Run("plain", func(t *testing.T) { f(t, c, false) })
		t.Run("stream", func(t *testing.T) { f(t, c, true) })
	})
}

// obj and arr are JSON values.
type (
	obj = map[string]any
	arr = []any
)

// user returns a turn of the user with blocks or one text.
func user(content any) obj { return obj{"role": "user", "content": content} }

func text(s string) obj { return obj{"type": "text", "text": s} }

// request returns a request with these turns; more adds or replaces members.
func request(turns arr, more obj) obj {
	r := obj{"model": "claude-demo-1", "max_tokens": 4096, "messages": turns}
	for k, v := range more {
		r[k] = v
	}
	return r
}

// text joins the texts of a response.
func (a *answer) text() string {
	var b strings.Builder
	for _, p := range a.Blocks {
		if p.Type == "text" {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

// wantLines checks that echo's description of the request has these lines.
func wantLines(t *testing.T, a *answer, lines ...string) {
	t.Helper()
	text := "\n" + a.text()
	for _, l := range lines {
		if !strings.Contains(text, "\n"+l) {
			t.Errorf("no line begins with %q in:\n%s", l, text)
		}
	}
}

// wantKinds checks the types of the blocks, in order.
func wantKinds(t *testing.T, a *answer, kinds ...string) {
	t.Helper()
	var got []string
	for _, b := range a.Blocks {
		got = append(got, b.Type)
	}
	if diff := cmp.Diff(kinds, got); diff != "" {
		t.Fatalf("types of the blocks (-want +got):\n%s", diff)
	}
}

// wantJSON checks JSON text by its value.
func wantJSON(t *testing.T, what string, want any, got json.RawMessage) {
	t.Helper()
	var g any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Errorf("%s is %q: %v", what, got, err)
		return
	}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// digest returns echo's name for bytes.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256 " + hex.EncodeToString(sum[:6])
}
