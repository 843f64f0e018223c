// Package loss defines the rules of losses. Those of requests are in package lower, those of
// responses in the tables of the codecs. The documentation is made from them.
package loss

import (
	"hash/maphash"
	"slices"

	"github.com/polywire/polywire/content"
)

// A Rule is one thing that a codec cannot represent, or cannot represent exactly.
type Rule struct {
	// Feature is the name of the feature that is lost. All codecs use the same names,
	// the constants of this package.
	Feature string

	Severity content.Severity

	// Reason is the sentence of the report: see [content.Loss].
	Reason string

	// Always reports that the loss follows from the target alone: it is reported even if
	// nothing is left in the request that the target cannot represent.
	Always bool
}

// At returns the loss at a neutral path.
func (r *Rule) At(path string) content.Loss {
	return content.Loss{Path: path, Severity: r.Severity, Reason: r.Reason}
}

// Of reports whether the rule reported the loss l.
func (r *Rule) Of(l content.Loss) bool { return l.Severity == r.Severity && l.Reason == r.Reason }

// MaxPaths is the number of losses of one rule that keep their own path. Without this
// bound, the reports of a dense document would need several times its memory.
const MaxPaths = 1000

// Unique returns the list without duplicates, in the same order. It may reuse the
// list's memory.
func Unique(list []content.Loss) []content.Loss {
	const few = 16 // up to this length, pairwise comparison is faster than a map
	if len(list) <= few {
		once := list[:0]
		for _, l := range list {
			if !slices.Contains(once, l) { // bounded by few
				once = append(once, l)
			}
		}
		return once
	}
	// The map holds hashes and indexes into once. It needs a third of the memory of
	// a map of losses.
	seed := maphash.MakeSeed()
	seen := make(map[uint64]int32, len(list))
	once := list[:0]
	for _, l := range list {
		h := maphash.Comparable(seed, l)
		i, known := seen[h]
		if known && once[i] == l {
			continue
		}
		if !known { // of two losses with the same hash, the map keeps the first
			seen[h] = int32(len(once))
		}
		once = append(once, l)
	}
	clear(list[len(once):])
	return once
}

// Reported holds the losses that were reported for one response. Most chunks of a
// stream have the same losses; each is reported once.
type Reported struct{ losses []content.Loss }

// maxReported bounds the losses that Reported holds. Further losses may be reported
// more than once.
const maxReported = 64

// New returns the loss of r at path, or nil if it was already reported.
func (t *Reported) New(r *Rule, path string) *content.Loss {
	l := r.At(path)
	if slices.Contains(t.losses, l) { // bounded by maxReported
		return nil
	}
	if len(t.losses) < maxReported {
		t.losses = append(t.losses, l)
	}
	return &l
}
