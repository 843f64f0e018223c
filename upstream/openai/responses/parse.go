package responses

import (
	"cmp"
	"strings"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/openaiformat"
)

// ParseRequest parses a request document. The strings of the request share
// the memory of a body that is a string; bytes are copied first.
//
// A document that is not valid JSON by RFC 8259, is not UTF-8, repeats a member name in an object,
// is nested deeper than 256 or has more than a million values is refused: the request is nil and
// the error is a [*content.Violation] with line and column. The same holds for a document that
// exceeds the default limits of the handler.
//
// Other documents are read to the end. The error then lists every violation
// ([content.Violations]) in the order in which it was found, and the request holds everything
// that could be read. [Request.Validate] reports these violations again, before its own.
//
// ParseRequest reports values that a [Request] cannot hold: values of the wrong type, numbers
// that are not finite, or not integers where integers are required, parts that do not belong
// in their message, and missing members that are required. It also reports names that equal
// a known name if case, or everything after a NUL, is ignored. Validate checks all other rules.
//
// Items, parts and tools of unknown types are kept as JSON text. An item without a "type" is a
// message if it has a role, and an item_reference if it only has an id.
func ParseRequest[T ~string | ~[]byte](body T) (*Request, error) {
	return parseRequest(string(body), content.Limits{})
}

// parseRequest is ParseRequest with limits: the depth, values, parts, tools and schemas of lim.
func parseRequest(body string, lim content.Limits) (*Request, error) {
	p := newParser()
	defer p.close()
	w := &parsedRequest{}
	r, o := &w.request, &w.origin
	root, err := p.Begin(body, &lim, &o.Origin)
	if err != nil {
		return nil, openaiformat.SyntaxError(err)
	}
	r.origin, p.origin, p.IsReplaced, p.Strict, p.depth = o, o, isReplaced, &o.Unknown, lim.Depth
	p.items.Seed(w.items[:])
	p.texts.Seed(w.texts[:])
	p.lists.Seed(w.parts[:])
	p.Seed(w.flags[:], w.integers[:], w.numbers[:])
	if root.Kind() != jsonwire.Object {
		p.Violation(content.CodeType, "", "The request body must be a JSON object.")
	} else {
		p.Root = r
		p.Read(root, requestType, r)
		p.placeTools(r)
	}
	if err := p.Quota.Err(); err != nil {
		return nil, err
	}
	return r, o.Finish(&p.Quota, &p.Violations, codec.Bracketed)
}

// A parsedRequest allocates a request together with everything that it needs once.
type parsedRequest struct {
	request Request
	origin  origin

	// These are enough for a request with one message.
	flags    [2]bool
	integers [1]int64
	numbers  [2]float64
	items    [1]Item
	texts    [1]content.Text
	parts    [1]content.Part
}

// A parser reads a Request from a document that is valid JSON, by the tables of objects. It
// continues after a violation: it leaves the field zero, or replaces the part by an Unknown, which
// keeps the indices of the other parts.
type parser struct {
	openaiformat.Reporter
	object.Reader
	origin *origin

	item      int    // index of the item that is read
	where     places // where its parts are
	fileName  string // of the file that is read
	hasSpaces bool   // the request has namespaces

	depth     int          // limit of the nesting of arguments
	arguments jsonwire.Doc // of the tool call that is read

	places     []toolPlace // of the tools of the request
	itemPlaces []toolPlace // of those of items

	// These are filled for each item. They are here because their addresses are passed on.
	thinkingItem callItem[*content.Thinking]
	callItem     callItem[*content.ToolUse]
	resultItem   callItem[*content.ToolResult]

	items          codec.Chunk[Item]
	texts          codec.Chunk[content.Text]
	toolUses       codec.Chunk[content.ToolUse]
	toolResults    codec.Chunk[content.ToolResult]
	thinkingBlocks codec.Chunk[content.Thinking]
	images         codec.Chunk[content.Image]
	caches         codec.Chunk[content.Cache]
	lists          codec.Chunk[content.Part]
}

// parsers has parsers that are not used, because one on the stack could not be an
// [object.Format].
var parsers = sync.Pool{New: func() any { return new(parser) }}

// newParser returns a parser, which the caller must close.
func newParser() *parser {
	p := parsers.Get().(*parser)
	p.Size, p.Format, p.Name = 1, p, Format
	p.Path.Style = codec.Bracketed
	p.Check = object.Checker{Path: &p.Path, Report: &p.Reporter}
	return p
}

