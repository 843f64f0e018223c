package messages

import (
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
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
func ParseRequestString(body string) (*Request, error) { return parseRequest(body, content.Limits{}) }

// parseRequest is ParseRequestString with limits: the depth, values, parts, tools
// and schemas of lim.
func parseRequest(body string, lim content.Limits) (*Request, error) {
	w := &parsedRequest{}
	doc := &w.doc
	if err := doc.ParseSingle(body, jsonwire.Limits{Depth: lim.Depth, Values: lim.Values}); err != nil {
		return nil, syntaxError(err)
	}
	defer doc.Close()
	p := parser{origin: &w.origin, size: 1, quota: codec.NewQuota(lim)}
	p.texts.Seed(w.texts[:])
	p.lists.Seed(w.parts[:])
	r, o := &w.request, &w.origin
	r.origin, o.body = o, body
	root := doc.Root()
	if root.Kind() != jsonwire.Object {
		p.violation(content.CodeType, "", "The request body must be a JSON object")
	} else {
		p.request(root, w)
		p.required(root, r)
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
	request     Request
	origin      origin
	doc         jsonwire.Doc
	maxTokens   int64
	topK        int64
	temperature float64
	topP        float64
	// These are enough for a request with one message.
	turns [1]content.Turn
	texts [1]content.Text
	parts [1]content.Part
}

// A parser reads a Request from a document that is valid JSON. It continues after a
// violation: it leaves the field zero, or replaces the part by an Unknown, which
// keeps the indices of the other parts.
type parser struct {
	// path has the vendor's style:
	// "messages.2.content.0.image.source.base64.data". After the index or name of
	// a member of a union follows its tag. Unions are the blocks of a message,
	// sources, citations, tools ("custom" for a tool without a type), thinking and
	// tool_choice. The texts of system and of search results are not a union and
	// have no tag. The path of a violation at the tag does not include the tag:
	// "messages.0.content.1.type".
	path       codec.Path
	violations content.ViolationList
	origin     *origin // nil for fragments of requests and for responses
	quota      codec.Quota
	size       int // expected number of turns or tools, which sizes chunks
	depth      int // nesting of parts

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

// request reads the top level.
func (p *parser) request(v jsonwire.Value, w *parsedRequest) {
	r, more := &w.request, 0
	for name, x := range v.Members() {
		switch name {
		case "model":
			r.Model = p.text(x, name)
			w.origin.model = codec.ExtentOf(x)
		case "max_tokens":
			r.MaxTokens = p.optInteger(x, name, &w.maxTokens)
		case "messages":
			p.messages(w, x)
		case "system":
			r.System = p.content(x, name, false)
		case "stream":
			r.Stream = p.flag(x, name)
			w.origin.stream = codec.ExtentOf(x)
		case "stop_sequences":
			r.StopSequences = p.strings(x, name)
		case "temperature":
			r.Temperature = p.optNumber(x, name, &w.temperature)
		case "top_p":
			r.TopP = p.optNumber(x, name, &w.topP)
		case "top_k":
			r.TopK = p.optInteger(x, name, &w.topK)
		case "tools":
			p.tools(r, x)
		case "service_tier":
			r.ServiceTier = p.choice(x, name, "'auto' or 'standard_only'")
		case "inference_geo":
			r.InferenceGeo = p.optText(x, name)
		case "speed":
			r.Speed = p.choice(x, name, "'standard' or 'fast'")
		case "cache_control":
			r.CacheControl = p.cache(x)
		default:
			if !p.settings(x, name, r) && !p.beta(x, name, r) {
				more++
			}
		}
	}
	if more > 0 {
		r.Extra = p.extra(v, &requestNames)
	}
}

// required reports missing members that each request needs. Validate reports
// max_tokens, which count_tokens does not need.
func (p *parser) required(v jsonwire.Value, r *Request) {
	if r.Model == "" {
		p.require(v, "model")
	}
	if len(r.Messages) == 0 {
		p.require(v, "messages")
	}
}

// settings reads members of the top level that are objects.
func (p *parser) settings(v jsonwire.Value, name string, r *Request) bool {
	switch name {
	case "metadata":
		r.Metadata = p.metadata(v)
	case "tool_choice":
		r.ToolChoice = p.toolChoice(v)
	case "thinking":
		r.Thinking = p.thinking(v)
	case "output_config":
		r.OutputConfig = p.outputConfig(v)
	case "output_format":
		r.OutputFormat = p.outputFormat(v, name)
	default:
		return false
	}
	return true
}

// beta reads members of the top level that are kept as JSON text.
func (p *parser) beta(v jsonwire.Value, name string, r *Request) bool {
	const obj, str, arr = jsonwire.Object, jsonwire.String, jsonwire.Array
	switch name {
	case "container":
		r.Container = p.raw(v, name, str, obj, "Input should be a valid string or an object")
	case "diagnostics":
		r.Diagnostics = p.raw(v, name, obj, obj, textObject)
	case "mcp_servers":
		r.MCPServers = p.raw(v, name, arr, arr, textList)
	case "context_management":
		r.ContextManagement = p.raw(v, name, obj, obj, textObject)
	case "compaction":
		r.Compaction = p.raw(v, name, obj, obj, textObject)
	case "thread":
		r.Thread = p.raw(v, name, obj, obj, textObject)
	case "fallbacks":
		r.Fallbacks = p.raw(v, name, str, arr, "Input should be a valid string or list")
	case "fallback_credit_token":
		r.FallbackCreditToken = p.raw(v, name, str, obj, "Input should be a valid string or an object")
	case "billing_policy":
		r.BillingPolicy = p.raw(v, name, obj, obj, textObject)
	default:
		return false
	}
	return true
}

// messages reads the turns.
func (p *parser) messages(w *parsedRequest, v jsonwire.Value) {
	if v.Kind() != jsonwire.Array {
		p.violation(content.CodeType, "messages", textList)
		return
	}
	n := v.Len()
	if n == 0 {
		return
	}
	if n > maxMessages {
		p.violation(content.CodeLimit, "messages", textItems(maxMessages, n))
		n = maxMessages
	}
	p.expect(n)
	turns := w.turns[:]
	if n > 1 {
		turns = make([]content.Turn, n)
	}
	w.request.Messages = turns
	p.path.Push("messages")
	for i, x := range v.Elems() {
		if i == n || p.quota.Exceeded() {
			break
		}
		p.path.PushIndex(i)
		p.message(&turns[i], x)
		p.path.Pop()
	}
	p.path.Pop()
}

// maxMessages is the maximum number of messages in a request.
const maxMessages = 100_000

// expect sizes the chunks for a list of n messages or tools.
func (p *parser) expect(n int) { p.size = max(p.size, min(n/4, codec.LargestChunk/4)) }

func (p *parser) message(t *content.Turn, v jsonwire.Value) {
	if v.Kind() != jsonwire.Object {
		p.violation(content.CodeType, "", textObject)
		return
	}
	more := 0
	for name, x := range v.Members() {
		switch name {
		case "role":
			t.Role = content.Role(p.text(x, name))
		case "content":
			if x.Kind() == jsonwire.Null {
				p.violation(content.CodeType, name, textList)
				continue
			}
			t.Parts = p.content(x, name, true)
		default:
			more++
		}
	}
	if t.Role == "" {
		p.require(v, "role")
	}
	if len(t.Parts) == 0 {
		p.require(v, "content")
	}
	if more > 0 {
		t.Extra = p.extra(v, &messageNames)
	}
}

// strings reads a list of strings.
func (p *parser) strings(v jsonwire.Value, name string) []string {
	if !p.list(v, name) {
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
// string becomes no parts, as an empty list does. Paths include the tags of blocks
// if tagged is set.
func (p *parser) content(v jsonwire.Value, name string, tagged bool) []content.Part {
	switch v.Kind() {
	case jsonwire.String:
		if v.Is("") || !p.quota.Parts(1) {
			return nil
		}
		t := p.texts.New(p.size)
		t.Text = v.Str()
		return append(p.lists.List(1, p.size), t)
	case jsonwire.Array:
		if v.Len() == 0 {
			return nil
		}
		p.path.Push(name)
		list := p.parts(v, tagged)
		p.path.Pop()
		return list
	case jsonwire.Null:
	default:
		p.violation(content.CodeType, name, textList)
	}
	return nil
}

// parts reads a list of blocks.
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
	switch kind {
	case "text":
		return p.textBlock(v)
	case "tool_use":
		return p.toolUse(v)
	case "tool_result":
		return p.toolResult(v)
	case "thinking":
		return p.thinkingBlock(v)
	case "image":
		return p.image(v)
	case "document":
		return p.document(v)
	case "search_result":
		return p.searchResult(v)
	case "redacted_thinking":
		return p.redacted(v)
	case "server_tool_use", "mcp_tool_use":
		return p.serverToolUse(v, kind)
	}
	if isServerToolResult(kind) {
		return p.serverToolResult(v, kind)
	}
	if isUntypedBlock(kind) {
		p.checkNames(v, &untypedBlockNames)
	}
	return p.unknown(v, kind)
}

// unknown returns a block as an Unknown.
func (p *parser) unknown(v jsonwire.Value, kind string) content.Part {
	u := p.unknowns.New(1)
	u.Format, u.Kind, u.Raw = Format, kind, v.Raw()
	return u
}

// isServerToolResult reports whether kind is the result of a tool of the vendor.
func isServerToolResult(kind string) bool {
	switch kind {
	case "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
		"bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
		"tool_search_tool_result", "mcp_tool_result":
		return true
	}
	return false
}

// isUntypedBlock reports whether kind is a block of the format that has no Go type.
func isUntypedBlock(kind string) bool {
	switch kind {
	case "container_upload", "tool_reference", "browser_state", "mcp_tool_listing", "compaction", "fallback",
		"advisor_tool_result", "tool_addition", "tool_removal":
		return true
	}
	return false
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

func (p *parser) textBlock(v jsonwire.Value) content.Part {
	t, more := p.texts.New(p.size), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "text":
			t.Text = p.text(x, name)
		case "citations":
			t.Citations = p.citations(x)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.Text == "" {
		p.require(v, "text")
		p.markUnread(t, v.Get("text"))
	}
	if more > 0 {
		t.Extra = p.extra(v, &textNames)
	}
	return t
}

// markUnread marks a part if v, the value of one of its fields, is not a string. It
// marks at most [content.MaxViolations] parts.
func (p *parser) markUnread(part content.Part, v jsonwire.Value) {
	if o := p.origin; o != nil && v.Kind() != jsonwire.String && len(o.unread) < content.MaxViolations {
		o.unread = append(o.unread, part)
	}
}

func (p *parser) toolUse(v jsonwire.Value) content.Part {
	t, more := p.toolUses.New(p.size), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "id":
			t.ID = p.text(x, name)
		case "name":
			t.Name = p.text(x, name)
		case "input":
			t.Input = p.objectJSON(x, name)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	p.requireToolUse(v, t.ID, t.Name, t.Input)
	if more > 0 {
		t.Extra = p.extra(v, &toolUseNames)
	}
	return t
}

// requireToolUse reports the missing members of a tool call.
func (p *parser) requireToolUse(v jsonwire.Value, id, name, input string) {
	if id == "" {
		p.require(v, "id")
	}
	if name == "" {
		p.require(v, "name")
	}
	if input == "" {
		p.require(v, "input")
	}
}

func (p *parser) serverToolUse(v jsonwire.Value, kind string) content.Part {
	t, more := &content.ServerToolUse{Format: Format, Kind: kind}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "id":
			t.ID = p.text(x, name)
		case "name":
			t.Name = p.text(x, name)
		case "input":
			t.Input = p.objectJSON(x, name)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	p.requireToolUse(v, t.ID, t.Name, t.Input)
	if more > 0 {
		t.Extra = p.extra(v, &serverToolUseNames)
	}
	return t
}

func (p *parser) toolResult(v jsonwire.Value) content.Part {
	t, more := p.toolResults.New(p.size), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "tool_use_id":
			t.ID = p.text(x, name)
		case "content":
			t.Parts = p.content(x, name, true)
		case "is_error":
			t.Error = p.flag(x, name)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.ID == "" {
		p.require(v, "tool_use_id")
	}
	if more > 0 {
		t.Extra = p.extra(v, &toolResultNames)
	}
	return t
}

func (p *parser) serverToolResult(v jsonwire.Value, kind string) content.Part {
	t, more := &content.ServerToolResult{Format: Format, Kind: kind}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "tool_use_id":
			t.ID = p.text(x, name)
		case "content":
			t.Content = x.Raw()
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.ID == "" {
		p.require(v, "tool_use_id")
	}
	if t.Content == "" && kind != "mcp_tool_result" {
		p.require(v, "content")
	}
	if more > 0 {
		t.Extra = p.extra(v, &serverToolResultNames)
	}
	return t
}

// thinkingBlock reads a thinking block. Some clients return it without the
// signature; then the Signature has no Format.
func (p *parser) thinkingBlock(v jsonwire.Value) content.Part {
	t, more := p.thinkingBlocks.New(p.size), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "thinking":
			t.Text = p.text(x, name)
		case "signature":
			t.Signature = content.Signature{Format: Format, Data: p.text(x, name)}
			p.markUnread(t, x)
		default:
			more++
		}
	}
	if t.Text == "" {
		p.require(v, "thinking")
	}
	if more > 0 {
		t.Extra = p.extra(v, &thinkingBlockNames)
	}
	return t
}

func (p *parser) redacted(v jsonwire.Value) content.Part {
	t, more := p.thinkingBlocks.New(p.size), 0
	t.Redacted.Format = Format
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "data":
			t.Redacted.Data = p.text(x, name)
		default:
			more++
		}
	}
	if t.Redacted.Data == "" {
		p.require(v, "data")
	}
	if more > 0 {
		t.Extra = p.extra(v, &redactedNames)
	}
	return t
}

// A citationForm holds the member names of one kind of citation.
type citationForm struct {
	tag               string
	kind              content.CitationKind
	title             string // member for Citation.Title
	index, start, end string // members for the position, or ""
	url               string // member for Citation.URL, or ""
	file              bool   // may have a file_id
	names             *codec.Names
}

// citationForms is never changed.
var citationForms = [...]citationForm{
	{"char_location", content.CiteChars, "document_title", "document_index",
		"start_char_index", "end_char_index", "", true, &charNames},
	{"page_location", content.CitePages, "document_title", "document_index",
		"start_page_number", "end_page_number", "", true, &pageNames},
	{"content_block_location", content.CiteParts, "document_title", "document_index",
		"start_block_index", "end_block_index", "", true, &blockNames},
	{"search_result_location", content.CiteSearchResult, "title", "search_result_index",
		"start_block_index", "end_block_index", "source", false, &searchNames},
	{"web_search_result_location", content.CiteWeb, "title", "", "", "", "url", false, &webNames},
}

// citationFormOf returns the form with this tag or this kind, or nil.
func citationFormOf(tag string, kind content.CitationKind) *citationForm {
	for i := range citationForms {
		if f := &citationForms[i]; f.tag == tag || kind != "" && f.kind == kind {
			return f
		}
	}
	return nil
}

// citations reads the citations of a text.
func (p *parser) citations(v jsonwire.Value) []content.Citation {
	if !p.list(v, "citations") || !p.quota.Parts(v.Len()) {
		return nil
	}
	list := make([]content.Citation, v.Len())
	p.path.Push("citations")
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
	p.path.Push(f.tag)
	c.Kind = f.kind
	more := 0
	for name, x := range v.Members() {
		switch name {
		case "": // f has "" for members that its kind does not have
			more++
		case "type":
		case "cited_text":
			c.Text = p.text(x, name)
		case f.title:
			c.Title = p.optText(x, name)
		case f.url:
			c.URL = p.text(x, name)
		case f.index:
			c.Index, _ = p.integer(x, name)
		case f.start:
			c.Start, _ = p.integer(x, name)
		case f.end:
			c.End, _ = p.integer(x, name)
		case "file_id":
			if f.file {
				c.FileID = p.optText(x, name)
				continue
			}
			more++
		default:
			more++
		}
	}
	p.requireCitation(c, v, f)
	if more > 0 {
		c.Extra = p.extra(v, f.names)
	}
	p.path.Pop()
}

// requireCitation reports the missing members of a citation.
func (p *parser) requireCitation(c *content.Citation, v jsonwire.Value, f *citationForm) {
	if c.Text == "" {
		p.require(v, "cited_text")
	}
	if f.url != "" && c.URL == "" {
		p.require(v, f.url)
	}
	if f.kind == content.CiteWeb {
		p.require(v, "encrypted_index")
	}
	if f.index == "" {
		return
	}
	if c.Index == 0 {
		p.require(v, f.index)
	}
	if c.Start == 0 {
		p.require(v, f.start)
	}
	if c.End == 0 {
		p.require(v, f.end)
	}
}

// The tags of sources, as error texts list them.
const (
	imageSources    = "'base64', 'url', 'file'"
	documentSources = "'base64', 'text', 'content', 'url', 'file'"
)

func (p *parser) image(v jsonwire.Value) content.Part {
	t, more := p.images.New(1), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "source":
			t.Source = p.source(x, imageSources)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.Source == nil {
		p.require(v, "source")
	}
	if more > 0 {
		t.Extra = p.extra(v, &imageNames)
	}
	return t
}

func (p *parser) document(v jsonwire.Value) content.Part {
	t, more := &content.Document{}, 0
	var citations jsonwire.Value
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "source":
			t.Source = p.source(x, documentSources)
		case "title":
			t.Title = p.optText(x, name)
			if x.Is("") {
				p.violation(content.CodeRange, name, textNotEmpty)
			}
		case "context":
			t.Context = p.optText(x, name)
		case "citations":
			t.Citations, citations = p.citationsConfig(x)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.Source == nil {
		p.require(v, "source")
	}
	if more > 0 || citations.Exists() {
		t.Extra = p.extraWithCitations(v, &documentNames, citations)
	}
	return t
}

func (p *parser) searchResult(v jsonwire.Value) content.Part {
	t, more := &content.SearchResult{}, 0
	var citations jsonwire.Value
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "source":
			t.Source = p.text(x, name)
		case "title":
			t.Title = p.text(x, name)
		case "content":
			if x.Kind() != jsonwire.Array {
				p.violation(content.CodeType, name, textList)
				continue
			}
			t.Parts = p.content(x, name, false)
		case "citations":
			t.Citations, citations = p.citationsConfig(x)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.Source == "" {
		p.require(v, "source")
	}
	if t.Title == "" {
		p.require(v, "title")
	}
	if len(t.Parts) == 0 {
		p.require(v, "content")
	}
	if more > 0 || citations.Exists() {
		t.Extra = p.extraWithCitations(v, &searchResultNames, citations)
	}
	return t
}

// citationsConfig reads {"enabled": …}. It returns the object too if it has unknown
// members, which become part of the Extra of the enclosing block.
func (p *parser) citationsConfig(v jsonwire.Value) (on bool, unknown jsonwire.Value) {
	if !p.object(v, "citations") {
		return false, unknown
	}
	p.path.Push("citations")
	for name, x := range v.Members() {
		if name != "enabled" {
			unknown = v
			continue
		}
		var ok bool
		if on, ok = x.Bool(); !ok && x.Kind() != jsonwire.Null {
			p.violation(content.CodeType, name, textBoolean)
		}
	}
	if unknown.Exists() {
		p.checkNames(v, &citationsNames)
	}
	p.path.Pop()
	return on, unknown
}

// source reads a source whose tag is in the list expected. It returns nil if the
// source is invalid.
func (p *parser) source(v jsonwire.Value, expected string) content.Source {
	p.path.Push("source")
	defer p.path.Pop()
	kind, ok := p.tag(v)
	if !ok {
		return nil
	}
	image := expected == imageSources
	if known := sourceKind(kind); known == 0 || image && known > 1 {
		p.violation(content.CodeValue, "", quoteTag(kind, expected))
		if known == 0 {
			return nil
		}
	}
	p.path.Push(kind)
	defer p.path.Pop()
	switch kind {
	case "base64":
		return p.base64(v)
	case "url":
		return p.url(v)
	case "file":
		return p.file(v)
	case "text":
		return p.plainText(v)
	}
	return p.partsSource(v)
}

// sourceKind returns 1 for a source of images and documents, 2 for a source of
// documents only, and 0 for an unknown type.
func sourceKind(kind string) int {
	switch kind {
	case "base64", "url", "file":
		return 1
	case "text", "content":
		return 2
	}
	return 0
}

func (p *parser) base64(v jsonwire.Value) content.Source {
	s, more := p.base64s.New(1), 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "media_type":
			s.MediaType = p.text(x, name)
		case "data":
			s.Data = p.text(x, name)
			p.keepBase64(x, s.Data)
		default:
			more++
		}
	}
	if s.MediaType == "" {
		p.require(v, "media_type")
	}
	if s.Data == "" {
		p.require(v, "data")
	}
	if more > 0 {
		s.Extra = p.extra(v, &base64Names)
	}
	return s
}

