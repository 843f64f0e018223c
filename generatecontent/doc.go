// Package generatecontent speaks the content generation wire format,
// POST models/{model}:generateContent and what belongs to it, for any model: it
// parses and validates requests, writes whole and streamed answers, and serves
// an [upstream.Upstream] over HTTP. It is the client side of the format, too, for
// upstreams that ask a server.
//
// # Serving
//
//	http.Handle("/v1beta/", generatecontent.NewHandler(up, nil))
//
// That is a service that the vendor's own clients can talk to. Some of them ask
// for /v1/, /v1alpha/ or /v1beta1/ instead; below /v1/, where another format may be
// at home too, [Handler.Match] tells whose a request is. The Content-Type of a body
// is application/json or missing. See [Options] for limits, keys and hooks, and [upstream.HandlerOptions] for those that all formats share. Why an answer
// failed is told to its Logger, or else to slog.Default.
//
// # Without HTTP
//
// [ParseRequest] reads a request document and [Request.Validate] tells
// everything that is wrong with it. [Request.Upstream] says it in neutral
// words, [RequestFromUpstream] and [RequestForTarget] the other way round, and [ResponseFromUpstream] makes
// an answer of an [upstream.Response].
//
// [Request.Body] writes a request for a server. What that answers is read by
// [NewStreamReader], [DecodeResponse], [DecodeError], [DecodeCount] and
// [DecodeModels].
//
// # How faults are told
//
// Every fault of a document becomes one line of the error's message and one
// google.rpc.BadRequest field violation. A fault of reading (CodeType,
// CodeUnknown, and CodeSyntax and CodeLimit of the whole document) has a text
// that says everything, as the vendor has it: "Invalid value at
// 'contents[0].parts[0]' (oneof), …". All others are told as
// "* GenerateContentRequest." with the path and the text behind it, and the
// message ends with a line feed.
//
// # Signatures of other vendors
//
// What another vendor needs back travels through the client, sealed as
// thoughtSignature. Its thoughts go out as thoughts and, if they are signed, once
// more in the signature of the call behind them, since some clients give back
// nothing but calls; in an answer without a call behind them, in that of a
// text at the end. The signature of a text, too, goes out once more in the call
// behind it. [Request.Upstream] opens what comes back. Nothing is
// remembered in between, so any replica can go on. Thoughts of more than 4 MiB
// between two calls are not carried, nor are those of two vendors together; this
// is reported. Under the name of a model of Gemini 3, whose vendor signs the first
// call of every response, the first call of another vendor's response has a
// signature that stands for none, since clients expect one.
//
// # What is lost
//
// Whatever an answer says that this format cannot is reported as a
// [content.Loss]: parts of built-in tools of other vendors, and of kinds that it
// does not have. Citations become groundingMetadata, a chunk for each source and
// a support for each text that cites, which leaves out what exactly is cited in
// a source: that is reported too. A call that has no name, or whose arguments
// are no JSON object, is left out, and the answer then ends with MALFORMED_FUNCTION_CALL. A reason to
// stop that the vendor has no word for is told as one that no client takes for
// an ordinary end.
package generatecontent
