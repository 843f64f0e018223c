// Gateway serves the Messages format and the content generation format over one
// upstream and one port: a server to try Polywire with, to point an SDK or an
// agent at, and to copy from.
//
//	go run ./examples/gateway -listen 127.0.0.1:8080
//
// What answers is the built-in echo, which describes what reached it and needs
// neither a key nor a network, or the models of a vendor:
//
//	UPSTREAM_API_KEY=… go run ./examples/gateway -upstream gemini
//
// See -help for the flags. The first line on standard output is "listening on
// http://host:port"; the log goes to standard error.
//
// SIGINT or SIGTERM ends it: new connections are refused, running answers get
// half a minute to finish, unfinished uploads 5 s; then clients receive an error, in
// the stream if that has begun. A second signal ends it at once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/polywire/polywire/upstream"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // from then on a second signal has its usual effect
	tune()

	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2) // parse has said why
	case err != nil:
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// tune sets the garbage collector for what a gateway does: many requests that
// live for milliseconds, and now and then some of 30 MB. Collecting rarely costs
// next to nothing as long as there is little, and the limit makes it collect
// often when there is much. Variables of the environment have the last word.
func tune() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// How long things may take when the server ends: running answers to finish,
// bodies to arrive, and clients to receive the error of what was cut off.
const (
	grace       = 30 * time.Second
	uploadGrace = 5 * time.Second
	farewell    = 5 * time.Second
)

// run serves until ctx ends and running answers have finished.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	c, err := parse(args, stderr)
	if err != nil {
		return err
	}
	up, err := c.upstream()
	if err != nil {
		return err
	}
	if err := c.open(); err != nil {
		return err
	}
	defer c.close()
	logger := c.logger(stderr)
	l, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	servers, listeners := []*http.Server{c.server(up, logger)}, []net.Listener{l}
	if c.debug != "" {
		d, err := net.Listen("tcp", c.debug)
		if err != nil {
			l.Close()
			return err
		}
		servers, listeners = append(servers, profiler(logger)), append(listeners, d)
	}
	fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())
	if c.key == "" && !loopback(l.Addr().String()) {
		logger.Warn("whoever reaches this address may use the upstream: -key demands a key")
	}
	if c.debug != "" {
		fmt.Fprintf(stdout, "profiles on http://%s/debug/pprof/\n", listeners[1].Addr())
	}
	return serve(ctx, servers, listeners, grace)
}

// server returns what serves up. The settings are those that the library
// leaves to its host.
func (c *config) server(up upstream.Upstream, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           c.handler(up, logger),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
		// No WriteTimeout: it would cut streams. The handler bounds each write.
	}
}

// profiler returns what serves net/http/pprof, without the default mux and
// without the command line, which names places of this machine.
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

// serve runs the servers until ctx ends or one of them fails, then lets running
// answers finish for the grace time. What has not finished by then is ended with
// an error for its client. serve returns an error if a connection had to be cut.
func serve(ctx context.Context, servers []*http.Server, listeners []net.Listener, grace time.Duration) error {
	answers, endAnswers := context.WithCancelCause(context.Background())
	defer endAnswers(nil)
	bodies, endBodies := context.WithCancelCause(context.Background())
	defer endBodies(nil)
	done := make(chan error, len(servers))
	for i, s := range servers {
		s.BaseContext = func(net.Listener) context.Context { return answers }
		s.Handler = uploads(bodies, s.Handler)
		go func() { done <- s.Serve(listeners[i]) }()
	}
	var failed error
	running := len(servers)
	select {
	case <-ctx.Done():
	case failed = <-done:
		running--
	}

	defer time.AfterFunc(min(grace, uploadGrace), func() { endBodies(errEnding) }).Stop()
	defer time.AfterFunc(grace, func() { endAnswers(errEnding) }).Stop()
	// ctx has ended, so the time that is left needs a context of its own.
	late, cancel := context.WithTimeout(context.Background(), grace+farewell)
	defer cancel()
	for _, s := range servers {
		if err := s.Shutdown(late); err != nil {
			s.Close()
			failed = errors.Join(failed, fmt.Errorf("connections were still in use after %v and have been cut", grace+farewell))
		}
	}
	for range running {
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
