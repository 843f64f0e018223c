// Package gemini is a strict fake of the vendor of the generateContent API,
// written from the wire reference generatecontent.md. It serves
// generateContent, streamGenerateContent, countTokens and the models. It
// rejects what the vendor rejects, with the vendor's error texts and statuses,
// signs what the vendor signs, and checks returned signatures.
//
// The script is that of package fake. A [fake.Member] is added to each
// response, to its last candidate, or to its usage, when On is "", "candidate"
// or "usage". Thinking is sent only if the request includes thoughts.
package gemini
