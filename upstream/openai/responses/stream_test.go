package responses

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

const otherFormat content.Format = "messages"

func evOpen(n int, p content.Part) upstream.Event {
	return upstream.Event{Kind: upstream.EventOpen, Block: n, Part: p}
}
func evText(n int, s string) upstream.Event {
	return upstream.Event{Kind: upstream.EventText, Block: n, Text: s}
}
func evInput(n int, s string) upstream.Event {
	return upstream.Event{Kind: upstream.EventInput, Block: n, Text: s}
}
func evClose(n int) upstream.Event { return upstream.Event{Kind: upstream.EventClose, Block: n} }
func evSign(n int, f content.Format, s string) upstream.Event {
	return upstream.Event{Kind: upstream.EventSignature, Block: n, Signature: &content.Signature{Format: f, Data: s}}
}
func evCite(n int, c content.Citation) upstream.Event {
	return upstream.Event{Kind: upstream.EventCitation, Block: n, Citation: &c}
}
func evStop(r content.StopReason) upstream.Event {
	return upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: r}}
}

var evStart = upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{ID: "msg_1", Model: "m-1"}}

// asked is the expectation of a client that asks for reasoning and returns it.
var asked = expectation{returnsItems: true}

// testStream returns an encoder of a stream.
func testStream(x expectation) *encoder {
	s := newStream(nil)
	s.expectation = x
	s.now = func() time.Time { return time.Unix(1700000000, 0) }
	return s
}

// stream encodes events, one by one, and reads the stream.
func sendStream(t *testing.T, x expectation, events []upstream.Event) (*formattest.ResponseStream, []string) {
	t.Helper()
	s := testStream(x)
	var out []byte
	for i := range events {
		out = s.Events(out, events[i:i+1:i+1])
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	out = s.End(out, nil)
	var losses []string
	for _, l := range lossplaces.Of(s.Losses()) {
		losses = append(losses, l.Path+": "+l.Reason)
	}
	return readStream(t, string(out)), losses
}

// whole encodes the same events as a whole response.
func sendWhole(t *testing.T, x expectation, events []upstream.Event) (gjson.Result, []string) {
	t.Helper()
	resp, err := upstream.Collect(context.Background(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for i := range events {
			if err := w.Send(events[i : i+1 : i+1]); err != nil {
				return err
			}
		}
		return nil
	}), new(upstream.Request))
	if err != nil {
		t.Fatal(err)
	}
	s := newWhole(nil)
	s.expectation = x
	w, list := s.convertResponse(resp)
	var losses []string
	for _, l := range lossplaces.Of(list) {
		losses = append(losses, l.Path+": "+l.Reason)
	}
	v := gjson.Parse(w.Text())
	for _, m := range formattest.ResponseMembers {
		if !v.Get(m).Exists() {
			t.Errorf("the whole response has no %s", m)
		}
	}
	return v, losses
}

func toolCall(id, name string) *content.ToolUse { return &content.ToolUse{ID: id, Name: name} }

