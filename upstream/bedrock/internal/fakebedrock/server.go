// Package fakebedrock is a strict fake of Amazon Bedrock for tests. Its models are those of
// the strict fake of Anthropic.
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
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/polywire/polywire/internal/fake/anthropic"
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

// operation is the path of an operation. The id of a model is one segment.
var operation = regexp.MustCompile(`^/model/([^/]+)/(invoke|invoke-with-response-stream|count-tokens)$`)

// modelName finds the vendor's name of a model in an id or an ARN.
var modelName = regexp.MustCompile(`claude-[a-z0-9-]*?[a-z0-9](?:-v\d+(?::\d+)?)?$`)

const requestID = "0f0e0d0c-0b0a-4900-8000-000000000001"

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Amzn-Requestid", requestID)
	path, _, _ := strings.Cut(r.RequestURI, "?")
	m := operation.FindStringSubmatch(path)
	if m == nil {
		s.refuse(w, 404, "UnknownOperationException", "")
		return
	}
	if r.Method != http.MethodPost {
		s.refuse(w, 405, "UnknownOperationException", "")
		return
	}
	if name, message := s.authenticate(r, body); name != "" {
		s.refuse(w, 403, name, message)
		return
	}
	id, err := url.PathUnescape(m[1])
	name := strings.TrimSuffix(modelName.FindString(id), ":0")
	if err != nil || name == "" {
		s.refuse(w, 400, "ValidationException", "The provided model identifier is invalid.")
		return
	}
	name, _, _ = strings.Cut(name, "-v")
	if m[2] == "count-tokens" {
		var v struct {
			Input struct {
				InvokeModel struct{ Body []byte }
			}
		}
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if d.Decode(&v) != nil {
			s.refuse(w, 400, "SerializationException", "")
			return
		}
		body = v.Input.InvokeModel.Body
	}
	inner, message := messagesRequest(r, body, name, m[2])
	if message != "" {
		s.refuse(w, 400, "ValidationException", message)
		return
	}
	out := &response{w: w, opts: &s.opts, encoder: eventstream.NewEncoder(), count: m[2] == "count-tokens"}
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

// messagesRequest returns the request of Messages for a request of InvokeModel, or the
// message of an error.
func messagesRequest(r *http.Request, body []byte, model, operation string) (*http.Request, string) {
	if kind := r.Header.Get("Content-Type"); kind != "application/json" {
		return nil, "The provided Content Type is invalid or not supported for this model"
	}
	if a := r.Header.Get("Accept"); a != "application/json" && a != "*/*" && a != "" {
		return nil, "The provided Accept Type is invalid or not supported for this model"
	}
	if r.Header.Get("Anthropic-Beta") != "" {
		return nil, "fake: the betas are in a header, which the service ignores"
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, "Malformed input request: " + err.Error() + ", please reformat your input and try again."
	}
	for _, name := range []string{"model", "stream"} {
		if _, ok := members[name]; ok {
			return nil, "Malformed input request: #: extraneous key [" + name + "] is not permitted, please reformat your input and try again."
		}
	}
	if v := string(members["anthropic_version"]); v != `"bedrock-2023-05-31"` {
		return nil, "Malformed input request: #: required key [anthropic_version] not found, please reformat your input and try again."
	}
	delete(members, "anthropic_version")
	var betas []string
	if v, ok := members["anthropic_beta"]; ok {
		if json.Unmarshal(v, &betas) != nil || len(betas) == 0 {
			return nil, "anthropic_beta: must be a list of strings"
		}
		for _, b := range betas {
			if !slices.Contains(knownBetas, b) {
				return nil, "invalid beta flag"
			}
		}
		delete(members, "anthropic_beta")
	}
	members["model"], _ = json.Marshal(model)
	path := "/v1/messages"
	switch operation {
	case "invoke-with-response-stream":
		members["stream"] = json.RawMessage("true")
	case "count-tokens":
		// The inner document is a whole request for a response.
		for _, name := range []string{"max_tokens", "messages"} {
			if _, ok := members[name]; !ok {
				return nil, "Malformed input request: #: required key [" + name + "] not found, please reformat your input and try again."
			}
		}
		path += "/count_tokens"
		for _, name := range []string{"max_tokens", "metadata", "stop_sequences", "temperature", "top_p", "top_k"} {
			delete(members, name)
		}
	}
	b, _ := json.Marshal(members)
	inner := r.Clone(r.Context())
	inner.URL = &url.URL{Path: path}
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	inner.Header = http.Header{"Content-Type": {"application/json"}, "Anthropic-Version": {"2023-06-01"}, "X-Api-Key": {"key"}}
	if len(betas) > 0 {
		inner.Header.Set("Anthropic-Beta", strings.Join(betas, ","))
	}
	return inner, ""
}

// knownBetas are betas that the service accepts.
var knownBetas = strings.Fields(`
computer-use-2025-01-24 token-efficient-tools-2025-02-19 interleaved-thinking-2025-05-14 output-128k-2025-02-19
dev-full-thinking-2025-05-14 context-1m-2025-08-07 context-management-2025-06-27 effort-2025-11-24
tool-search-tool-2025-10-19 tool-examples-2025-10-29 fine-grained-tool-streaming-2025-05-14 compact-2026-01-12
computer-use-2025-11-24`)

// A response translates a response of Messages.
type response struct {
	w       http.ResponseWriter
	opts    *Options
	encoder *eventstream.Encoder
	header  http.Header
	status  int
	stream  bool
	count   bool
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
	case o.status == 200 && o.count:
		_, _ = o.w.Write(bytes.Replace(o.text, []byte("input_tokens"), []byte("inputTokens"), 1))
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
