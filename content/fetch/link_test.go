package fetch

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

func TestCheck(t *testing.T) {
	long := func(n int) string { return "https://files.io/" + strings.Repeat("a", n-len("https://files.io/")) }
	for _, tt := range []struct{ link, problem string }{
		{"https://files.io/a.png", ""},
		{"https://files.io", ""},
		{"HTTPS://Files.IO/a.png?x=1#top", ""},
		{"https://files.io:443/", ""},
		{"https://files.io./a", ""},
		{"https://a_b.files-x.io/%20%C3%A9/é?q=é&x=%41", ""},
		{"https://example.com/a", ""},
		{"https://bücher.de/a", ""},
		{"https://xn--bcher-kva.de/a", ""},
		{"https://8.8.8.8/a", ""},
		{"https://[2606:4700::1111]/a", ""},
		{"https://[::ffff:8.8.8.8]:443/a", ""},
		{"https://localhost.io/", ""},
		{"https://mylocal/", linkSpecial},
		{"https://x.internal.io/", ""},
		{"https://1.2.3.4.io/", ""},
		{"https://host.0xz/", ""},
		{long(8 << 10), ""},

		{"", linkEmpty},
		{long(8<<10 + 1), linkLong},
		{"files.io/a", linkHTTPS},
		{"//files.io/a", linkHTTPS},
		{"http://files.io/a", linkHTTPS},
		{"ftp://files.io/a", linkHTTPS},
		{"file:///etc/passwd", linkHTTPS},
		{"gopher://files.io/", linkHTTPS},
		{"data:image/png;base64,AAAA", linkHTTPS},
		{"https:files.io/a", linkBroken},
		{"https://files.io/%zz", linkBroken},
		{"https://fi%6ces.io/", linkBroken},
		{"https://[::1/", linkBroken},
		{"https://[8.8.8.8]/", linkBroken},
		{"https://2606:4700::1111/", linkBroken},
		{"https://files.io:x/", linkBroken},
		{"https://files.io:443:443/", linkBroken},
		{"https://files.io[/", linkBroken},
		{" https://files.io/", linkText},
		{"https://files.io/a b", linkText},
		{"https://files.io/\n", linkText},
		{"https://files.io/\x00", linkText},
		{"https://files.io/\x7f", linkText},
		{"https://files.io/\u0085", linkText},
		{"https://files.io\\@8.8.8.8/", linkText},
		{"https:\\\\files.io\\a", linkText},
		{"https://files.io/\xff", linkText},
		{"https://user@files.io/", linkUser},
		{"https://user:pass@files.io/", linkUser},
		{"https://@files.io/", linkUser},
		{"https://a@b@files.io/", linkUser},
		{"https:///a", linkNoHost},
		{"https://", linkNoHost},
		{"https://?x", linkNoHost},
		{"https://:443/", linkNoHost},
		{"https:/files.io/", linkNoHost},
		{"https://files.io:/", linkPort},
		{"https://files.io:80/", linkPort},
		{"https://files.io:0443/", linkPort},
		{"https://files.io:0/", linkPort},
		{"https://files.io:8443/", linkPort},
		{"https://files.io:65979/", linkPort}, // 443 in 16 bits
		{"https://files.io:99999999999999999999/", linkPort},

		{"https://127.0.0.1/", linkSpecial},
		{"https://10.0.0.1/", linkSpecial},
		{"https://0.0.0.0/", linkSpecial},
		{"https://169.254.169.254/latest/meta-data/", linkSpecial},
		{"https://168.63.129.16/", linkSpecial},
		{"https://[::1]/", linkSpecial},
		{"https://[::]/", linkSpecial},
		{"https://[::ffff:127.0.0.1]/", linkSpecial},
		{"https://[::ffff:7f00:1]/", linkSpecial},
		{"https://[64:ff9b::7f00:1]/", linkSpecial},
		{"https://[fe80::1%25eth0]/", linkSpecial},
		{"https://[2606:4700::1%25eth0]/", linkSpecial},
		{"https://[fd00:ec2::254]/", linkSpecial},
		{"https://localhost/", linkSpecial},
		{"https://LOCALHOST./", linkSpecial},
		{"https://a.b.localhost/", linkSpecial},
		{"https://printer.local/", linkSpecial},
		{"https://x.internal/", linkSpecial},
		{"https://metadata.google.internal/", linkSpecial},
		{"https://metadata.google.internal./", linkSpecial},
		{"https://metadata.tencentyun.com/", linkSpecial},
		{"https://metadata/", linkSpecial},
		{"https://a.test/", linkSpecial},
		{"https://a.invalid/", linkSpecial},
		{"https://a.example/", linkSpecial},
		{"https://a.onion/", linkSpecial},
		{"https://a.alt/", linkSpecial},
		{"https://router.home.arpa/", linkSpecial},
		{"https://1.0.0.127.in-addr.arpa/", linkSpecial},
		{"https://kubernetes.default.svc.cluster.local/", linkSpecial},
		{"https://intranet/", linkSpecial},
		{"https://wiki.corp/", linkSpecial},
		{"https://localhost.localdomain/", linkSpecial},

		{"https://127.1/", linkHost},
		{"https://0x7f.1/", linkHost},
		{"https://2130706433/", linkHost},
		{"https://0x7f000001/", linkHost},
		{"https://017700000001/", linkHost},
		{"https://0177.0.0.1/", linkHost},
		{"https://127.0.0.01/", linkHost},
		{"https://127.0.0.1./", linkHost},
		{"https://8.8.8.8./", linkHost},
		{"https://256.256.256.256/", linkHost},
		{"https://1.2.3.4.5/", linkHost},
		{"https://a.0x/", linkHost},
		{"https://a.0X7F/", linkHost},
		{"https://a.09./", linkHost},
		{"https://files..io/", linkHost},
		{"https://.files.io/", linkHost},
		{"https://files.io../", linkHost},
		{"https://./", linkHost},
		{"https://../", linkHost},
		{"https://files,x.io/", linkHost},
		{"https://files*.io/", linkHost},
		{"https://files.io;x/", linkHost},
		{"https://%C2%85.io/", linkHost},
		{"https://a%E2%80%AEb.io/", linkHost},
		{"https://%FF.io/", linkHost},
		{"https://" + strings.Repeat("a", 64) + ".io/", linkHost},
		{"https://" + strings.Repeat("a.", 126) + "io/", linkHost},
	} {
		name := tt.link
		if len(name) > 80 {
			name = name[:80]
		}
		err := Check(tt.link)
		var e *content.Violation
		switch {
		case tt.problem == "" && err != nil:
			t.Errorf("%q: %v", name, err)
		case tt.problem != "" && !errors.As(err, &e):
			t.Errorf("%q: %v, want a *content.Violation", name, err)
		case tt.problem != "" && (e.Code != content.CodeValue || e.Path != "" || e.Text != "the link "+tt.problem):
			t.Errorf("%q: %s %q, want: the link %s", name, e.Code, e.Text, tt.problem)
		}
	}
}