// TestOutput has responses and the items that clients receive, streamed and whole.
func TestOutput(t *testing.T) {
	web := content.Citation{Kind: content.CiteWeb, URL: "https://a.example", Title: "A"}
	placed := web
	placed.Start, placed.End = 1, 3
	for _, tt := range []struct {
		name   string
		client expectation
		events []upstream.Event
		status string
		want   []string
		losses []string
		types  string // of the events between in_progress and the end; not compared if empty
	}{
		{name: "text", events: []upstream.Event{evOpen(0, &content.Text{}), evText(0, "Hel"), evText(0, "lo"), evClose(0), evStop(content.StopEnd)},
			want:  []string{"message | Hello"},
			types: "output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done"},
		{name: "nothing", events: []upstream.Event{evStop(content.StopEnd)}},
		{name: "an empty text", events: []upstream.Event{evOpen(0, &content.Text{}), evClose(0), evStop(content.StopEnd)}},
		{name: "texts in a row are one message", events: []upstream.Event{
			evOpen(0, &content.Text{}), evText(0, "a"), evClose(0), evOpen(1, &content.Text{}), evText(1, "b"), evClose(1)},
			want: []string{"message | a | b"}},
		{name: "texts around a call", events: []upstream.Event{evOpen(0, &content.Text{}), evText(0, "a"), evClose(0),
			evOpen(1, toolCall("c1", "f")), evInput(1, `{"x":1}`), evClose(1), evOpen(2, &content.Text{}), evText(2, "b"), evClose(2), evStop(content.StopToolUse)},
			want: []string{"message | a", `function_call f({"x":1})`, "message | b"}},
		{name: "a call", events: []upstream.Event{evOpen(0, toolCall("c1", "f")), evInput(0, `{"x"`), evInput(0, `:1}`), evClose(0), evStop(content.StopToolUse)},
			want:  []string{`function_call f({"x":1})`},
			types: "output_item.added function_call_arguments.delta function_call_arguments.done output_item.done"},
		{name: "a call without arguments", events: []upstream.Event{evOpen(0, toolCall("c1", "f")), evClose(0), evStop(content.StopToolUse)},
			want: []string{`function_call f({})`}},
		{name: "a call in a namespace", events: []upstream.Event{
			evOpen(0, &content.ToolUse{ID: "c1", Name: "f", Namespace: "n"}), evInput(0, `{}`), evClose(0), evStop(content.StopToolUse)},
			want: []string{`function_call n.f({})`}},
		{name: "two calls at once", events: []upstream.Event{evOpen(0, toolCall("c1", "f")), evInput(0, `{"a":`), evOpen(1, toolCall("c2", "g")), evInput(1, `{}`),
			evInput(0, `1}`), evClose(0), evClose(1), evStop(content.StopToolUse)},
			want: []string{`function_call f({"a":1})`, `function_call g({})`}},
		{name: "a free-form call", events: []upstream.Event{
			evOpen(0, &content.ToolUse{ID: "c1", Name: "patch", Freeform: true}), evInput(0, "*** Be"), evInput(0, "gin\n{"), evClose(0), evStop(content.StopToolUse)},
			want:  []string{"custom_tool_call patch(*** Begin\n{)"},
			types: "output_item.added custom_tool_call_input.delta custom_tool_call_input.done output_item.done"},
		{name: "a free-form call that overlaps another", events: []upstream.Event{
			evOpen(0, &content.ToolUse{ID: "c1", Name: "patch", Freeform: true}), evInput(0, "a"), evOpen(1, toolCall("c2", "g")), evInput(1, `{}`), evClose(1), evClose(0), evStop(content.StopToolUse)},
			want: []string{"custom_tool_call patch(a)", `function_call g({})`}}, // as in a whole response
		{name: "a free-form call that was cut", events: []upstream.Event{
			evOpen(0, &content.ToolUse{ID: "c1", Name: "patch", Freeform: true}), evInput(0, "*** Be"), evClose(0), evStop(content.StopMaxTokens)},
			status: "incomplete", losses: []string{"parts.0: the response was cut before the arguments began; the tool call was dropped"}},
		{name: "a refusal", events: []upstream.Event{evOpen(0, &content.Text{Refusal: true}), evText(0, "No."), evClose(0), evStop(content.StopRefusal)},
			want:  []string{"message | refusal No."},
			types: "output_item.added content_part.added refusal.delta refusal.done content_part.done output_item.done"},
		{name: "a refusal without a text", events: []upstream.Event{evStop(content.StopRefusal)}, status: "incomplete"},
		{name: "the token limit", events: []upstream.Event{evOpen(0, &content.Text{}), evText(0, "a"), evClose(0), evStop(content.StopMaxTokens)},
			status: "incomplete", want: []string{"message incomplete | a"}},
		{name: "another stop reason", events: []upstream.Event{evOpen(0, &content.Text{}), evText(0, "a"), evClose(0), evStop(content.StopPause)},
			status: "incomplete", want: []string{"message incomplete | a"}, losses: []string{"stop: " + lossSentStop.Reason}},
		{name: "a citation of the web", events: []upstream.Event{evOpen(0, &content.Text{}), evText(0, "añb"), evCite(0, placed), evCite(0, web), evText(0, "c"), evClose(0)},
			want: []string{"message | añbc [url_citation 1-3 https://a.example A] [url_citation 0-4 https://a.example A]"}},
		{name: "a citation of a page", events: []upstream.Event{evOpen(0, &content.Text{}), evText(0, "a"), evCite(0, content.Citation{Kind: content.CitePages}), evClose(0)},
			want: []string{"message | a"}, losses: []string{"parts.0: " + lossSentCitation.Reason}},
		{name: "thinking that was asked for", client: asked, events: []upstream.Event{
			evOpen(0, &content.Thinking{}), evText(0, "hm"), evSign(0, otherFormat, "s"), evClose(0), evOpen(1, &content.Text{}), evText(1, "a"), evClose(1)},
			want: []string{"reasoning | hm | state", "message | a"},
			types: "output_item.added reasoning_summary_part.added reasoning_summary_text.delta reasoning_summary_text.done reasoning_summary_part.done output_item.done " +
				"output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done"},
		{name: "a late signature", client: asked, events: []upstream.Event{evOpen(0, &content.Thinking{}), evText(0, "hm"), evClose(0), evSign(0, otherFormat, "s")},
			want: []string{"reasoning | hm | state"}},
		{name: "unsigned thinking", client: asked, events: []upstream.Event{evOpen(0, &content.Thinking{}), evText(0, "hm"), evClose(0)},
			want: []string{"reasoning | hm | state"}},
		{name: "redacted thinking", client: asked, events: []upstream.Event{
			evOpen(0, &content.Thinking{Redacted: content.Signature{Format: otherFormat, Data: "r"}}), evClose(0)},
			want: []string{"reasoning | state"}},
		{name: "an item of the vendor", client: asked, events: []upstream.Event{
			evOpen(0, &content.Thinking{Redacted: content.Signature{Format: Format, Data: `{"type":"web_search_call","id":"ws_1","status":"completed"}`}}), evClose(0)},
			want: []string{"web_search_call"}, types: "output_item.added output_item.done"},
		{name: "thinking that was not asked for", client: expectation{hideThinking: true}, events: []upstream.Event{
			evOpen(0, &content.Thinking{}), evText(0, "hm"), evClose(0), evOpen(1, &content.Text{}), evText(1, "a"), evClose(1)},
			want: []string{"message | a"}, losses: []string{"parts.0: the request did not ask for thinking; it was omitted"}},
		{name: "an image", events: []upstream.Event{evOpen(0, &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "AAAA"}}), evClose(0)},
			want: []string{"image_generation_call"}},
		{name: "a file", events: []upstream.Event{evOpen(0, &content.Media{Source: &content.Base64{MediaType: "audio/wav", Data: "AAAA"}}), evClose(0)},
			losses: []string{"parts.0: " + lossSentFile.Reason}},
		{name: "a tool that is not allowed", client: expectation{restricted: true, allowed: map[string]bool{"f": true}}, events: []upstream.Event{
			evOpen(0, toolCall("c1", "g")), evInput(0, `{}`), evClose(0), evOpen(1, toolCall("c2", "f")), evInput(1, `{}`), evClose(1), evStop(content.StopToolUse)},
			want: []string{`function_call f({})`}, losses: []string{"parts.0: " + lossNotAllowed.Reason}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.status == "" {
				tt.status = "completed"
			}
			events := append([]upstream.Event{evStart}, tt.events...)
			r, losses := sendStream(t, tt.client, events)
			if diff := cmp.Diff(tt.want, formattest.ItemsOf(r.Final)); diff != "" {
				t.Errorf("streamed output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.losses, losses); diff != "" {
				t.Errorf("losses of the stream (-want +got):\n%s", diff)
			}
			if got := r.Final.Get("status").Str; got != tt.status {
				t.Errorf("status = %q, want %q", got, tt.status)
			}
			if got := strings.Join(r.Types[2:len(r.Types)-1], " "); tt.types != "" && got != tt.types {
				t.Errorf("events:\n%s, want\n%s", got, tt.types)
			}
			v, losses := sendWhole(t, tt.client, events)
			if diff := cmp.Diff(tt.want, formattest.ItemsOf(v)); diff != "" && !strings.Contains(tt.name, "overlaps") {
				t.Errorf("whole output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.losses, losses); diff != "" {
				t.Errorf("losses of the whole response (-want +got):\n%s", diff)
			}
			if got := v.Get("status").Str; got != tt.status {
				t.Errorf("whole status = %q, want %q", got, tt.status)
			}
		})
	}
}

