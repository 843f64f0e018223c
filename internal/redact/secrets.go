package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// leastSecret is the length of the shortest secret. Shorter values are found in
// ordinary words.
const leastSecret = 6

// Secrets removes known values from texts of another server. A nil *Secrets
// knows none. It is not safe for concurrent use.
type Secrets struct {
	values  []string // the longest first
	needles []needle // their encoded forms, which are not shorter; made when needed
}

// A needle is an encoded form of a secret.
type needle struct {
	text string
	fold bool // letters match in either case

	// base64 marks characters that base64 makes of a secret wherever the secret
	// begins in what is encoded. The characters around them are removed as well.
	base64 bool
}

// NewSecrets returns a Secrets of the values. Those of fewer than 6 bytes are
// ignored.
func NewSecrets(values []string) *Secrets {
	s := new(Secrets)
	for _, v := range values {
		if len(v) >= leastSecret && !slices.Contains(s.values, v) {
			s.values = append(s.values, v)
		}
	}
	if len(s.values) == 0 {
		return nil
	}
	slices.SortStableFunc(s.values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return s
}

// encode makes the needles.
func (s *Secrets) encode() {
	for _, v := range s.values {
		s.needles = append(s.needles, needle{text: v, fold: true}, needle{text: hex.EncodeToString([]byte(v)), fold: true})
		for offset := range 3 {
			s.base64(v, offset)
		}
	}
}

// base64 adds the characters that encode v alone if offset bytes of the same
// group of three come before it.
func (s *Secrets) base64(v string, offset int) {
	encoded := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:offset] + v))
	from := (offset*8 + 5) / 6
	end := (offset + len(v)) * 8 / 6
	core := encoded[from:end]
	s.needles = append(s.needles, needle{text: core, base64: true})
	if url := strings.NewReplacer("+", "-", "/", "_").Replace(core); url != core {
		s.needles = append(s.needles, needle{text: url, base64: true})
	}
}

