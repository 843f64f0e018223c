package openai

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
	"github.com/polywire/polywire/upstream/openai/chatcompletions"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// A Client is an [upstream.Upstream] that sends requests to a Chat Completions server.
// It also implements [upstream.TokenCounter], [upstream.ModelLister],
// [upstream.Preflighter] and [upstream.RequestEncoder]. It is safe for concurrent use.
type Client struct{ client }

// New returns a client for Chat Completions. It copies opts; nil means the defaults. If
// options are invalid, it returns one error that lists all of them on one line.
func New(opts *Options) (*Client, error) {
	o, server, err := opts.newServer(ChatFormat, "openai chat")
	if err != nil {
		return nil, err
	}
	return &Client{o.newClient(ChatFormat, chatPath, server)}, nil
}

// Generate implements [upstream.Upstream].
//
// A stream that ends with neither a finish_reason nor "[DONE]" is an error. So is an
// empty response, unless the server reports output tokens or thinking. If a filter
// rejects the prompt, Generate writes an empty response with the stop reason
// [content.StopSafety] and the server's message.
func (c *Client) Generate(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	return c.generate(ctx, req, w)
}

// CountTokens returns an estimate: Chat Completions has no endpoint that counts tokens. It
// returns an error if the request cannot be represented.
func (c *Client) CountTokens(_ context.Context, req *upstream.Request) (upstream.TokenCount, error) {
	p := c.plan(req)
	if p.Err != nil {
		return upstream.TokenCount{}, p.Err
	}
	return p.Estimate(), nil
}

// Responses is an [upstream.Upstream] that sends requests to a Responses API server. It
// also implements [upstream.TokenCounter], [upstream.ModelLister], [upstream.Preflighter]
// and [upstream.RequestEncoder]. It is safe for concurrent use.
//
// The server stores nothing, unless the client's own document asks for it: each request
// contains the whole conversation. The server
// sends thinking in encrypted form. The client of the handler receives it in signatures
// of [ResponsesFormat], and the next request returns it in its original order. The same
// holds for the items of built-in tools.
type Responses struct{ client }

// NewResponses returns a client for the Responses API. It returns an error as [New]
// does. It ignores the fields Reasoning, ThinkTags, Thinking, ShortIDs, StrictRoles and CacheControl of
// Dialect.
func NewResponses(opts *Options) (*Responses, error) {
	o, server, err := opts.newServer(ResponsesFormat, "openai responses")
	if err != nil {
		return nil, err
	}
	return &Responses{o.newClient(ResponsesFormat, "/responses", server)}, nil
}

// Generate implements [upstream.Upstream].
//
// A stream without its last event is an error, and so is a response with the status
// failed. The Responses API has no stop sequences; the client finds them in the text,
// ends the response there and does not read the rest. If a filter rejects the prompt,
// Generate writes an empty response with the stop reason [content.StopSafety] and the
// server's message.
func (c *Responses) Generate(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	return c.generate(ctx, req, w)
}

// isStream reports whether a response body is a stream of events. It looks at the first
// byte, because servers send wrong content types, most often with errors. declared
// reports whether the content type is that of a stream.
func isStream(src *bufio.Reader, declared bool) bool {
	for {
		b, err := src.Peek(1)
		if err != nil {
			return declared
		}
		switch b[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = src.Discard(1) // peeked above
		case '{', '[':
			return false
		case ':', 'd', 'e', 'i', 'r': // a comment or a field of an event
			return true
		default:
			return declared
		}
	}
}

// CountTokens asks the server for the count. If the server has no such endpoint, or if
// files would have to be fetched, it returns the estimate of [upstream.EstimateTokens].
func (c *Responses) CountTokens(ctx context.Context, req *upstream.Request) (upstream.TokenCount, error) {
	p := c.plan(req)
	if p.Err != nil {
		return upstream.TokenCount{}, p.Err
	}
	if p.Document != nil { // the endpoint does not accept all members of a request
		p.lower()
		if p.Err != nil {
			return upstream.TokenCount{}, p.Err
		}
	}
	if p.Request.Load {
		return p.Estimate(), nil
	}
	p.counting = true
	for attempt := 1; ; attempt++ {
		x := &adapter.Request{Path: c.pathOf("/responses/input_tokens", p.Model), Body: adapter.Written{Writer: p.write(ctx)}, Plan: &p.Plan}
		n, err := c.server.Count(ctx, &p.Plan, x, decodeCount)
		switch {
		case err == nil:
			return n, nil
		case attempt < adapter.MaxAttempts && p.learn(err):
			p.lower()
		case invalidPath(err):
			return p.Estimate(), nil
		default:
			return upstream.TokenCount{}, err
		}
	}
}

