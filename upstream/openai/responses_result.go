package openai

import (
	"strings"

	"github.com/polywire/polywire/content"
)

// result writes what a call gave back. One without a call is told as text.
func (e *resEncoder) result(r *content.ToolResult, at place) {
	list := e.resultPieces(r, at)
	if e.answer(r.ID) {
		e.callOutput(r.ID, list)
		return
	}
	e.lose(lostResultOrphan, at)
	head := "Result of a tool:"
	if r.Name != "" {
		head = "Result of the tool " + r.Name + ":"
	}
	e.user = append(append(e.user, piece{text: head}), list...)
}

// answer takes the call with an id out of those without a result, and reports
// whether there is one. By now each call has an id of its own.
func (e *resEncoder) answer(id string) bool {
	for e.answered < len(e.open) && e.open[e.answered].part == nil {
		e.answered++
	}
	i := e.answered
	switch {
	case i == len(e.open):
		return false
	case e.open[i].part.ID != id: // mostly they come in the order of the calls
		if e.openAt == nil {
			e.openAt = make(map[string]int, len(e.open)-i)
			for k := i; k < len(e.open); k++ {
				if p := e.open[k].part; p != nil {
					e.openAt[p.ID] = k
				}
			}
		}
		k, known := e.openAt[id]
		if !known || e.open[k].part == nil {
			return false
		}
		i = k
	}
	e.open[i].part = nil
	return true
}

// resultPieces returns what a result holds.
func (e *resEncoder) resultPieces(r *content.ToolResult, at place) []piece {
	e.extra(r.Extra, at)
	mark := e.marked(r.Cache, at)
	// The parts become pieces of the user first, and are taken from there.
	mine := len(e.user)
	said := e.resultParts(r, at, e.part)
	list := make([]piece, 0, len(e.user)-mine+1)
	if r.Object != "" { // it says more than the texts
		list = append(list, piece{text: r.Object, mark: said})
	}
	list = append(list, e.user[mine:]...)
	e.user = e.user[:mine]
	texts := 0
	for i := range list {
		if list[i].kind == pieceText {
			texts++
		}
	}
	if texts > 1 && texts == len(list) && !e.to.vendor {
		e.lose(lostResultParts, at)
		list = []piece{{text: joinTexts(list)}}
	}
	if r.Error {
		e.lose(lostResultError, at)
		if len(list) > 0 && list[0].kind == pieceText {
			list[0].text = "Error: " + list[0].text
		} else {
			list = append([]piece{{text: "Error"}}, list...)
		}
	}
	if mark {
		if len(list) == 0 {
			list = append(list, piece{})
		}
		list[len(list)-1].mark = true
	}
	return list
}

func joinTexts(list []piece) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].text
	}
	return strings.Join(texts, "\n\n")
}

// callOutput writes the result of a call.
func (e *resEncoder) callOutput(id string, list []piece) {
	w := e.w
	w.BeginObject()
	e.member("type", "function_call_output")
	e.member("call_id", id)
	w.Name("output")
	if len(list) == 0 {
		w.String("")
	} else {
		e.content(list)
	}
	w.EndObject()
}

// unanswered writes results of the calls that have none: the vendor refuses a
// request without them.
func (e *resEncoder) unanswered() {
	for _, c := range e.open {
		if c.part != nil {
			e.lose(lostResultNone, c.at)
			e.callOutput(c.part.ID, []piece{{text: noResult}})
		}
	}
	e.open, e.answered, e.openAt = e.open[:0], 0, nil
}
