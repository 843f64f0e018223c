package upstream

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
)

const (
	maxHeldStream = 64 << 10 // bytes that an attempt for a streamed response may hold
	maxHeldWhole  = 8 << 20  // bytes that an attempt for a whole response may hold
	eventOverhead = 256      // approximate memory of an event in addition to its text, in bytes
)

// Causes for ending an attempt.
var (
	errOtherChosen = &Error{Code: CodeCanceled, Err: errors.New("another attempt sent content first")}
	errCallEnded   = &Error{Code: CodeCanceled, Err: errors.New("the request ended")}
)

// An attempt is one call of an Upstream, and the Sink of its Writer. It holds events
// until they are committed: then no other attempt can be used any more.
type attempt struct {
	call   *call
	ctx    context.Context // that Trace.AttemptStart returned
	cancel context.CancelCauseFunc
	w      *Writer
	due    time.Time // when it should have sent content; zero if there is no limit

	committed bool // used by the goroutine that writes to w

	// Guarded by call.mu, until the attempt has returned or is abandoned.
	info     Attempt
	dropped  error     // why the output is not used; nil if it may be
	dropTime time.Time // when it was dropped
	held     [][]Event
	size     int             // of held, in bytes
	text     strings.Builder // text of the last held event, if several were joined
	returned bool
	err      error // valid if returned
	panicked *panicked
}

// A panicked is a panic of an Upstream on a goroutine of Failover.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) String() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// run calls the Upstream.
func (a *attempt) run(ctx context.Context, up Upstream) {
	err := errPanicked
	defer func() {
		a.w.invalidate()
		a.cancel(errCallEnded)
		a.finish(err)
	}()
	err = a.w.finish(up.Generate(ctx, a.call.req, a.w))
	if err == nil && !a.committed {
		a.w.mu.Lock() // as in Send
		defer a.w.mu.Unlock()
		err = a.commit()
	}
}

// runGuarded calls the Upstream on a goroutine of its own and recovers its panics.
func (a *attempt) runGuarded(ctx context.Context, up Upstream) {
	defer func() {
		if v := recover(); v != nil {
			a.panicked = &panicked{v, debug.Stack()}
			a.notePanic(v)
		}
		select {
		case a.call.done <- a:
		case <-a.call.over:
		}
	}()
	a.run(ctx, up)
}

// drop cancels the attempt, whose output is not used any more. The caller holds call.mu.
func (a *attempt) drop(cause error, now time.Time) {
	if !a.returned && a.dropped == nil {
		a.dropped, a.dropTime = cause, now
		a.cancel(cause)
	}
}

// finish records the end of the attempt. It does nothing if the attempt was abandoned.
func (a *attempt) finish(err error) {
	a.call.mu.Lock()
	defer a.call.mu.Unlock()
	if a.returned {
		return
	}
	if a.dropped != nil {
		err = a.dropped
	}
	if a.committed && a.w.usage != nil {
		a.info.Usage = *a.w.usage
	}
	a.err, a.returned = err, true
	a.info.Duration = time.Since(a.info.Start)
	a.info.Code, a.info.Err = codeOf(err), err
	if a.info.Code == CodeInternal && a.call.ctx.Err() != nil {
		a.info.Code = CodeCanceled
	}
	var e *Error
	if errors.As(err, &e) && e.Upstream != "" {
		a.info.Upstream, a.info.UpstreamID = e.Upstream, e.UpstreamID
	}
}

// notePanic adds the value of a panic to the error of the attempt: nothing else reports
// it if another attempt is chosen.
func (a *attempt) notePanic(v any) {
	a.call.mu.Lock()
	defer a.call.mu.Unlock()
	if a.err == errPanicked {
		a.err = fmt.Errorf("%w: %v", errPanicked, v)
		a.info.Err = a.err
	}
}

// noteSend records the name of the adapter that sends a request, and reports it to the
// handler.
func (a *attempt) noteSend(name string) {
	a.call.mu.Lock()
	a.info.Upstream = name
	a.call.mu.Unlock()
	if report := a.call.values.ReportSend; report != nil {
		report(name)
	}
}

