package adapter

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A Config configures a [Client].
type Config struct {
	// Name names the server in errors and reports.
	Name string

	// BaseURL is the URL to which paths are appended. Its query is kept.
	BaseURL string

	// Versions are path elements such as "v1". The first is inserted before all
	// paths, unless BaseURL ends in one of them.
	Versions []string

	// Key is the host's key. KeyFunc, if not nil, returns it before each request
	// instead. If the key is empty, none is sent.
	Key     string
	KeyFunc func(context.Context) (string, error)

	// KeyHeader is the header for the key; empty means "Authorization: Bearer".
	KeyHeader string

	// Model maps a requested model to the server's name of it; nil keeps the name.
	Model func(string) string

	// HTTPClient sends the requests; nil means a client of its own. Redirects are
	// never followed.
	HTTPClient *http.Client

	// Header is added to every request and overrides the headers of the format.
	Header http.Header

	// Private are names of the host's account at the vendor, such as a project. They are
	// removed from everything that clients receive of an error, but not from logs. Names
	// of fewer than 6 bytes, which occur in ordinary words, are not.
	Private []string

	// ForwardedHeaders names response headers that clients may receive, in canonical
	// form. A name that ends in "-" is a prefix. Handlers forward a subset.
	ForwardedHeaders []string

	// Limits bounds responses: Body is the size of one stream event (default 32
	// MiB). MaxResponse is the size of a whole response (default 64 MiB).
	Limits      content.Limits
	MaxResponse int64

	// DecodeError decodes a response with a status other than 2xx.
	DecodeError func(status int, h http.Header, body []byte) *upstream.Error
}

const (
	maxResponse  = 64 << 20
	maxHeader    = 64 << 10
	maxErrorBody = 1 << 20 // of an error response
)

// transport returns a transport for servers that may take minutes to respond: the
// caller bounds the time.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    64,
		MaxResponseHeaderBytes: maxHeader,
		WriteBufferSize:        32 << 10, // with the default of 4 KB, a request of an agent takes 90 writes
		ReadBufferSize:         16 << 10,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // compression delays the events of a stream
	}
}

// parseBaseURL returns the base URL with the version.
func (c *Config) parseBaseURL() (*url.URL, []string) {
	base, err := url.Parse(c.BaseURL)
	switch {
	case err != nil:
		return nil, []string{"BaseURL: is not a valid URL"} // the URL may contain a key
	case base.Scheme != "http" && base.Scheme != "https" || base.Host == "":
		return nil, []string{"BaseURL: must begin with http:// or https:// and a host"}
	case base.User != nil || base.Fragment != "":
		return nil, []string{"BaseURL: must not contain user-info or a fragment"}
	}
	if len(c.Versions) > 0 && !slices.Contains(c.Versions, path.Base(base.EscapedPath())) { // bounded by the host
		base = base.JoinPath(c.Versions[0])
	}
	return base, nil
}

// maxName bounds the name of a server, in bytes.
const maxName = 128

func (c *Config) checkName() []string {
	if len(c.Name) > maxName || strings.ContainsFunc(c.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		c.Name = "upstream"
		return []string{fmt.Sprintf("Name: must have at most %d bytes and no control characters", maxName)}
	}
	return nil
}

func (c *Config) checkKey() []string {
	var problems []string
	if c.Key != "" && c.KeyFunc != nil {
		problems = append(problems, "Key: only one of Key and KeyFunc may be set")
	}
	if !isHeaderValue(c.Key) {
		problems = append(problems, "Key: "+invalidValue)
	}
	if c.KeyHeader != "" && !isHeaderName(c.KeyHeader) {
		problems = append(problems, fmt.Sprintf("KeyHeader: %q is not a valid header name", c.KeyHeader))
	}
	return problems
}

func (c *Config) checkLimits() []string {
	var problems []string
	for _, l := range []struct {
		name string
		max  int64
	}{
		{"Limits.Body", c.Limits.Body}, {"Limits.Depth", int64(c.Limits.Depth)}, {"Limits.Values", int64(c.Limits.Values)}, {"MaxResponse", c.MaxResponse},
	} {
		if l.max < 0 {
			problems = append(problems, fmt.Sprintf("%s: is negative", l.name))
		}
	}
	return problems
}

func (c *Config) checkHeader() []string {
	var problems []string
	keyHeader := http.CanonicalHeaderKey(cmp.Or(c.KeyHeader, "Authorization"))
	for _, name := range slices.Sorted(maps.Keys(c.Header)) {
		switch {
		case http.CanonicalHeaderKey(name) == keyHeader && (c.Key != "" || c.KeyFunc != nil):
			problems = append(problems, fmt.Sprintf("Header: %q may not be set, because the key is sent in it", name))
		case !isHeaderName(name):
			problems = append(problems, fmt.Sprintf("Header: %q is not a valid header name", name))
		case slices.ContainsFunc(c.Header[name], func(v string) bool { return !isHeaderValue(v) }): // bounded by the host
			problems = append(problems, fmt.Sprintf("Header: the value of %q %s", name, invalidValue))
		}
	}
	return problems
}

func isHeaderName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.!#$%&'*+^`|~") == ""
}

// isHeaderValue reports whether net/http accepts value in a header.
func isHeaderValue(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// invalidValue describes any other value.
const invalidValue = "contains a line break or another control character"
