package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
)

// A decoder is a client of either format.
type decoder interface {
	upstream.Upstream
	DecodeResponse(*upstream.Request, []byte) (*upstream.Response, error)
	NewStreamReader(*upstream.Request, io.Reader) *openai.StreamReader
	DecodeError(int, http.Header, []byte) *upstream.Error
}

// newDecoder returns a client whose server responds with a body.
func newDecoder(t *testing.T, o openai.Options, responses bool, status int, body string) decoder {
	t.Helper()
	o.HTTPClient = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			r.Body.Close()
		}
		kind := "application/json"
		if strings.HasPrefix(body, "data:") || strings.HasPrefix(body, "event:") {
			kind = "text/event-stream"
		}
		return &http.Response{StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, ContentLength: -1, Request: r,
			Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	})}
	var c decoder
	var err error
	if responses {
		c, err = openai.NewResponses(&o)
	} else {
		c, err = openai.New(&o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const longName = "a.name.with.points" // which the vendor's servers do not accept

var decoded = []struct {
	name      string
	responses bool
	options   openai.Options
	request   upstream.Request
	body      string
}{
	{name: "chat", body: `{"id":"c","model":"x","choices":[{"index":0,"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`},
	{name: "chat stream", body: "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\".\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"},
	{name: "names of tools", request: upstream.Request{Tools: []content.Tool{{Name: longName, Input: content.Schema{JSON: `{"type":"object"}`}}}},
		body: `{"choices":[{"index":0,"message":{"tool_calls":[{"id":"1","type":"function","function":{"name":"RENAMED","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`},
	{name: "names of tools in a stream", request: upstream.Request{Tools: []content.Tool{{Name: longName, Input: content.Schema{JSON: `{"type":"object"}`}}}},
		body: "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"RENAMED\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n"},
	{name: "thinking in the text", options: openai.Options{BaseURL: "http://localhost/v1", Dialect: openai.Dialect{ThinkTags: openai.ThinkTagsOpen}},
		body: `{"choices":[{"index":0,"message":{"content":"Hm.</think>Hi."},"finish_reason":"stop"}]}`},
	{name: "thinking turned off", options: openai.Options{BaseURL: "http://localhost/v1", Dialect: openai.Dialect{ThinkTags: openai.ThinkTagsOpen, Thinking: "chat_template_kwargs"}},
		request: upstream.Request{Thinking: upstream.Thinking{Mode: upstream.ThinkingOff}},
		body:    `{"choices":[{"index":0,"message":{"content":"No thinking."},"finish_reason":"stop"}]}`},
	{name: "filtered prompt", body: `{"error":{"code":"content_filter","message":"The prompt is not allowed."}}`},
	{name: "filter in a stream", body: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: {\"error\":{\"code\":\"content_filter\",\"message\":\"No.\"}}\n\n"},
	{name: "error with status 200", body: `{"error":{"code":"rate_limit_exceeded","message":"Slow down."}}`},
	{name: "truncated stream", body: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\n\n"},
	{name: "no JSON", body: `<html>`},
	{name: "too large", options: openai.Options{MaxResponse: 20}, body: `{"choices":[{"index":0,"message":{"content":"Hi."},"finish_reason":"stop"}]}`},
	{name: "responses", responses: true, body: `{"id":"r","model":"x","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi."}]}]}`},
	{name: "stop sequence", responses: true, request: upstream.Request{StopSequences: []string{"END"}},
		body: `{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi. END of it"}]}]}`},
	{name: "stop sequence in a stream", responses: true, request: upstream.Request{StopSequences: []string{"END"}},
		body: "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"m\"}}\n\n" +
			"data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,\"delta\":\"Hi. END of it\"}\n\n"},
}

// TestDecode checks that responses without HTTP are those that Generate writes.
func TestDecode(t *testing.T) {
	for _, tt := range decoded {
		t.Run(tt.name, func(t *testing.T) {
			c := newDecoder(t, tt.options, tt.responses, http.StatusOK, tt.body)
			r := tt.request
			r.Model, r.Stream = "m", strings.HasPrefix(tt.body, "data:")
			r.Turns = []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "Hi"}}}}
			want, failure := upstream.Collect(t.Context(), c, &r)
			losses, err := upstream.Preflight(t.Context(), c, &r)
			if err != nil {
				t.Fatal(err)
			}
			want.Losses = want.Losses[len(losses):]

			var got *upstream.Response
			if r.Stream {
				got, err = upstream.Collect(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
					return w.Frames(c.NewStreamReader(&r, iotest.OneByteReader(strings.NewReader(tt.body))))
				}), &r)
			} else {
				if got, err = c.DecodeResponse(&r, []byte(tt.body)); err != nil {
					got = new(upstream.Response)
				}
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(),
				cmpopts.IgnoreFields(upstream.Start{}, "UpstreamID", "Header")); diff != "" && failure == nil {
				t.Errorf("(-Generate +codec):\n%s", diff)
			}
			compareErrors(t, failure, err)
		})
	}
}

