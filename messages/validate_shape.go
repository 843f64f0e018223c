package messages

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// A shape is a schema for a value that is stored as JSON text. Tables of shapes
// describe the parts of the format that have no Go types.
type shape struct {
	kinds    kinds
	min, max int64    // length of a text or list, value of a number; max 0 means no limit
	enum     []string // known values of a text; without closed, only Strict refuses others
	closed   bool     // refuses other values even without Strict
	elem     *shape   // of a list
	values   *shape   // of the members of an object with arbitrary names
	fields   []field  // of an object; nil: any
	tags     []variant
}

// A field is a member of an object.
type field struct {
	name     string
	required bool
	shape    *shape // nil: any value
}

// A variant holds the fields of an object whose "type" is tag.
type variant struct {
	tag    string
	fields []field
}

type kinds uint8

const (
	textKind kinds = 1 << iota
	integerKind
	flagKind
	listKind
	objectKind
	nullKind
)

// kindsOf returns the kind of v, or 0 for a number that is not an integer.
func kindsOf(v jsonwire.Value) kinds {
	switch v.Kind() {
	case jsonwire.String:
		return textKind
	case jsonwire.Number:
		if _, ok := v.Int(); ok {
			return integerKind
		}
	case jsonwire.True, jsonwire.False:
		return flagKind
	case jsonwire.Array:
		return listKind
	case jsonwire.Object:
		return objectKind
	case jsonwire.Null:
		return nullKind
	}
	return 0
}

// text returns the error text for a value that has none of the kinds.
func (k kinds) text() string {
	switch {
	case k&textKind != 0 && k&objectKind != 0:
		return "Input should be a valid string or an object"
	case k&textKind != 0 && k&listKind != 0:
		return "Input should be a valid string or list"
	case k&textKind != 0:
		return textString
	case k&integerKind != 0:
		return textInteger
	case k&flagKind != 0:
		return textBoolean
	case k&listKind != 0:
		return textList
	}
	return textObject
}

// checkValue validates the value at the path.
func (v *validator) checkValue(x jsonwire.Value, s *shape) {
	k := kindsOf(x)
	if k&s.kinds == 0 {
		v.violation(content.CodeType, s.kinds.text())
		return
	}
	switch k {
	case textKind:
		v.checkText(x, s)
	case integerKind:
		n, _ := x.Int()
		if n < s.min {
			v.violation(content.CodeRange, textAtLeast(s.min))
		} else if s.max != 0 && n > s.max {
			v.violation(content.CodeRange, textUpTo(s.max))
		}
	case listKind:
		if n := int64(x.Len()); s.max != 0 && n > s.max {
			v.violation(content.CodeLimit, textItems(int(s.max), int(n)))
		} else if n < s.min {
			v.violation(content.CodeRange, "List should have at least "+counted(int(s.min), "item"))
		}
		if s.elem == nil {
			return
		}
		for i, e := range x.Elems() {
			v.path.PushIndex(i)
			v.checkValue(e, s.elem)
			v.path.Pop()
		}
	case objectKind:
		v.checkObject(x, s)
	}
}

func (v *validator) checkText(x jsonwire.Value, s *shape) {
	if s.enum != nil {
		if (s.closed || v.opts.Strict) && !slices.ContainsFunc(s.enum, x.Is) {
			v.violation(content.CodeValue, textOneOf(s.enum))
		}
		return
	}
	if s.min == 0 && s.max == 0 {
		return
	}
	n := int64(utf8.RuneCountInString(x.Str()))
	if n < s.min {
		v.violation(content.CodeRange, textNotEmpty)
	} else if s.max != 0 && n > s.max {
		v.violation(content.CodeRange, textAtMost(int(s.max), "character"))
	}
}

func (v *validator) checkObject(x jsonwire.Value, s *shape) {
	switch {
	case s.values != nil:
		for name, m := range x.Members() {
			v.path.Push(codec.Clip(name))
			v.checkValue(m, s.values)
			v.path.Pop()
		}
	case s.tags != nil:
		v.checkTagged(x, s.tags)
	case s.fields != nil:
		v.checkFields(x, s.fields, false)
	}
}

