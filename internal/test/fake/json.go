package fake

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Quote returns s as a JSON string with only the required escapes.
func Quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// QuoteOr returns s as a JSON string, or none if s is empty.
func QuoteOr(s, none string) string {
	if s == "" {
		return none
	}
	return Quote(s)
}

// Join returns an object of members whose values are JSON: name, value, name,
// value. Members with an empty value are omitted.
func Join(members ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i+1 < len(members); i += 2 {
		if members[i+1] == "" {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(Quote(members[i]))
		b.WriteByte(':')
		b.WriteString(members[i+1])
	}
	b.WriteByte('}')
	return b.String()
}

// With adds members to a list for [Join].
func With(members []string, more []Member) []string {
	for _, m := range more {
		members = append(members, m.Name, m.JSON)
	}
	return members
}

// SSE returns one event with line feeds. If name is empty, there is no event
// line.
func SSE(name, data string) string {
	if name == "" {
		return "data: " + data + "\n\n"
	}
	return "event: " + name + "\ndata: " + data + "\n\n"
}