func (p *parser) close() {
	p.Close()
	*p = parser{}
	parsers.Put(p)
}

// Value implements [object.Format].
func (p *parser) Value(f *object.Field, name string, x jsonwire.Value, to any) {
	switch to := to.(type) {
	case *content.Signature:
		if s := p.Text(f, name, x); s != "" {
			*to = content.Signature{Format: Format, Data: s}
		}
	case *content.Schema:
		if x.Kind() != jsonwire.Null {
			to.JSON = p.JSON(f, name, x)
		}
	case *[]Item:
		*to = p.input(f, name, x)
	case *[]content.Part:
		*to = p.content(f, name, x)
	case *content.Source:
		p.source(f, name, x, to)
	case *[]content.Citation:
		*to = p.citations(f, name, x)
	case *[]content.Tool:
		*to = p.tools(f, name, x)
	case *[]ToolRef:
		*to = p.toolRefs(f, name, x)
	case **content.Cache:
		if p.Enter(f, name, x) {
			*to = p.caches.New(1)
			p.Read(x, breakpointType, *to)
			p.Path.Pop()
		}
	case **content.Grammar:
		*to = p.grammar(f, name, x)
	case **ToolChoice:
		p.toolChoice(f, name, x, to)
	default:
		p.Object(f, name, x, to)
	}
}

// maxInput is the maximum length of an input that is a string, in characters.
const maxInput = 10 << 20

// input reads the items. A string is one message of the user.
func (p *parser) input(f *object.Field, name string, v jsonwire.Value) []Item {
	switch k := object.KindOf(v); {
	case !f.Value.Accepts(k):
		p.WrongType(name, "one of a string or array of items", v)
		return nil
	case k == object.Text:
		p.origin.isText = true
		if n := len(v.Str()); n > maxInput {
			p.LongText(name, maxInput, int64(n))
		}
		return append(p.items.List(1, 1), Item{Type: typeMessage, Role: roleUser, Parts: p.text(v)})
	}
	n := v.Len()
	if !p.Quota.Turns(n) {
		return nil
	}
	p.Expect(n)
	items := p.items.List(n, n)[:n]
	p.Each(f, v, func(i int, x jsonwire.Value) {
		if !p.Quota.Exceeded() {
			p.item = i
			p.readItem(&items[i], x)
		}
	})
	return items
}

// text returns the parts that a string represents: one text, or none if it is empty.
func (p *parser) text(v jsonwire.Value) []content.Part {
	if v.Is("") || !p.Quota.Parts(1) {
		return nil
	}
	t := p.texts.New(p.Size)
	t.Text = v.Str()
	return p.one(t)
}

// one returns a list of one part.
func (p *parser) one(part content.Part) []content.Part {
	return append(p.lists.List(1, p.Size), part)
}

// itemType returns the type of an item. ok is false if it has none.
func (p *parser) itemType(v jsonwire.Value) (kind string, ok bool) {
	if v.Kind() != jsonwire.Object {
		p.WrongType("", "an input item", v)
		return "", false
	}
	switch t := v.Get("type"); {
	case t.Kind() == jsonwire.String && !t.Is(""):
		return t.Str(), true
	case t.Exists() && t.Kind() != jsonwire.Null:
		p.Tag(nil, t)
		return "", false
	case v.Get("role").Exists(), v.Get("content").Exists():
		return typeMessage, true
	case v.Get("id").Exists() && v.Len() <= 2:
		return typeReference, true
	default:
		p.MissingMember("type")
		return "", false
	}
}

// readItem reads an item.
func (p *parser) readItem(i *Item, v jsonwire.Value) {
	kind, ok := p.itemType(v)
	if !ok {
		return
	}
	switch i.Type = kind; kind {
	case typeMessage:
		p.where = placeOf(v.Get("role"))
		p.Read(v, messageType, i)
	case typeReference:
		p.Read(v, referenceType, i)
	case typeAdditionalTools:
		p.Read(v, additionalToolsType, i)
	case typeReasoning:
		p.reasoning(i, v)
	case typeFunctionCall, typeCustomCall:
		if !p.Quota.Parts(1) {
			return
		}
		t := p.toolUses.New(p.Size)
		p.callItem = callItem[*content.ToolUse]{i, t}
		if kind == typeFunctionCall {
			p.Read(v, functionCallType, &p.callItem)
			openaiformat.SetInput(&p.Reader, &p.arguments, p.depth, t)
		} else {
			t.Freeform = true
			p.Read(v, customCallType, &p.callItem)
		}
		envelope.CountID(&p.Quota, t.ID)
		i.Parts = p.one(t)
	case typeFunctionOutput, typeCustomOutput:
		if !p.Quota.Parts(1) {
			return
		}
		t := p.toolResults.New(p.Size)
		p.resultItem, p.where = callItem[*content.ToolResult]{i, t}, inOutput
		p.Read(v, outputType, &p.resultItem)
		i.Parts = p.one(t)
	case typeSearchCall, typeSearchOutput:
		if v.Get("execution").Is("client") && v.Get("call_id").Str() != "" {
			p.search(i, v)
			break
		}
		p.hosted(i, v)
	default:
		p.hosted(i, v)
	}
}

