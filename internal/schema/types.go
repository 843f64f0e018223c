package schema

import (
	"math"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// types is a set of types of values.
type types uint8

const (
	tString types = 1 << iota
	tInteger
	tFraction // numbers that are not whole
	tBoolean
	tArray
	tObject
	tNull

	tNumber = tInteger | tFraction
	tAll    = tNull<<1 - 1
)

// typeNames are the names of types, those with more values first.
var typeNames = [...]struct {
	t    types
	name string
}{
	{tString, "string"}, {tNumber, "number"}, {tInteger, "integer"}, {tBoolean, "boolean"},
	{tArray, "array"}, {tObject, "object"}, {tNull, "null"},
}

// typesOf returns the types that the value of a type keyword names, in any
// case; none if there is one that it does not know.
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

// names calls f for each type in the set, in the order of the table.
func (t types) names(f func(x types, name string)) {
	for i := range typeNames {
		if x := typeNames[i].t; t&x == x {
			f(x, typeNames[i].name)
			t &^= x
		}
	}
}

func (t types) count() int {
	n := 0
	t.names(func(types, string) { n++ })
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
