package echo_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/echo"
)

const weather = `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`

// ask returns a request with a text and two tools.
func ask(text string) *upstream.Request {
	return &upstream.Request{
		Model: "demo",
		Turns: []content.Turn{{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: text}}}},
		Tools: []content.Tool{
			{Name: "get_weather", Input: content.Schema{JSON: weather}},
			{Name: "get_time"},
		},
	}
}

func collect(t *testing.T, r *upstream.Request) *upstream.Response {
	t.Helper()
	response, err := upstream.Collect(t.Context(), echo.New(), r)
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func text(parts []content.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if t, ok := p.(*content.Text); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func p[T any](v T) *T { return &v }

func short(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

func TestInstructions(t *testing.T) {
	call := func(id, name, input string) content.Part {
		return &content.ToolUse{ID: id, Name: name, Input: input}
	}
	say := func(s string) content.Part { return &content.Text{Text: s} }
	tests := []struct {
		name, say string
		set       func(*upstream.Request)
		want      []content.Part
		stop      upstream.Stop
	}{
		{"say", "echo: say hello  world", nil, []content.Part{say("hello  world")}, upstream.Stop{Reason: content.StopEnd}},
		{"empty text", "echo: say", nil, nil, upstream.Stop{Reason: content.StopEnd}},
		{"two lines", "First\r\necho: say a\r\nbetween\necho: say b", nil, []content.Part{say("a\nb")}, upstream.Stop{Reason: content.StopEnd}},
		{"repeat", "echo: repeat 3 ab", nil, []content.Part{say("ababab")}, upstream.Stop{Reason: content.StopEnd}},
		{"call", "echo: call get_weather", nil, []content.Part{call("call_0", "get_weather", `{"city":"city"}`)}, upstream.Stop{Reason: content.StopToolUse}},
		{"two calls", "echo: call get_weather, get_time", nil,
			[]content.Part{call("call_0", "get_weather", `{"city":"city"}`), call("call_1", "get_time", `{}`)}, upstream.Stop{Reason: content.StopToolUse}},
		{"calls with arguments", `echo: call get_weather {"city": "a,}\"{b"} , get_time {}`, nil,
			[]content.Part{call("call_0", "get_weather", `{"city": "a,}\"{b"}`), call("call_1", "get_time", `{}`)}, upstream.Stop{Reason: content.StopToolUse}},
		{"weave", "echo: weave get_weather, get_time", nil,
			[]content.Part{call("call_0", "get_weather", `{"city":"city"}`), call("call_1", "get_time", `{}`)}, upstream.Stop{Reason: content.StopToolUse}},
		{"text, call, text", "echo: say a\necho: call get_time\necho: say b", nil,
			[]content.Part{say("a"), call("call_0", "get_time", `{}`), say("b")}, upstream.Stop{Reason: content.StopToolUse}},
		{"refuse", "echo: refuse", nil, []content.Part{say("This request is refused.")}, upstream.Stop{Reason: content.StopRefusal}},
		{"refuse with text", "echo: refuse No.", nil, []content.Part{say("No.")}, upstream.Stop{Reason: content.StopRefusal}},
		{"stop", "echo: say x\necho: stop context_window", nil, []content.Part{say("x")}, upstream.Stop{Reason: content.StopContext}},
		{"stop for a stop sequence", "echo: say x\necho: stop stop_sequence", func(r *upstream.Request) { r.StopSequences = []string{"END"} },
			[]content.Part{say("x")}, upstream.Stop{Reason: content.StopSequence, Sequence: "END"}},
		{"max tokens", "echo: say one two three", func(r *upstream.Request) { r.MaxTokens = p(int64(2)) },
			[]content.Part{say("one two ")}, upstream.Stop{Reason: content.StopMaxTokens}},
		{"max tokens inside a character", "echo: say 日本語", func(r *upstream.Request) { r.MaxTokens = p(int64(1)) },
			[]content.Part{say("日")}, upstream.Stop{Reason: content.StopMaxTokens}},
		{"max tokens exactly", "echo: say 12345678", func(r *upstream.Request) { r.MaxTokens = p(int64(2)) },
			[]content.Part{say("12345678")}, upstream.Stop{Reason: content.StopEnd}},
		{"max tokens of zero", "echo: call get_time", func(r *upstream.Request) { r.MaxTokens = p(int64(0)) },
			nil, upstream.Stop{Reason: content.StopMaxTokens}},
		{"max tokens inside arguments", "echo: call get_weather, get_time", func(r *upstream.Request) { r.MaxTokens = p(int64(2)) },
			[]content.Part{call("call_0", "get_weather", `{"city":`)}, upstream.Stop{Reason: content.StopMaxTokens}},
		{"stop sequence", "echo: say one END two\necho: call get_time", func(r *upstream.Request) { r.StopSequences = []string{"x", "", "two", "EN"} },
			[]content.Part{say("one ")}, upstream.Stop{Reason: content.StopSequence, Sequence: "EN"}},
		{"stop sequence across copies", "echo: repeat 5 ab", func(r *upstream.Request) { r.StopSequences = []string{"baba"} },
			[]content.Part{say("a")}, upstream.Stop{Reason: content.StopSequence, Sequence: "baba"}},
		{"stop sequence longer than the text", "echo: repeat 2 ab", func(r *upstream.Request) { r.StopSequences = []string{"ababa"} },
			[]content.Part{say("abab")}, upstream.Stop{Reason: content.StopEnd}},
		{"forced call", "hello", func(r *upstream.Request) { r.Choice = content.ToolChoice{Mode: content.ChoiceAny} },
			[]content.Part{call("call_0", "get_weather", `{"city":"city"}`)}, upstream.Stop{Reason: content.StopToolUse}},
		{"forced call by name", "hello", func(r *upstream.Request) {
			r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"get_time"}}
		}, []content.Part{call("call_0", "get_time", `{}`)}, upstream.Stop{Reason: content.StopToolUse}},
		{"schema", "hello", func(r *upstream.Request) { r.Output.Schema.JSON = weather },
			[]content.Part{say(`{"city":"city"}`)}, upstream.Stop{Reason: content.StopEnd}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := ask(tt.say)
			if tt.set != nil {
				tt.set(r)
			}
			got := collect(t, r)
			if diff := cmp.Diff(tt.want, got.Parts); diff != "" {
				t.Errorf("parts (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.stop, got.Stop); diff != "" {
				t.Errorf("stop (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidInstructions(t *testing.T) {
	tests := []struct{ say, want string }{
		{"echo: dance", `echo: "dance" is not an instruction; the instructions are call, cut, describe, fail, image, pause, refuse, repeat, say, stall, stop, think, weave`},
		{"echo: ", `echo: "" is not an instruction`},
		{"echo: repeat x y", "echo: repeat needs a number from 1 to 1000000 and a text, such as \"repeat 3 hello\""},
		{"echo: repeat 3", "echo: repeat needs"},
		{"echo: call", `echo: call: the request has no tool ""`},
		{"echo: call unknown", `echo: call: the request has no tool "unknown"`},
		{"echo: call get_time {]", "echo: call: arguments must be a JSON object"},
		{"echo: call get_time {} x", "echo: call: tools must be separated by commas"},
		{"echo: fail", "echo: fail needs a code: invalid, unauthenticated, "},
		{"echo: fail often", "echo: fail needs a code"},
		{"echo: fail overloaded after x", "echo: fail: after needs a number of pieces"},
		{"echo: fail overloaded later", `echo: fail has no option "later"`},
		{"echo: fail overloaded retry soon", "echo: fail: retry needs a duration"},
		{"echo: cut retry 5s", `echo: cut has no option "retry"`},
		{"echo: stall", "echo: stall needs a duration"},
		{"echo: stall -5s", "echo: stall needs a duration"},
		{"echo: pause 48h", "echo: pause needs a duration"},
		{"echo: stop now", "echo: stop needs a reason: end, tool_use, "},
	}
	for _, tt := range tests {
		_, err := upstream.Collect(t.Context(), echo.New(), ask(tt.say))
		list, _ := content.Violations(err)
		if len(list) != 1 || !strings.Contains(list[0].Text, tt.want) || list[0].Path != "turns.0.parts.0" || list[0].Code != content.CodeValue {
			t.Errorf("%s: got %v, want %s", tt.say, err, tt.want)
		}
	}
	r := ask("echo: call get_time")
	r.Choice.Mode = content.ChoiceNone
	if _, err := upstream.Collect(t.Context(), echo.New(), r); err == nil {
		t.Error("call with the tool choice none: got no error")
	}
	r = ask("echo: call get_time, get_weather")
	r.Choice.NoParallel = true
	if _, err := upstream.Collect(t.Context(), echo.New(), r); err == nil {
		t.Error("two calls with NoParallel: got no error")
	}
}

func TestInstructionsElsewhere(t *testing.T) {
	r := ask("echo: say no")
	r.System = []content.Part{&content.Text{Text: "echo: fail internal"}}
	r.Turns = append(r.Turns,
		content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "a", Name: "get_time"}, &content.Text{Text: "echo: fail internal"}}},
		content.Turn{Role: content.RoleUser, Parts: []content.Part{
			&content.ToolResult{ID: "a", Parts: []content.Part{&content.Text{Text: "echo: fail internal"}}},
			&content.Text{Text: "so echo: fail internal\n  echo: fail internal"},
		}},
		content.Turn{Role: content.RoleSystem, Parts: []content.Part{&content.Text{Text: "echo: fail internal"}}})
	got := text(collect(t, r).Parts)
	if !strings.HasPrefix(got, "get_time answered: echo: fail internal\n\necho of demo: 4 turns\n") {
		t.Errorf("got %q", got)
	}
}

func TestFail(t *testing.T) {
	tests := []struct {
		say    string
		pieces string
		want   upstream.Error
	}{
		{"echo: fail overloaded", "", upstream.Error{Code: upstream.CodeOverloaded, Text: "echo failed as instructed: overloaded"}},
		{"echo: fail rate_limit retry 7s", "", upstream.Error{Code: upstream.CodeRateLimit, Text: "echo failed as instructed: rate_limit", RetryAfter: 7 * time.Second}},
		{"echo: say a b c\necho: fail internal after 2", "a b ", upstream.Error{Code: upstream.CodeInternal, Text: "echo failed as instructed: internal"}},
		{"echo: say a b c\necho: fail internal after 99", "a b c", upstream.Error{Code: upstream.CodeInternal, Text: "echo failed as instructed: internal"}},
		{"echo: say a b c\necho: cut after 1", "a ", upstream.Error{Code: upstream.CodeUnavailable, Text: "the connection to the model broke", Err: io.ErrUnexpectedEOF}},
		{"echo: say a b c\necho: fail internal after 2\necho: fail timeout after 1", "a ", upstream.Error{Code: upstream.CodeTimeout, Text: "echo failed as instructed: timeout"}},
	}
	for _, tt := range tests {
		response, err := upstream.Collect(t.Context(), echo.New(), ask(tt.say))
		var got *upstream.Error
		if !errors.As(err, &got) || !reflect.DeepEqual(*got, tt.want) {
			t.Errorf("%s: got %#v", tt.say, err)
		}
		if got := text(response.Parts); got != tt.pieces {
			t.Errorf("%s: got text %q, want %q", tt.say, got, tt.pieces)
		}
		if tt.pieces == "" && response.Start.Model != "" {
			t.Errorf("%s: the response has started", tt.say)
		}
	}
}

func TestPauseAndStall(t *testing.T) {
	tests := []struct {
		say  string
		want time.Duration
	}{
		{"echo: say a b c", 0},
		{"echo: say a b c\necho: pause 100ms", 200 * time.Millisecond},
		{"echo: say a b c\necho: stall 30s", 30 * time.Second},
		{"echo: say a b c\necho: stall 30s after 1\necho: stall 1m after 50", 90 * time.Second},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if got := text(collect(t, ask(tt.say)).Parts); got != "a b c" {
				t.Errorf("%s: got %q", tt.say, got)
			}
			if took := time.Since(began); took != tt.want {
				t.Errorf("%s: took %v, want %v", tt.say, took, tt.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("the client left")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(cause) })
		began := time.Now()
		response, err := upstream.Collect(ctx, echo.New(), ask("echo: say a b\necho: stall 1h after 1"))
		if !errors.Is(err, cause) || time.Since(began) != time.Second || text(response.Parts) != "a " {
			t.Errorf("got %v after %v", err, time.Since(began))
		}
	})
}

func TestThinking(t *testing.T) {
	r := ask("echo: say done")
	r.Thinking.Mode = upstream.ThinkingAuto
	got := collect(t, r)
	if len(got.Parts) != 2 {
		t.Fatalf("got %d parts", len(got.Parts))
	}
	th := got.Parts[0].(*content.Thinking)
	if th.Text != "I look at what arrived: 1 turn, 2 tools, 0 files." || th.Signature.Format != "echo" {
		t.Errorf("got %+v", th)
	}
	if b, err := base64.StdEncoding.DecodeString(th.Signature.Data); err != nil || len(b) == 0 {
		t.Errorf("the signature %q is not padded base64", th.Signature.Data)
	}
	if got.Usage.Thinking != 13 || got.Usage.Output != 1 { // 49 and 4 bytes
		t.Errorf("usage: %+v", got.Usage)
	}

	// The description reports unchanged thinking only.
	for _, change := range []string{"", "!"} {
		back := ask("echo: say x")
		back.Turns = append(back.Turns,
			content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.Thinking{Text: th.Text + change, Signature: th.Signature}}},
			content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: "and now?"}}})
		if signed := strings.Contains(text(collect(t, back).Parts), "signed by echo"); signed != (change == "") {
			t.Errorf("with %q: signed is %v", change, signed)
		}
	}

	r.Thinking.Display = "omitted"
	th = collect(t, r).Parts[0].(*content.Thinking)
	if th.Text != "" || th.Signature.Data == "" {
		t.Errorf("omitted: got %+v", th)
	}

	// The signature has the format of the client's document.
	r = ask("echo: think hm\necho: say x")
	snapshot.Attach(r, &document.Document{In: "messages"})
	th = collect(t, r).Parts[0].(*content.Thinking)
	if th.Text != "hm" || th.Signature.Format != "messages" {
		t.Errorf("got %+v", th)
	}

	r = ask("echo: think one two three")
	r.MaxTokens = p(int64(2))
	got = collect(t, r)
	if th := got.Parts[0].(*content.Thinking); th.Text != "one two " || th.Signature.Data == "" || got.Stop.Reason != content.StopMaxTokens {
		t.Errorf("cut: got %+v, %v", th, got.Stop)
	}
}

