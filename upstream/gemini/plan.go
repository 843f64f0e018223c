package gemini

import (
	"cmp"
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
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// A plan is a converted request and its losses. Making it fetches and writes
// nothing.
type plan struct {
	client       *Client
	clientHeader http.Header // forwarded from the client
	losses       []content.Loss

	wire    *document.Document // the original document, if it can be sent
	model   string
	source  *upstream.Request        // otherwise: the neutral request with valid names,
	request *generatecontent.Request // and its wire form
	names   *lower.Names
}

// plan converts a request. The plan is never nil; with an error it has the losses
// found so far.
func (c *Client) plan(n *upstream.Request) (*plan, error) {
	p := &plan{client: c, model: c.client.Model(n.Model)}
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
	if err := cmp.Or(adapter.CheckMaxTokens(n), adapter.CheckForeignState(n, generatecontent.Format)); err != nil {
		return p, err
	}
	var log loss.Log
	if foreign {
		lower.AddTo(&log, lower.Headers(n))
	}
	portable, losses := lower.Portable(n, generatecontent.Format)
	lower.AddTo(&log, losses)
	p.source, p.names, losses = lower.Rename(portable, nameRules)
	lower.AddTo(&log, losses)
	p.request = p.convert(p.source, &log)
	violation := adapter.CheckLastMessage(n, log.Losses, len(p.request.Contents) > 0, func(n *upstream.Request) bool {
		r, _ := generatecontent.RequestForTarget(n, c.target(familyOf(p.model)))
		return len(r.Contents) > 0
	})
	p.losses = loss.Bound(log.Losses)
	return p, violation
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

// convert converts a request to the wire form that the model accepts.
func (p *plan) convert(n *upstream.Request, log *loss.Log) *generatecontent.Request {
	f := familyOf(p.model)
	r, losses := generatecontent.RequestForTarget(n, p.client.target(f))
	log.Losses = append(log.Losses, losses...)
	fit(r, n, f, p.client.maxOutput(p.model), log)
	r.Model = "" // it is in the path
	return r
}

// loadFiles inlines the files that the vendor cannot fetch.
func (p *plan) loadFiles(ctx context.Context) error {
	if p.wire != nil {
		return nil
	}
	n, err := p.source.Inline(ctx, true)
	if err != nil {
		return err
	}
	if err := checkFiles(n); err != nil {
		return err
	}
	if n != p.source {
		p.request = p.convert(n, new(loss.Log)) // the losses were reported before
	}
	return nil
}

// body returns the document, with files inlined that the vendor cannot fetch.
func (p *plan) body(ctx context.Context) (adapter.Body, error) {
	if err := p.loadFiles(ctx); err != nil {
		return nil, err
	}
	if p.wire == nil {
		return p.request.Body()
	}
	return p.splice(p.renamed()), nil
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
func (p *plan) countBody(ctx context.Context) (adapter.Body, error) {
	if err := p.loadFiles(ctx); err != nil {
		return nil, err
	}
	cloud := strings.HasPrefix(p.model, "publishers/") || strings.HasPrefix(p.model, "projects/")
	if p.wire != nil {
		if cloud || hasOnlyContents(p.wire.Body) {
			return p.splice(p.renamed()), nil
		}
		return wrapped{p.splice(true)}, nil
	}
	r := *p.request
	if cloud {
		r = generatecontent.Request{Contents: r.Contents, SystemInstruction: r.SystemInstruction, Tools: r.Tools,
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

func (p *plan) restore(events []upstream.Event) bool { return p.names.Restore(events) }
