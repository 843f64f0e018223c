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
