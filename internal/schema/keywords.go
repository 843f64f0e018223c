package schema

// A Dialect is a language that schemas are written in.
type Dialect uint8

const (
	// JSONSchema is draft 2020-12, as Messages takes it for the input of tools,
	// and OpenAI-style servers for parameters that are not strict.
	JSONSchema Dialect = iota
	// GeminiSchema is the closed Schema message of content generation:
	// "parameters", "response" and "responseSchema".
	GeminiSchema
	// GeminiJSON is the part of JSON Schema that content generation looks at:
	// "parametersJsonSchema" and "responseJsonSchema".
	GeminiJSON
	// MessagesStrict is what Messages takes for "strict" tools and for
	// "output_config.format".
	MessagesStrict
	// OpenAIStrict is what OpenAI-style servers take where "strict" is true.
	OpenAIStrict

	dialects = int(OpenAIStrict) + 1
)

// A shape is what the value of a keyword must be.
type shape uint8

const (
	free    shape = iota // anything, carried as it is
	flag                 // a boolean
	text                 // a string
	number               // a number
	count                // a whole number from 0 on
	names                // a list of strings
	list                 // a list of anything
	oneType              // a type or a list of types
	bound                // a number, or a boolean as draft 4 has it
	schema               // a schema
	schemas              // a list of schemas
	members              // an object of schemas
	either               // a schema or a list of them
)

// An action is what becomes of a keyword.
type action uint8

const (
	keep    action = iota // stays, with the schemas in it translated
	said                  // is said by other keywords, without a loss unless one is reported
	without               // means nothing there, and goes without a report
	ignored               // stays, but the target does not look at it
	lost                  // goes
)

// A rule is what becomes of a keyword in a dialect, and what is reported.
type rule struct {
	action action
	reason reason
}

// A keyword is an index of the table.
type keyword uint8

const (
	kOther keyword = iota
	kSchema
	kID
	kAnchor
	kComment
	kRef
	kDynamicRef
	kDefs
	kDefinitions
	kType
	kFormat
	kTitle
	kDescription
	kNullable
	kEnum
	kConst
	kDefault
	kExample
	kExamples
	kItems
	kPrefixItems
	kAdditionalItems
	kContains
	kMinContains
	kMaxContains
	kMinItems
	kMaxItems
	kUniqueItems
	kUnevaluatedItems
	kProperties
	kRequired
	kAdditional
	kPattern
	kPatternProperties
	kPropertyNames
	kMinProperties
	kMaxProperties
	kUnevaluated
	kDependentRequired
	kDependentSchemas
	kDependencies
	kMinLength
	kMaxLength
	kMinimum
	kMaximum
	kExclusiveMinimum
	kExclusiveMaximum
	kMultipleOf
	kAnyOf
	kOneOf
	kAllOf
	kNot
	kIf
	kThen
	kElse
	kOrdering
	kDeprecated
	kReadOnly
	kWriteOnly
	kContentEncoding
	kContentMediaType
	kContentSchema
	keywords = int(kContentSchema) + 1
)

var (
	stays = rule{keep, rNone}
	told  = rule{said, rNone}
	mute  = rule{without, rNone}
	note  = rule{lost, rAnnotation}
	weak  = rule{lost, rConstraint}
	blind = rule{ignored, rIgnored}
	part  = rule{ignored, rIgnoredPart}
	cond  = rule{lost, rCondition}
)

