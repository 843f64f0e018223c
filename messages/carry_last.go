package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/seal"
)

// Nothing is carried behind the text that ends an answer: agents print the last
// block, and would print nothing. Vendors that sign such texts do not ask for
// the signature. What is carried behind other texts waits until it is known
// that something follows.

// A heldBack is an envelope that waits.
type heldBack struct {
	block int // the event's number
	data  string
}

// hold keeps what carries the signature of a text.
func (s *stream) hold(block int, data string) {
	if data != "" {
		s.held = append(s.held, heldBack{block, data})
	}
}

// letGo gives up what nothing follows.
func (s *stream) letGo() {
	for _, h := range s.held {
		s.lose(h.block, unsaidLast)
	}
	s.held = nil
}

// withoutLast returns the parts of a whole answer without what is carried behind
// the text that ends it.
func withoutLast(parts []content.Part) []content.Part {
	n := len(parts)
	for n > 0 && alone(parts[n-1]) {
		n--
	}
	if n == 0 || n == len(parts) {
		return parts
	}
	if _, ok := parts[n-1].(*content.Text); !ok {
		return parts
	}
	return parts[:n]
}

// alone reports whether a part is nothing but the signature of an empty text.
func alone(p content.Part) bool {
	t, ok := p.(*content.Thinking)
	if !ok || t.Redacted.Format != Format {
		return false
	}
	e, ok := seal.Open(t.Redacted.Data)
	return ok && e.Kind == seal.Alone
}
