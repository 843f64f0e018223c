package object

import (
	"cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// An Encoder writes the members of structs. The encoder of a format embeds it.
type Encoder struct {
	codec.Encoder
	Format content.Format
}

// Rest writes the members in x, except those that the encoder writes from Go fields.
func (e *Encoder) Rest(t *Type, x *content.Extra) {
	if x != nil && (x.Format == e.Format || x.Format == "") {
		e.Extra(x, x.Format, t.table().holds)
	}
}

// Member writes a member of the struct at from, which [Type.Written] has returned. It returns
// false, and writes nothing, for a member that the format must write: the Go field is a struct,
// a list of objects, or of a type with rules of its own.
func (e *Encoder) Member(f *Field, from any) bool {
	switch f.holds {
	case noField:
		e.Name(f)
		e.W.String(f.Const)
	case stringField:
		e.text(f, *f.access.at(from).(*string))
	case boolField:
		if *f.access.at(from).(*bool) {
			e.Name(f)
			e.W.Bool(true)
		}
	case optBoolField:
		if b := *f.access.at(from).(**bool); b != nil {
			e.Name(f)
			e.W.Bool(*b)
		}
	case intField:
		e.Name(f)
		e.W.Int(*f.access.at(from).(*int64))
	case optIntField:
		if n := *f.access.at(from).(**int64); n != nil {
			e.Name(f)
			e.W.Int(*n)
		}
	case optFloatField:
		e.OptNumber(f.Name, *f.access.at(from).(**float64))
	case stringsField:
		e.Strings(f.Name, *f.access.at(from).(*[]string))
	default:
		return false
	}
	return true
}

// Name writes the name of a member.
func (e *Encoder) Name(f *Field) { e.W.RawName(f.quoted) }

// text writes a string, or JSON text if the member accepts other kinds of values.
func (e *Encoder) text(f *Field, s string) {
	s = cmp.Or(s, f.Default)
	switch k := f.Value.Kinds &^ Null; {
	case s == "" && f.WriteNull:
		e.Name(f)
		e.W.Null()
	case k == Text:
		e.Name(f)
		e.W.String(s)
	case s == "":
	case k == Object:
		e.Free(f.Name, s)
	default:
		e.Raw(f.Name, s)
	}
}