// search reads an item of a search for tools that the client runs.
func (p *parser) search(i *Item, v jsonwire.Value) {
	if !p.Quota.Parts(2) {
		return
	}
	if i.Type == typeSearchCall {
		t := p.toolUses.New(p.Size)
		t.Name = ToolSearch
		p.callItem = callItem[*content.ToolUse]{i, t}
		p.Read(v, searchCallType, &p.callItem)
		if x := v.Get("arguments"); codec.IsSet(x) {
			t.Input = x.Raw()
		}
		envelope.CountID(&p.Quota, t.ID)
		i.Parts = p.one(t)
		return
	}
	t := p.toolResults.New(p.Size)
	p.resultItem = callItem[*content.ToolResult]{i, t}
	p.Read(v, searchOutputType, &p.resultItem)
	t.Parts = p.one(p.Other(i.Type, v))
	i.Parts = p.one(t)
}

// searchOutput returns the item of the output of a search for tools that the client has run, which is
// the only part of its result. parts are those of the [Item] or of a turn.
func searchOutput(parts []content.Part) (u *content.Unknown, ok bool) {
	if len(parts) != 1 {
		return nil, false
	}
	if r, ok := parts[0].(*content.ToolResult); ok && r != nil {
		return searchOutput(r.Parts)
	}
	u, ok = parts[0].(*content.Unknown)
	return u, ok && u != nil && u.Format == Format && u.Kind == typeSearchOutput
}

// placeOf returns the place of the parts of a message.
func placeOf(role jsonwire.Value) places {
	switch {
	case role.Is(roleAssistant):
		return inAssistant
	case role.Is(roleSystem), role.Is(roleDeveloper):
		return inSystem
	case role.Is(roleUser):
		return inUser
	}
	return inUser | inAssistant | inSystem // the role is reported
}

// hosted keeps an item of another type as JSON text.
func (p *parser) hosted(i *Item, v jsonwire.Value) {
	if !p.Quota.Parts(1) {
		return
	}
	for name, x := range v.Members() {
		switch f := hostedItemType.Find(name); {
		case f == nil:
			if known := hostedItemType.Similar(name); known != "" {
				p.Reporter.Unknown(hostedItemType, name)
			}
		case f.IsTag:
		case x.Kind() == jsonwire.String && name == "id":
			i.ID = x.Str()
		case x.Kind() == jsonwire.String:
			i.Status = x.Str()
		default:
			p.Check.Member(f, name, x)
		}
	}
	if !hostedItems[i.Type] {
		p.AddStrict(content.CodeUnknown, "type", func() string { return openaiformat.TextOneOf(i.Type, nil) })
	}
	if i.Type == typeCompaction {
		state := v.Get("encrypted_content")
		p.Quota.Bytes(state.End() - state.Offset())
	}
	i.Parts = p.one(p.Other(i.Type, v))
}

// reasoning reads an item of reasoning. The signature of the thinking is the envelope of another
// vendor's state, or the item itself.
func (p *parser) reasoning(i *Item, v jsonwire.Value) {
	if !p.Quota.Parts(1) {
		return
	}
	t := p.thinkingBlocks.New(p.Size)
	p.thinkingItem = callItem[*content.Thinking]{i, t}
	p.Read(v, reasoningItemType, &p.thinkingItem)
	summary := p.reasoningText(v, "summary")
	if t.Text = summary; summary == "" {
		t.Text = p.reasoningText(v, "content")
	} else {
		p.reasoningText(v, "content")
	}
	i.Parts = p.one(t)
	if envelope.IsEnvelope(t.Signature.Data) {
		p.Quota.Bytes(len(t.Signature.Data))
		return
	}
	switch state := (content.Signature{Format: Format, Data: stateItem(v)}); {
	case state.Data == "":
		t.Signature = content.Signature{}
	case t.Text == "":
		t.Signature, t.Redacted = content.Signature{}, state
	default:
		t.Signature = state
	}
}

