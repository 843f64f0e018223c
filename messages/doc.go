// Package messages implements the Messages wire format, POST /v1/messages and the
// endpoints around it, for any model. It parses and validates requests, writes plain
// and streamed responses, and serves an [upstream.Upstream] over HTTP. It also
// implements the client side of the format, for upstreams that send requests to a
// server.
//
// # Serving
//
//	http.Handle("/v1/", messages.NewHandler(up, nil))
//
// The vendor's own clients can use this service. See [Options] for limits, keys and
// hooks, and [upstream.HandlerOptions] for the options that all formats share. The
// handler logs errors to HandlerOptions.Logger; the default is slog.Default.
//
// A request needs the header anthropic-version, except on the paths of Vertex AI. The Content-Type of a body must be
// application/json if it is present. If another format's handler is mounted at the
// same path, [Handler.Match] reports which requests are in this format.
//
// # Without HTTP
//
// [DecodeRequest] parses and validates a request document and returns an
// [upstream.Request], as the handler does. A client of this format, such as package
// upstream/anthropic, sends the bytes of the document unchanged, so prompt caches stay
// valid.
//
// [NewStreamWriter] returns an [upstream.Sink] that writes a streamed response for the client
// that sent the request. [EncodeResponse] and [EncodeError] return the documents of whole
// responses and of errors. A program with these functions responds as the handler does,
// such as a batch worker, a bridge to WebSockets, or a test. [NewEventWriter] calls a function
// for each event. [upstream.Replay] makes an upstream of a [StreamReader].
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
// [ParseRequest] returns a [Request] with the fields of the format, which the caller
// may change. [Request.Validate] reports every violation of the vendor's rules.
// [Request.Upstream] and [RequestFromUpstream] convert between a Request and the
// neutral form. [ResponseFromUpstream] converts an [upstream.Response].
//
// [Request.Body] and [Request.AppendJSON] encode a Request. Parsing the document again
// gives an equal Request. Values that may be any JSON, such as schemas and tool
// inputs, keep their key order and numbers. Members of the format itself are written
// in a fixed order and spelling; those that are null or have their default value are
// omitted.
//
// [NewStreamReader], [DecodeResponse], [DecodeError], [DecodeCount] and
// [DecodeModels] read the responses of a server. The page docs/adapters.md in the
// repository of this module shows a complete client, and docs/documents.md programs
// without HTTP.
//
// # Signatures of other vendors
//
// Some vendors require state of a response, such as signatures, in the next request. The
// client receives it in the signatures of thinking blocks and in ids of tool calls, and returns
// it; [DecodeRequest] and [Request.Upstream] restore it, and the server keeps nothing. An id
// with state begins with "toolu_pwsig_" and has up to 64 KiB. The page docs/signatures.md in
// the repository of this module has the rules and the limits.
//
// # Losses
//
// Content of a response that this format cannot represent, such as audio or a second
// candidate, is reported as a [content.Loss]. A stop reason that the vendor does not
// define is sent as a value that clients do not treat as a normal end:
// "malformed_tool_use" or "other".
package messages