// table is the one source of what is done with which keyword. JSONSchema takes
// every keyword as it is, so it has no column.
var table = [keywords]struct {
	name                               string
	shape                              shape
	gemini, geminiJSON, messages, open rule
}{
	kOther:             {"(any other)", free, note, stays, stays, stays},
	kSchema:            {"$schema", text, mute, stays, stays, stays},
	kID:                {"$id", text, note, stays, stays, stays},
	kAnchor:            {"$anchor", text, note, stays, stays, stays},
	kComment:           {"$comment", free, note, stays, stays, stays},
	kRef:               {"$ref", text, told, stays, stays, stays},
	kDynamicRef:        {"$dynamicRef", text, rule{lost, rRef}, part, stays, stays},
	kDefs:              {"$defs", members, mute, stays, stays, stays},
	kDefinitions:       {"definitions", members, mute, told, stays, stays},
	kType:              {"type", oneType, stays, stays, stays, stays},
	kFormat:            {"format", text, stays, stays, stays, stays},
	kTitle:             {"title", text, stays, stays, stays, stays},
	kDescription:       {"description", text, stays, stays, stays, stays},
	kNullable:          {"nullable", flag, stays, told, told, told},
	kEnum:              {"enum", list, stays, stays, stays, stays},
	kConst:             {"const", free, told, told, stays, stays},
	kDefault:           {"default", free, stays, stays, stays, note},
	kExample:           {"example", free, stays, stays, stays, stays},
	kExamples:          {"examples", list, told, stays, stays, stays},
	kItems:             {"items", either, stays, stays, stays, stays},
	kPrefixItems:       {"prefixItems", schemas, told, stays, stays, stays},
	kAdditionalItems:   {"additionalItems", schema, told, told, told, told},
	kContains:          {"contains", schema, weak, blind, stays, stays},
	kMinContains:       {"minContains", count, weak, blind, stays, stays},
	kMaxContains:       {"maxContains", count, weak, blind, stays, stays},
	kMinItems:          {"minItems", count, stays, stays, stays, stays},
	kMaxItems:          {"maxItems", count, stays, stays, weak, stays},
	kUniqueItems:       {"uniqueItems", flag, weak, blind, stays, stays},
	kUnevaluatedItems:  {"unevaluatedItems", schema, weak, blind, stays, stays},
	kProperties:        {"properties", members, stays, stays, stays, stays},
	kRequired:          {"required", names, stays, stays, stays, stays},
	kAdditional:        {"additionalProperties", schema, told, stays, stays, stays},
	kPattern:           {"pattern", text, stays, blind, stays, stays},
	kPatternProperties: {"patternProperties", members, rule{lost, rMembers}, part, stays, rule{lost, rMembers}},
	kPropertyNames:     {"propertyNames", schema, weak, blind, stays, stays},
	kMinProperties:     {"minProperties", count, stays, blind, weak, stays},
	kMaxProperties:     {"maxProperties", count, stays, blind, weak, stays},
	kUnevaluated:       {"unevaluatedProperties", schema, weak, blind, stays, stays},
	kDependentRequired: {"dependentRequired", free, weak, blind, stays, weak},
	kDependentSchemas:  {"dependentSchemas", members, cond, part, stays, cond},
	kDependencies:      {"dependencies", free, cond, part, stays, cond},
	kMinLength:         {"minLength", count, stays, blind, weak, stays},
	kMaxLength:         {"maxLength", count, stays, blind, weak, stays},
	kMinimum:           {"minimum", number, stays, stays, weak, stays},
	kMaximum:           {"maximum", number, stays, stays, weak, stays},
	kExclusiveMinimum:  {"exclusiveMinimum", bound, told, told, weak, stays},
	kExclusiveMaximum:  {"exclusiveMaximum", bound, told, told, weak, stays},
	kMultipleOf:        {"multipleOf", number, weak, blind, weak, stays},
	kAnyOf:             {"anyOf", schemas, stays, stays, stays, stays},
	kOneOf:             {"oneOf", schemas, rule{said, rOneOf}, rule{keep, rOneOf}, rule{said, rOneOf}, rule{said, rOneOf}},
	kAllOf:             {"allOf", schemas, told, told, told, told},
	kNot:               {"not", schema, cond, part, cond, cond},
	kIf:                {"if", schema, cond, part, cond, cond},
	kThen:              {"then", schema, cond, part, cond, cond},
	kElse:              {"else", schema, cond, part, cond, cond},
	kOrdering:          {"propertyOrdering", names, stays, stays, stays, stays},
	kDeprecated:        {"deprecated", flag, note, stays, stays, stays},
	kReadOnly:          {"readOnly", flag, note, stays, stays, stays},
	kWriteOnly:         {"writeOnly", flag, note, stays, stays, stays},
	kContentEncoding:   {"contentEncoding", text, note, stays, stays, stays},
	kContentMediaType:  {"contentMediaType", text, note, stays, stays, stays},
	kContentSchema:     {"contentSchema", schema, note, stays, stays, stays},
}

// byName finds keywords. Nothing writes to it.
var byName = func() map[string]keyword {
	m := make(map[string]keyword, keywords)
	for k := kOther + 1; int(k) < keywords; k++ {
		m[table[k].name] = k
	}
	m["$recursiveRef"] = kDynamicRef
	return m
}()

// rule returns what becomes of k in d.
func (d Dialect) rule(k keyword) rule {
	t := &table[k]
	switch d {
	case GeminiSchema:
		return t.gemini
	case GeminiJSON:
		return t.geminiJSON
	case MessagesStrict:
		return t.messages
	case OpenAIStrict:
		return t.open
	}
	if k == kNullable || k == kAdditionalItems {
		return told
	}
	return stays
}
