package lower

import (
	"slices"
	"strings"
	"unicode"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
)

// Conversation describes how a target arranges system text and turns.
type Conversation struct {
	SystemTurns   SystemTurns
	LeadingSystem bool // system turns before the conversation belong to the system text
	SystemFiles   bool // files of the system text may be sent in the first user turn
	SentenceTurn  bool // sentences that settings need are a system turn, not system text
	Attribution   bool // the line of a coding agent before its system prompt is sent

	JoinUser   Join
	EmptyTexts bool // a user turn may consist of one empty text
	TextsFirst bool // in an assistant turn, texts are before tool calls

	AssistantFiles     bool // assistant turns may have files; otherwise they move, or are dropped:
	AssistantDocuments bool // assistant turns may have documents, but no other files
	MoveFiles          bool // files of the assistant may be sent in the next user turn

	UserFirst bool // the conversation must begin with the user: a turn with a note is added

	// AnswerResults says that a turn of the assistant must be between tool results and
	// other content of the user. A sentence is sent as one.
	AnswerResults bool

	UserLast bool // the conversation must not end with an assistant's text: a turn that asks for the rest is added
	Prefill  bool // the conversation may end with the beginning of a response; UserLast goes before it

	// NoBlanks says that texts must have more than white space, and that the beginning of a
	// response must not end with white space. Blank texts become part of the text before
	// them.
	NoBlanks bool

	// Continues says that the server stores the beginning of the conversation: results
	// without calls before them may be those of calls in it.
	Continues bool
}

// SystemTurns says where the server accepts system turns in a conversation.
type SystemTurns uint8

// Where system turns may be.
const (
	SystemNowhere  SystemTurns = iota // they are sent as the user's
	SystemAnywhere                    // they keep their role
	SystemBehind                      // behind the user, or the result of a vendor's tool, and not before the user
)

// Join says which consecutive user turns become one turn. The first turn behind tool calls
// has their results in any case.
type Join uint8

// Which user turns are joined.
const (
	JoinNever   Join = iota
	JoinSection      // all between two turns of the assistant, if one of them has tool results
	JoinResults      // those with tool results; others stay apart
	JoinAlways
)

// isReported reports whether joined turns are a loss: where turns usually stay apart.
func (j Join) isReported() bool { return j == JoinSection || j == JoinResults }

// conversation is what the pass over system text and turns remembers.
type conversation struct {
	roles    []content.Role // new roles of the turns
	out      []content.Turn
	extended int                    // number of turns in out when the last one was copied to grow
	answered bool                   // with JoinSection: the last user turn in out has tool results, or continues with some
	stack    []content.Part         // parts of the turns and lists that are being made
	spaces   []space                // blank texts that become part of the text before them
	last     *content.Text          // the last text of the list that is being made
	empty    bool                   // the turn has only empty texts, and its next one is sent
	names    bool                   // the object of the current tool result refers to files by name
	labels   map[*content.Text]bool // these names, in front of their files

	calls     []call         // of the last assistant turn, until a user turn has their results
	results   []result       // of the turns behind it, in the order of the conversation
	taken     int            // number of these that turnParts has passed
	callIndex map[string]int // index in calls by id; made on demand
	pairs     Pairing        // of calls without ids

	moved []content.Part // files for the next user turn
	moves []Loss         // the losses of these, if a user turn follows

	question
	recall
}

// A question is the last user message: see lastMessage.
type question struct {
	first, end int  // its turns; equal if the conversation ends with the assistant
	sent       bool // something of it is sent
}

// answerSentence is the turn of the assistant behind tool results: see AnswerResults.
var answerSentence = &content.Text{Text: "I have the results."}

const (
	// placeholderText replaces an earlier turn of which nothing can be sent.
	placeholderText = "[Here was something that you cannot be shown.]"

	// continueText is the user's turn after a conversation that ends with the assistant.
	continueText = "(Continue your last message.)"

	// emptyMessageText replaces an empty last message.
	emptyMessageText = "(The user's message is empty.)"
)

