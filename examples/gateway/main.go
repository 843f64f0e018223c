// Gateway serves the formats Messages, Chat Completions, Responses and generateContent
// over one upstream on one port. Use it to try Polywire, to point an SDK or an agent at a model, and as code to
// copy from.
//
//	go run ./examples/gateway -listen 127.0.0.1:8080
//
// By default the upstream is echo, which describes the request and needs no key and no
// network. To use the models of a vendor:
//
//	UPSTREAM_API_KEY=… go run ./examples/gateway -upstream gemini
//
// -help lists the flags. The first line on standard output is "listening on
// http://host:port". The log goes to standard error.
//
// With -config the upstreams, and the routes from models to them, come from a file: see
// docs/gateway.md.
//
// SIGINT or SIGTERM shuts the server down: it refuses new connections, waits half a
// minute for running responses and 5 s for uploads, and then sends clients an error, in
// the stream if that has begun. A second signal ends it immediately. SIGHUP reads the
// file of -config again. A reader of the log that ends does not end the gateway.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // writing to a closed standard output or error would end the process
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	first, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	context.AfterFunc(first, func() {
		stop() // from now on a second signal ends the process
		cancel()
	})

	err := run(ctx, hangup, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2) // parse has printed the error
	case err != nil:
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends, and then shuts down. It reads the file of -config again when
// hangup delivers a signal. It writes the address to stdout and the log to stderr.
func run(ctx context.Context, hangup <-chan os.Signal, args []string, stdout, stderr io.Writer) error {
	c, err := parse(args, stderr)
	if err != nil {
		return err
	}
	tune(ctx, &c.budget)
	if err := c.open(); err != nil {
		return err
	}
	defer c.close()
	logger := c.logger(stderr)
	l, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	servers, listeners := []*http.Server{c.server(c.upstream, logger)}, []net.Listener{l}
	if c.debug != "" {
		d, err := net.Listen("tcp", c.debug)
		if err != nil {
			l.Close()
			return err
		}
		servers, listeners = append(servers, profiler(logger)), append(listeners, d)
	}
	fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())
	if c.key == "" && !isLoopback(l.Addr().String()) {
		logger.Warn("every client that reaches this address may use the upstream; set -key to require a key")
	}
	c.routing.log(logger)
	if c.debug != "" {
		fmt.Fprintf(stdout, "profiles on http://%s/debug/pprof/\n", listeners[1].Addr())
	}
	serving, served := context.WithCancel(ctx)
	var reloads sync.WaitGroup
	reloads.Go(func() { c.reloads(serving, hangup, logger) })
	defer reloads.Wait()
	defer served()
	return serve(ctx, servers, listeners, shutdown{c.drain, c.grace, logger, func() { c.health.stopping.Store(true) }})
}
