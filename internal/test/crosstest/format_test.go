package crosstest

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A wireFormat is one of the formats: its handler, and what its clients send and
// receive.
type wireFormat struct {
	name      string
	format    content.Format
	handler   func(upstream.Upstream, upstream.HandlerOptions) handler
	validator func(next http.Handler, o upstream.HandlerOptions) handler
	typed     func(up upstream.Upstream, o upstream.HandlerOptions, mediaTypes []string) handler // accepts more media types
	modes     []mode                                                                             // the first is not a stream, the second is
	path      string                                                                             // of the first mode
	count     string                                                                             // path of a token count; empty: the format has none
	models    string                                                                             // path of the list of models
	id        string                                                                             // header with the request id
	invalid   string                                                                             // header line with a value that the format rejects

	// The client side.
	decode      func(response string, limits content.Limits) (*upstream.Frame, error)
	encodeError func(*upstream.Request, error) (status int, header http.Header, body []byte)
	reader      func(stream io.Reader, limits content.Limits) streamReader

	encode func(r *upstream.Request) (io.Reader, int64, error) // nil: only adapters encode requests

	// Files.
	body    func(files []fileReference, bad bool) string
	place   func(i int, f fileReference) string        // path of a violation of the i-th file
	results func(f fileReference) (body, place string) // nil: results have no files

	expected
}

// A handler has the methods of the handlers of both formats.
type handler interface {
	http.Handler
	Match(r *http.Request) bool
	WriteError(w http.ResponseWriter, r *http.Request, err error)
}

// A streamReader has the methods of the StreamReaders of both formats.
type streamReader interface {
	formattest.FrameReader
	Buffered() bool
}

// A mode is a way to request a response: whole or streamed.
type mode struct {
	name       string
	stream     bool
	path, body string
	// pings are the keep-alives of TestKeepAlives. In chunks the first of an interval begins the
	// next event. In an array they are white space between elements.
	pings int
	// read reads a response with status 200 like a client, without the code of the
	// codecs.
	read func(body string) (document, failure map[string]any, pings int, err error)
}

const (
	smallMessages  = `{"model":"m","max_tokens":64,"messages":[{"role":"user","content":"Hi"}]}`
	smallGenerate  = `{"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}`
	smallResponses = `{"model":"m","input":[{"role":"user","content":"Hi"}]}`
	smallChat      = `{"model":"m","messages":[{"role":"user","content":"Hi"}]}`
)

func readObject(body string) (document, failure map[string]any, pings int, err error) {
	document, err = formattest.DecodeObject([]byte(body))
	return document, nil, 0, err
}

func readMessage(body string) (document, failure map[string]any, pings int, err error) {
	m, err := formattest.ReadMessage(body)
	if err != nil {
		return nil, nil, 0, err
	}
	return m.Object, m.Failure, m.Pings, nil
}

func readChat(body string) (document, failure map[string]any, pings int, err error) {
	c, err := formattest.ReadChat(body)
	if err != nil {
		return nil, nil, 0, err
	}
	if c.Failure != nil {
		failure = map[string]any{"error": c.Failure}
	}
	return c.Object, failure, c.Pings, nil
}

func readResponses(body string) (document, failure map[string]any, pings int, err error) {
	r, err := formattest.ReadResponses(body)
	if err == nil {
		document, err = formattest.DecodeObject([]byte(r.Final.Raw))
	}
	if err == nil && r.Failed.Exists() {
		failure, err = formattest.DecodeObject([]byte(`{"event":true,"error":` + r.Failed.Raw + `}`))
	}
	return document, failure, r.Pings, err
}

// readChunks reads a stream of chunks as one response.
func readChunks(read func(string) (*formattest.Chunks, error)) func(string) (document, failure map[string]any, pings int, err error) {
	return func(body string) (document, failure map[string]any, pings int, err error) {
		c, err := read(body)
		if err != nil {
			return nil, nil, 0, err
		}
		document, err = c.Whole()
		return document, c.Failure, c.Pings, err
	}
}

