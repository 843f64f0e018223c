package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"mime"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/content/fetch"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A config holds the values of the flags.
type config struct {
	listen, debug string
	file          string  // of -config, or empty
	routing       routing // from the flags of one upstream, or from the file of -config
	keySource     string  // where to find the key that clients must send
	log           string  // format of the log
	rejectLoss    string  // least severity of a loss that fails a request
	maxBody       int64
	budget        upstream.Budget
	timeouts      upstream.Timeouts
	drain, grace  time.Duration // times of a shutdown: see serve
	links         string        // action for files given by link
	allowPrivate  bool
	origins       []origin // private servers from which links may be fetched
	resolver      origin   // DNS server for the hosts of links; empty means the system's
	files         string   // directory of files by id, or empty
	reasons       bool     // log the reasons of losses
	types         []string // further media types of documents

	openResponses bool  // responses as the Open Responses specification demands
	storeBytes    int64 // of the responses that are stored; 0 means none are

	key      string            // from keySource
	root     *os.Root          // of files; nil without the flag
	fetcher  *linkFetcher      // nil means the library's own
	upstream upstream.Upstream // from routing
	monitors []*monitor        // of its parts
	health   health
	store    responses.Store // nil without one
	current  upstream.Swap   // of the requests that begin now
}

// keyVariable is the environment variable with the key of the upstream. There is no flag
// for it, because every user of the machine can read a command line.
const keyVariable = "UPSTREAM_API_KEY"

// upstreamFlags are the flags that configure one upstream, by the names of their settings
// in a file. The value of the setting "key_env" is not a flag.
var upstreamFlags = map[string]string{
	"adapter": "upstream", "server": "server", "url": "upstream-url", "models": "model", "reads": "reads", "unread": "unread", "think_tags": "think-tags",
}

// flagOf returns the flag or environment variable for a setting of an upstream.
func flagOf(setting string) string {
	if setting == "key_env" {
		return "the environment variable " + keyVariable
	}
	return "-" + upstreamFlags[setting]
}

// maxTime is the longest time-out that the library accepts.
const maxTime = 31 * 24 * time.Hour

// errUsage is the error of an invalid command line, after its cause was printed.
var errUsage = errors.New("invalid usage")

