package messages

import "strings"

// memberText returns the text of a member of a checked JSON object, and whether
// there is one. Only what stands before it is looked at: a schema of some
// kilobytes is mostly behind its "type". Names with escapes are not found.
func memberText(object, name string) (text string, found bool) {
	i := strings.IndexByte(object, '{') + 1
	for i > 0 && i < len(object) {
		i = skipTo(object, i, '"', '}')
		if i >= len(object) || object[i] == '}' {
			break
		}
		end := stringEnd(object, i)
		is := object[i+1:max(i+1, end-1)] == name
		from := skipTo(object, end, ':', ':') + 1
		for from < len(object) && blankByte(object[from]) {
			from++
		}
		if from >= len(object) {
			break
		}
		i = valueEnd(object, from)
		if is {
			return object[from:i], true
		}
	}
	return "", false
}

func blankByte(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// skipTo returns the index of the first a or b from i on.
func skipTo(s string, i int, a, b byte) int {
	for i < len(s) && s[i] != a && s[i] != b {
		i++
	}
	return i
}

// stringEnd returns the index behind the string that begins at i.
func stringEnd(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// valueEnd returns the index behind the value that begins at i.
func valueEnd(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			if i = stringEnd(s, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(s)
}
