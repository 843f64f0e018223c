package handler

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/upstream"
)

// Causes for ending an operation.
var (
	errClientLeft    = errors.New("the client left")
	errFirstByte     = &upstream.Error{Code: upstream.CodeTimeout, Err: errors.New("the upstream sent no event within Timeouts.FirstByte")}
	errIdle          = &upstream.Error{Code: upstream.CodeTimeout, Err: errors.New("the upstream sent no event for Timeouts.Idle")}
	errTotal         = &upstream.Error{Code: upstream.CodeTimeout, Err: errors.New("the request took longer than Timeouts.Total")}
	errClientTimeout = &upstream.Error{Code: upstream.CodeTimeout, Err: errors.New("the request took longer than the client waits")}
	errGoexit        = errors.New("Generate called runtime.Goexit")
	errDone          = errors.New("the response has ended")
	errCanceled      = errors.New("the host canceled the context of the request")
)

// A progress is the state of the timer between two ticks.
type progress struct {
	began     time.Time // start of the operation
	sends     int64     // at the last tick, with held events
	lastSend  time.Time // when the upstream last sent an event
	writes    int64     // at the last tick
	lastWrite time.Time // when something was last written
}

// generate calls Generate and writes the response.
func (x *exchange) generate(ctx context.Context, op *Operation) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(errDone)
	loader := &loader{s: x.s, request: func() context.Context { return inner }, reserve: x.reserveFile}
	op.Request.Resolver = loader
	s := newSink(x, op, cancel)
	inner = upstream.WithTrace(inner, &upstream.Trace{AttemptDone: x.noteAttempt})
	now := time.Now()
	x.setWriteDeadline(now.Add(x.s.options.Timeouts.Write + x.s.tick))
	done := x.startGenerate(inner, op, loader, s)
	isShut := false
	defer func() {
		if !isShut { // on a panic of the handler, the upstream must not use the connection any more
			cancel(errDone)
			s.shutDown(x.s.options.Timeouts.Grace)
		}
	}()
	err, returned := x.wait(ctx, s, done, progress{began: now, lastSend: now, lastWrite: now})
	if !returned {
		cancel(err)
	}
	s.shutDown(x.s.options.Timeouts.Grace)
	isShut = true
	x.respond(ctx, s, err)
	if !returned {
		x.awaitReturn(ctx, done)
	}
}

// startGenerate loads the files of the request and calls Generate on a new
// goroutine. The returned channel is buffered: its receiver may be gone.
func (x *exchange) startGenerate(ctx context.Context, op *Operation, l *loader, s *sink) <-chan error {
	return x.startGuarded(func() error {
		if err := x.checkFormat(ctx, op.Request); err != nil {
			return err
		}
		if err := x.sendLosses(ctx, op, s); err != nil {
			return err
		}
		if err := x.loadFiles(ctx, l, op); err != nil {
			return err
		}
		return upstream.Run(ctx, x.s.up, op.Request, upstream.SinkFunc(func(events []upstream.Event) error {
			losses, err := s.send(events)
			x.callOnLoss(ctx, losses)
			return err
		}))
	})
}

// checkFormat returns the error of a request that depends on state of a vendor, as
// [upstream.Run] does. The handler calls it before it loads files.
func (x *exchange) checkFormat(ctx context.Context, r *upstream.Request) error {
	d := document.Of(r.Wire)
	if !d.HasState() {
		return nil
	}
	if x.s.next != nil {
		return d.CheckFormat(d.In, nil)
	}
	return d.CheckFormat(upstream.FormatOf(ctx, x.s.up, r))
}

// sendLosses sends the handler's own losses of a request to the sink, and applies
// RejectLoss.
func (x *exchange) sendLosses(ctx context.Context, op *Operation, s *sink) error {
	if len(op.Losses) == 0 {
		return nil
	}
	var rejected violation.List
	events := make([]upstream.Event, len(op.Losses))
	for i := range op.Losses {
		l := &op.Losses[i]
		events[i] = upstream.Event{Kind: upstream.EventLoss, Loss: l}
		if r := op.Request.RejectLoss; r != 0 && l.Severity >= r {
			rejected.Add(content.CodeUnsupported, l.Path, l.Reason)
		}
	}
	losses, err := s.send(events)
	x.callOnLoss(ctx, losses)
	if err != nil {
		return err
	}
	return rejected.Err()
}

