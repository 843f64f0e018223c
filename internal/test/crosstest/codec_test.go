package crosstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A codecClient is a request of a client, and what serves it: a handler, or a program
// without HTTP.
type codecClient struct {
	name, path, body string
	streamed         bool

	format   content.Format
	handler  func(upstream.Upstream, upstream.HandlerOptions) http.Handler
	decode   func(body string) (*upstream.Request, []content.Loss, error)
	writer   func(io.Writer, *upstream.Request) upstream.StreamWriter // of a streamed response
	response func(*upstream.Request, *upstream.Response) ([]byte, []content.Loss)
	failure  func(*upstream.Request, error) (int, http.Header, []byte)
}

// messagesClient returns a client of Messages. members are those of its request besides the
// required ones.
func messagesClient(name, members string, streamed bool) *codecClient {
	return &codecClient{
		name: name, path: "/v1/messages", streamed: streamed, format: messages.Format,
		body: fmt.Sprintf(`{"model":"m","max_tokens":9,"stream":%v,%s}`, streamed, members),
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return messages.NewHandler(up, &messages.Options{HandlerOptions: s})
		},
		decode: func(body string) (*upstream.Request, []content.Loss, error) {
			return messages.DecodeRequest([]byte(body), nil)
		},
		writer:   messages.NewStreamWriter,
		response: messages.EncodeResponse, failure: messages.EncodeError,
	}
}

// generateClient returns a client of generateContent. method is a method of a model and its query.
func generateClient(name, model, method string) *codecClient {
	c := &codecClient{
		name: name, path: "/v1beta/models/" + model + ":" + method, streamed: strings.HasPrefix(method, "stream"), format: generatecontent.Format,
		body: `{"contents":[{"parts":[{"text":""},{"text":"q"}]}]}`,
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s})
		},
		writer:   generatecontent.NewStreamWriter,
		response: generatecontent.EncodeResponse, failure: generatecontent.EncodeError,
	}
	if strings.HasSuffix(method, "alt=json") {
		c.writer = generatecontent.NewArrayWriter
		c.failure = func(r *upstream.Request, err error) (int, http.Header, []byte) {
			status, header, body := generatecontent.EncodeError(r, err)
			return status, header, []byte("[" + string(body) + "]")
		}
	}
	c.decode = func(body string) (*upstream.Request, []content.Loss, error) {
		r, losses, err := generatecontent.DecodeRequest([]byte(body), nil)
		if r != nil {
			r.Model, r.Stream = model, c.streamed
		}
		return r, losses, err
	}
	return c
}

// chatClient returns a client of Chat Completions. members are those of its request besides the
// required ones.
func chatClient(name, members string, streamed bool) *codecClient {
	return &codecClient{
		name: name, path: "/v1/chat/completions", streamed: streamed, format: chatcompletions.Format,
		body: fmt.Sprintf(`{"model":"m","stream":%v,%s}`, streamed, members),
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return chatcompletions.NewHandler(up, &chatcompletions.Options{HandlerOptions: s})
		},
		decode: func(body string) (*upstream.Request, []content.Loss, error) {
			return chatcompletions.DecodeRequest([]byte(body), nil)
		},
		writer:   chatcompletions.NewStreamWriter,
		response: chatcompletions.EncodeResponse, failure: chatcompletions.EncodeError,
	}
}

// responsesClient is chatClient for Responses.
func responsesClient(name, members string, streamed bool) *codecClient {
	return &codecClient{
		name: name, path: "/v1/responses", streamed: streamed, format: responses.Format,
		body: fmt.Sprintf(`{"model":"m","store":false,"stream":%v,%s}`, streamed, members),
		handler: func(up upstream.Upstream, s upstream.HandlerOptions) http.Handler {
			return responses.NewHandler(up, &responses.Options{HandlerOptions: s})
		},
		decode: func(body string) (*upstream.Request, []content.Loss, error) {
			return responses.DecodeRequest([]byte(body), nil)
		},
		writer:   responses.NewStreamWriter,
		response: responses.EncodeResponse, failure: responses.EncodeError,
	}
}

const (
	askPlain    = `"messages":[{"role":"user","content":"q"}]`
	askThinking = `"thinking":{"type":"adaptive"},` + askPlain
	// An id that the package would make is taken.
	oneTool  = `"tools":[{"name":"f","input_schema":{"type":"object"}}],`
	askAgain = oneTool + `"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_pw3","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_pw3","content":"r"}]}]`
)

