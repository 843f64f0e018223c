package messages

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/partfield"
)

const nextUserMessage = "next_user_message"

var roles = []string{string(content.RoleUser), string(content.RoleAssistant), string(content.RoleSystem)}

// system validates the system prompt, a list of texts.
func (v *validator) system() {
	parts := v.r.System
	if len(parts) == 0 {
		return
	}
	v.path.Push("system")
	v.texts(parts, true)
	v.path.Truncate(0)
}

// texts validates a list in which only texts are allowed. Their paths have no tags.
func (v *validator) texts(parts []content.Part, system bool) {
	for i, p := range parts {
		v.path.PushIndex(i)
		switch t, ok := p.(*content.Text); {
		case content.IsNil(p):
			v.violation(content.CodeMissing, textRequired)
		case !ok:
			if u, raw := p.(*content.Unknown); !raw || u.Kind != "" {
				v.violation(content.CodeValue, "Input should be 'text'", "type")
			}
		default:
			if t.Text == "" && !v.isUnread("text") {
				v.violation(content.CodeRange, textNotEmpty, "text")
				v.emptyBreakpoint(t)
			}
			v.citations(t)
			if !system && v.is2026() && len(t.Citations) > 0 {
				v.violation(content.CodeUnsupported, textUserCitations, "citations")
			}
			v.breakpoint(t.Cache)
		}
		v.path.Pop()
	}
}

// messages validates each message, then the rules for all of them together.
func (v *validator) messages() {
	v.path.Push("messages")
	for i := range v.r.Messages {
		v.path.PushIndex(i)
		v.message(i, &v.r.Messages[i])
		v.path.Pop()
	}
	v.path.Truncate(0)
	v.systemPlacement()
	v.pairing()
	if v.opts.Strict {
		v.finalText()
	}
	if v.files > 0 {
		if limit := fileLimits(&v.opts.Limits).Files; v.files > limit {
			v.violationAt(content.CodeLimit, "messages", "too many files in the request: "+
				counted(v.files, "file")+" > "+counted(limit, "file"))
		}
	}
}

func (v *validator) message(i int, t *content.Turn) {
	where := inUser | inAssistant | inSystem
	switch t.Role {
	case content.RoleUser:
		where = inUser
	case content.RoleAssistant:
		where = inAssistant
	case content.RoleSystem:
		where = inSystem
	default:
		if v.require(string(t.Role), "role") {
			v.violation(content.CodeValue, textOneOf(roles), "role")
		}
	}
	scoped := v.turnMembers(t)
	if len(t.Parts) == 0 {
		last := t.Role == content.RoleAssistant && i == len(v.r.Messages)-1
		if !last && !configures(t) && (v.violations.Len() >= content.MaxViolations || !v.found.Repeats(v.path.At("content"))) {
			v.violation(content.CodeRange, "all messages must have non-empty content except for the optional final assistant message")
		}
		return
	}
	v.path.Push("content")
	for k, p := range t.Parts {
		v.path.PushIndex(k)
		if scoped {
			v.scopedPart(p)
		}
		v.part(p, where)
		v.path.Pop()
	}
	v.path.Pop()
}

// configures reports whether t is a system message that sets output_config. Such a
// message may be empty and at any position.
func configures(t *content.Turn) bool {
	if t.Role != content.RoleSystem || t.Extra == nil {
		return false
	}
	text, found := t.Extra.Get("output_config")
	return found && text != "null"
}

// turnMembers validates the members that only system messages have. It returns
// whether the message is scoped to the turn.
func (v *validator) turnMembers(t *content.Turn) (scoped bool) {
	if t.Extra == nil {
		return false
	}
	for _, name := range []string{"clear_at", "output_config"} {
		text, found := t.Extra.Get(name)
		if found && t.Role != content.RoleSystem {
			v.violation(content.CodeOrder, name+" is only permitted on role 'system' messages", name)
		}
		scoped = scoped || name == "clear_at" && text == `"`+nextUserMessage+`"`
	}
	if scoped = scoped && t.Role == content.RoleSystem; scoped && configures(t) {
		v.violation(content.CodeConflict,
			"output_config is not permitted on a turn-scoped system message (clear_at: 'next_user_message')", "output_config")
	}
	return scoped
}

