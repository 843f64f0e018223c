package upstream

import (
	"errors"
	"fmt"

	"github.com/polywire/polywire/content"
)

// Send passes events on, as a [Tap] does. Their blocks are numbered anew, so
// blocks may be left out, if all their events are, and others put in, if their
// numbers are not in use. It takes what [EventKind] calls legal and fails for
// anything else, but for an EventBlockExtra of a block that is not open, which
// becomes a loss. It changes the events' Block in place and keeps none of them.
func (w *Writer) Send(events []Event) error {
	return w.do(func() error {
		_, err := w.pass(events)
		return err
	})
}

// Frame writes what one piece of a vendor's answer was decoded into, together
// with the piece. f.Events carry the vendor's own block numbers; Frame changes
// them in place. It keeps neither f nor its events, so an adapter may fill one
// Frame for each piece of a stream.
func (w *Writer) Frame(f *Frame) error {
	return w.do(func() error {
		if f == nil {
			return errNilFrame
		}
		for i := range f.Events {
			f.Events[i].Frame = nil // what an earlier use left
		}
		same, err := w.pass(f.Events)
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

// pass checks and renumbers events and adds them to the batch. same tells
// whether every number stayed what it was.
func (w *Writer) pass(events []Event) (same bool, err error) {
	same = true
	for i := range events {
		e := &events[i]
		before := e.Block
		switch e.Kind {
		case EventOpen:
			err = w.passOpen(e)
		case EventText, EventInput, EventCitation, EventClose:
			err = w.passDelta(e)
		case EventBlockExtra:
			if w.find(e) == nil {
				// Who leaves out a block need not know of what a vendor may
				// add to its deltas one day.
				l := lostBlock.At("parts")
				*e, same = Event{Kind: EventLoss, Loss: &l}, false
				w.batch = append(w.batch, *e)
				continue
			}
			err = w.passDelta(e)
		case EventSignature:
			err = w.passSignature(e)
		default:
			err = w.passOther(e)
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

// splitText moves the text of a block that opens, last in the batch, into an
// event of its own, so that whoever looks at texts on the way finds all of them
// in EventText. It reports whether there was any.
func (w *Writer) splitText() bool {
	open := &w.batch[len(w.batch)-1]
	text := ""
	switch p := open.Part.(type) {
	case *content.Text:
		if text = p.Text; text != "" {
			c := *p
			c.Text, open.Part = "", &c
		}
	case *content.Thinking:
		if text = p.Text; text != "" {
			c := *p
			c.Text, open.Part = "", &c
		}
	}
	if text == "" {
		return false
	}
	w.batch = append(w.batch, Event{Kind: EventText, Block: open.Block, Candidate: open.Candidate, Text: text})
	return true
}

func (w *Writer) passOpen(e *Event) error {
	switch {
	case content.IsNil(e.Part):
		return errors.New("upstream: a block opened with a nil part")
	case e.Block < 0 || e.Candidate < 0:
		return fmt.Errorf("upstream: block %d of candidate %d was opened", e.Block, e.Candidate)
	case len(w.open) >= maxOpen:
		return errTooManyOpen
	case w.find(e) != nil:
		return fmt.Errorf("upstream: block %d was opened twice", e.Block)
	}
	w.started = true
	w.last = block{e.Candidate, e.Block, w.next, e.Part}
	w.open = append(w.open, w.last)
	e.Block = w.next
	w.next++
	if t, ok := e.Part.(*content.ToolUse); ok {
		w.calls = true
		w.seeID(t.ID)
	}
	return nil
}

func (w *Writer) passDelta(e *Event) error {
	b := w.find(e)
	if b == nil {
		return fmt.Errorf("upstream: an event for block %d, which is not open", e.Block)
	}
	ok := true
	switch e.Kind {
	case EventText:
		switch b.kind.(type) {
		case *content.Text, *content.Thinking:
		default:
			ok = false
		}
	case EventInput:
		switch b.kind.(type) {
		case *content.ToolUse, *content.ServerToolUse:
		default:
			ok = false
		}
	case EventCitation:
		_, ok = b.kind.(*content.Text)
		ok = ok && e.Citation != nil
	}
	if !ok {
		return fmt.Errorf("upstream: block %d is a %T and cannot take an event of kind %d", e.Block, b.kind, e.Kind)
	}
	e.Block = b.out
	if e.Kind == EventClose {
		w.forget(b.out)
	}
	return nil
}

func (w *Writer) passSignature(e *Event) error {
	if e.Signature == nil {
		return errNilField
	}
	if b := w.find(e); b != nil {
		e.Block = b.out
		return nil
	}
	for _, b := range append(w.closed[:], w.last) {
		if e.Block >= 0 && b.in == e.Block && b.candidate == e.Candidate {
			e.Block = b.out
			return nil
		}
	}
	return fmt.Errorf("upstream: a signature of block %d, which is not one of the last", e.Block)
}

var errNilFrame = errors.New("upstream: a nil frame was written")

var errNilField = errors.New("upstream: an event lacks the field that its kind is about")

func (w *Writer) passOther(e *Event) error {
	ok := true
	switch e.Kind {
	case EventStart:
		if w.started {
			return errLateStart
		}
		w.started, ok = true, e.Start != nil
	case EventUsage:
		w.started, ok = true, e.Usage != nil
	case EventStop:
		w.started, ok = true, e.Stop != nil
	case EventLoss:
		ok = e.Loss != nil
	case EventExtra:
	default:
		return fmt.Errorf("upstream: an event of kind %d", e.Kind)
	}
	switch {
	case !ok:
		return errNilField
	case e.Candidate < 0:
		return fmt.Errorf("upstream: an event of kind %d for candidate %d", e.Kind, e.Candidate)
	}
	return nil
}

// find returns the open block that others know by the event's numbers.
func (w *Writer) find(e *Event) *block {
	for i := len(w.open) - 1; i >= 0; i-- { // it is one of the last, mostly
		if b := &w.open[i]; b.in == e.Block && b.in >= 0 && b.candidate == e.Candidate {
			return b
		}
	}
	return nil
}