// compareErrors compares the error of Generate with that of a codec.
func compareErrors(t *testing.T, want, got error) {
	t.Helper()
	var w, g *upstream.Error
	if errors.As(want, &w) != errors.As(got, &g) || (want == nil) != (got == nil) {
		t.Errorf("error %v, want %v", got, want)
	}
	if w != nil && (g.Code != w.Code || g.Text != w.Text || g.Status != w.Status || g.RetryAfter != w.RetryAfter) {
		t.Errorf("error %+v, want %+v", g, w)
	}
}

// TestDecodeRequest checks responses that depend on the request.
func TestDecodeRequest(t *testing.T) {
	want := map[string]string{
		"names of tools": longName, "names of tools in a stream": longName, "thinking in the text": "Hm.Hi.", "thinking turned off": "No thinking.",
		"stop sequence": "Hi. ", "stop sequence in a stream": "Hi. ",
	}
	for _, tt := range decoded {
		if want[tt.name] == "" {
			continue
		}
		c := newDecoder(t, tt.options, tt.responses, http.StatusOK, "")
		sent, err := upstream.EncodeRequest(t.Context(), c, &tt.request)
		if err != nil {
			t.Fatal(err)
		}
		body := strings.Replace(tt.body, "RENAMED", gjson.Get(sent.Document, "tools.0.function.name").Str, 1)
		read := c.NewStreamReader(&tt.request, strings.NewReader(body)).Next
		if !strings.HasPrefix(body, "data:") {
			read = func() (*upstream.Frame, error) {
				resp, err := c.DecodeResponse(&tt.request, []byte(body))
				if err != nil {
					return nil, err
				}
				return resp.Frame, nil
			}
		}
		var got string
		var thinking bool
		for got == "" || strings.HasPrefix(body, "data:") {
			f, err := read()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range f.Events {
				switch p := e.Part.(type) {
				case *content.ToolUse:
					got += p.Name
				case *content.Thinking:
					thinking = true
				}
				if e.Kind == upstream.EventText {
					got += e.Text
				}
			}
		}
		if got != want[tt.name] || thinking != (tt.name == "thinking in the text") {
			t.Errorf("%s: %q, thinking %v; want %q", tt.name, got, thinking, want[tt.name])
		}
	}
}

func TestDecodeError(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
	}{
		{429, `{"error":{"code":"insufficient_quota","message":"No credit."}}`},
		{400, `{"error":{"type":"invalid_request_error","message":"Too hot.","param":"temperature"}}`},
		{401, `{"error":{"code":"invalid_api_key","message":"Wrong key."}}`},
		{503, `busy`},
		{404, ``},
	} {
		for _, responses := range []bool{false, true} {
			c := newDecoder(t, openai.Options{}, responses, tt.status, tt.body)
			_, err := upstream.Collect(t.Context(), c, &upstream.Request{Model: "m"})
			compareErrors(t, err, c.DecodeError(tt.status, http.Header{}, []byte(tt.body)))
		}
	}
}
