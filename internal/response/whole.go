package response

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Parts handles the parts of a candidate of a whole response, as complete blocks.
func (e *Engine[S]) Parts(candidate int, parts []content.Part) {
	for _, p := range parts {
		e.Events([]upstream.Event{
			{Kind: upstream.EventOpen, Block: e.parts, Candidate: candidate, Part: p},
			{Kind: upstream.EventClose, Block: e.parts, Candidate: candidate},
		})
		e.parts++
	}
}

// Whole has the methods of a [Format] that are never called for a whole response: it has no
// other events, and no frames of a stream.
type Whole[S any] struct{}

func (Whole[S]) Other(*Block[S], *upstream.Event)                  {}
func (Whole[S]) CanForward(*upstream.Frame, []upstream.Event) bool { return false }
func (Whole[S]) Forward(*upstream.Frame, []upstream.Event)         {}
func (Whole[S]) Tracked(*Block[S], *upstream.Event)                {}
