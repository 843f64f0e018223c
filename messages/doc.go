// Package messages implements the Messages wire format, POST /v1/messages and
// the endpoints around it, for any model. It parses and validates requests, writes
// whole and streamed responses, and serves an [upstream.Upstream] over HTTP. It is
// also the client side of the format, for upstreams that call a server.
//
// # Serving
//
//	http.Handle("/v1/", messages.NewHandler(up, nil))
//
// The vendor's own clients can use this service. See [Options] for limits, keys and
// hooks, and [upstream.HandlerOptions] for those that all formats share. Errors are
// logged to its Logger, by default to slog.Default.
//
// A request needs the header anthropic-version. The Content-Type of a body is
// application/json or missing. If another format's handler is mounted below the same
// path, [Handler.Match] reports which requests are in this format.
//
// # Without HTTP
//
// [DecodeRequest] parses and validates a request document and returns an
// [upstream.Request], as the handler does. An adapter of this format sends the bytes
// of the document, so prompt caches stay valid.
//
// [ParseRequest] returns a [Request] with the fields of the format, which the caller
// may change. [Request.Validate] reports every violation of the vendor's rules.
// [Request.Upstream] and [RequestFromUpstream] convert between a Request and the
// neutral form. [ResponseFromUpstream] converts an [upstream.Response].
//
// [Request.Body] and [Request.AppendJSON] encode a Request. Parsing the document
// again gives an equal Request. Key order and numbers of free JSON, such as schemas
// and inputs of tool calls, are kept; null, default values and the spelling of the
// format's own members are not.
//
// [NewStreamReader], [DecodeResponse], [DecodeError], [DecodeCount] and
// [DecodeModels] read the responses of a server.
//
// # Signatures of other vendors
//
// Some vendors need state back in the next request. This state travels through the
// client, in one of these places:
//
//   - The signature of thinking is in the signature of its thinking block.
//   - The signature of a tool call is in the signature of the preceding thinking
//     block if the request enables thinking and its history shows that the client
//     returns thinking blocks. Otherwise it is in the id of the tool call, which
//     every client returns.
//   - Thinking that the client does not get, or does not return, is in the id of the
//     next tool call.
//
// Thinking blocks are sent only if the request enables thinking, and always with a
// signature. [Request.Upstream] restores the state. The server keeps no state
// between requests, so any replica can continue a conversation.
// [ResponseFromUpstream] does not know the request and always puts state into ids.
//
// Ids match ^[a-zA-Z0-9_-]+$ if the vendor's own ids do. An id that carries state
// begins with "toolu_pwsig_". It usually has 100 bytes to 6 KB and at most 64 KiB. Do
// not use it as a file name without shortening it: file systems allow 255 bytes. If
// the state of an id is in a thinking block, the id begins with "toolu_pwblk_" and has
// less than 64 bytes. Upstreams get only the vendor's ids. If a client truncates or
// changes an id in the same way on the tool call and on its result, it is replaced by
// another id of at most 40 bytes, and a loss is reported.
//
// The following state is not carried, and a loss is reported:
//
//   - more than 64 KiB in an id or 4 MiB in a block
//   - signatures that arrive after the block of their tool call has begun, or after
//     other blocks have followed
//   - signatures of texts of generateContent, which that vendor does not need
//   - thinking, and signatures of texts, after the last tool call if the client gets
//     no blocks for them
//   - state that would follow the text at the end of a response, since agents print
//     the last block
//
// Do not use a handler of this format as the upstream of another handler of this
// format. The first one restores the state that the second one has put into an id,
// and drops it with a hint.
//
// # Losses
//
// Content of a response that this format cannot represent, such as audio or a second
// candidate, is reported as a [content.Loss]. A stop reason that the vendor does not
// define is sent as a value that clients do not treat as a normal end:
// "malformed_tool_use" or "other".
package messages
