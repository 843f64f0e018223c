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

// A config holds the values of the flags.
type config struct {
	listen, debug string
	name, model   string // of the upstream, and the model to use
	base          string // URL of the upstream
	reads, unread string // kinds of files that the models read, and the action for others
	keySource     string // where to find the key that clients must send
	log           string // format of the log
	rejectLoss    string // least severity of a loss that fails a request
	maxBody       int64
	timeouts      upstream.Timeouts
	links         string // action for files given by link
	allowPrivate  bool
	origins       []origin // private servers from which links may be fetched
	resolver      origin   // DNS server for the hosts of links; empty means the system's
	files         string   // directory of files by id, or empty
	reasons       bool     // log the reasons of losses
	types         string   // further media types of documents

	key     string       // from keySource
	root    *os.Root     // of files; nil without the flag
	fetcher *linkFetcher // nil means the library's own
}

// maxTime is the longest time-out that the library accepts.
const maxTime = 31 * 24 * time.Hour

// errUsage is the error of an invalid command line, after its cause was printed.
var errUsage = errors.New("invalid usage")

// parse reads the command line. It prints errors and the help text to stderr.
func parse(args []string, stderr io.Writer) (*config, error) {
	var c config
	f := flag.NewFlagSet("gateway", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&c.listen, "listen", "127.0.0.1:8080", "`address` to serve on; port 0 picks a free one")
	f.StringVar(&c.name, "upstream", "echo", "`name` of the upstream: "+upstreamNames+"; its key is read from the environment variable "+keyVariable)
	f.StringVar(&c.base, "upstream-url", "", "base `URL` of the upstream, if not the vendor's; with the version (/v1) for openai and openai-responses, with or without it for the others")
	f.StringVar(&c.model, "model", "", "`name` of the model to use instead of the one that the client names")
	f.StringVar(&c.reads, "reads", "images", "`kind` of files that models of openai and openai-responses read: text (no files), images, or pdf (images and PDFs); OpenAI's own models read PDFs in any case")
	f.StringVar(&c.unread, "unread", "refuse", "`action` for a file that the models do not read: refuse (the request fails) or note (the model gets a note in its place)")
	f.StringVar(&c.keySource, "key", "", "`source` of the key that clients must send: env:NAME for an environment variable or file:PATH for a file; without this flag no key is required")
	f.StringVar(&c.log, "log", "text", "`format` of the log on standard error: text, json or off")
	f.StringVar(&c.rejectLoss, "refuse", "never", "least `severity` of a loss that fails a request: degraded, dropped or never")
	f.BoolVar(&c.reasons, "reasons", false, "log the reason of each loss, one line each")
	f.StringVar(&c.debug, "debug", "", "loopback `address` for profiles (pprof); not served by default")
	f.Int64Var(&c.maxBody, "max-body", 0, "limit of a request body in `bytes`; 0 means the default of the format")
	f.StringVar(&c.links, "links", "fetch", "`action` for files given by link: fetch, pass (leave them to an upstream that fetches) or off (reject the request)")
	f.BoolVar(&c.allowPrivate, "allow-private", false, "also fetch links to this machine and to private networks, by http and on any port")
	f.Func("allow-origin", "`host:port` of a private server from which links may be fetched, by https or http; repeatable", func(s string) error {
		o, err := parseOrigin(s)
		c.origins = append(c.origins, o)
		return err
	})
	f.Func("resolver", "`host:port` of the DNS server for the hosts of links; the default is the system's", func(s string) (err error) {
		c.resolver, err = parseOrigin(s)
		return err
	})
	f.StringVar(&c.files, "files", "", "`directory` of the files that requests name by id; by default the upstream gets the ids")
	f.StringVar(&c.types, "media-types", "", "comma-separated media `types` of documents to accept besides the usual ones, for upstreams that read them")
	f.DurationVar(&c.timeouts.Body, "body-timeout", 0, "`time` to read a request body; 0 means 1m")
	f.DurationVar(&c.timeouts.Write, "write-timeout", 0, "`time` for one write to a client; 0 means 30s")
	f.DurationVar(&c.timeouts.FirstByte, "first-byte", 0, "`time` until the upstream's first event; 0 means 10m")
	f.DurationVar(&c.timeouts.Idle, "idle", 0, "`time` between two events of the upstream; 0 means 5m")
	f.DurationVar(&c.timeouts.Total, "total", 0, "`time` for a whole response; 0 means 1h")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, errUsage
	}
	err := c.check()
	if f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q: gateway has only flags", f.Arg(0))
	}
	f.Visit(func(f *flag.Flag) {
		if f.Name == "key" && err == nil {
			c.key, err = readKey(c.keySource)
		}
	})
	if err != nil {
		fmt.Fprintln(stderr, "gateway:", err)
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return &c, nil
}

