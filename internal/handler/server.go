package handler

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A Server serves an Upstream in one format. It is safe for concurrent use.
type Server struct {
	up      upstream.Upstream
	serving upstream.HandlerOptions // with its defaults filled in
	dialect Dialect
	step    time.Duration // between two looks at the clock
	scratch sync.Pool     // of *[bodyPiece]byte
	loads   chan struct{} // room for files of all requests

	unflushable sync.Once // for the line in the log
}

// New returns a Server. It panics if there is no upstream, or if serving says
// what cannot be meant; name is what the panic calls itself. The limit of the
// body is body if serving has none.
func New(name string, up upstream.Upstream, serving upstream.HandlerOptions, body int64, d Dialect) *Server {
	if up == nil {
		panic(name + ": nil Upstream")
	}
	check(name, &serving)
	fill(&serving, body)
	s := &Server{up: up, serving: serving, dialect: d, step: step(&serving.Timeouts)}
	s.loads = make(chan struct{}, serving.FileLimits.PerHandler)
	s.scratch.New = func() any { return new([bodyPiece]byte) }
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.begin(w, r)
	ctx := x.context(r.Context())
	defer func() {
		v := recover()
		if v != nil && v != http.ErrAbortHandler {
			x.panicked(ctx, v)
		}
		x.finish(ctx)
		if v != nil && (x.begun || v == http.ErrAbortHandler) {
			// What has gone out cannot be ended properly any more, and must
			// not pass for whole; nor may nothing pass for an empty answer.
			panic(http.ErrAbortHandler)
		}
		x.linger()
	}()
	ctx, call, err := x.prepare(ctx)
	if err != nil {
		x.fail(ctx, err)
		return
	}
	if call.Within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, x.start.Add(call.Within), errWithin)
		defer cancel()
	}
	if call.Ask != nil {
		x.ask(ctx, call)
		return
	}
	x.run(ctx, call)
}

// WriteError answers a request with an error in the format's own way, for
// middleware of the host's. It logs and reports the request like one that the
// handler refuses.
func (s *Server) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	x := s.begin(w, r)
	ctx := x.context(r.Context())
	defer func() {
		x.finish(ctx)
		x.linger()
	}()
	x.route, _ = s.dialect.Route(r)
	key := ""
	if keys := s.dialect.Keys(r); len(keys) > 0 {
		key = keys[0]
	}
	x.fail(ctx, x.refused(err, key))
}

const (
	leastTime = time.Millisecond
	mostTime  = 31 * 24 * time.Hour
)

// check panics if a field of s cannot be meant.
func check(name string, s *upstream.HandlerOptions) {
	field := func(ok bool, field, text string) {
		if !ok {
			panic(name + ": " + field + " " + text)
		}
	}
	times := func(d time.Duration, f string) {
		field(d >= 0, f, "is negative")
		field(d == 0 || d >= leastTime, f, "is under a millisecond; was the unit forgotten?")
		field(d <= mostTime, f, "is over a month")
	}
	limit := func(n, most int64, f string) {
		field(n >= 0, f, "is negative")
		field(n <= most, f, "is more than can be handled")
	}
	times(s.Timeouts.Body, "Timeouts.Body")
	times(s.Timeouts.FirstByte, "Timeouts.FirstByte")
	times(s.Timeouts.Silence, "Timeouts.Silence")
	times(s.Timeouts.Total, "Timeouts.Total")
	times(s.Timeouts.Write, "Timeouts.Write")
	times(s.Timeouts.KeepAlive, "Timeouts.KeepAlive")
	times(s.Timeouts.Grace, "Timeouts.Grace")
	times(s.FileLimits.Time, "FileLimits.Time")
	limit(int64(s.FileLimits.PerRequest), 1000, "FileLimits.PerRequest")
	limit(int64(s.FileLimits.PerHandler), 1_000_000, "FileLimits.PerHandler")
	limit(s.FileLimits.Bytes, 1<<62, "FileLimits.Bytes")
	limit(s.Limits.Body, 1<<31-1, "Limits.Body")
	limit(int64(s.Limits.Depth), 100_000, "Limits.Depth")
	limit(int64(s.Limits.Values), 1<<24-1, "Limits.Values")
	limit(int64(s.Limits.Parts), 1<<24-1, "Limits.Parts")
	limit(int64(s.Limits.Tools), 1<<24-1, "Limits.Tools")
	limit(int64(s.Limits.Schemas), 1<<24-1, "Limits.Schemas")
	limit(int64(s.Limits.Files), 1_000_000, "Limits.Files")
	limit(s.Limits.FileBytes, 1<<31-1, "Limits.FileBytes")
	limit(int64(s.Limits.ImageSide), 1<<31-1, "Limits.ImageSide")
	limit(s.Limits.ImagePixels, 1<<62, "Limits.ImagePixels")
	for _, h := range s.ForwardHeaders {
		field(canForward(h), fmt.Sprintf("ForwardHeaders: %q", h), "cannot be forwarded")
	}
	field(s.RejectLoss <= content.LossDropped, "RejectLoss", "is no severity")
	if b := s.Budget; b != nil {
		limit(b.Bytes, 1<<62, "Budget.Bytes")
		limit(int64(b.Requests), 1<<31-1, "Budget.Requests")
	}
}