func codecClients() []*codecClient {
	var all []*codecClient
	for _, streamed := range []bool{false, true} {
		all = append(all, messagesClient("messages", askPlain, streamed), messagesClient("thinking", askThinking, streamed),
			messagesClient("history", askAgain, streamed), chatClient("chat", askPlain, streamed),
			chatClient("usage", askPlain+map[bool]string{true: `,"stream_options":{"include_usage":true}`}[streamed], streamed),
			responsesClient("responses", `"input":"q"`, streamed),
			responsesClient("reasoning", `"input":"q","include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"}`, streamed))
	}
	return append(all,
		generateClient("generatecontent", "m", "generateContent"), generateClient("generatecontent", "gemini-3-pro", "generateContent"),
		generateClient("events", "m", "streamGenerateContent?alt=sse"), generateClient("events", "gemini-3-pro", "streamGenerateContent?alt=sse"),
		generateClient("array", "m", "streamGenerateContent?alt=json"))
}

// served returns the response of the handler.
func (c *codecClient) served(up upstream.Upstream) (*httptest.ResponseRecorder, *upstream.Report) {
	var report *upstream.Report
	r := httptest.NewRequest("POST", c.path, strings.NewReader(c.body))
	r.Header.Set("anthropic-version", "2023-06-01")
	w := httptest.NewRecorder()
	c.handler(up, upstream.HandlerOptions{OnDone: func(_ context.Context, r *upstream.Report) { report = r }}).ServeHTTP(w, r)
	return w, report
}

// written returns the response without HTTP.
func (c *codecClient) written(t *testing.T, up upstream.Upstream) (status int, body string, losses []content.Loss) {
	t.Helper()
	r, losses, err := c.decode(c.body)
	if err != nil {
		t.Fatal(err)
	}
	if !c.streamed {
		resp, err := upstream.Collect(t.Context(), up, r)
		losses = append(losses, resp.Losses...)
		if err != nil {
			status, _, body := c.failure(r, err)
			return status, string(body), losses
		}
		body, more := c.response(r, resp)
		return http.StatusOK, string(body), append(losses, more...)
	}
	pieces := &piecesWriter{t: t}
	w := c.writer(pieces, r)
	failed := upstream.Run(t.Context(), up, r, upstream.SinkFunc(func(events []upstream.Event) error {
		before := pieces.writes
		err := w.Send(events)
		if n := pieces.writes - before; n > 1 {
			t.Errorf("Send wrote %d times", n)
		}
		return err
	}))
	begun := pieces.writes > 0
	if err := w.End(failed); err != failed {
		t.Errorf("End returned %v, want %v", err, failed)
	}
	losses = append(losses, w.Losses()...)
	if failed != nil && !begun {
		status, _, body := c.failure(r, failed)
		return status, string(body), losses
	}
	return http.StatusOK, pieces.String(), losses
}

// A piecesWriter counts writes.
type piecesWriter struct {
	bytes.Buffer
	t      *testing.T
	writes int
}

func (w *piecesWriter) Write(b []byte) (int, error) {
	if len(b) == 0 {
		w.t.Error("an empty Write")
	}
	w.writes++
	return w.Buffer.Write(b)
}

// randomIDs are the ids that differ in each response.
var randomIDs = regexp.MustCompile(`"([a-z]+[_-]|)[A-Z2-7]{26}(_[0-9]+)?"|"created(_at)?":[0-9]+`)

// compare checks that the handler and the codecs respond in the same way.
func (c *codecClient) compare(t *testing.T, up upstream.Upstream) {
	t.Helper()
	w, report := c.served(up)
	status, body, losses := c.written(t, up)
	if status != w.Code {
		t.Errorf("status %d, the handler's is %d", status, w.Code)
	}
	if diff := cmp.Diff(randomIDs.ReplaceAllString(w.Body.String(), `"${1}ID"`), randomIDs.ReplaceAllString(body, `"${1}ID"`)); diff != "" {
		t.Errorf("(-handler +codec):\n%s", diff)
	}
	if diff := cmp.Diff(lossTexts(report.Losses), lossTexts(losses)); diff != "" && w.Code == http.StatusOK {
		t.Errorf("losses (-handler +codec):\n%s", diff)
	}
}