func TestCheckWidened(t *testing.T) {
	public := func(host string) bool { return !strings.HasSuffix(host, "bad.io") && host != "8.8.4.4" }
	for _, tt := range []struct {
		name    string
		o       Options
		yes, no []string
	}{
		{
			"http", Options{AllowHTTP: true},
			[]string{"http://files.io/", "http://files.io:80/", "https://files.io/"},
			[]string{"http://files.io:443/", "https://files.io:80/", "ftp://files.io/", "http://localhost/"},
		},
		{
			"ports", Options{Ports: []uint16{8443}},
			[]string{"https://files.io:8443/", "https://files.io/"},
			[]string{"https://files.io:8444/", "https://files.io:08443/"},
		},
		{
			"any port", Options{AnyPort: true},
			[]string{"https://files.io:1/", "https://files.io:65535/"},
			[]string{"https://files.io:0/", "https://files.io:65536/", "https://files.io:01/", "https://files.io:/"},
		},
		{
			"private", Options{AllowPrivate: true},
			[]string{"https://localhost/", "https://minio/", "https://a.internal/", "https://10.0.0.1/", "https://[::1]/",
				"https://a.local/", "https://127.0.0.1/"},
			[]string{"https://metadata.google.internal/", "https://metadata/", "https://instance-data/", "https://169.254.169.254/",
				"https://a.onion/", "https://a.invalid/", "https://127.1/", "https://[fe80::1]/", "https://0.0.0.0/",
				"https://u@localhost/", "http://localhost/", "https://localhost:8080/"},
		},
		{
			"names", Options{AllowNames: []string{"Files.Internal", ".store.corp.", "minio", "metadata.google.internal"}},
			[]string{"https://files.internal/", "https://FILES.internal./", "https://a.b.store.corp/", "https://minio/",
				"https://metadata.google.internal/"},
			[]string{"https://a.files.internal/", "https://store.corp/", "https://xstore.corp/", "https://maxio/",
				"https://127.0.0.1/"},
		},
		{
			"hosts", Options{Hosts: public},
			[]string{"https://good.io/", "https://8.8.8.8/"},
			[]string{"https://bad.io/", "https://BAD.io./", "https://8.8.4.4/", "https://[::ffff:8.8.4.4]/", "https://localhost/"},
		},
		{
			"a transport of the host's", Options{Transport: panicTripper{}},
			[]string{"https://files.io/", "https://xn--bcher-kva.de/"},
			[]string{"https://bücher.de/", "https://１２７.0.0.1/", "https://localhost/", "https://127.0.0.1/"},
		},
	} {
		f, err := New(&tt.o)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for _, link := range tt.yes {
			if err := f.Check(link); err != nil {
				t.Errorf("%s: %s: %v", tt.name, link, err)
			}
		}
		for _, link := range tt.no {
			if f.Check(link) == nil {
				t.Errorf("%s: %s passes", tt.name, link)
			}
		}
	}
}

