package loss

import "strings"

// EventPath returns the path of a loss in an event of a stream: the event's name
// if it is short and plain, otherwise "events".
func EventPath(name string) string {
	if name == "" || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "" {
		return "events"
	}
	return name
}

// MaxNames is the maximum number of members of one object that are reported by name.
const MaxNames = 64

// IsPlainName reports whether the name of a member looks like the names of formats. Other
// names are not reported.
func IsPlainName(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') && s[i] != '_' && s[i] != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 64
}
