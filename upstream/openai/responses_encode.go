package openai

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/cleared"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A resEncoder writes a request in the format of responses, in one walk, and
// notes what is lost by that. What both formats do alike is the embedded one's.
type resEncoder struct {
	encoder
	counting bool // for a count of tokens, which takes fewer members
	strange  bool // the vendor cannot read the thoughts that come back

	open     []call          // since the last results, without the part once there is a result
	answered int             // those in front have one
	openAt   map[string]int  // where calls are by their ids, if that was asked for
	parts    []resAt         // of the turns at hand, with what signatures stand for
	carried  textSet         // items that the turns at hand hold
	ids      textSet         // those of the items, if any was asked for
	shown    string          // what is left of the texts of thoughts that signatures of these turns stand for
	hosted   map[string]bool // whether tools of itemTools are told, by need
	thoughts []loose         // items that are written with what follows them
	phase    string          // of the texts at hand
	item     jsonwire.Doc
}

// A loose item is one of the vendor's that waits for what it belongs to.
type loose struct {
	json string
	at   place
}

// resNames are the members that are written here, which members of the
// request's Extra do not replace.
var resNames = []string{
	"model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "reasoning", "text",
	"max_output_tokens", "temperature", "top_p", "store", "include", "safety_identifier", "service_tier", "stream",
	"stream_options", "previous_response_id", "conversation", "background",
}

// encode writes the document.
func (e *resEncoder) encode() {
	w, n := e.w, e.n
	w.BeginObject()
	e.member("model", e.to.model)
	e.foreignMembers(n.Extra)
	e.outputLosses()
	e.instructions()
	w.Name("input")
	w.BeginArray()
	e.items()
	w.EndArray()
	if e.tools() {
		e.choice()
	} else {
		e.noChoice()
	}
	e.reasoning()
	e.format()
	if !e.counting {
		e.settings()
		e.more(n.Extra, func(name string) bool { return slices.Contains(resNames, name) })
	}
	w.EndObject()
}

// instructions writes the system text: as instructions or, where the end of a
// part of it is to be cached, as the first message.
func (e *resEncoder) instructions() {
	marks := false
	e.expect(len(e.n.System))
	for i, p := range e.n.System {
		e.systemPart(p, place{list: "system", part: i})
		marks = marks || len(e.user) > 0 && e.user[len(e.user)-1].mark
	}
	if e.system != "" && !e.to.vendor {
		e.user = append(e.user, piece{text: e.system})
		e.system = ""
	}
	if marks || len(e.user) == 0 {
		return // the first item tells them
	}
	e.w.Name("instructions")
	e.joined(e.user)
	e.forget()
}

// items writes the turns as items.
func (e *resEncoder) items() {
	before := e.w.Len()
	e.message(e.role())
	if e.system != "" {
		e.user = append(e.user, piece{text: e.system})
		e.message(e.role())
	}
	turns := envelope.Rejoin(ResponsesFormat, e.n.Turns)
	e.first, e.end = adapter.Question(turns)
	gone := cleared.Of(turns)
	for i, end := 0, 0; i < len(turns); i = end {
		end = i + 1
		if turns[i].Role != content.RoleAssistant {
			if !gone.Has(i, &turns[i]) {
				e.othersTurn(i)
			}
			continue
		}
		for end < len(turns) && turns[end].Role == content.RoleAssistant {
			end++
		}
		if i > 0 {
			e.unanswered()
		}
		e.assistantTurns(turns[i:end], i)
	}
	e.loose()
	e.unanswered()
	if n := len(turns); n > 0 && turns[n-1].Role == content.RoleAssistant && prefilled(turns[n-1].Parts) {
		e.lose(lostPrefill, place{turn: n - 1, part: len(turns[n-1].Parts) - 1})
	}
	e.question(e.w.Len() > before)
	e.message("user")
}

// prefilled reports whether a last turn is the beginning of an answer.
func prefilled(parts []content.Part) bool {
	for i := len(parts) - 1; i >= 0; i-- {
		switch p := parts[i].(type) {
		case *content.Text:
			if p != nil && p.Text != "" {
				return true
			}
		case *content.Thinking:
		default:
			return false
		}
	}
	return false
}

// othersTurn writes what the user or the system says.
func (e *resEncoder) othersTurn(i int) {
	t := &e.n.Turns[i]
	e.turnExtra(t.Extra, i)
	role := "user"
	if t.Role == content.RoleSystem {
		if e.to.vendor {
			role = e.role()
		} else if len(t.Parts) > 0 {
			e.log.Add(lostSystemTurn, place{turn: i}.turnPath())
		}
	}
	if len(t.Parts) > 0 {
		e.loose()
	}
	e.expect(len(t.Parts))
	said, told := false, len(e.log.Losses)
	for j, p := range t.Parts {
		at := place{turn: i, part: j}
		if r, ok := p.(*content.ToolResult); ok && r != nil {
			said = true
			e.message(role)
			e.result(r, at)
			continue
		}
		e.part(p, at)
	}
	switch {
	case t.Role != content.RoleUser:
	case said || len(e.user) > 0:
		e.asked = e.asked || i >= e.first
	default:
		e.emptied(i, told)
	}
	e.message(role)
}

// message writes the pieces at hand as a message, if there are any.
func (e *resEncoder) message(role string) {
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
func (e *resEncoder) content(list []piece) {
	if len(list) == 1 && list[0].kind == pieceText && !list[0].mark {
		e.w.String(list[0].text)
		return
	}
	e.w.BeginArray()
	for i := range list {
		e.piece(&list[i])
	}
	e.w.EndArray()
}
