// Package fakebedrock is a strict fake of Amazon Bedrock for tests: the strict fake of
// Anthropic in the cloud's form, behind keys, signatures, frames and errors of the cloud.
//
// It was written from the references of the API and of Signature Version 4, without the
// code of package bedrock: it computes signatures itself, and only package eventstream,
// which encodes frames, is the same.
package fakebedrock

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/polywire/polywire/internal/test/fake/anthropic"
)

// Options configures a [Server].
type Options struct {
	// Region is that of the endpoint.
	Region string

	// AccessKey, SecretKey and SessionToken are the credentials of signatures.
	AccessKey, SecretKey, SessionToken string

	// Key is the accepted API key. If it is empty, requests must be signed.
	Key string

	// Cut, if not 0, cuts each stream of frames before this byte, counted from 1: the
	// body ends in good order.
	Cut int

	// Chop writes streams in pieces of this many bytes.
	Chop int

	// Claude configures the models.
	Claude anthropic.Options
}

// A Server is a running fake.
type Server struct {
	URL    string
	Claude *anthropic.Server // the models; its script and its record

	opts Options

	mu      sync.Mutex
	refused []string
}

// New starts a fake on a loopback address. It stops at the end of the test.
func New(t testing.TB, opts Options) *Server {
	t.Helper()
	opts.Claude.Platform = anthropic.Bedrock
	s := &Server{opts: opts, Claude: anthropic.NewHandler(opts.Claude)}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	t.Cleanup(h.CloseClientConnections)
	s.URL = h.URL
	return s
}

// Refused returns the requests that the service refused. Those that a model refused are in
// the record of Claude.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

const requestID = "0f0e0d0c-0b0a-4900-8000-000000000001"

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Amzn-Requestid", requestID)
	if name, message := s.authenticate(r, body); name != "" {
		s.refuse(w, 403, name, message)
		return
	}
	if a := r.Header.Get("Accept"); a != "application/json" && a != "*/*" && a != "" {
		s.refuse(w, 400, "ValidationException", "The provided Accept Type is invalid or not supported for this model")
		return
	}
	inner := r.Clone(r.Context())
	inner.Body = io.NopCloser(bytes.NewReader(body))
	inner.Header.Set("Authorization", "Bearer of the client")
	out := &response{w: w, opts: &s.opts, encoder: eventstream.NewEncoder()}
	s.Claude.ServeHTTP(out, inner)
	out.finish()
}

func (s *Server) refuse(w http.ResponseWriter, status int, name, message string) {
	s.mu.Lock()
	s.refused = append(s.refused, name+": "+message)
	s.mu.Unlock()
	WriteError(w, status, name, message)
}

// WriteError writes an error as the service does.
func WriteError(w http.ResponseWriter, status int, name, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", name+":http://internal.amazon.com/coral/com.amazon.bedrock/")
	w.WriteHeader(status)
	b, _ := json.Marshal(map[string]string{"message": message})
	_, _ = w.Write(b)
}

// A response translates a response of Messages.
type response struct {
	w       http.ResponseWriter
	opts    *Options
	encoder *eventstream.Encoder
	header  http.Header
	status  int
	stream  bool
	text    []byte // that was not written yet
	written int    // bytes of frames
	cut     bool
}

func (o *response) Header() http.Header {
	if o.header == nil {
		o.header = make(http.Header)
	}
	return o.header
}

func (o *response) WriteHeader(status int) {
	if o.status != 0 {
		return
	}
	o.status = status
	o.stream = strings.HasPrefix(o.Header().Get("Content-Type"), "text/event-stream")
	for _, name := range []string{"Retry-After"} {
		if v := o.Header().Get(name); v != "" {
			o.w.Header().Set(name, v)
		}
	}
	o.w.Header().Set("Content-Type", "application/json")
	if o.stream {
		o.w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
		o.w.Header().Set("X-Amzn-Bedrock-Content-Type", "application/json")
		o.w.WriteHeader(200)
	}
}

