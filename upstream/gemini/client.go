package gemini

import (
	"context"
	"net/url"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/upstream"
)

// A Client is an [upstream.Upstream] that asks a server which speaks content
// generation. It counts tokens, lists models and tells losses beforehand. It is
// safe for concurrent use.
type Client struct {
	server *adapter.Server
	closed bool
	limits adapter.OutputLimits
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
	body, err := p.body(ctx)
	if err != nil {
		return err
	}
	method := ":generateContent"
	if req.Stream {
		method = ":streamGenerateContent?alt=sse"
	}
	a, err := c.server.Do(ctx, &adapter.Exchange{Path: pathOf(p.model) + method, Client: p.sends, Body: body, Stream: req.Stream})
	if err != nil {
		return err
	}
	defer a.Close()
	if a.Stream || req.Stream { // the reader knows an array for itself
		return adapter.Relay(ctx, w, generatecontent.NewStreamReader(a, c.server.Limits()), a.Head(p.wire == nil), p.restore)
	}
	f, err := a.Decode(generatecontent.DecodeResponse)
	if err != nil {
		return err
	}
	return adapter.WriteResponse(w, f, a.Head(p.wire == nil), p.restore)
}

// resource returns the name of a model as the API has it.
func resource(model string) string {
	switch root, _, _ := strings.Cut(model, "/"); root {
	case "models", "tunedModels", "publishers", "projects", "dynamic":
		return model
	}
	return "models/" + model
}

// pathOf returns the path of a model. A colon in a name is escaped, since the
// API ends the name at the colon before the method.
func pathOf(model string) string {
	steps := strings.Split(resource(model), "/")
	for i, s := range steps {
		steps[i] = strings.ReplaceAll(url.PathEscape(s), ":", "%3A")
	}
	return "/" + strings.Join(steps, "/")
}

// CountTokens asks the server. Servers that cannot count get
// [upstream.EstimateTokens], and so do requests with links or ids of files that
// the vendor cannot be sent: nothing is fetched merely to count.
func (c *Client) CountTokens(ctx context.Context, req *upstream.Request) (upstream.TokenCount, error) {
	p, err := c.plan(req)
	if err != nil {
		return upstream.TokenCount{}, err
	}
	n, err := c.count(ctx, req, p)
	if err != nil {
		return upstream.TokenCount{}, err
	}
	n.Losses = p.losses
	return n, nil
}

func (c *Client) count(ctx context.Context, req *upstream.Request, p *plan) (upstream.TokenCount, error) {
	if p.wire == nil && absent(p.from) {
		return adapter.Estimate(req), nil
	}
	body, err := p.countBody(ctx)
	if err != nil {
		return upstream.TokenCount{}, err
	}
	n, err := c.server.SendCount(ctx, &adapter.Exchange{Path: pathOf(p.model) + ":countTokens", Client: p.sends, Body: body},
		func(text string) (upstream.TokenCount, error) { return generatecontent.DecodeCount([]byte(text)) })
	if adapter.NotServed(err) {
		return adapter.Estimate(req), nil
	}
	return n, err
}

// Models asks the server for its models, page by page.
func (c *Client) Models(ctx context.Context) ([]upstream.Model, error) {
	return adapter.Models(ctx, c.page)
}

func (c *Client) page(ctx context.Context, after string) (list []upstream.Model, next string, err error) {
	path := "/models?pageSize=1000"
	if after != "" {
		path += "&pageToken=" + url.QueryEscape(after)
	}
	_, err = c.server.Send(ctx, &adapter.Exchange{Path: path}, func(text string) (err error) {
		list, next, err = generatecontent.DecodeModels([]byte(text))
		return err
	})
	return list, next, err
}

// FormatOf implements [upstream.FormatReporter]: requests are sent as content
// generation.
func (c *Client) FormatOf(context.Context, *upstream.Request) (content.Format, error) {
	return generatecontent.Format, nil
}

// Preflight tells what would be lost. Nothing is sent or fetched. The error is
// that of a request that cannot be told at all.
func (c *Client) Preflight(_ context.Context, req *upstream.Request) ([]content.Loss, error) {
	p, err := c.plan(req)
	return p.losses, err
}

// rules are the format's for names; ids may be anything.
var rules = &legal.Rules{Name: legal.Rule{MaxBytes: 128, Punctuation: "_.:-", LetterFirst: true}, AnyID: true}
