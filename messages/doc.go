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
// for limits, keys and hooks, and [upstream.HandlerOptions] for those that all formats
// share. Why an answer failed is told to its Logger, or else to slog.Default.
//
// A request needs the header anthropic-version. The Content-Type of a body is
// application/json or missing. Where another format's handler is mounted below the same path,
// [Handler.Match] tells whose a request is.
//
// # Without HTTP
//
// [ParseRequest] reads a request document and [Request.Validate] tells
// everything that is wrong with it. [Request.Upstream] says it in neutral
// words, [RequestFromUpstream] the other way round, and [ResponseFromUpstream] makes an answer of
// an [upstream.Response].
//
// [Request.Body] writes a request for a server. What that answers is read by
// [NewStreamReader], [DecodeResponse], [DecodeError], [DecodeCount] and
// [DecodeModels].
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
// # What is lost
//
// Whatever an answer says that this format cannot is reported as a
// [content.Loss]: parts without a block, answers beyond the first. A reason to
// stop that the vendor has no word for is told as one that no client takes for
// an ordinary end; "malformed_tool_use" and "other" are no words of the vendor's.
package messages