func (p *parser) url(v jsonwire.Value) content.Source {
	s, more := &content.URL{}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "url":
			s.URL = p.text(x, name)
		default:
			more++
		}
	}
	if s.URL == "" {
		p.require(v, "url")
	}
	if more > 0 {
		s.Extra = p.extra(v, &urlNames)
	}
	return s
}

func (p *parser) file(v jsonwire.Value) content.Source {
	s, more := &content.File{}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "file_id":
			s.ID = p.text(x, name)
		default:
			more++
		}
	}
	if s.ID == "" {
		p.require(v, "file_id")
	}
	if more > 0 {
		s.Extra = p.extra(v, &fileNames)
	}
	return s
}

func (p *parser) plainText(v jsonwire.Value) content.Source {
	s, more := &content.PlainText{}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "media_type":
			// In the field, "" means text/plain; on the wire it is invalid.
			if s.MediaType = p.text(x, name); x.Is("") {
				p.violation(content.CodeValue, name, "Input should be 'text/plain'")
			}
		case "data":
			s.Text = p.text(x, name)
		default:
			more++
		}
	}
	if s.MediaType == "" {
		p.require(v, "media_type")
	}
	if s.Text == "" {
		p.require(v, "data")
	}
	if more > 0 {
		s.Extra = p.extra(v, &base64Names)
	}
	return s
}

