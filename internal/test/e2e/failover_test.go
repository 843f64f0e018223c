package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

var down = upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error {
	return &upstream.Error{Code: upstream.CodeOverloaded, Upstream: "down"}
})

// A flaky is an Upstream that fails at random. What it does in a call depends on the
// text of the request, its own name and the number of calls for the request.
type flaky struct {
	name  uint64
	calls atomic.Uint64
}

const flakyPieces = 12

// text returns the text of a complete response to a request.
func (f *flaky) text(request string) string {
	var b strings.Builder
	for i := range flakyPieces {
		fmt.Fprintf(&b, "%s by %d, piece %d. ", request, f.name, i)
	}
	return b.String()
}

func (f *flaky) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	request := r.LastParts()[0].(*content.Text).Text
	seed := uint64(0)
	fmt.Sscanf(request, "request %d", &seed)
	random := rand.New(rand.NewPCG(seed, f.name<<32|f.calls.Add(1)))
	failures := []error{
		&upstream.Error{Code: upstream.CodeOverloaded},
		&upstream.Error{Code: upstream.CodeRateLimit, RetryAfter: time.Duration(random.IntN(4000)) * time.Millisecond},
		&upstream.Error{Code: upstream.CodeUnavailable},
		&upstream.Error{Code: upstream.CodeBadGateway},
		&upstream.Error{Code: upstream.CodeBadGateway, KeyRefused: true},
		&upstream.Error{Code: upstream.CodeNotFound},
		errors.New("a bug"),
		&content.Violation{Code: content.CodeValue, Path: "turns.0", Text: "is bad"},
	}
	if random.IntN(4) > 0 {
		failures = failures[:4]
	}
	failure := failures[random.IntN(len(failures))]
	w.Loss([]content.Loss{{Path: fmt.Sprint("upstream ", f.name), Severity: content.LossHint, Reason: "is reported"}})
	if random.IntN(3) == 0 {
		w.Start(upstream.Start{Model: fmt.Sprint("model ", f.name), Upstream: fmt.Sprint(f.name)})
		w.Usage(content.Usage{Input: int64(f.name)})
	}
	pieces := flakyPieces
	switch random.IntN(16) {
	case 0, 1, 2, 3:
		return failure
	case 4, 5, 6:
		pieces = random.IntN(flakyPieces)
	case 7:
		<-ctx.Done()
		return context.Cause(ctx)
	case 8:
		time.Sleep(5 * time.Second) // ignores the context
	case 9, 10:
		if err := formattest.Sleep(ctx, time.Duration(random.IntN(4000))*time.Millisecond); err != nil {
			return err
		}
	case 11:
		if random.IntN(4) == 0 {
			panic("a bug")
		}
	}
	text := f.text(request)
	for i := range pieces {
		at := len(text) / flakyPieces
		piece := text[i*at:]
		if i < flakyPieces-1 {
			piece = piece[:at]
		}
		if err := w.Text(piece); err != nil {
			return err
		}
		if random.IntN(64) == 0 {
			if err := formattest.Sleep(ctx, time.Second); err != nil {
				return err
			}
		}
	}
	if pieces < flakyPieces {
		return failure
	}
	return w.Usage(content.Usage{Input: 100, Output: int64(f.name)})
}

