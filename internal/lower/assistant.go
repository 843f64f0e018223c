package lower

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream"
)

// Calls describes tool calls of the assistant.
type Calls struct {
	NoInput   bool   // a call may have no input; otherwise an empty object is sent
	Signature string // of the first call of a step that has none; "" means that the server does not need one
}

// Thoughts describes thinking of earlier responses.
type Thoughts struct {
	// Carried says that signatures of the target's format on texts and tool calls hold
	// the thinking before them: see [envelope.EncodeThinking]. Otherwise they belong to the
	// part that they are on, and thinking is a part like others.
	Carried bool

	// Named says that each thinking block has another signature, by which it is found.
	Named bool

	WithCalls bool // only thinking of turns with tool calls is sent

	// NotLast reports whether a turn cannot end with a thinking block, which the client
	// has returned, or which was restored from a signature. Nil means that it can end with
	// all.
	NotLast func(t *content.Thinking, restored bool) bool

	// Unsigned says which thinking without a signature of the target's format is sent.
	Unsigned Unsigned

	// Missing is reported for tool calls without thinking text. Nil means that the
	// server does not need any.
	Missing *loss.Rule

	// Recall returns a function for the parts of a request that have a signature of the
	// target's format, or that only its vendor can read. A client may have made them up.
	// The function returns nil if a part may go back to the vendor, otherwise the rule by
	// which it is dropped. Without Recall, all parts may.
	Recall func(n *upstream.Request) func(p content.Part) *loss.Rule

	// ItemID returns the id of what a thinking block holds. Calls and results of the
	// vendor's tools that have this id only show it, and are not sent. Nil means that
	// they are sent themselves.
	ItemID func(t *content.Thinking) string

	// ItemText returns the text of what a carried thinking block without text holds. Nil means
	// that carried blocks have their text.
	ItemText func(t *content.Thinking) string
}

// Unsigned says which thinking is sent that the target's vendor did not sign.
type Unsigned uint8

// Which thinking is sent without a signature.
const (
	UnsignedNone Unsigned = iota
	UnsignedOnly          // thinking without any signature
	UnsignedAny           // that of other vendors, too
)

// mayReturn returns nil if a part may go back to its vendor, otherwise the rule by which
// it is dropped.
func (l *lowering) mayReturn(p content.Part) *loss.Rule {
	if l.t.Thoughts.Recall == nil {
		return nil
	}
	if l.recalls == nil {
		l.recalls = l.t.Thoughts.Recall(l.n)
	}
	return l.recalls(p)
}

// isShown reports whether the run holds a thinking block with an id, or with the JSON text
// raw: see [Thoughts.ItemID].
func (l *lowering) isShown(id, raw string) bool {
	if l.t.Thoughts.ItemID == nil {
		return false
	}
	if l.items == nil {
		l.items = make(map[string]bool)
		add := func(p content.Part) {
			t, ok := p.(*content.Thinking)
			if !ok || t == nil {
				return
			}
			if key := thinkingKey(l.t.Format, t); key.Data != "" {
				l.items[key.Data] = true
				l.items[l.t.Thoughts.ItemID(t)] = true
			}
		}
		for i := range l.turnsOf {
			for _, p := range l.turnsOf[i].Parts {
				add(p)
			}
		}
		for _, p := range l.stack {
			add(p)
		}
	}
	return id != "" && l.items[id] || raw != "" && l.items[raw]
}

// recall is what is known of the thinking of a run of assistant turns.
type recall struct {
	recalls     func(p content.Part) *loss.Rule // of Thoughts.Recall
	turnsOf     []content.Turn
	items       map[string]bool                      // ids and data of the thinking blocks of the run; made on demand
	returned    map[content.Signature]int            // index on the stack of each block that the client returned; -1: not yet there
	carried     map[content.Part][]*content.Thinking // what the parts of the run carry
	carriedText []string                             // the thinking texts in it that the client did not return yet
	hasBlocks   bool                                 // a block of the run is sent
	lastCall    int                                  // index on the stack of the last tool call of the turn, or -1
	current     int                                  // see currentTurn
	missing     bool                                 // Thoughts.Missing was reported
}

