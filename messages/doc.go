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
// neutral form, [ResponseFromUpstream] converts an [upstream.Response].
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
// State that another vendor needs back travels through the client. The signature
// of thinking is in that of its thinking block. The signature of a tool call is in
// the signature of the thinking before the call if the request asked for thinking
// and its history shows that the client returns thinking blocks; otherwise it is in
// the id of the call, which every client returns. Thinking that the client does not
// get, or does not return, is in the id of the next call, too. Thinking blocks are
// sent only where the request asked for thinking, and always with a signature.
// [Request.Upstream] opens what comes back. Nothing is remembered in between, so
// any replica can go on. [ResponseFromUpstream], which does not know the request, puts
// state into ids.
//
// Ids match ^[a-zA-Z0-9_-]+$ if the vendor's own do. One that carries state begins
// with "toolu_pwsig_" and is 100 bytes to 6 KB long as a rule, 64 KiB at most. Do
// not use it as a file name without shortening it: file systems allow 255 bytes.
// One whose state is in a thinking block begins with "toolu_pwblk_" and is shorter
// than 64 bytes. Upstreams get the vendor's ids only. An id that a client has cut
// or altered, alike on the call and on its result, is replaced by another of at
// most 40 bytes, and reported.
//
// Some state is not carried, which is reported: more than 64 KiB in an id or 4 MiB
// in a block; signatures that come when the block of their call has begun, or other
// blocks have followed; signatures of texts of content generation, which that
// vendor does not need; thinking, and signatures of texts, behind the last call
// where the client gets no blocks for them; and what would have to follow the text
// that ends a response, since agents print the last block.
//
// Do not put two handlers of this format in a row, one as the upstream of the
// other: the first opens the state that the second has put into an id, and drops
// it with a hint.
//
// # Losses
//
// Content of a response that this format cannot represent is reported as a
// [content.Loss], such as audio or a second candidate. A stop reason that the vendor
// does not have is sent as one that no client takes for a normal end: the vendor
// does not define "malformed_tool_use" and "other".
package messages
