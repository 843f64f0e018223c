package messages

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// ParseRequest reads a request document. It copies body once, because the
// parts of the request share its memory; [ParseRequestString] does without.
//
// What is no JSON document by the letter of RFC 8259, is not UTF-8, has a
// member name twice in one object, is nested deeper than 256 or holds more
// than a million values, is refused as a whole: the request is nil and the
// error a [*content.Violation] that says what is wrong, and in which line and
// column. Everything else is read to the end. The error then lists every fault
// ([content.Violations]), in the order of the document, and the request holds
// what could be read all the same; [Request.Validate] tells these faults
// again, together with its own.
//
// ParseRequest reports what a [Request] cannot hold: values of the wrong type,
// numbers that are not whole or not finite, objects without the "type" that
// says what they are or with one that is not known there, required members
// that are missing, and names that differ from a known one only in case or
// behind a NUL. Of more than 100,000 messages it reports so and keeps the first
// 100,000. A document beyond the defaults of Limits in [Options] is an error
// without a request. All other rules are Validate's.
func ParseRequest(body []byte) (*Request, error) { return ParseRequestString(string(body)) }

// ParseRequestString is [ParseRequest] without the copy.
func ParseRequestString(body string) (*Request, error) {
	r, err := parseRequest(body, content.Limits{})
	if r != nil && err == nil {
		r.seal()
	}
	return r, err
}

// parseRequest reads a document within limits of its own. Depth, values, parts
// and tools of lim count. It does not seal the request.
func parseRequest(body string, lim content.Limits) (*Request, error) {
	w := &whole{}
	doc := &w.doc
	if err := doc.ParseOnce(body, jsonwire.Limits{Depth: lim.Depth, Values: lim.Values}); err != nil {
		return nil, syntaxError(err)
	}
	defer doc.Close()
	p := parser{form: &w.form, size: 1, quota: codec.NewQuota(lim)}
	p.texts.Seed(w.texts[:])
	p.lists.Seed(w.parts[:])
	r := &w.request
	r.Form = &w.form
	w.form.body, w.form.notes, w.form.plain = body, w.notes[:0], w.plain[:0]
	root := doc.Root()
	if root.Kind() != jsonwire.Object {
		p.fault(content.CodeType, "", textObject)
	} else {
		p.request(root, w)
		p.required(root, r)
	}
	if err := p.quota.Err(); err != nil {
		return nil, err
	}
	w.form.cost = p.quota.Cost()
	if p.faults.Len() == 0 {
		return r, nil
	}
	list, more := content.Violations(p.faults.Err())
	w.form.wrong = &wrong{inOrder(doc, list), more}
	return r, w.form.wrong.err()
}

// whole is a request with everything that it has once, in one allocation.
type whole struct {
	request   Request
	form      Form
	doc       jsonwire.Doc
	maxTokens int64
	topK      int64
	heat      float64
	topP      float64
	// What a question without a history needs.
	turns [1]content.Turn
	texts [1]content.Text
	parts [1]content.Part
	notes [2]codec.Note
	plain [1]*content.Text
}

// A parser makes a Request of a checked document. It goes on after a fault:
// what has one is left zero, or stands in as an Unknown, so that places keep
// their numbers.
type parser struct {
	// path is told in the vendor's style:
	// "messages.2.content.0.image.source.base64.data". Behind the place of a
	// member of a union stands its tag: the type of a block in a message, of a
	// source, a citation, a tool ("custom" for one of the caller's), of thinking
	// and tool_choice. The texts of system and of search results are of no union
	// and have no tag. A fault of the tag itself is told of the place without
	// it: "messages.0.content.1.type".
	path   codec.Path
	faults content.ViolationList
	form   *Form
	quota  codec.Quota
	size   int // how much of everything to expect
	depth  int // of parts in parts

	texts    codec.Chunk[content.Text]
	calls    codec.Chunk[content.ToolUse]
	results  codec.Chunk[content.ToolResult]
	thoughts codec.Chunk[content.Thinking]
	images   codec.Chunk[content.Image]
	base64s  codec.Chunk[content.Base64]
	caches   codec.Chunk[content.Cache]
	extras   codec.Extras
	unknowns codec.Chunk[content.Unknown]
	nothing  content.Part // what stands for a block that is none
	lists    codec.Chunk[content.Part]
}

