package generatecontent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/handler"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// drive runs an upstream into a stream encoder, as a handler would.
func drive(t *testing.T, f framing, up upstream.Func) (stream string, lost []content.Loss) {
	t.Helper()
	return driveSlowly(t, f, up, 0)
}

// driveSlowly is drive with that many keep-alives before the first event and after
// each batch of events.
func driveSlowly(t *testing.T, f framing, up upstream.Func, pings int) (stream string, lost []content.Loss) {
	t.Helper()
	s := newStream(f, "r-1", "asked")
	var out []byte
	wait := func() {
		for range pings {
			out = s.Ping(out)
		}
	}
	wait()
	err := upstream.Run(t.Context(), up, &upstream.Request{}, upstream.SinkFunc(func(events []upstream.Event) error {
		out = s.Events(out, events)
		lost = append(lost, s.Losses()...)
		wait()
		return s.Err()
	}))
	var fail *handler.Failure
	if err != nil {
		fail = handler.FailureOf(err)
	}
	if fail != nil {
		out = s.Flush(out)
	}
	out = s.End(out, fail)
	if fail != nil {
		out = s.Repeat(out, fail)
	}
	return string(out), append(lost, s.Losses()...)
}

// checkSlowly checks that keep-alives add white space to a stream, and nothing else.
func checkSlowly(t *testing.T, f framing, up upstream.Func) {
	t.Helper()
	want, _ := drive(t, f, up)
	for pings := 1; pings <= 3; pings++ {
		got, _ := driveSlowly(t, f, up, pings)
		_, err := receive(f, got)
		if f == inArray {
			got = strings.ReplaceAll(got, "\r\n\r\n", "")
		} else {
			got = keepAlive.ReplaceAllString(got, "$1")
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%d keep-alives after each batch: %v (-without +with):\n%s", pings, err, diff)
		}
	}
}

// keepAlive matches an event's beginning with the keep-alives behind it.
var keepAlive = regexp.MustCompile(`(?m)^(data: ) +`)

// receive reads a stream.
func receive(f framing, stream string) (*formattest.Chunks, error) {
	if f == inArray {
		return formattest.ReadArray(stream)
	}
	return formattest.ReadEvents(stream)
}

// mustHear reads a stream to its end.
func mustHear(t *testing.T, f framing, stream string) (*formattest.Chunks, map[string]any) {
	t.Helper()
	h, err := receive(f, stream)
	if err != nil {
		t.Fatalf("%v\n%s", err, stream)
	}
	res, err := h.Whole()
	if err != nil {
		t.Fatalf("%v\n%s", err, stream)
	}
	return h, res
}

// TestReplyIsStream checks that a response equals the joined stream, in both framings.
func TestReplyIsStream(t *testing.T) {
	for _, tt := range testResponses {
		t.Run(tt.name, func(t *testing.T) {
			reply, err := upstream.Collect(t.Context(), tt.up, &upstream.Request{})
			if err != nil {
				t.Fatal(err)
			}
			res, lost := convertResponse(reply, expectation{})
			checkLosses(t, tt.losses, lost)
			if res.ResponseID == "" {
				res.ResponseID, res.ModelVersion = "r-1", "asked"
			}
			doc, err := res.AppendJSON(nil)
			if err != nil {
				t.Fatal(err)
			}
			want, err := formattest.DecodeObject(doc)
			if err != nil {
				t.Fatalf("%v\n%s", err, doc)
			}
			for _, f := range []framing{inEvents, inArray} {
				stream, lost := drive(t, f, tt.up)
				checkLosses(t, tt.losses, lost)
				h, got := mustHear(t, f, stream)
				if h.Failure != nil {
					t.Fatalf("failed: %v", h.Failure)
				}
				if diff := cmp.Diff(formattest.NormalResponse(grounded(want)), got); diff != "" {
					t.Errorf("stream differs from the reply (-reply +stream):\n%s\n%s", diff, stream)
				}
				checkSlowly(t, f, tt.up)
			}
		})
	}
}

