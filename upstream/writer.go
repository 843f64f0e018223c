package upstream

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/callid"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/internal/violation"
)

// A Writer receives a response from an [Upstream]. It opens, numbers and closes blocks,
// so the order of events is always valid.
//
// After a method has returned an error, all later calls return that error and do
// nothing, so it is sufficient to check the last one. A method returns after the sink
// received its output; in a handler, after the output was flushed to the client. At
// most 1,000 blocks may be open at once.
//
// A Writer is safe for concurrent use until Generate returns. Afterwards its methods
// return [ErrClosed].
type Writer struct {
	mu   sync.Mutex
	sink Sink
	err  error
	writerState
	batch   []Event        // events of the current call, reused
	usage   *content.Usage // last one that was sent
	sinkErr error          // of the sink
}

// A writerState is what a Writer knows of its response.
type writerState struct {
	req *Request

	nextBlock      int      // number of the next block
	open           []block  // open blocks in the order of opening
	recentlyClosed [4]block // blocks whose signatures may follow
	text           int      // number of the open block for Text or Thinking, or -1
	last           block    // block opened last; out is -1 if there is none
	ids            callid.Maker
	idsScanned     bool            // ids has seen those of the request
	usedIDs        map[string]bool // ids of tool calls written here
	hasToolCalls   bool
	begun          bool // an event other than EventLoss was sent
	started        bool // an EventStart is no longer allowed
	stopped        bool // an EventStop with a reason was sent
}

// A block is a block of the response. in is its number in the events passed to Send and
// Frame, or -1, and out its number in the response.
type block struct {
	candidate, in, out int
	kind               content.Part // as opened
}

// maxOpenBlocks limits open blocks, and with them the cost of finding a block.
const maxOpenBlocks = 1000

var errTooManyOpen = errors.New("upstream: more than 1000 blocks are open at once")

func newWriter(req *Request, sink Sink) *Writer {
	if req == nil {
		req = new(Request)
	}
	w := &Writer{sink: sink, writerState: writerState{req: req, text: -1, last: block{in: -1, out: -1}, ids: callid.Maker{Prefix: "call_"}}}
	for i := range w.recentlyClosed {
		w.recentlyClosed[i].in = -1
	}
	return w
}

// Start describes the response. It is optional. It returns an error if anything except
// losses was written before, and the response then fails.
func (w *Writer) Start(s Start) error {
	return w.do(func() error {
		if w.started {
			return errLateStart
		}
		usage := s.Usage
		s.Usage = nil
		err := w.add(Event{Kind: EventStart, Start: &s})
		if usage != nil && err == nil {
			err = w.add(Event{Kind: EventUsage, Usage: usage})
		}
		return err
	})
}

var errLateStart = errors.New("upstream: Start must be called once, before other output")

// Text appends s to the text of the response. The first call opens a text block, and
// writing anything else closes it. An empty s is ignored.
func (w *Writer) Text(s string) error { return w.delta(s, false) }

// Thinking appends s to the thinking of the response, in the same way as Text.
func (w *Writer) Thinking(s string) error { return w.delta(s, true) }

func (w *Writer) delta(s string, thinking bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || s == "" {
		return w.err
	}
	w.batch = w.batch[:0]
	if b := w.ownBlock(w.text); b == nil || thinking != isThinking(b.kind) {
		w.closeText()
		if thinking {
			w.text = w.openBlock(&content.Thinking{})
		} else {
			w.text = w.openBlock(&content.Text{})
		}
	}
	w.batch = append(w.batch, Event{Kind: EventText, Block: w.text, Text: s})
	return w.flush()
}

// Signature sets the signature of the open block, or of the block that was written
// last. If there is no block, it writes an empty thinking block. It closes an open
// thinking block. If it is called again for a block, the last signature counts.
//
// s.Format should be the format of the client, such as messages.Format, if the client
// has to return the signature. Handlers drop signatures without a Format.
func (w *Writer) Signature(s content.Signature) error {
	return w.do(func() error {
		if w.last.out < 0 {
			w.text = w.openBlock(&content.Thinking{})
		}
		w.batch = append(w.batch, Event{Kind: EventSignature, Block: w.last.out, Candidate: w.last.candidate, Signature: &s})
		if b := w.ownBlock(w.text); b != nil && isThinking(b.kind) {
			w.closeText()
		}
		return nil
	})
}

