package openai

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

const defaultURL = "https://api.openai.com/v1"

// The formats of this package, as they appear in signatures.
const (
	ChatFormat      = chatcompletions.Format
	ResponsesFormat = responses.Format
)

// Options configures a [Client] or a [Responses]. The zero value connects to OpenAI's
// API without a key.
type Options struct {
	// Name identifies the client in logs, errors and reports: see [upstream.Report]
	// Upstream. Empty means "openai chat" for a [Client] and "openai responses" for a
	// [Responses].
	Name string

	// BaseURL is the URL to which "/chat/completions" and the other paths are appended.
	// It includes the version segment, as in OpenAI's SDKs: "http://localhost:8000/v1".
	// Empty means https://api.openai.com/v1. A query in it is sent with every HTTP request.
	// For Azure's v1 API it is "https://RESOURCE.openai.azure.com/openai/v1".
	BaseURL string

	// APIVersion, if not empty, selects Azure's dated API, such as "2024-10-21". BaseURL is
	// then the URL of the resource, "https://RESOURCE.openai.azure.com", and the deployment
	// is in the path.
	APIVersion string

	// Deployments maps models to the names of their deployments at Azure, which are sent
	// instead. The rules and limits of a model are those of its own name. Models that are
	// not in the map, after MapModel, are sent unchanged. The map is copied.
	Deployments map[string]string

	// Key is the API key, sent as "Authorization: Bearer", or as "api-key" to Azure.
	// KeyFunc, if not nil, returns the key for each HTTP request; it must be safe for
	// concurrent use. It is always sent as "Authorization: Bearer", which Azure requires
	// for tokens of Microsoft Entra ID. Only one of them may be set. A key with a line
	// break or another control character is invalid: New returns an error for Key, and a
	// request fails for KeyFunc.
	Key     string
	KeyFunc func(context.Context) (string, error)

	// KeyHeader, if not empty, is the header that carries the bare key instead, for both.
	KeyHeader string

	// Organization and Project, if not empty, are sent with every HTTP request.
	Organization, Project string

	// HTTPClient sends the HTTP requests. Nil means a new client that uses the proxy of
	// the environment. Redirects are never followed. Its Timeout should be 0, since it
	// also ends streams; the context of a request bounds the time.
	HTTPClient *http.Client

	// Header is sent with every HTTP request, and replaces headers that a handler forwards.
	Header http.Header

	// MapModel maps the requested model name to the name that is sent. Nil sends the
	// requested name. It must be safe for concurrent use.
	MapModel func(string) string

	// Dialect describes how the server differs from others. The zero value is right for
	// most servers.
	Dialect Dialect

	// CacheKey returns the key of a request's conversation in the prompt cache of the
	// server, which is sent as prompt_cache_key. All requests of a conversation should have
	// the same key. A key of more than 64 bytes is sent as a digest; "" sends none. CacheKey
	// gets the context of the request, which may identify the client: the keys of different
	// tenants should differ, because a tenant can observe whether a beginning is in the cache
	// of its key. It must be safe for concurrent use. A key in the Extra of a request takes
	// precedence.
	//
	// A client's document that is sent as it is has a key only if CacheKey returns one.
	//
	// Nil means [upstream.SessionKey], for OpenAI's and Azure's servers, for Mistral's and, in
	// the Responses API, for xAI's. Other servers get only the keys of CacheKey.
	CacheKey func(ctx context.Context, r *upstream.Request) string

	// KeepAttribution keeps the line "x-anthropic-billing-header: …" with which Claude
	// Code begins its system prompt. By default it is omitted and reported as a hint: it
	// differs between sessions and requests, so the server could not cache what follows.
	KeepAttribution bool

	// OutputLimits adds to, and overrides, the built-in limits of output tokens of
	// OpenAI's models. A key is a model name, or the beginning of one up to a "-", ".",
	// ":" or "@". The longest matching key applies; 0 means no limit. A higher limit in
	// a request is lowered to this limit and reported as a loss. The map is copied.
	OutputLimits map[string]int64

	// Limits bounds responses: Body one event of a stream (default 32 MiB), Depth and
	// Values its JSON (defaults 256 and 1,000,000). MaxResponse bounds a complete response
	// (default 64 MiB). Zero fields mean these defaults.
	Limits      content.Limits
	MaxResponse int64

	// SchemaCache bounds the memory for translated schemas, in bytes. Agents send the same tools
	// with each request, and their schemas are translated once as long as there is
	// room. 0 means 4 MiB, and a negative number keeps none.
	SchemaCache int64
}