func TestWeaveInterleaves(t *testing.T) {
	r := ask(`echo: weave get_weather {"city":"a place with a long name"}, get_time {"zone":"another place with a name"}`)
	var order []int
	for e, err := range upstream.Events(t.Context(), echo.New(), r) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == upstream.EventInput {
			order = append(order, e.Block)
		}
	}
	if diff := cmp.Diff([]int{0, 1, 0, 1, 0, 1}, order); diff != "" {
		t.Errorf("blocks of the fragments (-want +got):\n%s", diff)
	}
}

func TestToolLoop(t *testing.T) {
	r := ask("What is the weather?")
	r.Choice = content.ToolChoice{Mode: content.ChoiceAny, Names: []string{"get_weather"}}
	first := collect(t, r)
	use := first.Parts[0].(*content.ToolUse)
	r.Turns = append(r.Turns,
		content.Turn{Role: content.RoleAssistant, Parts: first.Parts},
		content.Turn{Role: content.RoleUser, Parts: []content.Part{
			&content.ToolResult{ID: use.ID, Parts: []content.Part{&content.Text{Text: "sunny"}}},
			&content.ToolResult{ID: "other", Error: true},
		}})
	got := collect(t, r)
	if !strings.HasPrefix(text(got.Parts), "get_weather answered: sunny\ntool 1 failed\n") || got.Stop.Reason != content.StopEnd {
		t.Errorf("got %q, %v", text(got.Parts), got.Stop)
	}
	r.Output.Schema.JSON = weather
	if got := text(collect(t, r).Parts); got != `{"city":"city"}` {
		t.Errorf("with a schema: got %q", got)
	}
}

