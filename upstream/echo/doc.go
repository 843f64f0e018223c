// Package echo is a model that needs no key and no network: an
// [upstream.Upstream] that describes its requests. A gateway can serve it before
// it has another model, and tests of clients and handlers can use it as a fake.
//
// It is deterministic: equal requests get equal responses, event by event.
// Only the instructions stall and pause wait.
//
// # Responses
//
// A response is the first of these that applies:
//
//   - An instance of the schema, if Request.Output has one. With the media
//     type application/json and no schema, an object whose member "echo" is
//     the description.
//   - The results of tools, quoted, and the description, if the last turn of
//     the user has tool results. This ends a tool loop even if its requests
//     force a call.
//   - One tool call, if the tool choice forces one (ChoiceAny): the first
//     allowed tool that is not one of a vendor, with an instance of its schema
//     as arguments.
//   - The description.
//
// An instance is the simplest value of its schema: the const, the default or
// the first enum value if there is one, an object with its required properties,
// an array of minItems elements, the name of the property for a string, the
// minimum or 0 for a number. Where that is not enough, as for references and
// alternatives, the value is {}.
//
// If Request.Output asks for images, an image follows the text. If it asks for
// no texts, the image replaces every text but those of instructions.
//
// If the request enables thinking, or asks to see it and leaves the mode to the
// model, a thinking block with a signature comes first. With the display
// "omitted" it has the signature only. Signatures have the format of the
// document that the request was parsed from, or [Format], so that clients of
// every format send them back. The description of the next request reports
// whether they came back unchanged.
//
// # Description
//
// The description has one line for each part, turn, tool and parameter of the
// request. After 10,000 lines, parts are only counted. A line is a path, as in
// "turns.0.parts.1", and facts: the kind, the size in bytes, the first twelve hex
// digits of the SHA-256, the beginning of a text. Files are decoded, or loaded with
// [upstream.Request.Load]. File ids that the Resolver does not know, and links
// that may be forwarded, are not loaded. If another file cannot be loaded, the
// request fails with a [*content.Violation] that has the path.
// Request.Stream makes no difference.
//
//	echo of demo: 1 turn
//	turns.0: user, 2 parts
//	turns.0.parts.0: text, 13 bytes, sha256 0b12ba39ab4d, "What is this?"
//	turns.0.parts.1: image, base64, image/png, 68 bytes, sha256 …
//	max_tokens: 1024
//
// # Images
//
// An image is a PNG of about a hundred bytes with the ratio Output.AspectRatio,
// default 1:1, and a longer side of at most 64 pixels. A ratio is two whole
// numbers, in lowest terms up to 64; others fail the request with a
// [*content.Violation]. Output.ImageSize, and modalities other than text and
// image, are reported as a [content.Loss]. Equal descriptions give equal images.
// An image is signed like thinking. Responses with a call or a refusal have no
// image.
//
// # Instructions
//
// Lines that begin with "echo: ", in the texts of the user's last turn, replace
// the response. They are carried out in order:
//
//	echo: say TEXT             write TEXT
//	echo: repeat N TEXT        write TEXT N times
//	echo: think TEXT           write TEXT as thinking
//	echo: describe             write the description
//	echo: call NAME, NAME …    call these tools, one after another
//	echo: weave NAME, NAME …   call these tools, with their arguments interleaved
//	echo: image [RATIO]        write an image
//	echo: refuse [TEXT]        write TEXT and stop with a refusal
//	echo: stop REASON          stop with this reason, such as max_tokens
//	echo: fail CODE [after N] [retry DURATION]
//	                           fail with this code, such as overloaded
//	echo: cut [after N]        fail as if the connection to a model broke
//	echo: stall DURATION [after N]
//	                           write nothing for this time
//	echo: pause DURATION       wait between every two pieces
//
// A NAME may be followed by a JSON object, the arguments. N is a number of
// pieces, such as words and images; if the response has fewer, the instruction
// is carried out at its end. Without N, a failure comes before the response, so
// that a handler can answer with an HTTP status. REASON is a
// [content.StopReason], CODE an [upstream.Code], DURATION a duration as in
// [time.ParseDuration] up to 24h, RATIO a ratio as in "16:9". A line break
// separates consecutive texts. The instructions stop, fail, cut, stall and pause
// keep the rest of the response as it is. An invalid instruction fails the
// request with a [*content.Violation].
//
// # Limits and usage
//
// All token counts are marked as estimated. The prompt counts as
// [upstream.EstimateTokens], in Generate and in CountTokens. In texts, thinking
// and arguments a token is four bytes, rounded up; an image counts as 1290
// tokens. MaxTokens ends the response after four times as many bytes, at a
// character; an image needs 1290 tokens. A stop sequence in the text of a single
// instruction, in the description or in an instance ends the response before it.
package echo