// lowerConversation lowers the system text and the turns.
func (l *lowering) lowerConversation() {
	turns := l.n.Turns
	l.first, l.end = lastMessage(turns)
	l.assignRoles(turns)
	l.current = l.currentTurn(turns)
	l.systemText(turns)
	l.out = make([]content.Turn, 0, len(turns)+1)
	if l.suffix != nil && l.t.Conversation.SentenceTurn {
		l.out = append(l.out, content.Turn{Role: content.RoleSystem, Parts: []content.Part{l.suffix}})
	}
	for i, j := 0, 0; i < len(turns); i = j {
		j = i + 1
		assistant := l.roles[i] == content.RoleAssistant
		for j < len(turns) && (l.roles[j] == content.RoleAssistant) == assistant {
			j++
		}
		if assistant {
			l.assistantRun(turns[i:j], i)
		} else {
			l.userSection(turns[i:j], i)
		}
	}
	if len(l.calls) > 0 {
		l.userSection(nil, len(turns))
	}
	for i := range l.moves {
		l.lose(FileNotMoved, l.moves[i].Path)
	}
	l.checkPrefill(turns)
	l.checkQuestion(turns)
	l.checkEnds(turns)
	l.to.Turns = l.out
	l.stack = nil
}

// The roles that turns may get beside their own.
const (
	leading content.Role = "leading" // belongs to the system text
	over    content.Role = "over"    // no longer in effect; omitting it loses nothing
)

// assignRoles decides the roles of all turns, from the turns as they were.
func (l *lowering) assignRoles(turns []content.Turn) {
	l.roles = make([]content.Role, len(turns))
	expired := foreign.FindExpired(turns)
	before, next := -1, 0 // the last and the next turn that are not system turns
	place := l.t.Conversation.SystemTurns
	for i := range turns {
		t := &turns[i]
		l.roles[i] = t.Role
		if t.Role != content.RoleSystem {
			if t.Role != content.RoleUser && t.Role != content.RoleAssistant {
				l.refuse(content.CodeValue, In(Turns, i).Member("role"), "must be user, assistant or system")
			}
			before = i
			continue
		}
		for next = max(next, i+1); next < len(turns) && turns[next].Role == content.RoleSystem; next++ {
		}
		switch {
		case place == SystemBehind && l.isOwn(t):
		case expired.Contains(i, t) && (codec.Own(t.Extra, l.t.Format) == nil || place == SystemNowhere):
			l.roles[i] = over
		case before < 0 && l.t.Conversation.LeadingSystem:
			l.roles[i] = leading
			l.lose(LeadingTurn, In(Turns, i))
		case place == SystemAnywhere:
		case place == SystemBehind && l.isBehind(turns, i, before) && (next == len(turns) || turns[next].Role == content.RoleAssistant):
		default:
			l.roles[i] = content.RoleUser
			if len(t.Parts) > 0 {
				l.lose(SystemTurn, In(Turns, i))
			}
		}
	}
}

// isOwn reports whether a turn has content that only the target's format has.
func (l *lowering) isOwn(t *content.Turn) bool {
	if x := codec.Own(t.Extra, l.t.Format); x != nil && x.JSON != "" && x.JSON != "{}" {
		return true
	}
	return slices.ContainsFunc(t.Parts, func(p content.Part) bool { // one pass
		u, ok := p.(*content.Unknown)
		return ok && u != nil && u.Format == l.t.Format
	})
}

// isBehind reports whether a system turn is directly behind the user, or behind an
// assistant turn that ends with the result of a vendor's tool. before is the last turn
// that is not a system turn.
func (l *lowering) isBehind(turns []content.Turn, i, before int) bool {
	if before < 0 {
		return false
	}
	t := &turns[before]
	if t.Role == content.RoleUser {
		return l.roles[i-1] != content.RoleAssistant
	}
	if n := len(t.Parts); n > 0 {
		_, ok := t.Parts[n-1].(*content.ServerToolResult)
		return ok
	}
	return false
}

