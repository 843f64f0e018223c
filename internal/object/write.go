package object

import (
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
		e.Extra(x, x.Format, t.holds)
	}
}

// Member writes a member of the struct at from. It returns false, and writes nothing, for a
// member that the format must write: the Go field is a struct, a list of objects, or of a
// type with rules of its own.
func (e *Encoder) Member(f *Field, from any) bool {
	switch f.holds {
	case noField:
		if f.Const != "" {
			e.Must(f.Name, f.Const)
		}
	case stringField:
		if s := *f.at(from).(*string); s != "" || f.Required || f.WriteNull {
			e.text(f, s)
		}
	case boolField:
		e.Flag(f.Name, *f.at(from).(*bool))
	case optBoolField:
		e.OptFlag(f.Name, *f.at(from).(**bool))
	case intField:
		if n := *f.at(from).(*int64); n != 0 || f.Required {
			e.Int(f.Name, n)
		}
	case optIntField:
		e.OptInt(f.Name, *f.at(from).(**int64))
	case optFloatField:
		e.OptNumber(f.Name, *f.at(from).(**float64))
	case stringsField:
		e.Strings(f.Name, *f.at(from).(*[]string))
	default:
		return false
	}
	return true
}

// text writes a string, or JSON text if the member accepts other kinds of values.
func (e *Encoder) text(f *Field, s string) {
	if s == "" {
		s = f.Default
	}
	switch k := f.Value.Kinds &^ Null; {
	case s == "" && f.WriteNull:
		e.W.Name(f.Name)
		e.W.Null()
	case k == Text && f.Required:
		e.Must(f.Name, s)
	case k == Text:
		e.Text(f.Name, s)
	case s == "":
	case k == Object:
		e.Free(f.Name, s)
	default:
		e.Raw(f.Name, s)
	}
}
