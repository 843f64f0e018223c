package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/polywire/polywire/upstream"
)

// server returns a server of up, with the settings that the library leaves to its host.
func (c *config) server(up upstream.Upstream, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           c.handler(up, logger),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		// No WriteTimeout, which would cut streams: the handler bounds each write.
	}
}

// profiler returns a server of net/http/pprof. It does not use the default mux, and does
// not serve the command line, which contains paths of this machine.
func profiler(logger *slog.Logger) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
}

// A shutdown configures the end of the servers.
type shutdown struct {
	drain  time.Duration // to accept further requests
	grace  time.Duration // after that, for running responses to finish
	logger *slog.Logger
	begun  func() // called at the beginning
}

// Times of a shutdown: for uploads to arrive, and for clients to receive the error of a
// response that was cut off.
const (
	uploadGrace = 5 * time.Second
	errorGrace  = 5 * time.Second
)

// serve runs the servers until ctx ends or one of them fails. It then shuts them down:
// after the drain time it refuses new connections, lets running responses finish for the
// grace time, and ends the others with an error for the client. Connections of clients
// that do not receive it are closed. It returns an error if a server failed.
func serve(ctx context.Context, servers []*http.Server, listeners []net.Listener, end shutdown) error {
	responses, endResponses := context.WithCancelCause(context.Background())
	defer endResponses(nil)
	bodies, endBodies := context.WithCancelCause(context.Background())
	defer endBodies(nil)
	done := make(chan error, len(servers))
	for i, s := range servers {
		s.BaseContext = func(net.Listener) context.Context { return responses }
		s.Handler = cancelUploads(bodies, s.Handler)
		go func() { done <- s.Serve(listeners[i]) }()
	}
	var failed error
	running := len(servers)
	select {
	case <-ctx.Done():
	case failed = <-done:
		running--
	}
	end.logger.Info("shutting down", "drain", end.drain, "grace", end.grace)
	end.begun()
	if failed == nil {
		select {
		case <-time.After(end.drain):
		case failed = <-done:
			running--
		}
	}

	defer time.AfterFunc(min(end.grace, uploadGrace), func() { endBodies(errShutdown) }).Stop()
	defer time.AfterFunc(end.grace, func() { endResponses(errShutdown) }).Stop()
	// ctx has ended: Shutdown needs a new one.
	stop, cancel := context.WithTimeout(context.Background(), end.grace+errorGrace)
	defer cancel()
	for _, s := range servers {
		if s.Shutdown(stop) != nil {
			end.logger.Warn("connections were closed while in use", "after", end.grace+errorGrace)
			s.Close()
		}
	}
	for range running {
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// errShutdown is the error of requests that are cut off by the shutdown of the server.
var errShutdown = &upstream.Error{Code: upstream.CodeUnavailable, Text: "The server is shutting down. Please try again."}

// cancelUploads returns a handler that passes requests to next. When ctx ends, it
// cancels those whose body has not arrived, with the cause of ctx.
func cancelUploads(ctx context.Context, next http.Handler) http.Handler {
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

// An upload is a request body that calls arrived at its end.
type upload struct {
	io.ReadCloser
	arrived func() bool
}

// Read implements [io.Reader].
func (u *upload) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil {
		u.arrived()
	}
	return n, err
}
