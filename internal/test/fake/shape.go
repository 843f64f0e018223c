package fake

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Shape checks one JSON value and reports problems to c.
type Shape func(c *Checker, at Path, n *Node)

// Fields are the members of an object. A key is the name of the member, then
// "!" if it is required, then "@" and the betas of which one must be enabled,
// separated by "|": "content!", "thread@message-threads-2026-08-12". The name
// of a beta may end with "*".
type Fields map[string]Shape

// A Place is one step of a [Path]: a member, an index, or the tag of a union.
type Place struct {
	Key   string
	Index int // -1 unless it is an index
	Tag   bool
}

// A Path is the path from the document to a value.
type Path []Place

// Key returns the path of a member.
func (p Path) Key(k string) Path { return append(slices.Clone(p), Place{Key: k, Index: -1}) }

// At returns the path of an index.
func (p Path) At(i int) Path { return append(slices.Clone(p), Place{Index: i}) }

// Tag returns the path with the tag of a union.
func (p Path) Tag(t string) Path {
	return append(slices.Clone(p), Place{Key: t, Index: -1, Tag: true})
}

// Kinds of problems.
const (
	Unknown   = "unknown"   // a member that does not exist here
	Missing   = "missing"   // a required member is missing
	WrongType = "type"      // the JSON value has the wrong kind
	BadValue  = "value"     // the value is invalid
	BadTag    = "tag"       // the union has no form of this tag
	Repeated  = "repeating" // a list instead of one value
)

// A Problem is one violation. Want is the required kind, the allowed values, or
// the broken rule.
type Problem struct {
	At   Path
	What string
	Want string
	Got  *Node
}

// A Checker collects problems.
type Checker struct {
	// Beta reports whether a beta is enabled; nil means none.
	Beta func(name string) bool
	// Rename returns the declared name of a member; nil means the name itself.
	Rename func(string) string
	// Loose accepts what protobuf JSON accepts: null for any value, one value
	// for a list, numbers as strings, enum names in any case or as numbers.
	Loose    bool
	Problems []Problem
}

// Report adds a problem.
func (c *Checker) Report(at Path, what, want string, got *Node) {
	c.Problems = append(c.Problems, Problem{slices.Clone(at), what, want, got})
}

// on reports whether one of the betas is enabled.
func (c *Checker) on(betas string) bool {
	for b := range strings.SplitSeq(betas, "|") {
		if c.Beta != nil && c.Beta(b) {
			return true
		}
	}
	return false
}

// kind reports whether a value has kind k, and a problem if not.
func (c *Checker) kind(at Path, n *Node, k Kind) bool {
	if n.Kind == k {
		return true
	}
	what := WrongType
	if n.Kind == Array && c.Loose {
		what = Repeated
	}
	c.Report(at, what, string(k), n)
	return false
}

// Free accepts any JSON value.
func Free(*Checker, Path, *Node) {}

// FreeObject accepts any object.
func FreeObject(c *Checker, at Path, n *Node) { c.kind(at, n, Object) }

// Flag accepts a boolean.
func Flag(c *Checker, at Path, n *Node) { c.kind(at, n, Bool) }

// Str accepts strings of min to max characters; a max of 0 means no limit.
func Str(min, max int) Shape {
	return func(c *Checker, at Path, n *Node) {
		if !c.kind(at, n, String) {
			return
		}
		switch length := len([]rune(n.Str)); {
		case length < min:
			c.Report(at, BadValue, "at least "+strconv.Itoa(min)+" characters", n)
		case max > 0 && length > max:
			c.Report(at, BadValue, "at most "+strconv.Itoa(max)+" characters", n)
		}
	}
}

// Match accepts strings that match a pattern.
func Match(pattern string) Shape {
	re := regexp.MustCompile(pattern)
	return func(c *Checker, at Path, n *Node) {
		if c.kind(at, n, String) && !re.MatchString(n.Str) {
			c.Report(at, BadValue, "pattern "+pattern, n)
		}
	}
}

// Enum accepts the named strings.
func Enum(values ...string) Shape {
	return func(c *Checker, at Path, n *Node) {
		if c.Loose && n.Kind == Number {
			return
		}
		if !c.kind(at, n, String) {
			return
		}
		if !slices.ContainsFunc(values, func(v string) bool {
			return v == n.Str || c.Loose && strings.EqualFold(v, n.Str)
		}) {
			c.Report(at, BadValue, "one of "+strings.Join(values, ", "), n)
		}
	}
}

// Int accepts whole numbers from min to max.
func Int(min, max float64) Shape { return number(min, max, true) }

// Num accepts numbers from min to max.
func Num(min, max float64) Shape { return number(min, max, false) }

// Inf means that a number has no limit.
const Inf = 1 << 62