func (p *parser) partsSource(v jsonwire.Value) content.Source {
	s, more := &content.Parts{}, 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "content":
			if x.Kind() == jsonwire.Null {
				p.violation(content.CodeType, name, textList)
				continue
			}
			s.Parts = p.content(x, name, true)
		default:
			more++
		}
	}
	if len(s.Parts) == 0 {
		p.require(v, "content")
	}
	if more > 0 {
		s.Extra = p.extra(v, &contentNames)
	}
	return s
}

// cache reads a cache_control member, which may be null.
func (p *parser) cache(v jsonwire.Value) *content.Cache {
	const name = "cache_control"
	if !p.object(v, name) {
		return nil
	}
	p.path.Push(name)
	defer p.path.Pop()
	c, more, typed := p.caches.New(p.size), 0, false
	for name, x := range v.Members() {
		switch name {
		case "type":
			if typed = true; !x.Is("ephemeral") {
				p.violation(content.CodeValue, name, "Input should be 'ephemeral'")
			}
		case "ttl":
			c.TTL = p.choice(x, name, "'5m' or '1h'")
		default:
			more++
		}
	}
	if !typed {
		p.violation(content.CodeMissing, "type", textRequired)
	}
	if more > 0 {
		c.Extra = p.extra(v, &cacheNames)
	}
	return c
}

