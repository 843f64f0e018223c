// Package gemini lets any front ask servers that speak the content generation
// format: the vendor's own API, and other servers that resemble it.
//
//	up, err := gemini.New(gemini.Options{Key: os.Getenv("GEMINI_API_KEY")})
//	http.Handle("/", messages.NewHandler(up, nil))
//
// A request that came in this format goes on byte for byte; answers come back
// the same way. A request of another format is told in this one, and what that
// loses is reported before anything is sent: see [upstream.Writer.Loss].
package gemini
