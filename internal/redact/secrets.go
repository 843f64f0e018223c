package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// minSecret is the minimum length of a secret in bytes. Shorter values occur in
// ordinary words.
const minSecret = 6

// Secrets removes known secrets from texts of another server. A nil *Secrets removes
// nothing. It is not safe for concurrent use.
type Secrets struct {
	values  []string // longest first
	needles []needle // encoded forms of the values, none shorter than the value; created on first use
}

// A needle is an encoded form of a secret.
type needle struct {
	text string
	fold bool // ignore case

	// base64 marks the characters that encode a secret at some offset of a longer
	// text. The base64 characters around them are removed, too.
	base64 bool
}

// NewSecrets returns a Secrets that removes values. It ignores values of fewer than
// 6 bytes, and returns nil if none is left.
func NewSecrets(values []string) *Secrets {
	s := new(Secrets)
	for _, v := range values {
		if len(v) >= minSecret && !slices.Contains(s.values, v) { // bounded by the host
			s.values = append(s.values, v)
		}
	}
	if len(s.values) == 0 {
		return nil
	}
	slices.SortStableFunc(s.values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return s
}

// encode creates the needles.
func (s *Secrets) encode() {
	for _, v := range s.values {
		s.needles = append(s.needles, needle{text: v, fold: true}, needle{text: hex.EncodeToString([]byte(v)), fold: true})
		for offset := range 3 {
			s.base64(v, offset)
		}
	}
}

// base64 adds the characters that depend only on v if v begins at the given offset
// in a group of three bytes.
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

// Clean returns text with "[removed]" in place of every secret. It finds secrets in
// any case, with escapes of JSON, URLs, HTML and string literals, in hexadecimal,
// and in base64, also of a longer text. It also removes part of a secret at the end
// of a text that was cut. Valid JSON stays valid.
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

// CleanError returns err, or an error that wraps it and has a text without secrets. It
// returns nil for nil.
func (s *Secrets) CleanError(err error) error {
	if s == nil || err == nil {
		return err
	}
	text := err.Error()
	if clean := s.Clean(text); clean != text {
		return &cleanedError{clean, err}
	}
	return err
}

// A cleanedError is an error with secrets removed from its text.
type cleanedError struct {
	text string
	err  error
}

func (e *cleanedError) Error() string { return e.text }
func (e *cleanedError) Unwrap() error { return e.err }

// step returns the distance to the next index at which a secret can begin.
// Backslashes belong to the character after them.
func step(text string, i int) int {
	n := 1
	if text[i] == '\\' {
		for i+n < len(text) && text[i+n] == '\\' {
			n++
		}
	}
	return n
}

// find returns the bounds of the secret at i. For base64, i may be within the run to
// remove. If there is none, end is negative.
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
		return escapeBegin(text, begin), escapeEnd(text, end)
	}
	return 0, -1
}

// escapeBegin returns the backslash of the escape sequence that i is within, so that
// a text without what follows i is still valid. Outside of one, it returns i.
func escapeBegin(text string, i int) int {
	for k := i - 1; k >= max(0, i-len("u0000")); k-- {
		if text[k] != '\\' {
			continue
		}
		first := k
		for first > 0 && text[first-1] == '\\' {
			first--
		}
		if (k-first)%2 == 0 && (k == i-1 || text[k+1] == 'u' && isHex(text, k+2, 4)) {
			return k
		}
		return i
	}
	return i
}

// escapeEnd returns the end of a removed text that ends at end. If that is within a
// run of backslashes, the run is removed, but for one that escapes what follows.
func escapeEnd(text string, end int) int {
	if text[end-1] != '\\' {
		return end
	}
	first := end - 1
	for first > 0 && text[first-1] == '\\' {
		first--
	}
	n := step(text, first)
	if n%2 == 1 && first+n < len(text) {
		n--
	}
	return first + n
}

// base64Begin returns the beginning of the base64 run around i, behind the escape
// sequence with which the run begins. An escaped slash belongs to the run.
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
		return begin
	case 'u':
		return min(begin+len("u0000"), i)
	}
	return begin + 1
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("+/-_=", c) >= 0
}

// match returns the end of n in text if n begins at i, or a negative number.
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
			// The text was cut here.
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

// decode returns the character at i, which may be escaped several times.
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

// entity returns the character of an HTML character reference.
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
	n, _ := strconv.ParseUint(digits, 16, 8) // valid: see isHex
	return byte(n)
}

// SecretsOf returns the secrets in the value of a member, header or parameter. If
// the name is not that of a secret, it returns nil. Otherwise it returns the value
// and its parts that are secrets themselves, such as the token after "Bearer".
func SecretsOf(name, value string) []string {
	if !IsSecretName(name) {
		return nil
	}
	return SecretsInValue(value)
}

// SecretsInValue is like SecretsOf for a name that is known to be that of a secret.
func SecretsInValue(value string) []string {
	list := []string{value}
	scheme, _, _ := strings.Cut(value, " ")
	if strings.HasPrefix(scheme, "AWS4-") {
		// The names of signed headers are not secrets.
		_, signature, _ := strings.Cut(value, "Signature=")
		_, credential, _ := strings.Cut(value, "Credential=")
		id, _, _ := strings.Cut(credential, "/")
		return append(list, signature, id)
	}
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

// nameEnds are the last words of names of secrets.
var nameEnds = [...]string{"key", "token", "auth", "authorization", "cookie", "signature", "sig"}

// IsSecretName reports whether a header, parameter or member with this name holds a
// secret.
func IsSecretName(name string) bool {
	if isSecretName(name) {
		return true
	}
	word := strings.LastIndexAny(name, "-_")
	return word >= 0 && slices.ContainsFunc(nameEnds[:], func(end string) bool { return strings.EqualFold(name[word+1:], end) }) // bounded by nameEnds
}

// MemberValue returns the value of a member of a vendor's error cleaned as by
// [Text], or "[removed]" if the name is that of a key or password.
func MemberValue(name, value string) string {
	if len(name) >= len("secret") && value != "" && isSecretName(name) && !strings.HasSuffix(strings.ToLower(name), "signature") {
		return mask
	}
	if isAccountName(name) && isAccountID(value) {
		return mask
	}
	return Text(value)
}
