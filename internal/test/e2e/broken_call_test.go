package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/upstream"
)

// A callCase is a response with one tool call, and the expected result.
type callCase struct {
	name string // of the test case
	of   string // the tool that is called
	args string // meant to be JSON
	cut  bool   // the response ends at its output limit
	want callResult
}

const missing = "none"

// A callResult is what a client receives of a tool call.
type callResult uint8

const (
	lives  callResult = iota // the client receives it with the arguments "{}"
	broken                   // the call is dropped, and the stop reason is not the ordinary one
	sent                     // the same, but a streaming handler has already sent it
	cutOff                   // broken, or lives if the vendor always sends whole calls
)

var callCases = []callCase{
	{"whole", "f", "{}", false, lives},
	{"no arguments", "f", missing, false, lives},
	{"null", "f", "null", false, lives},
	{"empty string", "f", "", false, lives},
	{"white space", "f", " \n", false, lives},
	{"array", "f", "[1,2]", false, broken},
	{"array, output limit", "f", "[1,2", true, broken},
	{"number", "f", "17", false, broken},
	{"string", "f", `"str"`, false, broken},
	{"plain text", "f", "the city of Rome", false, broken},
	{"no name", "", `{"a":1}`, false, broken},
	{"neither name nor arguments", "", missing, false, broken},
	{"no name, output limit", "", `{"a":1}`, true, broken},
	{"invalid value", "f", `{"a":x,"b":2}`, false, sent},
	{"truncated", "f", `{"a":1,"b":`, false, sent},
	{"truncated, output limit", "f", `{"a":1,"b":`, true, sent},
	{"output limit before the arguments", "f", missing, true, cutOff},
	{"output limit after an empty object", "f", "{}", true, lives},
	{"duplicate name", "f", `{"a":1,"a":2}`, false, sent},
	{"second object", "f", `{"a":1}{"b":2}`, false, sent},
}

// An encodedCall is a response with a tool call in a vendor's format, whole and
// streamed.
type encodedCall struct{ whole, stream string }

// pieces splits a text into three pieces.
func pieces(s string) []string {
	if s == missing || s == "" {
		return nil
	}
	a, b := len(s)/3, len(s)/2
	return slices.DeleteFunc([]string{s[:a], s[a:b], s[b:]}, func(p string) bool { return p == "" })
}

// sse1 writes an event without a name.
func sse1(format string, args ...any) string {
	return "data: " + fmt.Sprintf(format, args...) + "\n\n"
}

// sse2 writes an event whose name is its type.
func sse2(name, members string, args ...any) string {
	return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + fmt.Sprintf(members, args...) + "}\n\n"
}

// encodeAnthropicCall encodes arguments as an object if they are one, else as a
// string.
func encodeAnthropicCall(c *callCase) encodedCall {
	const head = `"id":"msg_1","type":"message","role":"assistant","model":"m","stop_sequence":null`
	stop, input := "tool_use", quote(strings.TrimSpace(c.args))
	switch {
	case c.args == missing:
		input = "{}"
	case c.args == "{}", c.args == "null", c.args == "[1,2]", c.args == "17":
		input = c.args
	}
	if c.of == "" {
		stop = "end_turn" // the response shows no tool call
	}
	if c.cut {
		stop = "max_tokens"
	}
	s := sse2("message_start", `,"message":{%s,"content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}`, head)
	s += sse2("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":%q,"input":{}}`, c.of)
	for _, p := range pieces(c.args) {
		s += sse2("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":%s}`, quote(p))
	}
	s += sse2("content_block_stop", `,"index":0`)
	s += sse2("message_delta", `,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":9}`, stop) + sse2("message_stop", "")
	return encodedCall{
		`{` + head + fmt.Sprintf(`,"content":[{"type":"tool_use","id":"toolu_1","name":%q,"input":%s}],"stop_reason":%q,"usage":{"input_tokens":1,"output_tokens":9}}`, c.of, input, stop), s,
	}
}

