// Package gemini implements [upstream.Upstream] for servers with the generateContent
// API: the vendor's own, and other servers with a compatible API.
//
//	up, err := gemini.New(&gemini.Options{Key: os.Getenv("GEMINI_API_KEY")})
//	http.Handle("/", messages.NewHandler(up, nil))
//
// A request that arrived in this format is sent byte for byte, and responses are
// forwarded in the same way. If the host has chosen another model, which does not accept what the
// model that the client named accepts, the request is encoded for it, and losses are reported. A request of another format is converted to
// generateContent, and losses are reported before anything is sent: see
// [upstream.Writer.Loss] and [generatecontent.RequestFromUpstream].
//
// The last user message must reach the model. If all of it is specific to another
// vendor, the losses are reported and the request fails with a [content.Violation] that
// names the part. If it has no parts, a sentence that the message is empty is sent.
//
// # Models
//
// The Client derives what a model accepts from its name. Models of the third
// generation have thinking levels, sign their tool calls, and accept files in tool
// results. A tool call without a signature, from another vendor or a client that
// dropped it, is sent with the vendor's placeholder. Models of version 2.5 have
// thinking budgets, and files follow tool results. Older models do not support
// thinking. An unknown name is treated as that of a third-generation model, except
// that files follow tool results.
//
// If a request of another format enables thinking but does not set its display, the
// response includes the vendor's thinking summaries.
//
// # Files
//
// Links, and files that the handler's Resolver finds, are inlined after the losses
// were reported. Links that may be forwarded are not inlined. Files that the vendor
// stores are referenced by their names. Any other file, and a file of a type that the
// vendor does not accept, is a [content.Violation].
//
// # Google Cloud
//
// With a Project and a Location, requests go to Vertex AI:
//
//	up, err := gemini.New(&gemini.Options{Project: "p", Location: "global", KeyFunc: token})
//
// A model "x" is the resource projects/p/locations/global/publishers/google/models/x.
// The names "publisher/x", "endpoints/x" and "projects/…" are for models of other
// publishers, endpoints of the project, and other resources.
//
// A request that arrived in this format is sent byte for byte there, too, unless it has
// something that only the vendor's own API accepts: some members, tools and files,
// which are losses, or a turn without a role. The request is then encoded anew.
package gemini
