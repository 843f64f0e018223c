package anthropic

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/backend"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

const (
	versionHeader  = "Anthropic-Version"
	betaHeader     = "Anthropic-Beta"
	defaultVersion = "2023-06-01"
)

// A plan is a request on its way: what is sent, and what is lost by that.
// Nothing is fetched or written until its body is asked for.
type plan struct {
	from   *upstream.Request
	header http.Header
	losses []content.Loss

	wire  *upstream.Wire // the very document, if it may go as it is
	model string
	say   *messages.Request // otherwise
	names *legal.Names
}

// plan says a request in the format, and finds what it loses.
func (c *Client) plan(n *upstream.Request) *plan {
	p := &plan{from: n, header: make(http.Header), model: c.model(n.Model)}
	if p.wire = upstream.WireOf(n, messages.Format); p.wire != nil {
		c.clients(p.header, p.wire.Header)
		return p
	}
	p.header.Set(versionHeader, defaultVersion)
	var log loss.Log
	n, p.names = legal.Make(n, rules, &log)
	r, losses := messages.RequestOf(n)
	p.losses = append(log.Losses, losses...)
	r.Model = p.model
	p.say = r
	p.fit(c)
	return p
}

// clients sets the version and the betas that came with a document.
func (c *Client) clients(h http.Header, fields []upstream.Field) {
	for _, f := range fields {
		switch http.CanonicalHeaderKey(f.Name) {
		case versionHeader:
			h.Set(versionHeader, f.Value)
		case betaHeader:
			var list []string
			for b := range strings.SplitSeq(f.Value, ",") {
				if b = strings.TrimSpace(b); b != "" && c.beta(b) {
					list = append(list, b)
				}
			}
			if len(list) > 0 {
				h.Set(betaHeader, strings.Join(list, ","))
			}
		}
	}
	if h.Get(versionHeader) == "" {
		h.Set(versionHeader, defaultVersion)
	}
}

// fit makes the request one that the model takes.
func (p *plan) fit(c *Client) {
	if p.say.MaxTokens == nil {
		n := c.maxTokens
		if n == 0 {
			n = 32000
		}
		p.say.MaxTokens = &n
	}
}

// query says that the body is in the beta form of the format, as the vendor's
// SDKs do.
func (p *plan) query() string {
	if p.header.Get(betaHeader) != "" {
		return "?beta=true"
	}
	return ""
}

// count leaves out what only generating needs.
func (p *plan) count() {
	if p.say != nil {
		p.say.MaxTokens, p.say.Stream = nil, false
	}
}

// body writes the document. Files that the vendor cannot fetch are loaded.
func (p *plan) body(context.Context) (backend.Body, error) {
	if p.wire == nil {
		return p.say.Body()
	}
	members := []backend.Member{{Name: "model", Value: string(jsonwire.AppendString(nil, p.model))}}
	if p.from.Stream {
		members = append(members, backend.Member{Name: "stream", Value: "true"})
	} else if slices.ContainsFunc(p.wire.Spans, func(s upstream.Span) bool { return s.Name == "stream" }) {
		members = append(members, backend.Member{Name: "stream", Value: "false"})
	}
	return backend.Splice(p.wire, members...), nil
}

func (p *plan) restore(events []upstream.Event) bool { return p.names.Restore(events) }
