package messages

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

func opens(block int, p content.Part) upstream.Event {
	return upstream.Event{Kind: upstream.EventOpen, Block: block, Part: p}
}

func callNamed(name string) *content.ToolUse { return &content.ToolUse{ID: name, Name: name} }

func argues(block int, piece string) upstream.Event {
	return upstream.Event{Kind: upstream.EventInput, Block: block, Text: piece}
}

func closes(block int) upstream.Event { return upstream.Event{Kind: upstream.EventClose, Block: block} }

func ended(why content.StopReason) upstream.Event {
	return upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: why}}
}

// TestCallBegins checks when the block of a call begins, and what of its
// arguments goes out with which events.
func TestCallBegins(t *testing.T) {
	const begins, ends = "begins", "ends"
	for name, tt := range map[string]struct {
		batches [][]upstream.Event
		want    []string // of each batch, and of the end: whether a block begins, the pieces, whether it ends
	}{
		"with the brace": {[][]upstream.Event{{opens(0, callNamed("f"))}, {argues(0, " ")}, {argues(0, "\n{\"a\"")}, {argues(0, ":1}")}, {closes(0)}},
			[]string{"", "", begins + "|| \n{\"a\"", ":1}", ends, ""}},
		"at its end": {[][]upstream.Event{{opens(0, callNamed("f"))}, {argues(0, "nu")}, {argues(0, "ll")}, {closes(0)}}, []string{"", "", "", begins + "||" + ends, ""}},
		"null":       {[][]upstream.Event{{opens(0, callNamed("f"))}, {argues(0, "nu"), argues(0, "ll")}, {closes(0)}}, []string{"", "", begins + "||" + ends, ""}},
		"at once": {[][]upstream.Event{{opens(0, &content.ToolUse{Name: "f", Input: `{"a":1}`}), closes(0)}},
			[]string{begins + "||{\"a\":1}|" + ends, ""}},
		"at once, in pieces": {[][]upstream.Event{{opens(0, &content.ToolUse{Name: "f", Input: `[1]`}), argues(0, "{"), argues(0, "}"), closes(0)}},
			[]string{begins + "||{|}|" + ends, ""}},
		"at once, pieces of white space":       {[][]upstream.Event{{opens(0, callNamed("f")), argues(0, " "), argues(0, "{}"), closes(0)}}, []string{begins + "|| |{}|" + ends, ""}},
		"at once, broken inside":               {[][]upstream.Event{{opens(0, callNamed("f")), argues(0, "{"), argues(0, "x}"), closes(0)}}, []string{"", ""}},
		"too late, broken inside":              {[][]upstream.Event{{opens(0, callNamed("f"))}, {argues(0, "{")}, {argues(0, "x}"), closes(0)}}, []string{"", begins + "||{", "x}|" + ends, ""}},
		"its arguments at once, broken inside": {[][]upstream.Event{{opens(0, callNamed("f"))}, {argues(0, " ")}, {argues(0, "{"), argues(0, "x}"), closes(0)}}, []string{"", "", "", ""}},
		"its arguments at once":                {[][]upstream.Event{{opens(0, callNamed("f"))}, {argues(0, " ")}, {argues(0, "{"), argues(0, "}"), closes(0)}}, []string{"", "", begins + "|| {|}|" + ends, ""}},
		"never":                                {[][]upstream.Event{{opens(0, callNamed("f"))}, {argues(0, "[")}, {argues(0, "{}]")}, {closes(0)}}, []string{"", "", "", "", ""}},
		"before another block": {[][]upstream.Event{{opens(0, callNamed("f"))}, {opens(1, &content.Text{})}, {argues(0, "{}")}, {closes(0)}},
			[]string{"", begins + "||" + begins, "{}", ends, ""}},
		"before another block, and broken": {[][]upstream.Event{{opens(0, callNamed("f"))}, {opens(1, &content.Text{})}, {argues(0, "[1]")}, {closes(0)}},
			[]string{"", begins + "||" + begins, "", "[1]|" + ends, ""}},
		"before another call": {[][]upstream.Event{{opens(0, callNamed("f"))}, {opens(1, callNamed("g"))}, {argues(1, "{}")}, {closes(1)}, {closes(0)}},
			[]string{"", "", begins + "||" + begins + "||{}", ends, ends, ""}},
		"not before another call": {[][]upstream.Event{{opens(0, callNamed("f"))}, {argues(0, "17")}, {opens(1, callNamed("g")), argues(1, "{}"), closes(1)}, {closes(0)}},
			[]string{"", "", begins + "||{}|" + ends, "", ""}},
		"with the end of the answer": {[][]upstream.Event{{opens(0, callNamed("f")), closes(0)}, {ended(content.StopToolUse)}}, []string{"", "", begins + "||" + ends}},
		"with what follows it": {[][]upstream.Event{{opens(0, callNamed("f"))}, {argues(0, " ")}, {closes(0)}, {opens(1, callNamed("g"))}, {ended(content.StopMaxTokens)}},
			[]string{"", "", "", begins + "||" + ends, "", ""}},
		"not where the answer is cut": {[][]upstream.Event{{opens(0, callNamed("f"))}, {argues(0, " ")}, {closes(0)}, {ended(content.StopMaxTokens)}}, []string{"", "", "", "", ""}},
		"though something else is cut": {[][]upstream.Event{{opens(0, callNamed("f"))}, {opens(1, &content.Text{})}, {closes(0)}, {ended(content.StopMaxTokens)}},
			[]string{"", begins + "||" + begins, ends, "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStream("req_1", "msg_1", "m", nil)
			var got []string
			for i := range len(tt.batches) + 1 {
				var out []byte
				if i < len(tt.batches) {
					out = s.Events(out, tt.batches[i])
				} else {
					out = s.End(out, nil)
				}
				events, err := readStream(string(out))
				if err != nil {
					t.Fatal(err)
				}
				var steps []string
				for _, e := range events {
					switch e.name {
					case "content_block_start":
						steps = append(steps, begins)
					case "content_block_delta":
						steps = append(steps, fmt.Sprint(e.data["delta"].(map[string]any)["partial_json"]))
					case "content_block_stop":
						steps = append(steps, ends)
					}
				}
				got = append(got, strings.Join(steps, "|"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSignedCallWaits checks that the signature of a call is in its id where it
// comes before its block begins, and goes with a call that is left out.
func TestSignedCallWaits(t *testing.T) {
	sign := upstream.Event{Kind: upstream.EventSignature, Block: 0, Signature: new(theirSign("MQ=="))}
	id, _ := envelope.EncodeID("f", envelope.Envelope{Format: theirs, Kind: envelope.KindPart, Data: "MQ=="})
	for args, want := range map[string][]any{
		"{}": {
			map[string]any{"type": "tool_use", "id": id, "name": "f", "input": map[string]any{}, "caller": map[string]any{"type": "direct"}},
		},
		"17": {},
	} {
		stream, lost := encode([][]upstream.Event{{opens(0, callNamed("f"))}, {sign}, {argues(0, args)}, {closes(0)}, {sign}})
		a, err := accumulate(stream)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, a.message["content"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
		if args == "{}" {
			continue
		}
		if diff := cmp.Diff([]string{"degraded stop", "dropped parts.0"}, lossNames(lost)); diff != "" {
			t.Errorf("losses (-want +got):\n%s", diff)
		}
	}
}

// TestBrokenQuery checks that a call of the vendor's own tools, whose result may
// follow, stays without its arguments if they are broken, and that the answer ends
// as it does: clients run none of these.
func TestBrokenQuery(t *testing.T) {
	up := upstream.Func(func(_ ctx, _ *upstream.Request, w *upstream.Writer) error {
		_ = w.Part(&content.ServerToolUse{Format: Format, Kind: "server_tool_use", ID: "s", Name: "web_search", Input: "[1]"})
		return w.Stop(upstream.Stop{Reason: content.StopEnd})
	})
	stream, lost := drive(t, up)
	a, err := accumulate(stream)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := upstream.Collect(t.Context(), up, &upstream.Request{})
	if err != nil {
		t.Fatal(err)
	}
	res, whole := ResponseFromUpstream(reply)
	want := []content.Loss{unsaidQuery.At("parts.0")}
	if diff := cmp.Diff([][]content.Loss{want, want}, [][]content.Loss{lost, whole}); diff != "" {
		t.Errorf("losses, streamed and whole (-want +got):\n%s", diff)
	}
	block := a.message["content"].([]any)[0].(map[string]any)
	if len(block["input"].(map[string]any)) > 0 || a.message["stop_reason"] != "end_turn" {
		t.Errorf("streamed: %v", a.message)
	}
	if q := res.Content[0].(*content.ServerToolUse); q.Input != "" || res.StopReason != "end_turn" {
		t.Errorf("whole: %+v, %s", q, res.StopReason)
	}
}

// TestArgumentsBounded checks that arguments without an end are not kept.
func TestArgumentsBounded(t *testing.T) {
	s := newStream("req_1", "msg_1", "m", nil)
	s.Events(nil, []upstream.Event{opens(0, callNamed("f")), opens(1, callNamed("g"))})
	long := strings.Repeat(" ", maxHeld/2)
	s.Events(nil, []upstream.Event{argues(0, long), argues(1, long)})
	if err := s.Err(); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	s.Events(nil, []upstream.Event{closes(0), opens(2, callNamed("h")), argues(2, long)})
	if err := s.Err(); err != nil {
		t.Errorf("when one is over: %v", err)
	}
	s.Events(nil, []upstream.Event{argues(1, " ")})
	if err := s.Err(); err != errHeld {
		t.Errorf("beyond the limit: %v", err)
	}
}
