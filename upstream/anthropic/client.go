package anthropic

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A Client is an [upstream.Upstream] that sends requests to a Messages server. It
// also implements [upstream.TokenCounter], [upstream.ModelLister], [upstream.Preflighter] and
// [upstream.RequestEncoder].
// It is safe for concurrent use.
type Client struct {
	client       *adapter.Client
	allowBeta    func(string) bool
	maxTokens    int64
	outputLimits adapter.OutputLimits
	targets      lower.Cache[targetKey]
}

// Generate implements [upstream.Upstream].
func (c *Client) Generate(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	p := c.plan(req)
	if err := cmp.Or(w.Loss(p.Losses), p.Err); err != nil {
		return err
	}
	news, violation := p.Load(ctx)
	if err := cmp.Or(w.Loss(news), violation); err != nil {
		return err
	}
	body, err := p.body()
	if err != nil {
		return err
	}
	a, err := c.client.Do(ctx, &adapter.Request{
		Path: "/messages" + p.query(), Header: p.header, ClientHeader: p.clientHeader, Body: body, Stream: req.Stream,
	})
	if err != nil {
		return err
	}
	defer a.Close()
	if a.Stream {
		return adapter.Relay(ctx, w, messages.NewStreamReader(a, c.client.Limits()), a.StartInfo(p.renamed()), p.Restore)
	}
	f, err := a.Decode(messages.DecodeResponse)
	if err != nil {
		return err
	}
	return adapter.WriteResponse(w, f, a.StartInfo(p.renamed()), p.Restore)
}

// CountTokens asks the server for the number of input tokens. It returns an
// estimate, as [upstream.EstimateTokens] does, if the server cannot count, or if a
// request of another format references files that cannot be sent as they are: files are
// not fetched to count their tokens.
func (c *Client) CountTokens(ctx context.Context, req *upstream.Request) (upstream.TokenCount, error) {
	p := c.plan(req)
	if p.Err != nil {
		return upstream.TokenCount{}, p.Err
	}
	native := isNative(req.Header)
	if p.Document == nil && !native && p.Request.Load {
		return p.Estimate(), nil
	}
	body, err := p.countBody(native)
	if err != nil {
		return upstream.TokenCount{}, err
	}
	return c.client.Count(ctx, &p.Plan, &adapter.Request{
		Path: "/messages/count_tokens" + p.query(), Header: p.header, ClientHeader: p.clientHeader, Body: body,
	}, messages.DecodeCount)
}

// countBody returns the document of a count request.
func (p *plan) countBody(native bool) (adapter.Body, error) {
	if p.Document != nil {
		return p.body()
	}
	r := messages.LoweredRequest(p.Request)
	dropOutputMembers(r)
	if !native {
		dropUncounted(r)
	}
	return r.Body()
}

// dropOutputMembers removes members that a count request does not have. They may
// come from an [upstream.Edit] of the host.
func dropOutputMembers(r *messages.Request) {
	r.MaxTokens, r.Stream, r.Metadata, r.StopSequences = nil, false, nil, nil
}

// dropUncounted removes members that the vendor does not count, or accepts only for
// generation.
func dropUncounted(r *messages.Request) {
	r.Temperature, r.TopP, r.TopK, r.ServiceTier = nil, nil, nil, ""
	if slices.ContainsFunc(r.Tools, func(t content.Tool) bool { return t.Kind != "" }) {
		r.Tools = slices.DeleteFunc(slices.Clone(r.Tools), func(t content.Tool) bool { return t.Kind != "" })
		if len(r.Tools) == 0 {
			r.Tools, r.ToolChoice = lower.CalledTools(r.Messages), nil
		}
		if c := r.ToolChoice; c != nil && c.Name != "" && !slices.ContainsFunc(r.Tools, func(t content.Tool) bool { return t.Name == c.Name }) {
			r.ToolChoice = nil
		}
	}
}

// Models returns all models that the server lists.
func (c *Client) Models(ctx context.Context) ([]upstream.Model, error) {
	x := adapter.Request{Path: "/models?limit=1000", Header: http.Header{versionHeader: {defaultVersion}}}
	return c.client.ListModels(ctx, x, "after_id", messages.DecodeModels)
}

// FormatOf implements [upstream.FormatReporter]. It returns [messages.Format].
func (c *Client) FormatOf(context.Context, *upstream.Request) (content.Format, error) {
	return messages.Format, nil
}

// Preflight returns the losses that Generate would report. It sends and fetches
// nothing. It returns an error if the request cannot be represented in Messages.
func (c *Client) Preflight(_ context.Context, req *upstream.Request) ([]content.Loss, error) {
	p := c.plan(req)
	return p.Losses, p.Err
}

// cached are the members that the vendor caches, in its order, and the settings that
// invalidate what follows. The source is the table of invalidations in the vendor's
// page on prompt caching, and that on structured outputs, of November 2026.
var cached = []string{"tools", "speed", "output_config.format", "output_format", "system", "tool_choice", "thinking", "messages"}

// EncodeRequest implements [upstream.RequestEncoder].
func (c *Client) EncodeRequest(_ context.Context, req *upstream.Request) (upstream.EncodedRequest, error) {
	p := c.plan(req)
	e := upstream.EncodedRequest{Format: messages.Format, Model: p.Model, Prompt: cached}
	if p.Err != nil {
		return e, p.Err
	}
	body, err := p.body()
	if err == nil {
		e.Document, err = adapter.Text(body)
	}
	return e, err
}
