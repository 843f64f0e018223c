// Package redact removes secrets from texts of another server.
package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxLine  = 2 << 10  // bytes that Line returns
	maxText  = 16 << 10 // bytes that Text returns
	maxInput = 64 << 10 // bytes of the input; the rest is dropped
	mask     = "[removed]"
)

// Line returns text as one line of at most 2 KiB without secrets. White space and
// control characters become single spaces, bytes that are not UTF-8 become U+FFFD.
// User-info, query and fragment of URLs are removed. Keys, tokens and passwords
// become "[removed]"; in doubt, Line removes.
func Line(text string) string { return clean(text, maxLine, true) }

// Text is like Line for a text of at most 16 KiB that is sent to clients of the
// vendor's own format. It keeps line breaks and runs of spaces, and long words of
// letters and digits, such as ids, that do not begin like a key.
func Text(text string) string { return clean(text, maxText, false) }

func clean(text string, limit int, line bool) string {
	long := len(text) > maxInput
	if long {
		// The last word may be half a key.
		text = text[:maxInput]
		text = text[:strings.LastIndexAny(text, " \t\r\n")+1]
	}
	var b strings.Builder
	hide := false   // the next word is a secret
	named := false  // the previous word is the name of a secret
	hideID := false // the previous word is the name of an account; the next one is a secret if it is an id
	at := 0
	for word := range strings.FieldsFuncSeq(text, isSeparator) {
		next := len(text) - len(strings.TrimLeftFunc(text[at:], isSeparator))
		space := text[at:next]
		at = next + len(word)
		word = strings.ToValidUTF8(word, string(utf8.RuneError))

		// Names and schemes count before and after the word is cleaned:
		// cleaning the result again must find the same secrets.
		clean := cleanWord(word)
		if hideID {
			clean = eachPiece(clean, removeID)
		}
		if name := strings.Trim(word, pieceSeparators+":="); name != "" {
			hideID = isAccountName(name) || hideID && (strings.EqualFold(name, "id") || strings.EqualFold(name, "number"))
		}
		isValue := hide
		hide = isScheme(word)
		if !isValue && !hide {
			hide = announces(word) || named && isAssign(word)
		}
		isName := isSecretName(word)
		if clean != word {
			hide = hide || isScheme(clean) || !isValue && (announces(clean) || named && isAssign(clean))
			isName = isName || isSecretName(clean)
		}
		if clean != "" {
			named = isName
		}
		switch {
		case isValue:
			clean = mask
		case line && len(clean) >= minOpaque:
			clean = eachPiece(clean, removeOpaque)
		}

		switch {
		case !line:
			space = strings.Map(toSpace, space)
		case clean == "":
			continue
		case b.Len() > 0:
			space = " "
		default:
			space = ""
		}
		if b.Len()+len(space)+len(clean) > limit {
			long = true
			room := limit - b.Len() - len(" …")
			if room > 0 && b.Len() == 0 {
				b.WriteString(cut(clean, room))
			}
			break
		}
		b.WriteString(space)
		b.WriteString(clean)
	}
	if long {
		return cut(b.String(), limit-len(" …")) + " …"
	}
	if rest := text[at:]; !line && b.Len()+len(rest) <= limit {
		b.WriteString(strings.Map(toSpace, rest))
	}
	return b.String()
}

// toSpace returns a space for control characters that are not white space.
func toSpace(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
		return ' '
	}
	return r
}

