package openai

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/openaiformat"
)

// A field is a set of members that a request can omit, or represent in another way,
// without changing the task.
type field uint32

const (
	fieldTemperature field = 1 << iota
	fieldTopP
	fieldTopK
	fieldPresencePenalty
	fieldFrequencyPenalty
	fieldSeed
	fieldStop
	fieldEffort
	fieldParallel
	fieldStreamOptions
	fieldUser
	fieldMaxTokens      // use the other name of the limit
	fieldDescription    // cut long descriptions
	fieldDeveloper      // use the role system
	fieldReasoning      // omit earlier thinking
	fieldSummary        // of thinking; Responses API only
	fieldThinkingSwitch // do not turn thinking on or off
	fieldToolChoice     // do not choose tools by name
	fieldJSONObject     // use a schema for any JSON object
	fieldOutputSchema   // of tool results; Responses API only
	fieldObfuscation    // do not turn padding off
	fieldLogprobs
	fieldCacheKey
	fieldCacheMark
	fieldCacheTime // lifetimes of cache marks
	fieldPhase     // of messages of the assistant; Responses API only
	fieldVerbosity
)

// A fieldName is a name that servers use for a field in errors.
type fieldName struct {
	name string
	field
}

// chatFieldNames are the names in Chat Completions, in the order of the search.
var chatFieldNames = []fieldName{
	{"max_completion_tokens", fieldMaxTokens},
	{"max_tokens", fieldMaxTokens},
	{"temperature", fieldTemperature},
	{"top_p", fieldTopP},
	{"top_k", fieldTopK},
	{"presence_penalty", fieldPresencePenalty},
	{"frequency_penalty", fieldFrequencyPenalty},
	{"seed", fieldSeed},
	{"stop", fieldStop},
	{"reasoning_effort", fieldEffort},
	{"parallel_tool_calls", fieldParallel},
	{"include_obfuscation", fieldObfuscation},
	{"stream_options", fieldStreamOptions},
	{"safety_identifier", fieldUser},
	{"description", fieldDescription},
	{"developer", fieldDeveloper},
	{"reasoning_content", fieldReasoning},
	{"reasoning", fieldReasoning},
	{"thinking", fieldThinkingSwitch},
	{"chat_template_kwargs", fieldThinkingSwitch},
	{"tool_choice", fieldToolChoice},
	{"top_logprobs", fieldLogprobs},
	{"logprobs", fieldLogprobs},
	{"prompt_cache_key", fieldCacheKey},
	{"ttl", fieldCacheTime},
	{"prompt_cache_breakpoint", fieldCacheMark},
	{"cache_control", fieldCacheMark},
	{"verbosity", fieldVerbosity},
}

// refusals are the members and values that a model rejects.
type refusals struct {
	fields         field
	toolsWithNone  bool   // with tools, any effort but none
	shortIDs       bool   // ids other than nine letters and digits
	thinkingMember string // the member that must return thinking to the server
	dropThinking   bool   // earlier thinking, in this conversation
	values         adapter.Learned
}

func (r *refusals) has(f field) bool { return r.fields&f != 0 }

// learn records why a request was rejected, and reports whether a changed request may
// succeed. sent returns the fields of the request.
func (r *refusals) learn(f content.Format, err error, n *lower.Request, sent func() field) bool {
	var e *openaiformat.VendorError
	if !errors.As(err, &e) {
		return false
	}
	before, text := *r, strings.ToLower(e.Message)
	switch {
	case f == ResponsesFormat && isThinkingUnreadable(e, text):
		r.dropThinking = true
	case e.Status != http.StatusBadRequest && e.Status != http.StatusUnprocessableEntity, e.IsTooLong(), e.IsFiltered():
	case r.learnValue(e, text, n):
	case f == ResponsesFormat && strings.Contains(text, "logprobs") && sent()&fieldLogprobs != 0 && rejectsField(e, text):
		r.fields |= fieldLogprobs // the error may name include, which has other values
	case f == ResponsesFormat:
		if strings.Contains(text, "encrypted content is not supported") {
			text += " include" // the message does not name the member
		}
		r.fields |= refusedField(e, text, responsesFieldNames, sent())
	default:
		r.learnChat(e, text, sent())
	}
	return *r != before
}

