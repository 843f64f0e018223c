package schema

import "github.com/polywire/polywire/internal/jsonwire"

// cyclic reports whether v, which is the root or was referred to, can come to
// itself by references.
func (c *converter) cyclic(v value) bool {
	w := walker{c: c, open: make(map[int]bool)}
	return w.enter(v)
}

// A walker follows references. Its depth is bounded by the nesting of the
// document and the number of references in it.
type walker struct {
	c    *converter
	open map[int]bool // by offset: true while it is walked, false after that
	deep int          // how many are walked
}

func (w *walker) enter(v value) bool {
	at := v.Offset()
	if open, seen := w.open[at]; seen {
		return open
	}
	if w.deep++; w.deep > maxChain {
		return true // so long a chain is cut as a cycle is
	}
	w.open[at] = true
	cycle := w.walk(v)
	w.open[at] = false
	w.deep--
	return cycle
}

func (w *walker) walk(v value) (cycle bool) {
	if w.c.nodes--; w.c.nodes < 0 {
		return false
	}
	for name, x := range v.Members() {
		switch s := table[byName[name]].shape; {
		case byName[name] == kRef:
			t := w.c.target(x.Str()).v
			cycle = t.Exists() && w.enter(t)
		case s == schema, s == either && x.Kind() == jsonwire.Object:
			cycle = w.walk(x)
		case s == schemas, s == either:
			for _, y := range x.Elems() {
				cycle = cycle || w.walk(y)
			}
		case s == members && byName[name] != kDefs && byName[name] != kDefinitions:
			for _, y := range x.Members() {
				cycle = cycle || w.walk(y)
			}
		}
		if cycle {
			return true
		}
	}
	return false
}