// Cite adds a citation to the open text block. If no text block is open, it opens one.
func (w *Writer) Cite(c content.Citation) error {
	return w.do(func() error {
		if b := w.ownBlock(w.text); b == nil || isThinking(b.kind) {
			w.closeText()
			w.text = w.openBlock(&content.Text{})
		}
		return w.add(Event{Kind: EventCitation, Block: w.text, Citation: &c})
	})
}

// ToolCall begins a tool call. Several tool calls may be written at the same time. Clients of
// generateContent receive a tool call when it is complete, and what was written after its
// beginning follows it. So close each tool call before writing a text. If
// id is empty, ToolCall generates one that is unique in the conversation. If name is
// empty or another tool call of the response has the id, the methods of the
// ToolCallWriter return an error.
func (w *Writer) ToolCall(id, name string) *ToolCallWriter {
	return w.BeginToolCall(&content.ToolUse{ID: id, Name: name})
}

// BeginToolCall is [Writer.ToolCall] for calls that have more than an id and a name, such as
// those of free-form tools. It does not keep t.
func (w *Writer) BeginToolCall(t *content.ToolUse) *ToolCallWriter {
	c := &ToolCallWriter{w: w}
	_ = w.do(func() error {
		w.closeText()
		if len(w.open) >= maxOpenBlocks {
			return errTooManyOpen
		}
		if t == nil {
			return errNoPart
		}
		own := *t
		var err error
		if own.ID, err = w.toolCallID(t.ID, t.Name); err != nil {
			return err
		}
		c.block = w.openBlock(&own)
		return nil
	})
	return c
}

var errNoPart = errors.New("upstream: nil Part")

// toolCallID returns id or, if it is empty, "call_" and a number greater than those of
// all such ids in the conversation.
func (w *Writer) toolCallID(id, name string) (string, error) {
	w.hasToolCalls = true
	if name == "" {
		return "", errors.New("upstream: tool call without a name")
	}
	if w.usedIDs[id] {
		return "", fmt.Errorf("upstream: two tool calls with the id %q", id)
	}
	if id == "" {
		if !w.idsScanned {
			w.idsScanned = true
			for id := range callid.All(w.req.Turns) {
				w.ids.See(id)
			}
		}
		id = w.ids.Make()
	}
	w.ids.See(id)
	if w.usedIDs == nil {
		w.usedIDs = make(map[string]bool)
	}
	w.usedIDs[id] = true
	return id, nil
}

// Part writes a complete part of any kind.
func (w *Writer) Part(p content.Part) error {
	return w.do(func() error {
		if content.IsNil(p) {
			return errNoPart
		}
		w.closeText()
		if t, ok := p.(*content.ToolUse); ok {
			id, err := w.toolCallID(t.ID, t.Name)
			if err != nil {
				return err
			}
			if id != t.ID {
				c := *t
				c.ID = id
				p = &c
			}
		}
		n := w.openBlock(p)
		w.splitText()
		w.closeBlock(n)
		return nil
	})
}

// Usage sets the token usage so far. It replaces all counts of earlier calls, also by
// 0. A host that bills by usage should call it while the response grows: if the client
// leaves, the last call counts.
func (w *Writer) Usage(u content.Usage) error {
	return w.do(func() error { return w.add(Event{Kind: EventUsage, Usage: &u}) })
}

// Stop sets the reason why the response ends. If it is called again, the last call
// counts. A Stop without a Reason is ignored, and the default applies: StopToolUse if
// the response contains a tool call, and StopEnd otherwise. Stop does not check that
// the reason fits the response: do not set StopToolUse without a tool call.
func (w *Writer) Stop(s Stop) error {
	return w.do(func() error { return w.add(Event{Kind: EventStop, Stop: &s}) })
}

