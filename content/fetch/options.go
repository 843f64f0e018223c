package fetch

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Options configures a [Fetcher]. The zero value contains the defaults: public hosts,
// https, port 443.
type Options struct {
	// AllowHTTP allows links and redirects that begin with http://, on port 80. A
	// redirect from https to http is still refused.
	AllowHTTP bool

	// Ports lists allowed ports in addition to 443 for https and 80 for http. AnyPort
	// allows all ports.
	Ports   []uint16
	AnyPort bool

	// AllowPrivate allows this machine and private networks: loopback, RFC 1918, shared
	// (100.64.0.0/10) and unique local addresses, and names such as localhost or
	// files.internal. It does not allow link-local addresses, or the addresses and
	// names at which clouds serve credentials to their machines.
	AllowPrivate bool

	// AllowPrefixes lists addresses that are allowed even if they are private,
	// link-local or service addresses of a cloud. DenyPrefixes lists addresses that are
	// refused. An address in both is refused.
	AllowPrefixes, DenyPrefixes []netip.Prefix

	// NAT64Prefixes lists the prefixes that this network translates to IPv4:
	// 64:ff9b::/96 or its own (RFC 6052). For an address with such a prefix, the
	// embedded IPv4 address is checked.
	NAT64Prefixes []netip.Prefix

	// AllowNames lists host names that are allowed although they are special-use names
	// or have a single label, such as "files.internal". A name with a leading dot,
	// ".internal", allows all names below it. The addresses of these names must be
	// allowed as well. These names are looked up as written; all others are looked up
	// as absolute names, so that DNS search lists do not apply.
	AllowNames []string

	// Hosts, if not nil, reports whether files may be fetched from a host. It is called
	// for each link and redirect with the host name as it is looked up, in lower case
	// without a trailing dot, or with the address in its canonical form. All other
	// rules still apply. It must be safe for concurrent use.
	Hosts func(host string) bool

	// RootCAs are the certificate authorities for hosts. Nil means those of the system.
	RootCAs *x509.CertPool

	// Lookup returns the addresses of a host name. network is "ip", and host ends in a
	// dot if it is absolute. Nil means [net.DefaultResolver]. The method LookupNetIP of
	// a [net.Resolver] is suitable.
	Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

	// Dial connects to an allowed address such as "203.0.113.7:443". It must not
	// connect to any other address. Nil means a [net.Dialer].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Proxy returns the proxy for a request, or nil, as in [http.Transport]. Nil means
	// no proxy; [http.ProxyFromEnvironment] is suitable. A proxy looks up and connects
	// to host names itself, so addresses are not checked here.
	Proxy func(*http.Request) (*url.URL, error)

	// Transport sends the requests, instead of RootCAs, Lookup, Dial and Proxy, which
	// must then be nil. The rules for links and redirects apply, but the Transport is
	// responsible for checking the addresses of host names. Limits apply to its
	// responses, and Timeouts.Total if it stops when the context of the request is
	// done. It must not follow redirects or decode bodies.
	Transport http.RoundTripper

	Limits   Limits
	Timeouts Timeouts

	// NoRedirects refuses all redirects.
	NoRedirects bool
}

// Limits bounds links and files. A zero field means the default.
type Limits struct {
	URL         int   // bytes of a link; default 8 KiB
	File        int64 // bytes of a file; default 32 MiB
	Header      int64 // bytes of response headers; default 64 KiB
	Redirects   int   // redirects for a file; default 3
	Concurrency int   // files fetched at the same time, others wait; default 64
}

// Timeouts bounds the time of each step. A zero field means the default.
type Timeouts struct {
	Lookup  time.Duration // to look up a host name; default 3 s
	Connect time.Duration // to connect, all addresses together; default 5 s
	TLS     time.Duration // for the TLS handshake; default 5 s
	Header  time.Duration // to receive response headers; default 10 s
	Total   time.Duration // for a file, including redirects and waiting for Concurrency; default 30 s
}

const defaultURL = 8 << 10

// The largest allowed values.
const (
	maxURL         = 1 << 20
	maxFile        = 16 << 30
	maxHeader      = 16 << 20
	maxRedirects   = 20
	maxConcurrency = 1 << 20
	maxTime        = time.Hour
)

// setDefaults sets zero fields to their defaults and validates the others.
func (o *Options) setDefaults() error {
	l, t := &o.Limits, &o.Timeouts
	return errors.Join(
		setDefault("Limits.URL", &l.URL, defaultURL, maxURL),
		setDefault("Limits.File", &l.File, 32<<20, maxFile),
		setDefault("Limits.Header", &l.Header, 64<<10, maxHeader),
		setDefault("Limits.Redirects", &l.Redirects, 3, maxRedirects),
		setDefault("Limits.Concurrency", &l.Concurrency, 64, maxConcurrency),
		setDefault("Timeouts.Lookup", &t.Lookup, 3*time.Second, maxTime),
		setDefault("Timeouts.Connect", &t.Connect, 5*time.Second, maxTime),
		setDefault("Timeouts.TLS", &t.TLS, 5*time.Second, maxTime),
		setDefault("Timeouts.Header", &t.Header, 10*time.Second, maxTime),
		setDefault("Timeouts.Total", &t.Total, 30*time.Second, maxTime),
		o.checkConflicts())
}

func setDefault[T int | int64 | time.Duration](name string, v *T, def, limit T) error {
	if *v < 0 || *v > limit {
		return fmt.Errorf("fetch: Options.%s is %v, want 0 to %v", name, *v, limit)
	}
	if *v == 0 {
		*v = def
	}
	return nil
}

// checkConflicts returns an error if a Transport is set together with options that it
// would ignore.
func (o *Options) checkConflicts() error {
	switch {
	case o.Transport == nil:
		return nil
	case o.RootCAs != nil:
		return errors.New("fetch: Options has both Transport and RootCAs")
	case o.Lookup != nil:
		return errors.New("fetch: Options has both Transport and Lookup")
	case o.Dial != nil:
		return errors.New("fetch: Options has both Transport and Dial")
	case o.Proxy != nil:
		return errors.New("fetch: Options has both Transport and Proxy")
	}
	return nil
}
