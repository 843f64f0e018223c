package generatecontent

import (
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/upstream"
)

// heldPieces is a run of pieces of a stream that is not returned yet, because a
// call among them is not whole.
type heldPieces struct {
	data   []string
	events []upstream.Event
	size   int  // of the data, in bytes
	odd    bool // one of them deviates from the format
}

// maxHeldPieces bounds the data of a run, in bytes.
const maxHeldPieces = 16 << 20

// add adds the document that d has read. It returns false, and adds nothing, if
// the run would be too large.
func (h *heldPieces) add(d *decoder) bool {
	if h.size+len(d.source) > maxHeldPieces {
		return false
	}
	if d.doc.Replacements() > 0 {
		d.lose(codec.ResponseNotUnicode, "parts")
	}
	h.size += len(d.source)
	h.data = append(h.data, d.source)
	h.events = append(h.events, d.events...)
	h.odd = h.odd || d.odd
	return true
}

// release puts the run in front of what f has, and forgets it.
func (h *heldPieces) release(f *upstream.Frame) {
	f.Preceding = h.data
	if len(h.data) == 0 {
		return
	}
	f.Events = append(h.events, f.Events...)
	if h.odd {
		f.Format = ""
	}
	*h = heldPieces{}
}

// inCall reports whether a call is not whole, and the pieces of all such calls can
// still be in one frame.
func (d *decoder) inCall() bool {
	open := false
	for i := range d.answers {
		if c := d.answers[i].call; c != nil {
			if c.split {
				return false
			}
			open = true
		}
	}
	return open
}

// split reports whether the frame at hand ends within a call. Then no piece of the
// call is written as it came.
func (d *decoder) split() bool {
	open := false
	for i := range d.answers {
		if c := d.answers[i].call; c != nil {
			open, c.split = true, true
		}
	}
	return open
}
