// Package responses implements the wire format of OpenAI's Responses, POST /v1/responses and the
// endpoints around it, for any model. It parses and validates requests, writes plain and streamed
// responses, and serves an [upstream.Upstream] over HTTP. It also implements the client side of the
// format, for upstreams that send requests to a server.
//
//	http.Handle("/v1/", responses.NewHandler(up, nil))
//
// Clients of OpenAI, such as its SDKs and the agent Codex, can use this service. With
// [Options.OpenResponses] it follows the Open Responses specification where the two differ.
//
// [DecodeRequest] parses and validates a request document and returns an [upstream.Request], as the
// handler does. [NewStreamWriter] returns an [upstream.StreamWriter] that writes a streamed response for the
// client that sent the request, and [EncodeResponse] and [EncodeError] return whole documents. The
// page docs/documents.md in the repository of this module has programs without HTTP, and what the
// handler does besides.
//
// # State
//
// Some vendors require state of a response, such as signatures, in the next request. The client
// receives it in the encrypted_content of reasoning items and in the call_id of tool calls, and
// returns it; [DecodeRequest] restores it, and the server keeps nothing. The page
// docs/signatures.md has the rules and the limits.
//
// The vendor stores responses, to which requests refer by previous_response_id, item_reference and
// others. This package does so only with [Options.Store].
//
// # Losses
//
// Content of a response that this format cannot represent, such as audio or a second candidate, is
// reported as a [content.Loss].
package responses
