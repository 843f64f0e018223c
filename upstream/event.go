package upstream

import (
	"github.com/polywire/polywire/content"
)

// An EventKind says what an [Event] tells, and which of its fields are set.
//
// The legal order of an answer is: an optional EventStart; then blocks, each
// EventOpen, any number of deltas with the same Block, EventClose. Blocks are
// numbered from 0 without gaps in the order they open, across all Candidates,
// and may overlap. EventUsage and EventStop stand anywhere after EventStart,
// EventExtra and EventLoss stand anywhere. Of several usages, and of several
// stops of one candidate, the last counts, and so does the last signature of a
// block.
//
// Texts and thoughts come in EventText only: the Part of an EventOpen has none,
// and a [Writer] that is given one with text splits it. Everything else that is
// known of a part from the start is in the Part, arguments of calls included.
// EventText stands only in blocks that opened with a Text or Thinking,
// EventInput only in those of a ToolUse or ServerToolUse, EventCitation in
// those of a Text, EventBlockExtra in any. EventSignature may come after its
// block was closed, since vendors sign late: then the block is one of the last
// four that were. The field that a kind names is never nil, but for an Extra.
type EventKind uint8

const (
	EventStart      EventKind = iota + 1 // Start
	EventOpen                            // Block, Part: a block begins; what Part holds is its beginning
	EventText                            // Block, Text: more of a Text or Thinking block
	EventInput                           // Block, Text: more of a call's arguments, as JSON text split anywhere
	EventCitation                        // Block, Citation: one more citation of a Text block
	EventSignature                       // Block, Signature: of the whole block; at most one
	EventBlockExtra                      // Block, Text, Extra: as EventExtra, about a block
	EventClose                           // Block: the block is whole
	EventUsage                           // Usage: totals so far
	EventStop                            // Stop: why the answer ends
	EventLoss                            // Loss
	EventExtra                           // Text, Extra: something only one format knows
)

// An Event is one step of an answer. It is a plain comparable value: == tells
// whether somebody changed it. What its pointers point at is read-only.
type Event struct {
	Kind      EventKind
	Block     int // which block, from 0, in order of opening, across all candidates
	Candidate int // which of several answers; 0 but for vendors that give more

	Text      string
	Part      content.Part
	Citation  *content.Citation
	Signature *content.Signature
	Start     *Start
	Usage     *content.Usage
	Stop      *Stop
	Loss      *content.Loss

	// Extra holds members of a vendor's event that have no field here. With
	// EventExtra and EventBlockExtra, Text says what it is: the name of a
	// vendor's event, all of whose data is in Extra, or empty for members of
	// the answer, or of the block.
	Extra *content.Extra

	// Frame, on the first event of a batch, is what the vendor sent. Nobody
	// but sinks of the same format need look at it: see [FrameOf].
	Frame *Frame
}

// Start is what is known of an answer when it begins. All of it is optional.
type Start struct {
	ID    string // the vendor's id of the answer
	Model string // the model that answers, which may be another than the one asked

	// ModelAsRequested has clients told the model that they asked for in place of Model,
	// which the [Report] still has: there are agents that take their own history
	// for another model's if the names differ, and drop thoughts out of it.
	ModelAsRequested bool

	// Upstream is the name of the adapter that answers, and UpstreamID the id that
	// its server gave the exchange: see [Error]. They are empty where unknown.
	Upstream, UpstreamID string

	Extra *content.Extra

	// Header holds what the vendor said in response headers and the client
	// should hear, such as rate limits.
	Header []Field

	// Usage is what is known of the prompt's tokens by then: some formats have
	// a place for them at the start only. [Writer.Start] tells it as an
	// EventUsage right behind the EventStart, whose own Usage is nil.
	Usage *content.Usage
}

// A Field is one header line.
type Field struct{ Name, Value string }

// Stop says why an answer ended.
type Stop struct {
	Reason content.StopReason

	// Sequence is the stop sequence that was met.
	Sequence string

	// Format and Word are the vendor's own word for the reason, and
	// Details its details as JSON text, if there are any. Message is the
	// sentence for people among them.
	Format             content.Format
	RawReason, Details string
	Message            string

	Extra *content.Extra
}

// A Frame is one piece of a vendor's answer, and what it means. An adapter
// fills it and calls [Writer.Frame].
type Frame struct {
	Format content.Format // empty: no client should be shown Data as it is
	Name   string         // the event's name, where the format has one
	Data   string         // checked JSON
	Before []string       // Data of pieces of the stream before this one; Events has their meaning, too
	Whole  bool           // a whole reply, not a piece of a stream
	Events []Event        // what it was decoded into, in order

	// More says that the next piece is here already, and will be written at
	// once: a sink may hold this one back until then, so that both go out
	// together.
	More bool
}

// Equal says true: frames are how something was said, not what.
func (*Frame) Equal(*Frame) bool { return true }

// FrameOf returns the frame that events were decoded from, or nil if they are
// not exactly the events of one: if any was changed, dropped, added or moved.
// A sink of the frame's format may write its Data instead of the events.
func FrameOf(events []Event) *Frame {
	if len(events) == 0 {
		return nil
	}
	f := events[0].Frame
	if f == nil || len(f.Events) != len(events) {
		return nil
	}
	for i := range events {
		if events[i] != f.Events[i] {
			return nil
		}
	}
	return f
}

// A Sink takes an answer.
type Sink interface {
	// Send takes the events that arrived together: those of one call on the
	// Writer, or of one frame of a vendor. It may change the slice and what is
	// in it, and keeps neither the slice nor a Frame after it returns; strings
	// and what pointers point at may be kept. An error means that nobody is
	// listening any more; the Writer sticks to it.
	//
	// Calls never overlap.
	Send(events []Event) error
}

// SinkFunc makes a Sink of a function.
type SinkFunc func(events []Event) error

// Send calls f.
func (f SinkFunc) Send(events []Event) error { return f(events) }
