package gemini

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/upstream"
)

// A Client is an [upstream.Upstream] that sends requests to a generateContent
// server. It also implements [upstream.TokenCounter], [upstream.ModelLister],
// [upstream.Preflighter] and [upstream.RequestEncoder]. It is safe for concurrent use.
type Client struct {
	client       *adapter.Client
	place        string // the resource name of the project and location at Google Cloud, with a slash, or ""
	cloud        bool   // all models are those of Google Cloud
	attribution  bool   // of a coding agent is sent
	outputLimits adapter.OutputLimits
	targets      lower.Cache[targetKey]
	learned      adapter.Memory[adapter.Learned]
}

// Generate implements [upstream.Upstream].
func (c *Client) Generate(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	p := c.plan(req)
	if err := cmp.Or(w.Loss(p.Losses), p.Err); err != nil {
		return err
	}
	method := ":generateContent"
	if req.Stream {
		method = ":streamGenerateContent?alt=sse"
	}
	a, err := c.client.Exchange(ctx, &p.Plan, w, func() (*adapter.Request, error) {
		body, err := p.body()
		return &adapter.Request{Path: pathOf(p.resource) + method, ClientHeader: p.clientHeader, Body: body, Stream: req.Stream, Plan: &p.Plan}, err
	}, func(err error) bool { return c.learn(p, err) })
	if err != nil {
		return err
	}
	defer a.Close()
	if a.Stream || req.Stream { // the reader accepts a JSON array, too
		return adapter.Relay(ctx, w, generatecontent.NewStreamReader(a, c.client.Limits()), a.StartInfo(p.Document == nil), p.Restore)
	}
	f, err := a.Decode(generatecontent.DecodeFrame)
	if err != nil {
		return err
	}
	return adapter.WriteResponse(w, f, a.StartInfo(p.Document == nil), p.Restore)
}

// pathOf returns the URL path of a resource. Colons are escaped, since the API
// separates the method by a colon.
func pathOf(resource string) string {
	steps := strings.Split(resource, "/")
	for i, s := range steps {
		steps[i] = strings.ReplaceAll(url.PathEscape(s), ":", "%3A")
	}
	return "/" + strings.Join(steps, "/")
}

// CountTokens asks the server for the number of input tokens. It returns an
// estimate, as [upstream.EstimateTokens] does, if the server cannot count, or if the
// request references files that cannot be sent as they are: files are not fetched to
// count their tokens.
func (c *Client) CountTokens(ctx context.Context, req *upstream.Request) (upstream.TokenCount, error) {
	p := c.plan(req)
	if p.Err != nil {
		return upstream.TokenCount{}, p.Err
	}
	if p.Document == nil && p.Request.Load {
		return p.Estimate(), nil
	}
	if _, err := p.Load(ctx); err != nil {
		return upstream.TokenCount{}, err
	}
	body, err := p.countBody()
	if err != nil {
		return upstream.TokenCount{}, err
	}
	x := &adapter.Request{Path: pathOf(p.resource) + ":countTokens", ClientHeader: p.clientHeader, Body: body, Plan: &p.Plan}
	return c.client.Count(ctx, &p.Plan, x, generatecontent.DecodeCount)
}

// Models returns all models that the server lists. Google Cloud lists all models of
// Google; some of them may not be available at the location.
func (c *Client) Models(ctx context.Context) ([]upstream.Model, error) {
	path := "/models?pageSize=1000"
	if c.cloud {
		path = "/publishers/google/models?pageSize=100"
	}
	return c.client.ListModels(ctx, adapter.Request{Path: path}, "pageToken", generatecontent.DecodeModels)
}

// FormatOf implements [upstream.FormatReporter]. It returns
// [generatecontent.Format].
func (c *Client) FormatOf(context.Context, *upstream.Request) (content.Format, error) {
	return generatecontent.Format, nil
}

// Preflight returns the losses that Generate would report. It sends and fetches
// nothing. It returns an error if the request cannot be represented in
// generateContent.
func (c *Client) Preflight(_ context.Context, req *upstream.Request) ([]content.Loss, error) {
	p := c.plan(req)
	return p.Losses, p.Err
}

// cached are the members that the vendor caches, in its order. Both spellings are valid.
var cached = []string{"cachedContent", "cached_content", "systemInstruction", "system_instruction", "tools", "contents"}

// EncodeRequest implements [upstream.RequestEncoder].
func (c *Client) EncodeRequest(ctx context.Context, req *upstream.Request) (upstream.EncodedRequest, error) {
	p := c.plan(req)
	e := upstream.EncodedRequest{Format: generatecontent.Format, Prompt: cached}
	return p.Encode(ctx, e, func() (string, error) { return adapter.Text(p.body()) })
}
