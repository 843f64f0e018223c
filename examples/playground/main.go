// Playground serves a page on which a request, a response or a stream is translated while
// it is edited. The page shows the result in every format, and the losses at their places.
//
//	go run ./examples/playground
//
// The first line on standard output is "listening on http://host:port". The page needs no
// other server. The program sends nothing to vendors, keeps nothing and logs no content.
//
// -listen sets the address. On a loopback address, only requests that name a loopback host
// are served. On other addresses the page is available to everybody who can reach it, and
// inputs are limited to 1 MiB instead of 32 MiB. At most 4 documents are translated at the
// same time.
//
// SIGINT or SIGTERM shuts the server down.
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
	"syscall"
	"time"
)

func main() {
	signal.Ignore(syscall.SIGPIPE) // writing to a closed standard output or error would end the process
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2) // run has printed the error
	case err != nil:
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

// errUsage is the error of run if the command line is invalid.
var errUsage = errors.New("invalid command line")

// grace is how long requests may take after a signal.
const grace = 5 * time.Second

// run serves until ctx ends, and then shuts down. It writes the address to stdout.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("playground", flag.ContinueOnError)
	f.SetOutput(stderr)
	listen := f.String("listen", "127.0.0.1:8090", "`address` to listen on")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return err
	} else if err != nil {
		return errUsage // Parse has printed it
	}
	if f.NArg() > 0 {
		fmt.Fprintf(stderr, "playground: unexpected argument %q\n", f.Arg(0))
		return errUsage
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "listening on http://%s\n", l.Addr())
	return serve(ctx, l)
}

// serve serves on l until ctx ends.
func serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{
		Handler:           newHandler(isLoopback(l.Addr())),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       2 * time.Minute,
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	end, cancel := context.WithTimeout(context.Background(), grace) // ctx has ended
	defer cancel()
	if s.Shutdown(end) != nil {
		s.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// isLoopback reports whether only this machine can reach a.
func isLoopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}