// tools reads the list of tools.
func (p *parser) tools(r *Request, v jsonwire.Value) {
	if !p.list(v, "tools") {
		return
	}
	n := v.Len()
	if !p.quota.Tools(n) {
		return
	}
	p.expect(n)
	r.Tools = make([]content.Tool, n)
	p.path.Push("tools")
	for i, x := range v.Elems() {
		p.path.PushIndex(i)
		p.tool(&r.Tools[i], x)
		p.path.Pop()
	}
	p.path.Pop()
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
		p.serverTool(t, v, kind.Str())
		return
	}
	p.path.Push("custom")
	p.customTool(t, v)
	p.path.Pop()
}

func (p *parser) customTool(t *content.Tool, v jsonwire.Value) {
	more := 0
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "name":
			t.Name = p.text(x, name)
		case "description":
			t.Description = p.optText(x, name)
		case "input_schema":
			t.Input.JSON = p.schema(x, name)
		case "strict":
			t.Strict = p.flag(x, name)
		case "cache_control":
			t.Cache = p.cache(x)
		default:
			more++
		}
	}
	if t.Name == "" {
		p.require(v, "name")
	}
	if t.Input.JSON == "" {
		p.require(v, "input_schema")
	}
	if more > 0 {
		t.Extra = p.extra(v, &toolNames)
	}
}