// systemText lowers the system text, with the sentences that settings need.
func (l *lowering) systemText(turns []content.Turn) {
	start := l.begin()
	l.parts(l.n.System, Path{}, System, InSystem)
	for i := range turns {
		if l.roles[i] == leading {
			l.extra(turns[i].Extra, In(Turns, i), false, foreign.Turn)
			l.parts(turns[i].Parts, In(Turns, i), Parts, InSystem)
		}
	}
	if l.suffix != nil && !l.t.Conversation.SentenceTurn {
		l.push(l.suffix)
	}
	l.to.System = l.pop(start, l.n.System)
}

// begin begins a list of parts. It returns the index of its first part on the stack.
func (l *lowering) begin() int {
	l.last = nil
	return len(l.stack)
}

// push adds a part to the list that is being made.
func (l *lowering) push(p content.Part) { l.stack = append(l.stack, p) }

// pop returns the parts from an index of the stack on, and removes them. It returns
// the list from which they were made if that has the same parts.
func (l *lowering) pop(start int, from []content.Part) []content.Part {
	l.addSpaces(start)
	parts := l.stack[start:]
	l.stack = l.stack[:start]
	switch {
	case slices.Equal(parts, from):
		return from
	case len(parts) == 0:
		return nil
	}
	return slices.Clone(parts)
}

// A section is the turns between two runs of the assistant, while their user turns are
// made on the stack.
type section struct {
	*lowering
	turns []content.Turn
	first int // index of the first turn
	start int // index on the stack where the turn that is being made begins

	joins   bool // all user turns are one turn
	begun   bool // something of a user turn was sent
	joined  bool // joined turns have been reported
	results int  // number of turns so far in a row with tool results, or -1 after another

	open    bool           // the turn that is being made has content of a user turn
	members *content.Extra // of that turn
	from    []content.Part // its only source, or nil

	message
}

// userSection lowers the turns between two runs of the assistant. first is the index of
// the first one.
func (l *lowering) userSection(turns []content.Turn, first int) {
	s := section{lowering: l, turns: turns, first: first, start: l.begin(), joins: l.joinsUser(turns)}
	l.pairResults(turns, first)
	l.pushResults(turns, first)
	if l.hasUser(len(turns), first) {
		l.pushMoved()
	}
	if len(l.stack) == s.start {
		s.results = -1
	}
	lastUser := len(turns) - 1
	for lastUser >= 0 && l.roles[first+lastUser] != content.RoleUser {
		lastUser--
	}
	for k := range turns {
		switch l.roles[first+k] {
		case over, leading:
		case content.RoleSystem:
			if l.t.Conversation.SystemTurns == SystemBehind && k > lastUser {
				s.finish()
			}
			s.system(&turns[k], In(Turns, first+k))
		default:
			s.user(&turns[k], In(Turns, first+k))
		}
	}
	s.finish()
	l.question.sent = l.question.sent || s.message.sent && s.message.last >= l.question.first
	l.calls, l.results = l.calls[:0], l.results[:0]
}

// flush ends the turn that is being made.
func (s *section) flush() {
	if len(s.stack) > s.start {
		t := content.Turn{Role: content.RoleUser, Parts: s.pop(s.start, s.from), Extra: s.members}
		s.addUserTurn(t, In(Turns, s.first))
	}
	s.open, s.members, s.from = false, nil, nil
	s.begin()
}

// finish ends the message of the user.
func (s *section) finish() {
	if sentence := s.emptyMessage(&s.message, s.open); sentence != nil {
		if s.open && s.t.Conversation.JoinUser != JoinAlways {
			s.flush()
		}
		s.push(sentence)
	}
	s.flush()
}