// assistantRun lowers consecutive assistant turns to one turn: clients that store each
// piece of a stream as a turn send such runs. first is the index of the first turn.
func (l *lowering) assistantRun(run []content.Turn, first int) {
	hasCalls := slices.ContainsFunc(run, hasCall) // one pass
	start := l.begin()
	l.beginRecall(run, hasCalls)
	if len(run) > 1 && l.t.Conversation.JoinUser.isReported() && slices.ContainsFunc(run, l.binds) { // one pass
		l.lose(TurnsJoined, In(Turns, first+1))
	}
	var members *content.Extra
	step := start // where the current step begins: behind the last tool call or carried state
	gap := false  // a part of a vendor was dropped behind the last text
	for k := range run {
		t, at := &run[k], In(Turns, first+k)
		if x := l.extra(t.Extra, at, l.t.Own.Members, foreign.Turn); x != nil {
			if members != nil {
				l.lose(TurnMembers, at.Member("extra"))
			} else {
				members = x
			}
		}
		if len(t.Parts) == 0 {
			l.lose(EmptyTurn, at)
		}
		for i, p := range t.Parts {
			at := at.In(Parts, i)
			state := l.carriedState(p)
			if state != "" {
				l.restore(step, p, at)
			}
			n := len(l.stack)
			l.assistantPart(p, at, hasCalls)
			switch {
			case len(l.stack) == n:
				gap = gap || partfield.VendorOf(p).Kind != ""
			case gap && l.t.Conversation.TextsFirst && n > start && isText(l.stack[n-1]) && isText(l.stack[n]):
				l.stack = slices.Insert(l.stack, n, content.Part(textBreak))
				fallthrough
			default:
				gap = false
			}
			if _, isCall := p.(*content.ToolUse); isCall || state != "" {
				step = len(l.stack)
			}
		}
	}
	if l.t.Thoughts.NotLast != nil {
		l.dropLastThinking(start, In(Turns, first+len(run)-1))
	}
	if l.t.Conversation.TextsFirst {
		l.textsFirst(start)
	}
	l.needThinking(start)
	var from []content.Part
	if len(run) == 1 {
		from = run[0].Parts
	}
	sent := slices.ContainsFunc(l.stack[start:], l.isContent) // one pass
	parts := l.pop(start, from)
	if !sent {
		return
	}
	t := content.Turn{Role: content.RoleAssistant, Parts: parts, Extra: members}
	if n := len(l.out) - 1; n >= 0 && l.out[n].Role == content.RoleAssistant {
		// Nothing of the turns between is sent. The turn before has no calls: their
		// results would be.
		l.extendLast(&t, In(Turns, first))
		return
	}
	l.out = append(l.out, t)
}

// binds reports whether an assistant turn belongs to those beside it.
func (l *lowering) binds(t content.Turn) bool {
	return slices.ContainsFunc(t.Parts, func(p content.Part) bool { // one pass
		switch p.(type) {
		case *content.ToolUse, *content.Thinking:
			return true
		}
		return l.carriedState(p) != ""
	})
}

// isContent reports whether a turn can consist of a part.
func (l *lowering) isContent(p content.Part) bool {
	switch p := p.(type) {
	case *content.Thinking:
		return p.Redacted.Data != "" || !l.t.Thoughts.Carried || l.t.Thoughts.Named && p.Signature.Data != ""
	case *content.Text:
		return p.Text != "" || !l.t.Thoughts.Carried
	}
	return true
}

func hasCall(t content.Turn) bool { return slices.ContainsFunc(t.Parts, isCall) } // one pass

func isCall(p content.Part) bool {
	u, ok := p.(*content.ToolUse)
	return ok && u != nil
}

