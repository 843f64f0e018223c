package gemini

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
)

// DefaultURL is where the vendor's own API is.
const DefaultURL = "https://generativelanguage.googleapis.com"

// Options configures a [Client]. The zero value reaches the vendor's own API
// without a key.
type Options struct {
	// Name names the Client in logs, errors and reports, to tell several apart:
	// see [upstream.Report] Upstream. Empty means "gemini".
	Name string

	// BaseURL is what "/v1beta/models/…" is appended to, as the vendor's SDKs
	// take it; empty means DefaultURL. A query in it goes with every exchange.
	BaseURL string

	// Version is the version of the API, which is appended to BaseURL unless
	// that ends in it. Empty means the one that BaseURL ends in, out of v1,
	// v1beta, v1alpha and v1beta1, or else v1beta.
	Version string

	// Key is the host's key, shown as x-goog-api-key. KeyFunc, if not nil, is
	// asked for it before each exchange; it must be safe for concurrent use. Only
	// one of them may be set. A key that no header can hold, such as one with a
	// line break, is refused: by New, or with each request.
	Key     string
	KeyFunc func(context.Context) (string, error)

	// Bearer shows the key as "Authorization: Bearer" instead.
	Bearer bool

	// HTTPClient makes the exchanges; nil means one of the Client's own, which
	// goes through the proxy of the environment. Redirects are never followed.
	// A time-out of it cuts streams: waiting is bounded by who calls.
	HTTPClient *http.Client

	// Header goes with every exchange. Of a client's own headers only those do that
	// the handler forwards and that are not in Header: see [upstream.HandlerOptions].
	Header http.Header

	// Model maps the name of the model that was asked for to the one to ask;
	// nil asks for the same. It must be safe for concurrent use.
	Model func(string) string

	// ClosedSchemas tells schemas in the format's own closed dialect, for
	// servers that know no "parametersJsonSchema". More is lost that way.
	ClosedSchemas bool

	// OutputLimits adds to the limits of output tokens that are known of the
	// Gemini models, and
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
	versions := []string{"v1beta", "v1", "v1alpha", "v1beta1"}
	if o.Version != "" {
		versions = []string{o.Version}
	}
	limits, faults := adapter.NewOutputLimits(o.OutputLimits)
	if strings.Trim(o.Version, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		faults = append(faults, fmt.Sprintf("version: %q is not made of small letters and digits", o.Version))
	}
	conf := adapter.Config{
		Name: cmp.Or(o.Name, "gemini"), Base: o.BaseURL, Versions: versions, Key: o.Key, KeyFunc: o.KeyFunc, KeyHeader: "X-Goog-Api-Key",
		Model: o.Model, Client: o.HTTPClient, Header: o.Header,
		ForwardedHeaders: []string{"Retry-After", "X-Gemini-Service-Tier", "Server-Timing"},
		Limits:           o.Limits, MaxResponse: o.Reply, Failure: generatecontent.DecodeError,
	}
	if o.Bearer {
		conf.KeyHeader = ""
	}
	server, err := adapter.New(conf, faults...)
	if err != nil {
		return nil, err
	}
	return &Client{server: server, closed: o.ClosedSchemas, limits: limits}, nil
}
