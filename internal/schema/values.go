package schema

import (
	"math"
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// types is a set of JSON types.
type types uint8

const (
	tString types = 1 << iota
	tInteger
	tFraction // numbers that are not integers
	tBoolean
	tArray
	tObject
	tNull

	tNumber = tInteger | tFraction
	tAll    = tNull<<1 - 1
)

// typeNames are the names of types. A type precedes those that it includes.
var typeNames = [...]struct {
	t    types
	name string
}{
	{tString, "string"}, {tNumber, "number"}, {tInteger, "integer"}, {tBoolean, "boolean"},
	{tArray, "array"}, {tObject, "object"}, {tNull, "null"},
}

// typesOf returns the types that the value of a "type" keyword names, in any case. It
// returns 0 if a name is unknown.
func typesOf(v value) types {
	if v.Kind() == jsonwire.String {
		return typeNamed(v.Str())
	}
	var set types
	for _, x := range v.Elems() {
		t := typeNamed(x.Str())
		if t == 0 {
			return 0
		}
		set |= t
	}
	return set
}

func typeNamed(name string) types {
	for i := range typeNames {
		if typeNames[i].name == name {
			return typeNames[i].t
		}
	}
	for i := range typeNames {
		if strings.EqualFold(typeNames[i].name, name) {
			return typeNames[i].t
		}
	}
	return 0
}

// each calls f for each type in the set, in the order of typeNames.
func (t types) each(f func(x types, name string)) {
	for i := range typeNames {
		if x := typeNames[i].t; t&x == x {
			f(x, typeNames[i].name)
			t &^= x
		}
	}
}

func (t types) count() int {
	n := 0
	t.each(func(types, string) { n++ })
	return n
}

// typeOf returns the type of a value.
func typeOf(v value) types {
	switch v.Kind() {
	case jsonwire.Null:
		return tNull
	case jsonwire.True, jsonwire.False:
		return tBoolean
	case jsonwire.String:
		return tString
	case jsonwire.Array:
		return tArray
	case jsonwire.Object:
		return tObject
	case jsonwire.Number:
		if f, ok := v.Float(); ok && f == math.Trunc(f) {
			return tInteger
		}
		return tFraction
	}
	return 0
}

// isNull reports whether v is a schema that only null satisfies.
func isNull(v value) bool {
	if t := v.Get("type"); t.Exists() {
		return typesOf(t) == tNull
	}
	if x := v.Get("const"); x.Exists() {
		return x.Kind() == jsonwire.Null
	}
	e := v.Get("enum")
	return e.Len() == 1 && elem(e, 0).Kind() == jsonwire.Null
}

// allowsAnything reports whether v is a schema that every value satisfies.
func allowsAnything(v value) bool {
	return v.Kind() == jsonwire.True || v.Kind() == jsonwire.Object && v.Len() == 0
}

// hasShape reports whether v has shape s.
func hasShape(s shape, v value) bool {
	k := v.Kind()
	isFlag := k == jsonwire.True || k == jsonwire.False
	switch s {
	case shapeBool:
		return isFlag
	case shapeString:
		return k == jsonwire.String
	case shapeNumber:
		_, ok := v.Float()
		return ok
	case shapeCount:
		n, ok := v.Int()
		return ok && n >= 0
	case shapeStrings:
		return k == jsonwire.Array && allElems(v, func(x value) bool { return x.Kind() == jsonwire.String })
	case shapeList:
		return k == jsonwire.Array
	case shapeType:
		return typesOf(v) != 0
	case shapeBound:
		_, ok := v.Float()
		return ok || isFlag
	case shapeSchema:
		return isSchema(v)
	case shapeSchemas:
		return k == jsonwire.Array && v.Len() > 0 && allElems(v, isSchema)
	case shapeSchemaMap:
		if k != jsonwire.Object {
			return false
		}
		for _, x := range v.Members() {
			if !isSchema(x) {
				return false
			}
		}
	case shapeSchemaOrList:
		return isSchema(v) || k == jsonwire.Array && allElems(v, isSchema)
	}
	return true
}

func isSchema(v value) bool {
	switch v.Kind() {
	case jsonwire.Object, jsonwire.True, jsonwire.False:
		return true
	}
	return false
}

func allElems(v value, ok func(value) bool) bool {
	for _, x := range v.Elems() {
		if !ok(x) {
			return false
		}
	}
	return true
}

// isLiteral reports whether v is a schema that consists of one constant string.
func isLiteral(v value) bool {
	typed := 1
	if t := v.Get("type"); t.Exists() {
		if typesOf(t)&tString == 0 {
			return false
		}
		typed = 2
	}
	return v.Get("const").Kind() == jsonwire.String && v.Len() == typed
}

// identity returns a text that is equal for equal values. Objects and arrays are
// compared by their source text.
func identity(v value) string {
	switch v.Kind() {
	case jsonwire.String:
		return `"` + v.Str()
	case jsonwire.Number:
		f, _ := v.Float()
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return v.Raw()
}

// intersect returns the values of a that are also in b.
func intersect(a, b []value) []value {
	in := make(map[string]bool, len(b))
	for _, x := range b {
		in[identity(x)] = true
	}
	var out []value
	for _, x := range a {
		if in[identity(x)] {
			out = append(out, x)
		}
	}
	return out
}

func elem(v value, at int) value {
	for i, x := range v.Elems() {
		if i == at {
			return x
		}
	}
	return value{}
}
