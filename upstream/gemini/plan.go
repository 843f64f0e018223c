package gemini

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/internal/adapter"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// A plan is a lowered request and its losses. Making it fetches and writes nothing.
type plan struct {
	client       *Client
	clientHeader http.Header // forwarded from the client
	losses       []lower.Loss

	wire    *document.Document // the original document, if it can be sent
	model   string
	source  *upstream.Request // otherwise: the request,
	target  *lower.Target     // what the model accepts,
	request *lower.Request    // and the request that is sent
}

// plan lowers a request. The plan is never nil; with an error it has the losses found so
// far.
func (c *Client) plan(n *upstream.Request) (p *plan, err error) {
	p = &plan{client: c, model: c.client.Model(n.Model), source: n}
	if !isModelPath(p.model) {
		return p, &content.Violation{Code: content.CodeValue, Path: "model", Text: "is not a valid model name"}
	}
	foreign := slices.ContainsFunc(n.Header, func(f upstream.HeaderField) bool { return strings.EqualFold(f.Name, "anthropic-version") })
	if !foreign && len(n.Header) > 0 {
		p.clientHeader = make(http.Header)
		for _, f := range n.Header {
			p.clientHeader.Add(f.Name, f.Value)
		}
	}
	if p.wire = snapshot.DocumentOf(n, generatecontent.Format); p.wire != nil {
		return p, nil
	}
	p.target = c.target(p.model, foreign)
	p.request, p.losses, err = lower.Lower(n, p.target, false)
	return p, err
}

// isModelPath reports whether a model name is valid in a URL path: not too long, and
// without empty, "." and ".." elements.
func isModelPath(model string) bool {
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

// load fetches the files that the vendor cannot fetch, and those that are stored elsewhere
// under an id of the vendor. It returns the losses that only their bytes show.
func (p *plan) load(ctx context.Context) (news []content.Loss, err error) {
	if p.wire != nil || !p.request.Load && !p.request.Stored {
		return nil, nil
	}
	n, err := p.source.Inline(ctx, p.target.KeepsLink)
	if err != nil {
		return nil, err
	}
	request, losses, err := lower.Lower(n, p.target, true)
	if err != nil {
		return nil, err
	}
	p.request = request
	return lower.Reports(lower.News(losses, p.losses)), nil
}

// body returns the document.
func (p *plan) body() (adapter.Body, error) {
	if p.wire == nil {
		return p.document().Body()
	}
	return p.splice(p.renamed()), nil
}

// document returns the request in the wire form.
func (p *plan) document() *generatecontent.Request {
	r := generatecontent.LoweredRequest(p.request)
	r.Model = "" // it is in the path
	return r
}

// renamed reports whether the document has a model member with another model than
// the one to send.
func (p *plan) renamed() bool {
	for _, s := range p.wire.Spans {
		name := gjson.Parse(p.wire.Body[s.From:s.To]).Str
		if resource(name) != resource(p.model) {
			return true
		}
	}
	return false
}

// splice returns the original document, with the model's name in it if model is
// true.
func (p *plan) splice(model bool) adapter.Body {
	var members []adapter.Member
	if model {
		members = []adapter.Member{{Name: "model", Value: string(jsonwire.AppendString(nil, resource(p.model)))}}
	}
	return adapter.Splice(p.wire, members...)
}

// countBody returns the document of a count request. The vendor counts only
// contents, unless the document contains the whole request. The vendor's cloud
// service does not accept that, but counts members beside the contents.
func (p *plan) countBody() (adapter.Body, error) {
	cloud := strings.HasPrefix(p.model, "publishers/") || strings.HasPrefix(p.model, "projects/")
	if p.wire != nil {
		if cloud || hasOnlyContents(p.wire.Body) {
			return p.splice(p.renamed()), nil
		}
		return wrapped{p.splice(true)}, nil
	}
	r := p.document()
	if cloud {
		r = &generatecontent.Request{Contents: r.Contents, SystemInstruction: r.SystemInstruction, Tools: r.Tools,
			GenerationConfig: r.GenerationConfig}
		return r.Body()
	}
	r.Model = resource(p.model)
	b, err := r.Body()
	if err != nil {
		return nil, err
	}
	return wrapped{b}, nil
}

// hasOnlyContents reports whether a document has only contents, or is a count
// request already.
func hasOnlyContents(body string) bool {
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

// A wrapped is a document as a member of a count request.
type wrapped struct{ adapter.Body }

// Len returns the length of the document in bytes.
func (b wrapped) Len() int64 { return int64(len(wrapOpen)+len(wrapClose)) + b.Body.Len() }

// Reader returns a reader of the whole document.
func (b wrapped) Reader() io.ReadCloser {
	return io.NopCloser(io.MultiReader(strings.NewReader(wrapOpen), b.Body.Reader(), strings.NewReader(wrapClose)))
}

func (p *plan) restore(events []upstream.Event) bool {
	return p.request != nil && p.request.Names.Restore(events)
}
