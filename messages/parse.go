package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// ParseRequest parses a request document. It copies body once, because the parts
// of the request share its memory; [ParseRequestString] does not copy.
//
// A document that is not valid JSON by RFC 8259, is not UTF-8, repeats a member name
// in an object, is nested deeper than 256 or has more than a million values is
// refused as a whole: the request is nil and the error a [*content.Violation] with
// line and column. So is a document beyond the defaults of Limits in [Options].
//
// Other documents are read to the end. The error then lists every violation
// ([content.Violations]) in the order in which it was found, and the request holds
// everything that could be read. [Request.Validate] reports these violations again,
// before its own.
//
// ParseRequest reports what a [Request] cannot hold: values of the wrong type,
// numbers that are not whole or not finite, objects without a "type" or with one
// that is unknown at that place, missing members that are required, and names that
// differ from a known one only in case or after a NUL. Of more than 100,000 messages
// it keeps the first 100,000. Validate checks all other rules.
func ParseRequest(body []byte) (*Request, error) { return ParseRequestString(string(body)) }

// ParseRequestString is [ParseRequest] without the copy.
func ParseRequestString(body string) (*Request, error) { return parseRequest(body, content.Limits{}) }

// parseRequest is ParseRequestString with limits: the depth, values, parts, tools
// and schemas of lim.
func parseRequest(body string, lim content.Limits) (*Request, error) {
	w := &whole{}
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
		p.violation(content.CodeType, "", textObject)
	} else {
		p.request(root, w)
		p.required(root, r)
	}
	if err := p.quota.Err(); err != nil {
		return nil, err
	}
	o.cost = p.quota.Cost()
	err := p.violations.Err()
	o.violations, o.more = content.Violations(err)
	return r, err
}

// whole is a request with everything of which it has one, in one allocation.
type whole struct {
	request   Request
	origin    origin
	doc       jsonwire.Doc
	maxTokens int64
	topK      int64
	heat      float64
	topP      float64
	// A request without a history needs no more than these.
	turns [1]content.Turn
	texts [1]content.Text
	parts [1]content.Part
}

// A parser makes a Request of a document that is valid JSON. It goes on after a
// violation: the field is left zero, or an Unknown takes the place of the part, so
// that indices stay the same.
type parser struct {
	// path has the vendor's style:
	// "messages.2.content.0.image.source.base64.data". The index or name of a
	// member of a union is followed by its tag: the type of a block in a message,
	// of a source, a citation, a tool ("custom" for one of the caller's), of
	// thinking and tool_choice. The texts of system and of search results are not
	// a union and have no tag. The path of a violation of the tag itself does not
	// include the tag: "messages.0.content.1.type".
	path       codec.Path
	violations content.ViolationList
	origin     *origin // nil for fragments of requests and for responses
	quota      codec.Quota
	size       int // expected number of turns or tools, which sizes chunks
	depth      int // of parts in parts

	texts    codec.Chunk[content.Text]
	calls    codec.Chunk[content.ToolUse]
	results  codec.Chunk[content.ToolResult]
	thoughts codec.Chunk[content.Thinking]
	images   codec.Chunk[content.Image]
	base64s  codec.Chunk[content.Base64]
	caches   codec.Chunk[content.Cache]
	extras   codec.Extras
	unknowns codec.Chunk[content.Unknown]
	nothing  content.Part // takes the place of values that are not blocks
	lists    codec.Chunk[content.Part]
}

// request reads the top level.
func (p *parser) request(v jsonwire.Value, w *whole) {
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
			r.Temperature = p.optNumber(x, name, &w.heat)
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
		p.need(v, "model")
	}
	if len(r.Messages) == 0 {
		p.need(v, "messages")
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
func (p *parser) messages(w *whole, v jsonwire.Value) {
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

// maxMessages is how many messages a request may have.
const maxMessages = 100_000

// expect prepares for a list of n messages or tools.
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
		p.need(v, "role")
	}
	if len(t.Parts) == 0 {
		p.need(v, "content")
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
