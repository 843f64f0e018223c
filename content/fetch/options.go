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

// Options configures a [Fetcher]. The zero value holds the defaults: public
// hosts, https, port 443.
type Options struct {
	// AllowHTTP lets links and redirects begin with http, port 80. A redirect
	// from https to http is not followed all the same.
	AllowHTTP bool

	// Ports are allowed besides 443 for https and 80 for http; AnyPort allows
	// all.
	Ports   []uint16
	AnyPort bool

	// AllowPrivate lets files be fetched from the machine itself and from
	// private networks: loopback, RFC 1918, shared (100.64.0.0/10) and unique
	// local addresses, and names such as localhost or files.internal. What only
	// a link can reach, and the service addresses and names of clouds, where
	// credentials are to be had, stay refused.
	AllowPrivate bool

	// AllowPrefixes are addresses that are allowed whatever they are for,
	// DenyPrefixes addresses that are refused although they are public or
	// otherwise allowed. Those of both are refused.
	AllowPrefixes, DenyPrefixes []netip.Prefix

	// NAT64Prefixes are the prefixes under which this network translates to
	// IPv4, 64:ff9b::/96 or its own (RFC 6052). An address below one is judged
	// by the IPv4 address in it.
	NAT64Prefixes []netip.Prefix

	// AllowNames are names that are allowed although they are of special use or
	// have a single label, "files.internal", or with a leading dot all names
	// below one, ".internal". Their addresses have to be allowed as well. They
	// are looked up as they are; all others as absolute names, so that no search
	// list leads elsewhere.
	AllowNames []string

	// Hosts, if not nil, says which hosts may be fetched from. It is asked for
	// each link and redirect with the name, in lower case, without a dot at its
	// end and as it is looked up, or the address in its usual form. It only
	// narrows: what is refused otherwise stays refused.
	Hosts func(host string) bool

	// RootCAs are the authorities that hosts must be certified by. Nil means
	// those of the system.
	RootCAs *x509.CertPool

	// LookUp finds the addresses of a name; network is "ip", and an absolute
	// host ends in a dot. Nil means [net.DefaultResolver]; the method
	// LookupNetIP of a [net.Resolver] fits.
	LookUp func(ctx context.Context, network, host string) ([]netip.Addr, error)

	// Dial connects to an address that was allowed, "203.0.113.7:443"; it must
	// not connect to another. Nil means a [net.Dialer].
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Proxy says which proxy to ask, if any, as [http.Transport] takes it;
	// [http.ProxyFromEnvironment] fits. Nil means none. A proxy looks up and
	// connects by itself, so addresses behind names are then its to judge.
	Proxy func(*http.Request) (*url.URL, error)

	// Transport replaces everything that connects, RootCAs, LookUp, Dial and
	// Proxy, which must be nil then, and judging addresses behind names is its
	// affair. The text of each link and redirect is judged as ever, and Limits
	// and Timeouts.Total hold as far as it heeds the context of a request. It must
	// not follow redirects, nor decode bodies.
	Transport http.RoundTripper

	Limits   Limits
	Timeouts Timeouts

	// NoRedirects makes any redirect a failure.
	NoRedirects bool
}

// Limits bounds what is fetched. A zero field stands for the default.
type Limits struct {
	URL       int   // bytes of a link: 8 KiB
	File      int64 // bytes of a file: 32 MiB
	Header    int64 // bytes of the headers of an answer: 64 KiB
	Redirects int   // that are followed for a file: 3
	AtOnce    int   // files that are fetched at the same time; others wait: 64
}

// Timeouts bounds waiting. A zero field stands for the default.
type Timeouts struct {
	LookUp  time.Duration // for the addresses of a name: 3 s
	Connect time.Duration // for a connection, whatever addresses there are: 5 s
	TLS     time.Duration // for its handshake: 5 s
	Header  time.Duration // for the headers of the answer: 10 s
	Total   time.Duration // for a file, with all redirects and waiting for a place: 30 s
}

const usualURL = 8 << 10

// The most that can be asked for.
const (
	maxURL       = 1 << 20
	maxFile      = 16 << 30
	maxHeader    = 16 << 20
	maxRedirects = 20
	maxAtOnce    = 1 << 20
	maxTime      = time.Hour
)

// settle fills in the defaults and says what is wrong.
func (o *Options) settle() error {
	l, t := &o.Limits, &o.Timeouts
	return errors.Join(
		setting("Limits.URL", &l.URL, usualURL, maxURL),
		setting("Limits.File", &l.File, 32<<20, maxFile),
		setting("Limits.Header", &l.Header, 64<<10, maxHeader),
		setting("Limits.Redirects", &l.Redirects, 3, maxRedirects),
		setting("Limits.AtOnce", &l.AtOnce, 64, maxAtOnce),
		setting("Timeouts.LookUp", &t.LookUp, 3*time.Second, maxTime),
		setting("Timeouts.Connect", &t.Connect, 5*time.Second, maxTime),
		setting("Timeouts.TLS", &t.TLS, 5*time.Second, maxTime),
		setting("Timeouts.Header", &t.Header, 10*time.Second, maxTime),
		setting("Timeouts.Total", &t.Total, 30*time.Second, maxTime),
		o.clash())
}

func setting[T int | int64 | time.Duration](name string, v *T, usual, most T) error {
	if *v < 0 || *v > most {
		return fmt.Errorf("fetch: Options.%s is %v, want 0 to %v", name, *v, most)
	}
	if *v == 0 {
		*v = usual
	}
	return nil
}

// clash finds options that would do nothing.
func (o *Options) clash() error {
	switch {
	case o.Transport == nil:
		return nil
	case o.RootCAs != nil:
		return errors.New("fetch: Options has both Transport and RootCAs")
	case o.LookUp != nil:
		return errors.New("fetch: Options has both Transport and LookUp")
	case o.Dial != nil:
		return errors.New("fetch: Options has both Transport and Dial")
	case o.Proxy != nil:
		return errors.New("fetch: Options has both Transport and Proxy")
	}
	return nil
}
