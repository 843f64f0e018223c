// Package echo contains an [upstream.Upstream] that responds with a description of the
// request. It needs no model, key or network. It is for a first run of a gateway, and
// for tests of what a client sends. Package
// [github.com/polywire/polywire/upstream/script] has a model that plays a script.
//
// It is deterministic: equal requests have equal responses, event by event.
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
// An instance of a schema is its const or its first enum value. Without these, it is an
// object with the required properties, an empty array, a string that is the name of the
// property, or a number that is the minimum or 0. For other schemas, such as references
// and alternatives, it is {}.
//
// If Request.Output requests images, an image follows the text. If it requests only
// images, the image replaces the text.
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
// reported as a [content.Loss]. Requests with equal descriptions have equal images.
// Responses with a tool call have no image.
//
// # Commands
//
// Lines that begin with "echo: ", in the texts of the user's last turn, replace the
// response. They are executed in order:
//
//	echo: say TEXT           write TEXT
//	echo: call NAME [INPUT]  call this tool
//	echo: cut                fail as if the connection to a model broke
//
// INPUT is a JSON object, or any text for a free-form tool; the default is an instance of
// the schema. A line break separates consecutive texts. An invalid command fails the
// request with a [*content.Violation].
//
// # Limits and usage
//
// All token counts are estimates. The tokens of the prompt are [upstream.EstimateTokens]
// of the request. Texts and arguments have one token for each four bytes, rounded up, and
// images have none.
//
// MaxTokens ends a text between two characters, and the response before a tool call for
// whose arguments there is no room. A stop sequence in a text ends the response before it.
package echo
