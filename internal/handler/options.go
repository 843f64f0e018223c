package handler

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/reqctx"
	"github.com/polywire/polywire/upstream"
)

// checkOptions panics if a field of s is invalid.
func checkOptions(name string, s *upstream.HandlerOptions) {
	field := func(ok bool, field, text string) {
		if !ok {
			panic(name + ": " + field + " " + text)
		}
	}
	times := func(d time.Duration, f string) {
		field(d >= 0, f, "is negative")
		field(d == 0 || d >= minTimeout, f, "is less than a millisecond; is the unit missing?")
		field(d <= maxTimeout, f, "is more than 31 days")
	}
	limit := func(n, upper int64, f string) {
		field(n >= 0, f, "is negative")
		field(n <= upper, f, fmt.Sprintf("is more than %d", upper))
	}
	times(s.Timeouts.Body, "Timeouts.Body")
	times(s.Timeouts.FirstByte, "Timeouts.FirstByte")
	times(s.Timeouts.Idle, "Timeouts.Idle")
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
	for _, h := range s.ResponseHeaders {
		field(canSend(h), fmt.Sprintf("ResponseHeaders: %q", h), "cannot be sent")
	}
	field(s.RejectLoss <= content.LossDropped, "RejectLoss", "is not a valid severity")
	if b := s.Budget; b != nil {
		limit(b.Bytes, 1<<62, "Budget.Bytes")
		limit(int64(b.Requests), 1<<31-1, "Budget.Requests")
	}
}

// canForward reports whether a client's header may be sent to a vendor.
func canForward(name string) bool {
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
		return false
	}
	name = strings.ToLower(name)
	switch name {
	case "authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "host", "connection", "keep-alive", "te", "trailer",
		"transfer-encoding", "upgrade", "expect", "user-agent":
		return false
	}
	return !foreign.IsVersionHeader(name) && !strings.HasPrefix(name, "content-") && !strings.HasPrefix(name, "accept") && !strings.HasPrefix(name, "proxy-")
}

// canSend reports whether a response may have a header of an upstream: a name that neither the
// connection, nor the body, nor this package uses.
func canSend(name string) bool {
	switch strings.ToLower(name) {
	case "allow", "cache-control", "date", "polywire-loss", "request-id", "upstream-request-id", "x-accel-buffering", "x-request-id":
		return false
	}
	return canForward(name)
}

// ForwardedHeaders returns the headers of a request that are sent to a vendor of the
// same format: those in names, or in defaults if names is nil.
func ForwardedHeaders(r *http.Request, names []string, defaults ...string) []upstream.HeaderField {
	if names == nil {
		names = defaults
	}
	var list []upstream.HeaderField
	for i, name := range names {
		if slices.ContainsFunc(names[:i], func(s string) bool { return strings.EqualFold(s, name) }) { // bounded by the host
			continue
		}
		for _, v := range r.Header.Values(name) {
			list = append(list, upstream.HeaderField{Name: strings.ToLower(name), Value: v})
		}
	}
	return list
}

// sessionHeaders are the headers in which agents name a session, as Go writes them. The first
// that is valid counts.
var sessionHeaders = [...]string{
	"X-Claude-Code-Session-Id", "Session-Id", "Session_id", "X-Session-Affinity", "X-Session-Id", "X-Opencode-Session",
}

// sessionOf returns the session that a client's agent names, or "".
func sessionOf(h http.Header) string {
	for _, name := range sessionHeaders {
		if s := h[name]; len(s) > 0 && reqctx.IsVisible(s[0], maxSession) {
			return s[0]
		}
	}
	return ""
}

const maxSession = 256 // bytes

// setDefaults replaces zero fields by their defaults.
func setDefaults(s *upstream.HandlerOptions, body int64) {
	times := func(d *time.Duration, or time.Duration) {
		if *d == 0 {
			*d = or
		}
	}
	times(&s.Timeouts.Body, time.Minute)
	times(&s.Timeouts.FirstByte, 10*time.Minute)
	times(&s.Timeouts.Idle, 5*time.Minute)
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

// tickInterval returns the interval of the timer. Timeouts are kept to within a
// fifteenth of the shortest one.
func tickInterval(t *upstream.Timeouts) time.Duration {
	least := min(t.FirstByte, t.Idle, t.Total, t.Write, t.KeepAlive)
	return max(minTimeout, min(time.Second, least/15))
}

const (
	minTimeout = time.Millisecond
	maxTimeout = 31 * 24 * time.Hour
)