// checkTagged validates an object by the variant of its "type".
func (v *validator) checkTagged(x jsonwire.Value, tags []variant) {
	t := x.Get("type")
	if t.Kind() != jsonwire.String {
		if t.Exists() {
			v.violation(content.CodeType, textString, "type")
		} else {
			v.violation(content.CodeMissing, textRequired, "type")
		}
		return
	}
	for i := range tags {
		if t.Is(tags[i].tag) {
			v.path.Push(tags[i].tag)
			v.checkFields(x, tags[i].fields, true)
			v.path.Pop()
			return
		}
	}
	names := make([]string, len(tags))
	for i := range tags {
		names[i] = tags[i].tag
	}
	v.violation(content.CodeValue, quoteTag(t.Str(), quoteTags(names)))
}

// checkFields validates the members of an object. If tagged is set, it skips the
// member "type".
func (v *validator) checkFields(x jsonwire.Value, fields []field, tagged bool) {
	var seen uint64 // no object has more than 64 fields
	for name, m := range x.Members() {
		if tagged && name == "type" {
			continue
		}
		seen |= 1 << v.checkMember(name, m, fields) >> 1
	}
	for i := range fields {
		if f := &fields[i]; f.required && seen>>i&1 == 0 {
			v.violation(content.CodeMissing, textRequired, f.name)
		}
	}
}

// checkMember validates one member by the field of its name. It returns the index of
// the field plus 1, or 0 for an unknown member, which only Strict refuses.
func (v *validator) checkMember(name string, x jsonwire.Value, fields []field) int {
	for i := range fields {
		if fields[i].name == name {
			if shape := fields[i].shape; shape != nil {
				v.path.Push(name)
				v.checkValue(x, shape)
				v.path.Pop()
			}
			return i + 1
		}
	}
	if v.opts.Strict {
		v.violation(content.CodeUnknown, textExtra, codec.Clip(name))
	}
	return 0
}

// open parses JSON text, and returns nil and reports a violation if it is invalid.
// In a parsed request the text is valid.
func (v *validator) open(text string, names ...string) *jsonwire.Doc {
	lim := jsonwire.Limits{}
	if !v.constructed {
		lim = codec.UnlimitedJSON
		lim.AllowDuplicateNames = true
	}
	if v.doc == nil || v.doc.Root().Exists() { // missing, or still in use
		v.doc = new(jsonwire.Doc)
	}
	doc := v.doc
	if err := doc.Parse(text, lim); err != nil {
		v.violation(content.CodeSyntax, "must be valid JSON: "+err.Error(), names...)
		return nil
	}
	return doc
}

// checkRaw validates JSON text unless it is empty.
func (v *validator) checkRaw(text string, s *shape, name string) {
	if text == "" {
		return
	}
	v.path.Push(name)
	defer v.path.Pop()
	if doc := v.open(text); doc != nil {
		v.checkValue(doc.Root(), s)
		doc.Close()
	}
}

// object reports whether JSON text is an object, and records a violation if not.
func (v *validator) object(text string, names ...string) bool {
	if !v.isJSON(text, names...) {
		return false
	}
	if !jsonwire.IsObject(text) {
		v.violation(content.CodeType, textNotObject, names...)
		return false
	}
	return true
}

// isJSON returns whether text is valid JSON, and reports a violation if not. In a
// parsed request the text is valid.
func (v *validator) isJSON(text string, names ...string) bool {
	if v.constructed {
		doc := v.open(text, names...)
		doc.Close()
		return doc != nil
	}
	return true
}

// directCallerExtra is the Extra that clients send most often.
const directCallerExtra = `{"caller":{"type":"direct"}}`

// extra validates the members that have no Go field.
func (v *validator) extra(e *content.Extra, fields []field) {
	if e == nil || e.Format != Format && e.Format != "" || e.JSON == directCallerExtra && fields != nil {
		return
	}
	if fields == nil && !v.constructed && !v.opts.Strict {
		return // unknown members are accepted
	}
	doc := v.open(e.JSON)
	if doc == nil {
		return
	}
	defer doc.Close()
	if doc.Root().Kind() != jsonwire.Object {
		v.violation(content.CodeType, textObject)
		return
	}
	for name, m := range doc.Root().Members() {
		v.checkMember(name, m, fields)
	}
}

