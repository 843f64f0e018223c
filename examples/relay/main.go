// Relay compares the example gateway with httputil.ReverseProxy, which copies bytes without
// reading them, and translations between formats with relaying the same requests without a
// translation. Both sides are between the same clients and the same server on loopback and
// are measured alternately in one run, so that the ratios are useful on a busy machine. Both have
// the same GOGC: that of the environment, or 400.
//
//	go run ./examples/relay
//
// It prints tables, and draws them with -svg. In the first, clients and server use Messages:
// the gateway validates every request, and passes request and response on. In the second, one
// gateway serves requests that differ only in their model, whose server has the format of the
// client or another one. With -portkey, a third table compares with the gateway of that name, a
// program for Node:
//
//	npm install @portkey-ai/gateway@1.15.2 @hono/node-server@1.13.8
//	go run ./examples/relay -portkey node_modules/@portkey-ai/gateway/build/start-server.js
//
// What each side sends to the server for it is first compared with the client's request, and the
// table names a string that is not there. CPU time and peak memory of the relays are read from /proc, which
// only Linux has.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
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
	rounds  int
	time    time.Duration
	svg     string
	proxy   string
	portkey string
	only    string
}

// run measures and writes the table to stdout, and the names of scenarios to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var c config
	f := flag.NewFlagSet("relay", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&c.rounds, "rounds", 7, "`number` of measurements of each scenario; the tables show medians")
	f.DurationVar(&c.time, "time", 500*time.Millisecond, "`time` of one measurement")
	f.StringVar(&c.svg, "svg", "", "`file` for a drawing of the ratios")
	f.StringVar(&c.only, "only", "", "measure only scenarios whose name contains this `text`")
	f.StringVar(&c.portkey, "portkey", "", "compare with Portkey's gateway, too: its `file` start-server.js, which node runs")
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
	gogc := cmp.Or(os.Getenv("GOGC"), strconv.Itoa(gatewayGOGC)+", which the gateway lowers for large bodies")
	fmt.Fprintf(stdout, "GOGC of both sides: %s\n\n", gogc)
	tables(stdout, results)
	if c.svg == "" {
		return nil
	}
	return os.WriteFile(c.svg, []byte(plot(results)), 0o644)
}

// selected returns the scenarios to measure.
func (c *config) selected() ([]scenario, error) {
	list := scenarios()
	if c.portkey != "" {
		list = append(list, portkeyScenarios()...)
	}
	list = slices.DeleteFunc(list, func(s scenario) bool { return !strings.Contains(s.name, c.only) })
	if len(list) == 0 {
		return nil, fmt.Errorf("-only: no name of a scenario contains %q", c.only)
	}
	return list, nil
}

// measure measures all selected scenarios.
func (c *config) measure(ctx context.Context, log io.Writer) ([]*result, error) {
	list, err := c.selected()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "relay")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	v := startVendor()
	defer v.Close()
	gateway, file := filepath.Join(dir, "gateway"), filepath.Join(dir, "gateway.json")
	if err := errors.Join(buildGateway(ctx, gateway), configure(file, v.URL)); err != nil {
		return nil, err
	}
	var results []*result
	for _, s := range list {
		fmt.Fprintln(log, s.name)
		r, err := c.compare(ctx, s, gateway, file, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		results = append(results, r)
	}
	return results, nil
}

// compare measures the two sides of a scenario alternately, in new processes. path and file
// are those of the gateway and its configuration.
func (c *config) compare(ctx context.Context, s scenario, path, file string, v *vendor) (*result, error) {
	gateway, err := start(ctx, path, "-listen", "127.0.0.1:0", "-log", "off", "-config", file)
	if err != nil {
		return nil, err
	}
	defer gateway.stop()
	other, otherLoad := gateway, s.same
	if s.same == nil {
		if other, err = c.startOther(ctx, &s, v.URL); err != nil {
			return nil, err
		}
		defer other.stop()
		otherLoad = &s.load
	}
	r := &result{scenario: s}
	if s.portkey != "" {
		lost, err := v.lost(ctx, &s.load, gateway)
		if err == nil && lost == "" {
			r.lost, err = v.lost(ctx, &s.load, other)
		} else if err == nil {
			err = fmt.Errorf("the gateway does not send %.100q", lost)
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range c.rounds + 1 {
		a, err := s.load.measure(ctx, gateway, c.time)
		if err != nil {
			return nil, fmt.Errorf("gateway: %w", err)
		}
		b, err := otherLoad.measure(ctx, other, c.time)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.other(), err)
		}
		if i > 0 { // the first round is a warm-up
			r.add(a, b)
		}
	}
	r.peak, r.otherPeak = gateway.peakMemory(), other.peakMemory()
	return r, nil
}

// startOther starts the program with which s compares the gateway.
func (c *config) startOther(ctx context.Context, s *scenario, vendor string) (*process, error) {
	if s.portkey != "" {
		header := map[string]string{"X-Portkey-Provider": s.portkey, "X-Portkey-Custom-Host": vendor + "/v1"}
		maps.Copy(header, s.load.header)
		s.load.header = header
		return startPortkey(ctx, c.portkey)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(ctx, self, "-proxy", vendor)
}
