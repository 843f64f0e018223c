package schema

import (
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
)

// Input says in dialect d what s says of a tool's arguments, which are always
// an object: the root is one in every result. Where nothing needs to change,
// the result is s.JSON itself, and nothing is allocated. The same schema always
// gives the same bytes.
//
// An empty result means that the tool takes no arguments and that d's member is
// to be left out; only GeminiSchema and GeminiJSON have it.
//
// The losses' paths are relative to the schema, such as
// "properties.mode.anyOf.1", and empty for the schema itself. A schema that is
// not JSON is one that says nothing, and reported.
func Input(d Dialect, s content.Schema) (string, []content.Loss) { return (*Spare)(nil).Input(d, s) }

// Output is like [Input] for a schema of answers, whose root may be of any type
// (but for OpenAIStrict). An empty schema stays empty.
func Output(d Dialect, s content.Schema) (string, []content.Loss) { return (*Spare)(nil).Output(d, s) }

// Fits reports whether s can be sent in dialect d as the input of a tool just
// as it is. An adapter may ask it before it says that a schema is strict.
func Fits(d Dialect, s content.Schema) bool {
	if s.OpenAPI != (d == GeminiSchema) || s.JSON == "" {
		return false
	}
	out, losses := Input(d, s)
	return out == s.JSON && len(losses) == 0
}

const (
	noMembers   = `{"type":"object","properties":{}}`
	noneAllowed = `{"type":"object","properties":{},"required":[],"additionalProperties":false}`
)

func translate(d Dialect, s content.Schema, input bool, spare *Spare) (string, []content.Loss) {
	switch {
	case s.JSON == "":
		return nothing(d), nil
	case s.OpenAPI && d == GeminiSchema:
		return s.JSON, nil
	}
	c := converters.Get().(*converter)
	defer c.release()
	// The text was checked with the document that it came in.
	text, limits := s.JSON, jsonwire.Limits{AllowDuplicateNames: true}
	if s.OpenAPI {
		text, limits = c.fromOpenAPI(text, d), openAPILimits
	}
	if err := c.doc.Parse(text, limits); err != nil {
		c.lose(rNotJSON)
		return nothing(d), c.takeLosses()
	}
	c.begin(d, input || d == OpenAIStrict, text)
	spare.lend(c)
	defer spare.take(c)
	c.answer = d == OpenAIStrict && !input
	root := c.doc.Root()
	switch root.Kind() {
	case jsonwire.Object, jsonwire.True, jsonwire.False:
	default:
		c.lose(rNotJSON)
		return nothing(d), c.takeLosses()
	}
	if c.asIs(root) {
		return text, c.takeLosses()
	}
	var omit bool
	if d == GeminiSchema {
		omit = c.flatRoot(root)
	} else {
		omit = c.treeRoot(root)
	}
	switch {
	case omit:
		text = ""
	case c.changed:
		text = c.w.Text()
	}
	return text, c.takeLosses()
}

// nothing returns the schema of a tool without arguments.
func nothing(d Dialect) string {
	switch d {
	case GeminiSchema, GeminiJSON:
		return ""
	case OpenAIStrict, MessagesStrict:
		return noneAllowed
	}
	return noMembers
}

// converters keeps the memory of translations.
var converters = sync.Pool{New: func() any { return new(converter) }}
