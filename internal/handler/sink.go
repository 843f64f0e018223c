package handler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

const (
	maxResponse   = 64 << 20 // bytes of a whole response
	maxIdleBuffer = 16 << 10 // bytes of buffer that an idle stream keeps
	maxHeld       = 8 << 10  // bytes that may wait for events that follow at once
)

// errClosed is the error of events that arrive after the response ended.
var errClosed = errors.New("the response has ended; later events are dropped")

// A writeError is the error of a write to the client.
type writeError struct{ err error }

func (e *writeError) Error() string { return "writing to the client failed: " + e.err.Error() }
func (e *writeError) Unwrap() error { return e.err }

// A sink receives the events of one response. The holder of the token may use it;
// closed, sends and writing need no token.
type sink struct {
	x      *exchange
	op     *Operation
	cancel context.CancelCauseFunc

	token  chan struct{} // holds one element while no goroutine works
	closed chan struct{} // closed when the response has ended
	sends  atomic.Int64  // completed sends

	encoding
	keeper  KeepingEncoder // stream, or nil
	kept    int64          // bytes of keeper that the budget has
	writing atomic.Bool    // a write to the client is running
	writes  int64          // number of writes to the client
	content bool           // the stream has more than keep-alives
	err     error          // the first error

	buf       []byte
	held      int       // bytes of buf that wait for events that follow at once
	newLosses loss.List // not yet passed to OnLoss
	collect   upstream.Collector
	wholeBody string // the vendor's own document, if it is the whole response
	batches   int    // batches of a whole response, without those of losses only
}

func newSink(x *exchange, op *Operation, cancel context.CancelCauseFunc) *sink {
	s := &sink{
		x: x, op: op, cancel: cancel,
		token: make(chan struct{}, 1), closed: make(chan struct{}),
		encoding: encoding{request: op.Request, stream: op.Stream},
	}
	s.keeper, _ = op.Stream.(KeepingEncoder)
	s.encoding.addLosses = s.noteLosses
	s.collect.Limit = maxResponse
	s.tally.format = x.s.protocol.Format()
	s.token <- struct{}{}
	return s
}

// send consumes events on the upstream's goroutine. It returns the losses for
// OnLoss, which is called without the token: a host that blocks in OnLoss must not
// block the handler.
func (s *sink) send(events []upstream.Event) (losses []content.Loss, err error) {
	select {
	case <-s.token:
	default:
		select {
		case <-s.token:
		case <-s.closed:
			return nil, errClosed
		}
	}
	return s.consume(events)
}

// consume uses the token and returns it. A panic ends only this response: upstreams
// may write from their own goroutines, where a panic would end the process.
func (s *sink) consume(events []upstream.Event) (losses []content.Loss, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.err = newPanic(v)
			s.cancel(s.err)
			losses, err = nil, s.err
		}
		s.sends.Add(1)
		s.token <- struct{}{}
	}()
	select {
	case <-s.closed:
		return nil, errClosed
	default:
	}
	if s.err != nil {
		return nil, s.err
	}
	s.report(events)
	s.record(events)
	if s.stream != nil {
		var failed error
		s.buf, failed = s.events(s.pending(), events)
		s.content = s.content || len(s.buf) > 0
		if s.x.headerSent && len(s.buf) < maxHeld && moreFollow(events) {
			s.held = len(s.buf)
		} else if len(s.buf) > 0 {
			s.flush()
		}
		if failed == nil {
			failed = s.reserveKept()
		}
		if s.err == nil {
			s.err = failed
		}
	} else {
		s.collectEvents(events)
	}
	losses, s.newLosses.All = s.newLosses.All, nil
	return losses, s.err
}

// keptStep is the number of kept bytes that are reserved at once.
const keptStep = 64 << 10

// reserveKept reserves the bytes that the stream keeps.
func (s *sink) reserveKept() error {
	if s.keeper == nil {
		return nil
	}
	more := s.keeper.Kept() - s.kept
	if more < keptStep {
		return nil
	}
	if !s.x.reserveFile(more) {
		return overloaded()
	}
	s.kept += more
	return nil
}

// report records events in the report.
func (s *sink) report(events []upstream.Event) {
	r := &s.x.report
	for i := range events {
		switch e := &events[i]; e.Kind {
		case upstream.EventStart:
			r.ResponseModel = e.Start.Model
			s.x.setUpstream(e.Start.Upstream, e.Start.UpstreamID)
			s.forwardHeader(e.Start.Header)
		case upstream.EventUsage:
			r.Usage = *e.Usage
		case upstream.EventStop:
			if e.Candidate == 0 {
				r.Stop = *e.Stop
			}
		}
	}
}

