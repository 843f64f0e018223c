package messages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// result converts a result and what is in it.
func (c *converter) result(p *content.ToolResult, path string) content.Part {
	c.alien(p.Extra, path)
	var parts []content.Part
	changed := strings.Contains(p.Object, `"$ref"`)
	if changed {
		parts = c.labelled(p.Parts, path+".parts")
	} else {
		parts, changed = c.parts(p.Parts, path+".parts", content.RoleUser)
	}
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

// labelled converts the parts of a result whose object points at files by their
// names, and puts the names in front of the files.
func (c *converter) labelled(parts []content.Part, path string) []content.Part {
	list := make([]content.Part, 0, 2*len(parts))
	for i, p := range parts {
		if content.IsNil(p) {
			list = append(list, p)
			continue
		}
		name, alone := codec.DisplayName(p) // what p becomes may have none
		at, before := path+"."+strconv.Itoa(i), len(c.Losses.Losses)
		q := c.part(p, at, content.RoleUser)
		switch {
		case q == nil:
			continue
		case name != "":
			list = append(list, &content.Text{Text: name + ":"})
			if alone {
				c.told(before, at+".source.extra")
			}
		}
		list = append(list, q)
	}
	return list
}

// told takes back what was noted of path since there were n losses.
func (c *converter) told(n int, path string) {
	all := c.Losses.Losses
	rest := slices.DeleteFunc(all[n:], func(l content.Loss) bool { return l.Path == path })
	c.Losses.Losses = all[:n+len(rest)]
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
	places := resultsOf(run, first)
	for _, p := range parts {
		r, ok := p.(*content.ToolResult)
		if !ok || r == nil {
			rest = append(rest, p)
			continue
		}
		at := places[0] // each result stays one
		places = places[1:]
		if !c.open[r.ID] {
			c.lose(lostOrphan, placeOf(at.turn, at.part))
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

// resultsOf returns the results of a run and where they stand.
func resultsOf(run []content.Turn, first int) (list []pending) {
	for k := range run {
		for i, p := range run[k].Parts {
			if r, ok := p.(*content.ToolResult); ok && r != nil {
				list = append(list, pending{r.ID, first + k, i})
			}
		}
	}
	return list
}