// parse reads the command line. It prints errors and the help text to stderr.
func parse(args []string, stderr io.Writer) (*config, error) {
	var c config
	var model, types string
	one := &vendor{keyEnv: keyVariable, setting: flagOf}
	f := flag.NewFlagSet("gateway", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&c.listen, "listen", "127.0.0.1:8080", "`address` to serve on; port 0 picks a free one")
	f.StringVar(&c.file, "config", "", "`file` with upstreams and routes, in place of the flags of one upstream: see docs/gateway.md")
	f.StringVar(&one.adapter, "upstream", "echo", "`name` of the upstream: "+adapterNames+"; its key is read from the environment variable "+keyVariable)
	f.StringVar(&one.url, "upstream-url", "", "base `URL` of the upstream, if not the vendor's; with the version (/v1) for openai and openai-responses, with or without it for the others")
	f.StringVar(&one.server, "server", "host", "`kind` of the server of openai and openai-responses, if its host name does not show it: "+serverKinds)
	f.StringVar(&model, "model", "", "`name` of the model to use instead of the one that the client names")
	f.StringVar(&one.reads, "reads", "images", "`kind` of files that models of openai and openai-responses read: text (no files), images, or pdf (images and PDFs); OpenAI's own models read PDFs in any case")
	f.StringVar(&one.unread, "unread", "refuse", "`action` for a file that the models do not read: refuse (the request fails) or note (the model gets a note in its place)")
	f.StringVar(&one.thinkTags, "think-tags", "off", "`meaning` of <think> and </think> in texts of openai: off (they are text), leading (a response that begins with <think> begins with thinking), or open (a response begins with thinking, which </think> ends)")
	f.StringVar(&c.keySource, "key", "", "`source` of the key that clients must send: env:NAME for an environment variable or file:PATH for a file; without this flag no key is required")
	f.StringVar(&c.log, "log", "text", "`format` of the log on standard error: text, json or off")
	f.StringVar(&c.rejectLoss, "refuse", "never", "least `severity` of a loss that fails a request: degraded, dropped or never")
	f.BoolVar(&c.reasons, "reasons", false, "log the reason of each loss, one line each")
	f.StringVar(&c.debug, "debug", "", "loopback `address` for profiles (pprof); not served by default")
	f.Int64Var(&c.maxBody, "max-body", 0, "limit of a request body in `bytes`; 0 means the default of the format")
	f.Int64Var(&c.budget.Bytes, "budget", 512<<20, "limit of the `bytes` of all bodies and files in flight; the memory limit of the process is at most one and a half times this, unless GOMEMLIMIT is set")
	f.IntVar(&c.budget.Requests, "max-requests", 0, "limit of the `number` of requests in flight; 0 means no limit")
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
	f.StringVar(&types, "media-types", "", "comma-separated media `types` of documents to accept besides the usual ones, for upstreams that read them")
	f.BoolVar(&c.openResponses, "open-responses", false, "respond to clients of Responses as the Open Responses specification demands, where OpenAI's own wire differs")
	f.Int64Var(&c.storeBytes, "store", 64<<20, "memory in `bytes` for responses of Responses that clients refer to by id; 0 stores none. None are stored on an address other than loopback without -key, because nothing would keep clients apart")
	f.DurationVar(&c.timeouts.Body, "body-timeout", 0, "`time` to read a request body; 0 means 1m")
	f.DurationVar(&c.timeouts.Write, "write-timeout", 0, "`time` for one write to a client; 0 means 30s")
	f.DurationVar(&c.timeouts.FirstByte, "first-byte", 0, "`time` until the upstream's first event; 0 means 10m")
	f.DurationVar(&c.timeouts.Idle, "idle", 0, "`time` between two events of the upstream; 0 means 5m")
	f.DurationVar(&c.timeouts.Total, "total", 0, "`time` for a whole response; 0 means 1h")
	f.DurationVar(&c.drain, "drain", 0, "`time` after SIGINT or SIGTERM in which the gateway still accepts requests while /readyz responds with 503")
	f.DurationVar(&c.grace, "grace", 30*time.Second, "`time` for running responses to finish in a shutdown, after the drain time")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		return nil, errUsage
	}
	set := map[string]bool{}
	f.Visit(func(f *flag.Flag) { set[f.Name] = true })
	err := func() (err error) {
		if f.NArg() > 0 {
			return fmt.Errorf("unexpected argument %q: gateway has only flags", clip(f.Arg(0)))
		}
		if err := c.setRouting(one, model, set); err != nil {
			return err
		}
		if c.types, err = parseMediaTypes(types); err != nil {
			return err
		}
		if set["key"] {
			if c.key, err = readKey(c.keySource); err != nil {
				return err
			}
		}
		if err := c.check(); err != nil {
			return err
		}
		if c.storeBytes > 0 && (c.key != "" || isLoopback(c.listen)) {
			c.store = responses.NewMemoryStore(c.storeBytes)
		}
		return nil
	}()
	if err != nil {
		fmt.Fprintln(stderr, "gateway:", err)
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	return &c, nil
}

// setRouting sets routing and upstream, from the file of -config if that is set, and
// otherwise from the flags of one upstream. set has the names of all flags that are set.
func (c *config) setRouting(one *vendor, model string, set map[string]bool) error {
	if set["config"] {
		for _, name := range slices.Sorted(maps.Values(upstreamFlags)) {
			if set[name] {
				return fmt.Errorf("-config: cannot be used with -%s; set upstreams in the file or with flags", name)
			}
		}
		r, err := readRouting(c.file)
		if err != nil {
			return inFile(c.file, err)
		}
		c.routing = *r
	} else {
		switch {
		case strings.Contains(model, "*"):
			return fmt.Errorf("-model: %q has a star; want the name of one model", clip(model))
		case model != "" && !isModel(model):
			return fmt.Errorf("-model: %q is not the name of a model: %s", clip(model), modelRule)
		}
		if model != "" {
			one.models = []modelName{{"*", model}}
		}
		c.routing = routing{vendors: []*vendor{one}, routes: []route{{pattern: "*", vendors: []string{one.name}}}}
	}
	var err error
	c.upstream, c.monitors, err = c.routing.upstream()
	if err != nil && set["config"] {
		return inFile(c.file, err)
	}
	return err
}

