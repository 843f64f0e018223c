// Package object describes the JSON objects of a wire format by tables, and reads and
// writes Go structs by them.
//
// A [Type] lists the members of one kind of object: their names, the values that they
// accept, whether they are required, and the Go field that holds them. A member without a
// Go field is kept as JSON text in the [content.Extra] of the struct. Everything that a
// format knows about its objects is in its types; [Reader], [Encoder] and [Checker] have
// what is the same for all formats. To add a member to a format, add a field to a type.
//
// A format reads Go fields of its own types in one method, Value of [Format].
//
// The members of a type are built when they are first used, so that importing a format costs
// almost nothing, and are never changed afterwards. Types are safe for concurrent use.
package object

import (
	"iter"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A Type describes the objects of one kind.
type Type struct {
	// Name is the vendor's name of the type, for error texts, or "".
	Name string

	// Lenient accepts members that are not in Fields without a report.
	Lenient bool

	holder holder         // nil: the objects have no Go struct
	fields func() []Field // makes the members
	once   sync.Once
	built  atomic.Pointer[table] // nil before the first use
}

// A table has the members of a type, in the order in which they are written.
type table struct {
	fields []Field

	always   uint64 // set of indices of the fields that the encoder always writes
	optional uint64 // and of those that it writes if their Go field has a value

	names    [256]uint8 // a hash table of names and aliases: the index of the field plus 1, or 0
	required uint64
	tagged   bool                   // a field is a tag
	tag      *Field                 // the tag that a Go field holds, or nil
	nests    bool                   // a field is a nested object
	holds    func(name string) bool // Holds as a value
}

// A holder knows the structs that hold the objects of a type. The structs are *T, pp is a **T.
type holder interface {
	extra(p any) **content.Extra
	create() any
	pointer(pp any) any // the *T, or nil
	isZero(p any) bool
	set(pp, p any)
}

// structs is the holder of a type whose objects a T holds. It returns the address of the field
// for other members.
type structs[T any] func(*T) **content.Extra

func (s structs[T]) extra(p any) **content.Extra { return s(p.(*T)) }

func (structs[T]) create() any { return new(T) }

func (structs[T]) pointer(pp any) any {
	if p := *pp.(**T); p != nil {
		return p
	}
	return nil
}

func (structs[T]) isZero(p any) bool {
	var zero T
	return any(*p.(*T)) == any(zero)
}

func (structs[T]) set(pp, p any) { *pp.(**T) = p.(*T) }

// A Field is a member of an object.
type Field struct {
	Name     string
	Alias    string // a second name that is accepted, or ""
	Value    *Value // what the member accepts; nil: anything
	Required bool

	// IsTag marks a member that selects the type of its object. It is read before the
	// others.
	IsTag bool

	// Const is the only text that a member can have, which no Go field holds, or "".
	Const string

	// Default is the text that is written for an empty one if the member is required.
	Default string

	// WriteNull writes an empty text as null.
	WriteNull bool

	// ReadOnly marks a former name of another member: its value is read into the same Go
	// field and never written.
	ReadOnly bool

	// IsDefault reports whether a value of a kept member means the same as a missing
	// member, so that it need not be kept. Nil means that null does, if Value accepts it.
	IsDefault func(x jsonwire.Value) bool

	// Implied marks a member that is not kept in responses, either, if it has its default
	// value.
	Implied bool

	access  accessor // of the Go field, or nil
	holds   goType
	plain   bool   // a string holds it, and it accepts any text
	limited bool   // a Go field holds it, and it does not accept all texts, integers or lists
	quoted  string // the name with quotes and a colon
}

// A goType is the type of a Go field.
type goType uint8

const (
	noField goType = iota
	stringField
	boolField
	optBoolField
	intField
	optIntField
	optFloatField
	stringsField
	optField    // a pointer or a list, which is empty if the member is missing
	nestedField // an object whose members the Go field holds
	otherField
)

// An accessor finds the Go field in a struct.
type accessor interface {
	at(p any) any     // its address
	isSet(p any) bool // whether it has a value; for an otherField and a nestedField it may have one
}

type access[T, F any] func(*T) *F

func (a access[T, F]) at(p any) any { return a(p.(*T)) }

func (a access[T, F]) isSet(p any) bool {
	switch at := any(a(p.(*T))).(type) {
	case *string:
		return *at != ""
	case *bool:
		return *at
	case **bool:
		return *at != nil
	case *int64:
		return *at != 0
	case **int64:
		return *at != nil
	case **float64:
		return *at != nil
	case *[]string:
		return len(*at) > 0
	}
	return true
}

type pointerAccess[T, S any] struct{ access[T, *S] }

func (a pointerAccess[T, S]) isSet(p any) bool { return *a.access(p.(*T)) != nil }

type listAccess[T, E any] struct{ access[T, []E] }

func (a listAccess[T, E]) isSet(p any) bool { return len(*a.access(p.(*T))) > 0 }

// In returns the field with a Go field to hold the member: at returns its address in a T.
func In[T, F any](f Field, at func(*T) *F) Field {
	f.access = access[T, F](at)
	switch any(at).(type) {
	case func(*T) *string:
		f.holds = stringField
	case func(*T) *bool:
		if f.holds = boolField; !f.Value.Accepts(Flag) {
			f.holds = nestedField
		}
	case func(*T) **bool:
		f.holds = optBoolField
	case func(*T) *int64:
		f.holds = intField
	case func(*T) **int64:
		f.holds = optIntField
	case func(*T) **float64:
		f.holds = optFloatField
	case func(*T) *[]string:
		f.holds = stringsField
	default:
		f.holds = otherField
	}
	return f
}

// InPointer is [In] for an optional object: the Go field is a pointer, and nil if the member
// is missing.
func InPointer[T, S any](f Field, at func(*T) **S) Field {
	f.access, f.holds = pointerAccess[T, S]{at}, optField
	return f
}

// InList is [In] for a list that is empty if the member is missing.
func InList[T, E any](f Field, at func(*T) *[]E) Field {
	f.access, f.holds = listAccess[T, E]{at}, optField
	return f
}

// Kept reports whether the member is kept as JSON text: no Go field or constant holds it.
func (f *Field) Kept() bool { return f.access == nil && !f.IsTag && f.Const == "" }

// Typed reports whether a Go field holds the member.
func (f *Field) Typed() bool { return f.access != nil }

// step returns the step of the member in paths.
func (f *Field) step() string {
	if f.Alias != "" {
		return f.Alias
	}
	return f.Name
}

// At returns the address of the Go field in the struct at p.
func (f *Field) At(p any) any { return f.access.at(p) }

// New returns the type of the objects that a T holds. extra returns the address of the
// field for the other members. fields returns the members in a new list; it is called on first
// use.
func New[T any](name string, extra func(*T) **content.Extra, fields func() []Field) *Type {
	return &Type{Name: name, holder: structs[T](extra), fields: fields}
}

// Kept returns the type of objects that are kept as JSON text.
func Kept(name string, fields ...Field) *Type {
	return KeptLater(name, func() []Field { return fields })
}

// KeptLater is [Kept] with members that are made on first use.
func KeptLater(name string, fields func() []Field) *Type { return &Type{Name: name, fields: fields} }

// table returns the members.
func (t *Type) table() *table {
	if b := t.built.Load(); b != nil {
		return b
	}
	t.once.Do(func() { t.built.Store(newTable(t.fields())) })
	return t.built.Load()
}

func newTable(fields []Field) *table {
	if len(fields) > 64 {
		panic("object: a type has at most 64 fields")
	}
	b := &table{fields: fields}
	var quoted strings.Builder // of all names, one after the other
	for i := range b.fields {
		f := &b.fields[i]
		quoted.WriteString(`"` + f.Name + `":`)
		b.add(f.Name, i)
		if f.Alias != "" && f.Alias != f.Name {
			b.add(f.Alias, i)
		}
		if f.Required {
			b.required |= 1 << i
		}
		b.tagged = b.tagged || f.IsTag
		if f.IsTag && f.Typed() {
			b.tag = f
		}
		b.nests = b.nests || f.holds == nestedField
		if v := f.Value; v != nil && f.holds == stringField {
			f.plain = v.Kinds&Text != 0 && v.Enum == nil && v.Min == 0 && v.Form == AnyForm
		}
		f.limited = !f.IsTag && f.holds >= stringField && f.holds < optField && (f.Value.isLimited() || f.Value != nil && f.Value.Elem.isLimited())
		switch {
		case f.ReadOnly, !f.Typed() && f.Const == "":
		case f.Required, f.WriteNull, !f.Typed(), f.holds >= nestedField:
			b.always |= 1 << i
		default:
			b.optional |= 1 << i
		}
	}
	rest := quoted.String()
	for i := range b.fields {
		n := len(b.fields[i].Name) + len(`"":`)
		b.fields[i].quoted, rest = rest[:n], rest[n:]
	}
	b.holds = b.hold
	return b
}

// Fields returns the members, in the order in which they are written. The caller must not
// change them.
func (t *Type) Fields() []Field { return t.table().fields }

// Extra returns the address of the field for other members in the struct at p.
func (t *Type) Extra(p any) **content.Extra { return t.holder.extra(p) }

// add adds a name of the i-th field to the hash table.
func (t *table) add(name string, i int) {
	h := hash(name)
	for t.names[h] != 0 {
		h++
	}
	t.names[h] = uint8(i + 1)
}

// hash returns the slot where the search for a name begins.
func hash(name string) uint8 {
	if name == "" {
		return 0
	}
	return hashOf(len(name), name[0], name[len(name)-1])
}

// hashOf returns the hash of a name of n characters. It ignores case.
func hashOf(n int, first, last byte) uint8 { return uint8(n)*5 + (first|0x20)*3 + (last|0x20)*7 }

// Find returns the field with a name or alias, or nil.
func (t *Type) Find(name string) *Field { return t.table().find(name) }

func (t *table) find(name string) *Field {
	if i := t.index(name); i >= 0 {
		return &t.fields[i]
	}
	return nil
}

// index returns the index of the field with a name or alias, or -1.
func (t *table) index(name string) int {
	for h := hash(name); ; h++ {
		i := int(t.names[h]) - 1
		if i < 0 || t.fields[i].Name == name || t.fields[i].Alias == name && name != "" {
			return i
		}
	}
}

// Similar returns the known name that a lenient parser would read name as, or "": one that
// ignores case, or one whose strings end at a NUL. The name is not a known one.
func (t *Type) Similar(name string) string {
	n, cut := len(name), name
	for i := range len(name) {
		if c := name[i]; c > 0 && c < utf8.RuneSelf {
			continue
		}
		n, cut = folded(name, i)
		break
	}
	if n == 0 {
		return ""
	}
	first, _ := utf8.DecodeRuneInString(cut)
	last, _ := utf8.DecodeLastRuneInString(cut)
	b := t.table()
	for h := hashOf(n, asciiLetter(first), asciiLetter(last)); b.names[h] != 0; h++ {
		switch f := &b.fields[b.names[h]-1]; {
		case strings.EqualFold(f.Name, cut):
			return f.Name
		case strings.EqualFold(f.Alias, cut):
			return f.Alias
		}
	}
	return ""
}

// asciiLetter returns the ASCII character that r equals if case is ignored.
func asciiLetter(r rune) byte {
	switch r {
	case '\u017F':
		return 's'
	case '\u212A':
		return 'k'
	}
	return byte(r)
}

// folded returns the number of characters of name before a NUL, and these characters.
// name[:i] is ASCII. Only two other characters fold to ASCII letters; for a name with
// any others, folded returns 0.
func folded(name string, i int) (n int, cut string) {
	for n = i; i < len(name) && name[i] != 0; n++ {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r >= utf8.RuneSelf && r != '\u017F' && r != '\u212A' {
			return 0, ""
		}
		i += size
	}
	return n, name[:i]
}

// Written returns the members that are written from the struct at p, in their order. Those
// whose Go field has no value are left out, unless they are required or only the format knows
// whether the field has one.
func (t *Type) Written(p any) iter.Seq[*Field] {
	return func(yield func(*Field) bool) {
		b := t.table()
		for set := b.written(p); set != 0; set &= set - 1 {
			if !yield(&b.fields[bits.TrailingZeros64(set)]) {
				return
			}
		}
	}
}

// written returns the set of the indices of these members.
func (t *table) written(p any) uint64 {
	set := t.always
	for rest := t.optional; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros64(rest); t.fields[i].access.isSet(p) {
			set |= 1 << i
		}
	}
	return set
}

