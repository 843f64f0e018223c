package legal

import (
	"slices"

	"github.com/polywire/polywire/content"
)

// A Pairing finds the calls that results belong to: by id if an open call has
// it, else by name and position. Of several open calls with one id, or one name,
// the first is meant. A result that says neither belongs to the first open call
// that no other result of its turn names.
//
// Ids are looked for in all calls, the latest first; names, and calls as such,
// only among those that were opened last. The zero value has no calls.
type Pairing struct {
	calls []pairCall
	heads map[callKey]int // the first call of a chain, and 1
	names []string        // that have a chain
	step  int             // calls[step:] were opened last
	list  []int
}

// A pairCall is a call and those behind it with the same id, and the same name.
type pairCall struct {
	answered         bool
	nextID, nextName int // and 1
}

// A callKey is what a result may say of its call.
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

// Open adds calls that wait for their results. They are counted from 0, over
// all that were added.
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

// Pair returns for each of the parts of a turn the number of the call that it
// is the result of, -1 if it is none, or belongs to no open call. The list holds
// until the next use.
func (p *Pairing) Pair(parts []content.Part) []int {
	p.list = append(p.list[:0], make([]int, len(parts))...)
	for i := range p.list {
		p.list[i] = -1
	}
	// What says more about its call comes first, wherever it stands.
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

// pair looks for the calls of the results that have none yet.
func (p *Pairing) pair(parts []content.Part, call func(*content.ToolResult) int) {
	for i, part := range parts {
		if r, ok := part.(*content.ToolResult); ok && r != nil && p.list[i] < 0 {
			p.list[i] = call(r)
		}
	}
}

// take answers the first open call of a chain and returns its number, -1 if
// there is none.
func (p *Pairing) take(k callKey) int {
	at := p.heads[k]
	if at == 0 {
		return -1
	}
	for at > 0 && p.calls[at-1].answered {
		at = p.next(k, at)
	}
	if at > 0 {
		p.calls[at-1].answered = true
	}
	p.heads[k] = at // what is answered need not be passed again
	return at - 1
}

func (p *Pairing) next(k callKey, at int) int {
	if k.byID {
		return p.calls[at-1].nextID
	}
	return p.calls[at-1].nextName
}

// first answers the first open call of those that were opened last.
func (p *Pairing) first() int {
	for p.step < len(p.calls) {
		c := &p.calls[p.step]
		p.step++
		if !c.answered {
			c.answered = true
			return p.step - 1
		}
	}
	return -1
}
