package handler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/reqctx"
	"github.com/polywire/polywire/upstream"
)

// An exchange is one request and its response. While Generate runs, only the holder
// of the sink's token may use it.
type exchange struct {
	s      *Handler
	w      http.ResponseWriter
	rc     *http.ResponseController
	r      *http.Request
	id     string
	values reqctx.Values // in the context of everything that the handler calls
	start  time.Time
	report upstream.Report
	losses loss.List  // report.Losses
	route  *Route     // nil before routing
	op     *Operation // nil before parsing
	body   string     // only for a next handler

	headerSent  bool         // the response headers were written
	bodyUnread  bool         // the body was not read to its end
	readFailed  bool         // reading the body failed
	lingering   bool         // the connection closes after the response, although the client may still be sending
	unflushable bool         // the writer delivers everything at the end
	breaks      bool         // the stream ends by a break of the connection
	bytesRead   int64        // of the body
	reserved    int64        // bytes of the budget for the body: at least bytesRead
	entered     bool         // the budget counts this request
	held        atomic.Int64 // batches of events that an upstream.Failover has received but not passed on
	users       atomic.Int32 // users of the reserved bytes: this goroutine, and the upstream's

	mu          sync.Mutex
	lastSend    string      // name of the adapter that sent the last request
	modelLosses []modelLoss // found while listing models
	attempts    []upstream.Attempt
	fileBytes   int64 // bytes of the budget for files and for kept output
	released    bool  // the reserved bytes were returned
}

// statusClientClosed is the status in reports of requests whose client left before a
// response.
const statusClientClosed = 499

func (s *Handler) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{
		s: s, w: w, rc: http.NewResponseController(w), r: r,
		id:         cmp.Or(reqctx.From(r.Context()).ID, NewRequestID()), // a validator, or a handler around this one, may have one
		start:      time.Now(),
		bodyUnread: r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0,
	}
	if hook := s.options.RequestID; hook != nil {
		x.guard(r.Context(), "RequestID", func() { x.setID(hook(r)) })
	}
	x.values = reqctx.Values{ID: x.id, ReportLoss: x.addModelLoss, ReportSend: x.noteSend, ReportHeld: x.noteHeld}
	if s.options.OnLoss != nil || s.options.OnDone != nil {
		x.values.Path = x.path
	}
	x.report = upstream.Report{
		ID: x.id, Format: s.protocol.Format(), Method: OneLine(r.Method, maxMethod), Path: OneLine(r.URL.Path, maxURLPath), Start: x.start,
	}
	x.users.Store(1)
	return x
}

const (
	maxMethod  = 16   // bounds the client's HTTP method in reports and error texts, in bytes
	maxURLPath = 4096 // bounds the path of a URL, in bytes
)

// checkPath returns an error for a path whose names could not be logged, stored or used as
// attributes: one that is not UTF-8, has control characters, or is too long.
func checkPath(path string) error {
	text := ""
	switch {
	case len(path) > maxURLPath:
		text = fmt.Sprintf("the path of the URL has %d bytes; the maximum is %d", len(path), maxURLPath)
	case !utf8.ValidString(path):
		text = "the path of the URL must be UTF-8"
	case strings.ContainsFunc(path, unicode.IsControl):
		text = "the path of the URL must not contain control characters"
	default:
		return nil
	}
	return &Failure{Code: upstream.CodeInvalid, Text: text, Reason: text}
}

// setID replaces the request id by the host's, if that is valid.
func (x *exchange) setID(id string) {
	switch {
	case reqctx.IsID(id):
		x.id = id
	case id != "":
		x.logLine(x.r.Context(), slog.LevelDebug, "the request id of the host is not 1 to 128 bytes of visible ASCII; the handler made one")
	}
}

// context returns ctx with the values of the request.
func (x *exchange) context(ctx context.Context) context.Context {
	if reqctx.From(ctx) == &x.values {
		return ctx
	}
	return reqctx.With(ctx, &x.values)
}

