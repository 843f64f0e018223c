package lower

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// A Loss is one thing that the target cannot represent, at one place.
type Loss struct {
	Rule *loss.Rule
	Path Path
	More int // further losses of the rule: see [loss.MaxPaths]
}

// Reports returns losses as hosts get them. Their paths share one string, because an agent's
// request can have hundreds.
func Reports(list []Loss) []content.Loss {
	if len(list) == 0 {
		return nil
	}
	var paths strings.Builder
	size := 0
	for i := range list {
		size += len(list[i].Path.tail) + 12*int(list[i].Path.n) // "turns.12345."
	}
	paths.Grow(size)
	var path [256]byte
	reports := make([]content.Loss, len(list))
	for i := range list {
		start := paths.Len()
		paths.Write(list[i].Path.append(path[:0]))
		reports[i] = list[i].Rule.At(paths.String()[start:])
		reports[i].More = list[i].More
	}
	return reports
}

// News returns the losses of list that are not in reported. It may reuse the memory of
// list.
func News(list, reported []Loss) []Loss {
	known := make(map[place]struct{}, len(reported))
	for i := range reported {
		known[place{reported[i].Rule, reported[i].Path}] = struct{}{}
	}
	return slices.DeleteFunc(list, func(l Loss) bool {
		_, ok := known[place{l.Rule, l.Path}]
		return ok
	})
}

// A place identifies a loss.
type place struct {
	rule *loss.Rule
	path Path
}

// A log collects losses. Each rule is reported once at a place, and at no more than
// [loss.MaxPaths] places.
type log struct {
	losses  []Loss
	seed    maphash.Seed
	seen    map[uint64]int32      // indexes in losses by hash; nil while there are few
	rules   map[*loss.Rule]*tally // nil while there are few losses
	dropped int                   // number of reports, repeated ones included, of something that was dropped
}

// A tally counts the losses of a rule.
type tally struct {
	n      int
	last   int    // index of its last one
	number uint64 // of the rule
}

// add adds the loss of r at a path.
func (l *log) add(r *loss.Rule, at Path) {
	const few = 16 // up to this number, comparing with each is faster than a map
	if r.Severity == content.LossDropped {
		l.dropped++
	}
	n := len(l.losses)
	if n < few {
		if slices.Contains(l.losses, Loss{Rule: r, Path: at}) { // bounded by few
			return
		}
	} else {
		if l.seen == nil {
			l.begin()
		}
		if !l.count(r, &at, n) {
			return
		}
	}
	if n == cap(l.losses) {
		l.losses = slices.Grow(l.losses, max(n, 8)) // append leaves more garbage than doubling
	}
	l.losses = append(l.losses, Loss{Rule: r, Path: at})
}

// begin makes the maps.
func (l *log) begin() {
	l.seed, l.seen, l.rules = maphash.MakeSeed(), make(map[uint64]int32), make(map[*loss.Rule]*tally)
	for i := range l.losses {
		l.count(l.losses[i].Rule, &l.losses[i].Path, i)
	}
}

// count counts the loss of r at a path, which gets an index. It returns false if the loss is
// known, or the rule has too many.
func (l *log) count(r *loss.Rule, at *Path, index int) bool {
	t := l.rules[r]
	if t == nil {
		t = &tally{number: uint64(len(l.rules))}
		l.rules[r] = t
	}
	h := at.hash(l.seed) + t.number
	i, known := l.seen[h]
	switch {
	case known && l.losses[i].Rule == r && l.losses[i].Path == *at:
		return false
	case t.n == loss.MaxPaths:
		l.losses[t.last].More++
		return false
	case !known:
		l.seen[h] = int32(index)
	}
	t.n, t.last = t.n+1, index
	return true
}

// sorted returns the losses in the order of their places. Those of one place have the
// order of their reports.
func (l *log) sorted() []Loss {
	slices.SortStableFunc(l.losses, func(a, b Loss) int { return a.Path.compare(&b.Path) })
	return l.losses
}
