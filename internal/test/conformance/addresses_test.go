package conformance

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"code.dny.dev/ssrf"
	"github.com/polywire/polywire/content/fetch"
)

// blockedPrefixes are addresses that content/fetch rejects and no registry lists:
// services of clouds, and IPv4 embedded by ISATAP.
var blockedPrefixes = []netip.Prefix{
	netip.MustParsePrefix("161.26.0.0/16"),
	netip.MustParsePrefix("166.8.0.0/14"),
	netip.MustParsePrefix("168.63.129.16/32"),
}

// fetched reports whether a file may be fetched from an address.
func fetched(a netip.Addr) bool {
	host := a.String()
	if a.Is6() {
		host = "[" + host + "]"
	}
	return fetch.Check("https://"+host+"/") == nil
}

// safe reports whether the library accepts an address. The library is generated
// from the registries. It is not asked about mapped addresses, which it treats
// as IPv6.
func safe(g *ssrf.Guardian, a netip.Addr) bool {
	a = a.Unmap()
	for _, p := range blockedPrefixes {
		if p.Contains(a) {
			return false
		}
	}
	if b := a.As16(); a.Is6() && b[8]|2 == 2 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe {
		return false
	}
	return g.SafeAddr(a) == nil
}

// last returns the last address of a prefix.
func last(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < 8*len(b); i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// TestRegistryAddresses compares content/fetch with the library on both
// sides of each boundary and in between.
func TestRegistryAddresses(t *testing.T) {
	g := ssrf.New()
	prefixes := append([]netip.Prefix{ssrf.IPv6GlobalUnicast, ssrf.IPv6NAT64Prefix}, blockedPrefixes...)
	prefixes = append(prefixes, ssrf.IPv4DeniedPrefixes...)
	prefixes = append(prefixes, ssrf.IPv6DeniedPrefixes...)
	rnd := rand.New(rand.NewPCG(1, 2))
	n := map[bool]int{}
	compare := func(a netip.Addr) {
		if !a.IsValid() {
			return // outside the address range
		}
		want := safe(g, a)
		n[want]++
		if got := fetched(a); got != want {
			t.Errorf("%v: fetched from %v, the library returns %v", a, got, want)
		}
		if a.Is4() {
			if a = netip.AddrFrom16(a.As16()); fetched(a) != want {
				t.Errorf("%v: fetched from %v, the library returns %v", a, !want, want)
			}
		}
	}
	for _, p := range prefixes {
		first, last := p.Masked().Addr(), last(p)
		for _, a := range []netip.Addr{first.Prev(), first, first.Next(), last.Prev(), last, last.Next()} {
			compare(a)
		}
		for range 100 { // within the prefix and near it
			b := first.AsSlice()
			for i := p.Bits() / 8; i < len(b); i++ {
				b[i] ^= byte(rnd.Uint32())
			}
			a, _ := netip.AddrFromSlice(b)
			compare(a)
		}
	}
	for range 20_000 {
		var b [16]byte
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		compare(netip.AddrFrom4([4]byte(b[:4])))
		b[0] = 0x20 | b[0]&0x1f // within unicast
		compare(netip.AddrFrom16(b))
	}
	if n[true] < 1000 || n[false] < 1000 {
		t.Errorf("got only %d public and %d other addresses", n[true], n[false])
	}
}
