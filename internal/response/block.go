package response

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// A Block is a block of a response. It exists from its EventOpen until no signature can
// follow for it.
type Block[S any] struct {
	Number    int // in the events
	Candidate int // position in [Engine.Candidates]
	Index     int // of the part in its candidate
	Kind      Kind

	// Part is the part of the EventOpen, and then what Format.OpenBlock has made of it. A tool
	// call has its arguments in Arguments.
	Part content.Part

	Begun     bool // Format.BeginBlock has written the start, or a forwarded frame has it
	Forwarded bool // a forwarded frame has the start
	Closed    bool // closed by its events, but not ended yet

	State S

	when When
	tail PartialRune
	call
}

// A Kind is the kind of deltas that a block has.
type Kind uint8

const (
	Other Kind = iota // none
	Text
	Thinking
	Call // arguments
)

// KindOf returns the kind of the deltas of a part.
func KindOf(p content.Part) Kind {
	switch p := p.(type) { // other kinds have no deltas
	case *content.Text:
		return Text
	case *content.Thinking:
		if p.Redacted.Data == "" {
			return Thinking
		}
	case *content.ToolUse, *content.ServerToolUse:
		return Call
	}
	return Other
}

// At returns the open block with a number, or nil.
func (e *Engine[S]) At(number int) *Block[S] {
	for _, b := range e.open {
		if b.Number == number {
			return b
		}
	}
	return nil
}

// find returns the block with a number, or nil. late reports that it has ended.
func (e *Engine[S]) find(number int) (b *Block[S], late bool) {
	if b := e.At(number); b != nil {
		return b, false
	}
	for _, b := range e.closed {
		if b.Number == number {
			return b, true
		}
	}
	return nil, false
}

// Blocks returns the open blocks in the order of opening. The list changes when a block opens
// or ends.
func (e *Engine[S]) Blocks() []*Block[S] { return e.open }

// isNewest reports whether no block of its candidate opened after b.
func (e *Engine[S]) isNewest(b *Block[S]) bool { return b.Number == e.Candidates[b.Candidate].newest }

// EndsInRune reports whether the text of b ended within a character.
func (b *Block[S]) EndsInRune() bool { return !b.tail.Empty() }

// IsChecked reports whether b is a tool call whose arguments are checked at its end.
func (b *Block[S]) IsChecked() bool { return b.when == Runnable }

// IsWaiting reports whether b begins later: see [Filled], [Runnable] and [AtEnd].
func (b *Block[S]) IsWaiting() bool { return b.when != Never && !b.Begun }

// add adds the block of an EventOpen.
func (e *Engine[S]) add(ev *upstream.Event) *Block[S] {
	k := e.Candidate(ev.Candidate)
	c := &e.Candidates[k]
	var b *Block[S]
	if n := len(e.free); n > 0 {
		b, e.free = e.free[n-1], e.free[:n-1]
	} else {
		b = new(Block[S])
	}
	b.Number, b.Candidate, b.Index = ev.Block, k, c.blocks
	if !content.IsNil(ev.Part) {
		b.Part, b.Kind = ev.Part, KindOf(ev.Part)
	}
	c.newest = ev.Block
	c.blocks++
	e.open = append(e.open, b)
	return b
}

// Hold adds the block of an EventOpen whose frame the format forwards when the first text
// arrives.
func (e *Engine[S]) Hold(ev *upstream.Event) *Block[S] {
	b := e.add(ev)
	b.when = Filled
	return b
}

// openBlock handles an EventOpen.
func (e *Engine[S]) openBlock(ev *upstream.Event, rest []upstream.Event) {
	e.FinishLastCall(e.Candidate(ev.Candidate), "")
	b := e.add(ev)
	b.Part, b.input = splitCall(b.Part)
	e.plainCall(b)
	e.plainText(b)
	switch b.when = e.format.OpenBlock(b, rest); b.when {
	case Now:
		e.Begin(b)
	case Filled:
		e.beginWaiting(b)
	case Runnable:
		e.openCall(b, rest)
	}
}

// Begin begins a block. Formats call it only for a block for which OpenBlock has returned
// [Never]. Tool calls that opened before it and have no arguments yet begin first.
func (e *Engine[S]) Begin(b *Block[S]) {
	e.beginWaiting(b)
	e.format.BeginBlock(b)
	b.Begun = true
	if _, ok := b.Part.(*content.ToolUse); ok {
		e.Candidates[b.Candidate].Calls++
	}
}

