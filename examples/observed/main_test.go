package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collecttrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream/script"
)

// A service is a running service.
type service struct {
	url    string
	stdout *lines
	cancel func()
	done   chan error
}

// lines is the output of a service after its first line.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// start runs the service on a free port.
func start(t *testing.T, args ...string) *service {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	s := &service{stdout: new(lines), cancel: cancel, done: make(chan error, 1)}
	go func() {
		err := run(ctx, append([]string{"-listen", "127.0.0.1:0"}, args...), w)
		w.Close()
		s.done <- err
	}()
	out := bufio.NewReader(r)
	line, err := out.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("first line is %q (%v); error: %v", line, err, <-s.done)
	}
	go func() { _, _ = io.Copy(s.stdout, out) }()
	s.url = url
	return s
}

// stop shuts the service down.
func (s *service) stop(t *testing.T) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	s.cancel()
	if err := <-s.done; err != nil {
		t.Errorf("the service ended with %v", err)
	}
}

// request returns a request for a stream.
func (s *service) request(ctx context.Context, t *testing.T, key, text string) *http.Request {
	t.Helper()
	body := `{"model":"demo","max_tokens":99,"stream":true,"messages":[{"role":"user","content":"` + text + `"}]}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("content-type", "application/json")
	r.Header.Set("anthropic-version", "2023-06-01")
	r.Header.Set("x-api-key", key)
	return r
}

// post sends a request for a stream and returns the status and the response.
func (s *service) post(t *testing.T, key, text string) (int, string) {
	t.Helper()
	return do(t, s.request(t.Context(), t, key, text))
}

// metrics returns the lines of GET /metrics.
func (s *service) metrics(t *testing.T) []string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	status, text := do(t, r)
	if status != http.StatusOK {
		t.Fatalf("GET /metrics: %d %s", status, text)
	}
	return strings.Split(text, "\n")
}

func do(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// sample returns the value of the only sample of a metric with the given labels, or "".
func sample(t *testing.T, list []string, metric string, labels ...string) (value string) {
	t.Helper()
	for _, line := range list {
		ok := strings.HasPrefix(line, metric+"{")
		for _, l := range labels {
			ok = ok && strings.Contains(line, l)
		}
		if !ok {
			continue
		}
		if value != "" {
			t.Errorf("%s%v has several samples", metric, labels)
		}
		value = line[strings.LastIndexByte(line, ' ')+1:]
	}
	return value
}

// TestPrometheus checks that a bill for each tenant can be computed from /metrics, and
// that traces are written to standard output.
func TestPrometheus(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	s := start(t)
	for range 2 {
		if status, text := s.post(t, "k-ada", "echo: say one two"); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
	}
	s.post(t, "k-bob", "echo: cut")
	if status, _ := s.post(t, "k-eve", "Hi"); status != http.StatusUnauthorized {
		t.Errorf("status %d with an unknown key, want 401", status)
	}
	list := s.metrics(t)
	for _, tt := range []struct {
		metric string
		labels []string
		want   string
	}{
		// For package echo a token has four bytes, so that "one two" has 2.
		{"gen_ai_client_token_usage_total", []string{`gen_ai_token_type="output"`, `tenant="ada"`}, "4"},
		{"gen_ai_client_token_usage_total", []string{`gen_ai_token_type="output"`, `tenant="bob"`}, ""},
		{"gen_ai_client_operation_duration_seconds_count", []string{`tenant="ada"`}, "2"},
		{"gen_ai_client_operation_duration_seconds_count", []string{`tenant="bob"`, `error_type="unavailable"`}, "1"},
		{"gen_ai_client_operation_time_to_first_chunk_seconds_count", nil, "2"},
		{"gen_ai_client_operation_time_to_first_chunk_seconds_count", []string{"tenant"}, ""},
	} {
		if got := sample(t, list, tt.metric, tt.labels...); got != tt.want {
			t.Errorf("%s%v is %q, want %q", tt.metric, tt.labels, got, tt.want)
		}
	}
	s.stop(t)

	s.stdout.mu.Lock()
	defer s.stdout.mu.Unlock()
	names := map[string]int{}
	for line := range strings.Lines(s.stdout.buf.String()) {
		var span struct{ Name string }
		if err := json.Unmarshal([]byte(line), &span); err != nil {
			t.Fatalf("%v in the line %s", err, line)
		}
		names[span.Name]++
	}
	if names["chat demo"] != 3 {
		t.Errorf("spans on standard output: %v, want 3 with the name chat demo", names)
	}
}

// TestStream checks that the first delta arrives while the upstream waits, through all
// wrappers of the response, and that a client that leaves is recorded.
func TestStream(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "")
	slow := httptest.NewServer(messages.NewHandler(script.Reply{script.Say("One "), script.Wait(time.Hour)}, nil))
	defer slow.Close()
	t.Setenv("UPSTREAM_KEY", "k")
	s := start(t, "-upstream", slow.URL)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	res, err := http.DefaultClient.Do(s.request(ctx, t, "k-ada", "Hi."))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body := bufio.NewReader(res.Body)
	for line := ""; !strings.Contains(line, "content_block_delta"); {
		if line, err = body.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	count := ""
	for end := time.Now().Add(10 * time.Second); count == "" && time.Now().Before(end); time.Sleep(time.Millisecond) {
		count = sample(t, s.metrics(t), "gen_ai_client_operation_duration_seconds_count", `error_type="canceled"`, `tenant="ada"`)
	}
	if count != "1" {
		t.Errorf("the metrics have %q canceled requests, want 1", count)
	}
	s.stop(t)
}

// A receiver decodes what exporters send with OTLP.
type receiver struct {
	mu      sync.Mutex
	spans   []*traces.Span
	metrics []*metrics.Metric
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	var body io.Reader = req.Body
	if req.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	b, err := io.ReadAll(body)
	var response proto.Message
	switch req.URL.Path {
	case "/v1/traces":
		response = &collecttrace.ExportTraceServiceResponse{}
		if err == nil {
			err = r.addSpans(b)
		}
	case "/v1/metrics":
		response = &collectmetrics.ExportMetricsServiceResponse{}
		if err == nil {
			err = r.addMetrics(b)
		}
	default:
		http.NotFound(w, req)
		return
	}
	if err != nil || req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "not a valid OTLP request", http.StatusBadRequest)
		return
	}
	b, _ = proto.Marshal(response)
	w.Header().Set("Content-Type", "application/x-protobuf")
	_, _ = w.Write(b)
}

func (r *receiver) addSpans(b []byte) error {
	var m collecttrace.ExportTraceServiceRequest
	if err := proto.Unmarshal(b, &m); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rs := range m.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			r.spans = append(r.spans, ss.Spans...)
		}
	}
	return nil
}

func (r *receiver) addMetrics(b []byte) error {
	var m collectmetrics.ExportMetricsServiceRequest
	if err := proto.Unmarshal(b, &m); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rm := range m.ResourceMetrics {
		for _, sm := range rm.ScopeMetrics {
			r.metrics = append(r.metrics, sm.Metrics...)
		}
	}
	return nil
}

// stringOf returns the text of an attribute, or "".
func stringOf(list []*common.KeyValue, key string) string {
	for _, kv := range list {
		if kv.Key == key {
			return kv.Value.GetStringValue()
		}
	}
	return ""
}

// overloaded returns a server that fails after it has counted the tokens of the prompt.
func overloaded(t *testing.T) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Traceparent") == "" || r.Header.Get("Baggage") != "" {
			t.Errorf("the server got traceparent %q and baggage %q, want the first only", r.Header.Get("Traceparent"), r.Header.Get("Baggage"))
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "event: message_start\ndata: "+`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"demo","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":0}}}`+"\n\n"+
			"event: error\ndata: "+`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`+"\n\n")
	}))
}

// checkQueries checks that the names in the queries of docs/telemetry.md are those of
// metrics and labels.
func checkQueries(t *testing.T, list []string) {
	page, err := os.ReadFile("../../docs/telemetry.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(list, "\n") + `polywire_usage_estimated="" gen_ai_client_token_usage_sum{`
	names := regexp.MustCompile(`\b(?:gen_ai|polywire)_[a-z_]+|\b(?:error_type|tenant)\b`).FindAllString(string(page), -1)
	if len(names) < 20 {
		t.Errorf("docs/telemetry.md has only %d names of metrics and labels", len(names))
	}
	for _, name := range names {
		if !strings.Contains(text, name+"{") && !strings.Contains(text, name+`="`) {
			t.Errorf("docs/telemetry.md has the name %s, which is not a metric or label", name)
		}
	}
}

