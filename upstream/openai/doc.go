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
// The model is asked what the user said last, or nothing: no other words stand
// for it. If only another vendor understands what was said, that is reported as
// lost, and the request fails with a [content.Violation] that names the part. Only for
// an empty message a sentence is sent that says so.
//
// # Servers that resemble the vendor's
//
// A server whose host is not the vendor's counts as compatible: it is not sent
// what only the vendor knows, and some members go by their older names. What its
// answers show need not be configured: where thoughts stand, how calls are
// numbered and named, whether and where usage comes, how the answer ends.
// [Dialect] holds the rest: how thinking is turned on and off, which files the
// models read, and what becomes of a request with others. What DeepSeek's and
// Mistral's own hosts want is known.
//
// If a server refuses a field by name, with a status of 400 or 422, the request
// is sent once more without it, or with it said in another way. This happens
// before the answer begins, at most four times for a request, and only with
// fields that do not change what is asked. What is lost by it is reported. The
// client remembers it for the model: later requests are right at once, and
// report the same. Over responses a request is also sent once more without
// earlier thoughts, if the server says that it cannot read them.
package openai
