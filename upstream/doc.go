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
// # Wrapping one
//
// [Edit] changes requests on their way in, [Tap] sees and changes answers on
// their way out. Both keep the optional abilities of what they wrap. [Mux]
// hands requests to one of several Upstreams, by the name of the model; [First]
// to the first of a list that can say what the request asks.
//
// # Calling one
//
// [Run] is the one way to call an Upstream. [Collect] and [Events] are built
// on it: the one gives a whole reply, the other an iterator.
package upstream
