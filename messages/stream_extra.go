package messages

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// foreignEvent appends an event that only its vendor knows, if it can stand in
// this stream.
func (s *stream) foreignEvent(dst []byte, e *upstream.Event) []byte {
	if e.Extra == nil || e.Extra.Format != Format || !foreignName(e.Text) || !jsonwire.ValidObject(e.Extra.JSON) {
		s.loseAt(loss.EventPath(e.Text), unsaidEvent)
		return dst
	}
	if !s.begun { // clients take nothing before the start
		dst = s.begin(dst)
	}
	dst = append(append(dst, "event: "...), e.Text...)
	dst = jsonwire.AppendCompact(append(dst, "\ndata: "...), e.Extra.JSON)
	return append(dst, "\n\n"...)
}

// foreignName reports whether an event of this name can be put anywhere into a
// stream: it breaks no line, and is none that has a place of its own.
func foreignName(name string) bool {
	switch name {
	case "ping", "error", "content_block_start", "content_block_stop":
		return false
	}
	return !knownEvent(name) && !strings.ContainsAny(name, "\r\n\x00")
}

// blockExtra appends a delta that only its vendor knows, with the number that
// its block has here.
func (s *stream) blockExtra(dst []byte, e *upstream.Event) []byte {
	b := s.at(e.Block)
	if b == nil || b.out < 0 || e.Text != "content_block_delta" || e.Extra == nil || e.Extra.Format != Format {
		s.lose(e.Block, unsaidDelta)
		return dst
	}
	d, err := jsonwire.Parse(e.Extra.JSON, jsonwire.Limits{})
	if err != nil || d.Root().Kind() != jsonwire.Object {
		s.lose(e.Block, unsaidDelta)
		return dst
	}
	defer d.Close()
	dst = append(dst, deltaHead...)
	dst = jsonwire.AppendInt(dst, int64(b.out))
	for name, v := range d.Root().Members() {
		if name != "type" && name != "index" {
			dst = jsonwire.AppendString(append(dst, ','), name)
			dst = jsonwire.AppendCompact(append(dst, ':'), v.Raw())
		}
	}
	return append(dst, "}\n\n"...)
}

// An idMaker makes ids for calls that have none, or one that is another call's:
// clients need one to answer a call. They count on from those of their kind in a
// conversation, so that the same conversation always gets the same ids, and no
// two calls in it share one.
type idMaker struct {
	turns []content.Turn
	seen  bool            // used and next know of turns
	used  map[string]bool // ids of calls and results; by need
	said  int             // how many of them the answer has
	next  int
}

// idPrefix is what the ids begin with that are made here. The vendor's have
// other letters behind the first underscore.
const idPrefix = "toolu_pw"

// mostIDs bounds how many ids of an answer are remembered. Calls behind them
// all get ids that are made here.
const mostIDs = 1 << 12

// name gives a call an id if it has none of its own. It reports whether that
// replaces one that is another's.
func (m *idMaker) name(t *content.ToolUse) (replaced bool) {
	if !m.seen {
		m.seen = true
		for i := range m.turns {
			m.see(m.turns[i].Parts)
		}
	}
	if t.ID == "" || m.used[t.ID] || m.said == mostIDs {
		replaced = t.ID != ""
		t.ID = idPrefix + strconv.Itoa(m.next)
	}
	m.seeID(t.ID)
	return replaced
}

func (m *idMaker) see(parts []content.Part) {
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

// seeID notes the id of a call of the answer.
func (m *idMaker) seeID(id string) {
	if m.said < mostIDs {
		m.said++
		m.use(strings.Clone(id)) // not the frame that it came in
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

// count keeps next beyond all ids of its kind.
func (m *idMaker) count(id string) {
	if digits, ok := strings.CutPrefix(id, idPrefix); ok {
		// Numbers too large for an id of ours cannot meet one.
		if n, err := strconv.Atoi(digits); err == nil && n >= m.next && n < 1<<30 {
			m.next = n + 1
		}
	}
}