// scopedPart validates a part of a system message that is scoped to the turn.
func (v *validator) scopedPart(p content.Part) {
	t, ok := p.(*content.Text)
	if !ok {
		v.violationAt(content.CodeOrder, v.messagePath(),
			"a turn-scoped system message supports text blocks only (clear_at: 'next_user_message')")
	} else if t != nil && t.Cache != nil {
		v.violation(content.CodeConflict,
			"cache_control is not permitted on a turn-scoped system message (clear_at: 'next_user_message')")
	}
}

// systemPlacement validates the role of the first message and the positions of
// system messages.
func (v *validator) systemPlacement() {
	turns := v.r.Messages
	first := 0
	for first < len(turns) && configures(&turns[first]) && len(turns[first].Parts) == 0 {
		first++
	}
	if first < len(turns) {
		// Current models accept a conversation that begins with the assistant.
		if role := turns[first].Role; role == content.RoleSystem {
			v.violationAt(content.CodeOrder, "messages", `first message must use the "user" role`)
		}
	}
	var before *content.Turn // the last message that is not a system message
	for i := first; i < len(turns); i++ {
		if turns[i].Role != content.RoleSystem {
			before = &turns[i]
			continue
		}
		from, instructs := i, false
		for ; i < len(turns) && turns[i].Role == content.RoleSystem; i++ {
			instructs = instructs || len(turns[i].Parts) > 0 || !configures(&turns[i])
		}
		var after *content.Turn
		if i < len(turns) {
			after = &turns[i]
		}
		if instructs && before != nil && !allowsSystemMessage(before, after) {
			v.path.Push("messages")
			v.path.PushIndex(from)
			v.violation(content.CodeOrder, "a system message must follow a user turn, or an assistant turn that ends in"+
				" a server tool result, and be last or followed by an assistant turn")
			v.path.Truncate(0)
		}
		i--
	}
}

// allowsSystemMessage reports whether a system message may be between two turns.
// after is nil at the end.
func allowsSystemMessage(before, after *content.Turn) bool {
	if after != nil && after.Role == content.RoleUser {
		return false
	}
	if before.Role == content.RoleAssistant {
		if len(before.Parts) == 0 {
			return false
		}
		last := before.Parts[len(before.Parts)-1]
		_, ok := last.(*content.ServerToolResult)
		if u, raw := last.(*content.Unknown); raw && u != nil {
			ok = strings.HasSuffix(u.Kind, "_tool_result")
		}
		return ok
	}
	return true
}

// finalText validates the text that the model continues.
func (v *validator) finalText() {
	turns := v.r.Messages
	if len(turns) == 0 || turns[len(turns)-1].Role != content.RoleAssistant {
		return
	}
	parts := turns[len(turns)-1].Parts
	if len(parts) == 0 {
		return
	}
	t, ok := parts[len(parts)-1].(*content.Text)
	if ok && t != nil && len(strings.TrimRightFunc(t.Text, unicode.IsSpace)) < len(t.Text) {
		v.violationAt(content.CodeValue, "messages", "final assistant content cannot end with trailing whitespace")
	}
}

// breakpoint validates and counts the cache_control of the object at the path.
func (v *validator) breakpoint(c *content.Cache) {
	if c == nil {
		return
	}
	v.path.Push(cacheName)
	v.countBreakpoint(c.TTL)
	v.path.Pop()
}

// rawBreakpoint counts a cache_control that was validated as JSON text.
func (v *validator) rawBreakpoint(x jsonwire.Value) {
	v.path.Push(cacheName)
	v.countBreakpoint(x.Get("ttl").Str())
	v.path.Pop()
}