// Loss reports losses. Losses reported before the response begins are those of the
// request. Report all of them in one call, before anything is sent or fetched, and
// return if Loss returns an error. If Request.RejectLoss does not allow a loss, the
// error contains a [*content.Violation] for each loss that is not allowed.
//
// The adapters of this module report one loss for each reason, with all its places.
func (w *Writer) Loss(ls []content.Loss) error {
	if len(ls) == 0 {
		return w.do(func() error { return nil })
	}
	return w.do(func() error {
		ls := slices.Clone(ls)
		for i := range ls {
			w.batch = append(w.batch, Event{Kind: EventLoss, Loss: &ls[i]})
		}
		return nil
	})
}

// do calls f, which fills the batch, and sends the batch.
func (w *Writer) do(f func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.batch = w.batch[:0]
	if err := f(); err != nil {
		w.err = err
		return err
	}
	return w.flush()
}

func (w *Writer) add(e Event) error {
	w.batch = append(w.batch, e)
	return nil
}

// openBlock opens a block, adds its event to the batch and returns its number.
func (w *Writer) openBlock(p content.Part) int {
	n := w.nextBlock
	w.nextBlock++
	// in is negative because no event passed to Send or Frame refers to the block.
	w.last = block{in: -1, out: n, kind: p}
	w.open = append(w.open, w.last)
	w.batch = append(w.batch, Event{Kind: EventOpen, Block: n, Part: p})
	return n
}

func (w *Writer) closeBlock(out int) {
	w.removeBlock(out)
	w.batch = append(w.batch, Event{Kind: EventClose, Block: out})
}

func (w *Writer) closeText() {
	if w.text >= 0 {
		w.closeBlock(w.text)
	}
}

func (w *Writer) removeBlock(out int) {
	for i := range w.open {
		if w.open[i].out == out {
			copy(w.recentlyClosed[1:], w.recentlyClosed[:])
			w.recentlyClosed[0] = w.open[i]
			w.open = slices.Delete(w.open, i, i+1)
			break
		}
	}
	if w.text == out {
		w.text = -1
	}
}

// ownBlock returns the open block with the number out, or nil.
func (w *Writer) ownBlock(out int) *block {
	for i := len(w.open) - 1; i >= 0; i-- { // usually one of the last
		if w.open[i].out == out {
			return &w.open[i]
		}
	}
	return nil
}

// rejected returns the text of the error of a request that a loss rejects. The reason alone
// would report something that was not sent.
func rejected(l *content.Loss) string {
	const text = "the request is rejected because of a loss"
	if n := l.Count(); n > 1 {
		return fmt.Sprintf("%s here and at %d more places: %s", text, n-1, l.Reason)
	}
	return text + ": " + l.Reason
}

// flush sends the batch. Losses before any other event belong to the request. They are
// sent even if the request does not allow them.
func (w *Writer) flush() error {
	if len(w.batch) == 0 {
		return nil
	}
	var refused violation.List
	for i := range w.batch {
		e := &w.batch[i]
		switch e.Kind {
		case EventLoss:
			if !w.begun && w.req.RejectLoss != 0 && e.Loss.Severity >= w.req.RejectLoss {
				refused.Add(content.CodeUnsupported, e.Loss.Path, rejected(e.Loss))
			}
			continue
		case EventExtra:
		case EventUsage:
			w.usage, w.started = e.Usage, true
		case EventStop:
			w.stopped = w.stopped || e.Stop.Reason != ""
			w.started = true
		default:
			w.started = true
		}
		w.begun = true
	}
	err := w.sink.Send(w.batch)
	clear(w.batch) // keep no references
	if err == nil {
		err = refused.Err()
	} else {
		w.sinkErr = err
	}
	w.err = err
	return err
}

// finish ends the response after Generate has returned err.
func (w *Writer) finish(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.err == nil {
		w.batch = w.batch[:0]
		for len(w.open) > 0 {
			w.batch = append(w.batch, Event{Kind: EventClose, Block: w.open[0].out, Candidate: w.open[0].candidate})
			w.removeBlock(w.open[0].out)
		}
		if !w.stopped {
			s := Stop{Reason: content.StopEnd}
			if w.hasToolCalls {
				s.Reason = content.StopToolUse
			}
			w.batch = append(w.batch, Event{Kind: EventStop, Stop: &s})
		}
		_ = w.flush() // sets w.err
	}
	if err == nil {
		err = w.err
	}
	w.err = ErrClosed
	return err
}

