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
		Reason: "some ids of calls are missing, unknown, repeated or not legal there, and are told in another form"}
)

// Names is the way back of names that were changed. Nil has changed none.
type Names struct{ original map[string]string }

// Make returns n if all its names and ids are legal, else a copy in which they
// are, and each result has the id of its call: see [Pairing]. A turn is always
// changed in the same way, whatever comes behind it. log hears of it: of each
// name once, where it stands first, and of the first id.
func Make(n *upstream.Request, rules *Rules, log *loss.Log) (*upstream.Request, *Names) {
	if rules.fit(n) {
		return n, nil
	}
	m := maker{rules: rules, log: log, to: *n}
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
	legal map[string]bool   // the names of tools that are legal as they are; by need

	pairs   Pairing
	calls   []*content.ToolUse // since the last results
	callIDs []string           // the legal ids of all calls so far, in their order
	used    map[string]string  // the calls' own ids by these
	salts   map[string]int     // by the ids of calls: those below are used
	orphans map[string]int     // the same by the ids of orphans, by calls with other ids
	minted  int                // ids that were made up
	told    bool               // that ids are changed
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
	open := make(map[string]bool) // by the ids of calls: whether it has no result yet
	for i := range n.Turns {
		for _, p := range n.Turns[i].Parts {
			switch p := p.(type) {
			case *content.ToolUse:
				if p != nil && !r.fitCall(p, open) {
					return false
				}
			case *content.ToolResult:
				if p != nil && !r.fitResult(p, open) {
					return false
				}
			}
		}
	}
	return true
}

func (r *Rules) fitCall(p *content.ToolUse, open map[string]bool) bool {
	if !r.Name.Fits(p.Name) {
		return false
	}
	if r.AnyID {
		return true
	}
	_, twice := open[p.ID]
	open[p.ID] = true
	return !twice && r.ID.Fits(p.ID)
}

func (r *Rules) fitResult(p *content.ToolResult, open map[string]bool) bool {
	if p.Name != "" && !r.Name.Fits(p.Name) {
		return false
	}
	known := open[p.ID]
	if known {
		open[p.ID] = false
	}
	return known || r.AnyID
}

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
		t.Name = m.name(t.Name, func() string { return "tools." + strconv.Itoa(i) + ".name" })
	}
}

// name returns the legal form of a name, and remembers it. at says where the
// name stands.
func (m *maker) name(s string, at func() string) string {
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
	m.log.Add(RenamedTool, at())
	return legal
}

func (m *maker) usedName(legal string) bool {
	if m.names != nil && m.names.original[legal] != "" {
		return true
	}
	if m.legal == nil {
		m.legal = make(map[string]bool, len(m.to.Tools))
		for i := range m.to.Tools {
			m.legal[m.to.Tools[i].Name] = true
		}
	}
	return m.legal[legal]
}

func (m *maker) choice() {
	own := false
	for i, s := range m.to.Choice.Names {
		legal := m.name(s, func() string { return "choice.names" })
		if legal == s {
			continue
		}
		if !own {
			m.to.Choice.Names, own, m.changed = slices.Clone(m.to.Choice.Names), true, true
		}
		m.to.Choice.Names[i] = legal
	}
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
