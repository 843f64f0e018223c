package handler

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/polywire/polywire/upstream"
)

// A Handler serves an Upstream in one format. It is safe for concurrent use.
type Handler struct {
	up        upstream.Upstream
	options   upstream.HandlerOptions // with defaults applied
	protocol  Protocol
	tick      time.Duration // interval of the timer
	pieces    sync.Pool     // of *[pieceSize]byte
	loadSlots chan struct{} // limits the files that all requests load at once

	warnUnflushable sync.Once // once for each handler
}

// New returns a Handler. body is the default of Limits.Body. It panics if up is nil or
// a field of options is invalid; the message begins with name.
func New(name string, up upstream.Upstream, options upstream.HandlerOptions, body int64, d Protocol) *Handler {
	if up == nil {
		panic(name + ": nil Upstream")
	}
	checkOptions(name, &options)
	setDefaults(&options, body)
	s := &Handler{up: up, options: options, protocol: d, tick: tickInterval(&options.Timeouts)}
	s.loadSlots = make(chan struct{}, options.FileLimits.PerHandler)
	s.pieces.New = func() any { return new([pieceSize]byte) }
	return s
}

// ServeHTTP serves one request.
func (s *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.newExchange(w, r)
	ctx := x.context(r.Context())
	defer func() {
		v := recover()
		if v != nil && v != http.ErrAbortHandler {
			x.handlePanic(ctx, v)
		}
		x.finish(ctx)
		if v != nil && (x.headerSent || v == http.ErrAbortHandler) {
			// A response that has begun cannot be completed any more. Closing the
			// connection shows the client that it is incomplete.
			panic(http.ErrAbortHandler)
		}
		if x.breaks {
			x.breakConnection()
		}
		x.linger()
	}()
	ctx, op, err := x.prepare(ctx)
	if err != nil {
		x.fail(ctx, err)
		return
	}
	if op.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, x.start.Add(op.Timeout), errClientTimeout)
		defer cancel()
	}
	if op.Run != nil {
		x.runOperation(ctx, op)
		return
	}
	x.generate(ctx, op)
}

// WriteError writes err as an error response of the format, for middleware of the
// host. It logs and reports the request like one that the handler refuses.
func (s *Handler) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	x := s.newExchange(w, r)
	ctx := x.context(r.Context())
	defer func() {
		x.finish(ctx)
		x.linger()
	}()
	x.route, _ = s.protocol.Route(r)
	key := ""
	if keys := s.protocol.Keys(r); len(keys) > 0 {
		key = keys[0]
	}
	x.fail(ctx, x.authError(err, key))
}
