package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

// refusedAddresses lists an address of each class that is not public.
var refusedAddresses = []string{
	"0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
	"192.0.0.192", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.168.0.1", "192.175.48.1", "198.18.0.1",
	"198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
	"168.63.129.16", "161.26.0.10", "166.8.0.1",
	"::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1",
	"64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1", "2001::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1", "2620:4f:8000::1",
	"2606:4700::5efe:127.0.0.1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
}

// redirector redirects /to?<link> to the link, and sends an image for all other paths.
func redirector() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/to" {
			link, _ := url.QueryUnescape(r.URL.RawQuery)
			w.Header()["Location"] = []string{link}
			w.WriteHeader(http.StatusFound)
			return
		}
		_, _ = w.Write([]byte(png))
	})
}

func toLink(link string) string { return "https://files.example.com/to?" + url.QueryEscape(link) }

// literal returns an address as the host of a link.
func literal(addr string) string {
	if strings.Contains(addr, ":") {
		return "[" + addr + "]"
	}
	return addr
}

// TestEveryWayToAnAddress checks each class of address in a link, behind a name, in a
// redirect, behind a name in a redirect, and as the second of two addresses of a name.
// Only the origin may be dialed.
func TestEveryWayToAnAddress(t *testing.T) {
	w := newTestNetwork(t, redirector())
	f := w.fetcher(nil)
	for i, addr := range refusedAddresses {
		direct := "https://" + literal(addr) + "/secret"
		var e *content.Violation
		if _, err := fetch(t, f, direct); !errors.As(err, &e) || e.Text != "the link "+linkSpecial || e.Err != nil {
			t.Errorf("%s: %v", direct, err)
		}
		if d := w.takeDialed(); len(d) != 0 {
			t.Errorf("%s: dialed %q", direct, d)
		}

		name := fmt.Sprintf("n%d.example.com", i)
		w.names.set(name, addr)
		blocked(t, w, f, "https://"+name+"/secret?q")
		blocked(t, w, f, toLink(direct))
		blocked(t, w, f, toLink("https://"+name+"/secret"))

		w.names.set("rebind-"+name, public, addr)
		link := "https://rebind-" + name + "/secret"
		if b, err := fetch(t, f, link); err != nil || string(b.Data) != png {
			t.Errorf("%s, before the name moves: %q, %v", link, b.Data, err)
		}
		blocked(t, w, f, link)

		w.names.set("mixed-"+name, addr+" "+public)
		if _, err := fetch(t, f, "https://mixed-"+name+"/"); err != nil {
			t.Errorf("one good address and %s: %v", addr, err)
		}
		if d := w.takeDialed(); !onlyPublic(d) {
			t.Errorf("one good address and %s: dialed %q", addr, d)
		}
	}
	w.checkClosed()
}

// blocked checks that a link fails with the same text as any link that cannot be
// fetched.
func blocked(t *testing.T, w *testNetwork, f *Fetcher, link string) {
	t.Helper()
	_, err := fetch(t, f, link)
	var e *content.Violation
	bare, _, _ := strings.Cut(link, "?")
	want := "the file at " + bare + " could not be fetched; make sure that the link is public and works"
	if !errors.As(err, &e) || e.Text != want || e.Code != content.CodeValue || e.Err == nil {
		t.Errorf("%s: %v, want: %s", link, err, want)
	}
	if d := w.takeDialed(); !onlyPublic(d) {
		t.Errorf("%s: dialed %q", link, d)
	}
}

// TestRebindingBetweenRedirects changes the address of a name while it redirects to
// itself.
func TestRebindingBetweenRedirects(t *testing.T) {
	w := newTestNetwork(t, redirector())
	w.names.set("moving.example.com", public, "127.0.0.1")
	blocked(t, w, w.fetcher(nil), "https://moving.example.com/to?https://moving.example.com/secret")
	w.checkClosed()
}

