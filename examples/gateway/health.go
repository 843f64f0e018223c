package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/polywire/polywire/upstream"
)

// serveAlive serves /healthz. The process is alive if it responds.
func serveAlive(w http.ResponseWriter, r *http.Request) {
	if !isRead(w, r) {
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n")
}

// A health serves /readyz. The gateway is ready until its shutdown begins, whatever the
// state of its upstreams is: other replicas have the same upstreams, and clients should
// receive an error in their format.
type health struct {
	stopping atomic.Bool
	monitors atomic.Pointer[[]*monitor]
}

// ServeHTTP writes whether the gateway is ready, and what is known about each upstream.
func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isRead(w, r) {
		return
	}
	status := http.StatusOK
	var body struct {
		Ready     bool            `json:"ready"`
		Upstreams []upstreamState `json:"upstreams"`
	}
	if body.Ready = !h.stopping.Load(); !body.Ready {
		status = http.StatusServiceUnavailable
	}
	for _, m := range *h.monitors.Load() {
		body.Upstreams = append(body.Upstreams, m.get())
	}
	text, _ := json.Marshal(body) // cannot fail
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// isRead reports whether the method of a request is GET or HEAD, and responds if not.
func isRead(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	http.Error(w, "the method must be GET or HEAD", http.StatusMethodNotAllowed)
	return false
}

// An upstreamState describes the last requests to an upstream. Nothing is sent to find
// it out.
type upstreamState struct {
	Name  string        `json:"name"`
	State string        `json:"state"`           // "unknown" before the first request, "ok" or "failing"
	Since *time.Time    `json:"since,omitempty"` // time of the first request in this state
	Last  *time.Time    `json:"last,omitempty"`  // time of the last request
	Code  upstream.Code `json:"code,omitempty"`  // of the last failure, if failing
}

// A monitor is an Upstream that keeps an upstreamState.
type monitor struct {
	next upstream.Upstream

	mu    sync.Mutex
	state upstreamState
}

func newMonitor(name string, next upstream.Upstream) *monitor {
	return &monitor{next: next, state: upstreamState{Name: name, State: "unknown"}}
}

// Generate calls the Upstream and records the result.
func (m *monitor) Generate(ctx context.Context, r *upstream.Request, w *upstream.Writer) error {
	err := m.next.Generate(ctx, r, w)
	if err == nil || !isCanceled(ctx) {
		m.record(time.Now(), err)
	}
	return err
}

// isCanceled reports whether ctx ended for a reason that is not the upstream's: the client
// left or set a deadline, another attempt was faster, or the gateway shuts down. The
// reason is the upstream's if it was silent for too long.
func isCanceled(ctx context.Context) bool {
	var e *upstream.Error
	switch {
	case ctx.Err() == nil:
		return false
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return true
	}
	return !errors.As(context.Cause(ctx), &e) || e.Code != upstream.CodeTimeout
}

// Unwrap returns the Upstream, whose optional methods remain usable.
func (m *monitor) Unwrap() upstream.Upstream { return m.next }

// record records the result of a request, if it shows the state of the upstream. An
// error about the request itself comes from an upstream that works. Requests that were
// rejected before they were sent, or whose client left, show nothing.
func (m *monitor) record(now time.Time, err error) {
	state, code := "ok", upstream.Code("")
	var e *upstream.Error
	switch {
	case err == nil:
	case !errors.As(err, &e), e.Upstream == "" && e.Code != upstream.CodeTimeout:
		return
	case isFailure(e):
		state, code = "failing", e.Code
	}
	now = now.UTC().Truncate(time.Millisecond)
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.state
	if s.State != state {
		s.State, s.Since = state, &now
	}
	s.Last, s.Code = &now, code
}

// isFailure reports whether e is about the upstream and not about the request. An internal
// error with a text is about the output of the model: the server works.
func isFailure(e *upstream.Error) bool {
	switch e.Code {
	case upstream.CodeOverloaded, upstream.CodeRateLimit, upstream.CodeUnavailable, upstream.CodeTimeout, upstream.CodeBadGateway,
		upstream.CodeQuota, upstream.CodeBilling:
		return true
	case upstream.CodeInternal:
		return e.Text == ""
	}
	return e.KeyRefused
}

// get returns the state.
func (m *monitor) get() upstreamState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}
