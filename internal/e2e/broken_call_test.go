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

// A madeCall is the only call of an answer, and what becomes of it.
type madeCall struct {
	name string // of the test
	of   string // the tool that is called
	args string // JSON text, or what should be
	cut  bool   // the answer is cut at the limit of its length
	want fate
}

const missing = "none"

// A fate is what becomes of a call.
type fate uint8

const (
	lives  fate = iota // with the arguments "{}"
	broken             // it is left out, and no ordinary end is told
	sent               // likewise, but where it goes out as it comes it has gone out
	cutOff             // broken, but where the vendor always tells whole calls it lives
)

var madeCalls = []madeCall{
	{"whole", "f", "{}", false, lives},
	{"no arguments", "f", missing, false, lives},
	{"null", "f", "null", false, lives},
	{"nothing", "f", "", false, lives},
	{"white space", "f", " \n", false, lives},
	{"a list", "f", "[1,2]", false, broken},
	{"a list, cut", "f", "[1,2", true, broken},
	{"a number", "f", "17", false, broken},
	{"a string", "f", `"str"`, false, broken},
	{"words", "f", "the city of Rome", false, broken},
	{"no name", "", `{"a":1}`, false, broken},
	{"neither name nor arguments", "", missing, false, broken},
	{"no name, cut", "", `{"a":1}`, true, broken},
	{"broken inside", "f", `{"a":x,"b":2}`, false, sent},
	{"broken off", "f", `{"a":1,"b":`, false, sent},
	{"cut", "f", `{"a":1,"b":`, true, sent},
	{"cut before its arguments", "f", missing, true, cutOff},
	{"cut behind an empty object", "f", "{}", true, lives},
	{"one name twice", "f", `{"a":1,"a":2}`, false, sent},
	{"more behind it", "f", `{"a":1}{"b":2}`, false, sent},
}

// An utterance is how a vendor says a call, whole and streamed.
type utterance struct{ whole, stream string }

// pieces splits a text into three.
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

// sayAnthropic tells arguments as an object where they are one, else as a string.
func sayAnthropic(c *madeCall) utterance {
	const head = `"id":"msg_1","type":"message","role":"assistant","model":"m","stop_sequence":null`
	stop, input := "tool_use", quote(strings.TrimSpace(c.args))
	switch {
	case c.args == missing:
		input = "{}"
	case c.args == "{}", c.args == "null", c.args == "[1,2]", c.args == "17":
		input = c.args
	}
	if c.of == "" {
		stop = "end_turn" // nothing says that there is a call
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
	return utterance{
		`{` + head + fmt.Sprintf(`,"content":[{"type":"tool_use","id":"toolu_1","name":%q,"input":%s}],"stop_reason":%q,"usage":{"input_tokens":1,"output_tokens":9}}`, c.of, input, stop), s,
	}
}

func sayGemini(c *madeCall) utterance {
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
	return utterance{doc, sse1("%s", doc)}
}

func sayChat(c *madeCall) utterance {
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
	return utterance{whole, s}
}

func sayResponses(c *madeCall) utterance {
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
	return utterance{whole, s}
}

var sayings = map[string]func(*madeCall) utterance{
	toClaude: sayAnthropic, toGemini: sayGemini, toChat: sayChat, toResp: sayResponses,
}

// TestBrokenCalls checks that no client gets a call that the model did not fully
// make, whoever says it and in whatever pieces, that the answer ends alike whole
// and streamed, and that it does not end in the ordinary way then. A client of the
// vendor's own format gets what the vendor said.
func TestBrokenCalls(t *testing.T) {
	for _, f := range fronts {
		for _, b := range backs {
			for _, c := range madeCalls {
				t.Run(f.name+"→"+b.name+"/"+c.name, func(t *testing.T) {
					said := sayings[b.name](&c)
					up := b.at(t, talking(t, said), httpClient(t))
					g := newGateway(f, up, upstream.HandlerOptions{})
					for _, m := range f.modes {
						a := g.ask(b.model, (&spoken{tools: true}).asking(f), m)
						if f.name != b.format || !c.relayed(t, b, m, a, said) {
							c.check(t, f, b, m, a)
						}
					}
				})
			}
		}
	}
}

// talking starts a vendor that says one thing.
func talking(t *testing.T, said utterance) (url string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(r.URL.Path, ":stream") || strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, said.stream)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, said.whole)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// relayed reports whether an answer is just what the vendor said. It has to be
// where that is as the format has it: broken arguments are, piece by piece.
func (c *madeCall) relayed(t *testing.T, b back, m mode, a *answer, said utterance) bool {
	t.Helper()
	same := a.Status == http.StatusOK
	if m == whole || b.name == toGemini {
		same = same && strings.Contains(a.Body, said.whole)
	} else {
		for line := range strings.SplitSeq(said.stream, "\n") {
			same = same && strings.Contains(a.Body, line)
		}
	}
	if !same && (c.name == "whole" || c.of != "" && m == sse && b.name == toClaude) {
		t.Errorf("%s: %d, not as the vendor told it:\n%s", m, a.Status, a.Body)
	}
	return same
}

