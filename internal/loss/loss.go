// Package loss defines the rules of losses. Those of requests are in package lower, those of
// responses in the tables of the codecs. The documentation is made from them.
package loss

import (
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

// Hint returns a rule with a severity, as Degraded and Dropped do. Rules are variables of
// packages, which the compiler can initialize.
func Hint(feature, reason string) *Rule {
	return &Rule{Feature: feature, Severity: content.LossHint, Reason: reason}
}

// Degraded returns a rule of that severity.
func Degraded(feature, reason string) *Rule {
	return &Rule{Feature: feature, Severity: content.LossDegraded, Reason: reason}
}

// Dropped returns a rule of that severity.
func Dropped(feature, reason string) *Rule {
	return &Rule{Feature: feature, Severity: content.LossDropped, Reason: reason}
}

// At returns the loss at a neutral path.
func (r *Rule) At(path string) content.Loss {
	return content.Loss{Path: path, Severity: r.Severity, Reason: r.Reason}
}

// Of reports whether the rule reported the loss l.
func (r *Rule) Of(l content.Loss) bool { return l.Severity == r.Severity && l.Reason == r.Reason }

// MaxPaths is the number of places of one loss that keep their own path. Without this
// bound, the reports of a dense document would need several times its memory.
const MaxPaths = 1000

// MaxLosses bounds the losses in a [List].
const MaxLosses = 1000

// A List collects losses: one for each severity and reason, with each place once, even if
// several pieces of a response or both the upstream and the encoder find it. The zero value is
// empty.
type List struct{ All []content.Loss }

// Add adds a loss and returns what of it is new. l may share its places with others.
func (x *List) Add(l content.Loss) (news content.Loss, isNew bool) {
	i := x.index(&l)
	if i < 0 {
		x.insert(l)
		return l, true
	}
	old, next := &x.All[i], 0 // next is the place in old.Also that probably follows
	news = content.Loss{Severity: l.Severity, Reason: l.Reason, More: l.More}
	for path := range l.Places() {
		switch {
		case path == old.Path:
			continue
		case next < len(old.Also) && path == old.Also[next]: // a list that is added again is in the same order
			next++
			continue
		case slices.Contains(old.Also, path): // bounded by MaxPaths
			continue
		}
		addPlace(old, path)
		if isNew {
			news.Also = append(news.Also, path)
		} else {
			news.Path, isNew = path, true
		}
	}
	if isNew {
		old.More += l.More
	}
	return news, isNew
}

// New adds the loss of r at path and returns it, or nil if it is known.
func (x *List) New(r *Rule, path string) *content.Loss {
	l, isNew := x.Add(r.At(path))
	if !isNew {
		return nil
	}
	return new(l) // only what is new escapes
}

// AddPlace adds the loss of r at a place that the list does not have.
func (x *List) AddPlace(r *Rule, path string) {
	l := r.At(path)
	if i := x.index(&l); i >= 0 {
		addPlace(&x.All[i], path)
	} else {
		x.insert(l)
	}
}

func addPlace(l *content.Loss, path string) {
	if len(l.Also) < MaxPaths-1 {
		l.Also = append(l.Also, path)
	} else {
		l.More++
	}
}

// AddAll adds losses.
func (x *List) AddAll(losses []content.Loss) {
	for i := range losses {
		x.Add(losses[i])
	}
}

// index returns the index of the loss with the severity and reason of l, or -1.
func (x *List) index(l *content.Loss) int {
	for i := range x.All {
		if x.All[i].Severity == l.Severity && x.All[i].Reason == l.Reason {
			return i
		}
	}
	return -1
}

// insert adds a loss with another reason than those in the list. If the list is full, it
// replaces the least severe one, or is omitted.
func (x *List) insert(l content.Loss) {
	l.Also = slices.Clip(l.Also) // append makes a copy
	if len(x.All) < MaxLosses {
		x.All = append(x.All, l)
		return
	}
	least := &x.All[0]
	for i := range x.All {
		if x.All[i].Severity < least.Severity {
			least = &x.All[i]
		}
	}
	if least.Severity < l.Severity {
		*least = l
	}
}
