package lower

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/partfield"
)

// turns renames the tool calls and results of all turns, in order.
func (m *renamer) turns() {
	m.used = make(map[string]string)
	turns, changed := partfield.MapTurns(m.to.Turns, func(i int, parts []content.Part) ([]content.Part, bool) {
		pairs := m.pair(&m.to.Turns[i])
		return partfield.Map(parts, func(j int, p content.Part) content.Part {
			switch p := p.(type) {
			case *content.ToolUse:
				if p != nil {
					return m.call(p, i, j)
				}
			case *content.ToolResult:
				if p != nil {
					return m.result(p, pairs, i, j)
				}
			}
			return p
		})
	})
	m.to.Turns, m.changed = turns, m.changed || changed
}

// pair returns the tool call of each result in a turn. Adjacent assistant turns are
// one step; its calls are open from the next user turn on.
func (m *renamer) pair(t *content.Turn) []int {
	results := slices.ContainsFunc(t.Parts, isResult) // one pass
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

// call returns p, or a renamed copy.
func (m *renamer) call(p *content.ToolUse, turn, part int) content.Part {
	tool := toolID{p.Namespace, p.Name}
	named := tool
	if _, declared := m.renamed[tool]; !declared && tool.namespace == tool.name && !m.rules.Namespaces {
		named.namespace = "" // so the vendor writes calls of a deferred tool outside of namespaces
	}
	to, id := m.tool(named, partPath(turn, part)), p.ID
	if to.namespace != tool.namespace || len(m.spaces) > 0 {
		if m.spaces == nil {
			m.spaces = make(map[string]toolID)
		}
		m.spaces[p.ID] = to
	}
	if !m.rules.AnyID {
		id = m.callID(p.ID)
		m.calls = append(m.calls, p)
		m.callIDs = append(m.callIDs, id)
	}
	if id == p.ID && to == tool {
		return p
	}
	m.reportID(id != p.ID, turn, part)
	q := *p
	q.ID, q.Namespace, q.Name = id, to.namespace, to.name
	return &q
}

// result returns p, or a renamed copy.
func (m *renamer) result(p *content.ToolResult, pairs []int, turn, part int) content.Part {
	id, name := p.ID, p.Name
	if to, ok := m.spaces[p.ID]; ok && name != "" {
		name = to.name
	} else if name != "" {
		name = m.tool(toolID{name: name}, partPath(turn, part)).name
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
	// Adding an id to a result that had only a name is not a loss.
	m.reportID(id != p.ID && (p.ID != "" || p.Name == ""), turn, part)
	q := *p
	q.ID, q.Name = id, name
	return &q
}

func (m *renamer) reportID(id bool, turn, part int) {
	if id && !m.idReported {
		m.idReported = true
		m.losses = append(m.losses, Loss{Rule: RenamedCall, Path: partPath(turn, part).Member("id")})
	}
}

func partPath(turn, part int) Path { return In(Turns, turn).In(Parts, part) }

// callID returns a valid id for a tool call that no earlier call has. It ignores
// later calls, so that the beginning of a conversation stays the same while the
// conversation grows: prompt caches depend on it.
func (m *renamer) callID(id string) string {
	valid := m.newID(id)
	m.used[valid] = id
	return valid
}

func (m *renamer) newID(id string) string {
	from := m.salts[id]
	for salt := from; ; salt++ {
		var valid string
		if id == "" {
			m.generated++
			valid = m.rules.ID.convert("call_"+strconv.Itoa(m.generated), 0)
		} else {
			valid = m.rules.ID.convert(id, salt)
		}
		if _, used := m.used[valid]; !used {
			rememberSalt(&m.salts, id, from, salt)
			return valid
		}
	}
}

// rememberSalt records the salt at which a search ended. The next search for the same
// id starts there.
func rememberSalt(salts *map[string]int, id string, from, salt int) {
	if salt == from {
		return
	}
	if *salts == nil {
		*salts = make(map[string]int)
	}
	(*salts)[id] = salt
}

// orphanID returns a valid id for a result without an open tool call. The id
// differs from those of all calls with another original id.
func (m *renamer) orphanID(id string) string {
	from := m.orphans[id]
	for salt := from; ; salt++ {
		valid := m.rules.ID.convert(id, salt)
		if own, used := m.used[valid]; !used || own == id {
			rememberSalt(&m.orphans, id, from, salt)
			return valid
		}
	}
}