// Create returns a pointer to a new struct of this type.
func (t *Type) Create() any { return t.holder.create() }

// Pointer returns the pointer at pp, the address of a pointer to a struct of this type, or
// nil if that pointer is nil.
func (t *Type) Pointer(pp any) any { return t.holder.pointer(pp) }

// Members are the members of an object that were read so far. The zero value is an object
// without members.
type Members struct{ seen uint64 }

// Field returns the field of a member, or nil if t does not have it. again reports whether
// the object has the member in its other spelling, too.
func (m *Members) Field(t *Type, name string) (f *Field, again bool) {
	return m.field(t.table(), name)
}

func (m *Members) field(t *table, name string) (f *Field, again bool) {
	i := t.index(name)
	if i < 0 {
		return nil, false
	}
	bit := uint64(1) << (i & 63)
	again = m.seen&bit != 0
	m.seen |= bit
	return &t.fields[i], again
}

// Missing returns the next required field that the object does not have, or nil.
func (m *Members) Missing(t *Type) *Field {
	b := t.table()
	missing := b.required &^ m.seen
	if missing == 0 {
		return nil
	}
	i := bits.TrailingZeros64(missing)
	m.seen |= 1 << i
	return &b.fields[i]
}

// Holds reports whether a name belongs to a member that is not kept as JSON text.
func (t *Type) Holds(name string) bool { return t.table().hold(name) }