// forwardHeader forwards the headers that are for clients: those that they know, and those that
// the host lists.
func (s *sink) forwardHeader(fields []upstream.HeaderField) {
	if s.x.headerSent {
		return
	}
	h := s.x.w.Header()
	for _, f := range fields {
		if name := http.CanonicalHeaderKey(f.Name); s.x.s.protocol.ForwardsHeader(name) || isListed(s.x.s.options.ResponseHeaders, name) {
			h.Set(name, f.Value)
		}
	}
}

// noteLosses adds losses to the report, and the new ones to those for OnLoss.
func (s *sink) noteLosses(losses []content.Loss) {
	s.x.addLosses(losses, &s.newLosses)
}

// collectEvents adds events to a whole response.
func (s *sink) collectEvents(events []upstream.Event) {
	meaning := false
	for i := range events {
		meaning = meaning || events[i].Kind != upstream.EventLoss
	}
	if meaning {
		s.batches++
		s.wholeBody = ""
		renamed := s.op.WithModel != nil && AsReceived(events) != ""
		if f := upstream.FrameOf(events); f != nil && f.Complete && f.Format == s.x.s.protocol.Format() && s.batches == 1 && !s.op.EncodeAnew {
			if s.wholeBody = f.Data; renamed {
				s.wholeBody = s.op.WithModel(f.Data, s.op.Request.Model)
			}
		}
	}
	s.err = s.collect.Send(events)
}

// moreFollow reports whether more events follow at once.
func moreFollow(events []upstream.Event) bool {
	return len(events) > 0 && events[0].Frame != nil && events[0].Frame.More
}

// pending returns the held bytes of the buffer.
func (s *sink) pending() []byte { return s.buf[:s.held] }

// flush writes the buffer to the client.
func (s *sink) flush() {
	x := s.x
	s.held = 0
	first := !x.headerSent
	if first {
		h := x.w.Header()
		x.s.protocol.SetHeader(h, x.id)
		h.Set("Content-Type", s.op.Stream.ContentType())
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no")
		x.setLossHeader(h)
		x.header(http.StatusOK)
	}
	s.writes++
	s.writing.Store(true)
	if len(s.buf) > 0 {
		n, err := writeAll(x.w, s.buf)
		x.report.BytesOut += int64(n)
		s.noteWrite(err)
	}
	var flushed error
	if s.err == nil {
		flushed = x.rc.Flush()
	}
	s.writing.Store(false)
	if errors.Is(flushed, http.ErrNotSupported) {
		x.unflushable = true
		x.logUnflushable() // a writer that cannot flush delivers everything at the end
	} else {
		s.noteWrite(flushed)
	}
	if first || cap(s.buf) > maxIdleBuffer { // the beginning is much longer than other events
		s.buf = nil
	}
}

// logUnflushable logs, once for each handler, that streams are delivered only at the
// end.
func (x *exchange) logUnflushable() {
	x.s.warnUnflushable.Do(func() {
		x.logLine(x.context(x.r.Context()), slog.LevelWarn, "streams are delivered only when they are complete: "+
			"the http.ResponseWriter cannot flush; middleware that wraps it needs an Unwrap method",
			slog.String("writer", fmt.Sprintf("%T", x.w)))
	})
}

// noteWrite ends the response if a write to the client failed.
func (s *sink) noteWrite(err error) {
	if err == nil {
		return
	}
	s.x.noteWriteError(err)
	if s.err == nil {
		s.err = &writeError{err}
		s.cancel(s.err)
	}
}

// tryLock takes the token if it is free. The caller returns it.
func (s *sink) tryLock() bool {
	select {
	case <-s.token:
		return true
	default:
		return false
	}
}

// shutDown ends the upstream's access to the client: it takes the token and does not
// return it. It waits for the current holder. A write that still runs after timeout is
// interrupted; a holder that does something else, such as one that gets no processor time,
// is not. The client is gone only if a write failed.
func (s *sink) shutDown(timeout time.Duration) {
	close(s.closed)
	if s.tryLock() {
		return
	}
	t := time.NewTicker(timeout)
	defer t.Stop()
	for {
		select {
		case <-s.token:
			return
		case <-t.C:
			if s.writing.Load() {
				s.x.setWriteDeadline(time.Unix(1, 0))
			}
		}
	}
}

// estimateUsage adds an estimate to the report if the upstream responded without usage, and
// to the response if the client receives it.
func (x *exchange) estimateUsage(s *sink, complete bool) {
	u, events := s.estimate(complete)
	if u != nil {
		x.report.Usage = *u
	}
	switch {
	case events == nil:
	case s.stream == nil:
		s.err = s.collect.Send(events)
	default:
		s.buf, _ = s.events(s.pending(), events)
		s.held = len(s.buf)
	}
}
