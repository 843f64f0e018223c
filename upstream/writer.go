package upstream

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/polywire/polywire/content"
)

// A Writer takes an answer from an [Upstream]. It opens, numbers and closes
// blocks by itself, so that no illegal order can be written.
//
// Its first error sticks: later calls return it and do nothing, so a caller
// may check only the last one. Every method returns when what it wrote has
// been taken, and flushed to the client where there is one; there is no queue.
// At most 1,000 blocks may be open at once.
// Calls from several goroutines are serialised. After Generate has returned,
// every method returns [ErrClosed].
type Writer struct {
	mu   sync.Mutex
	sink Sink
	req  *Request
	err  error

	next    int             // number of the next block
	open    []block         // blocks that are open, in the order they opened
	closed  [4]block        // the last ones that are not, since signatures come late
	text    int             // number of the open block that Text or Thinking appends to, -1
	last    block           // opened last; out is -1 if there is none
	ids     int             // number of the next id
	seen    bool            // ids counts on from those in the request
	given   map[string]bool // ids of the calls that were written here
	calls   bool            // there was a call of a tool
	begun   bool            // something but losses was sent
	started bool            // it is too late for a Start
	stopped bool            // a Stop was sent
	batch   []Event         // reused for each Send
}

// A block is open, and known to whoever sends events by the number in.
type block struct {
	candidate, in, out int
	kind               content.Part // what it was opened with
}

// maxOpen bounds the blocks that are open at once, and with them what finding
// one of them costs.
const maxOpen = 1000

var errTooManyOpen = errors.New("upstream: more than 1000 blocks are open at once")

func newWriter(req *Request, sink Sink) *Writer {
	w := &Writer{sink: sink, req: req, text: -1, last: block{in: -1, out: -1}}
	for i := range w.closed {
		w.closed[i].in = -1
	}
	return w
}

// Start says what is known of the answer. It is optional, and comes first: it
// fails, and so the whole answer does, if anything but losses was written
// before it.
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

var errLateStart = errors.New("upstream: Start comes first, and once")

// Text appends to the answer's text. The block that holds it opens with the
// first piece and closes when something else is written. An empty piece does
// nothing.
func (w *Writer) Text(s string) error { return w.delta(s, false) }

// Thinking appends to what the model thinks, in the same way.
func (w *Writer) Thinking(s string) error { return w.delta(s, true) }

func (w *Writer) delta(s string, thinking bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || s == "" {
		return w.err
	}
	w.batch = w.batch[:0]
	if b := w.at(w.text); b == nil || thinking != isThinking(b.kind) {
		w.closeText()
		if thinking {
			w.text = w.opened(&content.Thinking{})
		} else {
			w.text = w.opened(&content.Text{})
		}
	}
	w.batch = append(w.batch, Event{Kind: EventText, Block: w.text, Text: s})
	return w.flush()
}

// Signature signs the open block, or the one that was written last. With no
// block at all it makes an empty thinking block to sign. A signed thinking
// block is closed. A block has one signature: the last one counts. A Signature
// without a Format is of no format, and fronts cannot tell it; use the front's,
// such as messages.Format, for one that a client of it shall send back.
func (w *Writer) Signature(s content.Signature) error {
	return w.do(func() error {
		if w.last.out < 0 {
			w.text = w.opened(&content.Thinking{})
		}
		w.batch = append(w.batch, Event{Kind: EventSignature, Block: w.last.out, Candidate: w.last.candidate, Signature: &s})
		if b := w.at(w.text); b != nil && isThinking(b.kind) {
			w.closeText()
		}
		return nil
	})
}

// Cite adds a citation to the open text block, or opens one for it.
func (w *Writer) Cite(c content.Citation) error {
	return w.do(func() error {
		if b := w.at(w.text); b == nil || isThinking(b.kind) {
			w.closeText()
			w.text = w.opened(&content.Text{})
		}
		return w.add(Event{Kind: EventCitation, Block: w.text, Citation: &c})
	})
}