// TestBrokenCall tests arguments that turn out to be broken after the call has begun.
func TestBrokenCall(t *testing.T) {
	r, losses := sendStream(t, expectation{}, []upstream.Event{evStart, evOpen(0, toolCall("c1", "f")), evInput(0, `{"a":`), evClose(0), evStop(content.StopMaxTokens)})
	if diff := cmp.Diff([]string{`function_call incomplete f({"a":)`}, formattest.ItemsOf(r.Final)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"parts.0: " + lossSentArguments.Reason}, losses); diff != "" {
		t.Error(diff)
	}
	if got := r.Final.Get("incomplete_details.reason").Str; got != "max_output_tokens" {
		t.Errorf("reason = %q", got)
	}
}

// TestSentState tests where the state of vendors is.
func TestSentState(t *testing.T) {
	events := func() []upstream.Event {
		return []upstream.Event{evStart, evOpen(0, &content.Thinking{}), evText(0, "hm"), evSign(0, otherFormat, "sig"), evClose(0),
			evOpen(1, toolCall("toolu_1", "f")), evInput(1, `{}`), evClose(1), evStop(content.StopToolUse)}
	}
	t.Run("returned with its item", func(t *testing.T) {
		r, _ := sendStream(t, asked, events())
		e, ok := envelope.Decode(r.Items[0].Done.Get("encrypted_content").Str)
		list, _ := envelope.DecodeThinking(e.Format, e.Data)
		want := []*content.Thinking{{Signature: content.Signature{Format: otherFormat, Data: "sig"}}}
		if diff := cmp.Diff(want, list); !ok || e.Kind != envelope.KindThinking || diff != "" {
			t.Error(e, diff)
		}
		if id, ok := envelope.UnmarkID(r.Items[1].Done.Get("call_id").Str); !ok || id != "toolu_1" {
			t.Errorf("the id of the call is not marked: %q", r.Items[1].Done.Get("call_id").Str)
		}
	})
	for name, x := range map[string]expectation{"not returned": {}, "not sent": {hideThinking: true}} {
		t.Run(name, func(t *testing.T) {
			r, losses := sendStream(t, x, events())
			id, e, ok := envelope.DecodeID(r.Items[len(r.Items)-1].Done.Get("call_id").Str)
			list, _ := envelope.DecodeThinking(e.Format, e.Data)
			want := []*content.Thinking{{Text: "hm", Signature: content.Signature{Format: otherFormat, Data: "sig"}}}
			if diff := cmp.Diff(want, list); !ok || id != "toolu_1" || diff != "" {
				t.Error(id, diff)
			}
			if x.hideThinking != (len(r.Items) == 1) || losses != nil {
				t.Errorf("%d items, losses %q", len(r.Items), losses)
			}
			if len(r.Items) == 2 && r.Items[0].Done.Get("encrypted_content").Exists() {
				t.Error("the state is in two places")
			}
		})
	}
	t.Run("thinking without state", func(t *testing.T) {
		r, _ := sendStream(t, asked, []upstream.Event{evStart, evOpen(0, &content.Thinking{}), evText(0, "hm"), evClose(0),
			evOpen(1, toolCall("c", "f")), evInput(1, `{}`), evClose(1)})
		if id := r.Items[1].Done.Get("call_id").Str; id != "c" {
			t.Errorf("the id of the call is %q", id)
		}
	})
	t.Run("a signature of a call", func(t *testing.T) {
		r, _ := sendStream(t, asked, []upstream.Event{evStart,
			evOpen(0, &content.ToolUse{ID: "c", Name: "f", Signature: content.Signature{Format: "generatecontent", Data: "AAAA"}}), evInput(0, `{}`), evClose(0)})
		id, e, ok := envelope.DecodeID(r.Items[0].Done.Get("call_id").Str)
		if want := (envelope.Envelope{Format: "generatecontent", Kind: envelope.KindPart, Data: "AAAA"}); !ok || id != "c" || e != want {
			t.Error(id, e, ok)
		}
	})
}

