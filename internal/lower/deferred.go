package lower

import (
	"cmp"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
)

// The model does not see a deferred tool until the conversation loads it: by what a search of
// the vendor found, or by a reference in the result of a search that the client runs. A target
// that cannot defer tools gets the loaded ones only. Where the conversation can add tools, it adds
// them behind the results that refer to them, so the prompt before stays as it was. Otherwise they
// follow the other tools in the order in which the conversation first refers to them, so a tool
// that is loaded changes nothing before it.

// loadTools decides which deferred tools are sent, and in which order. It returns the places of
// the tools to send in the request, or nil if all are where they were.
func (l *lowering) loadTools() (places []int) {
	rules, tools := &l.t.Tools, l.to.Tools
	if !slices.ContainsFunc(tools, isDeferred) { // one pass
		return nil
	}
	searched, hasSearch := false, false // by a vendor, by the target's
	for i := range tools {
		t := &tools[i]
		switch {
		case !foreign.SearchesTools(t):
			continue
		case t.Format == l.t.Format && !rules.OnlyFunctions:
			return nil
		case rules.Vendor != nil:
			own, _ := rules.Vendor(t)
			hasSearch = hasSearch || own.Kind != ""
		}
		searched = true
	}
	switch {
	case !searched && rules.References:
		return nil
	case searched && !hasSearch: // nothing could load them
		l.to.Tools = slices.Clone(tools)
		for i := range tools {
			if t := &l.to.Tools[i]; t.Deferred {
				l.lose(ToolNotDeferred, In(Tools, i))
				t.Deferred = false
			}
		}
		return nil
	}
	l.to.Tools, places = make([]content.Tool, 0, len(tools)), make([]int, 0, len(tools))
	send := func(i int, deferred bool) {
		t := tools[i]
		t.Deferred = deferred
		l.to.Tools, places = append(l.to.Tools, t), append(places, i)
	}
	for i := range tools {
		if !tools[i].Deferred {
			send(i, false)
		}
	}
	loaded := l.loadedTools()
	for _, i := range loaded {
		send(i, false)
	}
	slices.Sort(loaded)
	for i := range tools {
		_, isLoaded := slices.BinarySearch(loaded, i)
		switch {
		case !tools[i].Deferred, isLoaded && !(hasSearch && l.adding[i] != ""): // if it is added, it stays deferred, too
		case hasSearch:
			send(i, true)
		default:
			l.lose(ToolDeferred, In(Tools, i))
		}
	}
	return places
}

func isDeferred(t content.Tool) bool { return t.Deferred }

// loadedTools returns the deferred tools that the conversation or the tool choice names, in the
// order in which they are named first.
func (l *lowering) loadedTools() (loaded []int) {
	tools := l.named.Tools
	deferred := make(map[toolID]int)
	for i := len(tools) - 1; i >= 0; i-- { // the first tool of a name counts
		if t := &tools[i]; t.Deferred {
			deferred[toolID{t.Namespace, t.Name}] = i
		}
	}
	load := func(id toolID) {
		if i, ok := deferred[id]; ok {
			loaded = append(loaded, i)
			delete(deferred, id)
		}
	}
	refer := func(p content.Part) {
		for _, r := range foreign.ToolReferences(p) {
			load(toolID{r.Namespace, r.Name})
		}
	}
	chosen, sent := setOf(l.named.Choice.Names), make(map[string]bool) // ids of results
	for i := 0; l.t.Tools.Additions && i < len(l.to.Turns); i++ {
		for _, p := range l.to.Turns[i].Parts {
			if r, ok := p.(*content.ToolResult); ok {
				sent[r.ID] = true
			}
		}
	}
	for i := range l.named.Turns {
		before, last := len(loaded), "" // the id of the last result of the turn, as it is sent
		for k, p := range l.named.Turns[i].Parts {
			switch p := p.(type) { // other kinds may refer to tools
			case *content.ToolUse:
				if p != nil {
					load(toolID{p.Namespace, p.Name})
				}
			case *content.ToolResult:
				if p != nil {
					for _, q := range p.Parts {
						refer(q)
					}
					last = l.n.Turns[i].Parts[k].(*content.ToolResult).ID
				}
			default:
				refer(p)
			}
		}
		if !sent[last] {
			continue
		}
		for _, place := range loaded[before:] {
			if t := &tools[place]; t.Namespace == "" && !chosen[t.Name] { // a choice names tools of the request
				if l.adding == nil {
					l.adding = make(map[int]string)
				}
				l.adding[place] = last
			}
		}
	}
	if len(chosen) > 0 {
		for i := range tools {
			if t := &tools[i]; chosen[t.Name] {
				load(toolID{t.Namespace, t.Name})
			}
		}
	}
	return loaded
}

// addTool adds a lowered tool, which has a place in the request, behind a result. It reports
// whether the tool belongs there.
func (l *lowering) addTool(t *content.Tool, place int) bool {
	id, ok := l.adding[place]
	if ok {
		if l.to.Added == nil {
			l.to.Added = make(map[string][]content.Tool)
		}
		l.to.Added[id] = append(l.to.Added[id], *t)
	}
	return ok
}

// referenceText returns the text for the model that tools are loaded, a line for each, under the names
// that they are sent with. Without tools it is otherwise.
func (l *lowering) referenceText(u *content.Unknown, otherwise string) string {
	var lines []string
	for _, r := range foreign.ToolReferences(u) {
		if l.to.Names != nil {
			if sent, ok := l.to.Names.sent[toolID{r.Namespace, r.Name}]; ok {
				r.Name = sent.name
			}
		}
		lines = append(lines, "Loaded tool: "+r.Name)
	}
	return cmp.Or(strings.Join(lines, "\n"), otherwise)
}