// reasoningText returns the texts of a list in an item of reasoning, with a blank line between.
func (p *parser) reasoningText(v jsonwire.Value, name string) string {
	list := v.Get(name)
	if list.Kind() != jsonwire.Array {
		if list.Exists() && list.Kind() != jsonwire.Null {
			p.WrongType(name, "an array of objects", list)
		}
		return ""
	}
	n := list.Len()
	if n == 0 || !p.Quota.Parts(n) {
		return ""
	}
	all := make([]string, 0, 4)
	p.Path.Push(name)
	for i, x := range list.Elems() {
		p.Path.PushIndex(i)
		switch t := x.Get("text"); {
		case x.Kind() != jsonwire.Object:
			p.WrongType("", "an object", x)
		case !t.Exists():
			p.MissingMember("text")
		case t.Kind() != jsonwire.String:
			p.WrongType("text", "a string", t)
		case !t.Is(""):
			all = append(all, t.Str())
		}
		p.Path.Pop()
	}
	p.Path.Pop()
	if len(all) == 1 {
		return all[0]
	}
	text := strings.Join(all, "\n\n")
	p.Quota.Bytes(len(text))
	return text
}

// content reads the content of a message or the output of a call.
func (p *parser) content(f *object.Field, name string, v jsonwire.Value) []content.Part {
	switch k := object.KindOf(v); {
	case !f.Value.Accepts(k):
		p.WrongType(name, "one of a string or array of objects", v)
	case k == object.Text:
		p.origin.textItems = append(p.origin.textItems, p.item)
		return p.text(v)
	case v.Len() > 0 && p.Quota.Parts(v.Len()):
		list := p.lists.List(v.Len(), p.Size)
		p.Path.Push(name)
		for i, x := range v.Elems() {
			p.Path.PushIndex(i)
			list = append(list, p.part(x))
			p.Path.Pop()
		}
		p.Path.Pop()
		return list
	}
	return nil
}

// part reads one part. It never returns nil: for a value that is not a part it returns an Unknown
// without a Kind.
func (p *parser) part(v jsonwire.Value) content.Part {
	kind, ok := p.ReadTag(v)
	if !ok {
		return p.BadPart(v, p.IsOver())
	}
	f := partFormOf(kind)
	switch {
	case f == nil && isOtherForm(kind), f != nil && f.where&p.where == 0:
		p.NotOneOf(content.CodeValue, "", kind, tagsIn(p.where))
		return p.Other("", v)
	case f == nil:
		p.AddStrict(content.CodeUnknown, "", func() string { return openaiformat.TextOneOf(kind, tagsIn(p.where)) })
		return p.Other(kind, v)
	}
	switch f.of {
	case imageType:
		t := p.images.New(1)
		if p.Read(v, f.of, t); t.Source == nil {
			p.noFile(v, "image_url", "file_id")
		}
		return t
	case fileType:
		t := &content.Document{}
		p.fileName = v.Get("filename").Str()
		if p.Read(v, f.of, t); t.Source == nil {
			p.noFile(v, "file_data", "file_url", "file_id")
		}
		return t
	case audioType:
		t := &content.Media{}
		p.Read(v, f.of, t)
		return t
	}
	t := p.texts.New(p.Size)
	t.Refusal = f.of == refusalType
	p.Read(v, f.of, t)
	return t
}

// isOtherForm reports whether a part is one of the vendor's other format.
func isOtherForm(kind string) bool {
	for _, s := range otherForms {
		if s == kind {
			return true
		}
	}
	return false
}

// noFile reports a part without a file, unless a member that has one is reported.
func (p *parser) noFile(v jsonwire.Value, names ...string) {
	for _, name := range names {
		if k := v.Get(name).Kind(); k != jsonwire.None && k != jsonwire.Null {
			return
		}
	}
	p.MissingMember(names[0])
}

// source reads the source of a file from one of the members that may have it.
func (p *parser) source(f *object.Field, name string, x jsonwire.Value, to *content.Source) {
	if name == "input_audio" {
		if p.Enter(f, name, x) {
			p.Check.Members(x, audioDataType)
			if data := x.Get("data").Str(); data != "" {
				*to = openaiformat.ParseAudio(data, x.Get("format").Str())
			}
			p.Path.Pop()
		}
		return
	}
	s := p.Text(f, name, x)
	switch {
	case x.Is(""):
		p.Empty(name)
		return
	case s == "":
		return
	case *to != nil:
		p.ViolationAs(content.CodeConflict, vendorExclusive, name,
			"Mutually exclusive parameters: a file has only one of 'image_url', 'file_data', 'file_url' and 'file_id'.")
		return
	}
	switch name {
	case "file_id":
		*to = &content.File{ID: s}
	case "file_url":
		*to = &content.URL{URL: s}
	case "file_data":
		*to = openaiformat.ParseFileData(s, p.fileName)
	default:
		*to = openaiformat.ParseURL(s)
	}
}

