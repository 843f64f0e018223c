package responses

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// scripted is an upstream that sends events, and keeps its last request.
type scripted struct {
	events []upstream.Event
	err    error
	got    *upstream.Request
}

func (u *scripted) Generate(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
	u.got = r
	for i := range u.events {
		if err := w.Send(u.events[i : i+1 : i+1]); err != nil {
			return err
		}
	}
	return u.err
}

// post sends a request to a handler.
func post(h http.Handler, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// hello responds with a text.
func hello() *scripted {
	return &scripted{events: []upstream.Event{evStart, evOpen(0, &content.Text{}), evText(0, "Hello"), evClose(0), evStop(content.StopEnd)}}
}

func TestRoutes(t *testing.T) {
	h := NewHandler(hello(), nil)
	const body = `{"model":"m","input":"hi"}`
	for _, tt := range []struct {
		method, path, header string
		status               int
		match                bool
	}{
		{"POST", "/v1/responses", "", 200, true},
		{"POST", "/responses", "", 200, true},
		{"POST", "/v1/responses/input_tokens", "", 200, true},
		{"GET", "/v1/responses", "", 405, true},
		{"GET", "/v1/responses", "Upgrade: websocket", 426, true},
		{"GET", "/v1/responses/resp_1", "", 404, false},
		{"GET", "/v1/models", "", 404, true}, // the upstream does not list its models
		{"GET", "/v1/models/m", "", 404, true},
		{"GET", "/v1/models", "X-Goog-Api-Key: k", 404, false},
		{"GET", "/v1/models?key=k", "", 404, false},
		{"GET", "/v1/models", "Anthropic-Version: 2023-06-01", 404, false},
		{"POST", "/v1beta/models/m:generateContent", "", 404, false},
		{"POST", "/v1/chat/completions", "", 404, false},
		{"POST", "/v1/conversations", "", 404, false},
	} {
		r := httptest.NewRequest(tt.method, tt.path, nil)
		if tt.method == "POST" {
			r = httptest.NewRequest(tt.method, tt.path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
		}
		if name, value, ok := strings.Cut(tt.header, ": "); ok {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if match := h.Match(r); w.Code != tt.status || match != tt.match {
			t.Errorf("%s %s %s: status %d, match %v, want %d, %v", tt.method, tt.path, tt.header, w.Code, match, tt.status, tt.match)
		}
		if w.Code >= 400 && gjson.Get(w.Body.String(), "error.message").Str == "" {
			t.Errorf("%s %s: no error: %s", tt.method, tt.path, w.Body)
		}
		if w.Header().Get("X-Request-Id") == "" {
			t.Errorf("%s %s: no x-request-id", tt.method, tt.path)
		}
	}
}

// TestServe serves the same response whole and streamed.
func TestServe(t *testing.T) {
	h := NewHandler(hello(), nil)
	w := post(h, "/v1/responses", `{"model":"m","input":"hi"}`)
	v := gjson.Parse(w.Body.String())
	if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" || !cmp.Equal(formattest.ItemsOf(v), []string{"message | Hello"}) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if v.Get("store").Raw != "false" {
		t.Error("the response seems to be stored")
	}
	w = post(h, "/v1/responses", `{"model":"m","input":"hi","stream":true}`)
	if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
		t.Error(w.Header())
	}
	r := readStream(t, w.Body.String())
	if diff := cmp.Diff([]string{"message | Hello"}, formattest.ItemsOf(r.Final)); diff != "" {
		t.Error(diff)
	}
	if got := r.Final.Get("model").Str; got != "m-1" {
		t.Errorf("model = %q", got)
	}
}

// TestSentSettings tests what a response repeats of its request.
func TestSentSettings(t *testing.T) {
	const body = `{"model":"m","input":"hi","instructions":"Be\nbrief.","max_output_tokens":100,"temperature":0.5,"top_p":0.25,"parallel_tool_calls":false,
		"metadata":{ "a": "b" },"prompt_cache_key":"k","safety_identifier":"s","user":"u","service_tier":"flex","truncation":"auto",
		"reasoning":{"effort":"minimal","summary":"auto"},"tools":[{"type":"function","name":"f","parameters":{}}],
		"tool_choice":{"type":"allowed_tools","tools":[{"type":"function","name":"f"}]},
		"text":{"verbosity":"low","format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true}}}`
	want := map[string]string{
		"instructions": `"Be\nbrief."`, "max_output_tokens": "100", "temperature": "0.5", "top_p": "0.25", "parallel_tool_calls": "false",
		"metadata": `{"a":"b"}`, "prompt_cache_key": `"k"`, "safety_identifier": `"s"`, "user": `"u"`, "service_tier": `"flex"`, "truncation": `"auto"`,
		"reasoning": `{"effort":"minimal","summary":"auto"}`, "tools": "[]", "store": "false", "presence_penalty": "0", "previous_response_id": "null",
		"tool_choice": `{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}`,
		"text":        `{"format":{"type":"json_schema","name":"n","description":null,"strict":true,"schema":{"type":"object"}},"verbosity":"low"}`,
	}
	for _, open := range []bool{false, true} {
		if open {
			want["reasoning"] = `{"effort":null,"summary":"auto"}`
			want["text"] = `{"format":{"type":"json_schema","name":"n","description":null,"strict":true,"schema":null},"verbosity":"low"}`
		}
		w := post(NewHandler(hello(), &Options{OpenResponses: open}), "/v1/responses", body)
		for name, json := range want {
			if got := gjson.Get(w.Body.String(), name).Raw; got != json {
				t.Errorf("Open Responses %v: %s = %s, want %s", open, name, got, json)
			}
		}
	}
}

// TestRefusedState tests requests that refer to what is not stored.
func TestRefusedState(t *testing.T) {
	for body, param := range map[string]string{
		`{"model":"m","input":"hi","previous_response_id":"resp_1"}`:                                   "previous_response_id",
		`{"model":"m","input":"hi","conversation":"conv_1"}`:                                           "conversation",
		`{"model":"m","input":"hi","prompt":{"id":"p"}}`:                                               "prompt",
		`{"model":"m","input":"hi","background":true}`:                                                 "background",
		`{"model":"m","input":[{"role":"user","content":"hi"},{"type":"item_reference","id":"rs_1"}]}`: "input[1].id",
	} {
		for _, path := range []string{"/v1/responses", "/v1/responses/input_tokens"} {
			w := post(NewHandler(hello(), nil), path, body)
			e := gjson.Get(w.Body.String(), "error")
			if w.Code != 400 || e.Get("param").Str != param || e.Get("code").Str != "previous_response_not_found" {
				t.Errorf("%s %s: %d %s", path, body, w.Code, w.Body)
			}
		}
	}
}

// TestErrors tests the errors of an upstream, before and within a stream.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		err    error
		status int
		kind   string
		code   string
	}{
		{&upstream.Error{Code: upstream.CodeRateLimit}, 429, "rate_limit_error", "rate_limit_exceeded"},
		{&upstream.Error{Code: upstream.CodeQuota}, 429, "insufficient_quota", "insufficient_quota"},
		{&upstream.Error{Code: upstream.CodeOverloaded}, 503, "service_unavailable_error", "server_is_overloaded"},
		{fmt.Errorf("secret"), 500, "server_error", ""},
	} {
		u := &scripted{err: tt.err}
		w := post(NewHandler(u, nil), "/v1/responses", `{"model":"m","input":"hi","stream":true}`)
		e := gjson.Get(w.Body.String(), "error")
		if w.Code != tt.status || e.Get("type").Str != tt.kind || e.Get("code").Str != tt.code || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%v: %d %s", tt.err, w.Code, w.Body)
		}
		u.events = []upstream.Event{evStart, evOpen(0, &content.Text{}), evText(0, "a")}
		w = post(NewHandler(u, nil), "/v1/responses", `{"model":"m","input":"hi","stream":true}`)
		r := readStream(t, w.Body.String())
		code := tt.code
		if code == "" {
			code = "server_error"
		}
		if got := r.Final.Get("error.code").Str; w.Code != 200 || got != code || r.Failed.Get("code").Str != code {
			t.Errorf("%v within a stream: code %q", tt.err, got)
		}
	}
}

