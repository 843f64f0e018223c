// Package generatecontent implements the generateContent wire format,
// POST models/{model}:generateContent and the methods around it, for any model. It
// parses and validates requests, writes whole and streamed responses, and serves
// an [upstream.Upstream] over HTTP. It also implements the client side of the
// format, for upstreams that send requests to a server.
//
// # Serving
//
//	http.Handle("/v1beta/", generatecontent.NewHandler(up, nil))
//
// The vendor's own clients can use this service. Some of them send requests to
// /v1/, /v1alpha/ or /v1beta1/ instead. Other formats may use /v1/ too;
// [Handler.Match] reports whether a request is one of this format. The Content-Type of
// a body is application/json or missing. See [Options] for limits, keys and hooks, and
// [upstream.HandlerOptions] for the options that all formats share. The handler logs
// why a response failed to its Logger, or to slog.Default.
//
// # Without HTTP
//
// [DecodeRequest] parses and validates a request document and returns the neutral
// request with the document, so that an adapter of this format can send the same
// bytes. [ParseRequest] returns the format's own [Request], and [Request.Validate]
// reports everything that is wrong with it. [Request.Upstream] converts it to a neutral
// request, [RequestFromUpstream] and [RequestForTarget] convert back. The result of
// these has no document: it is encoded anew. [ResponseFromUpstream] makes a response of
// an [upstream.Response].
//
// [Request.Body] writes a request for a server. [NewStreamReader], [DecodeResponse],
// [DecodeError], [DecodeCount] and [DecodeModels] read what the server returns.
//
// A request encodes to one canonical document. Parsing that document gives an equal
// request. It may differ from the document that a request was parsed from: in the case
// and spelling of names and enums, in members with null or default values, in the form
// of numbers, and in how functions are grouped into tool objects. Free JSON, such as
// arguments and JSON Schemas, keeps its key order and numbers.
//
// # Violations
//
// Each violation of a document becomes one line of the error's message and one
// google.rpc.BadRequest field violation. Violations that parsing finds come first, then
// those of the rules, each in document order. A violation that parsing finds (CodeType,
// CodeUnknown, and CodeSyntax and CodeLimit of the whole document) has a text that is
// complete, in the vendor's words: "Invalid value at 'contents[0].parts[0]' (oneof), …".
// All others are "* GenerateContentRequest." followed by the path and the text, and the
// message ends with a line feed.
//
// # Signatures of other vendors
//
// State that another vendor requires later travels through the client in an envelope,
// as thoughtSignature. Thinking is sent as thoughts. If it is signed, it is sent again
// in the signature of the next call, because some clients return nothing but calls; in
// a response without a later call, it is sent in the signature of a text at the end.
// The signature of a text is sent again in the next call, too. [DecodeRequest] and
// [Request.Upstream] open what the client returns. No state is kept in between, so any
// replica can continue. Thinking of more than 4 MiB between two calls is not carried, nor
// is thinking of two vendors together; this is reported. For models of Gemini 3, whose
// vendor signs the first call of every response, the first call of another vendor's
// response has a placeholder signature, because clients expect one.
//
// # Losses
//
// Everything in a response that this format cannot represent is reported as a
// [content.Loss]: parts of other vendors' built-in tools, and parts of kinds that the
// format does not have. Citations become groundingMetadata, with a chunk for each source
// and a support for each text that cites. The exact place within a source is dropped,
// which is reported too. A tool call without a name, or whose arguments are not a JSON
// object, is dropped, and the response then ends with MALFORMED_FUNCTION_CALL. A stop
// reason that the vendor has no value for is sent as one that clients do not take for an
// ordinary end.
package generatecontent
