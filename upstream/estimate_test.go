package upstream_test

import (
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/race"
	"github.com/polywire/polywire/upstream"
)

// TestEstimateCleared checks that system turns count only while they apply.
func TestEstimateCleared(t *testing.T) {
	say := func(r content.Role, s string) content.Turn {
		return content.Turn{Role: r, Parts: []content.Part{&content.Text{Text: s}}}
	}
	brief := say(content.RoleSystem, "Answer in one short line, and in nothing more than that.")
	brief.Extra = &content.Extra{Format: "messages", JSON: `{"clear_at":"next_user_message"}`}
	ask, reply := say(content.RoleUser, "What is the capital of Chile?"), say(content.RoleAssistant, "Santiago.")
	count := func(turns ...content.Turn) int64 { return upstream.EstimateTokens(&upstream.Request{Turns: turns}) }

	if got, want := count(ask, brief, reply, ask), count(ask, reply, ask); got != want {
		t.Errorf("a text that no longer holds: %d tokens, want %d", got, want)
	}
	if got, less := count(ask, reply, ask, brief), count(ask, reply, ask); got <= less+8 {
		t.Errorf("a text that holds: %d tokens, and %d without it", got, less)
	}
	request := &upstream.Request{Turns: []content.Turn{ask, brief, reply, ask}}
	if n := testing.AllocsPerRun(100, func() { upstream.EstimateTokens(request) }); n > 1 && !race.Enabled {
		t.Errorf("%v allocations", n)
	}
}
