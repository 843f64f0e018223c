package codec

import (
	"strings"

	"github.com/polywire/polywire/internal/redact"
)

// MaxModelName is the maximum length of a model name in a request, in bytes.
const MaxModelName = 1024

// MaxQuoted is the maximum length of text from the document that an error quotes, in
// bytes.
const MaxQuoted = 64

// Clip returns s for quoting in an error. It shortens s to [MaxQuoted] bytes, and
// removes user-info, query and fragment from URLs.
func Clip(s string) string {
	if strings.Contains(s, "//") {
		s = redact.Line(s)
	}
	if len(s) <= MaxQuoted {
		return s
	}
	n := 0
	for i := range s {
		if i > MaxQuoted {
			break
		}
		n = i
	}
	return s[:n] + "…"
}

// IsName reports whether s matches ^[a-zA-Z0-9_-]+$, as ids of tool calls and names of tools must
// in most formats.
func IsName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return s != ""
}
