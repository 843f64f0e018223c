package messages

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

// A call is a tool_use, or a server_tool_use, and where it stands.
type call struct {
	id, name   string
	toolset    string // JSON text
	turn, part int
	answered   bool
}

// pairing is how far the calls of a conversation have been matched with their
// results. Turns are merged: what one side says in several messages is one
// turn, and system messages do not divide it.
type pairing struct {
	v     *validator
	calls []call         // all of them, in order
	byID  map[string]int // the latest call of an id

	from    int // calls[from:] are of the latest assistant turn
	role    content.Role
	leading bool // nothing but results so far in this user turn
	results int  // in this user turn
	unclear bool // something of the latest turns could not be read
	begun   bool // there was an assistant turn

	server     []call // without a result so far
	serverByID map[string]int
	builtin    map[string]bool // names of the vendor's tools, by need
	broken     map[string]bool // paths at which the parser has complained, by need
}

// pairing checks that every call has its result in the next turn.
func (v *validator) pairing() {
	n := 0
	for i := range v.r.Messages {
		for _, p := range v.r.Messages[i].Parts {
			switch p.(type) {
			case *content.ToolUse, *content.ToolResult, *content.ServerToolUse:
				n++
			}
		}
	}
	if n == 0 {
		return
	}
	// With a copy of its own, requests without calls have their validator on
	// the stack.
	w := new(validator)
	*w = *v
	defer func() { *v = *w }()
	p := pairing{v: w, calls: make([]call, 0, n/2+1), byID: make(map[string]int, n/2+1)}
	for i := range v.r.Messages {
		t := &v.r.Messages[i]
		switch t.Role {
		case content.RoleUser:
			p.user(i, t)
		case content.RoleAssistant:
			p.assistant(i, t)
		}
		if (len(t.Parts) == 0 || t.Role == "") && p.unread(i) {
			p.unclear = true
		}
	}
	p.endTurns()
	p.endServer()
}

// unread reports whether the parser could not read what a message says, or who.
func (p *pairing) unread(i int) bool {
	o := p.v.r.origin
	if o == nil || len(o.violations) == 0 {
		return false
	}
	if p.broken == nil {
		p.broken = make(map[string]bool, len(o.violations))
		for _, e := range o.violations {
			p.broken[e.Path] = true
		}
	}
	at := "messages." + strconv.Itoa(i)
	return o.more > 0 || p.broken[at] || p.broken[at+".role"] || p.broken[at+".content"]
}

// maxIDs bounds how many ids one fault names.
const maxIDs = 20

// endTurns reports the calls of the latest assistant turn that have no result.
func (p *pairing) endTurns() {
	var ids []string
	turn, n := -1, 0
	for i := p.from; i < len(p.calls) && !p.unclear; i++ {
		c := &p.calls[i]
		if c.answered {
			continue
		}
		if n++; n == 1 {
			turn = c.turn
		}
		if n <= maxIDs {
			ids = append(ids, codec.Clip(c.id))
		}
	}
	if n == 0 {
		return
	}
	if n > maxIDs {
		ids = append(ids, strconv.Itoa(n-maxIDs)+" more")
	}
	p.at(turn, -1)
	p.v.violation(content.CodePairing, "`tool_use` ids were found without `tool_result` blocks immediately after: "+
		strings.Join(ids, ", ")+". Each `tool_use` block must have a corresponding `tool_result` block in the next message.")
	p.v.path.Truncate(0)
}

// at puts the path at a message, or at a part of it.
func (p *pairing) at(turn, part int) {
	p.v.path.Truncate(0)
	p.v.path.Push("messages")
	p.v.path.PushIndex(turn)
	if part >= 0 {
		p.v.path.Push("content")
		p.v.path.PushIndex(part)
	}
}

func (p *pairing) fault(turn, part int, text string, names ...string) {
	p.at(turn, part)
	p.v.violation(content.CodePairing, text, names...)
	p.v.path.Truncate(0)
}

func (p *pairing) assistant(i int, t *content.Turn) {
	if p.role != content.RoleAssistant {
		p.endTurns()
		p.from, p.unclear = len(p.calls), false
		p.role, p.begun = content.RoleAssistant, true
	}
	for k, part := range t.Parts {
		if content.IsNil(part) {
			p.unclear = true
			continue
		}
		switch c := part.(type) {
		case *content.ToolUse:
			if c.ID == "" {
				p.unclear = true
				continue
			}
			if n, twice := p.byID[c.ID]; twice && !p.calls[n].answered {
				p.fault(i, k, "`tool_use` ids must be unique")
			}
			p.byID[c.ID] = len(p.calls)
			p.calls = append(p.calls, call{id: c.ID, name: c.Name, turn: i, part: k, toolset: toolsetOf(c.Extra)})
		case *content.ServerToolUse:
			if c.Kind == "server_tool_use" && c.ID != "" {
				p.serverCall(call{id: c.ID, name: c.Name, turn: i, part: k})
			}
		case *content.ServerToolResult:
			p.unclear = p.unclear || c.ID == ""
			p.serverResult(c.ID)
		case *content.Unknown:
			p.unclear = p.unclear || c.Kind == ""
			if len(p.server) > 0 && strings.HasSuffix(c.Kind, "_tool_result") {
				id, _ := memberText(c.Raw, "tool_use_id")
				p.serverResult(strings.Trim(id, `"`))
			}
		}
	}
}