// extraAt is extra for the member name of the object at the path.
func (v *validator) extraAt(e *content.Extra, fields []field, name string) {
	if e == nil {
		return
	}
	v.path.Push(name)
	v.extra(e, fields)
	v.path.Pop()
}

// The shapes of members that are stored as JSON text. The tables below are never
// changed.

var (
	anyText         = &shape{kinds: textKind}
	nonEmptyText    = &shape{kinds: textKind, min: 1}
	nullableText    = &shape{kinds: textKind | nullKind}
	anyFlag         = &shape{kinds: flagKind}
	nullableFlag    = &shape{kinds: flagKind | nullKind}
	anyInteger      = &shape{kinds: integerKind}
	positive        = &shape{kinds: integerKind, min: 1}
	nullableCount   = &shape{kinds: integerKind | nullKind, min: 1}
	nullableTexts   = &shape{kinds: listKind | nullKind, elem: anyText}
	anyObject       = &shape{kinds: objectKind}
	listOrObject    = &shape{kinds: listKind | objectKind}
	textOrList      = &shape{kinds: textKind | listKind}
	anyObjectOrNull = &shape{kinds: objectKind | nullKind}
	nullableList    = &shape{kinds: listKind | nullKind}
)

func enum(values ...string) *shape { return &shape{kinds: textKind, enum: values} }

// constant returns the shape of a text with only one valid value.
func constant(value string) *shape {
	return &shape{kinds: textKind, enum: []string{value}, closed: true}
}

func nullableEnum(values ...string) *shape { return &shape{kinds: textKind | nullKind, enum: values} }

func object(fields ...field) *shape { return &shape{kinds: objectKind, fields: fields} }

func nullableObject(fields ...field) *shape {
	return &shape{kinds: objectKind | nullKind, fields: fields}
}

func union(variants ...variant) *shape { return &shape{kinds: objectKind, tags: variants} }

// untypedObject returns the shape of an object whose members only the vendor
// validates. Strict validation refuses members with other names.
func untypedObject(names ...string) *shape {
	return &shape{kinds: objectKind, fields: namedFields(names...)}
}

// namedFields returns fields with arbitrary values.
func namedFields(names ...string) []field {
	list := make([]field, len(names))
	for i, name := range names {
		list[i].name = name
	}
	return list
}

func list(elem *shape) *shape { return &shape{kinds: listKind, elem: elem} }

func required(name string, is *shape) field { return field{name, true, is} }

func optional(name string, is *shape) field { return field{name, false, is} }