// TestFailoverRandom sends 10,000 requests to upstreams that fail at random. Each ends in
// one whole response or in an error.
func TestFailoverRandom(t *testing.T) {
	const requests = 10_000
	options := []upstream.FailoverOptions{
		{}, {Retries: -1}, {Retries: 5, RefusedKeys: true},
		{FirstContent: 2 * time.Second}, {Hedge: time.Second}, {FirstContent: 3 * time.Second, Hedge: 500 * time.Millisecond, Retries: 4},
	}
	type route struct {
		endpoint endpoint
		mode     mode
	}
	routes := []route{{}} // the first one calls Collect
	for _, e := range endpoints {
		for _, m := range e.modes {
			routes = append(routes, route{e, m})
		}
	}
	complete, attempts := 0, 0
	synctest.Test(t, func(t *testing.T) {
		for i := range requests {
			list := []*flaky{{name: 1}, {name: 2}, {name: 3}}
			up := upstream.Failover([]upstream.Upstream{list[0], list[1], list[2]}, &options[i%len(options)])
			request := fmt.Sprintf("request %d", i)
			var text string
			var report *upstream.Report
			failed := false
			if to := routes[i/len(options)%len(routes)]; to.mode == "" {
				text, report, failed = collect(t, up, request, i%2 == 0)
			} else {
				members := `"messages":[{"role":"user","content":"` + request + `"}]`
				if to.endpoint.name != "messages" {
					members = `"contents":[{"role":"user","parts":[{"text":"` + request + `"}]}]`
				}
				g := newGateway(to.endpoint, up, upstream.HandlerOptions{
					Logger: slog.New(slog.DiscardHandler), Timeouts: upstream.Timeouts{
						FirstByte: 20 * time.Second, Idle: 20 * time.Second, // for silence without FirstContent
						KeepAlive: time.Hour, // see TestFailoverKeepAlive
					},
				})
				a := g.ask("m", members, to.mode)
				text, report, failed = a.text("text"), a.Report, a.Err != nil
				if a.Broken != "" || a.Whole == failed || failed && to.mode == whole && text != "" {
					t.Fatalf("%d: status %d, %s\n%s", i, a.Status, a.Broken, a.Body)
				}
			}
			if problem := checkAttempts(report, list, request, text, failed); problem != "" {
				t.Fatalf("%d: %s: %q with the error %v after %+v", i, problem, text, report.Err, report.Attempts)
			}
			attempts += len(report.Attempts)
			if !failed {
				complete++
			}
		}
		time.Sleep(time.Minute) // for what ignores its context
	})
	t.Logf("%d complete responses after %d attempts", complete, attempts)
	if complete < requests/2 || complete > requests*9/10 || attempts < requests*3/2 {
		t.Errorf("%d complete responses after %d attempts are not a good sample", complete, attempts)
	}
}

// collect calls up without a handler, and returns the text and what a handler would
// report.
func collect(t *testing.T, up upstream.Upstream, request string, stream bool) (text string, report *upstream.Report, failed bool) {
	report = &upstream.Report{}
	ctx := upstream.WithTrace(t.Context(), &upstream.Trace{AttemptDone: func(_ context.Context, a upstream.Attempt) {
		report.Attempts = append(report.Attempts, a)
	}})
	r := &upstream.Request{Stream: stream, Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: request}}}}}
	// A silent Upstream needs a limit where FirstContent does not apply.
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	defer func() {
		if v := recover(); v != nil {
			failed = true
			report.Err = fmt.Errorf("panic: %v", v)
		}
	}()
	reply, err := upstream.Collect(ctx, up, r)
	for _, p := range reply.Parts {
		text += p.(*content.Text).Text
	}
	report.Err, report.Losses, report.Usage = err, reply.Losses, reply.Usage
	if err == nil {
		report.Upstream = reply.Start.Upstream
	}
	return text, report, err != nil
}

// checkAttempts compares the text that a client received with the attempts. It returns
// what is wrong, or "".
func checkAttempts(r *upstream.Report, list []*flaky, request, text string, failed bool) string {
	chosen := -1
	for _, a := range r.Attempts {
		if (a.Code == "") != (a.Err == nil) || a.Code == "" && !a.Chosen {
			return "an attempt contradicts itself"
		}
		if a.Chosen && chosen >= 0 {
			return "two attempts were chosen"
		}
		if a.Chosen {
			chosen = a.Index
			if failed != (a.Err != nil) {
				return "the result is not that of the chosen attempt"
			}
		}
	}
	if chosen < 0 {
		if !failed || text != "" {
			return "a response without an attempt"
		}
		return ""
	}
	want := list[chosen].text(request)
	switch {
	case failed && !strings.HasPrefix(want, text):
		return "text of another attempt"
	case !failed && text != want:
		return "not the whole text of the attempt"
	case !failed && r.Usage.Output != int64(list[chosen].name):
		return "usage of another attempt"
	}
	for _, l := range lossplaces.Of(r.Losses) {
		if strings.HasPrefix(l.Path, "upstream ") && l.Path != fmt.Sprint("upstream ", list[chosen].name) {
			return "loss of another attempt"
		}
	}
	return ""
}

