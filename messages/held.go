package messages

import (
	"strings"
	"unicode"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
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
func (w *heldEnvelopes) hold(part int, sig content.Signature, k envelope.Kind, report lossFunc) {
	data := encodeEnvelope(sig, k, report)
	if data == "" {
		return
	}
	if w.size += len(data) + heldCost; w.size > 2*envelope.MaxSize {
		w.size -= len(data) + heldCost
		report(envelope.TooLarge)
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
func heldKind(hasText bool) envelope.Kind {
	if hasText {
		return envelope.KindPreviousText
	}
	return envelope.KindEmptyText
}

// mayBeDropped reports whether clients may drop a text: some client regards it as
// white space.
func mayBeDropped(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && r != '\uFEFF' })
}