var (
	containerShape = &shape{kinds: textKind | objectKind, fields: []field{
		optional("id", nullableText),
		optional("skills", &shape{kinds: listKind | nullKind, max: 20, elem: object(
			required("type", enum("anthropic", "custom")),
			required("skill_id", &shape{kinds: textKind, min: 1, max: 64}),
			optional("version", &shape{kinds: textKind | nullKind, min: 1, max: 64}),
		)}),
	}}
	diagnosticsShape = object(optional("previous_message_id", &shape{kinds: textKind | nullKind, max: 256}))
	mcpServersShape  = list(object(
		required("type", constant("url")),
		required("name", nonEmptyText),
		required("url", nonEmptyText),
		optional("authorization_token", nullableText),
		optional("tool_configuration", nullableObject(optional("enabled", nullableFlag), optional("allowed_tools", nullableTexts))),
	))

	inputTokens    = variant{"input_tokens", []field{required("value", anyInteger)}}
	toolUses       = variant{"tool_uses", []field{required("value", anyInteger)}}
	managementEdit = union(
		variant{"clear_tool_uses_20250919", []field{
			optional("trigger", union(inputTokens, toolUses)),
			optional("keep", union(toolUses)),
			optional("clear_at_least", &shape{kinds: objectKind | nullKind, tags: []variant{inputTokens}}),
			optional("exclude_tools", nullableTexts),
			optional("clear_tool_inputs", &shape{kinds: flagKind | listKind | nullKind, elem: anyText}),
		}},
		variant{"clear_thinking_20251015", []field{
			optional("keep", &shape{kinds: textKind | objectKind, enum: []string{"all"}, tags: []variant{
				{"thinking_turns", []field{required("value", anyInteger)}}, {"all", []field{}},
			}}),
		}},
		variant{"compact_20260112", []field{
			optional("trigger", &shape{kinds: objectKind | nullKind, tags: []variant{
				{"input_tokens", []field{required("value", &shape{kinds: integerKind, min: 50000})}},
			}}),
			optional("pause_after_compaction", anyFlag),
			optional("instructions", nullableText),
		}},
	)
	managementShape = object(optional("edits", list(managementEdit)))
	compactionShape = object(required("type", constant("summarize")), optional("instructions", nullableText))
	threadShape     = untypedObject("type", "previous_message_id")
	fallbacksShape  = &shape{kinds: textKind | listKind,
		elem: untypedObject("model", "max_tokens", "thinking", "output_config", "speed")}
	creditShape = &shape{kinds: textKind | objectKind, fields: []field{
		required("token", nonEmptyText), optional("mode", nullableEnum("strict", "best_effort")),
	}}
	billingShape = untypedObject("type", "bill_to")

	// Members of typed objects that have no Go field.
	thinkingFields = []field{
		optional("block_binding", nullableObject(optional("prefix_mismatch_behavior", nullableEnum("error", "drop_block")))),
	}
	outputConfigFields = []field{optional("task_budget", nullableObject(
		required("type", constant("tokens")),
		required("total", &shape{kinds: integerKind, min: 20000}),
		optional("remaining", &shape{kinds: integerKind | nullKind}),
	))}
	messageFields = []field{
		optional("clear_at", nullableEnum("never", nextUserMessage)),
		optional("output_config", nullableObject(optional("effort", nullableEnum(effortNames...)))),
	}
	imageFields = []field{
		optional("transformations", nullableObject(optional("oversized_image", nullableEnum("downsize", "error")))),
	}
	caller = &shape{kinds: objectKind | nullKind, tags: []variant{
		{"direct", []field{}},
		{"code_execution_20250825", []field{required("tool_id", nonEmptyText)}},
		{"code_execution_20260120", []field{required("tool_id", nonEmptyText)}},
	}}
	callerField            = optional("caller", caller)
	toolsetField           = optional("toolset_name", nullableText)
	toolUseFields          = []field{callerField, toolsetField}
	toolResultFields       = []field{toolsetField}
	serverToolUseFields    = []field{callerField}
	mcpToolUseFields       = []field{optional("server_name", nonEmptyText)}
	serverToolResultFields = []field{callerField}
	mcpToolResultFields    = []field{optional("is_error", anyFlag)}
	webCitationFields      = []field{optional("encrypted_index", anyText)}

	cacheShape = nullableObject(required("type", constant("ephemeral")), optional("ttl", nullableEnum(ttls...)))
)

// rawMember returns the text of a member of an object that is valid JSON. It reads
// only the text before the member, because most of a schema follows its "type". It
// does not find names with escapes.
func rawMember(object, name string) (text string, found bool) {
	i := strings.IndexByte(object, '{') + 1
	for i > 0 && i < len(object) {
		i = skipTo(object, i, '"', '}')
		if i >= len(object) || object[i] == '}' {
			break
		}
		end := stringEnd(object, i)
		is := object[i+1:max(i+1, end-1)] == name
		from := skipTo(object, end, ':', ':') + 1
		for from < len(object) && isSpace(object[from]) {
			from++
		}
		if from >= len(object) {
			break
		}
		i = valueEnd(object, from)
		if is {
			return object[from:i], true
		}
	}
	return "", false
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// skipTo returns the index of the first a or b at or after i.
func skipTo(s string, i int, a, b byte) int {
	for i < len(s) && s[i] != a && s[i] != b {
		i++
	}
	return i
}

// stringEnd returns the index after the string that begins at i.
func stringEnd(s string, i int) int {
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

// valueEnd returns the index after the value that begins at i.
func valueEnd(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			if i = stringEnd(s, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(s)
}