func isSeparator(r rune) bool {
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

// announces reports whether word is the name of a secret with a colon or an
// equals sign, so that the next word is a secret.
func announces(word string) bool {
	name, ok := strings.CutSuffix(strings.Trim(word, `"'`+"`"), ":")
	if !ok {
		name, ok = strings.CutSuffix(name, "=")
	}
	return ok && isSecretName(strings.Trim(name, `"'`+"`"))
}

func isAssign(word string) bool { return word == "=" || word == ":" }

// isScheme reports whether word is the name of an authentication scheme.
func isScheme(word string) bool {
	word = strings.TrimLeft(word, `"'`+"`:")
	return strings.EqualFold(word, "bearer") || strings.EqualFold(word, "basic")
}

// isSecretName reports whether values of this name are secrets. It does not allocate: it is called
// for each header of each request.
func isSecretName(name string) bool {
	for _, whole := range [...]string{"key", "token", "auth", "sig", "signature", "pass", "pwd", "authorization", "cookie", "setcookie"} {
		if rest, ok := cutName(name, whole); ok && strings.Trim(rest, "-_") == "" {
			return true
		}
	}
	for _, end := range [...]string{"apikey", "secret", "password", "accesskey", "secretkey", "accesstoken",
		"authtoken", "credential", "credentials"} {
		if _, ok := cutName(name, end); ok {
			return true
		}
	}
	return false
}

// cutName returns name without the end that it has in any case, and with hyphens and underscores anywhere.
func cutName(name, end string) (rest string, ok bool) {
	for i := len(end); i > 0; {
		n := len(name)
		if n == 0 {
			return "", false
		}
		if c := name[n-1]; c != '-' && c != '_' {
			if i--; lower(c) != end[i] {
				return "", false
			}
		}
		name = name[:n-1]
	}
	return name, true
}

// cleanWord removes secrets that have a name or begin like a key, and parts of
// URLs. Cleaning the result again does not change it.
func cleanWord(word string) string {
	list := strings.Split(word, mask)
	for i := range list {
		list[i] = cleanPieces(list[i])
	}
	return strings.Join(list, mask)
}

const pieceSeparators = "\"'`<>(){}[]|,;"

// cleanPieces cleans the pieces of a word that quotes and brackets separate.
func cleanPieces(word string) string {
	if len(word) < 8 && !strings.ContainsAny(word, ":=?") {
		return word
	}
	var b strings.Builder
	secret := false // the next piece is the value of a secret name
	for word != "" {
		n := strings.IndexAny(word, pieceSeparators)
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
			clean := cleanPiece(piece)
			b.WriteString(clean)
			secret = secret || isSecretName(strings.TrimRight(piece, ":=")) || isSecretName(strings.TrimRight(clean, ":="))
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

// cleanPiece cleans a string without quotes and brackets. It removes everything
// from the first key, or from the value of the first secret name, to the end.
func cleanPiece(s string) string {
	s = removeResource(s)
	if i := strings.Index(s, "//"); i >= 0 {
		s = s[:i+2] + authority(s[i+2:])
	}
	// A query is removed without its URL, too.
	if i := strings.IndexByte(s, '?'); i >= 0 && (strings.IndexByte(s[i:], '=') > 0 || strings.Contains(s, "//")) {
		if end := strings.TrimRight(s, "?!."); i < len(end) {
			s = s[:i]
		}
	}
	trimmed := strings.TrimRight(s, ".:!?")
	name := 0 // where the name of a value begins
	for i := range len(s) {
		if (i == 0 || !isKeyByte(s[i-1])) && i < len(trimmed) && (isKey(trimmed[i:]) || isPrefixedID(trimmed[i:])) {
			return s[:i] + mask + s[len(trimmed):]
		}
		switch s[i] {
		case '=', ':':
			if i+1 < len(s) && isSecretName(s[name:i]) {
				return s[:i+1] + mask
			}
			if rest := s[i+1:]; isAccountName(s[name:i]) && removeID(rest) != rest {
				return s[:i+1] + removeID(rest)
			}
			name = i + 1
		case '&', '?':
			name = i + 1
		}
	}
	return s
}

// eachPiece returns word with remove applied to its pieces. What was removed
// before stays.
func eachPiece(word string, remove func(string) string) string {
	var b strings.Builder
	for word != "" {
		n := strings.IndexAny(word, pieceSeparators)
		if n < 0 {
			n = len(word)
		}
		b.WriteString(remove(word[:n]))
		word = word[n:]
		if word != "" {
			b.WriteByte(word[0])
			word = word[1:]
		}
	}
	return b.String()
}

// removeOpaque removes a long random value, with or without a name before it.
func removeOpaque(s string) string {
	tail := ""
	if i := strings.LastIndexByte(s, '='); i > 0 && isOpaque(s[i+1:]) {
		s, tail = s[:i+1], mask
	}
	if trimmed := strings.TrimRight(s, ".:!?"); isOpaque(trimmed) || isOpaque(strings.TrimRight(trimmed, "=")) {
		s = mask + s[len(trimmed):]
	}
	return s + tail
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

// isKeyByte reports whether c is a letter, a digit or a hyphen of a key or name.
// A key begins after any other byte.
func isKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

// keyPrefixes are the prefixes of keys of well-known services, and the lengths
// from which a value with that prefix is a key.
var keyPrefixes = [...]struct {
	prefix string
	length int
}{
	{"sk-", 8}, {"pk-", 16}, {"rk-", 16}, {"sk_", 16}, {"AIza", 16}, {"ya29.", 8}, {"ghp_", 16}, {"gho_", 16},
	{"github_pat_", 16}, {"glpat-", 12}, {"xox", 16}, {"AKIA", 16}, {"ASIA", 16}, {"eyJ", 20}, {"hf_", 16},
	{"gsk_", 16}, {"xai-", 16}, {"pw1.", 8}, {"toolu_pwsig_", 16},
}

// isKey reports whether s begins like a key.
func isKey(s string) bool {
	for _, k := range keyPrefixes {
		if len(s) >= k.length && strings.HasPrefix(s, k.prefix) {
			return true
		}
	}
	return false
}

// minOpaque is the length from which a word of letters and digits may be a secret.
const minOpaque = 32

// isOpaque reports whether s is a long run of letters and digits without a
// pattern: hexadecimal, or a mix of upper case, lower case and digits.
func isOpaque(s string) bool {
	if len(s) < minOpaque {
		return false
	}
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
