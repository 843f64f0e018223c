// Package openai lets any front ask servers that speak chat completions or
// responses: the vendor's own API, and the many servers that resemble it,
// local ones among them.
//
//	up, err := openai.New(openai.Options{BaseURL: "http://localhost:8000/v1"})
//	http.Handle("/", messages.NewHandler(up, nil))
//
// [New] speaks chat completions, [NewResponses] responses. The vendor's newest
// models take tools over responses only; most other servers know chat
// completions best.
//
// A request is told in the format of the server, and what that loses is
// reported before anything is sent: see [upstream.Writer.Loss]. Nothing of a
// client's headers goes along.
//
// # Servers that resemble the vendor's
//
// A server whose host is not the vendor's counts as compatible: it is sent less
// that it may not know, and in older spellings. What its answers show need not
// be configured: where thoughts stand, how calls are numbered and named, whether
// and where usage comes, how the answer ends. [Dialect] holds the rest, and what
// DeepSeek's and Mistral's own hosts want is known.
//
// A field that a server refuses by name, with a status of 400 or 422, is left
// out, or said otherwise, and the request sent once more; the Client remembers it
// for the model and reports what is lost by it, each time. This happens before the answer begins, at most four
// times for a request, and only with fields that do not change what is asked.
package openai
