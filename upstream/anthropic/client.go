package anthropic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
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
	platform     Platform
	rules        *platformRules
	project      string
	location     string
	cloud        *lower.Cloud // what the platform does not accept; may be nil
	allowBeta    func(string) bool
	reportsBetas bool // betas that are not sent are losses
	cacheMarks   bool
	maxTokens    int64
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
	a, err := c.client.Exchange(ctx, &p.Plan, w, func() (*adapter.Request, error) {
		body, err := p.body()
		return &adapter.Request{
			Path: p.path(), Header: p.header, ClientHeader: p.clientHeader, Body: body, Stream: req.Stream, Plan: &p.Plan,
		}, err
	}, p.learn)
	if err != nil {
		return err
	}
	defer a.Close()
	if a.Stream {
		return adapter.Relay(ctx, w, messages.NewStreamReader(a, c.client.Limits()), a.StartInfo(p.renamed()), p.Restore)
	}
	f, err := a.Decode(messages.DecodeFrame)
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
	loads := p.Document == nil && p.Request.Load && (!native || c.cloud != nil)
	if loads || c.rules.wrapsCount && bedrockModel(p.Model) == "" {
		return p.Estimate(), nil
	}
	body, err := p.countBody(native)
	if err != nil {
		return upstream.TokenCount{}, err
	}
	decode := messages.DecodeCount
	if c.rules.wrapsCount {
		decode = func(b []byte) (upstream.TokenCount, error) { return codec.DecodeCount("bedrock", b, "inputTokens") }
		if body, err = wrap(body); err != nil {
			return upstream.TokenCount{}, err
		}
	}
	x := &adapter.Request{Path: p.countPath(), Header: p.header, ClientHeader: p.clientHeader, Body: body, Plan: &p.Plan}
	if c.rules.wrapsCount {
		x.Plan = nil // a model that the service has may be unknown to this operation
	}
	n, err := c.client.Count(ctx, &p.Plan, x, decode)
	var e *upstream.Error
	if c.rules.wrapsCount && errors.As(err, &e) && (e.Code == upstream.CodeInvalid || e.Code == upstream.CodeNotFound) {
		return p.Estimate(), nil // the model, or the region, does not count
	}
	return n, err
}

// Models returns all models that the server lists. For a platform without a list, which is
// each of the constants, the error wraps [upstream.ErrUnsupported].
func (c *Client) Models(ctx context.Context) ([]upstream.Model, error) {
	if c.rules.noModels {
		return nil, fmt.Errorf("listing models of platform %q: %w", c.platform, upstream.ErrUnsupported)
	}
	x := adapter.Request{Path: "/models?limit=1000", Header: http.Header{versionHeader: {defaultVersion}}}
	return c.client.ListModels(ctx, x, "after_id", messages.DecodeModels)
}

// FormatOf implements [upstream.FormatReporter]. It returns [messages.Format], also for
// platforms that do not have all members of the format.
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
func (c *Client) EncodeRequest(ctx context.Context, req *upstream.Request) (upstream.EncodedRequest, error) {
	p := c.plan(req)
	e := upstream.EncodedRequest{Format: messages.Format, Prompt: cached}
	return p.Encode(ctx, e, func() (string, error) { return adapter.Text(p.body()) })
}
