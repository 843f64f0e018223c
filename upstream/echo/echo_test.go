package echo_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
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

func TestResponses(t *testing.T) {
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
		{"call", "echo: call get_weather", nil, []content.Part{call("call_0", "get_weather", `{"city":"city"}`)}, upstream.Stop{Reason: content.StopToolUse}},
		{"calls with arguments", "echo: call get_weather {\"city\": \"a,}\"}\necho: call get_time {} ", nil,
			[]content.Part{call("call_0", "get_weather", `{"city": "a,}"}`), call("call_1", "get_time", `{}`)}, upstream.Stop{Reason: content.StopToolUse}},
		{"text, call, text", "echo: say a\necho: call get_time\necho: say b", nil,
			[]content.Part{say("a"), call("call_0", "get_time", `{}`), say("b")}, upstream.Stop{Reason: content.StopToolUse}},
		{"max tokens", "echo: say one two three", func(r *upstream.Request) { r.MaxTokens = p(int64(2)) },
			[]content.Part{say("one two ")}, upstream.Stop{Reason: content.StopMaxTokens}},
		{"max tokens inside a character", "echo: say 日本語", func(r *upstream.Request) { r.MaxTokens = p(int64(1)) },
			[]content.Part{say("日")}, upstream.Stop{Reason: content.StopMaxTokens}},
		{"max tokens exactly", "echo: say 12345678", func(r *upstream.Request) { r.MaxTokens = p(int64(2)) },
			[]content.Part{say("12345678")}, upstream.Stop{Reason: content.StopEnd}},
		{"max tokens of zero", "echo: call get_time", func(r *upstream.Request) { r.MaxTokens = p(int64(0)) },
			nil, upstream.Stop{Reason: content.StopMaxTokens}},
		{"max tokens less than arguments", "echo: say a\necho: call get_weather\necho: say b", func(r *upstream.Request) { r.MaxTokens = p(int64(3)) },
			[]content.Part{say("a")}, upstream.Stop{Reason: content.StopMaxTokens}},
		{"stop sequence", "echo: say one END two\necho: call get_time", func(r *upstream.Request) { r.StopSequences = []string{"x", "", "two", "EN"} },
			[]content.Part{say("one ")}, upstream.Stop{Reason: content.StopSequence, Sequence: "EN"}},
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

func TestInvalidCommands(t *testing.T) {
	tests := []struct{ say, want string }{
		{"echo: dance", `echo: "dance" is not a command; the commands are call, cut and say`},
		{"echo: ", `echo: "" is not a command`},
		{"echo: call", `echo: call: the request has no tool ""`},
		{"echo: call unknown", `echo: call: the request has no tool "unknown"`},
		{"echo: call get_time {]", "echo: call: the arguments must be a JSON object"},
		{"echo: call get_time {} x", "echo: call: the arguments must be a JSON object"},
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
}

func TestCommandsElsewhere(t *testing.T) {
	r := ask("echo: say no")
	r.System = []content.Part{&content.Text{Text: "echo: cut"}}
	r.Turns = append(r.Turns,
		content.Turn{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "a", Name: "get_time"}, &content.Text{Text: "echo: cut"}}},
		content.Turn{Role: content.RoleUser, Parts: []content.Part{
			&content.ToolResult{ID: "a", Parts: []content.Part{&content.Text{Text: "echo: cut"}}},
			&content.Text{Text: "so echo: cut\n  echo: cut"},
		}},
		content.Turn{Role: content.RoleSystem, Parts: []content.Part{&content.Text{Text: "echo: cut"}}})
	got := text(collect(t, r).Parts)
	if !strings.HasPrefix(got, "get_time answered: echo: cut\n\necho of demo: 4 turns\n") {
		t.Errorf("got %q", got)
	}
}

func TestCut(t *testing.T) {
	response, err := upstream.Collect(t.Context(), echo.New(), ask("echo: say a b\necho: cut\necho: say c"))
	if !errors.Is(err, io.ErrUnexpectedEOF) || text(response.Parts) != "a b" {
		t.Errorf("got %v, %v", response.Parts, err)
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
		for e, err := range upstream.Events(t.Context(), echo.New(), everything()) {
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
	if len(first) < 100 {
		t.Errorf("got %d events", len(first))
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
