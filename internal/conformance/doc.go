// Package conformance drives the real handlers with the official SDKs of the
// formats' vendors, unmodified, over a server on loopback. It is a module of
// its own, so that the SDKs are nobody's requirement.
//
// A scenario is written once, as a request in JSON, and run by every SDK: each
// reads it into its own types, sends it in its own way, and hands back what it
// made of the answer. For the content generation format the request is told in
// the Go SDK's types, whose JSON is what the others take. The TypeScript SDKs
// run in node (ts/driver.mjs for Messages, ts/google.mjs for content
// generation, the latter in two versions: agents bundle an old one, whose
// parser of streams minds more). Their scenarios are skipped where there is no
// node. The array form of a stream, which no SDK asks for, has a reader here.
//
// Most users come through libraries on top of the formats: the tool runners of
// two SDKs, AI SDK and LangChain (ts/libraries.mjs), and Genkit Go (genkit, a
// module of its own, which a test builds). Each runs the same scenarios over
// every adapter and the strict fake of its vendor.
package conformance
