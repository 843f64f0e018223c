package openai

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/cleared"
)

// messages writes the system text and the turns.
func (e *chatEncoder) messages() {
	before := e.w.Len()
	e.systemText()
	turns := e.n.Turns
	e.first, e.end = adapter.Question(turns)
	gone := cleared.Of(turns)
	for i := 0; i < len(turns); {
		t := &turns[i]
		switch t.Role {
		case content.RoleAssistant:
			end := i + 1
			for end < len(turns) && turns[end].Role == content.RoleAssistant {
				end++
			}
			e.assistant(i, end)
			i = end
			continue
		case content.RoleSystem:
			if !gone.Has(i, t) {
				e.systemTurn(i)
			}
		default:
			e.userTurn(i)
		}
		i++
	}
	if n := len(turns); n > 0 && turns[n-1].Role == content.RoleAssistant && prefilled(turns[n-1].Parts) {
		e.lose(lostPrefill, place{turn: n - 1, part: len(turns[n-1].Parts) - 1})
	}
	e.question(e.w.Len() > before || len(e.user) > 0)
	e.say()
}

// hasResult reports whether there is a result of a call.
func hasResult(parts []content.Part) bool {
	return slices.ContainsFunc(parts, func(p content.Part) bool { _, ok := p.(*content.ToolResult); return ok })
}

// systemText writes the system text as the first message.
func (e *chatEncoder) systemText() {
	for i, p := range e.n.System {
		at := place{list: "system", part: i}
		e.systemPart(p, at)
	}
	if e.system != "" {
		e.user = append(e.user, piece{text: e.system})
	}
	e.flush(e.role())
}

// systemTurn tells system text in the middle of a conversation.
func (e *chatEncoder) systemTurn(i int) {
	t := &e.n.Turns[i]
	e.turnExtra(t.Extra, i)
	own := e.to.vendor
	if own {
		e.say()
	} else if len(t.Parts) > 0 {
		e.log.Add(lostSystemTurn, place{turn: i}.turnPath())
	}
	for j, p := range t.Parts {
		e.systemPart(p, place{turn: i, part: j})
	}
	if own {
		e.flush(e.role())
	}
}

// userTurn tells what the user says. The results of calls have been told.
func (e *chatEncoder) userTurn(i int) {
	t := &e.n.Turns[i]
	e.turnExtra(t.Extra, i)
	if e.to.vendor && !e.followsResults(i) {
		e.say() // each turn is a message of its own
	}
	e.expect(len(t.Parts))
	before, told := len(e.user), len(e.log.Losses)
	for j, p := range t.Parts {
		at := place{turn: i, part: j}
		r, ok := p.(*content.ToolResult)
		if !ok || r == nil {
			e.part(p, at)
			continue
		}
		if known := e.results[r.ID]; known != nil && known.part == r && known.told {
			if len(e.user) > before {
				e.lose(lostResultOrder, at)
			}
			continue
		}
		e.orphan(r, at)
	}
	if len(e.user) == before && !hasResult(t.Parts) {
		e.emptied(i, told)
	} else {
		e.asked = e.asked || i >= e.first
	}
}

// followsResults reports whether what the user says belongs to files that
// tools gave back.
func (e *chatEncoder) followsResults(i int) bool {
	return i > 0 && e.n.Turns[i-1].Role == content.RoleAssistant
}

// orphan tells a result without a call.
func (e *chatEncoder) orphan(r *content.ToolResult, at place) {
	e.lose(lostResultOrphan, at)
	head := "Result of a tool"
	if r.Name != "" {
		head = "Result of the tool " + r.Name
	}
	e.user = append(e.user, piece{text: head + ":"})
	text, media := e.resultText(r, at)
	if text != "" {
		e.user = append(e.user, piece{text: text})
	}
	e.user = append(e.user, media...)
}

// say writes what the user has said until now.
func (e *chatEncoder) say() { e.flush("user") }

// flush writes the pieces as a message.
func (e *chatEncoder) flush(role string) {
	if len(e.user) == 0 {
		return
	}
	w := e.w
	w.BeginObject()
	e.member("role", role)
	w.Name("content")
	e.content(e.user)
	w.EndObject()
	e.forget()
}

// content writes pieces: as a string where that is enough, since every server
// takes it.
func (e *chatEncoder) content(list []piece) {
	plain := true
	for i := range list {
		plain = plain && list[i].kind == pieceText && !list[i].mark
	}
	switch {
	case plain && len(list) == 1:
		e.w.String(list[0].text)
	case plain && !e.to.vendor:
		e.joined(list)
	default:
		e.w.BeginArray()
		for i := range list {
			e.piece(&list[i])
		}
		e.w.EndArray()
	}
}
