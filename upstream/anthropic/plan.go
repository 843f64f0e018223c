package anthropic

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

const (
	versionHeader  = "Anthropic-Version"
	betaHeader     = "Anthropic-Beta"
	defaultVersion = "2023-06-01"
)

// A plan is a request as the server gets it, and the losses. Making it fetches and writes
// nothing.
type plan struct {
	client       *Client
	source       *upstream.Request
	header       http.Header
	clientHeader http.Header // forwarded from the client
	losses       []lower.Loss

	model   string
	target  *lower.Target
	wire    *document.Document // the original document, if it can be sent
	lowered *lower.Request     // otherwise
}

// plan lowers a request. It returns an error for what the format cannot represent.
// The plan is never nil; with an error it has all losses.
//
// A request that arrived in this format keeps its form, even if it was changed, with
// its version and betas. Other requests are changed so that the model accepts them.
// They use only members of version 2023-06-01, so they need no betas.
func (c *Client) plan(n *upstream.Request) (*plan, error) {
	p := &plan{client: c, source: n, header: make(http.Header), model: c.client.Model(n.Model)}
	p.target = c.target(p.model, n)
	if p.wire = snapshot.DocumentOf(n, messages.Format); p.wire != nil {
		p.setHeader(n.Header)
		return p, nil
	}
	if isNative(n.Header) {
		p.setHeader(n.Header)
	} else {
		p.header.Set(versionHeader, defaultVersion)
	}
	return p, p.lower(n, false)
}

// lower lowers n, in which files have been loaded if loaded is set.
func (p *plan) lower(n *upstream.Request, loaded bool) (err error) {
	p.lowered, p.losses, err = lower.Lower(n, p.target, loaded)
	p.lowered.Model = p.model
	return err
}

// renamed reports whether the sent model differs from the one in the document.
// Without a document it returns true.
func (p *plan) renamed() bool {
	if p.wire == nil {
		return true
	}
	for _, s := range p.wire.Spans {
		if s.Name == "model" {
			return p.wire.Body[s.From:s.To] != string(jsonwire.AppendString(nil, p.model))
		}
	}
	return false
}

// isNative reports whether the headers are those of a Messages client.
func isNative(fields []upstream.HeaderField) bool {
	return slices.ContainsFunc(fields, func(f upstream.HeaderField) bool {
		return http.CanonicalHeaderKey(f.Name) == versionHeader
	})
}

// setHeader sets the version and the betas of a document, and its client's forwarded
// headers.
func (p *plan) setHeader(fields []upstream.HeaderField) {
	c, h := p.client, p.header
	var lines []string
	for _, f := range fields {
		switch http.CanonicalHeaderKey(f.Name) {
		case versionHeader:
			h.Set(versionHeader, f.Value)
		case betaHeader:
			lines = append(lines, f.Value)
		default:
			if p.clientHeader == nil {
				p.clientHeader = make(http.Header)
			}
			p.clientHeader.Add(f.Name, f.Value)
		}
	}
	betas := slices.DeleteFunc(codec.HeaderList(lines...), func(b string) bool { return !c.allowBeta(b) })
	if len(betas) > 0 {
		h.Set(betaHeader, strings.Join(betas, ","))
	}
	if h.Get(versionHeader) == "" {
		h.Set(versionHeader, defaultVersion)
	}
}

// load inlines the files that the vendor must not or cannot fetch. It returns the losses
// that were not known before.
func (p *plan) load(ctx context.Context) ([]lower.Loss, error) {
	if p.wire == nil && !p.lowered.Load {
		return nil, nil
	}
	n, err := p.source.Inline(ctx, p.target.KeepsLink)
	switch {
	case err != nil:
		return nil, err
	case p.wire == nil:
	case n == p.source:
		return nil, nil
	default:
		p.wire = nil
	}
	before := p.losses
	err = p.lower(n, true)
	return lower.News(p.losses, before), err
}

// query returns the query that the vendor's SDKs add if there are betas.
func (p *plan) query() string {
	if p.header.Get(betaHeader) != "" {
		return "?beta=true"
	}
	return ""
}

// body returns the document.
func (p *plan) body() (adapter.Body, error) {
	if p.wire == nil {
		return p.request().Body()
	}
	members := []adapter.Member{{Name: "model", Value: string(jsonwire.AppendString(nil, p.model))}}
	if p.source.Stream {
		members = append(members, adapter.Member{Name: "stream", Value: "true"})
	} else if slices.ContainsFunc(p.wire.Spans, func(s document.Span) bool { return s.Name == "stream" }) {
		members = append(members, adapter.Member{Name: "stream", Value: "false"})
	}
	return adapter.Splice(p.wire, members...), nil
}

// request returns the request that is sent instead of the original document.
func (p *plan) request() *messages.Request { return messages.LoweredRequest(p.lowered) }

// restore restores the names of tools in a response.
func (p *plan) restore(events []upstream.Event) bool {
	return p.lowered != nil && p.lowered.Names.Restore(events)
}
