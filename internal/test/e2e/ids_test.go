package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
)

// vendorID is the id of every response of the vendor.
const vendorID = "vendor-id-7"

// An identified transport adds an id to each response in the vendor's header.
type identified struct {
	http.RoundTripper
	header string
}

func (i identified) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := i.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Header.Set(i.header, vendorID)
	}
	return res, err
}

// TestRequestIDs checks that header, error envelope, log, report and context
// have the same request id, and that header, log and report also have the
// vendor's id and the upstream's name: on success, on failure and within a
// stream.
func TestRequestIDs(t *testing.T) {
	names := map[string]string{toClaude: "anthropic", toGemini: "gemini", toChat: "openai chat", toResp: "openai responses"}
	headers := map[string]string{toClaude: "Request-Id", toGemini: "X-Goog-Request-Id", toChat: "X-Request-Id", toResp: "X-Request-Id"}
	scripts := map[string][]fake.Piece{
		"success":      {fake.Text("Once upon "), fake.Text("a time")},
		"HTTP failure": {fake.Status{Code: 500, Message: "no"}},
		"bad request":  {fake.Status{Code: 400, Message: "no"}},
		"in-band":      {fake.Text("Once upon "), fake.Text("a time"), fake.Status{Code: 503, Message: "no"}},
		"cut":          {fake.Text("Once upon "), fake.Text("a time"), fake.Cut{}},
		"no JSON":      {fake.Malformed{}},
	}
	each(t, func(t *testing.T, f endpoint, b adapter) {
		_, vendor := b.start(t, vendor{})
		client := httpClient(t)
		client.Transport = identified{client.Transport, headers[b.name]}
		inner := b.at(t, vendorURL(vendor, b), client)
		var seen []string // ids in the contexts of upstream calls
		up := upstream.Tap(inner, func(ctx context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
			seen = append(seen, upstream.RequestID(ctx))
			return to, nil
		})
		for _, edge := range []string{"", "edge/7~a=b", "no good", strings.Repeat("x", 129)} {
			var log bytes.Buffer
			var losses []string
			g := newGateway(f, up, upstream.HandlerOptions{
				RequestID: func(r *http.Request) string { return r.Header.Get("X-Edge-Id") },
				Authenticate: func(ctx context.Context, _ *http.Request, _ string) (context.Context, error) {
					seen = append(seen, upstream.RequestID(ctx))
					return context.WithoutCancel(context.Background()), nil // a context without the request's values
				},
				OnLoss: func(ctx context.Context, _ []content.Loss) { losses = append(losses, upstream.RequestID(ctx)) },
				Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			})
			if b.name != toChat { // Chat Completions cannot count tokens
				a := g.ask(b.model, (&vendorResponse{}).request(f), count)
				if a.Status != 200 || a.Header.Get("Upstream-Request-Id") != vendorID || a.Report.UpstreamID != vendorID || a.Report.Upstream != names[b.name] {
					t.Errorf("count: %d %v, report %+v", a.Status, a.Header, a.Report)
				}
			}
			for name, pieces := range scripts {
				for _, m := range f.modes {
					t.Run(fmt.Sprintf("%s, %s, edge %.10q", name, m, edge), func(t *testing.T) {
						log.Reset()
						seen, losses = nil, nil
						vendor.Say(pieces...)
						r := f.request(b.model, (&vendorResponse{}).request(f), m)
						r.Header.Set("X-Edge-Id", edge)
						a := g.do(r, m)
						id := a.Report.ID
						if edge == "edge/7~a=b" && id != edge || edge != "edge/7~a=b" && (!strings.HasPrefix(id, "req_") || strings.Contains(id, "x")) {
							t.Errorf("got the id %q", id)
						}
						own := "X-Request-Id"
						if f.name == "messages" {
							own = "Request-Id"
						}
						if got := a.Header.Values(own); len(got) != 1 || got[0] != id {
							t.Errorf("%s: %q, want %q", own, got, id)
						}
						if got := a.Header.Values("Upstream-Request-Id"); len(got) != 1 || got[0] != vendorID {
							t.Errorf("Upstream-Request-Id: %q", got)
						}
						for _, s := range append(seen, losses...) {
							if s != id {
								t.Errorf("a context has id %q, want %q", s, id)
							}
						}
						if a.Report.UpstreamID != vendorID || a.Report.Upstream != names[b.name] {
							t.Errorf("the report has id %q of upstream %q", a.Report.UpstreamID, a.Report.Upstream)
						}
						if name == "success" {
							return
						}
						if f.name == "messages" {
							_, envelope, _ := strings.Cut(a.Body, `{"type":"error"`)
							if got := gjson.Get(`{"type":"error"`+envelope, "request_id").Str; got != id {
								t.Errorf("request_id %q, want %q: %s", got, id, clip(a.Body))
							}
						}
						lines := strings.Split(strings.TrimSpace(log.String()), "\n")
						line := gjson.Parse(lines[len(lines)-1])
						for key, want := range map[string]string{"request": id, "upstream": names[b.name], "upstream_request": vendorID} {
							if got := line.Get(key).Str; got != want {
								t.Errorf("the log has %s = %q, want %q: %s", key, got, want, line.Raw)
							}
						}
						if cause := line.Get("cause").Str; name != "bad request" && !strings.HasPrefix(cause, names[b.name]+": ") {
							t.Errorf("cause %q does not name the upstream", cause)
						}
					})
				}
			}
		}
	})
}

// TestLateUpstreamIsNamed checks that log and report name the upstream that has
// not responded when a timeout ends the request or the client disconnects.
func TestLateUpstreamIsNamed(t *testing.T) {
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer slow.Close()
	up, err := anthropic.New(&anthropic.Options{BaseURL: slow.URL})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		times upstream.Timeouts
		host  time.Duration
		leave bool
		code  upstream.Code
	}{
		"first byte": {times: upstream.Timeouts{FirstByte: 50 * time.Millisecond}, host: time.Minute, code: upstream.CodeTimeout},
		"total":      {times: upstream.Timeouts{Total: 50 * time.Millisecond}, host: time.Minute, code: upstream.CodeTimeout},
		"host":       {host: 50 * time.Millisecond, code: upstream.CodeTimeout},
		"client":     {host: time.Minute, leave: true, code: upstream.CodeCanceled},
	} {
		for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
			t.Run(name+path, func(t *testing.T) {
				var log bytes.Buffer
				var report upstream.Report
				h := messages.NewHandler(up, &messages.Options{HandlerOptions: upstream.HandlerOptions{
					Timeouts: test.times, OnDone: func(_ context.Context, r *upstream.Report) { report = *r },
					Logger: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
				}})
				body := `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`
				if strings.HasSuffix(path, "count_tokens") {
					body = strings.Replace(body, `"max_tokens":9,`, "", 1)
				}
				ctx, cancel := context.WithTimeout(t.Context(), test.host)
				defer cancel()
				if test.leave {
					time.AfterFunc(50*time.Millisecond, cancel)
				}
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body))
				r.Header.Set("Anthropic-Version", "2023-06-01")
				h.ServeHTTP(httptest.NewRecorder(), r)
				if report.Code != test.code || report.Upstream != "anthropic" {
					t.Errorf("the report has id %q of upstream %q", report.Code, report.Upstream)
				}
				if got := gjson.Get(log.String(), "upstream").Str; got != "anthropic" {
					t.Errorf("the log has upstream %q: %s", got, log.String())
				}
			})
		}
	}
}
