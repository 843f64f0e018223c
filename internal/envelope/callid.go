package envelope

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/callid"
	"github.com/polywire/polywire/internal/loss"
)

// A format carries the state of a call, and the thinking before it, in the id of the call if
// it has no other field that every client returns. [Pending.CallID] encodes such ids for a
// response, and [DecodeIDs] decodes those that come back with the next request.

// CallID returns the id for call n of a response, with its state: sig, a signature of another
// format, or, if the call has none, what p has collected. If inBlocks is true, blocks before
// the call hold its state, and its id is marked. lost is called with the index of each part
// that has a loss.
func (p *Pending) CallID(n int, id string, sig content.Signature, inBlocks bool, room *int, lost func(n int, r *loss.Rule)) string {
	encode := func(k Kind, f content.Format, data string) (string, bool) {
		return EncodeID(id, Envelope{Format: f, Kind: k, Data: data})
	}
	if sig.Data != "" {
		if full, ok := encode(KindPart, sig.Format, sig.Data); ok {
			return full
		}
		lost(n, TooLarge)
	} else if p.NeedsCarrier() {
		take := func(f content.Format, data string) (string, bool) { return encode(KindThinking, f, data) }
		if full := p.Take(room, take, lost); full != "" {
			return full
		}
	}
	if inBlocks {
		if marked, ok := MarkID(id); ok {
			return marked
		}
	}
	if IsReservedID(id) {
		if full, ok := encode(KindIDOnly, "", ""); ok {
			return full
		}
		return HashedID(id)
	}
	return id
}

// CallIDs are the ids in the calls and results of a request that are encoded or marked. It is
// nil if there are none.
type CallIDs map[string]callID

// A callID is what such an id was made of.
type callID struct {
	id      string // of the vendor
	state   content.Signature
	damaged bool
}

// DecodeIDs decodes the ids in turns. The ids of a request stay distinct: an id that would
// decode to the id of another call is treated as damaged.
func DecodeIDs(turns []content.Turn) CallIDs {
	some := false
	for id := range callid.All(turns) {
		some = some || IsReservedID(id)
	}
	if !some {
		return nil
	}
	ids := make(CallIDs)
	whose := make(map[string]string) // by decoded id: the id in the request
	for id := range callid.All(turns) {
		if !IsReservedID(id) {
			whose[id] = id
		}
	}
	for id := range callid.All(turns) {
		if _, known := ids[id]; known || !IsReservedID(id) {
			continue
		}
		c := decodeCallID(id)
		if other, taken := whose[c.id]; taken && other != id {
			c = callID{id: HashedID(id), damaged: true}
			for whose[c.id] != "" {
				c.id = HashedID(c.id)
			}
		}
		whose[c.id], ids[id] = id, c
	}
	return ids
}

// decodeCallID decodes an id that is encoded or marked.
func decodeCallID(s string) callID {
	if id, ok := UnmarkID(s); ok {
		if again, ok := MarkID(id); ok && again == s {
			return callID{id: id}
		}
		return callID{id: DamagedID(s), damaged: true}
	}
	id, e, ok := DecodeID(s)
	switch {
	case !ok, e.Kind == KindThinking && !CallsCarryThinking(e.Format):
		return callID{id: DamagedID(s), damaged: true}
	case e.Data == "":
		return callID{id: id}
	}
	return callID{id: id, state: content.Signature{Format: e.Format, Data: e.Data}}
}

// Decode returns a tool call or a result with the id of the vendor, and a call with the state
// that its id has carried. It returns any other part itself. The rule is that of a loss, or
// nil.
func (ids CallIDs) Decode(p content.Part) (content.Part, *loss.Rule) {
	switch p := p.(type) {
	case *content.ToolUse:
		if p == nil {
			break
		}
		c, ok := ids[p.ID]
		if !ok {
			break
		}
		q := *p
		q.ID = c.id
		if c.state.Data != "" {
			q.Signature = c.state
		}
		if c.damaged {
			return &q, Damaged
		}
		return &q, nil
	case *content.ToolResult:
		if p == nil {
			break
		}
		if c, ok := ids[p.ID]; ok && c.id != p.ID {
			q := *p
			q.ID = c.id
			return &q, nil
		}
	}
	return p, nil
}

// IsMarked reports whether an id shows that blocks before its call hold the state of the call.
func (ids CallIDs) IsMarked(id string) bool {
	_, marked := UnmarkID(id)
	return marked && !ids[id].damaged
}
