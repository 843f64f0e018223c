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
	"github.com/polywire/polywire/upstream"
)

const (
	maxReply = 64 << 20 // of a whole answer
	keepBuf  = 16 << 10 // what an idle stream may keep
	holdMost = 8 << 10  // what may wait for what follows at once
)

// errOver is what an upstream hears that is no longer listened to.
var errOver = errors.New("front: nobody is listening any more")

// A goneError says that a write to the client failed.
type goneError struct{ err error }

func (e *goneError) Error() string { return "the client is gone: " + e.err.Error() }
func (e *goneError) Unwrap() error { return e.err }

// A sink takes the answer of one call. Everything in it but over and sends is
// for whoever holds the token.
type sink struct {
	x      *exchange
	call   *Call
	cancel context.CancelCauseFunc

	token chan struct{} // has one element when nobody is at work
	over  chan struct{} // closed when nobody listens any more
	sends atomic.Int64  // that are done

	first  bool  // the upstream has sent something but losses
	writes int64 // to the client
	err    error // sticks

	buf     []byte
	held    int            // bytes of it that wait for what follows at once
	lost    []content.Loss // that OnLoss has not heard of
	collect upstream.Collector
	whole   string // the vendor's own reply, if that is all there is
	batches int    // of a whole answer, losses aside
	told    int    // losses that were collected with it
	tally   tally
}

func newSink(x *exchange, call *Call, cancel context.CancelCauseFunc) *sink {
	s := &sink{
		x: x, call: call, cancel: cancel,
		token: make(chan struct{}, 1), over: make(chan struct{}),
	}
	s.collect.Limit = maxReply
	s.tally.format = x.s.dialect.Format()
	s.token <- struct{}{}
	return s
}

// send takes events from the upstream's goroutine. It returns the losses that
// OnLoss is to hear of, which is done without the token: a host that blocks
// there must not hold up the handler.
func (s *sink) send(events []upstream.Event) (lost []content.Loss, err error) {
	select {
	case <-s.token:
	default:
		select {
		case <-s.token:
		case <-s.over:
			return nil, errOver
		}
	}
	return s.take(events)
}

// take uses the token and gives it back. A panic ends the answer and nothing
// else: upstreams may write from goroutines of their own, where nobody would
// catch it.
func (s *sink) take(events []upstream.Event) (lost []content.Loss, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.err = newPanic(v)
			s.cancel(s.err)
			lost, err = nil, s.err
		}
		s.sends.Add(1)
		s.token <- struct{}{}
	}()
	select {
	case <-s.over:
		return nil, errOver
	default:
	}
	if s.err != nil {
		return nil, s.err
	}
	s.note(events)
	if s.call.Stream != nil {
		s.buf = s.call.Stream.Events(s.pending(), events)
		s.lose(s.call.Stream.Lost())
		if s.x.begun && len(s.buf) < holdMost && more(events) {
			s.held = len(s.buf)
		} else if len(s.buf) > 0 {
			s.flush()
		}
		if e, ok := s.call.Stream.(Failer); ok && s.err == nil {
			s.err = e.Err()
		}
	} else {
		s.gather(events)
	}
	lost, s.lost = s.lost, nil
	return lost, s.err
}

// note keeps what the report tells.
func (s *sink) note(events []upstream.Event) {
	r := &s.x.report
	s.tally.add(events)
	for i := range events {
		switch e := &events[i]; e.Kind {
		case upstream.EventLoss:
			s.lose([]content.Loss{*e.Loss})
			continue
		case upstream.EventStart:
			r.ResponseModel = e.Start.Model
			s.x.answeredBy(e.Start.Upstream, e.Start.UpstreamID)
			s.forward(e.Start.Header)
			if e.Start.ModelAsRequested && e.Start.Model != "" {
				asked := *e.Start
				asked.Model = "" // formats put in the one that was asked for
				e.Start = &asked
			}
		case upstream.EventUsage:
			r.Usage = *e.Usage
		case upstream.EventStop:
			if e.Candidate == 0 {
				r.Stop = *e.Stop
			}
		}
		s.first = true
	}
}

// forward hands on the vendor's headers that are for the client.
func (s *sink) forward(fields []upstream.Field) {
	if s.x.begun {
		return
	}
	h := s.x.w.Header()
	for _, f := range fields {
		if name := http.CanonicalHeaderKey(f.Name); s.x.s.dialect.Forward(name) {
			h.Set(name, f.Value)
		}
	}
}

func (s *sink) lose(ls []content.Loss) {
	for _, l := range ls {
		if s.x.lose(l) && s.x.s.serving.OnLoss != nil {
			s.lost = append(s.lost, l)
		}
	}
}

// gather adds to a whole answer.
func (s *sink) gather(events []upstream.Event) {
	meaning := false
	for i := range events {
		if events[i].Kind == upstream.EventLoss {
			s.told++
		} else {
			meaning = true
		}
	}
	if meaning {
		s.batches++
		s.whole = ""
		if f := upstream.FrameOf(events); f != nil && f.Whole && f.Format == s.x.s.dialect.Format() && s.batches == 1 {
			s.whole = f.Data
		}
	}
	s.err = s.collect.Send(events)
}

// more reports whether other events follow at once.
func more(events []upstream.Event) bool {
	return len(events) > 0 && events[0].Frame != nil && events[0].Frame.More
}

// pending returns the buffer with what is held back, to be appended to.
func (s *sink) pending() []byte { return s.buf[:s.held] }

// flush writes the buffer to the client.
func (s *sink) flush() {
	x := s.x
	s.held = 0
	if !x.begun {
		h := x.w.Header()
		x.s.dialect.Header(h, x.id)
		h.Set("Content-Type", s.call.Stream.ContentType())
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Accel-Buffering", "no")
		x.lossHeader(h)
		x.header(http.StatusOK)
	}
	s.writes++
	if len(s.buf) > 0 {
		n, err := x.w.Write(s.buf)
		x.report.BytesOut += int64(n)
		s.gone(err)
	}
	if s.err == nil {
		// A writer that cannot flush gives all of it in the end: late, but
		// whole.
		if err := x.rc.Flush(); errors.Is(err, http.ErrNotSupported) {
			x.unflushable()
		} else {
			s.gone(err)
		}
	}
	if cap(s.buf) > keepBuf {
		s.buf = nil
	}
}

// unflushable reports, once for each handler, that streams are held back.
func (x *exchange) unflushable() {
	x.s.unflushable.Do(func() {
		x.say(x.context(x.r.Context()), slog.LevelWarn, "streams are held back until they are complete: "+
			"the http.ResponseWriter cannot flush; middleware that wraps it needs an Unwrap method",
			slog.String("writer", fmt.Sprintf("%T", x.w)))
	})
}

// gone notes that the client has left, if err says so.
func (s *sink) gone(err error) {
	s.x.wrote(err)
	if err != nil && s.err == nil {
		s.err = &goneError{err}
		s.cancel(s.err)
	}
}

// try takes the token if nobody is at work. The caller gives it back.
func (s *sink) try() bool {
	select {
	case <-s.token:
		return true
	default:
		return false
	}
}

// shut keeps the upstream away from the client for good: the token is taken
// and not given back. Whoever has it now gets some time to finish; then what
// is being written is cut off.
func (s *sink) shut(patience time.Duration) {
	close(s.over)
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-s.token:
		return
	case <-t.C:
	}
	s.x.deadline(time.Unix(1, 0))
	<-s.token
	s.gone(errStuck)
}

var errStuck = errors.New("a write did not end in time")
