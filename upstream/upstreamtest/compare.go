package upstreamtest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/polywire/polywire/upstream"
)

// changed returns how r differs from before, or "". Wire and Resolver are not
// looked at.
func changed(before, r *upstream.Request) string {
	a, b := *before, *r
	a.Wire, a.Resolver, b.Wire, b.Resolver = nil, nil, nil, nil
	return differ("", reflect.ValueOf(a), reflect.ValueOf(b))
}

// differ returns the path of the first difference, and what it is. Only
// exported fields are looked at.
func differ(path string, a, b reflect.Value) string {
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
		return differ(path, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			f := a.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			if d := differ(join(path, f.Name), a.Field(i), b.Field(i)); d != "" {
				return d
			}
		}
		return ""
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: %d became %d", path, a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := differ(join(path, strconv.Itoa(i)), a.Index(i), b.Index(i)); d != "" {
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

// roomy returns a copy of r whose lists have room behind their ends, so that
// an append to one of them is not lost to sight: see [spilled].
func roomy(r *upstream.Request) *upstream.Request {
	c := r.Clone()
	grow(&c.System)
	grow(&c.Turns)
	for i := range c.Turns {
		grow(&c.Turns[i].Parts)
	}
	grow(&c.Tools)
	grow(&c.StopSequences)
	grow(&c.Choice.Names)
	return c
}

func grow[T any](s *[]T) {
	if *s == nil {
		return // an append to it harms nobody
	}
	*s = append(make([]T, 0, len(*s)+1), *s...)
}

// spilled returns which list of a roomy request something was appended to.
func spilled(r *upstream.Request) string {
	var at []string
	behind(&at, "System", r.System)
	behind(&at, "Turns", r.Turns)
	for i := range r.Turns {
		behind(&at, "Turns."+strconv.Itoa(i)+".Parts", r.Turns[i].Parts)
	}
	behind(&at, "Tools", r.Tools)
	behind(&at, "StopSequences", r.StopSequences)
	behind(&at, "Choice.Names", r.Choice.Names)
	return strings.Join(at, ", ")
}

func behind[T any](at *[]string, name string, s []T) {
	if cap(s) > len(s) && !reflect.ValueOf(&s[:len(s)+1][len(s)]).Elem().IsZero() {
		*at = append(*at, name)
	}
}

// eachString calls f for every string that v leads to, through exported fields.
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
