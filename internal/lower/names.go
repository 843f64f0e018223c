package lower

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// NameRules are the rules of a target for names of tools and ids of tool calls.
type NameRules struct {
	Name, ID Charset

	// AnyID allows any id, and none.
	AnyID bool
}

// Names maps converted tool names to the original ones. A nil Names maps none.
type Names struct{ original map[string]string }

// renamed returns n if all names and ids in it are valid, otherwise a copy in which
// they are and in which each result has the id of its tool call: see [Pairing]. A
// turn is changed in the same way whatever follows it. There is one loss for each name,
// at its first place, and one for the first id.
func renamed(n *upstream.Request, rules *NameRules) (*upstream.Request, *Names, []Loss) {
	if rules.valid(n) {
		return n, nil, nil
	}
	m := renamer{rules: rules, to: *n}
	m.tools()
	m.choice()
	m.turns()
	if !m.changed {
		return n, nil, m.losses
	}
	return &m.to, m.names, m.losses
}

type renamer struct {
	rules   *NameRules
	losses  []Loss
	to      upstream.Request
	changed bool

	names      *Names
	renamed    map[string]string // by original name, where the two differ
	validNames map[string]bool   // names of tools that need no conversion; built on first use

	pairs      Pairing
	calls      []*content.ToolUse // tool calls since the last results
	callIDs    []string           // the valid ids of all tool calls so far, in order
	used       map[string]string  // original ids by valid ids
	salts      map[string]int     // by original id: lower salts are in use
	orphans    map[string]int     // the same for ids of results without a call
	generated  int                // number of generated ids
	idReported bool               // a changed id was reported
}

// valid reports whether all names and ids of a request are valid.
func (r *NameRules) valid(n *upstream.Request) bool {
	for i := range n.Tools {
		if n.Tools[i].Kind == "" && !r.Name.valid(n.Tools[i].Name) {
			return false
		}
	}
	for _, s := range n.Choice.Names {
		if !r.Name.valid(s) {
			return false
		}
	}
	open := make(map[string]bool) // by tool call id: true while it has no result
	for i := range n.Turns {
		for _, p := range n.Turns[i].Parts {
			switch p := p.(type) {
			case *content.ToolUse:
				if p != nil && !r.validCall(p, open) {
					return false
				}
			case *content.ToolResult:
				if p != nil && !r.validResult(p, open) {
					return false
				}
			}
		}
	}
	return true
}

func (r *NameRules) validCall(p *content.ToolUse, open map[string]bool) bool {
	if !r.Name.valid(p.Name) {
		return false
	}
	if r.AnyID {
		return true
	}
	_, twice := open[p.ID]
	open[p.ID] = true
	return !twice && r.ID.valid(p.ID)
}

func (r *NameRules) validResult(p *content.ToolResult, open map[string]bool) bool {
	if p.Name != "" && !r.Name.valid(p.Name) {
		return false
	}
	known := open[p.ID]
	if known {
		open[p.ID] = false
	}
	return known || r.AnyID
}

// tools gives every tool a valid, unique name.
func (m *renamer) tools() {
	own := false
	for i := range m.to.Tools {
		t := &m.to.Tools[i]
		if t.Kind != "" || m.rules.Name.valid(t.Name) {
			continue
		}
		if !own {
			m.to.Tools, own, m.changed = slices.Clone(m.to.Tools), true, true
			t = &m.to.Tools[i]
		}
		t.Name = m.name(t.Name, In(Tools, i).Member("name"))
	}
}

// name returns the valid form of a name at a path and records it.
func (m *renamer) name(s string, at Path) string {
	if m.rules.Name.valid(s) {
		return s
	}
	if valid, ok := m.renamed[s]; ok {
		return valid
	}
	valid := m.rules.Name.convert(s, 0)
	for salt := 1; m.usedName(valid); salt++ {
		valid = m.rules.Name.convert(s, salt)
	}
	if m.renamed == nil {
		m.renamed, m.names = make(map[string]string), &Names{make(map[string]string)}
	}
	m.renamed[s], m.names.original[valid] = valid, s
	m.losses = append(m.losses, Loss{Rule: RenamedTool, Path: at})
	return valid
}

func (m *renamer) usedName(valid string) bool {
	if m.names != nil && m.names.original[valid] != "" {
		return true
	}
	if m.validNames == nil {
		m.validNames = make(map[string]bool, len(m.to.Tools))
		for i := range m.to.Tools {
			m.validNames[m.to.Tools[i].Name] = true
		}
	}
	return m.validNames[valid]
}

func (m *renamer) choice() {
	own := false
	for i, s := range m.to.Choice.Names {
		valid := m.name(s, At("choice.names"))
		if valid == s {
			continue
		}
		if !own {
			m.to.Choice.Names, own, m.changed = slices.Clone(m.to.Choice.Names), true, true
		}
		m.to.Choice.Names[i] = valid
	}
}

// Restore sets the original names in the tool calls of a response. It reports
// whether it changed any.
func (n *Names) Restore(events []upstream.Event) bool {
	if n == nil {
		return false
	}
	changed := false
	for i := range events {
		u, ok := events[i].Part.(*content.ToolUse)
		if !ok || u == nil {
			continue
		}
		if name := n.original[u.Name]; name != "" {
			q := *u
			q.Name = name
			events[i].Part, changed = &q, true
		}
	}
	return changed
}