// startGuarded calls f on a new goroutine and recovers its panics. The goroutine
// keeps the reserved bytes until f returns.
func (x *exchange) startGuarded(f func() error) <-chan error {
	done := make(chan error, 1)
	x.users.Add(1)
	go func() {
		err := errGoexit
		defer func() {
			if v := recover(); v != nil {
				err = newPanic(v)
			}
			x.releaseBudget()
			done <- x.safeError(err)
		}()
		err = f()
	}()
	return done
}

// wait waits until the upstream returns, a timeout expires or the context ends.
func (x *exchange) wait(ctx context.Context, s *sink, done <-chan error, w progress) (err error, returned bool) {
	tick := time.NewTicker(x.s.tick)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err, true
		case <-x.r.Context().Done():
			return x.contextError(ctx), false
		case <-ctx.Done(): // the context that Authenticate returned
			return x.contextError(ctx), false
		case now := <-tick.C:
			if err := x.checkTimeouts(s, &w, now); err != nil {
				return err, false
			}
		}
	}
}

// checkTimeouts returns an error if a timeout has expired, and writes a keep-alive
// if one is due. Events do not read the clock, so times are accurate to one tick; an
// interval is never overestimated.
func (x *exchange) checkTimeouts(s *sink, w *progress, now time.Time) error {
	t := &x.s.options.Timeouts
	idle := s.tryLock()
	if idle {
		defer func() { s.token <- struct{}{} }()
	}
	held := x.held.Load()
	sends := s.sends.Load() + held
	moved := sends != w.sends
	if moved || !idle {
		w.sends, w.lastSend = sends, now
	}
	if moved || idle {
		// For a write that began since the last tick or begins before the next one.
		// A blocked write keeps its deadline.
		x.setWriteDeadline(now.Add(t.Write + x.s.tick))
	}
	switch {
	case now.Sub(w.began) >= t.Total:
		return errTotal
	case !idle:
		return nil
	}
	started := s.started || held > 0
	switch {
	case !started && now.Sub(w.began) >= t.FirstByte:
		return errFirstByte
	case started && now.Sub(w.lastSend) >= t.Idle:
		return errIdle
	}
	if s.writes != w.writes {
		w.writes, w.lastWrite = s.writes, now
	}
	if s.held > 0 && s.err == nil { // the upstream announced more events but did not send them in time
		s.buf = s.pending()
		s.flush()
	}
	if s.op.Stream != nil && s.err == nil && now.Sub(w.lastWrite) >= t.KeepAlive {
		s.buf = s.op.Stream.Ping(s.buf[:0])
		s.flush()
		w.writes, w.lastWrite = s.writes, now
	}
	return nil
}

// respond completes the response after Generate. The sink is shut down.
func (x *exchange) respond(ctx context.Context, s *sink, err error) {
	var clientGone *writeError
	if s.err != nil && !errors.As(err, &clientGone) {
		err = s.err // the sink's error is the cause of err
	}
	err = x.endError(ctx, err)
	x.setWriteDeadline(time.Now().Add(x.s.options.Timeouts.Write))
	x.estimateUsage(s, err == nil)
	if err == nil {
		x.finishResponse(ctx, s)
		return
	}
	f := x.recordError(ctx, err)
	clientLeft := errors.As(err, &clientGone)
	if errors.As(s.err, &clientGone) {
		return // no further write can succeed
	}
	switch {
	case !x.headerSent:
		x.writeFailure(f)
	case s.op.Stream != nil:
		if h, ok := s.op.Stream.(HoldingEncoder); ok {
			s.buf = h.Flush(s.pending())
			s.held, s.content = len(s.buf), s.content || len(s.buf) > s.held
		}
		if s.held > 0 && s.op.ErrorPause > 0 {
			s.buf = s.pending()
			s.flush()
		}
		pause := s.op.ErrorPause
		if clientLeft {
			pause = 0
		}
		x.pause(pause)
		s.buf = s.op.Stream.End(s.pending(), f)
		s.flush()
		if r, ok := s.op.Stream.(ErrorRepeater); ok && s.err == nil {
			x.pause(pause)
			s.buf = r.Repeat(s.pending(), f)
			if len(s.buf) > 0 {
				s.flush()
			}
		}
		x.breaks = s.op.BreakPause > 0 && s.content && s.err == nil && !clientLeft && x.canBreak()
	}
}

