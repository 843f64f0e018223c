// Package response turns the events of a response into what a client receives. It is the
// same for every format, and for streamed and whole responses.
//
// An [Engine] keeps the blocks of a response: their numbers, the characters and arguments
// that are incomplete, tool calls that may be broken or cut, the state of another vendor
// that the client has to return, and the bounds of all these. A [Format] writes how a block
// begins, continues and ends. For a streamed response it writes bytes, and for a whole one
// it collects parts.
//
// There is one rule of order: before a block begins, everything owed to earlier blocks is
// written, in order. Blocks begin in [Engine.Begin] only.
package response

import (
	"errors"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A Format writes the blocks of one response. S is what it keeps of a block. An [Engine]
// calls its methods in the order of the response.
type Format[S any] interface {
	// OpenBlock prepares a block that opens: it replaces Part by the part that the client
	// receives, and may change Kind. It returns when the block begins. rest are the events that
	// arrived together with its EventOpen, after it.
	OpenBlock(b *Block[S], rest []upstream.Event) When

	// BeginBlock writes what is owed to earlier blocks, and then the start of b.
	BeginBlock(b *Block[S])

	// WriteText continues a block that has begun, with text, thinking or arguments. The text has
	// whole characters: it may differ from that of the event, which is nil at the end of
	// arguments.
	WriteText(b *Block[S], text string, e *upstream.Event)

	// Cite adds a citation to an open block, which may be of any kind.
	Cite(b *Block[S], e *upstream.Event)

	// Sign sets the signature of a block. If late is true, the block has ended.
	Sign(b *Block[S], s content.Signature, late bool)

	// CloseBlock is called when a block closes. It returns true if the block ends later, because
	// a signature may follow: see [Engine.FinishClosed].
	CloseBlock(b *Block[S]) (later bool)

	// EndBlock writes the end of a block. rest is an incomplete character. If the block has not
	// begun, it is one that begins [Filled] and has no text: the client does not receive it.
	EndBlock(b *Block[S], rest string)

	// Forget is called when nothing can follow for a block that has ended.
	Forget(b *Block[S])
}

// A Stream is what a [Format] has besides if it writes a streamed response. A whole response has
// no other events, and no frames.
type Stream[S any] interface {
	// Broken is called when a tool call turns out to be broken.
	Broken(b *Block[S])

	// Other handles an event that is not about the content of a block. b is the block of an
	// EventBlockExtra if it is open.
	Other(b *Block[S], e *upstream.Event)

	// CanForward reports whether a frame of the client's format can be written in place of
	// its events: not if a block has an incomplete character, or if the arguments of a tool
	// call that did not begin in a frame follow. Forward writes it and calls [Engine.Track].
	CanForward(f *upstream.Frame, events []upstream.Event) bool
	Forward(f *upstream.Frame, events []upstream.Event)

	// Tracked updates what the format keeps for an event whose frame is forwarded. b is the
	// block of the event, or nil.
	Tracked(b *Block[S], e *upstream.Event)
}

// A LogprobFormat is a [Format] that has log probabilities of tokens.
type LogprobFormat interface {
	// AddLogprobs adds those of tokens of candidate k. They come before their text, or with it.
	AddLogprobs(k int, list []foreign.Logprob)
}

// TakeLogprobs passes the log probabilities in x, members of candidate k or of its text, to the
// format. It returns x without them, or nil if nothing remains.
func (e *Engine[S]) TakeLogprobs(k int, x *content.Extra) *content.Extra {
	f, ok := e.format.(LogprobFormat)
	if !ok || x == nil {
		return x
	}
	list, rest := foreign.TakeLogprobs(x)
	if len(list) > 0 {
		f.AddLogprobs(k, list)
		if foreign.DropsOfTokens(x) {
			e.LoseAt(CandidatePath(e.Candidates[k].Index, "logprobs"), foreign.TokensLoss)
		}
	}
	return rest
}

// When is when a block begins.
type When uint8

const (
	Never    When = iota // the client does not receive the block
	Now                  // when it opens
	Filled               // a text: when its first text arrives
	Runnable             // a tool call: when clients can run it, see call.go
	AtEnd                // when it is complete; a free-form call, whose text cannot be checked, begins then
)

// LossHiddenThinking is the rule of the loss of thinking that is not sent because the client
// did not request it.
var LossHiddenThinking = loss.Hint(loss.ResponseText, "the request did not ask for thinking; it was omitted")

// Rules are the rules of losses that differ between formats.
type Rules struct {
	Candidates   *loss.Rule // candidates beyond those of the format; nil: they are an error
	EventMembers *loss.Rule // members of an event that has no place for them
	SentCall     *loss.Rule // broken arguments of a tool call that has begun
	Sequential   bool       // a block begins when all that opened before it are closed: see queue.go

	Freeform   bool // calls of free-form tools have a text; otherwise it becomes an argument
	Namespaces bool // tool calls have a namespace; otherwise it is omitted
	Refusals   bool // a text can be marked as a refusal
}

// An Engine turns the events of one response into blocks. It does no I/O and reads no
// clock. It allocates nothing for a delta, except room for arguments. It is set up with
// [Engine.Init].
type Engine[S any] struct {
	Start      upstream.Start
	Usage      content.Usage
	Candidates []Candidate // in the order of their first event

	// Own reports that the response is of a vendor of the client's format.
	Own bool

	// Room is how many bytes of state of other vendors the candidates may still keep.
	Room int

	format        Format[S]
	stream        Stream[S] // nil for a whole response
	client        content.Format
	maxCandidates int
	rules         Rules

	open      []*Block[S] // in the order of opening
	closed    []*Block[S] // that ended last, in order
	free      []*Block[S]
	arguments int             // bytes of arguments of open blocks
	queued    map[int]*queued // blocks that wait, by number: see queue.go
	parts     int             // parts of whole responses
	others    bool
	lost      loss.List
	err       error

	// The first elements of the lists, which most responses do not exceed.
	firstBlock     Block[S]
	firstOpen      [2]*Block[S]
	firstFree      [2]*Block[S]
	firstClosed    [maxClosed + 1]*Block[S]
	firstCandidate [1]Candidate
}

// A Candidate is one of the alternatives in a response.
type Candidate struct {
	Index  int // in the response
	Stop   upstream.Stop
	Calls  int  // tool calls that the client receives
	Broken bool // the model did not complete a tool call

	// State is state of another vendor that the client does not receive with its part.
	State envelope.Pending

	queue  []*queued // blocks that wait, in the order of opening
	blocks int       // that opened
	newest int       // number of the block that opened last
}

const (
	maxClosed    = 8        // blocks that are kept for signatures: they may follow for the last four that closed, and blocks may end later than they close
	maxArguments = 32 << 20 // bytes of arguments of open tool calls, and of events that wait for them
)

var (
	errTooManyCandidates = &upstream.Error{Code: upstream.CodeBadGateway, Err: errors.New("the response has too many candidates")}
	errArgumentsTooLarge = &upstream.Error{Code: upstream.CodeBadGateway,
		Err: errors.New("the arguments of open tool calls, with what waits for them, are larger than " + strconv.Itoa(maxArguments>>20) + " MiB")}
)

// Init sets up e for a client's format. s is nil for a whole response, and for a format that
// neither forwards frames nor writes other events. room is the limit of [Engine.Room].
func (e *Engine[S]) Init(f Format[S], s Stream[S], client content.Format, maxCandidates, room int, r Rules) {
	e.format, e.stream, e.client, e.maxCandidates, e.Room, e.rules = f, s, client, maxCandidates, room, r
	e.open, e.closed, e.Candidates = e.firstOpen[:0], e.firstClosed[:0], e.firstCandidate[:0]
	e.free = append(e.firstFree[:0], &e.firstBlock)
}

// Events handles events that arrived together.
func (e *Engine[S]) Events(events []upstream.Event) {
	if f := upstream.FrameOf(events); f != nil && f.Format == e.client {
		e.Own = true
		if !f.Complete && e.stream != nil && e.stream.CanForward(f, events) {
			e.stream.Forward(f, events)
			return
		}
	}
	for i := range events {
		ev := &events[i]
		switch {
		case ev.Candidate >= e.maxCandidates:
			e.otherCandidate()
		case !e.enqueue(ev):
			e.handle(ev, events[i+1:])
			if len(e.queued) > 0 {
				e.dequeue(e.Candidate(ev.Candidate))
			}
		}
	}
}

// handle handles one event. rest are the following events.
func (e *Engine[S]) handle(ev *upstream.Event, rest []upstream.Event) {
	switch ev.Kind {
	case upstream.EventText:
		e.text(ev)
	case upstream.EventInput:
		e.input(ev, rest)
	case upstream.EventOpen:
		e.openBlock(ev, rest)
		e.loseMembers(ev)
	case upstream.EventClose:
		e.closeBlock(ev.Block)
		e.loseMembers(ev)
	case upstream.EventSignature:
		e.sign(ev)
		e.loseMembers(ev)
	case upstream.EventCitation:
		if b := e.At(ev.Block); b != nil {
			e.format.Cite(b, ev)
		}
	default:
		e.record(ev)
		if e.stream != nil {
			e.stream.Other(e.otherBlock(ev), ev)
		}
	}
}

// otherBlock returns the open block of an event that is not about the content of a block, or nil.
func (e *Engine[S]) otherBlock(ev *upstream.Event) *Block[S] {
	if ev.Kind == upstream.EventBlockExtra {
		return e.At(ev.Block)
	}
	return nil
}

// record stores what describes the whole response.
func (e *Engine[S]) record(ev *upstream.Event) {
	switch ev.Kind {
	case upstream.EventStart:
		e.Start = *ev.Start
	case upstream.EventUsage:
		e.Usage = *ev.Usage
	case upstream.EventStop:
		e.Candidates[e.Candidate(ev.Candidate)].Stop = *ev.Stop
	}
}

// otherCandidate handles an event of a candidate that the client cannot receive.
func (e *Engine[S]) otherCandidate() {
	switch {
	case e.rules.Candidates == nil:
		e.err = errTooManyCandidates
	case !e.others:
		e.others = true
		e.LoseAt("candidates", e.rules.Candidates)
	}
}

// Candidate returns the position in Candidates of the candidate with an index. It adds a
// missing one.
func (e *Engine[S]) Candidate(index int) int {
	for k := range e.Candidates {
		if e.Candidates[k].Index == index {
			return k
		}
	}
	e.Candidates = append(e.Candidates, Candidate{Index: index, State: envelope.Pending{ClientFormat: e.client}})
	return len(e.Candidates) - 1
}

// loseMembers reports the extra members of an event.
func (e *Engine[S]) loseMembers(ev *upstream.Event) {
	if ev.Extra == nil {
		return
	}
	if b, _ := e.find(ev.Block); b != nil {
		e.Lose(b, e.rules.EventMembers)
	} else {
		e.LoseAt("parts", e.rules.EventMembers)
	}
}

// Lose reports a loss of a block.
func (e *Engine[S]) Lose(b *Block[S], r *loss.Rule) { e.LoseAt(e.Path(b.Candidate, b.Index), r) }

// LoseAt reports a loss at a neutral path.
func (e *Engine[S]) LoseAt(path string, r *loss.Rule) { e.lost.Add(r.At(path)) }

// LossesOf returns a function that reports losses of a block.
func (e *Engine[S]) LossesOf(b *Block[S]) func(*loss.Rule) {
	return func(r *loss.Rule) { e.Lose(b, r) }
}

// Path returns the neutral path of a part. k is a position in Candidates.
func (e *Engine[S]) Path(k, part int) string { return PartPath(e.Candidates[k].Index, part) }

// PartPath returns the neutral path of a part of the candidate with an index.
func PartPath(candidate, part int) string {
	return CandidatePath(candidate, "parts."+strconv.Itoa(part))
}

// CandidatePath returns the neutral path of a member of a candidate, or of the candidate if
// path is empty. The first candidate has no path of its own.
func CandidatePath(index int, path string) string {
	switch {
	case index == 0:
		return path
	case path == "":
		return "candidates." + strconv.Itoa(index)
	}
	return "candidates." + strconv.Itoa(index) + "." + path
}

// Losses returns the losses since the last call.
func (e *Engine[S]) Losses() []content.Loss {
	l := e.lost.All
	e.lost.All = nil
	return l
}

// Err returns an error if the response exceeds a limit.
func (e *Engine[S]) Err() error { return e.err }

// Track updates e for the events of a frame that is forwarded.
func (e *Engine[S]) Track(events []upstream.Event) {
	for i := range events {
		e.stream.Tracked(e.track(&events[i]), &events[i])
	}
}

// track updates e for an event and returns its block.
func (e *Engine[S]) track(ev *upstream.Event) *Block[S] {
	switch ev.Kind {
	case upstream.EventOpen:
		b := e.add(ev)
		b.Begun, b.Forwarded = true, true
		if _, ok := ev.Part.(*content.ToolUse); ok {
			e.Candidates[b.Candidate].Calls++
		}
		return b
	case upstream.EventClose:
		b := e.At(ev.Block)
		if b != nil {
			e.remove(b)
		}
		return b
	case upstream.EventText, upstream.EventInput, upstream.EventSignature, upstream.EventCitation, upstream.EventBlockExtra:
		return e.At(ev.Block)
	}
	e.record(ev)
	return nil
}

// HasContent reports whether events have more than losses and counts. A format that forwards
// frames may not forward later ones if it has encoded such events: a frame may continue what the
// pieces of an earlier one have begun.
func HasContent(events []upstream.Event) bool {
	for i := range events {
		if k := events[i].Kind; k != upstream.EventLoss && k != upstream.EventUsage {
			return true
		}
	}
	return false
}

// Opens reports whether a block opens in events.
func Opens(events []upstream.Event, block int) bool {
	for i := range events {
		if events[i].Kind == upstream.EventOpen && events[i].Block == block {
			return true
		}
	}
	return false
}