// serverTool keeps a tool that the vendor runs or defines as JSON text.
func (p *parser) serverTool(t *content.Tool, v jsonwire.Value, kind string) {
	t.Kind, t.Format, t.Raw = kind, Format, v.Raw()
	p.path.Push(codec.Clip(kind))
	if name := v.Get("name"); name.Exists() {
		t.Name = p.text(name, "name")
	}
	p.checkNames(v, &serverToolNames)
	p.path.Pop()
}

func (p *parser) toolChoice(v jsonwire.Value) *ToolChoice {
	c, more := &ToolChoice{}, 0
	if !p.beginUnion(v, "tool_choice", &c.Type) {
		return nil
	}
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "name":
			c.Name = p.optText(x, name)
		case "disable_parallel_tool_use":
			c.DisableParallelToolUse = p.flag(x, name)
		default:
			more++
		}
	}
	if c.Type == "tool" && c.Name == "" {
		p.require(v, "name")
	}
	if more > 0 {
		c.Extra = p.extra(v, &choiceNames)
	}
	p.endUnion()
	return c
}

func (p *parser) thinking(v jsonwire.Value) *Thinking {
	t, more := &Thinking{}, 0
	if !p.beginUnion(v, "thinking", &t.Type) {
		return nil
	}
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "budget_tokens":
			t.BudgetTokens = p.optInteger(x, name, new(int64))
		case "display":
			t.Display = p.choice(x, name, "'summarized' or 'omitted'")
		default:
			more++
		}
	}
	if more > 0 {
		t.Extra = p.extra(v, &thinkingNames)
	}
	p.endUnion()
	return t
}