// assistantPart pushes a part of an assistant turn.
func (l *lowering) assistantPart(p content.Part, at Path, hasCalls bool) {
	if content.IsNil(p) {
		l.refuse(content.CodeValue, at, "the part must not be nil")
		return
	}
	before := len(l.stack)
	switch p := p.(type) { // other kinds are the same in all turns
	case *content.ToolUse:
		l.toolCall(p, at)
	case *content.Thinking:
		l.thought(p, at, hasCalls)
	case *content.Image, *content.Document, *content.Media:
		l.assistantFile(p, at)
	case *content.SearchResult, *content.ToolResult:
		l.lose(UnknownPart, at)
	default:
		l.part(p, at, InAssistant)
	}
	if l.t.Conversation.TextsFirst && l.lastCall >= 0 && slices.ContainsFunc(l.stack[before:], isText) { // one pass
		l.lose(CallOrder, at)
	}
}

// textBreak is the empty line between texts that were on both sides of a tool call, or of a part that was dropped.
var textBreak = &content.Text{Text: "\n\n"}

func isText(p content.Part) bool {
	t, ok := p.(*content.Text)
	return ok && t.Text != ""
}

// textsFirst moves the tool calls of a turn to its end.
func (l *lowering) textsFirst(start int) {
	list := l.stack[start:]
	last := len(list)
	for last > 0 && isCall(list[last-1]) {
		last--
	}
	if !slices.ContainsFunc(list[:last], isCall) { // one pass
		return
	}
	l.stack = l.stack[:start]
	var calls []content.Part
	texts, apart := false, false // there are texts; a call is behind the last one
	for _, p := range list {
		switch {
		case isCall(p):
			calls, apart = append(calls, p), texts
			continue
		case isText(p):
			if apart {
				l.push(textBreak) // where a call was
			}
			texts, apart = true, false
		}
		l.push(p)
	}
	l.stack = append(l.stack, calls...)
}

// toolCall pushes a tool call.
func (l *lowering) toolCall(p *content.ToolUse, at Path) {
	q := *p
	q.Extra = l.extra(p.Extra, at, l.t.Own.Calls, foreign.Part)
	q.Cache = l.mark(p.Cache, at, InAssistant)
	q.Signature = l.signature(p.Signature, at, !l.t.Thoughts.Carried)
	switch {
	case p.Freeform && l.t.Tools.Freeform:
	case p.Freeform:
		q.Freeform, q.Text, q.Input = false, "", codec.FreeformArguments(p.Text)
	case jsonwire.IsObject(p.Input):
	case !codec.HasNoInput(p):
		l.refuse(content.CodeType, at.Member("input"), "must be a JSON object")
	case !l.t.Calls.NoInput:
		q.Input = "{}"
	}
	l.signCall(&q, at)
	l.calls = append(l.calls, call{part: p, at: at.spot()})
	l.lastCall = len(l.stack)
	if q == *p {
		l.push(p)
		return
	}
	l.push(new(q)) // only a copy that is needed is allocated
}

// signCall signs the first call of a step if the server requires that. The server does not
// check earlier turns. They are signed too, so that the conversation keeps its beginning.
func (l *lowering) signCall(p *content.ToolUse, at Path) {
	if l.t.Calls.Signature == "" || l.lastCall >= 0 || p.Signature.Data != "" {
		return
	}
	rule := CallSignature
	if turn, _ := at.Turn(); turn < l.current || l.hasNoThinking(turn) {
		rule = CallSignatureEarlier
	}
	l.lose(rule, at.Member("signature"))
	p.Signature = content.Signature{Format: l.t.Format, Data: l.t.Calls.Signature}
}

// hasNoThinking reports whether a turn, from a client of another format, has nothing of the model's thinking.
func (l *lowering) hasNoThinking(turn int) bool {
	f := l.n.Defaults.Format
	return f != "" && f != l.t.Format && !slices.ContainsFunc(l.n.Turns[turn].Parts, func(p content.Part) bool { // one pass
		_, thinks := p.(*content.Thinking)
		call, ok := p.(*content.ToolUse)
		return thinks || ok && call != nil && call.Signature.Data != ""
	})
}