// request reads the top level.
func (p *parser) request(v jsonwire.Value, w *whole) {
	r, more := &w.request, 0
	for name, x := range v.Members() {
		switch name {
		case "model":
			r.Model = p.text(x, name)
			w.form.model = codec.ExtentOf(x)
		case "max_tokens":
			r.MaxTokens = p.optInteger(r, x, name, &w.maxTokens)
		case "messages":
			p.messages(w, x)
		case "system":
			r.System = p.content(r, x, name, false)
		case "stream":
			r.Stream = p.flag(r, x, name)
			w.form.stream = codec.ExtentOf(x)
		case "stop_sequences":
			r.StopSequences = p.strings(r, x, name)
		case "temperature":
			r.Temperature = p.optNumber(r, x, name, &w.heat)
		case "top_p":
			r.TopP = p.optNumber(r, x, name, &w.topP)
		case "top_k":
			r.TopK = p.optInteger(r, x, name, &w.topK)
		case "tools":
			p.tools(r, x)
		case "service_tier":
			r.ServiceTier = p.choice(r, x, name, "'auto' or 'standard_only'")
		case "inference_geo":
			r.InferenceGeo = p.optText(r, x, name)
		case "speed":
			r.Speed = p.choice(r, x, name, "'standard' or 'fast'")
		case "cache_control":
			r.CacheControl = p.cache(r, x)
		default:
			if !p.settings(x, name, r) && !p.beta(x, name, r) {
				more++
			}
		}
	}
	if more > 0 {
		r.Extra = p.extra(r, v, &requestNames)
	}
}

// required reports what a whole request lacks. max_tokens is left to Validate,
// because count_tokens does without.
func (p *parser) required(v jsonwire.Value, r *Request) {
	if r.Model == "" {
		p.need(v, "model")
	}
	if len(r.Messages) == 0 {
		p.need(v, "messages")
	}
}

// settings reads the members of the top level that are objects of their own.
func (p *parser) settings(v jsonwire.Value, name string, r *Request) bool {
	switch name {
	case "metadata":
		r.Metadata = p.metadata(r, v)
	case "tool_choice":
		r.ToolChoice = p.toolChoice(r, v)
	case "thinking":
		r.Thinking = p.thinking(r, v)
	case "output_config":
		r.OutputConfig = p.outputConfig(r, v)
	case "output_format":
		r.OutputFormat = p.outputFormat(r, v, name)
	default:
		return false
	}
	return true
}

// beta reads the members of the top level that stay JSON text.
func (p *parser) beta(v jsonwire.Value, name string, r *Request) bool {
	const obj, str, arr = jsonwire.Object, jsonwire.String, jsonwire.Array
	switch name {
	case "container":
		r.Container = p.raw(r, v, name, str, obj, "Input should be a valid string or an object")
	case "diagnostics":
		r.Diagnostics = p.raw(r, v, name, obj, obj, textObject)
	case "mcp_servers":
		r.MCPServers = p.raw(r, v, name, arr, arr, textList)
	case "context_management":
		r.ContextManagement = p.raw(r, v, name, obj, obj, textObject)
	case "compaction":
		r.Compaction = p.raw(r, v, name, obj, obj, textObject)
	case "thread":
		r.Thread = p.raw(r, v, name, obj, obj, textObject)
	case "fallbacks":
		r.Fallbacks = p.raw(r, v, name, str, arr, "Input should be a valid string or list")
	case "fallback_credit_token":
		r.FallbackCreditToken = p.raw(r, v, name, str, obj, "Input should be a valid string or an object")
	case "billing_policy":
		r.BillingPolicy = p.raw(r, v, name, obj, obj, textObject)
	default:
		return false
	}
	return true
}

// messages reads the turns.
func (p *parser) messages(w *whole, v jsonwire.Value) {
	if v.Kind() != jsonwire.Array {
		p.fault(content.CodeType, "messages", textList)
		return
	}
	n := v.Len()
	if n == 0 {
		return
	}
	if n > maxMessages {
		p.fault(content.CodeLimit, "messages", textItems(maxMessages, n))
		n = maxMessages
	}
	p.expect(n)
	w.form.turns = len(w.form.free)
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
		p.fault(content.CodeType, "", textObject)
		return
	}
	more := 0
	for name, x := range v.Members() {
		switch name {
		case "role":
			t.Role = content.Role(p.text(x, name))
		case "content":
			if x.Kind() == jsonwire.Null {
				p.fault(content.CodeType, name, textList)
				continue
			}
			t.Parts = p.content(t, x, name, true)
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
		t.Extra = p.extra(t, v, &messageNames)
	}
}

// strings reads a list of strings.
func (p *parser) strings(node any, v jsonwire.Value, name string) []string {
	if !p.list(node, v, name) {
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
		p.fault(content.CodeType, "", textString)
		p.path.Pop()
	}
	p.path.Pop()
	return list
}