// invalidate makes all methods return ErrClosed, also after a panic in Generate.
func (w *Writer) invalidate() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = ErrClosed
}

// setRequest replaces the request to which losses and ids refer.
func (w *Writer) setRequest(r *Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.req, w.idsScanned = r, false
}

// fork returns a Writer with another sink that continues the response of w. The caller
// holds w.mu. To use the response of the fork, it sets w.writerState to that of the
// fork.
func (w *Writer) fork(sink Sink) *Writer {
	f := &Writer{sink: sink, writerState: w.writerState}
	f.open, f.usedIDs = slices.Clone(w.open), maps.Clone(w.usedIDs)
	return f
}

func isThinking(p content.Part) bool {
	_, ok := p.(*content.Thinking)
	return ok
}

// A ToolCallWriter writes a tool call. It must not be used by several goroutines at
// once.
type ToolCallWriter struct {
	w      *Writer
	block  int
	closed bool
}

// Input appends to the arguments of the tool call. The fragments together must be a
// JSON object; they may be split anywhere. Without fragments the tool call has no
// arguments. The input of a free-form tool is any text.
func (c *ToolCallWriter) Input(fragment string) error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if c.w.err != nil || fragment == "" {
		return c.w.err
	}
	if c.closed {
		c.w.err = errors.New("upstream: Input called after Close of a tool call")
		return c.w.err
	}
	c.w.batch = append(c.w.batch[:0], Event{Kind: EventInput, Block: c.block, Text: fragment})
	return c.w.flush()
}

// Close completes the tool call. Open tool calls are closed when Generate returns.
func (c *ToolCallWriter) Close() error {
	return c.w.do(func() error {
		if !c.closed {
			c.closed = true
			c.w.closeBlock(c.block)
		}
		return nil
	})
}

// Send writes events of another response, such as those that a [Tap] receives. It
// returns an error if they are not in the order that [EventKind] defines. Send
// renumbers blocks, so a caller may omit all events of a block, or add blocks with
// unused numbers. It replaces an EventBlockExtra of a block that is not open by a loss.
// Send changes the Block of events and does not keep the slice.
func (w *Writer) Send(events []Event) error {
	return w.do(func() error {
		_, err := w.forward(events)
		return err
	})
}

// Frame writes the events of f, a piece of a vendor's response, together with the
// original text of the piece. It renumbers the blocks in f.Events, so these may have
// the vendor's numbers. It does not keep f or f.Events; an adapter may reuse one Frame
// for all pieces.
func (w *Writer) Frame(f *Frame) error {
	return w.do(func() error {
		if f == nil {
			return errNilFrame
		}
		for i := range f.Events {
			f.Events[i].Frame = nil // set by an earlier call
		}
		same, err := w.forward(f.Events)
		if err != nil {
			return err
		}
		if same && len(f.Events) > 0 {
			f.Events[0].Frame = f
			w.batch[0].Frame = f
		}
		return nil
	})
}

// Frames writes all frames of r. It returns nil if r ends with [io.EOF], the error of r
// otherwise, or the error of [Writer.Frame]. If r has a method Buffered() bool, which
// reports that Next is certain to return without reading from its source, Frames uses it
// for [Frame].More.
func (w *Writer) Frames(r FrameReader) error {
	if r == nil {
		return w.do(func() error { return errNilReader })
	}
	buffered, _ := r.(interface{ Buffered() bool })
	for {
		f, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if buffered != nil && f != nil {
			f.More = buffered.Buffered()
		}
		if err := w.Frame(f); err != nil {
			return err
		}
	}
}

