// Package jsonwire is the one reader and the one writer of JSON in this module.
//
// [Parse] checks a document in a single pass that does not recurse, and leaves
// an index of it behind, the tape. Typed code walks the tape through [Value]
// and never scans text a second time. What passes is a single document by the
// letter of RFC 8259, in UTF-8, without a byte order mark, without half
// surrogate pairs, without a member name that comes twice in one object
// (compared after unescaping), and within the [Limits].
//
// [Writer] builds a document by appending. Long texts that need no change are
// kept by reference, so that a file of many megabytes is never copied.
// [AppendString] and its kin do the same work for small documents such as the
// events of a stream.
package jsonwire
