package upstreamtest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/polywire/polywire/upstream"
)

// requestChange returns how r differs from before, or "". It ignores Wire and
// Resolver.
func requestChange(before, r *upstream.Request) string {
	a, b := *before, *r
	a.Wire, a.Resolver, b.Wire, b.Resolver = nil, nil, nil, nil
	return difference("", reflect.ValueOf(a), reflect.ValueOf(b))
}

// difference returns the path of the first difference and its description, or
// "". It ignores unexported fields.
func difference(path string, a, b reflect.Value) string {
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		switch {
		case a.IsNil() != b.IsNil():
			return path + ": one is nil"
		case a.IsNil():
			return ""
		case a.Kind() == reflect.Interface && a.Elem().Type() != b.Elem().Type():
			return fmt.Sprintf("%s: %s became %s", path, a.Elem().Type(), b.Elem().Type())
		}
		return difference(path, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			f := a.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if d := difference(join(path, f.Name), a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d became %d", path, a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := difference(join(path, strconv.Itoa(i)), a.Index(i), b.Index(i)); d != "" {
				return d
			}
		}
		return ""
	}
	if !a.Equal(b) {
		return fmt.Sprintf("%s: %v became %v", path, a, b)
	}
	return ""
}

func join(path, step string) string {
	if path == "" {
		return step
	}
	return path + "." + step
}

// withSpareCapacity returns a copy of r with lists whose capacity is greater than
// their length. [appendedList] finds elements appended to them.
func withSpareCapacity(r *upstream.Request) *upstream.Request {
	c := r.Clone()
	addCapacity(&c.System)
	addCapacity(&c.Turns)
	for i := range c.Turns {
		addCapacity(&c.Turns[i].Parts)
	}
	addCapacity(&c.Tools)
	addCapacity(&c.StopSequences)
	addCapacity(&c.Choice.Names)
	return c
}

func addCapacity[T any](s *[]T) {
	if *s == nil {
		return // an append to it copies
	}
	*s = append(make([]T, 0, len(*s)+1), *s...)
}

// appendedList returns the names of the lists of a request with spare capacity
// that have an element after their end.
func appendedList(r *upstream.Request) string {
	var at []string
	checkTail(&at, "System", r.System)
	checkTail(&at, "Turns", r.Turns)
	for i := range r.Turns {
		checkTail(&at, "Turns."+strconv.Itoa(i)+".Parts", r.Turns[i].Parts)
	}
	checkTail(&at, "Tools", r.Tools)
	checkTail(&at, "StopSequences", r.StopSequences)
	checkTail(&at, "Choice.Names", r.Choice.Names)
	return strings.Join(at, ", ")
}

func checkTail[T any](at *[]string, name string, s []T) {
	if cap(s) > len(s) && !reflect.ValueOf(&s[:len(s)+1][len(s)]).Elem().IsZero() {
		*at = append(*at, name)
	}
}

// eachString calls f for every string in exported fields of v.
func eachString(path string, v reflect.Value, f func(path, s string)) {
	switch v.Kind() {
	case reflect.String:
		f(path, v.String())
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			eachString(path, v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				eachString(join(path, field.Name), v.Field(i), f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachString(join(path, strconv.Itoa(i)), v.Index(i), f)
		}
	}
}
