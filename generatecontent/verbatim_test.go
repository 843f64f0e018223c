package generatecontent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

// frameTail is the end of every chunk of the vendor, with members and spacing that only
// verbatim output preserves.
const frameTail = `, "modelVersion":"v","responseId":"r-v","x":1}`

// vendorFrames returns the frames of a vendor's stream.
func vendorFrames() []*upstream.Frame {
	sig := signed("c2ln")
	candidate := func(part, end string) string {
		return `{"candidates":[{"content":{"parts":[` + part + `],"role":"model"}` + end + `,"index":0}]` + frameTail
	}
	list := []*upstream.Frame{
		{Data: candidate(`{"text":"th","thought":true}`, ""), Events: []upstream.Event{
			{Kind: upstream.EventStart, Start: &upstream.Start{ID: "r-v", Model: "v"}},
			{Kind: upstream.EventOpen, Part: &content.Thinking{}}, {Kind: upstream.EventText, Text: "th"}}},
		{Data: candidate(`{"text":"secret"}`, ""), Events: []upstream.Event{
			{Kind: upstream.EventClose}, {Kind: upstream.EventOpen, Block: 1, Part: &content.Text{}},
			{Kind: upstream.EventText, Block: 1, Text: "secret"}}},
		{Data: candidate(`{"text":"\u0061"}`, ""), Events: []upstream.Event{{Kind: upstream.EventText, Block: 1, Text: "a"}}},
		{Data: candidate(`{"functionCall": {"name":"f","args":{"b":1,"a":2}},"thoughtSignature":"c2ln"}`, ""), Events: []upstream.Event{
			{Kind: upstream.EventClose, Block: 1},
			{Kind: upstream.EventOpen, Block: 2, Part: &content.ToolUse{Name: "f", Input: `{"b":1,"a":2}`, Signature: sig}},
			{Kind: upstream.EventClose, Block: 2}}},
		{Data: strings.Replace(candidate(`{"text":""}`, `,"finishReason":"STOP"`), frameTail,
			`,"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":4,"totalTokenCount":13}`+frameTail, 1),
			Events: []upstream.Event{{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopToolUse, Format: Format, RawReason: "STOP"}},
				{Kind: upstream.EventUsage, Usage: &content.Usage{Input: 9, Output: 4}}}},
	}
	for _, f := range list {
		f.Format = Format
	}
	return list
}

// edits lists changes that middleware may make to the vendor's stream.
var edits = []struct {
	name string
	edit func(events []upstream.Event) []upstream.Event
	// changed are the frames that are not verbatim; nil means all are.
	changed func(i int) bool
}{
	{name: "untouched"},
	{name: "masked", edit: func(es []upstream.Event) []upstream.Event {
		for i := range es {
			es[i].Text = strings.ReplaceAll(es[i].Text, "secret", "******")
		}
		return es
	}, changed: func(i int) bool { return i == 1 }},
	{name: "thinking hidden", edit: func(es []upstream.Event) []upstream.Event {
		return slices.DeleteFunc(es, func(e upstream.Event) bool {
			switch e.Kind {
			case upstream.EventOpen, upstream.EventText, upstream.EventClose:
				return e.Block == 0
			}
			return false
		})
	}, changed: func(int) bool { return true }}, // the encoder has identified the response
	{name: "another model", edit: func(es []upstream.Event) []upstream.Event {
		for i := range es {
			if es[i].Kind == upstream.EventStart {
				es[i].Start = &upstream.Start{ID: "r-v", Model: "w"}
			}
		}
		return es
	}, changed: func(int) bool { return true }},
	{name: "cut within a character", edit: func(es []upstream.Event) []upstream.Event {
		for i := range es {
			es[i].Text = strings.ReplaceAll(es[i].Text, "secret", "\xf0\x9f")
		}
		return es
	}, changed: func(i int) bool { return i == 1 || i == 2 }}, // the partial character is written first
	{name: "added signature", edit: func(es []upstream.Event) []upstream.Event {
		for i := range es {
			if t, ok := es[i].Part.(*content.Text); ok {
				es[i].Part = &content.Text{Text: t.Text, Signature: signed("c2ln")}
			}
		}
		return es
	}, changed: func(i int) bool { return i >= 1 && i < 4 }}, // it is written when the text ends
	{name: "changed call", edit: func(es []upstream.Event) []upstream.Event {
		for i := range es {
			if _, ok := es[i].Part.(*content.ToolUse); ok {
				es[i].Part = &content.ToolUse{Name: "g", Input: "{}"}
			}
		}
		return es
	}, changed: func(i int) bool { return i == 3 }},
}

