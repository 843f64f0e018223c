package openai

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
)

// A form is that of the answer.
type form uint8

const (
	formText   form = iota
	formObject      // any JSON object
	formSchema      // what a schema allows
	formOther       // what this vendor does not have
)

const (
	jsonType = "application/json"
	askJSON  = "Answer in JSON."
)

// form returns the form that is asked for.
func (e *encoder) form() form {
	o := &e.n.Output
	switch {
	case o.MediaType != "" && o.MediaType != jsonType && o.MediaType != "text/plain":
		return formOther
	case strings.HasPrefix(strings.TrimLeft(o.Schema.JSON, " \t\r\n"), "{"):
		return formSchema
	case o.MediaType == jsonType, o.Schema.JSON != "": // a schema that is no object allows all, or nothing
		return formObject
	}
	return formText
}

// formLosses notes what form of answer cannot be asked for, and what has to be
// added to the system text for it. other is about a form that the vendor does not
// have.
func (e *encoder) formLosses(other *loss.Rule) {
	o := &e.n.Output
	e.foreign(o.Extra, "output.extra")
	switch e.form() {
	case formOther:
		e.otherForm(other)
	case formObject:
		// Vendors look for the word in the conversation, and not in the same
		// places. It must stay the same from turn to turn, so that it is added
		// even if the user says it by now.
		e.log.Add(lostJSONObject, "output.media_type")
		e.system = askJSON
		if strings.TrimSpace(o.Schema.JSON) == "false" {
			e.log.Add(lostSchemaNever, "output.schema")
		}
	}
}

// otherForm deals with a form that the vendor does not have. One of a few words
// can be asked for.
func (e *encoder) otherForm(r *loss.Rule) {
	if words := codec.EnumPrompt(e.n.Output.MediaType, e.n.Output.Schema.JSON); words != "" {
		r, e.system = lostOutputEnum, words
	}
	e.log.Add(r, "output.media_type")
}

// answerSchema returns the schema of an answer, strict if that says the same.
func (e *encoder) answerSchema(s content.Schema) (strict bool, text string) {
	if schema.Fits(schema.OpenAIStrict, s) {
		return true, s.JSON
	}
	text, losses := e.schemas.Output(schema.OpenAIStrict, s)
	// The objects of content generation list their members, so that it adds
	// nothing to say that there are no others.
	changed := func(l content.Loss) bool { return !s.OpenAPI || l.Severity != content.LossHint }
	if text != "" && !slices.ContainsFunc(losses, changed) {
		e.schemaLosses(losses, "output.schema")
		return true, text
	}
	e.log.Add(lostSchemaStrict, "output.schema")
	text, losses = e.schemas.Output(schema.JSONSchema, s)
	e.schemaLosses(losses, "output.schema")
	return false, text
}
