// Package echo is a model that needs no key, no network and no weights: an
// [upstream.Upstream] that says what reached it. It is what a gateway serves
// before it has anything better, and what tests of clients and of handlers
// talk to.
//
// It is deterministic: the same request gets the same answer, event by event.
// It reads no clock and no random number; only the instructions stall and
// pause wait.
//
// # What it answers
//
// By the first of these that applies:
//
//   - An instance of the schema, where Request.Output has one. With the media
//     type application/json and no schema, an object whose member "echo" is
//     the description below.
//   - The results of tools, quoted, and then the description, where the last
//     turn of the user holds any. So a loop of calls ends even if its requests
//     go on forcing one.
//   - One call of a tool, where the tool choice forces one (ChoiceAny): the
//     first name that is allowed, with arguments that satisfy its schema.
//     Tools that a vendor defines have no schema to go by; they are not called.
//   - The description.
//
// Where Request.Output asks for images, one follows the text: see below. Where
// it asks for images and no texts, the image takes the place of every text
// that is not an instruction's.
//
// When the request asks for thinking, or asks to see thoughts and leaves the
// rest to the model, a thought and its signature come first.
// The signature has the format of the document that the request was parsed
// from, if there is one, and "echo" if not; so clients of every format
// can send it back, and the description of the next turn says whether it came
// back unharmed. A client that wants thoughts omitted gets the signature only.
//
// # The description
//
// The description has one line for each thing in the request. A line begins
// with the thing's path, as in "turns.0.parts.1", and goes on with what it is:
// kind, size in bytes, the first twelve hex digits of its SHA-256, and the
// beginning of a text. Files are decoded, or fetched through
// [upstream.Request.Load], and measured; a file id that nobody knows, and a
// link that may be passed on, are described as they came. A file that cannot be
// had, such as a link without a Resolver, makes the request fail with a
// [*content.Violation] that has its path. Whether the answer is streamed is not said:
// it makes no difference.
//
//	echo of demo: 1 turn
//	turns.0: user, 2 parts
//	turns.0.parts.0: text, 13 bytes, sha256 0b12ba39ab4d, "What is this?"
//	turns.0.parts.1: image, base64, image/png, 68 bytes, sha256 …
//	max_tokens: 1024
//
// # Images
//
// An image is a PNG of some hundred bytes in Output.AspectRatio, 1:1 if there
// is none, with the longer side of 64 pixels or a little less, so that the ratio
// is exact. Any two whole numbers will do, in lowest terms up to 64; everything
// else fails the request with a [*content.Violation]. Other sizes than that are not
// drawn: an Output.ImageSize is a [content.Loss], and so are modalities that
// are neither text nor image. The same description is drawn in the same way,
// another one in another way. An image is signed, as thoughts are. There is
// none behind a call or a refusal.
//
// # Instructions
//
// A line in a text of the user's last turn that begins with "echo: " tells it
// what to do instead. The lines are carried out in their order:
//
//	echo: say TEXT             answer TEXT
//	echo: repeat N TEXT        answer TEXT N times
//	echo: think TEXT           think TEXT, whether or not it was asked to
//	echo: describe             answer the description
//	echo: call NAME, NAME …    call these tools, one after another
//	echo: weave NAME, NAME …   call these tools, their arguments interleaved
//	echo: image [RATIO]        answer an image, whether or not one was asked for
//	echo: refuse [TEXT]        answer TEXT and stop with a refusal
//	echo: stop REASON          stop with this reason, such as max_tokens
//	echo: fail CODE [after N] [retry DURATION]
//	                           fail with this code, such as overloaded
//	echo: cut [after N]        fail as if the connection to a model broke
//	echo: stall DURATION [after N]
//	                           write nothing for so long
//	echo: pause DURATION       wait so long between two pieces
//
// A NAME may be followed by a JSON object, which is then the arguments. N
// counts the pieces that come first, an image being one; what comes after more
// than there are happens at the end. Without N, a failure comes before anything
// else, so that a handler can tell it by an HTTP status. REASON is one of the
// [content.StopReason] values, CODE one of the [upstream.Code] values, a
// DURATION is written as for [time.ParseDuration] and a RATIO as in "16:9".
// Texts that follow each other are parted by a line break. The instructions
// stall, pause, fail and cut leave the rest of the answer what it would have
// been, and so does stop. An instruction that cannot be carried out fails the
// request with a [*content.Violation] that lists the known ones or says what is
// wrong.
//
// # Limits and counts
//
// The prompt counts as [upstream.EstimateTokens] says, both in the usage of an
// answer and for who counts tokens only. In answers and thoughts a token is
// four bytes, rounded up; arguments of calls count with the answer, and an
// image counts as 1290 tokens. It is not drawn where MaxTokens leaves less.
// MaxTokens ends the answer after four times as many bytes, at a character.
// A stop sequence is looked for in what each instruction (or the description,
// or the instance) says; it and what follows is left out.
package echo