// TestFailoverThread has a client whose vendor stores the conversation. Only upstreams
// of that vendor may get the request, also after an error.
func TestFailoverThread(t *testing.T) {
	f := endpointNamed("messages")
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(529)
	}))
	defer busy.Close()
	claude, vendorA := adapterNamed(t, toClaude).start(t, vendor{trust: true})
	chat, vendorB := adapterNamed(t, toChat).start(t, vendor{trust: true})
	all := []upstream.Upstream{chat, echo.New(), anthropicAt(t, busy.URL, busy.Client()), chat, claude}
	for _, m := range []mode{whole, sse} {
		g := newGateway(f, upstream.Failover(all, nil), upstream.HandlerOptions{})
		a := g.do(threadRequest("claude-sonnet-4-5", continued, m), m)
		if a.Status != http.StatusOK || len(a.Report.Attempts) != 2 || a.Report.Attempts[1].Index != 4 {
			t.Errorf("%s: status %d %s after %+v", m, a.Status, clip(a.Body), a.Report.Attempts)
		}
		g = newGateway(f, upstream.Failover(all[:2], nil), upstream.HandlerOptions{})
		checkThreadRefused(t, g.do(threadRequest("claude-sonnet-4-5", continued, m), m))
	}
	if len(vendorA.Requests()) != 2 || len(vendorB.Requests()) != 0 {
		t.Errorf("the vendors got %d and %d requests", len(vendorA.Requests()), len(vendorB.Requests()))
	}
}

// A repeater is a transport that repeats the first response.
type repeater struct {
	next http.RoundTripper
	head *http.Response
	body string
}

func (p *repeater) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.head == nil {
		res, err := p.next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return nil, err
		}
		p.head, p.body = res, string(body)
	}
	res := *p.head
	res.Body = io.NopCloser(strings.NewReader(p.body))
	return &res, nil
}

// TestFailoverBytes checks that a client receives the same bytes from a vendor of its
// format with and without a Failover.
func TestFailoverBytes(t *testing.T) {
	each(t, func(t *testing.T, f endpoint, b adapter) {
		if b.format != f.name {
			t.Skip("the formats differ")
		}
		_, server := b.start(t, vendor{})
		thinks := vendorResponse{think: true}
		for _, m := range f.modes {
			var bodies [2]string
			again := &repeater{next: httpClient(t).Transport}
			server.Say(fake.Thinking("Let me see."), fake.Text("Hello "), fake.Text("there."))
			for i, wrap := range []func(upstream.Upstream) upstream.Upstream{
				func(u upstream.Upstream) upstream.Upstream { return u },
				func(u upstream.Upstream) upstream.Upstream {
					return upstream.Failover([]upstream.Upstream{down, u}, nil)
				},
			} {
				g := newGateway(f, wrap(b.at(t, vendorURL(server, b), &http.Client{Transport: again})), upstream.HandlerOptions{
					RequestID: func(*http.Request) string { return "req_1" },
				})
				a := g.ask(b.model, thinks.request(f), m)
				if a.Status != http.StatusOK || a.text("thinking") == "" || a.Err != nil {
					t.Fatalf("%s: status %d %s", m, a.Status, clip(a.Body))
				}
				bodies[i] = a.Body
			}
			if bodies[0] != bodies[1] {
				t.Errorf("%s: got\n%s\nwant\n%s", m, bodies[1], bodies[0])
			}
		}
	})
}

// TestFailoverKeepAlive checks that a keep-alive commits the status of a stream, but not
// to an attempt.
func TestFailoverKeepAlive(t *testing.T) {
	silent := upstream.Func(func(ctx context.Context, _ *upstream.Request, _ *upstream.Writer) error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
	opts := &upstream.FailoverOptions{FirstContent: 20 * time.Second, Retries: -1}
	for _, f := range endpoints {
		for _, tt := range []struct {
			last upstream.Upstream
			text string
		}{{echo.New(), "hello"}, {down, ""}} {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(f, upstream.Failover([]upstream.Upstream{silent, tt.last}, opts), upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler)})
				members := `"messages":[{"role":"user","content":"echo: say hello"}]`
				if f.name != "messages" {
					members = `"contents":[{"role":"user","parts":[{"text":"echo: say hello"}]}]`
				}
				a := g.ask("m", members, sse)
				if a.Status != http.StatusOK || a.text("text") != tt.text || (a.Err == nil) != (tt.text != "") || a.Report.FirstByte < 15*time.Second || a.Report.FirstByte >= 20*time.Second {
					t.Errorf("%s: status %d after %v: %s", f.name, a.Status, a.Report.FirstByte, a.Body)
				}
			})
		}
	}
}

