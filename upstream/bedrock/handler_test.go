package bedrock_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/fake"
	fakeanthropic "github.com/polywire/polywire/internal/test/fake/anthropic"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/anthropic"
	"github.com/polywire/polywire/upstream/bedrock"
	"github.com/polywire/polywire/upstream/echo"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

// serve starts a server of clients of the service.
func serve(t *testing.T, up upstream.Upstream, o upstream.HandlerOptions) string {
	t.Helper()
	s := httptest.NewServer(bedrock.Handler(messages.NewHandler(up, &messages.Options{HandlerOptions: o})))
	t.Cleanup(s.Close)
	return s.URL
}

// invoke sends a body to an operation.
func invoke(t *testing.T, url, id, operation, body string, header ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url+"/model/"+id+"/"+operation, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

const hello = `{"anthropic_version":"bedrock-2023-05-31","max_tokens":100,"messages":[{"role":"user","content":"Hi."}]}`

// A frame is a decoded frame of a stream.
type frame struct {
	Type string // of the event or exception
	Text string // the document, or the message of an exception
}

// frames decodes a stream with package eventstream.
func frames(t *testing.T, body io.Reader) (list []frame) {
	t.Helper()
	in := bufio.NewReader(body)
	for {
		if _, err := in.Peek(1); err == io.EOF {
			return list
		}
		m, err := eventstream.NewDecoder().Decode(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if kind := m.Headers.Get(":content-type"); kind == nil || kind.String() != "application/json" {
			t.Errorf("a frame has the content type %v", kind)
		}
		switch kind := m.Headers.Get(":message-type").String(); kind {
		case "event":
			var chunk struct{ Bytes []byte }
			if err := json.Unmarshal(m.Payload, &chunk); err != nil {
				t.Fatalf("%s: %v", m.Payload, err)
			}
			text := string(chunk.Bytes)
			if text == "" {
				text = string(m.Payload)
			}
			list = append(list, frame{m.Headers.Get(":event-type").String(), text})
		case "exception":
			var x struct{ Message string }
			if err := json.Unmarshal(m.Payload, &x); err != nil {
				t.Fatalf("%s: %v", m.Payload, err)
			}
			list = append(list, frame{m.Headers.Get(":exception-type").String(), x.Message})
		default:
			t.Fatalf("the message type is %s", kind)
		}
	}
}

// TestInvoke tests plain and streamed responses, for all forms of ids.
func TestInvoke(t *testing.T) {
	var got *upstream.Request
	base := serve(t, upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		got = r
		return w.Text("Good morning.")
	}), upstream.HandlerOptions{})
	const arn = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
	for path, want := range map[string]string{
		model:                       model,
		url.PathEscape(model):       model,
		url.QueryEscape(model):      model,
		arn:                         arn,
		url.PathEscape(arn):         arn,
		url.QueryEscape(arn):        arn,
		"a%20b":                     "a b",
		"claude-sonnet-4-5%40date":  "claude-sonnet-4-5@date",
		"arn:x/invoke":              "arn:x/invoke",
		"anthropic.claude:model%2F": "anthropic.claude:model/",
	} {
		for _, prefix := range []string{"", "/any/prefix"} {
			res := invoke(t, base+prefix, path, "invoke", hello)
			text, _ := io.ReadAll(res.Body)
			var m struct{ Type, Model string }
			if res.StatusCode != 200 || json.Unmarshal(text, &m) != nil || m.Type != "message" || m.Model != want || !strings.Contains(string(text), "Good morning.") {
				t.Fatalf("%s: got %d %s, want the model %s", path, res.StatusCode, text, want)
			}
			if res.Header.Get("Content-Type") != "application/json" || res.Header.Get("X-Amzn-Requestid") == "" {
				t.Errorf("%s: the header is %v", path, res.Header)
			}
			if got.Model != want || got.Stream {
				t.Errorf("%s: the model is %q, stream %v", path, got.Model, got.Stream)
			}

			res = invoke(t, base+prefix, path, "invoke-with-response-stream", hello)
			list := frames(t, res.Body)
			var kinds []string
			for _, f := range list {
				var m struct{ Type string }
				if err := json.Unmarshal([]byte(f.Text), &m); err != nil || f.Type != "chunk" {
					t.Errorf("%s: %v: %v", path, f, err)
				}
				kinds = append(kinds, m.Type)
			}
			if res.StatusCode != 200 || strings.Join(kinds, " ") != "message_start content_block_start content_block_delta content_block_stop message_delta message_stop" {
				t.Errorf("%s: got %d %v", path, res.StatusCode, kinds)
			}
			if res.Header.Get("Content-Type") != "application/vnd.amazon.eventstream" || res.Header.Get("X-Amzn-Bedrock-Content-Type") != "application/json" || res.Header.Get("X-Amzn-Requestid") == "" {
				t.Errorf("%s: the header is %v", path, res.Header)
			}
			if got.Model != want || !got.Stream {
				t.Errorf("%s: the model is %q, stream %v", path, got.Model, got.Stream)
			}
		}
	}
}

