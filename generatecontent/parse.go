package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

// ParseRequest reads a request document. It copies body once, because the
// parts of the request share its memory; [ParseRequestString] does without.
//
// What is no JSON object by the letter of RFC 8259, is not UTF-8, has a
// member name twice in one object, is nested deeper than 256 or holds more
// than a million values, is refused as a whole: the request is nil and the
// error a [*content.Violation] that says what is wrong, and where; a body without
// anything in it lacks its contents. Everything else
// is read to the end. The error then lists every fault ([content.Violations])
// and the request holds what could be read all the same; [Request.Validate]
// tells these faults again, together with its own.
//
// Fields are known in camelCase and in snake_case at every depth; one field in
// both spellings is a fault, and so is a name that differs from a known one
// only in case or behind a NUL. One object stands for a list of one; enums may
// be in any case, or numbers where the vendor's numbers are public; numbers may
// be strings; base64 may be of either alphabet; null is no value. Inline data in
// another spelling of base64 is rewritten to the standard one. Parts without
// data, and empty texts, are left out unless they are signed or nothing else
// remains. Names that are not known are kept; see [ValidateOptions] for refusing them.
//
// ParseRequest reports what a [Request] cannot hold: values of the wrong type,
// parts with two data members, roles and enum names that do not exist. A
// document beyond the defaults of Limits in [Options] is an error without a
// request. All other rules are Validate's.
func ParseRequest(body []byte) (*Request, error) { return ParseRequestString(string(body)) }

// ParseRequestString is [ParseRequest] without the copy.
func ParseRequestString(body string) (*Request, error) {
	r, err := parseRequest(body, reading{})
	if r != nil && err == nil {
		r.seal()
	}
	return r, err
}

// ParseCountRequest reads the body of countTokens: the members of a request, or
// a whole request as "generateContentRequest", never both. Otherwise it is as
// [ParseRequest]. A request of the second form has no Wire.
func ParseCountRequest(body []byte) (*Request, error) {
	r, err := parseRequest(string(body), reading{count: true})
	if r != nil && err == nil {
		r.seal()
	}
	return r, err
}

// reading is how to read a document.
type reading struct {
	limits  content.Limits // depth, values, parts and tools count
	version string         // of the API, as it stands in type names; empty: v1beta
	count   bool           // the body is that of countTokens
}

// parseRequest reads a document. It does not seal the request: who changes it
// before Upstream loses the document.
func parseRequest(body string, how reading) (*Request, error) {
	w := &whole{}
	doc := &w.doc
	if err := doc.ParseOnce(body, jsonwire.Limits{Depth: how.limits.Depth, Values: how.limits.Values}); err != nil {
		return nil, syntaxError(err)
	}
	defer doc.Close()
	root := doc.Root()
	if root.Kind() != jsonwire.Object {
		return nil, &content.Violation{Code: content.CodeType, Text: "Invalid JSON payload received. The request must be an object."}
	}
	p := parser{form: &w.form, size: 1, version: how.version, quota: codec.NewQuota(how.limits)}
	if p.version == "" {
		p.version = "v1beta"
	}
	p.path.Style = codec.Bracketed
	p.texts.Seed(w.texts[:])
	p.lists.Seed(w.parts[:])
	r := &w.request
	r.Form = &w.form
	w.form.body, w.form.notes = body, w.notes[:0]
	if how.count {
		p.counted(root, w)
	} else {
		p.request(root, w)
	}
	if err := p.quota.Err(); err != nil {
		return nil, err
	}
	w.form.cost = p.quota.Cost()
	if p.faults.Len() == 0 {
		return r, nil
	}
	list, more := content.Violations(p.faults.Err())
	w.form.wrong = &wrong{list, more}
	return r, w.form.wrong.err()
}

// whole is a request with everything that it has once, in one allocation.
type whole struct {
	request   Request
	form      Form
	doc       jsonwire.Doc
	config    GenerationConfig
	system    Instruction
	maxTokens int64
	topK      int64
	heat      float64
	topP      float64
	// What a question without a history needs.
	turns [1]content.Turn
	texts [1]content.Text
	parts [1]content.Part
	notes [2]codec.Note
}

// A parser makes a Request of a checked document. It goes on after a fault:
// what has one is left zero, or stands in as an Unknown, so that places keep
// their numbers.
type parser struct {
	path    codec.Path
	faults  content.ViolationList
	form    *Form
	quota   codec.Quota
	version string
	size    int // how much of everything to expect
	turn    int // the turn that is being read

	emptyText bool // its parts have a text, which is empty

	texts    codec.Chunk[content.Text]
	calls    codec.Chunk[content.ToolUse]
	results  codec.Chunk[content.ToolResult]
	thoughts codec.Chunk[content.Thinking]
	images   codec.Chunk[content.Image]
	others   codec.Chunk[content.Unknown]
	base64s  codec.Chunk[content.Base64]
	lists    codec.Chunk[content.Part]
	extras   codec.Extras
}

// An opened object is one whose members are being read.
type opened struct {
	m    *message
	seen uint64
}

// field returns the number of the field that a member is, or -1. It reports
// names that laxer readers would take for others, and fields that come twice.
func (p *parser) field(o *opened, name string) int {
	i := o.m.find(name)
	if i < 0 {
		p.unknown(o.m, name)
		return -1
	}
	if o.seen&(1<<i) != 0 {
		p.fault(content.CodeUnknown, p.unknownName(name, "The field is already set as \""+o.m.camel[i]+
			"\" or \""+o.m.snake[i]+"\"."))
	}
	o.seen |= 1 << i
	return i
}