// Clean returns text with "[removed]" in place of every secret: as it is, in
// capitals or small letters, with escapes of JSON, URLs, HTML and string
// literals, in base64, also of a longer text, and in hexadecimal. The end of a
// text that was cut within a secret is removed, too. A JSON document remains
// one.
func (s *Secrets) Clean(text string) string {
	if s == nil || len(text) < len(s.values[len(s.values)-1]) {
		return text
	}
	if s.needles == nil {
		s.encode()
	}
	var b strings.Builder
	from := 0
	for i := 0; i < len(text); {
		begin, end := s.find(text, i)
		if end < 0 {
			i += step(text, i)
			continue
		}
		begin = max(begin, from)
		b.WriteString(text[from:begin])
		b.WriteString(mask)
		from, i = end, end
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// step returns how far the next place is at which a secret can begin. A run of
// backslashes belongs to what follows it.
func step(text string, i int) int {
	n := 1
	if text[i] == '\\' {
		for i+n < len(text) && text[i+n] == '\\' {
			n++
		}
	}
	return n
}

// find returns where the secret that begins at i, or at whose core i is, begins
// and ends; end is negative if there is none.
func (s *Secrets) find(text string, i int) (begin, end int) {
	for k := range s.needles {
		n := &s.needles[k]
		end := n.match(text, i)
		if end < 0 {
			continue
		}
		begin := i
		if n.base64 {
			begin = base64Begin(text, i)
			for end < len(text) && isBase64(text[end]) {
				end++
			}
		}
		return begin, end
	}
	return 0, -1
}

// base64Begin returns where the run of base64 begins that i is in. An escape
// sequence stays whole.
func base64Begin(text string, i int) int {
	begin := i
	for begin > 0 && isBase64(text[begin-1]) {
		begin--
	}
	if begin == 0 || begin == i || text[begin-1] != '\\' {
		return begin
	}
	switch text[begin] {
	case '/':
		return begin - 1
	case 'u':
		return min(begin+len("u0000"), i)
	}
	return begin + 1
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("+/-_=", c) >= 0
}

// match returns where n ends in text if it begins at i, or a negative number.
func (n *needle) match(text string, i int) int {
	switch c := text[i]; c {
	case n.text[0], '%', '\\', '&':
	default:
		if !n.fold || lower(c) != lower(n.text[0]) {
			return -1
		}
	}
	if end := n.matchWith(text, i, literal); end >= 0 {
		return end
	}
	return n.matchWith(text, i, decode)
}

func (n *needle) matchWith(text string, i int, next func(string, int) (byte, int)) int {
	for k := range len(n.text) {
		if i >= len(text) || strings.HasPrefix(text[i:], "…") {
			// It was cut here.
			if k >= 8 && k >= len(n.text)/2 {
				return i
			}
			return -1
		}
		c, width := next(text, i)
		if c != n.text[k] && !(n.fold && lower(c) == lower(n.text[k])) {
			return -1
		}
		i += width
	}
	return i
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func literal(text string, i int) (c byte, width int) { return text[i], 1 }

// decode reads a character that may be escaped, also several times.
func decode(text string, i int) (c byte, width int) {
	switch text[i] {
	case '%':
		j := i + 1
		for strings.HasPrefix(text[j:], "25") && isHex(text, j+2, 2) {
			j += 2
		}
		if isHex(text, j, 2) {
			return hexByte(text[j : j+2]), j + 2 - i
		}
	case '\\':
		j := i + step(text, i)
		switch {
		case j == len(text):
		case text[j] == 'u' && isHex(text, j+1, 4) && text[j+1:j+3] == "00":
			return hexByte(text[j+3 : j+5]), j + 5 - i
		case text[j] == 'x' && isHex(text, j+1, 2):
			return hexByte(text[j+1 : j+3]), j + 3 - i
		case text[j] == '/', text[j] == '"', text[j] == '\'':
			return text[j], j + 1 - i
		}
		return '\\', j - i
	case '&':
		return entity(text, i)
	}
	return text[i], 1
}

// entity reads a character reference of HTML.
func entity(text string, i int) (c byte, width int) {
	const longest = len("&#00000;") + 2
	name, _, ok := strings.Cut(text[i+1:min(i+longest, len(text))], ";")
	if !ok {
		return text[i], 1
	}
	width = len(name) + 2
	switch name {
	case "amp":
		return '&', width
	case "lt":
		return '<', width
	case "gt":
		return '>', width
	case "quot":
		return '"', width
	case "apos":
		return '\'', width
	}
	if digits, ok := strings.CutPrefix(name, "#"); ok {
		base := 10
		if rest, ok := strings.CutPrefix(strings.ToLower(digits), "x"); ok {
			digits, base = rest, 16
		}
		if n, err := strconv.ParseUint(digits, base, 7); err == nil {
			return byte(n), width
		}
	}
	return text[i], 1
}

func isHex(text string, i, n int) bool {
	if i+n > len(text) {
		return false
	}
	return strings.Trim(text[i:i+n], "0123456789abcdefABCDEF") == ""
}

func hexByte(digits string) byte {
	n, _ := strconv.ParseUint(digits, 16, 8) // isHex has looked at them
	return byte(n)
}

// Values returns what is secret in a member, a header or a parameter of this
// name: nothing if it is not named like a secret, else the value and the parts
// of it that are secrets by themselves, such as the token behind "Bearer".
func Values(name, value string) []string {
	if !IsSecretName(name) {
		return nil
	}
	return SecretValues(value)
}

// SecretValues is Values for a name that is known to be one of a secret.
func SecretValues(value string) []string {
	list := []string{value}
	scheme, _, _ := strings.Cut(value, " ")
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" ;,", r) }) {
		if word == scheme && word != value {
			continue
		}
		list = append(list, word)
		if _, after, ok := strings.Cut(word, "="); ok {
			list = append(list, after)
		}
		if strings.EqualFold(scheme, "basic") {
			if pair, err := base64.StdEncoding.DecodeString(word); err == nil {
				_, password, _ := strings.Cut(string(pair), ":")
				list = append(list, string(pair), password)
			}
		}
	}
	return list
}

// IsSecretName reports whether the values of a header, parameter or member of
// this name are secrets.
func IsSecretName(name string) bool {
	if isSecretName(name) {
		return true
	}
	name = strings.ToLower(name)
	for _, end := range [...]string{"key", "token", "auth", "authorization", "cookie", "signature", "sig"} {
		if strings.HasSuffix(name, "-"+end) || strings.HasSuffix(name, "_"+end) {
			return true
		}
	}
	return false
}

// Member returns the value of a member of a vendor's error: as Text has it, or
// nothing of it if the name is one of passwords and keys.
func Member(name, value string) string {
	if len(name) >= len("secret") && value != "" && isSecretName(name) && !strings.HasSuffix(strings.ToLower(name), "signature") {
		return mask
	}
	return Text(value)
}