// TestInvokeMembers tests that the members of the service are not those of the request.
func TestInvokeMembers(t *testing.T) {
	var got *upstream.Request
	url := serve(t, upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		got = r
		return w.Text("ok")
	}), upstream.HandlerOptions{Strict: true})
	res := invoke(t, url, model, "invoke", `{"max_tokens":100,"anthropic_beta":["context-1m-2025-08-07"],"messages":[{"role":"user","content":"Hi."}],"anthropic_version":"bedrock-2023-05-31"}`)
	text, _ := io.ReadAll(res.Body)
	want := []upstream.HeaderField{{Name: "anthropic-version", Value: "2023-06-01"}, {Name: "anthropic-beta", Value: "context-1m-2025-08-07"}}
	if res.StatusCode != 200 || !slices.Equal(got.Header, want) || got.Extra != nil {
		t.Errorf("got %d %s, header %v, extra %v", res.StatusCode, text, got.Header, got.Extra)
	}
}

// TestInvokeOther tests that other requests are passed unchanged.
func TestInvokeOther(t *testing.T) {
	for _, path := range []string{"/v1/messages", "/model/m/converse", "/model/invoke", "/model//invoke", "/models/m/invoke", "/model/m/invoke/", "/invoke"} {
		r := httptest.NewRequest(http.MethodPost, path, nil)
		w := httptest.NewRecorder()
		bedrock.Handler(http.HandlerFunc(func(w2 http.ResponseWriter, r2 *http.Request) {
			if r2 != r || w2 != http.ResponseWriter(w) {
				t.Errorf("%s: the request was changed", path)
			}
		})).ServeHTTP(w, r)
	}
}

// TestInvokeBody tests that the body is not read before the handler reads it.
func TestInvokeBody(t *testing.T) {
	body := io.NopCloser(strings.NewReader(hello))
	r := httptest.NewRequest(http.MethodPost, "/model/m/invoke", body)
	r.Body = body
	bedrock.Handler(http.HandlerFunc(func(_ http.ResponseWriter, inner *http.Request) {
		if inner.Body != body || inner.ContentLength != r.ContentLength || inner.URL == r.URL || r.URL.Path != "/model/m/invoke" {
			t.Error("the body is another one, or the URL of the request was changed")
		}
	})).ServeHTTP(httptest.NewRecorder(), r)
}

