// Package gemini is a strict fake of the vendor of the generateContent API, written from
// the wire reference generatecontent.md. It serves generateContent, streamGenerateContent,
// countTokens and the models, refuses what the vendor refuses, with the vendor's words
// and status, signs what the vendor signs and checks the signatures that come back.
//
// The script is that of package fake. A [fake.Member] goes into each response, into its
// last candidate or into its usage when On is "", "candidate" or "usage". Thinking is
// shown only to a request that asks for thoughts.
package gemini
