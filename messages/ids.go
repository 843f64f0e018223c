package messages

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
)

// An idMaker makes ids for tool calls without an id, or with the id of another call, because
// clients need ids to return results. It numbers ids from the highest number in the
// conversation. So ids are unique, and the same conversation always gets the same ids.
type idMaker struct {
	turns       []content.Turn
	seen        bool            // turns were searched
	used        map[string]bool // ids of tool calls and results; nil until needed
	responseIDs int             // number of ids of the response in used
	next        int
}

// idPrefix is the prefix of made ids. Ids of the vendor have other letters after the first
// underscore.
const idPrefix = "toolu_pw"

// maxResponseIDs limits the stored ids of a response. All later tool calls get made ids.
const maxResponseIDs = 1 << 12

// name sets the id of a tool call that has no unique id. It reports whether it replaced one.
func (m *idMaker) name(t *content.ToolUse) (replaced bool) {
	if !m.seen {
		m.seen = true
		for i := range m.turns {
			m.seeParts(m.turns[i].Parts)
		}
	}
	if t.ID == "" || m.used[t.ID] || m.responseIDs == maxResponseIDs {
		replaced = t.ID != ""
		t.ID = idPrefix + strconv.Itoa(m.next)
	}
	m.seeID(t.ID)
	return replaced
}

func (m *idMaker) seeParts(parts []content.Part) {
	for _, p := range parts {
		switch p := p.(type) {
		case *content.ToolUse:
			if p != nil {
				m.use(p.ID)
			}
		case *content.ToolResult:
			if p != nil {
				m.use(p.ID)
			}
		}
	}
}

// seeID stores the id of a tool call of the response.
func (m *idMaker) seeID(id string) {
	if m.responseIDs < maxResponseIDs {
		m.responseIDs++
		m.use(strings.Clone(id)) // does not keep the frame in memory
	} else {
		m.count(id)
	}
}

func (m *idMaker) use(id string) {
	if m.used == nil {
		m.used = make(map[string]bool)
	}
	m.used[id] = true
	m.count(id)
}

// count raises next above the number of a made id.
func (m *idMaker) count(id string) {
	if digits, ok := strings.CutPrefix(id, idPrefix); ok {
		// Made ids never reach larger numbers.
		if n, err := strconv.Atoi(digits); err == nil && n >= m.next && n < 1<<30 {
			m.next = n + 1
		}
	}
}
