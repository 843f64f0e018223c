package main

import (
	"context"
	"io"
	"net/http"

	"github.com/polywire/polywire/upstream"
)

// errEnding is what clients receive whose requests the end of the server cuts off.
var errEnding = &upstream.Error{Code: upstream.CodeUnavailable, Text: "The server is shutting down. Please try again."}

// uploads returns a handler that cancels, with the cause of ctx, those requests
// whose bodies have not arrived when ctx ends. All others go on.
func uploads(ctx context.Context, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		c, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
		defer stop()
		r = r.WithContext(c)
		r.Body = &upload{r.Body, stop}
		next.ServeHTTP(w, r)
	})
}

// An upload is a body. arrived is called when it is over.
type upload struct {
	io.ReadCloser
	arrived func() bool
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil {
		u.arrived()
	}
	return n, err
}