func lossTexts(list []content.Loss) []string {
	var texts []string
	for _, l := range list {
		texts = append(texts, l.String())
	}
	return sorted(texts)
}

// A source is an upstream with the format in which it responds, or "".
type source struct {
	name   string
	up     upstream.Upstream
	format content.Format
}

// recordings are the responses in examples/translate, whole or streamed as the request asks.
func recordings(t *testing.T, change func(stream string) io.Reader) []source {
	t.Helper()
	chat, err := openai.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	fromResponses, err := openai.NewResponses(nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []source
	for _, s := range []struct {
		name   string
		format content.Format
		whole  func([]byte) (*upstream.Response, error)
		stream func(io.Reader) upstream.FrameReader
	}{
		{"messages", messages.Format,
			func(b []byte) (*upstream.Response, error) { return messages.DecodeResponse(b, nil) },
			func(r io.Reader) upstream.FrameReader { return messages.NewStreamReader(r, nil) }},
		{"generatecontent", generatecontent.Format,
			func(b []byte) (*upstream.Response, error) { return generatecontent.DecodeResponse(b, nil) },
			func(r io.Reader) upstream.FrameReader { return generatecontent.NewStreamReader(r, nil) }},
		{"openai", openai.ChatFormat,
			func(b []byte) (*upstream.Response, error) { return chat.DecodeResponse(nil, b) },
			func(r io.Reader) upstream.FrameReader { return chat.NewStreamReader(nil, r) }},
		{"openai-responses", openai.ResponsesFormat,
			func(b []byte) (*upstream.Response, error) { return fromResponses.DecodeResponse(nil, b) },
			func(r io.Reader) upstream.FrameReader { return fromResponses.NewStreamReader(nil, r) }},
	} {
		read := func(path ...string) string {
			b, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "..", "examples", "translate", "testdata"}, path...)...))
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
		whole, stream := read("reply", s.name+".json"), read("stream", s.name+".txt")
		all = append(all, source{name: s.name, format: s.format, up: upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
			if r.Stream {
				return w.Frames(s.stream(change(stream)))
			}
			resp, err := s.whole([]byte(whole))
			if err != nil {
				return err
			}
			return w.Frame(resp.Frame)
		})})
	}
	return all
}

func unchanged(stream string) io.Reader { return strings.NewReader(stream) }

// TestCodecs checks that programs without HTTP get the bytes, losses and errors of the
// handlers.
func TestCodecs(t *testing.T) {
	list := recordings(t, unchanged)
	for _, s := range recordings(t, func(stream string) io.Reader { return iotest.OneByteReader(strings.NewReader(stream)) }) {
		s.name += ", byte by byte"
		list = append(list, s)
	}
	for _, r := range replies {
		list = append(list, source{r.name, r.up, ""})
	}
	for _, s := range wireFormats {
		for _, a := range s.finished {
			list = append(list, source{a.name, a.from(s), s.format})
		}
	}
	violation := &content.Violation{Code: content.CodeValue, Path: "turns.0.parts.0", Text: "no"}
	errs := []error{violation, context.DeadlineExceeded}
	for code := range wireFormats[0].failures {
		errs = append(errs, &upstream.Error{Code: code, Text: "no"})
	}
	errs = append(errs, errors.New("secret"))
	for _, err := range errs {
		list = append(list,
			source{"failure: " + err.Error(), generate(func(*upstream.Writer) error { return err }), ""},
			source{"late failure: " + err.Error(), generate(func(w *upstream.Writer) error {
				_ = w.Text("a")
				return err
			}), ""})
	}
	list = append(list, source{"model as requested", generate(func(w *upstream.Writer) error {
		_ = w.Start(upstream.Start{ID: "r", Model: "other", ModelAsRequested: true})
		return w.Text("a")
	}), ""}, source{"other model", generate(func(w *upstream.Writer) error {
		_ = w.Start(upstream.Start{ID: "r", Model: "other"})
		return w.Text("a")
	}), ""}, source{"tool calls without ids", generate(func(w *upstream.Writer) error {
		return w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.ToolUse{Name: "f"}}, {Kind: upstream.EventInput, Text: "{}"},
			{Kind: upstream.EventClose}})
	}), ""})
	for _, c := range codecClients() {
		for _, s := range list {
			if !c.streamed && s.format == c.format {
				continue // the handler forwards the document of the vendor
			}
			t.Run(fmt.Sprintf("%s, streamed %v/%s", c.name, c.streamed, s.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { c.compare(t, s.up) }) // handlers pause before errors
			})
		}
	}
}

