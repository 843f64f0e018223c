package callid

import (
	"strings"

	"github.com/polywire/polywire/content"
)

// A Namer gives every tool call of a response an id of its own, because clients need ids to
// return results: a call without an id, or with one that the conversation or the response
// already has, gets a new one.
type Namer struct {
	turns   []content.Turn // nil once they were searched
	maker   Maker
	used    map[string]bool // ids of tool calls and results; nil until needed
	noticed int             // ids of the response in used
}

// maxNoticed limits the stored ids of a response. All later tool calls get new ids.
const maxNoticed = 1 << 12

// NewNamer returns a Namer for a response to the conversation in turns. The ids that it makes
// begin with prefix.
func NewNamer(prefix string, turns []content.Turn) Namer {
	return Namer{turns: turns, maker: Maker{Prefix: prefix}}
}

// Name returns the id of the next tool call, for which the vendor has sent id: this id, or a
// new one.
func (m *Namer) Name(id string) string {
	for other := range All(m.turns) {
		m.use(other)
	}
	m.turns = nil
	if id == "" || m.used[id] || m.noticed == maxNoticed {
		id = m.maker.Make()
	}
	m.Notice(id)
	return id
}

// Notice stores the id of a tool call that the client receives under it.
func (m *Namer) Notice(id string) {
	if m.noticed == maxNoticed {
		m.maker.See(id)
		return
	}
	m.noticed++
	m.use(strings.Clone(id)) // does not keep the frame in memory
}

// use stores an id.
func (m *Namer) use(id string) {
	if m.used == nil {
		m.used = make(map[string]bool)
	}
	m.used[id] = true
	m.maker.See(id)
}
