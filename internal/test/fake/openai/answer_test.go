package openai

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/fake"
)

type seenCall struct {
	Index    *int
	ID       string
	Function struct{ Name, Arguments string }
}

type seenChat struct {
	Choices []struct {
		Message, Delta struct {
			Content   *string
			Reasoning string
			ToolCalls []seenCall `json:"tool_calls"`
		}
		FinishReason *string `json:"finish_reason"`
	}
	Usage map[string]any
}

// received is the content of a whole or streamed response.
type received struct {
	Text, Thinking, Finish string
	Calls                  [][3]string // id, name, arguments
	Usage                  map[string]any
}

// data returns the data of the events and whether the end mark was present.
func data(t *testing.T, body string) (events []string, done bool) {
	t.Helper()
	for _, block := range strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		for _, line := range strings.Split(block, "\n") {
			v, ok := strings.CutPrefix(line, "data: ")
			switch {
			case ok && v == "[DONE]":
				done = true
			case ok:
				events = append(events, v)
			case !strings.HasPrefix(line, ":") && !strings.HasPrefix(line, "event: "):
				t.Errorf("line %q", line)
			}
		}
	}
	return events, done
}

func (s *received) take(t *testing.T, doc string) {
	t.Helper()
	var c seenChat
	if err := json.Unmarshal([]byte(doc), &c); err != nil {
		t.Fatalf("%v in %s", err, doc)
	}
	if c.Usage != nil {
		s.Usage = c.Usage
	}
	for _, k := range c.Choices {
		m := k.Message
		m.ToolCalls = append(m.ToolCalls, k.Delta.ToolCalls...)
		for _, p := range []*string{m.Content, k.Delta.Content} {
			if p != nil {
				s.Text += *p
			}
		}
		s.Thinking += m.Reasoning + k.Delta.Reasoning
		if k.FinishReason != nil {
			s.Finish += *k.FinishReason
		}
		for _, call := range m.ToolCalls {
			if call.ID != "" {
				s.Calls = append(s.Calls, [3]string{call.ID, call.Function.Name})
			}
			s.Calls[len(s.Calls)-1][2] += call.Function.Arguments
		}
	}
}

var turn = []fake.Piece{
	fake.Thinking("I wonder about it."), fake.Text("Ünïcode text that is long enough."), fake.Ping{},
	fake.Call("f", `{"a":"x \" y","b":[1,2.50]}`), fake.Call("g", ""),
	fake.Usage{Input: 1, CacheRead: 2, CacheWrite: 4, Output: 8, Thinking: 16},
}

func TestChatForms(t *testing.T) {
	get := func(opts Options, members string) string {
		s := NewHandler(opts)
		s.Say(turn...)
		return fake.Read(t, s.post("chat/completions", chat("gpt-4.1", members)))
	}
	opts := Options{Quirks: Quirks{Reasoning: "reasoning"}}
	var whole, stream received
	whole.take(t, get(opts, ""))
	events, done := data(t, get(opts, `"stream":true,"stream_options":{"include_usage":true},`))
	for _, e := range events {
		stream.take(t, e)
	}
	if diff := cmp.Diff(whole, stream); diff != "" || !done {
		t.Errorf("done %v; whole and streamed differ:\n%s", done, diff)
	}
	want := received{
		Text: "Ünïcode text that is long enough.", Thinking: "I wonder about it.", Finish: "tool_calls",
		Calls: [][3]string{{"call_00000001_0", "f", `{"a":"x \" y","b":[1,2.50]}`}, {"call_00000001_1", "g", "{}"}},
	}
	got := whole
	got.Usage = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for k, v := range map[string]float64{"prompt_tokens": 7, "completion_tokens": 24, "total_tokens": 31} {
		if whole.Usage[k] != v {
			t.Errorf("%s = %v, want %v", k, whole.Usage[k], v)
		}
	}
	if body := get(Options{}, ""); strings.Contains(body, "wonder") {
		t.Error("got reasoning on Chat, want none")
	}
	if _, done := data(t, get(Options{}, `"stream":true,`)); !done {
		t.Error("no end mark")
	}
}

