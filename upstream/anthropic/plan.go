package anthropic

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/internal/violation"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream"
)

const (
	versionHeader  = "Anthropic-Version"
	betaHeader     = "Anthropic-Beta"
	defaultVersion = "2023-06-01"
)

// A plan is a converted request and its losses. Making it fetches and writes
// nothing.
type plan struct {
	client       *Client
	source       *upstream.Request
	header       http.Header
	clientHeader http.Header // forwarded from the client
	losses       []content.Loss
	linkLosses   []content.Loss // losses of links; void once a file is inlined

	wire    *document.Document // the original document, if it can be sent
	model   string
	request *messages.Request // otherwise
	names   *lower.Names
}

// nameRules are the format's rules for tool names and ids.
var nameRules = &lower.NameRules{
	Name: lower.Charset{MaxBytes: 128, Punctuation: "_-"},
	ID:   lower.Charset{Punctuation: "_-"},
}

// nameRulesFor returns the rules for a request. In a thread, which the vendor
// stores, tool results keep their ids: their tool calls may be there.
func nameRulesFor(req *upstream.Request) *lower.NameRules {
	x := codec.Own(req.Extra, messages.Format)
	if x == nil || !gjson.Get(x.JSON, "thread.previous_message_id").Exists() {
		return nameRules
	}
	return &lower.NameRules{Name: nameRules.Name, AnyID: true}
}

// plan converts a request. It returns an error for what the format cannot represent.
// The plan is never nil; with an error it has the losses found so far.
//
// A request that arrived in this format keeps its form, even if it was changed, with
// its version and betas. Other requests are changed so that the model accepts them.
// They use only members of version 2023-06-01, so they need no betas.
func (c *Client) plan(n *upstream.Request) (*plan, error) {
	p := &plan{client: c, source: n, header: make(http.Header), model: c.client.Model(n.Model)}
	if p.wire = snapshot.DocumentOf(n, messages.Format); p.wire != nil {
		p.setHeader(n.Header)
		return p, nil
	}
	if err := adapter.CheckForeignState(n, messages.Format); err != nil {
		return p, err
	}
	var log loss.Log
	own := isNative(n.Header)
	if !own {
		n = fillEmptyMessage(n, &log)
	}
	fitted, names, renamed := lower.Rename(n, nameRulesFor(n))
	p.names = names
	lower.AddTo(&log, renamed)
	if own {
		p.setHeader(n.Header)
	} else {
		lower.AddTo(&log, lower.Headers(n))
		p.header.Set(versionHeader, defaultVersion)
		var err error
		if fitted, err = fit(fitted, familyOf(p.model), c.maxTokens, c.maxOutput(p.model), &log); err != nil {
			return p, err
		}
	}
	r, losses := messages.RequestFromUpstream(fitted)
	if err := unsupportedFiles(losses); err != nil {
		return p, err
	}
	if f := familyOf(p.model); !own && !f.hasAssistantFirst() && len(r.Messages) > 0 && r.Messages[0].Role == content.RoleAssistant {
		opening := &content.Text{Text: "(The conversation begins with the assistant.)"}
		r.Messages = slices.Insert(slices.Clone(r.Messages), 0, content.Turn{Role: content.RoleUser, Parts: []content.Part{opening}})
		log.Add(&modelLosses[lossAssistantFirst], "turns.0")
	}
	violation := adapter.CheckLastMessage(n, losses, len(r.Messages) > 0, hasMessages)
	if !n.ForwardLinks {
		losses, p.linkLosses = splitLinkLosses(losses)
	}
	log.Losses = append(log.Losses, losses...)
	checkToolLoop(r, &log)
	r.Model = p.model
	p.request, p.losses = r, loss.Bound(log.Losses)
	return p, violation
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

// hasMessages reports whether any turn of a request can be represented.
func hasMessages(n *upstream.Request) bool {
	r, _ := messages.RequestFromUpstream(n)
	return len(r.Messages) > 0
}

// unsupportedFiles returns violations for lost files without which the response
// would be wrong.
func unsupportedFiles(losses []content.Loss) error {
	var violations violation.List
	for _, l := range losses {
		if codec.MessagesAudioVideo.Of(l) || codec.MessagesImageType.Of(l) || codec.MessagesDocumentType.Of(l) {
			violations.Add(content.CodeUnsupported, l.Path, l.Reason)
		}
	}
	return violations.Err()
}

// splitLinkLosses separates the losses that apply only to files that stay links.
func splitLinkLosses(losses []content.Loss) (rest, linked []content.Loss) {
	for _, l := range losses {
		if codec.MessagesLinkType.Of(l) {
			linked = append(linked, l)
		}
	}
	if linked != nil {
		losses = slices.DeleteFunc(losses, codec.MessagesLinkType.Of)
	}
	return losses, linked
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

// load inlines the files that the vendor must not or cannot fetch. It returns the
// plan for the result; its losses are those that p has not reported.
func (p *plan) load(ctx context.Context) (*plan, error) {
	n, err := p.source.Inline(ctx, true)
	if err != nil {
		return nil, err
	}
	if p.wire == nil || n != p.source {
		if err := checkFiles(n); err != nil {
			return nil, err
		}
	}
	if n == p.source {
		p.losses = p.linkLosses
		return p, nil
	}
	next, err := p.client.plan(n)
	if err != nil {
		return nil, err
	}
	reported := make(map[content.Loss]bool, len(p.losses))
	for _, l := range p.losses {
		reported[l] = true
	}
	next.losses = slices.DeleteFunc(append(next.losses, next.linkLosses...), func(l content.Loss) bool { return reported[l] })
	return next, nil
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
		return p.request.Body()
	}
	members := []adapter.Member{{Name: "model", Value: string(jsonwire.AppendString(nil, p.model))}}
	if p.source.Stream {
		members = append(members, adapter.Member{Name: "stream", Value: "true"})
	} else if slices.ContainsFunc(p.wire.Spans, func(s document.Span) bool { return s.Name == "stream" }) {
		members = append(members, adapter.Member{Name: "stream", Value: "false"})
	}
	return adapter.Splice(p.wire, members...), nil
}

func (p *plan) restore(events []upstream.Event) bool { return p.names.Restore(events) }
