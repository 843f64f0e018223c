package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/content/fetch"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// config is what the command line says.
type config struct {
	listen, debug string
	name, model   string // of the upstream, and of its model
	base          string // where the upstream is
	reads, unread string // which files its models read, and what is done with others
	keyAt, log    string // where the key is that clients must send
	refuse        string // the mildest loss that a request must not have
	maxBody       int64
	times         upstream.Timeouts
	links         string // what is done with files that are given by link
	private       bool
	origins       []origin // that links may lead to although they are private
	resolver      origin   // of the names in links; empty: the system's
	files         string   // a directory, or empty
	reasons       bool     // whether the log says why something got lost
	types         string   // of documents that requests may hold besides the usual ones

	key     string       // what stands at keyAt
	root    *os.Root     // of files, if there are any
	fetcher *linkFetcher // nil: the library's own
}

// month is the longest that the library waits for anything.
const month = 31 * 24 * time.Hour

// errUsage is returned for a command line that is wrong; the reason has been
// printed.
var errUsage = errors.New("wrong usage")

func parse(args []string, stderr io.Writer) (*config, error) {
	var c config
	f := flag.NewFlagSet("gateway", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&c.listen, "listen", "127.0.0.1:8080", "`address` to serve on; port 0 picks a free one")
	f.StringVar(&c.name, "upstream", "echo", "what answers, by `name`: "+names+"; its key is taken from the variable "+keyVariable)
	f.StringVar(&c.base, "upstream-url", "", "where it is, if not at the vendor's own `URL`; with the version (/v1) for openai and openai-responses, with it or without for the others")
	f.StringVar(&c.model, "model", "", "`name` of the model to ask the upstream for, whatever the client asks")
	f.StringVar(&c.reads, "reads", "images", "the most that models of openai and openai-responses read, by `word`: text, images or pdf; OpenAI's own read PDFs")
	f.StringVar(&c.unread, "unread", "refuse", "`what` to do with files that these do not read: refuse the request, or note, which tells the model that there is one")
	f.StringVar(&c.keyAt, "key", "", "`place` of the key that clients must send: env:NAME, a variable of the environment, or file:PATH, a file; without the flag everybody may come in")
	f.StringVar(&c.log, "log", "text", "`form` of the log on standard error: text, json or off")
	f.StringVar(&c.refuse, "refuse", "never", "the mildest `loss` by which a request fails in place of being answered: degraded, dropped or never")
	f.BoolVar(&c.reasons, "reasons", false, "log why something got lost, too, a line for each loss")
	f.StringVar(&c.debug, "debug", "", "loopback `address` to serve profiles (pprof) on; none by default")
	f.Int64Var(&c.maxBody, "max-body", 0, "`bytes` that a request body may have; 0 is the format's own limit")
	f.StringVar(&c.links, "links", "fetch", "`what` to do with files given by link: fetch, pass (to an upstream that fetches) or off")
	f.BoolVar(&c.private, "allow-private", false, "fetch links that lead to this machine and private networks, too, by http and on any port")
	f.Func("allow-origin", "`host:port` that links may lead to although it is private, by https or http; may be given several times", func(s string) error {
		o, err := parseOrigin(s)
		c.origins = append(c.origins, o)
		return err
	})
	f.Func("resolver", "`host:port` of the DNS server that finds the hosts of links; by default the system decides", func(s string) (err error) {
		c.resolver, err = parseOrigin(s)
		return err
	})
	f.StringVar(&c.files, "files", "", "`directory` of the files that requests may name by id; by default ids are left to the upstream")
	f.StringVar(&c.types, "media-types", "", "media `types` of documents that requests may hold besides the usual ones, with commas between them; for upstreams that read them")
	f.DurationVar(&c.times.Body, "body-timeout", 0, "`time` to read a body in; 0 is 1m")
	f.DurationVar(&c.times.Write, "write-timeout", 0, "`time` for one write to a client; 0 is 30s")
	f.DurationVar(&c.times.FirstByte, "first-byte", 0, "`time` for the upstream to begin its answer; 0 is 10m")
	f.DurationVar(&c.times.Silence, "idle", 0, "`time` between two events of the upstream; 0 is 5m")
	f.DurationVar(&c.times.Total, "total", 0, "`time` for a whole answer; 0 is 1h")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, errUsage
	}
	err := c.check()
	if f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q: everything is said with flags", f.Arg(0))
	}
	f.Visit(func(f *flag.Flag) {
		if f.Name == "key" && err == nil {
			c.key, err = readKey(c.keyAt)
		}
	})
	if err != nil {
		fmt.Fprintln(stderr, "gateway:", err)
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return &c, nil
}