// ToolCall begins a call of one of the request's tools. Calls may be written
// side by side. An empty id is replaced by one that is unique in the
// conversation. A call without a name, or with the id of another call of the
// answer, is an error: clients cannot send its result. Errors show at the
// methods of the Call.
func (w *Writer) ToolCall(id, name string) *ToolCallWriter {
	c := &ToolCallWriter{w: w}
	_ = w.do(func() error {
		w.closeText()
		if len(w.open) >= maxOpen {
			return errTooManyOpen
		}
		id, err := w.callID(id, name)
		if err != nil {
			return err
		}
		c.block = w.opened(&content.ToolUse{ID: id, Name: name})
		return nil
	})
	return c
}

// callID returns an id for a call: the given one, or "call_" and a number one
// higher than in any such id of the conversation.
func (w *Writer) callID(id, name string) (string, error) {
	w.calls = true
	if name == "" {
		return "", errors.New("upstream: a call without a name")
	}
	if w.given[id] {
		return "", fmt.Errorf("upstream: two calls with the id %q", id)
	}
	if id == "" {
		if !w.seen {
			w.seen = true
			for i := range w.req.Turns {
				w.seeIDs(w.req.Turns[i].Parts)
			}
		}
		id = idPrefix + strconv.Itoa(w.ids)
	}
	w.seeID(id)
	if w.given == nil {
		w.given = make(map[string]bool)
	}
	w.given[id] = true
	return id, nil
}

const idPrefix = "call_"

func (w *Writer) seeIDs(parts []content.Part) {
	for _, p := range parts {
		switch p := p.(type) {
		case *content.ToolUse:
			if p != nil {
				w.seeID(p.ID)
			}
		case *content.ToolResult:
			if p != nil {
				w.seeID(p.ID)
			}
		}
	}
}

func (w *Writer) seeID(id string) {
	if digits, ok := strings.CutPrefix(id, idPrefix); ok {
		// Numbers too large for an id of ours cannot meet one.
		if n, err := strconv.Atoi(digits); err == nil && n >= w.ids && n < 1<<30 {
			w.ids = n + 1
		}
	}
}

// Part writes a whole part of any kind.
func (w *Writer) Part(p content.Part) error {
	return w.do(func() error {
		if content.IsNil(p) {
			return errors.New("upstream: a nil part was written")
		}
		w.closeText()
		if t, ok := p.(*content.ToolUse); ok {
			id, err := w.callID(t.ID, t.Name)
			if err != nil {
				return err
			}
			if id != t.ID {
				c := *t
				c.ID = id
				p = &c
			}
		}
		n := w.opened(p)
		w.splitText()
		w.close(n)
		return nil
	})
}

// Usage says how many tokens were used so far. It replaces what was said
// before as a whole, so fields that are not set count as zero. Who bills by it
// says it as the answer grows: what was said last stands if the client leaves.
func (w *Writer) Usage(u content.Usage) error {
	return w.do(func() error { return w.add(Event{Kind: EventUsage, Usage: &u}) })
}

// Stop says why the answer ends; the last one counts, and one without a Reason
// is as if there were none. Returning nil without it is enough to say that the
// model was done or waits for its calls. A Stop that is given is not compared
// with what was written: clients wait for nothing after a StopToolUse without
// a call.
func (w *Writer) Stop(s Stop) error {
	return w.do(func() error { return w.add(Event{Kind: EventStop, Stop: &s}) })
}

// Loss reports what was lost on the way. Before the answer begins these are
// the request's losses: give all of them at once, before anything is sent or
// fetched, and return if Loss fails, since the request's RejectLoss may forbid
// them. The error is then a list of [*content.Violation], one for each loss
// that is refused. The adapters of this module tell each thing that is lost for
// 1,000 places at most, the last of them with the number of the others in More.
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

// do runs f, which fills the batch, and sends that.
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

