package loss

import (
	"slices"

	"github.com/polywire/polywire/content"
)

// MaxPaths is how many losses of one rule keep a place of their own.
const MaxPaths = 1000

// Bound returns losses with at most [MaxPaths] of each rule, the first ones.
// The last of these says in More in how many other places the same holds, so
// that nothing is said of no place, and all severities are there. A document of
// nothing but what is lost would otherwise take several times its own memory in
// reports. It may use the list's memory, but holds on to none that it needs no
// more.
func Bound(list []content.Loss) []content.Loss {
	if len(list) <= MaxPaths {
		return list
	}
	type rule struct {
		severity content.Severity
		reason   string
	}
	type told struct{ n, last int } // how many, and where the last one is
	rules := make(map[rule]*told)
	kept := list[:0]
	for _, l := range list {
		r := rule{l.Severity, l.Reason}
		t := rules[r]
		if t == nil {
			t = new(told)
			rules[r] = t
		}
		if t.n == MaxPaths {
			kept[t.last].More += 1 + l.More
			continue
		}
		t.n, t.last = t.n+1, len(kept)
		kept = append(kept, l)
	}
	if len(kept) == len(list) {
		return list
	}
	return slices.Clone(kept)
}

// New returns the losses that are not among those that were told before. It may
// use the list's memory.
func New(list, told []content.Loss) []content.Loss {
	known := make(map[content.Loss]struct{}, len(told))
	for _, l := range told {
		known[l] = struct{}{}
	}
	return slices.DeleteFunc(list, func(l content.Loss) bool {
		_, ok := known[l]
		return ok
	})
}
