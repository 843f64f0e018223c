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

// Problems of links. They continue "the link ".
const (
	linkEmpty     = "must not be empty"
	linkLong      = "is too long"
	linkBroken    = "is not a valid URL"
	linkText      = "must not contain spaces, control characters, backslashes or bytes that are not UTF-8"
	linkHTTPS     = "must begin with https://"
	linkHTTP      = "must begin with https:// or http://"
	linkUser      = "must not contain a user name or password"
	linkPort      = "names a port that is not allowed; leave out the port"
	linkNoHost    = "names no host"
	linkHost      = "names a host that is not a valid name or address"
	linkSpecial   = "names a host that is not on the public internet"
	linkElsewhere = "names a host that is not allowed here"
)

// parse parses and checks a link. Later steps use only the result, never the text.
// problem is empty if the link is valid.
func (g *guard) parse(text string) (u *url.URL, problem string) {
	if problem := g.checkCharacters(text); problem != "" {
		return nil, problem
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, linkBroken
	}
	return u, g.checkURL(u)
}

// parseRedirect parses and checks the target of a redirect. u may be set even if there
// is a problem.
func (g *guard) parseRedirect(base *url.URL, text string) (u *url.URL, problem string) {
	if problem := g.checkCharacters(text); problem != "" {
		return nil, problem
	}
	u, err := base.Parse(text)
	if err != nil {
		return nil, linkBroken
	}
	if len(u.String()) > g.maxURL {
		return nil, linkLong
	}
	return u, g.checkURL(u)
}

// checkCharacters checks the characters of a link before it is parsed.
func (g *guard) checkCharacters(text string) (problem string) {
	switch {
	case text == "":
		return linkEmpty
	case len(text) > g.maxURL:
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

// checkURL checks a parsed link.
func (g *guard) checkURL(u *url.URL) (problem string) {
	switch {
	case u.Scheme != "https" && !g.allowHTTP:
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
	return g.checkHost(u.Hostname())
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
	return n != 0 && (g.anyPort || slices.Contains(g.ports, uint16(n))) // bounded by the host
}

// checkHost checks a host by its text: as written in the link, and again as it is
// looked up.
func (g *guard) checkHost(host string) (problem string) {
	if a, err := netip.ParseAddr(host); err == nil {
		if !g.permits(a) {
			return linkSpecial
		}
		return g.checkHosts(a.Unmap().String())
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	ascii, ok := hostName(name)
	switch {
	case !ok || endsInNumber(name):
		return linkHost
	case !ascii && g.delegatesDial:
		// The proxy or Transport may convert it to any name.
		return linkHost
	case !ascii:
		return "" // checked after conversion, before it is looked up
	case !g.isAllowedName(name) && g.isSpecial(name):
		return linkSpecial
	}
	return g.checkHosts(name)
}

// checkHosts calls Options.Hosts.
func (g *guard) checkHosts(host string) (problem string) {
	if g.hosts != nil && !g.hosts(host) {
		return linkElsewhere
	}
	return ""
}

// hostName reports whether a name consists of valid labels, and whether it is ASCII.
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
				ascii = false // some languages need the zero width joiner and non-joiner
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

// endsInNumber reports whether the last label of a name is a number in one of the
// notations for addresses. Some systems read such a name as an address, others as a
// name.
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	digits := "0123456789"
	if rest, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = rest, "0123456789abcdef"
	}
	return strings.Trim(last, digits) == ""
}

// isSpecial reports whether a name is a special-use name or has a single label.
func (g *guard) isSpecial(name string) bool {
	for _, s := range serviceNames {
		if inDomain(name, s) {
			return true
		}
	}
	if g.allowPrivate {
		return inDomain(name, "onion") || inDomain(name, "invalid") || inDomain(name, "alt")
	}
	for _, s := range specialNames {
		if inDomain(name, s) {
			return true
		}
	}
	return !strings.Contains(name, ".")
}

// inDomain reports whether a name is domain or is below it.
func inDomain(name, domain string) bool {
	rest, ok := strings.CutSuffix(name, domain)
	return ok && (rest == "" || rest[len(rest)-1] == '.')
}

// isAllowedName reports whether AllowNames contains a name.
func (g *guard) isAllowedName(name string) bool {
	for _, n := range g.names {
		if n == name || n[0] == '.' && strings.HasSuffix(name, n) {
			return true
		}
	}
	return false
}

// parseAllowedName parses an element of AllowNames.
func parseAllowedName(text string) (name string, ok bool) {
	name = strings.ToLower(strings.TrimSuffix(text, "."))
	ascii, ok := hostName(strings.TrimPrefix(name, "."))
	return name, ok && ascii && !endsInNumber(name)
}

// lookupName returns a name in the form in which it is looked up.
func (g *guard) lookupName(name string) string {
	bare := strings.ToLower(strings.TrimSuffix(name, "."))
	if g.isAllowedName(bare) || g.allowPrivate && !strings.Contains(bare, ".") || strings.HasSuffix(name, ".") {
		return name
	}
	return name + "."
}
