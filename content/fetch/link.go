package fetch

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What can be wrong with the text of a link; it continues "the link ".
const (
	linkEmpty     = "must not be empty"
	linkLong      = "is too long"
	linkBroken    = "is not a valid URL"
	linkText      = "must not contain spaces, control characters, backslashes or bytes that are not UTF-8"
	linkHTTPS     = "must begin with https://"
	linkHTTP      = "must begin with https:// or http://"
	linkUser      = "must not contain a user name or password"
	linkPort      = "names a port that is not allowed"
	linkNoHost    = "names no host"
	linkHost      = "names a host that is not a valid name or address"
	linkSpecial   = "names a host that is not on the public internet"
	linkElsewhere = "names a host that is not allowed here"
)

// parse reads a link. All that judges or fetches it later works on the result,
// never on the text again. fault is empty if the link is good.
func (g *guard) parse(text string) (u *url.URL, fault string) {
	if fault := g.glance(text); fault != "" {
		return nil, fault
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, linkBroken
	}
	return u, g.judge(u)
}

// refer reads where a redirect leads to. The result may be there although there
// is a fault.
func (g *guard) refer(base *url.URL, text string) (u *url.URL, fault string) {
	if fault := g.glance(text); fault != "" {
		return nil, fault
	}
	u, err := base.Parse(text)
	if err != nil {
		return nil, linkBroken
	}
	if len(u.String()) > g.length {
		return nil, linkLong
	}
	return u, g.judge(u)
}

// glance judges the characters of a link, before anything parses it.
func (g *guard) glance(text string) (fault string) {
	switch {
	case text == "":
		return linkEmpty
	case len(text) > g.length:
		return linkLong
	case !utf8.ValidString(text):
		return linkText
	}
	for _, r := range text {
		if r <= ' ' || r == '\\' || 0x7f <= r && r < 0xa0 {
			return linkText
		}
	}
	return ""
}

// judge judges a link by what its text shows.
func (g *guard) judge(u *url.URL) (fault string) {
	switch {
	case u.Scheme != "https" && !g.http:
		return linkHTTPS
	case u.Scheme != "https" && u.Scheme != "http":
		return linkHTTP
	case u.Opaque != "":
		return linkBroken
	case u.User != nil:
		return linkUser
	case u.Hostname() == "":
		return linkNoHost
	case !g.portAllowed(u):
		return linkPort
	}
	return g.judgeHost(u.Hostname())
}

func (g *guard) portAllowed(u *url.URL) bool {
	text := u.Port()
	if text == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || strconv.FormatUint(n, 10) != text {
		return false
	}
	if n == 443 && u.Scheme == "https" || n == 80 && u.Scheme == "http" {
		return true
	}
	return n != 0 && (g.anyPort || slices.Contains(g.ports, uint16(n)))
}

// judgeHost judges a host by its text. It is asked for the host as it was
// written, and again for that which is looked up.
func (g *guard) judgeHost(host string) (fault string) {
	if a, err := netip.ParseAddr(host); err == nil {
		if !g.permits(a) {
			return linkSpecial
		}
		return g.judgeHere(a.Unmap().String())
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	ascii, ok := hostName(name)
	switch {
	case !ok || endsInNumber(name):
		return linkHost
	case !ascii && g.blind:
		// Whoever converts it could make it anything.
		return linkHost
	case !ascii:
		return "" // judged where it has been converted, which is before it is looked up
	case !g.listed(name) && g.special(name):
		return linkSpecial
	}
	return g.judgeHere(name)
}

func (g *guard) judgeHere(host string) (fault string) {
	if g.hosts != nil && !g.hosts(host) {
		return linkElsewhere
	}
	return ""
}

// hostName reports whether a name is made of labels of a sensible length, and
// whether it is ASCII.
func hostName(name string) (ascii, ok bool) {
	if len(name) > 253 {
		return false, false
	}
	ascii = true
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 && isASCII(label) {
			return false, false
		}
		for _, c := range label {
			switch {
			case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			case c >= utf8.RuneSelf && c != utf8.RuneError && unicode.IsPrint(c), c == '\u200c', c == '\u200d':
				ascii = false // some languages need the two that join and part letters
			default:
				return false, false
			}
		}
	}
	return ascii, true
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// endsInNumber reports whether the last label of a name is a number as systems
// read them in addresses: such a name is an address to some, and a name to
// others.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	digits := "0123456789"
	if rest, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = rest, "0123456789abcdef"
	}
	return strings.Trim(last, digits) == ""
}

// special reports whether a name is for special use, or of no domain.
func (g *guard) special(name string) bool {
	for _, s := range serviceNames {
		if below(name, s) {
			return true
		}
	}
	if g.private {
		return below(name, "onion") || below(name, "invalid") || below(name, "alt")
	}
	for _, s := range specialNames {
		if below(name, s) {
			return true
		}
	}
	return !strings.Contains(name, ".")
}

// below reports whether a name is a domain or in it.
func below(name, domain string) bool {
	rest, ok := strings.CutSuffix(name, domain)
	return ok && (rest == "" || rest[len(rest)-1] == '.')
}

// listed reports whether the host has named a name.
func (g *guard) listed(name string) bool {
	for _, n := range g.names {
		if n == name || n[0] == '.' && strings.HasSuffix(name, n) {
			return true
		}
	}
	return false
}

// allowedName reads an entry of AllowNames.
func allowedName(text string) (name string, ok bool) {
	name = strings.ToLower(strings.TrimSuffix(text, "."))
	ascii, ok := hostName(strings.TrimPrefix(name, "."))
	return name, ok && ascii && !endsInNumber(name)
}

// absolute returns the form in which a name is looked up.
func (g *guard) absolute(name string) string {
	bare := strings.ToLower(strings.TrimSuffix(name, "."))
	if g.listed(bare) || g.private && !strings.Contains(bare, ".") || strings.HasSuffix(name, ".") {
		return name
	}
	return name + "."
}
