package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
)

// An EventKind is the kind of an [Event]. It determines which fields of the Event are
// set.
//
// A response is an optional EventStart, followed by blocks. A block is an EventOpen,
// any number of events with the same Block, and an EventClose. Blocks are numbered from
// 0 without gaps in the order in which they open, across all candidates. They may
// overlap.
//
// EventUsage and EventStop may appear anywhere after EventStart. EventExtra and
// EventLoss may appear anywhere. A later EventUsage replaces an earlier one, and so do
// a later EventStop of the same candidate and a later EventSignature of the same block.
//
// All text and thinking is in EventText events. The Part of an EventOpen contains none:
// a [Writer] moves the text of a part into an EventText. The Part contains everything
// else that is known when it opens, including complete arguments of a tool call.
//
// EventText is for blocks that open with a Text or Thinking, EventInput for a ToolUse
// or ServerToolUse, EventCitation for a Text, and EventBlockExtra for any block.
// EventSignature may follow the EventClose of its block, if the block is one of the
// last four that were closed.
//
// The fields named for each kind are not nil, except Extra.
type EventKind uint8

const (
	EventStart      EventKind = iota + 1 // Start
	EventOpen                            // Block, Part: a block begins with Part
	EventText                            // Block, Text: text to append to a Text or Thinking block
	EventInput                           // Block, Text: JSON text, split anywhere, to append to the arguments of a tool call; with Freeform its Text
	EventCitation                        // Block, Citation: a citation to append to a Text block
	EventSignature                       // Block, Signature: signature of the whole block
	EventBlockExtra                      // Block, Text, Extra: see Event.Extra
	EventClose                           // Block: the block is complete
	EventUsage                           // Usage: totals so far
	EventStop                            // Stop: why the candidate ended
	EventLoss                            // Loss
	EventExtra                           // Text, Extra: see Event.Extra
)

var eventNames = [...]string{
	EventStart: "EventStart", EventOpen: "EventOpen", EventText: "EventText", EventInput: "EventInput",
	EventCitation: "EventCitation", EventSignature: "EventSignature", EventBlockExtra: "EventBlockExtra",
	EventClose: "EventClose", EventUsage: "EventUsage", EventStop: "EventStop", EventLoss: "EventLoss",
	EventExtra: "EventExtra",
}

// String returns the name of the constant, such as "EventText".
func (k EventKind) String() string {
	if k == 0 || int(k) >= len(eventNames) {
		return "EventKind(" + strconv.Itoa(int(k)) + ")"
	}
	return eventNames[k]
}

// An Event is one step of a response. The values that its pointers refer to are
// read-only, so == reports whether two events are the same unchanged event.
type Event struct {
	Kind      EventKind
	Block     int // number of the block, from 0 in the order of opening, across all candidates
	Candidate int // number of the candidate, from 0

	Text      string
	Part      content.Part
	Citation  *content.Citation
	Signature *content.Signature
	Start     *Start
	Usage     *content.Usage
	Stop      *Stop
	Loss      *content.Loss

	// Extra holds members of a vendor's event that have no field here. For EventExtra
	// and EventBlockExtra, Text is the name of the vendor's event. If Text is empty,
	// Extra holds members of the response, or of the block.
	Extra *content.Extra

	// Frame is the piece of a vendor's response from which the events of a call of Send
	// were decoded. It is set in the first of them. Only sinks of the same format need
	// it: see [FrameOf].
	Frame *Frame
}

// Check returns an error if the kind of e is undefined, its Candidate is negative, or a field
// that its kind needs is nil: see [EventKind]. It does not check the order of events. The
// sinks of this module call it for each event, and do nothing with events that fail it.
func (e *Event) Check() error {
	ok := true
	switch e.Kind {
	case EventStart:
		ok = e.Start != nil
	case EventOpen:
		ok = !content.IsNil(e.Part)
	case EventCitation:
		ok = e.Citation != nil
	case EventSignature:
		ok = e.Signature != nil
	case EventUsage:
		ok = e.Usage != nil
	case EventStop:
		ok = e.Stop != nil
	case EventLoss:
		ok = e.Loss != nil
	case EventText, EventInput, EventBlockExtra, EventClose, EventExtra:
	default:
		return fmt.Errorf("upstream: event with the undefined kind %d", e.Kind)
	}
	switch {
	case e.Kind == EventOpen && !ok:
		return errNilPart
	case !ok:
		return fmt.Errorf("upstream: %v with a nil %s", e.Kind, strings.TrimPrefix(e.Kind.String(), "Event"))
	case e.Candidate < 0:
		return fmt.Errorf("upstream: %v with candidate %d, want 0 or more", e.Kind, e.Candidate)
	}
	return nil
}

var errNilPart = errors.New("upstream: EventOpen with a nil Part")

