package gemini

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/legal"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// A plan is a request on its way: what is sent, and what is lost by that.
// Nothing is fetched or written until its body is asked for.
type plan struct {
	client *Client
	sends  http.Header // headers of the client
	losses []content.Loss

	wire  *upstream.Wire // the very document, if it may go as it is
	model string
	from  *upstream.Request        // otherwise: with names that are legal,
	say   *generatecontent.Request // and in words of the format
	names *legal.Names
}

// plan says a request in the format, and finds what it loses. There is a plan
// beside an error: if nothing is left to be answered, it has what was lost.
func (c *Client) plan(n *upstream.Request) (*plan, error) {
	p := &plan{client: c, model: c.server.Model(n.Model)}
	if !legalPath(p.model) {
		return p, &content.Violation{Code: content.CodeValue, Path: "model", Text: "is not the name of a model"}
	}
	foreign := slices.ContainsFunc(n.Header, func(f upstream.Field) bool { return strings.EqualFold(f.Name, "anthropic-version") })
	if !foreign && len(n.Header) > 0 {
		p.sends = make(http.Header)
		for _, f := range n.Header {
			p.sends.Add(f.Name, f.Value)
		}
	}
	if p.wire = upstream.WireOf(n, generatecontent.Format); p.wire != nil {
		return p, nil
	}
	if err := cmp.Or(adapter.Answers(n), adapter.Kept(n, generatecontent.Format)); err != nil {
		return p, err
	}
	var log loss.Log
	if foreign {
		legal.Headers(n, &log)
	}
	p.from, p.names = legal.Rename(legal.Portable(n, generatecontent.Format, &log), rules, &log)
	p.say = p.said(p.from, &log)
	fault := adapter.Asked(n, log.Losses, len(p.say.Contents) > 0, func(n *upstream.Request) bool {
		r, _ := generatecontent.RequestForTarget(n, c.target(familyOf(p.model)))
		return len(r.Contents) > 0
	})
	p.losses = loss.Bound(log.Losses)
	return p, fault
}

// legalPath reports whether the steps of a model's name lead to it and nowhere
// else, and whether it is short enough for a path.
func legalPath(model string) bool {
	if len(model) > codec.MaxModelName {
		return false
	}
	for step := range strings.SplitSeq(model, "/") {
		if step == "" || step == "." || step == ".." {
			return false
		}
	}
	return true
}

// said says a request in words that the model understands.
func (p *plan) said(n *upstream.Request, log *loss.Log) *generatecontent.Request {
	f := familyOf(p.model)
	r, losses := generatecontent.RequestForTarget(n, p.client.target(f))
	log.Losses = append(log.Losses, losses...)
	fit(r, n, f, p.client.most(p.model), log)
	r.Model = "" // it stands in the path
	return r
}

// fill puts in the files that the vendor cannot fetch.
func (p *plan) fill(ctx context.Context) error {
	if p.wire != nil {
		return nil
	}
	n, err := p.from.Inline(ctx, true)
	if err != nil {
		return err
	}
	if err := checkFiles(n); err != nil {
		return err
	}
	if n != p.from {
		p.say = p.said(n, new(loss.Log)) // the losses were told
	}
	return nil
}

// body writes the document. Files that the vendor cannot fetch are loaded.
func (p *plan) body(ctx context.Context) (adapter.Body, error) {
	if err := p.fill(ctx); err != nil {
		return nil, err
	}
	if p.wire == nil {
		return p.say.Body()
	}
	return p.splice(p.renamed()), nil
}

// renamed reports whether the document names another model than is asked, in
// whatever form.
func (p *plan) renamed() bool {
	for _, s := range p.wire.Spans {
		doc, err := jsonwire.Parse(p.wire.Body[s.From:s.To], jsonwire.Limits{})
		if err != nil {
			return true
		}
		name := doc.Root().Str()
		doc.Close()
		if resource(name) != resource(p.model) {
			return true
		}
	}
	return false
}

// splice returns the document that came, with the name of the model in it if it
// needs one.
func (p *plan) splice(model bool) adapter.Body {
	var members []adapter.Member
	if model {
		members = []adapter.Member{{Name: "model", Value: string(jsonwire.AppendString(nil, resource(p.model)))}}
	}
	return adapter.Splice(p.wire, members...)
}

// countBody writes the document that asks for a count. The vendor counts only
// contents, unless the whole request is in the document; the vendor's other
// service has no place for that, but takes what counts beside the contents.
func (p *plan) countBody(ctx context.Context) (adapter.Body, error) {
	if err := p.fill(ctx); err != nil {
		return nil, err
	}
	elsewhere := strings.HasPrefix(p.model, "publishers/") || strings.HasPrefix(p.model, "projects/")
	if p.wire != nil {
		if elsewhere || onlyContents(p.wire.Body) {
			return p.splice(p.renamed()), nil
		}
		return within{p.splice(true)}, nil
	}
	r := *p.say
	if elsewhere {
		r = generatecontent.Request{Contents: r.Contents, SystemInstruction: r.SystemInstruction, Tools: r.Tools,
			GenerationConfig: r.GenerationConfig, Form: r.Form}
		return r.Body()
	}
	r.Model = resource(p.model)
	b, err := r.Body()
	if err != nil {
		return nil, err
	}
	return within{b}, nil
}

// onlyContents reports whether a document has nothing else that counts, or is
// one that asks for a count already.
func onlyContents(body string) bool {
	doc, err := jsonwire.Parse(body, jsonwire.Limits{})
	if err != nil {
		return true
	}
	defer doc.Close()
	for name := range doc.Root().Members() {
		switch name {
		case "contents":
		case "generateContentRequest", "generate_content_request":
			return true
		default:
			return false
		}
	}
	return true
}

const (
	wrapOpen  = `{"generateContentRequest":`
	wrapClose = `}`
)

// within is a document as a member of one that asks for a count.
type within struct{ adapter.Body }

// Len returns the length of the document in bytes.
func (b within) Len() int64 { return int64(len(wrapOpen)+len(wrapClose)) + b.Body.Len() }

// Reader returns a reader of the whole document.
func (b within) Reader() io.ReadCloser {
	return io.NopCloser(io.MultiReader(strings.NewReader(wrapOpen), b.Body.Reader(), strings.NewReader(wrapClose)))
}

func (p *plan) restore(events []upstream.Event) bool { return p.names.Restore(events) }
