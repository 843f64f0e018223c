// Relay measures what the example gateway costs against the standard library's
// httputil.ReverseProxy, which only copies bytes: both stand between the same
// clients and the same server on loopback, in turns of one run, so that the
// ratios mean something on a busy machine too.
//
//	go run ./examples/relay
//
// It prints a table, and with -svg draws it. The server answers in the Messages
// format; the gateway checks every request, and passes it and the answer on.
// Memory is read from /proc, so there is none on other systems than Linux.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(1)
	}
}

// config is what the command line says.
type config struct {
	rounds int
	time   time.Duration
	svg    string
	proxy  string
	only   string
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var c config
	f := flag.NewFlagSet("relay", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&c.rounds, "rounds", 7, "how `often` each measurement is taken; medians are shown")
	f.DurationVar(&c.time, "time", time.Second, "`time` that one measurement takes")
	f.StringVar(&c.svg, "svg", "", "`file` to draw the ratios into")
	f.StringVar(&c.only, "only", "", "measure only what has this `word` in its name")
	f.StringVar(&c.proxy, "proxy", "", "be the reverse proxy for this `URL` (what the program starts itself as)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if c.rounds < 1 || c.time <= 0 || f.NArg() > 0 {
		return errors.New("-rounds and -time have to be more than nothing, and there are no other arguments")
	}
	if c.proxy != "" {
		return serveProxy(ctx, c.proxy, stdout)
	}
	results, err := c.measure(ctx, stderr)
	if err != nil {
		return err
	}
	table(stdout, results)
	if c.svg == "" {
		return nil
	}
	return os.WriteFile(c.svg, []byte(plot(results)), 0o644)
}

// measure takes all measurements, those of the two relays in turns.
func (c *config) measure(ctx context.Context, log io.Writer) ([]*result, error) {
	v, err := startVendor()
	if err != nil {
		return nil, err
	}
	defer v.Close()
	dir, err := os.MkdirTemp("", "relay")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	gateway, err := buildGateway(ctx, dir)
	if err != nil {
		return nil, err
	}
	var results []*result
	for _, s := range scenarios() {
		if !strings.Contains(s.name, c.only) {
			continue
		}
		fmt.Fprintln(log, s.name)
		r, err := c.compare(ctx, s, gateway, v.URL)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// compare takes one measurement of both relays, each in processes of their own
// that nothing else has used.
func (c *config) compare(ctx context.Context, s scenario, gateway, vendor string) (*result, error) {
	ours, err := start(ctx, gateway, "-listen", "127.0.0.1:0", "-log", "off", "-upstream", "anthropic", "-upstream-url", vendor)
	if err != nil {
		return nil, err
	}
	defer ours.stop()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	theirs, err := start(ctx, self, "-proxy", vendor)
	if err != nil {
		return nil, err
	}
	defer theirs.stop()

	r := &result{scenario: s}
	for i := range c.rounds + 1 {
		a, err := s.drive(ctx, ours.url, c.time)
		if err != nil {
			return nil, fmt.Errorf("the gateway: %w", err)
		}
		b, err := s.drive(ctx, theirs.url, c.time)
		if err != nil {
			return nil, fmt.Errorf("the proxy: %w", err)
		}
		if i > 0 { // the first round warms up
			r.add(a, b)
		}
	}
	r.ours.peak, r.theirs.peak = ours.peak(), theirs.peak()
	return r, nil
}
