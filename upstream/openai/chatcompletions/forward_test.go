package chatcompletions

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// forward returns the stream for the frames of a server's stream. edit changes the events of each
// frame, as middleware does; nil changes none.
func forward(t *testing.T, s *stream, server string, edit func(events []upstream.Event)) string {
	t.Helper()
	r := NewStreamReader(strings.NewReader(server), nil)
	var out []byte
	for {
		f, err := r.Next()
		if err == io.EOF {
			return string(s.End(out, nil))
		}
		if err != nil {
			t.Fatal(err)
		}
		events := slices.Clone(f.Events)
		c := *f
		c.Events = f.Events
		events[0].Frame, c.Events[0].Frame = &c, &c
		if edit != nil {
			edit(events)
		}
		out = s.Events(out, events)
		s.Losses()
	}
}

const served = `data: {"id":"c1","object":"chat.completion.chunk","created":9,"model":"gpt-x-1","system_fingerprint":"fp","usage":null,"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"obfuscation":"a"}

data: {"id":"c1","object":"chat.completion.chunk","created":9,"model":"gpt-x-1","system_fingerprint":"fp","usage":null,"choices":[{"index":0,"delta":{"content":"Hi \"model\":\"gpt-x-1\""},"logprobs":null,"finish_reason":null}],"obfuscation":"b"}

data: {"id":"c1","object":"chat.completion.chunk","created":9,"model":"gpt-x-1","system_fingerprint":"fp","usage":null,"choices":[{"index":0,"delta":{"content":" you"},"logprobs":null,"finish_reason":null}],"obfuscation":"c"}

data: {"id":"c1","object":"chat.completion.chunk","created":9,"model":"gpt-x-1","system_fingerprint":"fp","usage":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":""}}]},"logprobs":null,"finish_reason":null}],"obfuscation":"d"}

data: {"id":"c1","object":"chat.completion.chunk","created":9,"model":"gpt-x-1","system_fingerprint":"fp","usage":null,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"logprobs":null,"finish_reason":null}],"obfuscation":"e"}

data: {"id":"c1","object":"chat.completion.chunk","created":9,"model":"gpt-x-1","system_fingerprint":"fp","usage":null,"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"tool_calls"}],"obfuscation":"f"}

`

const servedUsage = `data: {"id":"c1","object":"chat.completion.chunk","created":9,"model":"gpt-x-1","choices":[],"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6},"obfuscation":""}

`

const servedDone = "data: [DONE]\n\n"

func TestForward(t *testing.T) {
	renamed := strings.ReplaceAll(served, `"model":"gpt-x-1","system`, `"model":"mine","system`)
	rename := func(events []upstream.Event) { // as the handler does with ModelAsRequested
		for i := range events {
			if events[i].Kind == upstream.EventStart {
				events[i].Frame.Events[i].Start.ModelAsRequested = true
				c := *events[i].Start
				c.Model = ""
				events[i].Start = &c
			}
		}
	}
	for _, tt := range []struct {
		name   string
		server string
		usage  bool // the client has asked for it
		edit   func([]upstream.Event)
		want   string
	}{
		{"with usage", served + servedUsage + servedDone, true, nil, served + servedUsage + servedDone},
		{"usage not asked for", served + servedUsage + servedDone, false, nil, served + servedDone},
		{"without usage", served + servedDone, false, nil, served + servedDone},
		{"another model", served + servedDone, false, rename, renamed + servedDone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStream("r1", "mine", 7, nil)
			s.includeUsage = tt.usage
			if diff := cmp.Diff(tt.want, forward(t, s, tt.server, tt.edit)); diff != "" {
				t.Errorf("stream (-want +got):\n%s", diff)
			}
		})
	}
}

// A chunk whose events were changed is encoded anew, and so are all later ones: the next frame may
// continue a tool call whose first chunk was not forwarded.
func TestForwardEdited(t *testing.T) {
	s := newStream("r1", "mine", 7, nil)
	got := forward(t, s, served+servedDone, func(events []upstream.Event) {
		for i := range events {
			if e := &events[i]; e.Kind == upstream.EventText && e.Text == " you" {
				e.Text = " there"
			}
			if e := &events[i]; e.Kind == upstream.EventStop {
				e.Stop = &upstream.Stop{Reason: content.StopMaxTokens}
			}
		}
	})
	a, err := formattest.ReadChat(strings.ReplaceAll(got, `"usage":null,`, ""))
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	want := formattest.Value(t, `[{"index":0,"message":{"role":"assistant","content":"Hi \"model\":\"gpt-x-1\" there","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"length"}]`)
	if diff := cmp.Diff(want, a.Object["choices"]); diff != "" {
		t.Errorf("choices (-want +got):\n%s", diff)
	}
	if strings.Count(got, `"obfuscation"`) != 2 {
		t.Errorf("want 2 chunks of the server\n%s", got)
	}
}

