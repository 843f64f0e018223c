// Package openai is a strict fake of the vendor of Chat Completions and
// Responses, and of servers that are compatible with it, written from the wire
// reference openai.md. It serves chat/completions, responses,
// responses/input_tokens and models under [Server.Base]. It rejects what the
// vendor rejects, with the vendor's error texts and statuses.
//
// The script is that of package fake. A [fake.Member] is added to each chunk or
// response, to its usage, or to the message of a chat response, when On is "",
// "usage" or "message". Thinking becomes a reasoning item in Responses; in Chat
// only servers with a field for it send it, see [Quirks]. The Details of a
// [fake.Status] are the error code. In Responses, a [fake.Stop] with the reason
// "failed" has the error code in Sequence and its message in Details; any other
// reason but "completed" is the reason why the response is incomplete.
package openai
