package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/script"
)

// A gateway is a running gateway.
type gateway struct {
	url    string
	stdout *bufio.Reader
	stderr *bytes.Buffer // to be read after stop
	cancel func()
	done   chan error
}

// start runs the gateway in this process on a free port.
func start(t *testing.T, args ...string) *gateway {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	g := &gateway{stdout: bufio.NewReader(r), stderr: new(bytes.Buffer), cancel: cancel, done: make(chan error, 1)}
	go func() {
		err := run(ctx, nil, append([]string{"-listen", "127.0.0.1:0"}, args...), w, g.stderr)
		w.CloseWithError(io.EOF)
		g.done <- err
	}()
	line, err := g.stdout.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("first line is %q (%v); error: %v", line, err, <-g.done)
	}
	g.url = url
	return g
}

// stop shuts the gateway down.
func (g *gateway) stop(t *testing.T) {
	t.Helper()
	g.cancel()
	if err := <-g.done; err != nil {
		t.Errorf("the gateway ended with %v", err)
	}
}

// A gateway that other machines reach and that requires no key logs a warning.
func TestWarnsWithoutKey(t *testing.T) {
	t.Setenv("CLIENTS_KEY", "k")
	for _, tt := range []struct {
		args []string
		warn bool
	}{
		{[]string{"-listen", "0.0.0.0:0"}, true},
		{[]string{"-listen", "0.0.0.0:0", "-key", "env:CLIENTS_KEY"}, false},
		{nil, false},
	} {
		g := start(t, tt.args...)
		g.stop(t)
		if warned := strings.Contains(g.stderr.String(), "set -key to require a key"); warned != tt.warn {
			t.Errorf("%q: warned %v, want %v:\n%s", tt.args, warned, tt.warn, g.stderr)
		}
	}
}

func post(t *testing.T, url, body string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("anthropic-version", "2023-06-01")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func read(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func want(t *testing.T, what, got string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			t.Errorf("%s: no %q in:\n%s", what, p, got)
		}
	}
}

const (
	plain    = `{"model":"claude-demo","max_tokens":64,"messages":[{"role":"user","content":"echo: say Ahoy there."}]}`
	streamed = `{"model":"claude-demo","max_tokens":64,"stream":true,"messages":[{"role":"user","content":"echo: say Ahoy there."}]}`
	bad      = `{"model":"claude-demo","messages":[{"role":"user","content":"Sesame."}]}`
)

func TestGateway(t *testing.T) {
	t.Setenv("CLIENTS_KEY", "k-test")
	g := start(t, "-key", "env:CLIENTS_KEY", "-log", "json", "-debug", "127.0.0.1:0")
	second, _ := g.stdout.ReadString('\n')
	key := []string{"x-api-key", "k-test"}

	resp := post(t, g.url, plain, key...)
	want(t, "plain", resp.Status+read(t, resp), "200", `"text":"Ahoy there."`, `"model":"claude-demo"`)
	resp = post(t, g.url, streamed, key...)
	want(t, "streamed", resp.Status+read(t, resp), "200", "event: message_start\n", "event: message_stop\n")
	resp = post(t, g.url, bad, key...)
	want(t, "bad", resp.Status+read(t, resp), "400", "invalid_request_error", "max_tokens: Field required")
	resp = post(t, g.url, plain)
	want(t, "no key", resp.Status+read(t, resp), "401", "authentication_error")
	resp = post(t, g.url, plain, "Authorization", "Bearer k-wrong")
	want(t, "wrong key", resp.Status+read(t, resp), "401", "authentication_error")

	profiles := strings.TrimSpace(strings.TrimPrefix(second, "profiles on "))
	resp, err := http.Get(profiles)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	want(t, "profiles", resp.Status+read(t, resp), "200", "goroutine")

	g.stop(t)
	log := g.stderr.String()
	want(t, "log", log,
		`"method":"POST","path":"/v1/messages","mode":"plain","status":200,"duration":`,
		`"mode":"stream","status":200`, `"input_tokens":`, `"output_tokens":3,"model":"claude-demo"`,
		`"status":400`, `"status":401`, `"error":"invalid"`, `"error":"unauthenticated"`,
	)
	for _, secret := range []string{"k-test", "k-wrong", "Ahoy", "Sesame"} {
		if strings.Contains(log, secret) {
			t.Errorf("%q is in the log:\n%s", secret, log)
		}
	}
}

