package messages

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/polywire/polywire/content"
)

// A dialogue is what the converter knows while it walks through turns.
type dialogue struct {
	calls []pending       // calls of the assistant that wait for their results
	open  map[string]bool // their ids; by need

	moved   []content.Part // files that the next turn of the user is to hold
	movedAt []string       // where they stood

	kept  map[content.Signature]int // the thinking of the run at hand: its index among the parts of the turn, -1 until it has one
	shown string                    // what is left of the texts of thinking that the run carries
}

// A pending call and where it stands.
type pending struct {
	id         string
	turn, part int
}

// turns converts a conversation. What one side says in several turns is a run,
// which the vendor takes as one turn.
func (c *converter) turns(turns []content.Turn) []content.Turn {
	if len(turns) == 0 {
		return turns
	}
	roles := c.roles(turns)
	list := make([]content.Turn, 0, len(turns)+1)
	for i, j := 0, 0; i < len(turns); i = j {
		j = i + 1
		if side(roles[i]) {
			for j < len(turns) && roles[j] == roles[i] {
				j++
			}
		}
		switch run := turns[i:j]; {
		case roles[i] == leading:
			c.lead(turns[i], i)
		case roles[i] == content.RoleAssistant:
			list = c.assistant(list, run, i)
		case roles[i] == content.RoleUser:
			list = c.user(list, run, i)
		default:
			list = c.other(list, turns[i], i)
		}
	}
	for _, path := range c.movedAt {
		c.lose(lostImage, path)
	}
	c.trim(list, len(turns)-1)
	return list
}

// side reports whether turns of a role make runs.
func side(r content.Role) bool { return r == content.RoleUser || r == content.RoleAssistant }

// leading is the role of a system turn in front of the conversation.
const leading content.Role = "leading system"

// roles returns the role that each turn gets. System turns keep theirs where
// the format has a place for them.
func (c *converter) roles(turns []content.Turn) []content.Role {
	roles := make([]content.Role, len(turns))
	before := -1 // the last turn of one of the sides
	next := 0    // the next one that is no system turn
	for i := range turns {
		if roles[i] = turns[i].Role; roles[i] != content.RoleSystem {
			before = i
			continue
		}
		for next = max(next, i+1); next < len(turns) && turns[next].Role == content.RoleSystem; next++ {
		}
		last := next == len(turns) || turns[next].Role == content.RoleAssistant
		switch {
		case c.native(&turns[i]):
		case before < 0:
			roles[i] = leading
		case last && turns[before].Role == content.RoleUser && roles[i-1] != content.RoleAssistant,
			last && turns[before].Role == content.RoleAssistant && endsServed(turns[before].Parts):
		default:
			roles[i] = content.RoleUser
			c.lose(lostSystemTurn, turnPath(i))
		}
	}
	return roles
}

// native reports whether a system turn has something that only this format has,
// so that it comes from there.
func (c *converter) native(t *content.Turn) bool {
	if len(t.Parts) == 0 || t.Extra != nil && c.Own(t.Extra) != nil {
		return true
	}
	return slices.ContainsFunc(t.Parts, func(p content.Part) bool {
		u, ok := p.(*content.Unknown)
		return ok && u != nil && u.Format == Format
	})
}

// endsServed reports whether a turn ends in the result of the vendor's own
// tool.
func endsServed(parts []content.Part) bool {
	if len(parts) == 0 {
		return false
	}
	_, ok := parts[len(parts)-1].(*content.ServerToolResult)
	return ok
}

func turnPath(i int) string { return "turns." + strconv.Itoa(i) }

func placeOf(i, k int) string { return turnPath(i) + ".parts." + strconv.Itoa(k) }

// lead tells a system turn in front of the conversation as system text.
func (c *converter) lead(t content.Turn, i int) {
	c.lose(lostLeadingTurn, turnPath(i))
	parts, _ := c.parts(t.Parts, turnPath(i)+".parts", content.RoleSystem)
	c.to.System = append(slices.Clip(c.to.System), tidy(parts)...)
}

// other converts a turn that is no side's.
func (c *converter) other(list []content.Turn, t content.Turn, i int) []content.Turn {
	c.Foreign(t.Extra, turnPath(i)+".extra")
	if len(t.Parts) == 0 {
		return append(list, t)
	}
	parts, _ := c.parts(t.Parts, turnPath(i)+".parts", t.Role)
	if t.Parts = tidy(parts); len(t.Parts) == 0 && c.Own(t.Extra) == nil {
		return list
	}
	return append(list, t)
}

// assistant converts what the assistant says in a run.
func (c *converter) assistant(list []content.Turn, run []content.Turn, first int) []content.Turn {
	c.calls = c.calls[:0]
	for k := range run {
		for i, p := range run[k].Parts {
			if u, ok := p.(*content.ToolUse); ok && u != nil {
				c.calls = append(c.calls, pending{u.ID, first + k, i})
			}
		}
	}
	atEnd := first+len(run) == len(c.from.Turns)
	for _, t := range c.said(run, first, content.RoleAssistant) {
		t.Parts = tidy(t.Parts)
		if len(t.Parts) > 0 || atEnd && len(run[len(run)-1].Parts) == 0 {
			list = append(list, t)
		}
	}
	return list
}