func (t *table) hold(name string) bool {
	f := t.find(name)
	return f != nil && !f.Kept()
}

// HasStruct reports whether a Go struct holds the objects.
func (t *Type) HasStruct() bool { return t.holder != nil }

// Keeps reports whether the value of the kept member f belongs into an Extra.
func (f *Field) Keeps(x jsonwire.Value) bool {
	if x.Kind() == jsonwire.Null && f.Value != nil && f.Value.Kinds&Null != 0 {
		return false
	}
	return f.IsDefault == nil || !f.IsDefault(x)
}

// A Value describes the values of a member or the elements of a list.
type Value struct {
	Kinds    Kinds
	Form     Form   // of texts and numbers
	Min, Max int64  // length of a text or list, value of an integer; Max 0 means no limit
	Enum     *Enum  // known values of a text
	Elem     *Value // of a list; nil: anything
	Members  *Value // of the members of an object with arbitrary names
	Object   *Type  // of an object; nil: any members
	Tags     []Tag  // of an object with a member "type"
	Schema   bool   // a JSON Schema
	Tagged   bool   // the "type" of the object is part of the paths in it
}

// A Form restricts texts or numbers further.
type Form uint8

// The forms of values.
const (
	AnyForm   Form = iota
	Base64         // a text that is base64
	Timestamp      // a text that is a time
	Int32          // an integer of 32 bits
)