func TestModel(t *testing.T) {
	g := start(t, "-model", "other-model")
	defer g.stop(t)
	resp := post(t, g.url, `{"model":"claude-demo","max_tokens":999,"messages":[{"role":"user","content":"Hi."}]}`)
	want(t, "description", read(t, resp), "echo of other-model")
}

func TestMaxBody(t *testing.T) {
	g := start(t, "-max-body", "200")
	defer g.stop(t)
	resp := post(t, g.url, plain)
	want(t, "small", resp.Status, "200")
	resp = post(t, g.url, strings.Replace(plain, "there", strings.Repeat("there", 50), 1))
	want(t, "too large", resp.Status+read(t, resp), "413", "request_too_large")
}

// serveScript starts a server of the Messages format that responds to every request with steps.
// It returns its URL.
func serveScript(t *testing.T, steps ...script.Step) string {
	t.Helper()
	s := httptest.NewServer(messages.NewHandler(script.Reply(steps), nil))
	t.Cleanup(s.Close)
	return s.URL
}

func TestIdle(t *testing.T) {
	slow := serveScript(t, script.Say("Ahoy "), script.Wait(time.Hour), script.Say("there."))
	g := start(t, "-first-byte", "20ms", "-upstream", "anthropic", "-upstream-url", slow)
	resp := post(t, g.url, plain)
	want(t, "silent upstream", resp.Status+read(t, resp), "504", "timeout_error")
	g.stop(t)
	g = start(t, "-idle", "20ms", "-upstream", "anthropic", "-upstream-url", slow)
	defer g.stop(t)
	resp = post(t, g.url, streamed)
	want(t, "silent stream", resp.Status+read(t, resp), "200", "Ahoy", "event: error\n", "timeout_error")
}

// gate is an upstream that writes "first", closes began, waits for resume, and writes
// "second".
type gate struct{ began, resume chan struct{} }

