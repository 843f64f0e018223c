package object

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A Reader reads JSON objects into Go structs by their types. The parser of a format embeds it,
// and sets Format, Check.Path and the fields in which it differs. A Reader continues after a
// violation: it leaves the Go field zero.
type Reader struct {
	Format Format
	Quota  codec.Quota
	Extras codec.Extras

	// Check has the path of the value that is read. It checks the members that are kept as JSON
	// text, unless Check.Report is nil.
	Check Checker

	// Origin records the members of the struct Root, of which adapters replace those for which
	// IsReplaced returns true. If Root is nil, it is not used.
	Origin     *codec.Origin
	Root       any
	IsReplaced func(name string) bool

	// Name is the format of the members and parts that are kept as JSON text.
	Name content.Format

	// Response reads a part of a response: members that are kept as JSON text are neither
	// checked nor left out for their value, except those that are Implied.
	Response bool

	// ProtoJSON reads the JSON form of protocol buffers: null is a missing member, numbers may
	// be texts, a value is also a list of one, and an optional object may be empty.
	ProtoJSON bool

	// Null reports that a member of a struct was null.
	Null bool

	// Size is the expected number of turns or tools, by which a parser sizes its chunks.
	Size int

	doc      jsonwire.Doc
	flags    codec.Chunk[bool]
	integers codec.Chunk[int64]
	numbers  codec.Chunk[float64]
	others   codec.Chunk[content.Unknown]
	invalid  content.Part // shared by values that are not parts, if there are many
}

// A Format has what a Reader does not know of its format.
type Format interface {
	// Value reads x, the value of the member f, into a Go field whose type Reader does not
	// know. With ProtoJSON this includes texts that are more than any text.
	Value(f *Field, name string, x jsonwire.Value, to any)
	// Extra returns the members of an object that are kept as JSON text, or nil. It is only
	// called for an object that may have some. The embedded Reader has one for most formats.
	Extra(v jsonwire.Value, t *Type) *content.Extra

	// Mismatch reports that a member of the object at the path does not accept x.
	Mismatch(f *Field, name string, x jsonwire.Value)
	// Kind is that of [Reporter].
	Kind(v *Value, x jsonwire.Value)
	// Unknown reports a name that the type does not have, or that the object has in the other
	// spelling, too.
	Unknown(t *Type, name string)
}

// Begin parses the document of a request, within its limits, and returns its root. It sets Quota
// and Origin, and must be called once. The caller must call Close after a success or an error.
func (r *Reader) Begin(body string, lim *content.Limits, o *codec.Origin) (root jsonwire.Value, err error) {
	r.Quota.Limit(lim)
	r.Origin, o.Body, r.doc.Literals = o, body, &o.Literals
	err = r.doc.ParseSingle(body, jsonwire.Limits{Depth: lim.Depth, Values: lim.Values})
	return r.doc.Root(), err
}

// Close releases the document of Begin, whose values become invalid.
func (r *Reader) Close() { r.doc.Close() }

// Seed sets the first values of optional flags and numbers. They must be zero.
func (r *Reader) Seed(flags []bool, integers []int64, numbers []float64) {
	r.flags.Seed(flags)
	r.integers.Seed(integers)
	r.numbers.Seed(numbers)
}

// Expect prepares for a list of n turns or tools.
func (r *Reader) Expect(n int) { r.Size = max(r.Size, min(n/4, codec.LargestChunk/4)) }

// Read reads the members of an object into the struct at to.
func (r *Reader) Read(v jsonwire.Value, t *Type, to any) {
	if r.ReadFields(v, t, to) {
		*t.Extra(to) = r.Format.Extra(v, t)
	}
}

