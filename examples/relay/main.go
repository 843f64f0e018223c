// Relay compares the example gateway with httputil.ReverseProxy, which copies bytes without
// reading them. Both stand between the same clients and the same server on loopback and
// are measured alternately in one run, so that the ratios are useful on a busy machine.
//
//	go run ./examples/relay
//
// It prints a table, and draws it with -svg. The server returns Messages responses; the
// gateway validates every request and passes request and response on. Peak memory is read
// from /proc, which only Linux has.
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

// A config holds the values of the flags.
type config struct {
	rounds int
	time   time.Duration
	svg    string
	proxy  string
	only   string
}

// run measures and writes the table to stdout, and the names of scenarios to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var c config
	f := flag.NewFlagSet("relay", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&c.rounds, "rounds", 7, "`number` of measurements of each scenario; the table shows medians")
	f.DurationVar(&c.time, "time", time.Second, "`time` of one measurement")
	f.StringVar(&c.svg, "svg", "", "`file` for a drawing of the ratios")
	f.StringVar(&c.only, "only", "", "measure only scenarios whose name contains this `text`")
	f.StringVar(&c.proxy, "proxy", "", "run as the reverse proxy for this `URL` (the program starts itself with this flag)")
	if err := f.Parse(args); err != nil {
		return err
	}
	if c.rounds < 1 || c.time <= 0 || f.NArg() > 0 {
		return errors.New("-rounds and -time must be positive, and there are no other arguments")
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

// measure measures both relays in all scenarios.
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

// compare measures both relays in one scenario, alternately, each in a new process. path is
// that of the gateway.
func (c *config) compare(ctx context.Context, s scenario, path, vendor string) (*result, error) {
	gateway, err := start(ctx, path, "-listen", "127.0.0.1:0", "-log", "off", "-upstream", "anthropic", "-upstream-url", vendor)
	if err != nil {
		return nil, err
	}
	defer gateway.stop()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	proxy, err := start(ctx, self, "-proxy", vendor)
	if err != nil {
		return nil, err
	}
	defer proxy.stop()

	r := &result{scenario: s}
	for i := range c.rounds + 1 {
		a, err := s.drive(ctx, gateway.url, c.time)
		if err != nil {
			return nil, fmt.Errorf("gateway: %w", err)
		}
		b, err := s.drive(ctx, proxy.url, c.time)
		if err != nil {
			return nil, fmt.Errorf("proxy: %w", err)
		}
		if i > 0 { // the first round is a warm-up
			r.add(a, b)
		}
	}
	r.gateway.peak, r.proxy.peak = gateway.peakMemory(), proxy.peakMemory()
	return r, nil
}