// system lowers a system turn that keeps its role. The turn before it ends only if
// something of it is sent.
func (s *section) system(t *content.Turn, at Path) {
	x := s.extra(t.Extra, at, s.t.Own.Members, foreign.Turn)
	start := s.begin()
	s.parts(t.Parts, at, Parts, InSystem)
	if len(s.stack) == start && x == nil {
		return
	}
	parts := s.pop(start, t.Parts)
	s.flush()
	s.out = append(s.out, content.Turn{Role: content.RoleSystem, Parts: parts, Extra: x})
}

// user lowers a user turn, or a system turn that is sent as the user's.
func (s *section) user(t *content.Turn, at Path) {
	turn, _ := at.Turn()
	x := s.extra(t.Extra, at, s.t.Own.Members && t.Role == s.roles[turn], foreign.Turn)
	s.separate(t, at)
	before, dropped := len(s.stack), s.log.dropped
	in := InUser
	if t.Role == content.RoleSystem && !s.t.Conversation.SystemFiles {
		in = InSystem
	}
	answered := s.turnParts(t, at, in)
	if t.Role == content.RoleUser {
		s.message.add(turn, len(s.stack) > before || answered, s.log.dropped > dropped)
		if len(t.Parts) == 0 {
			s.lose(EmptyTurn, at)
		}
	}
	if answered || len(s.stack) > before {
		if s.begun && s.joins && s.t.Conversation.JoinUser == JoinSection {
			s.reportJoined(t, at)
		}
		s.begun = true
	}
	if len(s.stack) == before && x == nil {
		return
	}
	if !s.open && before == s.start {
		s.from = t.Parts
	}
	switch {
	case x == nil:
	case s.open && s.members != nil:
		s.lose(TurnMembers, at.Member("extra"))
	default:
		s.members = x
	}
	s.open = true
}

// separate ends the turn that is being made if t is not joined with it.
func (s *section) separate(t *content.Turn, at Path) {
	switch {
	case s.t.Conversation.JoinUser != JoinResults:
		if s.open && !s.joins {
			s.flush()
		}
	case s.results < 0 || !slices.ContainsFunc(t.Parts, isResult): // one pass
		s.results = -1
		s.flush()
	default:
		if s.results > 0 {
			s.reportJoined(t, at)
		}
		s.results++
	}
}

// reportJoined reports, once, that t was joined with the turns before it. Results alone lose nothing
// by that: clients send those of parallel calls in turns of their own.
func (s *section) reportJoined(t *content.Turn, at Path) {
	if !s.joined && slices.ContainsFunc(t.Parts, isNoResult) { // one pass
		s.joined = true
		s.lose(TurnsJoined, at)
	}
}

// A message is the user turns between two turns of the assistant.
type message struct {
	turns   int  // number of the user's
	last    int  // index of the last one
	sent    bool // something of them is sent
	dropped bool // something of them was dropped
}

// add adds a user turn.
func (m *message) add(turn int, sent, dropped bool) {
	m.turns++
	m.last = turn
	m.sent, m.dropped = m.sent || sent, m.dropped || dropped
}

// emptyMessage returns the sentence to send for a message of which nothing else is sent, or
// nil. A model must not see two responses in a row, and servers reject empty texts. There
// is none for the last message if something of it was dropped: see checkQuestion. other
// reports that other content is sent as the user's.
func (l *lowering) emptyMessage(m *message, other bool) content.Part {
	switch at := In(Turns, m.last); {
	case m.turns == 0, m.sent, other && l.t.Conversation.JoinUser == JoinAlways, l.violations.Err() != nil:
	case !m.dropped:
		l.lose(EmptyMessage, at)
		m.sent = true
		return &content.Text{Text: emptyMessageText}
	case m.last < l.first:
		l.lose(TurnPlaceholder, at)
		m.sent = true
		return &content.Text{Text: placeholderText}
	}
	return nil
}

// joinsLast reports whether a user turn continues the one before it, between which nothing
// of the assistant is sent.
func (l *lowering) joinsLast(before []content.Part) bool {
	switch l.t.Conversation.JoinUser {
	case JoinAlways:
		return true
	case JoinSection:
		return l.answered
	case JoinNever:
		return isResult(before[len(before)-1])
	}
	return false
}

