package openai

import (
	"bufio"
	"context"
	"errors"

	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/upstream"
)

// A Responses is an [upstream.Upstream] that asks a server over responses. It
// counts tokens, lists models and tells losses beforehand. It is safe for
// concurrent use.
//
// Nothing is stored at the server: a conversation is sent as a whole each time.
// What the model thought comes encrypted and goes back in its place with the
// next turn, as signatures of [ResponsesFormat], and so do the items of built-in
// tools.
type Responses struct{ client }

// NewResponses returns a client that speaks responses. The error says which
// option is no good. Of Dialect, Reasoning, ThinkTags, Thinking and ShortIDs are
// not for this format.
func NewResponses(o Options) (*Responses, error) {
	server, err := o.server(ResponsesFormat, "openai responses")
	if err != nil {
		return nil, err
	}
	return &Responses{client{own: ResponsesFormat, path: "/responses", server: server, vendor: o.vendor(), dialect: o.Dialect, limits: o.OutputLimits}}, nil
}

// Generate implements [upstream.Upstream].
//
// A stream that ends without its last event is an error, and so is an answer
// that says it has failed. Stop sequences, which the format does not have, are
// looked for here: the answer is cut there and the rest is not waited for. A
// prompt that a filter refuses is no error but an answer of nothing, which has
// stopped for [content.StopSafety] with the server's words.
func (c *Responses) Generate(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	return c.generate(ctx, req, w, c.answer)
}

// answer decodes what the server says, in the form that it comes in.
func (c *Responses) answer(ctx context.Context, a *adapter.Response, p *plan, w *upstream.Writer) error {
	cut := newCutter(p.from.StopSequences)
	if streams(a.Buffer(), a.Stream) {
		return adapter.Relay(ctx, w, cut.frames(newResReader(a, c.server.Limits())), a.Head(true), p.restore)
	}
	f, err := a.Decode(decodeResponses)
	if err != nil {
		return err
	}
	cut.frame(f)
	return adapter.WriteResponse(w, f, a.Head(true), p.restore)
}

// streams tells from how an answer begins whether it is a stream: servers name
// wrong types, of errors most of all. said is what its type says.
func streams(src *bufio.Reader, said bool) bool {
	for {
		b, err := src.Peek(1)
		if err != nil {
			return said
		}
		switch b[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = src.Discard(1) // it was peeked at
		case '{', '[':
			return false
		case ':', 'd', 'e', 'i', 'r': // comments, and the fields of events
			return true
		default:
			return said
		}
	}
}

// CountTokens asks the server. Servers that cannot count get
// [upstream.EstimateTokens], and so do requests with files that would have to be
// fetched for it.
func (c *Responses) CountTokens(ctx context.Context, req *upstream.Request) (upstream.TokenCount, error) {
	p := c.plan(req, true)
	n, err := c.count(ctx, req, p)
	if err == nil {
		n.Losses = p.losses
	}
	return n, err
}

func (c *Responses) count(ctx context.Context, req *upstream.Request, p *plan) (upstream.TokenCount, error) {
	if p.fault != nil || p.load {
		return adapter.Estimate(req), p.fault
	}
	var n upstream.TokenCount
	var err error
	for attempt := 1; ; attempt++ {
		n, err = c.server.SendCount(ctx, &adapter.Exchange{Path: "/responses/input_tokens", Body: document{p.doc}}, decodeCount)
		if err == nil || attempt == mostAttempts || !c.learned(p, err) {
			break
		}
		p.again()
	}
	switch {
	case adapter.NotServed(err), invalidPath(err):
		return adapter.Estimate(req), nil
	case err != nil:
		return upstream.TokenCount{}, err
	}
	return n, nil
}

// decodeCount reads the answer to a request for a count of tokens.
func decodeCount(text string) (upstream.TokenCount, error) {
	doc, err := jsonwire.Parse(text, jsonwire.Limits{Lenient: true})
	if err != nil {
		return upstream.TokenCount{}, codec.BadGateway(err)
	}
	defer doc.Close()
	n, ok := doc.Root().Get("input_tokens").Int()
	if !ok || n < 0 {
		return upstream.TokenCount{}, codec.BadGateway(errors.New("openai: the answer has no count of tokens"))
	}
	return upstream.TokenCount{Tokens: n}, nil
}

// invalidPath reports whether a server says in the format's words that it has
// nothing at a path, which else would be about the model.
func invalidPath(err error) bool {
	var f *vendorError
	return errors.As(err, &f) && (f.status == 404 || f.status == 405 || f.status == 501) && f.code != "model_not_found"
}
