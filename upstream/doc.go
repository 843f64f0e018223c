// Package upstream is where a host plugs its models in.
//
// An [Upstream] answers a neutral [Request] through a [Writer]. The handlers
// of packages messages and generatecontent serve any Upstream in their format;
// the packages below this one are ready-made Upstreams.
//
// # Writing one
//
// An Upstream has the shape of an http.Handler: it reads the request and
// writes the answer, and one method serves plain and streamed replies alike.
// Returning nil says that the answer is whole; an error ends it where it
// stands. See [Func] and the example of the package.
//
// An Upstream may have three abilities besides: to count tokens ([TokenCounter]),
// to list its models ([ModelLister]), and to tell beforehand what a request would
// lose ([Preflighter]). They are used through [CountTokens], [Models] and
// [Preflight]. Package upstreamtest checks that an Upstream does all of this well.
//
// # Serving one
//
// [HandlerOptions] is what handlers of all formats take from a host: limits, keys, where
// files come from, hooks and the log.
//
// # Wrapping one
//
// [Edit] changes requests on their way in, [Tap] sees and changes answers on
// their way out. Both keep the abilities of what they wrap. [Mux] hands requests
// to one of several Upstreams, by the name of the model; [First] to the first of
// a list that can take the request without a loss that it refuses.
//
// # Calling one
//
// [Run] is the one way to call an Upstream. [Collect] and [Events] are built
// on it: the one gives a whole reply, the other an iterator.
package upstream