// prepare routes, authenticates, reads and parses the request. The returned context
// is never nil.
func (x *exchange) prepare(ctx context.Context) (context.Context, *Operation, error) {
	route, err := x.s.protocol.Route(x.r)
	x.route = route
	if err := cmp.Or(checkPath(x.r.URL.Path), err); err != nil {
		return ctx, nil, err
	}
	if x.r.Method != route.Method {
		return ctx, nil, &Failure{
			Code: upstream.CodeMethod, Allow: route.Method,
			Reason: "the method is " + OneLine(x.r.Method, maxMethod) + " instead of " + route.Method,
		}
	}
	ctx, err = x.authenticate(ctx)
	if err != nil {
		return ctx, nil, err
	}
	if route.CheckHeader != nil {
		if err := route.CheckHeader(x.r); err != nil {
			return ctx, nil, err
		}
	}
	if !x.s.options.Budget.Enter() {
		return ctx, nil, overloaded()
	}
	x.entered = true
	var body string
	if route.Method == http.MethodPost {
		if body, err = x.readBody(); err != nil {
			return ctx, nil, err
		}
	}
	if x.s.next != nil {
		x.body = body
	}
	r := x.r
	if route.Context {
		r = r.WithContext(ctx)
	}
	op, err := route.Parse(x.id, r, body)
	if err != nil {
		return ctx, nil, err
	}
	x.op = op
	if !x.reserve(x.reserved + op.Memory) {
		return ctx, nil, overloaded()
	}
	if op.Request != nil {
		if d := document.Of(op.Request.Wire); d.HasState() {
			x.values.StateFormat = d.In
		}
		x.report.Model, x.values.Model = op.Request.Model, op.Request.Model
		op.Request.RejectLoss = x.s.options.RejectLoss
		op.Request.ForwardLinks = x.s.options.ForwardLinks
		op.Request.Session = sessionOf(x.r.Header)
		if err := x.s.checkLinks(op.Files); err != nil {
			return ctx, nil, err
		}
	}
	switch {
	case op.Run != nil:
		x.report.Mode = op.Mode
	case op.Stream != nil:
		x.report.Mode = "stream"
	default:
		x.report.Mode = "plain"
	}
	return ctx, op, nil
}

func overloaded() error {
	return &Failure{
		Code: upstream.CodeOverloaded, RetryAfter: time.Second,
		Err: errors.New("the Budget for bytes or requests in flight is exhausted"),
	}
}

// authenticate calls the host's Authenticate. The returned context is never nil.
func (x *exchange) authenticate(ctx context.Context) (known context.Context, err error) {
	auth := x.s.options.Authenticate
	if auth == nil {
		return ctx, nil
	}
	key := ""
	for _, k := range x.s.protocol.Keys(x.r) {
		switch {
		case k == "" || k == key:
		case key == "":
			key = k
		default:
			return ctx, &Failure{Code: upstream.CodeUnauthenticated, Detail: DetailConflictingKeys}
		}
	}
	defer func() {
		if v := recover(); v != nil {
			if known == nil {
				known = ctx
			}
			err = newPanic(v)
		}
	}()
	known, err = auth(ctx, x.r, key)
	if known == nil {
		known = ctx
	}
	if key != "" && !reqctx.HasClient(known) {
		known = reqctx.WithClient(known, key)
	}
	known = x.context(known)
	if err != nil {
		return known, authError(err, key)
	}
	return known, nil
}

// authError returns err as the error of a failed authentication. If the host has no
// text of its own, the format's text is used. A panic of the error's methods becomes
// an internal error.
func (x *exchange) authError(err error, key string) (own error) {
	defer func() {
		if v := recover(); v != nil {
			own = newPanic(v)
		}
	}()
	return authError(err, key)
}

func authError(err error, key string) error {
	f := FailureOf(err)
	if f.Code != upstream.CodeUnauthenticated || len(f.Violations) > 0 {
		return err
	}
	own := *f
	own.Detail = DetailInvalidKey
	if key == "" {
		own.Detail = DetailMissingKey
	}
	if errors.Is(err, upstream.ErrNoKey) || errors.Is(err, upstream.ErrBadKey) {
		own.Text = ""
	}
	return &own
}

// fail writes an error response. Nothing was written before.
func (x *exchange) fail(ctx context.Context, err error) {
	f := x.failureOf(err)
	x.noteFailure(f)
	x.logFailure(ctx, f, x.upstreamAttrs()...)
	x.writeFailure(f)
}

// noteFailure records a failure in the report.
func (x *exchange) noteFailure(f *Failure) {
	x.report.Err, x.report.Code = f, f.Code
	x.setUpstream(f.Upstream, f.UpstreamID)
	if f.byHost || f.Code == upstream.CodeTimeout {
		x.setLastSend()
	}
	if x.report.Status == statusClientClosed {
		x.report.Code = upstream.CodeCanceled
	}
}

