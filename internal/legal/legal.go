package legal

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// Rules are those of a format.
type Rules struct {
	Name Rule
	ID   Rule

	// AnyID says that ids may be missing, and may be anything.
	AnyID bool
}

// The losses that are reported. Every codec's table has them.
var (
	RenamedTool = &loss.Rule{Feature: loss.ToolName, Severity: content.LossHint,
		Reason: "the tool's name is not legal there: the model is told another, and calls come back under the tool's own"}
	RenamedCall = &loss.Rule{Feature: loss.CallID, Severity: content.LossHint,
		Reason: "some ids of calls are missing, repeated or not legal there, and are told in another form"}
)

// Names is the way back of names that were changed. Nil has changed none.
type Names struct{ original map[string]string }

// Make returns n if all its names and ids are legal, else a copy in which they
// are. Calls and their results still pair: by id, else by name and order. What
// is changed is changed in the same way each time. log hears of it.
func Make(n *upstream.Request, rules *Rules, log *loss.Log) (*upstream.Request, *Names) {
	if rules.fit(n) {
		return n, nil
	}
	m := maker{rules: rules, log: log, to: *n, open: make(map[string][]string), unnamed: make(map[string][]string)}
	m.tools()
	m.choice()
	m.turns()
	if !m.changed {
		return n, nil
	}
	return &m.to, m.names
}

type maker struct {
	rules   *Rules
	log     *loss.Log
	to      upstream.Request
	changed bool

	names *Names
	given map[string]string // legal names by their originals, where they differ

	taken  map[string]bool // ids that are used in the result
	minted int             // ids that were made up
	told   bool            // that ids are changed

	// The legal ids of calls that wait for their results: by their own ids, or
	// by their names where they had none.
	open, unnamed map[string][]string
}

// fit reports whether nothing in a request needs to be changed.
func (r *Rules) fit(n *upstream.Request) bool {
	for i := range n.Tools {
		if n.Tools[i].Kind == "" && !r.Name.Fits(n.Tools[i].Name) {
			return false
		}
	}
	for _, s := range n.Choice.Names {
		if !r.Name.Fits(s) {
			return false
		}
	}
	var ids map[string]bool
	for i := range n.Turns {
		for _, p := range n.Turns[i].Parts {
			switch p := p.(type) {
			case *content.ToolUse:
				if p == nil {
					continue
				}
				if !r.Name.Fits(p.Name) || !r.fitID(p.ID) || ids[p.ID] {
					return false
				}
				if r.AnyID {
					continue
				}
				if ids == nil {
					ids = make(map[string]bool)
				}
				ids[p.ID] = true
			case *content.ToolResult:
				if p != nil && (!r.fitID(p.ID) || p.Name != "" && !r.Name.Fits(p.Name)) {
					return false
				}
			}
		}
	}
	return true
}

func (r *Rules) fitID(id string) bool { return r.AnyID || r.ID.Fits(id) }

// tools gives every tool a legal name that no other has.
func (m *maker) tools() {
	own := false
	for i := range m.to.Tools {
		t := &m.to.Tools[i]
		if t.Kind != "" || m.rules.Name.Fits(t.Name) {
			continue
		}
		if !own {
			m.to.Tools, own, m.changed = slices.Clone(m.to.Tools), true, true
			t = &m.to.Tools[i]
		}
		m.log.Add(RenamedTool, "tools."+strconv.Itoa(i)+".name")
		t.Name = m.name(t.Name)
	}
}

// name returns the legal form of a name, and remembers it.
func (m *maker) name(s string) string {
	if m.rules.Name.Fits(s) {
		return s
	}
	if legal, ok := m.given[s]; ok {
		return legal
	}
	legal := m.rules.Name.Make(s, 0)
	for salt := 1; m.usedName(legal); salt++ {
		legal = m.rules.Name.Make(s, salt)
	}
	if m.given == nil {
		m.given, m.names = make(map[string]string), &Names{make(map[string]string)}
	}
	m.given[s], m.names.original[legal] = legal, s
	return legal
}