// addUserTurn adds a user turn, or the rest of the turn before it: see joinsLast.
func (l *lowering) addUserTurn(t content.Turn, at Path) {
	n := len(l.out) - 1
	follows := n >= 0 && l.out[n].Role == content.RoleUser
	if l.t.Conversation.JoinUser == JoinSection {
		l.answered = follows && l.answered || hasResult(t)
	}
	joins := follows && l.joinsLast(l.out[n].Parts)
	if l.t.Conversation.AnswerResults && !isResult(t.Parts[len(t.Parts)-1]) {
		k := slices.IndexFunc(t.Parts, isNoResult) // one pass
		answers := joins && isResult(l.out[n].Parts[len(l.out[n].Parts)-1])
		if k > 0 {
			l.out = append(l.out, content.Turn{Role: content.RoleUser, Parts: t.Parts[:k:k]})
			t.Parts = t.Parts[k:]
		}
		if k > 0 || answers {
			l.lose(ResultsAnswered, at)
			l.out = append(l.out, content.Turn{Role: content.RoleAssistant, Parts: []content.Part{answerSentence}})
			joins = false
		}
	}
	if joins {
		l.extendLast(&t, at)
		return
	}
	l.out = append(l.out, t)
}

// extendLast adds a turn at a path to the last one. The list of that is copied once, however
// often it grows.
func (l *lowering) extendLast(t *content.Turn, at Path) {
	last := &l.out[len(l.out)-1]
	if l.extended != len(l.out) {
		l.extended = len(l.out)
		last.Parts = slices.Clip(last.Parts)
	}
	last.Parts = append(last.Parts, t.Parts...)
	switch {
	case t.Extra == nil:
	case last.Extra == nil:
		last.Extra = t.Extra
	default:
		l.lose(TurnMembers, at.Member("extra"))
	}
}

// hasUser reports whether something can be sent as the user's behind an assistant turn: in
// n turns from first on.
func (l *lowering) hasUser(n, first int) bool {
	return len(l.calls) > 0 || slices.ContainsFunc(l.roles[first:first+n], func(r content.Role) bool { // one pass
		return r != leading && r != over
	})
}

// pushMoved pushes the files that belong to the next user turn.
func (l *lowering) pushMoved() {
	l.stack = append(l.stack, l.moved...)
	for i := range l.moves {
		l.lose(l.moves[i].Rule, l.moves[i].Path)
	}
	l.moved, l.moves = l.moved[:0], l.moves[:0]
}

// joinsUser reports whether consecutive user turns become one turn.
func (l *lowering) joinsUser(turns []content.Turn) bool {
	switch l.t.Conversation.JoinUser {
	case JoinAlways:
		return true
	case JoinSection:
		return slices.ContainsFunc(turns, hasResult) // one pass
	}
	return false
}

func hasResult(t content.Turn) bool { return slices.ContainsFunc(t.Parts, isResult) } // one pass

// turnParts lowers the parts of a turn, except the results that are placed before. It
// reports whether there are any of these.
func (l *lowering) turnParts(t *content.Turn, at Path, in Site) (answered bool) {
	l.empty = in == InUser && l.t.Conversation.EmptyTexts && !slices.ContainsFunc(t.Parts, isNotEmptyText) // one pass
	for i, p := range t.Parts {
		r, ok := p.(*content.ToolResult)
		if !ok || r == nil || in == InSystem {
			l.part(p, at.In(Parts, i), in)
			continue
		}
		answered = true
		switch at := at.In(Parts, i); {
		case l.takeResult(r):
		case len(l.calls) == 0 && l.t.Conversation.Continues:
			q, files := l.resultContent(r, at, r.Name)
			l.push(q)
			l.stack = append(l.stack, files...)
		default:
			l.orphan(r, at)
		}
	}
	l.empty = false
	return answered
}

