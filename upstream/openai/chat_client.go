package openai

import (
	"context"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/upstream"
)

// A Client is an [upstream.Upstream] that asks a server over chat completions.
// It counts tokens by estimate, lists models and tells losses beforehand. It is
// safe for concurrent use.
type Client struct{ client }

// New returns a client that speaks chat completions. The error says which
// option is no good.
func New(o Options) (*Client, error) {
	server, err := o.server(ChatFormat, "openai chat")
	if err != nil {
		return nil, err
	}
	return &Client{client{own: ChatFormat, path: "/chat/completions", server: server, vendor: o.vendor(), dialect: o.Dialect, limits: o.OutputLimits}}, nil
}

// Generate implements [upstream.Upstream].
//
// An answer that ends without its finish_reason is an error, and so is one in
// which there is nothing, if the server does not say that it wrote something. A
// prompt that a filter refuses is no error but an answer of nothing, which has
// stopped for [content.StopSafety] with the server's words.
func (c *Client) Generate(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	return c.generate(ctx, req, w, c.answer)
}

// answer decodes what the server says, in the form that it comes in.
func (c *Client) answer(ctx context.Context, a *adapter.Response, p *plan, w *upstream.Writer) error {
	tags := c.dialect.ThinkTags
	if tags == ThinkTagsOpen && p.off {
		tags = ThinkTagsLeading // templates close then what they open
	}
	if streams(a.Buffer(), a.Stream) {
		r := newChatReader(a, c.server.Limits(), tags)
		r.logprobs = p.sent&fieldLogprobs != 0
		return adapter.Relay(ctx, w, r, a.Head(true), p.restore)
	}
	f, err := a.Decode(func(text string, l content.Limits) (*upstream.Frame, error) {
		return decodeChat(text, l, tags, p.sent&fieldLogprobs != 0)
	})
	if err != nil {
		return err
	}
	return adapter.WriteResponse(w, f, a.Head(true), p.restore)
}

// CountTokens estimates: chat completions has no way to ask.
func (c *Client) CountTokens(_ context.Context, req *upstream.Request) (upstream.TokenCount, error) {
	if err := adapter.Kept(req, ChatFormat); err != nil {
		return upstream.TokenCount{}, err
	}
	return adapter.Estimate(req), nil
}
