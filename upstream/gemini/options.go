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
	"github.com/polywire/polywire/internal/lower"
)

const defaultURL = "https://generativelanguage.googleapis.com"

// Options configures a [Client]. The zero value sends requests to the vendor's API
// without a key.
type Options struct {
	// Name identifies the Client in logs, errors and [upstream.Report]. The default
	// is "gemini".
	Name string

	// BaseURL is the URL to which "/v1beta/models/…" is appended, as in the vendor's
	// SDKs. Its query is added to every request. The default is
	// https://generativelanguage.googleapis.com or, with a Location, Google Cloud's host
	// for it.
	BaseURL string

	// Version is the API version. It is appended to BaseURL unless BaseURL ends in
	// it. The default is the version at the end of BaseURL (v1, v1beta, v1alpha or
	// v1beta1), or else v1beta; with a Location it is v1beta1.
	Version string

	// Project and Location select models at Google Cloud (Vertex AI). Project is the id
	// or number of a project, Location a region, "us", "eu" or "global". The location
	// "global" without a project is for API keys of Google Cloud's express mode.
	Project, Location string

	// Key is the API key, sent as x-goog-api-key. KeyFunc, if not nil, is called for
	// the key before each request; it must be safe for concurrent use. Only one of
	// them may be set. With a Location, KeyFunc returns an OAuth access token, which is
	// sent as "Authorization: Bearer". A key with a line break or another control
	// character is invalid: New returns an error for Key, and a request fails for KeyFunc.
	Key     string
	KeyFunc func(context.Context) (string, error)

	// Bearer sends Key, too, as "Authorization: Bearer".
	Bearer bool

	// HTTPClient sends the requests. If it is nil, the Client uses a client of its
	// own with the proxy of the environment. Redirects are never followed. Its
	// Timeout should be 0, since it also ends streams; the context of a request
	// bounds the time.
	HTTPClient *http.Client

	// Header is added to every request. Of the client's headers, only those that the
	// handler forwards are sent: see [upstream.HandlerOptions]. Header overrides
	// forwarded headers.
	Header http.Header

	// MapModel maps the model of a request to the model to send. It must be safe for
	// concurrent use. If it is nil, models are sent unchanged.
	MapModel func(string) string

	// KeepAttribution keeps the line "x-anthropic-billing-header: …" with which Claude
	// Code begins its system prompt. By default it is omitted and reported as a hint: it
	// differs between sessions and requests, so the vendor could not cache what follows.
	// Requests of this format are sent with it.
	KeepAttribution bool

	// OutputLimits adds to and overrides the known maximum output tokens of models.
	// A key is a model name, or a prefix that ends before a "-", ".", ":" or "@";
	// the longest match counts. 0 means no limit. A higher limit of a request is
	// lowered and reported as a loss, unless the document is sent unchanged. The map
	// is copied.
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
	cloud := o.Project != "" || o.Location != ""
	versions := []string{"v1beta", "v1", "v1alpha", "v1beta1"}
	if cloud {
		versions = []string{"v1beta1", "v1", "v1beta", "v1alpha"}
	}
	switch {
	case o.BaseURL != "":
	case cloud && len(o.checkPlace()) == 0:
		o.BaseURL = adapter.GoogleCloudURL(o.Location)
	default:
		o.BaseURL = defaultURL
	}
	if o.Version != "" {
		versions = []string{o.Version}
	}
	limits, problems := adapter.NewOutputLimits(o.OutputLimits)
	problems = append(problems, o.checkPlace()...)
	if strings.Trim(o.Version, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		problems = append(problems, fmt.Sprintf("Version: %q must consist of lower-case letters and digits", o.Version))
	}
	conf := adapter.Config{
		Name: cmp.Or(o.Name, "gemini"), BaseURL: o.BaseURL, Versions: versions, Key: o.Key, KeyFunc: o.KeyFunc, KeyHeader: "X-Goog-Api-Key",
		Model: o.MapModel, HTTPClient: o.HTTPClient, Header: o.Header, Private: []string{o.Project},
		ForwardedHeaders: []string{"Retry-After", "X-Gemini-Service-Tier", "Server-Timing"},
		Limits:           o.Limits, MaxResponse: o.MaxResponse, DecodeError: generatecontent.DecodeError,
	}
	if o.Bearer || cloud && o.KeyFunc != nil {
		conf.KeyHeader = ""
	}
	server, err := adapter.New(conf, problems...)
	if err != nil {
		return nil, err
	}
	place := ""
	if o.Project != "" {
		place = "projects/" + o.Project + "/locations/" + o.Location + "/"
	}
	return &Client{client: server, place: place, cloud: cloud, attribution: o.KeepAttribution, outputLimits: limits, targets: lower.NewCache[targetKey](o.SchemaCache)}, nil
}
