package anthropic

import (
	"cmp"
	"context"
	"net/http"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/lower"
)

const defaultURL = "https://api.anthropic.com"

// Options configures a [Client]. The zero value sends requests to the vendor's API
// without a key.
type Options struct {
	// Name identifies the Client in logs, errors and [upstream.Report]. The default
	// is "anthropic".
	Name string

	// Platform is the service that the requests are for. The default is the vendor's API.
	Platform Platform

	// Project and Location are those of Google Cloud. They are required for
	// [PlatformVertex] and invalid for others. A Location is a region, such as
	// "europe-west1", or "global", "us" or "eu".
	Project, Location string

	// BaseURL is the URL to which "/v1/messages" is appended, as in the vendor's
	// SDKs. If it ends in "/v1", only "/messages" is appended. Its query is added to
	// every request. The default is https://api.anthropic.com.
	//
	// For PlatformVertex "/v1/projects/…" is appended, without "/v1" if the URL ends in
	// it, and the default is the host of Location. For [PlatformFoundry] it is
	// "https://RESOURCE.services.ai.azure.com/anthropic". For [PlatformBedrock]
	// "/model/…" is appended. Foundry and Bedrock have no default.
	BaseURL string

	// Key is the API key, sent as x-api-key. KeyFunc, if not nil, is called for the
	// key before each request; it must be safe for concurrent use. Only one of them
	// may be set. A key with a line break or another control character is invalid:
	// New returns an error for Key, and a request fails for KeyFunc.
	Key     string
	KeyFunc func(context.Context) (string, error)

	// Bearer sends the key as "Authorization: Bearer" instead. It is always set for
	// PlatformVertex and PlatformBedrock, whose keys are access tokens and API keys.
	Bearer bool

	// HTTPClient sends the requests. If it is nil, the Client uses a client of its
	// own with the proxy of the environment. Redirects are never followed. Its
	// Timeout should be 0, since it also ends streams; the context of a request
	// bounds the time.
	HTTPClient *http.Client

	// Header is added to every request. Of the client's headers, only its version,
	// its betas (see AllowBeta) and the headers that the handler forwards are sent: see
	// [upstream.HandlerOptions]. Header overrides forwarded headers.
	Header http.Header

	// MapModel maps the model of a request to the model to send. It must be safe for
	// concurrent use. If it is nil, models are sent unchanged.
	MapModel func(string) string

	// AllowBeta reports whether a value of the client's anthropic-beta is sent. The
	// vendor's API refuses a request that uses a beta whose value is not sent.
	//
	// If AllowBeta is nil, all values are sent to the vendor's API, and to Foundry all but
	// a few. Vertex and Bedrock reject values that they do not have, so only those that they
	// are known to accept are sent. Values that are not sent to a platform are losses, and
	// so are members that need them, which are omitted. AllowBeta replaces these lists, so
	// it can add new values and the members that need them; values that it does not allow
	// are not reported. It gets a value in the form of the client; a few have other names
	// on a platform.
	AllowBeta func(string) bool

	// CacheMarks sets cache marks in requests of clients that cannot: those of other formats
	// without any mark. At most four are set, with the default lifetime: at the last tool, the end
	// of the system text, and the ends of the last two turns of the user, each only if the prompt
	// up to it is estimated to be as long as the model caches at least. Later requests of a
	// conversation begin with what is marked, as [upstream.CacheBreak] shows. The vendor charges
	// more for a prompt that it writes into a cache and much less for one that it reads, so marks
	// cost more for prompts that are used once.
	CacheMarks bool

	// MaxTokens is the max_tokens of requests without one; the vendor requires it.
	// The default is 32,000, or the model's maximum if that is lower.
	MaxTokens int64

	// OutputLimits adds to and overrides the known maximum output tokens of models.
	// A key is a model name, or a prefix that ends before a "-", ".", ":" or "@";
	// the longest match counts. 0 means no limit. A higher max_tokens is lowered to
	// the limit and reported as a loss, unless the document is sent unchanged. The
	// map is copied.
	OutputLimits map[string]int64

	// Limits bounds responses: Body is the size of one stream event (default 32
	// MiB); Depth and Values bound JSON (default 256 and 1,000,000). MaxResponse is the
	// size of a response that is not streamed (default 64 MiB).
	Limits      content.Limits
	MaxResponse int64

	// SchemaCache bounds the memory for translated schemas, in bytes. Agents send the same tools
	// with each request, and their schemas are translated once as long as there is
	// room. 0 means 4 MiB, and a negative number keeps none.
	SchemaCache int64
}

// New returns a client. It copies opts; nil means the defaults. If options are invalid,
// it returns one error that lists all of them on one line.
func New(opts *Options) (*Client, error) {
	o := *cmp.Or(opts, new(Options))
	limits, problems := adapter.NewOutputLimits(o.OutputLimits)
	rules, more := o.setPlatform()
	problems = append(problems, more...)
	if o.MaxTokens < 0 {
		problems = append(problems, "MaxTokens: is negative")
	}
	conf := adapter.Config{
		Name: cmp.Or(o.Name, "anthropic"), BaseURL: o.BaseURL, Versions: rules.versions, Key: o.Key, KeyFunc: o.KeyFunc, KeyHeader: "X-Api-Key",
		Model: o.MapModel, HTTPClient: o.HTTPClient, Header: o.Header, Private: []string{o.Project},
		// Rate limits. Headers about the host's account are not for clients.
		ForwardedHeaders: []string{"Anthropic-Ratelimit-", "Anthropic-Priority-", "Anthropic-Fast-"},
		Limits:           o.Limits, MaxResponse: o.MaxResponse, DecodeError: rules.decodeError,
	}
	if o.Bearer || rules.bearer {
		conf.KeyHeader = ""
	}
	server, err := adapter.New(conf, problems...)
	if err != nil {
		return nil, err
	}
	c := &Client{client: server, platform: o.Platform, rules: rules, project: o.Project, location: o.Location, allowBeta: o.AllowBeta, cacheMarks: o.CacheMarks, maxTokens: o.MaxTokens, outputLimits: limits,
		targets: lower.NewCache[targetKey](o.SchemaCache)}
	if c.allowBeta == nil {
		c.allowBeta, c.reportsBetas = rules.accepts, true
	}
	c.cloud = rules.cloud(c.allowBeta)
	return c, nil
}
