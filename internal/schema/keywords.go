package schema

// A Dialect is a variant of JSON Schema.
type Dialect uint8

const (
	// JSONSchema is draft 2020-12, which Messages accepts for the input of tools and
	// OpenAI-style servers for parameters that are not strict.
	JSONSchema Dialect = iota
	// GeminiSchema is the Schema message of generateContent, a fixed set of
	// keywords: "parameters", "response" and "responseSchema".
	GeminiSchema
	// GeminiJSON is the part of JSON Schema that generateContent supports:
	// "parametersJsonSchema" and "responseJsonSchema".
	GeminiJSON
	// MessagesStrict is the dialect that Messages accepts for tools with "strict" and
	// for "output_config.format".
	MessagesStrict
	// OpenAIStrict is the dialect that OpenAI-style servers accept where "strict" is
	// true.
	OpenAIStrict

	dialectCount = int(OpenAIStrict) + 1
)

// A shape is the form of a keyword's value.
type shape uint8

const (
	shapeAny          shape = iota // any value, copied unchanged
	shapeBool                      // a boolean
	shapeString                    // a string
	shapeNumber                    // a number
	shapeCount                     // an integer of at least 0
	shapeStrings                   // an array of strings
	shapeList                      // an array
	shapeType                      // a type or an array of types
	shapeBound                     // a number, or a boolean as in draft 4
	shapeSchema                    // a schema
	shapeSchemas                   // an array of schemas
	shapeSchemaMap                 // an object whose values are schemas
	shapeSchemaOrList              // a schema or an array of schemas
)

// An action is the treatment of a keyword.
type action uint8

const (
	actionKeep    action = iota // copy it and translate the schemas in it
	actionRewrite               // represent it by other keywords
	actionOmit                  // omit it without a report; it has no meaning in the dialect
	actionIgnore                // copy it; the target ignores it
	actionRemove                // omit it
)

// A rule is the treatment of a keyword in a dialect, and the reason that is reported.
type rule struct {
	action action
	reason reason
}

// A keyword is an index of keywordSpecs.
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
	kAdditionalProperties
	kPattern
	kPatternProperties
	kPropertyNames
	kMinProperties
	kMaxProperties
	kUnevaluatedProperties
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
	kPropertyOrdering
	kDeprecated
	kReadOnly
	kWriteOnly
	kContentEncoding
	kContentMediaType
	kContentSchema
	keywordCount = int(kContentSchema) + 1
)

var (
	kept              = rule{actionKeep, rNone}
	rewritten         = rule{actionRewrite, rNone}
	omitted           = rule{actionOmit, rNone}
	annotation        = rule{actionRemove, rAnnotation}
	constraint        = rule{actionRemove, rConstraint}
	ignoredConstraint = rule{actionIgnore, rIgnored}
	ignoredPart       = rule{actionIgnore, rIgnoredPart}
	condition         = rule{actionRemove, rCondition}
)