// endOf is how an answer with a call ends.
func endOf(f front, whole, cut bool) string {
	ends := map[string][3]string{
		"messages":        {"tool_use", "malformed_tool_use", "max_tokens"},
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

func (c madeCall) check(t *testing.T, f front, b back, m mode, a *answer) {
	t.Helper()
	switch {
	case c.want == cutOff && b.name == toGemini:
		c.want = lives
	case c.want == cutOff, c.cut && c.want == lives && b.name == toClaude && m == whole: // which has an object there anyway
		c.want = broken
	}
	end := endOf(f, c.want == lives, c.cut)
	if a.Status != http.StatusOK || !a.Whole || a.Stop != end {
		t.Errorf("%s: %d, whole %v, ends with %q, want %q\n%s", m, a.Status, a.Whole, a.Stop, end, a.Body)
	}
	// What begins as an object has gone out where a vendor tells it piece by piece.
	out := c.want == sent && m == sse && f.name == "messages" && b.name != toGemini
	calls, some := a.calls(), 0
	if c.want == lives || out {
		some = 1
	}
	if len(calls) != some || some > 0 && calls[0].Args != "{}" && !out {
		t.Errorf("%s: calls %v\n%s", m, calls, a.Body)
	}
	if (a.Broken != "") != (out && c.name != "one name twice") {
		t.Errorf("%s: broken: %q", m, a.Broken)
	}
	told := slices.Contains(a.losses(), "dropped parts.0")
	if told != (c.want != lives) {
		t.Errorf("%s: losses %v", m, a.losses())
	}
}

// TestPiecesOfCalls checks the same of a vendor that tells where in the arguments
// a piece belongs, whether the client has asked for that or not.
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
		"whole":                       {[]string{begin, piece("$.a", `"stringValue":"x","willContinue":true`), piece("$.a", `"stringValue":"y"`), ends}, "STOP", `{"a":"xy"}`},
		"none":                        {[]string{begin, ends}, "STOP", `{}`},
		"whole, then cut":             {[]string{begin, piece("$.a", `"stringValue":"x"`), ends}, "MAX_TOKENS", `{"a":"x"}`},
		"none, then cut":              {[]string{begin, ends}, "MAX_TOKENS", `{}`},
		"cut":                         {[]string{begin, piece("$.a", `"stringValue":"x"`)}, "MAX_TOKENS", ""},
		"cut within a text":           {[]string{begin, piece("$.a", `"stringValue":"x","willContinue":true`)}, "MAX_TOKENS", ""},
		"cut within a text, and over": {[]string{begin, piece("$.a", `"stringValue":"x","willContinue":true`), ends}, "MAX_TOKENS", ""},
		"cut before its arguments":    {[]string{begin}, "MAX_TOKENS", ""},
		"a piece without a place":     {[]string{begin, piece("$.a", `"stringValue":"x"`), piece("b", `"stringValue":"y"`), ends}, "STOP", ""},
	} {
		var stream string
		for i, p := range tt.parts {
			end := ""
			if i == len(tt.parts)-1 {
				end = fmt.Sprintf(`,"finishReason":%q`, tt.stop)
			}
			stream += sse1(`{"candidates":[{"content":{"role":"model","parts":[%s]}%s,"index":0}],"modelVersion":"m","responseId":"r"}`, p, end)
		}
		said := utterance{stream: stream}
		said.whole = fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":%q,"index":0}],"modelVersion":"m","responseId":"r"}`,
			strings.Join(tt.parts, ","), tt.stop)
		b := backs[slices.IndexFunc(backs, func(b back) bool { return b.name == toGemini })]
		for _, f := range fronts {
			g := newGateway(f, b.at(t, talking(t, said), httpClient(t)), upstream.HandlerOptions{})
			bodies := []string{(&spoken{tools: true}).asking(f)}
			if f.name == b.format {
				bodies = append(bodies, strings.Replace(bodies[0], "{", `{"toolConfig":{"functionCallingConfig":{"streamFunctionCallArguments":true}},`, 1))
			}
			stop := endOf(f, tt.want != "", tt.stop == "MAX_TOKENS")
			for _, body := range bodies {
				for _, m := range f.modes {
					a := g.ask(b.model, body, m)
					calls := a.calls()
					good := tt.want != "" && len(calls) == 1 && calls[0].Args == tt.want || tt.want == "" && len(calls) == 0
					if f.name == b.format && m != whole && tt.want != "" { // the pieces pass as they came
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

// TestNamelessBesideAnother checks that an answer with a call that has no name
// keeps the others and does not end in the ordinary way, whoever says it.
func TestNamelessBesideAnother(t *testing.T) {
	good, bad := madeCall{of: "f", args: "{}"}, madeCall{args: "{}"}
	for _, b := range backs {
		one, other := sayings[b.name](&good).whole, sayings[b.name](&bad).whole
		at, end := strings.Index(one, toolAt[b.name]), strings.LastIndex(other, toolEnd[b.name])
		first, last := strings.Index(other, toolAt[b.name]), strings.LastIndex(one, toolEnd[b.name])
		if at < 0 || end < 0 {
			t.Fatalf("%s: no call in %s", b.name, one)
		}
		both := one[:last] + "," + other[first:end] + one[last:]
		for _, f := range fronts {
			if f.name == b.format {
				continue
			}
			g := newGateway(f, b.at(t, talking(t, utterance{whole: both}), httpClient(t)), upstream.HandlerOptions{})
			a := g.ask(b.model, (&spoken{tools: true}).asking(f), whole)
			want := endOf(f, false, false)
			if calls := a.calls(); len(calls) != 1 || a.Stop != want || !slices.Contains(a.losses(), "dropped parts.1") {
				t.Errorf("%s→%s: %v, ends with %s, losses %v\n%s", f.name, b.name, calls, a.Stop, a.losses(), a.Body)
			}
		}
	}
}

// Where the list of calls begins and ends in whole answers.
var (
	toolAt  = map[string]string{toClaude: `{"type":"tool_use"`, toGemini: `{"functionCall"`, toChat: `{"id":"call_1"`, toResp: `{"type":"function_call"`}
	toolEnd = map[string]string{toClaude: `],"stop_reason"`, toGemini: `]},"finishReason"`, toChat: `]},"finish_reason"`, toResp: `],"usage"`}
)
