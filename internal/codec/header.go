package codec

import (
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/upstream"
)

// HeaderList returns the values of comma-separated header lines in order, trimmed and
// without duplicates and empty values. Its time is linear in the length of the lines.
func HeaderList(lines ...string) []string {
	const few = 16 // up to this length, pairwise comparison is faster than a map
	var list []string
	var seen map[string]bool
	for _, line := range lines {
		for v := range strings.SplitSeq(line, ",") {
			v = strings.TrimSpace(v)
			if v == "" || seen[v] || seen == nil && slices.Contains(list, v) { // bounded by few
				continue
			}
			list = append(list, v)
			switch {
			case seen != nil:
				seen[v] = true
			case len(list) == few:
				seen = make(map[string]bool, 2*few)
				for _, v := range list {
					seen[v] = true
				}
			}
		}
	}
	return list
}

// HeaderOf returns the header with fields.
func HeaderOf(fields []upstream.HeaderField) http.Header {
	h := make(http.Header, len(fields))
	for _, f := range fields {
		h.Add(f.Name, f.Value)
	}
	return h
}
