package chatcompletions

import (
	"strconv"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
	"github.com/polywire/polywire/internal/openaiformat"
)

// ParseRequest parses a request document. The strings of the request share
// the memory of a body that is a string; bytes are copied first.
//
// A document that is not valid JSON by RFC 8259, is not UTF-8, repeats a member name in an
// object, is nested deeper than 256 or has more than a million values is refused: the request is
// nil and the error is a [*content.Violation] with line and column. The same holds for a document
// that exceeds the default Limits of [ValidateOptions].
//
// Other documents are read to the end. The error then lists every violation
// ([content.Violations]) in the order in which it was found, and the request holds everything
// that could be read. [Request.Validate] reports these violations again, before its own.
//
// ParseRequest reports values that a [Request] cannot hold: values of the wrong type, numbers
// that are not finite, or not integers where integers are required, parts without a "type", and
// missing members that are required. It also reports names that equal a known name if case, or
// everything after a NUL, is ignored. Validate checks all other rules.
func ParseRequest[T ~string | ~[]byte](body T) (*Request, error) {
	return parseRequest(string(body), content.Limits{})
}

// parseRequest is ParseRequest with limits: the depth, values, parts, tools and schemas of lim.
func parseRequest(body string, lim content.Limits) (*Request, error) {
	p := parsers.Get().(*parser)
	p.begin(lim.Depth)
	defer p.close()
	w := &parsedRequest{}
	r, o := &w.request, &w.origin
	root, err := p.Begin(body, &lim, &o.Origin)
	if err != nil {
		return nil, openaiformat.SyntaxError(err)
	}
	r.origin, p.origin, p.IsReplaced, p.Strict = o, o, isReplaced, &o.Unknown
	p.texts.Seed(w.texts[:])
	p.lists.Seed(w.parts[:])
	p.turns.Seed(w.turns[:])
	p.place = w.places[:]
	p.Seed(w.flags[:], w.integers[:], w.numbers[:])
	if root.Kind() != jsonwire.Object {
		p.Violation(content.CodeType, "", "The request body must be a JSON object.")
	} else {
		p.request, p.Root = r, r
		p.Read(root, requestType, r)
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
	integers [2]int64
	numbers  [2]float64
	turns    [1]content.Turn
	places   [2]place
	texts    [1]content.Text
	parts    [1]content.Part
}

// A parser reads a Request from a document that is valid JSON, by the tables of objects. It
// continues after a violation: it leaves the field zero, or replaces the part by an Unknown,
// which keeps the indices of the other parts.
type parser struct {
	openaiformat.Reporter
	object.Reader
	request *Request
	origin  *origin
	depth   int // limit of the nesting of arguments

	turns       codec.Chunk[content.Turn]
	texts       codec.Chunk[content.Text]
	toolUses    codec.Chunk[content.ToolUse]
	toolResults codec.Chunk[content.ToolResult]
	thinking    codec.Chunk[content.Thinking]
	lists       codec.Chunk[content.Part]

	arguments jsonwire.Doc // of the tool call that is read

	// These are reused for each message, file, tool call and tool.
	message message
	file    fileMembers
	call    toolCall
	tool    tool

	choice   *content.Extra // of the objects in the tool choice that is read
	place    []place        // zero ones, for a request with few messages
	contents []content.Part // of the message that is read
	calls    []content.Part // its tool calls
	results  []content.Part // of the results in a row
}

// parsers has parsers that are not used, because one on the stack could not be an
// [object.Format].
var parsers = sync.Pool{New: func() any { return new(parser) }}

// begin prepares a zero parser.
func (p *parser) begin(depth int) {
	p.Size, p.Format, p.Name, p.depth = 1, p, Format, depth
	p.Path.Style = codec.Bracketed
	p.Check = object.Checker{Path: &p.Path, Report: &p.Reporter}
}

// maxScratch is the maximum length of lists that a parser keeps for the next document.
const maxScratch = 256

func (p *parser) close() {
	p.Close()
	scratch := [...][]content.Part{p.contents, p.calls, p.results}
	for i, list := range scratch {
		if cap(list) > maxScratch {
			scratch[i] = nil
			continue
		}
		clear(list[:cap(list)])
		scratch[i] = list[:0]
	}
	*p = parser{}
	p.contents, p.calls, p.results = scratch[0], scratch[1], scratch[2]
	parsers.Put(p)
}

// Value implements [object.Format].
func (p *parser) Value(f *object.Field, name string, x jsonwire.Value, to any) {
	switch to := to.(type) {
	case *[]content.Turn:
		*to = p.messages(f, name, x)
	case *contentKind:
		*to = p.content(f, name, x)
	case *content.Source:
		*to = p.source(f, name, x)
	case *toolCalls:
		p.toolCalls(f, name, x, to)
	case *functionCall:
		p.functionCall(f, name, x, to)
	case *calledFunction:
		p.object(f, name, x, calledFunctionType, (*toolCall)(to))
	case *calledCustom:
		p.object(f, name, x, calledCustomType, (*toolCall)(to))
	case *[]content.Tool:
		*to = p.tools(f, name, x, to == &p.request.Functions)
	case *function:
		p.object(f, name, x, functionType, (*tool)(to))
	case *custom:
		p.object(f, name, x, customType, (*tool)(to))
	case *inputFormat:
		p.inputFormat(f, name, x, (*tool)(to))
	case *grammar:
		p.object(f, name, x, grammarType, (*tool)(to))
	case **content.Cache:
		p.cache(f, name, x, to)
	case **ToolChoice:
		*to = p.toolChoice(f, name, x)
	case *nameRef:
		p.inChoice(f, name, x, nameRefType, (*ToolChoice)(to))
	case *allowedTools:
		p.inChoice(f, name, x, allowedToolsType, (*ToolChoice)(to))
	case *chosenName:
		if s := p.Text(f, name, x); s != "" {
			to.Names = []string{s}
		} else if x.Kind() == jsonwire.String {
			p.Empty(name)
		}
	case *chosenNames:
		*to = p.allowedNames(f, name, x)
	case **JSONSchema: // an empty one is not a missing one
		if p.Enter(f, name, x) {
			*to = new(JSONSchema)
			p.Read(x, jsonSchemaType, *to)
			p.Path.Pop()
		}
	case *stops:
		*to = p.stops(f, name, x)
	case *schemaText:
		if x.Kind() != jsonwire.Null {
			*to = schemaText(p.JSON(f, name, x))
		}
	default:
		p.Object(f, name, x, to)
	}
}

// object reads the value of a member that is an object into the struct at to.
func (p *parser) object(f *object.Field, name string, x jsonwire.Value, t *object.Type, to any) {
	if p.Enter(f, name, x) {
		p.Read(x, t, to)
		p.Path.Pop()
	}
}

// cache reads a cache mark.
func (p *parser) cache(f *object.Field, name string, x jsonwire.Value, to **content.Cache) {
	if p.Enter(f, name, x) {
		*to = new(content.Cache)
		p.Read(x, f.Value.Object, *to)
		p.Path.Pop()
		p.origin.cacheControl = name == openaiformat.CacheControl
	}
}

// stops reads the member stop.
func (p *parser) stops(f *object.Field, name string, x jsonwire.Value) stops {
	if x.Kind() == jsonwire.String {
		return stops{x.Str()}
	}
	n := p.Len(f, name, x)
	if n == 0 || !p.Quota.Parts(n) {
		return nil
	}
	list := make(stops, n)
	p.Each(f, x, func(i int, e jsonwire.Value) {
		if e.Kind() != jsonwire.String {
			p.Kind(f.Value.Elem, e)
		}
		list[i] = e.Str()
	})
	return list
}

// messages reads the messages. It sets the system texts of the request.
func (p *parser) messages(f *object.Field, name string, v jsonwire.Value) []content.Turn {
	n := p.Len(f, name, v)
	if n == 0 || !p.Quota.Turns(n) {
		return nil
	}
	p.Expect(n)
	turns := p.turns.List(n, 1)
	places := p.place[:0]
	if n > len(p.place) {
		places = make([]place, 0, n)
	}
	places = places[:n]
	p.origin.places = places
	p.Each(f, v, func(i int, x jsonwire.Value) {
		at := &places[i]
		at.turn, at.kind = int32(len(turns)), badContent
		if p.Quota.Exceeded() {
			return
		}
		m := &p.message
		*m = message{}
		p.contents, p.calls = p.contents[:0], p.calls[:0]
		if x.Kind() == jsonwire.Object {
			p.Read(x, messageType, m)
		} else {
			p.WrongType("", "an object", x)
		}
		if m.role == "tool" || m.role == "function" {
			p.result(m, at, len(turns))
			return
		}
		turns = p.endResults(turns)
		at.turn = int32(len(turns))
		turns = p.turn(turns, m, at)
	})
	if turns = p.endResults(turns); len(turns) == 0 && !p.Quota.Exceeded() {
		return p.onlySystem(turns, &places[n-1])
	}
	return turns
}

// onlySystem returns the turns of a document with system messages only, which the vendor accepts.
// The last message is a turn, because other formats need one.
func (p *parser) onlySystem(turns []content.Turn, last *place) []content.Turn {
	if last.turn >= 0 || last.content == 0 {
		return turns
	}
	system := p.request.System
	parts := p.list(system[last.part:])
	clear(system[last.part:])
	p.request.System = system[:last.part]
	last.turn, last.part = 0, 0
	return append(turns, content.Turn{Role: content.RoleSystem, Parts: parts})
}

// result adds the result of a message to those in a row. turn is the index of their turn.
func (p *parser) result(m *message, at *place, turn int) {
	at.turn, at.part = int32(turn), int32(len(p.results))
	at.kind, at.content, at.result, at.legacy = m.content, int32(len(p.contents)), true, m.role == "function"
	r := p.toolResults.New(p.Size)
	r.ID, r.Name, r.Parts, r.Extra = m.toolCallID, m.name, p.list(p.contents), m.extra
	p.Quota.Parts(1)
	p.results = append(p.results, r)
	p.misplaced(m.refusal != "", "refusal")
	p.misplaced(bool(m.calls), "tool_calls")
	p.misplaced(bool(m.call), "function_call")
	p.misplaced(m.reasoningContent != "", "reasoning_content")
	p.misplaced(m.reasoning != "", "reasoning")
	p.misplaced(at.legacy && m.toolCallID != "", "tool_call_id")
}

// endResults adds the turn of the results in a row, if there are some.
func (p *parser) endResults(turns []content.Turn) []content.Turn {
	if len(p.results) == 0 {
		return turns
	}
	turns = append(turns, content.Turn{Role: content.RoleUser, Parts: p.list(p.results)})
	p.results = p.results[:0]
	return turns
}

// list returns a copy of parts.
func (p *parser) list(parts []content.Part) []content.Part {
	if len(parts) == 0 {
		return nil
	}
	return append(p.lists.List(len(parts), p.Size), parts...)
}

// turn adds a message that is not a result to the turns, or to the system texts.
func (p *parser) turn(turns []content.Turn, m *message, at *place) []content.Turn {
	at.kind, at.content = m.content, int32(len(p.contents))
	t := content.Turn{}
	switch m.role {
	case "system", "developer":
		if len(turns) == 0 {
			p.system(m, at)
			return turns
		}
		t.Role = content.RoleSystem
	case "user":
		t.Role = content.RoleUser
	case "assistant":
		t.Role = content.RoleAssistant
		p.assistant(&t, m, at)
	default:
		t.Role = content.RoleUser // keeps the indices of the other messages
		if m.role != "" {         // else the reader has reported it
			p.NotOneOf(content.CodeValue, "role", m.role, roles)
		}
	}
	if t.Role != content.RoleAssistant {
		t.Parts = p.list(p.contents)
		p.misplacedAssistant(m)
	}
	p.misplaced(m.toolCallID != "", "tool_call_id")
	t.Extra = p.messageExtra(m)
	return append(turns, t)
}

// system adds the texts of a message to the system texts.
func (p *parser) system(m *message, at *place) {
	at.turn, at.part = -1, int32(len(p.request.System))
	if extra := p.messageExtra(m); extra != nil {
		for _, part := range p.contents {
			if t, ok := part.(*content.Text); ok {
				t.Extra = p.Joined(t.Extra, extra)
				break // copies of it might need much memory
			}
		}
	}
	p.request.System = append(p.request.System, p.contents...)
	p.misplacedAssistant(m)
	p.misplaced(m.toolCallID != "", "tool_call_id")
}

// assistant sets the parts of a turn of the assistant.
func (p *parser) assistant(t *content.Turn, m *message, at *place) {
	thinking := m.reasoningContent
	switch {
	case m.reasoningContent != "":
		at.thinking = reasoningContent
		if m.reasoning != "" && m.reasoning != m.reasoningContent {
			m.extra = p.Joined(p.Member("reasoning", m.reasoning), m.extra)
		}
	case m.reasoning != "":
		at.thinking, thinking = reasoning, m.reasoning
	}
	more := 0 // parts beside the contents and the calls, which have been counted
	if thinking != "" {
		more++
	}
	if at.refusal = m.refusal != ""; at.refusal {
		more++
	}
	n := len(p.contents) + len(p.calls) + more
	if n == 0 || !p.Quota.Parts(more) {
		return
	}
	list := p.lists.List(n, p.Size)
	if thinking != "" {
		b := p.thinking.New(p.Size)
		b.Text = thinking
		list = append(list, b)
	}
	list = append(list, p.contents...)
	if at.refusal {
		b := p.texts.New(p.Size)
		b.Text, b.Refusal = m.refusal, true
		list = append(list, b)
	}
	at.calls, at.legacy = int32(len(p.calls)), bool(m.call)
	t.Parts = append(list, p.calls...)
}

// misplacedAssistant reports members that only messages of the assistant have.
func (p *parser) misplacedAssistant(m *message) {
	p.misplaced(m.refusal != "", "refusal")
	p.misplaced(bool(m.calls), "tool_calls")
	p.misplaced(bool(m.call), "function_call")
	p.misplaced(m.reasoningContent != "", "reasoning_content")
	p.misplaced(m.reasoning != "", "reasoning")
}

// misplaced reports a member that messages of this role do not have. Without the report, its
// content would be dropped silently.
func (p *parser) misplaced(is bool, name string) {
	if is {
		p.UnknownMember(name)
	}
}

// messageExtra returns the members of a message that have no field: its other members, the name
// of its author, and the role "developer", which otherwise would be the same as "system".
func (p *parser) messageExtra(m *message) *content.Extra {
	x := m.extra
	if m.name != "" {
		x = p.Joined(p.Member("name", m.name), x)
	}
	if m.role == "developer" {
		x = p.Joined(p.Member("role", m.role), x)
	}
	return x
}

// content reads the member content into p.contents. A string becomes one text. An empty string
// becomes no parts, as an empty list does.
func (p *parser) content(f *object.Field, name string, v jsonwire.Value) contentKind {
	switch v.Kind() {
	case jsonwire.Null:
		return nullContent
	case jsonwire.String:
		if !v.Is("") && p.Quota.Parts(1) {
			t := p.texts.New(p.Size)
			t.Text = v.Str()
			p.contents = append(p.contents, t)
		}
		return textContent
	case jsonwire.Array:
		if p.Quota.Parts(v.Len()) {
			p.Each(f, v, func(_ int, x jsonwire.Value) { p.contents = append(p.contents, p.part(x)) })
		}
		return listContent
	}
	p.Mismatch(f, name, v)
	return badContent
}

// part reads one part. It never returns nil: for a value that is not a part it returns an Unknown
// without a Kind.
func (p *parser) part(v jsonwire.Value) content.Part {
	kind, ok := p.ReadTag(v)
	if !ok {
		return p.BadPart(v, p.IsOver())
	}
	p.file = fileMembers{}
	switch kind {
	case "text":
		t := p.texts.New(p.Size)
		p.Read(v, textType, t)
		t.Extra = p.withoutNulls(t.Extra)
		return t
	case "refusal":
		t := p.texts.New(p.Size)
		t.Refusal = true
		p.Read(v, refusalType, t)
		return t
	case "image_url":
		i := new(content.Image)
		p.Read(v, imageType, i)
		i.Extra = p.withFile(i.Extra)
		return i
	case "file":
		d := new(content.Document)
		p.Read(v, fileType, d)
		d.Title, d.Extra = p.file.name, p.withFile(d.Extra)
		return d
	case "input_audio":
		m := new(content.Media)
		p.Read(v, audioType, m)
		m.Extra = p.withFile(m.Extra)
		return m
	}
	return p.Other(kind, v)
}

// withoutNulls returns x, or nil if it has only one member, which is null: some libraries write
// the members of all parts.
func (p *parser) withoutNulls(x *content.Extra) *content.Extra {
	if x != nil && (x.JSON == `{"image_url":null}` || x.JSON == `{"text":null}`) {
		return nil
	}
	return x
}

// withFile adds the members of the file that was read to those of its part. In it they have their
// own names.
func (p *parser) withFile(x *content.Extra) *content.Extra {
	x = p.Joined(p.file.extra, p.withoutNulls(x))
	if p.file.detail != "" {
		x = p.Joined(p.Member("detail", p.file.detail), x)
	}
	return x
}

// source reads the object of a part with a file. It returns nil if the source is invalid.
func (p *parser) source(f *object.Field, name string, x jsonwire.Value) content.Source {
	t := imageURLType
	switch name {
	case "file":
		t = fileObjectType
	case "input_audio":
		t = inputAudioType
	}
	if t == imageURLType && x.Kind() == jsonwire.String {
		p.file.url = x.Str() // the vendor accepts it, too
	} else {
		p.object(f, name, x, t, &p.file)
	}
	switch m := &p.file; {
	case m.url != "":
		return openaiformat.ParseURL(m.url)
	case m.audioData != "":
		return openaiformat.ParseAudio(m.audioData, m.audioEncoding)
	case m.fileData != "":
		if m.fileID != "" {
			m.extra = p.Joined(p.Member("file_id", m.fileID), m.extra)
		}
		return openaiformat.ParseFileData(m.fileData, m.name)
	case m.fileID != "":
		return &content.File{ID: m.fileID}
	}
	return nil
}

// toolCalls reads tool_calls into p.calls.
func (p *parser) toolCalls(f *object.Field, name string, v jsonwire.Value, is *toolCalls) {
	n := p.Len(f, name, v)
	*is = toolCalls(v.Kind() == jsonwire.Array)
	if n == 0 {
		if *is { // some servers accept an empty list
			p.AddStrict(content.CodeRange, name, func() string { return openaiformat.TextEmptyArray(p.At(name)) })
		}
		*is = false
		return
	}
	if !p.Quota.Parts(n) {
		return
	}
	p.Each(f, v, func(_ int, x jsonwire.Value) {
		c := &p.call
		*c = toolCall{}
		if x.Kind() == jsonwire.Object {
			p.Read(x, toolCallType, c)
			p.checkCall(c, x)
		} else {
			p.WrongType("", "an object", x)
		}
		p.addCall(c)
	})
}

// checkCall reports what is wrong with a tool call as a whole, and sets its kind.
func (p *parser) checkCall(c *toolCall, x jsonwire.Value) {
	isCustom := c.kind == "custom" || c.kind == "" && x.Get("custom").Kind() == jsonwire.Object
	switch {
	case isCustom:
		c.Freeform = true
		if !x.Get("custom").Exists() {
			p.MissingMember("custom")
		}
		p.misplaced(c.Input != "", "function")
		c.Input = ""
	case c.kind != "" && c.kind != "function":
		p.NotOneOf(content.CodeValue, "type", c.kind, toolTypes)
		return
	default:
		if !x.Get("function").Exists() {
			p.MissingMember("function")
		}
		p.misplaced(c.Text != "", "custom")
		c.Text = ""
	}
	if t := x.Get("type"); !t.Exists() && p.Strict != nil {
		p.AddStrict(content.CodeMissing, "type", func() string { return "Missing required parameter: '" + p.At("type") + "'." })
	}
}

// addCall adds a tool call to p.calls.
func (p *parser) addCall(c *toolCall) {
	u := p.toolUses.New(p.Size)
	*u = c.ToolUse
	u.Extra = p.Joined(c.inner, u.Extra)
	openaiformat.SetInput(&p.Reader, &p.arguments, p.depth, u)
	envelope.CountID(&p.Quota, u.ID)
	p.calls = append(p.calls, u)
}

// functionCall reads the deprecated function_call.
func (p *parser) functionCall(f *object.Field, name string, x jsonwire.Value, is *functionCall) {
	c := &p.call
	*c = toolCall{}
	if !p.Enter(f, name, x) {
		return
	}
	*is = true
	if p.Quota.Parts(1) {
		p.Read(x, calledFunctionType, c)
		p.addCall(c)
	}
	p.Path.Pop()
}

// tools reads the list of tools, or that of functions.
func (p *parser) tools(f *object.Field, name string, v jsonwire.Value, functions bool) []content.Tool {
	n := p.Len(f, name, v)
	if n == 0 || !p.Quota.Tools(n) {
		return nil
	}
	p.Expect(n)
	tools := make([]content.Tool, n)
	p.Each(f, v, func(i int, x jsonwire.Value) {
		t := &p.tool
		*t = tool{}
		switch {
		case x.Kind() != jsonwire.Object:
			p.WrongType("", "an object", x)
		case functions:
			p.Read(x, functionType, t)
		default:
			p.oneTool(t, x)
		}
		tools[i] = t.Tool
		tools[i].Extra = p.Joined(p.Joined(p.Joined(t.ofGrammar, t.ofFormat), t.inner), t.Extra)
	})
	return tools
}

// oneTool reads a function or a custom tool, or keeps another tool as JSON text.
func (p *parser) oneTool(t *tool, x jsonwire.Value) {
	kind := x.Get("type")
	member := "function"
	switch {
	case kind.Is("function"):
	case kind.Is("custom"):
		member, t.Freeform = "custom", true
	case !kind.Exists() && x.Get("function").Exists(): // some servers do not require it
		p.AddStrict(content.CodeMissing, "type", func() string { return "Missing required parameter: '" + p.At("type") + "'." })
	case kind.Kind() != jsonwire.String || kind.Is(""):
		p.Reporter.Tag(nil, kind)
		return
	default:
		t.Kind, t.Format, t.Raw = kind.Str(), Format, x.Raw()
		if name := x.Get("name"); name.Kind() == jsonwire.String {
			t.Name = name.Str()
		}
		p.AddStrict(content.CodeValue, "type", func() string { return openaiformat.TextOneOf(t.Kind, toolTypes) })
		return
	}
	p.Read(x, toolType, t)
	if !x.Get(member).Exists() {
		p.MissingMember(member)
	}
	other := "custom"
	if t.Freeform {
		other = "function"
		if t.grammar != (content.Grammar{}) {
			g := t.grammar
			t.Grammar = &g
		}
	}
	p.misplaced(x.Get(other).Kind() == jsonwire.Object, other)
}

// inputFormat reads the format of the input of a custom tool.
func (p *parser) inputFormat(f *object.Field, name string, x jsonwire.Value, t *tool) {
	if !p.Enter(f, name, x) {
		return
	}
	defer p.Path.Pop()
	kind, ok := p.ReadTag(x)
	if !ok {
		return
	}
	p.Read(x, inputFormatType, t)
	switch has := x.Get("grammar").Exists(); {
	case kind == "grammar" && !has:
		p.MissingMember("grammar")
	case kind == "text" && has:
		p.UnknownMember("grammar")
	case kind != "grammar" && kind != "text":
		p.NotOneOf(content.CodeValue, "type", kind, []string{"text", "grammar"})
	}
}

// toolChoice reads tool_choice or function_call, which is a string or an object.
func (p *parser) toolChoice(f *object.Field, name string, x jsonwire.Value) *ToolChoice {
	legacy := name == "function_call"
	if x.Kind() == jsonwire.String {
		if x.Is("") {
			p.Mismatch(f, name, x)
			return nil
		}
		return &ToolChoice{Type: x.Str()}
	}
	if !p.Enter(f, name, x) {
		return nil
	}
	defer p.Path.Pop()
	c := new(ToolChoice)
	if legacy {
		c.Type = "function"
		p.Read(x, functionCallType, c)
		return c
	}
	p.choice = nil
	p.Read(x, choiceType, c)
	c.Extra = p.Joined(p.choice, c.Extra)
	if t := x.Get("type"); c.Type == "" && !t.Exists() && x.Get("function").Exists() { // some servers do not require it
		c.Type = "function"
		p.AddStrict(content.CodeMissing, "type", func() string { return "Missing required parameter: '" + p.At("type") + "'." })
	} else if c.Type == "" {
		p.Reporter.Tag(nil, t)
		return c
	}
	for _, member := range choiceTypes {
		switch has := x.Get(member).Exists(); {
		case member == c.Type && !has:
			p.MissingMember(member)
		case member != c.Type && has:
			p.UnknownMember(member)
		}
	}
	return c
}

// inChoice reads an object in a tool choice, with whose other members those of the choice are joined.
func (p *parser) inChoice(f *object.Field, name string, x jsonwire.Value, t *object.Type, c *ToolChoice) {
	p.object(f, name, x, t, c)
	p.choice, c.Extra = p.Joined(p.choice, c.Extra), nil
}

// allowedNames reads the references to tools in allowed_tools.
func (p *parser) allowedNames(f *object.Field, name string, v jsonwire.Value) []string {
	n := p.Len(f, name, v)
	if n == 0 || !p.Quota.Tools(n) {
		return nil
	}
	names := make([]string, 0, n)
	p.Each(f, v, func(_ int, x jsonwire.Value) {
		kind, ok := p.ReadTag(x)
		if !ok {
			return
		}
		ref := x.Get(kind)
		if kind != "function" && kind != "custom" {
			names = append(names, kind) // a tool of a server
			return
		}
		switch s := ref.Get("name"); {
		case ref.Kind() != jsonwire.Object:
			p.MissingMember(kind)
		case s.Kind() != jsonwire.String || s.Is(""):
			p.Path.Push(kind)
			p.MissingMember("name")
			p.Path.Pop()
		default:
			names = append(names, s.Str())
		}
	})
	return names
}

// messagePath returns the path of a message.
func messagePath(i int) string { return "messages[" + strconv.Itoa(i) + "]" }
