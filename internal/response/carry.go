package response

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/absent"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/loss"
)

// For formats with one candidate whose tool calls carry the state of other vendors.

// State returns the state for the id of the next tool call.
func (e *Engine[S]) State() *envelope.Pending { return &e.Candidates[0].State }

// LosePart reports a loss of the part with an index.
func (e *Engine[S]) LosePart(n int, r *loss.Rule) { e.LoseAt(e.Path(0, n), r) }

// Collect stores thinking for the id of the next call, without a signature that no call carries.
func (e *Engine[S]) Collect(b *Block[S], t *content.Thinking) {
	if !envelope.CallsCarryThinking(t.Signature.Format) {
		c := *t
		c.Signature = content.Signature{}
		t = &c
	}
	if e.State().Open(b.Number, b.Index, t, &e.Room) {
		e.State().AppendText(b.Number, t.Text, &e.Room)
	}
}

// DropUnsigned drops the thinking that no vendor has signed, and reports it if it is hidden. It
// is called before a block begins and at the end.
func (e *Engine[S]) DropUnsigned(hidden bool) {
	if e.State().Empty() {
		return
	}
	e.State().DropUnsigned(&e.Room, func(n int) {
		if hidden {
			e.LosePart(n, LossHiddenThinking)
		}
	})
}

// DropPending drops and reports the state of candidate k after its last call. The client has the
// text of thinking that is not hidden, unless only its vendor can read it.
func (e *Engine[S]) DropPending(k int, hidden bool) {
	c := &e.Candidates[k]
	if n, ok := c.State.Oversized(); ok {
		e.LoseAt(e.Path(k, n), envelope.TooLarge)
	}
	rule := LossUncarriedState
	if m := e.Start.Model; m != "" && c.isFinished() && !absent.KeepsThinking(m) {
		rule = LossFinishedThinking
	}
	c.State.DropAll(func(n int, t *content.Thinking) {
		if hidden || t.Redacted.Data != "" {
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
