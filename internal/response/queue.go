package response

import (
	"slices"

	"github.com/polywire/polywire/upstream"
)

// Blocks may overlap: a tool call may stay open while a text follows. A format without open
// blocks, such as generateContent, writes a tool call when it is complete, and the pieces of
// a text when they arrive. Its parts are in the order in which their blocks opened, as in
// a whole response. So a block that opens while another one of its candidate is open
// waits: its events are kept until all blocks before it are closed. In the order of their
// ends, parts would give one response two histories, streamed and whole. In other formats a
// block waits only for a text that has opened and has no text yet (see [Filled]), for one that begins
// [AtEnd], and for a tool call whose arguments may be broken.
//
// Only an upstream that leaves a block open while it writes another delays its client, and
// the end of the response at the latest closes the block.

// A queued block waits for the end of those that opened before it.
type queued struct {
	number    int
	candidate int // position in Engine.Candidates
	events    []upstream.Event
}

// eventCost is an upper bound of the bytes of an event besides its text.
const eventCost = 256

// enqueue keeps the event of a block that has to wait, and reports whether it has to.
func (e *Engine[S]) enqueue(ev *upstream.Event) bool {
	var q *queued
	switch ev.Kind {
	case upstream.EventOpen:
		k := e.Candidate(ev.Candidate)
		if !e.mustWait(k) && !e.Candidates[k].HasQueued() {
			return false
		}
		q = &queued{number: ev.Block, candidate: k}
		if e.queued == nil {
			e.queued = make(map[int]*queued)
		}
		e.queued[ev.Block] = q
		e.Candidates[k].queue = append(e.Candidates[k].queue, q)
	case upstream.EventText, upstream.EventInput, upstream.EventCitation, upstream.EventSignature, upstream.EventBlockExtra, upstream.EventClose:
		if q = e.queued[ev.Block]; q == nil {
			return false
		}
	default:
		return false
	}
	if e.arguments += eventCost + len(ev.Text); e.arguments > maxArguments {
		e.err = errArgumentsTooLarge
		return true
	}
	q.events = append(q.events, *ev)
	return true
}

// mustWait reports whether a block of a candidate cannot begin, because of one that is open.
func (e *Engine[S]) mustWait(k int) bool {
	return slices.ContainsFunc(e.open, func(b *Block[S]) bool { // bounded by maxOpenBlocks
		switch {
		case b.Candidate != k || b.Closed:
			return false
		case b.Begun:
			return e.rules.Sequential
		}
		return e.rules.Sequential || b.when == Filled || b.when == AtEnd || b.when == Runnable && (b.first != 0 || b.maybeBroken)
	})
}

// HasQueued reports whether a block of a candidate waits for the end of an earlier one.
func (c *Candidate) HasQueued() bool { return len(c.queue) > 0 }

// dequeue handles the events of the blocks of a candidate whose turn has come.
func (e *Engine[S]) dequeue(k int) {
	for len(e.Candidates[k].queue) > 0 && !e.mustWait(k) {
		q := e.Candidates[k].queue[0]
		e.Candidates[k].queue = e.Candidates[k].queue[1:]
		delete(e.queued, q.number)
		for i := range q.events {
			ev := &q.events[i]
			e.arguments -= eventCost + len(ev.Text)
			e.handle(ev, q.events[i+1:])
		}
	}
}

// FinishQueued closes the open blocks of a candidate as long as others wait for them.
func (e *Engine[S]) FinishQueued(k int) {
	for e.Candidates[k].HasQueued() {
		for i := 0; i < len(e.open); {
			if b := e.open[i]; b.Candidate == k && !b.Closed {
				e.closeBlock(b.Number) // removes it, unless it waits
				continue
			}
			i++
		}
		e.dequeue(k)
	}
}