// TestQuirks checks that each quirk appears in the stream and in the whole
// response.
func TestQuirks(t *testing.T) {
	tests := []struct {
		name           string
		quirks         Quirks
		stream, absent string
		whole          string
	}{
		{"usual", Quirks{}, `"index":1`, "wonder", `"content":"Ü`},
		{"reasoning", Quirks{Reasoning: "reasoning_content"}, `"reasoning_content":"I wonder`, "", `"reasoning_content":"I wonder about it."`},
		{"index 0", Quirks{IndexZero: true}, `[{"index":0,"id":"call_00000001_1"`, `"index":1`, ""},
		{"no index", Quirks{NoIndex: true}, `"tool_calls":[{"id":`, `"tool_calls":[{"index"`, ""},
		{"whole arguments", Quirks{WholeArgs: true}, `"arguments":"{\"a\":\"x \\\" y\",\"b\":[1,2.50]}"`, `"arguments":""`, ""},
		{"object arguments", Quirks{ObjectArgs: true}, `"arguments":{"a":"x \" y","b":[1,2.50]}`, "", `"arguments":{}`},
		{"no ids", Quirks{NoIDs: true}, `"name":"f"`, `call_`, `"tool_calls":[{"type"`},
		{"repeated ids", Quirks{RepeatIDs: true}, `"name":"f","arguments":"{\"a`, `"index":0,"function"`, ""},
		{"list", Quirks{ContentList: true}, `"content":[{"type":"text","text":"Ü`, `"content":"Ü`, `"content":[{"type":"text"`},
		{"role", Quirks{RoleAlways: true}, `"delta":{"role":"assistant","tool_calls"`, "", ""},
		{"stop", Quirks{FinishStop: true}, `"finish_reason":"stop"`, `"finish_reason":"tool_calls"`, `"finish_reason":"stop"`},
		{"no finish", Quirks{NoFinish: true}, `"finish_reason":null`, `"finish_reason":"`, `"finish_reason":null`},
		{"empty finish", Quirks{FinishEmpty: true}, `"finish_reason":""`, `"finish_reason":null`, `"finish_reason":"tool_calls"`},
		{"usage always", Quirks{UsageAlways: true}, `"finish_reason":null}],"usage":{"prompt_tokens":7`, `"choices":[],`, ""},
		{"usage at finish", Quirks{UsageAtFinish: true}, `"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":7`, `"choices":[],`, ""},
		{"no usage", Quirks{UsageNever: true}, "[DONE]", `"usage"`, ""},
		{"no end mark", Quirks{NoDone: true}, `"finish_reason":"tool_calls"`, "[DONE]", ""},
		{"comments", Quirks{Comments: true}, ": PROCESSING\n\n", "", ""},
		{"filter", Quirks{FilterFirst: true}, `data: {"choices":[],"created":0`, "", ""},
		{"bare", Quirks{NoMeta: true}, `data: {"choices":`, `"object"`, `{"choices":`},
		{"null error", Quirks{NullError: true}, `"error":null`, "", ""},
		{"late delta", Quirks{DeltaAfterStop: true}, `"delta":{"content":""},"logprobs":null,"finish_reason":null}],"usage":null}` + "\n\n" + `data: {"id"`, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewHandler(Options{Quirks: tt.quirks})
			s.Always(turn...)
			body := fake.Read(t, s.post("chat/completions", chat("gpt-4.1", `"stream":true,"stream_options":{"include_usage":true},`)))
			if !strings.Contains(body, tt.stream) || tt.absent != "" && strings.Contains(body, tt.absent) {
				t.Errorf("want %q and not %q in\n%s", tt.stream, tt.absent, body)
			}
			s = NewHandler(Options{Quirks: tt.quirks})
			s.Always(turn...)
			if body := fake.Read(t, s.post("chat/completions", chat("gpt-4.1", ""))); !strings.Contains(body, tt.whole) || !json.Valid([]byte(body)) {
				t.Errorf("want %q in\n%s", tt.whole, body)
			}
		})
	}
}

func TestContentBesideCalls(t *testing.T) {
	for want, q := range map[string]Quirks{
		`"role":"assistant","content":null,`:     {},
		`"role":"assistant","content":"",`:       {EmptyContent: true},
		`"message":{"role":"assistant","refusal`: {NoContent: true},
	} {
		s := NewHandler(Options{Quirks: q})
		s.Say(fake.Call("f", ""))
		if body := fake.Read(t, s.post("chat/completions", chat("gpt-4.1", ""))); !strings.Contains(body, want) {
			t.Errorf("want %s in %s", want, body)
		}
	}
}