// An Enum has the known values of a text.
type Enum struct {
	Name    string // the vendor's name of the type, for error texts, or ""
	Values  []string
	Numbers int  // the number of values that can also be written as their index in Values
	Closed  bool // others are always violations, not only in strict validation
}

// A Tag is the type of the objects whose member "type" has a value.
type Tag struct {
	Name string
	Type *Type
}

// Kinds is a set of kinds of JSON values.
type Kinds uint8

// The kinds of values. Integer is a number that is whole and in the range of int64.
const (
	Text Kinds = 1 << iota
	Integer
	Number
	Flag
	List
	Object
	Null
	Any Kinds = 0
)

// KindOf returns the kind of a value. An integer is a Number, too.
func KindOf(x jsonwire.Value) Kinds {
	switch x.Kind() {
	case jsonwire.String:
		return Text
	case jsonwire.Number:
		if _, ok := x.Int(); ok {
			return Integer | Number
		}
		return Number
	case jsonwire.True, jsonwire.False:
		return Flag
	case jsonwire.Array:
		return List
	case jsonwire.Object:
		return Object
	}
	return Null
}

// Accepts reports whether the value accepts a kind.
func (v *Value) Accepts(k Kinds) bool { return v == nil || v.Kinds == Any || v.Kinds&k != 0 }
