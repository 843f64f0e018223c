// Package gemini lets any front ask servers that speak the content generation
// format: the vendor's own API, and other servers that resemble it.
//
//	up, err := gemini.New(gemini.Options{Key: os.Getenv("GEMINI_API_KEY")})
//	http.Handle("/", messages.NewHandler(up, nil))
//
// A request that came in this format goes on byte for byte; answers come back
// the same way. A request of another format is told in this one, and what that
// loses is reported before anything is sent: see [upstream.Writer.Loss] and
// [generatecontent.RequestForTarget].
//
// The model is asked what the user said last, or nothing: no other words stand
// for it. If only another vendor understands what was said, that is reported as
// lost, and the request fails with a [content.Violation] that names the part. It
// fails too, naming the turn, if there is nothing but empty texts, which the
// vendor's models refuse.
//
// # Models
//
// What a model takes is read from its name. Models of the third generation think
// by levels, sign their calls, and take files in results. Where a call of theirs
// has no signature, because another vendor made it or the client lost it, the
// value stands that the vendor has for this. Those of 2.5 think by budgets, and
// files stand behind results; older ones do not think. Names that tell nothing
// are asked as new models are, but with files behind results.
//
// Who asks for thinking in another format and does not say how much of it to
// show is shown the vendor's summaries.
//
// # Files
//
// Links and files of the host's are put into the document after the losses were
// told, unless links may be passed on. Files that the vendor keeps are named as
// they are. A file of any other kind, or of a type that the vendor does not take,
// is a [content.Violation].
//
// # Other services
//
// The vendor's cloud service has the same methods under longer names: set BaseURL
// to its host, Version to "v1" and Bearer, and let Model return
// "projects/…/locations/…/publishers/google/models/…".
package gemini
