package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// The paths of health need no key, no budget and no upstream, and only GET or HEAD.
func TestHealthPaths(t *testing.T) {
	t.Setenv("CLIENTS_KEY", "k")
	g := start(t, "-key", "env:CLIENTS_KEY")
	for path, text := range map[string]string{"/healthz": "ok\n", "/readyz": `{"ready":true,"upstreams":[{"name":"echo","state":"unknown"}]}` + "\n"} {
		resp := get(t, g.url+path)
		if got := read(t, resp); resp.StatusCode != http.StatusOK || got != text {
			t.Errorf("%s: %d %s, want 200 %s", path, resp.StatusCode, got, text)
		}
		resp, err := http.Post(g.url+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d, Allow %q", path, resp.StatusCode, resp.Header.Get("Allow"))
		}
	}
	g.stop(t)
	if strings.Contains(g.stderr.String(), "request done") {
		t.Errorf("the log has a request:\n%s", g.stderr)
	}
}

// The paths of health respond while the budget is exhausted.
func TestHealthBudget(t *testing.T) {
	m := gate{make(chan struct{}), make(chan struct{})}
	c := &config{budget: upstream.Budget{Requests: 1}}
	s := httptest.NewServer(c.handler(m, slog.New(slog.DiscardHandler)))
	defer s.Close()
	running := post(t, s.URL, streamed)
	<-m.began
	resp := post(t, s.URL, plain)
	want(t, "second request", resp.Status+read(t, resp), "529", "overloaded_error")
	for _, path := range []string{"/healthz", "/readyz"} {
		if resp := get(t, s.URL+path); resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, resp.Status)
		}
	}
	close(m.resume)
	want(t, "first request", read(t, running), "second")
}

// In the drain time the gateway is alive and not ready, and still accepts requests.
func TestDrain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := new(config)
	m := gate{make(chan struct{}), make(chan struct{})}
	close(m.resume)
	logger := slog.New(slog.DiscardHandler)
	begun, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- serve(ctx, []*http.Server{c.server(m, logger)}, []net.Listener{l}, shutdown{
			drain: time.Hour, logger: logger, begun: func() { c.health.stopping.Store(true); close(begun) },
		})
	}()
	url := "http://" + l.Addr().String()
	if resp := get(t, url+"/readyz"); resp.StatusCode != http.StatusOK {
		t.Errorf("before: %s", resp.Status)
	}
	cancel()
	<-begun
	resp := get(t, url+"/readyz")
	want(t, "ready", resp.Status+read(t, resp), "503", `"ready":false`)
	if resp := get(t, url+"/healthz"); resp.StatusCode != http.StatusOK {
		t.Errorf("alive: %s", resp.Status)
	}
	want(t, "stream", read(t, post(t, url, streamed)), "first", "event: message_stop\n")
	l.Close() // ends the drain time
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("ended with %v", err)
	}
}

// The state of an upstream follows from the results of its requests.
func TestMonitor(t *testing.T) {
	failure := func(code upstream.Code) error { return &upstream.Error{Code: code, Upstream: "u"} }
	day := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	m := newMonitor("u", upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { return nil }))
	for i, tt := range []struct {
		name        string
		err         error
		state       string
		code        upstream.Code
		since, last int // rows
	}{
		{"client left", context.Canceled, "unknown", "", -1, -1},
		{"response", nil, "ok", "", 1, 1},
		{"error of the request", failure(upstream.CodeInvalid), "ok", "", 1, 2},
		{"not sent", &upstream.Error{Code: upstream.CodeUnsupported}, "ok", "", 1, 2},
		{"overloaded", failure(upstream.CodeOverloaded), "failing", "overloaded", 4, 4},
		{"silent", &upstream.Error{Code: upstream.CodeTimeout}, "failing", "timeout", 4, 5},
		{"shutdown", errShutdown, "failing", "timeout", 4, 5},
		{"another attempt was faster", &upstream.Error{Code: upstream.CodeCanceled}, "failing", "timeout", 4, 5},
		{"refused key", &upstream.Error{Code: upstream.CodePermission, Upstream: "u", KeyRefused: true}, "failing", "permission", 4, 8},
		{"response again", nil, "ok", "", 9, 9},
		{"unknown model", &upstream.Error{Code: upstream.CodeNotFound, Upstream: "u", Text: "model: m"}, "ok", "", 9, 10},
		{"invalid output of the model", &upstream.Error{Code: upstream.CodeInternal, Upstream: "u", Text: "Failed to call a function."}, "ok", "", 9, 11},
		{"unknown path", failure(upstream.CodeBadGateway), "failing", "bad_gateway", 12, 12},
	} {
		m.record(day.Add(time.Duration(i)*time.Second), tt.err)
		got := m.get()
		at := func(p *time.Time) int {
			if p == nil {
				return -1
			}
			return int(p.Sub(day).Seconds())
		}
		if got.State != tt.state || got.Code != tt.code || at(got.Since) != tt.since || at(got.Last) != tt.last {
			t.Errorf("%s: %+v since %d, last %d; want %+v", tt.name, got, at(got.Since), at(got.Last), tt)
		}
	}
}

// A time-out that the client has set does not count against the upstream.
func TestMonitorDeadline(t *testing.T) {
	m := newMonitor("u", upstream.Func(func(ctx context.Context, _ *upstream.Request, _ *upstream.Writer) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}))
	s := httptest.NewServer(new(config).handler(m, slog.New(slog.DiscardHandler)))
	defer s.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1beta/models/m:generateContent", strings.NewReader(`{"contents":[{"parts":[{"text":"Hi."}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Server-Timeout", "1")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	if got := m.get().State; resp.StatusCode != http.StatusGatewayTimeout || got != "unknown" {
		t.Errorf("%s, state %q", resp.Status, got)
	}
}

// An attempt that ends because another one was faster shows nothing, although the adapter
// adds its name to the error. A time without content is a failure.
func TestMonitorAttempts(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer silent.Close()
	for option, state := range map[string]string{
		"hedge":         `{"name":"silent","state":"unknown"}`,
		"first_content": `"state":"failing"`,
	} {
		g := start(t, "-config", writeConfig(t, `{
			"upstreams": {"silent": {"adapter": "openai", "url": "`+silent.URL+`/v1"}, "echo": {"adapter": "echo"}},
			"routes": {"*": {"upstreams": ["silent", "echo"], "`+option+`": "10ms"}}
		}`))
		want(t, option, read(t, post(t, g.url, streamed)), "event: message_stop\n")
		want(t, option, read(t, get(t, g.url+"/readyz")), state, `{"name":"echo","state":"ok"`)
		g.stop(t)
	}
}

// A monitor passes the test suite for upstreams, with all optional methods of echo.
func TestMonitorSuite(t *testing.T) {
	c := config{routing: routing{
		vendors: []*vendor{{adapter: "echo", setting: flagOf, models: []modelName{{"x*", "*"}}}},
		routes:  []route{{pattern: "*", vendors: []string{""}}},
	}}
	up, _, err := c.routing.upstream()
	if err != nil {
		t.Fatal(err)
	}
	upstreamtest.Run(t, up, &upstreamtest.Options{Model: "echo", Deterministic: true})
}