func (m gate) Generate(ctx context.Context, _ *upstream.Request, w *upstream.Writer) error {
	if err := w.Text("first"); err != nil {
		return err
	}
	close(m.began)
	select {
	case <-m.resume:
		return w.Text("second")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stream starts a server of m and requests a stream.
func (m gate) stream(t *testing.T, ctx context.Context, grace time.Duration) (*http.Response, chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	s := new(config).server(m, slog.New(slog.DiscardHandler))
	go func() { done <- serve(ctx, []*http.Server{s}, []net.Listener{l}, quiet(grace)) }()
	resp := post(t, "http://"+l.Addr().String(), streamed)
	<-m.began
	return resp, done
}

// quiet returns a shutdown without a drain time and a log.
func quiet(grace time.Duration) shutdown {
	return shutdown{grace: grace, logger: slog.New(slog.DiscardHandler), begun: func() {}}
}

// A running stream finishes after the shutdown has begun.
func TestShutdown(t *testing.T) {
	m := gate{make(chan struct{}), make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	resp, done := m.stream(t, ctx, time.Minute)
	cancel()
	// The shutdown has begun when the server refuses connections.
	address := resp.Request.URL.Host
	for {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		conn.Close()
	}
	select {
	case err := <-done:
		t.Fatalf("ended with a stream still running: %v", err)
	default:
	}
	close(m.resume)
	want(t, "stream", read(t, resp), "first", "second", "event: message_stop\n")
	if err := <-done; err != nil {
		t.Errorf("ended with %v", err)
	}
}

// A stream that does not finish within the grace time ends with an error event.
func TestGrace(t *testing.T) {
	m := gate{make(chan struct{}), make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	resp, done := m.stream(t, ctx, time.Millisecond)
	cancel()
	if err := <-done; err != nil {
		t.Errorf("ended with %v", err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(b), "event: error\n") || !strings.Contains(string(b), "shutting down") || strings.Contains(string(b), "message_stop") {
		t.Errorf("%v: the stream ended with %s", err, b)
	}
}

// The response to an upload that stops is an error while running responses go on, and
// does not delay the shutdown.
func TestShutdownUploads(t *testing.T) {
	m := gate{make(chan struct{}), make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	s := new(config).server(m, slog.New(slog.DiscardHandler))
	go func() { done <- serve(ctx, []*http.Server{s}, []net.Listener{l}, quiet(time.Minute)) }()
	resp := post(t, "http://"+l.Addr().String(), streamed)
	<-m.began
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	beginBody(t, c, 9_000_000)
	_, _ = io.WriteString(c, "{")
	cancel()
	_ = c.SetReadDeadline(time.Now().Add(uploadGrace + 10*time.Second))
	b, err := io.ReadAll(c)
	want(t, "upload", string(b), "HTTP/1.1 503 ", "shutting down")
	if err != nil {
		t.Error(err)
	}
	close(m.resume)
	want(t, "running response", read(t, resp), "second", "event: message_stop\n")
	if err := <-done; err != nil {
		t.Errorf("ended with %v", err)
	}
}

// A connection whose handler does not end, such as one of a long profile, is closed. The log
// has a warning, and the result is not an error.
func TestShutdownStuck(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	began, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(began)
		<-release
	})}
	var log bytes.Buffer
	end := quiet(time.Millisecond)
	end.logger = slog.New(slog.NewTextHandler(&log, nil))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- serve(ctx, []*http.Server{s}, []net.Listener{l}, end) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	<-began
	cancel()
	if err := <-done; err != nil {
		t.Errorf("ended with %v", err)
	}
	if b, err := io.ReadAll(c); len(b) > 0 {
		t.Errorf("got %q, %v; want a closed connection", b, err)
	}
	want(t, "log", log.String(), "connections were closed while in use")
}

// beginBody sends the headers of a request and returns when the handler reads its body.
func beginBody(t *testing.T, c net.Conn, size int) {
	t.Helper()
	fmt.Fprintf(c, "POST /v1/messages HTTP/1.1\r\nHost: h\r\nAnthropic-Version: 2023-06-01\r\nContent-Length: %d\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n", size)
	const reply = "HTTP/1.1 100 Continue\r\n\r\n"
	b := make([]byte, len(reply))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != reply {
		t.Fatalf("%q, %v", b, err)
	}
}

func TestUsage(t *testing.T) {
	t.Setenv(keyVariable, "")
	tests := []struct{ args, stderr string }{
		{"-upstream nonsense", `unknown name "nonsense"`},
		{"-upstream anthropic", "anthropic needs a key"},
		{"-upstream gemini", "set the environment variable UPSTREAM_API_KEY"},
		{"-upstream gemini -upstream-url ftp://x", "-upstream-url: must begin with http:// or https:// and a host"},
		{"-upstream-url http://127.0.0.1:1", "-upstream-url: echo has no URL"},
		{"-upstream openai-responses", "openai-responses needs a key"},
		{"-upstream openai -upstream-url http://127.0.0.1:1 -reads everything", `unknown kind "everything"`},
		{"-upstream openai -upstream-url http://127.0.0.1:1 -unread drop", `unknown action "drop"`},
		{"-unread note", "not for echo"},
		{"-upstream openai -upstream-url http://127.0.0.1:1 -think-tags yes", `-think-tags: unknown value "yes"; want off, leading or open`},
		{"-upstream openai-responses -upstream-url http://127.0.0.1:1 -think-tags open", "-think-tags: only for the adapter openai, not for openai-responses"},
		{"-upstream openai -upstream-url http://127.0.0.1:1/v1/chat/completions", "-upstream-url: must not end in /chat/completions, which the adapter appends"},
		{"-upstream anthropic -upstream-url http://127.0.0.1:1/v1/messages/?k=v", "-upstream-url: must not end in /messages, which the adapter appends"},
		{"-media-types foo", `-media-types: "foo" is not a media type; want a type and a subtype, such as application/zip`},
		{"-media-types application/zip,application/*", `"application/*" is not a media type`},
		{"-media-types text/csv;charset=utf-8", `"text/csv;charset=utf-8" is not a media type`},
		{"-media-types /zip", `"/zip" is not a media type`},
		{"-budget 1000", "-budget: 1000 is out of range"},
		{"-budget 2000000 -max-body 3000000", "-max-body: 3000000 is more than the budget of 2000000 bytes"},
		{"-max-requests -1", "-max-requests: -1 is out of range"},
		{"-drain -1s", "-drain: -1s is out of range"},
		{"-grace 5", "-grace"},
		{"-model a*", `-model: "a*" has a star; want the name of one model`},
		{"-log loud", `unknown format "loud"`},
		{"-debug 0.0.0.0:6060", "not a loopback address"},
		{"-debug :6060", "not a loopback address"},
		{"-debug example.com:6060", "not a loopback address"},
		{"-max-body -1", "-max-body"},
		{"-max-body many", "-max-body"},
		{"-idle -1s", "-idle"},
		{"-total 5", "-total"}, // no unit
		{"-write-timeout 1ns", "-write-timeout"},
		{"-body-timeout 10000h", "-body-timeout"},
		{"-key=", "want env:NAME or file:PATH"},
		{"-key k-secret", "want env:NAME or file:PATH"},
		{"-key env:", "-key: env: is empty"},
		{"-key env:CLIENTS_KEY_IS_NOT_SET", "-key: env:CLIENTS_KEY_IS_NOT_SET is empty"},
		{"-key file:nowhere", "open nowhere: no such file"},
		{"-refuse hint", `unknown severity "hint"`},
		{"-links maybe", `unknown action "maybe"`},
		{"-links off -allow-private", "nothing is fetched"},
		{"-allow-origin files.internal", "want host:port"},
		{"-allow-origin :80", "want host:port"},
		{"-allow-origin files.internal:0", "is not a port"},
		{"-allow-origin files.internal:https", "is not a port"},
		{"-links off -allow-origin a:1", "-allow-origin: with -links off nothing is fetched"},
		{"-resolver 127.0.0.1", "want host:port"},
		{"-links off -resolver 127.0.0.1:53", "-resolver: with -links off nothing is fetched"},
		{"-unknown", "-unknown"},
		{"extra", `unexpected argument "extra"`},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			var stdout, stderr strings.Builder
			err := run(t.Context(), nil, strings.Fields(tt.args), &stdout, &stderr)
			if !errors.Is(err, errUsage) {
				t.Errorf("got %v, want a usage error", err)
			}
			if strings.Contains(stderr.String(), "k-secret") {
				t.Errorf("standard error contains the key: %q", stderr.String())
			}
			if !strings.Contains(stderr.String(), tt.stderr) || stdout.String() != "" {
				t.Errorf("standard error %q, want %q; standard output %q, want none", stderr.String(), tt.stderr, stdout.String())
			}
		})
	}
	if err := run(t.Context(), nil, []string{"-help"}, io.Discard, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-help: got %v", err)
	}
}

func TestBusyPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, flag := range []string{"-listen", "-debug"} {
		args := []string{"-listen", "127.0.0.1:0", flag, l.Addr().String()}
		if err := run(t.Context(), nil, args, io.Discard, io.Discard); err == nil || errors.Is(err, errUsage) {
			t.Errorf("%s on a busy port: got %v", flag, err)
		}
	}
}

