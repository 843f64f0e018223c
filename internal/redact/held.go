package redact

import (
	"context"
	"slices"
	"sync"
)

// Held collects the secrets that a transport holds besides those in the headers of a request,
// such as the key with which it signs the request. It is safe for concurrent use.
type Held struct {
	mu     sync.Mutex
	values []string
}

type heldKey struct{}

// WithHeld returns a context for a request in which [Hold] finds h.
func WithHeld(ctx context.Context, h *Held) context.Context {
	return context.WithValue(ctx, heldKey{}, h)
}

// Hold adds secrets to the [Held] of a request, if it has one.
func Hold(ctx context.Context, values ...string) {
	if h, ok := ctx.Value(heldKey{}).(*Held); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.values = append(h.values, values...)
	}
}

// Values returns the secrets.
func (h *Held) Values() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.values)
}
