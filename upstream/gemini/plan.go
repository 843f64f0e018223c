package gemini

import (
	"context"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/backend"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A plan is a request on its way: what is sent, and what is lost by that.
// Nothing is fetched or written until its body is asked for.
type plan struct {
	losses []content.Loss

	wire  *upstream.Wire // the very document, if it may go as it is
	model string
	say   *generatecontent.Request // otherwise
	names *legal.Names
}

// plan says a request in the format, and finds what it loses.
func (c *Client) plan(n *upstream.Request) *plan {
	p := &plan{model: c.model(n.Model)}
	if p.wire = upstream.WireOf(n, generatecontent.Format); p.wire != nil {
		return p
	}
	var log loss.Log
	n, p.names = legal.Make(n, rules, &log)
	r, losses := generatecontent.RequestOf(n)
	p.losses = append(log.Losses, losses...)
	r.Model = p.model
	p.say = r
	return p
}

// body writes the document. Files that the vendor cannot fetch are loaded.
func (p *plan) body(context.Context) (backend.Body, error) {
	if p.wire == nil {
		return p.say.Body()
	}
	var members []backend.Member
	if len(p.wire.Spans) > 0 {
		members = []backend.Member{{Name: "model", Value: string(jsonwire.AppendString(nil, resource(p.model)))}}
	}
	return backend.Splice(p.wire, members...), nil
}

// countBody writes the document that asks for a count.
func (p *plan) countBody(ctx context.Context) (backend.Body, error) { return p.body(ctx) }

func (p *plan) restore(events []upstream.Event) bool { return p.names.Restore(events) }
