package messages

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestRequestOfOrphans checks that each result without a call is told at a path
// of its own, whatever its id, and that results keep their calls.
func TestRequestOfOrphans(t *testing.T) {
	text := func(s string) *content.Text { return &content.Text{Text: s} }
	result := func(id, s string) *content.ToolResult {
		return &content.ToolResult{ID: id, Parts: []content.Part{text(s)}}
	}
	n := &upstream.Request{Turns: []content.Turn{
		{Role: content.RoleUser, Parts: []content.Part{text("q")}},
		{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "c1", Name: "n"}, &content.ToolUse{ID: "c2", Name: "n"}}},
		{Role: content.RoleUser, Parts: []content.Part{text(" "), result("", "a"), result("c2", "two"), result("", "b")}},
		{Role: content.RoleUser, Parts: []content.Part{result("x", "c"), result("c1", "one"), result("x", "d"), result("c1", "again")}},
	}}
	r, losses := RequestFromUpstream(n)
	var orphans []string
	for _, l := range losses {
		if requestLosses[lostOrphan].Of(l) {
			orphans = append(orphans, l.Path)
		}
	}
	want := []string{"turns.2.parts.1", "turns.2.parts.3", "turns.3.parts.0", "turns.3.parts.2", "turns.3.parts.3"}
	if diff := cmp.Diff(want, orphans); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	said := []content.Part{result("c2", "two"), result("c1", "one"), text("a"), text("b"), text("c"), text("d"), text("again")}
	if diff := cmp.Diff(said, r.Messages[len(r.Messages)-1].Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

// TestRequestOfNamelessFiles checks that a result that points at files may hold
// some that are nothing.
func TestRequestOfNamelessFiles(t *testing.T) {
	var none *content.Base64
	n := &upstream.Request{Turns: []content.Turn{
		{Role: content.RoleAssistant, Parts: []content.Part{&content.ToolUse{ID: "1", Name: "n"}}},
		{Role: content.RoleUser, Parts: []content.Part{&content.ToolResult{ID: "1", Object: `{"$ref":"f"}`,
			Parts: []content.Part{nil, (*content.Image)(nil), &content.Image{Source: none}, &content.Document{}}}}},
	}}
	RequestFromUpstream(n) // does not panic
}