func TestAbsolute(t *testing.T) {
	g := newTestGuard(t, Options{AllowPrivate: true, AllowNames: []string{".corp", "files.internal"}})
	for name, want := range map[string]string{
		"files.io": "files.io.", "files.io.": "files.io.", "minio": "minio", "a.corp": "a.corp", "A.Corp": "A.Corp",
		"files.internal": "files.internal", "x.files.internal": "x.files.internal.",
	} {
		if got := g.lookupName(name); got != want {
			t.Errorf("absolute(%q) = %q, want %q", name, got, want)
		}
	}
}

// FuzzCheck compares accepted links with a second, simpler parser.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"https://files.io/a", "https://[::ffff:8.8.8.8]:443/a?b#c", "https://user@files.io", "https:\\\\a",
		"https://a.b@8.8.8.8:443@c.de", "https://１２７.0.0.1/", "https://0x7f.1", "https://LOCALHOST./", "https://a?@b", "https://a#@b",
		"https://[2606::1%25e]/", "https://8.8.8.8", "https://a.b:443/../..//\u00e9", "HTTPS://A.b", "https://a%e3%80%82b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, link string) {
		if Check(link) != nil {
			return
		}
		if len(link) < 8 || !strings.EqualFold(link[:8], "https://") || len(link) > 8<<10 {
			t.Fatalf("%q passes", link)
		}
		authority := link[8:]
		if i := strings.IndexAny(authority, "/?#\\"); i >= 0 {
			authority = authority[:i]
		}
		host := strings.ToLower(strings.TrimSuffix(authority, ":443"))
		host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
		if strings.ContainsAny(host, "@ \t\r\n<>\"'`{}|^*,;!$&()+=~") {
			t.Fatalf("%q passes with the host %q", link, host)
		}
		if a, err := netip.ParseAddr(host); err == nil {
			if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
				t.Fatalf("%q passes", link)
			}
		} else if strings.Contains(host, ":") || host == "localhost" || strings.HasSuffix(host, ".local") ||
			isASCII(host) && !strings.Contains(host, ".") && !strings.Contains(host, "%") {
			t.Fatalf("%q passes", link)
		}
		u, err := url.Parse(link)
		if err != nil || u.User != nil || !strings.Contains(host, "%") && !strings.EqualFold(strings.Trim(strings.TrimSuffix(strings.TrimSuffix(u.Host, ":443"), "."), "[]"), host) {
			t.Fatalf("%q passes, host %q, %v", link, host, err)
		}
	})
}
