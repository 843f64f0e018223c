package callid

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func TestMaker(t *testing.T) {
	m := Maker{Prefix: "call_"}
	for _, tt := range []struct{ see, want string }{
		{"", "call_0"}, {"call_0", "call_1"}, {"call_7", "call_8"}, {"call_3", "call_8"}, {"call_x", "call_8"}, {"call_", "call_8"},
		{"other_9", "call_8"}, {"call_1073741824", "call_8"}, {"call_-9", "call_8"}, {"call_1073741823", "call_1073741824"},
	} {
		m.See(tt.see)
		if got := m.Make(); got != tt.want {
			t.Errorf("after %q: %q, want %q", tt.see, got, tt.want)
		}
	}
}

func TestAll(t *testing.T) {
	turns := []content.Turn{
		{Parts: []content.Part{&content.Text{Text: "a"}, &content.ToolUse{ID: "1"}, (*content.ToolUse)(nil), nil}},
		{Parts: []content.Part{&content.ToolResult{ID: "2"}, &content.ToolUse{}, (*content.ToolResult)(nil)}},
	}
	if diff := cmp.Diff([]string{"1", "2"}, slices.Collect(All(turns))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for id := range All(turns) {
		if id != "1" {
			t.Errorf("got %s after the loop was left", id)
		}
		break
	}
}