// counted reads the body of countTokens.
func (p *parser) counted(v jsonwire.Value, w *whole) {
	inner, name := v.Get("generateContentRequest"), "generateContentRequest"
	if !inner.Exists() {
		inner, name = v.Get("generate_content_request"), "generate_content_request"
	}
	if !inner.Exists() || inner.Kind() == jsonwire.Null {
		p.request(v, w)
		return
	}
	w.form.nested = true
	o := opened{m: countFields}
	for other := range v.Members() {
		if i := p.field(&o, other); i == fCountContents {
			p.fault(content.CodeType, "Invalid value (oneof), oneof field 'request' is already set. Cannot set 'contents'")
		} else if i < 0 && requestFields.find(other) >= 0 {
			p.fault(content.CodeUnknown, p.unknownName(other, "It stands in \""+name+"\"."))
		}
	}
	if p.enter(inner, countFields, fCountRequest, name) {
		p.request(inner, w)
		p.path.Pop()
	}
}

// request reads the top level.
func (p *parser) request(v jsonwire.Value, w *whole) {
	r, m, o, more := &w.request, requestFields, opened{m: requestFields}, false
	for name, x := range v.Members() {
		i := p.field(&o, name)
		switch i {
		case fModel:
			r.Model = p.text(r, x, m, i, name)
			if !w.form.nested {
				w.form.model = codec.ExtentOf(x)
			}
		case fContents:
			p.contents(w, x)
		case fSystem:
			p.system(w, x, name)
		case fTools:
			p.tools(r, x)
		case fToolConfig:
			r.ToolConfig = p.toolConfig(r, x, name)
		case fSafety:
			p.safety(r, x)
		case fGenConfig:
			p.config(w, x, name)
		case fCached:
			r.CachedContent = p.text(r, x, m, i, name)
		case fTier:
			r.ServiceTier = p.choice(r, x, m, i, name)
		case fStore:
			r.Store = p.optFlag(x, m, i, name)
		case fLabels:
			if p.quota.Members(x.Len()) {
				r.Labels = p.kept(x, m, i, name)
			}
		case fContinuation:
			r.ContinuationToken = p.bytes(r, x, m, i, name)
		case fProcessing:
			r.ProcessingOptions = p.kept(x, m, i, name)
		default:
			more = true
		}
	}
	if more {
		r.Extra = p.extra(v, m, requestTyped)
	}
}

// contents reads the turns.
func (p *parser) contents(w *whole, v jsonwire.Value) {
	n := size(v)
	if n == 0 {
		p.noteEmpty(&w.request, v, "contents")
		return
	}
	if !p.quota.Turns(n) {
		return
	}
	p.expect(n)
	turns := w.turns[:]
	if n > 1 {
		turns = make([]content.Turn, n)
	}
	w.request.Contents = turns
	p.each(v, requestFields, fContents, func(i int, x jsonwire.Value) {
		p.turn = i
		if !p.quota.Exceeded() {
			p.content(&turns[i], x)
		}
	})
}

// expect prepares for a list of n turns or tools.
func (p *parser) expect(n int) { p.size = max(p.size, min(n/4, codec.LargestChunk/4)) }

// content reads one turn.
func (p *parser) content(t *content.Turn, v jsonwire.Value) {
	if !p.isObject(v, contentFields) {
		return
	}
	o, more, role := opened{m: contentFields}, false, codec.Absent
	t.Role = content.RoleUser
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fRole:
			role = p.role(t, x, name)
		case fParts:
			t.Parts = p.parts(t, x)
		default:
			more = true
		}
	}
	if role != "user" && t.Role == content.RoleUser {
		p.note(t, "role", role)
	}
	if more {
		t.Extra = p.extra(v, contentFields, contentTyped)
	}
}

// role reads who speaks, and returns how that was spelled if not in the usual
// way.
func (p *parser) role(t *content.Turn, x jsonwire.Value, name string) (spelled string) {
	switch {
	case x.Is("user"):
		return "user"
	case x.Is("model"):
		t.Role = content.RoleAssistant
		return "user"
	case x.Kind() == jsonwire.Null:
		return codec.Absent
	case x.Is(""), x.Is("function"):
		return x.Raw()
	case x.Is("tool"): // of other vendors; clients use it for results
		p.path.Push("role")
		if odd := &p.form.odd; odd.Len() < content.MaxViolations {
			odd.Add(content.CodeValue, p.path.At(), "Please use a valid role: user, model.")
		}
		p.path.Pop()
		return `"function"`
	case x.Kind() == jsonwire.String:
		p.path.Push("role")
		p.fault(content.CodeValue, "Please use a valid role: user, model.")
		p.path.Pop()
	default:
		p.mismatch(x, contentFields, fRole, name)
	}
	return "user"
}

// system reads the system instruction.
func (p *parser) system(w *whole, v jsonwire.Value, name string) {
	if !p.enter(v, requestFields, fSystem, name) {
		return
	}
	s, o, more := &w.system, opened{m: contentFields}, false
	p.turn = -1
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fRole:
			if x.Kind() == jsonwire.String {
				p.note(s, "role", x.Raw())
			} else if x.Kind() != jsonwire.Null {
				p.mismatch(x, contentFields, i, name)
			}
		case fParts:
			s.Parts = p.parts(s, x)
		default:
			more = true
		}
	}
	if more {
		s.Extra = p.extra(v, contentFields, contentTyped)
	}
	w.request.SystemInstruction = s
	p.path.Pop()
}
