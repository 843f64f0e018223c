package schema

import (
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// A Loss is a loss of a translation.
type Loss struct {
	Rule *loss.Rule

	// Path is relative to the schema, such as "properties.mode.anyOf.1". It is empty for
	// the schema itself.
	Path string
}

// Input translates the schema of a tool's arguments to dialect d. Arguments are always
// an object, so the root of every result is one. If nothing needs to change, Input
// returns s.JSON itself and does not allocate. The result depends on d and s only.
//
// An empty result means that the tool has no arguments and that the member is omitted.
// Only GeminiJSON returns it.
//
// A schema that is not JSON is reported, and replaced by one without arguments.
func Input(d Dialect, s content.Schema) (string, []Loss) {
	return (*ExpansionLimit)(nil).Input(d, s)
}

// Fits reports whether s can be sent unchanged in dialect d as the schema of a tool's
// arguments.
func Fits(d Dialect, s content.Schema) bool {
	if s.OpenAPI || s.JSON == "" {
		return false
	}
	out, losses := Input(d, s)
	return out == s.JSON && len(losses) == 0
}

// Choices returns how many properties of the objects in a JSON schema are not required, and how many
// schemas in it have several types or alternatives. Limits of vendors count them.
func Choices(text string) (optional, unions int) {
	doc, err := jsonwire.Parse(text, jsonwire.Limits{AllowDuplicateNames: true})
	if err != nil {
		return 0, 0
	}
	defer doc.Close()
	var count func(v jsonwire.Value)
	count = func(v jsonwire.Value) {
		for name, x := range v.Members() {
			switch {
			case name == "properties" && x.Kind() == jsonwire.Object:
				optional += max(0, x.Len()-v.Get("required").Len())
				for _, p := range x.Members() {
					count(p)
				}
				continue
			case name == "anyOf", name == "type" && x.Kind() == jsonwire.Array:
				unions++
			}
			count(x)
		}
		for _, x := range v.Elems() {
			count(x)
		}
	}
	count(doc.Root())
	return optional, unions
}

const (
	emptyObject       = `{"type":"object","properties":{}}`
	closedEmptyObject = `{"type":"object","properties":{},"required":[],"additionalProperties":false}`
)

func translate(d Dialect, s content.Schema, input bool, expansion *ExpansionLimit) (string, []Loss) {
	if s.JSON == "" {
		return emptySchema(d), nil
	}
	c := converters.Get().(*converter)
	defer c.release()
	c.rules = &responseRules
	if input {
		c.rules = &argumentRules
	}
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
	expansion.limit(c)
	defer expansion.charge(c)
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
	switch {
	case c.writeRoot(root):
		text = ""
	case c.changed:
		text = c.w.Text()
	}
	return text, c.takeLosses()
}

// emptySchema returns the schema of a tool without arguments.
func emptySchema(d Dialect) string {
	switch d {
	case GeminiJSON:
		return ""
	case OpenAIStrict, MessagesStrict:
		return closedEmptyObject
	}
	return emptyObject
}

// converters pools converters, for the memory that they keep.
var converters = sync.Pool{New: func() any { return new(converter) }}

// An ExpansionLimit bounds the growth of all schemas of one request when references are
// expanded. Without it, thousands of small schemas could grow to many times the size of
// the request. The growth that is allowed in proportion to the size of a schema is not
// counted. When the limit is reached, further expansions are cut as in a schema that is
// too large.
//
// The zero ExpansionLimit is ready to use. With a nil *ExpansionLimit, each schema has
// its own limit.
type ExpansionLimit struct {
	Cache *Cache // of translations that do not use the limit; may be nil

	nodes, bytes int // used so far
}

// maxExpandedSchemas is the number of schemas of one request that may each grow as much
// as a single schema may.
const maxExpandedSchemas = 64

// Input is like the function [Input], within the limit.
func (s *ExpansionLimit) Input(d Dialect, x content.Schema) (string, []Loss) {
	return s.translate(d, x, true)
}

// Output translates the schema of a response to dialect d, within the limit. It is like Input, but
// the root may have any type, except in OpenAIStrict. The translation of an empty schema is empty.
func (s *ExpansionLimit) Output(d Dialect, x content.Schema) (string, []Loss) {
	if x.JSON == "" {
		return "", nil
	}
	return s.translate(d, x, false)
}

// remaining returns how much the next schema may grow.
func (s *ExpansionLimit) remaining() (nodes, bytes int) {
	return min(extraNodes, maxExpandedSchemas*extraNodes-s.nodes), min(extraBytes, maxExpandedSchemas*extraBytes-s.bytes)
}

// limit lowers the limits of c to what remains.
func (s *ExpansionLimit) limit(c *converter) {
	if s != nil {
		nodes, bytes := s.remaining()
		c.nodesLeft -= extraNodes - nodes
		c.maxSize -= extraBytes - bytes
	}
}

// charge counts the resources that a finished translation used beyond the part that is
// proportional to the schema's size.
func (s *ExpansionLimit) charge(c *converter) {
	if s != nil {
		nodes, bytes := s.remaining()
		s.nodes += min(nodes, max(0, nodes-c.nodesLeft))
		s.bytes += min(bytes, max(0, bytes-(c.maxSize-c.w.Len())))
	}
}
