package messages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// err returns the faults that parsing found.
func (w *wrong) err() error { return codec.ViolationsError(w.list, w.more) }

// faults returns what parsing found together with what was found later, in the
// order of the document. A later fault is left out where the parser has
// complained already: at the same place, about something around it, or about
// the type of what is there. Faults of a request that was not parsed stay in
// their order.
func (r *Request) faults(later *content.ViolationList) error {
	list, more := content.Violations(later.Err())
	f := r.Form
	if f == nil || len(list) == 0 && f.wrong == nil {
		return later.Err()
	}
	var all []*content.Violation
	if f.wrong != nil {
		all, more = slices.Clone(f.wrong.list), more+f.wrong.more
	}
	sorted := len(all) // what parsing found is in order
	for _, e := range list {
		if !r.complained(e.Path) {
			all = append(all, e)
		}
	}
	if len(all) == sorted || len(all) == 1 {
		return codec.ViolationsError(all, more)
	}
	doc, err := jsonwire.Parse(f.body, codec.UnlimitedJSON)
	if err != nil {
		return codec.ViolationsError(all, more) // cannot be: it was parsed before
	}
	defer doc.Close()
	return codec.ViolationsError(inOrder(doc, all), more)
}

// complained reports whether parsing found a fault at path, around it, or in
// the type of what is there.
func (r *Request) complained(path string) bool {
	if r.Form == nil || r.Form.wrong == nil {
		return false
	}
	for _, e := range r.Form.wrong.list {
		if within(path, e.Path) || e.Path == path+".type" {
			return true
		}
	}
	return false
}

// unclear reports whether something at path or in it could not be read, so that
// what depends on it cannot be judged.
func (r *Request) unclear(path string) bool {
	if r.Form == nil || r.Form.wrong == nil {
		return false
	}
	for _, e := range r.Form.wrong.list {
		if within(e.Path, path) {
			return true
		}
	}
	return r.Form.wrong.more > 0
}

// within reports whether path is at outer or below it.
func within(path, outer string) bool {
	if outer == "" {
		return true
	}
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.')
}

// inOrder sorts faults by where they stand in the document.
func inOrder(doc *jsonwire.Doc, list []*content.Violation) []*content.Violation {
	all := make([]placed, len(list))
	for i, e := range list {
		all[i] = placed{err: e, rest: e.Path}
	}
	todo := make([]*placed, len(all))
	for i := range all {
		todo[i] = &all[i]
	}
	place(doc.Root(), todo)
	slices.SortStableFunc(all, func(a, b placed) int { return a.at - b.at })
	sorted := make([]*content.Violation, len(all))
	for i := range all {
		sorted[i] = all[i].err
	}
	return sorted
}

// placed is a fault that is being looked for in the document.
type placed struct {
	err    *content.Violation
	at     int    // where it is, as far as is known
	rest   string // of its path, from there on
	tagged bool   // the tag of the union that is there has been passed
}

// place finds out where faults stand, all of which are in v: at the end of
// their path, or as near to it as there is something. All of them are looked
// for together, because v may have very many members.
func place(v jsonwire.Value, list []*placed) {
	for _, f := range list {
		f.at, f.tagged = v.Offset(), false
	}
	kind := v.Get("type")
	// What is no member is the tag of a union, or missing: the next step of
	// the path may be one again.
	for {
		next := map[string][]*placed{}
		for _, f := range list {
			if f.rest == "" {
				continue
			}
			step, rest, _ := strings.Cut(f.rest, ".")
			if f.rest = rest; !f.tagged && kind.Is(step) {
				f.tagged = true
				if step, f.rest, _ = strings.Cut(rest, "."); rest == "" {
					continue
				}
			}
			next[step] = append(next[step], f)
		}
		if len(next) == 0 {
			return
		}
		found := children(v, next)
		list = list[:0:0]
		for step, fs := range next {
			if x := found[step]; x.Exists() {
				place(x, fs)
			} else {
				list = append(list, fs...)
			}
		}
	}
}

// children returns the members or elements of v that are wanted.
func children(v jsonwire.Value, wanted map[string][]*placed) map[string]jsonwire.Value {
	found := make(map[string]jsonwire.Value, len(wanted))
	for name, x := range v.Members() {
		if _, ok := wanted[name]; ok {
			found[name] = x
		}
	}
	indices, last := map[int]string{}, -1
	for step := range wanted {
		if n, err := strconv.Atoi(step); err == nil {
			indices[n], last = step, max(last, n)
		}
	}
	for i, x := range v.Elems() {
		if i > last {
			break
		}
		if step, ok := indices[i]; ok {
			found[step] = x
		}
	}
	return found
}
