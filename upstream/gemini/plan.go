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
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// A plan is a request as the server gets it.
type plan struct {
	adapter.Plan
	clientHeader http.Header // forwarded from the client
}

// plan plans a request.
func (c *Client) plan(n *upstream.Request) *plan {
	p := &plan{Plan: adapter.Plan{Source: n, Model: c.client.Model(n.Model)}}
	if !isModelPath(p.Model) {
		p.Err = &content.Violation{Code: content.CodeValue, Path: "model", Text: "is not a valid model name"}
		return p
	}
	foreign := slices.ContainsFunc(n.Header, func(f upstream.HeaderField) bool { return strings.EqualFold(f.Name, "anthropic-version") })
	if !foreign && len(n.Header) > 0 {
		p.clientHeader = make(http.Header)
		for _, f := range n.Header {
			p.clientHeader.Add(f.Name, f.Value)
		}
	}
	if p.Document = snapshot.DocumentOf(n, generatecontent.Format); p.Document == nil {
		p.Target = c.target(p.Model, foreign)
		p.Lower()
	}
	return p
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

// load loads files: see [adapter.Plan.Load]. The vendor can read all files of a document.
func (p *plan) load(ctx context.Context) ([]content.Loss, error) {
	if p.Document != nil {
		return nil, nil
	}
	return p.Load(ctx)
}

// body returns the document.
func (p *plan) body() (adapter.Body, error) {
	if p.Document == nil {
		return p.document().Body()
	}
	return p.splice(p.renamed()), nil
}

// document returns the request in the wire form.
func (p *plan) document() *generatecontent.Request {
	r := generatecontent.LoweredRequest(p.Request)
	r.Model = "" // it is in the path
	return r
}

// renamed reports whether the document has a model member with another model than
// the one to send.
func (p *plan) renamed() bool {
	for _, s := range p.Document.Spans {
		name := gjson.Parse(p.Document.Body[s.From:s.To]).Str
		if resource(name) != resource(p.Model) {
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
		members = []adapter.Member{{Name: "model", Value: string(jsonwire.AppendString(nil, resource(p.Model)))}}
	}
	return adapter.Splice(p.Document, members...)
}

// countBody returns the document of a count request. The vendor counts only
// contents, unless the document contains the whole request. The vendor's cloud
// service does not accept that, but counts members beside the contents.
func (p *plan) countBody() (adapter.Body, error) {
	cloud := strings.HasPrefix(p.Model, "publishers/") || strings.HasPrefix(p.Model, "projects/")
	if p.Document != nil {
		if cloud || hasOnlyContents(p.Document.Body) {
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
	r.Model = resource(p.Model)
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