func (o *response) Write(p []byte) (int, error) {
	o.WriteHeader(200)
	o.text = append(o.text, p...)
	for o.stream {
		event, rest, ok := strings.Cut(string(o.text), "\n\n")
		if !ok {
			break
		}
		o.text = []byte(rest)
		if err := o.event(event); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (o *response) FlushError() error { return http.NewResponseController(o.w).Flush() }

// finish writes a response that is not a stream.
func (o *response) finish() {
	switch {
	case o.stream:
	case o.status == 200:
		_, _ = o.w.Write(o.text)
	default:
		x, message := exceptionOf(o.text)
		WriteError(o.w, x.status, x.name, message)
	}
}

// An exception is an error of the service for a type of errors of Messages.
type exception struct {
	status int
	name   string
}

var exceptions = map[string]exception{
	"invalid_request_error": {400, "ValidationException"},
	"not_found_error":       {404, "ResourceNotFoundException"},
	"request_too_large":     {400, "ValidationException"},
	"rate_limit_error":      {429, "ThrottlingException"},
	"timeout_error":         {408, "ModelTimeoutException"},
	"overloaded_error":      {503, "ServiceUnavailableException"},
	"api_error":             {500, "InternalServerException"},
	"authentication_error":  {403, "UnrecognizedClientException"},
	"permission_error":      {403, "AccessDeniedException"},
	"billing_error":         {400, "ServiceQuotaExceededException"},
}

func exceptionOf(document []byte) (exception, string) {
	var d struct {
		Error struct{ Type, Message string }
	}
	_ = json.Unmarshal(document, &d)
	x, ok := exceptions[d.Error.Type]
	if !ok {
		x = exceptions["api_error"]
	}
	return x, d.Error.Message
}

// event writes the frame of a server-sent event.
func (o *response) event(text string) error {
	var name, data string
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimRight(line, "\r\n")
		if v, ok := strings.CutPrefix(line, "event: "); ok {
			name = v
		}
		if v, ok := strings.CutPrefix(line, "data: "); ok {
			data += v
		}
	}
	if data == "" || name == "ping" { // the service has no pings
		return nil
	}
	if name == "error" {
		x, message := exceptionOf([]byte(data))
		return o.write(Exception(strings.ToLower(x.name[:1])+x.name[1:], message))
	}
	if name == "message_stop" {
		data = strings.TrimSuffix(data, "}") + `,"amazon-bedrock-invocationMetrics":{"inputTokenCount":3,"outputTokenCount":5,"invocationLatency":1177,"firstByteLatency":442}}`
	}
	return o.write(Chunk(data))
}

// Chunk returns the frame of an event. Its payload has padding, as those of the service.
func Chunk(document string) []byte {
	payload := fmt.Sprintf(`{"bytes":%q,"p":%q}`, base64.StdEncoding.EncodeToString([]byte(document)), "abcdefghijklm"[:len(document)%13])
	return Frame(payload, ":event-type", "chunk", ":content-type", "application/json", ":message-type", "event")
}

// Exception returns the frame of an exception.
func Exception(name, message string) []byte {
	payload, _ := json.Marshal(map[string]string{"message": message})
	return Frame(string(payload), ":exception-type", name, ":content-type", "application/json", ":message-type", "exception")
}

// Frame returns a frame with a payload, and names and values of headers.
func Frame(payload string, headers ...string) []byte {
	m := eventstream.Message{Payload: []byte(payload)}
	for i := 0; i < len(headers); i += 2 {
		m.Headers.Set(headers[i], eventstream.StringValue(headers[i+1]))
	}
	var b bytes.Buffer
	if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// write writes a frame, cut and chopped as the options have it.
func (o *response) write(frame []byte) error {
	if o.cut {
		return nil
	}
	if n := o.opts.Cut - 1 - o.written; o.opts.Cut > 0 && n < len(frame) {
		frame, o.cut = frame[:n], true
	}
	o.written += len(frame)
	size := o.opts.Chop
	if size == 0 {
		size = max(1, len(frame))
	}
	for piece := range slices.Chunk(frame, size) {
		if _, err := o.w.Write(piece); err != nil {
			return err
		}
		if err := o.FlushError(); err != nil {
			return err
		}
	}
	return nil
}