// currentTurn returns the turn from which on calls need a signature: the last turn of the
// user that has something other than tool results.
func (l *lowering) currentTurn(turns []content.Turn) int {
	if l.t.Calls.Signature == "" {
		return 0
	}
	for i := len(turns) - 1; i >= 0; i-- {
		// one pass
		if l.roles[i] != content.RoleAssistant && l.roles[i] != over && slices.ContainsFunc(turns[i].Parts, isNoResult) {
			return i
		}
	}
	return 0
}

// thought pushes a thinking block.
func (l *lowering) thought(p *content.Thinking, at Path, hasCalls bool) {
	x := l.extra(p.Extra, at, l.t.Own.Members, foreign.Part)
	s := p.Redacted
	if s.Data == "" {
		s = p.Signature
	}
	rule := Thinking
	switch {
	case l.t.Thoughts.WithCalls && !hasCalls:
	case s.Format == l.t.Format && s.Data != "":
		rule = l.mayReturn(p)
	case p.Text == "":
	case l.t.Thoughts.Unsigned == UnsignedAny, l.t.Thoughts.Unsigned == UnsignedOnly && s.Data == "" && len(l.carried) == 0:
		rule = nil
	}
	switch {
	case rule == nil:
		l.hasBlocks = true
		if l.returned != nil {
			l.returned[thinkingKey(l.t.Format, p)] = len(l.stack)
		}
		if s.Format != l.t.Format && s.Data != "" || x != p.Extra {
			q := *p
			if q.Extra = x; s.Format != l.t.Format {
				q.Signature, q.Redacted = content.Signature{}, content.Signature{}
			}
			p = &q
		}
		l.push(p)
	case l.repeatsCarried(p):
	default:
		l.lose(rule, at)
	}
}

// repeatsCarried reports whether thinking that is not sent is carried in the signature of another
// part, too.
func (l *lowering) repeatsCarried(p *content.Thinking) bool {
	if p.Text == "" {
		return false
	}
	text, list := p.Text, l.carriedText
	for len(list) > 0 && len(list[0]) < len(text) {
		rest, ok := strings.CutPrefix(text, list[0])
		if !ok {
			return false
		}
		text, list = rest, list[1:]
	}
	if len(list) == 0 || !strings.HasPrefix(list[0], text) {
		return false
	}
	if list[0] = list[0][len(text):]; list[0] == "" {
		list = list[1:]
	}
	l.carriedText = list
	return true
}

// assistantFile pushes a file of the assistant, moves it to the next user turn, or
// drops it.
func (l *lowering) assistantFile(p content.Part, at Path) {
	s := partfield.SignatureOf(p)
	switch c := &l.t.Conversation; {
	case c.AssistantFiles:
		l.part(p, at, InAssistant)
	case l.t.Thoughts.Recall != nil && s.Format == l.t.Format && s.Data != "" && l.t.Own.Vendor && l.mayReturn(p) == nil:
		l.push(p)
	case c.AssistantDocuments && isDocument(p):
		l.part(p, at, InAssistant)
	case c.MoveFiles:
		l.move(p, FileMoved, at)
	default:
		l.lose(AssistantFile, at)
	}
}

func isDocument(p content.Part) bool {
	_, ok := p.(*content.Document)
	return ok
}

// move lowers a file for the next user turn, and reports that with r.
func (l *lowering) move(p content.Part, r *loss.Rule, at Path) {
	before := len(l.stack)
	l.part(p, at, InUser)
	if len(l.stack) == before {
		return
	}
	l.moved = append(l.moved, l.stack[before:]...)
	l.stack = l.stack[:before]
	l.moves = append(l.moves, Loss{Rule: r, Path: at})
}