// TestInvokeErrors tests the documents of errors.
func TestInvokeErrors(t *testing.T) {
	for _, tt := range []struct {
		err    error
		body   string
		status int
		name   string
		text   string
	}{
		{err: &upstream.Error{Code: upstream.CodeRateLimit, Text: "slow down", RetryAfter: 3 * time.Second}, status: 429, name: "ThrottlingException", text: "slow down"},
		{err: &upstream.Error{Code: upstream.CodeQuota}, status: 429, name: "ThrottlingException"},
		{err: &upstream.Error{Code: upstream.CodeInvalid, Text: "<b> no"}, status: 400, name: "ValidationException", text: "<b> no"},
		{err: &upstream.Error{Code: upstream.CodeNotFound}, status: 404, name: "ResourceNotFoundException"},
		{err: &upstream.Error{Code: upstream.CodePermission}, status: 403, name: "AccessDeniedException"},
		{err: &upstream.Error{Code: upstream.CodeUnauthenticated}, status: 403, name: "UnrecognizedClientException"},
		{err: &upstream.Error{Code: upstream.CodeBilling}, status: 400, name: "ServiceQuotaExceededException"},
		{err: &upstream.Error{Code: upstream.CodeTimeout}, status: 408, name: "ModelTimeoutException"},
		{err: &upstream.Error{Code: upstream.CodeUnavailable}, status: 503, name: "ServiceUnavailableException"},
		{err: &upstream.Error{Code: upstream.CodeOverloaded}, status: 503, name: "ServiceUnavailableException"},
		{err: &upstream.Error{Code: upstream.CodeBadGateway}, status: 500, name: "InternalServerException"},
		{err: &upstream.Error{Code: upstream.CodeConflict}, status: 400, name: "ValidationException"},
		{err: errors.New("internal"), status: 500, name: "InternalServerException", text: "Internal server error"},
		{body: `{"anthropic_version":"bedrock-2023-05-31","messages":[]}`, status: 400, name: "ValidationException", text: "max_tokens: Field required"},
		{body: `{"max_tokens":3,"messages":[{"role":"user","content":"Hi."}]}`, status: 400, name: "ValidationException", text: "anthropic_version: "},
		{body: `{`, status: 400, name: "ValidationException", text: "JSON"},
		{body: `{"x":"` + strings.Repeat("x", 2000) + `"}`, status: 400, name: "ValidationException", text: "1000 bytes"},
	} {
		url := serve(t, upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { return tt.err }),
			upstream.HandlerOptions{Limits: content.Limits{Body: 1000}})
		if tt.body == "" {
			tt.body = hello
		}
		for _, operation := range []string{"invoke", "invoke-with-response-stream"} {
			res := invoke(t, url, model, operation, tt.body)
			text, _ := io.ReadAll(res.Body)
			var d map[string]string
			if res.StatusCode != tt.status || res.Header.Get("X-Amzn-Errortype") != tt.name || json.Unmarshal(text, &d) != nil || len(d) != 1 || d["message"] == "" || !strings.Contains(d["message"], tt.text) {
				t.Errorf("%s %v: got %d %s %s, want %d %s", operation, tt.err, res.StatusCode, res.Header.Get("X-Amzn-Errortype"), text, tt.status, tt.name)
			}
			if res.Header.Get("Content-Type") != "application/json" || res.Header.Get("X-Amzn-Requestid") == "" || res.ContentLength != int64(len(text)) {
				t.Errorf("%s %v: the header is %v", operation, tt.err, res.Header)
			}
			if (res.Header.Get("Retry-After") == "3") != (tt.text == "slow down") {
				t.Errorf("%s %v: Retry-After is %q", operation, tt.err, res.Header.Get("Retry-After"))
			}
		}
	}
}

// TestInvokeMediaTypes tests requests whose media type a client has not chosen.
func TestInvokeMediaTypes(t *testing.T) {
	base := serve(t, echo.New(), upstream.HandlerOptions{})
	for kind, want := range map[string]int{"": 200, "application/octet-stream": 200, "application/json": 200, "text/plain": 400} {
		r, err := http.NewRequest(http.MethodPost, base+"/model/m/invoke", strings.NewReader(hello))
		if err != nil {
			t.Fatal(err)
		}
		if kind != "" {
			r.Header.Set("Content-Type", kind)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%q: status %d, want %d", kind, res.StatusCode, want)
		}
	}
}

func TestInvokeMethod(t *testing.T) {
	url := serve(t, upstream.Func(func(context.Context, *upstream.Request, *upstream.Writer) error { return nil }), upstream.HandlerOptions{})
	res, err := http.Get(url + "/model/m/invoke")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != 400 || res.Header.Get("X-Amzn-Errortype") != "ValidationException" {
		t.Errorf("got %d %s", res.StatusCode, text)
	}
}

// TestInvokeStreamErrors tests exceptions within a stream.
func TestInvokeStreamErrors(t *testing.T) {
	for code, want := range map[upstream.Code]string{
		upstream.CodeRateLimit: "throttlingException", upstream.CodeInvalid: "validationException", upstream.CodeTimeout: "modelTimeoutException",
		upstream.CodeOverloaded: "serviceUnavailableException", upstream.CodeUnavailable: "internalServerException", upstream.CodeInternal: "internalServerException",
		upstream.CodeBadGateway: "internalServerException", upstream.CodeUnauthenticated: "unrecognizedClientException",
	} {
		url := serve(t, upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			if err := w.Text("One"); err != nil {
				return err
			}
			return &upstream.Error{Code: code, Text: "about it"}
		}), upstream.HandlerOptions{})
		list := frames(t, invoke(t, url, model, "invoke-with-response-stream", hello).Body)
		if last := list[len(list)-1]; last.Type != want || last.Text != "about it" || len(list) < 3 {
			t.Errorf("%s: got %v, want %s", code, list, want)
		}
	}
}