func TestDeterministic(t *testing.T) {
	run := func() (list []upstream.Event) {
		r := everything()
		r.Thinking.Mode = upstream.ThinkingAuto
		for e, err := range upstream.Events(t.Context(), echo.New(), r) {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
		return list
	}
	first := run()
	for range 3 {
		if diff := cmp.Diff(first, run()); diff != "" {
			t.Fatalf("two responses differ:\n%s", diff)
		}
	}
	longest := 0
	for _, e := range first {
		longest = max(longest, len(e.Text))
	}
	if longest > 32 || len(first) < 100 {
		t.Errorf("got %d events, the longest of %d bytes", len(first), longest)
	}
}

// Messages reports the tokens of the prompt when a stream starts.
func TestUsageFollowsStart(t *testing.T) {
	var first []upstream.EventKind
	err := upstream.Run(t.Context(), echo.New(), ask("echo: say x"), upstream.SinkFunc(func(events []upstream.Event) error {
		for i := range events {
			if first == nil || len(first) == i {
				first = append(first, events[i].Kind)
			}
		}
		return nil
	}))
	if diff := cmp.Diff([]upstream.EventKind{upstream.EventStart, upstream.EventUsage}, first); err != nil || diff != "" {
		t.Errorf("%v, first batch (-want +got):\n%s", err, diff)
	}
}

func TestJSONMode(t *testing.T) {
	r := ask("hello")
	r.Output.MediaType = "application/json"
	var got struct{ Echo string }
	if err := json.Unmarshal([]byte(text(collect(t, r).Parts)), &got); err != nil || !strings.HasPrefix(got.Echo, "echo of demo: 1 turn\n") {
		t.Errorf("got %v, %q", err, got.Echo)
	}
}

// A display without a mode is enough for thinking.
func TestThinkingDisplay(t *testing.T) {
	for _, tt := range []struct {
		thinking upstream.Thinking
		want     bool
	}{
		{upstream.Thinking{}, false},
		{upstream.Thinking{Display: "summarized"}, true},
		{upstream.Thinking{Display: "full"}, true},
		{upstream.Thinking{Display: "omitted"}, false},
		{upstream.Thinking{Mode: upstream.ThinkingOff, Display: "full"}, false},
		{upstream.Thinking{Mode: upstream.ThinkingAuto}, true},
	} {
		r := ask("echo: say a")
		r.Thinking = tt.thinking
		_, got := collect(t, r).Parts[0].(*content.Thinking)
		if got != tt.want {
			t.Errorf("%+v: got thinking: %v", tt.thinking, got)
		}
	}
}
