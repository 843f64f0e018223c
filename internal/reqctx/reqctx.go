// Package reqctx carries the data of one request in its context, from the handlers
// to package upstream.
package reqctx

import (
	"context"
	"crypto/sha256"

	"github.com/polywire/polywire/content"
)

// Values are the data of one request.
type Values struct {
	// ID is the request's id.
	ID string

	// ReportLoss reports a loss that has no other way to the handler, and its cause.
	// It is safe for concurrent use. It may be nil.
	ReportLoss func(l content.Loss, cause error)

	// ReportSend reports the name of an adapter that sends a request to its server.
	// It is safe for concurrent use. It may be nil.
	ReportSend func(name string)

	// ReportHeld reports that an upstream sent events that are not yet passed on. It is
	// safe for concurrent use. It may be nil.
	ReportHeld func()

	// Path converts a neutral path to that in the client's document. It may be nil.
	Path func(neutral string) string

	// Model is the model that the client requested. It is empty if the request does not come
	// from a handler.
	Model string

	// StateFormat is the format of the vendor that keeps state to which the request
	// refers. Only upstreams of this format may receive the request. It is empty if the
	// request refers to no such state.
	StateFormat content.Format
}

type key struct{}

// With returns a context that carries v.
func With(ctx context.Context, v *Values) context.Context {
	return context.WithValue(ctx, key{}, v)
}

// From returns the values in ctx, or empty values. It never returns nil.
func From(ctx context.Context) *Values {
	if v, ok := ctx.Value(key{}).(*Values); ok {
		return v
	}
	return new(Values)
}

type clientKey struct{}

// WithClient returns a context with the identity of the client: a digest of id, or none if id
// is empty. No vendor can recover a random key from a digest of it.
func WithClient(ctx context.Context, id string) context.Context {
	digest := ""
	if id != "" {
		sum := sha256.Sum256([]byte("polywire client " + id))
		digest = string(sum[:])
	}
	return context.WithValue(ctx, clientKey{}, digest)
}

// HasClient reports whether the identity of the client was set.
func HasClient(ctx context.Context) bool { return ctx.Value(clientKey{}) != nil }

// Client returns the digest that identifies the client, or "".
func Client(ctx context.Context) string {
	s, _ := ctx.Value(clientKey{}).(string)
	return s
}

// MaxIDSize is the maximum length of an id, in bytes.
const MaxIDSize = 128

// IsID reports whether s is a valid request id: 1 to MaxIDSize bytes of visible
// ASCII.
func IsID(s string) bool { return IsVisible(s, MaxIDSize) }

// IsVisible reports whether s is 1 to limit bytes of visible ASCII.
func IsVisible(s string, limit int) bool {
	if len(s) > limit {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}