func (v *validator) countBreakpoint(ttl string) {
	v.breakpoints++
	switch {
	case orDefaultTTL(ttl) == "5m":
		v.hasShortTTL = true
	case ttl == "1h" && v.hasShortTTL && v.opts.Strict:
		v.violation(content.CodeOrder, "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."+
			" Note that blocks are processed in the following order: `tools`, `system`, `messages`.", "ttl")
	}
}

// emptyBreakpoint reports a cache_control on an empty text.
func (v *validator) emptyBreakpoint(t *content.Text) {
	if t.Cache != nil {
		v.violation(content.CodeConflict, "cache_control cannot be set for empty text blocks")
	}
}

// allBreakpoints validates the cache_control of the top level and the number of all
// of them.
func (v *validator) allBreakpoints() {
	if c := v.r.CacheControl; c != nil {
		if last := v.lastBreakpoint(); last != nil && orDefaultTTL(last.TTL) != orDefaultTTL(c.TTL) {
			v.violationAt(content.CodeConflict, cacheName, "the last block has cache_control with another ttl")
		}
		v.breakpoint(c)
	}
	if v.breakpoints > 4 {
		v.violationAt(content.CodeLimit, "", "A maximum of 4 blocks with cache_control may be provided. Found "+
			strconv.Itoa(v.breakpoints)+".")
	}
}

func orDefaultTTL(ttl string) string {
	if ttl == "" {
		return "5m"
	}
	return ttl
}

// lastBreakpoint returns the cache_control of the last block of the request, or nil.
func (v *validator) lastBreakpoint() *content.Cache {
	turns := v.r.Messages
	if len(turns) == 0 || len(turns[len(turns)-1].Parts) == 0 {
		return nil
	}
	parts := turns[len(turns)-1].Parts
	return partfield.CacheOf(parts[len(parts)-1])
}

// A toolCall is a tool_use or a server_tool_use, with its position.
type toolCall struct {
	id, name   string
	toolset    string // JSON text
	turn, part int
	hasResult  bool
}

// A pairing matches the tool calls of a conversation with their results. Consecutive
// messages of one role are one turn. System messages do not end a turn.
type pairing struct {
	v     *validator
	calls []toolCall     // all tool calls, in order
	byID  map[string]int // index of the latest tool call with an id

	turnStart    int // calls[from:] are of the latest assistant turn
	role         content.Role
	onlyResults  bool // this user turn has only results so far
	results      int  // number of results in this user turn
	incomplete   bool // a part of the latest turns could not be read
	hasAssistant bool // an assistant turn was seen

	serverCalls []toolCall // tool calls of the vendor without a result so far
	serverByID  map[string]int
	builtin     map[string]bool // names of the vendor's tools; built on first use
}

// pairing reports tool calls without a result in the next turn and, if Strict is set,
// results without a tool call.
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
	// The copy keeps the validator of requests without tool calls on the stack.
	w := new(validator)
	*w = *v
	defer func() { *v = *w }()
	p := pairing{v: w, calls: make([]toolCall, 0, n/2+1), byID: make(map[string]int, n/2+1)}
	for i := range v.r.Messages {
		t := &v.r.Messages[i]
		switch t.Role {
		case content.RoleUser:
			p.user(i, t)
		case content.RoleAssistant:
			p.assistant(i, t)
		}
		if (len(t.Parts) == 0 || t.Role == "") && p.isUnreadable(i) {
			p.incomplete = true
		}
	}
	p.endTurn()
	p.endServerCalls()
}

// isUnreadable reports whether the parser could not read the role or the content of a
// message.
func (p *pairing) isUnreadable(i int) bool {
	o := p.v.origin
	if o == nil || o.Violations == nil {
		return false
	}
	v, at := o.Violations, "messages."+strconv.Itoa(i)
	return v.Incomplete() || v.At(at) || v.At(at+".role") || v.At(at+".content")
}

