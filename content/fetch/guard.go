package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// A guard says which addresses and names may be fetched from. It is not
// changed once it is made.
type guard struct {
	http, private bool
	ports         []uint16
	anyPort       bool
	allow, deny   []netip.Prefix
	nat64         []netip.Prefix
	names         []string // without a dot at the end; a leading dot means all below
	hosts         func(host string) bool
	length        int  // of a link
	blind         bool // somebody else looks up names and judges what he finds
}

func newGuard(o *Options) (*guard, error) {
	g := &guard{
		http:    o.AllowHTTP,
		private: o.AllowPrivate,
		ports:   slices.Clone(o.Ports),
		anyPort: o.AnyPort,
		hosts:   o.Hosts,
		length:  o.Limits.URL,
		blind:   o.Transport != nil || o.Proxy != nil,
	}
	if slices.Contains(g.ports, 0) {
		return nil, errors.New("fetch: Options.Ports has port 0")
	}
	var errs [3]error
	g.allow, errs[0] = prefixes("AllowPrefixes", o.AllowPrefixes)
	g.deny, errs[1] = prefixes("DenyPrefixes", o.DenyPrefixes)
	g.nat64, errs[2] = prefixes("NAT64Prefixes", o.NAT64Prefixes)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	for _, p := range g.nat64 {
		if !p.Addr().Is6() || !slices.Contains(nat64Bits[:], p.Bits()) {
			return nil, fmt.Errorf("fetch: Options.NAT64Prefixes has %v, want an IPv6 prefix of 32, 40, 48, 56, 64 or 96 bits", p)
		}
	}
	for _, name := range o.AllowNames {
		n, ok := allowedName(name)
		if !ok {
			return nil, fmt.Errorf("fetch: Options.AllowNames has %q, which is no host name", name)
		}
		g.names = append(g.names, n)
	}
	return g, nil
}

// prefixes returns a list in the form in which addresses are compared: masked,
// and IPv4 where it is IPv4 in disguise.
func prefixes(option string, list []netip.Prefix) ([]netip.Prefix, error) {
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

// permits reports whether an address may be connected to.
func (g *guard) permits(a netip.Addr) bool {
	// A zone makes every prefix miss, and so does an unmapped IPv4 address.
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	switch {
	case within(g.deny, a):
		return false
	case within(g.nat64, a):
		return g.permits(g.translated(a))
	case within(g.allow, a):
		return true
	case within(services, a), a.Is6() && isISATAP(a):
		return false
	case g.private && within(private, a):
		return true
	case a.Is4():
		return !within(special4, a)
	}
	return unicast6.Contains(a) && !within(special6, a)
}

func within(list []netip.Prefix, a netip.Addr) bool {
	for _, p := range list {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// nat64Bits are the lengths that the prefix of a translator can have.
var nat64Bits = [...]int{32, 40, 48, 56, 64, 96}

// translated returns the IPv4 address in one that a translator takes: the four
// bytes behind the prefix, with byte 8 left out (RFC 6052, section 2.2).
func (g *guard) translated(a netip.Addr) netip.Addr {
	bits := 0
	for _, p := range g.nat64 {
		if p.Contains(a) {
			bits = max(bits, p.Bits()) // the longest wins, as in routing
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

// isISATAP reports whether the lower half of an address is made of an IPv4
// address that its network tunnels to (RFC 5214).
func isISATAP(a netip.Addr) bool {
	b := a.As16()
	return b[8]&^0x02 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}
