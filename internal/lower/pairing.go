package lower

import (
	"slices"

	"github.com/polywire/polywire/content"
)

// A Pairing finds the tool call of each result: by id if an open call has it,
// otherwise by name and position. If several open calls have the same id or name,
// the first is used. A result with neither belongs to the first open call that no
// other result of its turn names.
//
// Ids are looked up in all calls, latest first. Names and positions are looked up
// only in the calls that were opened last. The zero value has no calls.
type Pairing struct {
	calls []pairCall
	heads map[callKey]int // index of the first call of a chain, plus 1
	names []string        // names that have a chain
	step  int             // calls[step:] were opened last
	list  []int
}

// A pairCall is a tool call, linked to the next ones with the same id and with the
// same name.
type pairCall struct {
	closed           bool
	nextID, nextName int // index plus 1
}

// A callKey is an id or a name by which a result refers to its call.
type callKey struct {
	byID bool
	text string
}

// Reset forgets all calls.
func (p *Pairing) Reset() {
	const few = 64 // a large map is slow to clear
	if len(p.calls) > few {
		*p = Pairing{}
		return
	}
	p.calls, p.names, p.step = p.calls[:0], p.names[:0], 0
	clear(p.heads)
}

// Open adds calls that have no result yet. They are numbered from 0 in the order in
// which they are added.
func (p *Pairing) Open(calls []*content.ToolUse) {
	if p.heads == nil {
		p.heads = make(map[callKey]int, 2*len(calls))
	}
	for _, s := range p.names {
		delete(p.heads, callKey{false, s})
	}
	p.names, p.step = slices.Grow(p.names[:0], len(calls)), len(p.calls)
	p.calls = append(p.calls, make([]pairCall, len(calls))...)
	// From the last to the first, so that the first is the head.
	for i := len(calls) - 1; i >= 0; i-- {
		c, at := &p.calls[p.step+i], p.step+i+1
		if id := (callKey{true, calls[i].ID}); id.text != "" {
			c.nextID, p.heads[id] = p.heads[id], at
		}
		if name := (callKey{false, calls[i].Name}); name.text != "" {
			if c.nextName = p.heads[name]; c.nextName == 0 {
				p.names = append(p.names, name.text)
			}
			p.heads[name] = at
		}
	}
}

// Pair returns, for each part of a turn, the number of the tool call whose result it
// is, or -1. The list is valid until the next call of Pair.
func (p *Pairing) Pair(parts []content.Part) []int {
	p.list = append(p.list[:0], make([]int, len(parts))...)
	for i := range p.list {
		p.list[i] = -1
	}
	// Results with ids come first, then those with names, wherever they are.
	p.pair(parts, func(r *content.ToolResult) int { return p.take(callKey{true, r.ID}) })
	p.pair(parts, func(r *content.ToolResult) int { return p.take(callKey{false, r.Name}) })
	p.pair(parts, func(r *content.ToolResult) int {
		if r.ID != "" || r.Name != "" {
			return -1
		}
		return p.first()
	})
	return p.list
}

// pair looks up the calls of the results that are not paired yet.
func (p *Pairing) pair(parts []content.Part, call func(*content.ToolResult) int) {
	for i, part := range parts {
		if r, ok := part.(*content.ToolResult); ok && r != nil && p.list[i] < 0 {
			p.list[i] = call(r)
		}
	}
}

// take closes the first open call of a chain and returns its number, or -1 if the
// chain has none.
func (p *Pairing) take(k callKey) int {
	at := p.heads[k]
	if at == 0 {
		return -1
	}
	for at > 0 && p.calls[at-1].closed {
		at = p.next(k, at)
	}
	if at > 0 {
		p.calls[at-1].closed = true
	}
	p.heads[k] = at // skip closed calls next time
	return at - 1
}

func (p *Pairing) next(k callKey, at int) int {
	if k.byID {
		return p.calls[at-1].nextID
	}
	return p.calls[at-1].nextName
}

// first closes the first open call of those that were opened last.
func (p *Pairing) first() int {
	for p.step < len(p.calls) {
		c := &p.calls[p.step]
		p.step++
		if !c.closed {
			c.closed = true
			return p.step - 1
		}
	}
	return -1
}
