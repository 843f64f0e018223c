// Package anthropic lets any front ask servers that speak the Messages format:
// the vendor's own API, and local or other servers that resemble it.
//
//	up, err := anthropic.New(anthropic.Options{Key: os.Getenv("ANTHROPIC_API_KEY")})
//	http.Handle("/", messages.NewHandler(up, nil))
//
// A request that came in this format goes on byte for byte, but for the name of
// the model, with the version and the betas of its client; answers come back
// the same way. A request of another format is told in this one, and what that
// loses is reported before anything is sent: see [upstream.Writer.Loss].
//
// The model is asked what the user said last, or nothing: no other words stand
// for it. If only another vendor understands what was said, that is reported as
// lost, and the request fails with a [content.Violation] that names the part. It
// fails too, naming the turn, if nothing was said but white space, which Messages
// refuses.
package anthropic
