package echo

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/internal/jsonwire"
)

// A member is one that an object may have, and all that must hold for it.
type member struct {
	name     string
	list     []node
	required bool
}

func (m *maker) object(list []node, depth, nth int) {
	all := m.members(list)
	have := 0
	m.out = append(m.out, '{')
	put := func(e *member) {
		if have > 0 {
			m.out = append(m.out, ',')
		}
		m.out = append(jsonwire.AppendString(m.out, e.name), ':')
		at := 0
		if have == 0 {
			at = nth
		}
		m.make(e.list, e.name, depth+1, at)
		have++
		m.work -= 1 + len(e.name)/16
	}
	for i := range all {
		if e := &all[i]; m.work > 0 && (e.required || !m.minimal && depth < showDepth) {
			put(e)
		}
	}
	least := m.most(list, "minProperties")
	for i := range all {
		if e := &all[i]; have < least && m.minimal && !e.required {
			put(e)
		}
	}
	for i := 1; have < least && i <= maxItems && m.work > 0; i++ {
		name := "member" + strconv.Itoa(i)
		put(&member{name: name, list: m.others(list, name)})
	}
	m.out = append(m.out, '}')
}

// members lists the members that schemas name, in the order they do.
func (m *maker) members(list []node) []member {
	var all []member
	index := map[string]int{}
	find := func(name string) *member {
		i, ok := index[name]
		if !ok {
			i = len(all)
			index[name] = i
			all = append(all, member{name: name})
		}
		return &all[i]
	}
	for _, n := range list {
		for name, v := range m.get(n.v, "properties").Members() {
			if m.work--; m.work < 0 {
				break
			}
			e := find(name)
			e.list = append(e.list, node{v: v})
		}
	}
	for _, n := range list {
		for _, v := range m.get(n.v, "required").Elems() {
			if m.work--; m.work < 0 || v.Kind() != jsonwire.String {
				break
			}
			find(v.Str()).required = true
		}
	}
	for i := range all {
		if e := &all[i]; len(e.list) == 0 {
			e.list = m.others(list, e.name)
		}
	}
	// A member that can have no value is left out unless it must be there.
	return slices.DeleteFunc(all, func(e member) bool {
		return !e.required && slices.ContainsFunc(e.list, func(n node) bool { return n.v.Kind() == jsonwire.False })
	})
}

// others returns what must hold for a member that no schema names.
func (m *maker) others(list []node, name string) []node {
	var out []node
	for _, n := range list {
		matched := false
		for p, v := range m.get(n.v, "patternProperties").Members() {
			if m.work--; m.work > 0 && matches(p, name) {
				out, matched = append(out, node{v: v}), true
			}
		}
		if v := m.get(n.v, "additionalProperties"); !matched && v.Kind() == jsonwire.Object {
			out = append(out, node{v: v})
		}
	}
	return out
}

func (m *maker) array(list []node, name string, depth int) {
	n := m.most(list, "minItems")
	if n == 0 && !m.minimal && depth < showDepth {
		n = 1
	}
	unique := false
	for _, s := range list {
		tuple := m.get(s.v, "prefixItems")
		if items := m.get(s.v, "items"); items.Kind() == jsonwire.Array {
			tuple = items
		}
		if !m.minimal {
			n = max(n, tuple.Len())
		}
		if m.get(s.v, "contains").Exists() {
			n = max(n, 1)
		}
		if b, _ := m.get(s.v, "uniqueItems").Bool(); b {
			unique = true
		}
	}
	for _, s := range list {
		if v, ok := whole(m.get(s.v, "maxItems")); ok {
			n = min(n, v)
		}
	}
	m.out = append(m.out, '[')
	for i := range min(n, maxItems) {
		if m.work < 0 {
			break
		}
		if i > 0 {
			m.out = append(m.out, ',')
		}
		nth := 0
		if unique {
			nth = i
		}
		m.make(m.items(list, i), name, depth+1, nth)
	}
	m.out = append(m.out, ']')
}

// items returns what must hold for the element at an index.
func (m *maker) items(list []node, i int) []node {
	var out []node
	add := func(v jsonwire.Value) {
		if v.Kind() == jsonwire.Object {
			out = append(out, node{v: v})
		}
	}
	for _, n := range list {
		tuple, rest := m.get(n.v, "prefixItems"), m.get(n.v, "items")
		if rest.Kind() == jsonwire.Array {
			tuple, rest = rest, m.get(n.v, "additionalItems")
		}
		if i < tuple.Len() {
			rest = element(tuple, i)
		}
		add(rest)
		if i == 0 {
			add(m.get(n.v, "contains"))
		}
	}
	return out
}

