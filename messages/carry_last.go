package messages

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/seal"
)

// Nothing is carried behind the text that ends an answer: agents print the last
// block, and would print nothing. Vendors that sign such texts do not ask for
// the signature. What is carried behind texts waits until something follows.

// A heldBack is an envelope that waits.
type heldBack struct {
	part int // whose signature it is
	data string
}

// A heldList is what waits. It is bounded, for streams that never end.
type heldList struct {
	list []heldBack
	size int
}

// hold keeps what carries the signature of a text, or of what stood in its
// place.
func (w *heldList) hold(part int, sig content.Signature, k seal.Kind, lost lose) {
	data := sealed(sig, k, lost)
	if data == "" {
		return
	}
	if w.size += len(data) + heldCost; w.size > 2*seal.MaxSize {
		w.size -= len(data) + heldCost
		lost(seal.TooLarge)
		return
	}
	w.list = append(w.list, heldBack{part, data})
}

const heldCost = 256 // bytes of an envelope in the list beside its data, at most

// take empties the list, which is valid until the next hold.
func (w *heldList) take() []heldBack {
	list := w.list
	w.list, w.size = w.list[:0], 0
	return list
}

// besideText is how the signature of a text is carried behind it. Clients leave
// out texts that say nothing, and then it must not be taken for another part's.
func besideText(says bool) seal.Kind {
	if says {
		return seal.Last
	}
	return seal.Alone
}

// skipped reports whether clients may leave out a text: it is nothing but white
// space to one of them.
func skipped(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && r != '\uFEFF' })
}

func saysNothing(t *content.Text) bool {
	return t.Text == "" && len(t.Citations) == 0 && t.Extra == nil
}

// letGo gives up what nothing follows.
func (s *stream) letGo() {
	for _, h := range s.held.take() {
		s.lose(h.part, unsaidLast)
	}
}

// A blockList is the blocks of a whole answer. It has the blocks that a stream
// has whose events come at once.
type blockList struct {
	blocks []content.Part
	held   heldList
}

// add adds the block that p is, which was from, the answer's part with the given
// number. An empty text, which clients could not give back, is nothing but its
// signature.
func (l *blockList) add(part int, from, p content.Part, lost lose) {
	sig := beside(from)
	t, isText := p.(*content.Text)
	switch {
	case isText && sig.Data != "" && saysNothing(t):
	case isText && sig.Data != "" && skipped(t.Text):
		l.follow(p)
	case sig.Data != "":
		l.follow(nil)
		if data := sealed(sig, inFront(p), lost); data != "" {
			l.blocks = append(l.blocks, envelopeBlock(data))
		}
		l.blocks = append(l.blocks, p)
		return
	default:
		l.follow(p)
		return
	}
	l.held.hold(part, sig, seal.Alone, lost)
}

// follow adds what waits, and a block behind it.
func (l *blockList) follow(p content.Part) {
	for _, h := range l.held.take() {
		l.blocks = append(l.blocks, envelopeBlock(h.data))
	}
	if p != nil {
		l.blocks = append(l.blocks, p)
	}
}

// end returns all blocks, and what is lost behind the last text.
func (l *blockList) end() (blocks []content.Part, lost []content.Loss) {
	if n := len(l.blocks); n > 0 {
		if _, ok := l.blocks[n-1].(*content.Text); ok {
			return l.blocks, losses(l.held.take(), unsaidLast)
		}
	}
	l.follow(nil)
	return l.blocks, nil
}

func losses(list []heldBack, r *loss.Rule) (lost []content.Loss) {
	for _, h := range list {
		lost = append(lost, r.At("parts."+strconv.Itoa(h.part)))
	}
	return lost
}