// TestInvokeFlush tests that each event is sent at once.
func TestInvokeFlush(t *testing.T) {
	next := make(chan bool)
	url := serve(t, upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for range 3 {
			if err := w.Text("word "); err != nil {
				return err
			}
			<-next
		}
		return nil
	}), upstream.HandlerOptions{})
	in := bufio.NewReader(invoke(t, url, model, "invoke-with-response-stream", hello).Body)
	words := 0
	for words < 3 {
		m, err := eventstream.NewDecoder().Decode(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		var chunk struct{ Bytes []byte }
		if err := json.Unmarshal(m.Payload, &chunk); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(chunk.Bytes), "word ") {
			words++
			next <- true
		}
	}
}

// TestInvokePings tests what keeps a connection alive: before the first event of a message
// not a chunk, and after it a chunk.
func TestInvokePings(t *testing.T) {
	const ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n"
	h := bedrock.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		all := ": comment\n\n" + ping + "event: message_start\ndata: {\"type\":\ndata: \"message_start\"}\n\n" + ping
		for _, c := range []byte(all) {
			if _, err := w.Write([]byte{c}); err != nil {
				t.Error(err)
			}
			w.(http.Flusher).Flush()
		}
	}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/model/m/invoke-with-response-stream", strings.NewReader("{}")))
	want := []frame{{"ping", `{"type":"ping"}`}, {"chunk", "{\"type\":\n\"message_start\"}"}, {"chunk", `{"type":"ping"}`}}
	if got := frames(t, w.Body); !slices.Equal(got, want) || !w.Flushed {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestInvokeKeys tests that API keys are keys of the handler, and that signatures are not.
func TestInvokeKeys(t *testing.T) {
	url := serve(t, upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error { return w.Text("ok") }),
		upstream.HandlerOptions{Authenticate: upstream.Keys("client-key")})
	for _, tt := range []struct {
		field  string
		status int
	}{
		{"Bearer client-key", 200}, {"Bearer other", 403}, {"", 403},
		{"AWS4-HMAC-SHA256 Credential=client-key/20261123/eu-central-1/bedrock/aws4_request, SignedHeaders=host, Signature=client-key", 403},
	} {
		if res := invoke(t, url, model, "invoke", hello, "Authorization", tt.field); res.StatusCode != tt.status || res.Header.Get("X-Amzn-Errortype") != map[int]string{403: "UnrecognizedClientException"}[tt.status] {
			t.Errorf("%s: got %d %v", tt.field, res.StatusCode, res.Header)
		}
	}
}

