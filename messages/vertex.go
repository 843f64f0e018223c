package messages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/object"
)

// A vertexPath is a path of Vertex AI on Google Cloud, which has the model of a request:
// …/publishers/anthropic/models/{model}:rawPredict or :streamRawPredict. The path for
// counting, …/models/count-tokens:rawPredict, has no model.
type vertexPath struct {
	model  string
	stream bool // the response is streamed if the body does not have "stream"
	count  bool
}

// cloudMembers are the members that a document has instead of headers.
type cloudMembers struct {
	version string // of the API
	betas   []string

	// whole reports that a document for counting is one for a response, as those of Bedrock
	// are. It has members that count requests do not have.
	whole bool
}

// parseVertexPath returns nil for other paths.
func parseVertexPath(path string) *vertexPath {
	const models = "publishers/anthropic/models/"
	i := strings.Index(path, models)
	if i < 0 || i > 0 && path[i-1] != '/' {
		return nil
	}
	name := path[i+len(models):]
	end := strings.LastIndexByte(name, ':')
	if end < 0 {
		return nil
	}
	p := &vertexPath{model: name[:end]}
	switch name[end+1:] {
	case "rawPredict":
		p.count = p.model == "count-tokens"
	case "streamRawPredict":
		p.stream = true
	default:
		return nil
	}
	return p
}

// vertexType is requestType for bodies on the paths of Vertex AI. They name the version of
// the API, and may list betas, in place of the headers.
var vertexType = object.New("", func(r *Request) **content.Extra { return &r.Extra }, func() []object.Field {
	return append([]object.Field{
		object.Opt("model", object.AnyText, func(r *Request) *string { return &r.Model }),
		object.Opt(versionMember, object.NonEmptyText, func(r *Request) *string { return &r.origin.cloud.version }),
		object.Opt(betaMember, object.NullableTexts, func(r *Request) *[]string { return &r.origin.cloud.betas }),
	}, requestType.Fields()[1:]...)
}) // the first is the model

// modelessType is requestType without the model.
var modelessType = object.New("", func(r *Request) **content.Extra { return &r.Extra }, func() []object.Field {
	return slices.Clone(requestType.Fields()[1:])
})

const (
	versionMember = "anthropic_version"
	betaMember    = "anthropic_beta"
)

// Values of the member anthropic_version for API version 2023-06-01. The vendor's SDKs of
// 2026-10-21 send that version itself. Bodies of Bedrock differ in the same members, so
// the nested module upstream/bedrock passes them to these paths.
const (
	vertexVersion  = "vertex-2023-10-16"
	bedrockVersion = "bedrock-2023-05-31"
)

// complete completes a request with the model and the mode of its path. It replaces the
// version in the body by that of the API.
func (at *vertexPath) complete(p *parser) {
	r, o, c := p.request, p.origin, p.origin.cloud
	switch {
	case at.count && o.Replaced("model") == "":
		p.Violation(content.CodeMissing, "model", textRequired)
	case at.count:
	case o.Replaced("model") != "" && r.Model != at.model:
		p.Violation(content.CodeConflict, "model", "must be the model in the path, '"+codec.Clip(at.model)+"', if the body has it")
	case o.Replaced("model") != "":
		p.AddStrict(content.CodeUnknown, "model", func() string { return textExtra })
	}
	if !at.count {
		r.Model = at.model
	}
	if o.Replaced("stream") == "" {
		r.Stream = at.stream
	}
	switch {
	case c.version == vertexVersion, c.version == bedrockVersion:
		c.whole = at.count && c.version == bedrockVersion
		c.version = version2023
	case c.version != "" && !isVersion(c.version):
		p.Violation(content.CodeValue, versionMember, textOneOf(append([]string{vertexVersion, bedrockVersion}, versions...)))
	case o.Replaced(versionMember) == "" && !at.count: // Google documents counting without it
		p.Violation(content.CodeMissing, versionMember, textRequired)
	}
	c.betas = codec.HeaderList(c.betas...)
	if len(c.betas) > maxHeaderValues {
		p.Violation(content.CodeLimit, betaMember, fmt.Sprintf("has %d values; the maximum is %d", len(c.betas), maxHeaderValues))
	}
	for _, b := range c.betas {
		if !isHeaderValue(b) {
			p.Violation(content.CodeValue, betaMember, fmt.Sprintf("a value is not the name of a beta, which has at most %d visible ASCII characters", maxHeaderValue))
			break
		}
	}
}
