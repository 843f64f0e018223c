// Package content holds what a conversation is made of: parts and their
// sources, turns, tools, usage, and the two ways of saying that something is
// wrong with them, [Violation] and [Loss].
//
// The types are neutral: a superset of what the Messages, content generation,
// chat completions and responses formats can say, with no format's spelling.
// The package knows no wire format and no HTTP. Wire packages parse into these
// types and write them; upstreams read them.
//
// # Ownership
//
// Values handed out by a parser are read-only by custom, and their strings may
// share memory with the document they were parsed from: a short string that is
// kept keeps the whole document. Use [strings.Clone] for what outlives the
// request. Values may be read from several goroutines at once.
//
// # Free JSON
//
// Tool inputs, schemas and everything else whose members belong to the caller
// stay JSON text, exactly as it came: no digit, no key order and no spelling
// is changed on the way.
//
// # What was not modelled
//
// A node keeps the members that this package has no field for in its Extra.
// Nothing that a client sent is thrown away by parsing.
//
// # Errors and losses
//
// An [Violation] says why a document is refused. A [Loss] says what did not survive,
// or only in another form, where a document goes on in another format. There is
// a Loss for each place; [FoldHints] makes of them a list that people can read.
package content
