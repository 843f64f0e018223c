// Package schema translates the JSON schemas of tools and of structured output
// between the dialects that vendors accept. It works on JSON text. It does not
// compile, evaluate or fetch schemas. Members keep their order. The values of
// default, example, examples, enum and const are copied byte for byte.
//
// # Dialects
//
//   - Messages: [Input] with JSONSchema for input_schema. Tools with strict use
//     MessagesStrict, and so does [Output] for output_config.format.
//   - generateContent: an OpenAPI schema is sent unchanged as "parameters" or
//     "responseSchema". A JSON Schema is sent as "parametersJsonSchema" or
//     "responseJsonSchema", in GeminiJSON, which keeps nearly all of it.
//   - OpenAI-style: JSONSchema where strict is false, OpenAIStrict where the caller
//     asked for strict. [Fits] reports whether a schema is strict already.
//
// # Translation
//
// The root of tool arguments becomes an object without alternatives. allOf and a
// reference at the root are merged into it; anyOf and oneOf become one object with the
// properties of all alternatives. Types have the case that the dialect requires, and
// "nullable" the form that it has there. A list in "items" and boolean exclusive limits
// become their equivalents of draft 2020-12. A null value is treated as an absent
// keyword. Names of properties are never read as keywords.
//
// JSONSchema, GeminiJSON and OpenAIStrict keep references. MessagesStrict keeps them
// unless they are recursive. A definition is expanded at most twice on the path to a
// schema. Its third occurrence keeps only type and description, and is reported. So is
// a reference after 64 nested ones. The output is limited to 2,000 schemas plus one
// per 4 bytes of source, to 64 KiB plus 4 times the source (exceeded by at most one
// schema), and to 100 levels of expanded schemas. The rest is left unconstrained
// and reported.
//
// OpenAIStrict keeps only the formats that the vendor supports, because the vendor
// rejects strict schemas with others. Formats that do not constrain a string, such
// as int32 and enum, are dropped with a hint. Others, such as uri, are degraded. A
// nested schema without a type, values, alternatives or a reference is kept and
// reported as degraded. The vendor requires a type there, so an adapter should not
// send such a schema as strict.
//
// # Losses
//
// A hint does not change what a model does. Degraded means that a constraint is weaker
// or represented in another way. Dropped means that a part of the structure is
// missing. At most 50 losses are listed; one more, with the highest severity of the
// rest, represents those that are not.
//
// # Keywords
//
// JSONSchema keeps every keyword, except that nullable and additionalItems are
// rewritten. In the other dialects a keyword is kept, rewritten, sent although the
// vendor ignores it, or removed. The severity of the loss follows, if there is one. A
// rewritten keyword may have further losses, which are reported where they occur. The
// table of keywords is keywordSpecs.
package schema
