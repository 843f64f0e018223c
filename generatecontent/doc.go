// Package generatecontent implements the generateContent wire format of Google, POST
// models/{model}:generateContent and the methods around it, for any model. It parses and validates
// requests, writes plain and streamed responses, and serves an [upstream.Upstream] over HTTP. It also
// implements the client side of the format, for upstreams that send requests to a server.
//
//	http.Handle("/v1beta/", generatecontent.NewHandler(up, nil))
//
// The vendor's own clients can use this service. Some of them send requests to /v1/, /v1alpha/ or
// /v1beta1/ instead; the method Match of the handler reports which requests are in this format, if
// several formats share a path. [Options] and [upstream.HandlerOptions] have limits, keys and hooks.
//
// # Without HTTP
//
// [DecodeRequest] parses and validates a request document and returns an [upstream.Request], as the
// handler does. [NewStreamWriter] and [NewArrayWriter] return an [upstream.StreamWriter] that writes a streamed
// response for the client that sent the request, and [EncodeResponse] and [EncodeError] return whole
// documents. The page docs/documents.md in the repository of this module has programs without HTTP,
// and what the handler does besides.
//
// [ParseRequest] returns a [Request] with the fields of the format, which the caller may change.
// [Request.Validate] reports every violation of the vendor's rules. [Request.Upstream] and
// [RequestFromUpstream] convert between a Request and the neutral form.
//
// [Request.Body] encodes a Request to one canonical document. Parsing that document gives an equal
// Request. It may differ from the document that a request was parsed from: in the case and spelling of
// names and enums, in members with null or default values, in the form of numbers, and in how functions
// are grouped into tool objects. Values that may be any JSON, such as arguments and JSON Schemas, keep
// their key order and numbers.
//
// [NewStreamReader], [DecodeResponse], [DecodeError], [DecodeCount] and [DecodeModels] read what a
// server sends. The page docs/adapters.md shows a complete client.
//
// # Violations
//
// Each violation of a document becomes one line of the error's message and one google.rpc.BadRequest
// field violation, those that parsing finds first. Their Text is the complete line, as the vendor
// writes it: "Invalid value at 'contents[0].parts[0]' (oneof), …". The line of any other violation is
// "* GenerateContentRequest.", the path, a colon and the Text.
//
// # State
//
// Some vendors require state of a response, such as signatures, in the next request. The client
// receives it as a thoughtSignature and returns it; [DecodeRequest] and [Request.Upstream] restore it,
// and the server keeps nothing. The page docs/signatures.md has the rules and the limits.
//
// # Losses
//
// What this format cannot represent is reported as a [content.Loss]: parts of other vendors' built-in
// tools, kinds of parts that the format does not have, and the exact places of citations within a
// source. A tool call without a name, or with arguments that are not a JSON object, is dropped, and the
// response then ends with MALFORMED_FUNCTION_CALL.
package generatecontent
