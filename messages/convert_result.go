package messages

import (
	"github.com/polywire/polywire/content"
)

// result converts a result and what is in it.
func (c *converter) result(p *content.ToolResult, path string) content.Part {
	c.alien(p.Extra, path)
	parts, changed := c.parts(p.Parts, path+".parts", content.User)
	if tidied := tidy(parts); len(tidied) != len(parts) {
		parts, changed = tidied, true
	}
	if len(parts) == 0 && p.Object != "" {
		parts, changed = []content.Part{&content.Text{Text: p.Object}}, true
		c.lose(lostObject, path)
	}
	if !changed {
		return p
	}
	q := *p
	q.Parts = parts
	return &q
}

// noResult is what a call gets that has no result.
const noResult = "The tool has given no result."

// answer puts the results of the calls in front, in the order in which they
// came, and behind them what was moved to this turn. A result that belongs to
// no call becomes words of the user; a call without a result gets one that says
// so.
func (c *converter) answer(parts []content.Part, run []content.Turn, first int) []content.Part {
	if len(c.moved) == 0 && c.answered(parts) {
		return parts
	}
	c.index()
	moved := c.moved
	c.moved, c.movedAt = nil, nil
	results := make([]content.Part, 0, len(parts)+len(moved)+len(c.calls))
	var rest []content.Part
	late := false
	for _, p := range parts {
		r, ok := p.(*content.ToolResult)
		if !ok || r == nil {
			rest = append(rest, p)
			continue
		}
		if !c.open[r.ID] {
			c.lose(lostOrphan, resultPath(run, first, r.ID))
			rest = append(rest, r.Parts...)
			continue
		}
		delete(c.open, r.ID)
		late = late || len(rest) > 0
		results = append(results, p)
	}
	if late {
		c.lose(lostResultOrder, turnPath(first))
	}
	for _, call := range c.calls {
		if c.open[call.id] {
			delete(c.open, call.id)
			c.lose(lostResult, placeOf(call.turn, call.part))
			results = append(results, &content.ToolResult{ID: call.id, Error: true,
				Parts: []content.Part{&content.Text{Text: noResult}}})
		}
	}
	return append(append(results, moved...), rest...)
}

// answered reports whether the turn begins with the results of the calls, in
// their order, and holds no others.
func (c *converter) answered(parts []content.Part) bool {
	for i, p := range parts {
		r, ok := p.(*content.ToolResult)
		switch {
		case !ok:
			if i < len(c.calls) {
				return false
			}
		case r == nil:
			return false
		case i >= len(c.calls) || r.ID != c.calls[i].id:
			return false
		}
	}
	return len(parts) >= len(c.calls)
}

// index notes the ids of the calls.
func (c *converter) index() {
	if c.open == nil {
		c.open = make(map[string]bool, len(c.calls))
	}
	clear(c.open)
	for _, call := range c.calls {
		c.open[call.id] = true
	}
}

// resultPath returns where the last result with an id stands.
func resultPath(run []content.Turn, first int, id string) string {
	path := turnPath(first)
	for k := range run {
		for i, p := range run[k].Parts {
			if r, ok := p.(*content.ToolResult); ok && r != nil && r.ID == id {
				path = placeOf(first+k, i)
			}
		}
	}
	return path
}