// check returns an error if a value is invalid.
func (c *config) check() error {
	if _, err := c.upstream(); err != nil {
		return err
	}
	switch c.log {
	case "text", "json", "off":
	default:
		return fmt.Errorf("-log: unknown format %q; want text, json or off", c.log)
	}
	if _, known := severities[c.rejectLoss]; !known {
		return fmt.Errorf("-refuse: unknown severity %q; want degraded, dropped or never", c.rejectLoss)
	}
	switch c.links {
	case "fetch", "pass", "off":
	default:
		return fmt.Errorf("-links: unknown action %q; want fetch, pass or off", c.links)
	}
	if c.allowPrivate && c.links == "off" {
		return errors.New("-allow-private: with -links off nothing is fetched")
	}
	if len(c.origins) > 0 && c.links == "off" {
		return errors.New("-allow-origin: with -links off nothing is fetched")
	}
	if c.resolver != "" && c.links == "off" {
		return errors.New("-resolver: with -links off nothing is fetched")
	}
	if c.debug != "" && !isLoopback(c.debug) {
		return fmt.Errorf("-debug: %q is not a loopback address; want 127.0.0.1:port, since profiles are not protected by a key", c.debug)
	}
	if c.maxBody < 0 || c.maxBody > math.MaxInt32 {
		return fmt.Errorf("-max-body: %d is out of range; want 1 to %d bytes, or 0", c.maxBody, math.MaxInt32)
	}
	for _, t := range []struct {
		flag string
		time time.Duration
	}{
		{"body-timeout", c.timeouts.Body},
		{"write-timeout", c.timeouts.Write},
		{"first-byte", c.timeouts.FirstByte},
		{"idle", c.timeouts.Idle},
		{"total", c.timeouts.Total},
	} {
		if t.time != 0 && (t.time < time.Millisecond || t.time > maxTime) {
			return fmt.Errorf("-%s: %v is out of range; want 1ms to %v", t.flag, t.time, maxTime)
		}
	}
	return nil
}

// severities are the values of -refuse.
var severities = map[string]content.Severity{
	"never": 0, "degraded": content.LossDegraded, "dropped": content.LossDropped,
}

// readKey returns the key from a source. It does not accept the key itself, because
// every user of the machine can read a command line.
func readKey(source string) (string, error) {
	var key string
	switch kind, name, _ := strings.Cut(source, ":"); kind {
	case "env":
		key = os.Getenv(name)
	case "file":
		text, err := os.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("-key: %w", err)
		}
		key = strings.TrimRight(string(text), "\r\n")
	default: // do not quote source, which may be a key
		return "", errors.New("-key: want env:NAME or file:PATH, not the key itself")
	}
	switch {
	case key == "":
		return "", fmt.Errorf("-key: %s is empty; to serve without a key, omit the flag", source)
	case strings.ContainsAny(key, "\r\n"):
		return "", fmt.Errorf("-key: %s has more than one line; want one key", source)
	}
	return key, nil
}

