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

// For adapters of this module.
//
// DecodeOptions are what the decoding of a response depends on besides the response.
type DecodeOptions struct {
	// ThinkTags selects the meaning of tags in text.
	ThinkTags ThinkTags

	// Logprobs specifies that the request asks for log probabilities. Otherwise they are
	// skipped.
	Logprobs bool

	// ApartThinking specifies that the server bills thinking in addition to the completion,
	// also if its total does not include thinking.
	ApartThinking bool

	// Verbatim specifies that frames have the Data of the server, which clients of this format
	// can read as it is.
	Verbatim bool
}

// For adapters of this module.
//
// ThinkTags selects the meaning of <think> and </think> in response text. Package
// upstream/openai exports it for programs.
type ThinkTags uint8

const (
	// ThinkTagsOff keeps them as text.
	ThinkTagsOff ThinkTags = iota

	// ThinkTagsLeading converts the text between them to thinking if the response
	// begins with <think>.
	ThinkTagsLeading

	// ThinkTagsOpen is for chat templates that end with <think>: a response begins with
	// thinking, and its text begins after </think>.
	ThinkTagsOpen
)

// For adapters of this module.
//
// DecodeFrame is [DecodeResponse] with options, without the copy and without a limit of the body.
// It returns a complete frame.
func DecodeFrame(body string, lim content.Limits, o DecodeOptions) (*upstream.Frame, error) {
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
	f := &upstream.Frame{Format: Format, Events: d.events, Complete: true}
	if !d.altered && d.isFinished() {
		f.Data = body
	}
	return f, nil
}

// For adapters of this module.
//
// NewStreamReaderWith is [NewStreamReader] with options.
func NewStreamReaderWith(src io.Reader, lim content.Limits, o DecodeOptions) *StreamReader {
	r := &StreamReader{src: src, maxBody: int64(sse.EventLimit(lim.Body))}
	r.init(lim, o)
	return r
}

// For adapters of this module.
//
// EncodeRequest writes the document of a request that was lowered for a server of this format,
// which shape describes. It writes what the request says, and reports nothing.
func EncodeRequest(w *jsonwire.Writer, r *lower.Request, shape *openaiformat.Shape) {
	c := requestEncoder{openaiformat.Encoder{W: w, Req: r, Shape: shape}}
	c.write()
}

// For adapters of this module.
//
// BaseTarget returns what every server of this format accepts. The caller may change it.
func BaseTarget() *lower.Target {
	t := openaiformat.BaseTarget(Format)
	t.Members.Fields = encodedMembers
	t.Tools.OnlyFunctions = true
	t.Sampling.Candidates = true
	t.Sampling.Stops.Max = maxStops
	t.Sampling.Logprobs = askLogprobs
	t.Conversation.TextsFirst = true
	t.Files.Name = fileName
	t.Results = lower.Results{OneText: true, MarkLast: true}
	t.Thoughts = lower.Thoughts{Carried: true, WithCalls: true}
	return t
}

// For adapters of this module.
//
// RecallThinking returns which thinking can be returned to a server. member is the member that all
// messages with tool calls must have, or "" if it depends on the thinking.
func RecallThinking(member string) func(content.Part) *loss.Rule {
	return func(p content.Part) *loss.Rule {
		if t, ok := p.(*content.Thinking); ok && (member != "" || isReturnable(t)) {
			return nil
		}
		return lower.Thinking
	}
}

// For adapters of this module.
//
// The members that turn thinking on and off: that of the vendor DeepSeek, and that of chat
// templates.
const (
	ThinkingObject    = "thinking"
	TemplateArguments = "chat_template_kwargs"
)

// For adapters of this module.
//
// MaxDescription is the limit of the description of a tool that some models have, in characters.
const MaxDescription = 1024