// canBreak reports whether a panic with [http.ErrAbortHandler] breaks the connection after what
// was sent: not without a server, as in tests with an httptest.ResponseRecorder, and not if
// the writer has sent nothing yet.
func (x *exchange) canBreak() bool {
	return x.r.Context().Value(http.ServerContextKey) != nil && !x.unflushable
}

// breakConnection ends a stream whose error some clients do not read: only a broken
// connection shows them that the response is incomplete. It first pauses, because other
// clients then do not read an error that has just arrived. The report is complete by then
// and the budget free. The expired deadline keeps middleware that recovers the panic from
// writing anything after the error.
func (x *exchange) breakConnection() {
	x.pause(x.op.BreakPause)
	x.setWriteDeadline(time.Unix(1, 0))
	panic(http.ErrAbortHandler)
}

// pause waits for d, or until the client leaves.
func (x *exchange) pause(d time.Duration) {
	if d == 0 {
		return
	}
	clientLeft := x.r.Context().Done()
	if x.r.Context().Err() != nil {
		clientLeft = nil // the context ended, but the client did not leave
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-clientLeft:
	}
}

// endError returns the error to report for an operation that failed with err. If a
// context has ended, that is the cause: an upstream may return before the timer
// notices.
func (x *exchange) endError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var gone *writeError
	if errors.As(err, &gone) && errors.Is(gone.err, http.ErrHandlerTimeout) {
		return x.hostDeadline(gone.err)
	}
	if ended := x.contextError(ctx); ended != nil {
		return ended
	}
	return err
}

// contextError returns the error for the end of the request's context, or of ctx,
// which the host derived from it. It returns nil if neither has ended.
func (x *exchange) contextError(ctx context.Context) error {
	for _, c := range [...]context.Context{x.r.Context(), ctx} {
		if c.Err() == nil {
			continue
		}
		cause := context.Cause(c)
		switch {
		case cause == errClientTimeout:
			return errClientTimeout
		case errors.Is(c.Err(), context.DeadlineExceeded):
			return x.hostDeadline(cause)
		case cause != context.Canceled:
			return hostCanceled(cause)
		case c == x.r.Context(): // canceled by the server
			return &writeError{errClientLeft}
		}
		return hostCanceled(cause)
	}
	return nil
}

// hostDeadline returns the failure for a deadline that the host set.
func (x *exchange) hostDeadline(cause error) *Failure {
	return &Failure{Code: upstream.CodeTimeout, byHost: true, Err: fmt.Errorf(
		"the deadline that the host set (http.TimeoutHandler, timeout middleware or context.WithTimeout around the handler) passed after %v: %w",
		time.Since(x.start).Round(time.Millisecond), cause)}
}

// hostCanceled returns the failure for a context that the host canceled. If the
// cause is an [*upstream.Error], the client receives that.
func hostCanceled(cause error) *Failure {
	e := upstream.Error{Code: upstream.CodeUnavailable, Err: cause}
	if own, ok := clientError(cause).(*upstream.Error); ok {
		e = *own
	}
	if e.Err == nil {
		e.Err = errCanceled
	} else {
		e.Err = fmt.Errorf("%w: %w", errCanceled, e.Err)
	}
	f := FailureOf(&e)
	f.byHost = true
	return f
}

// safeError converts an error of the host to one whose methods cannot panic.
func (x *exchange) safeError(err error) (safe error) {
	defer func() {
		if v := recover(); v != nil {
			safe = &Failure{Code: upstream.CodeInternal, Err: newPanic(v)}
		}
	}()
	var gone *writeError
	if err == nil || errors.As(err, &gone) {
		return err
	}
	return x.failureOf(err)
}

// recordError records and logs the error of an operation and returns the error
// response.
func (x *exchange) recordError(ctx context.Context, err error) *Failure {
	var gone *writeError
	if !errors.As(err, &gone) {
		f := x.failureOf(err)
		x.noteFailure(f)
		x.logFailure(ctx, f, x.upstreamAttrs()...)
		return f
	}
	x.noteCanceled(err)
	x.logLine(ctx, slog.LevelDebug, "client left", append(x.upstreamAttrs(), slog.String("cause", gone.err.Error()))...)
	if !x.headerSent {
		x.report.Status = statusClientClosed
	}
	// The client may still be there if the server is stopping, but the handler does
	// not wait for it.
	x.setWriteDeadline(time.Now().Add(x.s.options.Timeouts.Grace))
	return &Failure{Code: upstream.CodeUnavailable, Err: err}
}