// maxReportedIDs is the maximum number of ids in one violation.
const maxReportedIDs = 20

// endTurn reports the tool calls of the latest assistant turn that have no result.
func (p *pairing) endTurn() {
	var ids []string
	turn, n := -1, 0
	for i := p.turnStart; i < len(p.calls) && !p.incomplete; i++ {
		c := &p.calls[i]
		if c.hasResult {
			continue
		}
		if n++; n == 1 {
			turn = c.turn
		}
		if n <= maxReportedIDs {
			ids = append(ids, codec.Clip(c.id))
		}
	}
	if n == 0 {
		return
	}
	if n > maxReportedIDs {
		ids = append(ids, strconv.Itoa(n-maxReportedIDs)+" more")
	}
	p.setPath(turn, -1)
	p.v.violation(content.CodePairing, "`tool_use` ids were found without `tool_result` blocks immediately after: "+
		strings.Join(ids, ", ")+". Each `tool_use` block must have a corresponding `tool_result` block in the next message.")
	p.v.path.Truncate(0)
}

// setPath sets the path to a message, or to a part of it unless part is negative.
func (p *pairing) setPath(turn, part int) {
	p.v.path.Truncate(0)
	p.v.path.Push("messages")
	p.v.path.PushIndex(turn)
	if part >= 0 {
		p.v.path.Push("content")
		p.v.path.PushIndex(part)
	}
}

func (p *pairing) violation(turn, part int, text string, names ...string) {
	p.setPath(turn, part)
	p.v.violation(content.CodePairing, text, names...)
	p.v.path.Truncate(0)
}

func (p *pairing) assistant(i int, t *content.Turn) {
	if p.role != content.RoleAssistant {
		p.endTurn()
		p.turnStart, p.incomplete = len(p.calls), false
		p.role, p.hasAssistant = content.RoleAssistant, true
	}
	for k, part := range t.Parts {
		if content.IsNil(part) {
			p.incomplete = true
			continue
		}
		switch c := part.(type) { // other kinds do not concern the order of calls
		case *content.ToolUse:
			if c.ID == "" {
				p.incomplete = true
				continue
			}
			if n, duplicate := p.byID[c.ID]; duplicate && !p.calls[n].hasResult {
				if p.v.opts.Strict {
					p.violation(i, k, "`tool_use` ids must be unique")
				}
				if n >= p.turnStart {
					continue // a result of this id is one of both calls
				}
			}
			p.byID[c.ID] = len(p.calls)
			p.calls = append(p.calls, toolCall{id: c.ID, name: c.Name, turn: i, part: k, toolset: toolsetOf(c.Extra)})
		case *content.ServerToolUse:
			if c.Kind == "server_tool_use" && c.ID != "" {
				p.addServerCall(toolCall{id: c.ID, name: c.Name, turn: i, part: k})
			}
		case *content.ServerToolResult:
			p.incomplete = p.incomplete || c.ID == ""
			p.endServerCall(c.ID)
		case *content.Unknown:
			p.incomplete = p.incomplete || c.Kind == ""
			if len(p.serverCalls) > 0 && strings.HasSuffix(c.Kind, "_tool_result") {
				p.endServerCall(gjson.Get(c.Raw, "tool_use_id").Str)
			}
		}
	}
}

func (p *pairing) user(i int, t *content.Turn) {
	if p.role != content.RoleUser {
		p.role, p.onlyResults, p.results = content.RoleUser, true, 0
	}
	for k, part := range t.Parts {
		if content.IsNil(part) {
			p.incomplete = true
			continue
		}
		if u, ok := part.(*content.Unknown); ok && u.Kind == "" {
			p.incomplete = true // it may be a result
			continue
		}
		r, ok := part.(*content.ToolResult)
		if !ok {
			p.onlyResults = false
			p.endServerCalls()
			continue
		}
		p.results++
		p.result(i, k, r)
	}
}

