package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/content/fetch"
)

// An origin is a host and a port, as "files.internal:9000".
type origin string

// parseOrigin parses a value of -allow-origin or -resolver.
func parseOrigin(s string) (origin, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" {
		return "", errors.New("want host:port")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", fmt.Errorf("%q is not a port; want 1 to 65535", port)
	}
	return newOrigin(host, port), nil
}

// newOrigin returns the canonical form of an origin.
func newOrigin(host, port string) origin {
	return origin(net.JoinHostPort(strings.ToLower(strings.TrimSuffix(host, ".")), port))
}

// originOf returns the origin of a link, or "" if link is not a URL with a host.
func originOf(link string) origin {
	u, err := url.Parse(link)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return newOrigin(u.Hostname(), port)
}

// lookUp returns a function that looks up names at a DNS server. It returns nil, which
// means the system's, if resolver is empty.
func lookUp(resolver origin) func(context.Context, string, string) ([]netip.Addr, error) {
	if resolver == "" {
		return nil
	}
	r := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: 3 * time.Second}).DialContext(ctx, network, string(resolver))
	}}
	return r.LookupNetIP
}

// A linkFetcher fetches links to public hosts and to the allowed origins. Each origin
// has a Fetcher with its own options: allowing one origin allows no other port, no
// other name with the same address, and no redirect.
type linkFetcher struct {
	public  *fetch.Fetcher
	origins map[origin]*fetch.Fetcher
	arrived func(int64) error
}

// newLinkFetcher returns a linkFetcher with the options for public hosts and the
// allowed origins.
func newLinkFetcher(public fetch.Options, allowed []origin) (*linkFetcher, error) {
	f := &linkFetcher{origins: make(map[origin]*fetch.Fetcher)}
	var err error
	if f.public, err = fetch.New(&public); err != nil {
		return nil, err
	}
	for _, o := range allowed {
		host, port, _ := net.SplitHostPort(string(o)) // valid: from parseOrigin
		n, _ := strconv.ParseUint(port, 10, 16)
		only := fetch.Options{
			AllowHTTP: true, AllowPrivate: true, NoRedirects: true, Ports: []uint16{uint16(n)}, Lookup: public.Lookup,
			Hosts: func(h string) bool { return strings.EqualFold(h, host) },
		}
		if _, err := netip.ParseAddr(host); err != nil {
			only.AllowNames = []string{host}
		}
		if f.origins[o], err = fetch.New(&only); err != nil {
			return nil, fmt.Errorf("-allow-origin %s: %w", o, err)
		}
	}
	return f, nil
}

// fetcher returns the Fetcher for a link.
func (f *linkFetcher) fetcher(link string) *fetch.Fetcher {
	if own := f.origins[originOf(link)]; own != nil {
		return own
	}
	return f.public
}

// Check implements the method that [upstream.HandlerOptions] Links describes.
func (f *linkFetcher) Check(link string) error { return f.fetcher(link).Check(link) }

// Metered returns a resolver that calls arrived with the bytes of a file as they
// arrive.
func (f *linkFetcher) Metered(arrived func(int64) error) content.Resolver {
	m := *f
	m.arrived = arrived
	return &m
}

// Resolve implements [content.Resolver].
func (f *linkFetcher) Resolve(ctx context.Context, s content.Source) (content.Blob, error) {
	by := f.public
	if u, ok := s.(*content.URL); ok && u != nil {
		by = f.fetcher(u.URL)
	}
	if f.arrived == nil {
		return by.Resolve(ctx, s)
	}
	return by.Metered(f.arrived).Resolve(ctx, s)
}