func encodeGeminiCall(c *callCase) encodedCall {
	args, stop := `,"args":`+quote(strings.TrimSpace(c.args)), "STOP"
	switch c.args {
	case missing:
		args = ""
	case "{}", "null", "[1,2]", "17":
		args = `,"args":` + c.args
	}
	if c.cut {
		stop = "MAX_TOKENS"
	}
	doc := fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":%q%s}}]},"finishReason":%q,"index":0}],"modelVersion":"m","responseId":"r"}`, c.of, args, stop)
	return encodedCall{doc, sse1("%s", doc)}
}

func encodeChatCall(c *callCase) encodedCall {
	args, stop := `,"arguments":`+quote(c.args), "tool_calls"
	if c.args == missing {
		args = ""
	}
	if c.cut {
		stop = "length"
	}
	const head = `"id":"c","object":"chat.completion","created":1,"model":"m"`
	call := `{"id":"call_1","type":"function","function":{"name":%q%s}}`
	s := sse1(`{%s,"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,`+call[1:]+`]},"finish_reason":null}]}`, head, c.of, "")
	for _, p := range pieces(c.args) {
		s += sse1(`{%s,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":%s}}]},"finish_reason":null}]}`, head, quote(p))
	}
	s += sse1(`{%s,"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, head, stop) + "data: [DONE]\n\n"
	whole := fmt.Sprintf(`{%s,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[`+call+`]},"finish_reason":%q}],"usage":{"prompt_tokens":1,"completion_tokens":9}}`,
		head, c.of, args, stop)
	return encodedCall{whole, s}
}

func encodeResponsesCall(c *callCase) encodedCall {
	args, end, status := c.args, "completed", `"status":"completed"`
	if c.args == missing {
		args = ""
	}
	if c.cut {
		end, status = "incomplete", `"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`
	}
	const head = `"id":"resp_1","object":"response","created_at":1,"model":"m"`
	item := func(args, status string) string {
		return fmt.Sprintf(`{"type":"function_call","id":"fc_1","call_id":"call_1","name":%q,"arguments":%s,"status":%q}`, c.of, quote(args), status)
	}
	whole := `{` + head + `,` + status + `,"output":[` + item(args, end) + `],"usage":{"input_tokens":1,"output_tokens":9,"total_tokens":10}}`
	s := sse2("response.created", `,"response":{%s,"status":"in_progress","output":[]}`, head)
	s += sse2("response.output_item.added", `,"output_index":0,"item":%s`, item("", "in_progress"))
	for _, p := range pieces(args) {
		s += sse2("response.function_call_arguments.delta", `,"item_id":"fc_1","output_index":0,"delta":%s`, quote(p))
	}
	s += sse2("response.function_call_arguments.done", `,"item_id":"fc_1","output_index":0,"arguments":%s`, quote(args))
	s += sse2("response.output_item.done", `,"output_index":0,"item":%s`, item(args, end)) + sse2("response."+end, `,"response":%s`, whole)
	return encodedCall{whole, s}
}

var callEncoders = map[string]func(*callCase) encodedCall{
	toClaude: encodeAnthropicCall, toGemini: encodeGeminiCall, toChat: encodeChatCall, toResp: encodeResponsesCall,
}

// TestBrokenCalls checks that no client receives a tool call that the model did
// not complete, for every vendor and every split into events. Whole and
// streamed responses must end alike, and not with the ordinary stop reason. A
// client of the vendor's own format receives what the vendor sent.
func TestBrokenCalls(t *testing.T) {
	for _, f := range endpoints {
		for _, b := range adapters {
			for _, c := range callCases {
				t.Run(f.name+"→"+b.name+"/"+c.name, func(t *testing.T) {
					encoded := callEncoders[b.name](&c)
					up := b.at(t, serveCall(t, encoded), httpClient(t))
					g := newGateway(f, up, upstream.HandlerOptions{})
					for _, m := range f.modes {
						a := g.ask(b.model, (&vendorResponse{tools: true}).request(f), m)
						if f.name != b.format || !c.relayed(t, b, m, a, encoded) {
							c.check(t, f, b, m, a)
						}
					}
				})
			}
		}
	}
}