func (c *config) check() error {
	if _, err := c.upstream(); err != nil {
		return err
	}
	switch c.log {
	case "text", "json", "off":
	default:
		return fmt.Errorf("-log: unknown form %q; want text, json or off", c.log)
	}
	if _, known := refusals[c.refuse]; !known {
		return fmt.Errorf("-refuse: unknown loss %q; want degraded, dropped or never", c.refuse)
	}
	switch c.links {
	case "fetch", "pass", "off":
	default:
		return fmt.Errorf("-links: unknown word %q; want fetch, pass or off", c.links)
	}
	if c.private && c.links == "off" {
		return errors.New("-allow-private: nothing is fetched with -links off")
	}
	if len(c.origins) > 0 && c.links == "off" {
		return errors.New("-allow-origin: nothing is fetched with -links off")
	}
	if c.resolver != "" && c.links == "off" {
		return errors.New("-resolver: nothing is fetched with -links off")
	}
	if c.debug != "" && !loopback(c.debug) {
		return fmt.Errorf("-debug: %q is not a loopback address; profiles are not for strangers, want 127.0.0.1:port", c.debug)
	}
	if c.maxBody < 0 || c.maxBody > math.MaxInt32 {
		return fmt.Errorf("-max-body: %d; want 1 to %d bytes", c.maxBody, math.MaxInt32)
	}
	for _, t := range []struct {
		flag string
		time time.Duration
	}{
		{"body-timeout", c.times.Body},
		{"write-timeout", c.times.Write},
		{"first-byte", c.times.FirstByte},
		{"idle", c.times.Silence},
		{"total", c.times.Total},
	} {
		if t.time != 0 && (t.time < time.Millisecond || t.time > month) {
			return fmt.Errorf("-%s: %v; want 1ms to %v", t.flag, t.time, month)
		}
	}
	return nil
}

// refusals are the words of -refuse.
var refusals = map[string]content.Severity{
	"never": 0, "degraded": content.LossDegraded, "dropped": content.LossDropped,
}

// readKey returns the key at a place. A key itself is not taken for one: a
// command line is read by everybody on the machine.
func readKey(place string) (string, error) {
	var key string
	switch kind, name, _ := strings.Cut(place, ":"); kind {
	case "env":
		key = os.Getenv(name)
	case "file":
		text, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("-key: %w", err)
		}
		key = strings.TrimRight(string(text), "\r\n")
	default: // it may be a key, and is not repeated
		return "", errors.New("-key: want env:NAME or file:PATH, and not the key itself")
	}
	switch {
	case key == "":
		return "", fmt.Errorf("-key: there is nothing at %s, which would let everybody in; leave the flag out to say that", place)
	case strings.ContainsAny(key, "\r\n"):
		return "", fmt.Errorf("-key: there is more than one line at %s", place)
	}
	return key, nil
}

// loopback reports whether nobody but this machine can reach the address.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// handler serves an upstream in both formats. The path decides between them, and
// the header of a vendor only where the path does not: both have /v1/models.
func (c *config) handler(up upstream.Upstream, logger *slog.Logger) http.Handler {
	s := c.serving(logger)
	types := strings.FieldsFunc(c.types, func(r rune) bool { return r == ',' || r == ' ' })
	m := messages.NewHandler(up, &messages.Options{HandlerOptions: s, MediaTypes: types})
	g := generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s, MediaTypes: types})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case generates(r.URL.Path):
			g.ServeHTTP(w, r)
		case m.Match(r):
			m.ServeHTTP(w, r)
		case g.Match(r):
			g.ServeHTTP(w, r)
		case r.Header.Get("anthropic-version") != "":
			m.ServeHTTP(w, r)
		case r.Header.Get("x-goog-api-key") != "":
			g.ServeHTTP(w, r)
		default:
			m.ServeHTTP(w, r)
		}
	})
}

