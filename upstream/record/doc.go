// Package record records the exchanges of an Upstream, such as the adapter of a vendor, and plays
// them again without a key or network: for tests of agents, and for reports of errors.
//
//	up := record.NewRecorder(vendor, file) // once, with a key
//	up, err := record.NewPlayer(file)      // in every test
//
// Both are an [upstream.Upstream], so clients of every format can be recorded, and a recording
// plays for clients of every format.
//
// # Recordings
//
// A recording is a text that people can read and compare, with one JSON object in each line. An
// exchange is a request, with the format of its client and one line for each field, by its neutral
// path; the events of the response, with the milliseconds since the request; and how it ended:
//
//	{"request":"messages"}
//	{"model":"demo"}
//	{"turns.0":"user"}
//	{"turns.0.parts.0":"text"}
//	{"turns.0.parts.0.text":"Hello!"}
//	{"event":"start","model":"demo","ms":412}
//	{"event":"open","part":"text","ms":415}
//	{"event":"text","text":"Good ","ms":415}
//	{"event":"text","text":"morning.","ms":431}
//	{"event":"close","ms":431}
//	{"event":"stop","reason":"end","ms":432}
//	{"end":"complete"}
//
// Headers, ids of exchanges and accounts, the address of the vendor and keys are not part of it,
// nor are the queries of links. The texts of the conversation are: remove what must not be
// published.
//
// A request has what all formats have. Not part of it, and therefore not compared, are members of
// one format, ids of tool calls, signatures and thinking of earlier responses, cache marks, the user,
// the session and whether it is streamed. Long files are represented by their SHA-256. A limit of
// tokens is compared only if both requests have one.
//
// A played response is encoded for its client: it is not byte for byte that of the vendor.
package record