// result matches one result with its tool call.
func (p *pairing) result(i, k int, r *content.ToolResult) {
	if r.ID == "" {
		p.incomplete = true
		return
	}
	n, found := p.byID[r.ID]
	switch {
	case !found || n < p.turnStart:
		if p.v.opts.Strict && !p.incomplete && (p.hasAssistant || !p.v.r.continues()) {
			p.violation(i, k, "unexpected `tool_use_id` found in `tool_result` blocks: "+codec.Clip(r.ID)+
				". Each `tool_result` block must have a corresponding `tool_use` block in the previous message.")
		}
		return
	case p.calls[n].hasResult && p.v.opts.Strict:
		p.violation(i, k, "each `tool_use` must have a single `tool_result`. Found several `tool_result` blocks with id: "+codec.Clip(r.ID))
		return
	}
	p.calls[n].hasResult = p.calls[n].hasResult || p.onlyResults
	if p.calls[n].toolset != "" {
		p.toolsetResult(i, k, r, p.calls[n].toolset)
	}
}

// toolsetOf returns the toolset_name of a tool call or result, as JSON text.
func toolsetOf(e *content.Extra) string {
	if text, _ := e.Get("toolset_name"); text != "null" {
		return text
	}
	return ""
}

// toolsetResult validates the result of a tool that belongs to a toolset.
func (p *pairing) toolsetResult(i, k int, r *content.ToolResult, toolset string) {
	switch got := toolsetOf(r.Extra); got {
	case toolset:
	case "":
		p.violation(i, k, textRequired, "tool_result", "toolset_name")
	default:
		p.violation(i, k, "Input should be '"+codec.Clip(strings.Trim(toolset, `"`))+"'", "tool_result", "toolset_name")
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
		p.violation(i, k, "results of a tool in a toolset may contain only text and images, and in the browser toolset also one browser_state",
			"tool_result", "content")
		return
	}
}

// addServerCall records a call of a tool of the vendor.
func (p *pairing) addServerCall(c toolCall) {
	if p.serverByID == nil {
		p.serverByID = make(map[string]int)
	}
	p.serverByID[c.id] = len(p.serverCalls)
	p.serverCalls = append(p.serverCalls, c)
}

func (p *pairing) endServerCall(id string) {
	if n, found := p.serverByID[id]; found && n < len(p.serverCalls) && p.serverCalls[n].id == id {
		p.serverCalls[n].hasResult = true
		if n == len(p.serverCalls)-1 {
			p.serverCalls = p.serverCalls[:n]
		}
	}
}

// endServerCalls reports calls of the vendor's tools without a result. It is called
// where no result can follow: before user content other than results, and at the end
// of the conversation.
func (p *pairing) endServerCalls() {
	rest := p.serverCalls
	p.serverCalls = p.serverCalls[:0]
	for i := range rest {
		c := &rest[i]
		if c.hasResult || p.incomplete || p.role == content.RoleAssistant || p.isResumable(c) {
			continue
		}
		p.violation(c.turn, c.part, "`"+codec.Clip(c.name)+"` tool use with id `"+codec.Clip(c.id)+
			"` was found without a corresponding `"+resultKind(c.name)+"` block")
	}
}

// isResumable reports whether the vendor can still run a tool call: only results
// follow it, and its tool is still defined.
func (p *pairing) isResumable(c *toolCall) bool {
	return p.onlyResults && p.results > 0 && p.definesServerTool(c.name)
}

// definesServerTool reports whether the request defines the tool of the vendor for
// tool calls with this name.
func (p *pairing) definesServerTool(name string) bool {
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

// resultKind returns the type of the result block for a tool call.
func resultKind(name string) string {
	if strings.HasPrefix(name, "tool_search_tool_") {
		name = "tool_search"
	}
	return codec.Clip(name) + "_tool_result"
}
