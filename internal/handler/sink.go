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
// closed and sends need no token.
type sink struct {
	x      *exchange
	op     *Operation
	cancel context.CancelCauseFunc

	token  chan struct{} // holds one element while no goroutine works
	closed chan struct{} // closed when the response has ended
	sends  atomic.Int64  // completed sends

	started bool  // the upstream has sent more than losses
	writes  int64 // number of writes to the client
	err     error // the first error

	buf             []byte
	held            int            // bytes of buf that wait for events that follow at once
	newLosses       []content.Loss // not yet passed to OnLoss
	collect         upstream.Collector
	wholeBody       string // the vendor's own document, if it is the whole response
	batches         int    // batches of a whole response, without those of losses only
	collectedLosses int    // losses that collect has received
	tally           tally
}

func newSink(x *exchange, op *Operation, cancel context.CancelCauseFunc) *sink {
	s := &sink{
		x: x, op: op, cancel: cancel,
		token: make(chan struct{}, 1), closed: make(chan struct{}),
	}
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
	s.record(events)
	if s.op.Stream != nil {
		s.buf = s.op.Stream.Events(s.pending(), events)
		s.addLosses(s.op.Stream.Losses())
		if s.x.headerSent && len(s.buf) < maxHeld && moreFollow(events) {
			s.held = len(s.buf)
		} else if len(s.buf) > 0 {
			s.flush()
		}
		if e, ok := s.op.Stream.(FallibleEncoder); ok && s.err == nil {
			s.err = e.Err()
		}
	} else {
		s.collectEvents(events)
	}
	losses, s.newLosses = s.newLosses, nil
	return losses, s.err
}

// record records events in the report.
func (s *sink) record(events []upstream.Event) {
	r := &s.x.report
	s.tally.addFrame(events)
	for i := range events {
		switch e := &events[i]; e.Kind {
		case upstream.EventLoss:
			s.addLosses([]content.Loss{*e.Loss})
			continue
		case upstream.EventStart:
			r.ResponseModel = e.Start.Model
			s.x.setUpstream(e.Start.Upstream, e.Start.UpstreamID)
			s.forwardHeader(e.Start.Header)
			if e.Start.ModelAsRequested && e.Start.Model != "" {
				start := *e.Start
				start.Model = "" // formats insert the requested model
				e.Start = &start
			}
		case upstream.EventText, upstream.EventInput:
			s.tally.written += int64(len(e.Text))
		case upstream.EventOpen:
			s.tally.addPart(e.Part)
		case upstream.EventUsage:
			r.Usage = *e.Usage
			s.tally.reported = true // even if all counts are zero
		case upstream.EventStop:
			if e.Candidate == 0 {
				r.Stop = *e.Stop
			}
		}
		s.started = true
	}
}

// forwardHeader forwards the vendor's headers that are for clients.
func (s *sink) forwardHeader(fields []upstream.HeaderField) {
	if s.x.headerSent {
		return
	}
	h := s.x.w.Header()
	for _, f := range fields {
		if name := http.CanonicalHeaderKey(f.Name); s.x.s.protocol.ForwardsHeader(name) {
			h.Set(name, f.Value)
		}
	}
}

func (s *sink) addLosses(ls []content.Loss) {
	for _, l := range ls {
		if s.x.addLoss(l) && s.x.s.options.OnLoss != nil {
			s.newLosses = append(s.newLosses, l)
		}
	}
}

// collectEvents adds events to a whole response.
func (s *sink) collectEvents(events []upstream.Event) {
	meaning := false
	for i := range events {
		if events[i].Kind == upstream.EventLoss {
			s.collectedLosses++
		} else {
			meaning = true
		}
	}
	if meaning {
		s.batches++
		s.wholeBody = ""
		if f := upstream.FrameOf(events); f != nil && f.Complete && f.Format == s.x.s.protocol.Format() && s.batches == 1 {
			s.wholeBody = f.Data
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
	if !x.headerSent {
		h := x.w.Header()
		x.s.protocol.SetHeader(h, x.id)
		h.Set("Content-Type", s.op.Stream.ContentType())
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no")
		x.setLossHeader(h)
		x.header(http.StatusOK)
	}
	s.writes++
	if len(s.buf) > 0 {
		n, err := x.w.Write(s.buf)
		x.report.BytesOut += int64(n)
		s.noteWrite(err)
	}
	if s.err == nil {
		// A writer that cannot flush delivers everything at the end.
		if err := x.rc.Flush(); errors.Is(err, http.ErrNotSupported) {
			x.logUnflushable()
		} else {
			s.noteWrite(err)
		}
	}
	if cap(s.buf) > maxIdleBuffer {
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
// return it. It waits for the current holder, and after timeout it interrupts its
// write.
func (s *sink) shutDown(timeout time.Duration) {
	close(s.closed)
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case <-s.token:
		return
	case <-t.C:
	}
	s.x.setWriteDeadline(time.Unix(1, 0))
	<-s.token
	s.noteWrite(errWriteBlocked)
}

var errWriteBlocked = errors.New("a write was blocked for too long")

// lossEstimatedUsage is the loss of a response without usage.
var lossEstimatedUsage = &loss.Rule{Feature: loss.ResponseUsage, Severity: content.LossDegraded,
	Reason: "the upstream reported no token usage; the counts are estimates"}

// A tally counts the tokens of a response.
type tally struct {
	format     content.Format // of the handler
	reported   bool           // the upstream reported usage
	fromServer bool           // the response came from a server, not from the host's own Upstream
	foreign    bool           // part of the response came in another format
	written    int64          // bytes of text, thinking and arguments
}

// addFrame records where events that arrived together came from.
func (t *tally) addFrame(events []upstream.Event) {
	if len(events) > 0 && events[0].Frame != nil {
		t.fromServer = true
		t.foreign = t.foreign || events[0].Frame.Format != t.format
	}
}

func (t *tally) addPart(p content.Part) {
	if content.IsNil(p) {
		return
	}
	switch p := p.(type) {
	case *content.Text:
		t.written += int64(len(p.Text))
	case *content.Thinking:
		t.written += int64(len(p.Text))
	case *content.ToolUse:
		t.written += int64(len(p.Input))
	}
}

// bytesPerToken is the average of English text and JSON.
const bytesPerToken = 4

// estimate returns estimated counts for a request and its response.
func (t *tally) estimate(r *upstream.Request) content.Usage {
	return content.Usage{
		Input: upstream.EstimateTokens(r), Output: (t.written + bytesPerToken - 1) / bytesPerToken, Estimated: true,
	}
}

// estimateUsage adds an estimate to the report if the upstream responded without usage.
// The client receives the estimate, too, if the response is complete and came from a
// server, unless it receives the vendor's own document. For an Upstream of the host,
// clients receive the usage that it reports.
func (x *exchange) estimateUsage(s *sink, whole bool) {
	if s.tally.reported || !s.started || s.op.Request == nil {
		return
	}
	u := s.tally.estimate(s.op.Request)
	x.report.Usage = u
	if !whole || !s.tally.fromServer || !s.tally.foreign {
		return
	}
	s.addLosses([]content.Loss{lossEstimatedUsage.At("usage")})
	events := []upstream.Event{{Kind: upstream.EventUsage, Usage: &u}}
	if s.op.Stream == nil {
		s.err = s.collect.Send(events)
		return
	}
	s.buf = s.op.Stream.Events(s.pending(), events)
	s.held = len(s.buf)
	s.addLosses(s.op.Stream.Losses())
}