// opened notes a new block, adds its event and returns its number.
func (w *Writer) opened(p content.Part) int {
	n := w.next
	w.next++
	// in is negative: a block of ours is not addressed by the events of others.
	w.last = block{in: -1, out: n, kind: p}
	w.open = append(w.open, w.last)
	w.batch = append(w.batch, Event{Kind: EventOpen, Block: n, Part: p})
	return n
}

func (w *Writer) close(out int) {
	w.forget(out)
	w.batch = append(w.batch, Event{Kind: EventClose, Block: out})
}

func (w *Writer) closeText() {
	if w.text >= 0 {
		w.close(w.text)
	}
}

func (w *Writer) forget(out int) {
	for i := range w.open {
		if w.open[i].out == out {
			copy(w.closed[1:], w.closed[:])
			w.closed[0] = w.open[i]
			w.open = slices.Delete(w.open, i, i+1)
			break
		}
	}
	if w.text == out {
		w.text = -1
	}
}

// at returns the open block of ours with the given number.
func (w *Writer) at(out int) *block {
	for i := len(w.open) - 1; i >= 0; i-- { // it is one of the last, mostly
		if w.open[i].out == out {
			return &w.open[i]
		}
	}
	return nil
}

// flush sends the batch. Losses before everything else are the request's, and
// may be refused; they are told all the same.
func (w *Writer) flush() error {
	if len(w.batch) == 0 {
		return nil
	}
	var refused content.ViolationList
	for i := range w.batch {
		e := &w.batch[i]
		switch e.Kind {
		case EventLoss:
			if !w.begun && w.req.RejectLoss != 0 && e.Loss.Severity >= w.req.RejectLoss {
				refused.Add(content.CodeUnsupported, e.Loss.Path, e.Loss.Reason)
			}
			continue
		case EventExtra:
		case EventStop:
			w.stopped = w.stopped || e.Stop.Reason != ""
			w.started = true
		default:
			w.started = true
		}
		w.begun = true
	}
	err := w.sink.Send(w.batch)
	clear(w.batch) // hold on to nothing
	if err == nil {
		err = refused.Err()
	}
	w.err = err
	return err
}

// finish ends the answer after Generate returned err.
func (w *Writer) finish(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.err == nil {
		w.batch = w.batch[:0]
		for len(w.open) > 0 {
			w.batch = append(w.batch, Event{Kind: EventClose, Block: w.open[0].out, Candidate: w.open[0].candidate})
			w.forget(w.open[0].out)
		}
		if !w.stopped {
			s := Stop{Reason: content.StopEnd}
			if w.calls {
				s.Reason = content.StopToolUse
			}
			w.batch = append(w.batch, Event{Kind: EventStop, Stop: &s})
		}
		_ = w.flush() // shows in w.err
	}
	if err == nil {
		err = w.err
	}
	w.err = ErrClosed
	return err
}

// end makes the Writer useless, also where Generate panicked.
func (w *Writer) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.err = ErrClosed
}

// serve tells that the answer is to another request than it was asked for,
// with an eye on losses and ids.
func (w *Writer) serve(r *Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.req, w.seen = r, false
}

func isThinking(p content.Part) bool {
	_, ok := p.(*content.Thinking)
	return ok
}

// A ToolCallWriter is a tool call that is being written.
type ToolCallWriter struct {
	w     *Writer
	block int
	over  bool
}

// Input appends to the call's arguments: JSON text, split anywhere. All of it
// together is one object; nothing at all means no arguments.
func (c *ToolCallWriter) Input(fragment string) error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if c.w.err != nil || fragment == "" {
		return c.w.err
	}
	if c.over {
		c.w.err = errors.New("upstream: Input after Close of a call")
		return c.w.err
	}
	c.w.batch = append(c.w.batch[:0], Event{Kind: EventInput, Block: c.block, Text: fragment})
	return c.w.flush()
}

// Close says that the arguments are whole. Calls that are not closed are so
// at the end of the answer.
func (c *ToolCallWriter) Close() error {
	return c.w.do(func() error {
		if !c.over {
			c.over = true
			c.w.close(c.block)
		}
		return nil
	})
}
