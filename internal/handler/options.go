package handler

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/content/fetch"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/reqctx"
	"github.com/polywire/polywire/upstream"
)

// setOptions panics if a field of s is invalid, and replaces zero fields by their defaults.
func setOptions(name string, s *upstream.HandlerOptions, body int64) {
	field := func(ok bool, field, text string) {
		if !ok {
			panic(name + ": " + field + " " + text)
		}
	}
	times := func(f string, d *time.Duration, or time.Duration) {
		field(*d >= 0, f, "is negative")
		field(*d == 0 || *d >= minTimeout, f, "is less than a millisecond; is the unit missing?")
		field(*d <= maxTimeout, f, "is more than 31 days")
		*d = cmp.Or(*d, or)
	}
	limit := func(f string, n, upper int64) {
		field(n >= 0, f, "is negative")
		field(n <= upper, f, fmt.Sprintf("is more than %d", upper))
	}
	times("Timeouts.Body", &s.Timeouts.Body, time.Minute)
	times("Timeouts.FirstByte", &s.Timeouts.FirstByte, 10*time.Minute)
	times("Timeouts.Idle", &s.Timeouts.Idle, 5*time.Minute)
	times("Timeouts.Total", &s.Timeouts.Total, time.Hour)
	times("Timeouts.Write", &s.Timeouts.Write, 30*time.Second)
	times("Timeouts.KeepAlive", &s.Timeouts.KeepAlive, 15*time.Second)
	times("Timeouts.Grace", &s.Timeouts.Grace, time.Second)
	times("FileLimits.Time", &s.FileLimits.Time, time.Minute)
	limit("FileLimits.PerRequest", int64(s.FileLimits.PerRequest), 1000)
	limit("FileLimits.PerHandler", int64(s.FileLimits.PerHandler), 1_000_000)
	limit("FileLimits.Bytes", s.FileLimits.Bytes, 1<<62)
	limit("Limits.Body", s.Limits.Body, 1<<31-1)
	limit("Limits.Depth", int64(s.Limits.Depth), 100_000)
	limit("Limits.Values", int64(s.Limits.Values), 1<<24-1)
	limit("Limits.Parts", int64(s.Limits.Parts), 1<<24-1)
	limit("Limits.Tools", int64(s.Limits.Tools), 1<<24-1)
	limit("Limits.Schemas", int64(s.Limits.Schemas), 1<<24-1)
	limit("Limits.Files", int64(s.Limits.Files), 1_000_000)
	limit("Limits.FileBytes", s.Limits.FileBytes, 1<<31-1)
	limit("Limits.ImageSide", int64(s.Limits.ImageSide), 1<<31-1)
	limit("Limits.ImagePixels", s.Limits.ImagePixels, 1<<62)
	for _, h := range s.ForwardHeaders {
		field(canForward(h), fmt.Sprintf("ForwardHeaders: %q", h), "cannot be forwarded")
	}
	for _, h := range s.ResponseHeaders {
		field(canSend(h), fmt.Sprintf("ResponseHeaders: %q", h), "cannot be sent")
	}
	field(s.RejectLoss <= content.LossDropped, "RejectLoss", "is not a valid severity")
	s.FileLimits.PerRequest = cmp.Or(s.FileLimits.PerRequest, 8)
	s.FileLimits.PerHandler = cmp.Or(s.FileLimits.PerHandler, 64)
	s.FileLimits.Bytes = cmp.Or(s.FileLimits.Bytes, 64<<20)
	s.Limits.Body = cmp.Or(s.Limits.Body, body)
	if s.Budget == nil {
		s.Budget = new(upstream.Budget)
	}
	limit("Budget.Bytes", s.Budget.Bytes, 1<<62)
	limit("Budget.Requests", int64(s.Budget.Requests), 1<<31-1)
	if s.Links == nil {
		links, err := fetch.New(nil)
		if err != nil {
			panic(err) // the zero value is valid
		}
		s.Links = links
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