// TestFailure tests a failure within a stream.
func TestFailure(t *testing.T) {
	s := testStream(expectation{})
	out := s.Events(nil, []upstream.Event{evStart, evOpen(0, &content.Text{}), evText(0, "a")})
	f := handler.FailureOf(&upstream.Error{Code: upstream.CodeRateLimit, Text: "slow down"})
	r := readStream(t, string(s.End(out, f)))
	if got, want := strings.Join(r.Types[len(r.Types)-2:], " "), "error failed"; got != want {
		t.Errorf("the last events are %s, want %s", got, want)
	}
	for _, v := range []gjson.Result{r.Failed, r.Final.Get("error")} {
		if v.Get("code").Str != "rate_limit_exceeded" || v.Get("message").Str != "slow down" {
			t.Errorf("error = %s", v.Raw)
		}
	}
	if got := r.Final.Get("output").Raw; got != "[]" {
		t.Errorf("output = %s", got)
	}
}

// TestFailedCode tests the code of a failed response. A client such as Codex repeats a request unless
// it knows from the code that this cannot help.
func TestFailedCode(t *testing.T) {
	for _, tt := range []struct {
		err  upstream.Error
		want string
	}{
		{upstream.Error{Code: upstream.CodeInvalid, Text: "no such tool"}, "invalid_prompt"},
		{upstream.Error{Code: upstream.CodeUnsupported, Text: "no audio"}, "invalid_prompt"},
		{upstream.Error{Code: upstream.CodeTooLarge}, "invalid_prompt"},
		{upstream.Error{Code: upstream.CodeInvalid, Text: "prompt is too long: 300000 tokens > 200000 maximum"}, "context_length_exceeded"},
		{upstream.Error{Code: upstream.CodeQuota}, "insufficient_quota"},
		{upstream.Error{Code: upstream.CodeRateLimit}, "rate_limit_exceeded"},
		{upstream.Error{Code: upstream.CodeOverloaded}, "server_is_overloaded"},
		{upstream.Error{Code: upstream.CodeInternal}, "server_error"},
	} {
		s := testStream(expectation{})
		r := readStream(t, string(s.End(s.Events(nil, []upstream.Event{evStart, evOpen(0, &content.Text{}), evText(0, "a")}), handler.FailureOf(&tt.err))))
		if got := r.Final.Get("error.code").Str; got != tt.want {
			t.Errorf("%s %q: code %q, want %q", tt.err.Code, tt.err.Text, got, tt.want)
		}
	}
}