// All formats are served on one port, with errors in the format of the client.
func TestFormats(t *testing.T) {
	t.Setenv("CLIENTS_KEY", "k")
	g := start(t, "-key", "env:CLIENTS_KEY")
	defer g.stop(t)
	const (
		body    = `{"contents":[{"role":"user","parts":[{"text":"echo: say Ahoy"}]}]}`
		claude  = `{"anthropic_version":"vertex-2023-10-16","max_tokens":9,"messages":[{"role":"user","content":"echo: say Ahoy"}]}`
		counted = `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`
		vertex  = "/v1/projects/p/locations/global/publishers/"
		chat    = `{"model":"m","messages":[{"role":"user","content":"echo: say Ahoy"}]}`
		item    = `{"model":"m","input":"echo: say Ahoy"}`
	)
	for _, tt := range []struct {
		method, path, body, header, value string
		status                            int
		want                              string
	}{
		{"POST", "/v1beta/models/m:generateContent", body, "x-goog-api-key", "k", 200, `"text":"Ahoy"`},
		{"POST", "/v1beta/models/m:streamGenerateContent?alt=sse", body, "x-goog-api-key", "k", 200, "data: {"},
		{"POST", "/v1beta/models/m:generateContent", body, "x-goog-api-key", "wrong", 400, "API_KEY_INVALID"},
		{"GET", "/v1/models", "", "x-goog-api-key", "k", 200, `"models":[`},
		{"GET", "/v1beta/models/echo", "", "x-goog-api-key", "k", 200, `"name":"models/echo"`},
		{"GET", "/v1beta/files", "", "x-goog-api-key", "k", 404, `"status":"NOT_FOUND"`},
		{"GET", "/v1beta/files", "", "x-goog-api-key", "k", 404, "POST /v1beta/models/{model}:generateContent"},
		{"POST", "/v1/models/m:embedContent", "{}", "x-api-key", "k", 404, `"status":"NOT_FOUND"`},
		{"GET", "/nothing", "", "x-api-key", "k", 404, `"type":"not_found_error"`},
		{"GET", "/nothing", "", "api-key", "k", 404, `"type":"invalid_request_error"`},
		{"POST", "/v1/chat/completions", chat, "Authorization", "Bearer k", 200, `"content":"Ahoy"`},
		{"POST", "/openai/deployments/m/chat/completions?api-version=2024-10-21", chat, "api-key", "k", 200, `"content":"Ahoy"`},
		{"POST", "/v1/chat/completions", chat, "Authorization", "Bearer wrong", 401, `"code":"invalid_api_key"`},
		{"POST", "/v1/responses", item, "Authorization", "Bearer k", 200, `"text":"Ahoy"`},
		{"GET", "/v1/responses", "", "Authorization", "Bearer k", 405, `"error":`},
		{"GET", "/v1/models", "", "Authorization", "Bearer k", 200, `"object":"list"`},
		{"GET", "/v1/models/echo", "", "api-key", "k", 200, `"object":"model"`},
		{"GET", "/nothing", "", "x-goog-api-key", "k", 404, `"status":"NOT_FOUND"`},
		{"POST", "/v1/messages/batches", "{}", "anthropic-version", "2023-06-01", 404, "POST /v1/messages, POST /v1/messages/count_tokens"},
		{"GET", "/v1/messages", "", "x-api-key", "k", 405, `"type":"invalid_request_error"`},
		{"POST", "/v1beta/models/m:generateContent?key=k", body, "anthropic-version", "2023-06-01", 200, `"text":"Ahoy"`},
		{"POST", "/v1/models/m:generateContent?key=k", body, "anthropic-version", "2023-06-01", 200, `"text":"Ahoy"`},
		{"GET", "/v1beta/models?key=k", "", "anthropic-version", "2023-06-01", 200, `"models":[`},
		{"GET", "/v1beta/models/messages?key=k", "", "anthropic-version", "2023-06-01", 404, `"status":"NOT_FOUND"`},
		{"POST", "/v1beta/models/m:embedContent?key=k", "{}", "anthropic-version", "2023-06-01", 404, `"status":"NOT_FOUND"`},
		{"POST", vertex + "anthropic/models/m:rawPredict", claude, "Authorization", "Bearer k", 200, `"text":"Ahoy"`},
		{"POST", vertex + "anthropic/models/m@1:streamRawPredict", claude, "Authorization", "Bearer k", 200, "event: message_stop"},
		{"POST", vertex + "anthropic/models/count-tokens:rawPredict", counted, "Authorization", "Bearer k", 200, `"input_tokens":`},
		{"POST", strings.Replace(vertex, "v1", "v1beta1", 1) + "anthropic/models/m:rawPredict", claude, "Authorization", "Bearer k", 200, `"type":"message"`},
		{"POST", vertex + "anthropic/models/m:rawPredict", claude, "Authorization", "Bearer wrong", 401, `"type":"authentication_error"`},
		{"POST", strings.Replace(vertex, "v1", "v1beta1", 1) + "google/models/m:generateContent", body, "Authorization", "Bearer k", 200, `"candidates":`},
		{"POST", vertex + "google/models/m:rawPredict", body, "Authorization", "Bearer k", 404, `"status":"NOT_FOUND"`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, g.url+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(tt.header, tt.value)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text := read(t, resp)
		if resp.StatusCode != tt.status || !strings.Contains(text, tt.want) {
			t.Errorf("%s %s: %d %s, want %d and %s", tt.method, tt.path, resp.StatusCode, text, tt.status, tt.want)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), "GET", g.url+"/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("anthropic-version", "2023-06-01")
	r.Header.Set("x-api-key", "k")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if text := read(t, resp); !strings.Contains(text, `"has_more":false`) {
		t.Errorf("models in the other format: %s", text)
	}
}
