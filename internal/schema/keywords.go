package schema

// A Dialect is a variant of JSON Schema.
type Dialect uint8

const (
	// JSONSchema is draft 2020-12, which Messages accepts for the input of tools and
	// OpenAI-style servers for parameters that are not strict.
	JSONSchema Dialect = iota
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
	annotation        = rule{actionRemove, rAnnotation}
	constraint        = rule{actionRemove, rConstraint}
	ignoredConstraint = rule{actionIgnore, rIgnored}
	ignoredPart       = rule{actionIgnore, rIgnoredPart}
	condition         = rule{actionRemove, rCondition}
)

// keywordSpecs defines the shape and the treatment of each keyword. Dialects that a row omits
// keep the keyword. JSONSchema accepts every keyword and has no field.
var keywordSpecs = [keywordCount]struct {
	name  string
	shape shape

	geminiJSON, messagesStrict, openAIStrict rule
}{
	kOther:                 {name: "(any other)"},
	kSchema:                {name: "$schema", shape: shapeString},
	kID:                    {name: "$id", shape: shapeString},
	kAnchor:                {name: "$anchor", shape: shapeString},
	kComment:               {name: "$comment"},
	kRef:                   {name: "$ref", shape: shapeString},
	kDynamicRef:            {name: "$dynamicRef", shape: shapeString, geminiJSON: ignoredPart},
	kDefs:                  {name: "$defs", shape: shapeSchemaMap},
	kDefinitions:           {name: "definitions", shape: shapeSchemaMap, geminiJSON: rewritten},
	kType:                  {name: "type", shape: shapeType},
	kFormat:                {name: "format", shape: shapeString},
	kTitle:                 {name: "title", shape: shapeString},
	kDescription:           {name: "description", shape: shapeString},
	kNullable:              {name: "nullable", shape: shapeBool, geminiJSON: rewritten, messagesStrict: rewritten, openAIStrict: rewritten},
	kEnum:                  {name: "enum", shape: shapeList},
	kConst:                 {name: "const", geminiJSON: rewritten},
	kDefault:               {name: "default", openAIStrict: annotation},
	kExample:               {name: "example"},
	kExamples:              {name: "examples", shape: shapeList},
	kItems:                 {name: "items", shape: shapeSchemaOrList},
	kPrefixItems:           {name: "prefixItems", shape: shapeSchemas},
	kAdditionalItems:       {name: "additionalItems", shape: shapeSchema, geminiJSON: rewritten, messagesStrict: rewritten, openAIStrict: rewritten},
	kContains:              {name: "contains", shape: shapeSchema, geminiJSON: ignoredConstraint},
	kMinContains:           {name: "minContains", shape: shapeCount, geminiJSON: ignoredConstraint},
	kMaxContains:           {name: "maxContains", shape: shapeCount, geminiJSON: ignoredConstraint},
	kMinItems:              {name: "minItems", shape: shapeCount},
	kMaxItems:              {name: "maxItems", shape: shapeCount, messagesStrict: constraint},
	kUniqueItems:           {name: "uniqueItems", shape: shapeBool, geminiJSON: ignoredConstraint},
	kUnevaluatedItems:      {name: "unevaluatedItems", shape: shapeSchema, geminiJSON: ignoredConstraint},
	kProperties:            {name: "properties", shape: shapeSchemaMap},
	kRequired:              {name: "required", shape: shapeStrings},
	kAdditionalProperties:  {name: "additionalProperties", shape: shapeSchema},
	kPattern:               {name: "pattern", shape: shapeString, geminiJSON: ignoredConstraint},
	kPatternProperties:     {name: "patternProperties", shape: shapeSchemaMap, geminiJSON: ignoredPart, openAIStrict: rule{actionRemove, rMembers}},
	kPropertyNames:         {name: "propertyNames", shape: shapeSchema, geminiJSON: ignoredConstraint},
	kMinProperties:         {name: "minProperties", shape: shapeCount, geminiJSON: ignoredConstraint, messagesStrict: constraint},
	kMaxProperties:         {name: "maxProperties", shape: shapeCount, geminiJSON: ignoredConstraint, messagesStrict: constraint},
	kUnevaluatedProperties: {name: "unevaluatedProperties", shape: shapeSchema, geminiJSON: ignoredConstraint},
	kDependentRequired:     {name: "dependentRequired", geminiJSON: ignoredConstraint, openAIStrict: constraint},
	kDependentSchemas:      {name: "dependentSchemas", shape: shapeSchemaMap, geminiJSON: ignoredPart, openAIStrict: condition},
	kDependencies:          {name: "dependencies", geminiJSON: ignoredPart, openAIStrict: condition},
	kMinLength:             {name: "minLength", shape: shapeCount, geminiJSON: ignoredConstraint, messagesStrict: constraint},
	kMaxLength:             {name: "maxLength", shape: shapeCount, geminiJSON: ignoredConstraint, messagesStrict: constraint},
	kMinimum:               {name: "minimum", shape: shapeNumber, messagesStrict: constraint},
	kMaximum:               {name: "maximum", shape: shapeNumber, messagesStrict: constraint},
	kExclusiveMinimum:      {name: "exclusiveMinimum", shape: shapeBound, geminiJSON: rewritten, messagesStrict: constraint},
	kExclusiveMaximum:      {name: "exclusiveMaximum", shape: shapeBound, geminiJSON: rewritten, messagesStrict: constraint},
	kMultipleOf:            {name: "multipleOf", shape: shapeNumber, geminiJSON: ignoredConstraint, messagesStrict: constraint},
	kAnyOf:                 {name: "anyOf", shape: shapeSchemas},
	kOneOf:                 {name: "oneOf", shape: shapeSchemas, geminiJSON: rule{actionKeep, rOneOf}, messagesStrict: rule{actionRewrite, rOneOf}, openAIStrict: rule{actionRewrite, rOneOf}},
	kAllOf:                 {name: "allOf", shape: shapeSchemas, geminiJSON: rewritten, messagesStrict: rewritten, openAIStrict: rewritten},
	kNot:                   {name: "not", shape: shapeSchema, geminiJSON: ignoredPart, messagesStrict: condition, openAIStrict: condition},
	kIf:                    {name: "if", shape: shapeSchema, geminiJSON: ignoredPart, messagesStrict: condition, openAIStrict: condition},
	kThen:                  {name: "then", shape: shapeSchema, geminiJSON: ignoredPart, messagesStrict: condition, openAIStrict: condition},
	kElse:                  {name: "else", shape: shapeSchema, geminiJSON: ignoredPart, messagesStrict: condition, openAIStrict: condition},
	kPropertyOrdering:      {name: "propertyOrdering", shape: shapeStrings},
	kDeprecated:            {name: "deprecated", shape: shapeBool},
	kReadOnly:              {name: "readOnly", shape: shapeBool},
	kWriteOnly:             {name: "writeOnly", shape: shapeBool},
	kContentEncoding:       {name: "contentEncoding", shape: shapeString},
	kContentMediaType:      {name: "contentMediaType", shape: shapeString},
	kContentSchema:         {name: "contentSchema", shape: shapeSchema},
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
