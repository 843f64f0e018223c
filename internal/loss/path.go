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