// ReadFields is Read without the members that are kept as JSON text. It reports whether the
// object may have some.
func (r *Reader) ReadFields(v jsonwire.Value, t *Type, to any) (more bool) {
	var seen Members
	b := t.table()
	isRoot := r.Root != nil && to == r.Root
	for name, x := range v.Members() {
		if isRoot {
			r.Origin.Note(name, x, r.IsReplaced)
		}
		r.Null = r.Null || x.Kind() == jsonwire.Null
		switch f, again := seen.field(b, name); {
		case f == nil:
			r.Format.Unknown(t, name)
			more = true
		case again:
			r.Format.Unknown(t, name)
			more = more || f.Kept()
		case f.IsTag:
		case f.holds == nestedField:
			more = r.nested(f, name, x, f.access.at(to)) || more
		case f.Typed():
			r.value(f, name, x, f.access.at(to))
			if f.limited {
				r.limits(f, name, x)
			}
		default:
			r.kept(f, name, x)
			more = more || f.Kept()
		}
	}
	if seen.seen&b.required != b.required && r.Check.Report != nil {
		for f := seen.Missing(t); f != nil; f = seen.Missing(t) {
			r.Check.Report.Missing(f)
		}
	}
	return more
}

// nested reads an object whose members a Go field of the struct around it holds.
func (r *Reader) nested(f *Field, name string, x jsonwire.Value, to any) (more bool) {
	if r.isObject(f, name, x) {
		r.Check.Path.Push(f.step())
		more = r.ReadFields(x, f.Value.Object, to)
		r.Check.Path.Pop()
	}
	return more
}

// value reads the value of a member into a Go field.
func (r *Reader) value(f *Field, name string, x jsonwire.Value, to any) {
	switch to := to.(type) {
	case *string:
		if f.plain {
			*to = r.Text(f, name, x)
		} else if r.ProtoJSON {
			r.Format.Value(f, name, x, to)
		} else {
			*to = r.string(f, name, x)
		}
	case *bool:
		*to = r.Flag(f, name, x)
	case **bool:
		if on := r.Flag(f, name, x); on || x.Kind() == jsonwire.False {
			*to = r.flags.New(1)
			**to = on
		}
	case *int64:
		*to, _ = r.integer(f, name, x)
	case **int64:
		if n, ok := r.integer(f, name, x); ok {
			*to = r.integers.New(1)
			**to = n
		}
	case **float64:
		if n, ok := r.number(f, name, x); ok {
			*to = r.numbers.New(1)
			**to = n
		}
	case *[]string:
		if e := f.Value.Elem; r.ProtoJSON && e.Enum != nil {
			r.Format.Value(f, name, x, to)
		} else {
			*to = r.strings(f, name, x)
		}
	default:
		r.Format.Value(f, name, x, to)
	}
}

// limits checks the length, the range or the choice of a value that was read. An empty text means
// that the member is missing.
func (r *Reader) limits(f *Field, name string, x jsonwire.Value) {
	if r.checks() && !x.Is("") {
		r.Check.Path.Push(name)
		r.Check.limits(x, f.Value)
		r.Check.Path.Pop()
	}
}

// checks reports whether members are checked.
func (r *Reader) checks() bool { return r.Check.Report != nil && !r.Response }

// isNull reports whether a member accepts x as null.
func (r *Reader) isNull(f *Field, x jsonwire.Value) bool {
	return x.Kind() == jsonwire.Null && (r.ProtoJSON || f.Value.Kinds&Null != 0)
}

// mismatch reports a value that is not of the kind of the member, unless it is an accepted null.
func (r *Reader) mismatch(f *Field, name string, x jsonwire.Value) {
	if !r.isNull(f, x) {
		r.Format.Mismatch(f, name, x)
	}
}

// Text reads a text.
func (r *Reader) Text(f *Field, name string, x jsonwire.Value) string {
	if x.Kind() != jsonwire.String {
		r.mismatch(f, name, x)
	}
	return x.Str()
}

// string reads a text that may not be empty, or the JSON text of another value.
func (r *Reader) string(f *Field, name string, x jsonwire.Value) string {
	switch v := f.Value; {
	case v.Kinds == Any:
		return x.Raw()
	case v.Kinds&Text == 0:
		return r.JSON(f, name, x)
	case x.Is(""): // the empty Go field means that the member is missing
		r.Format.Mismatch(f, name, x)
		return ""
	}
	return r.Text(f, name, x)
}

// JSON reads an object as JSON text.
func (r *Reader) JSON(f *Field, name string, x jsonwire.Value) string {
	if f.Value.Schema && !r.Quota.Schema(x.Size()) {
		return ""
	}
	if x.Kind() != jsonwire.Object {
		r.Format.Mismatch(f, name, x)
		return ""
	}
	return x.Raw()
}

