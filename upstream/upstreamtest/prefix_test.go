package upstreamtest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai"
	"github.com/polywire/polywire/upstream/upstreamtest"
)

func TestCheckPrefixes(t *testing.T) {
	turn := func(r content.Role, parts ...content.Part) content.Turn { return content.Turn{Role: r, Parts: parts} }
	text := func(s string) content.Part { return &content.Text{Text: s} }
	last := &upstream.Request{
		Model: "m", Tools: []content.Tool{{Name: "f"}},
		Turns: []content.Turn{
			turn(content.RoleUser, text("a")),
			turn(content.RoleAssistant, &content.ToolUse{ID: "t1", Name: "f", Input: "{}"}, &content.ToolUse{ID: "t2", Name: "f", Input: "{}"}),
			turn(content.RoleUser, &content.ToolResult{ID: "t1"}), // the other result is in the next turn
			turn(content.RoleAssistant, text("b")),
			turn(content.RoleUser, &content.ToolResult{ID: "t2"}),
			turn(content.RoleUser, text("c")),
			turn(content.RoleAssistant, text("d")),
			turn(content.RoleUser, text("e")),
		},
	}
	list := upstreamtest.Conversation(last)
	var lengths []int
	for _, r := range list {
		lengths = append(lengths, len(r.Turns))
	}
	if len(lengths) != 3 || lengths[0] != 1 || lengths[1] != 6 || list[2] != last {
		t.Fatalf("requests of %v turns", lengths)
	}
	up, err := openai.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := upstreamtest.CheckPrefixes(t.Context(), up, upstreamtest.Conversation(last)[1:]...); err != nil {
		t.Error(err)
	}
	// This Upstream sends only the last three turns.
	short := upstream.Edit(up, func(_ context.Context, r *upstream.Request) (*upstream.Request, error) {
		r = r.Clone()
		r.Turns = r.Turns[max(0, len(r.Turns)-3):]
		return r, nil
	})
	if err := upstreamtest.CheckPrefixes(t.Context(), short, list[1:]...); err == nil || !strings.Contains(err.Error(), "request 2 of 2") {
		t.Errorf("the error is %v", err)
	}
}
