package echo

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// What making an instance may cost. A schema comes from a stranger and may ask
// for anything.
const (
	maxWork   = 200_000 // members, values and bytes looked at, roughly
	maxNodes  = 256     // schemas that must hold at once
	maxNested = 24      // depth of an instance
	showDepth = 4       // depth up to which optional members are shown
	maxItems  = 64      // of an array, however many it should have
	maxText   = 4096    // characters of a string, however long it should be
	maxTried  = 32      // members of an enumeration
)

// instance makes a value that satisfies a JSON Schema, or one in the OpenAPI
// dialect, as well as it can: it understands types, enumerations, bounds,
// patterns, formats, members, elements, references inside the schema and
// combinations, but solves no riddles. What it cannot satisfy within its
// bounds (or what cannot be satisfied) yields a value that comes near.
// object says that the value has to be an object whatever the schema says.
func instance(schema string, object bool) (string, error) {
	doc, err := jsonwire.Parse(schema, jsonwire.Limits{})
	if err != nil {
		return "", &content.Violation{Code: content.CodeSyntax, Text: "the schema is not valid JSON"}
	}
	defer doc.Close()
	root := doc.Root()
	if k := root.Kind(); k != jsonwire.Object && k != jsonwire.True {
		return "", &content.Violation{Code: content.CodeType, Text: "the schema must be an object"}
	}
	list := []node{{v: root}}
	if object {
		only, err := jsonwire.Parse(`{"type":"object"}`, jsonwire.Limits{})
		if err != nil {
			return "", err
		}
		defer only.Close()
		list = append(list, node{v: only.Root()})
	}
	first := ""
	for _, minimal := range []bool{false, true} {
		m := maker{root: root, minimal: minimal, work: maxWork}
		m.make(list, "", 0, 0)
		if first == "" {
			first = string(m.out)
		}
		if m.satisfied(m.out, list) {
			return string(m.out), nil
		}
	}
	return first, nil
}

// A node is one of the schemas that must hold for a value. done says which of
// its alternatives have been chosen, by their branch standing in the list too.
type node struct {
	v    jsonwire.Value
	done uint8
}

const (
	anyDone uint8 = 1 << iota
	oneDone
)

// A maker makes one instance. It stops to be choosy when its work is done.
type maker struct {
	root    jsonwire.Value
	minimal bool // leave out what may be left out
	work    int
	out     []byte
}

// get is Value.Get, at the cost of what it looks at.
func (m *maker) get(v jsonwire.Value, name string) jsonwire.Value {
	m.work -= 1 + v.Len()/8
	if m.work < 0 {
		return jsonwire.Value{}
	}
	return v.Get(name)
}

// make appends a value for which every schema of the list holds. name is what
// the value is called, depth how deep it stands, nth which of several that
// should differ it is.
func (m *maker) make(list []node, name string, depth, nth int) {
	list = m.expand(list)
	m.work -= len(list)
	if depth > maxNested {
		m.out = append(m.out, "null"...)
		return
	}
	if m.work > 0 && (m.alternative(list, name, depth, nth) || m.fixed(list, nth)) {
		return
	}
	switch m.kind(list, depth) {
	case "object":
		m.object(list, depth, nth)
	case "array":
		m.array(list, name, depth)
	case "integer":
		m.number(list, true, nth)
	case "number":
		m.number(list, false, nth)
	case "boolean":
		m.out = strconv.AppendBool(m.out, nth%2 == 0)
	case "null":
		m.out = append(m.out, "null"...)
	default:
		m.str(list, name, nth)
	}
}

// expand adds to a list what its schemas refer to and are made of.
func (m *maker) expand(list []node) []node {
	out := make([]node, 0, len(list)+2)
	var add func(n node)
	add = func(n node) {
		m.work--
		if i := slices.IndexFunc(out, func(o node) bool { return o.v == n.v }); i >= 0 {
			out[i].done |= n.done
			return
		}
		if m.work < 0 || len(out) >= maxNodes {
			return
		}
		out = append(out, n)
		if ref := m.get(n.v, "$ref"); ref.Kind() == jsonwire.String {
			if to := m.resolve(ref.Str()); to.Exists() {
				add(node{v: to})
			}
		}
		for _, v := range m.get(n.v, "allOf").Elems() {
			add(node{v: v})
		}
	}
	for _, n := range list {
		add(n)
	}
	return out
}

// resolve finds what a reference points at. Only those inside the schema are
// followed.
func (m *maker) resolve(ref string) jsonwire.Value {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return jsonwire.Value{}
	}
	if p, err := url.PathUnescape(pointer); err == nil {
		pointer = p
	}
	v := m.root
	if pointer == "" {
		return v
	}
	if !strings.HasPrefix(pointer, "/") {
		return m.anchor(pointer)
	}
	for step := range strings.SplitSeq(pointer[1:], "/") {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if v.Kind() != jsonwire.Array {
			v = m.get(v, step)
			continue
		}
		i, err := strconv.Atoi(step)
		if err != nil {
			return jsonwire.Value{}
		}
		v = element(v, i)
	}
	return v
}

// anchor finds a definition by its $anchor.
func (m *maker) anchor(name string) jsonwire.Value {
	for _, defs := range []string{"$defs", "definitions"} {
		for _, v := range m.get(m.root, defs).Members() {
			if m.get(v, "$anchor").Is(name) {
				return v
			}
		}
	}
	return jsonwire.Value{}
}

func element(v jsonwire.Value, i int) jsonwire.Value {
	for n, e := range v.Elems() {
		if n == i {
			return e
		}
	}
	return jsonwire.Value{}
}