// Flag reads a boolean.
func (r *Reader) Flag(f *Field, name string, x jsonwire.Value) bool {
	on, ok := x.Bool()
	if !ok {
		r.mismatch(f, name, x)
	}
	return on
}

func (r *Reader) integer(f *Field, name string, x jsonwire.Value) (n int64, ok bool) {
	if r.ProtoJSON {
		n, ok = Int(x, f.Value.Form)
	} else {
		n, ok = x.Int()
	}
	if !ok {
		r.mismatch(f, name, x)
		n = 0
	}
	return n, ok
}

func (r *Reader) number(f *Field, name string, x jsonwire.Value) (n float64, ok bool) {
	if r.ProtoJSON {
		n, ok = Float(x)
	} else {
		n, ok = x.Float()
	}
	if !ok {
		r.mismatch(f, name, x)
	}
	return n, ok
}

// strings reads a list of texts.
func (r *Reader) strings(f *Field, name string, x jsonwire.Value) []string {
	n := r.Len(f, name, x)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	r.Each(f, x, func(i int, e jsonwire.Value) {
		if e.Kind() != jsonwire.String {
			r.Format.Kind(f.Value.Elem, e)
		} else if r.checks() && f.Value.Elem.isLimited() {
			r.Check.limits(e, f.Value.Elem)
		}
		list[i] = e.Str()
	})
	return list
}

// Len returns the number of elements of a list. It reports another value, of which the length
// is 0, or 1 if a value is also a list of one.
func (r *Reader) Len(f *Field, name string, x jsonwire.Value) int {
	switch k := x.Kind(); {
	case k == jsonwire.Array:
		return x.Len()
	case r.ProtoJSON && k > jsonwire.Null:
		return 1
	}
	r.mismatch(f, name, x)
	return 0
}

// Each calls read for the elements of a list whose length is not 0, at their paths.
func (r *Reader) Each(f *Field, x jsonwire.Value, read func(i int, e jsonwire.Value)) {
	path := r.Check.Path
	path.Push(f.step())
	if x.Kind() == jsonwire.Array {
		for i, e := range x.Elems() {
			path.PushIndex(i)
			read(i, e)
			path.Pop()
		}
	} else {
		path.PushIndex(0)
		read(0, x)
		path.Pop()
	}
	path.Pop()
}

// isObject reports whether a member is an object. It reports another value.
func (r *Reader) isObject(f *Field, name string, x jsonwire.Value) bool {
	if x.Kind() == jsonwire.Object {
		return true
	}
	r.mismatch(f, name, x)
	return false
}

// Enter moves the path to a member and returns true if the member is an object. The caller
// leaves it. Otherwise Enter returns false, and reports the value.
func (r *Reader) Enter(f *Field, name string, x jsonwire.Value) bool {
	if !r.isObject(f, name, x) {
		return false
	}
	r.Check.Path.Push(f.step())
	return true
}

// Object reads an optional object into a new struct, to whose pointer to points. The pointer
// remains nil if the object has no members and its type has no tag.
func (r *Reader) Object(f *Field, name string, x jsonwire.Value, to any) {
	if !r.Enter(f, name, x) {
		return
	}
	t := f.Value.Object
	b, s := t.table(), t.Create()
	depth := r.Check.Path.Depth()
	if b.tag != nil {
		tag, _ := r.ReadTag(x)
		*b.tag.access.at(s).(*string) = tag
		if f.Value.Tagged && tag != "" {
			r.Check.Path.Push(codec.Clip(tag))
		}
	}
	r.Read(x, t, s)
	r.Check.Path.Truncate(depth - 1)
	if r.ProtoJSON || b.tagged || !t.holder.isZero(s) {
		t.holder.set(to, s)
	}
}

// Other keeps a part of another kind as JSON text.
func (r *Reader) Other(kind string, x jsonwire.Value) content.Part {
	u := r.others.New(1)
	u.Format, u.Kind, u.Raw = r.Name, kind, x.Raw()
	return u
}

