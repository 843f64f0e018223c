// Package anthropic is a strict fake of the vendor of the Messages API, written
// from the wire reference messages.md. It serves /v1/messages,
// /v1/messages/count_tokens and /v1/models. It rejects what the vendor rejects,
// with the vendor's error texts and statuses, signs the thinking that it sends,
// and checks returned signatures.
//
// Thinking in the script is omitted unless the request enables it.
//
// The script is that of package fake. A [fake.Member] is added to the message,
// to its usage, or to the last delta event, when On is "", "usage" or
// "message_delta".
package anthropic