// keywordSpecs defines the shape and the treatment of each keyword. JSONSchema accepts
// every keyword and has no column.
var keywordSpecs = [keywordCount]struct {
	name  string
	shape shape

	geminiSchema, geminiJSON, messagesStrict, openAIStrict rule
}{
	kOther:                 {"(any other)", shapeAny, annotation, kept, kept, kept},
	kSchema:                {"$schema", shapeString, omitted, kept, kept, kept},
	kID:                    {"$id", shapeString, annotation, kept, kept, kept},
	kAnchor:                {"$anchor", shapeString, annotation, kept, kept, kept},
	kComment:               {"$comment", shapeAny, annotation, kept, kept, kept},
	kRef:                   {"$ref", shapeString, rewritten, kept, kept, kept},
	kDynamicRef:            {"$dynamicRef", shapeString, rule{actionRemove, rRef}, ignoredPart, kept, kept},
	kDefs:                  {"$defs", shapeSchemaMap, omitted, kept, kept, kept},
	kDefinitions:           {"definitions", shapeSchemaMap, omitted, rewritten, kept, kept},
	kType:                  {"type", shapeType, kept, kept, kept, kept},
	kFormat:                {"format", shapeString, kept, kept, kept, kept},
	kTitle:                 {"title", shapeString, kept, kept, kept, kept},
	kDescription:           {"description", shapeString, kept, kept, kept, kept},
	kNullable:              {"nullable", shapeBool, kept, rewritten, rewritten, rewritten},
	kEnum:                  {"enum", shapeList, kept, kept, kept, kept},
	kConst:                 {"const", shapeAny, rewritten, rewritten, kept, kept},
	kDefault:               {"default", shapeAny, kept, kept, kept, annotation},
	kExample:               {"example", shapeAny, kept, kept, kept, kept},
	kExamples:              {"examples", shapeList, rewritten, kept, kept, kept},
	kItems:                 {"items", shapeSchemaOrList, kept, kept, kept, kept},
	kPrefixItems:           {"prefixItems", shapeSchemas, rewritten, kept, kept, kept},
	kAdditionalItems:       {"additionalItems", shapeSchema, rewritten, rewritten, rewritten, rewritten},
	kContains:              {"contains", shapeSchema, constraint, ignoredConstraint, kept, kept},
	kMinContains:           {"minContains", shapeCount, constraint, ignoredConstraint, kept, kept},
	kMaxContains:           {"maxContains", shapeCount, constraint, ignoredConstraint, kept, kept},
	kMinItems:              {"minItems", shapeCount, kept, kept, kept, kept},
	kMaxItems:              {"maxItems", shapeCount, kept, kept, constraint, kept},
	kUniqueItems:           {"uniqueItems", shapeBool, constraint, ignoredConstraint, kept, kept},
	kUnevaluatedItems:      {"unevaluatedItems", shapeSchema, constraint, ignoredConstraint, kept, kept},
	kProperties:            {"properties", shapeSchemaMap, kept, kept, kept, kept},
	kRequired:              {"required", shapeStrings, kept, kept, kept, kept},
	kAdditionalProperties:  {"additionalProperties", shapeSchema, rewritten, kept, kept, kept},
	kPattern:               {"pattern", shapeString, kept, ignoredConstraint, kept, kept},
	kPatternProperties:     {"patternProperties", shapeSchemaMap, rule{actionRemove, rMembers}, ignoredPart, kept, rule{actionRemove, rMembers}},
	kPropertyNames:         {"propertyNames", shapeSchema, constraint, ignoredConstraint, kept, kept},
	kMinProperties:         {"minProperties", shapeCount, kept, ignoredConstraint, constraint, kept},
	kMaxProperties:         {"maxProperties", shapeCount, kept, ignoredConstraint, constraint, kept},
	kUnevaluatedProperties: {"unevaluatedProperties", shapeSchema, constraint, ignoredConstraint, kept, kept},
	kDependentRequired:     {"dependentRequired", shapeAny, constraint, ignoredConstraint, kept, constraint},
	kDependentSchemas:      {"dependentSchemas", shapeSchemaMap, condition, ignoredPart, kept, condition},
	kDependencies:          {"dependencies", shapeAny, condition, ignoredPart, kept, condition},
	kMinLength:             {"minLength", shapeCount, kept, ignoredConstraint, constraint, kept},
	kMaxLength:             {"maxLength", shapeCount, kept, ignoredConstraint, constraint, kept},
	kMinimum:               {"minimum", shapeNumber, kept, kept, constraint, kept},
	kMaximum:               {"maximum", shapeNumber, kept, kept, constraint, kept},
	kExclusiveMinimum:      {"exclusiveMinimum", shapeBound, rewritten, rewritten, constraint, kept},
	kExclusiveMaximum:      {"exclusiveMaximum", shapeBound, rewritten, rewritten, constraint, kept},
	kMultipleOf:            {"multipleOf", shapeNumber, constraint, ignoredConstraint, constraint, kept},
	kAnyOf:                 {"anyOf", shapeSchemas, kept, kept, kept, kept},
	kOneOf:                 {"oneOf", shapeSchemas, rule{actionRewrite, rOneOf}, rule{actionKeep, rOneOf}, rule{actionRewrite, rOneOf}, rule{actionRewrite, rOneOf}},
	kAllOf:                 {"allOf", shapeSchemas, rewritten, rewritten, rewritten, rewritten},
	kNot:                   {"not", shapeSchema, condition, ignoredPart, condition, condition},
	kIf:                    {"if", shapeSchema, condition, ignoredPart, condition, condition},
	kThen:                  {"then", shapeSchema, condition, ignoredPart, condition, condition},
	kElse:                  {"else", shapeSchema, condition, ignoredPart, condition, condition},
	kPropertyOrdering:      {"propertyOrdering", shapeStrings, kept, kept, kept, kept},
	kDeprecated:            {"deprecated", shapeBool, annotation, kept, kept, kept},
	kReadOnly:              {"readOnly", shapeBool, annotation, kept, kept, kept},
	kWriteOnly:             {"writeOnly", shapeBool, annotation, kept, kept, kept},
	kContentEncoding:       {"contentEncoding", shapeString, annotation, kept, kept, kept},
	kContentMediaType:      {"contentMediaType", shapeString, annotation, kept, kept, kept},
	kContentSchema:         {"contentSchema", shapeSchema, annotation, kept, kept, kept},
}

// keywordsByName maps names to keywords. It is read-only.
var keywordsByName = func() map[string]keyword {
	m := make(map[string]keyword, keywordCount)
	for k := kOther + 1; int(k) < keywordCount; k++ {
		m[keywordSpecs[k].name] = k
	}
	m["$recursiveRef"] = kDynamicRef
	return m
}()

// rule returns the rule for k in d.
func (d Dialect) rule(k keyword) rule {
	spec := &keywordSpecs[k]
	switch d {
	case GeminiSchema:
		return spec.geminiSchema
	case GeminiJSON:
		return spec.geminiJSON
	case MessagesStrict:
		return spec.messagesStrict
	case OpenAIStrict:
		return spec.openAIStrict
	}
	if k == kNullable || k == kAdditionalItems {
		return rewritten
	}
	return kept
}