// BadPart is Other for a value that is not a part, and was reported. It keeps the indices of the
// other parts. Many invalid values must not need much memory: if more is set, they share one part.
func (r *Reader) BadPart(x jsonwire.Value, more bool) content.Part {
	if r.invalid == nil || !more {
		r.invalid = r.Other("", x)
	}
	return r.invalid
}

// ReadTag returns the member "type" of an object. It may be at any position in the object, since
// some clients write it last. If the value is not an object that has a text there,
// ReadTag reports it and returns false.
func (r *Reader) ReadTag(v jsonwire.Value) (tag string, ok bool) {
	if v.Kind() != jsonwire.Object {
		r.Format.Kind(AnyObject, v)
		return "", false
	}
	t := v.Get("type")
	if t.Kind() != jsonwire.String || t.Is("") {
		r.Check.Report.Tag(nil, t)
		return "", false
	}
	return t.Str(), true
}

// kept checks a member that is kept as JSON text, or that is a constant.
func (r *Reader) kept(f *Field, name string, x jsonwire.Value) {
	switch {
	case f.Value == nil, r.Check.Report == nil, f.Const != "" && x.Is(f.Const):
	case f.Const != "", !r.Response && f.Keeps(x):
		r.Check.Member(f, name, x)
	}
}

// Rest returns the members of v that are kept as JSON text, in their order and with the
// bytes of their values, or "". Members of nested objects are first, because an encoder writes
// them before the others.
func (r *Reader) Rest(v jsonwire.Value, t *Type) string {
	if !r.Quota.Members(v.Len()) {
		return ""
	}
	b, known := r.Extras.Begin(), t.table()
	if known.nests {
		for name, x := range v.Members() {
			if f := known.find(name); f != nil && f.holds == nestedField {
				b = f.appendNested(b, x)
			}
		}
	}
	var long strings.Builder
	for name, x := range v.Members() {
		if f := known.find(name); f != nil && !r.keeps(f, x) {
			continue
		}
		b = codec.AppendMember(b, name, x.Raw())
		if len(b) > maxSharedExtra {
			if long.Len() == 0 {
				long.Grow(maxExtraLen(v))
			}
			// AppendMember needs the last byte to decide about a comma.
			last := len(b) - 1
			long.Write(b[:last])
			b = append(b[:0], b[last])
		}
	}
	if long.Len() > 0 {
		long.Write(append(b, '}'))
		return long.String()
	}
	return r.Extras.End(b)
}

// Extra implements [Format].
func (r *Reader) Extra(v jsonwire.Value, t *Type) *content.Extra {
	if json := r.Rest(v, t); json != "" {
		return r.Extras.New(r.Name, json)
	}
	return nil
}

// keeps reports whether the value of a member belongs into an Extra.
func (r *Reader) keeps(f *Field, x jsonwire.Value) bool {
	return f.Kept() && (r.Response && !f.Implied || f.Keeps(x))
}

// appendNested appends the unknown members of a nested object as an object, if it has some.
func (f *Field) appendNested(b []byte, x jsonwire.Value) []byte {
	n := len(b)
	b = append(codec.AppendName(b, f.Name), '{')
	empty := len(b)
	for name, x := range x.Members() {
		if f.Value.Object.Find(name) == nil {
			b = codec.AppendMember(b, name, x.Raw())
		}
	}
	if len(b) == empty {
		return b[:n]
	}
	return append(b, '}')
}

// maxSharedExtra is the maximum length of an Extra that shares a memory chunk.
const maxSharedExtra = 8 << 10

// maxExtraLen returns the maximum length of the Extra of v without its long values,
// most of which are in fields.
func maxExtraLen(v jsonwire.Value) int {
	n := v.End() - v.Offset()
	for _, x := range v.Members() {
		if size := x.End() - x.Offset(); size > maxSharedExtra {
			n -= size
		}
	}
	return n
}

// Member returns an Extra with a text.
func (r *Reader) Member(name, text string) *content.Extra {
	return r.Extras.New(r.Name, r.Extras.End(jsonwire.AppendString(codec.AppendName(r.Extras.Begin(), name), text)))
}

// Joined returns the members of two objects. Each may be nil.
func (r *Reader) Joined(x, y *content.Extra) *content.Extra {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	return r.Extras.New(r.Name, x.JSON[:len(x.JSON)-1]+","+y.JSON[1:])
}