func TestVerbatim(t *testing.T) {
	for _, tt := range edits {
		for _, f := range []framing{inEvents, inArray} {
			t.Run(tt.name, func(t *testing.T) {
				stream, _ := drive(t, f, edited(tt.edit))
				_, res := mustHear(t, f, stream)
				end := fmt.Sprintf("%v %v", res["candidates"].([]any)[0].(map[string]any)["finishReason"], res["usageMetadata"])
				if end != "STOP map[candidatesTokenCount:4 promptTokenCount:9 totalTokenCount:13]" {
					t.Errorf("ends with %s", end)
				}
				var whole []string
				for i, frame := range vendorFrames() {
					changed := tt.changed != nil && tt.changed(i)
					if strings.Contains(stream, frame.Data) == changed {
						t.Errorf("frame %d: changed is %v in\n%s", i, !changed, stream)
					}
					whole = append(whole, frame.Data)
				}
				want := "data: " + strings.Join(whole, "\r\n\r\ndata: ") + "\r\n\r\n"
				if f == inArray {
					want = "[" + strings.Join(whole, ",\r\n") + "]"
				}
				if tt.edit == nil && stream != want {
					t.Errorf("not verbatim:\n%s", stream)
				}
				checkSlowly(t, f, edited(tt.edit))
			})
		}
	}
}

// edited sends the vendor's stream, through middleware if there is an edit.
func edited(edit func([]upstream.Event) []upstream.Event) upstream.Func {
	return formattest.Edited(formattest.Frames(vendorFrames()...), edit).Generate
}

// TestVerbatimEnd checks that a vendor's end is not repeated, and that later events are
// written.
func TestVerbatimEnd(t *testing.T) {
	stream, _ := drive(t, inEvents, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for _, f := range vendorFrames() {
			_ = w.Frame(f)
		}
		return w.Usage(content.Usage{Input: 9, Output: 7})
	})
	h, res := mustHear(t, inEvents, stream)
	if n := fmt.Sprint(res["usageMetadata"].(map[string]any)["candidatesTokenCount"]); n != "7" || len(h.List) != 6 {
		t.Errorf("candidatesTokenCount is %s in %d chunks, want 7 in 6", n, len(h.List))
	}
}

// TestVerbatimLines checks that a frame of several lines is written on one line.
func TestVerbatimLines(t *testing.T) {
	stream, _ := drive(t, inEvents, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		for _, f := range vendorFrames() {
			f.Data = strings.ReplaceAll(f.Data, ", ", ",\r\n ")
			_ = w.Frame(f)
		}
		return nil
	})
	if h, _ := mustHear(t, inEvents, stream); len(h.List) != 5 {
		t.Errorf("%d chunks", len(h.List))
	}
}

// TestVerbatimBlocked checks that no candidate is added to a blocked prompt.
func TestVerbatimBlocked(t *testing.T) {
	const data = `{"promptFeedback":{"blockReason":"SAFETY"}, "modelVersion":"v","responseId":"r-v"}`
	stream, _ := drive(t, inEvents, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
		return w.Frame(&upstream.Frame{Format: Format, Data: data, Events: []upstream.Event{
			{Kind: upstream.EventStart, Start: &upstream.Start{ID: "r-v", Model: "v"}},
			{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopSafety, Format: Format, RawReason: "SAFETY",
				Details: `{"promptFeedback":{"blockReason":"SAFETY"}}`}}}})
	})
	if want := "data: " + data + "\r\n\r\n"; stream != want {
		t.Errorf("got %s", stream)
	}
}

// TestVerbatimStopAfterBrokenCall checks that the vendor's STOP is not written after a
// dropped call.
func TestVerbatimStopAfterBrokenCall(t *testing.T) {
	for input, want := range map[string]string{`{"a":1}`: "STOP", "[1]": "MALFORMED_FUNCTION_CALL"} {
		stream, _ := drive(t, inEvents, func(_ context.Context, _ *upstream.Request, w *upstream.Writer) error {
			_ = w.Frame(&upstream.Frame{Format: Format, Data: `{"responseId":"r","modelVersion":"m"}`,
				Events: []upstream.Event{{Kind: upstream.EventStart, Start: &upstream.Start{ID: "r", Model: "m"}}}})
			_ = w.Part(&content.ToolUse{ID: "x", Name: "f", Input: input})
			return w.Frame(&upstream.Frame{Format: Format, Data: `{"candidates":[{"index":0,"finishReason":"STOP"}],"responseId":"r","modelVersion":"m"}`,
				Events: []upstream.Event{{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: content.StopEnd, Format: Format, RawReason: "STOP"}}}})
		})
		if n := strings.Count(stream, `"finishReason"`); n != 1 || !strings.Contains(stream, `"finishReason":"`+want+`"`) {
			t.Errorf("%s: want the one reason %s in\n%s", input, want, stream)
		}
	}
}

