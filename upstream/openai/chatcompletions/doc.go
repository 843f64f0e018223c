// Package chatcompletions implements the Chat Completions format of OpenAI, for clients and for
// servers.
//
// [NewHandler] serves an [upstream.Upstream] to clients of the format:
//
//	http.Handle("/v1/", chatcompletions.NewHandler(up, nil))
//
// Without HTTP, [DecodeRequest] reads a request, [NewStreamWriter] and [EncodeResponse] write the
// response to it, and [EncodeError] an error.
//
// For servers of the format, package upstream/openai is an Upstream. [DecodeResponse],
// [NewStreamReader] and [DecodeError] read what such a server sends.
//
// Reference: https://platform.openai.com/docs/api-reference/chat
package chatcompletions
