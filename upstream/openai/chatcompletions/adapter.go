package chatcompletions

import (
	"errors"
	"io"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/internal/sse"
	"github.com/polywire/polywire/upstream"
)

// DecodeOptions are what the decoding of a response depends on besides the response.
//
// For adapters of this module.
type DecodeOptions struct {
	// ThinkTags selects the meaning of tags in text.
	ThinkTags ThinkTags

	// Logprobs specifies that the request asks for log probabilities. Otherwise they are
	// skipped.
	Logprobs bool

	// ApartThinking specifies that the server bills thinking in addition to the completion,
	// also if its total does not include thinking.
	ApartThinking bool
}

// ThinkTags selects the meaning of <think> and </think> in response text.
//
// For adapters of this module: upstream/openai has the same type.
type ThinkTags uint8

const (
	// ThinkTagsOff keeps them as text.
	ThinkTagsOff ThinkTags = iota

	// ThinkTagsLeading converts the text between them to thinking if the response
	// begins with <think>.
	ThinkTagsLeading

	// ThinkTagsOpen is for chat templates that end with <think>: a response begins with
	// thinking, and its text begins after </think>. For requests that turn thinking off
	// it means ThinkTagsLeading.
	ThinkTagsOpen
)

// DecodeResponseWith is [DecodeResponse] with options, and without a limit of the body.
//
// For adapters of this module.
func DecodeResponseWith(body string, lim content.Limits, o DecodeOptions) (*upstream.Frame, error) {
	body = trimStart(body)
	switch {
	case body == "":
		return nil, codec.BadGateway(errors.New("openai: the response body is empty"))
	case body[0] != '{' && body[0] != '[':
		return decodeStreamText(body, lim, o)
	}
	var d responseDecoder
	d.init(lim, o)
	d.complete = true
	if err := d.readChunk(body, false); err != nil {
		return nil, err
	}
	if err := d.finish(); err != io.EOF {
		return nil, err
	}
	return &upstream.Frame{Format: Format, Events: d.events, Complete: true}, nil
}

// NewStreamReaderWith is [NewStreamReader] with options.
//
// For adapters of this module.
func NewStreamReaderWith(src io.Reader, lim content.Limits, o DecodeOptions) *StreamReader {
	r := &StreamReader{src: src, maxBody: int64(sse.EventLimit(lim.Body))}
	r.init(lim, o)
	return r
}

// EncodeRequest writes the document of a request that was lowered for a server of this format,
// which shape describes. It writes what the request says, and reports nothing.
//
// For adapters of this module.
func EncodeRequest(w *jsonwire.Writer, r *lower.Request, shape *openaiformat.Shape) {
	c := requestEncoder{openaiformat.Encoder{W: w, Req: r, Shape: shape}}
	c.write()
}

// BaseTarget returns what every server of this format accepts. The caller may change it.
//
// For adapters of this module.
func BaseTarget() *lower.Target {
	t := openaiformat.BaseTarget(Format)
	t.Members.Fields = encodedMembers
	t.Tools.OnlyFunctions = true
	t.Sampling.Candidates = true
	t.Sampling.Stops.Max = maxStops
	t.Sampling.Members = toLogprobs
	t.Conversation.TextsFirst = true
	t.Files.Name = fileName
	t.Results = lower.Results{OneText: true, MarkLast: true}
	t.Thoughts = lower.Thoughts{Carried: true, WithCalls: true}
	return t
}

// RecallThinking returns which thinking can be returned to a server. member is the member that all
// messages with tool calls must have, or "" if it depends on the thinking.
//
// For adapters of this module.
func RecallThinking(member string) func(content.Part) *loss.Rule {
	return func(p content.Part) *loss.Rule {
		if t, ok := p.(*content.Thinking); ok && (member != "" || isReturnable(t)) {
			return nil
		}
		return lower.Thinking
	}
}

// The members that turn thinking on and off: that of the vendor DeepSeek, and that of chat
// templates.
//
// For adapters of this module.
const (
	ThinkingObject    = "thinking"
	TemplateArguments = "chat_template_kwargs"
)

// MaxDescription is the limit of the description of a tool that some models have, in characters.
//
// For adapters of this module.
const MaxDescription = 1024
