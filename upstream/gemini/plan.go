package gemini

import (
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
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// A plan is a request as the server gets it.
type plan struct {
	adapter.Plan
	resource     string      // the resource name of Model
	clientHeader http.Header // forwarded from the client
	foreign      bool        // the client has another format, whose headers are not sent
	byFormat     bool        // the target is not that of the model, which a client of the format knows
}

// plan plans a request.
func (c *Client) plan(n *upstream.Request) *plan {
	p := &plan{Plan: adapter.Plan{Source: n, Model: c.client.Model(n.Model)}}
	p.resource = c.resourceOf(p.Model)
	if !isModelPath(p.Model) {
		p.Err = &content.Violation{Code: content.CodeValue, Path: "model", Text: "is not a valid model name"}
		return p
	}
	// one pass
	p.foreign = slices.ContainsFunc(n.Header, func(f upstream.HeaderField) bool { return strings.EqualFold(f.Name, "anthropic-version") })
	if !p.foreign && len(n.Header) > 0 {
		p.clientHeader = codec.HeaderOf(n.Header)
	}
	p.Document = snapshot.DocumentOf(n, generatecontent.Format)
	vertex := isVertex(p.resource)
	if p.Document == nil {
		p.Target = c.target(p.Model, vertex, p.foreign)
		p.Lower()
		return p
	}
	t := documentTarget{vertex: vertex, signs: signsCalls(p.Model) && !signsCalls(p.Document.Model)}
	if vertex && (p.Document.Lenient || !vertexCloud.Accepts(n)) || t.signs && hasUnsignedCall(n.Turns) {
		p.lowerDocument(t)
	} else if familyOf(p.Model).major > 0 {
		p.Fit(func(model string) *lower.Target { return c.target(model, vertex, false) })
	}
	return p
}

// learn records which value the server has refused for a plan, and sets the target. It reports whether
// a changed request may succeed.
func (c *Client) learn(p *plan, err error) bool {
	v := c.learned.Get(p.Model)
	if p.byFormat || !v.LearnFrom(err, p.Request) {
		return false
	}
	c.learned.Add(p.Model, v.And)
	p.Target = c.target(p.Model, isVertex(p.resource), p.foreign)
	return true
}

// hasUnsignedCall reports whether the first tool call of a turn of the model has no signature.
func hasUnsignedCall(turns []content.Turn) bool {
	signed := false // or the turn continues one that has a call
	for i := range turns {
		if turns[i].Role != content.RoleAssistant {
			signed = false
			continue
		}
		for _, p := range turns[i].Parts {
			if c, ok := p.(*content.ToolUse); ok && c != nil && !signed {
				if c.Signature.Data == "" {
					return true
				}
				signed = true
			}
		}
	}
	return false
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
	json := p.Document.Member("model")
	name := gjson.Parse(json).Str
	return json != "" && name != p.resource && "models/"+name != p.resource
}

// splice returns the original document, with the model's name in it if model is
// true.
func (p *plan) splice(model bool) adapter.Body {
	var members []adapter.Member
	if model {
		members = []adapter.Member{{Name: "model", Value: string(jsonwire.AppendString(nil, p.resource))}}
	}
	return adapter.Splice(p.Document, members...)
}

// countBody returns the document of a count request. The vendor counts only
// contents, unless the document contains the whole request. Google Cloud does not
// accept that, but counts some members beside the contents.
func (p *plan) countBody() (adapter.Body, error) {
	if isVertex(p.resource) {
		if p.Document != nil && hasOnly(p.Document.Body, countMembers...) {
			return p.splice(p.renamed()), nil
		}
		if p.Document != nil {
			p.lowerDocument(documentTarget{vertex: true})
		}
		r := p.document()
		r = &generatecontent.Request{Contents: r.Contents, SystemInstruction: r.SystemInstruction, Tools: r.Tools,
			GenerationConfig: r.GenerationConfig}
		return r.Body()
	}
	if p.Document != nil {
		if hasOnly(p.Document.Body, "contents") || hasOnly(p.Document.Body, "generateContentRequest", "generate_content_request") {
			return p.splice(p.renamed()), nil
		}
		return wrapped{p.splice(true)}, nil
	}
	r := p.document()
	r.Model = p.resource
	b, err := r.Body()
	if err != nil {
		return nil, err
	}
	return wrapped{b}, nil
}

// countMembers are the members of a request that Google Cloud counts.
var countMembers = []string{"model", "contents", "systemInstruction", "system_instruction", "tools", "generationConfig", "generation_config"}

// hasOnly reports whether a document has no other members than these, or is not valid.
func hasOnly(body string, names ...string) bool {
	doc, err := jsonwire.Parse(body, jsonwire.Limits{})
	if err != nil {
		return true
	}
	defer doc.Close()
	for name := range doc.Root().Members() {
		if !slices.Contains(names, name) { // bounded by countMembers
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