var wireFormats = []wireFormat{
	{
		name: "messages", format: messages.Format, path: "/v1/messages", count: "/v1/messages/count_tokens", models: "/v1/models",
		id: "Request-Id", invalid: "Anthropic-Version: 2024-01-01",
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) handler {
			return messages.NewHandler(up, &messages.Options{HandlerOptions: s, FilesWithoutBeta: true})
		},
		validator: func(next http.Handler, s upstream.HandlerOptions) handler {
			return messages.NewValidator(next, &messages.Options{HandlerOptions: s, FilesWithoutBeta: true})
		},
		typed: func(up upstream.Upstream, s upstream.HandlerOptions, types []string) handler {
			return messages.NewHandler(up, &messages.Options{HandlerOptions: s, MediaTypes: types})
		},
		modes: []mode{
			{name: "whole", path: "/v1/messages", body: smallMessages, read: readObject},
			{name: "streamed", stream: true, path: "/v1/messages", body: `{"stream":true,` + smallMessages[1:], read: readMessage, pings: 5},
		},
		encodeError: messages.EncodeError,
		decode:      messages.DecodeFrame,
		reader:      func(r io.Reader, l content.Limits) streamReader { return messages.NewStreamReader(r, &l) },
		encode:      encodeMessages,
		body:        messagesFiles, place: messagesPlace, results: messagesResults,
		expected: expectedOfMessages,
	},
	{
		name: "generatecontent", format: generatecontent.Format, path: "/v1beta/models/m:generateContent", count: "/v1beta/models/m:countTokens",
		models: "/v1beta/models", id: "X-Request-Id", invalid: "X-Server-Timeout: soon",
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) handler {
			return generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s})
		},
		validator: func(next http.Handler, s upstream.HandlerOptions) handler {
			return generatecontent.NewValidator(next, &generatecontent.Options{HandlerOptions: s})
		},
		typed: func(up upstream.Upstream, s upstream.HandlerOptions, types []string) handler {
			return generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s, MediaTypes: types})
		},
		modes: []mode{
			{name: "whole", path: "/v1beta/models/m:generateContent", body: smallGenerate, read: readObject},
			{name: "streamed", stream: true, path: "/v1beta/models/m:streamGenerateContent?alt=sse", body: smallGenerate, read: readChunks(formattest.ReadEvents), pings: 3},
			{name: "array", stream: true, path: "/v1beta/models/m:streamGenerateContent", body: smallGenerate, read: readChunks(formattest.ReadArray)},
		},
		encodeError: generatecontent.EncodeError,
		decode:      generatecontent.DecodeFrame,
		reader:      func(r io.Reader, l content.Limits) streamReader { return generatecontent.NewStreamReader(r, &l) },
		encode:      encodeGenerate,
		body:        generateFiles, place: generatePlace, results: generateResults,
		expected: expectedOfGenerate,
	},
	{
		name: "chatcompletions", format: chatcompletions.Format, path: "/v1/chat/completions", models: "/v1/models",
		id: "X-Request-Id", invalid: "Content-Type: text/plain",
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) handler {
			return chatcompletions.NewHandler(up, &chatcompletions.Options{HandlerOptions: s})
		},
		validator: func(next http.Handler, s upstream.HandlerOptions) handler {
			return chatcompletions.NewValidator(next, &chatcompletions.Options{HandlerOptions: s})
		},
		typed: func(up upstream.Upstream, s upstream.HandlerOptions, types []string) handler {
			return chatcompletions.NewHandler(up, &chatcompletions.Options{HandlerOptions: s, MediaTypes: types})
		},
		modes: []mode{
			{name: "whole", path: "/v1/chat/completions", body: smallChat, read: readObject},
			{name: "streamed", stream: true, path: "/v1/chat/completions", body: `{"stream":true,` + smallChat[1:], read: readChat, pings: 5},
		},
		encodeError: chatcompletions.EncodeError,
		decode: func(response string, limits content.Limits) (*upstream.Frame, error) {
			return chatcompletions.DecodeFrame(response, limits, chatcompletions.DecodeOptions{Verbatim: true})
		},
		reader: func(r io.Reader, l content.Limits) streamReader { return chatcompletions.NewStreamReader(r, &l) },
		body:   chatFiles, place: chatPlace,
		expected: expectedOfChat,
	},
	{
		name: "responses", format: responses.Format, path: "/v1/responses", count: "/v1/responses/input_tokens", models: "/v1/models",
		id: "X-Request-Id", invalid: "Content-Type: text/plain",
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) handler {
			return responses.NewHandler(up, &responses.Options{HandlerOptions: s})
		},
		validator: func(next http.Handler, s upstream.HandlerOptions) handler {
			return responses.NewValidator(next, &responses.Options{HandlerOptions: s})
		},
		typed: func(up upstream.Upstream, s upstream.HandlerOptions, types []string) handler {
			return responses.NewHandler(up, &responses.Options{HandlerOptions: s, MediaTypes: types})
		},
		modes: []mode{
			{name: "whole", path: "/v1/responses", body: smallResponses, read: readObject},
			{name: "streamed", stream: true, path: "/v1/responses", body: `{"stream":true,` + smallResponses[1:], read: readResponses, pings: 5},
		},
		encodeError: responses.EncodeError,
		decode: func(response string, limits content.Limits) (*upstream.Frame, error) {
			return responses.DecodeFrame(response, limits, responses.DecodeOptions{Verbatim: true})
		},
		reader: func(r io.Reader, l content.Limits) streamReader { return responses.NewStreamReader(r, &l) },
		body:   responsesFiles, place: responsesPlace, results: responsesResults,
		expected: expectedOfResponses,
	},
}

// eachFormat runs a test for each format.
func eachFormat(t *testing.T, f func(t *testing.T, s wireFormat)) {
	for _, s := range wireFormats {
		t.Run(s.name, func(t *testing.T) { f(t, s) })
	}
}

