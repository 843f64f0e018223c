// Package generatecontent implements the generateContent wire format, POST
// models/{model}:generateContent and the methods around it, for any model. It parses and
// validates requests, writes plain and streamed responses, and serves an
// [upstream.Upstream] over HTTP. It also implements the client side of the format, for
// upstreams that send requests to a server.
//
// # Serving
//
//	http.Handle("/v1beta/", generatecontent.NewHandler(up, nil))
//
// The vendor's own clients can use this service. Some of them send requests to /v1/,
// /v1alpha/ or /v1beta1/ instead. Other formats may use /v1/ too; [Handler.Match] reports
// whether a request is one of this format. The Content-Type of a body must be
// application/json if it is present. See [Options] for limits, keys and hooks, and
// [upstream.HandlerOptions] for the options that all formats share. The handler logs
// errors to HandlerOptions.Logger; the default is slog.Default.
//
// # Without HTTP
//
// [DecodeRequest] parses and validates a request document and returns the neutral request
// with the document. A client of this format, such as package upstream/gemini, then sends
// the same bytes. [ParseRequest] returns the format's own [Request], and
// [Request.Validate] reports everything that is wrong with it. [Request.Upstream]
// converts it to a neutral request, [RequestFromUpstream] converts back.
// [ResponseFromUpstream] converts an [upstream.Response].
//
// [NewStreamWriter] and [NewArrayWriter] return an [upstream.Sink] that writes a streamed
// response for the client that sent the request. [EncodeResponse] and [EncodeError] return
// the documents of whole responses and of errors. A program with these functions responds
// as the handler does, such as a batch worker, a bridge to WebSockets, or a test.
// [NewEventWriter] calls a function for each response of a stream. [upstream.Replay] makes an
// upstream of a [StreamReader].
//
// A [Handler] does more. A program without one does what it needs of the following:
//
//   - It checks keys, and limits the number of requests.
//   - It limits sizes. ValidateOptions.Limits apply to requests, and the Limit of an
//     [upstream.Collector] to whole responses; [upstream.Collect] has no limit.
//   - It makes files available. Links and file ids are not loaded before an upstream needs
//     them. [upstream.Request.Load] uses the Resolver of the request, and without one returns a
//     violation. ForwardLinks allows vendors to fetch links.
//   - It ends requests. [upstream.Run] and [upstream.Collect] have no timeouts besides those
//     of their context. It calls [StreamWriter.Ping] to keep connections open.
//   - It recovers panics of the upstream.
//   - It decides about losses. RejectLoss of the request applies to those of the upstream, but
//     not to those that DecodeRequest returns. [StreamWriter.Losses] includes those of the
//     upstream; EncodeResponse returns only its own, besides Losses of [upstream.Response].
//   - It writes logs and reports.
//
// A request that [DecodeRequest] has returned may be given another Model, Stream, Session, Resolver,
// ForwardLinks and RejectLoss before it is used: see [upstream.Request].
//
// [Request.Body] encodes a request for a server. [NewStreamReader], [DecodeResponse],
// [DecodeError], [DecodeCount] and [DecodeModels] read what the server returns. The page
// docs/adapters.md in the repository of this module shows a complete client, and
// docs/documents.md programs without HTTP.
//
// A request encodes to one canonical document. Parsing that document gives an equal
// request. It may differ from the document that a request was parsed from: in the case
// and spelling of names and enums, in members with null or default values, in the form of
// numbers, and in how functions are grouped into tool objects. Values that may be any
// JSON, such as arguments and JSON Schemas, keep their key order and numbers.
//
// # Violations
//
// Each violation of a document becomes one line of the error's message and one
// google.rpc.BadRequest field violation. Violations that parsing finds come first, then
// those of the rules, each in document order. The Text of a violation that parsing finds
// is the complete line, as the vendor writes it: "Invalid value at 'contents[0].parts[0]'
// (oneof), …". These violations have CodeType or CodeUnknown, or CodeSyntax or CodeLimit
// without a path. The line of any other violation is "* GenerateContentRequest.", the
// path, a colon and the Text; a message with such a line ends with a line feed.
//
// # Signatures of other vendors
//
// Some vendors require state of a response, such as signatures, in the next request. The
// client receives this state as a thoughtSignature and returns it; [DecodeRequest] and
// [Request.Upstream] restore it, and the server keeps nothing. The page docs/signatures.md in
// the repository of this module has the rules and the limits.
//
// # Losses
//
// Everything in a response that this format cannot represent is reported as a
// [content.Loss]: parts of other vendors' built-in tools, and parts of kinds that the
// format does not have. Citations become groundingMetadata, with a chunk for each source
// and a support for each text that cites. The exact place within a source is dropped,
// which is reported too. A tool call without a name, or with arguments that are not a
// JSON object, is dropped, and the response then ends with MALFORMED_FUNCTION_CALL. A
// stop reason that the vendor does not define is sent as a value that clients do not
// treat as a normal end.
package generatecontent
