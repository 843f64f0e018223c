package upstream

import (
	"net/http"
	"slices"
)

// A FormatHandler is the handler of a wire format, or of several: see [Handlers]. NewHandler
// and NewValidator of the packages of formats return one. It is safe for concurrent use.
type FormatHandler interface {
	http.Handler

	// Match reports whether the handler serves the path of r, for any method. Paths that several
	// formats have, such as that of the list of models, match by their headers, too.
	Match(r *http.Request) bool

	// Resembles reports whether r looks like a request of a client of the format, by its headers
	// and the form of its path, whether or not the handler serves the path.
	Resembles(r *http.Request) bool

	// WriteError responds to r with an error in the form of the format, for middleware around the
	// handler, and for a proxy behind a validator. It treats err as an error of the Upstream: see
	// [Error] and [content.Violation]. Nothing may have been written to w before. The request is
	// logged and reported to OnDone.
	WriteError(w http.ResponseWriter, r *http.Request, err error)
}

// Handlers returns a handler that serves several formats on one mux. Use
// [github.com/polywire/polywire.NewHandler] to serve all formats with the same options. Each request goes to the first
// of list that it matches. One that none of them matches goes to the first that it resembles, or
// else to the last of list, which responds with status 404 in a form that the client can read.
//
// Place the handler of generateContent first: some of its paths also match others. Each handler
// has a Budget of its own unless their options have the same one: see [HandlerOptions].
//
// It panics if list is empty or has a nil element.
func Handlers(list ...FormatHandler) FormatHandler {
	if len(list) == 0 {
		panic("upstream: Handlers without a handler")
	}
	if slices.Contains(list, nil) { // bounded by the host
		panic("upstream: Handlers with a nil handler")
	}
	return handlers(slices.Clone(list))
}

type handlers []FormatHandler

// ServeHTTP passes r to the handler of its format.
func (l handlers) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.choose(r).ServeHTTP(w, r) }

// WriteError responds in the form of the format of r.
func (l handlers) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	l.choose(r).WriteError(w, r, err)
}

// Match reports whether one of the handlers matches r.
func (l handlers) Match(r *http.Request) bool { return l.find(r, FormatHandler.Match) >= 0 }

// Resembles reports whether r resembles a request of a client of one of the handlers.
func (l handlers) Resembles(r *http.Request) bool { return l.find(r, FormatHandler.Resembles) >= 0 }

// choose returns the handler for r.
func (l handlers) choose(r *http.Request) FormatHandler {
	i := l.find(r, FormatHandler.Match)
	if i < 0 {
		i = l.find(r, FormatHandler.Resembles)
	}
	if i < 0 {
		i = len(l) - 1
	}
	return l[i]
}

// find returns the index of the first handler that fits r, or -1.
func (l handlers) find(r *http.Request, fits func(FormatHandler, *http.Request) bool) int {
	return slices.IndexFunc(l, func(h FormatHandler) bool { return fits(h, r) }) // bounded by the host
}