// grounded converts the segments of a response to those of a stream: without their texts,
// and relative to joined texts.
func grounded(res map[string]any) map[string]any {
	list, _ := res["candidates"].([]any)
	for _, c := range list {
		c := c.(map[string]any)
		g, _ := c["groundingMetadata"].(map[string]any)
		supports, _ := g["groundingSupports"].([]any)
		for _, s := range supports {
			at := s.(map[string]any)["segment"].(map[string]any)
			if at["text"] == nil {
				continue
			}
			delete(at, "text")
			number := func(name string) int { n, _ := at[name].(json.Number); i, _ := n.Int64(); return int(i) }
			part, offset, last := 0, 0, map[string]any{}
			for i, p := range c["content"].(map[string]any)["parts"].([]any)[:number("partIndex")+1] {
				p := p.(map[string]any)
				text, isText := p["text"].(string)
				_, after := last["text"].(string)
				if !isText || !after || last["thoughtSignature"] != nil || last["thought"] != p["thought"] {
					offset = 0
					if i > 0 {
						part++
					}
				}
				if last = p; i < number("partIndex") {
					offset += len(text)
				}
			}
			start, end := number("startIndex")+offset, number("endIndex")+offset
			at["startIndex"], at["endIndex"] = json.Number(strconv.Itoa(start)), json.Number(strconv.Itoa(end))
			if delete(at, "partIndex"); part > 0 {
				at["partIndex"] = json.Number(strconv.Itoa(part))
			}
		}
	}
	return res
}

