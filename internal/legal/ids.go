package legal

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
)

// turns walks through the calls and results in their order.
func (m *maker) turns() {
	m.used = make(map[string]string)
	own := false
	for i := range m.to.Turns {
		parts, changed := m.parts(&m.to.Turns[i], i)
		if !changed {
			continue
		}
		if !own {
			own, m.changed, m.to.Turns = true, true, slices.Clone(m.to.Turns)
		}
		m.to.Turns[i].Parts = parts
	}
}

// parts returns the parts of a turn, or a changed copy of them.
func (m *maker) parts(t *content.Turn, turn int) (list []content.Part, changed bool) {
	parts := t.Parts
	pairs := m.pair(t)
	list = parts
	for j, p := range parts {
		q := p
		switch p := p.(type) {
		case *content.ToolUse:
			if p != nil {
				q = m.call(p, turn, j)
			}
		case *content.ToolResult:
			if p != nil {
				q = m.result(p, pairs, turn, j)
			}
		}
		if q == p {
			continue
		}
		if !changed {
			changed, list = true, slices.Clone(parts)
		}
		list[j] = q
	}
	return list, changed
}

// pair returns the calls of the results in a turn. What the assistant says until
// the user does is one step, whose calls wait for their results from then on.
func (m *maker) pair(t *content.Turn) []int {
	results := slices.ContainsFunc(t.Parts, isResult)
	if m.rules.AnyID || !results && t.Role != content.RoleUser {
		return nil
	}
	if len(m.calls) > 0 {
		m.pairs.Open(m.calls)
		m.calls = m.calls[:0]
	}
	if !results {
		return nil
	}
	return m.pairs.Pair(t.Parts)
}

func isResult(p content.Part) bool {
	r, ok := p.(*content.ToolResult)
	return ok && r != nil
}

// call returns p, or a changed copy of it.
func (m *maker) call(p *content.ToolUse, turn, part int) content.Part {
	id, name := p.ID, m.nameAt(p.Name, turn, part)
	if !m.rules.AnyID {
		id = m.callID(p.ID)
		m.calls = append(m.calls, p)
		m.callIDs = append(m.callIDs, id)
	}
	if id == p.ID && name == p.Name {
		return p
	}
	m.tell(id != p.ID, turn, part)
	q := *p
	q.ID, q.Name = id, name
	return &q
}

// result returns p, or a changed copy of it.
func (m *maker) result(p *content.ToolResult, pairs []int, turn, part int) content.Part {
	id, name := p.ID, p.Name
	if name != "" {
		name = m.nameAt(name, turn, part)
	}
	if !m.rules.AnyID {
		if k := pairs[part]; k >= 0 {
			id = m.callIDs[k]
		} else if id != "" {
			id = m.orphanID(id)
		}
	}
	if id == p.ID && name == p.Name {
		return p
	}
	// An id put in for a name changes nothing that was said.
	m.tell(id != p.ID && (p.ID != "" || p.Name == ""), turn, part)
	q := *p
	q.ID, q.Name = id, name
	return &q
}

func (m *maker) nameAt(name string, turn, part int) string {
	return m.name(name, func() string { return placeOf(turn, part) + ".name" })
}

func (m *maker) tell(id bool, turn, part int) {
	if id && !m.told {
		m.told = true
		m.log.Add(RenamedCall, placeOf(turn, part)+".id")
	}
}

func placeOf(turn, part int) string {
	return "turns." + strconv.Itoa(turn) + ".parts." + strconv.Itoa(part)
}

// callID returns a legal id for a call, one that no call before it has. It does
// not look at calls behind it: what a conversation begins with must stay the
// same while it grows.
func (m *maker) callID(id string) string {
	legal := m.fresh(id)
	m.used[legal] = id
	return legal
}

func (m *maker) fresh(id string) string {
	from := m.salts[id]
	for salt := from; ; salt++ {
		var legal string
		if id == "" {
			m.minted++
			legal = "call_" + strconv.Itoa(m.minted)
		} else {
			legal = m.rules.ID.Make(id, salt)
		}
		if _, used := m.used[legal]; !used {
			remember(&m.salts, id, from, salt)
			return legal
		}
	}
}

// remember notes how far a search has come that began further in front, so that
// an id that comes again and again is not looked for in the same places.
func remember(salts *map[string]int, id string, from, salt int) {
	if salt == from {
		return
	}
	if *salts == nil {
		*salts = make(map[string]int)
	}
	(*salts)[id] = salt
}

// orphanID returns a legal id for a result that belongs to no open call: that
// of a call with another id would make it belong to that one.
func (m *maker) orphanID(id string) string {
	from := m.orphans[id]
	for salt := from; ; salt++ {
		legal := m.rules.ID.Make(id, salt)
		if own, used := m.used[legal]; !used || own == id {
			remember(&m.orphans, id, from, salt)
			return legal
		}
	}
}
