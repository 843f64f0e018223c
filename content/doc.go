// Package content defines the neutral form of a conversation: turns and their parts,
// sources of files, tools, citations and token usage. It also defines how problems are
// reported: a [Violation] is an error in a document, and a [Loss] is something that
// another format cannot represent.
//
// The types cover what the Messages, generateContent, Chat Completions and Responses
// formats have in common, and most of what only one of them has. The package is
// independent of wire formats and HTTP. The packages of the formats parse requests into
// these types and write responses from them.
//
// # Ownership
//
// Values returned by a parser are read-only and may be read by several goroutines.
// Their strings may share memory with the parsed document, so a short string may keep
// the whole document in memory. Use [strings.Clone] for strings that outlive the
// request.
//
// # JSON text
//
// Tool inputs, schemas and other values whose members the caller defines are kept
// as JSON text. Numbers, the order of keys and white space are unchanged.
//
// # Unknown members
//
// Members that have no field in these types are kept in the Extra of the value that
// contains them. Parsing drops nothing.
package content
