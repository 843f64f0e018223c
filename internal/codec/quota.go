package codec

import (
	"cmp"
	"strconv"

	"github.com/polywire/polywire/content"
)

// The defaults of [content.Limits].
const (
	maxParts = 100_000
	maxTools = 10_000
	// maxSchemas counts values and names. Rewriting a schema for another vendor takes
	// ten times its memory.
	maxSchemas = 250_000
	// fewMembers is the number of members of one object that are not counted.
	fewMembers = 100
)

// A Quota bounds the number of turns, parts and tools in a document. Each needs much
// more memory than the few bytes that it may have in the document. The zero Quota has
// no limits.
type Quota struct {
	maxParts, maxTools, maxSchemas int
	turns, parts, tools, schemas   int
	bytes                          int
	err                            *content.Violation
}

// Limit sets the limits. Zero fields mean the defaults.
func (q *Quota) Limit(l *content.Limits) {
	q.maxParts = cmp.Or(l.Parts, maxParts)
	q.maxTools = cmp.Or(l.Tools, maxTools)
	q.maxSchemas = cmp.Or(l.Schemas, maxSchemas)
}

// Turns counts n turns. It reports whether the limit allows them.
func (q *Quota) Turns(n int) bool { return q.count(&q.turns, n, q.maxParts, "turns") }

// Parts counts n parts, or n values that need as much memory. It reports whether the
// limit allows them.
func (q *Quota) Parts(n int) bool { return q.count(&q.parts, n, q.maxParts, "parts of content") }

// PartsLeft returns how many more parts the limit allows.
func (q *Quota) PartsLeft() int { return max(0, q.maxParts-q.parts) }

// State counts carried state, before it is decoded: the parts that it becomes, and its
// bytes. It reports whether the limit allows them.
func (q *Quota) State(parts, bytes int) bool {
	q.Bytes(bytes)
	return q.Parts(parts)
}

// Bytes counts bytes of the document of which decoding makes a copy.
func (q *Quota) Bytes(n int) { q.bytes += n }

// Tools counts n tools. It reports whether the limit allows them.
func (q *Quota) Tools(n int) bool { return q.count(&q.tools, n, q.maxTools, "tools") }

// Members counts the n members of an object as parts if they are many. It is for
// objects with members that have no field.
func (q *Quota) Members(n int) bool {
	return n <= fewMembers || q.count(&q.parts, n, q.maxParts, "parts of content and unknown members")
}

// Schema counts a schema of n values and names. It reports whether the limit allows
// them.
func (q *Quota) Schema(n int) bool {
	return q.count(&q.schemas, n, q.maxSchemas, "values and names in its schemas")
}

// The maximum memory of each value beyond its bytes in the document, in bytes, until it
// is translated and sent, and the amount that is not counted.
const (
	costPart   = 512
	costTool   = 2 << 10
	costSchema = 128
	costFree   = 1 << 20
)

// Cost returns the memory that the document needs beyond its size, in bytes. It is 0
// for small amounts.
func (q *Quota) Cost() int64 {
	n := costPart*int64(q.parts+q.turns) + costTool*int64(q.tools) + costSchema*int64(q.schemas) + int64(q.bytes)
	return max(0, n-costFree)
}

// Err returns the error about the first limit that was exceeded, or nil.
func (q *Quota) Err() error {
	if q.err == nil {
		return nil
	}
	return q.err
}

// Exceeded reports whether a limit was exceeded.
func (q *Quota) Exceeded() bool { return q.err != nil }

func (q *Quota) count(have *int, n, limit int, what string) bool {
	if *have += n; *have > limit && limit > 0 && q.err == nil {
		q.err = &content.Violation{Code: content.CodeLimit,
			Text: "The request has too many " + what + ": at most " + strconv.Itoa(limit) + " are allowed"}
	}
	return q.err == nil
}