// Send receives the events of the attempt before it is committed. A Failover inside this
// one also sends the others here, because it keeps the Sink that it found.
func (a *attempt) Send(events []Event) error {
	if a.committed {
		return a.call.sink.Send(events)
	}
	commit, err := a.hold(events)
	if err == nil && commit {
		if err = a.commit(); err == nil {
			a.w.sink = a.call.sink // the caller holds a.w.mu
			err = a.call.sink.Send(events)
		}
	}
	return err
}

// hold keeps a copy of events. If commit is true it has not: the held events and these
// have to be sent.
func (a *attempt) hold(events []Event) (commit bool, err error) {
	c := a.call
	onlyLosses := !slices.ContainsFunc(events, func(e Event) bool { return e.Kind != EventLoss }) // one pass
	if report := c.values.ReportHeld; report != nil && !onlyLosses {
		report()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.dropped != nil {
		return false, a.dropped
	}
	frame := events[0].Frame
	size := len(events) * eventOverhead
	if frame != nil {
		size += len(frame.Data)
	}
	for i := range events {
		e := &events[i]
		size += int(eventSize(e))
		switch e.Kind {
		case EventStart:
			if e.Start.Upstream != "" {
				a.info.Upstream = e.Start.Upstream
			}
			a.info.UpstreamID = e.Start.UpstreamID
		case EventUsage:
			a.info.Usage = *e.Usage
		}
		if a.info.FirstContent == 0 && isContent(e) {
			a.info.FirstContent = max(1, time.Since(a.info.Start)) // clocks may be coarse
		}
	}
	begun := a.info.FirstContent > 0
	switch {
	case c.req.Stream && (begun || a.size+size > maxHeldStream), a.size+size > maxHeldWhole:
		return true, nil
	case frame != nil && frame.Complete: // a whole response
		return true, nil
	case a.join(events):
		a.size += len(events[0].Text)
		return false, nil
	}
	a.text = strings.Builder{}
	a.held = append(a.held, copyEvents(events))
	a.size += size
	return false, nil
}

// join appends events to the held event before them if they only continue its text. A
// whole response may have any number of them.
func (a *attempt) join(events []Event) bool {
	if len(events) != 1 || len(a.held) == 0 || len(a.held[len(a.held)-1]) != 1 {
		return false
	}
	e, last := &events[0], &a.held[len(a.held)-1][0]
	if e.Kind != EventText && e.Kind != EventInput || e.Kind != last.Kind ||
		e.Block != last.Block || e.Candidate != last.Candidate || e.Extra != nil || last.Extra != nil {
		return false
	}
	if a.text.Len() == 0 {
		a.text.WriteString(last.Text)
	}
	a.text.WriteString(e.Text)
	last.Text, last.Frame = a.text.String(), nil
	return true
}

// commit makes this the attempt whose response is used, drops the others, and sends the
// held events.
func (a *attempt) commit() error {
	if err := a.call.choose(a); err != nil {
		return err
	}
	a.committed = true
	for _, events := range a.held {
		if err := a.call.sink.Send(events); err != nil {
			a.w.sinkErr = err
			return err
		}
	}
	a.held, a.text = nil, strings.Builder{}
	return nil
}

// losses returns the held losses.
func (a *attempt) losses() []Event {
	var list []Event
	for _, events := range a.held {
		for _, e := range events {
			if e.Kind == EventLoss {
				e.Frame = nil
				list = append(list, e)
			}
		}
	}
	return list
}

// copyEvents returns a copy of events that may be kept, with a copy of their frame.
func copyEvents(events []Event) []Event {
	events = slices.Clone(events)
	if f := events[0].Frame; f != nil {
		c := *f
		c.Preceding, c.Events = slices.Clone(f.Preceding), slices.Clone(f.Events)
		events[0].Frame = &c
		if len(c.Events) > 0 {
			c.Events[0].Frame = &c
		}
	}
	return events
}

// isContent reports whether a client that has received e has received a part of the
// response.
func isContent(e *Event) bool {
	switch e.Kind {
	case EventText, EventInput:
		return e.Text != ""
	case EventCitation, EventSignature:
		return true
	case EventOpen:
		switch p := e.Part.(type) {
		case *content.Text:
			return len(p.Citations) > 0
		case *content.Thinking:
			return p.Redacted.Data != ""
		}
		return true
	}
	return false
}
