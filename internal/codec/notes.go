package codec

import (
	"slices"

	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// Notes remember how members of a document were spelled, where their values do
// not tell.
type Notes []Note

// A Note is how one member was spelled.
type Note struct {
	NoteKey
	Raw string // the JSON text it had, AsString, or Absent
}

// A NoteKey names a member: by a pointer to what it belongs to, and its name.
type NoteKey struct {
	Node any
	Name string
}

const (
	// AsString notes a list of parts that was written as a plain string.
	AsString = "string"
	// Absent notes a member that was left out although an encoder would by
	// itself write it.
	Absent = ""
)

// Add adds a note. room is how many more to expect.
func (n *Notes) Add(node any, name, raw string, room int) {
	if len(*n) == cap(*n) {
		*n = slices.Grow(*n, max(room, len(*n)))
	}
	*n = append(*n, Note{NoteKey{node, name}, raw})
}

// Table returns the notes by member; nil if there are none.
func (n Notes) Table() map[NoteKey]string {
	if len(n) == 0 {
		return nil
	}
	m := make(map[NoteKey]string, len(n))
	for _, x := range n {
		m[x.NoteKey] = x.Raw
	}
	return m
}

// An Extent is where the value of a top-level member stands in a document. It
// is zero if there is none. Documents are shorter than 2 GiB.
type Extent struct{ From, To int32 }

// ExtentOf returns where v stands.
func ExtentOf(v jsonwire.Value) Extent { return Extent{int32(v.Offset()), int32(v.End())} }

// Span returns the extent as adapters want it.
func (e Extent) Span(name string) upstream.Span {
	return upstream.Span{Name: name, From: int(e.From), To: int(e.To)}
}