// TestBudget tests that what a stream keeps counts against the budget.
func TestBudget(t *testing.T) {
	u := &scripted{events: []upstream.Event{evStart, evOpen(0, &content.Text{})}}
	for range 100 {
		u.events = append(u.events, evText(0, strings.Repeat("x", 10_000)))
	}
	u.events = append(u.events, evClose(0), evStop(content.StopEnd))
	for limit, want := range map[int64]string{500_000: "failed", 5_000_000: "completed"} {
		b := &upstream.Budget{Bytes: limit}
		w := post(NewHandler(u, &Options{HandlerOptions: upstream.HandlerOptions{Budget: b}}), "/v1/responses", `{"model":"m","input":"hi","stream":true}`)
		r := readStream(t, w.Body.String())
		if got := r.Final.Get("status").Str; got != want || want == "failed" && r.Final.Get("error.code").Str != "server_is_overloaded" {
			t.Errorf("with %d bytes: status %q, error %s, want %q", limit, got, r.Final.Get("error").Raw, want)
		}
		if requests, bytes := b.InFlight(); requests != 0 || bytes != 0 {
			t.Errorf("%d requests and %d bytes remain", requests, bytes)
		}
	}
}

// TestWriteError tests the errors of middleware and of programs without HTTP.
func TestWriteError(t *testing.T) {
	err := &upstream.Error{Code: upstream.CodeInvalid, Text: "prompt is too long: 300000 tokens > 200000 maximum"}
	w := httptest.NewRecorder()
	NewHandler(hello(), nil).WriteError(w, httptest.NewRequest("POST", "/v1/responses", nil), err)
	status, header, body := EncodeError(nil, err)
	if w.Code != status || w.Header().Get("Content-Type") != header.Get("Content-Type") || header.Get("X-Request-Id") == "" || w.Body.String() != string(body) || status != 400 || gjson.GetBytes(body, "error.code").Str != "context_length_exceeded" {
		t.Errorf("%d %s, %d %s", w.Code, w.Body, status, body)
	}
}

