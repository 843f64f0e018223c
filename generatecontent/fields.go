package generatecontent

import (
	"strings"

	"github.com/polywire/polywire/internal/codec"
)

// A message is one of the API's objects: its fields in both spellings and
// their types. The tables of messages stand in fields_*.go and are never
// changed. The first fields of a message are those that have a Go field of
// their own; all others are kept as JSON text.
type message struct {
	name   string // in errors, such as "GenerationConfig"
	camel  []string
	snake  []string
	fields []field

	// byLen are the fields by the length of their names, both spellings.
	byLen [longestName + 1][]spelling
}

// longestName is how long the longest name of any field is.
const longestName = 40

// A spelling is one name of a field.
type spelling struct {
	name  string
	field int
}

// A field is one field of a message.
type field struct {
	kind kind
	list bool
	// either says that a list of one may be written without its brackets, and
	// that both are canonical.
	either bool
	of     *message
	enum   *enum
}

// A kind is the type of a field.
type kind uint8

const (
	kString kind = iota
	kBool
	kInt32
	kInt64
	kFloat
	kBytes
	kDuration
	kTime
	kEnum
	kMessage
	kStruct  // any object, its names are free
	kValue   // any value
	kTextMap // names are free, values are texts
	kSelf    // the message that the field is in
	kSelfMap // names are free, values are the message that the field is in
)

// An enum is a set of names. Those at the front have their place for number;
// the numbers of the others are not public.
type enum struct {
	name     string
	values   []string
	numbered int
	open     bool // other names are taken as they are
}

// A named field is an entry of a table.
type named struct {
	name string
	field
}

// object makes a message of a table.
func object(name string, fields ...named) *message {
	m := &message{name: name}
	for _, f := range fields {
		m.camel = append(m.camel, f.name)
		m.snake = append(m.snake, snake(f.name))
		m.fields = append(m.fields, f.field)
	}
	for _, names := range [...][]string{m.camel, m.snake} {
		for i, s := range names {
			if m.find(s) < 0 {
				m.byLen[len(s)] = append(m.byLen[len(s)], spelling{s, i})
			}
		}
	}
	return m
}

// snake returns the other spelling of a name.
func snake(camel string) string {
	var b strings.Builder
	for i := range len(camel) {
		if c := camel[i]; c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
			b.WriteByte(c | 0x20)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func text(name string) named            { return named{name, field{kind: kString}} }
func flag(name string) named            { return named{name, field{kind: kBool}} }
func int32s(name string) named          { return named{name, field{kind: kInt32}} }
func int64s(name string) named          { return named{name, field{kind: kInt64}} }
func number(name string) named          { return named{name, field{kind: kFloat}} }
func data(name string) named            { return named{name, field{kind: kBytes}} }
func duration(name string) named        { return named{name, field{kind: kDuration}} }
func instant(name string) named         { return named{name, field{kind: kTime}} }
func free(name string) named            { return named{name, field{kind: kStruct}} }
func value(name string) named           { return named{name, field{kind: kValue}} }
func texts(name string) named           { return named{name, field{kind: kString, list: true}} }
func textMap(name string) named         { return named{name, field{kind: kTextMap}} }
func one(name string, m *message) named { return named{name, field{kind: kMessage, of: m}} }
func many(name string, m *message) named {
	return named{name, field{kind: kMessage, of: m, list: true}}
}
func either(name string, m *message) named {
	return named{name, field{kind: kMessage, of: m, list: true, either: true}}
}
func choice(name string, e *enum) named        { return named{name, field{kind: kEnum, enum: e}} }
func choices(name string, e *enum) named       { return named{name, field{kind: kEnum, enum: e, list: true}} }
func itself(name string, k kind) named         { return named{name, field{kind: k}} }
func itselfs(name string) named                { return named{name, field{kind: kSelf, list: true}} }
func closed(name string, v ...string) *enum    { return &enum{name: name, values: v, numbered: len(v)} }
func unnumbered(name, v string) *enum          { return &enum{name: name, values: strings.Fields(v)} }
func open(name string, values ...string) *enum { return &enum{name: name, values: values, open: true} }

// find returns the field of a name in either spelling, -1 if there is none.
func (m *message) find(name string) int {
	if len(name) <= longestName {
		for _, s := range m.byLen[len(name)] {
			if s.name == name {
				return s.field
			}
		}
	}
	return -1
}

// likely returns the known name that a laxer reader would take an unknown name
// for, or "".
func (m *message) likely(name string) string {
	if i := strings.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	if !isASCII(name) { // some letters fold to others of another length
		if s := codec.SimilarName(name, m.camel); s != "" {
			return s
		}
		return codec.SimilarName(name, m.snake)
	}
	if len(name) <= longestName {
		for _, s := range m.byLen[len(name)] {
			if strings.EqualFold(s.name, name) {
				return s.name
			}
		}
	}
	return ""
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// find returns the canonical form of a name of the enum, "" if it is none.
func (e *enum) find(name string) string {
	for _, v := range e.values {
		if strings.EqualFold(v, name) {
			return v
		}
	}
	if e.open && isWord(name) {
		return name
	}
	return ""
}

// unset reports whether a canonical name stands for no choice at all.
func (e *enum) unset(name string) bool { return e.numbered > 0 && name == e.values[0] }

// isWord reports whether s could be a name of an enum.
func isWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_') {
			return false
		}
	}
	return s != ""
}

// typeName returns a field's type in the vendor's words.
func (p *parser) typeName(f *field, m *message) string {
	const known = "type.googleapis.com/google.protobuf."
	switch f.kind {
	case kString, kTextMap:
		return "TYPE_STRING"
	case kBool:
		return "TYPE_BOOL"
	case kInt32:
		return "TYPE_INT32"
	case kInt64:
		return "TYPE_INT64"
	case kFloat:
		return "TYPE_FLOAT"
	case kBytes:
		return "TYPE_BYTES"
	case kDuration:
		return known + "Duration"
	case kTime:
		return known + "Timestamp"
	case kStruct:
		return known + "Struct"
	case kValue:
		return known + "Value"
	case kEnum:
		return p.vendorType(f.enum.name)
	case kMessage:
		return p.vendorType(f.of.name)
	}
	return p.vendorType(m.name)
}

func (p *parser) vendorType(name string) string {
	return "type.googleapis.com/google.ai.generativelanguage." + p.version + "." + name
}
