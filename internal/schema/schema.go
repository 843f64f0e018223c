package schema

import (
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Input translates the schema of a tool's arguments to dialect d. Arguments are always
// an object, so the root of every result is one. If nothing needs to change, Input
// returns s.JSON itself and does not allocate. The result depends on d and s only.
//
// An empty result means that the tool has no arguments and that the member is omitted.
// Only GeminiSchema and GeminiJSON return it.
//
// The paths of losses are relative to the schema, such as "properties.mode.anyOf.1";
// the schema itself has the empty path. A schema that is not JSON counts as a schema
// without arguments and is reported.
func Input(d Dialect, s content.Schema) (string, []content.Loss) { return (*Spare)(nil).Input(d, s) }

// Output translates the schema of a response to dialect d. It is like [Input], but the
// root may have any type, except in OpenAIStrict. The translation of an empty schema
// is empty.
func Output(d Dialect, s content.Schema) (string, []content.Loss) { return (*Spare)(nil).Output(d, s) }

// Fits reports whether s can be sent unchanged in dialect d as the schema of a tool's
// arguments.
func Fits(d Dialect, s content.Schema) bool {
	if s.OpenAPI != (d == GeminiSchema) || s.JSON == "" {
		return false
	}
	out, losses := Input(d, s)
	return out == s.JSON && len(losses) == 0
}

const (
	emptyObject       = `{"type":"object","properties":{}}`
	closedEmptyObject = `{"type":"object","properties":{},"required":[],"additionalProperties":false}`
)

func translate(d Dialect, s content.Schema, input bool, spare *Spare) (string, []content.Loss) {
	switch {
	case s.JSON == "":
		return emptySchema(d), nil
	case s.OpenAPI && d == GeminiSchema:
		return s.JSON, nil
	}
	c := converters.Get().(*converter)
	defer c.release()
	// The schema was validated as part of its document, so names are unique.
	text, limits := s.JSON, jsonwire.Limits{AllowDuplicateNames: true}
	if s.OpenAPI {
		text, limits = c.fromOpenAPI(text, d), openAPILimits
	}
	if err := c.doc.Parse(text, limits); err != nil {
		c.report(rNotJSON)
		return emptySchema(d), c.takeLosses()
	}
	c.start(d, input || d == OpenAIStrict, text)
	spare.limit(c)
	defer spare.charge(c)
	c.strictOutput = d == OpenAIStrict && !input
	root := c.doc.Root()
	switch root.Kind() {
	case jsonwire.Object, jsonwire.True, jsonwire.False:
	default:
		c.report(rNotJSON)
		return emptySchema(d), c.takeLosses()
	}
	if c.isUnchanged(root) {
		return text, c.takeLosses()
	}
	var omit bool
	if d == GeminiSchema {
		omit = c.writeGeminiRoot(root)
	} else {
		omit = c.writeRoot(root)
	}
	switch {
	case omit:
		text = ""
	case c.changed:
		text = c.w.Text()
	}
	return text, c.takeLosses()
}

// emptySchema returns the schema of a tool without arguments.
func emptySchema(d Dialect) string {
	switch d {
	case GeminiSchema, GeminiJSON:
		return ""
	case OpenAIStrict, MessagesStrict:
		return closedEmptyObject
	}
	return emptyObject
}

// converters pools converters, for the memory that they keep.
var converters = sync.Pool{New: func() any { return new(converter) }}

// A Spare limits how much the schemas of one request grow in total when references are
// expanded. The part of the limit that is proportional to a schema's size is not
// counted. Without a common limit, thousands of small schemas could grow to many times
// the request. When the limit is used up, further expansions are cut as in a schema
// that is too large. The zero Spare is ready to use; a nil *Spare limits each schema
// alone.
type Spare struct{ nodes, bytes int } // used so far

// maxSpareSchemas is the number of schemas of one request that may grow as far as a
// single schema may.
const maxSpareSchemas = 64

// Input is like the function [Input], within the limit.
func (s *Spare) Input(d Dialect, x content.Schema) (string, []content.Loss) {
	return translate(d, x, true, s)
}

// Output is like the function [Output], within the limit.
func (s *Spare) Output(d Dialect, x content.Schema) (string, []content.Loss) {
	if x.JSON == "" {
		return "", nil
	}
	return translate(d, x, false, s)
}

// remaining returns how much the next schema may grow.
func (s *Spare) remaining() (nodes, bytes int) {
	return min(extraNodes, maxSpareSchemas*extraNodes-s.nodes), min(extraBytes, maxSpareSchemas*extraBytes-s.bytes)
}

// limit lowers the limits of c to what remains.
func (s *Spare) limit(c *converter) {
	if s != nil {
		nodes, bytes := s.remaining()
		c.nodesLeft -= extraNodes - nodes
		c.maxSize -= extraBytes - bytes
	}
}

// charge counts the resources that a finished translation used beyond the part that is
// proportional to the schema's size.
func (s *Spare) charge(c *converter) {
	if s != nil {
		nodes, bytes := s.remaining()
		s.nodes += min(nodes, max(0, nodes-c.nodesLeft))
		s.bytes += min(bytes, max(0, bytes-(c.maxSize-c.w.Len())))
	}
}
