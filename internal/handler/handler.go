package handler

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A Handler serves an Upstream in one format, or passes valid requests to another handler. It
// implements [upstream.FormatHandler].
type Handler struct {
	up        upstream.Upstream
	next      http.Handler            // receives valid requests; nil: up does
	options   upstream.HandlerOptions // with defaults applied
	protocol  Protocol
	tick      time.Duration // interval of the timer
	pieces    sync.Pool     // of *[pieceSize]byte
	loadSlots chan struct{} // limits the files that all requests load at once
	errFile   error         // a file exceeds FileLimits.Bytes
	errFiles  error         // the files of a request together exceed it

	warnUnflushable sync.Once // once for each handler
}

// New returns a Handler. body is the default of Limits.Body. It panics if up is nil or
// a field of options is invalid; the message begins with name.
func New(name string, up upstream.Upstream, options upstream.HandlerOptions, body int64, d Protocol) *Handler {
	if up == nil {
		panic(name + ": nil Upstream")
	}
	s := newHandler(name, options, body, d)
	s.up = up
	return s
}

// NewValidator returns a Handler that refuses requests like New's, and passes those that it would
// serve to next. It loads no files, and checks links only if options.Links does. It panics as New
// does.
func NewValidator(name string, next http.Handler, options upstream.HandlerOptions, body int64, d Protocol) *Handler {
	if next == nil {
		panic(name + ": nil Handler")
	}
	if options.Links == nil {
		options.ForwardLinks, options.Links = false, content.Files{}
	}
	s := newHandler(name, options, body, d)
	s.next = next
	return s
}

func newHandler(name string, options upstream.HandlerOptions, body int64, d Protocol) *Handler {
	setOptions(name, &options, body)
	s := &Handler{options: options, protocol: d, tick: tickInterval(&options.Timeouts)}
	s.loadSlots = make(chan struct{}, options.FileLimits.PerHandler)
	tooLarge := func(format string) error {
		return &content.Violation{Code: content.CodeLimit, Text: fmt.Sprintf(format, options.FileLimits.Bytes)}
	}
	s.errFile = tooLarge("the file is too large: at most %d bytes are allowed for all files of a request")
	s.errFiles = tooLarge("the files of the request are too large together: at most %d bytes are allowed")
	s.pieces.New = func() any { return new([pieceSize]byte) }
	return s
}

// ServeHTTP serves one request.
func (s *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.newExchange(w, r)
	if valid := x.serve(); valid != nil {
		defer x.releaseBudget()
		s.next.ServeHTTP(w, valid)
	}
}

// Match reports whether s serves the path of r, for any method.
func (s *Handler) Match(r *http.Request) bool {
	route, err := s.protocol.Route(r)
	return err == nil && (!route.Shared || s.protocol.Owns(r))
}

// Resembles reports whether r looks like a request of a client of the format.
func (s *Handler) Resembles(r *http.Request) bool { return s.protocol.Resembles(r) }

// serve serves the request. With a next handler it only refuses requests, and returns a valid one
// with the body that was read.
func (x *exchange) serve() (valid *http.Request) {
	ctx := x.context(x.r.Context())
	defer func() {
		v := recover()
		if v == nil && valid != nil {
			return
		}
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
	if err == nil && x.s.next != nil && op.Request != nil {
		err = x.checkFormat(ctx, op.Request)
	}
	if err != nil {
		x.fail(ctx, err)
		return nil
	}
	if x.s.next != nil {
		return x.validRequest(ctx)
	}
	if op.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, x.start.Add(op.Timeout), errClientTimeout)
		defer cancel()
	}
	if op.Run != nil {
		x.runOperation(ctx, op)
		return nil
	}
	x.generate(ctx, op)
	return nil
}

// validRequest returns the request with the body that was read.
func (x *exchange) validRequest(ctx context.Context) *http.Request {
	r := x.r.WithContext(ctx)
	if r.Method == http.MethodPost {
		body := x.body
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
		r.ContentLength, r.TransferEncoding = int64(len(body)), nil
	}
	return r
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
	if context.Cause(r.Context()) == context.Canceled { // the cause of what a proxy reports
		err = &writeError{err}
	}
	x.writeFailure(x.recordError(ctx, x.authError(err, key)))
}
