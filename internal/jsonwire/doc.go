// Package jsonwire reads and writes JSON.
//
// [Parse] validates a document in one pass without recursion and builds an index of
// it, the tape. Code reads the tape through [Value] and does not scan the text
// again. A valid document is one JSON text as in RFC 8259, in UTF-8, without a byte
// order mark, lone surrogates or duplicate member names (compared after unescaping),
// and within the [Limits].
//
// [Writer] builds a document by appending. It keeps long texts by reference, so that
// a file of many megabytes is not copied. [AppendString] and similar functions
// append to a byte slice, for small documents such as the events of a stream.
package jsonwire
