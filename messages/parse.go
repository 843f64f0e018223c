package messages

import (
	"slices"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// ParseRequest parses a request document. The strings of the request share
// the memory of a body that is a string; bytes are copied first.
//
// A document that is not valid JSON by RFC 8259, is not UTF-8, repeats a member name
// in an object, is nested deeper than 256 or has more than a million values is
// refused: the request is nil and the error is a [*content.Violation] with line and
// column. The same holds for a document that exceeds the default Limits of [Options].
//
// Other documents are read to the end. The error then lists every violation
// ([content.Violations]) in the order in which it was found, and the request holds
// everything that could be read. [Request.Validate] reports these violations again,
// before its own.
//
// ParseRequest reports values that a [Request] cannot hold: values of the wrong type,
// numbers that are not finite, or not integers where integers are required, objects
// without a "type" or with one that is unknown at that place, and missing members
// that are required. It also reports names that equal a known name if case, or
// everything after a NUL, is ignored. If there are more than 100,000 messages, it
// keeps the first 100,000. Validate checks all other rules.
func ParseRequest[T ~string | ~[]byte](body T) (*Request, error) {
	return parseRequest(string(body), content.Limits{}, nil)
}

// parseRequest is ParseRequest without the copy, with limits: the depth, values, parts, tools
// and schemas of lim. at is the path of the request if it may have the model, or nil.
func parseRequest(body string, lim content.Limits, at *vertexPath) (*Request, error) {
	p := newParser()
	defer p.close()
	w := &parsedRequest{}
	r, o := &w.request, &w.origin
	root, err := p.Begin(body, &lim, &o.Origin)
	if err != nil {
		return nil, codec.SyntaxViolation("The request body is not valid JSON: ", err)
	}
	r.origin, p.origin, p.IsReplaced, p.Strict = o, o, isReplaced, &o.Unknown
	p.texts.Seed(w.texts[:])
	p.lists.Seed(w.parts[:])
	p.turns.Seed(w.turns[:])
	p.Seed(w.flags[:], w.integers[:], w.numbers[:])
	if at != nil {
		o.cloud = new(cloudMembers)
	}
	if root.Kind() != jsonwire.Object {
		p.Violation(content.CodeType, "", "The request body must be a JSON object")
	} else if p.request, p.Root = r, r; at == nil {
		p.Read(root, requestType, r)
	} else {
		p.Read(root, vertexType, r)
		at.complete(p)
	}
	if err := p.Quota.Err(); err != nil {
		return nil, err
	}
	return r, o.Finish(&p.Quota, &p.Violations, codec.Dotted)
}

// A parsedRequest allocates a request together with everything that it needs once.
type parsedRequest struct {
	request Request
	origin  origin

	// These are enough for a request with one message.
	flags    [1]bool
	integers [2]int64
	numbers  [2]float64
	turns    [1]content.Turn
	texts    [1]content.Text
	parts    [1]content.Part
}

// A parser reads a Request from a document that is valid JSON, by the tables of objects. It
// continues after a violation: it leaves the field zero, or replaces the part by an Unknown, which
// keeps the indices of the other parts.
type parser struct {
	reporter
	object.Reader
	request *Request // nil for fragments of requests and for responses
	origin  *origin  // nil for the same
	depth   int      // nesting of parts

	turns          codec.Chunk[content.Turn]
	texts          codec.Chunk[content.Text]
	toolUses       codec.Chunk[content.ToolUse]
	toolResults    codec.Chunk[content.ToolResult]
	thinkingBlocks codec.Chunk[content.Thinking]
	images         codec.Chunk[content.Image]
	base64s        codec.Chunk[content.Base64]
	caches         codec.Chunk[content.Cache]
	lists          codec.Chunk[content.Part]
}

// parsers has parsers that are not used, because one on the stack could not be an
// [object.Format].
var parsers = sync.Pool{New: func() any { return new(parser) }}

// newParser returns a parser, which the caller must close.
func newParser() *parser {
	p := parsers.Get().(*parser)
	p.begin()
	return p
}

// begin prepares a zero parser.
func (p *parser) begin() {
	p.Size, p.Format, p.Name = 1, p, Format
	p.Check = object.Checker{Path: &p.Path, Report: &p.reporter}
}

func (p *parser) close() {
	p.Close()
	*p = parser{}
	parsers.Put(p)
}

// Value implements [object.Format].
func (p *parser) Value(f *object.Field, name string, x jsonwire.Value, to any) {
	switch to := to.(type) {
	case *content.Role:
		*to = content.Role(p.Text(f, name, x))
	case *content.Signature:
		*to = content.Signature{Format: Format, Data: p.Text(f, name, x)}
	case *content.Schema:
		to.JSON = p.JSON(f, name, x)
	case *[]content.Turn:
		*to = p.messages(f, name, x)
	case *[]content.Part:
		*to = p.content(f, name, x)
	case *content.Source:
		*to = p.source(x, fileFormIn(f.Value))
	case *[]content.Citation:
		*to = p.citationList(f, name, x)
	case *[]content.Tool:
		*to = p.tools(f, name, x)
	case **content.Cache:
		if p.Enter(f, name, x) {
			*to = p.caches.New(p.Size)
			p.Read(x, cacheType, *to)
			p.Path.Pop()
		}
	case **ToolChoice:
		p.Object(f, name, x, to)
		if c := *to; c != nil && c.Type == "tool" && !x.Get("name").Exists() {
			p.Violation(content.CodeMissing, name+".tool.name", textRequired)
		}
	default:
		p.Object(f, name, x, to)
	}
}

// messages reads the turns.
func (p *parser) messages(f *object.Field, name string, v jsonwire.Value) []content.Turn {
	n := p.Len(f, name, v)
	if n > maxMessages {
		p.Violation(content.CodeLimit, name, textItems(maxMessages, n))
		n = maxMessages
	}
	if n == 0 {
		return nil
	}
	p.Expect(n)
	turns := p.turns.List(n, 1)[:n]
	p.Each(f, v, func(i int, x jsonwire.Value) {
		switch {
		case i >= n || p.Quota.Exceeded():
		case x.Kind() == jsonwire.Object:
			p.Read(x, messageType, &turns[i])
		default:
			p.Violation(content.CodeType, "", textObject)
		}
	})
	return turns
}

// maxMessages is the maximum number of messages in a request.
const maxMessages = 100_000

// maxPartDepth limits the nesting of parts. The format has three levels. Deeper
// parts are kept as Unknown.
const maxPartDepth = 16

// content reads a list of blocks, or a string, which becomes one text. An empty
// string becomes no parts, as an empty list does.
func (p *parser) content(f *object.Field, name string, v jsonwire.Value) []content.Part {
	switch k := object.KindOf(v); {
	case !f.Value.Accepts(k):
		p.Violation(content.CodeType, name, textList)
	case k == object.Text:
		if v.Is("") || !p.Quota.Parts(1) {
			return nil
		}
		t := p.texts.New(p.Size)
		t.Text = v.Str()
		return append(p.lists.List(1, p.Size), t)
	case v.Len() > 0:
		p.Path.Push(name)
		list := p.parts(v, f.Value.Elem == taggedBlock)
		p.Path.Pop()
		return list
	}
	return nil
}

// parts reads a list of blocks. Paths include the tags of blocks if tagged is set.
func (p *parser) parts(v jsonwire.Value, tagged bool) []content.Part {
	if !p.Quota.Parts(v.Len()) {
		return nil
	}
	list := p.lists.List(v.Len(), p.Size)
	p.depth++
	for i, x := range v.Elems() {
		p.Path.PushIndex(i)
		list = append(list, p.block(x, tagged))
		p.Path.Pop()
	}
	p.depth--
	return list
}

// block reads one block. It never returns nil: for a value that is not a block it
// returns an Unknown without a Kind.
func (p *parser) block(v jsonwire.Value, tagged bool) content.Part {
	kind, ok := p.ReadTag(v)
	switch {
	case !ok:
		return p.BadPart(v, p.IsOver())
	case p.depth > maxPartDepth:
		return p.Other(kind, v)
	}
	if tagged {
		p.Path.Push(codec.Clip(kind))
		defer p.Path.Pop()
	}
	f := blockFormOf(kind)
	switch {
	case f == nil:
		return p.Other(kind, v)
	case !f.of.HasStruct():
		if p.origin != nil {
			p.Check.Members(v, f.of)
		}
		return p.Other(kind, v)
	}
	return p.typedBlock(v, f)
}

// typedBlock reads a block that has a Go type.
func (p *parser) typedBlock(v jsonwire.Value, f *blockForm) content.Part {
	switch f.of {
	case textType:
		t := p.texts.New(p.Size)
		p.Read(v, f.of, t)
		return t
	case toolUseType:
		t := p.toolUses.New(p.Size)
		p.Read(v, f.of, t)
		if p.origin != nil {
			envelope.CountID(&p.Quota, t.ID)
		}
		return t
	case toolResultType:
		t := p.toolResults.New(p.Size)
		p.Read(v, f.of, t)
		return t
	case thinkingBlockType:
		// Some clients return thinking without the signature; then the Signature has no
		// Format.
		t := p.thinkingBlocks.New(p.Size)
		p.Read(v, f.of, t)
		if envelope.IsEnvelope(t.Signature.Data) {
			p.Quota.Bytes(len(t.Signature.Data)) // of its text, if it has one
		}
		return t
	case redactedType:
		t := p.thinkingBlocks.New(p.Size)
		t.Redacted.Format = Format
		p.Read(v, f.of, t)
		return t
	case imageType:
		t := p.images.New(1)
		p.Read(v, f.of, t)
		return t
	case serverToolUseType, mcpToolUseType:
		t := &content.ServerToolUse{Format: Format, Kind: f.tag}
		p.Read(v, f.of, t)
		return t
	case serverToolResultType, mcpToolResultType:
		t := &content.ServerToolResult{Format: Format, Kind: f.tag}
		p.Read(v, f.of, t)
		return t
	}
	t := f.of.Create()
	p.Read(v, f.of, t)
	return t.(content.Part)
}

// citationList reads the citations of a text.
func (p *parser) citationList(f *object.Field, name string, v jsonwire.Value) []content.Citation {
	n := p.Len(f, name, v)
	if n == 0 || !p.Quota.Parts(n) {
		return nil
	}
	list := make([]content.Citation, n)
	p.Each(f, v, func(i int, x jsonwire.Value) { p.citation(&list[i], x) })
	return list
}

// citation reads one citation. If its type is unknown, Extra holds all its members,
// including "type", and Kind is empty.
func (p *parser) citation(c *content.Citation, v jsonwire.Value) {
	kind, ok := p.ReadTag(v)
	if !ok {
		return
	}
	f := citationFormOf(kind, "")
	if f == nil {
		c.Extra = p.Extras.New(Format, v.Raw())
		return
	}
	c.Kind = f.kind
	p.Path.Push(f.tag)
	p.Read(v, f.of, c)
	p.Path.Pop()
}

// source reads the source of a file. It returns nil if the source is invalid.
func (p *parser) source(v jsonwire.Value, files *fileForm) content.Source {
	p.Path.Push("source")
	defer p.Path.Pop()
	kind, ok := p.ReadTag(v)
	if !ok {
		return nil
	}
	t := typeOfTag(sourceTypes, kind)
	if !slices.Contains(files.tags, kind) { // bounded by fileForm
		p.Violation(content.CodeValue, "", quoteTag(kind, quoteTags(files.tags)))
		if t == nil {
			return nil
		}
	}
	p.Path.Push(kind)
	defer p.Path.Pop()
	if t == base64Type {
		b := p.base64s.New(1)
		p.Read(v, t, b)
		if p.origin != nil {
			if _, problem := v.Get("data").Base64(); problem == 0 { // found while the string was scanned
				p.origin.KeepBase64(b.Data)
			}
		}
		if b.MediaType == plainType {
			p.Quota.Bytes(len(b.Data)) // it becomes a text
		}
		return b
	}
	s := t.Create()
	p.Read(v, t, s)
	return s.(content.Source)
}

// tools reads the list of tools.
func (p *parser) tools(f *object.Field, name string, v jsonwire.Value) []content.Tool {
	n := p.Len(f, name, v)
	if n == 0 || !p.Quota.Tools(n) {
		return nil
	}
	p.Expect(n)
	tools := make([]content.Tool, n)
	p.Each(f, v, func(i int, x jsonwire.Value) { p.tool(&tools[i], x) })
	return tools
}

// tool reads a custom tool, or keeps a tool of the vendor as JSON text.
func (p *parser) tool(t *content.Tool, v jsonwire.Value) {
	if v.Kind() != jsonwire.Object {
		p.Violation(content.CodeType, "", textObject)
		return
	}
	kind := v.Get("type")
	switch {
	case !kind.Exists(), kind.Is("custom"):
	case kind.Kind() == jsonwire.Null:
	case kind.Kind() != jsonwire.String:
		p.Violation(content.CodeType, "type", textString)
		return
	case kind.Is(""):
		p.Violation(content.CodeValue, "type", textNotEmpty)
		return
	default:
		p.builtinTool(t, v, kind.Str())
		return
	}
	p.Path.Push("custom")
	p.Read(v, customToolType, t)
	p.Path.Pop()
}

// builtinTool keeps a tool that the vendor runs or defines as JSON text.
func (p *parser) builtinTool(t *content.Tool, v jsonwire.Value, kind string) {
	t.Kind, t.Format, t.Raw = kind, Format, v.Raw()
	p.Path.Push(codec.Clip(kind))
	if name := v.Get("name"); name.Kind() == jsonwire.String {
		t.Name = name.Str()
	}
	of := typeOfTag(builtins(), kind)
	if of == nil {
		of = otherToolType()
	}
	p.Check.Members(v, of)
	p.Path.Pop()
}

// The vendor's error texts for values of a wrong type.
const (
	textRequired  = "Field required"
	textString    = "Input should be a valid string"
	textInteger   = "Input should be a valid integer"
	textNumber    = "Input should be a valid number"
	textFinite    = "Input should be a finite number"
	textBoolean   = "Input should be a valid boolean"
	textList      = "Input should be a valid list"
	textObject    = "Input should be an object"
	textNotObject = "Input should be a valid dictionary"
	textNotEmpty  = "String should have at least 1 character"
	textExtra     = "Extra inputs are not permitted"
)

// quoteTag returns the vendor's error text for an unexpected tag.
func quoteTag(tag, expected string) string {
	return "Input tag '" + codec.Clip(tag) + "' found using 'type' does not match any of the expected tags: " + expected
}