// learnValue is learn for an error about a value.
func (r *refusals) learnValue(f *openaiformat.VendorError, text string, n *lower.Request) bool {
	effort := n.Effort
	if f.Param != "" && !strings.HasSuffix(f.Param, "effort") {
		effort = "" // the error is about another member
	}
	return r.values.Learn(text+" "+f.Param, effort, n)
}

// learnChat is learn for an error of Chat Completions.
func (r *refusals) learnChat(f *openaiformat.VendorError, text string, sent field) {
	switch {
	case strings.Contains(text, "must be passed back") && strings.Contains(text, "reasoning"):
		r.thinkingMember = "reasoning"
		if strings.Contains(text, "reasoning_content") {
			r.thinkingMember = "reasoning_content"
		}
	case strings.Contains(text, "function tools with reasoning_effort"),
		(f.Param == "reasoning_effort" || strings.Contains(text, "reasoning_effort")) && strings.Contains(text, "to 'none'"):
		r.toolsWithNone = true
	case strings.Contains(text, "tool call id") && strings.Contains(text, "9"):
		r.shortIDs = true
	case sent&fieldJSONObject != 0 && strings.Contains(text, "response_format") && strings.Contains(text, "json_schema"):
		r.fields |= fieldJSONObject
	case strings.Contains(text, "does not support thinking") && sent&fieldEffort != 0:
		r.fields |= fieldEffort
	default:
		r.fields |= refusedField(f, text, chatFieldNames, sent)
	}
}

// refusedField returns the first field of names that an error names, if the request has it.
func refusedField(f *openaiformat.VendorError, text string, names []fieldName, sent field) field {
	if !rejectsField(f, text) {
		return 0
	}
	for _, x := range names {
		if sent&x.field != 0 && namesField(f, x.name, text) {
			return x.field
		}
	}
	return 0
}

// rejectsField reports whether an error is about an unsupported member, not about one
// invalid value. Otherwise one bad request would turn off the member for all.
func rejectsField(f *openaiformat.VendorError, text string) bool {
	switch f.Code {
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

// namesField reports whether an error names a field in its param or as a word of its
// text.
func namesField(f *openaiformat.VendorError, name, text string) bool {
	if f.Param != "" {
		last := f.Param[strings.LastIndexByte(f.Param, '.')+1:]
		if name != "developer" || last != "role" {
			return last == name
		}
	}
	return slices.Contains(strings.FieldsFunc(text, func(c rune) bool { // one pass
		return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), name)
}

// and returns the refusals of r and of old, except those that are about one conversation.
func (r refusals) and(old refusals) refusals {
	r.fields |= old.fields
	r.toolsWithNone = r.toolsWithNone || old.toolsWithNone
	r.shortIDs = r.shortIDs || old.shortIDs
	r.thinkingMember = cmp.Or(r.thinkingMember, old.thinkingMember)
	r.values = r.values.And(old.values)
	r.dropThinking = false
	return r
}

// responsesFieldNames are the names in the Responses API, in the order of the search.
var responsesFieldNames = []fieldName{
	{"temperature", fieldTemperature},
	{"top_p", fieldTopP},
	{"effort", fieldEffort},
	{"summary", fieldSummary},
	{"parallel_tool_calls", fieldParallel},
	{"safety_identifier", fieldUser},
	{"developer", fieldDeveloper},
	{"include", fieldReasoning},
	{"include[0]", fieldReasoning},
	{"tool_choice", fieldToolChoice},
	{"output_schema", fieldOutputSchema},
	{"json_object", fieldJSONObject},
	{"include_obfuscation", fieldObfuscation},
	{"stream_options", fieldObfuscation},
	{"prompt_cache_key", fieldCacheKey},
	{"ttl", fieldCacheTime},
	{"prompt_cache_breakpoint", fieldCacheMark},
	{"phase", fieldPhase},
	{"verbosity", fieldVerbosity},
}

// isThinkingUnreadable reports whether the server cannot use the returned thinking: it
// is altered, belongs to another organization, or does not match the items next to it.
func isThinkingUnreadable(f *openaiformat.VendorError, text string) bool {
	switch {
	case f.Code == "invalid_encrypted_content":
		return f.Status == http.StatusBadRequest || f.Status == http.StatusUnprocessableEntity
	case f.Status != http.StatusBadRequest && f.Status != http.StatusNotFound:
		return false
	}
	return strings.Contains(text, "reasoning") && strings.Contains(text, "without its required") ||
		strings.Contains(text, "items are not persisted when store is set to false")
}
