package handler

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/reqctx"
	"github.com/polywire/polywire/upstream"
)

// An exchange is one request and its answer. While Generate runs, whoever holds
// the token of the sink may use it.
type exchange struct {
	s      *Server
	w      http.ResponseWriter
	rc     *http.ResponseController
	r      *http.Request
	id     string
	values reqctx.Values // in the context of everything that is called
	start  time.Time
	report upstream.Report
	lost   map[content.Loss]struct{} // those of the report
	passed [content.LossDropped]int  // by severity: how many at the end of the full list displace has looked at
	route  *Route                    // nil until it is known
	call   *Call                     // nil until it is known

	begun   bool         // headers have gone out
	unread  bool         // there is a body that was not read to its end
	cut     bool         // reading the body failed
	lingers bool         // the connection is to be closed although the client may be sending
	came    int64        // bytes of the body
	taken   int64        // bytes of the budget: as many, or as many as are promised
	inside  bool         // a place in the budget is taken
	users   atomic.Int32 // that still need what is taken: this goroutine, and Generate

	mu     sync.Mutex
	asked  string // the name of the adapter that asked its server last
	holes  []hole // of a list of models
	loaded int64  // bytes of the budget, for files
	over   bool   // nobody needs anything any more
}

// statusGone is what reports say if the client left before there was a status.
const statusGone = 499

func (s *Server) begin(w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{
		s: s, w: w, rc: http.NewResponseController(w), r: r,
		id:     "req_" + rand.Text(),
		start:  time.Now(),
		unread: r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0,
	}
	if hook := s.serving.RequestID; hook != nil {
		x.guard(r.Context(), "RequestID", func() { x.takeID(hook(r)) })
	}
	x.values = reqctx.Values{ID: x.id, Lost: x.hole, Asks: x.asks}
	x.report = upstream.Report{
		ID: x.id, Format: s.dialect.Format(), Method: r.Method, Path: r.URL.Path, Start: x.start,
	}
	x.users.Store(1)
	return x
}

// maxMethod bounds the HTTP method in an error, which is the client's.
const maxMethod = 16

// takeID replaces the request's id by one of the host's, if it is valid.
func (x *exchange) takeID(id string) {
	switch {
	case reqctx.IsID(id):
		x.id = id
	case id != "":
		x.say(x.r.Context(), slog.LevelDebug, "the request id of the host is not 1 to 128 bytes of visible ASCII; the handler made one")
	}
}

// context returns ctx with the data of the request.
func (x *exchange) context(ctx context.Context) context.Context {
	if reqctx.From(ctx) == &x.values {
		return ctx
	}
	return reqctx.With(ctx, &x.values)
}

// prepare does everything that can be done before the upstream is called. The
// context is never nil.
func (x *exchange) prepare(ctx context.Context) (context.Context, *Call, error) {
	route, err := x.s.dialect.Route(x.r)
	if err != nil {
		return ctx, nil, err
	}
	x.route = route
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
	if err := route.Head(x.r); err != nil {
		return ctx, nil, err
	}
	if !x.s.serving.Budget.Enter() {
		return ctx, nil, overloaded()
	}
	x.inside = true
	var body string
	if route.Method == http.MethodPost {
		if body, err = x.body(); err != nil {
			return ctx, nil, err
		}
	}
	call, err := route.Call(x.id, x.r, body)
	if err != nil {
		return ctx, nil, err
	}
	x.call = call
	if !x.reserve(x.taken + call.Cost) {
		return ctx, nil, overloaded()
	}
	if call.Request != nil {
		x.report.Model = call.Request.Model
		call.Request.RejectLoss = x.s.serving.RejectLoss
		call.Request.ForwardLinks = x.s.serving.ForwardLinks
		if err := x.s.checkTexts(call.Files); err != nil {
			return ctx, nil, err
		}
	}
	switch {
	case call.Ask != nil:
		x.report.Mode = call.Mode
	case call.Stream != nil:
		x.report.Mode = "stream"
	default:
		x.report.Mode = "plain"
	}
	return ctx, call, nil
}

func overloaded() error {
	return &Failure{
		Code: upstream.CodeOverloaded, RetryAfter: time.Second,
		Err: errors.New("the budget of bytes or requests in flight is used up"),
	}
}

// authenticate asks the host who this is. The context is never nil.
func (x *exchange) authenticate(ctx context.Context) (known context.Context, err error) {
	auth := x.s.serving.Authenticate
	if auth == nil {
		return ctx, nil
	}
	key := ""
	for _, k := range x.s.dialect.Keys(x.r) {
		switch {
		case k == "" || k == key:
		case key == "":
			key = k
		default:
			return ctx, &Failure{Code: upstream.CodeUnauthenticated, Detail: DetailTwoKeys}
		}
	}
	defer func() {
		if v := recover(); v != nil {
			known, err = ctx, newPanic(v)
		}
	}()
	known, err = auth(ctx, x.r, key)
	if err != nil {
		return ctx, refused(err, key)
	}
	if known == nil {
		known = ctx
	}
	return x.context(known), nil
}