// citations reads the citations of a text.
func (p *parser) citations(f *object.Field, name string, v jsonwire.Value) []content.Citation {
	n := p.Len(f, name, v)
	if n == 0 || !p.Quota.Parts(n) {
		return nil
	}
	list := make([]content.Citation, n)
	p.Each(f, v, func(i int, x jsonwire.Value) {
		if _, ok := p.ReadTag(x); ok {
			list[i] = p.citation(x)
		}
	})
	return list
}

// citation reads one citation. If it is not one of the web, Extra holds all its members.
func (p *parser) citation(v jsonwire.Value) content.Citation {
	c := content.Citation{Title: v.Get("title").Str(), URL: v.Get("url").Str(), FileID: v.Get("file_id").Str()}
	if !v.Get("type").Is("url_citation") {
		c.Title = cmp.Or(c.Title, v.Get("filename").Str())
		c.Extra = p.Extras.New(Format, v.Raw())
		return c
	}
	c.Kind = content.CiteWeb
	start, hasStart := v.Get("start_index").Int()
	end, hasEnd := v.Get("end_index").Int()
	if hasStart && hasEnd && 0 <= start && start < end {
		c.Start, c.End = start, end
	}
	return c
}

// tools reads a list of tools. The tools of a namespace become elements of the result.
func (p *parser) tools(f *object.Field, name string, v jsonwire.Value) []content.Tool {
	n := p.Len(f, name, v)
	if n == 0 || !p.Quota.Tools(n) {
		return nil
	}
	p.Expect(n)
	inItem, places := p.Path.Depth() > 0, &p.places
	place := toolPlace{item: -1, inner: -1}
	if inItem {
		place.item, places = p.item, &p.itemPlaces
	}
	list := make([]content.Tool, 0, n)
	p.Each(f, v, func(i int, x jsonwire.Value) {
		place.outer = i
		kind, ok := p.toolType(x)
		if ok && kind == "namespace" {
			list = p.namespace(list, x, place, places)
			return
		}
		list, *places = append(list, content.Tool{}), append(*places, place)
		if ok {
			p.tool(&list[len(list)-1], x, kind)
		}
	})
	return list
}

// toolType returns the type of a tool. ok is false if it has none.
func (p *parser) toolType(v jsonwire.Value) (kind string, ok bool) {
	if v.Kind() != jsonwire.Object {
		p.WrongType("", "an object", v)
		return "", false
	}
	return p.ReadTag(v)
}

// namespace appends the tools of a namespace to a list.
func (p *parser) namespace(list []content.Tool, v jsonwire.Value, at toolPlace, places *[]toolPlace) []content.Tool {
	p.hasSpaces = true
	p.Check.Members(v, namespaceType)
	name, first := v.Get("name").Str(), len(list)
	inner := v.Get("tools")
	if inner.Kind() != jsonwire.Array || !p.Quota.Tools(inner.Len()) {
		return list
	}
	p.Path.Push("tools")
	for i, x := range inner.Elems() {
		p.Path.PushIndex(i)
		at.inner = i
		t := content.Tool{Namespace: name}
		switch kind, ok := p.toolType(x); {
		case !ok:
		case kind == "namespace":
			p.NotOneOf(content.CodeValue, "type", kind, []string{"function", "custom"})
		default:
			p.tool(&t, x, kind)
		}
		list, *places = append(list, t), append(*places, at)
		p.Path.Pop()
	}
	p.Path.Pop()
	if len(list) > first {
		p.namespaceExtra(&list[first], v)
	}
	return list
}

// namespaceExtra adds the members of a namespace to its first tool.
func (p *parser) namespaceExtra(t *content.Tool, v jsonwire.Value) {
	b := p.Extras.Begin()
	if t.Extra != nil {
		b = append(b[:0], t.Extra.JSON[:len(t.Extra.JSON)-1]...)
	}
	whole := len(b)
	b = append(codec.AppendName(b, "namespace"), '{')
	empty := len(b)
	for name, x := range v.Members() {
		switch name {
		case "type", "name", "tools":
		default:
			if x.Kind() != jsonwire.Null {
				b = codec.AppendMember(b, name, x.Raw())
			}
		}
	}
	if len(b) == empty {
		if b = b[:whole]; t.Extra == nil {
			return
		}
	} else {
		b = append(b, '}')
	}
	t.Extra = p.Extras.New(Format, p.Extras.End(b))
}