// checkLosses compares severities and paths, each once.
func checkLosses(t *testing.T, want []string, lost []content.Loss) {
	t.Helper()
	got := map[string]bool{}
	for _, l := range lossplaces.Of(lost) {
		got[l.Severity.String()+" "+l.Path] = true
		if l.Reason == "" {
			t.Errorf("a loss without a reason: %+v", l)
		}
	}
	all := map[string]bool{}
	for _, w := range want {
		all[w] = true
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

// TestStreamBytes checks the bytes of a small stream. Every chunk has the latest counts.
func TestStreamBytes(t *testing.T) {
	up := func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Start(upstream.Start{ID: "r-9", Model: "m", Usage: &content.Usage{Input: 2, CacheRead: 3}})
		_ = w.Thinking("Hm")
		_ = w.Text("Hi\n")
		c := w.ToolCall("fc-1", "f")
		_ = c.Input(`{"a":`)
		_ = c.Input(`1}`)
		_ = c.Close()
		_ = w.Usage(content.Usage{Input: 2, CacheRead: 3, Output: 4, Thinking: 5, ToolPrompt: 6})
		return w.Stop(upstream.Stop{Reason: content.StopToolUse})
	}
	const counts = `,"usageMetadata":{"promptTokenCount":5,"cachedContentTokenCount":3,"totalTokenCount":5}`
	pieces := []string{
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"H","thought":true}]},"index":0}]` + counts,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"m","thought":true}]},"index":0}]` + counts,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"index":0}]` + counts,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"\n"}]},"index":0}]` + counts,
		`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"fc-1","name":"f","args":{"a":1}}}]},"finishReason":"STOP","index":0}],` +
			`"usageMetadata":{"promptTokenCount":5,"cachedContentTokenCount":3,"candidatesTokenCount":4,"thoughtsTokenCount":5,` +
			`"toolUsePromptTokenCount":6,"totalTokenCount":20}`,
	}
	var events, array strings.Builder
	for i, p := range pieces {
		p += `,"modelVersion":"m","responseId":"r-9"}`
		events.WriteString("data: " + p + "\r\n\r\n")
		array.WriteString([]string{"[", ",\r\n"}[min(i, 1)] + p)
	}
	for f, want := range map[framing]string{inEvents: events.String(), inArray: array.String() + "]"} {
		stream, _ := drive(t, f, up)
		if diff := cmp.Diff(want, stream); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestStreamFailure checks the form of a failure: in events a bare object, a
// blank line and the same object as an event; in an array the last element; and
// never the end of a complete response.
func TestStreamFailure(t *testing.T) {
	for _, tt := range []struct {
		name string
		up   upstream.Func
		want string
	}{
		{"before anything", func(context.Context, *upstream.Request, *upstream.Writer) error {
			return &upstream.Error{Code: upstream.CodeRateLimit, Text: "slow\ndown"}
		}, `{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}`},
		{"midway", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("Once")
			return &upstream.Error{Code: upstream.CodeOverloaded, Err: errors.New("secret")}
		}, `{"error":{"code":503,"message":"The model is overloaded. Please try again later.","status":"UNAVAILABLE"}}`},
		{"after the stop", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("Once")
			_ = w.Stop(upstream.Stop{Reason: content.StopEnd})
			return errors.New("secret")
		}, `{"error":{"code":500,"message":"An internal error has occurred. Please retry.","status":"INTERNAL"}}`},
		{"unclosed calls", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			c := w.ToolCall("", "f")
			for range 33 {
				if err := c.Input(strings.Repeat(" ", 1<<20)); err != nil {
					return err
				}
			}
			return nil
		}, `{"error":{"code":502,"message":"The upstream returned an invalid or incomplete response.","status":"UNAVAILABLE"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events, _ := drive(t, inEvents, tt.up)
			if rest, ok := strings.CutSuffix(events, tt.want+"\r\n\r\ndata: "+tt.want+"\r\n\r\n"); !ok || rest != "" && !strings.HasSuffix(rest, "}\r\n\r\n") {
				t.Errorf("got %s, want %s at its end", events, tt.want)
			}
			if strings.Contains(events, "finishReason") || strings.Contains(events, "secret") {
				t.Error(events)
			}
			array, _ := drive(t, inArray, tt.up)
			h, _ := mustHear(t, inArray, array)
			want, _ := formattest.DecodeObject([]byte(tt.want))
			if diff := cmp.Diff(want, h.Failure); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPieces checks how events become chunks: each has one part, and the last part is in the
// chunk with the finishReason.
func TestPieces(t *testing.T) {
	text := func(s string) string {
		return `[{"content":{"role":"model","parts":[{"text":"` + s + `"}]},"index":0}]`
	}
	ending := func(s string) string {
		return `[{"content":{"role":"model","parts":[{"text":"` + s + `"}]},"finishReason":"STOP","index":0}]`
	}
	for _, tt := range []struct {
		name string
		up   upstream.Func
		want []string // the candidates of each chunk
	}{
		{"together", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Send([]upstream.Event{
				{Kind: upstream.EventOpen, Block: 0, Part: &content.ToolUse{ID: "a", Name: "f"}}, {Kind: upstream.EventClose, Block: 0},
				{Kind: upstream.EventOpen, Block: 1, Part: &content.ToolUse{ID: "b", Name: "g"}}, {Kind: upstream.EventClose, Block: 1},
				{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopToolUse}},
			})
		}, []string{`[{"content":{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}}]},"index":0}]`,
			`[{"content":{"role":"model","parts":[{"functionCall":{"id":"b","name":"g","args":{}}}]},"finishReason":"STOP","index":0}]`}},
		{"texts", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			for _, s := range []string{"a", "b", "", "cdé", "\n", "f\xe4", "\xb8\x96", "\xf0\x9f"} {
				_ = w.Text(s)
			}
			return nil
		}, []string{text("a"), text("bcd"), text("é"), text("\\n"), text("f"), text("世\ufffd"), ending("\ufffd")}},
		{"blocks", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Part(&content.Text{Text: "ab"})
			_ = w.Part(&content.Text{Text: "cd"})
			_ = w.Thinking("e")
			return w.Text("f")
		}, []string{text("a"), text("b"), text("c"), text("d"),
			`[{"content":{"role":"model","parts":[{"text":"e","thought":true}]},"index":0}]`, ending("f")}},
		{"members of a text", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Part(&content.Text{Text: "ab", Extra: extra(`{"m":1}`)})
			return w.Text("cd")
		}, []string{`[{"content":{"role":"model","parts":[{"text":"ab","m":1}]},"index":0}]`, text("c"), ending("d")}},
		{"members of the candidate", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Send([]upstream.Event{
				{Kind: upstream.EventOpen, Part: &content.Text{Text: "ab"}},
				{Kind: upstream.EventExtra, Extra: extra(`{"groundingMetadata":{"a":1}}`)},
			})
		}, []string{text("a"), `[{"content":{"role":"model","parts":[{"text":"b"}]},"finishReason":"STOP","index":0,"groundingMetadata":{"a":1}}]`}},
		{"candidates", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Send([]upstream.Event{
				{Kind: upstream.EventOpen, Block: 0, Part: &content.Text{Text: "a"}},
				{Kind: upstream.EventOpen, Block: 1, Candidate: 1, Part: &content.Text{Text: "b"}},
				{Kind: upstream.EventStop, Candidate: 1, Stop: &upstream.Stop{Reason: content.StopMaxTokens}},
				{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd}},
			})
		}, []string{`[{"content":{"role":"model","parts":[{"text":"a"}]},"finishReason":"STOP","index":0},` +
			`{"content":{"role":"model","parts":[{"text":"b"}]},"finishReason":"MAX_TOKENS","index":1}]`}},
		{"the last stop counts", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Text("a")
			_ = w.Stop(upstream.Stop{Reason: content.StopEnd})
			_ = w.Text("b")
			return w.Stop(upstream.Stop{Reason: content.StopSafety})
		}, []string{text("a"), `[{"content":{"role":"model","parts":[{"text":"b"}]},"finishReason":"SAFETY","index":0}]`}},
		{"a late signature", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Send([]upstream.Event{
				{Kind: upstream.EventOpen, Part: &content.Text{Text: "391"}}, {Kind: upstream.EventClose},
				{Kind: upstream.EventSignature, Signature: &content.Signature{Format: Format, Data: "-_8"}},
			})
		}, []string{text("39"), `[{"content":{"role":"model","parts":[{"text":"1","thoughtSignature":"+/8="}]},"finishReason":"STOP","index":0}]`}},
		{"a late signature of a call", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Send([]upstream.Event{
				{Kind: upstream.EventOpen, Part: &content.ToolUse{ID: "a", Name: "f", Input: "{}"}}, {Kind: upstream.EventClose},
				{Kind: upstream.EventSignature, Signature: &content.Signature{Format: Format, Data: "+/8="}},
			})
		}, []string{`[{"content":{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}},"thoughtSignature":"+/8="}]},"finishReason":"STOP","index":0}]`}},
		{"a signature that is too late", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Send([]upstream.Event{
				{Kind: upstream.EventOpen, Part: &content.Text{Text: "a"}}, {Kind: upstream.EventClose},
				{Kind: upstream.EventOpen, Block: 1, Part: &content.Text{Text: "b"}}, {Kind: upstream.EventClose, Block: 1},
				{Kind: upstream.EventSignature, Signature: &content.Signature{Format: Format, Data: "+/8="}},
			})
		}, []string{text("a"), text("b"), `[{"content":{"role":"model","parts":[{"text":"","thoughtSignature":"+/8="}]},"finishReason":"STOP","index":0}]`}},
		{"repeated member", func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Send([]upstream.Event{
				{Kind: upstream.EventExtra, Extra: extra(`{"groundingMetadata":{"a":1}}`)},
				{Kind: upstream.EventExtra, Extra: extra(`{"groundingMetadata":{"b":2}}`)},
			})
		}, []string{`[{"content":{"role":"model","parts":[{"text":""}]},"index":0,"groundingMetadata":{"a":1}}]`,
			`[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0,"groundingMetadata":{"b":2}}]`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stream, _ := drive(t, inEvents, tt.up)
			var got []string
			for _, p := range strings.Split(stream, "\r\n\r\n") {
				if p != "" {
					p = strings.TrimPrefix(p, `data: {"candidates":`)
					p, _, _ = strings.Cut(p, `,"modelVersion"`)
					got = append(got, p)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPings checks the bytes of keep-alives: between events they are the start of the next
// event, which later output continues.
func TestPings(t *testing.T) {
	const (
		tail    = `,"modelVersion":"m","responseId":"r"}` + "\r\n\r\n"
		a       = `{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]},"index":0}]` + tail
		b       = `{"candidates":[{"content":{"role":"model","parts":[{"text":"b"}]},"index":0}]` + tail
		end     = `{"candidates":[{"content":{"role":"model","parts":[{"text":"b"}]},"finishReason":"STOP","index":0}]` + tail
		frame   = `{"candidates":[{"index":0, "content":{"parts":[{"text":"a"}]}}],"responseId":"r"}`
		last    = `{"candidates":[{"index":0,"finishReason":"STOP"}],"responseId":"r"}`
		blocks  = `{"promptFeedback":{"blockReason":"SAFETY"},"responseId":"r"}`
		failure = `{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}` + "\r\n\r\n"
	)
	text := []upstream.Event{{Kind: upstream.EventOpen, Part: &content.Text{Text: "ab"}}}
	both := append(text[:1:1], upstream.Event{Kind: upstream.EventOpen, Block: 1, Candidate: 1, Part: &content.Text{Text: "cd"}})
	framed := func(data string, events ...upstream.Event) []upstream.Event {
		events[0].Frame = &upstream.Frame{Format: Format, Data: data, Events: events}
		return events
	}
	start := upstream.Event{Kind: upstream.EventStart, Start: &upstream.Start{ID: "r", Model: "m"}}
	stop := upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd, Format: Format, RawReason: "STOP"}}
	blocked := upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopSafety, Format: Format, RawReason: "SAFETY",
		Details: `{"promptFeedback":{"blockReason":"SAFETY"}}`}}
	tests := []struct {
		name  string
		steps []any // events, or a number of keep-alives
		fails bool
		want  string
	}{
		{"before the first event", []any{1, text}, false, "data: " + a + "data: " + end},
		{"several", []any{3, text}, false, "data:   " + a + "data: " + end},
		{"between events and before the end", []any{text, 1, []upstream.Event{{Kind: upstream.EventText, Text: "ab"}}, 2}, false,
			"data: " + a + "data: " + strings.Replace(a, `"a"`, `"ba"`, 1) + "data:  " + end},
		{"batch without a chunk", []any{1, []upstream.Event{start}, 1, text}, false, "data:  " + a + "data: " + end},
		{"two chunks in a batch", []any{2, both}, false, "data:  " + a + "data: " + strings.Replace(strings.Replace(a, `"a"`, `"c"`, 1), `:0}`, `:1}`, 1) +
			"data: " + strings.Replace(end, `]`+tail, `,{"content":{"role":"model","parts":[{"text":"d"}]},"finishReason":"STOP","index":1}]`+tail, 1)},
		{"no event", []any{2}, false, "data:  " + strings.Replace(end, `"b"`, `""`, 1)},
		{"the vendor's frames", []any{2, framed(frame, start, text[0]), 2, framed(last, stop)}, false,
			"data:  " + frame + "\r\n\r\ndata:  " + last + "\r\n\r\n"},
		{"after the last of the vendor's frames", []any{framed(frame, start, text[0]), framed(last, stop), 3}, false,
			"data: " + frame + "\r\n\r\ndata: " + last + "\r\n\r\n"},
		{"after a blocked prompt", []any{1, framed(blocks, start, blocked), 2}, false, "data: " + blocks + "\r\n\r\n"},
		{"a failure", []any{text}, true, "data: " + a + "data: " + b + failure + "data: " + failure},
		{"a failure after keep-alives", []any{text, 2}, true, "data: " + a + "data:  " + b + failure + "data: " + failure},
		{"a failure before the first event", []any{1}, true, "data: " + failure + failure},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStream(inEvents, "r", "m")
			var out []byte
			for _, step := range tt.steps {
				switch step := step.(type) {
				case int:
					for range step {
						out = s.Ping(out)
					}
				case []upstream.Event:
					out = s.Events(out, step)
				}
			}
			if tt.fails {
				f := handler.FailureOf(&upstream.Error{Code: upstream.CodeUnavailable})
				out = s.Repeat(s.End(s.Flush(out), f), f)
			} else {
				out = s.End(out, nil)
			}
			if diff := cmp.Diff(tt.want, string(out)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if h, err := receive(inEvents, string(out)); err != nil || (h.Failure != nil) != tt.fails {
				t.Errorf("%v %v", h, err)
			}
		})
	}
	s := newStream(inArray, "r", "m")
	out := s.Ping(s.Events(s.Ping(nil), text))
	if h, err := receive(inArray, string(s.End(out, nil))); err != nil || len(h.List) != 2 || s.ContentType() != "application/json" {
		t.Errorf("%v %v", h, err)
	}
}

func TestStreamAllocates(t *testing.T) {
	usage := content.Usage{Input: 3, Output: 3, Modalities: []content.ModalityCount{{Kind: "prompt", Modality: "TEXT", Tokens: 3}}}
	for _, f := range []framing{inEvents, inArray} {
		s := newStream(f, "r-1", "m")
		out := s.Events(nil, []upstream.Event{
			{Kind: upstream.EventOpen, Block: 0, Part: &content.Text{}}, {Kind: upstream.EventOpen, Block: 1, Part: &content.Thinking{}}})
		for name, batch := range map[string][]upstream.Event{
			"text":    {{Kind: upstream.EventText, Block: 0, Text: "some \"text\" in Größe\n"}},
			"thought": {{Kind: upstream.EventText, Block: 1, Text: "a thought"}},
			"usage":   {{Kind: upstream.EventText, Block: 0, Text: "a"}, {Kind: upstream.EventUsage, Usage: &usage}},
		} {
			out = s.Events(out[:0], batch)
			if n := testing.AllocsPerRun(1000, func() { out = s.Events(s.Ping(out[:0]), batch) }); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	}
}

// TestLineSeparators checks that U+2028 and U+2029 are escaped in events, also at their
// edges, and that nothing else changes.
func TestLineSeparators(t *testing.T) {
	const plain = "\u2028\u2028a\u2029 \u2027\u202aé世\u2028"
	for _, tt := range []struct {
		framing framing
		want    string
	}{
		{inEvents, `{"text":"\u2028\u2028a\u2029 ` + "\u2027\u202aé世" + `"},{"text":"\u2028"}`},
		{inArray, "{\"text\":\"\u2028\u2028a\u2029 \u2027\u202aé世\"},{\"text\":\"\u2028\"}"},
	} {
		s := newStream(tt.framing, "id", "m")
		var out []byte
		sink := upstream.SinkFunc(func(events []upstream.Event) error {
			out = s.Events(out, events)
			return nil
		})
		err := upstream.Run(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Text(plain)
		}), &upstream.Request{}, sink)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, partsOf(string(s.End(out, nil)))); diff != "" {
			t.Errorf("parts (-want +got):\n%s", diff)
		}
	}

	s := newStream(inEvents, "id", "m")
	before := "data: \u2028"
	got := string(s.escapeSeparators([]byte(before+"\u2029x\u2028"), len(before)))
	if want := before + `\u2029x\u2028`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestStreamBounded checks that a stream limits the memory for pending events.
func TestStreamBounded(t *testing.T) {
	for name, flood := range map[string]func(w *upstream.Writer, i int) error{
		"members": func(w *upstream.Writer, i int) error {
			return w.Send([]upstream.Event{{Kind: upstream.EventExtra, Extra: extra(fmt.Sprintf(`{"m%d":1}`, i))}})
		},
		"members of one name": func(w *upstream.Writer, i int) error {
			return w.Send([]upstream.Event{{Kind: upstream.EventExtra, Extra: extra(fmt.Sprintf(`{"m":%d}`, i))}})
		},
		"stops": func(w *upstream.Writer, i int) error {
			return w.Stop(upstream.Stop{Reason: content.StopEnd, Extra: extra(`{"m":1}`)})
		},
		"blocks":     func(w *upstream.Writer, i int) error { return w.Part(&content.Text{Text: "a"}) },
		"signatures": func(w *upstream.Writer, i int) error { return w.Signature(signed("c2ln")) },
		"citations": func(w *upstream.Writer, i int) error {
			return w.Cite(content.Citation{Kind: content.CiteWeb, URL: fmt.Sprint("https://a.example/", i)})
		},
		"cited texts": func(w *upstream.Writer, i int) error {
			return w.Part(&content.Text{Text: "a", Citations: []content.Citation{{Title: fmt.Sprint(i)}}})
		},
		"usage": func(w *upstream.Writer, i int) error { return w.Usage(content.Usage{Input: int64(i)}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStream(inEvents, "r", "m")
			var out []byte
			maxMemory := 0
			err := upstream.Run(t.Context(), upstream.Func(func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
				for i := range 20_000 {
					if err := flood(w, i); err != nil {
						return err
					}
				}
				return nil
			}), &upstream.Request{}, upstream.SinkFunc(func(events []upstream.Event) error {
				out = s.Events(out[:0], events)
				s.Losses()
				n := len(s.blocks.Blocks()) + len(s.progress) + len(s.blocks.members)
				for k := range s.blocks.states {
					n += len(s.blocks.states[k].members) + len(s.blocks.states[k].grounding.known)
				}
				for _, b := range s.blocks.Blocks() {
					n += len(b.State.citations)
				}
				maxMemory = max(maxMemory, n)
				return s.Err()
			}))
			out = s.End(out[:0], nil)
			if err != nil || maxMemory > 3000 || len(out) > 1<<20 {
				t.Errorf("%v; %d held, and %d bytes written at the end", err, maxMemory, len(out))
			}
		})
	}
}

// TestStreamFails checks that exceeding a limit ends the response with an error.
func TestStreamFails(t *testing.T) {
	for name, up := range map[string]upstream.Func{
		"candidates": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			return w.Send([]upstream.Event{{Kind: upstream.EventStop, Candidate: 1 << 30, Stop: &upstream.Stop{}}})
		},
		"arguments": func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			a, b := w.ToolCall("", "f"), w.ToolCall("", "g")
			piece := strings.Repeat(" ", 1<<20)
			for range 17 {
				_ = a.Input(piece)
				if err := b.Input(piece); err != nil {
					return nil // even if the upstream ignores the error
				}
			}
			return w.Text("not reached")
		},
	} {
		for _, path := range []string{eventsPath, plainPath} {
			if name == "arguments" && path == plainPath {
				continue // limited like any response that is not a stream
			}
			w := serve(up, "POST", path, smallBody)
			checkError(t, w, 502, "UNAVAILABLE", "The upstream returned an invalid or incomplete response.")
		}
	}
}