// beginRecall prepares what is known of the thinking of a run.
func (l *lowering) beginRecall(run []content.Turn, hasCalls bool) {
	l.turnsOf, l.items = run, nil
	l.returned, l.carried, l.carriedText, l.hasBlocks, l.lastCall = nil, nil, nil, false, -1
	if !l.t.Thoughts.Carried || l.t.Thoughts.WithCalls && !hasCalls {
		return
	}
	for k := range run {
		for _, p := range run[k].Parts {
			state := l.carriedState(p)
			if state == "" {
				continue
			}
			if l.returned == nil {
				l.returned, l.carried = make(map[content.Signature]int), make(map[content.Part][]*content.Thinking)
			}
			list, _ := envelope.DecodeThinking(l.t.Format, state)
			l.carried[p] = list
			for _, t := range list {
				text := t.Text
				if text == "" && l.t.Thoughts.ItemText != nil {
					text = l.t.Thoughts.ItemText(t)
				}
				if text != "" {
					l.carriedText = append(l.carriedText, text)
				}
			}
		}
	}
	if l.returned == nil {
		return
	}
	for k := range run {
		for _, p := range run[k].Parts {
			if t, ok := p.(*content.Thinking); ok && t != nil {
				l.returned[thinkingKey(l.t.Format, t)] = -1
			}
		}
	}
	delete(l.returned, content.Signature{})
}

// carriedState returns the list of states that a part carries, or "".
func (l *lowering) carriedState(p content.Part) string {
	if !l.t.Thoughts.Carried {
		return ""
	}
	switch p.(type) {
	case *content.Thinking, *content.ToolResult:
		return ""
	}
	s := partfield.SignatureOf(p)
	if s.Format != l.t.Format || s.Data == "" || s.Data[0] == '{' {
		return ""
	}
	return s.Data
}

// thinkingKey returns the signature or redacted data of a format, which identifies a
// thinking block. It is zero for other blocks.
func thinkingKey(f content.Format, t *content.Thinking) content.Signature {
	switch f {
	case t.Redacted.Format:
		return t.Redacted
	case t.Signature.Format:
		return t.Signature
	}
	return content.Signature{}
}

// restore pushes the thinking that a part at a path carries, except blocks that the client
// returned. The step of the thinking begins at an index of the stack.
func (l *lowering) restore(step int, p content.Part, at Path) {
	if l.returned == nil { // thinking is not sent here
		return
	}
	list := slices.Clone(l.carried[p]) // a host may use a part twice
	if len(list) == 0 {
		l.lose(ThinkingBroken, at.Member("signature"))
		return
	}
	if !l.t.Thoughts.Named && l.hasBlocks {
		return // the blocks are the same thinking
	}
	list = slices.DeleteFunc(list, func(t *content.Thinking) bool {
		if rule := l.mayReturn(t); rule != nil {
			l.lose(rule, at.Member("signature"))
			return true
		}
		if !l.t.Thoughts.Named {
			return false
		}
		key := thinkingKey(l.t.Format, t)
		i, known := l.returned[key]
		if !known {
			l.returned[key] = -1
		}
		return known && i < step || key.Data == ""
	})
	if len(list) == 0 {
		return
	}
	rest := slices.Clone(l.stack[step:])
	l.stack = envelope.Restore(l.stack[:step], rest, list, func(t *content.Thinking) int {
		if !l.t.Thoughts.Named {
			return -1
		}
		return l.returned[thinkingKey(l.t.Format, t)] - step
	})
}

// dropLastThinking drops the thinking at the end of a turn.
func (l *lowering) dropLastThinking(start int, turn Path) {
	end := len(l.stack)
	for end > start {
		t, ok := l.stack[end-1].(*content.Thinking)
		if !ok {
			break
		}
		i, known := l.returned[thinkingKey(l.t.Format, t)]
		if !l.t.Thoughts.NotLast(t, known && i < 0) {
			break
		}
		end--
	}
	if end < len(l.stack) {
		l.lose(ThinkingLast, turn)
		l.stack = l.stack[:end]
	}
}

// needThinking reports tool calls without thinking if the server needs it, once in a
// conversation.
func (l *lowering) needThinking(start int) {
	if l.t.Thoughts.Missing == nil || l.missing || l.lastCall < start {
		return
	}
	for _, p := range l.stack[start:] {
		if t, ok := p.(*content.Thinking); ok && t.Text != "" {
			return
		}
	}
	l.missing = true
	for i := range l.calls {
		l.lose(l.t.Thoughts.Missing, l.calls[i].at.path())
		return
	}
}
