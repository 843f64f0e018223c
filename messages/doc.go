// Package messages implements the Messages wire format of Anthropic, POST /v1/messages and the
// endpoints around it, for any model. It parses and validates requests, writes plain and streamed
// responses, and serves an [upstream.Upstream] over HTTP. It also implements the client side of the
// format, for upstreams that send requests to a server.
//
//	http.Handle("/v1/", messages.NewHandler(up, nil))
//
// The vendor's own clients can use this service. [Options] and [upstream.HandlerOptions] have limits,
// keys and hooks. A request needs the header anthropic-version, except on the paths of Vertex AI, and
// the Content-Type application/json if it has one. The method Match of the handler reports which
// requests are in this format, if several formats share a path.
//
// # Without HTTP
//
// [DecodeRequest] parses and validates a request document and returns an [upstream.Request], as the
// handler does. [NewStreamWriter] returns an [upstream.StreamWriter] that writes a streamed response for the
// client that sent the request, and [EncodeResponse] and [EncodeError] return whole documents. The
// page docs/documents.md in the repository of this module has programs without HTTP, and what the
// handler does besides.
//
// [ParseRequest] returns a [Request] with the fields of the format, which the caller may change.
// [Request.Validate] reports every violation of the vendor's rules. [Request.Upstream] and
// [RequestFromUpstream] convert between a Request and the neutral form.
//
// [Request.Body] and [Request.AppendJSON] encode a Request. Parsing the document again gives an equal
// Request. Values that may be any JSON, such as schemas and tool inputs, keep their key order and
// numbers. Members of the format itself are written in a fixed order and spelling; those that are null
// or have their default value are omitted.
//
// [NewStreamReader], [DecodeResponse], [DecodeError], [DecodeCount] and [DecodeModels] read what a
// server sends. The page docs/adapters.md shows a complete client.
//
// # State
//
// Some vendors require state of a response, such as signatures, in the next request. The client
// receives it in the signatures of thinking blocks and in ids of tool calls, and returns it;
// [DecodeRequest] and [Request.Upstream] restore it, and the server keeps nothing. An id with state
// begins with "toolu_pwsig_" and has up to 64 KiB. The page docs/signatures.md has the rules.
//
// # Losses
//
// Content of a response that this format cannot represent, such as audio or a second candidate, is
// reported as a [content.Loss]. A stop reason that the vendor does not define is sent as
// "max_tokens", which clients do not treat as a normal end.
package messages
