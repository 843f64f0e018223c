package schema

import (
	cmdline "flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// An oddity makes schemas that nobody would write: any keyword beside any other,
// with values of its shape and of others. Names are unique, as in all checked
// documents.
type oddity struct{ *rand.Rand }

func (g oddity) one(list ...string) string { return list[g.IntN(len(list))] }

// schema returns the text of a schema.
func (g oddity) schema(depth int) string {
	if g.IntN(12) == 0 {
		return g.one("true", "false", "{}", "null", "1")
	}
	var members []string
	used := map[string]bool{}
	for range g.IntN(6) {
		kw := keyword(g.IntN(keywords))
		if g.IntN(3) == 0 {
			kw = []keyword{kType, kProperties, kAnyOf, kEnum, kRef, kAllOf, kItems, kRequired}[g.IntN(8)]
		}
		name := table[kw].name
		if kw == kOther {
			name = g.one("x-note", "", "Type", "a.b", "$dynamicAnchor")
		}
		if used[name] {
			continue
		}
		used[name] = true
		s := table[kw].shape
		if g.IntN(6) == 0 {
			s = shape(g.IntN(int(either) + 1))
		}
		members = append(members, text_(name)+":"+g.value(kw, s, depth))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// value returns the text of a value of shape s.
func (g oddity) value(kw keyword, s shape, depth int) string {
	if g.IntN(25) == 0 {
		return "null"
	}
	switch s {
	case flag:
		return g.one("true", "false")
	case text:
		if kw == kRef {
			return g.one(`"#"`, `"#/$defs/x"`, `"#/$defs/y"`, `"#/definitions/x"`, `"#/properties/a"`, `"#/anyOf/1"`, `"#name"`, `"http://a.example/s"`, `""`)
		}
		return g.one(`"a"`, `""`, `"int64"`, `"A\u0000\"\\\u00e9"`)
	case number, bound:
		return g.one("0", "-0", "1.0", "2.5", "-3", "1e400", "1e-7", "9007199254740993", `"4"`, "true", "false")
	case count:
		return g.one("0", "1", "7", "-1", "1.0", "2.5", `"3"`, `" 4 "`, "99999999999999999999")
	case names:
		return g.list(3, func() string { return g.one(`"a"`, `"b"`, `"type"`, `"z"`) })
	case list:
		return g.list(3, g.free)
	case oneType:
		one := func() string {
			return g.one(`"string"`, `"INTEGER"`, `"number"`, `"object"`, `"OBJECT"`, `"array"`, `"null"`, `"boolean"`, `"TYPE_UNSPECIFIED"`, `"odd"`)
		}
		if g.IntN(3) == 0 {
			return g.list(3, one)
		}
		return one()
	case free:
		return g.free()
	}
	if depth == 0 {
		return g.one("{}", "true", "[]", "[{}]", `{"a":{}}`)
	}
	inner := func() string { return g.schema(depth - 1) }
	switch {
	case s == schemas, s == either && g.IntN(3) == 0:
		return g.list(4, inner)
	case s == members:
		var list []string
		for _, name := range []string{"a", "b", "type", "x", "y"} {
			if g.IntN(2) == 0 {
				list = append(list, text_(name)+":"+inner())
			}
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	return inner()
}

func (g oddity) list(most int, f func() string) string {
	var list []string
	for range g.IntN(most + 1) {
		list = append(list, f())
	}
	return "[" + strings.Join(list, ",") + "]"
}

func (g oddity) free() string {
	return g.one("null", "true", "false", "1", "1.5", `"a"`, `"b"`, `[1]`, `{"type":1}`, `{}`, `[]`, `{"a":["b"]}`)
}

var (
	odd  = cmdline.Uint64("odd", 1000, "how many odd schemas TestOdd translates")
	seed = cmdline.Uint64("seed", 0, "with which of them it begins")
)

// TestOdd translates odd schemas to every dialect.
func TestOdd(t *testing.T) {
	for n := range *odd {
		seed := *seed + n
		g := oddity{rand.New(rand.NewPCG(seed, 7))}
		s := g.schema(1 + g.IntN(3))
		for n := range byte(4) {
			everywhere(t, s, n|byte(seed)<<2)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, s)
		}
	}
}

// resolves checks that references lead somewhere in what a dialect looks at.
func resolves(t *testing.T, d Dialect, s, out string) {
	t.Helper()
	var from, to jsonwire.Doc
	if from.Parse(s, jsonwire.Limits{}) != nil || to.Parse(out, jsonwire.Limits{Depth: 1000}) != nil {
		t.Fatal(s)
	}
	if ref := dangling(d, from.Root(), to.Root(), to.Root()); ref != "" {
		t.Errorf("dialect %d: %s became\n%s, where %s leads nowhere", d, s, out, ref)
	}
}

// dangling returns a reference in v that leads nowhere in to, and did in from.
func dangling(d Dialect, from, to, v value) string {
	for name, x := range v.Members() {
		kw := byName[name]
		var inner []value
		switch s := table[kw].shape; {
		case kw == kRef:
			if ref := x.Str(); pointed(from, ref).Exists() && !pointed(to, ref).Exists() {
				return ref
			}
		case d.rule(kw).action == ignored:
		case s == schema, s == either && x.Kind() == jsonwire.Object:
			inner = append(inner, x)
		case s == schemas || s == either:
			for _, y := range x.Elems() {
				inner = append(inner, y)
			}
		case s == members:
			for _, y := range x.Members() {
				inner = append(inner, y)
			}
		}
		for _, y := range inner {
			if ref := dangling(d, from, to, y); ref != "" {
				return ref
			}
		}
	}
	return ""
}

// pointed returns the schema that a plain pointer leads to.
func pointed(root value, ref string) value {
	steps := strings.Split(ref, "/")
	if steps[0] != "#" {
		return value{}
	}
	for _, step := range steps[1:] {
		if i, err := strconv.Atoi(step); err == nil && root.Kind() == jsonwire.Array {
			root = elem(root, i)
		} else {
			root = root.Get(step)
		}
	}
	if !isSchema(root) {
		return value{}
	}
	return root
}

// everywhere checks the translations of s to every dialect: as the schema of
// arguments if bit 0 of n is clear, as OpenAPI if bit 1 is set, and as a property
// that is named like the keyword of the others.
func everywhere(t *testing.T, s string, n byte) {
	t.Helper()
	of := content.Schema{JSON: s, OpenAPI: n&2 != 0}
	for d := JSONSchema; int(d) < dialects; d++ {
		translated(t, d, n&1 == 0, of)
		named(t, d, of, keyword(1+int(n>>2)%(keywords-1)))
	}
}

// stable checks that what a dialect takes stays as it is in that dialect.
func stable(t *testing.T, d Dialect, input bool, s content.Schema, out string) {
	t.Helper()
	f := Output
	if input {
		f = Input
	}
	if d == GeminiSchema {
		if strings.Contains(out, `"propertyOrdering":`) || strings.Contains(out, `"type":"NULL"`) {
			return // it becomes the order; and alternatives that are null become a flag
		}
		// As OpenAPI it is passed on, so it goes by way of JSON Schema.
		wide, losses := f(JSONSchema, content.Schema{JSON: out, OpenAPI: true})
		back, more := f(d, content.Schema{JSON: wide})
		if losses = append(losses, more...); back != out || len(losses) > 0 {
			t.Errorf("input %t: %s became\n%s, and that\n%s, and that\n%s\n%v", input, s.JSON, out, wide, back, losses)
		}
		return
	}
	again, losses := f(d, content.Schema{JSON: out})
	hints := !slices.ContainsFunc(losses, func(l content.Loss) bool { return l.Severity != content.LossHint })
	// A root without arguments is left out once it says nothing else any more.
	if again != out && !(d == GeminiJSON && again == "" && hints) {
		t.Errorf("dialect %d input %t: %s became\n%s, and that\n%s\n%v", d, input, s.JSON, out, again, losses)
	}
}

// named checks that a property is translated alike, whatever its name.
func named(t *testing.T, d Dialect, s content.Schema, kw keyword) {
	t.Helper()
	if strings.Contains(s.JSON, "$ref") || len(s.JSON) > 10_000 {
		return // what a reference leads to would have to be named as well
	}
	wrap := func(name string) string {
		return `{"type":"object","properties":{` + text_(name) + `:` + s.JSON + `}}`
	}
	const plain = "q9"
	s1, losses1 := Output(d, content.Schema{JSON: wrap(plain), OpenAPI: s.OpenAPI})
	name := table[kw].name
	s2, losses2 := Output(d, content.Schema{JSON: wrap(name), OpenAPI: s.OpenAPI})
	if i := strings.Index(s1, `"`+plain+`"`); i >= 0 {
		s1 = s1[:i] + text_(name) + s1[i+len(plain)+2:]
		s1 = strings.Replace(s1, `"required":["`+plain+`"]`, `"required":["`+name+`"]`, 1)
	}
	// A long name may be what makes a schema too large, or a path too long.
	limited := func(l content.Loss) bool {
		return l.Reason == reasons[rTooLarge].text || strings.HasSuffix(l.Path, "…")
	}
	if slices.ContainsFunc(losses1, limited) || slices.ContainsFunc(losses2, limited) {
		return
	}
	if s1 != s2 || len(losses1) != len(losses2) {
		t.Errorf("dialect %d: as %q %.2000s becomes\n%.2000s, and as %q\n%.2000s", d, plain, s.JSON, s1, name, s2)
	}
}

// accounted checks that each member of a source is in what became of it, or said
// in other words, or reported.
func accounted(t *testing.T, d Dialect, s content.Schema, out string, losses []content.Loss) {
	t.Helper()
	if len(losses) > maxLosses {
		return
	}
	var from, to jsonwire.Doc
	if from.Parse(s.JSON, jsonwire.Limits{}) != nil || to.Parse(out, jsonwire.Limits{Depth: 1000}) != nil {
		return
	}
	a := accountant{d: d, openAPI: s.OpenAPI, lost: map[string]bool{}}
	for _, l := range losses {
		if l.Reason == reasons[rTooLarge].text || l.Reason == reasons[rRootType].text {
			return // tells of all the rest
		}
		a.lost[l.Path] = true
	}
	if path := a.schema(nil, from.Root(), to.Root()); path != "" {
		t.Errorf("dialect %d: %s became\n%s, and nobody hears of %s: %v", d, s.JSON, out, path, losses)
	}
}

// An accountant compares a schema with its translation.
type accountant struct {
	d       Dialect
	openAPI bool
	lost    map[string]bool
}

// schema returns the path of a member that is gone without a word.
func (a *accountant) schema(path []string, from, to value) string {
	for name := range from.Members() {
		switch byName[name] {
		case kAnyOf, kOneOf:
			if a.d != OpenAIStrict || len(path) > 0 {
				continue // the root is an object there, as that of arguments
			}
			return ""
		case kRef, kAllOf:
			return "" // it is put together with others
		}
	}
	for name, x := range from.Members() {
		kw := byName[name]
		here := append(slices.Clip(path), name)
		if a.lost[joined(here, nil)] || x.Kind() == jsonwire.Null && table[kw].shape != free {
			continue
		}
		if (kw == kEnum || kw == kConst) && (a.lost[joined(path, []string{"enum"})] || a.lost[joined(path, []string{"const"})]) {
			continue // they contradict one another
		}
		y := to.Get(name)
		if !y.Exists() {
			if !a.reworded(kw, x, from, to) {
				return joined(here, nil)
			}
			continue
		}
		if bad := a.parts(here, table[kw].shape, x, y); bad != "" {
			return bad
		}
	}
	return ""
}

// parts does the same for the schemas in the value of a keyword.
func (a *accountant) parts(path []string, s shape, x, y value) string {
	switch {
	case s == schema, s == either && x.Kind() == jsonwire.Object:
		return a.schema(path, x, y)
	case s == members:
		for name, z := range x.Members() {
			if !y.Get(name).Exists() {
				return joined(append(slices.Clip(path), name), nil)
			}
			if bad := a.schema(append(slices.Clip(path), name), z, y.Get(name)); bad != "" {
				return bad
			}
		}
	}
	return ""
}

// reworded reports whether a member that is gone was said in other words, or
// said nothing.
func (a *accountant) reworded(kw keyword, x, from, to value) bool {
	has := func(name string) bool { return to.Get(name).Exists() }
	rule := a.d.rule(kw)
	switch {
	case rule.action == lost && rule.reason != rNone:
		return vacuous(member{kw: kw, v: x})
	case kw == kNullable, kw == kDefinitions && has("$defs"), kw == kConst && has("enum"):
		return true
	case kw == kOneOf && has("anyOf"):
		return true
	case a.openAPI && (kw == kExample && has("examples") || kw == kOrdering && fits(names, x) || kw == kType && x.Is("TYPE_UNSPECIFIED")):
		return true
	case kw == kDefs || kw == kDefinitions:
		return a.d == MessagesStrict // they are written out where they are used
	case kw == kMinimum && from.Get("exclusiveMinimum").Kind() == jsonwire.True:
		return has("exclusiveMinimum")
	case kw == kMaximum && from.Get("exclusiveMaximum").Kind() == jsonwire.True:
		return has("exclusiveMaximum")
	case kw == kAdditionalItems:
		items := from.Get("items")
		return items.Kind() != jsonwire.Array || !fits(either, items) || has("items")
	case kw == kItems && x.Kind() == jsonwire.Array:
		return x.Len() == 0 || has("prefixItems")
	case kw == kExclusiveMinimum || kw == kExclusiveMaximum:
		return x.Kind() != jsonwire.Number || a.d == GeminiJSON
	}
	return false
}
