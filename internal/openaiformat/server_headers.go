package openaiformat

import (
	"net/http"
	"strings"

	"github.com/polywire/polywire/internal/handler"
)

// Headers has the methods of [handler.Protocol] for headers.
type Headers struct{}

// Owns reports whether r has none of the headers and queries of clients of other formats.
func (Headers) Owns(r *http.Request) bool {
	return r.Header.Get("Anthropic-Version") == "" && r.Header.Get("X-Goog-Api-Key") == "" && !r.URL.Query().Has("key")
}

// Resembles reports whether r has a key where these formats have it.
func (h Headers) Resembles(r *http.Request) bool { return len(h.Keys(r)) > 0 }

// Keys returns the keys in Api-Key, which clients of Azure send, and in Authorization. It
// ignores an Authorization that is not a bearer token.
func (Headers) Keys(r *http.Request) []string { return handler.HeaderKeys(r.Header, "Api-Key") }

// SetHeader sets the header that holds the id of the request.
func (Headers) SetHeader(h http.Header, id string) { h.Set("X-Request-Id", id) }

// ForwardsHeader reports whether responses of both formats have a header of the vendor: those
// about rate limits, and the time that the request took.
func (Headers) ForwardsHeader(name string) bool {
	return strings.HasPrefix(name, "X-Ratelimit-") || name == "Openai-Processing-Ms"
}
