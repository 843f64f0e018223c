package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/upstream"
)

// Form is how a document spelled what a [Request] says: which members had their
// default written out, how numbers were written, which tools stood in one tool
// object, and where parts that say nothing were left out. With it a parsed
// request encodes again to the same JSON value, if it was canonical. Where a
// value has been changed since, its spelling counts no longer.
//
// It also keeps the document itself and the faults that parsing found. It is
// read-only, and may be used from several goroutines at once.
type Form struct {
	body   string
	nested bool // the request is a member of the body of countTokens
	notes  codec.Notes
	wrong  *wrong                // nil if parsing found no fault
	odd    content.ViolationList // names that are not known
	sealed *codec.Sealed         // nil if unchanged finds out otherwise
	model  codec.Extent
	cost   int64 // see [codec.Quota.Cost]

	// sound are the long base64 texts that the reader has looked at already
	// and found good, in their order. Validate skips what is still the same.
	sound []string

	dropped       []place // parts that say nothing and were left out, and
	droppedSystem []place // those of the system instruction
	nothing       []int   // turns whose only part is made up: the document had no data there
	tools         []place // of each tool: its tool object, and its place in the declarations
}

// A place is one of a list of lists. The system instruction is turn -1.
type place struct{ outer, inner int }

// builtIn is the inner place of what is no function declaration.
const builtIn = -1

// wrong is the faults that parsing found, in the order of the document.
type wrong struct {
	list []*content.Violation
	more int // faults that were only counted
}

// Equal says true: spelling is not meaning.
func (*Form) Equal(*Form) bool { return true }

func (w *wrong) err() error { return codec.ViolationsError(w.list, w.more) }

// spellings returns the notes by node and name; nil if there are none.
func (f *Form) spellings() map[codec.NoteKey]string {
	if f == nil {
		return nil
	}
	return f.notes.Table()
}

// size returns about how long the document will be when it is encoded again,
// not counting long files.
func (f *Form) size() int {
	if f == nil {
		return 0
	}
	n := len(f.body)
	for _, s := range f.sound {
		n -= len(s)
	}
	return min(n+n/16, 512<<10)
}

// document returns the document in the shape in which adapters want it.
func (f *Form) document() upstream.Wire {
	w := upstream.Wire{Format: Format, Body: f.body}
	if f.model.To > 0 {
		w.Spans = []upstream.Span{f.model.Span("model")}
	}
	return w
}

// complained reports whether parsing found a fault at path or around it.
func (f *Form) complained(path string) bool {
	if f == nil || f.wrong == nil {
		return false
	}
	for _, e := range f.wrong.list {
		if within(path, e.Path) {
			return true
		}
	}
	return false
}

// within reports whether path is at outer or below it. Faults of the whole
// document are about its names, not about what is in it.
func within(path, outer string) bool {
	if outer == "" || len(path) < len(outer) || path[:len(outer)] != outer {
		return false
	}
	return len(path) == len(outer) || path[len(outer)] == '.' || path[len(outer)] == '['
}

// faults returns what parsing found, unknown names if they are not allowed,
// and then what was found later: the vendor, too, reads a document before it
// judges it. A later fault is left out where the parser has complained already.
func (r *Request) faults(later *content.ViolationList, strict bool) error {
	f := r.Form
	if f == nil && strict {
		f = r.made()
	}
	if f == nil {
		return later.Err()
	}
	var all []*content.Violation
	more := 0
	if f.wrong != nil {
		all, more = append(all, f.wrong.list...), f.wrong.more
	}
	if strict {
		odd, n := content.Violations(f.odd.Err())
		all, more = append(all, odd...), more+n
	}
	list, n := content.Violations(later.Err())
	more += n
	for _, e := range list {
		if !f.complained(e.Path) {
			all = append(all, e)
		}
	}
	return codec.ViolationsError(all, more)
}

// made returns what is odd about the document that a request made by hand
// becomes; nil if it becomes none, which whoever encodes it is told.
func (r *Request) made() *Form {
	doc, err := r.AppendJSON(nil)
	if err != nil {
		return nil
	}
	again, _ := parseRequest(string(doc), reading{limits: codec.UnlimitedRequest})
	if again == nil {
		return nil
	}
	return &Form{odd: again.Form.odd}
}
