// Package recorded contains only tests. They replay exchanges with real vendors,
// which other projects recorded for their own tests, against Polywire.
//
// The recordings are third-party data and are not part of the repository. The
// environment variable POLYWIRE_RECORDINGS has the absolute path of their folder: a file
// for each format, such as messages.jsonl, in which each line is a formattest.Record,
// and known.txt. If it is not set the tests are skipped, except those with requests of
// their own.
//
// Every expectation is read from a recording with encoding/json and the small
// readers of this package (answer_test.go and one file for each format), without
// code of Polywire.
//
// A failure is a defect, unless known.txt next to the recordings or
// ownExceptions in this package lists the record, the check and a reason, which
// is a vendor's document.
//
// # Checks
//
// Each check has a number, which exceptions refer to. Numbers 1 to 5 are those
// of the list of exceptions that comes with the recordings.
//
//	1, 1s    a request that the vendor accepted has no violation, by default and with Strict
//	1r       a request that the vendor rejected with 400 has one, at the vendor's path
//	2        a parsed request that is encoded and parsed again is equal
//	3        the package of the format reads the response: text, thinking, tool calls, usage, stop reason, files
//	3a       the adapter does, over loopback
//	3b       both read the same from a stream that arrives byte by byte
//	3c       a token count
//	3m       a list of models
//	3e       an error: its code and, in the cause, the vendor's sentence
//	4        the response through each handler: the same content, usage and stop reason, streamed in the
//	         order that the format demands; in the same format the same bytes
//	4m       every object that a handler writes has the members that the vendor's own hosts send, each absent,
//	         null, empty or with a value as there; exceptions are listed with a reason
//	4t       without a request for thinking, the rest is the same and no thinking is sent
//	4r       a response that a client of another format returns as history: ids and signatures reach the vendor
//	4p       a response of Responses that returns to its server: messages have their phase, or none
//	4e       an error through each handler
//	4w       a program without HTTP writes what each handler sends, and finds the same losses
//	4s       the recorded request through the handler of its format: the vendor gets its bytes, the client those of the response
//	5        the request in every other format is valid there
//	5f       the strict fake of the vendor accepts it
//	5t       a Messages request without thinking has none at other vendors, or as little as the model can
//	5s       strict functions have validated arguments at Gemini, without a loss
//	6        long strings of the request are in the translation, or a loss is reported at their path or above it
//	6m       a member of a request that has no effect on the translation is reported as a loss
//	6r       so is a member of a whole response that has no effect on what a client of another format gets
//	7        a stream that breaks off is an error, for the readers and for the handlers' clients
//	8        Preflight returns the losses and the error of Generate, and sends and loads nothing; Generate reports
//	         every loss before it sends the request, also those that depend on files that it has loaded
//	9        a request that is encoded twice gives the same document and losses, and is not changed
//	10       a request that continues a conversation has the same tools and system text, and begins with the same
//	         turns, as vendors' prompt caches require; cache marks may differ
//	11       a request with links gives the document and the losses that it gives with the files in it
//
// FuzzEncodings and FuzzPrefixes do checks 8 to 11 with requests that are changed at
// random, as a host could build them.
//
// # Running some of them
//
// The subtests of each test are named after format, record and check:
//
//	go test ./internal/test/recorded -run '//m-4e1dc40abe'      # one record
//	go test ./internal/test/recorded -run '///4s'               # one check
//	go test ./internal/test/recorded -v | sed -n '/^check /,/^all /p'  # how many checks passed
//
// With -short every eighth record is replayed.
package recorded