func (m *maker) usedName(legal string) bool {
	if m.names != nil && m.names.original[legal] != "" {
		return true
	}
	return slices.ContainsFunc(m.to.Tools, func(t content.Tool) bool { return t.Name == legal })
}

func (m *maker) choice() {
	for i, s := range m.to.Choice.Names {
		if legal := m.name(s); legal != s {
			m.to.Choice.Names = slices.Clone(m.to.Choice.Names)
			m.to.Choice.Names[i] = legal
			m.changed = true
		}
	}
}

// turns walks through the calls and results in their order.
func (m *maker) turns() {
	m.taken = m.legalIDs()
	used := make(map[string]bool, len(m.taken))
	own := false
	for i := range m.to.Turns {
		parts := m.to.Turns[i].Parts
		changed := false
		for j, p := range parts {
			q := m.part(p, used, i, j)
			if q == p {
				continue
			}
			if !changed {
				changed, parts = true, slices.Clone(parts)
			}
			parts[j] = q
		}
		if !changed {
			continue
		}
		if !own {
			own, m.changed, m.to.Turns = true, true, slices.Clone(m.to.Turns)
		}
		m.to.Turns[i].Parts = parts
	}
}

// legalIDs returns the ids that need no change, which no other may get.
func (m *maker) legalIDs() map[string]bool {
	ids := make(map[string]bool)
	for i := range m.to.Turns {
		for _, p := range m.to.Turns[i].Parts {
			if u, ok := p.(*content.ToolUse); ok && u != nil && m.rules.ID.Fits(u.ID) {
				ids[u.ID] = true
			}
		}
	}
	return ids
}

// part returns p, or a changed copy of it.
func (m *maker) part(p content.Part, used map[string]bool, i, j int) content.Part {
	switch p := p.(type) {
	case *content.ToolUse:
		if p == nil {
			return p
		}
		id, name := m.callID(p.ID, used), m.name(p.Name)
		if p.ID != "" {
			m.open[p.ID] = append(m.open[p.ID], id)
		} else {
			m.unnamed[p.Name] = append(m.unnamed[p.Name], id)
		}
		if id == p.ID && name == p.Name {
			return p
		}
		m.tell(id != p.ID, i, j)
		q := *p
		q.ID, q.Name = id, name
		return &q
	case *content.ToolResult:
		if p == nil {
			return p
		}
		id, name := m.result(p.ID, p.Name), p.Name
		if name != "" {
			name = m.name(name)
		}
		if id == p.ID && name == p.Name {
			return p
		}
		m.tell(id != p.ID, i, j)
		q := *p
		q.ID, q.Name = id, name
		return &q
	}
	return p
}

func (m *maker) tell(id bool, i, j int) {
	if id && !m.told {
		m.told = true
		m.log.Add(RenamedCall, "turns."+strconv.Itoa(i)+".parts."+strconv.Itoa(j)+".id")
	}
}

// callID returns a legal id for a call, one that no call before it has.
func (m *maker) callID(id string, used map[string]bool) string {
	if m.rules.AnyID {
		return id
	}
	if id == "" {
		for {
			m.minted++
			if s := "call_" + strconv.Itoa(m.minted); !m.taken[s] {
				m.taken[s] = true
				return s
			}
		}
	}
	legal := m.rules.ID.Make(id, 0)
	for salt := 1; used[legal] || legal != id && m.taken[legal]; salt++ {
		legal = m.rules.ID.Make(id, salt)
	}
	used[legal], m.taken[legal] = true, true
	return legal
}

// result returns the id of the call that a result belongs to: the last open
// one with its id, else the first open one with its name and no id.
func (m *maker) result(id, name string) string {
	if m.rules.AnyID {
		return id
	}
	if id != "" {
		if list := m.open[id]; len(list) > 0 {
			m.open[id] = list[:len(list)-1]
			return list[len(list)-1]
		}
		return m.rules.ID.Make(id, 0)
	}
	if list := m.unnamed[name]; len(list) > 0 {
		m.unnamed[name] = list[1:]
		return list[0]
	}
	return ""
}

// Restore gives calls in an answer the names of the tools that were meant, and
// reports whether it changed anything.
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
