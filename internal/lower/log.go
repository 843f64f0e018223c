package lower

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// A Loss is one thing that the target cannot represent, at one place.
type Loss struct {
	Rule *loss.Rule
	Path Path
	More int // further losses of the rule: see [loss.MaxPaths]
}

// Reports returns losses as hosts get them.
func Reports(list []Loss) []content.Loss {
	if len(list) == 0 {
		return nil
	}
	texts := make([]content.Loss, len(list))
	for i := range list {
		texts[i] = list[i].Rule.At(list[i].Path.String())
		texts[i].More = list[i].More
	}
	return texts
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
	seen    map[place]struct{}    // of losses; nil while there are few
	rules   map[*loss.Rule]*tally // nil while there are few losses
	dropped int                   // number of reports, repeated ones included, of something that was dropped
}

// A tally counts the losses of a rule. last is the index of its last one.
type tally struct{ n, last int }

// add adds the loss of r at a path.
func (l *log) add(r *loss.Rule, at Path) {
	const few = 16 // up to this number, comparing with each is faster than a map
	if r.Severity == content.LossDropped {
		l.dropped++
	}
	p := place{r, at}
	if l.seen == nil {
		for i := range l.losses {
			if l.losses[i].Rule == r && l.losses[i].Path == at {
				return
			}
		}
		if len(l.losses) == few {
			l.index()
		}
	}
	if l.seen != nil {
		if _, known := l.seen[p]; known {
			return
		}
		t := l.rules[r]
		if t == nil {
			t = new(tally)
			l.rules[r] = t
		}
		if t.n == loss.MaxPaths {
			l.losses[t.last].More++
			return
		}
		t.n, t.last = t.n+1, len(l.losses)
		l.seen[p] = struct{}{}
	}
	if n := len(l.losses); n == cap(l.losses) {
		l.losses = slices.Grow(l.losses, max(n, 8)) // append leaves more garbage than doubling
	}
	l.losses = append(l.losses, Loss{Rule: r, Path: at})
}

// index makes the maps.
func (l *log) index() {
	l.seen, l.rules = make(map[place]struct{}), make(map[*loss.Rule]*tally)
	for i := range l.losses {
		x := &l.losses[i]
		l.seen[place{x.Rule, x.Path}] = struct{}{}
		t := l.rules[x.Rule]
		if t == nil {
			t = new(tally)
			l.rules[x.Rule] = t
		}
		t.n, t.last = t.n+1, i
	}
}

// sorted returns the losses in the order of their places. Those of one place have the
// order of their reports.
func (l *log) sorted() []Loss {
	slices.SortStableFunc(l.losses, func(a, b Loss) int { return a.Path.compare(&b.Path) })
	return l.losses
}