// generates reports whether a path is below a version that only content generation
// has.
func generates(path string) bool {
	version, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch version {
	case "v1beta", "v1alpha", "v1beta1":
		return true
	}
	return false
}

// budget bounds the bytes of bodies and files that are in flight.
const budget = 512 << 20

// memoryLimit is what the collector stays below if it can. Beside a full budget,
// all of it in use, there must be room for garbage, or the collector runs all the
// time: with ten PDFs of 30 MB at once it ran 195 times for 60 requests under
// 192 MiB, 8 times under half as much again as the budget, and 6 times under twice
// the budget.
const memoryLimit = budget + budget/2

// serving says how to serve it. What is in flight counts for both formats
// together.
func (c *config) serving(logger *slog.Logger) upstream.HandlerOptions {
	s := upstream.HandlerOptions{
		Limits:     content.Limits{Body: c.maxBody},
		RejectLoss: refusals[c.refuse],
		Budget:     &upstream.Budget{Bytes: budget},
		Timeouts:   c.times,
		Logger:     logger,
		OnDone: func(ctx context.Context, r *upstream.Report) {
			record(ctx, logger, r)
			if c.reasons {
				explain(ctx, logger, r)
			}
		},
	}
	if c.key != "" {
		s.Authenticate = upstream.Keys(c.key)
	}
	c.findFiles(&s)
	return s
}

// findFiles says where files come from that are not in a request. Ids are names
// of files in the directory; whether two clients may see the same files is for
// a real service to decide.
func (c *config) findFiles(s *upstream.HandlerOptions) {
	switch c.links {
	case "pass":
		s.ForwardLinks = true
	case "off":
		s.Links = fetch.Off{}
	}
	if c.fetcher != nil {
		s.Links = c.fetcher
	}
	if c.root != nil {
		s.Resolver = content.Files{FS: c.root.FS()}
	}
}

// open opens what serving needs; close it when that is over.
func (c *config) open() (err error) {
	if c.files != "" {
		if c.root, err = os.OpenRoot(c.files); err != nil {
			return fmt.Errorf("-files: %w", err)
		}
	}
	if c.private || len(c.origins) > 0 || c.resolver != "" {
		c.fetcher, err = newLinkFetcher(fetch.Options{
			AllowPrivate: c.private, AllowHTTP: c.private, AnyPort: c.private, LookUp: lookUp(c.resolver),
		}, c.origins)
	}
	return err
}

func (c *config) close() {
	if c.root != nil {
		c.root.Close()
	}
}

func (c *config) logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelDebug} // why requests were refused, too
	switch c.log {
	case "json":
		return slog.New(slog.NewJSONHandler(w, o))
	case "text":
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.DiscardHandler)
}

// record writes the line that every request gets. Why one failed stands in the
// handler's own line, which has the same id; the error in a report may quote
// what the client sent.
func record(ctx context.Context, logger *slog.Logger, r *upstream.Report) {
	attrs := []slog.Attr{
		slog.String("request", r.ID),
		slog.String("method", r.Method),
		slog.String("path", r.Path),
		slog.String("mode", r.Mode),
		slog.Int("status", r.Status),
		slog.Duration("duration", r.Duration),
		slog.Int64("input_tokens", r.Usage.Prompt()),
		slog.Int64("output_tokens", r.Usage.Answer()),
	}
	if r.Model != "" { // the client's word, of any length
		attrs = append(attrs, slog.String("model", r.Model[:min(len(r.Model), 100)]))
	}
	if r.Upstream != "" {
		attrs = append(attrs, slog.String("upstream", r.Upstream))
	}
	if r.UpstreamID != "" {
		attrs = append(attrs, slog.String("upstream_request", r.UpstreamID))
	}
	if r.Code != "" { // the status of a stream does not say so
		attrs = append(attrs, slog.String("error", string(r.Code)))
	}
	if lost := summary(r.Losses); lost != "" {
		attrs = append(attrs, slog.String("losses", lost))
	}
	logger.LogAttrs(ctx, slog.LevelInfo, "request done", attrs...)
}
