package schema

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

type value = jsonwire.Value

const (
	// maxUnroll is how often one target of references stands inside itself
	// when it is written out.
	maxUnroll = 2
	// maxOpen is how many references may stand inside one another, and maxLevel
	// how deep schemas may be nested that come from them. Both bound the stack.
	maxOpen, maxLevel = 64, 100
	// maxChain is how far references are followed in search of a cycle.
	maxChain = 10_000
	// maxLosses bounds the list of losses of one schema; the last of a list
	// that is full speaks for all that are not in it.
	maxLosses = 50
	// maxPath bounds the path of a loss in bytes.
	maxPath = 200
	// A schema may become larger when it is written out, by these and by some
	// multiples of itself.
	spareNodes = 2_000
	spareBytes = 64 << 10
	// keepMembers bounds what a pooled converter keeps.
	keepMembers = 1 << 12
)

// A converter translates one schema.
type converter struct {
	doc     jsonwire.Doc
	w       jsonwire.Writer
	d       Dialect
	input   bool // the schema is that of arguments
	answer  bool // it is not, but its root has to be an object all the same
	inline  bool // references are written out
	changed bool // what was written is not what was read

	// members is a stack of what the schemas on the way say.
	members []member
	path    []string
	active  []int // offsets of the targets that are being written out
	targets map[string]target
	indices map[int]map[string]value // of wide objects, by offset
	fitting map[int]bool             // whether wide values fit their keywords, by offset
	rename  bool                     // definitions become $defs
	moved   bool                     // the root is not built as it was

	level       int // of nested schemas
	nodes, size int // what may still be written
	full        bool
	losses      []loss
	more        content.Severity // the worst of the losses that are not listed
}

// A member is something that a schema says: a keyword and its value.
type member struct {
	kw   keyword
	name string
	v    value

	// null says that the schema said so of all values but null.
	null bool
	// gone says that it is told by other members, or cannot be told.
	gone bool
	// elems stands for the elements of v where these come from several places.
	elems []value
	// props are properties that come from several places.
	props []prop
}

// A prop is a property: all of one list must hold, and one of the other if
// there is any.
type prop struct {
	name     string
	all, any []value
}

// A loss is a content.Loss before it is told.
type loss struct {
	path   string
	reason reason
}

func (c *converter) begin(d Dialect, input bool, text string) {
	c.d, c.input = d, input
	c.nodes = spareNodes + len(text)/4
	c.size = spareBytes + 4*len(text)
}

func (c *converter) release() {
	c.doc.Close()
	c.w.Reset()
	c.leave(0, 0)
	if cap(c.members) > keepMembers {
		c.members = nil
	}
	clear(c.path[:cap(c.path)])
	c.fitting = nil
	if c.indices = nil; len(c.targets) > keepMembers {
		c.targets = nil // a map that is cleared keeps its size
	}
	clear(c.targets)
	c.level = 0
	c.path, c.losses = c.path[:0], c.losses[:0]
	c.inline, c.changed, c.rename, c.moved, c.full, c.more = false, false, false, false, false, 0
	converters.Put(c)
}

// leave forgets what is on the stacks from lo and mark on.
func (c *converter) leave(lo, mark int) {
	clear(c.members[lo:])
	c.members, c.active = c.members[:lo], c.active[:mark]
}

// push goes to a part of the schema that is written.
func (c *converter) push(step string) { c.path = append(c.path, step) }

func (c *converter) pushIndex(name string, i int) {
	c.path = append(c.path, name, strconv.Itoa(i))
}

func (c *converter) pop(n int) { c.path = c.path[:len(c.path)-n] }

// lose reports that what stands here does not survive as it is.
func (c *converter) lose(r reason, steps ...string) {
	if r == rNone {
		return
	}
	if len(c.losses) == maxLosses {
		c.more = max(c.more, reasons[r].severity)
		return
	}
	path := joined(c.path, steps)
	if len(path) > maxPath {
		path = strings.ToValidUTF8(path[:maxPath], "") + "…"
	}
	l := loss{path, r}
	for _, old := range c.losses {
		if old == l {
			return
		}
	}
	c.losses = append(c.losses, l)
}

// joined writes the steps of a path, in one allocation.
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

func (c *converter) takeLosses() []content.Loss {
	if len(c.losses) == 0 {
		return nil
	}
	out := make([]content.Loss, 0, len(c.losses)+1)
	for _, l := range c.losses {
		r := &reasons[l.reason]
		out = append(out, content.Loss{Path: l.path, Severity: r.severity, Reason: r.text})
	}
	if c.more != 0 {
		out = append(out, content.Loss{Severity: c.more, Reason: reasons[rMore].text})
	}
	return out
}

// room reports whether another schema may be written, and reports once if not.
func (c *converter) room() bool {
	c.nodes--
	if c.nodes >= 0 && c.w.Len() <= c.size && (len(c.active) == 0 || c.level <= maxLevel) {
		return true
	}
	if !c.full {
		c.full = true
		c.lose(rTooLarge)
	}
	c.changed = true
	return false
}

// enter begins to write out a reference. It returns the target; none if there
// is none, and false if the target already stands inside itself often enough.
func (c *converter) enter(ref string) (target value, ok bool) {
	target = c.target(ref).v
	if !target.Exists() {
		return target, false
	}
	at, open := target.Offset(), 0
	for _, x := range c.active {
		if x == at {
			open++
		}
	}
	if open >= maxUnroll || len(c.active) >= maxOpen {
		return target, false
	}
	c.active = append(c.active, at)
	return target, true
}