// serveCall starts a vendor that always sends the same response.
func serveCall(t *testing.T, encoded encodedCall) (url string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(r.URL.Path, ":stream") || strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, encoded.stream)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, encoded.whole)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// relayed reports whether a response contains exactly what the vendor sent. It
// must, in the vendor's own format, if the arguments are valid, and in streams
// of Claude with a named tool.
func (c *callCase) relayed(t *testing.T, b adapter, m mode, a *response, encoded encodedCall) bool {
	t.Helper()
	same := a.Status == http.StatusOK
	if m == whole || b.name == toGemini {
		same = same && strings.Contains(a.Body, encoded.whole)
	} else {
		for line := range strings.SplitSeq(encoded.stream, "\n") {
			same = same && strings.Contains(a.Body, line)
		}
	}
	if !same && (c.name == "whole" || c.of != "" && m == sse && b.name == toClaude) {
		t.Errorf("%s: status %d, want the response of the vendor unchanged:\n%s", m, a.Status, a.Body)
	}
	return same
}

// endOf returns the stop reason of a response with a tool call.
func endOf(f endpoint, whole, cut bool) string {
	ends := map[string][3]string{
		"messages":        {"tool_use", "max_tokens", "max_tokens"},
		"generatecontent": {"STOP", "MALFORMED_FUNCTION_CALL", "MAX_TOKENS"},
	}[f.name]
	switch {
	case cut:
		return ends[2]
	case whole:
		return ends[0]
	}
	return ends[1]
}

func (c callCase) check(t *testing.T, f endpoint, b adapter, m mode, a *response) {
	t.Helper()
	switch {
	case c.want == cutOff && b.name == toGemini:
		c.want = lives
	case c.want == cutOff, c.cut && c.want == lives && b.name == toClaude && m == whole: // whole responses of Claude always have an object there
		c.want = broken
	}
	end := endOf(f, c.want == lives, c.cut)
	if a.Status != http.StatusOK || !a.Whole || a.Stop != end {
		t.Errorf("%s: %d, whole %v, ends with %q, want %q\n%s", m, a.Status, a.Whole, a.Stop, end, a.Body)
	}
	// A vendor that streams arguments has already sent the beginning of an
	// object.
	out := c.want == sent && m == sse && f.name == "messages" && b.name != toGemini
	calls, some := a.calls(), 0
	if c.want == lives || out {
		some = 1
	}
	if len(calls) != some || some > 0 && calls[0].Args != "{}" && !out {
		t.Errorf("%s: tool calls %v\n%s", m, calls, a.Body)
	}
	if (a.Broken != "") != (out && c.name != "duplicate name") {
		t.Errorf("%s: broken: %q", m, a.Broken)
	}
	dropped := slices.Contains(a.losses(), "dropped parts.0")
	if dropped != (c.want != lives) {
		t.Errorf("%s: losses %v", m, a.losses())
	}
}