// forward validates events, renumbers their blocks and adds them to the batch. same
// reports whether all numbers stayed the same.
func (w *Writer) forward(events []Event) (same bool, err error) {
	same = true
	w.batch = slices.Grow(w.batch, len(events))
	for i := range events {
		e := &events[i]
		if err := e.Check(); err != nil {
			return false, err
		}
		before := e.Block
		switch e.Kind {
		case EventOpen:
			err = w.forwardOpen(e)
		case EventText, EventInput, EventCitation, EventClose:
			err = w.forwardDelta(e)
		case EventBlockExtra:
			if w.forwardedBlock(e) == nil {
				// The caller may omit a block without knowing which extra events a
				// vendor sends for it.
				*e, same = Event{Kind: EventLoss, Loss: new(lossOmittedBlock.At("parts"))}, false
				w.batch = append(w.batch, *e)
				continue
			}
			err = w.forwardDelta(e)
		case EventSignature:
			err = w.forwardSignature(e)
		case EventStart:
			if w.started {
				err = errLateStart
			}
			w.started = true
		case EventUsage, EventStop:
			w.started = true
		}
		if err != nil {
			return false, err
		}
		same = same && e.Block == before
		w.batch = append(w.batch, *e)
		if e.Kind == EventOpen && w.splitText() {
			same = false
		}
	}
	return same, nil
}

// splitText moves the text of the EventOpen at the end of the batch into an EventText,
// so that sinks find all text in EventText. It reports whether there was text.
func (w *Writer) splitText() bool {
	open := &w.batch[len(w.batch)-1]
	f := partfield.Of(open.Part)
	if s := f.Written(); s == nil || *s == "" {
		return false
	}
	open.Part, f = partfield.Copy(open.Part)
	at := f.Written()
	text := *at
	*at = ""
	w.batch = append(w.batch, Event{Kind: EventText, Block: open.Block, Candidate: open.Candidate, Text: text})
	return true
}

func (w *Writer) forwardOpen(e *Event) error {
	switch {
	case e.Block < 0:
		return fmt.Errorf("upstream: EventOpen with block %d, want 0 or more", e.Block)
	case len(w.open) >= maxOpenBlocks:
		return errTooManyOpen
	case w.forwardedBlock(e) != nil:
		return fmt.Errorf("upstream: block %d is already open", e.Block)
	}
	w.started = true
	w.last = block{e.Candidate, e.Block, w.nextBlock, e.Part}
	w.open = append(w.open, w.last)
	e.Block = w.nextBlock
	w.nextBlock++
	if t, ok := e.Part.(*content.ToolUse); ok {
		w.hasToolCalls = true
		w.ids.See(t.ID)
	}
	return nil
}

func (w *Writer) forwardDelta(e *Event) error {
	b := w.forwardedBlock(e)
	if b == nil {
		return fmt.Errorf("upstream: %v for block %d, which is not open", e.Kind, e.Block)
	}
	ok := true
	switch f := partfield.Of(b.kind); e.Kind {
	case EventText:
		ok = f.Written() != nil
	case EventInput:
		ok = f.Argument() != nil
	case EventCitation:
		ok = f.Citations != nil
	}
	if !ok {
		return fmt.Errorf("upstream: block %d opened with a %T, which does not allow %v", e.Block, b.kind, e.Kind)
	}
	e.Block = b.out
	if e.Kind == EventClose {
		w.removeBlock(b.out)
	}
	return nil
}

func (w *Writer) forwardSignature(e *Event) error {
	if b := w.forwardedBlock(e); b != nil {
		e.Block = b.out
		return nil
	}
	for _, b := range append(w.recentlyClosed[:], w.last) {
		if e.Block >= 0 && b.in == e.Block && b.candidate == e.Candidate {
			e.Block = b.out
			return nil
		}
	}
	return fmt.Errorf("upstream: signature of block %d, which is neither open nor one of the last four closed", e.Block)
}

var (
	errNilFrame  = errors.New("upstream: nil Frame")
	errNilReader = errors.New("upstream: nil FrameReader")
)

// forwardedBlock returns the open block that an event refers to, or nil.
func (w *Writer) forwardedBlock(e *Event) *block {
	for i := len(w.open) - 1; i >= 0; i-- { // usually one of the last
		if b := &w.open[i]; b.in == e.Block && b.in >= 0 && b.candidate == e.Candidate {
			return b
		}
	}
	return nil
}
