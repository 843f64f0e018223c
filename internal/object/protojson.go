package object

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/internal/jsonwire"
)

// The JSON form of protocol buffers accepts numbers as texts.

// Int returns an integer, which may be written as a text.
func Int(x jsonwire.Value, form Form) (int64, bool) {
	n, ok := x.Int()
	if x.Kind() == jsonwire.String {
		if s := x.Str(); isNumber(s) {
			digits, fraction, _ := strings.Cut(s, ".")
			var err error
			n, err = strconv.ParseInt(digits, 10, 64)
			ok = err == nil && strings.Trim(fraction, "0") == ""
		}
	}
	return n, ok && (form != Int32 || n == int64(int32(n)))
}

// Float returns a number, which may be written as a text.
func Float(x jsonwire.Value) (float64, bool) {
	if x.Kind() != jsonwire.String {
		return x.Float()
	}
	if s := x.Str(); isNumber(s) {
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil
	}
	return 0, false
}

// isNumber reports whether s is a JSON number of at most 64 bytes.
func isNumber(s string) bool {
	if s == "" || len(s) > 64 || s[0] != '-' && (s[0] < '0' || s[0] > '9') || s[len(s)-1] < '0' || s[len(s)-1] > '9' {
		return false
	}
	return jsonwire.Valid(s, jsonwire.Limits{}) == nil
}
