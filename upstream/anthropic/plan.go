package anthropic

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
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
	client *Client
	from   *upstream.Request
	header http.Header
	sends  http.Header // headers of the client
	losses []content.Loss
	linked []content.Loss // those that are none if the file is put in

	wire  *upstream.Wire // the very document, if it may go as it is
	model string
	say   *messages.Request // otherwise
	names *legal.Names
}

// rules are the format's for names and ids.
var rules = &legal.Rules{
	Name: legal.Rule{MaxBytes: 128, Punctuation: "_-"},
	ID:   legal.Rule{Punctuation: "_-"},
}

// rulesFor returns the rules for a request: the calls of results may be in a
// thread, which the vendor keeps, and keep their ids then.
func rulesFor(n *upstream.Request) *legal.Rules {
	doc := codec.Open(n.Extra, messages.Format)
	if doc == nil {
		return rules
	}
	defer doc.Close()
	if !doc.Root().Get("thread").Get("previous_message_id").Exists() {
		return rules
	}
	return &legal.Rules{Name: rules.Name, AnyID: true}
}

// plan says a request in the format, and finds what it loses. The error is
// about what the format takes no form of. There is a plan beside it: if nothing
// is left to be answered, it has what was lost.
//
// A request that came in this format goes as its client said it, even if it was
// changed on the way, with its version and betas. Another is made one that the
// model takes. All that is said of it is generally available in the version
// 2023-06-01, so it needs no betas.
func (c *Client) plan(n *upstream.Request) (*plan, error) {
	p := &plan{client: c, from: n, header: make(http.Header), model: c.server.Model(n.Model)}
	if p.wire = upstream.WireOf(n, messages.Format); p.wire != nil {
		p.clients(p.wire.Header)
		return p, nil
	}
	if err := adapter.Kept(n, messages.Format); err != nil {
		return p, err
	}
	var log loss.Log
	own := ours(n.Header)
	if !own {
		n = question(n, &log)
	}
	say, names := legal.Rename(n, rulesFor(n), &log)
	p.names = names
	if own {
		p.clients(n.Header)
	} else {
		legal.Headers(n, &log)
		p.header.Set(versionHeader, defaultVersion)
		var err error
		if say, err = fit(say, familyOf(p.model), c.maxTokens, c.most(p.model), &log); err != nil {
			return p, err
		}
	}
	r, losses := messages.RequestFromUpstream(say)
	if err := refused(losses); err != nil {
		return p, err
	}
	if f := familyOf(p.model); !own && !f.opens() && len(r.Messages) > 0 && r.Messages[0].Role == content.RoleAssistant {
		opening := &content.Text{Text: "(The conversation begins with the assistant.)"}
		r.Messages = slices.Insert(slices.Clone(r.Messages), 0, content.Turn{Role: content.RoleUser, Parts: []content.Part{opening}})
		log.Add(&modelLosses[lostOpening], "turns.0")
	}
	fault := adapter.Asked(n, losses, len(r.Messages) > 0, speaks)
	if !n.ForwardLinks {
		losses, p.linked = apart(losses)
	}
	log.Losses = append(log.Losses, losses...)
	remember(r, &log)
	r.Model = p.model
	p.say, p.losses = r, loss.Bound(log.Losses)
	return p, fault
}

// renamed reports whether the model has another name than the client asked
// for, as far as that is known.
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

// ours reports whether headers are those of a client of this format.
func ours(fields []upstream.Field) bool {
	return slices.ContainsFunc(fields, func(f upstream.Field) bool {
		return http.CanonicalHeaderKey(f.Name) == versionHeader
	})
}

// speaks reports whether anything of a request can be said.
func speaks(n *upstream.Request) bool {
	r, _ := messages.RequestFromUpstream(n)
	return len(r.Messages) > 0
}

// refused makes errors of losses without which the answer would be wrong.
func refused(losses []content.Loss) error {
	var faults content.ViolationList
	for _, l := range losses {
		if codec.MessagesAudioVideo.Of(l) || codec.MessagesImageType.Of(l) || codec.MessagesDocumentType.Of(l) {
			faults.Add(content.CodeUnsupported, l.Path, l.Reason)
		}
	}
	return faults.Err()
}

// apart takes those losses out of a list that only files have which stay where
// they are.
func apart(losses []content.Loss) (rest, linked []content.Loss) {
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

// clients sets the version and the betas that came with a document, and the
// headers of its client that go on.
func (p *plan) clients(fields []upstream.Field) {
	c, h := p.client, p.header
	var lines []string
	for _, f := range fields {
		switch http.CanonicalHeaderKey(f.Name) {
		case versionHeader:
			h.Set(versionHeader, f.Value)
		case betaHeader:
			lines = append(lines, f.Value)
		default:
			if p.sends == nil {
				p.sends = make(http.Header)
			}
			p.sends.Add(f.Name, f.Value)
		}
	}
	betas := slices.DeleteFunc(codec.HeaderList(lines...), func(b string) bool { return !c.beta(b) })
	if len(betas) > 0 {
		h.Set(betaHeader, strings.Join(betas, ","))
	}
	if h.Get(versionHeader) == "" {
		h.Set(versionHeader, defaultVersion)
	}
}

// load puts in the files that the vendor is not to fetch, or cannot. It returns
// the plan of what is then said; its losses are those that were not told yet.
func (p *plan) load(ctx context.Context) (*plan, error) {
	n, err := p.from.Inline(ctx, true)
	if err != nil {
		return nil, err
	}
	if p.wire == nil || n != p.from {
		if err := checkFiles(n); err != nil {
			return nil, err
		}
	}
	if n == p.from {
		p.losses = p.linked
		return p, nil
	}
	q, err := p.client.plan(n)
	if err != nil {
		return nil, err
	}
	told := make(map[content.Loss]bool, len(p.losses))
	for _, l := range p.losses {
		told[l] = true
	}
	q.losses = slices.DeleteFunc(append(q.losses, q.linked...), func(l content.Loss) bool { return told[l] })
	return q, nil
}

// query says that the body is in the beta form of the format, as the vendor's
// SDKs do.
func (p *plan) query() string {
	if p.header.Get(betaHeader) != "" {
		return "?beta=true"
	}
	return ""
}

// body writes the document.
func (p *plan) body() (adapter.Body, error) {
	if p.wire == nil {
		return p.say.Body()
	}
	members := []adapter.Member{{Name: "model", Value: string(jsonwire.AppendString(nil, p.model))}}
	if p.from.Stream {
		members = append(members, adapter.Member{Name: "stream", Value: "true"})
	} else if slices.ContainsFunc(p.wire.Spans, func(s upstream.Span) bool { return s.Name == "stream" }) {
		members = append(members, adapter.Member{Name: "stream", Value: "false"})
	}
	return adapter.Splice(p.wire, members...), nil
}

func (p *plan) restore(events []upstream.Event) bool { return p.names.Restore(events) }
