package partfield

import (
	"slices"

	"github.com/polywire/polywire/content"
)

// Map returns a list with f of each part, without those for which f returns nil. If f changes none, it
// returns the list itself.
func Map(list []content.Part, f func(i int, p content.Part) content.Part) (to []content.Part, changed bool) {
	for i, p := range list {
		q := f(i, p)
		if !changed && q != p {
			to, changed = append(make([]content.Part, 0, len(list)), list[:i]...), true
		}
		if changed && (q != nil || p == nil) {
			to = append(to, q)
		}
	}
	if !changed {
		return list, false
	}
	return to, true
}

// MapTurns returns turns with other parts. f returns those of a turn, and whether they have changed. If
// none have, MapTurns returns turns itself.
func MapTurns(turns []content.Turn, f func(i int, parts []content.Part) ([]content.Part, bool)) (to []content.Turn, changed bool) {
	to = turns
	for i := range turns {
		parts, other := f(i, turns[i].Parts)
		if !other {
			continue
		}
		if !changed {
			to, changed = slices.Clone(turns), true
		}
		to[i].Parts = parts
	}
	return to, changed
}