// TestOTLP checks the traces and metrics that a receiver gets over OTLP. Two services run,
// one behind the other, and a third server that fails: the trace of a request contains the
// spans of both services.
func TestOTLP(t *testing.T) {
	r := new(receiver)
	collector := httptest.NewServer(r)
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("UPSTREAM_KEY", "k-bob")
	broken := overloaded(t)
	defer broken.Close()
	back := start(t)
	front := start(t, "-upstream", broken.URL, "-upstream", back.url)
	if status, text := front.post(t, "k-ada", "echo: say one two"); status != http.StatusOK || !strings.Contains(text, "two") {
		t.Fatalf("%d %s", status, text)
	}
	// Exporters lose all that they export together with a text that is not UTF-8.
	for _, path := range []string{"/v1/models/a%ffb", "/v1/messages", "/v1/projects/p/locations/l/publishers/anthropic/models/a%ffb:rawPredict"} {
		req := front.request(t.Context(), t, "k-ada", "hi")
		var err error
		if req.URL, err = req.URL.Parse(path); err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User-Agent", "a\x80")
		req.Header.Set("X-Forwarded-For", "a\x80")
		req.Header.Set("Anthropic-Version", "a\x80") // the request is refused
		_, _ = do(t, req)
	}
	checkQueries(t, front.metrics(t))
	front.stop(t)
	back.stop(t)

	// The path from the span of the second service to the request of the client.
	r.mu.Lock()
	defer r.mu.Unlock()
	byID := map[string]*traces.Span{}
	var span *traces.Span
	for _, s := range r.spans {
		byID[hex.EncodeToString(s.SpanId)] = s
		if s.Name == "chat demo" && stringOf(s.Attributes, "tenant") == "bob" {
			span = s
		}
	}
	var path []string
	for trace := span.GetTraceId(); span != nil; span = byID[hex.EncodeToString(span.ParentSpanId)] {
		path = append(path, span.Name+" "+strings.TrimPrefix(span.Kind.String(), "SPAN_KIND_")+" "+stringOf(span.Attributes, "polywire.upstream"))
		if !bytes.Equal(span.TraceId, trace) {
			t.Errorf("the span %s has another trace", span.Name)
		}
	}
	want := []string{"chat demo CLIENT ", "POST /v1/ SERVER ", "HTTP POST CLIENT ", "attempt INTERNAL upstream-1", "chat demo CLIENT upstream-1", "POST /v1/ SERVER "}
	if !slices.Equal(path, want) {
		t.Errorf("spans from the second service to the client:\n got %q\nwant %q", path, want)
	}
	failed := 0
	for _, s := range r.spans {
		if s.Name == "attempt" && stringOf(s.Attributes, "error.type") == "overloaded" && s.Status.GetCode() == traces.Status_STATUS_CODE_ERROR {
			failed++
		}
	}
	if failed != 1 {
		t.Errorf("%d failed attempts have spans, want 1", failed)
	}

	tokens := map[string]int64{} // by tenant and type
	for _, m := range r.metrics {
		if m.Name != "gen_ai.client.token.usage" {
			continue
		}
		for _, p := range m.GetSum().GetDataPoints() {
			tokens[stringOf(p.Attributes, "tenant")+" "+stringOf(p.Attributes, "gen_ai.token.type")] += p.GetAsInt()
		}
	}
	if tokens["ada output"] != 2 || tokens["bob output"] != 2 || tokens["ada input"] == 0 || len(tokens) != 4 {
		t.Errorf("tokens %v, want 2 of the response for each tenant", tokens)
	}
	attempts, dropped := uint64(0), int64(0)
	for _, m := range r.metrics {
		if m.Name == "polywire.attempt.duration" {
			for _, p := range m.GetHistogram().GetDataPoints() {
				attempts += p.Count
			}
		}
		if m.Name == "polywire.attempt.dropped_tokens" {
			for _, p := range m.GetSum().GetDataPoints() {
				dropped += p.GetAsInt()
			}
		}
	}
	if attempts != 2 || dropped != 7 {
		t.Errorf("%d attempts and %d dropped tokens in the metrics, want 2 and 7", attempts, dropped)
	}
}
