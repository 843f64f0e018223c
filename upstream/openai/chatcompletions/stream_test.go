package chatcompletions

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// Events of tests, in short.
func opened(block int, p content.Part) upstream.Event {
	return upstream.Event{Kind: upstream.EventOpen, Block: block, Part: p}
}
func piece(block int, text string) upstream.Event {
	return upstream.Event{Kind: upstream.EventText, Block: block, Text: text}
}
func input(block int, text string) upstream.Event {
	return upstream.Event{Kind: upstream.EventInput, Block: block, Text: text}
}
func closed(block int) upstream.Event { return upstream.Event{Kind: upstream.EventClose, Block: block} }
func stoppedFor(reason content.StopReason) upstream.Event {
	return upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: reason}}
}
func usage(u content.Usage) upstream.Event {
	return upstream.Event{Kind: upstream.EventUsage, Usage: &u}
}
func cite(block int, c content.Citation) upstream.Event {
	return upstream.Event{Kind: upstream.EventCitation, Block: block, Citation: &c}
}
func signed(block int, f content.Format, data string) upstream.Event {
	return upstream.Event{Kind: upstream.EventSignature, Block: block, Signature: &content.Signature{Format: f, Data: data}}
}
func in(candidate int, e upstream.Event) upstream.Event { e.Candidate = candidate; return e }

// encode returns the stream of events that arrive one by one.
func encode(s *stream, events []upstream.Event) (string, []content.Loss) {
	var out []byte
	for i := range events {
		out = s.Events(out, events[i:i+1:i+1])
	}
	out = s.End(out, nil)
	return string(out), s.Losses()
}

