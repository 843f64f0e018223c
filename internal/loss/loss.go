// Package loss keeps what a codec can lose in one table, which is the source
// of its reports, of their tests and of the page that shows them.
package loss

import (
	"hash/maphash"
	"slices"

	"github.com/polywire/polywire/content"
)

// A Rule is one thing that a codec cannot say, or only in another way.
type Rule struct {
	// Feature is what is lost, in words that all codecs share, so that a
	// matrix has one row for it: see the constants of this package.
	Feature string

	Severity content.Severity

	// Reason is the sentence of the report: see [content.Loss].
	Reason string
}

// At returns the loss of what stands at a neutral path.
func (r *Rule) At(path string) content.Loss {
	return content.Loss{Path: path, Severity: r.Severity, Reason: r.Reason}
}

// Of reports whether a loss was reported by the rule.
func (r *Rule) Of(l content.Loss) bool { return l.Severity == r.Severity && l.Reason == r.Reason }

// A Log collects losses in the order in which they are met.
type Log struct{ Losses []content.Loss }

// Add notes that a rule has met what stands at path.
func (l *Log) Add(r *Rule, path string) {
	if n := len(l.Losses); n == cap(l.Losses) {
		l.Losses = slices.Grow(l.Losses, n) // append leaves more garbage than doubling
	}
	l.Losses = append(l.Losses, r.At(path))
}

// Unique returns losses without those that are in the list twice. It may use the
// list's memory.
func Unique(list []content.Loss) []content.Loss {
	const few = 16 // of which each can be compared with each
	if len(list) <= few {
		once := list[:0]
		for _, l := range list {
			if !slices.Contains(once, l) {
				once = append(once, l)
			}
		}
		return once
	}
	// The map is of hashes, which take a third of the memory of losses. once has
	// the places of the losses that are kept.
	seed := maphash.MakeSeed()
	seen := make(map[uint64]int32, len(list))
	once := list[:0]
	for _, l := range list {
		h := maphash.Comparable(seed, l)
		i, known := seen[h]
		if known && once[i] == l {
			continue
		}
		if !known { // of two with one hash the first is remembered
			seen[h] = int32(len(once))
		}
		once = append(once, l)
	}
	clear(list[len(once):])
	return once
}

// Reported knows what was told of one answer. The pieces of an answer mostly lose the
// same things, which are told once.
type Reported struct{ losses []content.Loss }

// mostTold bounds what is remembered. Beyond that it is told again.
const mostTold = 64

// New returns the loss of what stands at path, or nil if it was told before.
func (t *Reported) New(r *Rule, path string) *content.Loss {
	l := r.At(path)
	if slices.Contains(t.losses, l) {
		return nil
	}
	if len(t.losses) < mostTold {
		t.losses = append(t.losses, l)
	}
	return &l
}