// refused makes formats use their own words where the host has none. An error
// whose methods panic is an internal one.
func (x *exchange) refused(err error, key string) (own error) {
	defer func() {
		if v := recover(); v != nil {
			own = newPanic(v)
		}
	}()
	return refused(err, key)
}

func refused(err error, key string) error {
	f := Explain(err)
	if f.Code != upstream.CodeUnauthenticated || len(f.Violations) > 0 {
		return err
	}
	own := *f
	own.Detail = DetailBadKey
	if key == "" {
		own.Detail = DetailNoKey
	}
	if errors.Is(err, upstream.ErrNoKey) || errors.Is(err, upstream.ErrBadKey) {
		own.Text = ""
	}
	return &own
}

// fail answers with an error. Nothing has been written yet.
func (x *exchange) fail(ctx context.Context, err error) {
	f := x.settled(err)
	x.failed(f)
	x.log(ctx, f, x.origin()...)
	x.write(f)
}

// failed notes for the report that the request failed.
func (x *exchange) failed(f *Failure) {
	x.report.Err, x.report.Code = f, f.Code
	x.answeredBy(f.Upstream, f.UpstreamID)
	if f.byHost || f.Code == upstream.CodeTimeout {
		x.waitedFor()
	}
	if x.report.Status == statusGone {
		x.report.Code = upstream.CodeCanceled
	}
}

// asks notes which adapter asks its server. It is safe for concurrent use.
func (x *exchange) asks(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.asked = name
}

// waitedFor adds to the report which upstream has been asked and has not answered.
func (x *exchange) waitedFor() {
	x.mu.Lock()
	name := x.asked
	x.mu.Unlock()
	if x.report.Upstream == "" {
		x.answeredBy(name, "")
	}
}

// answeredBy adds to the report which upstream answered or failed, and the id that
// its server gave the exchange. Empty values are not known. The id is sent to
// the client unless headers have gone out.
func (x *exchange) answeredBy(name, id string) {
	if name != "" {
		x.report.Upstream = OneLine(name, maxPath)
	}
	if !reqctx.IsID(id) {
		return
	}
	x.report.UpstreamID = id
	if !x.begun {
		x.w.Header().Set("Upstream-Request-Id", id)
	}
}

// origin returns the attributes of a log line that name the upstream, as far as it
// is known.
func (x *exchange) origin() []slog.Attr {
	var attrs []slog.Attr
	if x.report.Upstream != "" {
		attrs = append(attrs, slog.String("upstream", x.report.Upstream))
	}
	if x.report.UpstreamID != "" {
		attrs = append(attrs, slog.String("upstream_request", x.report.UpstreamID))
	}
	return attrs
}

// canceled notes for the report that the client has left.
func (x *exchange) canceled(err error) {
	x.report.Err, x.report.Code = err, upstream.CodeCanceled
	x.waitedFor()
}

// settled finds out what a client is told about err. Errors come from the host
// and have methods of its own making, which may panic: a typed nil is enough.
func (x *exchange) settled(err error) (f *Failure) {
	defer func() {
		if v := recover(); v != nil {
			f = &Failure{Code: upstream.CodeInternal, Err: newPanic(v)}
		}
	}()
	return Explain(mapPaths(err, x.path))
}

// write writes a failure as the whole answer.
func (x *exchange) write(f *Failure) {
	tell := x.s.dialect.Error
	if x.route != nil && x.route.Error != nil {
		tell = x.route.Error
	}
	status, body := tell(x.id, f)
	h := x.w.Header()
	x.s.dialect.Header(h, x.id)
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if f.Allow != "" {
		h.Set("Allow", f.Allow)
	}
	x.forward(f)
	if f.Code == upstream.CodeQuota && h.Get("X-Should-Retry") == "" && (f.Status == 0 || f.Details.Format != x.s.dialect.Format()) {
		h.Set("X-Should-Retry", "false") // SDKs that know it would ask again for the status alone
	}
	x.header(status)
	x.deadline(time.Now().Add(x.s.serving.Timeouts.Write))
	n, err := x.w.Write(body)
	x.report.BytesOut += int64(n)
	x.wrote(err)
}

// wrote notes for the report what a failed write shows about the response.
func (x *exchange) wrote(err error) {
	if errors.Is(err, http.ErrHandlerTimeout) {
		x.report.Status = http.StatusServiceUnavailable // which http.TimeoutHandler has sent
	}
}

