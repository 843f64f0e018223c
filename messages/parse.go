package messages

import (
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// ParseRequest parses a request document. It copies body once, because the parts
// of the request share its memory; [ParseRequestString] does not copy.
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
func ParseRequest(body []byte) (*Request, error) { return ParseRequestString(string(body)) }

// ParseRequestString is [ParseRequest] without the copy.
func ParseRequestString(body string) (*Request, error) {
	return parseRequest(body, content.Limits{}, nil)
}

// parseRequest is ParseRequestString with limits: the depth, values, parts, tools
// and schemas of lim. at is the path of the request if it may have the model, or nil.
func parseRequest(body string, lim content.Limits, at *vertexPath) (*Request, error) {
	w := &parsedRequest{}
	doc := &w.doc
	if err := doc.ParseSingle(body, jsonwire.Limits{Depth: lim.Depth, Values: lim.Values}); err != nil {
		return nil, syntaxError(err)
	}
	defer doc.Close()
	var p parser
	p.origin, p.size, p.quota = &w.origin, 1, codec.NewQuota(lim)
	p.texts.Seed(w.texts[:])
	p.lists.Seed(w.parts[:])
	p.turns.Seed(w.turns[:])
	p.integers.Seed(w.integers[:])
	p.numbers.Seed(w.numbers[:])
	r, o := &w.request, &w.origin
	r.origin, o.body = o, body
	if at != nil {
		o.cloud = new(cloudMembers)
	}
	if root := doc.Root(); root.Kind() != jsonwire.Object {
		p.violation(content.CodeType, "", "The request body must be a JSON object")
	} else if p.request = r; at == nil {
		p.members(root, requestType, r)
	} else {
		p.members(root, vertexType, r)
		at.complete(&p)
	}
	if err := p.quota.Err(); err != nil {
		return nil, err
	}
	o.cost = p.quota.Cost()
	err := p.violations.Err()
	o.violations = codec.NewParseViolations(err, codec.Dotted)
	return r, err
}

// A parsedRequest allocates a request together with everything that it needs once.
type parsedRequest struct {
	request Request
	origin  origin
	doc     jsonwire.Doc

	// These are enough for a request with one message.
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
	request *Request // nil for fragments of requests and for responses
	quota   codec.Quota
	size    int // expected number of turns or tools, which sizes chunks
	depth   int // nesting of parts

	citations jsonwire.Value // the citationsSwitch of the current block, if it has unknown members

	turns          codec.Chunk[content.Turn]
	integers       codec.Chunk[int64]
	numbers        codec.Chunk[float64]
	texts          codec.Chunk[content.Text]
	toolUses       codec.Chunk[content.ToolUse]
	toolResults    codec.Chunk[content.ToolResult]
	thinkingBlocks codec.Chunk[content.Thinking]
	images         codec.Chunk[content.Image]
	base64s        codec.Chunk[content.Base64]
	caches         codec.Chunk[content.Cache]
	extras         codec.Extras
	unknowns       codec.Chunk[content.Unknown]
	invalidPart    content.Part // shared by values that are not blocks, if there are many
	lists          codec.Chunk[content.Part]
}

// members reads the members of an object into the struct at to.
func (p *parser) members(v jsonwire.Value, t *object.Type, to any) {
	outer := p.citations
	p.citations = jsonwire.Value{}
	var seen object.Members
	more := false
	isRequest := to == any(p.request)
	for name, x := range v.Members() {
		if isRequest {
			if i := movedMember(name); i >= 0 {
				p.origin.moved[i] = codec.ExtentOf(x)
			}
			p.origin.lenient = p.origin.lenient || x.Kind() == jsonwire.Null
		}
		switch f, _ := seen.Field(t, name); {
		case f == nil:
			p.Unknown(t, name)
			more = true
		case f.IsTag:
		case f.Typed():
			p.value(f, name, x, f.At(to))
		default:
			p.kept(f, name, x)
			more = more || f.Kept()
		}
	}
	for f := seen.Missing(t); f != nil; f = seen.Missing(t) {
		p.Missing(f)
	}
	if more || p.citations.Exists() {
		*t.Extra(to) = p.extra(v, t)
	}
	p.citations = outer
}

// value reads the value of a member into a Go field.
func (p *parser) value(f *object.Field, name string, x jsonwire.Value, to any) {
	switch to := to.(type) {
	case *string:
		*to = p.string(f, name, x)
	case *content.Role:
		*to = content.Role(p.text(x, name))
	case *content.Signature:
		*to = content.Signature{Format: Format, Data: p.text(x, name)}
	case *content.Schema:
		to.JSON = p.freeJSON(f, name, x)
	case *bool:
		if f.Value == citationsSwitch {
			*to = p.citationsSwitch(x, name)
		} else if p.accepts(f, name, x) {
			*to, _ = x.Bool()
		}
	case **bool:
		if p.accepts(f, name, x) {
			on, _ := x.Bool()
			*to = &on
		}
	case *int64:
		*to, _ = p.integer(f, name, x)
	case **int64:
		if n, ok := p.integer(f, name, x); ok {
			*to = p.integers.New(1)
			**to = n
		}
	case **float64:
		if n, ok := p.number(f, name, x); ok {
			*to = p.numbers.New(1)
			**to = n
		}
	case *[]string:
		*to = p.strings(f, name, x)
	case *[]content.Turn:
		*to = p.messages(x, name)
	case *[]content.Part:
		*to = p.content(f, name, x)
	case *content.Source:
		*to = p.source(x, f.Value == imageSource)
	case *[]content.Citation:
		*to = p.citationList(x, name)
	case *[]content.Tool:
		*to = p.tools(x, name)
	case **content.Cache:
		if p.object(x, name) {
			*to = p.caches.New(p.size)
			p.path.Push(name)
			p.members(x, cacheType, *to)
			p.path.Pop()
		}
	case **ToolChoice:
		p.settings(f, name, x, to)
		if c := *to; c != nil && c.Type == "tool" && !x.Get("name").Exists() {
			p.violation(content.CodeMissing, name+".tool.name", textRequired)
		}
	default:
		p.settings(f, name, x, to)
	}
}

// settings reads an optional object into a struct, to whose pointer to points.
func (p *parser) settings(f *object.Field, name string, x jsonwire.Value, to any) {
	if !p.object(x, name) {
		return
	}
	t := f.Value.Object
	s := t.Create()
	p.path.Push(name)
	depth := p.path.Depth()
	if i := t.Find("type"); i >= 0 {
		tag, _ := p.tag(x)
		*t.Fields[i].At(s).(*string) = tag
		if f.Value.Tagged && tag != "" {
			p.path.Push(codec.Clip(tag))
		}
	}
	p.members(x, t, s)
	p.path.Truncate(depth - 1)
	t.Set(to, s)
}

// kept checks a member that is kept as JSON text. Only requests are checked.
func (p *parser) kept(f *object.Field, name string, x jsonwire.Value) {
	switch {
	case f.Value == nil, f.Const != "" && x.Is(f.Const):
	case f.Const != "" || p.origin != nil && f.Keeps(x):
		p.check(func(c *object.Checker) { c.Member(f, name, x) })
	}
}

// messages reads the turns.
func (p *parser) messages(v jsonwire.Value, name string) []content.Turn {
	if v.Kind() != jsonwire.Array {
		p.violation(content.CodeType, name, textList)
		return nil
	}
	n := v.Len()
	if n > maxMessages {
		p.violation(content.CodeLimit, name, textItems(maxMessages, n))
		n = maxMessages
	}
	if n == 0 {
		return nil
	}
	p.expect(n)
	turns := p.turns.List(n, 1)[:n]
	p.path.Push(name)
	for i, x := range v.Elems() {
		if i == n || p.quota.Exceeded() {
			break
		}
		p.path.PushIndex(i)
		if x.Kind() == jsonwire.Object {
			p.members(x, messageType, &turns[i])
		} else {
			p.violation(content.CodeType, "", textObject)
		}
		p.path.Pop()
	}
	p.path.Pop()
	return turns
}

// maxMessages is the maximum number of messages in a request.
const maxMessages = 100_000

// expect sizes the chunks for a list of n messages or tools.
func (p *parser) expect(n int) { p.size = max(p.size, min(n/4, codec.LargestChunk/4)) }

// accepts reports whether a member has a value. It reports a violation for a kind of value that
// the member does not accept.
func (p *parser) accepts(f *object.Field, name string, x jsonwire.Value) bool {
	number := x.Kind() == jsonwire.Number && f.Value.Accepts(object.Number)
	if !number && !f.Value.Accepts(object.KindOf(x)) {
		p.violation(content.CodeType, name, textKinds(f.Value.Kinds))
		return false
	}
	return x.Kind() != jsonwire.Null
}

// strings reads a list of strings.
func (p *parser) strings(f *object.Field, name string, v jsonwire.Value) []string {
	if !p.accepts(f, name, v) {
		return nil
	}
	if v.Len() == 0 { // the empty field means that the member is absent
		p.kept(f, name, v)
		return nil
	}
	list := make([]string, v.Len())
	p.path.Push(name)
	for i, x := range v.Elems() {
		if x.Kind() == jsonwire.String {
			list[i] = x.Str()
			continue
		}
		p.path.PushIndex(i)
		p.violation(content.CodeType, "", textString)
		p.path.Pop()
	}
	p.path.Pop()
	return list
}

// maxPartDepth limits the nesting of parts. The format has three levels. Deeper
// parts are kept as Unknown.
const maxPartDepth = 16

// content reads a list of blocks, or a string, which becomes one text. An empty
// string becomes no parts, as an empty list does.
func (p *parser) content(f *object.Field, name string, v jsonwire.Value) []content.Part {
	switch k := object.KindOf(v); {
	case !f.Value.Accepts(k):
		p.violation(content.CodeType, name, textList)
	case k == object.Text:
		if v.Is("") || !p.quota.Parts(1) {
			return nil
		}
		t := p.texts.New(p.size)
		t.Text = v.Str()
		return append(p.lists.List(1, p.size), t)
	case v.Len() > 0:
		p.path.Push(name)
		list := p.parts(v, f.Value.Elem == taggedBlock)
		p.path.Pop()
		return list
	}
	return nil
}

// parts reads a list of blocks. Paths include the tags of blocks if tagged is set.
func (p *parser) parts(v jsonwire.Value, tagged bool) []content.Part {
	if !p.quota.Parts(v.Len()) {
		return nil
	}
	list := p.lists.List(v.Len(), p.size)
	p.depth++
	for i, x := range v.Elems() {
		p.path.PushIndex(i)
		list = append(list, p.block(x, tagged))
		p.path.Pop()
	}
	p.depth--
	return list
}

// block reads one block. It never returns nil: for a value that is not a block it
// returns an Unknown without a Kind.
func (p *parser) block(v jsonwire.Value, tagged bool) content.Part {
	kind, ok := p.tag(v)
	switch {
	case !ok && p.violations.Len() > content.MaxViolations:
		// Many invalid values must not need much memory.
		if p.invalidPart == nil {
			p.invalidPart = p.unknown(v, "")
		}
		return p.invalidPart
	case !ok || p.depth > maxPartDepth:
		return p.unknown(v, kind)
	}
	if tagged {
		p.path.Push(codec.Clip(kind))
		defer p.path.Pop()
	}
	f := blockFormOf(kind)
	switch {
	case f == nil:
		return p.unknown(v, kind)
	case !f.of.HasStruct():
		if p.origin != nil {
			p.check(func(c *object.Checker) { c.Members(v, f.of) })
		}
		return p.unknown(v, kind)
	}
	return p.typedBlock(v, f)
}

// typedBlock reads a block that has a Go type.
func (p *parser) typedBlock(v jsonwire.Value, f *blockForm) content.Part {
	switch f.of {
	case textType:
		t := p.texts.New(p.size)
		if p.members(v, f.of, t); t.Text == "" {
			p.markUnread(t, v.Get("text"))
		}
		return t
	case toolUseType:
		t := p.toolUses.New(p.size)
		p.members(v, f.of, t)
		p.countState(t.ID)
		return t
	case toolResultType:
		t := p.toolResults.New(p.size)
		p.members(v, f.of, t)
		return t
	case thinkingBlockType:
		// Some clients return thinking without the signature; then the Signature has no
		// Format.
		t := p.thinkingBlocks.New(p.size)
		if p.members(v, f.of, t); t.Signature.Format != "" && t.Signature.Data == "" {
			p.markUnread(t, v.Get("signature"))
		}
		return t
	case redactedType:
		t := p.thinkingBlocks.New(p.size)
		t.Redacted.Format = Format
		p.members(v, f.of, t)
		return t
	case imageType:
		t := p.images.New(1)
		p.members(v, f.of, t)
		return t
	case serverToolUseType, mcpToolUseType:
		t := &content.ServerToolUse{Format: Format, Kind: f.tag}
		p.members(v, f.of, t)
		return t
	case serverToolResultType, mcpToolResultType:
		t := &content.ServerToolResult{Format: Format, Kind: f.tag}
		p.members(v, f.of, t)
		return t
	}
	t := f.of.Create()
	p.members(v, f.of, t)
	return t.(content.Part)
}

// countState counts the state of another vendor that the id of a tool call carries.
// Thinking blocks carry state without a copy, and each no more than one part.
func (p *parser) countState(id string) {
	if p.origin == nil || p.quota.Exceeded() || !envelope.IsReservedID(id) {
		return
	}
	_, e, _ := envelope.DecodeID(id)
	p.quota.State(e.States(p.quota.PartsLeft()), len(id))
}

// unknown returns a block as an Unknown.
func (p *parser) unknown(v jsonwire.Value, kind string) content.Part {
	u := p.unknowns.New(1)
	u.Format, u.Kind, u.Raw = Format, kind, v.Raw()
	return u
}

// tag reads the "type" of a member of a union. It may be at any position in the
// object, since some clients write it last.
func (p *parser) tag(v jsonwire.Value) (string, bool) {
	if v.Kind() != jsonwire.Object {
		p.violation(content.CodeType, "", textObject)
		return "", false
	}
	t := v.Get("type")
	switch {
	case !t.Exists():
		p.violation(content.CodeMissing, "type", textRequired)
	case t.Kind() != jsonwire.String:
		p.violation(content.CodeType, "type", textString)
	case t.Is(""):
		p.violation(content.CodeValue, "type", textNotEmpty)
	default:
		return t.Str(), true
	}
	return "", false
}

// markUnread marks a part if v, the value of one of its fields, is not a string. It
// marks at most [content.MaxViolations] parts.
func (p *parser) markUnread(part content.Part, v jsonwire.Value) {
	if o := p.origin; o != nil && v.Kind() != jsonwire.String && len(o.unread) < content.MaxViolations {
		o.unread = append(o.unread, part)
	}
}

// citationList reads the citations of a text.
func (p *parser) citationList(v jsonwire.Value, name string) []content.Citation {
	if !p.list(v, name) || !p.quota.Parts(v.Len()) {
		return nil
	}
	list := make([]content.Citation, v.Len())
	p.path.Push(name)
	for i, x := range v.Elems() {
		p.path.PushIndex(i)
		p.citation(&list[i], x)
		p.path.Pop()
	}
	p.path.Pop()
	return list
}

// citation reads one citation. If its type is unknown, Extra holds all its members,
// including "type", and Kind is empty.
func (p *parser) citation(c *content.Citation, v jsonwire.Value) {
	kind, ok := p.tag(v)
	if !ok {
		return
	}
	f := citationFormOf(kind, "")
	if f == nil {
		c.Extra = p.extras.New(Format, v.Raw())
		return
	}
	c.Kind = f.kind
	p.path.Push(f.tag)
	p.members(v, f.of, c)
	p.path.Pop()
}

// citationsSwitch reads {"enabled": …}. If the object has unknown members, it keeps the
// object for the Extra of the block.
func (p *parser) citationsSwitch(v jsonwire.Value, name string) (on bool) {
	if !p.object(v, name) {
		return false
	}
	p.path.Push(name)
	for name, x := range v.Members() {
		if name == "enabled" {
			on = p.flag(x, name)
		} else {
			p.citations = v
			p.Unknown(citationsSwitch.Object, name)
		}
	}
	p.path.Pop()
	return on
}

// source reads the source of an image or a document. It returns nil if the source is
// invalid.
func (p *parser) source(v jsonwire.Value, image bool) content.Source {
	p.path.Push("source")
	defer p.path.Pop()
	kind, ok := p.tag(v)
	if !ok {
		return nil
	}
	t := typeOfTag(sourceTypes, kind)
	if t == nil || image && typeOfTag(sourceTypes[:imageSourceTypes], kind) == nil {
		p.violation(content.CodeValue, "", quoteTag(kind, sourceTags(image)))
		if t == nil {
			return nil
		}
	}
	p.path.Push(kind)
	defer p.path.Pop()
	var s content.Source
	switch t {
	case base64Type:
		b := p.base64s.New(1)
		p.members(v, t, b)
		p.keepBase64(v.Get("data"), b.Data)
		if b.MediaType == plainType {
			p.quota.Bytes(len(b.Data)) // it becomes a text
		}
		return b
	case urlType:
		s = &content.URL{}
	case fileType:
		s = &content.File{}
	case plainTextType:
		s = &content.PlainText{}
	default:
		s = &content.Parts{}
	}
	p.members(v, t, s)
	return s
}

// tools reads the list of tools.
func (p *parser) tools(v jsonwire.Value, name string) []content.Tool {
	if !p.list(v, name) {
		return nil
	}
	n := v.Len()
	if !p.quota.Tools(n) {
		return nil
	}
	p.expect(n)
	tools := make([]content.Tool, n)
	p.path.Push(name)
	for i, x := range v.Elems() {
		p.path.PushIndex(i)
		p.tool(&tools[i], x)
		p.path.Pop()
	}
	p.path.Pop()
	return tools
}

// tool reads a custom tool, or keeps a tool of the vendor as JSON text.
func (p *parser) tool(t *content.Tool, v jsonwire.Value) {
	if v.Kind() != jsonwire.Object {
		p.violation(content.CodeType, "", textObject)
		return
	}
	kind := v.Get("type")
	switch {
	case !kind.Exists(), kind.Is("custom"):
	case kind.Kind() == jsonwire.Null:
	case kind.Kind() != jsonwire.String:
		p.violation(content.CodeType, "type", textString)
		return
	case kind.Is(""):
		p.violation(content.CodeValue, "type", textNotEmpty)
		return
	default:
		p.builtinTool(t, v, kind.Str())
		return
	}
	p.path.Push("custom")
	p.members(v, customToolType, t)
	p.path.Pop()
}

// builtinTool keeps a tool that the vendor runs or defines as JSON text.
func (p *parser) builtinTool(t *content.Tool, v jsonwire.Value, kind string) {
	t.Kind, t.Format, t.Raw = kind, Format, v.Raw()
	p.path.Push(codec.Clip(kind))
	if name := v.Get("name"); name.Kind() == jsonwire.String {
		t.Name = name.Str()
	}
	of := typeOfTag(builtins, kind)
	if of == nil {
		of = otherToolType
	}
	p.check(func(c *object.Checker) { c.Members(v, of) })
	p.path.Pop()
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

// text reads a string.
func (p *parser) text(v jsonwire.Value, name string) string {
	if v.Kind() != jsonwire.String {
		p.violation(content.CodeType, name, textString)
		return ""
	}
	return v.Str()
}

// string reads a text, or the JSON text of another value.
func (p *parser) string(f *object.Field, name string, x jsonwire.Value) string {
	v := f.Value
	switch {
	case v.Kinds == object.Any:
		return x.Raw()
	case v.Kinds&object.Text == 0:
		return p.freeJSON(f, name, x)
	case v.Kinds&object.Null != 0 && x.Kind() == jsonwire.Null:
		return ""
	case x.Kind() != jsonwire.String:
		p.violation(content.CodeType, name, textKind(v))
		return ""
	case v.Enum == nil && v.Min == 0, !x.Is(""):
		return x.Str()
	}
	// The empty field means that the member is absent.
	if v.Enum != nil {
		p.violation(content.CodeValue, name, textOneOf(v.Enum.Values))
	} else {
		p.violation(content.CodeRange, name, textNotEmpty)
	}
	return ""
}

// flag reads a boolean that may be null.
func (p *parser) flag(v jsonwire.Value, name string) bool {
	switch v.Kind() {
	case jsonwire.True:
		return true
	case jsonwire.False:
	case jsonwire.Null:
	default:
		p.violation(content.CodeType, name, textBoolean)
	}
	return false
}

// integer reads an integer.
func (p *parser) integer(f *object.Field, name string, x jsonwire.Value) (n int64, ok bool) {
	if n, ok = x.Int(); ok {
		return n, true
	}
	p.accepts(f, name, x)
	return 0, false
}

// number reads a number.
func (p *parser) number(f *object.Field, name string, x jsonwire.Value) (n float64, ok bool) {
	if !p.accepts(f, name, x) {
		return 0, false
	}
	if n, ok = x.Float(); !ok {
		p.violation(content.CodeRange, name, textFinite)
	}
	return n, ok
}

// freeJSON returns the text of an object of free JSON.
func (p *parser) freeJSON(f *object.Field, name string, v jsonwire.Value) string {
	if f.Value.Schema && !p.quota.Schema(v.Size()) {
		return ""
	}
	if v.Kind() != jsonwire.Object {
		p.violation(content.CodeType, name, textNotObject)
		return ""
	}
	return v.Raw()
}

// object reports whether an optional member is an object. Values other than an
// object and null are violations.
func (p *parser) object(v jsonwire.Value, name string) bool {
	switch v.Kind() {
	case jsonwire.Object:
		return true
	case jsonwire.Null:
	default:
		p.violation(content.CodeType, name, textObject)
	}
	return false
}

// list reports whether an optional member is a list that is not empty. Values other
// than a list and null are violations.
func (p *parser) list(v jsonwire.Value, name string) bool {
	switch v.Kind() {
	case jsonwire.Array:
		return v.Len() > 0
	case jsonwire.Null:
	default:
		p.violation(content.CodeType, name, textList)
	}
	return false
}

// quoteTag returns the vendor's error text for an unexpected tag.
func quoteTag(tag, expected string) string {
	return "Input tag '" + codec.Clip(tag) + "' found using 'type' does not match any of the expected tags: " + expected
}

// extra returns the members of v that are kept as JSON text, in their order and with the
// bytes of their values, or nil. In requests it drops those that have their default value.
func (p *parser) extra(v jsonwire.Value, t *object.Type) *content.Extra {
	if !p.quota.Members(v.Len()) {
		return nil
	}
	b := p.extras.Begin()
	var long strings.Builder
	if p.citations.Exists() { // first, because the encoder writes it before the rest
		b = append(codec.AppendName(b, "citations"), '{')
		for name, x := range p.citations.Members() {
			if citationsSwitch.Object.Find(name) < 0 {
				b = codec.AppendMember(b, name, x.Raw())
			}
		}
		b = append(b, '}')
	}
	for name, x := range v.Members() {
		// Responses always have a caller, and the encoder of responses writes it.
		if i := t.Find(name); i < 0 || t.Fields[i].Kept() && (t.Fields[i].Keeps(x) || p.origin == nil && name != "caller") {
			b = codec.AppendMember(b, name, x.Raw())
		}
		if len(b) > maxSharedExtra {
			if long.Len() == 0 {
				long.Grow(maxExtraLen(v))
			}
			// AppendMember needs the last byte to decide about a comma.
			last := len(b) - 1
			long.Write(b[:last])
			b = append(b[:0], b[last])
		}
	}
	if long.Len() > 0 {
		long.Write(append(b, '}'))
		return p.extras.New(Format, long.String())
	}
	if json := p.extras.End(b); json != "" {
		return p.extras.New(Format, json)
	}
	return nil
}

// maxSharedExtra is the maximum length of an Extra that shares a memory chunk.
const maxSharedExtra = 8 << 10

// maxExtraLen returns the maximum length of the Extra of v without its long values,
// most of which are in fields.
func maxExtraLen(v jsonwire.Value) int {
	n := v.End() - v.Offset()
	for _, x := range v.Members() {
		if size := x.End() - x.Offset(); size > maxSharedExtra {
			n -= size
		}
	}
	return n
}

// syntaxError returns the violation for a body that is not valid JSON.
func syntaxError(err error) *content.Violation {
	const head = "The request body is not valid JSON: "
	e, ok := err.(*jsonwire.SyntaxError)
	if !ok {
		return &content.Violation{Code: content.CodeSyntax, Text: head + err.Error()}
	}
	code := content.CodeSyntax
	switch e.Reason {
	case jsonwire.TooDeep, jsonwire.TooManyValues, jsonwire.TooLong:
		code = content.CodeLimit
	}
	return &content.Violation{Code: code, Text: head + e.Text +
		" at line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Column)}
}