// alternative chooses a branch of the first anyOf or oneOf that is open, and
// makes the value with it. It reports whether there was one.
func (m *maker) alternative(list []node, name string, depth, nth int) bool {
	for i := range list {
		for _, a := range []struct {
			name string
			done uint8
		}{{"anyOf", anyDone}, {"oneOf", oneDone}} {
			branches := m.get(list[i].v, a.name)
			if list[i].done&a.done != 0 || branches.Len() == 0 || branches.Kind() != jsonwire.Array {
				continue
			}
			chosen := slices.Clone(list)
			chosen[i].done |= a.done
			m.choose(branches, chosen, name, depth, nth)
			return true
		}
	}
	return false
}

// choose takes the first branch that gives a value which satisfies everything,
// or else the first of all.
func (m *maker) choose(branches jsonwire.Value, list []node, name string, depth, nth int) {
	from := len(m.out)
	for rank := range 3 {
		for _, b := range branches.Elems() {
			if m.rank(b, depth) != rank {
				continue
			}
			m.out = m.out[:from]
			m.make(append(slices.Clip(list), node{v: b}), name, depth, nth)
			if m.work < 0 || m.satisfied(m.out[from:], list) {
				return
			}
		}
	}
	m.out = m.out[:from]
	m.make(append(slices.Clip(list), node{v: element(branches, 0)}), name, depth, nth)
}

// rank says how late a branch is tried: null is not much of an example, and
// deep down what nests no further comes first, so that there is an end.
func (m *maker) rank(branch jsonwire.Value, depth int) int {
	switch m.kind(m.expand([]node{{v: branch}}), depth) {
	case "null":
		return 2
	case "object", "array":
		if depth >= showDepth {
			return 1
		}
	}
	return 0
}

// fixed takes a value that the schema itself holds. It reports whether there
// was one.
func (m *maker) fixed(list []node, nth int) bool {
	for _, n := range list {
		if v := m.get(n.v, "const"); v.Exists() {
			m.out = jsonwire.AppendCompact(m.out, v.Raw())
			return true
		}
	}
	for _, n := range list {
		v := m.get(n.v, "enum")
		if v.Kind() == jsonwire.Array && v.Len() > 0 {
			if !m.pick(v, list, nth) {
				m.out = jsonwire.AppendCompact(m.out, element(v, 0).Raw())
			}
			return true
		}
	}
	if nth > 0 {
		return false
	}
	for _, n := range list {
		if m.pick(m.get(n.v, "examples"), list, 0) {
			return true
		}
		for _, name := range []string{"example", "default"} {
			v := m.get(n.v, name)
			if v.Exists() && v.Kind() != jsonwire.Null && m.fits(v, list, 0) {
				m.out = jsonwire.AppendCompact(m.out, v.Raw())
				return true
			}
		}
	}
	return false
}

// pick takes the nth of the values that satisfy the list, beginning anew after
// the last. It reports whether there was one.
func (m *maker) pick(values jsonwire.Value, list []node, nth int) bool {
	var good []jsonwire.Value
	for i, v := range values.Elems() {
		if i == maxTried {
			break
		}
		if m.fits(v, list, 0) {
			good = append(good, v)
			if len(good) > nth {
				break
			}
		}
	}
	if len(good) == 0 {
		return false
	}
	m.out = jsonwire.AppendCompact(m.out, good[nth%len(good)].Raw())
	return true
}

// kinds that a type may stand for, the most telling first.
var kinds = []string{"object", "array", "string", "integer", "number", "boolean", "null"}

// kind decides on the type of a value.
func (m *maker) kind(list []node, depth int) string {
	open := slices.Clone(kinds)
	said := false
	for _, n := range list {
		names := m.types(n.v)
		if len(names) == 0 {
			continue
		}
		if !said && len(names) > 1 {
			// The author's own order says what is usual.
			open = slices.Concat(names, open)
		}
		said = true
		open = slices.DeleteFunc(open, func(k string) bool {
			return !slices.Contains(names, k) && (k != "integer" || !slices.Contains(names, "number"))
		})
	}
	if !said {
		return m.guess(list, depth)
	}
	for _, k := range open {
		if k != "null" && (k != "integer" || m.saysInteger(list)) {
			return k
		}
	}
	if len(open) > 0 {
		return open[0]
	}
	return "null"
}

// saysInteger reports whether some schema asks for an integer, not only for a
// number.
func (m *maker) saysInteger(list []node) bool {
	return slices.ContainsFunc(list, func(n node) bool { return slices.Contains(m.types(n.v), "integer") })
}

// types returns the names of the types a schema allows, in lower case as JSON
// Schema has them; none if it does not say.
func (m *maker) types(v jsonwire.Value) []string {
	t := m.get(v, "type")
	var names []string
	add := func(t jsonwire.Value) {
		if name := strings.ToLower(t.Str()); slices.Contains(kinds, name) {
			names = append(names, name)
		}
	}
	add(t)
	for _, e := range t.Elems() {
		add(e)
	}
	if b, _ := m.get(v, "nullable").Bool(); b && len(names) > 0 {
		names = append(names, "null")
	}
	return names
}

// guess decides on a type by what a schema says about values of it.
func (m *maker) guess(list []node, depth int) string {
	for _, g := range []struct {
		kind  string
		words []string
	}{
		{"object", []string{"properties", "required", "additionalProperties", "patternProperties", "minProperties"}},
		{"array", []string{"items", "prefixItems", "minItems", "contains"}},
		{"string", []string{"pattern", "minLength", "maxLength", "format"}},
		{"number", []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
	} {
		for _, n := range list {
			for _, w := range g.words {
				if m.get(n.v, w).Exists() {
					return g.kind
				}
			}
		}
	}
	if depth == 0 {
		return "object"
	}
	return "string"
}