// forward sets the headers that came with a failure, and Retry-After.
func (x *exchange) forward(f *Failure) {
	h := x.w.Header()
	others := f.Details != nil && f.Details.Format != x.s.dialect.Format()
	wait := make(http.Header)
	for _, field := range f.Header {
		switch name := http.CanonicalHeaderKey(field.Name); {
		case name == "Retry-After", name == "Retry-After-Ms":
			wait.Add(name, field.Value)
		case name == "X-Should-Retry", x.s.dialect.Forward(name) && name != "Request-Id", !others && isRate(name):
			h[name] = append(h[name], field.Value)
		}
	}
	if d := codec.RetryAfter(wait); f.RetryAfter > 0 && (d == 0 || (d-f.RetryAfter).Abs() > roundedWait) {
		wait = http.Header{"Retry-After": {strconv.FormatInt(int64(math.Ceil(f.RetryAfter.Seconds())), 10)}}
	}
	maps.Copy(h, wait)
}

// roundedWait is how much a wait until a date may differ from one that was read
// before.
const roundedWait = 2 * time.Second

// isRate reports whether a header that several vendors have is about rates.
func isRate(name string) bool {
	return strings.HasPrefix(name, "X-Ratelimit-") || strings.HasPrefix(name, "Ratelimit")
}

// path tells a neutral path in the format's words.
func (x *exchange) path(neutral string) string {
	if x.call != nil && x.call.Path != nil {
		return x.call.Path(neutral)
	}
	return x.s.dialect.Path(neutral)
}

// header sends the headers. If the body was not read, it is drained first, or the
// connection is closed behind the response.
func (x *exchange) header(status int) {
	if x.unread && x.r.ProtoMajor == 1 && !x.drain() {
		x.w.Header().Set("Connection", "close")
		x.lingers = true
	}
	x.begun = true
	x.report.FirstByte = time.Since(x.start)
	if x.report.Status == 0 {
		x.report.Status = status
	}
	x.w.WriteHeader(status)
}

// deadline bounds what is written from now on. Writers that know no deadlines
// are trusted to have their own.
func (x *exchange) deadline(t time.Time) { _ = x.rc.SetWriteDeadline(t) }

// release gives back what was taken of the budget, once nobody needs it.
func (x *exchange) release() {
	if x.users.Add(-1) == 0 && x.inside {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.over = true
		x.s.serving.Budget.Leave(x.taken + x.loaded)
	}
}

// take takes n bytes of the budget for a file. It reports whether there were so
// many.
func (x *exchange) take(n int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || !x.s.serving.Budget.Take(n) {
		return false
	}
	x.loaded += n
	return true
}

// finish ends the exchange, whatever became of it.
func (x *exchange) finish(ctx context.Context) {
	x.release()
	x.findHoles(ctx)
	x.report.BytesIn = max(x.report.BytesIn, x.came)
	x.report.Duration = time.Since(x.start)
	if f := x.s.serving.OnDone; f != nil {
		report := x.report
		// The bill is due although the client has left.
		x.guard(ctx, "OnDone", func() { f(context.WithoutCancel(ctx), &report) })
	}
}

// guard calls what the host gave us.
func (x *exchange) guard(ctx context.Context, what string, f func()) {
	defer func() {
		if v := recover(); v != nil {
			x.log(ctx, &Failure{Code: upstream.CodeInternal, Err: fmt.Errorf("%s: %w", what, newPanic(v))})
		}
	}()
	f()
}

// panicked answers for a panic of our own goroutine.
func (x *exchange) panicked(ctx context.Context, v any) {
	f := &Failure{Code: upstream.CodeInternal, Err: newPanic(v)}
	x.failed(f)
	x.log(ctx, f)
	if !x.begun {
		x.guard(ctx, "writing", func() { x.write(f) })
	}
}

// A panicError is a panic that was caught.
type panicError struct {
	value any
	stack []byte
}

func newPanic(v any) error { return &panicError{v, debug.Stack()} }

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// lose notes a loss for the report; the caller holds the token. It reports
// whether the loss is news: what each piece of an answer loses is told once, and
// so is what an upstream and the front have both found.
func (x *exchange) lose(l content.Loss) (news bool) {
	if _, twice := x.lost[l]; twice {
		return false
	}
	if len(x.report.Losses) < maxLosses {
		x.report.Losses = append(x.report.Losses, l)
	} else if !x.displace(l) {
		return true
	}
	if x.lost == nil {
		x.lost = make(map[content.Loss]struct{})
	}
	x.lost[l] = struct{}{}
	return true
}

// maxLosses bounds the losses that are kept of one request.
const maxLosses = 1000

// displace puts a loss into the full list, in the place of the last that is less
// severe. It returns false if there is none. One that counts other places stays.
func (x *exchange) displace(l content.Loss) bool {
	list := x.report.Losses
	for s := content.LossHint; s < l.Severity; s++ {
		for x.passed[s] < len(list) {
			x.passed[s]++
			old := &list[len(list)-x.passed[s]]
			if old.Severity == s && old.More == 0 {
				delete(x.lost, *old)
				*old = l
				return true
			}
		}
	}
	return false
}
