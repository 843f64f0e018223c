package messages

import (
	"errors"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

// For adapters of this module.
//
// BaseTarget returns what every server of the format accepts. n matters in one respect: it may
// continue a conversation that the server stores. Files.Keep is for callers that do not load files.
func BaseTarget(n *upstream.Request) lower.Target {
	t := target
	t.Conversation.Continues = continues(codec.Own(n.Extra, Format))
	return t
}

// For adapters of this module.
//
// LoweredRequest returns the request that n represents, which is the result of lowering to a
// target made from [BaseTarget].
func LoweredRequest(n *lower.Request) *Request {
	r := fromExtra(n.Extra)
	r.jsonParsed, r.literals = n.Parsed, n.Literals
	r.Model, r.MaxTokens, r.Stream = n.Model, n.MaxTokens, n.Stream
	r.System, r.Messages, r.Tools = n.System, n.Turns, n.Tools
	r.Temperature, r.TopP, r.TopK, r.StopSequences = n.Temperature, n.TopP, n.TopK, n.StopSequences
	r.ServiceTier = n.ServiceTier
	r.ToolChoice = toolChoiceOf(&n.Choice, r.ToolChoice)
	r.Thinking = thinkingOf(&n.Thinking, r.Thinking)
	r.setOutput(n.Output.Schema.JSON, n.Thinking.Effort)
	if n.UserID != "" {
		if r.Metadata == nil {
			r.Metadata = &Metadata{}
		}
		r.Metadata.UserID = n.UserID
	}
	return r
}

// For adapters of this module.
//
// DecodeFrame is [DecodeResponse] without the copy of body. It returns a complete frame.
func DecodeFrame(body string, lim content.Limits) (*upstream.Frame, error) {
	if err := codec.CheckBody("messages", len(body), lim); err != nil {
		return nil, err
	}
	d := newDecoder(lim)
	defer d.doc.Close()
	if err := d.parse(body); err != nil {
		return nil, codec.BadGateway(err)
	}
	root := d.doc.Root()
	switch {
	case root.Get("type").Is("error"):
		return nil, failureOf(root)
	case !root.Get("content").Exists():
		return nil, codec.BadGateway(errors.New("messages: the response is not a message: it has no content"))
	}
	if err := d.message(root, true); err != nil {
		return nil, codec.BadGateway(err)
	}
	if !d.stopped {
		d.nonstandard = true // clients require one
		d.lose(codec.ResponseNoReason, "stop")
	}
	f := &upstream.Frame{Complete: true}
	d.finish(f)
	return f, nil
}

// For adapters of this module.
//
// BodyWithoutModel is Body without the member "model", for clouds that have the model in the
// URL.
func (r *Request) BodyWithoutModel() (*Body, error) { return r.body(modelessType) }
