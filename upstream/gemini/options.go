package gemini

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/backend"
)

// DefaultURL is where the vendor's own API is.
const DefaultURL = "https://generativelanguage.googleapis.com"

// Options configures a [Client]. The zero value reaches the vendor's own API
// without a key.
type Options struct {
	// BaseURL is what "/v1beta/models/…" is appended to, as the vendor's SDKs
	// take it; empty means DefaultURL.
	BaseURL string

	// Version is the version of the API; empty means v1beta.
	Version string

	// Key is the host's key, shown as x-goog-api-key. KeyFunc, if not nil, is
	// asked for it before each exchange instead; it must be safe for concurrent
	// use.
	Key     string
	KeyFunc func(context.Context) (string, error)

	// Bearer shows the key as "Authorization: Bearer" instead.
	Bearer bool

	// HTTPClient makes the exchanges; nil means one of the Client's own, which
	// goes through the proxy of the environment. Redirects are never followed.
	// A time-out of it cuts streams: waiting is bounded by who calls.
	HTTPClient *http.Client

	// Header goes with every exchange. Nothing of a client's own headers does.
	Header http.Header

	// Model maps the name of the model that was asked for to the one to ask;
	// nil asks for the same. It must be safe for concurrent use.
	Model func(string) string

	// ClosedSchemas tells schemas in the format's own closed dialect, for
	// servers that know no "parametersJsonSchema". More is lost that way.
	ClosedSchemas bool

	// Limits bounds what the server answers: Body is for one event of a stream
	// (32 MiB), Depth and Values are for JSON (256 and 1,000,000). Reply bounds
	// a whole answer (64 MiB). Zero fields stand for these defaults.
	Limits content.Limits
	Reply  int64
}

// New returns a client. The error says which option is no good.
func New(o Options) (*Client, error) {
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	if o.Version == "" {
		o.Version = "v1beta"
	}
	if strings.Trim(o.Version, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return nil, errors.New("gemini: the version of the API is no name")
	}
	conf := backend.Config{
		Base: o.BaseURL, Key: o.Key, KeyFunc: o.KeyFunc, KeyHeader: "X-Goog-Api-Key",
		Model: o.Model, Client: o.HTTPClient, Header: o.Header,
		Told:   []string{"Retry-After", "X-Request-Id", "X-Gemini-Service-Tier", "Server-Timing"},
		Limits: o.Limits, Reply: o.Reply, Failure: generatecontent.DecodeError,
	}
	if o.Bearer {
		conf.KeyHeader = ""
	}
	server, err := backend.New(conf)
	if err != nil {
		return nil, errors.Join(errors.New("gemini: bad options"), err)
	}
	return &Client{server: server, version: o.Version, closed: o.ClosedSchemas}, nil
}