// formats are examples of what the format keyword names.
var formats = []struct{ name, text string }{
	{"date-time", "2024-01-31T12:30:00Z"},
	{"date", "2024-01-31"},
	{"time", "12:30:00Z"},
	{"duration", "PT1H"},
	{"email", "user@example.com"},
	{"idn-email", "user@example.com"},
	{"hostname", "example.com"},
	{"idn-hostname", "example.com"},
	{"ipv4", "192.0.2.1"},
	{"ipv6", "2001:db8::1"},
	{"uri", "https://example.com/"},
	{"url", "https://example.com/"},
	{"iri", "https://example.com/"},
	{"uri-reference", "/example"},
	{"iri-reference", "/example"},
	{"uri-template", "/{id}"},
	{"uuid", "123e4567-e89b-42d3-a456-426614174000"},
	{"json-pointer", "/example"},
	{"relative-json-pointer", "0"},
	{"regex", "^a+$"},
	{"byte", "ZWNobw=="},
}

func (m *maker) str(list []node, name string, nth int) {
	least, most := m.most(list, "minLength"), maxText
	for _, n := range list {
		if v, ok := whole(m.get(n.v, "maxLength")); ok {
			most = min(most, v)
		}
	}
	least = min(least, maxText)
	text, free := m.text(list, name, least, most, nth)
	if nth > 0 && free {
		digits := strconv.Itoa(nth + 1)
		t := sized(sized(text, 0, most-len(digits))+digits, least, most)
		if m.satisfied(jsonwire.AppendString(nil, t), list) {
			text = t
		}
	}
	m.work -= len(text) / 16
	m.out = jsonwire.AppendString(m.out, text)
}

// text makes a string by pattern, by format, or by its own name. It is free if
// digits may be added.
func (m *maker) text(list []node, name string, least, most, nth int) (text string, free bool) {
	for _, n := range list {
		if p := m.get(n.v, "pattern"); p.Kind() == jsonwire.String {
			if text, ok := fromPattern(p.Str(), least, most); ok {
				return text, true
			}
		}
	}
	for _, n := range list {
		format := m.get(n.v, "format").Str()
		for _, f := range formats {
			if text := vary(f.name, f.text, nth); f.name == format && len(text) >= least && len(text) <= most {
				return text, false
			}
		}
	}
	if name == "" {
		name = "text"
	}
	return sized(name, least, most), true
}

// vary returns the nth of several texts of one format.
func vary(format, text string, nth int) string {
	if nth == 0 {
		return text
	}
	n := strconv.Itoa(nth + 1)
	switch format {
	case "date", "date-time":
		return strconv.Itoa(2024+nth) + text[len("2024"):]
	case "uuid":
		return text[:len(text)-len(n)] + n
	case "email", "idn-email", "hostname", "idn-hostname":
		return "x" + n + text
	case "time", "duration", "ipv4", "ipv6", "relative-json-pointer", "byte":
		return text
	}
	return text + n
}

// sized makes s as long as it should be, in characters.
func sized(s string, least, most int) string {
	n := utf8.RuneCountInString(s)
	if n < least {
		return s + strings.Repeat("x", least-n)
	}
	if n > most {
		return string([]rune(s)[:max(most, 0)])
	}
	return s
}

// most returns the largest whole number that the schemas have under a name.
func (m *maker) most(list []node, name string) int {
	n := 0
	for _, s := range list {
		if v, ok := whole(m.get(s.v, name)); ok {
			n = max(n, v)
		}
	}
	return n
}

// whole reads a count. The OpenAPI dialect has them as strings.
func whole(v jsonwire.Value) (int, bool) {
	r := rat(v)
	if r == nil || !r.IsInt() || r.Sign() < 0 {
		return 0, false
	}
	if n := r.Num(); n.IsInt64() && n.Int64() < 1<<30 {
		return int(n.Int64()), true
	}
	return 1 << 30, true
}

// rat reads a number exactly, or a string that is one. Numbers that would take
// much room count for nothing.
func rat(v jsonwire.Value) *big.Rat {
	text := v.Str()
	if v.Kind() == jsonwire.Number {
		text = v.Raw()
	}
	if text == "" || len(text) > 400 || strings.ContainsAny(text, "/xX_pP") {
		return nil
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if n, err := strconv.Atoi(text[i+1:]); err != nil || n > 400 || n < -400 {
			return nil
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return r
}
