package messages

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// foreignEvent appends an event that only its vendor knows, if it can stand in
// this stream.
func (s *stream) foreignEvent(dst []byte, e *upstream.Event) []byte {
	if e.Extra == nil || e.Extra.Format != Format || !foreignName(e.Text) || !jsonwire.ValidObject(e.Extra.JSON) {
		s.loseAt("", unsaidEvent)
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

// An idMaker makes ids for calls that have none: clients need one to answer a
// call. They count on from those of its kind in a conversation, so that the
// same conversation always gets the same ids, and no two calls in it share one.
type idMaker struct {
	turns []content.Turn
	seen  bool // next counts on from turns
	next  int
}

// idPrefix is what the ids begin with that are made here. The vendor's have
// other letters behind the first underscore.
const idPrefix = "toolu_pw"

// name gives a call an id if it has none.
func (m *idMaker) name(t *content.ToolUse) {
	if t.ID == "" {
		if !m.seen {
			m.seen = true
			for i := range m.turns {
				m.see(m.turns[i].Parts)
			}
		}
		t.ID = idPrefix + strconv.Itoa(m.next)
	}
	m.seeID(t.ID)
}

func (m *idMaker) see(parts []content.Part) {
	for _, p := range parts {
		switch p := p.(type) {
		case *content.ToolUse:
			if p != nil {
				m.seeID(p.ID)
			}
		case *content.ToolResult:
			if p != nil {
				m.seeID(p.ID)
			}
		}
	}
}

func (m *idMaker) seeID(id string) {
	if digits, ok := strings.CutPrefix(id, idPrefix); ok {
		// Numbers too large for an id of ours cannot meet one.
		if n, err := strconv.Atoi(digits); err == nil && n >= m.next && n < 1<<30 {
			m.next = n + 1
		}
	}
}