// TestAllowedTools tests that calls that are not allowed do not reach the client.
func TestAllowedTools(t *testing.T) {
	u := &scripted{events: []upstream.Event{evStart, evOpen(0, toolCall("c1", "g")), evInput(0, "{}"), evClose(0),
		evOpen(1, toolCall("c2", "f")), evInput(1, "{}"), evClose(1), evStop(content.StopToolUse)}}
	const tools = `"tools":[{"type":"function","name":"f","parameters":{}},{"type":"function","name":"g","parameters":{}}]`
	for choice, want := range map[string][]string{
		`{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}`: {"function_call f({})"},
		`{"type":"allowed_tools","mode":"none","tools":[{"type":"function","name":"f"}]}`: nil,
		`{"type":"allowed_tools","tools":[{"type":"namespace","name":"n"}]}`:              nil,
		`"none"`: nil,
		`"auto"`: {"function_call g({})", "function_call f({})"},
	} {
		w := post(NewHandler(u, nil), "/v1/responses", `{"model":"m","input":"hi",`+tools+`,"tool_choice":`+choice+`}`)
		if diff := cmp.Diff(want, formattest.ItemsOf(gjson.Parse(w.Body.String()))); diff != "" {
			t.Errorf("%s: %s", choice, diff)
		}
	}
}

// TestReturnedItems tests that an upstream gets its state back from a client that returns the
// output, for every kind of client.
func TestReturnedItems(t *testing.T) {
	for name, asked := range map[string]string{
		"encrypted reasoning": `"include":["reasoning.encrypted_content"],"store":false`,
		"summary only":        `"reasoning":{"summary":"auto"}`,
		"nothing":             `"store":false`,
	} {
		for _, stream := range []string{"false", "true"} {
			t.Run(name+" "+stream, func(t *testing.T) {
				u := &scripted{events: []upstream.Event{evStart, evOpen(0, &content.Thinking{}), evText(0, "hm"), evSign(0, otherFormat, "sig"), evClose(0),
					evOpen(1, &content.Thinking{Redacted: content.Signature{Format: otherFormat, Data: "red"}}), evClose(1),
					evOpen(2, toolCall("toolu_1", "f")), evInput(2, `{}`), evClose(2), evStop(content.StopToolUse)}}
				h := NewHandler(u, nil)
				w := post(h, "/v1/responses", `{"model":"m","input":"hi",`+asked+`,"stream":`+stream+`}`)
				final := gjson.Parse(w.Body.String())
				if stream == "true" {
					final = readStream(t, w.Body.String()).Final
				}
				var items []string
				id := ""
				for _, x := range final.Get("output").Array() {
					items = append(items, x.Raw)
					id += x.Get("call_id").Str
				}
				w = post(h, "/v1/responses", `{"model":"m",`+asked+`,"input":[{"role":"user","content":"hi"},`+strings.Join(items, ",")+
					`,{"type":"function_call_output","call_id":"`+id+`","output":"4"}]}`)
				if w.Code != 200 {
					t.Fatal(w.Body)
				}
				parts := u.got.Turns[1].Parts
				call := parts[len(parts)-1].(*content.ToolUse)
				if call.ID != "toolu_1" {
					t.Errorf("the id of the call is %q", call.ID)
				}
				if name == "encrypted reasoning" {
					want := []content.Part{&content.Thinking{Text: "hm", Signature: content.Signature{Format: otherFormat, Data: "sig"}},
						&content.Thinking{Redacted: content.Signature{Format: otherFormat, Data: "red"}}}
					if diff := cmp.Diff(want, parts[:2]); diff != "" {
						t.Error(diff)
					}
				} else if want := `[{"text":"hm","signature":"sig"},{"redacted":"red"}]`; call.Signature.Data != want {
					t.Errorf("the call carries %q, want %q", call.Signature.Data, want)
				}
			})
		}
	}
}

