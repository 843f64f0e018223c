// Package redact makes words of another server fit to be shown.
package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxLine  = 2 << 10  // bytes of a line that is passed on
	maxText  = 16 << 10 // bytes of a text that is
	maxInput = 64 << 10 // more is not looked at
	mask     = "[removed]"
)

// Line returns text as one line of at most 2 KiB that holds no secret: white
// space and control characters become single spaces, bytes that are not UTF-8
// U+FFFD; out of URLs go user-info, query and fragment; what looks like a key,
// a token or a password is replaced by "[removed]". That errs on the side of
// removing too much.
func Line(text string) string { return clean(text, maxLine, line) }

// Text is Line for at most 16 KiB of a text that goes to clients of the server's
// own format: line breaks and runs of spaces stay, and so do long words of letters
// and digits, such as ids, that do not begin like a key.
func Text(text string) string { return clean(text, maxText, whole) }

// A shape is what becomes of a text.
type shape bool

const (
	line  shape = false
	whole shape = true // as Text has it
)

func clean(text string, most int, s shape) string {
	long := len(text) > maxInput
	if long {
		// The last word may be half a key.
		text = text[:maxInput]
		text = text[:strings.LastIndexAny(text, " \t\r\n")+1]
	}
	var b strings.Builder
	hide := 0  // words that are still to be hidden
	last := "" // the word before
	at := 0
	for word := range strings.FieldsFuncSeq(text, separates) {
		next := len(text) - len(strings.TrimLeftFunc(text[at:], separates))
		space := text[at:next]
		at = next + len(word)
		word = strings.ToValidUTF8(word, string(utf8.RuneError))
		clean := s.word(word)
		if hide > 0 {
			hide--
			clean = mask
			if isScheme(word) {
				hide = 1 // "authorization: Bearer …"
			}
		} else if announces(word) || (word == "=" || word == ":") && isSecretName(last) {
			hide = 1
		}
		last = word
		switch {
		case s == whole:
			space = strings.Map(blank, space)
		case clean == "":
			continue
		case b.Len() > 0:
			space = " "
		default:
			space = ""
		}
		if b.Len()+len(space)+len(clean) > most {
			long = true
			room := most - b.Len() - len(" …")
			if room > 0 && b.Len() == 0 {
				b.WriteString(cut(clean, room))
			}
			break
		}
		b.WriteString(space)
		b.WriteString(clean)
	}
	if long {
		return cut(b.String(), most-len(" …")) + " …"
	}
	if rest := text[at:]; s == whole && b.Len()+len(rest) <= most {
		b.WriteString(strings.Map(blank, rest))
	}
	return b.String()
}

// blank keeps white space, and makes spaces of other separators.
func blank(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
		return ' '
	}
	return r
}

func separates(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029'
}

// cut returns the beginning of s that is at most n bytes long and ends with a
// whole character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// announces reports whether the word behind this one is a secret.
func announces(word string) bool {
	if isScheme(word) {
		return true
	}
	name, ok := strings.CutSuffix(strings.Trim(word, `"'`+"`"), ":")
	if !ok {
		name, ok = strings.CutSuffix(name, "=")
	}
	return ok && isSecretName(strings.Trim(name, `"'`+"`"))
}

// isScheme reports whether word is the name of a way to authenticate.
func isScheme(word string) bool {
	word = strings.TrimLeft(word, `"'`+"`:")
	return strings.EqualFold(word, "bearer") || strings.EqualFold(word, "basic")
}

