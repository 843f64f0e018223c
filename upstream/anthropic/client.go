package anthropic

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A Client is an [upstream.Upstream] that asks a server which speaks Messages.
// It counts tokens, lists models and tells losses beforehand. It is safe for
// concurrent use.
type Client struct {
	server    *adapter.Server
	beta      func(string) bool
	maxTokens int64
	limits    adapter.OutputLimits
}

// Generate implements [upstream.Upstream].
func (c *Client) Generate(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	p, fault := c.plan(req)
	if err := w.Loss(p.losses); err != nil {
		return err
	}
	if fault != nil {
		return fault
	}
	p, err := p.load(ctx)
	if err != nil {
		return err
	}
	if err := w.Loss(p.losses); err != nil {
		return err
	}
	body, err := p.body()
	if err != nil {
		return err
	}
	a, err := c.server.Do(ctx, &adapter.Exchange{
		Path: "/messages" + p.query(), Header: p.header, Client: p.sends, Body: body, Stream: req.Stream,
	})
	if err != nil {
		return err
	}
	defer a.Close()
	if a.Stream {
		return adapter.Relay(ctx, w, messages.NewStreamReader(a, c.server.Limits()), a.Head(p.renamed()), p.restore)
	}
	f, err := a.Decode(messages.DecodeResponse)
	if err != nil {
		return err
	}
	return adapter.WriteResponse(w, f, a.Head(p.renamed()), p.restore)
}

// CountTokens asks the server. It is estimated, by [upstream.EstimateTokens],
// for servers that cannot count, and for requests of other formats that name
// files by link or id: nothing is fetched merely to count, and the vendor does
// not count them.
func (c *Client) CountTokens(ctx context.Context, req *upstream.Request) (upstream.TokenCount, error) {
	body, p, err := c.countBody(req)
	if err != nil {
		return upstream.TokenCount{}, err
	}
	n, err := c.count(ctx, req, body, p)
	if err == nil {
		n.Losses = p.losses
	}
	return n, err
}

func (c *Client) count(ctx context.Context, req *upstream.Request, body adapter.Body, p *plan) (upstream.TokenCount, error) {
	if body == nil {
		return adapter.Estimate(req), nil
	}
	n, err := c.server.SendCount(ctx, &adapter.Exchange{Path: "/messages/count_tokens" + p.query(), Header: p.header, Client: p.sends, Body: body},
		func(text string) (upstream.TokenCount, error) { return messages.DecodeCount([]byte(text)) })
	if adapter.NotServed(err) {
		return adapter.Estimate(req), nil
	}
	return n, err
}

// countBody writes the document that asks for a count; nil if the vendor cannot
// count it.
func (c *Client) countBody(req *upstream.Request) (adapter.Body, *plan, error) {
	p, err := c.plan(req)
	if err != nil {
		return nil, nil, err
	}
	if p.say != nil {
		p.onlyInput()
	}
	if p.say != nil && !ours(req.Header) {
		if elsewhere(req) {
			return nil, p, nil
		}
		p.countable()
	}
	body, err := p.body()
	return body, p, err
}

// onlyInput leaves out members that a request for a count does not have. A host's
// [upstream.Edit] sets them for all requests.
func (p *plan) onlyInput() {
	p.say.MaxTokens, p.say.Stream, p.say.Metadata, p.say.StopSequences = nil, false, nil, nil
}

// countable leaves out what the vendor does not count, or takes only to
// generate.
func (p *plan) countable() {
	r := p.say
	r.Temperature, r.TopP, r.TopK, r.ServiceTier = nil, nil, nil, ""
	if slices.ContainsFunc(r.Tools, func(t content.Tool) bool { return t.Kind != "" }) {
		r.Tools = slices.DeleteFunc(slices.Clone(r.Tools), func(t content.Tool) bool { return t.Kind != "" })
		if len(r.Tools) == 0 {
			r.Tools, r.ToolChoice = called(r.Messages), nil
		}
	}
}

// Models asks the server for its models, page by page.
func (c *Client) Models(ctx context.Context) ([]upstream.Model, error) {
	return adapter.Models(ctx, c.page)
}

func (c *Client) page(ctx context.Context, after string) (list []upstream.Model, next string, err error) {
	path := "/models?limit=1000"
	if after != "" {
		path += "&after_id=" + url.QueryEscape(after)
	}
	h := make(http.Header)
	h.Set(versionHeader, defaultVersion)
	_, err = c.server.Send(ctx, &adapter.Exchange{Path: path, Header: h}, func(text string) (err error) {
		list, _, next, err = messages.DecodeModels([]byte(text))
		return err
	})
	return list, next, err
}

// FormatOf implements [upstream.FormatReporter]: requests are sent as Messages.
func (c *Client) FormatOf(context.Context, *upstream.Request) (content.Format, error) {
	return messages.Format, nil
}

// Preflight tells what would be lost. Nothing is sent or fetched. The error is
// that of a request that cannot be told at all.
func (c *Client) Preflight(_ context.Context, req *upstream.Request) ([]content.Loss, error) {
	p, err := c.plan(req)
	return p.losses, err
}
