package adapter

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// A Config says how to reach a server.
type Config struct {
	// Name names the server in errors, in answers and in their failures.
	Name string

	// Base is the URL that paths are appended to. Its query is kept.
	Base string

	// Versions are elements of a path, the first of which goes in front of all
	// paths, unless Base ends in one of them.
	Versions []string

	// Key is the host's key; KeyFunc, if not nil, is asked for it before each
	// exchange instead. No key is shown if it is empty.
	Key     string
	KeyFunc func(context.Context) (string, error)

	// KeyHeader is the header that shows the key as it is; empty means
	// "Authorization: Bearer".
	KeyHeader string

	// Model maps the name of the model that was asked for to the one to ask; nil
	// asks for the same.
	Model func(string) string

	// Client makes the exchanges; nil means one of its own. Its redirects are
	// never followed.
	Client *http.Client

	// Header goes with every exchange, in front of what the format sets.
	Header http.Header

	// ForwardedHeaders names the headers of answers that clients may be told, in canonical
	// form; a name that ends in "-" stands for all that begin with it. Fronts
	// choose among them.
	ForwardedHeaders []string

	// Limits bounds what the server answers: Body is for one event of a stream
	// (0 means 32 MiB). Reply is for a whole answer; 0 means 64 MiB.
	Limits      content.Limits
	MaxResponse int64

	// Failure reads an answer with another status than 2xx.
	Failure func(status int, h http.Header, body []byte) *upstream.Error
}

const (
	mostReply   = 64 << 20
	mostHeader  = 64 << 10
	mostFailure = 1 << 20 // of an error's body
)

// A Server is where a vendor's models are. It is safe for concurrent use.
type Server struct {
	conf   Config
	base   *url.URL
	client *http.Client
}

// New checks a configuration. The error tells all faults on one line, behind
// those that the adapter found in its own options, and repeats no key.
func New(c Config, faults ...string) (*Server, error) {
	base, more := c.base()
	faults = slices.Concat(faults, c.name(), more, c.key(), c.limits(), c.headers())
	if len(faults) > 0 {
		return nil, errors.New(c.Name + ": " + strings.Join(faults, "; "))
	}
	if c.MaxResponse == 0 {
		c.MaxResponse = mostReply
	}
	c.Header = c.Header.Clone()
	s := &Server{conf: c, base: base}
	client := http.Client{Transport: transport()}
	if c.Client != nil {
		client = *c.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.client = &client
	return s, nil
}

// transport is for servers that think for minutes: waiting for an answer is
// bounded by who asks, not here.
func transport() *http.Transport {
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    64,
		MaxResponseHeaderBytes: mostHeader,
		WriteBufferSize:        32 << 10, // of 4 KB, a request of an agent takes 90 writes
		ReadBufferSize:         16 << 10,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // a compressed stream is held back by whoever compresses it
	}
}

// Model returns the name of the model to ask for one that was asked for.
func (s *Server) Model(name string) string {
	if s.conf.Model == nil {
		return name
	}
	return s.conf.Model(name)
}

// Limits returns the bounds of a stream.
func (s *Server) Limits() content.Limits { return s.conf.Limits }

// whole returns the bounds of a whole answer.
func (s *Server) whole() content.Limits {
	l := s.conf.Limits
	l.Body = s.conf.MaxResponse
	return l
}