// TestSentIDs tests that reasoning that a client returns with an id of this package and without state
// does not pass to a server of this format, which would look for the id.
func TestSentIDs(t *testing.T) {
	u := &scripted{events: []upstream.Event{evStart, evOpen(0, &content.Thinking{}), evText(0, "hm"), evClose(0), evOpen(1, &content.Text{}), evText(1, "Hi"), evClose(1), evStop(content.StopEnd)}}
	h := NewHandler(u, nil)
	first := gjson.Parse(post(h, "/v1/responses", `{"model":"m","input":"hi","reasoning":{"summary":"auto"}}`).Body.String())
	for item, passes := range map[string]bool{
		first.Get("output.0").Raw: false, // reasoning with an id
		`{"type":"reasoning","id":"` + first.Get("output.0.id").Str + `","summary":[],"encrypted_content":null}`: false,
		first.Get("output.1").Raw:                          true, // a message, which has all that the server needs
		`{"type":"reasoning","id":"rs_0a1b","summary":[]}`: true,
		`{"type":"reasoning","id":"` + first.Get("output.0.id").Str + `","summary":[],"encrypted_content":"gA"}`: true,
	} {
		n, _, err := DecodeRequest([]byte(`{"model":"m","input":[{"role":"user","content":"hi"},`+item+`,{"role":"assistant","id":"msg_1","content":"Hi"},{"role":"user","content":"go on"}]}`), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := upstream.WireOf(n, Format); ok != passes {
			t.Errorf("%s passes: %v", item, ok)
		}
	}
}

// TestOpenAIDocument tests that a whole response of a server of this format is sent as it is,
// unless the options demand another form.
func TestOpenAIDocument(t *testing.T) {
	const doc = `{"id":"resp_1","object":"response","status":"completed","output":[],"unknown":1}`
	u := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		events := []upstream.Event{evStart, evStop(content.StopEnd)}
		return w.Frame(&upstream.Frame{Format: Format, Data: doc, Complete: true, Events: events})
	})
	for _, open := range []bool{false, true} {
		w := post(NewHandler(u, &Options{OpenResponses: open}), "/v1/responses", `{"model":"m","input":"hi"}`)
		if got := w.Body.String() == doc; got == open {
			t.Errorf("Open Responses %v: %s", open, w.Body)
		}
	}
}

// TestConnection reads a stream over a connection.
func TestConnection(t *testing.T) {
	s := httptest.NewServer(NewHandler(hello(), nil))
	defer s.Close()
	resp, err := http.Post(s.URL+"/v1/responses", "application/json", strings.NewReader(`{"model":"m","input":"hi","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	readStream(t, string(b))
}

// TestItemsOnce checks that calls of built-in tools reach a client once if the response is encoded anew:
// they are parts of their own, and state that the server needs back.
func TestItemsOnce(t *testing.T) {
	for _, kind := range []string{"shell_call", "local_shell_call", "apply_patch_call", "computer_call", "program", "program_output", "web_search_call", "new_call"} {
		doc := `{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"type":"` + kind + `","id":"i_1","call_id":"c_1","status":"completed"}]}`
		resp, err := DecodeResponse([]byte(doc), nil)
		if err != nil {
			t.Fatal(err)
		}
		up := upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Send(resp.Frame.Events)
		})
		whole := gjson.Get(post(NewHandler(up, nil), "/v1/responses", `{"model":"m","input":"q"}`).Body.String(), "output.#.type").Raw
		stream := readStream(t, post(NewHandler(up, nil), "/v1/responses", `{"model":"m","input":"q","stream":true}`).Body.String()).Final.Get("output.#.type").Raw
		if want := `["` + kind + `"]`; whole != want || stream != want {
			t.Errorf("got %s, streamed %s, want %s", whole, stream, want)
		}
	}
}
