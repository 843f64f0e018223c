// Package schema translates the schemas of tools and of structured answers
// between the dialects that vendors take. It works on JSON text: nothing is
// compiled, evaluated or fetched, members keep their order, and default,
// example, examples, enum and const are carried byte for byte.
//
// # Which dialect
//
//   - Messages: [Input] with JSONSchema for input_schema; MessagesStrict for a
//     tool with strict, and [Output] with MessagesStrict for output_config.format.
//   - Content generation: a schema that came as OpenAPI goes to "parameters" and
//     "responseSchema" by GeminiSchema, as it is. JSON Schema goes to
//     "parametersJsonSchema" and "responseJsonSchema" by GeminiJSON, which keeps
//     nearly all of it. JSON Schema by GeminiSchema is for servers that know the
//     closed set only: references are written out and much is lost.
//   - OpenAI-style: JSONSchema where strict is false, OpenAIStrict only where the
//     caller asked for strict. [Fits] tells whether a schema is strict already.
//
// # What is done
//
// A root of arguments becomes an object without alternatives: allOf and a root
// reference are merged into it, anyOf and oneOf become one object with all the
// members. Types in capitals are spelled as JSON Schema has them; "nullable" is
// taken as meant and becomes "null" among the types or alternatives; lists in
// "items" and boolean exclusive bounds become what draft 2020-12 has for them.
// A null where a keyword wants something else says nothing. Names of properties
// are never keywords.
//
// For GeminiSchema besides: alternatives stand alone in their schema, as the
// vendor wants it, so what stands beside them is repeated in each, and the
// description goes to those that have none. Literal alternatives become one
// enum. Enumerated values that are not strings, up to 512 bytes, are named at
// the end of the description, "Allowed values: 1, 2": of all that the dialect
// cannot say, this is what a model needs. Nothing else is added to a description.
// A required name that no property has gets an open property.
//
// An object that forbids unlisted members, as most do, loses that as a Hint in
// GeminiSchema, since there is no way to write others there.
//
// A schema that contains itself is written out until one definition would stand
// a third time on the way to a place; there it is cut, keeping its type, and
// reported; so is a chain of more than 64 references. JSONSchema, GeminiJSON and
// OpenAIStrict keep references; MessagesStrict keeps them unless they recur.
// What is written out is bounded: by 2,000 schemas plus one for every 4 bytes of
// source, and by 64 KiB plus 4 times the source, give or take one schema, and
// 100 levels where references are written out. What does not fit is left open and reported. No more than 50 losses are listed,
// then one that is as severe as the worst of the rest.
//
// OpenAIStrict keeps the formats that the vendor knows, as it refuses a strict
// schema with another one. What says nothing of a text, such as int32 or enum,
// goes as a Hint; others, such as uri, are Degraded. A schema inside that says
// neither a type nor values, alternatives or a reference stays and is Degraded:
// the vendor wants a type there, so that the whole should not be sent as strict.
//
// # Losses
//
// A Hint changes nothing that a model would do. Degraded is a weaker bound or
// another way to say it. Dropped is a part of the shape that is gone.
//
// # Keywords
//
// JSONSchema keeps every keyword. In the other dialects a keyword stays, is
// reworded, goes silently because it means nothing there, is ignored by the
// vendor but sent, or goes; then the severity of the loss, if there is one. A
// reworded keyword may still lose something, which is reported where it happens.
//
//	                       GeminiSchema     GeminiJSON       MessagesStrict   OpenAIStrict
//	(any other)            goes hint        stays            stays            stays
//	$schema                silent           stays            stays            stays
//	$id                    goes hint        stays            stays            stays
//	$anchor                goes hint        stays            stays            stays
//	$comment               goes hint        stays            stays            stays
//	$ref                   reworded         stays            stays            stays
//	$dynamicRef            goes dropped     ignored dropped  stays            stays
//	$defs                  silent           stays            stays            stays
//	definitions            silent           reworded         stays            stays
//	type                   stays            stays            stays            stays
//	format                 stays            stays            stays            stays
//	title                  stays            stays            stays            stays
//	description            stays            stays            stays            stays
//	nullable               stays            reworded         reworded         reworded
//	enum                   stays            stays            stays            stays
//	const                  reworded         reworded         stays            stays
//	default                stays            stays            stays            goes hint
//	example                stays            stays            stays            stays
//	examples               reworded         stays            stays            stays
//	items                  stays            stays            stays            stays
//	prefixItems            reworded         stays            stays            stays
//	additionalItems        reworded         reworded         reworded         reworded
//	contains               goes degraded    ignored degraded stays            stays
//	minContains            goes degraded    ignored degraded stays            stays
//	maxContains            goes degraded    ignored degraded stays            stays
//	minItems               stays            stays            stays            stays
//	maxItems               stays            stays            goes degraded    stays
//	uniqueItems            goes degraded    ignored degraded stays            stays
//	unevaluatedItems       goes degraded    ignored degraded stays            stays
//	properties             stays            stays            stays            stays
//	required               stays            stays            stays            stays
//	additionalProperties   reworded         stays            stays            stays
//	pattern                stays            ignored degraded stays            stays
//	patternProperties      goes dropped     ignored dropped  stays            goes dropped
//	propertyNames          goes degraded    ignored degraded stays            stays
//	minProperties          stays            ignored degraded goes degraded    stays
//	maxProperties          stays            ignored degraded goes degraded    stays
//	unevaluatedProperties  goes degraded    ignored degraded stays            stays
//	dependentRequired      goes degraded    ignored degraded stays            goes degraded
//	dependentSchemas       goes dropped     ignored dropped  stays            goes dropped
//	dependencies           goes dropped     ignored dropped  stays            goes dropped
//	minLength              stays            ignored degraded goes degraded    stays
//	maxLength              stays            ignored degraded goes degraded    stays
//	minimum                stays            stays            goes degraded    stays
//	maximum                stays            stays            goes degraded    stays
//	exclusiveMinimum       reworded         reworded         goes degraded    stays
//	exclusiveMaximum       reworded         reworded         goes degraded    stays
//	multipleOf             goes degraded    ignored degraded goes degraded    stays
//	anyOf                  stays            stays            stays            stays
//	oneOf                  reworded degraded stays degraded   reworded degraded reworded degraded
//	allOf                  reworded         reworded         reworded         reworded
//	not                    goes dropped     ignored dropped  goes dropped     goes dropped
//	if                     goes dropped     ignored dropped  goes dropped     goes dropped
//	then                   goes dropped     ignored dropped  goes dropped     goes dropped
//	else                   goes dropped     ignored dropped  goes dropped     goes dropped
//	propertyOrdering       stays            stays            stays            stays
//	deprecated             goes hint        stays            stays            stays
//	readOnly               goes hint        stays            stays            stays
//	writeOnly              goes hint        stays            stays            stays
//	contentEncoding        goes hint        stays            stays            stays
//	contentMediaType       goes hint        stays            stays            stays
//	contentSchema          goes hint        stays            stays            stays
package schema