// inFile returns the errors in a file of -config as one.
func inFile(name string, err error) error {
	return fmt.Errorf("-config: %s:\n  %s", name, strings.ReplaceAll(err.Error(), "\n", "\n  "))
}

// parseMediaTypes parses a list of media types.
func parseMediaTypes(list string) ([]string, error) {
	types := strings.FieldsFunc(strings.ToLower(list), func(r rune) bool { return r == ',' || r == ' ' })
	for _, t := range types {
		name, params, err := mime.ParseMediaType(t)
		if err != nil || len(params) > 0 || name != t || !strings.Contains(t, "/") || strings.Contains(t, "*") {
			return nil, fmt.Errorf("-media-types: %q is not a media type; want a type and a subtype, such as application/zip", clip(t))
		}
	}
	return types, nil
}

// check returns an error if a value is invalid.
func (c *config) check() error {
	switch c.log {
	case "text", "json", "off":
	default:
		return fmt.Errorf("-log: unknown format %q; want text, json or off", clip(c.log))
	}
	if _, known := severities[c.rejectLoss]; !known {
		return fmt.Errorf("-refuse: unknown severity %q; want degraded, dropped or never", clip(c.rejectLoss))
	}
	switch c.links {
	case "fetch", "pass", "off":
	default:
		return fmt.Errorf("-links: unknown action %q; want fetch, pass or off", clip(c.links))
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
		return fmt.Errorf("-debug: %q is not a loopback address; want 127.0.0.1:port, since profiles are not protected by a key", clip(c.debug))
	}
	if c.maxBody < 0 || c.maxBody > math.MaxInt32 {
		return fmt.Errorf("-max-body: %d is out of range; want 1 to %d bytes, or 0", c.maxBody, math.MaxInt32)
	}
	if c.budget.Bytes < 1<<20 || c.budget.Bytes > 1<<50 {
		return fmt.Errorf("-budget: %d is out of range; want %d to %d bytes", c.budget.Bytes, 1<<20, 1<<50)
	}
	if c.storeBytes < 0 || c.storeBytes > 1<<50 {
		return fmt.Errorf("-store: %d is out of range; want 1 to %d bytes, or 0", c.storeBytes, 1<<50)
	}
	if c.budget.Requests < 0 || c.budget.Requests > math.MaxInt32 {
		return fmt.Errorf("-max-requests: %d is out of range; want 1 to %d, or 0", c.budget.Requests, math.MaxInt32)
	}
	if c.maxBody > c.budget.Bytes {
		return fmt.Errorf("-max-body: %d is more than the budget of %d bytes: such a body would always be refused", c.maxBody, c.budget.Bytes)
	}
	for _, t := range []struct {
		flag string
		time time.Duration
	}{
		{"drain", c.drain},
		{"grace", c.grace},
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

// handlerOptions returns the options of both handlers, which share a Budget.
func (c *config) handlerOptions(logger *slog.Logger) upstream.HandlerOptions {
	s := upstream.HandlerOptions{
		Limits:     content.Limits{Body: c.maxBody},
		RejectLoss: severities[c.rejectLoss],
		Budget:     &c.budget,
		Timeouts:   c.timeouts,
		Logger:     logger,
		OnDone: func(ctx context.Context, r *upstream.Report) {
			c.logRequest(ctx, logger, r)
			if c.reasons {
				logLosses(ctx, logger, r, c.rejected(r))
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

// logRequest logs a request that is done.
func (c *config) logRequest(ctx context.Context, logger *slog.Logger, r *upstream.Report) {
	attrs := r.LogValue().Group()
	if s := summary(r.Losses); s != "" {
		name := "losses"
		if c.rejected(r) {
			name = "rejected_losses"
		}
		attrs = append(attrs, slog.String(name, s))
	}
	logger.LogAttrs(ctx, slog.LevelInfo, "request done", attrs...)
}

// rejected reports whether a request failed because of its losses: nothing was sent.
func (c *config) rejected(r *upstream.Report) bool {
	least := severities[c.rejectLoss]
	return least != 0 && r.Code == upstream.CodeInvalid && r.Upstream == "" &&
		slices.ContainsFunc(r.Losses, func(l content.Loss) bool { return l.Severity >= least })
}
