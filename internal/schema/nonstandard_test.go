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

// A nonstandardGenerator makes unusual schemas: any keyword next to any other, with
// values of its shape and of others. Names are unique, as in all validated documents.
type nonstandardGenerator struct{ *rand.Rand }

func (g nonstandardGenerator) one(list ...string) string { return list[g.IntN(len(list))] }

// schema returns the text of a schema.
func (g nonstandardGenerator) schema(depth int) string {
	if g.IntN(12) == 0 {
		return g.one("true", "false", "{}", "null", "1")
	}
	var members []string
	used := map[string]bool{}
	for range g.IntN(6) {
		kw := keyword(g.IntN(keywordCount))
		if g.IntN(3) == 0 {
			kw = []keyword{kType, kProperties, kAnyOf, kEnum, kRef, kAllOf, kItems, kRequired}[g.IntN(8)]
		}
		name := keywordSpecs[kw].name
		if kw == kOther {
			name = g.one("x-note", "", "Type", "a.b", "$dynamicAnchor")
		}
		if used[name] {
			continue
		}
		used[name] = true
		s := keywordSpecs[kw].shape
		if g.IntN(6) == 0 {
			s = shape(g.IntN(int(shapeSchemaOrList) + 1))
		}
		members = append(members, marshal(name)+":"+g.value(kw, s, depth))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// value returns the text of a value of shape s.
func (g nonstandardGenerator) value(kw keyword, s shape, depth int) string {
	if g.IntN(25) == 0 {
		return "null"
	}
	switch s {
	case shapeBool:
		return g.one("true", "false")
	case shapeString:
		if kw == kRef {
			return g.one(`"#"`, `"#/$defs/x"`, `"#/$defs/y"`, `"#/definitions/x"`, `"#/properties/a"`, `"#/anyOf/1"`, `"#name"`, `"http://a.example/s"`, `""`)
		}
		return g.one(`"a"`, `""`, `"int64"`, `"A\u0000\"\\\u00e9"`)
	case shapeNumber, shapeBound:
		return g.one("0", "-0", "1.0", "2.5", "-3", "1e400", "1e-7", "9007199254740993", `"4"`, "true", "false")
	case shapeCount:
		return g.one("0", "1", "7", "-1", "1.0", "2.5", `"3"`, `" 4 "`, "99999999999999999999")
	case shapeStrings:
		return g.list(3, func() string { return g.one(`"a"`, `"b"`, `"type"`, `"z"`) })
	case shapeList:
		return g.list(3, g.free)
	case shapeType:
		one := func() string {
			return g.one(`"string"`, `"INTEGER"`, `"number"`, `"object"`, `"OBJECT"`, `"array"`, `"null"`, `"boolean"`, `"TYPE_UNSPECIFIED"`, `"odd"`)
		}
		if g.IntN(3) == 0 {
			return g.list(3, one)
		}
		return one()
	case shapeAny:
		return g.free()
	}
	if depth == 0 {
		return g.one("{}", "true", "[]", "[{}]", `{"a":{}}`)
	}
	inner := func() string { return g.schema(depth - 1) }
	switch {
	case s == shapeSchemas, s == shapeSchemaOrList && g.IntN(3) == 0:
		return g.list(4, inner)
	case s == shapeSchemaMap:
		var list []string
		for _, name := range []string{"a", "b", "type", "x", "y"} {
			if g.IntN(2) == 0 {
				list = append(list, marshal(name)+":"+inner())
			}
		}
		return "{" + strings.Join(list, ",") + "}"
	}
	return inner()
}

func (g nonstandardGenerator) list(maxLen int, f func() string) string {
	var list []string
	for range g.IntN(maxLen + 1) {
		list = append(list, f())
	}
	return "[" + strings.Join(list, ",") + "]"
}

func (g nonstandardGenerator) free() string {
	return g.one("null", "true", "false", "1", "1.5", `"a"`, `"b"`, `[1]`, `{"type":1}`, `{}`, `[]`, `{"a":["b"]}`)
}

var (
	nonstandardCount = cmdline.Uint64("nonstandard", 1000, "number of schemas that TestNonstandard translates")
	firstSeed        = cmdline.Uint64("seed", 0, "first seed of TestNonstandard")
)

// TestNonstandard translates unusual schemas to every dialect.
func TestNonstandard(t *testing.T) {
	for n := range *nonstandardCount {
		seed := *firstSeed + n
		g := nonstandardGenerator{rand.New(rand.NewPCG(seed, 7))}
		s := g.schema(1 + g.IntN(3))
		for n := range byte(4) {
			checkAll(t, s, n|byte(seed)<<2)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, s)
		}
	}
}

// checkReferences checks that references resolve within the keywords that a dialect
// does not ignore.
func checkReferences(t *testing.T, d Dialect, s, out string) {
	t.Helper()
	var from, to jsonwire.Doc
	if from.Parse(s, jsonwire.Limits{}) != nil || to.Parse(out, jsonwire.Limits{Depth: 1000}) != nil {
		t.Fatal(s)
	}
	if ref := danglingRef(d, from.Root(), to.Root(), to.Root()); ref != "" {
		t.Errorf("dialect %d: %s became\n%s, where %s cannot be resolved", d, s, out, ref)
	}
}

// danglingRef returns a reference in v that resolves in from but not in to.
func danglingRef(d Dialect, from, to, v value) string {
	for name, x := range v.Members() {
		kw := keywordsByName[name]
		var inner []value
		switch s := keywordSpecs[kw].shape; {
		case kw == kRef:
			if ref := x.Str(); followPlain(from, ref).Exists() && !followPlain(to, ref).Exists() {
				return ref
			}
		case d.rule(kw).action == actionIgnore:
		case s == shapeSchema, s == shapeSchemaOrList && x.Kind() == jsonwire.Object:
			inner = append(inner, x)
		case s == shapeSchemas || s == shapeSchemaOrList:
			for _, y := range x.Elems() {
				inner = append(inner, y)
			}
		case s == shapeSchemaMap:
			for _, y := range x.Members() {
				inner = append(inner, y)
			}
		}
		for _, y := range inner {
			if ref := danglingRef(d, from, to, y); ref != "" {
				return ref
			}
		}
	}
	return ""
}

// followPlain resolves a pointer without escapes.
func followPlain(root value, ref string) value {
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

// checkAll checks the translations of s to every dialect: as the schema of arguments
// if bit 0 of n is clear, as OpenAPI if bit 1 is set, and as a property whose name is
// the keyword in the other bits.
func checkAll(t *testing.T, s string, n byte) {
	t.Helper()
	of := content.Schema{JSON: s, OpenAPI: n&2 != 0}
	for d := JSONSchema; int(d) < dialectCount; d++ {
		checkTranslation(t, d, n&1 == 0, of)
		checkNameIndependent(t, d, of, keyword(1+int(n>>2)%(keywordCount-1)))
	}
}

// checkStable checks that the translation of a translation to the same dialect is the
// same.
func checkStable(t *testing.T, d Dialect, input bool, s content.Schema, out string) {
	t.Helper()
	f := Output
	if input {
		f = Input
	}
	again, losses := f(d, content.Schema{JSON: out})
	hints := !slices.ContainsFunc(losses, func(l Loss) bool { return l.Rule.Severity != content.LossHint })
	// A root without arguments may be omitted after the first translation has dropped its other keywords.
	if again != out && !(d == GeminiJSON && again == "" && hints) {
		t.Errorf("dialect %d input %t: %s became\n%s, and that\n%s\n%v", d, input, s.JSON, out, again, losses)
	}
}

// checkNameIndependent checks that the translation of a property does not depend on
// its name.
func checkNameIndependent(t *testing.T, d Dialect, s content.Schema, kw keyword) {
	t.Helper()
	if strings.Contains(s.JSON, "$ref") || len(s.JSON) > 10_000 {
		return // pointers contain the name
	}
	wrap := func(name string) string {
		return `{"type":"object","properties":{` + marshal(name) + `:` + s.JSON + `}}`
	}
	const plain = "q9"
	s1, losses1 := Output(d, content.Schema{JSON: wrap(plain), OpenAPI: s.OpenAPI})
	name := keywordSpecs[kw].name
	s2, losses2 := Output(d, content.Schema{JSON: wrap(name), OpenAPI: s.OpenAPI})
	if i := strings.Index(s1, `"`+plain+`"`); i >= 0 {
		s1 = s1[:i] + marshal(name) + s1[i+len(plain)+2:]
		s1 = strings.Replace(s1, `"required":["`+plain+`"]`, `"required":["`+name+`"]`, 1)
	}
	// A longer name may exceed the limits of schemas and paths.
	limited := func(l Loss) bool {
		return hasReason(l, rTooLarge) || strings.HasSuffix(l.Path, "…")
	}
	if slices.ContainsFunc(losses1, limited) || slices.ContainsFunc(losses2, limited) {
		return
	}
	if s1 != s2 || len(losses1) != len(losses2) {
		t.Errorf("dialect %d: as %q %.2000s becomes\n%.2000s, and as %q\n%.2000s", d, plain, s.JSON, s1, name, s2)
	}
}

// checkAccounted checks that each member of a source is in the translation,
// represented by other members, or reported.
func checkAccounted(t *testing.T, d Dialect, s content.Schema, out string, losses []Loss) {
	t.Helper()
	if len(losses) > maxLosses {
		return
	}
	var from, to jsonwire.Doc
	if from.Parse(s.JSON, jsonwire.Limits{}) != nil || to.Parse(out, jsonwire.Limits{Depth: 1000}) != nil {
		return
	}
	a := accountant{d: d, openAPI: s.OpenAPI, reported: map[string]bool{}}
	for _, l := range losses {
		if hasReason(l, rTooLarge) || hasReason(l, rRootType) {
			return // this loss covers the rest
		}
		a.reported[l.Path] = true
	}
	if path := a.schema(nil, from.Root(), to.Root()); path != "" {
		t.Errorf("dialect %d: %s became\n%s, and %s is not reported: %v", d, s.JSON, out, path, losses)
	}
}

// An accountant compares a schema with its translation.
type accountant struct {
	d        Dialect
	openAPI  bool
	reported map[string]bool
}

// schema returns the path of a member that is missing and not reported.
func (a *accountant) schema(path []string, from, to value) string {
	for name := range from.Members() {
		switch keywordsByName[name] {
		case kAnyOf, kOneOf:
			if a.d != OpenAIStrict || len(path) > 0 {
				continue // the root is an object, as that of arguments
			}
			return ""
		case kRef, kAllOf:
			return "" // the schema is merged with others
		}
	}
	for name, x := range from.Members() {
		kw := keywordsByName[name]
		here := append(slices.Clip(path), name)
		if a.reported[joined(here, nil)] || x.Kind() == jsonwire.Null && keywordSpecs[kw].shape != shapeAny {
			continue
		}
		if (kw == kEnum || kw == kConst) && (a.reported[joined(path, []string{"enum"})] || a.reported[joined(path, []string{"const"})]) {
			continue // they contradict each other
		}
		y := to.Get(name)
		if !y.Exists() {
			if !a.isRewritten(kw, x, from, to) {
				return joined(here, nil)
			}
			continue
		}
		if bad := a.parts(here, keywordSpecs[kw].shape, x, y); bad != "" {
			return bad
		}
	}
	return ""
}

// parts implements schema for the schemas in the value of a keyword.
func (a *accountant) parts(path []string, s shape, x, y value) string {
	switch {
	case s == shapeSchema, s == shapeSchemaOrList && x.Kind() == jsonwire.Object:
		return a.schema(path, x, y)
	case s == shapeSchemaMap:
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

// isRewritten reports whether a missing member is represented by other members or has
// no effect.
func (a *accountant) isRewritten(kw keyword, x, from, to value) bool {
	has := func(name string) bool { return to.Get(name).Exists() }
	rule := a.d.rule(kw)
	switch {
	case rule.action == actionRemove && rule.reason != rNone:
		return isVacuous(member{kw: kw, v: x})
	case kw == kNullable, kw == kDefinitions && has("$defs"), kw == kConst && has("enum"):
		return true
	case kw == kOneOf && has("anyOf"):
		return true
	case a.openAPI && (kw == kExample && has("examples") || kw == kPropertyOrdering && hasShape(shapeStrings, x) || kw == kType && x.Is("TYPE_UNSPECIFIED")):
		return true
	case kw == kDefs || kw == kDefinitions:
		return a.d == MessagesStrict // references are expanded
	case kw == kMinimum && from.Get("exclusiveMinimum").Kind() == jsonwire.True:
		return has("exclusiveMinimum")
	case kw == kMaximum && from.Get("exclusiveMaximum").Kind() == jsonwire.True:
		return has("exclusiveMaximum")
	case kw == kAdditionalItems:
		items := from.Get("items")
		return items.Kind() != jsonwire.Array || !hasShape(shapeSchemaOrList, items) || has("items")
	case kw == kItems && x.Kind() == jsonwire.Array:
		return x.Len() == 0 || has("prefixItems")
	case kw == kExclusiveMinimum || kw == kExclusiveMaximum:
		return x.Kind() != jsonwire.Number || a.d == GeminiJSON
	}
	return false
}
