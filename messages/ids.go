package messages

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/callid"
)

// An idMaker makes ids for tool calls without an id, or with the id of another call, because
// clients need ids to return results.
type idMaker struct {
	turns       []content.Turn
	seen        bool // turns were searched
	maker       callid.Maker
	used        map[string]bool // ids of tool calls and results; nil until needed
	responseIDs int             // number of ids of the response in used
}

// idPrefix is the prefix of made ids. Ids of the vendor have other letters after the first
// underscore.
const idPrefix = "toolu_pw"

// maxResponseIDs limits the stored ids of a response. All later tool calls get made ids.
const maxResponseIDs = 1 << 12

// newIDMaker returns an idMaker for a response to the conversation in turns.
func newIDMaker(turns []content.Turn) idMaker {
	return idMaker{turns: turns, maker: callid.Maker{Prefix: idPrefix}}
}

// name sets the id of a tool call that has no unique id. It reports whether it replaced one.
func (m *idMaker) name(t *content.ToolUse) (replaced bool) {
	if !m.seen {
		m.seen = true
		for id := range callid.All(m.turns) {
			m.use(id)
		}
	}
	if t.ID == "" || m.used[t.ID] || m.responseIDs == maxResponseIDs {
		replaced = t.ID != ""
		t.ID = m.maker.Make()
	}
	m.seeID(t.ID)
	return replaced
}

// seeID stores the id of a tool call of the response.
func (m *idMaker) seeID(id string) {
	if m.responseIDs == maxResponseIDs {
		m.maker.See(id)
		return
	}
	m.responseIDs++
	m.use(strings.Clone(id)) // does not keep the frame in memory
}

// use stores an id.
func (m *idMaker) use(id string) {
	if m.used == nil {
		m.used = make(map[string]bool)
	}
	m.used[id] = true
	m.maker.See(id)
}
