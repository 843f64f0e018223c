package fetch

import (
	"net/netip"
	"testing"
)

func newTestGuard(t testing.TB, o Options) *guard {
	t.Helper()
	f, err := New(&o)
	if err != nil {
		t.Fatal(err)
	}
	return f.guard
}

// TestAddresses checks the edges of every range that is not public: the address before
// it, its first and last, and the address after it.
func TestAddresses(t *testing.T) {
	g := newTestGuard(t, Options{})
	for _, tt := range []struct{ before, first, last, behind string }{
		// A neighbor that is not public is in another range.
		{"", "0.0.0.0", "0.255.255.255", "1.0.0.0"},
		{"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"},
		{"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"},
		{"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"},
		{"161.25.255.255", "161.26.0.0", "161.26.255.255", "161.27.0.0"},
		{"166.7.255.255", "166.8.0.0", "166.11.255.255", "166.12.0.0"},
		{"168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"},
		{"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"},
		{"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"},
		{"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"},
		{"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"},
		{"192.31.195.255", "192.31.196.0", "192.31.196.255", "192.31.197.0"},
		{"192.52.192.255", "192.52.193.0", "192.52.193.255", "192.52.194.0"},
		{"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"},
		{"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"},
		{"192.175.47.255", "192.175.48.0", "192.175.48.255", "192.175.49.0"},
		{"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"},
		{"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"},
		{"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"},
		{"223.255.255.255", "224.0.0.0", "239.255.255.255", ""},
		{"", "240.0.0.0", "255.255.255.255", ""},
		{"", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"},
		{"2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"},
		{"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"},
		{"2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"},
		{"2620:4f:7fff:ffff:ffff:ffff:ffff:ffff", "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", "2620:4f:8001::"},
		{"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"},
		{"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""},
	} {
		for addr, want := range map[string]bool{tt.before: true, tt.first: false, tt.last: false, tt.behind: true} {
			if addr == "" {
				continue
			}
			a := netip.MustParseAddr(addr)
			if got := g.permits(a); got != want {
				t.Errorf("permits(%v) = %v, want %v", a, got, want)
			}
			if !a.Is4() {
				continue
			}
			if a = netip.AddrFrom16(a.As16()); g.permits(a) != want {
				t.Errorf("permits(%v) = %v, want %v", a, !want, want)
			}
		}
	}
}

// TestAddressForms checks addresses that embed other addresses, and well-known service
// addresses.
func TestAddressForms(t *testing.T) {
	g := newTestGuard(t, Options{})
	for addr, want := range map[string]bool{
		"8.8.8.8":                     true,
		"2606:4700::1111":             true,
		"::ffff:8.8.8.8":              true,
		"::ffff:127.0.0.1":            false,
		"::ffff:169.254.169.254":      false,
		"::ffff:168.63.129.16":        false,
		"::ffff:0:8.8.8.8":            false, // translated (RFC 2765)
		"::8.8.8.8":                   false, // IPv4-compatible
		"64:ff9b::8.8.8.8":            false, // NAT64
		"64:ff9b:1::8.8.8.8":          false, // local NAT64
		"2002:808:808::1":             false, // 6to4
		"2001:0:808:808::1":           false, // Teredo
		"2606:4700::5efe:10.0.0.1":    false, // ISATAP
		"2606:4700::200:5efe:8.8.8.8": false, // ISATAP
		"2606:4700::400:5efe:8.8.8.8": true,  // not quite
		"2606:4700::1%eth0":           false,
		"fe80::1%1":                   false,
		"::ffff:8.8.8.8%eth0":         false,
		"::1":                         false,
		"fe80::a9fe:a9fe":             false,
		"fec0::1":                     false,
		"ff0e::1":                     false,
		"100::1":                      false,
		"5f00::1":                     false,
		"100.100.100.200":             false,
		"169.254.169.254":             false,
		"169.254.170.2":               false,
		"192.0.0.192":                 false,
		"fd00:ec2::254":               false,
		"fd20:ce::254":                false,
	} {
		if got := g.permits(netip.MustParseAddr(addr)); got != want {
			t.Errorf("permits(%s) = %v, want %v", addr, got, want)
		}
	}
	if g.permits(netip.Addr{}) {
		t.Error("no address is permitted")
	}
}

func prefixList(texts ...string) (list []netip.Prefix) {
	for _, p := range texts {
		list = append(list, netip.MustParsePrefix(p))
	}
	return list
}

func TestWidenedAddresses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		o       Options
		yes, no []string
	}{
		{
			"private networks", Options{AllowPrivate: true},
			[]string{"127.0.0.1", "127.8.8.8", "::1", "10.1.2.3", "172.20.0.1", "192.168.1.1", "100.64.0.1", "fd12::1",
				"::ffff:10.0.0.1", "8.8.8.8"},
			[]string{"169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "168.63.129.16", "100.100.100.200",
				"fd00:ec2::254", "fd20:ce::254", "fd00:42::42", "fd00:c1::a9fe:a9fe", "0.0.0.0", "::", "224.0.0.1",
				"255.255.255.255", "192.0.2.1", "2001:db8::1", "64:ff9b::10.0.0.1", "10.0.0.1%eth0", "fd12::1%eth0"},
		},
		{
			"prefixes", Options{
				AllowPrefixes: prefixList("10.1.2.3/32", "168.63.129.16/32", "fd12:3::/32", "::ffff:172.16.0.0/112", "9.9.9.9/16"),
				DenyPrefixes:  prefixList("8.8.0.0/16", "fd12:3:4::/48", "2606:4700::/32", "::ffff:1.1.1.0/120"),
			},
			[]string{"10.1.2.3", "::ffff:10.1.2.3", "168.63.129.16", "fd12:3::1", "172.16.255.255", "8.9.0.1", "1.1.2.1"},
			[]string{"10.1.2.4", "8.8.4.4", "::ffff:8.8.8.8", "fd12:3:4::1", "fd12:4::1", "2606:4700::1", "172.17.0.1",
				"1.1.1.1", "fd12:3::1%eth0"},
		},
		{
			"translators", Options{NAT64Prefixes: prefixList("64:ff9b::/96", "2001:67c:27e4:64::/96", "2a00:1:2:3::/64")},
			[]string{"64:ff9b::8.8.8.8", "2001:67c:27e4:64::8.8.8.8", "2a00:1:2:3:8:808:800:0"},
			[]string{"64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::8.8.8.8",
				"2001:67c:27e4:64::192.168.0.1", "2a00:1:2:3:a:1:200:0"},
		},
		{
			// The rows of RFC 6052, section 2.4, with a public address.
			"lengths of translators", Options{NAT64Prefixes: prefixList("2a00:db8::/32", "2a01:db8:100::/40",
				"2a02:db8:122::/48", "2a03:db8:122:300::/56", "2a04:db8:122:344::/64", "2a05:db8:122:344::/96")},
			[]string{"2a00:db8:808:808::", "2a01:db8:108:808:8::", "2a02:db8:122:808:8:800::", "2a03:db8:122:308:8:808::",
				"2a04:db8:122:344:8:808:800:0", "2a05:db8:122:344::8.8.8.8"},
			[]string{"2a00:db8:a00:1::", "2a01:db8:10a:0:1::", "2a02:db8:122:a00:0:100::", "2a03:db8:122:30a:0:1::",
				"2a04:db8:122:344:a:0:100:0", "2a05:db8:122:344::10.0.0.1"},
		},
		{
			"denied, embedded in a NAT64 address", Options{
				NAT64Prefixes: prefixList("64:ff9b::/96"),
				AllowPrefixes: prefixList("64:ff9b::/96", "10.0.0.0/8"),
				DenyPrefixes:  prefixList("8.8.8.8/32"),
			},
			[]string{"64:ff9b::10.0.0.1", "64:ff9b::8.8.4.4"},
			[]string{"64:ff9b::8.8.8.8", "64:ff9b::127.0.0.1"},
		},
	} {
		g := newTestGuard(t, tt.o)
		for _, a := range tt.yes {
			if !g.permits(parseAddr(t, a)) {
				t.Errorf("%s: %s is refused", tt.name, a)
			}
		}
		for _, a := range tt.no {
			if a := parseAddr(t, a); g.permits(a) {
				t.Errorf("%s: %s is permitted", tt.name, a)
			}
		}
	}
}

// parseAddr parses an address. An IPv4 address with a zone means the IPv4-mapped form.
func parseAddr(t *testing.T, text string) netip.Addr {
	a, err := netip.ParseAddr(text)
	if err != nil {
		a, err = netip.ParseAddr("::ffff:" + text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestControl(t *testing.T) {
	f, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"8.8.8.8:443": true, "[2606:4700::1]:443": true,
		"127.0.0.1:443": false, "[::ffff:10.0.0.1]:443": false, "[fe80::1%1]:443": false, "host:443": false, "": false,
	} {
		if err := f.control("tcp", address, nil); (err == nil) != want {
			t.Errorf("control(%q) = %v", address, err)
		}
	}
}