// isLoopback reports whether only this machine can reach address.
func isLoopback(address string) bool {
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

// handler returns a handler of both formats over up. It chooses the format by path,
// and by a header of the vendor for paths that both formats have, such as /v1/models.
func (c *config) handler(up upstream.Upstream, logger *slog.Logger) http.Handler {
	s := c.handlerOptions(logger)
	types := strings.FieldsFunc(c.types, func(r rune) bool { return r == ',' || r == ' ' })
	m := messages.NewHandler(up, &messages.Options{HandlerOptions: s, MediaTypes: types})
	g := generatecontent.NewHandler(up, &generatecontent.Options{HandlerOptions: s, MediaTypes: types})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case isGenerateContent(r.URL.Path):
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

// isGenerateContent reports whether path begins with a version that only
// generateContent has.
func isGenerateContent(path string) bool {
	version, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	switch version {
	case "v1beta", "v1alpha", "v1beta1":
		return true
	}
	return false
}

// budget bounds the bytes of bodies and files in flight.
const budget = 512 << 20

// memoryLimit is the soft memory limit of the runtime. It leaves room for garbage
// besides a full budget; otherwise the garbage collector runs all the time. With
// concurrent PDFs of 30 MB it ran 195 times for 60 requests under a limit of 192 MiB, 8
// times under 1.5 budgets and 6 times under 2 budgets.
const memoryLimit = budget + budget/2

// handlerOptions returns the options of both handlers, which share a Budget.
func (c *config) handlerOptions(logger *slog.Logger) upstream.HandlerOptions {
	s := upstream.HandlerOptions{
		Limits:     content.Limits{Body: c.maxBody},
		RejectLoss: severities[c.rejectLoss],
		Budget:     &upstream.Budget{Bytes: budget},
		Timeouts:   c.timeouts,
		Logger:     logger,
		OnDone: func(ctx context.Context, r *upstream.Report) {
			logRequest(ctx, logger, r)
			if c.reasons {
				logLosses(ctx, logger, r)
			}
		},
	}
	if c.key != "" {
		s.Authenticate = upstream.Keys(c.key)
	}
	c.setFiles(&s)
	return s
}

// setFiles configures files that are not in the request. All clients may read all
// files of the directory; a real service would decide by client.
func (c *config) setFiles(s *upstream.HandlerOptions) {
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

// open opens the directory of files and builds the fetcher. Call close afterwards.
func (c *config) open() (err error) {
	if c.files != "" {
		if c.root, err = os.OpenRoot(c.files); err != nil {
			return fmt.Errorf("-files: %w", err)
		}
	}
	if c.allowPrivate || len(c.origins) > 0 || c.resolver != "" {
		c.fetcher, err = newLinkFetcher(fetch.Options{
			AllowPrivate: c.allowPrivate, AllowHTTP: c.allowPrivate, AnyPort: c.allowPrivate, Lookup: lookUp(c.resolver),
		}, c.origins)
	}
	return err
}

// close closes what open opened.
func (c *config) close() {
	if c.root != nil {
		c.root.Close()
	}
}

// logger returns a logger that writes to w in the configured format.
func (c *config) logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: slog.LevelDebug} // includes the reasons of rejected requests
	switch c.log {
	case "json":
		return slog.New(slog.NewJSONHandler(w, o))
	case "text":
		return slog.New(slog.NewTextHandler(w, o))
	}
	return slog.New(slog.DiscardHandler)
}

// logRequest logs a request that is done. It leaves out r.Err, which may quote the
// client: the handler logs the cause with the same request id.
func logRequest(ctx context.Context, logger *slog.Logger, r *upstream.Report) {
	attrs := []slog.Attr{
		slog.String("request", r.ID),
		slog.String("method", r.Method),
		slog.String("path", r.Path),
		slog.String("mode", r.Mode),
		slog.Int("status", r.Status),
		slog.Duration("duration", r.Duration),
		slog.Int64("input_tokens", r.Usage.Prompt()),
		slog.Int64("output_tokens", r.Usage.Completion()),
	}
	if r.Model != "" { // chosen by the client, of any length
		attrs = append(attrs, slog.String("model", r.Model[:min(len(r.Model), 100)]))
	}
	if r.Upstream != "" {
		attrs = append(attrs, slog.String("upstream", r.Upstream))
	}
	if r.UpstreamID != "" {
		attrs = append(attrs, slog.String("upstream_request", r.UpstreamID))
	}
	if r.Code != "" { // a failed stream may have status 200
		attrs = append(attrs, slog.String("error", string(r.Code)))
	}
	if s := summary(r.Losses); s != "" {
		attrs = append(attrs, slog.String("losses", s))
	}
	logger.LogAttrs(ctx, slog.LevelInfo, "request done", attrs...)
}