// TestStream compares streams with the chunks that the vendor's reference and recordings show.
func TestStream(t *testing.T) {
	const head = `{"id":"r1","object":"chat.completion.chunk","created":7,"model":"m","choices":[`
	chunk := func(delta string) string {
		return "data: " + head + `{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n\n"
	}
	finish := func(reason string) string {
		return "data: " + head + `{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\ndata: [DONE]\n\n"
	}
	role := chunk(`{"role":"assistant","content":"","refusal":null}`)
	start := upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{ID: "r1", Model: "m"}}
	for _, tt := range []struct {
		name   string
		events []upstream.Event
		want   string
	}{
		{"text", []upstream.Event{start, opened(0, &content.Text{}), piece(0, "Hel"), piece(0, "lo \"you\"\n"), closed(0), stoppedFor(content.StopEnd)},
			role + chunk(`{"content":"Hel"}`) + chunk(`{"content":"lo \"you\"\n"}`) + finish("stop")},
		{"nothing", nil, role + finish("stop")},
		{"characters in pieces", []upstream.Event{start, opened(0, &content.Text{}), piece(0, "\xc3"), piece(0, "\xa4"), piece(0, "\xf0\x9f"), closed(0)},
			role + chunk(`{"content":"ä"}`) + chunk(`{"content":"��"}`) + finish("stop")},
		{"refusal", []upstream.Event{start, opened(0, &content.Text{Refusal: true}), piece(0, "No."), closed(0), {Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopRefusal, Format: Format, RawReason: "stop"}}},
			role + chunk(`{"refusal":"No."}`) + finish("stop")},
		{"thinking", []upstream.Event{start, opened(0, &content.Thinking{}), piece(0, "hm"), closed(0), opened(1, &content.Text{}), piece(1, "Yes"), closed(1)},
			role + chunk(`{"reasoning_content":"hm"}`) + chunk(`{"content":"Yes"}`) + finish("stop")},
		{"calls", []upstream.Event{start, opened(0, &content.ToolUse{ID: "c1", Name: "f"}), input(0, `{"a"`), input(0, `:1}`), closed(0),
			opened(1, &content.ToolUse{ID: "c2", Name: "g", Input: "{}"}), closed(1), stoppedFor(content.StopToolUse)},
			role + chunk(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}`) +
				chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}`) + chunk(`{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`) +
				chunk(`{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"g","arguments":""}}]}`) +
				chunk(`{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}`) + finish("tool_calls")},
		{"call without arguments", []upstream.Event{start, opened(0, &content.ToolUse{ID: "c1", Name: "f"}), closed(0), stoppedFor(content.StopToolUse)},
			role + chunk(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}`) +
				chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`) + finish("tool_calls")},
		{"free-form call", []upstream.Event{start, opened(0, &content.ToolUse{ID: "c1", Name: "apply_patch", Freeform: true}), input(0, "*** Begin"), input(0, " Patch\n"), closed(0), stoppedFor(content.StopToolUse)},
			role + chunk(`{"tool_calls":[{"index":0,"id":"c1","type":"custom","custom":{"name":"apply_patch","input":""}}]}`) +
				chunk(`{"tool_calls":[{"index":0,"custom":{"input":"*** Begin"}}]}`) + chunk(`{"tool_calls":[{"index":0,"custom":{"input":" Patch\n"}}]}`) + finish("tool_calls")},
		{"call that breaks off", []upstream.Event{start, opened(0, &content.ToolUse{ID: "c1", Name: "f"}), input(0, `{"a`), closed(0), stoppedFor(content.StopEnd)},
			role + chunk(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]}`) +
				chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a"}}]}`) + finish("length")},
		{"citation", []upstream.Event{start, opened(0, &content.Text{}), piece(0, "Größe: "), closed(0), opened(1, &content.Text{}),
			cite(1, content.Citation{Kind: content.CiteWeb, URL: "https://a.example/", Title: "A"}), piece(1, "5 m"),
			cite(1, content.Citation{Kind: content.CiteWeb, URL: "https://b.example/", Start: 1, End: 3}), closed(1)},
			role + chunk(`{"content":"Größe: "}`) + chunk(`{"content":"5 m"}`) +
				chunk(`{"annotations":[{"type":"url_citation","url_citation":{"start_index":7,"end_index":10,"url":"https://a.example/","title":"A"}}]}`) +
				chunk(`{"annotations":[{"type":"url_citation","url_citation":{"start_index":8,"end_index":10,"url":"https://b.example/","title":""}}]}`) + finish("stop")},
		{"log probabilities", []upstream.Event{start, opened(0, &content.Text{}), {Kind: upstream.EventExtra, Extra: &content.Extra{Format: Format, JSON: `{"logprobs":{"content":[{"token":"a","logprob":-1}]}}`}}, piece(0, "a"), closed(0)},
			role + "data: " + head + `{"index":0,"delta":{},"logprobs":{"content":[{"token":"a","logprob":-1}]},"finish_reason":null}]}` + "\n\n" + chunk(`{"content":"a"}`) + finish("stop")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := encode(newStream("r1", "m", 7, nil), tt.events)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("stream (-want +got):\n%s", diff)
			}
			if _, err := formattest.ReadChat(got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestStreamChoices(t *testing.T) {
	got, losses := encode(newStream("r1", "m", 7, nil), []upstream.Event{
		opened(0, &content.Text{}), in(1, opened(1, &content.Text{})), piece(0, "a"), in(1, piece(1, "b")), closed(0), in(1, closed(1)),
		stoppedFor(content.StopEnd), in(1, stoppedFor(content.StopMaxTokens)),
		in(maxChoices, opened(2, &content.Text{})), in(maxChoices, closed(2))})
	a, err := formattest.ReadChat(got)
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	want := formattest.Value(t, `[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"},{"index":1,"message":{"role":"assistant","content":"b"},"finish_reason":"length"}]`)
	if diff := cmp.Diff(want, a.Object["choices"]); diff != "" {
		t.Errorf("choices (-want +got):\n%s", diff)
	}
	if len(losses) != 1 || losses[0].Path != "candidates" {
		t.Errorf("losses = %v", losses)
	}
}

func TestStreamUsage(t *testing.T) {
	s := newStream("r1", "m", 7, nil)
	s.includeUsage = true
	got, losses := encode(s, []upstream.Event{opened(0, &content.Text{}), piece(0, "a"), closed(0),
		usage(content.Usage{Input: 10, CacheRead: 5, CacheWrite: 3, CacheWrite1h: 1, Output: 2, Thinking: 4})})
	const want = "\n\n" + `data: {"id":"r1","object":"chat.completion.chunk","created":7,"model":"m","choices":[],"usage":{"prompt_tokens":19,"completion_tokens":6,"total_tokens":25,` +
		`"prompt_tokens_details":{"cached_tokens":5,"cache_write_tokens":4},"completion_tokens_details":{"reasoning_tokens":4}}}` + "\n\ndata: [DONE]\n\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got %s\nwant the end %s", got, want)
	}
	if _, err := formattest.ReadChat(got); err != nil || !strings.Contains(got, `"usage":null}`) {
		t.Errorf("%v\n%s", err, got)
	}
	if len(losses) != 1 || losses[0].Path != "usage" {
		t.Errorf("losses = %v", losses)
	}
}