// beginUnion begins to read an optional member that is a tagged object. It reads the
// tag and pushes name and tag to the path, and endUnion removes them. If beginUnion
// returns false, there is nothing to read and endUnion must not be called.
func (p *parser) beginUnion(v jsonwire.Value, name string, tag *string) bool {
	if !p.object(v, name) {
		return false
	}
	p.path.Push(name)
	*tag, _ = p.tag(v)
	p.path.Push(codec.Clip(*tag))
	return true
}

func (p *parser) endUnion() {
	p.path.Pop()
	p.path.Pop()
}

func (p *parser) metadata(v jsonwire.Value) *Metadata {
	if !p.object(v, "metadata") {
		return nil
	}
	p.path.Push("metadata")
	m, more := &Metadata{}, 0
	for name, x := range v.Members() {
		if name == "user_id" {
			m.UserID = p.optText(x, name)
		} else {
			more++
		}
	}
	if more > 0 {
		m.Extra = p.extra(v, &metadataNames)
	}
	p.path.Pop()
	if *m == (Metadata{}) {
		return nil
	}
	return m
}

func (p *parser) outputConfig(v jsonwire.Value) *OutputConfig {
	if !p.object(v, "output_config") {
		return nil
	}
	p.path.Push("output_config")
	c, more := &OutputConfig{}, 0
	for name, x := range v.Members() {
		switch name {
		case "effort":
			c.Effort = p.choice(x, name, efforts)
		case "format":
			c.Format = p.outputFormat(x, name)
		default:
			more++
		}
	}
	if more > 0 {
		c.Extra = p.extra(v, &outputConfigNames)
	}
	p.path.Pop()
	if *c == (OutputConfig{}) {
		return nil
	}
	return c
}

