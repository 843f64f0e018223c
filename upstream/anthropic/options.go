package anthropic

import (
	"cmp"
	"context"
	"net/http"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/messages"
)

// DefaultURL is where the vendor's own API is.
const DefaultURL = "https://api.anthropic.com"

// Options configures a [Client]. The zero value reaches the vendor's own API
// without a key.
type Options struct {
	// Name names the Client in logs, errors and reports, to tell several apart:
	// see [upstream.Report] Upstream. Empty means "anthropic".
	Name string

	// BaseURL is what "/v1/messages" is appended to, as the vendor's SDKs take
	// it; one that ends in "/v1" has its version already. Empty means DefaultURL.
	// A query in it goes with every exchange.
	BaseURL string

	// Key is the host's key, shown as x-api-key. KeyFunc, if not nil, is asked
	// for it before each exchange; it must be safe for concurrent use. Only one
	// of them may be set. A key that no header can hold, such as one with a line
	// break, is refused: by New, or with each request.
	Key     string
	KeyFunc func(context.Context) (string, error)

	// Bearer shows the key as "Authorization: Bearer" instead.
	Bearer bool

	// HTTPClient makes the exchanges; nil means one of the Client's own, which
	// goes through the proxy of the environment. Redirects are never followed.
	// A time-out of it cuts streams: waiting is bounded by who calls.
	HTTPClient *http.Client

	// Header goes with every exchange. Of a client's own headers only the version
	// and betas do, see Beta, and those that the handler forwards and that are not
	// in Header: see [upstream.HandlerOptions].
	Header http.Header

	// Model maps the name of the model that was asked for to the one to ask;
	// nil asks for the same. It must be safe for concurrent use.
	Model func(string) string

	// Beta says which values of a client's anthropic-beta go along with its
	// request; nil means all. A body that uses a beta fails without its value.
	Beta func(string) bool

	// MaxTokens is the limit of an answer for requests that bring none, since
	// the vendor requires one; zero means 32,000, and less for models that are
	// known to write less.
	MaxTokens int64

	// OutputLimits adds to the limits of output tokens that are known of the
	// Claude models, and
	// overrides them: by the model's name, or by the beginning of names up to a "-",
	// ".", ":" or "@". The longest entry that fits counts; 0 means no limit. A
	// request for more tokens is lowered to the limit and reported as a loss, unless
	// its document is sent unchanged. The map is copied.
	OutputLimits map[string]int64

	// Limits bounds what the server answers: Body is for one event of a stream
	// (32 MiB), Depth and Values are for JSON (256 and 1,000,000). Reply bounds
	// a whole answer (64 MiB). Zero fields stand for these defaults.
	Limits content.Limits
	Reply  int64
}

// New returns a client. The error says on one line which options are no good.
func New(o Options) (*Client, error) {
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	limits, faults := adapter.NewOutputLimits(o.OutputLimits)
	if o.MaxTokens < 0 {
		faults = append(faults, "limit MaxTokens: it is negative")
	}
	conf := adapter.Config{
		Name: cmp.Or(o.Name, "anthropic"), Base: o.BaseURL, Versions: []string{"v1"}, Key: o.Key, KeyFunc: o.KeyFunc, KeyHeader: "X-Api-Key",
		Model: o.Model, Client: o.HTTPClient, Header: o.Header,
		// About rates; those about the host's account are not for
		// clients.
		ForwardedHeaders: []string{"Anthropic-Ratelimit-", "Anthropic-Priority-", "Anthropic-Fast-"},
		Limits:           o.Limits, MaxResponse: o.Reply, Failure: messages.DecodeError,
	}
	if o.Bearer {
		conf.KeyHeader = ""
	}
	server, err := adapter.New(conf, faults...)
	if err != nil {
		return nil, err
	}
	c := &Client{server: server, beta: o.Beta, maxTokens: o.MaxTokens, limits: limits}
	if c.beta == nil {
		c.beta = func(string) bool { return true }
	}
	return c, nil
}
