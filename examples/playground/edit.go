package main

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// marker replaces texts of a request to find them in an encoded document.
const marker = "\u2307"

// markedInput replaces the arguments of tool calls.
const markedInput = `{"marker":"` + marker + `"}`

// An effect is how a request was changed.
type effect int

const (
	unchanged    effect = iota // there is no such item, or it is zero
	removed                    // the item was removed or set to zero
	marked                     // the whole item was replaced
	markedInside               // something in the item was replaced
)

// edit changes the item at a neutral path in a request that the caller owns. Turns, texts,
// thinking, tools, tool calls and tool results get other contents, because others depend on
// them.
// Other items are removed, and settings are set to zero, a budget of thinking to the least.
func edit(r *upstream.Request, path string) effect {
	steps := strings.Split(path, ".")
	v := reflect.ValueOf(r).Elem()
	for i, step := range steps {
		v = pointed(v)
		if !v.IsValid() {
			return unchanged
		}
		rest := steps[i+1:]
		switch v.Kind() {
		case reflect.Slice:
			k, err := strconv.Atoi(step)
			if err != nil || k < 0 || k >= v.Len() {
				return unchanged
			}
			if len(rest) == 0 {
				if e := mark(v.Index(k)); e != unchanged {
					return e
				}
				v.Set(reflect.AppendSlice(v.Slice(0, k), v.Slice(k+1, v.Len())))
				return removed
			}
			v = v.Index(k)
		case reflect.Struct:
			if text := jsonText(v); text != nil {
				return cut(text, steps[i:])
			}
			f := v.FieldByNameFunc(func(name string) bool { return sameName(name, step) })
			if !f.IsValid() {
				return unchanged
			}
			if len(rest) == 0 {
				if f.IsZero() {
					return unchanged
				}
				if n, ok := f.Interface().(*int64); ok && step == "budget" {
					*n = 1 // without a budget the model may think as much
					return removed
				}
				f.SetZero()
				return removed
			}
			v = f
		case reflect.String: // such as the arguments of a tool call
			return cut(v.Addr().Interface().(*string), steps[i:])
		default:
			return unchanged
		}
	}
	return unchanged
}

// pointed returns the value that v points to, or v itself. It returns the zero Value for nil.
func pointed(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

// jsonText returns the JSON text of a value that consists of one, or nil.
func jsonText(v reflect.Value) *string {
	switch x := v.Addr().Interface().(type) {
	case *content.Extra:
		return &x.JSON
	case *content.Schema:
		return &x.JSON
	}
	return nil
}

// cut removes a member or element from a JSON text.
func cut(text *string, steps []string) effect {
	t := newTree(*text)
	n, found := t.find(strings.Join(steps, "."))
	if !found || n == 0 {
		return unchanged
	}
	siblings := t.children(t.nodes[n].parent)
	i := slices.Index(siblings, n)
	place := t.place(n)
	switch {
	case i > 0: // with the comma before
		place.From = int(t.nodes[siblings[i-1]].to)
	case len(siblings) > 1: // with the comma after
		place.To = t.place(siblings[1]).From
	}
	*text = (*text)[:place.From] + (*text)[place.To:]
	return removed
}

// mark changes the contents of a turn or part, or the description of a tool. Kinds without
// contents that can be changed are unchanged.
func mark(v reflect.Value) effect {
	switch v := v.Addr().Interface().(type) {
	case *content.Tool:
		if v.Kind == "" {
			v.Description = marker
			return markedInside
		}
	case *content.Turn:
		if markParts(v.Parts) {
			return markedInside
		}
	case *content.Part:
		return markPart(*v)
	}
	return unchanged
}

// markParts reports whether any part could be marked.
func markParts(parts []content.Part) (found bool) {
	for _, p := range parts {
		found = markPart(p) != unchanged || found
	}
	return found
}

func markPart(p content.Part) effect {
	if content.IsNil(p) {
		return unchanged
	}
	switch p := p.(type) { // other kinds have no text that secrets are in
	case *content.Text:
		p.Text = marker
		return marked
	case *content.Thinking:
		p.Text = marker
		return marked
	case *content.ToolUse:
		p.Input = markedInput
		return markedInside
	case *content.ToolResult:
		if p.Object != "" {
			p.Object = markedInput
		}
		if !markParts(p.Parts) {
			p.Parts = append(p.Parts, &content.Text{Text: marker})
		}
		return markedInside
	}
	return unchanged
}