// TestCut cuts recorded streams at many places.
func TestCut(t *testing.T) {
	clients := slices.DeleteFunc(codecClients(), func(c *codecClient) bool { return !c.streamed })
	var size int
	const stride = 53
	for cut := 0; cut <= size; cut += stride {
		for _, s := range recordings(t, func(stream string) io.Reader {
			size = max(size, len(stream))
			return strings.NewReader(stream[:min(cut, len(stream))])
		}) {
			for _, c := range clients {
				t.Run(fmt.Sprintf("%s/%s/%d", c.name, s.name, cut), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { c.compare(t, s.up) })
				})
			}
		}
	}
	if size < 2*stride {
		t.Errorf("the streams have at most %d bytes", size)
	}
}

// TestEstimates checks that clients of a server that reports no usage receive an estimate.
func TestEstimates(t *testing.T) {
	chat, err := openai.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Frames(chat.NewStreamReader(nil, strings.NewReader(
			"data: {\"id\":\"c\",\"model\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi there.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")))
	})
	whole := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		resp, err := chat.DecodeResponse(r, []byte(`{"id":"c","model":"x","choices":[{"index":0,"message":{"content":"Hi there."},"finish_reason":"stop"}]}`))
		if err != nil {
			return err
		}
		return w.Frame(resp.Frame)
	})
	// An adapter has changed the pieces, such as the names of tools in them.
	changed := upstream.Func(func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
		return upstream.Run(ctx, up, r, upstream.SinkFunc(func(events []upstream.Event) error {
			f := *events[0].Frame
			f.Format = ""
			return w.Frame(&f)
		}))
	})
	zero := upstream.Tap(up, func(_ context.Context, _ *upstream.Request, to upstream.Sink) (upstream.Sink, func(error)) {
		return upstream.SinkFunc(func(events []upstream.Event) error {
			return to.Send(append(events, upstream.Event{Kind: upstream.EventUsage, Usage: new(content.Usage)}))
		}), nil
	})
	own := generate(func(w *upstream.Writer) error {
		_ = w.Start(upstream.Start{Upstream: "own"})
		return w.Text("Hi there.")
	})
	ofSameVendor := func(c *codecClient) bool { return c.format == chatcompletions.Format } // its clients get what its servers count
	for _, c := range slices.DeleteFunc(codecClients(), ofSameVendor) {
		for _, tt := range []struct {
			name      string
			up        upstream.Upstream
			estimated bool
		}{{"stream", up, true}, {"whole", whole, true}, {"changed pieces", changed, true}, {"reported zero", zero, false}, {"own upstream", own, false}} {
			c.compare(t, tt.up)
			_, body, losses := c.written(t, tt.up)
			if got := lossTexts(losses); tt.estimated != (len(got) == 1 && strings.Contains(got[0], "usage")) {
				t.Errorf("%s, %s: losses %v, want that of the estimate: %v\n%s", c.name, tt.name, got, tt.estimated, body)
			}
		}
	}

	// A response that was decoded.
	resp, err := chat.DecodeResponse(nil, []byte(`{"id":"c","model":"x","choices":[{"index":0,"message":{"content":"Hi there."},"finish_reason":"stop"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range slices.DeleteFunc(codecClients(), ofSameVendor) {
		r, _, err := c.decode(c.body)
		if err != nil {
			t.Fatal(err)
		}
		if body, losses := c.response(r, resp); len(losses) != 1 || !regexp.MustCompile(`"(output_tokens|candidatesTokenCount)":3\b`).Match(body) {
			t.Errorf("%s: losses %v\n%s", c.name, losses, body)
		}
	}
}

// TestContext checks what responses take from the request that the client sent.
func TestContext(t *testing.T) {
	signed := generate(func(w *upstream.Writer) error {
		_ = w.Thinking("Hm.")
		return w.Part(&content.ToolUse{ID: "fc-1", Name: "f", Input: `{}`, Signature: content.Signature{Format: generatecontent.Format, Data: "CiQBc2lnLWE="}})
	})
	nameless := generate(func(w *upstream.Writer) error {
		return w.Send([]upstream.Event{{Kind: upstream.EventOpen, Part: &content.ToolUse{Name: "f"}}, {Kind: upstream.EventClose}})
	})
	text := generate(func(w *upstream.Writer) error { return w.Text("a") })
	invalid := generate(func(*upstream.Writer) error {
		return &content.Violation{Code: content.CodeValue, Path: "turns.0.parts.0", Text: "no"}
	})
	unknown := generate(func(*upstream.Writer) error { return &upstream.Error{Code: upstream.CodeNotFound} })

	_, body, _ := messagesClient("first", askThinking, false).written(t, signed)
	id := regexp.MustCompile(`toolu_pwblk_[a-zA-Z0-9_-]+`).FindString(body)
	withoutBlock := `"thinking":{"type":"adaptive"},` + oneTool + `"messages":[{"role":"user","content":"q"},` +
		`{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"r"}]}]`

	for _, streamed := range []bool{false, true} {
		method := "generateContent"
		if streamed {
			method = "streamGenerateContent?alt=sse"
		}
		for _, tt := range []struct {
			name      string
			client    *codecClient
			up        upstream.Upstream
			want, not string
		}{
			{"thinking", messagesClient("", askThinking, streamed), signed, `toolu_pwblk_`, "toolu_pwsig_"},
			{"no thinking", messagesClient("", askPlain, streamed), signed, `toolu_pwsig_`, "Hm."},
			{"state that the client did not return", messagesClient("", withoutBlock, streamed), signed, `toolu_pwsig_`, "toolu_pwblk_"},
			{"ids of the conversation", messagesClient("", askAgain, streamed), nameless, `"toolu_pw4"`, "toolu_pw0"},
			{"model of Messages", messagesClient("", askPlain, streamed), text, `"model":"m"`, ""},
			{"path in Messages", messagesClient("", askPlain, streamed), invalid, `messages.0.content.0: no`, "turns"},
			{"model of generateContent", generateClient("", "m", method), text, `"modelVersion":"m"`, ""},
			{"signature", generateClient("", "gemini-3-pro", method), nameless, `"thoughtSignature"`, ""},
			{"no signature", generateClient("", "m", method), nameless, `"functionCall"`, "thoughtSignature"},
			{"path in generateContent", generateClient("", "m", method), invalid, `contents[0].parts[1]`, "turns"},
			{"unknown model", generateClient("", "m", method), unknown, `models/m is not found`, ""},
		} {
			tt.client.compare(t, tt.up)
			_, body, _ := tt.client.written(t, tt.up)
			if !strings.Contains(body, tt.want) || tt.not != "" && strings.Contains(body, tt.not) {
				t.Errorf("%s, streamed %v: want %s, not %q, in\n%s", tt.name, streamed, tt.want, tt.not, body)
			}
		}
	}

	// Some clients read the tokens of the prompt only at the start.
	_, body, _ = messagesClient("", askPlain, true).written(t, text)
	if start, _, _ := strings.Cut(body, "\n\n"); strings.Contains(start, `"input_tokens":0`) {
		t.Errorf("the start has no estimate of the prompt's tokens: %s", start)
	}
}

// TestNoRequest writes responses to an unknown request: they have the model of the server.
func TestNoRequest(t *testing.T) {
	for _, s := range recordings(t, unchanged) {
		for _, c := range codecClients() {
			r, _, err := c.decode(c.body)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := upstream.Collect(t.Context(), s.up, r)
			if err != nil || resp.Start.Model == "" {
				t.Fatalf("%s: the model is %q: %v", s.name, resp.Start.Model, err)
			}
			resp.Start.ModelAsRequested = true
			body, _ := c.response(nil, resp)
			if c.streamed {
				var b bytes.Buffer
				w := c.writer(&b, nil)
				if err := w.End(upstream.Run(t.Context(), s.up, r, w)); err != nil {
					t.Error(err)
				}
				body = b.Bytes()
			}
			for _, want := range []string{"Look", "Chec", `"depth_at"`, `"` + resp.Start.Model + `"`} {
				if !bytes.Contains(body, []byte(want)) {
					t.Errorf("%s to %s, streamed %v: no %q in\n%s", s.name, c.name, c.streamed, want, body)
				}
			}
		}
	}
}

// TestStreamWriterErrors checks what the methods of a StreamWriter return.
func TestStreamWriterErrors(t *testing.T) {
	text := []upstream.Event{{Kind: upstream.EventStart, Start: &upstream.Start{}},
		{Kind: upstream.EventOpen, Part: &content.Text{}}, {Kind: upstream.EventText, Text: "ab"}}
	broken := errors.New("broken")
	for _, c := range codecClients() {
		if !c.streamed {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			w := c.writer(&b, nil)
			if err := w.Send(slices.Clone(text)); err != nil {
				t.Error(err)
			}
			if err := w.Ping(); err != nil {
				t.Error(err)
			}
			if err := w.End(broken); err != broken || !strings.Contains(b.String(), `"error"`) || strings.Contains(b.String(), "broken") {
				t.Errorf("End returned %v and wrote %s", err, &b)
			}
			size := b.Len()
			for name, err := range map[string]error{"Send": w.Send(text), "Ping": w.Ping(), "End": w.End(nil)} {
				if err == nil || b.Len() != size {
					t.Errorf("%s after End returned %v and wrote %d bytes", name, err, b.Len()-size)
				}
			}

			// A write fails.
			var calls int
			w = c.writer(writerFunc(func([]byte) (int, error) { calls++; return 0, broken }), nil)
			if err := w.Send(slices.Clone(text)); err != broken {
				t.Errorf("Send returned %v, want the error of Write", err)
			}
			if err := cmpOr(w.Send(slices.Clone(text)), w.Ping()); err != broken {
				t.Errorf("the next call returned %v, want the error of Write", err)
			}
			if err := w.End(nil); err != broken || calls != 1 {
				t.Errorf("End returned %v after %d writes", err, calls)
			}

			// Only the end cannot be written.
			b.Reset()
			fail := false
			w = c.writer(writerFunc(func(p []byte) (int, error) {
				if fail {
					return 0, broken
				}
				return b.Write(p)
			}), nil)
			if err := w.Send(slices.Clone(text)); err != nil {
				t.Error(err)
			}
			if fail = true; w.End(nil) != broken {
				t.Error("End did not return the error of Write")
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func cmpOr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// TestPings writes keep-alives from another goroutine. A reader of the format ignores them.
func TestPings(t *testing.T) {
	for _, c := range codecClients() {
		if !c.streamed {
			continue
		}
		var b bytes.Buffer
		w := c.writer(&b, nil)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 100 {
				_ = w.Ping()
			}
		}()
		err := w.End(upstream.Run(t.Context(), generate(func(w *upstream.Writer) error {
			for range 100 {
				if err := w.Text("a"); err != nil {
					return err
				}
			}
			<-done
			return nil
		}), &upstream.Request{}, w))
		if err != nil {
			t.Fatal(err)
		}
		r := formatOf(c.format).reader(&b, content.Limits{})
		resp, err := upstream.Collect(t.Context(), generate(func(w *upstream.Writer) error { return w.Frames(r) }), &upstream.Request{})
		if err != nil || len(resp.Parts) == 0 || resp.Parts[0].(*content.Text).Text != strings.Repeat("a", 100) {
			t.Errorf("%s: %v, %+v", c.name, err, resp.Parts)
		}
	}
}

// TestStreamWriterAllocs checks that writing a delta does not allocate.
func TestStreamWriterAllocs(t *testing.T) {
	for _, c := range codecClients() {
		if !c.streamed {
			continue
		}
		r, _, err := c.decode(c.body)
		if err != nil {
			t.Fatal(err)
		}
		w := c.writer(io.Discard, r)
		if err := w.Send([]upstream.Event{{Kind: upstream.EventStart, Start: &upstream.Start{}}, {Kind: upstream.EventOpen, Part: &content.Text{}}}); err != nil {
			t.Fatal(err)
		}
		delta := []upstream.Event{{Kind: upstream.EventText, Text: "Some words of a text."}}
		if n := testing.AllocsPerRun(100, func() { _ = w.Send(delta) }); n != 0 {
			t.Errorf("%s: %v allocations for a delta", c.name, n)
		}
	}
}
