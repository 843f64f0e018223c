package loss

import (
	"slices"

	"github.com/polywire/polywire/content"
)

// MaxPaths is the number of losses of one rule that keep their own path.
const MaxPaths = 1000

// Bound returns the first [MaxPaths] losses of each rule. More of the last of
// them counts the rest. Without this bound, the reports of a dense document would
// need several times its memory. Bound may reuse the list's memory; the result
// does not keep more of it than it needs.
func Bound(list []content.Loss) []content.Loss {
	if len(list) <= MaxPaths {
		return list
	}
	type rule struct {
		severity content.Severity
		reason   string
	}
	type count struct{ n, last int } // number of losses, and the index of the last
	rules := make(map[rule]*count)
	kept := list[:0]
	for _, l := range list {
		r := rule{l.Severity, l.Reason}
		t := rules[r]
		if t == nil {
			t = new(count)
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

// New returns the losses of list that are not in reported. It may reuse the
// memory of list.
func New(list, reported []content.Loss) []content.Loss {
	known := make(map[content.Loss]struct{}, len(reported))
	for _, l := range reported {
		known[l] = struct{}{}
	}
	return slices.DeleteFunc(list, func(l content.Loss) bool {
		_, ok := known[l]
		return ok
	})
}