// TestErrorForms tests the forms of the error event: nested as in recorded streams and in Open
// Responses, and besides with the members that the vendor documents.
func TestErrorForms(t *testing.T) {
	f := handler.FailureOf(errors.New("boom"))
	for _, openResponses := range []bool{false, true} {
		s := testStream(expectation{})
		s.settings.openResponses = openResponses
		out := string(s.End(nil, f))
		readStream(t, out)
		if !strings.Contains(out, `"sequence_number":2,"error":{"type":"server_error","code":"server_error","message":`) {
			t.Errorf("the error is not nested: %s", out)
		}
		if got := strings.Contains(out, `},"code":"server_error","message":`); got == openResponses {
			t.Errorf("OpenResponses %v: members of the event %v", openResponses, got)
		}
		if !strings.Contains(out, `"error":{"code":"server_error"`) {
			t.Error("the failed response has no code")
		}
	}
}

// TestKeptOutput tests a response that is larger than what is kept.
func TestKeptOutput(t *testing.T) {
	for name, blocks := range map[string]int{"one text": 1, "many texts": 20} {
		t.Run(name, func(t *testing.T) {
			s := testStream(expectation{})
			s.maxKept = 80_000
			out := s.Events(nil, []upstream.Event{evStart})
			piece, sent := strings.Repeat("x", 1000), 0
			for n := range blocks {
				out = s.Events(out, []upstream.Event{evOpen(n, &content.Text{})})
				for range 200 / blocks {
					out = s.Events(out, []upstream.Event{evText(n, piece)})
					sent += len(piece)
				}
				out = s.Events(out, []upstream.Event{evClose(n)})
			}
			out = s.End(out, nil)
			r := &formattest.ResponseStream{MayOmitOutput: true}
			if err := r.Read(string(out)); err != nil {
				t.Fatal(err)
			}
			if got := r.Final.Get("output").Raw; got != "[]" {
				t.Errorf("output has %d bytes", len(got))
			}
			got := 0
			for _, it := range r.Items {
				for _, p := range it.Done.Get("content").Array() { // equals its deltas
					got += len(p.Get("text").Str)
				}
			}
			if got != sent {
				t.Errorf("%d bytes of text, want %d", got, sent)
			}
			if losses := s.Losses(); len(losses) != 1 || losses[0].Reason != lossKeptOutput.Reason {
				t.Errorf("losses = %v", losses)
			}
		})
	}
}