func TestInvokeCount(t *testing.T) {
	var got *upstream.Request
	base := serve(t, counter{func(r *upstream.Request) { got = r }}, upstream.HandlerOptions{Limits: content.Limits{Body: 60 << 10}})
	wrap := func(document string) string {
		return `{"input":{"invokeModel":{"body":"` + base64.StdEncoding.EncodeToString([]byte(document)) + `"}}}`
	}
	long := strings.Replace(hello, "Hi.", strings.Repeat("Hi ÿ??.", 5000), 1)
	for name, tt := range map[string]struct {
		body   string
		status int
	}{
		"short":             {wrap(hello), 200},
		"spaces":            {strings.ReplaceAll(strings.ReplaceAll(wrap(" \n"+hello), "{", " {\n"), "}", "\n} "), 200},
		"long":              {wrap(long), 200},
		"escaped":           {strings.ReplaceAll(wrap(long), "/", `\/`), 200},
		"escaped by number": {strings.NewReplacer("/", `\u002f`, "+", `\u002B`, "=", `\u003d`).Replace(wrap(long)), 200},
		"lines":             {strings.ReplaceAll(wrap(long), "/", `\r\n/`), 200},
		"escaped quote":     {strings.Replace(wrap(long), "/", `\"/`, 1), 400},
		"escaped letter":    {strings.Replace(wrap(long), "/", `\u012f`, 1), 400},
		"cut in an escape":  {wrap(hello)[:90] + `\u00`, 400},
		"large":             {wrap(strings.Replace(hello, "Hi.", strings.Repeat("Hi.", 50000), 1)), 400},
		"raw":               {hello, 400}, "empty": {"", 400}, "cut": {wrap(hello)[:90], 400}, "more": {wrap(hello) + "1", 400},
		"other member": {strings.Replace(wrap(hello), `"}}}`, `","x":1}}}`, 1), 400},
		"converse":     {`{"input":{"converse":{"messages":[]}}}`, 400},
		"not base64":   {`{"input":{"invokeModel":{"body":"eyJ?"}}}`, 400},
		"not JSON":     {wrap("hello"), 400},
		"list":         {wrap("[]"), 400},
		"nothing":      {wrap(""), 400},
		"no members":   {wrap("{}"), 400},
		"model":        {wrap(strings.Replace(hello, "{", `{"model":"x",`, 1)), 400},
	} {
		got = nil
		res := invoke(t, base, url.QueryEscape(model), "count-tokens", tt.body)
		text, _ := io.ReadAll(res.Body)
		if res.StatusCode != tt.status || (tt.status == 200) != (string(text) == `{"inputTokens":17}`) {
			t.Errorf("%s: got %d %s, want %d", name, res.StatusCode, text, tt.status)
		}
		if tt.status == 200 && got.Model != model {
			t.Errorf("%s: the model is %q", name, got.Model)
		}
		if tt.status != 200 && (got != nil || res.Header.Get("X-Amzn-Errortype") != "ValidationException") {
			t.Errorf("%s: the header is %v", name, res.Header)
		}
	}
}

// TestStrictCount tests that strict validation accepts the body of InvokeModel for counting.
func TestStrictCount(t *testing.T) {
	base := serve(t, counter{func(*upstream.Request) {}}, upstream.HandlerOptions{Strict: true})
	res := invoke(t, base, "m", "count-tokens", `{"input":{"invokeModel":{"body":"`+base64.StdEncoding.EncodeToString([]byte(hello))+`"}}}`)
	if text, _ := io.ReadAll(res.Body); string(text) != `{"inputTokens":17}` {
		t.Errorf("got %d %s", res.StatusCode, text)
	}
}

// TestInvokeUnexpected tests responses that are not those of Messages.
func TestInvokeUnexpected(t *testing.T) {
	for body, want := range map[string]string{`{"input_tokens":3}`: `{"inputTokens":3}`, `{}`: `{"message":""}`, `null`: `{"message":""}`, ``: `{"message":""}`, `<html>`: `{"message":""}`} {
		s := httptest.NewServer(bedrock.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })))
		t.Cleanup(s.Close)
		res := invoke(t, s.URL, "m", "count-tokens", "")
		text, _ := io.ReadAll(res.Body)
		isError := res.StatusCode == 500 && res.Header.Get("X-Amzn-Errortype") == "InternalServerException"
		if string(text) != want || isError != (want == `{"message":""}`) {
			t.Errorf("%q: got %d %v %s", body, res.StatusCode, res.Header, text)
		}
	}
}

// A counter counts 17 tokens.
type counter struct{ seen func(*upstream.Request) }

func (counter) Generate(context.Context, *upstream.Request, *upstream.Writer) error { return nil }

func (c counter) CountTokens(_ context.Context, r *upstream.Request) (upstream.TokenCount, error) {
	c.seen(r)
	return upstream.TokenCount{Tokens: 17}, nil
}

