// Package anthropic implements [upstream.Upstream] for servers with the Messages
// API: the vendor's own, and other servers with a compatible API.
//
//	up, err := anthropic.New(&anthropic.Options{Key: os.Getenv("ANTHROPIC_API_KEY")})
//	http.Handle("/", messages.NewHandler(up, nil))
//
// A request that arrived in this format is sent byte for byte, except for the
// model's name, with the client's version and betas. Responses are forwarded in the
// same way. A request of another format is converted to Messages, and losses are
// reported before anything is sent: see [upstream.Writer.Loss].
//
// The last user message must reach the model. If all of it is specific to another
// vendor, or it has no parts, the losses are reported and the request fails with a
// [content.Violation] that names the part or the turn. If it contains only white
// space, which Messages refuses, a sentence is sent instead and reported as a loss.
package anthropic
