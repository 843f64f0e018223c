package openai

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A field is a part of a request that may be left out, or said otherwise,
// without asking for something else.
type field uint32

const (
	fieldTemperature field = 1 << iota
	fieldTopP
	fieldTopK
	fieldPresence
	fieldFrequency
	fieldSeed
	fieldStop
	fieldEffort
	fieldParallel
	fieldStreamOptions
	fieldUser
	fieldLimit       // the limit goes by its other name
	fieldDescription // long descriptions are cut
	fieldDeveloper   // the role is system
	fieldReasoning   // thoughts do not go back
	fieldSummary     // of thoughts, over responses only
	fieldSwitch      // thinking is not turned on and off
	fieldChoice      // tools are not chosen by name
	fieldJSONObject  // any JSON is asked for by a schema
	fieldResultShape // schemas of results, over responses only
	fieldPadding     // that there be none
	fieldLogprobs    // log probabilities, over chat completions only
)

// A refusedName is a name by which servers refuse a field.
type refusedName struct {
	name string
	field
}

// fields are the names, in the order in which they are looked for.
var fields = []refusedName{
	{"max_completion_tokens", fieldLimit},
	{"max_tokens", fieldLimit},
	{"temperature", fieldTemperature},
	{"top_p", fieldTopP},
	{"top_k", fieldTopK},
	{"presence_penalty", fieldPresence},
	{"frequency_penalty", fieldFrequency},
	{"seed", fieldSeed},
	{"stop", fieldStop},
	{"reasoning_effort", fieldEffort},
	{"parallel_tool_calls", fieldParallel},
	{"include_obfuscation", fieldPadding},
	{"stream_options", fieldStreamOptions},
	{"safety_identifier", fieldUser},
	{"description", fieldDescription},
	{"developer", fieldDeveloper},
	{"reasoning_content", fieldReasoning},
	{"reasoning", fieldReasoning},
	{"thinking", fieldSwitch},
	{"chat_template_kwargs", fieldSwitch},
	{"tool_choice", fieldChoice},
	{"top_logprobs", fieldLogprobs},
	{"logprobs", fieldLogprobs},
}

// refusals are what a model is known to refuse.
type refusals struct {
	fields     field
	effortNone bool   // no effort but none beside tools
	shortIDs   bool   // all ids but those of nine letters and digits
	echo       string // the member in which thoughts have to go back
}

func (r *refusals) has(f field) bool { return r.fields&f != 0 }

// learn takes in why a request was refused, and reports whether there is
// something to be said otherwise. sent are the fields that it had.
func (r *refusals) learn(err error, sent field) bool {
	var f *vendorError
	if !errors.As(err, &f) || f.status != http.StatusBadRequest && f.status != http.StatusUnprocessableEntity || f.tooLong() || f.filtered() {
		return false
	}
	before := *r
	r.take(f, sent)
	return *r != before
}

func (r *refusals) take(f *vendorError, sent field) {
	text := strings.ToLower(f.message)
	switch {
	case strings.Contains(text, "must be passed back") && strings.Contains(text, "reasoning"):
		r.echo = "reasoning"
		if strings.Contains(text, "reasoning_content") {
			r.echo = "reasoning_content"
		}
	case strings.Contains(text, "function tools with reasoning_effort"),
		(f.param == "reasoning_effort" || strings.Contains(text, "reasoning_effort")) && strings.Contains(text, "to 'none'"):
		r.effortNone = true
	case strings.Contains(text, "tool call id") && strings.Contains(text, "9"):
		r.shortIDs = true
	case sent&fieldJSONObject != 0 && strings.Contains(text, "response_format") && strings.Contains(text, "json_schema"):
		r.fields |= fieldJSONObject
	case strings.Contains(text, "does not support thinking") && sent&fieldEffort != 0:
		r.fields |= fieldEffort
	default:
		r.fields |= refusedField(f, text, sent)
	}
}

// refusedField returns the field that an error is about, if the request has it.
func refusedField(f *vendorError, text string, sent field) field {
	if !f.refuses(text) {
		return 0
	}
	for _, x := range fields {
		if sent&x.field != 0 && about(f, x.name, text) {
			return x.field
		}
	}
	return 0
}

// refuses reports whether an error is about a field that is not taken at all,
// and not about a value that is wrong: the model would be thought to refuse the
// field from everybody.
func (f *vendorError) refuses(text string) bool {
	switch f.code {
	case "unsupported_parameter", "unsupported_value", "unknown_parameter", "string_above_max_length":
		return true
	}
	for _, words := range []string{"support", "recogni", "unknown", "unexpected", "permitted", "not allowed"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// about reports whether an error names a field: as its param, or as a word of
// its text.
func about(f *vendorError, name, text string) bool {
	if f.param != "" {
		last := f.param[strings.LastIndexByte(f.param, '.')+1:]
		if name != "developer" || last != "role" {
			return last == name
		}
	}
	return slices.Contains(strings.FieldsFunc(text, func(c rune) bool {
		return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), name)
}

// mostModels bounds how many models are remembered.
const mostModels = 256

// A memory is what models have refused. It is safe for concurrent use.
type memory struct {
	mu     sync.Mutex
	models map[string]refusals
}

func (m *memory) get(model string) refusals {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.models[model]
}

// add remembers a refusal. Once there are too many models it forgets all: who
// asks for that many has invented them.
func (m *memory) add(model string, r refusals) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.models == nil || len(m.models) >= mostModels {
		m.models = make(map[string]refusals)
	}
	old := m.models[model]
	r.fields |= old.fields
	r.effortNone = r.effortNone || old.effortNone
	r.shortIDs = r.shortIDs || old.shortIDs
	if r.echo == "" {
		r.echo = old.echo
	}
	m.models[strings.Clone(model)] = r
}