// TestManyCitations tests that the citations of a text are limited.
func TestManyCitations(t *testing.T) {
	s := testStream(expectation{})
	s.maxKept = 10_000
	out := s.Events(nil, []upstream.Event{evStart, evOpen(0, &content.Text{}), evText(0, "a")})
	for range 1000 {
		out = s.Events(out, []upstream.Event{evCite(0, content.Citation{Kind: content.CiteWeb, URL: "https://a.example/" + strings.Repeat("x", 100), Start: 0, End: 1})})
	}
	out = s.Events(out, []upstream.Event{evClose(0)})
	out = s.End(out, nil)
	r := &formattest.ResponseStream{MayOmitOutput: true}
	if err := r.Read(string(out)); err != nil {
		t.Fatal(err)
	}
	if n := len(r.Items[0].Done.Get("content.0.annotations").Array()); n < 10 || n > 100 {
		t.Errorf("%d annotations", n)
	}
}

// TestEventWriter tests events as messages.
func TestEventWriter(t *testing.T) {
	var names []string
	w := NewEventWriter(func(name, data string) error {
		if !gjson.Valid(data) || gjson.Get(data, "type").Str != name {
			t.Errorf("%s: %s", name, data)
		}
		names = append(names, name)
		return nil
	}, nil)
	if err := w.Ping(); err != nil {
		t.Fatal(err)
	}
	if err := w.Send([]upstream.Event{evStart}); err != nil {
		t.Fatal(err)
	}
	if err := w.End(nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"response.created", "response.in_progress", "response.completed"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestDeltaNumbers tests the numbers of deltas of items that overlap, where they get another digit, too.
func TestDeltaNumbers(t *testing.T) {
	events := []upstream.Event{evStart, evOpen(0, toolCall("a", "f")), evOpen(1, toolCall("b", "f")), evInput(0, `{"x":"`), evInput(1, `{"x":"`)}
	for i := range 1200 {
		events = append(events, evInput(i/7%2, "abc"))
	}
	events = append(events, evInput(0, `"}`), evInput(1, `"}`), evClose(0), evClose(1), evStop(content.StopToolUse))
	r, _ := sendStream(t, asked, events)
	if n := len(r.Final.Get("output").Array()); n != 2 {
		t.Errorf("%d items: %s", n, r.Final.Raw)
	}
}

// TestDeltaAllocations tests that a delta allocates only room for the text that is kept.
func TestDeltaAllocations(t *testing.T) {
	for name, p := range map[string]content.Part{"text": &content.Text{}, "thinking": &content.Thinking{}} {
		t.Run(name, func(t *testing.T) {
			s := testStream(asked)
			out := s.Events(nil, []upstream.Event{evStart, evOpen(0, p), evText(0, strings.Repeat("x", 1<<20))})
			batch := []upstream.Event{evText(0, " and then the")}
			if n := testing.AllocsPerRun(1000, func() { out = s.Events(out[:0], batch) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

// TestOneWrite tests that each Send is one Write of whole events.
func TestOneWrite(t *testing.T) {
	var writes []string
	w := NewStreamWriter(writerFunc(func(p []byte) (int, error) {
		writes = append(writes, string(p))
		return len(p), nil
	}), nil)
	for _, e := range []upstream.Event{evStart, evOpen(0, &content.Text{}), evText(0, "a"), evClose(0)} {
		_ = w.Send([]upstream.Event{e})
	}
	_ = w.End(nil)
	for _, s := range writes {
		if !strings.HasSuffix(s, "\n\n") || !strings.HasPrefix(s, "event: ") {
			t.Errorf("a write with a part of an event: %q", s)
		}
	}
	readStream(t, strings.Join(writes, ""))
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
