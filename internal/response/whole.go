package response

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Parts handles the parts of a candidate of a whole response, as complete blocks.
func (e *Engine[S]) Parts(candidate int, parts []content.Part) {
	var events [2]upstream.Event // outside of the loop: it escapes
	for _, p := range parts {
		events[0] = upstream.Event{Kind: upstream.EventOpen, Block: e.parts, Candidate: candidate, Part: p}
		events[1] = upstream.Event{Kind: upstream.EventClose, Block: e.parts, Candidate: candidate}
		e.Events(events[:])
		e.parts++
	}
}
