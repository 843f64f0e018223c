package handler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// Why a call is given up.
var (
	errLeft      = errors.New("the client has left")
	errFirstByte = &upstream.Error{Code: upstream.CodeTimeout, Err: errors.New("the upstream's first event took too long")}
	errSilence   = &upstream.Error{Code: upstream.CodeTimeout, Err: errors.New("the upstream was silent for too long")}
	errTotal     = &upstream.Error{Code: upstream.CodeTimeout, Err: errors.New("the call took too long in all")}
	errWithin    = &upstream.Error{Code: upstream.CodeTimeout, Err: errors.New("the call took longer than the client waits")}
	errGoexit    = errors.New("Generate ended its goroutine")
	errDone      = errors.New("the answer is over")
	errCanceled  = errors.New("the host canceled the context of the request")
)

// A watch is what the handler's goroutine remembers between two looks.
type watch struct {
	began  time.Time // of the call
	sends  int64     // seen last
	quiet  time.Time // since when the upstream is
	writes int64     // seen last
	still  time.Time // since when nothing was written
}

// run calls the upstream and answers the client.
func (x *exchange) run(ctx context.Context, call *Call) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(errDone)
	loader := x.s.newLoader(inner, x.take)
	call.Request.Resolver = loader
	s := newSink(x, call, cancel)
	now := time.Now()
	x.deadline(now.Add(x.s.serving.Timeouts.Write + x.s.step))
	done := x.generate(inner, call, loader, s)
	shut := false
	defer func() {
		if !shut { // a panic of ours: nobody else may use the client's connection
			cancel(errDone)
			s.shut(x.s.serving.Timeouts.Grace)
		}
	}()
	err, returned := x.wait(ctx, s, done, watch{began: now, quiet: now, still: now})
	if !returned {
		cancel(err)
	}
	s.shut(x.s.serving.Timeouts.Grace)
	shut = true
	x.end(ctx, s, err)
	if !returned {
		x.abandon(ctx, done)
	}
}

// generate starts the upstream, once it has the files of the request. What it returns comes through the channel,
// which has room for it, since there may be nobody left to take it.
func (x *exchange) generate(ctx context.Context, call *Call, l *loader, s *sink) <-chan error {
	return x.aside(func() error {
		if err := x.reachable(ctx, call); err != nil {
			return err
		}
		if err := x.tellLost(ctx, call, s); err != nil {
			return err
		}
		if err := x.load(ctx, l, call); err != nil {
			return err
		}
		return upstream.Run(ctx, x.s.up, call.Request, upstream.SinkFunc(func(events []upstream.Event) error {
			lost, err := s.send(events)
			x.hearLoss(ctx, lost)
			return err
		}))
	})
}

// reachable returns the error of a call that depends on what the vendor of its
// format keeps, if the upstream would not ask that vendor.
func (x *exchange) reachable(ctx context.Context, call *Call) error {
	if call.Own == nil {
		return nil
	}
	f, err := upstream.FormatOf(ctx, x.s.up, call.Request)
	switch {
	case err != nil:
		return err
	case f != x.s.dialect.Format():
		return call.Own
	}
	return call.Fault
}

// tellLost tells what the front lost of a request, as an upstream would.
func (x *exchange) tellLost(ctx context.Context, call *Call, s *sink) error {
	if len(call.Losses) == 0 {
		return nil
	}
	var refused content.ViolationList
	events := make([]upstream.Event, len(call.Losses))
	for i := range call.Losses {
		l := &call.Losses[i]
		events[i] = upstream.Event{Kind: upstream.EventLoss, Loss: l}
		if r := call.Request.RejectLoss; r != 0 && l.Severity >= r {
			refused.Add(content.CodeUnsupported, l.Path, l.Reason)
		}
	}
	lost, err := s.send(events)
	x.hearLoss(ctx, lost)
	if err != nil {
		return err
	}
	return refused.Err()
}

// aside calls what is the upstream's on a goroutine of its own, which keeps what
// was taken of the budget until it is back. Panics are caught.
func (x *exchange) aside(f func() error) <-chan error {
	done := make(chan error, 1)
	x.users.Add(1)
	go func() {
		err := errGoexit
		defer func() {
			if v := recover(); v != nil {
				err = newPanic(v)
			}
			x.release()
			done <- x.kept(err)
		}()
		err = f()
	}()
	return done
}

// wait keeps time until the upstream returns or is given up.
func (x *exchange) wait(ctx context.Context, s *sink, done <-chan error, w watch) (err error, returned bool) {
	tick := time.NewTicker(x.s.step)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err, true
		case <-x.r.Context().Done():
			return x.ended(ctx), false
		case <-ctx.Done(): // of Authenticate
			return x.ended(ctx), false
		case now := <-tick.C:
			if err := x.look(s, &w, now); err != nil {
				return err, false
			}
		}
	}
}

// look looks whether a limit is reached or a sign of life is due. No clock is
// read for an event, so times are known to within a step, and never taken for
// longer than they were.
func (x *exchange) look(s *sink, w *watch, now time.Time) error {
	t := &x.s.serving.Timeouts
	idle := s.try()
	if idle {
		defer func() { s.token <- struct{}{} }()
	}
	sends := s.sends.Load()
	moved := sends != w.sends
	if moved || !idle {
		w.sends, w.quiet = sends, now
	}
	if moved || idle {
		// A write that began since the last look, or will begin before the
		// next one. The deadline of one that is stuck stays.
		x.deadline(now.Add(t.Write + x.s.step))
	}
	switch {
	case now.Sub(w.began) >= t.Total:
		return errTotal
	case !idle:
		return nil
	case !s.first && now.Sub(w.began) >= t.FirstByte:
		return errFirstByte
	case s.first && now.Sub(w.quiet) >= t.Silence:
		return errSilence
	}
	if s.writes != w.writes {
		w.writes, w.still = s.writes, now
	}
	if s.held > 0 && s.err == nil { // an upstream that promised more did not keep its word
		s.buf = s.pending()
		s.flush()
	}
	if s.call.Stream != nil && s.err == nil && now.Sub(w.still) >= t.KeepAlive {
		s.buf = s.call.Stream.Ping(s.buf[:0])
		s.flush()
		w.writes, w.still = s.writes, now
	}
	return nil
}

