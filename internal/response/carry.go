package response

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/absent"
	"github.com/polywire/polywire/internal/callid"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
)

// For formats whose tool calls carry the state of other vendors in their ids.

// Collect stores thinking for the id of the next call, without a signature that no call carries.
func (e *Engine[S]) Collect(b *Block[S], t *content.Thinking) {
	if !envelope.CallsCarryThinking(t.Signature.Format) {
		c := *t
		c.Signature = content.Signature{}
		t = &c
	}
	if s := e.State(b); s.Open(b.Number, b.Index, t, &e.Room) {
		s.AppendText(b.Number, t.Text, &e.Room)
	}
}

// State returns the state for the next tool call of the candidate of a block.
func (e *Engine[S]) State(b *Block[S]) *envelope.Pending { return &e.Candidates[b.Candidate].State }

// NameCall sets the id of a tool call to that of its vendor or, if the vendor has none or a
// duplicate, to a new one.
func (e *Engine[S]) NameCall(b *Block[S], t *content.ToolUse, ids *callid.Namer) {
	id := ids.Name(t.ID)
	if t.ID != "" && t.ID != id {
		e.Lose(b, LossCallID)
	}
	t.ID = id
}

// CarryInID adds the state of a call to its id: see [envelope.Pending.CallID].
func (e *Engine[S]) CarryInID(b *Block[S], t *content.ToolUse, s content.Signature, inBlocks bool) {
	t.ID = e.State(b).CallID(b.Index, t.ID, s, inBlocks, &e.Room, func(n int, r *loss.Rule) { e.LoseAt(e.Path(b.Candidate, n), r) })
}

// DropUnsigned drops the thinking of a candidate that no vendor has signed, and reports it if it is
// hidden. It is called before a block begins and at the end.
func (e *Engine[S]) DropUnsigned(k int, hidden bool) {
	s := &e.Candidates[k].State
	if s.Empty() {
		return
	}
	s.DropUnsigned(&e.Room, func(n int) {
		if hidden {
			e.LoseAt(e.Path(k, n), LossHiddenThinking)
		}
	})
}

// DropPending drops and reports the state of candidate k after its last call. The client has the
// text of thinking that is not hidden, unless only its vendor can read it. Not dropped is what kept, if
// it is not nil, has kept of the n-th block.
func (e *Engine[S]) DropPending(k int, hidden bool, kept func(n int, t *content.Thinking) bool) {
	c := &e.Candidates[k]
	if n, ok := c.State.Oversized(); ok {
		e.LoseAt(e.Path(k, n), envelope.TooLarge)
	}
	rule := LossUncarriedState
	if m := e.Start.Model; m != "" && c.isFinished() && !absent.KeepsThinking(m) {
		rule = LossFinishedThinking
	}
	c.State.DropAll(func(n int, t *content.Thinking) {
		if (kept == nil || !kept(n, t)) && (hidden || t.Redacted.Data != "") {
			e.LoseAt(e.Path(k, n), rule)
		}
	})
}

// isFinished reports whether the turn of the model is over: the next one is the user's.
func (c *Candidate) isFinished() bool {
	switch c.Stop.Reason {
	case content.StopEnd, content.StopSequence, content.StopRefusal:
		return c.Calls == 0 // legacy calls of functions have no id that carries state
	}
	return false
}