// tool reads a function or a custom tool, or keeps a tool of the vendor as JSON text.
func (p *parser) tool(t *content.Tool, v jsonwire.Value, kind string) {
	switch kind {
	case "function":
		p.Read(v, functionType, t)
	case "custom":
		t.Freeform = true
		p.Read(v, customType, t)
	default:
		t.Kind, t.Format, t.Raw = kind, Format, v.Raw()
		t.Name = v.Get("name").Str()
		if !isHostedTool(kind) {
			p.AddStrict(content.CodeUnknown, "type", func() string { return openaiformat.TextOneOf(kind, nil) })
		}
	}
}

// grammar reads the format of a custom tool. It is nil for any text.
func (p *parser) grammar(f *object.Field, name string, v jsonwire.Value) (g *content.Grammar) {
	if !p.Enter(f, name, v) {
		return nil
	}
	defer p.Path.Pop()
	switch kind, ok := p.ReadTag(v); {
	case !ok:
	case kind == "grammar":
		p.Check.Members(v, grammarType)
		g = &content.Grammar{Syntax: v.Get("syntax").Str(), Definition: v.Get("definition").Str()}
		if g.Syntax == "" && !v.Get("syntax").Exists() {
			p.MissingMember("syntax")
		}
		if g.Definition == "" && !v.Get("definition").Exists() {
			p.MissingMember("definition")
		}
	case kind != "text":
		p.NotOneOf(content.CodeValue, "type", kind, []string{"text", "grammar"})
	}
	return g
}

// toolChoice reads the tool choice, a text or an object.
func (p *parser) toolChoice(f *object.Field, name string, x jsonwire.Value, to **ToolChoice) {
	switch x.Kind() {
	case jsonwire.String:
		switch s := x.Str(); s {
		case "auto", "none", "required":
			*to = &ToolChoice{Type: s}
		default:
			p.NotOneOf(content.CodeValue, name, s, []string{"none", "auto", "required"})
		}
	case jsonwire.Object:
		p.Object(f, name, x, to)
	case jsonwire.Null:
	default:
		p.WrongType(name, "one of a string or object", x)
	}
}

// toolRefs reads references to tools.
func (p *parser) toolRefs(f *object.Field, name string, v jsonwire.Value) []ToolRef {
	n := p.Len(f, name, v)
	if n == 0 || !p.Quota.Tools(n) {
		return nil
	}
	list := make([]ToolRef, n)
	p.Each(f, v, func(i int, x jsonwire.Value) {
		if kind, ok := p.ReadTag(x); ok {
			list[i].Type = kind
			p.Read(x, toolRefType, &list[i])
		}
	})
	return list
}

// placeTools records the places of tools if they differ from their indices. Tools that a search has
// found again are not repeated.
func (p *parser) placeTools(r *Request) {
	var known map[foreign.ToolReference]bool
	next := 0 // place of the first tool of an item
	for i := range r.Input {
		item := &r.Input[i]
		if n := len(item.Tools); n == 0 || item.Type != typeSearchOutput {
			next += n
			continue
		}
		if known == nil {
			known = make(map[foreign.ToolReference]bool)
			for k := range r.Tools {
				known[foreign.ToolReference{Namespace: r.Tools[k].Namespace, Name: r.Tools[k].Name}] = true
			}
		}
		list, places := item.Tools[:0], p.itemPlaces[next:next]
		for k, t := range item.Tools {
			if id := (foreign.ToolReference{Namespace: t.Namespace, Name: t.Name}); !known[id] {
				known[id], t.Deferred = true, false
				list, places = append(list, t), append(places, p.itemPlaces[next+k])
			}
		}
		p.itemPlaces = append(p.itemPlaces[:next+len(list)], p.itemPlaces[next+len(item.Tools):]...)
		item.Tools, next = list, next+len(list)
	}
	if p.hasSpaces || len(p.itemPlaces) > 0 {
		p.origin.tools = append(p.places, p.itemPlaces...)
	}
}

// vendorExclusive is the vendor's code for members that exclude each other.
const vendorExclusive = "mutually_exclusive_parameters"