// checkPrefill reports the beginning of a response that the server cannot continue, and adds
// a turn of the user if the server refuses it.
func (l *lowering) checkPrefill(turns []content.Turn) {
	n := len(turns) - 1
	if n < 0 || turns[n].Role != content.RoleAssistant {
		return
	}
	c := &l.t.Conversation
	if at := lastText(turns[n].Parts); at >= 0 && (c.UserLast || !c.Prefill) {
		rule := Prefill
		if c.UserLast {
			rule = AssistantLast
		}
		l.lose(rule, In(Turns, n).In(Parts, at))
	}
	if end := len(l.out) - 1; c.UserLast && end >= 0 && l.out[end].Role == content.RoleAssistant && lastText(l.out[end].Parts) >= 0 {
		l.out = append(l.out, content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: continueText}}})
	}
}

// lastText returns the index of the text with which a turn ends, thinking aside, or -1.
func lastText(parts []content.Part) int {
	for i, p := range slices.Backward(parts) {
		switch p := p.(type) {
		case *content.Text:
			if p != nil && p.Text != "" {
				return i
			}
		case *content.Thinking:
		default:
			return -1
		}
	}
	return -1
}

// checkQuestion refuses a request if all of its last user message was dropped, since the
// model would respond to something else.
func (l *lowering) checkQuestion(turns []content.Turn) {
	first, end := l.first, l.end
	none := first == end
	switch {
	case l.sent, len(turns) == 0, none && len(l.out) > 0, l.violations.Err() != nil:
		return
	case none:
		first, end = 0, len(turns)
	}
	for i := range l.log.reports {
		x := &l.log.reports[i]
		for j := range x.Paths {
			if turn, inside := x.Paths[j].Turn(); inside && first <= turn && turn < end && x.Rule.Severity == content.LossDropped {
				l.refuse(content.CodeUnsupported, x.Paths[j], "cannot be represented for this model, and nothing else of the last user message is left")
				return
			}
		}
	}
	if none {
		l.refuse(content.CodeUnsupported, In(Turns, end-1), "has no content for the model: the last user message needs a text that is not blank, a file or a tool result")
	}
}

// openingText is the user turn before a conversation that begins with the assistant.
const openingText = "(The conversation begins with the assistant.)"

// checkEnds changes the first and the last turn as the target requires.
func (l *lowering) checkEnds(turns []content.Turn) {
	n := len(l.out) - 1
	if n < 0 {
		return
	}
	if last := &l.out[n]; last.Role == content.RoleAssistant {
		if l.t.Conversation.NoBlanks {
			l.trimEnd(last, In(Turns, len(turns)-1))
		}
	}
	if l.t.Conversation.UserFirst && l.out[0].Role == content.RoleAssistant {
		l.lose(AssistantFirst, In(Turns, 0))
		l.out = slices.Insert(l.out, 0, content.Turn{Role: content.RoleUser, Parts: []content.Part{&content.Text{Text: openingText}}})
	}
}

// trimEnd removes white space at the end of a turn.
func (l *lowering) trimEnd(t *content.Turn, at Path) {
	end := len(t.Parts) - 1
	if end < 0 {
		return
	}
	text, ok := t.Parts[end].(*content.Text)
	if !ok {
		return
	}
	trimmed := strings.TrimRightFunc(text.Text, unicode.IsSpace)
	if trimmed == text.Text {
		return
	}
	l.lose(TrailingSpace, at)
	q := *text
	q.Text = trimmed
	t.Parts = append(slices.Clone(t.Parts[:end]), &q)
}

// lastMessage returns the turns of the last user message: those from first up to end.
// The message may be several user turns in a row, with system turns among them or after
// them. If the conversation ends with the assistant, first equals end.
func lastMessage(turns []content.Turn) (first, end int) {
	end = len(turns)
	for end > 0 && turns[end-1].Role == content.RoleSystem {
		end--
	}
	first = end
	for i := end - 1; i >= 0 && turns[i].Role != content.RoleAssistant; i-- {
		if turns[i].Role == content.RoleUser {
			first = i
		}
	}
	return first, end
}
