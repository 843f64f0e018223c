package lower

import (
	"cmp"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// A Loss is one thing that the target cannot represent, at one place.
type Loss struct {
	Rule *loss.Rule
	Path Path
}

// A Report has all losses of a rule.
type Report struct {
	Rule  *loss.Rule
	Paths []Path // in the order of the request, each once; at most [loss.MaxPaths]
	More  int    // further losses
}

// Losses returns reports as hosts get them. Their paths share one string, because an agent's
// request can have hundreds.
func Losses(list []Report) []content.Loss {
	if len(list) == 0 {
		return nil
	}
	var text strings.Builder
	size, places := 0, 0
	for i := range list {
		places += len(list[i].Paths)
		for j := range list[i].Paths {
			p := &list[i].Paths[j]
			size += len(p.tail) + 12*int(p.n) // "turns.12345."
		}
	}
	text.Grow(size)
	var path [256]byte
	paths := make([]string, 0, places)
	losses := make([]content.Loss, len(list))
	for i := range list {
		first := len(paths)
		for j := range list[i].Paths {
			start := text.Len()
			text.Write(list[i].Paths[j].append(path[:0]))
			paths = append(paths, text.String()[start:])
		}
		losses[i] = list[i].Rule.At(paths[first])
		losses[i].More = list[i].More
		if len(paths) > first+1 {
			losses[i].Also = paths[first+1:]
		}
	}
	return losses
}

// News returns what of list is not in reported. It may reuse the memory of list.
func News(list, reported []Report) []Report {
	for i := range list {
		for j := range reported {
			if reported[j].Rule == list[i].Rule {
				list[i].Paths = slices.DeleteFunc(list[i].Paths, func(p Path) bool {
					_, known := search(reported[j].Paths, &p)
					return known
				})
			}
		}
	}
	return slices.DeleteFunc(list, func(r Report) bool { return len(r.Paths) == 0 })
}

// A log collects losses. Each rule is reported once at a place, and at no more than
// [loss.MaxPaths] places.
type log struct {
	reports []Report
	dropped int // number of reports, repeated ones included, of something that was dropped
}

// add adds the loss of r at a path.
func (l *log) add(r *loss.Rule, at Path) {
	if r.Severity == content.LossDropped {
		l.dropped++
	}
	i := slices.IndexFunc(l.reports, func(x Report) bool { return x.Rule == r }) // one pass
	if i < 0 {
		l.reports = append(l.reports, Report{Rule: r, Paths: []Path{at}})
		return
	}
	x := &l.reports[i]
	end, known := search(x.Paths, &at)
	switch {
	case known:
	case len(x.Paths) == loss.MaxPaths:
		x.More++
	default:
		x.Paths = slices.Insert(x.Paths, end, at)
	}
}

// search returns the end of the paths that are not behind p, and whether p is among them.
// list is in order. Most paths come in order, too.
func search(list []Path, p *Path) (end int, known bool) {
	end = len(list)
	if end > 0 && list[end-1].compare(p) > 0 {
		end, _ = slices.BinarySearchFunc(list, p, func(q Path, p *Path) int { return cmp.Or(q.compare(p), -1) })
	}
	for i := end - 1; i >= 0 && list[i].compare(p) == 0; i-- { // one element
		if list[i] == *p {
			return end, true
		}
	}
	return end, false
}

// sorted returns the reports in the order of their first places. Those of one place have the
// order of their reports.
func (l *log) sorted() []Report {
	slices.SortStableFunc(l.reports, func(a, b Report) int { return a.Paths[0].compare(&b.Paths[0]) })
	return l.reports
}