// user converts what the user says in a run: results of the assistant's calls
// first, then what had to be moved there.
func (c *converter) user(list []content.Turn, run []content.Turn, first int) []content.Turn {
	for k, t := range c.said(run, first, content.RoleUser) {
		t.Parts = tidy(t.Parts)
		if k == 0 && !(c.to.continues() && len(c.calls) == 0) { // else the calls are in the thread
			t.Parts = c.answer(t.Parts, run, first)
		}
		t.Role = content.RoleUser
		if len(t.Parts) > 0 {
			list = append(list, t)
		}
	}
	c.calls = c.calls[:0]
	return list
}

// said converts the turns of a run. Those of the assistant become one: clients
// keep each piece of a streamed answer as a turn of its own. Those of the user
// are joined where calls need it; the vendor itself takes them as one.
func (c *converter) said(run []content.Turn, first int, role content.Role) []content.Turn {
	c.kept, c.shown = nil, ""
	carries := role == content.RoleAssistant && slices.ContainsFunc(run, hasCarrier)
	if carries {
		c.noteThinking(run)
	}
	for k := range run {
		if x := run[k].Extra; x != nil {
			c.alien(x, turnPath(first+k))
		}
		if len(run[k].Parts) == 0 && (role != content.RoleAssistant || first+k+1 < len(c.from.Turns)) {
			c.lose(lostEmpty, turnPath(first+k))
		}
	}
	if len(run) == 1 && !carries {
		return []content.Turn{c.alone(run[0], first, role)}
	}
	binds := slices.ContainsFunc(run, bound)
	if role == content.RoleUser && !binds {
		list := make([]content.Turn, len(run))
		for k, t := range run {
			list[k] = c.alone(t, first+k, role)
		}
		return list
	}
	if len(run) > 1 && binds {
		c.lose(lostJoined, turnPath(first+1))
	}
	return []content.Turn{c.joined(run, first, role)}
}

func (c *converter) alone(t content.Turn, i int, role content.Role) content.Turn {
	t.Parts, _ = c.parts(t.Parts, turnPath(i)+".parts", role)
	return t
}

// joined makes one turn of a run, with the thoughts that its parts carry.
func (c *converter) joined(run []content.Turn, first int, role content.Role) content.Turn {
	all := run[0]
	n := 0
	for k := range run {
		n += len(run[k].Parts)
		if x := run[k].Extra; all.Extra == nil {
			all.Extra = x
		} else if k > 0 && c.Own(x) != nil {
			c.lose(lostJoined, turnPath(first+k)+".extra")
		}
	}
	all.Parts = make([]content.Part, 0, n)
	from, path := 0, "" // where the step begins; the part at hand
	for k := range run {
		for i, p := range run[k].Parts {
			path = placeOf(first+k, i)
			var s content.Signature
			if role == content.RoleAssistant {
				s = carrierSignature(p)
			}
			_, behind := p.(*content.Text)
			if s.Data != "" && !behind {
				all.Parts = c.restoreThinking(all.Parts, from, s, path)
			}
			if q := c.part(p, path, role); q != nil || p == nil {
				c.noteReturned(q, len(all.Parts))
				all.Parts = append(all.Parts, q)
			}
			if s.Data != "" && behind {
				all.Parts = c.restoreThinking(all.Parts, from, s, path)
			}
			if _, call := p.(*content.ToolUse); call || s.Data != "" {
				from = len(all.Parts)
			}
		}
	}
	if c.kept != nil {
		all.Parts = c.dropTrailing(all.Parts, path)
	}
	return all
}

// bound reports whether a turn has to be joined with others of its side.
func bound(t content.Turn) bool {
	return slices.ContainsFunc(t.Parts, func(p content.Part) bool {
		switch p.(type) {
		case *content.ToolUse, *content.ToolResult, *content.Thinking:
			return true
		}
		return carrierSignature(p).Data != ""
	})
}

// tidy leaves out texts of nothing but white space; behind another text they
// become part of it.
func tidy(parts []content.Part) []content.Part {
	empty := func(p content.Part) bool {
		t, ok := p.(*content.Text)
		return ok && t != nil && isBlank(t.Text)
	}
	if !slices.ContainsFunc(parts, empty) {
		return parts
	}
	list := make([]content.Part, 0, len(parts))
	var space strings.Builder // behind the last of the list
	for _, p := range parts {
		if empty(p) {
			space.WriteString(p.(*content.Text).Text)
			continue
		}
		list = append(glue(list, &space), p)
	}
	return glue(list, &space)
}

// glue makes white space part of the text that a list ends in. All that stands
// there is glued at once, however many texts it was.
func glue(list []content.Part, space *strings.Builder) []content.Part {
	s := space.String()
	space.Reset()
	if s == "" || len(list) == 0 {
		return list
	}
	if t, ok := list[len(list)-1].(*content.Text); ok && t != nil && len(t.Citations) == 0 {
		glued := *t
		glued.Text += s
		list[len(list)-1] = &glued
	}
	return list
}

// trim takes the white space from the end of an answer that is to be continued.
func (c *converter) trim(list []content.Turn, i int) {
	if len(list) == 0 {
		return
	}
	last := &list[len(list)-1]
	if last.Role != content.RoleAssistant || len(last.Parts) == 0 {
		return
	}
	t, ok := last.Parts[len(last.Parts)-1].(*content.Text)
	if !ok || t == nil {
		return
	}
	if s := strings.TrimRightFunc(t.Text, unicode.IsSpace); s != t.Text {
		trimmed := *t
		trimmed.Text = s
		last.Parts = append(slices.Clone(last.Parts[:len(last.Parts)-1]), &trimmed)
		c.lose(lostSpace, turnPath(i))
	}
}