// newServer validates the options and returns them with the defaults of the host, and the
// configured server. format is the format of the client, name the default of Name.
func (opts *Options) newServer(format content.Format, name string) (Options, *adapter.Client, error) {
	o := *cmp.Or(opts, new(Options))
	limits, problems := adapter.NewOutputLimits(o.OutputLimits)
	o.OutputLimits = limits
	problems = append(problems, o.Dialect.problems()...)
	problems = append(problems, o.checkAzure()...)
	o.BaseURL = cmp.Or(o.BaseURL, defaultURL)
	o.Deployments = maps.Clone(o.Deployments)
	if o.KeyHeader == "" && o.KeyFunc == nil && o.isAzure() {
		o.KeyHeader = azureKeyHeader
	}
	var versions []string
	if o.APIVersion != "" {
		versions = []string{"openai"}
	}
	known := servers[o.host()]
	o.Dialect.setDefaults(&known.defaults)
	server, err := adapter.New(adapter.Config{
		Name: cmp.Or(o.Name, name), BaseURL: o.BaseURL, Versions: versions, Key: o.Key, KeyFunc: o.KeyFunc, KeyHeader: o.KeyHeader,
		Model: o.MapModel, HTTPClient: o.HTTPClient, Header: o.headers(), Private: o.accountNames(),
		ForwardedHeaders: []string{"X-Generation-Id", "Retry-After", "Retry-After-Ms", "X-Ratelimit-"},
		Limits:           o.Limits, MaxResponse: o.MaxResponse,
		DecodeError: func(status int, h http.Header, body []byte) *upstream.Error {
			return openaiformat.DecodeError(format, status, h, body)
		},
	}, problems...)
	return o, server, err
}

// headers returns the headers to send with every HTTP request.
func (o Options) headers() http.Header {
	h := o.Header.Clone()
	if h == nil {
		h = make(http.Header)
	}
	if o.Organization != "" {
		h.Set("OpenAI-Organization", o.Organization)
	}
	if o.Project != "" {
		h.Set("OpenAI-Project", o.Project)
	}
	return h
}

// accountNames returns the names of the account that errors of the server may contain.
// Deployments that are named like a model are not among them.
func (o *Options) accountNames() []string {
	h := o.headers()
	names := []string{h.Get("OpenAI-Organization"), h.Get("OpenAI-Project")}
	if o.isAzure() {
		resource, _, _ := strings.Cut(o.host(), ".")
		names = append(names, resource)
	}
	for _, d := range o.Deployments {
		isModel := false
		for model := range o.Deployments {
			isModel = isModel || strings.Contains(model, d)
		}
		if !isModel {
			names = append(names, d)
		}
	}
	return names
}

// isOpenAI reports whether the server follows OpenAI's rules.
func (o Options) isOpenAI() bool {
	switch o.Dialect.Kind {
	case ServerOpenAI, ServerAzure:
		return true
	case ServerCompatible:
		return false
	}
	host := o.host()
	return o.BaseURL == "" || host == "api.openai.com" || strings.HasSuffix(host, ".api.openai.com") || o.isAzure()
}

// host returns the host name of BaseURL in lower case, or "" if the URL is not valid.
func (o *Options) host() string {
	u, err := url.Parse(o.BaseURL)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