func (p *pairing) user(i int, t *content.Turn) {
	if p.role != content.RoleUser {
		p.role, p.leading, p.results = content.RoleUser, true, 0
	}
	for k, part := range t.Parts {
		if content.IsNil(part) {
			p.unclear = true
			continue
		}
		if u, ok := part.(*content.Unknown); ok && u.Kind == "" {
			p.unclear = true // it may have been a result
			continue
		}
		r, ok := part.(*content.ToolResult)
		if !ok {
			p.leading = false
			p.endServer()
			continue
		}
		p.results++
		p.result(i, k, r)
	}
}

// result matches one result with its call.
func (p *pairing) result(i, k int, r *content.ToolResult) {
	if r.ID == "" {
		p.unclear = true
		return
	}
	n, found := p.byID[r.ID]
	switch {
	case !found || n < p.from:
		if !p.unclear && (p.begun || !p.v.continues()) {
			p.fault(i, k, "unexpected `tool_use_id` found in `tool_result` blocks: "+codec.Clip(r.ID)+
				". Each `tool_result` block must have a corresponding `tool_use` block in the previous message.")
		}
		return
	case p.calls[n].answered:
		p.fault(i, k, "each `tool_use` must have a single `tool_result`. Found several `tool_result` blocks with id: "+codec.Clip(r.ID))
		return
	}
	p.calls[n].answered = p.leading
	if p.calls[n].toolset != "" {
		p.member(i, k, r, p.calls[n].toolset)
	}
}

// toolsetOf returns the toolset that a call or result names, as JSON text.
func toolsetOf(e *content.Extra) string {
	if e == nil || e.JSON == directCaller {
		return ""
	}
	if text, _ := memberText(e.JSON, "toolset_name"); text != "null" {
		return text
	}
	return ""
}

// member checks the result of a member of a toolset.
func (p *pairing) member(i, k int, r *content.ToolResult, toolset string) {
	switch got := toolsetOf(r.Extra); got {
	case toolset:
	case "":
		p.fault(i, k, textRequired, "tool_result", "toolset_name")
	default:
		p.fault(i, k, "Input should be '"+codec.Clip(strings.Trim(toolset, `"`))+"'", "tool_result", "toolset_name")
	}
	states := 0
	for _, part := range r.Parts {
		switch b := part.(type) {
		case *content.Text, *content.Image:
			continue
		case *content.Unknown:
			if b != nil && b.Kind == "browser_state" && toolset == `"browser"` {
				if states++; states == 1 {
					continue
				}
			}
		}
		p.fault(i, k, "results of a toolset's member may hold only text and images, those of the browser one browser_state besides",
			"tool_result", "content")
		return
	}
}

// serverCall notes a call of one of the vendor's own tools.
func (p *pairing) serverCall(c call) {
	if p.serverByID == nil {
		p.serverByID = make(map[string]int)
	}
	p.serverByID[c.id] = len(p.server)
	p.server = append(p.server, c)
}

func (p *pairing) serverResult(id string) {
	if n, found := p.serverByID[id]; found && n < len(p.server) && p.server[n].id == id {
		p.server[n].answered = true
		if n == len(p.server)-1 {
			p.server = p.server[:n]
		}
	}
}

// endServer reports the vendor's calls without a result. It is called where
// none can come any more: something else than results follows, or the
// conversation ends in results and nobody would run the tool.
func (p *pairing) endServer() {
	rest := p.server
	p.server = p.server[:0]
	for i := range rest {
		c := &rest[i]
		if c.answered || p.unclear || p.role == content.RoleAssistant || p.resumes(c) {
			continue
		}
		p.fault(c.turn, c.part, "`"+codec.Clip(c.name)+"` tool use with id `"+codec.Clip(c.id)+
			"` was found without a corresponding `"+resultKind(c.name)+"` block")
	}
}

// resumes reports whether the model can go on with a call: only results follow
// it, and its tool is still defined.
func (p *pairing) resumes(c *call) bool {
	return p.leading && p.results > 0 && p.definesServer(c.name)
}

// definesServer reports whether the tools have the vendor's tool that makes
// calls of that name.
func (p *pairing) definesServer(name string) bool {
	if p.builtin == nil {
		p.builtin = make(map[string]bool)
		for i := range p.v.r.Tools {
			if t := &p.v.r.Tools[i]; t.Kind != "" {
				p.builtin[t.Name] = true
			}
		}
	}
	switch name {
	case "bash_code_execution", "text_editor_code_execution":
		name = "code_execution"
	}
	return p.builtin[name]
}

// resultKind returns the type of the block that answers a call.
func resultKind(name string) string {
	if strings.HasPrefix(name, "tool_search_tool_") {
		name = "tool_search"
	}
	return codec.Clip(name) + "_tool_result"
}
