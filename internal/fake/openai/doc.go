// Package openai is a strict fake of the vendor of Chat Completions and Responses, and of
// servers that are compatible with it, written from the wire reference openai.md. It
// serves chat/completions, responses, responses/input_tokens and models under [Server.Base],
// and refuses what the vendor refuses, with the vendor's words and status.
//
// The script is that of package fake. A [fake.Member] goes into each chunk or response,
// into its usage, or into the message of a chat answer when On is "", "usage" or
// "message". Thinking becomes a reasoning item in Responses; in Chat it is shown only by
// servers that have a field for it, see [Quirks]. The Details of a [fake.Status] are the
// code of the error. In Responses a [fake.Stop] with the reason "failed" has the code of
// the error in Sequence and its message in Details; any other reason but "completed" is
// why the response is incomplete.
package openai
