package lower

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// NameRules are the rules of a target for names of tools and ids of tool calls.
type NameRules struct {
	Name, ID Charset

	// AnyID allows any id, and none. AnyName allows any name.
	AnyID, AnyName bool

	// Namespaces says that tools may be in namespaces, whose names have the rules of Name.
	// Otherwise a namespace becomes a prefix of the name.
	Namespaces bool
}

// anyName are the rules of a target that has none, for namespaces.
var anyName = &NameRules{AnyID: true, AnyName: true}

// A toolID identifies a function among the tools of a request.
type toolID struct{ namespace, name string }

// Names are the functions that are sent under another name than the request has, or in place
// of free-form tools: the way back for [Restorer]. A nil Names has none.
type Names struct {
	original map[toolID]toolID // by what is sent
	sent     map[toolID]toolID // by the original
	freeform map[toolID]bool   // what is sent in place of free-form tools
}

// renamed returns n if all names and ids in it are valid, otherwise a copy in which
// they are and in which each result has the id of its tool call: see [Pairing]. A
// turn is changed in the same way whatever follows it. There is one loss for each name,
// at its first place, and one for the first id.
func renamed(n *upstream.Request, rules *NameRules) (*upstream.Request, *Names, []Loss) {
	if rules.valid(n) {
		return n, nil, nil
	}
	m := renamer{rules: rules, tools: n.Tools, to: *n}
	m.renameTools()
	m.choice()
	m.turns()
	if !m.changed {
		return n, nil, m.losses
	}
	return &m.to, m.names, m.losses
}

type renamer struct {
	rules   *NameRules
	tools   []content.Tool // the original ones
	losses  []Loss
	to      upstream.Request
	changed bool

	names      *Names
	renamed    map[toolID]toolID   // by the original, where the two differ
	validNames map[toolID]bool     // of tools that need no conversion; built on first use
	grouped    map[string][]toolID // the original tools in namespaces by their name; built on first use
	spaces     map[string]toolID   // what is sent for the last call of a tool in a namespace, by id

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
		if n.Tools[i].Kind == "" && !r.validTool(toolID{n.Tools[i].Namespace, n.Tools[i].Name}) {
			return false
		}
	}
	for _, s := range n.Choice.Names {
		if !r.validTool(toolID{name: s}) {
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

// validTool reports whether a function can be sent under its name.
func (r *NameRules) validTool(t toolID) bool {
	if t.namespace != "" && !(r.Namespaces && r.Name.valid(t.namespace)) {
		return false
	}
	return r.AnyName || r.Name.valid(t.name)
}

// convert returns what is sent for a function whose name is not valid, or is in use.
func (r *NameRules) convert(t toolID, salt int) toolID {
	to := toolID{name: t.name}
	switch {
	case t.namespace == "":
	case r.Namespaces:
		to.namespace = r.Name.convert(t.namespace, 0)
	default:
		to.name = t.namespace + "__" + t.name
	}
	switch {
	case !r.AnyName:
		to.name = r.Name.convert(to.name, salt)
	case salt > 0:
		to.name += "_" + strconv.Itoa(salt)
	}
	return to
}

func (r *NameRules) validCall(p *content.ToolUse, open map[string]bool) bool {
	if !r.validTool(toolID{p.Namespace, p.Name}) {
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
	if p.Name != "" && !r.validTool(toolID{name: p.Name}) {
		return false
	}
	known := open[p.ID]
	if known {
		open[p.ID] = false
	}
	return known || r.AnyID
}

// renameTools gives every tool a valid, unique name.
func (m *renamer) renameTools() {
	own := false
	for i := range m.to.Tools {
		t := &m.to.Tools[i]
		id := toolID{t.Namespace, t.Name}
		if t.Kind != "" || m.rules.validTool(id) {
			continue
		}
		if !own {
			m.to.Tools, own, m.changed = slices.Clone(m.to.Tools), true, true
			t = &m.to.Tools[i]
		}
		id = m.tool(id, In(Tools, i))
		t.Namespace, t.Name = id.namespace, id.name
	}
}

// tool returns what is sent for a tool, and records it. at is the path of what has the name:
// the tool, a call, a result or [choiceNames].
func (m *renamer) tool(t toolID, at Path) toolID {
	if m.rules.validTool(t) {
		return t
	}
	if valid, ok := m.renamed[t]; ok {
		return valid
	}
	valid := m.rules.convert(t, 0)
	for salt := 1; m.isUsed(valid); salt++ {
		valid = m.rules.convert(t, salt)
	}
	if m.renamed == nil {
		m.renamed = make(map[toolID]toolID)
		m.names = &Names{original: make(map[toolID]toolID), sent: m.renamed}
	}
	m.renamed[t], m.names.original[valid] = valid, t
	r, member := RenamedTool, "name"
	if t.namespace != valid.namespace {
		member = "namespace"
		if !m.rules.Namespaces {
			r = ToolNamespace
		}
	}
	if at != choiceNames {
		at = at.Member(member)
	}
	m.losses = append(m.losses, Loss{Rule: r, Path: at})
	return valid
}

func (m *renamer) isUsed(valid toolID) bool {
	if m.names != nil {
		if _, used := m.names.original[valid]; used {
			return true
		}
	}
	if m.validNames == nil {
		m.validNames = make(map[toolID]bool, len(m.to.Tools))
		for i := range m.to.Tools {
			m.validNames[toolID{m.to.Tools[i].Namespace, m.to.Tools[i].Name}] = true
		}
	}
	return m.validNames[valid]
}

func (m *renamer) choice() {
	own, names := false, m.to.Choice.Names
	for i, s := range names {
		list := m.chosen(s)
		if len(list) == 1 && list[0] == s && !own {
			continue
		}
		if !own {
			m.to.Choice.Names, own, m.changed = slices.Clone(names[:i]), true, true
		}
		m.to.Choice.Names = append(m.to.Choice.Names, list...)
	}
}

// chosen returns the names that are sent for a name in the tool choice, which has no
// namespaces. A target without them gets, the first time, all tools that have the name in a
// namespace, unless a tool outside of them has it.
func (m *renamer) chosen(s string) []string {
	if m.grouped == nil {
		m.group()
	}
	list, grouped := m.grouped[s]
	if !grouped {
		return []string{m.tool(toolID{name: s}, choiceNames).name}
	}
	m.grouped[s] = nil
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = m.tool(t, choiceNames).name
	}
	return names
}

// choiceNames is the path of the names in the tool choice.
var choiceNames = At("choice.names")

// group collects the tools in namespaces by their name.
func (m *renamer) group() {
	m.grouped = make(map[string][]toolID)
	if m.rules.Namespaces {
		return
	}
	for i := range m.tools {
		if t := &m.tools[i]; t.Kind == "" && t.Namespace != "" {
			m.grouped[t.Name] = append(m.grouped[t.Name], toolID{t.Namespace, t.Name})
		}
	}
	for i := range m.tools {
		if m.tools[i].Namespace == "" {
			delete(m.grouped, m.tools[i].Name)
		}
	}
}