// TestCircle runs the conformance suite with a client of the service whose server is the
// handler, over a client of Anthropic.
func TestCircle(t *testing.T) {
	f := fakeanthropic.New(t, fakeanthropic.Options{})
	f.Answer(scripted)
	inner, err := anthropic.New(&anthropic.Options{BaseURL: f.URL, Key: "host-key", MapModel: func(string) string { return "claude-sonnet-4-5" }})
	if err != nil {
		t.Fatal(err)
	}
	c, err := bedrock.New(&bedrock.Options{BaseURL: serve(t, inner, upstream.HandlerOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	think := ask("script think")
	think.Thinking.Mode = upstream.ThinkingAuto
	call := ask("script call")
	call.Tools = []content.Tool{{Name: "weather", Input: content.Schema{JSON: `{"type":"object","properties":{"city":{"type":"string"}}}`}}}
	upstreamtest.Run(t, c, &upstreamtest.Options{
		Model: model, Text: ask("script text"), Long: ask("script long"), Silent: ask("script silent"), Call: call, Think: think,
		Fail:   []*upstream.Request{ask("script fail")},
		Marked: func(mark string) *upstream.Request { return ask("script mark " + mark) },
		Skip:   []string{"count"}, // the fake counts to the same number always
	})
}

// TestSameDocument tests that the document of a client of the service reaches a server of
// the same format byte for byte, but for the members of the service.
func TestSameDocument(t *testing.T) {
	f := fakeanthropic.New(t, fakeanthropic.Options{})
	up, err := anthropic.New(&anthropic.Options{BaseURL: f.URL, Key: "k", MapModel: func(string) string { return "claude-sonnet-5" }})
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, up, upstream.HandlerOptions{})
	const members = `"max_tokens" : 100, "messages":[{"role":"user","content":"Hi. \u00e9"}]`
	f.Say(fake.Text("ok"))
	res := invoke(t, url, model, "invoke", `{"anthropic_version":"bedrock-2023-05-31",`+members+`,"anthropic_beta":["context-1m-2025-08-07"]}`)
	text, _ := io.ReadAll(res.Body)
	if got := f.Last(); res.StatusCode != 200 || !bytes.Contains(got.Body, []byte(members)) || strings.Contains(string(got.Body), "anthropic_") || got.Header.Get("Anthropic-Beta") != "context-1m-2025-08-07" {
		t.Errorf("got %d %s; the server got %s %v", res.StatusCode, text, got.Body, got.Header)
	}
	if !strings.Contains(string(text), `"model":"`+model+`"`) {
		t.Errorf("the response does not have the model of the path: %s", text)
	}
}

// An endless is a body that repeats a text after another one, and counts what was read.
type endless struct {
	start, text string
	n           int
}

func (b *endless) Read(p []byte) (int, error) {
	for i := range p {
		if at := b.n + i; at < len(b.start) {
			p[i] = b.start[at]
		} else {
			p[i] = b.text[(at-len(b.start))%len(b.text)]
		}
	}
	b.n += len(p)
	return len(p), nil
}

// TestEndlessCount tests that the limit of a body is one of its bytes, also of those that
// decode to nothing or to white space.
func TestEndlessCount(t *testing.T) {
	h := bedrock.Handler(messages.NewHandler(counter{func(*upstream.Request) {}}, nil))
	const limit = 48 << 20
	const start = `{"input":{"invokeModel":{"body":"`
	for _, b := range []*endless{{start, "\n", 0}, {start, `\n`, 0}, {start, "ICAg", 0}, {start, `\u0049CAg`, 0}, {start + "eyAg", "\r\n", 0}, {start, "\n\n \n", 0}} {
		r := httptest.NewRequest("POST", "/model/m/count-tokens", b)
		r.ContentLength = -1
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 400 || w.Header().Get("X-Amzn-Errortype") != "ValidationException" || b.n > limit {
			t.Errorf("%q: %d %s after %d bytes", b.text, w.Code, w.Body, b.n)
		}
	}
	b := &endless{start, "eyAg", 0}
	r := httptest.NewRequest("POST", "/model/m/count-tokens", b)
	r.ContentLength = limit
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 400 || b.n > 0 {
		t.Errorf("with a Content-Length: %d %s after %d bytes", w.Code, w.Body, b.n)
	}
}

// TestModelNames tests that names of models are UTF-8 without control characters.
func TestModelNames(t *testing.T) {
	base := serve(t, counter{func(*upstream.Request) { t.Error("the upstream was called") }}, upstream.HandlerOptions{})
	for _, name := range []string{"a%ffb", "a%00b", "a%C2%85", strings.Repeat("n", 1025)} {
		for operation, body := range map[string]string{"invoke": hello, "invoke-with-response-stream": hello,
			"count-tokens": `{"input":{"invokeModel":{"body":"` + base64.StdEncoding.EncodeToString([]byte(hello)) + `"}}}`} {
			res := invoke(t, base, name, operation, body)
			if text, _ := io.ReadAll(res.Body); res.StatusCode != 400 || res.Header.Get("X-Amzn-Errortype") != "ValidationException" {
				t.Errorf("%.20s %s: %d %s", name, operation, res.StatusCode, text)
			}
		}
	}
}