func TestStreamFailure(t *testing.T) {
	s := newStream("r1", "m", 7, nil)
	out := s.Events(nil, []upstream.Event{opened(0, &content.Text{}), piece(0, "a")})
	out = s.Ping(out)
	out = s.End(out, &handler.Failure{Code: upstream.CodeOverloaded, Text: "Busy."})
	a, err := formattest.ReadChat(string(out))
	if err != nil || a.Pings != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	want := map[string]any{"message": "Busy.", "type": "service_unavailable_error", "param": nil, "code": "server_is_overloaded"}
	if diff := cmp.Diff(want, a.Failure); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestFinishReasons(t *testing.T) {
	for _, tt := range []struct {
		stop  upstream.Stop
		calls bool
		want  string
	}{
		{upstream.Stop{}, false, "stop"},
		{upstream.Stop{Reason: content.StopEnd}, true, "tool_calls"},
		{upstream.Stop{Reason: content.StopToolUse}, true, "tool_calls"},
		{upstream.Stop{Reason: content.StopToolUse}, false, "length"},                                 // a call that could not be read
		{upstream.Stop{Reason: content.StopToolUse, Format: Format, RawReason: "stop"}, true, "stop"}, // a forced function
		{upstream.Stop{Reason: content.StopMaxTokens}, true, "length"},
		{upstream.Stop{Reason: content.StopContext}, false, "length"},
		{upstream.Stop{Reason: content.StopMalformedCall}, false, "length"},
		{upstream.Stop{Reason: content.StopSafety}, false, "content_filter"},
		{upstream.Stop{Reason: content.StopRefusal}, false, "content_filter"},
		{upstream.Stop{Reason: content.StopRecitation}, true, "content_filter"},
		{upstream.Stop{Reason: content.StopSequence, Sequence: "x"}, false, "stop"},
		{upstream.Stop{Reason: content.StopCompaction}, false, "stop"},
		{upstream.Stop{Reason: content.StopPause}, false, "length"}, // no ordinary end, after which agents go on
		{upstream.Stop{Reason: content.StopOther}, false, "length"},
	} {
		events := []upstream.Event{opened(0, &content.Text{}), closed(0)}
		if tt.calls {
			events = []upstream.Event{opened(0, &content.ToolUse{Name: "f", Input: "{}"}), closed(0)}
		}
		got, _ := encode(newStream("r1", "m", 7, nil), append(events, upstream.Event{Kind: upstream.EventStop, Stop: &tt.stop}))
		if !strings.Contains(got, `"delta":{},"finish_reason":"`+tt.want+`"`) {
			t.Errorf("%+v with calls %t: want %s\n%s", tt.stop, tt.calls, tt.want, got)
		}
	}
}

// TestCarriedState checks which state the id of a tool call carries.
func TestCarriedState(t *testing.T) {
	call := func() upstream.Event { return opened(1, &content.ToolUse{ID: "c1", Name: "f", Input: "{}"}) }
	thinking := func(text string, sig *content.Signature) []*content.Thinking {
		return []*content.Thinking{{Text: text, Signature: *sig}}
	}
	claude := &content.Signature{Format: "messages", Data: "sig"}
	for _, tt := range []struct {
		name   string
		events []upstream.Event
		want   envelope.Envelope // none if it is zero
		lost   string
	}{
		{"thinking of Claude", []upstream.Event{opened(0, &content.Thinking{}), piece(0, "hm"), signed(0, claude.Format, claude.Data), closed(0), call(), closed(1)},
			envelope.Envelope{Format: claude.Format, Kind: envelope.KindThinking, Data: envelope.EncodeThinking(thinking("hm", claude))}, ""},
		{"redacted thinking", []upstream.Event{opened(0, &content.Thinking{Redacted: *claude}), closed(0), call(), closed(1)},
			envelope.Envelope{Format: claude.Format, Kind: envelope.KindThinking, Data: envelope.EncodeThinking([]*content.Thinking{{Redacted: *claude}})}, ""},
		{"signature of a call", []upstream.Event{opened(0, &content.Thinking{}), piece(0, "hm"), closed(0),
			opened(1, &content.ToolUse{ID: "c1", Name: "f", Input: "{}", Signature: content.Signature{Format: "generatecontent", Data: "c2ln"}}), closed(1)},
			envelope.Envelope{Format: "generatecontent", Kind: envelope.KindPart, Data: "c2ln"}, ""},
		{"unsigned thinking", []upstream.Event{opened(0, &content.Thinking{}), piece(0, "hm"), closed(0), call(), closed(1)}, envelope.Envelope{}, ""},
		{"thinking after the last call", []upstream.Event{opened(0, &content.Text{}), closed(0), call(), closed(1), opened(2, &content.Thinking{}), signed(2, claude.Format, claude.Data), closed(2)},
			envelope.Envelope{}, "parts.2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, losses := encode(newStream("r1", "m", 7, nil), tt.events)
			a, err := formattest.ReadChat(got)
			if err != nil {
				t.Fatal(err)
			}
			message := a.Object["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)
			id := message["tool_calls"].([]any)[0].(map[string]any)["id"].(string)
			vendor, e, ok := envelope.DecodeID(id)
			if !ok {
				vendor = id
			}
			if vendor != "c1" || e != tt.want {
				t.Errorf("the id %s has %q and %+v\nwant %+v", id, vendor, e, tt.want)
			}
			paths := ""
			for _, l := range lossplaces.Of(losses) {
				paths += l.Path
			}
			if paths != tt.lost {
				t.Errorf("losses = %v, want one at %q", losses, tt.lost)
			}
		})
	}
}

func TestCallIDs(t *testing.T) {
	turns := []content.Turn{{Parts: []content.Part{&content.ToolUse{ID: "call_pw1", Name: "f"}}}}
	got, losses := encode(newStream("r1", "m", 7, turns), []upstream.Event{
		opened(0, &content.ToolUse{Name: "f", Input: "{}"}), closed(0),
		opened(1, &content.ToolUse{ID: "a", Name: "f", Input: "{}"}), closed(1),
		opened(2, &content.ToolUse{ID: "a", Name: "f", Input: "{}"}), closed(2)})
	for _, id := range []string{`"id":"call_pw2"`, `"id":"a"`, `"id":"call_pw3"`} {
		if strings.Count(got, id) != 1 {
			t.Errorf("%s is not in the stream once:\n%s", id, got)
		}
	}
	if len(losses) != 1 || losses[0].Path != "parts.2" {
		t.Errorf("losses = %v", losses)
	}
}

// Members in which a server of this format gets its thinking back are in the message.
func TestOwnState(t *testing.T) {
	const details = `{"reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`
	got, losses := encode(newStream("r1", "m", 7, nil), []upstream.Event{
		opened(0, &content.Thinking{}), piece(0, "hm"), signed(0, Format, details), closed(0), opened(1, &content.Text{}), piece(1, "a"), closed(1)})
	a, err := formattest.ReadChat(got)
	if err != nil || len(losses) > 0 {
		t.Fatal(err, losses)
	}
	want := formattest.Value(t, `{"role":"assistant","content":"a","reasoning_content":"hm","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]}`)
	if diff := cmp.Diff(want, a.Object["choices"].([]any)[0].(map[string]any)["message"]); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

func TestHiddenReasoning(t *testing.T) {
	s := newStream("r1", "m", 7, nil)
	s.blocks.hideReasoning = true
	got, losses := encode(s, []upstream.Event{opened(0, &content.Thinking{}), piece(0, "hm"), signed(0, "messages", "s"), closed(0),
		opened(1, &content.ToolUse{ID: "c1", Name: "f", Input: "{}"}), closed(1)})
	if strings.Contains(got, "reasoning") || !strings.Contains(got, `"id":"toolu_pwsig_`) {
		t.Error(got)
	}
	if len(losses) != 1 || losses[0].Severity != content.LossHint || losses[0].Path != "parts.0" {
		t.Errorf("losses = %v", losses)
	}
}

// A client of the deprecated functions receives one function_call.
func TestFunctionCall(t *testing.T) {
	s := newStream("r1", "m", 7, nil)
	s.blocks.functions = true
	got, losses := encode(s, []upstream.Event{opened(0, &content.ToolUse{ID: "c1", Name: "f", Input: `{"a":1}`}), closed(0),
		opened(1, &content.ToolUse{ID: "c2", Name: "g", Input: "{}"}), closed(1), stoppedFor(content.StopToolUse)})
	a, err := formattest.ReadChat(got)
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	want := formattest.Value(t, `[{"index":0,"message":{"role":"assistant","function_call":{"name":"f","arguments":"{\"a\":1}"}},"finish_reason":"function_call"}]`)
	if diff := cmp.Diff(want, a.Object["choices"]); diff != "" {
		t.Errorf("choices (-want +got):\n%s", diff)
	}
	if len(losses) != 1 || losses[0].Path != "parts.1" {
		t.Errorf("losses = %v", losses)
	}
}

func TestStreamAllocates(t *testing.T) {
	s := newStream("r1", "m", 7, nil)
	out := s.Events(nil, []upstream.Event{opened(0, &content.Text{}), opened(1, &content.ToolUse{ID: "i", Name: "n"}), opened(2, &content.Thinking{}), input(1, `{"a":"`)})
	u := content.Usage{Output: 3}
	batch := []upstream.Event{piece(0, "some \"text\" in Größe\n"), piece(2, "a thought"), input(1, "b"), {Kind: upstream.EventUsage, Usage: &u}}
	for i := range batch {
		one := batch[i : i+1]
		out = s.Events(out[:0], one)
		if n := testing.AllocsPerRun(1000, func() { out = s.Events(out[:0], one) }); n != 0 {
			t.Errorf("event of kind %d: %v allocations", one[0].Kind, n)
		}
	}
}
