package messages

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/response"
	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/lossplaces"
	"github.com/polywire/polywire/upstream"
)

// idsOf returns the ids of the tool calls in a response to a conversation, streamed and
// whole, and the reported losses.
func idsOf(t *testing.T, turns []content.Turn, ids []string) (streamed, whole []string, lost [2][]content.Loss) {
	t.Helper()
	up := upstream.Func(func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
		for i, id := range ids {
			_ = w.Send([]upstream.Event{{Kind: upstream.EventOpen, Block: i, Part: &content.ToolUse{ID: id, Name: "n"}},
				{Kind: upstream.EventClose, Block: i}})
		}
		return nil
	})
	s := newStream("req_1", "msg_1", "m", turns)
	var out []byte
	sink := upstream.SinkFunc(func(es []upstream.Event) error { out = s.Events(out, es); return nil })
	if err := upstream.Run(t.Context(), up, &upstream.Request{}, sink); err != nil {
		t.Fatal(err)
	}
	a, err := formattest.ReadMessage(string(s.End(out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range a.Object["content"].([]any) {
		streamed = append(streamed, fmt.Sprint(b.(map[string]any)["id"]))
	}
	reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	res, list := convertResponse(reply, turns, placement{})
	for _, p := range res.Content {
		whole = append(whole, p.(*content.ToolUse).ID)
	}
	return streamed, whole, [2][]content.Loss{lossplaces.Of(s.Losses()), lossplaces.Of(list)}
}

// TestRepeatedIDs checks that a tool call with the id of another call of the conversation
// gets a new id, which is reported.
func TestRepeatedIDs(t *testing.T) {
	turns := []content.Turn{
		{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "call_0"}, &content.ToolUse{ID: "toolu_pw2"}}},
		{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "call_0"}, &content.ToolResult{ID: "toolu_pw2"}}},
	}
	vendorIDs := []string{"call_0", "a", "a", "toolu_pw2", "", "toolu_pw5", "b"}
	want := []string{"toolu_pw3", "a", "toolu_pw4", "toolu_pw5", "toolu_pw6", "toolu_pw7", "b"}
	streamed, whole, lost := idsOf(t, turns, vendorIDs)
	if diff := cmp.Diff([][]string{want, want}, [][]string{streamed, whole}); diff != "" {
		t.Errorf("streamed and whole (-want +got):\n%s", diff)
	}
	var wantLosses []content.Loss
	for i, id := range vendorIDs {
		if id != "" && want[i] != id {
			wantLosses = append(wantLosses, response.LossCallID.At(fmt.Sprint("parts.", i)))
		}
	}
	if diff := cmp.Diff([2][]content.Loss{wantLosses, wantLosses}, lost); diff != "" {
		t.Errorf("losses, streamed and whole (-want +got):\n%s", diff)
	}
}

// TestNamelessCall checks that a tool call without a name is dropped, and that the stop
// reason reports it.
func TestNamelessCall(t *testing.T) {
	for name, tt := range map[string]struct {
		calls []string
		stop  upstream.Stop
		word  string
		lost  []string
	}{
		"alone":              {[]string{""}, upstream.Stop{Reason: content.StopToolUse}, "max_tokens", []string{"dropped parts.0", "degraded stop"}},
		"without reason":     {[]string{""}, upstream.Stop{}, "max_tokens", []string{"dropped parts.0", "degraded stop"}},
		"after another call": {[]string{"", "n"}, upstream.Stop{Reason: content.StopToolUse}, "max_tokens", []string{"dropped parts.0", "degraded stop"}},
		"an ordinary end": {[]string{""}, upstream.Stop{Reason: content.StopEnd, Format: Format, RawReason: "end_turn"}, "max_tokens",
			[]string{"dropped parts.0", "degraded stop"}},
		"cut":                      {[]string{""}, upstream.Stop{Reason: content.StopMaxTokens}, "max_tokens", []string{"dropped parts.0"}},
		"none":                     {nil, upstream.Stop{Reason: content.StopToolUse}, "max_tokens", []string{"degraded stop"}},
		"raw reason of the vendor": {nil, upstream.Stop{Reason: content.StopToolUse, Format: Format, RawReason: "tool_use"}, "tool_use", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var events []upstream.Event
			r := &upstream.Response{Stop: tt.stop}
			named := 0
			for i, s := range tt.calls {
				c := &content.ToolUse{ID: fmt.Sprintf("c%d", i), Name: s}
				r.Parts = append(r.Parts, c)
				events = append(events, upstream.Event{Kind: upstream.EventOpen, Block: i, Part: c}, upstream.Event{Kind: upstream.EventClose, Block: i})
				if s != "" {
					named++
				}
			}
			res, losses := convertResponse(r, nil, placement{})
			var lost []string
			lost = append(lost, lossplaces.Names(losses)...)
			if diff := cmp.Diff(tt.lost, lost); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			if len(res.Content) != named || res.StopReason != tt.word {
				t.Errorf("%d parts, stop reason %s; want %d, %s", len(res.Content), res.StopReason, named, tt.word)
			}
			s := newStream("req_1", "msg_1", "m", nil)
			out := s.Events(nil, append(events, upstream.Event{Kind: upstream.EventStop, Stop: &tt.stop}))
			a, err := formattest.ReadMessage(string(s.End(out, nil)))
			if err != nil {
				t.Fatal(err)
			}
			if got := len(a.Object["content"].([]any)); got != named || a.Object["stop_reason"] != tt.word {
				t.Errorf("streamed: %d parts, stop reason %v; want %d, %s", got, a.Object["stop_reason"], named, tt.word)
			}
		})
	}
}