// A client that must not receive thinking, or expects function_call, receives no chunk as it is.
func TestNotForwarded(t *testing.T) {
	s := newStream("r1", "mine", 7, nil)
	s.blocks.hideReasoning = true
	if got := forward(t, s, served+servedDone, nil); strings.Contains(got, "obfuscation") {
		t.Error(got)
	}
}

// TestForwardRecorded forwards recorded streams: nearly all pass byte for byte.
func TestForwardRecorded(t *testing.T) {
	same, others := 0, 0
	for _, r := range formattest.Records(t, "openai-chat") {
		in := r.Stream()
		if in == "" || r.Host != "api.openai.com" {
			continue
		}
		var want strings.Builder
		for line := range strings.Lines(strings.ReplaceAll(in, "\r\n", "\n")) {
			if data, ok := strings.CutPrefix(line, "data:"); ok {
				want.WriteString("data: " + strings.TrimSpace(data) + "\n\n")
			}
		}
		if _, err := DecodeFrame(in, content.Limits{}, DecodeOptions{Verbatim: true}); err != nil {
			continue
		}
		s := newStream("r1", "mine", 7, nil)
		s.includeUsage = strings.Contains(in, `"usage":{`) || strings.Contains(in, `"usage": {`)
		got := forward(t, s, in, nil)
		if got == want.String() {
			same++
			continue
		}
		others++
		if testing.Verbose() {
			t.Logf("%s is encoded anew:\n%s", r.ID, cmp.Diff(want.String(), got))
		}
	}
	if t.Logf("%d streams pass, %d are encoded anew", same, others); same < 10*others {
		t.Errorf("%d streams pass, %d are encoded anew", same, others)
	}
}

// A whole response passes byte for byte, except to a client that must not receive thinking.
func TestForwardWhole(t *testing.T) {
	const doc = `{ "id":"c1","object":"chat.completion","created":9,"model":"m","x":1,"choices":[{"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":"hm"},"finish_reason":"stop"}]}`
	var display string
	up := upstream.Func(func(_ context.Context, r *upstream.Request, w *upstream.Writer) error {
		display = r.Thinking.Display
		f, err := DecodeFrame(doc, content.Limits{}, DecodeOptions{Verbatim: true})
		if err != nil {
			return err
		}
		return w.Frame(f)
	})
	if w := ask(NewHandler(up, nil), "POST", "/v1/chat/completions", hello); w.Body.String() != doc {
		t.Errorf("got %s", w.Body)
	}
	w := ask(NewHandler(up, &Options{HideReasoning: true}), "POST", "/v1/chat/completions", hello)
	if strings.Contains(w.Body.String(), "reasoning_content") || !strings.Contains(w.Body.String(), `"content":"Hi"`) {
		t.Errorf("got %s", w.Body)
	}
	effort := strings.Replace(hello, "{", `{"reasoning_effort":"low",`, 1)
	for hide, want := range map[bool]string{false: "auto", true: ""} {
		if ask(NewHandler(up, &Options{HideReasoning: hide}), "POST", "/v1/chat/completions", effort); display != want {
			t.Errorf("HideReasoning %t: display %q, want %q", hide, display, want)
		}
	}
}

func TestForwardAllocates(t *testing.T) {
	s := newStream("r1", "m", 7, nil)
	first := &upstream.Frame{Format: Format, Data: `{"choices":[{"index":0,"delta":{"role":"assistant","content":"a"}}]}`}
	first.Events = []upstream.Event{opened(0, &content.Text{}), piece(0, "a")}
	first.Events[0].Frame = first
	out := s.Events(nil, slices.Clone(first.Events))
	next := &upstream.Frame{Format: Format, Data: `{"choices":[{"index":0,"delta":{"content":"b"}}]}`}
	next.Events = []upstream.Event{piece(0, "b")}
	next.Events[0].Frame = next
	events := slices.Clone(next.Events)
	if n := testing.AllocsPerRun(1000, func() { out = s.Events(out[:0], events) }); n != 0 || string(out) != "data: "+next.Data+"\n\n" {
		t.Errorf("%v allocations, %s", n, out)
	}
}