// TestVerbatimPieces checks that the chunks of a partial call are written verbatim if no
// event was changed, and that otherwise the events are encoded.
func TestVerbatimPieces(t *testing.T) {
	file := answerFile(t, "S08.sse")
	tests := []struct {
		name, stream, want string
		edit               func(*upstream.Event)
		failed             bool
	}{
		{"unchanged", file, file, nil, false},
		{"changed arguments", file, `"args":{"city":"Oslo"}`, func(e *upstream.Event) {
			e.Text = strings.ReplaceAll(e.Text, "Lima", "Oslo")
		}, false},
		{"changed name", file, `"name":"other","args":{"city":"Lima"}`, func(e *upstream.Event) {
			if e.Kind == upstream.EventOpen {
				e.Part = &content.ToolUse{ID: "1", Name: "other"}
			}
		}, false},
		{"cut within the call", file[:strings.LastIndex(file, "data: ")], "", nil, true},
		{"in an array", "[" + strings.Join(strings.Split(strings.TrimSpace(strings.ReplaceAll(file, "data: ", "")), "\r\n\r\n"), ",\r\n") + "]", file, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := drive(t, inEvents, func(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
				return upstream.Run(ctx, replay(tt.stream), r, upstream.SinkFunc(func(events []upstream.Event) error {
					for i := range events {
						if tt.edit != nil {
							tt.edit(&events[i])
						}
					}
					return w.Send(events)
				}))
			})
			if failed := strings.Contains(got, `"error"`); failed != tt.failed || !strings.Contains(got, tt.want) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
			if tt.want != file && strings.Contains(got, "willContinue") || tt.failed && strings.Contains(got, "functionCall") {
				t.Errorf("the output contains chunks of a partial call: %s", got)
			}
		})
	}
}

// TestHeldPieces checks that the size of held chunks is limited.
func TestHeldPieces(t *testing.T) {
	piece := `{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"` + strings.Repeat("x", 1<<20) + `","willContinue":true}],"willContinue":true}}`
	for n, maxSize := range map[int]int{15: 1 << 24, 40: 1 << 24} {
		parts := []string{`{"functionCall":{"name":"f","willContinue":true}}`}
		for range n {
			parts = append(parts, piece)
		}
		parts = append(parts, `{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":""}]}}`)
		r := NewStreamReader(strings.NewReader(streamOf(parts...)), nil)
		input, pieces := 0, 0
		for {
			f, err := r.Next()
			if err != nil {
				break
			}
			size := 0
			for _, s := range f.Preceding {
				size += len(s)
			}
			if size > maxSize {
				t.Errorf("%d MiB of chunks in one frame", size>>20)
			}
			if f.Format == Format {
				pieces += len(f.Preceding)
			}
			for i := range f.Events {
				if f.Events[i].Kind == upstream.EventInput {
					input += len(f.Events[i].Text)
				}
			}
		}
		if want := n<<20 + len(`{"a":""}`); n == 15 && (input != want || pieces != n+1) || n == 40 && pieces != 0 {
			t.Errorf("%d MiB: %d bytes of arguments, %d verbatim chunks", n, input, pieces)
		}
	}
}

// TestArgumentsOfForwardedCall checks that arguments are reported as lost if they cannot
// continue a call that began in a chunk of the vendor.
func TestArgumentsOfForwardedCall(t *testing.T) {
	f := &upstream.Frame{Format: Format, Data: `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","willContinue":true}}],"role":"model"},"index":0}],"modelVersion":"m","responseId":"r"}`,
		Events: []upstream.Event{{Kind: upstream.EventStart, Start: &upstream.Start{ID: "r"}}, {Kind: upstream.EventOpen, Part: &content.ToolUse{Name: "f"}}}}
	f.Events[0].Frame = f
	s := newStream(inEvents, "r", "m")
	out := s.Events(nil, slices.Clone(f.Events))
	out = s.Events(out, []upstream.Event{{Kind: upstream.EventInput, Text: `{"a":1}`}, {Kind: upstream.EventInput}, {Kind: upstream.EventClose}})
	mustHear(t, inEvents, string(s.End(out, nil)))
	if diff := cmp.Diff([]content.Loss{lossForwardedArguments.At("parts.0")}, s.Losses()); diff != "" {
		t.Errorf("losses (-want +got):\n%s\n%s", diff, out)
	}
}
