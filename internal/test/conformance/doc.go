// Package conformance tests the handlers with the unmodified official SDKs of
// the formats' vendors, over a server on loopback. It is a separate module, so
// that other modules do not require the SDKs.
//
// A scenario is written once, as a request in JSON. Each SDK decodes it into
// its own types, sends it, and returns the response as it reads it. For
// generateContent the request is written in the Go SDK's types, whose JSON the
// others accept. The TypeScript SDKs run in node (ts/driver.mjs for Messages,
// ts/google.mjs for generateContent, ts/openai.mjs for Chat Completions and
// Responses). Google's SDK is tested in two versions, since agents bundle an old
// one with a stricter stream parser, and OpenAI's in two, since the old one is
// still installed. These scenarios are skipped if node is missing. This package has its own reader for streams
// as JSON arrays, which no SDK requests.
//
// The SDKs also run as clients that are configured for a cloud: those of Messages for Vertex
// AI and Bedrock, Google's for Vertex AI, OpenAI's for Azure.
//
// The agent Codex runs without its terminal interface, in an empty home and an empty working
// directory, over each adapter. It runs the commands and edits of a scripted model. AI SDK's chatbot
// template runs without its page and its database (ts/chatbot.mjs).
//
// State machines read each stream of Chat Completions and Responses: see formattest.CheckStreams.
//
// Most users use libraries on top of the formats, or older versions of the SDKs. The tool
// runners of the SDKs, the Agents SDK, AI SDK and LangChain in each major version that is in
// use, the TypeScript SDKs of the last years (ts/libraries.mjs), and Genkit Go (genkit, a
// separate module, which a test builds) run the same scenarios over each adapter and
// the strict fake of its vendor. The folders of ts/majors pin the older versions beside
// each other. What a library does wrong with its own vendor, too, is listed, and the
// test compares the two.
//
// Examples with packages of other projects are here for the same reason: a circuit breaker,
// and the credentials of Google Cloud.
package conformance
