package codec

import (
	"strconv"

	"github.com/polywire/polywire/content"
)

// The defaults of [content.Limits].
const (
	maxParts = 100_000
	maxTools = 10_000
	// maxSchemas is of values and names. A schema takes ten times its own memory
	// when it is rewritten for another vendor.
	maxSchemas = 250_000
	// fewMembers of one object are not counted.
	fewMembers = 100
)

// A Quota bounds how many turns, parts and tools a parser makes of a document.
// Each takes much more memory than the few bytes that it may have there. The
// zero Quota has no limits.
type Quota struct {
	maxParts, maxTools, maxSchemas int
	turns, parts, tools, schemas   int
	err                            *content.Violation
}

// NewQuota returns the quota of limits. Zero fields mean the defaults.
func NewQuota(l content.Limits) Quota {
	q := Quota{maxParts: l.Parts, maxTools: l.Tools, maxSchemas: l.Schemas}
	if q.maxParts == 0 {
		q.maxParts = maxParts
	}
	if q.maxTools == 0 {
		q.maxTools = maxTools
	}
	if q.maxSchemas == 0 {
		q.maxSchemas = maxSchemas
	}
	return q
}

// Turns counts n turns. It reports whether there may be so many.
func (q *Quota) Turns(n int) bool { return q.count(&q.turns, n, q.maxParts, "turns") }

// Parts counts n parts of content, or n of what takes as much memory. It reports
// whether there may be so many.
func (q *Quota) Parts(n int) bool { return q.count(&q.parts, n, q.maxParts, "parts of content") }

// Tools counts n tools. It reports whether there may be so many.
func (q *Quota) Tools(n int) bool { return q.count(&q.tools, n, q.maxTools, "tools") }

// Members counts the n members of an object as parts if they are many. It is for
// objects with members that have no field.
func (q *Quota) Members(n int) bool {
	return n <= fewMembers || q.count(&q.parts, n, q.maxParts, "parts of content and unknown members")
}

// Schema counts a schema of n values and names. It reports whether there may be
// so many.
func (q *Quota) Schema(n int) bool {
	return q.count(&q.schemas, n, q.maxSchemas, "values and names in its schemas")
}

// What things take besides their bytes in the document, at most, until they have
// been translated and sent; and how much of that a request has for free.
const (
	costPart   = 512
	costTool   = 2 << 10
	costSchema = 128
	costFree   = 1 << 20
)

// Cost returns how many bytes of memory the document takes besides its own, if
// that is much.
func (q *Quota) Cost() int64 {
	n := costPart*int64(q.parts+q.turns) + costTool*int64(q.tools) + costSchema*int64(q.schemas)
	return max(0, n-costFree)
}

// Err returns the error about the first limit that was exceeded; nil if none
// was. A document with an error is not worth reading on.
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
