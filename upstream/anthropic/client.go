package anthropic

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/backend"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

// A Client is an [upstream.Upstream] that asks a server which speaks Messages.
// It counts tokens, lists models and tells losses beforehand. It is safe for
// concurrent use.
type Client struct {
	server    *backend.Server
	model     func(string) string
	beta      func(string) bool
	maxTokens int64
}

// Generate implements [upstream.Upstream].
func (c *Client) Generate(ctx context.Context, req *upstream.Request, w *upstream.Writer) error {
	p := c.plan(req)
	if err := w.Loss(p.losses); err != nil {
		return err
	}
	body, err := p.body(ctx)
	if err != nil {
		return err
	}
	a, err := c.server.Do(ctx, &backend.Exchange{
		Path: "/v1/messages" + p.query(), Header: p.header, Body: body, Stream: req.Stream,
	})
	if err != nil {
		return err
	}
	defer a.Close()
	if a.Stream {
		return backend.Relay(ctx, w, messages.NewStreamReader(a, c.server.Limits()), forwarded(a.Header), p.restore)
	}
	text, err := a.Text()
	if err != nil {
		return err
	}
	f, err := messages.DecodeReply(text, c.server.Whole())
	if err != nil {
		return err
	}
	return backend.Reply(w, f, forwarded(a.Header), p.restore)
}

// CountTokens asks the server. Servers that cannot count get
// [upstream.EstimateTokens].
func (c *Client) CountTokens(ctx context.Context, req *upstream.Request) (upstream.TokenCount, error) {
	p := c.plan(req)
	p.count()
	body, err := p.body(ctx)
	if err != nil {
		return upstream.TokenCount{}, err
	}
	a, err := c.server.Do(ctx, &backend.Exchange{Path: "/v1/messages/count_tokens" + p.query(), Header: p.header, Body: body})
	if err != nil {
		if backend.NotServed(err) {
			return upstream.TokenCount{Tokens: upstream.EstimateTokens(req), Estimate: true}, nil
		}
		return upstream.TokenCount{}, err
	}
	defer a.Close()
	text, err := a.Text()
	if err != nil {
		return upstream.TokenCount{}, err
	}
	return messages.DecodeCount([]byte(text))
}

// mostPages bounds the pages of a list of models.
const mostPages = 100

// Models asks the server for its models, page by page.
func (c *Client) Models(ctx context.Context) ([]upstream.Model, error) {
	var all []upstream.Model
	after := ""
	for range mostPages {
		page, more, last, err := c.page(ctx, after)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if !more || last == "" || last == after {
			break
		}
		after = last
	}
	return all, nil
}

func (c *Client) page(ctx context.Context, after string) (list []upstream.Model, more bool, last string, err error) {
	path := "/v1/models?limit=1000"
	if after != "" {
		path += "&after_id=" + url.QueryEscape(after)
	}
	h := make(http.Header)
	h.Set(versionHeader, defaultVersion)
	a, err := c.server.Do(ctx, &backend.Exchange{Path: path, Header: h})
	if err != nil {
		return nil, false, "", err
	}
	defer a.Close()
	text, err := a.Text()
	if err != nil {
		return nil, false, "", err
	}
	return messages.DecodeModels([]byte(text))
}

// Preflight tells what would be lost. Nothing is sent or fetched.
func (c *Client) Preflight(_ context.Context, req *upstream.Request) ([]content.Loss, error) {
	return c.plan(req).losses, nil
}

// forwarded returns the headers of the server that clients may be told; fronts
// choose among them.
func forwarded(h http.Header) []upstream.Field {
	var list []upstream.Field
	for name, values := range h {
		if name == "Request-Id" || name == "Retry-After" || strings.HasPrefix(name, "Anthropic-") {
			for _, v := range values {
				list = append(list, upstream.Field{Name: name, Value: v})
			}
		}
	}
	return list
}

// rules are the format's for names and ids.
var rules = &legal.Rules{
	Name: legal.Rule{Most: 128, Others: "_-"},
	ID:   legal.Rule{Others: "_-"},
}