// eachCounting runs a test for each format that has token counts.
func eachCounting(t *testing.T, f func(t *testing.T, s wireFormat)) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		if s.count != "" {
			f(t, s)
		}
	})
}

// paths returns the paths of a whole response and of a token count.
func (s wireFormat) paths() []string {
	if s.count == "" {
		return []string{s.path}
	}
	return []string{s.path, s.count}
}

// eachMode runs a test for each way to request a response.
func eachMode(t *testing.T, f func(t *testing.T, s wireFormat, m mode)) {
	eachFormat(t, func(t *testing.T, s wireFormat) {
		for _, m := range s.modes {
			t.Run(m.name, func(t *testing.T) { f(t, s, m) })
		}
	})
}

// streamed returns the path and body of a request for a stream, given those of a request
// for a whole response.
func (s wireFormat) streamed(path, body string) (string, string) {
	if streams := strings.Replace(path, ":generateContent", ":streamGenerateContent?alt=sse", 1); streams != path {
		return streams, body
	}
	return path, `{"stream":true,` + body[1:]
}

// newRequest returns a request for a handler, with the header that Messages requires.
func newRequest(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Anthropic-Version", "2023-06-01")
	return r
}

func (m mode) request() *http.Request { return newRequest("POST", m.path, m.body) }

// counting returns a request for a token count.
func (s wireFormat) counting() *http.Request {
	return newRequest("POST", s.count, strings.Replace(s.modes[0].body, `"max_tokens":64,`, "", 1))
}

// An answer is a response as a client reads it.
type answer struct {
	status   int
	header   http.Header
	body     string
	document map[string]any // nil for an error
	pings    int
	word     string // of an error: its type, or its status name
	message  string
	code     string // of an error, if the format has codes
	coded    bool   // the error is an event with a code in place of a type
	details  string
}

// serve sends a request to a handler and reads the response.
func (s wireFormat) serve(t *testing.T, h http.Handler, m mode, r *http.Request) *answer {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return s.receive(t, m, w.Result())
}

// ask sends the request of a mode to a handler and reads the response.
func (s wireFormat) ask(t *testing.T, h http.Handler, m mode) *answer {
	t.Helper()
	return s.serve(t, h, m, m.request())
}

// receive reads a response of the handler, and checks errors by the grammar: before
// the first byte and in a stream.
func (s wireFormat) receive(t *testing.T, m mode, res *http.Response) *answer {
	t.Helper()
	body, err := readBody(res.Body)
	if err != nil {
		t.Fatalf("%v after %q", err, body)
	}
	res.Body.Close()
	a := &answer{status: res.StatusCode, header: res.Header, body: string(body)}
	id := a.header.Get(s.id)
	if !strings.HasPrefix(id, "req_") {
		t.Errorf("request id %q", id)
	}
	var failure map[string]any
	if a.status == http.StatusOK {
		read := m.read
		if read == nil {
			read = readObject
		}
		a.document, failure, a.pings, err = read(a.body)
	} else {
		if ct := a.header.Get("Content-Type"); ct != "application/json" {
			t.Errorf("Content-Type of an error: %q", ct)
		}
		doc := body
		if m.name == "array" { // an error is the only element
			doc = []byte(strings.TrimSuffix(strings.TrimPrefix(a.body, "["), "]"))
			if len(doc) != len(body)-2 {
				t.Errorf("an error outside an array: %s", body)
			}
		}
		failure, err = formattest.DecodeObject(doc)
	}
	if err != nil {
		t.Fatalf("%d %v\n%s", a.status, err, a.body)
	}
	if failure != nil {
		a.fail(t, s, failure, id)
	}
	return a
}

// fail reads an error object.
func (a *answer) fail(t *testing.T, s wireFormat, doc map[string]any, id string) {
	t.Helper()
	e, _ := doc["error"].(map[string]any)
	if e == nil {
		e = doc // an event of Responses
	}
	a.message, _ = e["message"].(string)
	a.word, _ = e[s.word].(string)
	if e["details"] != nil {
		a.details = fmt.Sprint(e["details"])
	}
	if problem := s.malformed(a, doc, e, id); problem != "" || a.word == "" || a.message == "" {
		t.Errorf("malformed error: %s: %v", problem, doc)
	}
}

// A failure is the status and the type or status name of an error, and its code, if the format has one.
type failure struct {
	status int
	word   string
	code   string
}

// wants checks that a is the error f, whose status does not count in a stream that has
// begun. text is the beginning of its message.
func (a *answer) wants(t *testing.T, f failure, text string) {
	t.Helper()
	begun := a.status == http.StatusOK && f.word != ""
	word := f.word
	if a.coded {
		word = cmp.Or(f.code, f.word)
	}
	if a.status != f.status && !begun || a.word != word || !strings.HasPrefix(a.message, text) {
		t.Errorf("got %d %s %q, want %d %s %q\n%.2000s", a.status, a.word, a.message, f.status, f.word, text, a.body)
	}
}
