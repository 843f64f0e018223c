// Package anthropic is a strict fake of the vendor of the Messages API, written from the
// wire reference messages.md. It serves /v1/messages, /v1/messages/count_tokens and
// /v1/models, refuses what the vendor refuses, with the vendor's words and status, signs
// the thinking that it sends and checks the signatures that come back.
//
// Thinking in the script is left out where the request does not enable it.
//
// The script is that of package fake. A [fake.Member] goes into the message, or into its
// usage, or into the last delta event, when On is "", "usage" or "message_delta".
package anthropic
