// Package reqctx carries data of one served request in its context: from the
// handlers, which add it, to package upstream, which reads it.
package reqctx

import (
	"context"

	"github.com/polywire/polywire/content"
)

// Values are the data of one request.
type Values struct {
	// ID is the request's id.
	ID string

	// Lost receives a loss that has no other way to the handler, and its cause.
	// It is safe for concurrent use. Nil drops both.
	Lost func(l content.Loss, cause error)

	// Asks receives the name of an adapter that sends a request to its server. It
	// is safe for concurrent use. Nil drops it.
	Asks func(name string)
}

type key struct{}

// With returns a context that carries v.
func With(ctx context.Context, v *Values) context.Context {
	return context.WithValue(ctx, key{}, v)
}

// From returns the data of ctx, or empty data if it has none. It never returns
// nil.
func From(ctx context.Context) *Values {
	if v, ok := ctx.Value(key{}).(*Values); ok {
		return v
	}
	return new(Values)
}

// MaxID is the longest id in bytes.
const MaxID = 128

// IsID reports whether s can be the id of a request: 1 to MaxID bytes of visible
// ASCII.
func IsID(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= MaxID
}