// canForward reports whether a header of a client may go on to a vendor.
func canForward(name string) bool {
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return false
	}
	name = strings.ToLower(name)
	switch name {
	case "authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "host", "connection", "keep-alive", "te", "trailer",
		"transfer-encoding", "upgrade", "expect", "user-agent", "anthropic-version", "anthropic-beta":
		return false
	}
	return !strings.HasPrefix(name, "content-") && !strings.HasPrefix(name, "accept") && !strings.HasPrefix(name, "proxy-")
}

// Forwarded returns the headers of a request that go on to a vendor of the same
// format: those of names, or of defaults if names is nil.
func Forwarded(r *http.Request, names []string, defaults ...string) []upstream.Field {
	if names == nil {
		names = defaults
	}
	var list []upstream.Field
	for i, name := range names {
		if slices.ContainsFunc(names[:i], func(s string) bool { return strings.EqualFold(s, name) }) {
			continue
		}
		for _, v := range r.Header.Values(name) {
			list = append(list, upstream.Field{Name: strings.ToLower(name), Value: v})
		}
	}
	return list
}

// fill gives zero fields their defaults.
func fill(s *upstream.HandlerOptions, body int64) {
	times := func(d *time.Duration, or time.Duration) {
		if *d == 0 {
			*d = or
		}
	}
	times(&s.Timeouts.Body, time.Minute)
	times(&s.Timeouts.FirstByte, 10*time.Minute)
	times(&s.Timeouts.Silence, 5*time.Minute)
	times(&s.Timeouts.Total, time.Hour)
	times(&s.Timeouts.Write, 30*time.Second)
	times(&s.Timeouts.KeepAlive, 15*time.Second)
	times(&s.Timeouts.Grace, time.Second)
	times(&s.FileLimits.Time, time.Minute)
	s.FileLimits.PerRequest = cmp.Or(s.FileLimits.PerRequest, 8)
	s.FileLimits.PerHandler = cmp.Or(s.FileLimits.PerHandler, 64)
	s.FileLimits.Bytes = cmp.Or(s.FileLimits.Bytes, 64<<20)
	s.Limits.Body = cmp.Or(s.Limits.Body, body)
	if s.Budget == nil {
		s.Budget = new(upstream.Budget)
	}
	if s.Links == nil {
		s.Links = newFetcher()
	}
}

// step returns how often to look at the clock: often enough for the shortest
// of the limits, which are kept to within a fifteenth of it.
func step(t *upstream.Timeouts) time.Duration {
	least := min(t.FirstByte, t.Silence, t.Total, t.Write, t.KeepAlive)
	return max(leastTime, min(time.Second, least/15))
}