func decodeCount(body []byte) (upstream.TokenCount, error) {
	return codec.DecodeCount("openai", body, "input_tokens")
}

// invalidPath reports whether the server has no such endpoint. The format's error for
// that is otherwise the error for an unknown model.
func invalidPath(err error) bool {
	var f *openaiformat.VendorError
	return errors.As(err, &f) && (f.Status == 404 || f.Status == 405 || f.Status == 501) && f.Code != "model_not_found" && f.Code != "DeploymentNotFound"
}

// A client is the common part of Client and Responses.
type client struct {
	format   content.Format
	path     string // of generation requests
	server   *adapter.Client
	isOpenAI bool
	isAzure  bool
	forwards bool // the documents of clients of the format
	dialect  Dialect
	known    server
	limits   adapter.OutputLimits

	apiVersion  string            // of Azure's dated API, or ""
	deployments map[string]string // by model

	refusals adapter.Memory[refusals]
	targets  lower.Cache[targetKey]

	attribution bool                                            // of a coding agent is sent
	customKey   func(context.Context, *upstream.Request) string // of prompt caches; nil means the default
}

// newClient returns the common part of a client. path is that of generation requests.
func (o *Options) newClient(f content.Format, path string, s *adapter.Client) client {
	return client{
		format: f, path: path, server: s, isOpenAI: o.isOpenAI(), isAzure: o.isAzure(), forwards: o.forwardsDocuments(), dialect: o.Dialect, known: servers[o.host()], limits: o.OutputLimits,
		attribution: o.KeepAttribution, customKey: o.CacheKey, apiVersion: o.APIVersion, deployments: o.Deployments,
		targets: lower.NewCache[targetKey](o.SchemaCache),
	}
}

const chatPath = "/chat/completions"

// generate sends a request and decodes the response.
func (c *client) generate(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	p := c.plan(req)
	if err := cmp.Or(w.Loss(p.Losses), p.Err); err != nil {
		return err
	}
	err := p.generate(ctx, w)
	if f := openaiformat.Filtered(c.format, err); f != nil && p.Document == nil {
		return w.Frame(f)
	}
	return err
}

// FormatOf implements [upstream.FormatReporter].
func (c *client) FormatOf(context.Context, *upstream.Request) (content.Format, error) {
	return c.format, nil
}

// Preflight returns the losses of a request without sending or fetching anything. It
// returns an error if the request cannot be represented.
func (c *client) Preflight(_ context.Context, req *upstream.Request) ([]content.Loss, error) {
	p := c.plan(req)
	return p.Losses, p.Err
}

// The members that the vendor caches, in its order, by format. The schema of the response is
// before the system text.
var (
	cachedChat      = []string{"tools", "response_format", "messages"}
	cachedResponses = []string{"tools", "text.format", "instructions", "input"}
)

// EncodeRequest implements [upstream.RequestEncoder].
func (c *client) EncodeRequest(ctx context.Context, req *upstream.Request) (upstream.EncodedRequest, error) {
	p := c.plan(req)
	e := upstream.EncodedRequest{Format: c.format, Prompt: cachedChat, CacheKey: openaiformat.CacheKeyName}
	if c.format == ResponsesFormat {
		e.Prompt = cachedResponses
	}
	return p.Encode(ctx, e, func() (string, error) { return adapter.Text(p.body(ctx), nil) })
}

// exchange sends a request. If the server rejects a member or a value, it sends the request again
// without it.
func (c *client) exchange(ctx context.Context, p *plan, w *upstream.Writer) (*adapter.Response, error) {
	return c.server.Exchange(ctx, &p.Plan, w, func() (*adapter.Request, error) {
		x := &adapter.Request{Path: c.pathOf(c.path, p.Model), Body: p.body(ctx), Stream: p.Source.Stream, Plan: &p.Plan}
		if p.Document != nil {
			x.ClientHeader = codec.HeaderOf(p.Source.Header)
		}
		return x, nil
	}, p.learn)
}

