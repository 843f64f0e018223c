package upstream

import "net/http"

// A FormatHandler is the handler of one wire format. The Handlers of the packages of formats
// implement it.
type FormatHandler interface {
	http.Handler

	// Match reports whether the handler serves the path of r, for any method. Paths that several
	// formats have, such as that of the list of models, match by their headers, too.
	Match(r *http.Request) bool

	// Resembles reports whether r looks like a request of a client of the format, by its headers
	// and the form of its path, whether or not the handler serves the path.
	Resembles(r *http.Request) bool
}

// Handlers returns a handler that serves several formats on one mux. Each request goes to the first
// of list that it matches. One that none of them matches goes to the first that it resembles, or
// else to the last of list, which responds with status 404 in a form that the client can read.
//
// Place the handler of generateContent first: some of its paths also match others. Each handler
// has a Budget of its own unless their options have the same one: see [HandlerOptions].
//
// It panics if list is empty or has a nil element.
func Handlers(list ...FormatHandler) http.Handler {
	if len(list) == 0 {
		panic("upstream: Handlers without a handler")
	}
	for _, h := range list {
		if h == nil {
			panic("upstream: Handlers with a nil handler")
		}
	}
	list = append([]FormatHandler(nil), list...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { choose(list, r).ServeHTTP(w, r) })
}

// choose returns the handler for r.
func choose(list []FormatHandler, r *http.Request) FormatHandler {
	for _, h := range list {
		if h.Match(r) {
			return h
		}
	}
	for _, h := range list {
		if h.Resembles(r) {
			return h
		}
	}
	return list[len(list)-1]
}
