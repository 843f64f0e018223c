// Package echo contains an [upstream.Upstream] that responds with a description of the
// request. It needs no model, key or network. It is for a first run of a gateway, and
// for tests of clients and handlers.
//
// It is deterministic: equal requests have equal responses, event by event. Only the
// instructions stall and pause wait.
//
// # Responses
//
// The response is the first of these that applies:
//
//   - An instance of the schema, if Request.Output has one. If it has only the media
//     type application/json, an object whose member "echo" is the description.
//   - The quoted results of tools, and the description, if the last turn of the user
//     has tool results. A loop of tool calls therefore ends, even if each request
//     requires a tool call.
//   - One tool call, if the tool choice requires one (ChoiceAny). It calls the first
//     allowed tool that the client runs, with an instance of its schema as arguments.
//   - The description.
//
// An instance of a schema is its const, its default or its first enum value. Without
// these, it is an object with the required properties, an array of minItems elements, a
// string that is the name of the property, or a number that is the minimum or 0. For
// other schemas, such as references and alternatives, it is {}.
//
// If Request.Output requests images, an image follows the text. If it requests only
// images, the image replaces every text except those of instructions.
//
// A thinking block with a signature comes first if the mode in Request.Thinking enables
// it, or if the display is "full" or "summarized" and there is no mode. With the
// display "omitted", the block has only the signature. Signatures have the format of
// the document from which the request was parsed, or else "echo", so that clients of
// every format return them. The description of the next request reports whether they
// are unchanged.
//
// # Description
//
// The description has one line for each part, turn, tool and parameter of the request.
// After 10,000 lines, parts are only counted. A line is a path, such as
// "turns.0.parts.1", and facts: the kind, the size in bytes, the first twelve hex
// digits of the SHA-256, and the beginning of a text. Files are decoded, or loaded with
// [upstream.Request.Load]. File ids that the Resolver does not know, and links that may
// be forwarded, are not loaded. If another file cannot be loaded, the request fails
// with a [*content.Violation] that has the path. Request.Stream makes no difference.
//
//	echo of demo: 1 turn
//	turns.0: user, 2 parts
//	turns.0.parts.0: text, 13 bytes, sha256 0b12ba39ab4d, "What is this?"
//	turns.0.parts.1: image, base64, image/png, 68 bytes, sha256 …
//	max_tokens: 1024
//
// # Images
//
// An image is a PNG of about a hundred bytes with the ratio Output.AspectRatio, default
// 1:1, and a longer side of at most 64 pixels. A ratio is two whole numbers that are at
// most 64 in lowest terms; any other ratio fails the request with a
// [*content.Violation]. Output.ImageSize, and modalities other than text and image, are
// reported as a [content.Loss]. Requests with equal descriptions have equal images. An
// image has a signature as thinking does. Responses with a tool call or a refusal have
// no image.
//
// # Instructions
//
// Lines that begin with "echo: ", in the texts of the user's last turn, replace the
// response. They are executed in order:
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
// A NAME may be followed by a JSON object, the arguments. N is a number of pieces, such
// as words and images; if the response has fewer, the instruction is executed at its
// end. Without N, a failure comes before the response, so that a handler can send an
// HTTP error status. REASON is a [content.StopReason], CODE an [upstream.Code],
// DURATION a duration as in [time.ParseDuration] up to 24h, RATIO a ratio such as
// "16:9". A line break separates consecutive texts. The instructions stop, fail, cut,
// stall and pause do not change the rest of the response. An invalid instruction fails
// the request with a [*content.Violation].
//
// # Limits and usage
//
// All token counts are marked as estimated. The tokens of the prompt are
// [upstream.EstimateTokens] of the request. Texts, thinking and arguments have one
// token for each four bytes, rounded up, and an image has 1290 tokens.
//
// MaxTokens ends the response between two characters, or before an image. A stop
// sequence ends the response before it, if it is in the text of a single instruction,
// in the description or in an instance.
package echo
