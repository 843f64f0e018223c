// Package messages speaks the Messages wire format, POST /v1/messages and
// what belongs to it, for any model: it parses and validates requests, writes
// whole and streamed answers, and serves an [upstream.Upstream] over HTTP. It is
// the client side of the format, too, for upstreams that ask a server.
//
// # Serving
//
//	http.Handle("/v1/", messages.NewHandler(up, nil))
//
// That is a service that the vendor's own clients can talk to. See [Options]
// for limits, keys and hooks, and [upstream.Serving] for those that all formats
// share. Why an answer failed is told to its Logger, or else to slog.Default.
//
// A request needs the headers anthropic-version and, if it has a body, Content-Type:
// application/json. Where another format's handler is mounted below the same path,
// [Handler.Match] tells whose a request is.
//
// # Without HTTP
//
// [ParseRequest] reads a request document and [Request.Validate] tells
// everything that is wrong with it. [Request.Upstream] says it in neutral
// words, [RequestOf] the other way round, and [ResponseOf] makes an answer of
// an [upstream.Reply].
//
// [Request.Body] writes a request for a server. What that answers is read by
// [NewStreamReader], [DecodeReply], [DecodeError], [DecodeCount] and
// [DecodeModels].
//
// # Signatures of other vendors
//
// What another vendor needs back travels through the client, sealed: a thought's
// signature in that of its thinking block, any other in a redacted_thinking block
// before or behind the block that it belongs to. [Request.Upstream] opens what
// comes back. Nothing is remembered in between, so any replica can go on.
//
// Some signatures are not carried, which is reported: those of more than 4 MiB,
// those that come when other blocks have followed, and those that would have to
// stand behind the text that ends an answer, since agents print the last block.
//
// # What is lost
//
// Whatever an answer says that this format cannot is reported as a
// [content.Loss]: parts without a block, answers beyond the first. A reason to
// stop that the vendor has no word for is told as one that no client takes for
// an ordinary end; "malformed_tool_use" and "other" are no words of the vendor's.
package messages
