package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// A guard checks links, names and addresses. It is immutable.
type guard struct {
	allowHTTP, allowPrivate bool
	ports                   []uint16
	anyPort                 bool
	allow, deny             []netip.Prefix
	nat64                   []netip.Prefix
	names                   []string // without a trailing dot; a leading dot means all names below
	hosts                   func(host string) bool
	maxURL                  int  // bytes of a link
	delegatesDial           bool // a proxy or the host's Transport looks up names
}

func newGuard(o *Options) (*guard, error) {
	g := &guard{
		allowHTTP:     o.AllowHTTP,
		allowPrivate:  o.AllowPrivate,
		ports:         slices.Clone(o.Ports),
		anyPort:       o.AnyPort,
		hosts:         o.Hosts,
		maxURL:        o.Limits.URL,
		delegatesDial: o.Transport != nil || o.Proxy != nil,
	}
	if slices.Contains(g.ports, 0) { // bounded by the host
		return nil, errors.New("fetch: Options.Ports has port 0")
	}
	var errs [3]error
	g.allow, errs[0] = normalizePrefixes("AllowPrefixes", o.AllowPrefixes)
	g.deny, errs[1] = normalizePrefixes("DenyPrefixes", o.DenyPrefixes)
	g.nat64, errs[2] = normalizePrefixes("NAT64Prefixes", o.NAT64Prefixes)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	for _, p := range g.nat64 {
		if !p.Addr().Is6() || !slices.Contains(nat64Bits[:], p.Bits()) { // bounded by nat64Bits
			return nil, fmt.Errorf("fetch: Options.NAT64Prefixes has %v, want an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits", p)
		}
	}
	for _, name := range o.AllowNames {
		n, ok := parseAllowedName(name)
		if !ok {
			return nil, fmt.Errorf("fetch: Options.AllowNames has %q, which is not a host name", name)
		}
		g.names = append(g.names, n)
	}
	return g, nil
}

// normalizePrefixes returns prefixes in the form in which addresses are compared:
// masked, and as IPv4 if they are IPv4-mapped.
func normalizePrefixes(option string, list []netip.Prefix) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, 0, len(list))
	for _, p := range list {
		bits := p.Bits()
		if !p.IsValid() || p.Addr().Is4In6() && bits < 96 {
			return nil, fmt.Errorf("fetch: Options.%s has the prefix %v, which is not valid", option, p)
		}
		if p.Addr().Is4In6() {
			bits -= 96
		}
		out = append(out, netip.PrefixFrom(p.Addr().Unmap(), bits).Masked())
	}
	return out, nil
}

// permits reports whether an address is allowed.
func (g *guard) permits(a netip.Addr) bool {
	// Prefixes do not match addresses with a zone, or IPv4-mapped ones.
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	switch {
	case containsAddr(g.deny, a):
		return false
	case containsAddr(g.nat64, a):
		return g.permits(g.embeddedIPv4(a))
	case containsAddr(g.allow, a):
		return true
	case containsAddr(serviceAddrs, a), a.Is6() && isISATAP(a):
		return false
	case g.allowPrivate && containsAddr(privateAddrs, a):
		return true
	case a.Is4():
		return !containsAddr(specialIPv4, a)
	}
	return globalUnicastIPv6.Contains(a) && !containsAddr(specialIPv6, a)
}

func containsAddr(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// nat64Bits are the valid lengths of NAT64 prefixes.
var nat64Bits = [...]int{32, 40, 48, 56, 64, 96}

// embeddedIPv4 returns the IPv4 address in an address with a NAT64 prefix: the four
// bytes after the prefix, without byte 8 (RFC 6052, section 2.2).
func (g *guard) embeddedIPv4(a netip.Addr) netip.Addr {
	bits := 0
	for _, p := range g.nat64 {
		if p.Contains(a) {
			bits = max(bits, p.Bits()) // the longest prefix applies, as in routing
		}
	}
	b, at := a.As16(), bits/8
	var v4 [4]byte
	for i := range v4 {
		if at == 8 {
			at++
		}
		v4[i] = b[at]
		at++
	}
	return netip.AddrFrom4(v4)
}

// isISATAP reports whether the interface identifier of an address contains an IPv4
// address to which the network tunnels (RFC 5214).
func isISATAP(a netip.Addr) bool {
	b := a.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

func mustPrefixes(prefixes ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(prefixes))
	for i, p := range prefixes {
		out[i] = netip.MustParsePrefix(p)
	}
	return out
}

// globalUnicastIPv6 contains all public IPv6 addresses.
var globalUnicastIPv6 = netip.MustParsePrefix("2000::/3")

// specialIPv4 lists IPv4 addresses that are not public: the IANA registry of
// special-purpose addresses, and multicast.
var specialIPv4 = mustPrefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private use
	"100.64.0.0/10",   // shared address space
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link local
	"172.16.0.0/12",   // private use
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.31.196.0/24", // AS112
	"192.52.193.0/24", // automatic multicast tunnels
	"192.88.99.0/24",  // 6to4 relays
	"192.168.0.0/16",  // private use
	"192.175.48.0/24", // AS112
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, and broadcast
)

// specialIPv6 lists addresses in globalUnicastIPv6 that are not public, by the IANA
// registry.
var specialIPv6 = mustPrefixes(
	"2001::/23",         // protocol assignments: Teredo, ORCHID and others
	"2001:db8::/32",     // documentation
	"2002::/16",         // 6to4, which embeds IPv4
	"2620:4f:8000::/48", // AS112
	"3fff::/20",         // documentation
)

// privateAddrs lists the addresses that AllowPrivate allows.
var privateAddrs = mustPrefixes(
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
	"100.64.0.0/10",
	"127.0.0.0/8", "::1/128",
	"fc00::/7",
)

// serviceAddrs lists addresses at which clouds serve their own machines, often with
// credentials. No registry contains them; some look public, some private.
var serviceAddrs = mustPrefixes(
	"100.100.100.200/32",     // Alibaba: metadata
	"161.26.0.0/16",          // IBM: infrastructure services
	"166.8.0.0/14",           // IBM: service endpoints
	"168.63.129.16/32",       // Azure: wire server
	"fd00:42::42/128",        // Scaleway: metadata
	"fd00:c1::a9fe:a9fe/128", // Oracle: metadata
	"fd00:ec2::/32",          // Amazon: metadata, names, time
	"fd20:ce::254/128",       // Google: metadata
)

// specialNames lists domains without public hosts: special-use domains (RFC 6761 and
// its registry), domains for private use, and domains that are not delegated because
// private networks use them.
var specialNames = [...]string{
	"alt", "arpa", "example", "invalid", "local", "localhost", "onion", "test",
	"consul", "corp", "home", "internal", "intranet", "lan", "localdomain", "mail", "private",
}

// serviceNames lists host names of serviceAddrs that specialNames does not cover.
var serviceNames = [...]string{
	"instance-data", "instance-data.ec2.internal", "metadata", "metadata.azure.internal", "metadata.goog",
	"metadata.google.internal", "metadata.packet.net", "metadata.platformequinix.com", "metadata.tencentyun.com",
}