func number(min, max float64, whole bool) Shape {
	want := "number"
	if whole {
		want = "integer"
	}
	return func(c *Checker, at Path, n *Node) {
		f, err := strconv.ParseFloat(n.Str, 64)
		isNumber := n.Kind == Number || n.Kind == String && c.Loose
		switch {
		case !isNumber || err != nil || whole && f != float64(int64(f)):
			what := WrongType
			if n.Kind == Array && c.Loose {
				what = Repeated
			}
			c.Report(at, what, want, n)
		case f < min:
			c.Report(at, BadValue, "at least "+strconv.FormatFloat(min, 'f', -1, 64), n)
		case f > max:
			c.Report(at, BadValue, "at most "+strconv.FormatFloat(max, 'f', -1, 64), n)
		}
	}
}

// Base64 accepts strings in the standard alphabet with padding and no line breaks.
func Base64(c *Checker, at Path, n *Node) {
	if !c.kind(at, n, String) {
		return
	}
	if _, err := base64.StdEncoding.Strict().DecodeString(n.Str); err != nil || n.Str == "" || strings.ContainsAny(n.Str, "\r\n") {
		c.Report(at, BadValue, "base64", n)
	}
}

// Or accepts null and everything that s accepts.
func Or(s Shape) Shape {
	return func(c *Checker, at Path, n *Node) {
		if n.Kind != Null {
			s(c, at, n)
		}
	}
}

// List accepts arrays of s with min to max items; a max of 0 means no limit.
func List(s Shape, min, max int) Shape {
	return func(c *Checker, at Path, n *Node) {
		items := n.Items
		if n.Kind != Array && c.Loose {
			items = []*Node{n}
		} else if !c.kind(at, n, Array) {
			return
		}
		if len(items) < min {
			c.Report(at, BadValue, "at least "+strconv.Itoa(min)+" items", n)
		}
		if max > 0 && len(items) > max {
			c.Report(at, BadValue, "at most "+strconv.Itoa(max)+" items", n)
		}
		for i, item := range items {
			s(c, at.At(i), item)
		}
	}
}

// Map accepts objects with any keys and values of s.
func Map(s Shape) Shape {
	return func(c *Checker, at Path, n *Node) {
		if !c.kind(at, n, Object) {
			return
		}
		for i, k := range n.Keys {
			s(c, at.Key(k), n.Items[i])
		}
	}
}

// Forms accepts a value by the shape for its kind.
func Forms(m map[Kind]Shape) Shape {
	return func(c *Checker, at Path, n *Node) {
		if s := m[n.Kind]; s != nil {
			s(c, at, n)
			return
		}
		var kinds []string
		for k := range m {
			kinds = append(kinds, string(k))
		}
		slices.Sort(kinds)
		c.Report(at, WrongType, strings.Join(kinds, " or "), n)
	}
}

// Lazy makes a shape on use, for recursive shapes.
func Lazy(f func() Shape) Shape {
	return func(c *Checker, at Path, n *Node) { f()(c, at, n) }
}

// Obj accepts objects with these fields and no others.
func Obj(fields Fields) Shape {
	type field struct {
		shape Shape
		betas string
		must  bool
	}
	table := map[string]field{}
	for key, s := range fields {
		name, betas, _ := strings.Cut(key, "@")
		bare, must := strings.CutSuffix(name, "!")
		table[bare] = field{s, betas, must}
	}
	return func(c *Checker, at Path, n *Node) {
		if !c.kind(at, n, Object) {
			return
		}
		seen := map[string]bool{}
		for i, k := range n.Keys {
			name := k
			if c.Rename != nil {
				name = c.Rename(k)
			}
			f, known := table[name]
			if !known || f.betas != "" && !c.on(f.betas) {
				c.Report(at.Key(k), Unknown, "", n.Items[i])
				continue
			}
			if c.Loose && n.Items[i].Kind == Null {
				continue
			}
			seen[name] = true
			f.shape(c, at.Key(k), n.Items[i])
		}
		var missing []string
		for name, f := range table {
			if f.must && !seen[name] {
				missing = append(missing, name)
			}
		}
		slices.Sort(missing)
		for _, name := range missing {
			c.Report(at.Key(name), Missing, "", nil)
		}
	}
}

// Tagged accepts objects whose member tag selects one of the forms. A key may
// name betas as in [Fields]. The shapes must accept the tag member themselves.
func Tagged(tag string, forms map[string]Shape) Shape {
	return func(c *Checker, at Path, n *Node) {
		if !c.kind(at, n, Object) {
			return
		}
		v := n.Get(tag)
		if v == nil {
			c.Report(at.Key(tag), Missing, "", nil)
			return
		}
		var names []string
		for key, s := range forms {
			name, betas, _ := strings.Cut(key, "@")
			if betas != "" && !c.on(betas) {
				continue
			}
			if v.Kind == String && name == v.Str {
				s(c, at.Tag(name), n)
				return
			}
			names = append(names, name)
		}
		slices.Sort(names)
		c.Report(at, BadTag, strings.Join(names, ", "), v)
	}
}
