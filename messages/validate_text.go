package messages

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// What the vendor says of values that are out of bounds.

func textAtLeast(n int64) string {
	return "Input should be greater than or equal to " + strconv.FormatInt(n, 10)
}

func textUpTo(n int64) string {
	return "Input should be less than or equal to " + strconv.FormatInt(n, 10)
}

func textAtMost(n int, what string) string {
	return "String should have at most " + counted(n, what)
}

func textItems(limit, n int) string {
	return "List should have at most " + counted(limit, "item") + " after validation, not " + strconv.Itoa(n)
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

func textPattern(pattern string) string { return "String should match pattern '" + pattern + "'" }

// textOneOf lists the values of a closed set.
func textOneOf(allowed []string) string {
	var b strings.Builder
	b.WriteString("Input should be ")
	for i, s := range allowed {
		switch {
		case i == 0:
		case i == len(allowed)-1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString("'" + s + "'")
	}
	return b.String()
}

// quoteTags lists the tags of a union.
func quoteTags(tags []string) string { return "'" + strings.Join(tags, "', '") + "'" }

// isName reports whether s is 1 to limit letters, digits, '_' and '-'.
func isName(s string, limit int) bool {
	if s == "" || len(s) > limit {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// isBlank reports whether s is nothing but white space.
func isBlank(s string) bool {
	if s != "" && s[0] > ' ' && s[0] < utf8.RuneSelf {
		return false
	}
	return strings.TrimSpace(s) == ""
}
