package generatecontent

import (
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A mould is what the pieces of a stream have in common that say no more than
// a text, or a text and the usage: all but those two. Nearly all pieces are so,
// and the next is most likely made in the mould of the last.
type mould struct {
	head, mid, tail string // before the text, between it and the usage, and behind; head is empty if there is none
	counted         bool   // there is a usage
	candidate       int
	thought         bool
}

// Longer pieces and usages are not worth it.
const (
	longestMould = 4 << 10
	longestUsage = 1 << 10
)

// learn makes a mould of the document at hand, if it says just that: if it is
// well-formed, goes on with an open text, and holds one part.
func (d *decoder) learn(data string, usage jsonwire.Value) {
	if d.whole || d.odd || d.parts != 1 || len(data) > longestMould || d.doc.Replacements() > 0 || !d.plainText.Exists() {
		return
	}
	n := len(d.events)
	if n == 0 || n > 2 || d.events[0].Kind != upstream.EventText || n == 2 && d.events[1].Kind != upstream.EventUsage ||
		usage.Exists() != (n == 2) {
		return
	}
	from, to := d.plainText.Offset(), d.plainText.End()
	m := mould{head: data[:from], tail: data[to:], candidate: d.events[0].Candidate}
	m.thought = d.answers[m.candidate].thought
	if usage.Exists() {
		if usage.Offset() < to {
			return
		}
		m.counted, m.mid, m.tail = true, data[to:usage.Offset()], data[usage.End():]
	}
	d.mould = m
}

// quick reads a piece that is made in the mould, and reports whether it is one.
// It says what the whole way would say, several times cheaper: all that is left
// to be looked at is the text and the usage. If each of those is JSON, so is
// all of it, and it says nothing else. Anything that is not just so is left to
// the whole way.
func (d *decoder) quick(data string) bool {
	m := &d.mould
	rest, ok := strings.CutPrefix(data, m.head)
	if !ok || m.head == "" {
		return false
	}
	if rest, ok = strings.CutSuffix(rest, m.tail); !ok {
		return false
	}
	text, usage := rest, ""
	if m.counted {
		// There is a quote behind the brace: it is not found within the text.
		if text, usage, ok = strings.Cut(rest, m.mid); !ok || len(usage) > longestUsage {
			return false
		}
	}
	if len(text) == 0 || text[0] != '"' || d.doc.Parse(text, jsonwire.Limits{}) != nil {
		return false
	}
	s := d.doc.Root().Str()
	if m.counted {
		if len(usage) == 0 || usage[0] != '{' || d.doc.Parse(usage, d.inner) != nil {
			return false
		}
	}
	clear(d.events)
	d.events, d.odd, d.source = d.events[:0], false, data
	d.text(m.candidate, piece{text: s, thought: m.thought}, nil)
	if m.counted {
		d.usage(d.doc.Root())
	}
	return true
}