// Start describes a response when it begins. All fields are optional.
type Start struct {
	ID    string // the vendor's id of the response
	Model string // the model that responds, which may differ from the requested one

	// ModelAsRequested makes handlers send the requested model to the client instead of
	// Model. Some agents drop the thinking in their history if the two differ. The
	// [Report] contains Model in either case.
	ModelAsRequested bool

	// Upstream is the name of the adapter that responds, and UpstreamID the id that its
	// server gave the exchange: see [Error]. They are empty if unknown.
	Upstream, UpstreamID string

	Extra *content.Extra

	// Header holds headers of the response for the client, such as rate limits of the
	// vendor. Handlers send those that clients of their format know, and those of
	// HandlerOptions.ResponseHeaders.
	Header []HeaderField

	// Usage is the token usage that is known at the start, or nil. Some formats report
	// the tokens of the prompt only there. [Writer.Start] sends it as an EventUsage
	// after the EventStart, whose own Usage is nil.
	Usage *content.Usage
}

// A HeaderField is a header field.
type HeaderField struct{ Name, Value string }

// A Stop is the reason why a response ended.
type Stop struct {
	Reason content.StopReason

	// Sequence is the stop sequence that was generated, with StopSequence.
	Sequence string

	// RawReason is the vendor's name of the reason, in the wire format Format. Details
	// is the vendor's object with details as JSON text, and Message a sentence for
	// people from it. They are empty if the vendor did not report them.
	Format             content.Format
	RawReason, Details string
	Message            string

	Extra *content.Extra
}

// A Frame is a piece of a vendor's response and the events decoded from it. Adapters
// pass it to [Writer.Frame], so that a handler of the same format can send the piece
// unchanged.
//
// Pieces and events need not correspond one to one, because a reader may know the meaning of a
// piece only when later ones have arrived. A frame then has the pieces since the last frame, and
// the events that they begin and end; so a piece without events waits for the next frame. The
// events of blocks that earlier frames have begun may be in a later one than their pieces, but a
// piece that ends a response is in the frame with its EventStop.
type Frame struct {
	Format    content.Format // wire format of Data; empty if Data must not be sent to clients
	Name      string         // name of the event, if the format has one
	Data      string         // validated JSON
	Preceding []string       // Data of earlier pieces whose meaning is included in Events
	Complete  bool           // Data is a whole response, not a piece of a stream
	Events    []Event        // decoded from Data, in order

	// More reports that the next piece has already been received and will be written
	// next. A sink may hold this piece back to send both at once.
	More bool
}

// Response returns the response that the events of f represent, if f is the frame of a whole
// response. It does not change f. The error describes events that are not in the order that
// [EventKind] defines.
func (f *Frame) Response() (*Response, error) {
	r, err := Collect(context.Background(), Func(func(_ context.Context, _ *Request, w *Writer) error {
		if f == nil {
			return errNilFrame
		}
		c := *f
		c.Events = slices.Clone(f.Events)
		return w.Frame(&c)
	}), new(Request))
	if err == nil {
		r.Frame = f
	}
	return r, err
}

// A FrameReader reads a vendor's response in frames. The StreamReaders of the formats are
// FrameReaders.
type FrameReader interface {
	// Next returns the next frame, which is valid until the next call. The error is
	// [io.EOF] after a complete response.
	Next() (*Frame, error)
}

// Equal returns true. With it, cmp.Diff compares events by meaning and not by encoding.
func (*Frame) Equal(*Frame) bool { return true }

// FrameOf returns the frame from which events were decoded. It returns nil if they are
// not exactly the events of one frame, for example because one was changed, omitted,
// added or moved. A sink of the frame's format may send Frame.Data instead of encoding
// events.
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

// A Sink receives the events of a response.
type Sink interface {
	// Send receives events that arrived together: from one call of a method of a
	// Writer, or from one frame of a vendor. It may change the slice and its elements.
	// It must not keep the slice or a Frame after it returns, but may keep strings and
	// the values that pointers refer to. If Send returns an error, the Writer returns
	// it from all later calls, and Send is not called again.
	//
	// Calls of Send do not overlap.
	Send(events []Event) error
}

// A SinkFunc is a function that implements [Sink].
type SinkFunc func(events []Event) error

// Send calls f(events).
func (f SinkFunc) Send(events []Event) error { return f(events) }

// A StreamWriter is a [Sink] that writes a response as a stream of a format, without HTTP. The
// packages of the formats have functions that return one, such as NewStreamWriter. Pass it to [Run],
// and then the error of Run to End:
//
//	w := messages.NewStreamWriter(out, req)
//	err := w.End(upstream.Run(ctx, up, req, w))
//
// It writes the bytes that the handler of the format sends. Its methods may be called by several
// goroutines at once, except that Send and End must not overlap.
type StreamWriter interface {
	// Send writes all events of the format that it can complete, in at most one call of Write,
	// which has whole events. After an error, which may be that of the io.Writer, it does nothing
	// and returns the same error.
	Send(events []Event) error

	// Ping writes what keeps the connection open. Clients ignore it. It returns an error after End
	// or after a failed Write.
	Ping() error

	// End writes the end of the response in one call of Write: the normal end if err is nil, and
	// otherwise err, as EncodeError of the format encodes it. It must be called once. It returns
	// err or, if that is nil, the first error of Send or of writing.
	End(err error) error

	// Losses returns the losses so far, with neutral paths: those that arrived as events, which
	// include all losses that the upstream reported, and those of the format. Each loss is in the
	// list once. It has at most 1,000 losses, of which the most severe are kept.
	Losses() []content.Loss
}