// end answers the client when the call is over. The sink is shut.
func (x *exchange) end(ctx context.Context, s *sink, err error) {
	var gone *goneError
	if s.err != nil && !errors.As(err, &gone) {
		err = s.err // what the upstream made of it does not matter
	}
	err = x.left(ctx, err)
	x.deadline(time.Now().Add(x.s.serving.Timeouts.Write))
	x.unreported(s, err == nil)
	if err == nil {
		x.succeed(ctx, s)
		return
	}
	f := x.explain(ctx, err)
	left := errors.As(err, &gone)
	if errors.As(s.err, &gone) {
		return // no write can succeed
	}
	switch {
	case !x.begun:
		x.write(f)
	case s.call.Stream != nil:
		if s.held > 0 && s.call.Apart > 0 {
			s.buf = s.pending()
			s.flush()
		}
		apart := s.call.Apart
		if left {
			apart = 0
		}
		x.pause(apart)
		s.buf = s.call.Stream.End(s.pending(), f)
		s.flush()
		if r, ok := s.call.Stream.(Repeater); ok && s.err == nil {
			x.pause(apart)
			s.buf = r.Repeat(s.pending(), f)
			if len(s.buf) > 0 {
				s.flush()
			}
		}
	}
}

// pause waits, unless the client leaves.
func (x *exchange) pause(d time.Duration) {
	if d == 0 {
		return
	}
	left := x.r.Context().Done()
	if x.r.Context().Err() != nil {
		left = nil // the context has ended, and the client has not left
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-left:
	}
}

// left returns the error to report for a call that failed with err. If a context
// of the call has ended, that is why, whatever the upstream made of it: it may
// return before the handler looks.
func (x *exchange) left(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var gone *goneError
	if errors.As(err, &gone) && errors.Is(gone.err, http.ErrHandlerTimeout) {
		return x.hostDeadline(gone.err)
	}
	if ended := x.ended(ctx); ended != nil {
		return ended
	}
	return err
}

// ended returns why the context of the request, or ctx, which the host made of it,
// has ended; nil if neither has.
func (x *exchange) ended(ctx context.Context) error {
	for _, c := range [...]context.Context{x.r.Context(), ctx} {
		if c.Err() == nil {
			continue
		}
		cause := context.Cause(c)
		switch {
		case cause == errWithin:
			return errWithin
		case errors.Is(c.Err(), context.DeadlineExceeded):
			return x.hostDeadline(cause)
		case cause != context.Canceled:
			return hostCanceled(cause)
		case c == x.r.Context(): // as the server does it
			return &goneError{errLeft}
		}
		return hostCanceled(cause)
	}
	return nil
}

// hostDeadline returns the failure of a request for which the host has set a
// deadline that passed.
func (x *exchange) hostDeadline(cause error) *Failure {
	return &Failure{Code: upstream.CodeTimeout, byHost: true, Err: fmt.Errorf(
		"the deadline that the host set (http.TimeoutHandler, timeout middleware or context.WithTimeout around the handler) passed after %v: %w",
		time.Since(x.start).Round(time.Millisecond), cause)}
}

// hostCanceled returns the failure of a request whose context the host has
// canceled. A cause that is an [*upstream.Error] is what the client receives.
func hostCanceled(cause error) *Failure {
	e := upstream.Error{Code: upstream.CodeUnavailable, Err: cause}
	if own, ok := outermost(cause).(*upstream.Error); ok {
		e = *own
	}
	if e.Err == nil {
		e.Err = errCanceled
	} else {
		e.Err = fmt.Errorf("%w: %w", errCanceled, e.Err)
	}
	f := Explain(&e)
	f.byHost = true
	return f
}

// kept returns an error of the host's as one that is safe to look at: its own
// methods were asked, and did not panic.
func (x *exchange) kept(err error) (safe error) {
	defer func() {
		if v := recover(); v != nil {
			safe = &Failure{Code: upstream.CodeInternal, Err: newPanic(v)}
		}
	}()
	var gone *goneError
	if err == nil || errors.As(err, &gone) {
		return err
	}
	return x.settled(err)
}

// explain finds out what the client is told about a call that failed, and
// tells the host.
func (x *exchange) explain(ctx context.Context, err error) *Failure {
	var gone *goneError
	if !errors.As(err, &gone) {
		f := x.settled(err)
		x.failed(f)
		x.log(ctx, f, x.origin()...)
		return f
	}
	x.canceled(err)
	x.say(ctx, slog.LevelDebug, "client left", append(x.origin(), slog.String("cause", gone.err.Error()))...)
	if !x.begun {
		x.report.Status = statusGone
	}
	// A context that ends may also mean that the server is stopped, with the
	// client still there. It is not waited for.
	x.deadline(time.Now().Add(x.s.serving.Timeouts.Grace))
	return &Failure{Code: upstream.CodeUnavailable, Err: err}
}

// abandon waits for an upstream that was told to stop, and leaves it behind if
// it does not.
func (x *exchange) abandon(ctx context.Context, done <-chan error) {
	t := time.NewTimer(x.s.serving.Timeouts.Grace)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		x.say(ctx, slog.LevelWarn, "upstream did not return when told to; it is left behind",
			slog.Duration("grace", x.s.serving.Timeouts.Grace))
	}
}
