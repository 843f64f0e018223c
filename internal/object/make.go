package object

import "github.com/polywire/polywire/internal/jsonwire"

// Constructors of fields and values, for the tables of formats.

// Must returns a member that is required and that a Go field holds.
func Must[T, F any](name string, v *Value, at func(*T) *F) Field {
	return In(Field{Name: name, Value: v, Required: true}, at)
}

// Opt returns an optional member that a Go field holds.
func Opt[T, F any](name string, v *Value, at func(*T) *F) Field {
	return In(Field{Name: name, Value: v}, at)
}

// OptObject returns an optional member that a pointer to a struct of type t holds.
func OptObject[T, S any](name string, t *Type, at func(*T) **S) Field {
	return InPointer(Field{Name: name, Value: &Value{Kinds: Object | Null, Object: t}}, at)
}

// OptList returns an optional list of objects that a slice holds.
func OptList[T, E any](name string, v *Value, at func(*T) *[]E) Field {
	return InList(Field{Name: name, Value: v}, at)
}

// RequiredKept returns a required member that is kept as JSON text.
func RequiredKept(name string, v *Value) Field { return Field{Name: name, Value: v, Required: true} }

// OptKept returns an optional member that is kept as JSON text.
func OptKept(name string, v *Value) Field { return Field{Name: name, Value: v} }

// TagField is the member "type" of an object whose type is known when it is read.
var TagField = Field{Name: "type", IsTag: true}

// KeptTag returns the type of objects that are kept as JSON text and whose "type" is tag.
func KeptTag(tag string, fields ...Field) Tag {
	return Tag{Name: tag, Type: Kept("", append([]Field{TagField}, fields...)...)}
}

// KeptObject returns an object that is kept as JSON text.
func KeptObject(fields ...Field) *Value { return &Value{Kinds: Object, Object: Kept("", fields...)} }

// NullableObject returns an object that is kept as JSON text, or null.
func NullableObject(fields ...Field) *Value {
	return &Value{Kinds: Object | Null, Object: Kept("", fields...)}
}

// OneOf returns a text whose known values are values. Others are violations in strict validation.
func OneOf(kinds Kinds, values ...string) *Value {
	return &Value{Kinds: kinds, Enum: &Enum{Values: values}}
}

// Closed returns a text that must be one of values.
func Closed(kinds Kinds, values ...string) *Value {
	return &Value{Kinds: kinds, Enum: &Enum{Values: values, Closed: true}}
}

// TypeIn returns the member "type", with one of values, of an object whose type is read before its
// other members.
func TypeIn[T any](at func(*T) *string, values ...string) Field {
	return In(Field{Name: "type", Value: OneOf(Text, values...), IsTag: true}, at)
}

// UnlessDefault returns f without the values for which isDefault returns true.
func UnlessDefault(f Field, isDefault func(jsonwire.Value) bool) Field {
	f.IsDefault = isDefault
	return f
}

// Named returns optional members with arbitrary values.
func Named(names ...string) []Field {
	list := make([]Field, len(names))
	for i, name := range names {
		list[i].Name = name
	}
	return list
}

// Values that many members accept. They are never changed.
var (
	AnyText         = &Value{Kinds: Text}
	NullableText    = &Value{Kinds: Text | Null}
	NonEmptyText    = &Value{Kinds: Text, Min: 1}
	NullableFlag    = &Value{Kinds: Flag | Null}
	NullableInteger = &Value{Kinds: Integer | Null}
	NullableNumber  = &Value{Kinds: Number | Null}
	NullableTexts   = &Value{Kinds: List | Null, Elem: AnyText}
	AnyObject       = &Value{Kinds: Object}
	NullableAny     = &Value{Kinds: Object | Null}
	NullableObjects = &Value{Kinds: List | Null, Elem: AnyObject}
	NullableSchema  = &Value{Kinds: Object | Null, Schema: true}
)
