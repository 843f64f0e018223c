package anthropic

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/loss"
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

// A plan is a request as the server gets it.
type plan struct {
	adapter.Plan
	client       *Client
	header       http.Header
	clientHeader http.Header // forwarded from the client
	version      string      // of the API
	betas        []string    // to send
}

// plan plans a request. A request that arrived in this format keeps its form, even if it
// was changed, with its version and betas. Other requests are changed so that the model
// accepts them. They use only members of version 2023-06-01, so they need no betas.
func (c *Client) plan(n *upstream.Request) *plan {
	model := c.client.Model(n.Model)
	p := &plan{client: c, header: make(http.Header), version: defaultVersion, Plan: adapter.Plan{
		Source: n, Model: model, Target: c.target(model, n), Document: snapshot.DocumentOf(n, messages.Format),
	}}
	if p.Document != nil || isNative(n.Header) {
		p.setHeader(n.Header)
	}
	if p.Document != nil && c.cloud != nil && (p.Document.Lenient || !c.cloud.Accepts(n)) {
		p.Document = nil
	}
	if c.rules.version == "" {
		p.header.Set(versionHeader, p.version)
	}
	if p.Document == nil {
		if d := document.Of(n.Wire); d != nil && d.Model != "" && familyOf(d.Model) != familyOf(model) { // the client knows another model
			p.Target = c.targetOf(model, n, true)
		}
		p.Lower()
	}
	p.Fit(func(model string) *lower.Target { return c.targetOf(model, n, true) })
	p.setBetas()
	p.Err = cmp.Or(p.checkModel(), p.Err)
	return p
}

// learn records which value the server has refused, and sets the target. It reports whether a changed
// request may succeed. A client of the format knows the model.
func (p *plan) learn(err error) bool {
	c := p.client
	v := c.learned.Get(p.Model)
	if isNative(p.Source.Header) || !v.LearnFrom(err, p.Request) {
		return false
	}
	c.learned.Add(p.Model, v.And)
	p.Target = c.target(p.Model, p.Source)
	return true
}

// renamed reports whether the sent model differs from the one in the document. It returns
// true without a document, or if that has no model. On platforms with the model in the path
// it returns true, because responses have the vendor's name of the model there.
func (p *plan) renamed() bool {
	if p.Document == nil || p.client.rules.inPath {
		return true
	}
	return p.Document.Member("model") != quote(p.Model)
}

// isNative reports whether the headers are those of a Messages client.
func isNative(fields []upstream.HeaderField) bool {
	return slices.ContainsFunc(fields, func(f upstream.HeaderField) bool { // one pass
		return http.CanonicalHeaderKey(f.Name) == versionHeader
	})
}

// setHeader sets the version and the betas of a document, and its client's forwarded
// headers.
func (p *plan) setHeader(fields []upstream.HeaderField) {
	c := p.client
	var lines []string
	for _, f := range fields {
		switch http.CanonicalHeaderKey(f.Name) {
		case versionHeader:
			p.version = f.Value
		case betaHeader:
			lines = append(lines, f.Value)
		default:
			if p.clientHeader == nil {
				p.clientHeader = make(http.Header)
			}
			p.clientHeader.Add(f.Name, f.Value)
		}
	}
	if c.rules.inPath {
		lines = append(lines, p.betasInBody()...)
	}
	losses := loss.List{All: p.Losses}
	var renamed []string
	for _, b := range codec.HeaderList(lines...) {
		switch {
		case !p.acceptsBeta(b):
			if c.reportsBetas {
				losses.Add(betaLoss(b))
			}
		case c.rules.renamedBetas[b] != "":
			renamed = append(renamed, c.rules.renamedBetas[b])
		default:
			p.betas = append(p.betas, b)
		}
	}
	p.Losses = losses.All
	for _, b := range renamed {
		p.addBeta(b)
	}
}

// acceptsBeta reports whether a beta is sent, in the client's form.
func (p *plan) acceptsBeta(beta string) bool {
	c := p.client
	if c.reportsBetas && c.rules.inPath && beta == interleavedBeta && !familyOf(p.Model).hasInterleavedBeta() {
		return false
	}
	return c.allowBeta(beta)
}

// betasInBody returns the betas of the member anthropic_beta. Clients should send a header.
func (p *plan) betasInBody() []string {
	json, _ := codec.Own(p.Source.Extra, messages.Format).Get("anthropic_beta")
	var betas []string
	for _, v := range gjson.Parse(json).Array() {
		betas = append(betas, v.Str)
	}
	return betas
}

// betaLoss returns the loss of a beta.
func betaLoss(beta string) content.Loss {
	at := lower.HeaderPath(betaHeader)
	if loss.IsPlainName(beta) {
		at = at.Member(beta)
	}
	return lower.CloudBeta.At(at.String())
}

func (p *plan) addBeta(beta string) {
	if !slices.Contains(p.betas, beta) { // one pass
		p.betas = append(p.betas, beta)
	}
}

// setBetas sets the header for betas, with those that tools need on the platform.
func (p *plan) setBetas() {
	tools := p.Source.Tools
	if p.Document == nil {
		tools = p.Request.Tools
	}
	for _, b := range p.client.rules.toolBetas {
		uses := func(t content.Tool) bool { return strings.HasPrefix(t.Kind, b.prefix) }
		if slices.ContainsFunc(tools, uses) { // one pass
			p.addBeta(b.beta)
		}
	}
	if len(p.betas) > 0 && !p.client.rules.betaMember {
		p.header.Set(betaHeader, strings.Join(p.betas, ","))
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
		return p.encode(messages.LoweredRequest(p.Request), !p.client.rules.inPath)
	}
	return p.splice(!p.client.rules.inPath), nil
}

// encode encodes a request with the members that the platform needs: see members.
func (p *plan) encode(r *messages.Request, hasModel bool) (adapter.Body, error) {
	if p.client.rules.streamInPath {
		r.Stream = false
	}
	members := p.members(hasModel)[1:] // without the model
	if r.Extra != nil || p.client.rules.version != "" {
		r.Extra = withMembers(r.Extra, members)
	}
	if !hasModel {
		return r.BodyWithoutModel()
	}
	return r.Body()
}

// splice returns the original document with the members that the platform needs, and more.
func (p *plan) splice(hasModel bool, more ...adapter.Member) adapter.Body {
	stream := adapter.Member{Name: "stream"}
	switch {
	case p.client.rules.streamInPath:
	case p.Source.Stream:
		stream.Value = "true"
	case p.Document.Member("stream") != "":
		stream.Value = "false"
	}
	return adapter.Splice(p.Document, append(append(p.members(hasModel), stream), more...)...)
}