// isSecretName reports whether values of this name are secrets.
func isSecretName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
	switch name {
	case "key", "token", "auth", "sig", "signature", "pass", "pwd", "authorization", "cookie", "setcookie":
		return true
	}
	for _, end := range [...]string{"apikey", "secret", "password", "accesskey", "secretkey", "accesstoken",
		"authtoken", "credential", "credentials"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// word cleans a word. What was removed before stays as it is.
func (s shape) word(word string) string {
	if !strings.Contains(word, mask) {
		return s.pieces(word)
	}
	list := strings.Split(word, mask)
	for i := range list {
		list[i] = s.pieces(list[i])
	}
	return strings.Join(list, mask)
}

// pieces cleans a word piece by piece between quotes and brackets.
func (s shape) pieces(word string) string {
	if len(word) < 8 && !strings.ContainsAny(word, ":=?") {
		return word
	}
	var b strings.Builder
	secret := false // the next piece is the value of a secret name
	for word != "" {
		n := strings.IndexAny(word, "\"'`<>(){}[]|,;")
		if n < 0 {
			n = len(word)
		}
		piece := word[:n]
		switch {
		case piece == "":
		case secret && strings.Trim(piece, ":=") != "":
			b.WriteString(mask)
			secret = false
		default:
			b.WriteString(s.piece(piece))
			secret = secret || isSecretName(strings.TrimRight(piece, ":="))
		}
		word = word[n:]
		if word != "" {
			if word[0] == ',' || word[0] == ';' {
				secret = false
			}
			b.WriteByte(word[0])
			word = word[1:]
		}
	}
	return b.String()
}

// piece cleans what has no quotes and brackets.
func (how shape) piece(s string) string {
	if i := strings.Index(s, "//"); i >= 0 {
		s = s[:i+2] + authority(s[i+2:])
	}
	// A query without its URL is as telling.
	if i := strings.IndexByte(s, '?'); i >= 0 && (strings.IndexByte(s[i:], '=') > 0 || strings.Contains(s, "//")) {
		if end := strings.TrimRight(s, "?!."); i < len(end) {
			s = s[:i]
		}
	}
	if i := strings.IndexAny(s, "=:"); i > 0 && i+1 < len(s) && isSecretName(s[:i]) {
		return s[:i+1] + mask
	}
	if i := strings.LastIndexByte(s, '='); i > 0 && i+1 < len(s) && how.isKey(s[i+1:]) {
		return s[:i+1] + mask
	}
	trimmed := strings.TrimRight(s, ".:!?")
	if how.isKey(trimmed) {
		return mask + s[len(trimmed):]
	}
	return s
}

// authority removes user-info and fragment from what follows the "//" of a
// URL.
func authority(s string) string {
	end := strings.IndexAny(s, "/?#")
	if end < 0 {
		end = len(s)
	}
	host := s[strings.LastIndexByte(s[:end], '@')+1:]
	host, _, _ = strings.Cut(host, "#")
	return host
}

// isKey reports whether s looks like a key: it begins as those of well-known
// services do, or is long and without a pattern.
func (how shape) isKey(s string) bool {
	for _, k := range [...]struct {
		prefix string
		length int
	}{
		{"sk-", 8}, {"pk-", 16}, {"rk-", 16}, {"sk_", 16}, {"AIza", 16}, {"ya29.", 8}, {"ghp_", 16}, {"gho_", 16},
		{"github_pat_", 16}, {"glpat-", 12}, {"xox", 16}, {"AKIA", 16}, {"ASIA", 16}, {"eyJ", 20}, {"hf_", 16},
		{"gsk_", 16}, {"xai-", 16}, {"pw1.", 8}, {"toolu_pwsig_", 16},
	} {
		if len(s) >= k.length && strings.HasPrefix(s, k.prefix) {
			return true
		}
	}
	return how == line && len(s) >= 32 && opaque(s)
}

// opaque reports whether s is a long run of letters and digits as only
// machines write them: hexadecimal, or upper and lower case and digits mixed.
func opaque(s string) bool {
	var upper, lower, digit, other, hex int
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'f':
			lower++
			hex++
		case c >= 'a' && c <= 'z':
			lower++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= '0' && c <= '9':
			digit++
			hex++
		case c == '-', c == '_', c == '+', c == '/', c == '=':
			other++
		default:
			return false
		}
	}
	if hex == len(s) && digit > 0 {
		return true
	}
	return upper > 2 && lower > 2 && digit > 2 && other*8 < len(s)
}