// TestFailoverTimeouts checks that held events are events for the Timeouts of a handler.
func TestFailoverTimeouts(t *testing.T) {
	slow := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for range 20 {
			if err := formattest.Sleep(ctx, time.Minute); err != nil {
				return err
			}
			w.Text("word ")
		}
		return nil
	})
	stalled := upstream.Func(func(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
		w.Start(upstream.Start{})
		<-ctx.Done()
		return context.Cause(ctx)
	})
	for _, f := range endpoints {
		synctest.Test(t, func(t *testing.T) {
			ask := func(up upstream.Upstream, m mode) *response {
				g := newGateway(f, upstream.Failover([]upstream.Upstream{up}, nil), upstream.HandlerOptions{Logger: slog.New(slog.DiscardHandler)})
				return g.ask("m", (&vendorResponse{}).request(f), m)
			}
			if a := ask(slow, whole); a.Status != http.StatusOK {
				t.Errorf("%s: status %d, %v", f.name, a.Status, a.Report.Err)
			}
			if a := ask(stalled, sse); a.Report.Code != upstream.CodeTimeout || a.Report.Duration < 5*time.Minute || a.Report.Duration > 6*time.Minute {
				t.Errorf("%s: %v after %v", f.name, a.Report.Err, a.Report.Duration)
			}
		})
	}
}

// TestFailoverReport checks the attempts in the report, and the lines in the log.
func TestFailoverReport(t *testing.T) {
	var log strings.Builder
	f := endpointNamed("messages")
	g := newGateway(f, upstream.Failover([]upstream.Upstream{down, echo.New()}, nil), upstream.HandlerOptions{
		Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	a := g.ask("m", `"messages":[{"role":"user","content":"echo: say hello"}]`, sse)
	r := a.Report
	if a.text("text") != "hello" || len(r.Attempts) != 2 || r.Attempts[0].Code != upstream.CodeOverloaded || !r.Attempts[1].Chosen ||
		r.Attempts[1].Usage.Output != r.Usage.Output || r.Upstream == "down" || r.Code != "" {
		t.Errorf("got %+v", r)
	}
	line := log.String()
	if strings.Count(line, "\n") != 1 || !strings.Contains(line, `level=WARN msg="attempt failed" index=0 upstream=down code=overloaded`) {
		t.Errorf("got the log %s", line)
	}
	bare := newGateway(f, echo.New(), upstream.HandlerOptions{})
	if r := bare.ask("m", `"messages":[{"role":"user","content":"hi"}]`, sse).Report; r.Attempts != nil {
		t.Errorf("got %+v", r.Attempts)
	}
}

// TestFailoverHedge sends each request to two servers at the same time. The client
// receives one response, and the attempts are those that the servers saw.
func TestFailoverHedge(t *testing.T) {
	each(t, func(t *testing.T, f endpoint, b adapter) {
		one, first := b.start(t, vendor{})
		two, second := b.start(t, vendor{})
		first.Always(greeting...)
		second.Always(greeting...)
		g := newGateway(f, upstream.Failover([]upstream.Upstream{one, two}, &upstream.FailoverOptions{Hedge: 1}), upstream.HandlerOptions{})
		for range 20 {
			a := g.ask(b.model, (&vendorResponse{}).request(f), sse)
			if a.text("text") != "Hello there." || a.Err != nil || !a.Whole || a.Broken != "" {
				t.Fatalf("status %d %s %s", a.Status, a.Broken, clip(a.Body))
			}
			if problem := checkChosen(a.Report.Attempts); problem != "" {
				t.Fatalf("%s: %+v", problem, a.Report.Attempts)
			}
		}
	})
}

// checkChosen returns what is wrong with the attempts of a complete response, or "".
func checkChosen(list []upstream.Attempt) string {
	chosen := 0
	for _, a := range list {
		switch {
		case a.Chosen && a.Code == "":
			chosen++
		case a.Chosen || a.Code != upstream.CodeCanceled:
			return "an attempt that is neither complete nor canceled"
		}
	}
	if chosen != 1 {
		return "not one chosen attempt"
	}
	return ""
}
