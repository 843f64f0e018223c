package recorded

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

type object = map[string]any

// decodeJSON decodes one JSON document and keeps numbers as they are spelled.
func decodeJSON(s string) (any, error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if rest := strings.TrimSpace(s[d.InputOffset():]); rest != "" {
		return nil, fmt.Errorf("%q follows the document", clip(rest, 40))
	}
	return v, nil
}

// parseJSON is decodeJSON for documents that were checked. It returns nil for
// others.
func parseJSON(s string) any {
	v, _ := decodeJSON(s)
	return v
}

// encodeJSON writes a value, with the members of objects in alphabetical order.
func encodeJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// at follows the names of members; nil means that one is missing.
func at(v any, path ...string) any {
	for _, name := range path {
		o, ok := v.(object)
		if !ok {
			return nil
		}
		v = o[name]
	}
	return v
}

func stringAt(v any, path ...string) string {
	s, _ := at(v, path...).(string)
	return s
}

func numberAt(v any, path ...string) int64 {
	n, _ := at(v, path...).(json.Number)
	f, _ := n.Float64()
	return int64(f)
}

func listAt(v any, path ...string) []any {
	l, _ := at(v, path...).([]any)
	return l
}

// canonical writes a value so that equal values have equal texts: 1, 1.0 and
// 1e0 are one number.
func canonical(v any) string { return encodeJSON(normalized(v)) }

// canonicalText is canonical for JSON text. Blank text means {}, as it does in
// tool calls without arguments.
func canonicalText(s string) string {
	if strings.TrimSpace(s) == "" {
		return "{}"
	}
	v, err := decodeJSON(s)
	if err != nil {
		return "invalid JSON: " + s
	}
	return canonical(v)
}

func normalized(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		switch {
		case err != nil:
			return v
		case f == math.Trunc(f) && math.Abs(f) < 1e15:
			return json.Number(strconv.FormatInt(int64(f), 10))
		}
		return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
	case object:
		o := make(object, len(v))
		for name, x := range v {
			o[name] = normalized(x)
		}
		return o
	case []any:
		l := make([]any, len(v))
		for i, x := range v {
			l[i] = normalized(x)
		}
		return l
	}
	return v
}

// equalJSON reports whether two documents have one value, with the spelling of
// numbers.
func equalJSON(a, b string) bool {
	x, err := decodeJSON(a)
	if err != nil {
		return false
	}
	y, err := decodeJSON(b)
	return err == nil && encodeJSON(x) == encodeJSON(y)
}

// difference describes the first places in which two values differ.
func difference(want, got any) string {
	var list []string
	differences("", want, got, &list)
	return strings.Join(list, "; ")
}

func differences(path string, want, got any, list *[]string) {
	const maxDifferences = 4
	if len(*list) >= maxDifferences {
		return
	}
	x, isObject := want.(object)
	y, bothObjects := got.(object)
	if isObject && bothObjects {
		names := make(map[string]bool)
		for name := range x {
			names[name] = true
		}
		for name := range y {
			names[name] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			p, q := x[name], y[name]
			_, inWant := x[name]
			_, inGot := y[name]
			switch {
			case !inGot:
				*list = append(*list, fmt.Sprintf("%s.%s is missing, was %s", path, name, clip(encodeJSON(p), 80)))
			case !inWant:
				*list = append(*list, fmt.Sprintf("%s.%s was added: %s", path, name, clip(encodeJSON(q), 80)))
			default:
				differences(path+"."+name, p, q, list)
			}
		}
		return
	}
	l, isList := want.([]any)
	m, bothLists := got.([]any)
	if isList && bothLists && len(l) == len(m) {
		for i := range l {
			differences(path+"."+strconv.Itoa(i), l[i], m[i], list)
		}
		return
	}
	if a, b := encodeJSON(want), encodeJSON(got); a != b {
		*list = append(*list, fmt.Sprintf("%s is %s, want %s", path, clip(b, 120), clip(a, 120)))
	}
}

// An event is one event of an event stream.
type event struct{ name, data string }

// splitEvents parses an event stream according to the HTML standard.
func splitEvents(s string) []event {
	s = strings.TrimPrefix(s, "\ufeff")
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	var events []event
	for block := range strings.SplitSeq(s, "\n\n") {
		var e event
		var data []string
		for line := range strings.SplitSeq(block, "\n") {
			field, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch field {
			case "event":
				e.name = value
			case "data":
				data = append(data, value)
			}
		}
		if data != nil {
			e.data = strings.Join(data, "\n")
			events = append(events, e)
		}
	}
	return events
}
