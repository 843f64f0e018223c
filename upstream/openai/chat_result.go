package openai

import (
	"strings"

	"github.com/polywire/polywire/content"
)

// collect finds the results that stand from turn i on, before the assistant
// speaks again.
func (e *chatEncoder) collect(i int) {
	const few = 64 // a large map is slow to clear
	if e.results == nil || len(e.results) > few {
		e.results = make(map[string]*result)
	}
	clear(e.results)
	turns := e.n.Turns
	for ; i < len(turns) && turns[i].Role != content.RoleAssistant; i++ {
		for j, p := range turns[i].Parts {
			if r, ok := p.(*content.ToolResult); ok && r != nil && e.results[r.ID] == nil {
				e.results[r.ID] = &result{part: r, at: place{turn: i, part: j}}
			}
		}
	}
}

const noResult = "There is no result of this call."

// answers writes a tool message for each call. What these cannot hold is left
// for the user's next message.
func (e *chatEncoder) answers() {
	w := e.w
	for i := range e.calls {
		c := &e.calls[i]
		text := noResult
		if r := e.results[c.part.ID]; r != nil {
			r.told = true
			var media []piece
			text, media = e.resultText(r.part, r.at)
			if len(media) > 0 {
				e.user = append(e.user, piece{text: "Files of the result of the call " + e.callID(c) + " of " + c.part.Name + ":"})
				e.user = append(e.user, media...)
			}
		} else {
			e.lose(lostResultNone, c.at)
		}
		w.BeginObject()
		e.member("role", "tool")
		e.member("tool_call_id", e.callID(c))
		e.member("content", text)
		w.EndObject()
	}
}

// resultText returns the text of a result, and the pieces that are none.
func (e *chatEncoder) resultText(r *content.ToolResult, at place) (string, []piece) {
	e.extra(r.Extra, at)
	e.toolCache(r.Cache, at)
	// What the parts are becomes pieces of the user first, and is sorted then.
	mine := len(e.user)
	e.resultParts(r, at, e.resultPart) // no text there has a mark
	pieces := e.user[mine:]
	var texts []string
	if r.Object != "" { // it says more than the texts
		texts = append(texts, r.Object)
	}
	var media []piece
	for i := range pieces {
		named := pieces[i].head && i+1 < len(pieces) && pieces[i+1].kind != pieceText
		if pieces[i].kind == pieceText && !named {
			texts = append(texts, pieces[i].text)
		} else {
			media = append(media, pieces[i])
		}
	}
	e.user = e.user[:mine]
	if len(texts) > 1 {
		e.lose(lostResultParts, at)
	}
	text := strings.Join(texts, "\n\n")
	if r.Error {
		e.lose(lostResultError, at)
		text = strings.TrimSpace("Error: " + text)
	}
	if text == "" && len(media) > 0 {
		text = "The result is in the files that the next message of the user holds."
	}
	return text, media
}

func (e *chatEncoder) toolCache(c *content.Cache, at place) {
	if c != nil {
		e.lose(lostCache, at)
	}
}

// resultPart tells a part of a result.
func (e *chatEncoder) resultPart(p content.Part, at place) {
	before := len(e.user)
	e.part(p, at)
	for i := before; i < len(e.user); i++ {
		if e.user[i].mark {
			e.user[i].mark = false // a tool message is a string
			e.lose(lostCache, at)
		}
		switch e.user[i].kind {
		case pieceText:
		case pieceImage:
			e.lose(lostResultImage, at)
		default:
			e.lose(lostResultDocument, at)
		}
	}
}
