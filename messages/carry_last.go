package messages

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
)

// A response carries nothing after the text that ends it: agents print the last
// block. Vendors do not need the signature of that text. Envelopes after a text are
// held until another block follows.

// A heldEnvelope is an envelope that is held.
type heldEnvelope struct {
	part int // the index of the part with the signature
	data string
}

// heldEnvelopes is the list of held envelopes. Its size is limited, for streams that
// never end.
type heldEnvelopes struct {
	list []heldEnvelope
	size int
}

// hold adds an envelope with the signature of a text, or of an empty text.
func (w *heldEnvelopes) hold(part int, sig content.Signature, k envelope.Kind, lost lose) {
	data := encodeEnvelope(sig, k, lost)
	if data == "" {
		return
	}
	if w.size += len(data) + heldCost; w.size > 2*envelope.MaxSize {
		w.size -= len(data) + heldCost
		lost(envelope.TooLarge)
		return
	}
	w.list = append(w.list, heldEnvelope{part, data})
}

const heldCost = 256 // upper bound of the bytes of a held envelope besides its data

// take empties the list and returns it. The result is valid until the next hold.
func (w *heldEnvelopes) take() []heldEnvelope {
	list := w.list
	w.list, w.size = w.list[:0], 0
	return list
}

// heldKind returns the kind of the envelope after a text. Clients drop blank texts;
// the signature must not be attached to another text then.
func heldKind(says bool) envelope.Kind {
	if says {
		return envelope.KindPreviousText
	}
	return envelope.KindEmptyText
}

// mayBeDropped reports whether clients may drop a text: some client regards it as
// white space.
func mayBeDropped(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && r != '\uFEFF' })
}

func isEmptyText(t *content.Text) bool {
	return t.Text == "" && len(t.Citations) == 0 && t.Extra == nil
}

// dropHeld drops and reports the envelopes that no block follows.
func (s *stream) dropHeld() {
	for _, h := range s.held.take() {
		s.lose(h.part, unsaidLast)
	}
}

// A blockList is the blocks of a whole response. They are the blocks of a stream whose
// events arrive at once.
type blockList struct {
	placement
	list    []content.Part
	held    heldEnvelopes
	pending envelope.Pending // the state for the id of the next call
	room    int
	free    *content.Thinking // the last unsigned block with text, which can carry the signature of a call
	carried bool              // blocks before the next call carry state
	own     bool              // the response is of this format's own vendor
	ids     idMaker
	calls   int
	note    func(path string, r *loss.Rule)
}

// lose reports the loss of a part.
func (l *blockList) lose(part int, r *loss.Rule) { l.note(partPath(part), r) }

// add adds the block p for the part from, which has the given index in the response.
// For an empty text, which clients drop, it adds only the signature.
func (l *blockList) add(part int, from, p content.Part, lost lose) {
	switch p := p.(type) {
	case *content.Thinking: // a copy
		l.thinking(part, from.(*content.Thinking), p, lost)
		return
	case *content.ToolUse: // a copy
		l.call(part, adjacentSignature(from), p, lost)
		return
	}
	sig := adjacentSignature(from)
	t, isText := p.(*content.Text)
	empty := isText && isEmptyText(t)
	switch {
	case sig.Data == "":
		l.appendHeld(p)
	case isOptional(sig):
		lost(unsaidTextSignature)
		if !empty {
			l.appendHeld(p)
		}
	case !l.returnsBlocks:
		if !empty {
			l.appendHeld(p)
		}
		l.pending.AddTextSignature(part, sig, &l.room)
	case empty:
		l.held.hold(part, sig, envelope.KindEmptyText, lost)
	case mayBeDropped(t.Text):
		l.appendHeld(p)
		l.held.hold(part, sig, envelope.KindEmptyText, lost)
	default:
		l.appendHeld(nil)
		if data := encodeEnvelope(sig, envelope.KindNextText, lost); data != "" {
			l.carry(data)
		}
		l.list = append(l.list, p)
	}
}

// thinking adds a thinking block, or stores it for the next call.
func (l *blockList) thinking(part int, from, p *content.Thinking, lost lose) {
	hidden := l.hideThinking && !l.own && from.Redacted.Format != Format && from.Signature.Format != Format
	if !l.returnsBlocks {
		l.pending.Add(part, withoutOptionalSignature(from), &l.room)
	}
	switch {
	case hidden && !l.carriesInID(from.Signature) && !l.carriesInID(from.Redacted):
		lost(unsaidThinking)
		return
	case hidden || l.isOnlyState(from):
		return
	}
	l.appendHeld(p)
	l.carried = l.carried || isForeign(from.Redacted) || isForeign(from.Signature)
	if p.Redacted.Data == "" && p.Signature.Data == "" {
		p.Signature = content.Signature{Format: Format, Data: envelope.Unsigned}
		if p.Text != "" {
			l.free = p
		}
	}
}

// call adds a tool call, with its state in its id or in the thinking before it.
func (l *blockList) call(part int, sig content.Signature, p *content.ToolUse, lost lose) {
	l.appendHeld(nil)
	l.calls++
	if l.ids.name(p) {
		lost(unsaidID)
	}
	if _, ok := envelope.MarkID(p.ID); ok && l.returnsBlocks && l.free != nil && sig.Data != "" {
		if data, ok := envelope.EncodeCall(sig, p.ID); ok {
			l.free.Signature.Data, l.free = data, nil
			sig, l.carried = content.Signature{}, true
		}
	}
	p.ID = callID(p.ID, sig, l.returnsBlocks && l.carried, &l.pending, &l.room, l.lose, lost)
	l.carried = false
	l.list = append(l.list, p)
}

// carry adds a block that holds an envelope.
func (l *blockList) carry(data string) {
	l.list = append(l.list, envelopeBlock(data))
	l.carried = true
}

// appendHeld adds the held envelopes, and p after them unless p is nil.
func (l *blockList) appendHeld(p content.Part) {
	for _, h := range l.held.take() {
		l.carry(h.data)
	}
	if p != nil {
		l.list = append(l.list, p)
	}
}

// end returns all blocks, and the losses after the last text.
func (l *blockList) end() (blocks []content.Part, lost []content.Loss) {
	l.placement.dropPending(&l.pending, l.lose)
	if n := len(l.list); n > 0 {
		if _, ok := l.list[n-1].(*content.Text); ok {
			return l.list, heldLosses(l.held.take(), unsaidLast)
		}
	}
	l.appendHeld(nil)
	return l.list, nil
}

func heldLosses(list []heldEnvelope, r *loss.Rule) (lost []content.Loss) {
	for _, h := range list {
		lost = append(lost, r.At("parts."+strconv.Itoa(h.part)))
	}
	return lost
}