// beginWaiting begins the tool calls of the candidate that opened before b and have no arguments
// yet, to keep the order. Calls that may be broken continue to wait.
func (e *Engine[S]) beginWaiting(b *Block[S]) {
	for i := 0; i < len(e.open) && e.open[i] != b; i++ {
		if o := e.open[i]; o.Candidate == b.Candidate && o.when == Runnable && !o.Begun && o.first == 0 && !o.maybeBroken {
			e.Begin(o)
			// bounded by maxOpenBlocks
			i = slices.Index(e.open, o) // blocks before it may have ended
		}
	}
}

// text handles text and thinking.
func (e *Engine[S]) text(ev *upstream.Event) {
	b := e.At(ev.Block)
	if b == nil || b.Kind != Text && b.Kind != Thinking {
		return
	}
	if b.Kind == Thinking {
		e.Candidates[b.Candidate].State.AppendText(b.Number, ev.Text, &e.Room)
	}
	if b.when == Filled && !b.Begun {
		if ev.Text == "" {
			e.loseMembers(ev)
			return
		}
		e.Begin(b)
	}
	if b.Begun {
		e.format.WriteText(b, b.tail.Join(ev.Text), ev)
	}
}

// sign handles a signature. An upstream may sign the block that opened last even if many
// others have closed after it.
func (e *Engine[S]) sign(ev *upstream.Event) {
	b, late := e.find(ev.Block)
	switch {
	case b != nil:
		e.format.Sign(b, *ev.Signature, late)
	case envelope.IsForeign(*ev.Signature, e.client):
		e.LoseAt("parts", envelope.TooLate)
	case ev.Signature.Data != "":
		e.LoseAt("parts", envelope.UnknownFormat)
	}
}

// closeBlock handles an EventClose.
func (e *Engine[S]) closeBlock(number int) {
	b := e.At(number)
	if b == nil {
		return
	}
	e.Candidates[b.Candidate].State.Close(number)
	if b.Closed = e.mayBeCut(b) || e.format.CloseBlock(b); !b.Closed {
		e.finish(b)
	}
}

// finish ends a block.
func (e *Engine[S]) finish(b *Block[S]) {
	if e.endCall(b) {
		switch {
		case b.Begun || b.when == Never:
		case b.when == Filled:
			e.format.EndBlock(b, "")
		default:
			e.Begin(b)
		}
		if b.when == Runnable && !b.written && b.input != "" {
			e.writeArguments(b, b.input, nil)
		}
		if b.Begun {
			e.format.EndBlock(b, b.tail.Flush())
		}
	}
	e.remove(b)
}

// FinishClosed ends the blocks that linger.
func (e *Engine[S]) FinishClosed() {
	for i := 0; i < len(e.open); {
		if b := e.open[i]; b.Closed && !e.awaitsNext(b) {
			e.finish(b)
		} else {
			i++
		}
	}
}

// FinishLastCall ends the tool call of a candidate that waits for the next block, if there is
// one. It drops a call that was cut, as the reason why the candidate ended shows.
func (e *Engine[S]) FinishLastCall(k int, ended content.StopReason) {
	b := e.At(e.Candidates[k].newest)
	if b == nil || b.Candidate != k || !e.awaitsNext(b) {
		return
	}
	if codec.NotStarted(b.Part, ended) {
		e.Lose(b, LossCutCall)
		e.remove(b)
		return
	}
	e.finish(b)
}

// remove removes an open block.
func (e *Engine[S]) remove(b *Block[S]) {
	e.arguments -= b.args.Len()
	e.Candidates[b.Candidate].State.Close(b.Number)
	if i := slices.Index(e.open, b); i >= 0 { // bounded by maxOpenBlocks
		e.open = slices.Delete(e.open, i, i+1)
	}
	b.Part, b.call, b.Closed, b.tail = nil, call{}, false, PartialRune{}
	e.closed = append(e.closed, b)
	if len(e.closed) > maxClosed {
		old := e.closed[0]
		e.closed = slices.Delete(e.closed, 0, 1)
		e.format.Forget(old)
		*old = Block[S]{}
		e.free = append(e.free, old)
	}
}
