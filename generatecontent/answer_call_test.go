package generatecontent

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestNamelessCall checks that a call without a name, which clients could not
// run, is left out and reported, and no other.
func TestNamelessCall(t *testing.T) {
	r := &upstream.Response{Parts: []content.Part{&content.ToolUse{ID: "a"}, &content.ToolUse{ID: "b", Name: "f"}}}
	res, losses := ResponseFromUpstream(r)
	want := []content.Loss{unsaidName.At("parts.0")}
	if diff := cmp.Diff(want, losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	parts := res.Candidates[0].Parts
	if len(parts) != 1 || parts[0].(*content.ToolUse).Name != "f" {
		t.Errorf("the answer holds %v", parts)
	}
}

// TestCallWaits checks that a call without arguments goes out with what shows
// that it is whole, and not at all where the answer is cut behind it.
func TestCallWaits(t *testing.T) {
	open := func(block, candidate int, p content.Part) upstream.Event {
		return upstream.Event{Kind: upstream.EventOpen, Block: block, Candidate: candidate, Part: p}
	}
	shut := upstream.Event{Kind: upstream.EventClose}
	argue := func(s string) upstream.Event { return upstream.Event{Kind: upstream.EventInput, Text: s} }
	stop := func(r content.StopReason) upstream.Event {
		return upstream.Event{Kind: upstream.EventStop, Stop: &upstream.Stop{Reason: r}}
	}
	call, other, cut := &content.ToolUse{Name: "f"}, &content.ToolUse{Name: "g"}, []content.Loss{unsaidCut.At("parts.0")}
	for name, tt := range map[string]struct {
		batches [][]upstream.Event
		out     int // which batch it goes out with; one more is the end; -1: none
		losses  []content.Loss
	}{
		"the end":                  {[][]upstream.Event{{open(0, 0, call)}, {shut}, {stop(content.StopToolUse)}}, 2, nil},
		"an end without a reason":  {[][]upstream.Event{{open(0, 0, call), shut}}, 1, nil},
		"another call":             {[][]upstream.Event{{open(0, 0, call), shut}, {open(1, 0, other)}, {stop(content.StopMaxTokens)}}, 1, nil},
		"a text":                   {[][]upstream.Event{{open(0, 0, call), shut}, {open(1, 0, &content.Text{})}, {stop(content.StopMaxTokens)}}, 1, nil},
		"a text before its close":  {[][]upstream.Event{{open(0, 0, call)}, {open(1, 0, &content.Text{})}, {shut}, {stop(content.StopMaxTokens)}}, 2, nil},
		"an empty object":          {[][]upstream.Event{{open(0, 0, call), argue("{}")}, {shut}, {stop(content.StopMaxTokens)}}, 1, nil},
		"another candidate's text": {[][]upstream.Event{{open(0, 0, call), shut}, {open(1, 1, &content.Text{})}, {stop(content.StopToolUse)}}, 2, nil},
		"a cut":                    {[][]upstream.Event{{open(0, 0, call)}, {shut}, {stop(content.StopMaxTokens)}}, -1, cut},
		"a cut behind white space": {[][]upstream.Event{{open(0, 0, call), argue(" ")}, {shut}, {stop(content.StopContext)}}, -1, cut},
		"a cut, all at once":       {[][]upstream.Event{{open(0, 0, call), shut, stop(content.StopSafety)}}, -1, cut},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStream(inEvents, "r", "m", maxBody)
			out, all := -1, ""
			for i, batch := range append(tt.batches, nil) {
				var b []byte
				if b = s.Events(b, batch); i == len(tt.batches) {
					b = s.End(b, nil)
				}
				if all += string(b); strings.Contains(string(b), `"name":"f"`) {
					out = i
				}
			}
			mustHear(t, inEvents, all)
			if out != tt.out || s.held != 0 {
				t.Errorf("it goes out with batch %d, want %d; %d bytes are held\n%s", out, tt.out, s.held, all)
			}
			lost := slices.DeleteFunc(s.Losses(), func(l content.Loss) bool { return l.Path == "stop" })
			if diff := cmp.Diff(tt.losses, lost, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}
