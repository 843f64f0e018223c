package openai

import (
	"errors"
	"net/http"
	"strings"

	"github.com/polywire/polywire/internal/legal"
)

// responsesRules are the vendor's for names and ids.
var responsesRules = &legal.Rules{
	Name: legal.Rule{MaxBytes: 64, Punctuation: "_-"},
	ID:   legal.Rule{MaxBytes: 64, Punctuation: "_-.:/|+=@#"},
}

// resFamily is familyOf with what models take over responses only.
func resFamily(model string) family {
	f := familyOf(model)
	switch name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]); {
	case strings.HasPrefix(name, "gpt-6.1-sol"):
		f.efforts = upTo("low", "max")
	case strings.HasPrefix(name, "gpt-5-pro"):
		f.efforts, f.byDefault = []string{"high"}, "high"
	}
	return f
}

// resFields are the names by which servers refuse.
var resFields = []refusedName{
	{"temperature", fieldTemperature},
	{"top_p", fieldTopP},
	{"effort", fieldEffort},
	{"summary", fieldSummary},
	{"parallel_tool_calls", fieldParallel},
	{"safety_identifier", fieldUser},
	{"developer", fieldDeveloper},
	{"include", fieldReasoning},
	{"include[0]", fieldReasoning},
	{"tool_choice", fieldChoice},
	{"output_schema", fieldResultShape},
	{"json_object", fieldJSONObject},
	{"include_obfuscation", fieldPadding},
	{"stream_options", fieldPadding},
}

// learnResponses is learn for responses.
func (p *plan) learnResponses(err error) (again, keep bool) {
	var f *vendorError
	if !errors.As(err, &f) {
		return false, false
	}
	text := strings.ToLower(f.message)
	if unreadable(f, text) {
		again, p.strange = !p.strange, true
		return again, false
	}
	if f.status != http.StatusBadRequest && f.status != http.StatusUnprocessableEntity || f.tooLong() || f.filtered() || !f.refuses(text) {
		return false, false
	}
	if strings.Contains(text, "encrypted content is not supported") {
		text += " include" // it does not say in which member
	}
	for _, x := range resFields {
		if p.sent&x.field != 0 && !p.to.refused.has(x.field) && about(f, x.name, text) {
			p.to.refused.fields |= x.field
			return true, true
		}
	}
	return false, false
}

// unreadable reports whether the vendor has no use for the thoughts that came
// back: they are altered, another organisation's, or not those that belong to
// what stands beside them.
func unreadable(f *vendorError, text string) bool {
	switch {
	case f.code == "invalid_encrypted_content":
		return f.status == http.StatusBadRequest || f.status == http.StatusUnprocessableEntity
	case f.status != http.StatusBadRequest && f.status != http.StatusNotFound:
		return false
	}
	return strings.Contains(text, "reasoning") && strings.Contains(text, "without its required") ||
		strings.Contains(text, "items are not persisted when store is set to false")
}
