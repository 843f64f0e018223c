package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A kind is a kind of item of a conversation.
type kind string

const (
	kindSystem    kind = "system texts"
	kindText      kind = "texts"
	kindCall      kind = "tool calls"
	kindResult    kind = "tool results"
	kindFile      kind = "files"
	kindThinking  kind = "thinking texts"
	kindSignature kind = "signatures"
)

// vendorOnly are the kinds that other vendors do not accept. They are reported apart.
var vendorOnly = []kind{kindThinking, kindSignature}

// overlapping is the text of a gap that is reported apart, too.
const overlapping = "blocks overlap"

// An item is a part of a request.
type item struct {
	kind  kind
	role  string   // of a text: user or assistant
	texts []string // a result may have several forms, any of which may be found
	id    string   // of a call or result
	name  string   // of a call, and of a result if the format has it
	args  string   // of a call, as canonical JSON
	call  int      // of a result: the index of its call in the items, or -1
}

// A tool is the definition of a tool.
type tool struct {
	description string
	properties  []string // names, sorted
}

// A conversation is the content of a request, independent of its format.
type conversation struct {
	items []item
	tools map[string]tool
}

// A gap is content that is missing in a translation.
type gap struct {
	what  string
	n, of int
}

// String returns the gap as a phrase, such as "drops 2 of 3 files".
func (g gap) String() string {
	if g.of == 0 {
		return g.what
	}
	return fmt.Sprintf("drops %d of %d %s", g.n, g.of, g.what)
}

// link sets the call of each result: the latest call with its id, or without an id the first
// call of its name that has no result.
func (c *conversation) link() {
	done := make(map[int]bool)
	for i := range c.items {
		r := &c.items[i]
		if r.kind != kindResult {
			continue
		}
		r.call = -1
		for j, call := range c.items[:i] {
			if call.kind != kindCall {
				continue
			}
			if r.id != "" && call.id == r.id || r.id == "" && call.id == "" && call.name == r.name && !done[j] && r.call < 0 {
				r.call = j
			}
		}
		done[r.call] = true
	}
}

// compare returns what want has and got does not have.
func compare(want, got *conversation) (gaps []gap) {
	want.link()
	got.link()
	m := matcher{got: got, matched: make(map[int]int)}
	total, missing := make(map[kind]int), make(map[kind]int)
	unlinked, moved, latest := 0, 0, -1
	for i := range want.items {
		w := &want.items[i]
		total[w.kind]++
		at, ok := m.find(w)
		if !ok {
			missing[w.kind]++
			continue
		}
		m.matched[i] = at
		if w.kind == kindResult {
			if call, ok := m.matched[w.call]; !ok || got.items[at].call != call {
				unlinked++
			}
		}
		// Formats have the system text and thinking at places of their own.
		if w.kind == kindSystem || slices.Contains(vendorOnly, w.kind) {
			continue
		}
		if at < latest {
			moved++
		}
		latest = max(latest, at)
	}
	for _, k := range []kind{kindSystem, kindText, kindCall, kindResult, kindFile, kindThinking, kindSignature} {
		if missing[k] > 0 {
			gaps = append(gaps, gap{string(k), missing[k], total[k]})
		}
	}
	if unlinked > 0 {
		gaps = append(gaps, gap{"links of tool results to calls", unlinked, total[kindResult]})
	}
	if moved > 0 {
		gaps = append(gaps, gap{what: fmt.Sprintf("parts in another order: %d", moved)})
	}
	return append(gaps, compareTools(want.tools, got.tools)...)
}

// A matcher finds the items of a conversation in another one. Formats may join texts, so a
// text is a part of an item; the next text is searched for behind it.
type matcher struct {
	got     *conversation
	used    map[int]bool // items that are not texts
	offsets map[int]int  // in texts: end of the part that was found
	matched map[int]int
}

// find returns the index of the first unused item that contains want.
func (m *matcher) find(want *item) (int, bool) {
	if m.used == nil {
		m.used, m.offsets = make(map[int]bool), make(map[int]int)
	}
	found := -1
	for i := range m.got.items {
		g := &m.got.items[i]
		if g.kind != want.kind || g.role != want.role || m.used[i] {
			continue
		}
		switch want.kind {
		case kindCall:
			if g.name != want.name || g.args != want.args {
				continue
			}
		case kindResult:
			if !overlap(want.texts, g.texts) {
				continue
			}
			// Results may be equal: the one that belongs to the right call is preferred.
			if call, ok := m.matched[want.call]; ok && g.call != call {
				if found < 0 {
					found = i
				}
				continue
			}
		case kindFile, kindSignature:
			if g.texts[0] != want.texts[0] {
				continue
			}
		default:
			at := strings.Index(g.texts[0][m.offsets[i]:], want.texts[0])
			if at < 0 {
				continue
			}
			m.offsets[i] += at + len(want.texts[0])
			return i, true
		}
		m.used[i] = true
		return i, true
	}
	if found >= 0 {
		m.used[found] = true
	}
	return found, found >= 0
}

// overlap reports whether an element of got contains all of want.
func overlap(want, got []string) bool {
	for _, g := range got {
		all := true
		for _, w := range want {
			all = all && strings.Contains(g, w)
		}
		if all {
			return true
		}
	}
	return false
}

func compareTools(want, got map[string]tool) (gaps []gap) {
	var tools, descriptions, properties, described, all int
	for _, name := range slices.Sorted(maps.Keys(want)) {
		w := want[name]
		g, ok := got[name]
		if !ok {
			tools++
			continue
		}
		if w.description != "" {
			described++
			if !strings.Contains(g.description, w.description) {
				descriptions++
			}
		}
		all += len(w.properties)
		for _, p := range w.properties {
			if !slices.Contains(g.properties, p) {
				properties++
			}
		}
	}
	for _, g := range []gap{{"tools", tools, len(want)}, {"descriptions of tools", descriptions, described}, {"properties of tools", properties, all}} {
		if g.n > 0 {
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// canonical returns v with sorted names.
func canonical(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
