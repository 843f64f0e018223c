package generatecontent

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
)

// allTaken reports whether parts were nothing but signatures of other parts.
func allTaken(parts []content.Part) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p content.Part) bool { return p != envelope.Removed })
}

// A partList is a list of parts that is being converted. It is the beginning of
// the list that it comes from while nothing has changed.
type partList struct {
	from, to []content.Part
	own      bool
}

// keep notes that the part at i is as it was.
func (l *partList) keep(i int) {
	if !l.own {
		l.to = l.from[:i+1]
		return
	}
	l.to = append(l.to, l.from[i])
}

// change makes the list one of its own.
func (l *partList) change() {
	if !l.own {
		l.own = true
		l.to = append(make([]content.Part, 0, len(l.from)+1), l.to...)
	}
}

// add adds parts that were not in the list before.
func (l *partList) add(parts ...content.Part) {
	l.change()
	l.to = append(l.to, parts...)
}

// list returns what the list has become, and whether it is another now.
func (l *partList) list() ([]content.Part, bool) {
	if !l.own {
		return l.from, false
	}
	return slices.Clip(l.to), true
}
