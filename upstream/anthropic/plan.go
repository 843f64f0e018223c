package anthropic

import (
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

const (
	versionHeader  = "Anthropic-Version"
	betaHeader     = "Anthropic-Beta"
	defaultVersion = "2023-06-01"
)

// A plan is a request as the server gets it.
type plan struct {
	adapter.Plan
	client       *Client
	header       http.Header
	clientHeader http.Header // forwarded from the client
}

// plan plans a request. A request that arrived in this format keeps its form, even if it
// was changed, with its version and betas. Other requests are changed so that the model
// accepts them. They use only members of version 2023-06-01, so they need no betas.
func (c *Client) plan(n *upstream.Request) *plan {
	model := c.client.Model(n.Model)
	p := &plan{client: c, header: make(http.Header), Plan: adapter.Plan{
		Source: n, Model: model, Target: c.target(model, n), Document: snapshot.DocumentOf(n, messages.Format),
	}}
	if p.Document != nil || isNative(n.Header) {
		p.setHeader(n.Header)
	} else {
		p.header.Set(versionHeader, defaultVersion)
	}
	if p.Document == nil {
		p.Lower()
	}
	return p
}

// renamed reports whether the sent model differs from the one in the document.
// Without a document it returns true.
func (p *plan) renamed() bool {
	if p.Document == nil {
		return true
	}
	for _, s := range p.Document.Spans {
		if s.Name == "model" {
			return p.Document.Body[s.From:s.To] != string(jsonwire.AppendString(nil, p.Model))
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

// query returns the query that the vendor's SDKs add if there are betas.
func (p *plan) query() string {
	if p.header.Get(betaHeader) != "" {
		return "?beta=true"
	}
	return ""
}

// body returns the document.
func (p *plan) body() (adapter.Body, error) {
	if p.Document == nil {
		return messages.LoweredRequest(p.Request).Body()
	}
	members := []adapter.Member{{Name: "model", Value: string(jsonwire.AppendString(nil, p.Model))}}
	if p.Source.Stream {
		members = append(members, adapter.Member{Name: "stream", Value: "true"})
	} else if slices.ContainsFunc(p.Document.Spans, func(s document.Span) bool { return s.Name == "stream" }) {
		members = append(members, adapter.Member{Name: "stream", Value: "false"})
	}
	return adapter.Splice(p.Document, members...), nil
}
