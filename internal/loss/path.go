package loss

import "strings"

// EventPath returns the path of the loss of an event of a stream: its name, if
// that can be told, else "events".
func EventPath(name string) string {
	if name == "" || len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "" {
		return "events"
	}
	return name
}