// TestRealSockets lets the Fetcher dial listeners on this machine. It must not connect
// to refused addresses, and the same link must work once the host allows it.
func TestRealSockets(t *testing.T) {
	names := newNameServer(t)
	secret4 := newSecret(t)
	port := uint16(secret4.Addr().(*net.TCPAddr).Port)
	listeners := []*countingListener{secret4}
	addrs := []string{"127.0.0.1", "0.0.0.0", "::ffff:127.0.0.1"}
	if l, err := net.Listen("tcp6", fmt.Sprintf("[::1]:%d", port)); err == nil {
		l.Close()
		listeners = append(listeners, newSecretOn(t, fmt.Sprintf("[::1]:%d", port)))
		addrs = append(addrs, "::1")
	}
	strict := Options{AllowHTTP: true, AnyPort: true, Lookup: names.resolver().LookupNetIP}
	open := strict
	open.AllowPrivate = true
	for i, addr := range addrs {
		name := fmt.Sprintf("n%d.example.com", i)
		names.set(name, addr)
		for _, host := range []string{literal(addr), name} {
			link := fmt.Sprintf("http://%s:%d/secret.png", host, port)
			f, err := New(&strict)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fetch(t, f, link); err == nil {
				t.Errorf("%s can be fetched", link)
			}
			// The check of the socket refuses the same addresses.
			if conn, err := f.attempt(t.Context(), netip.AddrPortFrom(netip.MustParseAddr(addr), port), 1); err == nil {
				conn.Close()
				t.Errorf("a socket was connected to %s", addr)
			}
			for _, l := range listeners {
				if n := l.accepted.Swap(0); n != 0 {
					t.Errorf("%s: %d connections", link, n)
				}
			}
			if addr == "0.0.0.0" {
				continue // not private; on some systems it is this machine
			}
			if f, err = New(&open); err != nil {
				t.Fatal(err)
			}
			if b, err := fetch(t, f, link); err != nil || string(b.Data) != png {
				t.Errorf("%s, allowed: %q, %v", link, b.Data, err)
			}
			for _, l := range listeners {
				l.accepted.Store(0)
			}
		}
	}
}

// TestConvertedNames checks hosts that change when they are converted to ASCII, or
// cannot be converted.
func TestConvertedNames(t *testing.T) {
	w := newTestNetwork(t, redirector())
	var asked, lookedUp []string
	f := w.fetcher(func(o *Options) {
		o.Hosts = func(host string) bool { asked = append(asked, host); return true }
		lookUp := o.Lookup
		o.Lookup = func(ctx context.Context, network, host string) ([]netip.Addr, error) {
			lookedUp = append(lookedUp, host)
			return lookUp(ctx, network, host)
		}
	})
	for _, host := range []string{
		"１２７.０.０.１", "①②⑦.⓪.⓪.①", "127。0。0。1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "a.ⓛocal", "metadata.google.inter\u24dDal",
		"169．254．169．254", "0ⓧ7f.1", "２１３０７０６４３３", "%E2%93%9Bocalhost", "a..b\u3002", "xn--a\u00fc.de",
	} {
		link := "https://" + host + "/secret"
		_, err := fetch(t, f, link)
		var e *content.Violation
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", link, err)
		}
		if d := w.takeDialed(); len(d) != 0 {
			t.Errorf("%s: dialed %q", link, d)
		}
	}
	if len(lookedUp) != 0 {
		t.Errorf("looked up %q", lookedUp)
	}
	asked = nil
	w.names.set("xn--bcher-kva.example.com", public)
	if _, err := fetch(t, f, "https://bücher.example.com/"); err != nil {
		t.Error(err)
	}
	if got := strings.Join(asked, " "); got != "xn--bcher-kva.example.com" {
		t.Errorf("Hosts was asked for %q", got)
	}
	if got := strings.Join(lookedUp, " "); got != "xn--bcher-kva.example.com." {
		t.Errorf("looked up %q, want an absolute name", got)
	}
	w.checkClosed()
}