// TestResponseForms sends the same turn whole and streamed.
func TestResponseForms(t *testing.T) {
	get := func(members string) string {
		s := NewHandler(Options{})
		s.Say(turn...)
		return fake.Read(t, s.post("responses", resp(members+`"reasoning":{"summary":"auto"},`, hi)))
	}
	var whole map[string]any
	if err := json.Unmarshal([]byte(get("")), &whole); err != nil {
		t.Fatal(err)
	}
	events, _ := data(t, get(`"stream":true,`))
	var items []any
	var last map[string]any
	text, args := "", ""
	for i, e := range events {
		var v struct {
			Type           string
			SequenceNumber int `json:"sequence_number"`
			OutputIndex    int `json:"output_index"`
			Item           any
			Delta          string
			Response       map[string]any
		}
		if err := json.Unmarshal([]byte(e), &v); err != nil || v.SequenceNumber != i {
			t.Fatalf("event %d: %v: %s", i, err, e)
		}
		switch v.Type {
		case "response.output_item.added":
			if v.OutputIndex != len(items) {
				t.Errorf("item %d starts after %d items", v.OutputIndex, len(items))
			}
		case "response.output_item.done":
			items = append(items, v.Item)
		case "response.output_text.delta":
			text += v.Delta
		case "response.function_call_arguments.delta":
			args += v.Delta
		}
		last = v.Response
	}
	if diff := cmp.Diff(whole, last); diff != "" {
		t.Errorf("whole and the terminal event differ:\n%s", diff)
	}
	if diff := cmp.Diff(whole["output"], any(items)); diff != "" {
		t.Errorf("output and items differ:\n%s", diff)
	}
	if text != "Ünïcode text that is long enough." || args != `{"a":"x \" y","b":[1,2.50]}{}` {
		t.Errorf("deltas: text %q, arguments %q", text, args)
	}
	if whole["status"] != "completed" {
		t.Errorf("status %v", whole["status"])
	}
}

func TestResponseStops(t *testing.T) {
	s := NewHandler(Options{})
	s.Say(fake.Stop{Reason: "max_output_tokens"})
	s.Say(fake.Stop{Reason: "failed", Sequence: "server_error", Details: "broken"})
	for _, want := range []string{`"status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"}`, `"status":"failed","error":{"code":"server_error","message":"broken"}`} {
		if body := fake.Read(t, s.post("responses", resp("", hi))); !strings.Contains(body, want) {
			t.Errorf("want %s in %s", want, body)
		}
	}
}

// TestReplay returns reasoning unchanged and altered.
func TestReplay(t *testing.T) {
	s := NewHandler(Options{})
	s.Say(fake.Thinking("hm"), fake.ToolCall{ID: "1", Name: "f"})
	var m struct{ Output []json.RawMessage }
	if err := json.NewDecoder(s.post("responses", resp(`"store":false,`, hi)).Body).Decode(&m); err != nil {
		t.Fatal(err)
	}
	reasoning, call := string(m.Output[0]), string(m.Output[1])
	for item, rule := range map[string]string{
		reasoning: "",
		strings.Replace(reasoning, `"encrypted_content":"gG`, `"encrypted_content":"gH`, 1): "encrypted",
		strings.Replace(reasoning, `rs_00000001_0`, `rs_00000001_1`, 1):                     "encrypted",
	} {
		s.post("responses", resp(`"store":false,`, hi, item, call, fout))
		if got := s.Last(); got.Rule != rule {
			t.Errorf("rule %q, want %q: %s", got.Rule, rule, got.Message)
		}
	}
}

func TestFailures(t *testing.T) {
	s := NewHandler(Options{})
	s.Say(fake.Status{Code: 429, Type: "insufficient_quota", Message: "Your credit balance is used up.", Details: "credit_balance_exhausted"})
	res := s.post("chat/completions", chat("gpt-4.1", ""))
	if body := fake.Read(t, res); res.StatusCode != 429 || !strings.Contains(body, `"code":"credit_balance_exhausted"`) {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	s.Say(fake.Text("x"), fake.Status{Code: 500})
	if body := fake.Read(t, s.post("chat/completions", chat("gpt-4.1", `"stream":true,`))); !strings.Contains(body, `data: {"error":{"message":"The server had an error`) || strings.Contains(body, "[DONE]") {
		t.Errorf("%s", body)
	}
	s.Say(fake.Text("x"), fake.Status{Code: 500})
	if body := fake.Read(t, s.post("responses", resp(`"stream":true,`, hi))); !strings.Contains(body, "event: error\n") || strings.Contains(body, "response.completed") {
		t.Errorf("%s", body)
	}
	s.Say(fake.Reply{Code: 200, ContentType: "application/json", Body: `{"error":{"code":502,"message":"Provider returned error"}}`})
	if body := fake.Read(t, s.post("chat/completions", chat("gpt-4.1", `"stream":true,`))); !strings.HasPrefix(body, `{"error"`) {
		t.Errorf("%s", body)
	}
}

func TestModelsAndCount(t *testing.T) {
	s := New(t, Options{Models: []string{"gpt-4.1", "b"}})
	r, _ := http.NewRequest(http.MethodGet, s.Base()+"/models", nil)
	r.Header.Set("Authorization", "Bearer k")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var page struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil || len(page.Data) != 2 {
		t.Errorf("%v %+v", err, page)
	}
	if body := fake.Read(t, s.post("responses/input_tokens", `{"model":"b","input":"Hello"}`)); !strings.Contains(body, `"input_tokens":42`) {
		t.Error(body)
	}
}
