package schema

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

type value = jsonwire.Value

const (
	// maxExpansions is how often one target of references may be expanded on the path
	// to a schema.
	maxExpansions = 2
	// maxActive is how many references may be nested when they are expanded, and
	// maxLevel how deep the schemas that come from them. Both bound the stack.
	maxActive, maxLevel = 64, 100
	// maxChain is how many references the search for a cycle follows.
	maxChain = 10_000
	// maxLosses bounds the list of losses of one schema. If more are found, one loss
	// is added that represents the rest.
	maxLosses = 50
	// maxPath bounds the path of a loss, in bytes.
	maxPath = 200
	// A schema may grow when references are expanded, by these amounts and by
	// multiples of its size.
	extraNodes = 2_000
	extraBytes = 64 << 10
	// maxPooled bounds the capacity of the stack and the map that a pooled converter
	// keeps.
	maxPooled = 1 << 12
)

// A converter translates one schema.
type converter struct {
	doc          jsonwire.Doc
	w            jsonwire.Writer
	dialect      Dialect
	input        bool // the root must be an object, as that of arguments
	strictOutput bool // the schema of a response whose root must be an object
	inline       bool // references are expanded
	changed      bool // the output differs from the source

	// members is a stack of the members of the schemas that are being written.
	members        []member
	path           []string
	expanding      []int // offsets of the targets that are being expanded
	targets        map[string]target
	indexes        map[int]map[string]value // of large objects, by offset
	shapesByOffset map[int]bool             // whether large values have the shape of their keyword
	renameDefs     bool                     // "definitions" becomes "$defs"
	rootMerged     bool                     // the root's members were merged, so pointers into it change

	level              int // nesting of schemas
	nodesLeft, maxSize int // schemas that may still be written, and bytes in total
	tooLarge           bool
	rules              *ruleTable // of the losses
	losses             []Loss
	worstUnlisted      content.Severity // the highest severity of the losses that are not listed
}

// A member is a keyword of a schema and its value.
type member struct {
	kw   keyword
	name string
	v    value

	// nullable reports that the schema that contains the member also allows null.
	nullable bool
	// handled reports that other members represent this one, or that it was dropped.
	handled bool
	// elems replaces the elements of v if they come from several schemas.
	elems []value
	// props are properties that come from several schemas.
	props []prop
}

// A prop is a property. Its value must satisfy all schemas in all, and one of those in
// any if there are some.
type prop struct {
	name     string
	all, any []value
}

// start prepares c for a schema with the given text.
func (c *converter) start(d Dialect, input bool, text string) {
	c.dialect, c.input = d, input
	c.nodesLeft = extraNodes + len(text)/4
	c.maxSize = extraBytes + 4*len(text)
}

// release clears c and returns it to the pool.
func (c *converter) release() {
	c.doc.Close()
	c.w.Reset()
	c.leave(0, 0)
	if cap(c.members) > maxPooled {
		c.members = nil
	}
	clear(c.path[:cap(c.path)])
	c.shapesByOffset = nil
	if c.indexes = nil; len(c.targets) > maxPooled {
		c.targets = nil // a map that is cleared keeps its size
	}
	clear(c.targets)
	c.level = 0
	c.path, c.losses = c.path[:0], c.losses[:0]
	c.inline, c.changed, c.renameDefs, c.rootMerged, c.tooLarge, c.worstUnlisted = false, false, false, false, false, 0
	converters.Put(c)
}

// leave removes the members from lo and the expansions from mark on.
func (c *converter) leave(lo, mark int) {
	clear(c.members[lo:])
	c.members, c.expanding = c.members[:lo], c.expanding[:mark]
}

// push appends a step to the current path.
func (c *converter) push(step string) { c.path = append(c.path, step) }

// pushIndex appends a name and an index to the current path.
func (c *converter) pushIndex(name string, i int) {
	c.path = append(c.path, name, strconv.Itoa(i))
}

// pushElem appends an index to the current path.
func (c *converter) pushElem(i int) { c.push(strconv.Itoa(i)) }

// pop removes n steps from the current path.
func (c *converter) pop(n int) { c.path = c.path[:len(c.path)-n] }

// report records a loss at the current path followed by steps. Repeated losses are
// recorded once.
func (c *converter) report(r reason, steps ...string) {
	if r == rNone {
		return
	}
	if len(c.losses) == maxLosses {
		c.worstUnlisted = max(c.worstUnlisted, c.rules[r].Severity)
		return
	}
	path := joined(c.path, steps)
	if len(path) > maxPath {
		path = strings.ToValidUTF8(path[:maxPath], "") + "…"
	}
	l := Loss{&c.rules[r], path}
	for _, old := range c.losses {
		if old == l {
			return
		}
	}
	c.losses = append(c.losses, l)
}

// joined joins the steps of a path with dots, in one allocation.
func joined(a, b []string) string {
	var buf [maxPath]byte
	path := buf[:0]
	for n, list := range [2][]string{a, b} {
		for i, step := range list {
			if n+i > 0 && len(a)+i > 0 {
				path = append(path, '.')
			}
			path = append(path, step...)
		}
	}
	return string(path)
}

// takeLosses returns the recorded losses.
func (c *converter) takeLosses() []Loss {
	if len(c.losses) == 0 {
		return nil
	}
	out := append(make([]Loss, 0, len(c.losses)+1), c.losses...)
	if c.worstUnlisted != 0 {
		out = append(out, Loss{Rule: &c.rules[moreReason(c.worstUnlisted)]})
	}
	return out
}

// hasRoom reports whether another schema may be written, and counts it. The first time
// there is no room it reports a loss.
func (c *converter) hasRoom() bool {
	c.nodesLeft--
	if c.nodesLeft >= 0 && c.w.Len() <= c.maxSize && (len(c.expanding) == 0 || c.level <= maxLevel) {
		return true
	}
	if !c.tooLarge {
		c.tooLarge = true
		c.report(rTooLarge)
	}
	c.changed = true
	return false
}

// enter begins to expand a reference. It returns the target, which does not exist if
// the reference cannot be resolved, and whether the target may be expanded again.
func (c *converter) enter(ref string) (target value, ok bool) {
	target = c.resolve(ref).v
	if !target.Exists() {
		return target, false
	}
	at, open := target.Offset(), 0
	for _, x := range c.expanding {
		if x == at {
			open++
		}
	}
	if open >= maxExpansions || len(c.expanding) >= maxActive {
		return target, false
	}
	c.expanding = append(c.expanding, at)
	return target, true
}

// writeRaw writes v unchanged if it exists.
func (c *converter) writeRaw(name string, v value) {
	if v.Exists() {
		c.w.RawMember(name, v.Raw())
	}
}
