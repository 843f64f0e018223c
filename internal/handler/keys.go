package handler

import (
	"net/http"
	"slices"
	"strings"
)

// HeaderKeys returns every key in the lines of the format's own header, and in
// those of Authorization. What is no bearer token is no key.
func HeaderKeys(h http.Header, own string) []string {
	keys := slices.Clone(h.Values(own))
	for _, line := range h.Values("Authorization") {
		scheme, token, _ := strings.Cut(line, " ")
		if strings.EqualFold(scheme, "Bearer") {
			keys = append(keys, strings.TrimSpace(token))
		}
	}
	return keys
}