// awaitReturn waits for a canceled upstream, but no longer than Timeouts.Grace.
func (x *exchange) awaitReturn(ctx context.Context, done <-chan error) {
	t := time.NewTimer(x.s.options.Timeouts.Grace)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		x.logLine(ctx, slog.LevelWarn, "upstream did not return after its context ended; its goroutine is abandoned",
			slog.Duration("grace", x.s.options.Timeouts.Grace))
	}
}

var errNoResponse = &upstream.Error{Code: upstream.CodeTimeout, Err: errors.New("the upstream did not respond in time")}

// runOperation serves an operation that does not generate. It has the same
// protection: Run is called on a goroutine of its own, its panics are recovered, and
// it may take no longer than the first byte of a response.
func (x *exchange) runOperation(ctx context.Context, op *Operation) {
	x.reportLosses(ctx, op.Losses)
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(errDone)
	var doc *jsonwire.Writer // valid after a receive from done
	done := x.startGuarded(func() (err error) {
		doc, err = op.Run(inner, x.s.up)
		return err
	})
	times := &x.s.options.Timeouts
	late := time.NewTimer(min(times.FirstByte, times.Total))
	defer late.Stop()
	var err error
	returned := false
	select {
	case err = <-done:
		returned = true
	case <-x.r.Context().Done():
		err = x.contextError(ctx)
	case <-ctx.Done(): // the context that Authenticate returned
		err = x.contextError(ctx)
	case <-late.C:
		err = errNoResponse
	}
	cancel(err)
	if returned {
		x.reportLosses(ctx, op.RunLosses)
		x.addModelLosses(ctx)
		x.setUpstream(op.Upstream, op.UpstreamID)
	}
	x.setWriteDeadline(time.Now().Add(times.Write))
	if err = x.endError(ctx, err); err == nil {
		if err := x.writeDocument(doc, doc.Len()); err != nil {
			x.recordError(ctx, x.endError(ctx, err))
		}
	} else {
		x.writeFailure(x.recordError(ctx, err))
	}
	if !returned {
		x.awaitReturn(ctx, done)
	}
}

// reportLosses reports losses that were found outside of Generate.
func (x *exchange) reportLosses(ctx context.Context, losses []content.Loss) {
	var news loss.List
	x.addLosses(losses, &news)
	x.callOnLoss(ctx, news.All)
}

// noteAttempt records an attempt of an [upstream.Failover], and logs its error. It is
// safe for concurrent use.
func (x *exchange) noteAttempt(ctx context.Context, a upstream.Attempt) {
	if a.Err != nil && a.Code != upstream.CodeCanceled {
		f := x.failureOf(a.Err)
		level, _ := logLevel(ctx, f)
		x.logLine(ctx, level, "attempt failed", slog.Int("index", a.Index), slog.String("upstream", OneLine(a.Upstream, maxPath)),
			slog.String("code", string(a.Code)), slog.String("cause", causeText(f)))
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.attempts = append(x.attempts, a)
}

// addAttempts adds the recorded attempts to the report. Later ones are dropped.
func (x *exchange) addAttempts() {
	x.mu.Lock()
	defer x.mu.Unlock()
	slices.SortStableFunc(x.attempts, func(a, b upstream.Attempt) int { return a.Start.Compare(b.Start) })
	x.report.Attempts = slices.Clip(x.attempts)
	x.attempts = nil
}

// A modelLoss is a loss in a list of models, and its cause.
type modelLoss struct {
	loss  content.Loss
	cause error
}

// maxModelLosses bounds the model losses of one request.
const maxModelLosses = 100

// addModelLoss stores a loss for the handler's goroutine. It is safe for concurrent
// use.
func (x *exchange) addModelLoss(l content.Loss, cause error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.modelLosses) < maxModelLosses {
		x.modelLosses = append(x.modelLosses, modelLoss{l, cause})
	}
}

// addModelLosses logs and reports the stored losses.
func (x *exchange) addModelLosses(ctx context.Context) {
	x.mu.Lock()
	list := x.modelLosses
	x.modelLosses = nil
	x.mu.Unlock()
	for _, h := range list {
		f := x.failureOf(h.cause)
		x.logLine(ctx, slog.LevelWarn, "the list of models is incomplete",
			slog.String("code", string(f.Code)), slog.String("cause", causeText(f)), slog.String("upstream", f.Upstream))
		x.reportLosses(ctx, []content.Loss{h.loss})
	}
}