const efforts = "'low', 'medium', 'high', 'xhigh' or 'max'"

func (p *parser) outputFormat(v jsonwire.Value, member string) *OutputFormat {
	if !p.object(v, member) {
		return nil
	}
	p.path.Push(member)
	f, more := &OutputFormat{}, 0
	f.Type, _ = p.tag(v)
	for name, x := range v.Members() {
		switch name {
		case "type":
		case "schema":
			f.Schema = p.schema(x, name)
		default:
			more++
		}
	}
	if f.Schema == "" {
		p.require(v, "schema")
	}
	if more > 0 {
		f.Extra = p.extra(v, &outputFormatNames)
	}
	p.path.Pop()
	return f
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

// violation adds a violation at a member of the object at the path. An empty name
// means the object itself.
func (p *parser) violation(code content.Code, name, text string) {
	if p.violations.Len() >= content.MaxViolations {
		p.violations.Add(code, "", "") // counted, not stored
		return
	}
	if name == "" {
		p.violations.Add(code, p.path.At(), text)
		return
	}
	p.violations.Add(code, p.path.At(name), text)
}

// require reports a missing member of v. Callers call it only if the field of the
// member is zero, so a valid document needs no look-up.
func (p *parser) require(v jsonwire.Value, name string) {
	if !v.Get(name).Exists() {
		p.violation(content.CodeMissing, name, textRequired)
	}
}

// text reads a string.
func (p *parser) text(v jsonwire.Value, name string) string {
	if v.Kind() != jsonwire.String {
		p.violation(content.CodeType, name, textString)
		return ""
	}
	return v.Str()
}

// optText reads a string that may be null. An empty string counts as absent.
func (p *parser) optText(v jsonwire.Value, name string) string {
	switch v.Kind() {
	case jsonwire.String:
		return v.Str()
	case jsonwire.Null:
	default:
		p.violation(content.CodeType, name, textString)
	}
	return ""
}

// choice is optText for a member with a fixed set of values. It reports an empty
// string as a violation, because for Validate the empty field means a missing member.
func (p *parser) choice(v jsonwire.Value, name, allowed string) string {
	if v.Is("") {
		p.violation(content.CodeValue, name, "Input should be "+allowed)
		return ""
	}
	return p.optText(v, name)
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
func (p *parser) integer(v jsonwire.Value, name string) (n int64, ok bool) {
	if n, ok = v.Int(); !ok {
		p.violation(content.CodeType, name, textInteger)
		return 0, false
	}
	return n, true
}

// optInteger reads an integer that may be null. It stores the integer in to and
// returns to, or nil for null and for invalid values.
func (p *parser) optInteger(v jsonwire.Value, name string, to *int64) *int64 {
	if v.Kind() == jsonwire.Null {
		return nil
	}
	i, ok := p.integer(v, name)
	if !ok {
		return nil
	}
	*to = i
	return to
}

// optNumber is optInteger for any number.
func (p *parser) optNumber(v jsonwire.Value, name string, to *float64) *float64 {
	switch v.Kind() {
	case jsonwire.Null:
		return nil
	case jsonwire.Number:
	default:
		p.violation(content.CodeType, name, textNumber)
		return nil
	}
	f, ok := v.Float()
	if !ok {
		p.violation(content.CodeRange, name, textFinite)
		return nil
	}
	*to = f
	return to
}

// objectJSON returns the JSON text of a value that must be an object and may have any
// members.
func (p *parser) objectJSON(v jsonwire.Value, name string) string {
	if v.Kind() != jsonwire.Object {
		p.violation(content.CodeType, name, textNotObject)
		return ""
	}
	return v.Raw()
}

// schema returns the text of a schema.
func (p *parser) schema(v jsonwire.Value, name string) string {
	if !p.quota.Schema(v.Size()) {
		return ""
	}
	return p.objectJSON(v, name)
}

// raw returns the text of an optional member, which must be of kind a or b. Other
// kinds are violations with the given text.
func (p *parser) raw(v jsonwire.Value, name string, a, b jsonwire.Kind, text string) string {
	switch v.Kind() {
	case jsonwire.Null:
		return ""
	case a, b:
		return v.Raw()
	}
	p.violation(content.CodeType, name, text)
	return ""
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
