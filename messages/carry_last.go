package messages

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
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
func (w *heldList) hold(part int, sig content.Signature, k envelope.Kind, lost lose) {
	data := sealed(sig, k, lost)
	if data == "" {
		return
	}
	if w.size += len(data) + heldCost; w.size > 2*envelope.MaxSize {
		w.size -= len(data) + heldCost
		lost(envelope.TooLarge)
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
func besideText(says bool) envelope.Kind {
	if says {
		return envelope.Last
	}
	return envelope.Alone
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
	carriage
	list    []content.Part
	held    heldList
	pending envelope.Pending // what the id of the next call carries
	room    int
	free    *content.Thinking // the last one with a text and without a signature, which can carry that of a call
	carried bool              // blocks before the next call carry state
	own     bool              // the response is of this format's own vendor
	ids     idMaker
	calls   int
	note    func(path string, r *loss.Rule)
}

// lose notes the loss of a part.
func (l *blockList) lose(part int, r *loss.Rule) { l.note(partPath(part), r) }

// add adds the block that p is, which was from, the answer's part with the given
// number. An empty text, which clients could not give back, is nothing but its
// signature.
func (l *blockList) add(part int, from, p content.Part, lost lose) {
	switch p := p.(type) {
	case *content.Thinking: // a copy
		l.thinking(part, from.(*content.Thinking), p, lost)
		return
	case *content.ToolUse: // a copy
		l.call(part, beside(from), p, lost)
		return
	case *content.Text:
		l.carriage.passText(&l.pending, p.Text)
	}
	sig := beside(from)
	t, isText := p.(*content.Text)
	empty := isText && saysNothing(t)
	switch {
	case sig.Data == "":
		l.follow(p)
	case optional(sig):
		lost(unsaidTextSignature)
		if !empty {
			l.follow(p)
		}
	case !l.blocks:
		if !empty {
			l.follow(p)
		}
		l.pending.AddText(part, sig, &l.room)
	case empty:
		l.held.hold(part, sig, envelope.Alone, lost)
	case skipped(t.Text):
		l.follow(p)
		l.held.hold(part, sig, envelope.Alone, lost)
	default:
		l.follow(nil)
		if data := sealed(sig, envelope.Next, lost); data != "" {
			l.carry(data)
		}
		l.list = append(l.list, p)
	}
}

// thinking adds a block of thinking, or keeps what the next call carries.
func (l *blockList) thinking(part int, from, p *content.Thinking, lost lose) {
	hidden := l.hidden && !l.own && from.Redacted.Format != Format && from.Signature.Format != Format
	if !l.blocks {
		l.pending.Whole(part, toCollect(from), &l.room)
	}
	switch {
	case hidden && !l.collects(from.Signature) && !l.collects(from.Redacted):
		lost(unsaidThinking)
		return
	case hidden || l.collectsOnly(from):
		return
	}
	l.follow(p)
	l.carried = l.carried || foreign(from.Redacted) || foreign(from.Signature)
	if p.Redacted.Data == "" && p.Signature.Data == "" {
		p.Signature = content.Signature{Format: Format, Data: envelope.Unsigned}
		if p.Text != "" {
			l.free = p
		}
	}
}

// call adds a call, with its state in its id or in the thinking before it.
func (l *blockList) call(part int, sig content.Signature, p *content.ToolUse, lost lose) {
	l.follow(nil)
	l.calls++
	if l.ids.name(p) {
		lost(unsaidID)
	}
	if _, ok := envelope.MarkID(p.ID); ok && l.blocks && l.free != nil && sig.Data != "" {
		if data, ok := envelope.SealCall(sig, p.ID); ok {
			l.free.Signature.Data, l.free = data, nil
			sig, l.carried = content.Signature{}, true
		}
	}
	p.ID = callID(p.ID, sig, l.blocks && l.carried, &l.pending, &l.room, l.lose, lost)
	l.carried = false
	l.pending.Passed(p)
	l.list = append(l.list, p)
}

// carry adds a block that carries an envelope.
func (l *blockList) carry(data string) {
	l.list = append(l.list, envelopeBlock(data))
	l.carried = true
}

// follow adds what waits, and a block behind it.
func (l *blockList) follow(p content.Part) {
	for _, h := range l.held.take() {
		l.carry(h.data)
	}
	if p != nil {
		l.list = append(l.list, p)
	}
}

// end returns all blocks, and what is lost behind the last text.
func (l *blockList) end() (blocks []content.Part, lost []content.Loss) {
	l.carriage.rest(&l.pending, l.lose)
	if n := len(l.list); n > 0 {
		if _, ok := l.list[n-1].(*content.Text); ok {
			return l.list, losses(l.held.take(), unsaidLast)
		}
	}
	l.follow(nil)
	return l.list, nil
}

func losses(list []heldBack, r *loss.Rule) (lost []content.Loss) {
	for _, h := range list {
		lost = append(lost, r.At("parts."+strconv.Itoa(h.part)))
	}
	return lost
}