// TestPiecesOfCalls checks the same for a vendor whose pieces of arguments have
// a path, whether or not the client asked for streamed arguments.
func TestPiecesOfCalls(t *testing.T) {
	const begin, ends = `{"functionCall":{"name":"f","willContinue":true}}`, `{"functionCall":{}}`
	piece := func(path, text string) string {
		return fmt.Sprintf(`{"functionCall":{"partialArgs":[{"jsonPath":%q,%s}],"willContinue":true}}`, path, text)
	}
	for name, tt := range map[string]struct {
		parts []string
		stop  string
		want  string // the arguments
	}{
		"whole":                                {[]string{begin, piece("$.a", `"stringValue":"x","willContinue":true`), piece("$.a", `"stringValue":"y"`), ends}, "STOP", `{"a":"xy"}`},
		"none":                                 {[]string{begin, ends}, "STOP", `{}`},
		"whole, then output limit":             {[]string{begin, piece("$.a", `"stringValue":"x"`), ends}, "MAX_TOKENS", `{"a":"x"}`},
		"none, then output limit":              {[]string{begin, ends}, "MAX_TOKENS", `{}`},
		"output limit":                         {[]string{begin, piece("$.a", `"stringValue":"x"`)}, "MAX_TOKENS", ""},
		"output limit within a text":           {[]string{begin, piece("$.a", `"stringValue":"x","willContinue":true`)}, "MAX_TOKENS", ""},
		"output limit within a text, then end": {[]string{begin, piece("$.a", `"stringValue":"x","willContinue":true`), ends}, "MAX_TOKENS", ""},
		"output limit before the arguments":    {[]string{begin}, "MAX_TOKENS", ""},
		"piece without a path":                 {[]string{begin, piece("$.a", `"stringValue":"x"`), piece("b", `"stringValue":"y"`), ends}, "STOP", ""},
	} {
		var stream string
		for i, p := range tt.parts {
			end := ""
			if i == len(tt.parts)-1 {
				end = fmt.Sprintf(`,"finishReason":%q`, tt.stop)
			}
			stream += sse1(`{"candidates":[{"content":{"role":"model","parts":[%s]}%s,"index":0}],"modelVersion":"m","responseId":"r"}`, p, end)
		}
		encoded := encodedCall{stream: stream}
		encoded.whole = fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":%q,"index":0}],"modelVersion":"m","responseId":"r"}`,
			strings.Join(tt.parts, ","), tt.stop)
		b := adapters[slices.IndexFunc(adapters, func(b adapter) bool { return b.name == toGemini })]
		for _, f := range endpoints {
			g := newGateway(f, b.at(t, serveCall(t, encoded), httpClient(t)), upstream.HandlerOptions{})
			bodies := []string{(&vendorResponse{tools: true}).request(f)}
			if f.name == b.format {
				bodies = append(bodies, strings.Replace(bodies[0], "{", `{"toolConfig":{"functionCallingConfig":{"streamFunctionCallArguments":true}},`, 1))
			}
			stop := endOf(f, tt.want != "", tt.stop == "MAX_TOKENS")
			for _, body := range bodies {
				for _, m := range f.modes {
					a := g.ask(b.model, body, m)
					calls := a.calls()
					good := tt.want != "" && len(calls) == 1 && calls[0].Args == tt.want || tt.want == "" && len(calls) == 0
					if f.name == b.format && m != whole && tt.want != "" { // the pieces are forwarded unchanged
						good = !slices.ContainsFunc(tt.parts, func(p string) bool { return !strings.Contains(a.Body, p) })
					}
					if !good || a.Stop != stop || a.Broken != "" || slices.Contains(a.losses(), "dropped parts.0") != (tt.want == "") {
						t.Errorf("%s, %s, %s: %v, ends with %s, losses %v\n%s", f.name, name, m, calls, a.Stop, a.losses(), a.Body)
					}
				}
			}
		}
	}
}

// TestUnnamedToolCallBesideNamed checks that a response keeps the other tool
// calls if one has no name, and that it does not end with the ordinary stop
// reason.
func TestUnnamedToolCallBesideNamed(t *testing.T) {
	good, bad := callCase{of: "f", args: "{}"}, callCase{args: "{}"}
	for _, b := range adapters {
		one, other := callEncoders[b.name](&good).whole, callEncoders[b.name](&bad).whole
		at, end := strings.Index(one, toolAt[b.name]), strings.LastIndex(other, toolEnd[b.name])
		first, last := strings.Index(other, toolAt[b.name]), strings.LastIndex(one, toolEnd[b.name])
		if at < 0 || end < 0 {
			t.Fatalf("%s: no tool call in %s", b.name, one)
		}
		both := one[:last] + "," + other[first:end] + one[last:]
		for _, f := range endpoints {
			if f.name == b.format {
				continue
			}
			g := newGateway(f, b.at(t, serveCall(t, encodedCall{whole: both}), httpClient(t)), upstream.HandlerOptions{})
			a := g.ask(b.model, (&vendorResponse{tools: true}).request(f), whole)
			want := endOf(f, false, false)
			if calls := a.calls(); len(calls) != 1 || a.Stop != want || !slices.Contains(a.losses(), "dropped parts.1") {
				t.Errorf("%s→%s: %v, ends with %s, losses %v\n%s", f.name, b.name, calls, a.Stop, a.losses(), a.Body)
			}
		}
	}
}

// The beginning and end of the list of tool calls in whole responses.
var (
	toolAt  = map[string]string{toClaude: `{"type":"tool_use"`, toGemini: `{"functionCall"`, toChat: `{"id":"call_1"`, toResp: `{"type":"function_call"`}
	toolEnd = map[string]string{toClaude: `],"stop_reason"`, toGemini: `]},"finishReason"`, toChat: `]},"finish_reason"`, toResp: `],"usage"`}
)