// Models returns the models that the server lists.
func (c *client) Models(ctx context.Context) (list []upstream.Model, err error) {
	_, err = c.server.Send(ctx, &adapter.Request{Path: c.pathOf("/models", "")}, func(text string) (err error) {
		list, err = openaiformat.DecodeModels(c.format, text)
		return err
	})
	return list, err
}

// A plan is a request as the server gets it, and the reasons for retries.
type plan struct {
	adapter.Plan
	client   *client
	name     string // of the model, of which Model may be a deployment
	target   target
	counting bool               // tokens are counted; Responses API only
	shape    openaiformat.Shape // of the document that was written last
}

// plan plans a request.
func (c *client) plan(req *upstream.Request) *plan {
	name := c.server.Model(req.Model)
	model := cmp.Or(c.deployments[name], name)
	p := &plan{Plan: adapter.Plan{Source: req, Model: model}, client: c, name: name, target: c.target(name, model)}
	p.setTarget()
	if p.Document = p.document(); p.Document == nil {
		p.lower()
	}
	if p.Document != nil && p.Document.Model != p.name { // a deployment follows the rules of its model
		own := p.Target
		p.Fit(func(model string) *lower.Target {
			if model == p.Model {
				return own
			}
			return c.lowerTarget(model, c.target(model, model))
		})
	}
	if c.apiVersion != "" && !isDeployment(model) {
		p.Err = &content.Violation{Code: content.CodeValue, Path: "model", Text: "is not a valid name of a deployment"}
	}
	return p
}

// lower lowers the request for the target, whose refusals may be new. It returns the losses
// that are new.
func (p *plan) lower() []content.Loss {
	p.setTarget()
	return p.Lower()
}

// setTarget sets what the model accepts.
func (p *plan) setTarget() { p.Target = p.client.lowerTarget(p.name, p.target) }

// lowerTarget returns what a model with this name accepts.
func (c *client) lowerTarget(name string, t target) *lower.Target {
	k := targetKey{name, t.refusals}
	return c.targets.Get(k, func() (*lower.Target, targetKey) {
		k.model = strings.Clone(k.model)
		return t.lowerTarget(c.format), k
	})
}

// A targetKey identifies a target of a client.
type targetKey struct {
	model    string
	refusals refusals
}

// learn records why the server rejected the request, also for later requests of the model, and
// sets the target. It reports whether a changed request may succeed.
func (p *plan) learn(err error) bool {
	if !p.target.refusals.learn(p.client.format, err, p.Request, p.sent) {
		return false
	}
	p.client.refusals.Add(p.Model, p.target.refusals.and)
	p.setTarget()
	return true
}

// asksLogprobs reports whether the request asks for log probabilities. A client of the same format
// needs them, too: not every chunk is forwarded.
func (p *plan) asksLogprobs() bool {
	var x *content.Extra
	if p.Document == nil {
		x = p.Request.Extra
	} else {
		x = p.Source.Extra // the document is sent
	}
	_, asks := foreign.AsksLogprobs(x)
	return asks
}

// isThinkingOff reports whether the request turns thinking off.
func (p *plan) isThinkingOff() bool {
	return p.Request.Switch == lower.SwitchOff || p.Request.Effort == "none"
}

// write writes the document.
func (p *plan) write(ctx context.Context) *jsonwire.Writer {
	w := &jsonwire.Writer{Literals: p.Request.Literals}
	w.Grow(codec.DocumentSize(p.Request.System, p.Request.Turns, p.Request.Tools))
	p.shape = p.target.shape(p.client.format)
	if p.counting {
		p.shape.Encrypted, p.shape.Counting = false, true
	} else if !p.target.refusals.has(fieldCacheKey) {
		p.shape.CacheKey = p.client.cacheKey(ctx, p.Source)
	}
	encode := chatcompletions.EncodeRequest
	if p.client.format == ResponsesFormat {
		encode = responses.EncodeRequest
	}
	encode(w, p.Request, &p.shape)
	return w
}