// noteSend records the name of an adapter that sends a request. It is safe for
// concurrent use.
func (x *exchange) noteSend(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.lastSend = name
}

// noteHeld counts events that are not yet passed on. It is safe for concurrent use.
func (x *exchange) noteHeld() { x.held.Add(1) }

// setLastSend records in the report which upstream had a request but no response.
func (x *exchange) setLastSend() {
	x.mu.Lock()
	name := x.lastSend
	x.mu.Unlock()
	if x.report.Upstream == "" {
		x.setUpstream(name, "")
	}
}

// setUpstream records which upstream responded or failed, and its vendor's id of the
// request. Empty values are unknown. It sends the id to the client if the headers
// were not written yet.
func (x *exchange) setUpstream(name, id string) {
	if name != "" {
		x.report.Upstream = OneLine(name, maxPath)
	}
	if !reqctx.IsID(id) {
		return
	}
	x.report.UpstreamID = id
	if !x.headerSent {
		x.w.Header().Set("Upstream-Request-Id", id)
	}
}

// upstreamAttrs returns the log attributes that name the upstream, if known.
func (x *exchange) upstreamAttrs() []slog.Attr {
	var attrs []slog.Attr
	if x.report.Upstream != "" {
		attrs = append(attrs, slog.String("upstream", x.report.Upstream))
	}
	if x.report.UpstreamID != "" {
		attrs = append(attrs, slog.String("upstream_request", x.report.UpstreamID))
	}
	return attrs
}

// noteCanceled records in the report that the client left.
func (x *exchange) noteCanceled(err error) {
	x.report.Err, x.report.Code = err, upstream.CodeCanceled
	x.setLastSend()
}

// failureOf returns the error response for err. The methods of a host's error may
// panic, as those of a typed nil do.
func (x *exchange) failureOf(err error) (f *Failure) {
	defer func() {
		if v := recover(); v != nil {
			f = &Failure{Code: upstream.CodeInternal, Err: newPanic(v)}
		}
	}()
	return FailureFor(x.s.protocol, x.request(), err)
}

// path converts a neutral path to the format's style.
func (x *exchange) path(neutral string) string { return wirePath(x.s.protocol, x.request(), neutral) }

// request returns the parsed request, or nil.
func (x *exchange) request() *upstream.Request {
	if x.op == nil {
		return nil
	}
	return x.op.Request
}

// releaseBudget returns the reserved bytes to the budget after the last user is
// done.
func (x *exchange) releaseBudget() {
	if x.users.Add(-1) == 0 && x.entered {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.released = true
		x.s.options.Budget.Leave(x.reserved + x.fileBytes)
	}
}

// reserveFile reserves n bytes of the budget for a file, or for what an encoder keeps, and
// reports whether it could.
func (x *exchange) reserveFile(n int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.released || !x.s.options.Budget.Reserve(n) {
		return false
	}
	x.fileBytes += n
	return true
}

// finish completes the report and calls OnDone.
func (x *exchange) finish(ctx context.Context) {
	x.releaseBudget()
	x.addModelLosses(ctx)
	x.addAttempts()
	x.report.BytesIn = max(x.report.BytesIn, x.bytesRead)
	x.report.Duration = time.Since(x.start)
	if f := x.s.options.OnDone; f != nil {
		report := x.report
		// Usage must be recorded even if the client has left.
		x.guard(ctx, "OnDone", func() { f(context.WithoutCancel(ctx), &report) })
	}
}

// guard calls a function of the host and logs its panic.
func (x *exchange) guard(ctx context.Context, name string, f func()) {
	defer func() {
		if v := recover(); v != nil {
			x.logFailure(ctx, &Failure{Code: upstream.CodeInternal, Err: fmt.Errorf("%s: %w", name, newPanic(v))})
		}
	}()
	f()
}

// handlePanic logs a panic of the handler's goroutine and writes an internal error
// if it can.
func (x *exchange) handlePanic(ctx context.Context, v any) {
	f := &Failure{Code: upstream.CodeInternal, Err: newPanic(v)}
	x.noteFailure(f)
	x.logFailure(ctx, f)
	if !x.headerSent {
		x.guard(ctx, "writing", func() { x.writeFailure(f) })
	}
}

// A panicError is a recovered panic.
type panicError struct {
	value any
	stack []byte
}

func newPanic(v any) error { return &panicError{v, debug.Stack()} }

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }
