package chatcompletions

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/upstream"
)

const rd1 = `{"reasoning_details":[{"type":"reasoning.text","text":"Draw a boat.","format":"google-gemini-v1","index":0},{"type":"reasoning.encrypted","data":"Q2lR","id":"rd_1","index":1}]}`

// chatExamples are the documents under testdata and their responses.
var chatExamples = map[string]*upstream.Response{
	"E06.json": {Start: upstream.Start{ID: "chatcmpl-A1", Model: "gpt-5.6-sol"}, Parts: partsOf(textOf(`{"name":"Oslo havn","country":"NO"}`)),
		Stop: upstream.Stop{Reason: content.StopEnd, RawReason: "stop"}, Usage: content.Usage{Input: 76, CacheRead: 1024, CacheWrite: 100, Output: 26, Thinking: 64}},
	"E07.json": {Start: upstream.Start{ID: "chatcmpl-A2", Model: "gpt-6-luna"},
		Parts: partsOf(useOf("call_b1", "depth_at", `{"buoy":"B8","unit":"m"}`), &content.ToolUse{ID: "call_b2", Name: "note", Freeform: true, Text: "checked B8"}),
		Stop:  upstream.Stop{Reason: content.StopToolUse, RawReason: "tool_calls"}, Usage: content.Usage{Input: 80, Output: 30}},
	"E08.json": {Start: upstream.Start{ID: "chatcmpl-A3", Model: "gpt-5.2"}, Parts: partsOf(&content.Text{Text: "I can't help with that.", Refusal: true}),
		Stop: upstream.Stop{Reason: content.StopRefusal, RawReason: "stop"}, Usage: content.Usage{Input: 30, Output: 8}},
	"E09.json": {Start: upstream.Start{ID: "cmpl-77", Model: "m"}, Parts: partsOf(thinkingPart("Call it.", "reasoning_content"), useOf("made", "clock", "{}")),
		Stop: upstream.Stop{Reason: content.StopToolUse, RawReason: "stop"}, Usage: content.Usage{Input: 9, Output: 12}},
	"E10.json": {Start: upstream.Start{ID: "gen-1", Model: "google/gemini-3.1-flash-image"},
		Parts: partsOf(thinkingPart("Draw a boat.", rd1), textOf("Here."), &content.Image{Source: &content.Base64{MediaType: "image/png", Data: "iVBORw0KGgo="}}),
		Stop:  upstream.Stop{Reason: content.StopEnd, RawReason: "stop"}, Usage: content.Usage{Input: 5, Output: 1300}},
	"E11.sse": {Start: upstream.Start{ID: "chatcmpl-S1", Model: "gpt-5.2"}, Parts: partsOf(textOf("Ahoy there.")),
		Stop: upstream.Stop{Reason: content.StopEnd, RawReason: "stop"}, Usage: content.Usage{Input: 12, Output: 5}},
	"E12.sse": {Start: upstream.Start{ID: "chatcmpl-S2", Model: "gpt-6-luna"}, Parts: partsOf(useOf("call_c1", "depth_at", `{"buoy":"B7"}`), useOf("call_c2", "chart", "{}")),
		Stop: upstream.Stop{Reason: content.StopToolUse, RawReason: "tool_calls"}},
	"E13.sse": {Start: upstream.Start{ID: "x1", Model: "m"},
		Parts: partsOf(thinkingPart("Two calls.", "reasoning"), useOf("call_q1", "depth_at", `{"buoy":"B7"}`), useOf("call_q2", "depth_at", `{"buoy":"B8"}`)),
		Stop:  upstream.Stop{Reason: content.StopToolUse, RawReason: "stop"}, Usage: content.Usage{Input: 40, Output: 30}},
	"E14.sse": {Start: upstream.Start{ID: "chatcmpl-AZ", Model: "gpt-5.2"}, Parts: partsOf(textOf("Hi.")), Stop: upstream.Stop{Reason: content.StopEnd, RawReason: "stop"}},
}

// example returns a document under testdata.
func example(t testing.TB, name string) string {
	t.Helper()
	return formattest.File(t, "testdata/"+name)
}

func TestChatExamples(t *testing.T) {
	for name, want := range chatExamples {
		t.Run(name, func(t *testing.T) {
			want.Stop.Format = Format
			got, err := collectChat(t, strings.NewReader(example(t, name)), ThinkTagsOff)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(upstream.Response{}, "NoUsageFrom")); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	got, err := collectChat(t, strings.NewReader(example(t, "E15.sse")), ThinkTagsOff)
	var e *upstream.Error
	if !errors.As(err, &e) || e.Code != upstream.CodeUnavailable || len(got.Parts) != 1 {
		t.Errorf("E15: %v, %v", err, got.Parts)
	}
}

// TestChatBuffered checks that Next does not read when Buffered returns true, and that
// Buffered returns true for deltas that arrive together.
func TestChatBuffered(t *testing.T) {
	one := chunkOf(`{"content":"a"}`)
	first := events(one, one, one)
	src := &halting{text: first}
	r := NewStreamReader(src, nil)
	halts := 0
	for range 3 {
		src.halted = r.Buffered()
		if src.halted {
			halts++
		}
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		src.halted = false
	}
	if halts != 1 || r.Buffered() {
		t.Errorf("%d of 2 deltas were buffered", halts)
	}
}

// A halting stream must not be read while it is halted.
type halting struct {
	text   string
	halted bool
}

func (h *halting) Read(p []byte) (int, error) {
	if h.halted {
		return 0, errors.New("Buffered before the first bytes")
	}
	n := copy(p, h.text)
	h.text = h.text[n:]
	if n == 0 {
		return 0, errors.New("the stream has ended")
	}
	return n, nil
}
