package generatecontent

import (
	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/violation"
)

// ParseRequest parses a request document. It copies body once, because strings of
// the request share its memory; [ParseRequestString] does not copy.
//
// The request is nil if body is not a JSON object as RFC 8259 defines it, is not
// UTF-8, repeats a member name in one object, or exceeds the default Limits of
// [Options]. The error is then a [*content.Violation]. An empty body is a request
// without contents, and fails as one.
//
// Otherwise ParseRequest reads the whole document. It returns the request with
// everything that it could read, and an error that lists all violations
// ([content.Violations]): values of a wrong type, parts with two data members, and
// unknown roles, function calling modes and thinking levels. [Request.Validate] reports
// these again, followed by the violations of all other rules.
//
// Names are accepted in camelCase and snake_case at every depth. A member in both
// spellings is a violation, and so is a name that differs from a known one only in
// case or after a NUL. The parser accepts an object as a list of one, numbers as strings,
// base64 in both alphabets, and enums in any case and, where the vendor's numbers are
// public, as numbers. A null member counts as missing. Inline data in another spelling
// of base64 is rewritten to the standard one. Parts without data and empty texts are
// dropped unless they are signed or nothing else remains. Unknown names are kept; see
// [ValidateOptions] for refusing them.
func ParseRequest(body []byte) (*Request, error) { return ParseRequestString(string(body)) }

// ParseRequestString is [ParseRequest] without the copy.
func ParseRequestString(body string) (*Request, error) {
	return parseRequest(body, reading{})
}

// ParseCountRequest is [ParseRequest] for the body of countTokens: the members of a
// request, or a whole request as "generateContentRequest", but not both.
func ParseCountRequest(body []byte) (*Request, error) {
	return parseRequest(string(body), reading{count: true})
}

// reading is how to read a document.
type reading struct {
	limits  content.Limits // depth, values, parts and tools count
	version string         // of the API, for type names; empty: v1beta
	count   bool           // the body is that of countTokens
}

// parseRequest reads a document.
func parseRequest(body string, how reading) (*Request, error) {
	w := &parsedRequest{}
	doc := &w.doc
	if err := doc.ParseSingle(body, jsonwire.Limits{Depth: how.limits.Depth, Values: how.limits.Values}); err != nil {
		return nil, syntaxViolation(err)
	}
	defer doc.Close()
	root := doc.Root()
	if root.Kind() != jsonwire.Object {
		return nil, &content.Violation{Code: content.CodeType, Text: "Invalid JSON payload received. The request must be an object."}
	}
	p := parser{origin: &w.origin, size: 1, version: how.version, quota: codec.NewQuota(how.limits)}
	if p.version == "" {
		p.version = "v1beta"
	}
	p.path.Style = codec.Bracketed
	p.texts.Seed(w.texts[:])
	p.lists.Seed(w.parts[:])
	r := &w.request
	r.origin = &w.origin
	w.origin.body = body
	if how.count {
		p.countRequest(root, w)
	} else {
		p.request(root, w)
	}
	if err := p.quota.Err(); err != nil {
		return nil, err
	}
	w.origin.cost = p.quota.Cost()
	err := p.violations.Err()
	w.origin.violations = codec.NewParseViolations(err, codec.Bracketed)
	return r, err
}

// A parsedRequest is a request with everything that it has once, in one allocation.
type parsedRequest struct {
	request     Request
	origin      origin
	doc         jsonwire.Doc
	config      GenerationConfig
	system      Instruction
	maxTokens   int64
	topK        int64
	temperature float64
	topP        float64
	// For requests with a single text.
	turns [1]content.Turn
	texts [1]content.Text
	parts [1]content.Part
}

// A parser makes a Request of a valid JSON document. It continues after a violation: an
// invalid value is left zero, or becomes an Unknown to keep the indices of others.
type parser struct {
	path       codec.Path
	violations violation.List
	origin     *origin
	quota      codec.Quota
	version    string
	size       int // the expected number of turns or tools
	turn       int // the turn that is being read

	emptyText bool // whether its parts have an empty text

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

// An openObject is an object whose members are being parsed.
type openObject struct {
	m    *message
	seen uint64
}

// field returns the number of the field of a member, or -1. It records a violation for a
// name that lenient parsers would read as another, and for a field that is set twice.
func (p *parser) field(o *openObject, name string) int {
	i := o.m.find(name)
	if i < 0 {
		p.unknownName(o.m, name)
		return -1
	}
	if o.seen&(1<<i) != 0 {
		p.violation(content.CodeUnknown, p.unknownNameText(name, "The field is already set as \""+o.m.camel[i]+
			"\" or \""+o.m.snake[i]+"\"."))
	}
	o.seen |= 1 << i
	return i
}

// countRequest parses the body of countTokens.
func (p *parser) countRequest(v jsonwire.Value, w *parsedRequest) {
	inner, name := v.Get("generateContentRequest"), "generateContentRequest"
	if !inner.Exists() {
		inner, name = v.Get("generate_content_request"), "generate_content_request"
	}
	if !inner.Exists() || inner.Kind() == jsonwire.Null {
		p.request(v, w)
		return
	}
	w.origin.nested = true
	o := openObject{m: countFields}
	for other := range v.Members() {
		if i := p.field(&o, other); i == fCountContents {
			p.violation(content.CodeType, "Invalid value (oneof), oneof field 'request' is already set. Cannot set 'contents'")
		} else if i < 0 && requestFields.find(other) >= 0 {
			p.violation(content.CodeUnknown, p.unknownNameText(other, "It belongs in \""+name+"\"."))
		}
	}
	if p.enter(inner, countFields, fCountRequest, name) {
		p.request(inner, w)
		p.path.Pop()
	}
}

// request parses the top level.
func (p *parser) request(v jsonwire.Value, w *parsedRequest) {
	r, m, o, more := &w.request, requestFields, openObject{m: requestFields}, false
	for name, x := range v.Members() {
		i := p.field(&o, name)
		switch i {
		case fModel:
			r.Model = p.text(x, m, i, name)
			if !w.origin.nested {
				w.origin.model = codec.ExtentOf(x)
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
			r.CachedContent = p.text(x, m, i, name)
		case fTier:
			r.ServiceTier = p.choice(x, m, i, name)
		case fStore:
			r.Store = p.optFlag(x, m, i, name)
		case fLabels:
			if p.quota.Members(x.Len()) {
				r.Labels = p.keptJSON(x, m, i, name)
			}
		case fContinuation:
			r.ContinuationToken = p.bytes(x, m, i, name)
		case fProcessing:
			r.ProcessingOptions = p.keptJSON(x, m, i, name)
		default:
			more = true
		}
	}
	if more {
		r.Extra = p.extra(v, m, requestTyped)
	}
}

// contents parses the turns.
func (p *parser) contents(w *parsedRequest, v jsonwire.Value) {
	n := size(v)
	if n == 0 {
		return
	}
	if !p.quota.Turns(n) {
		return
	}
	p.setExpected(n)
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

// setExpected prepares for a list of n turns or tools.
func (p *parser) setExpected(n int) { p.size = max(p.size, min(n/4, codec.LargestChunk/4)) }

// content parses one turn.
func (p *parser) content(t *content.Turn, v jsonwire.Value) {
	if !p.isObject(v, contentFields) {
		return
	}
	o, more := openObject{m: contentFields}, false
	t.Role = content.RoleUser
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fRole:
			p.role(t, x, name)
		case fParts:
			t.Parts = p.parts(x)
		default:
			more = true
		}
	}
	if more {
		t.Extra = p.extra(v, contentFields, contentTyped)
	}
}

// role parses the role of a turn: "model" is the assistant, every other valid role is the
// user. An invalid role is left empty.
func (p *parser) role(t *content.Turn, x jsonwire.Value, name string) {
	switch {
	case x.Is("user"), x.Is(""), x.Is("function"), x.Kind() == jsonwire.Null:
	case x.Is("model"):
		t.Role = content.RoleAssistant
	case x.Is("tool"): // of other vendors; clients use it for results
		p.path.Push("role")
		if unknown := &p.origin.unknown; unknown.Len() < content.MaxViolations {
			unknown.Add(content.CodeValue, p.path.At(), "Please use a valid role: user, model.")
		}
		p.path.Pop()
	case x.Kind() == jsonwire.String:
		p.path.Push("role")
		p.violation(content.CodeValue, "Please use a valid role: user, model.")
		p.path.Pop()
		t.Role = ""
	default:
		p.mismatch(x, contentFields, fRole, name)
		t.Role = ""
	}
}

// system parses the system instruction.
func (p *parser) system(w *parsedRequest, v jsonwire.Value, name string) {
	if !p.enter(v, requestFields, fSystem, name) {
		return
	}
	s, o, more := &w.system, openObject{m: contentFields}, false
	p.turn = -1
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fRole:
			if x.Kind() != jsonwire.String && x.Kind() != jsonwire.Null {
				p.mismatch(x, contentFields, i, name)
			}
		case fParts:
			s.Parts = p.parts(x)
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

// config parses the generation config.
func (p *parser) config(w *parsedRequest, v jsonwire.Value, name string) {
	if !p.enter(v, requestFields, fGenConfig, name) {
		return
	}
	defer p.path.Pop()
	c, m, o, more := &w.config, configFields, openObject{m: configFields}, false
	w.request.GenerationConfig = c
	for name, x := range v.Members() {
		i := p.field(&o, name)
		switch i {
		case fTemperature:
			c.Temperature = p.number(x, m, i, name, &w.temperature)
		case fTopP:
			c.TopP = p.number(x, m, i, name, &w.topP)
		case fTopK:
			c.TopK = p.integer(x, m, i, name, &w.topK)
		case fMaxTokens:
			c.MaxOutputTokens = p.integer(x, m, i, name, &w.maxTokens)
		case fStop:
			c.StopSequences = p.strings(x, m, i)
		case fMimeType:
			c.ResponseMimeType = p.text(x, m, i, name)
		case fModalities:
			c.ResponseModalities = p.modalities(x)
		case fImage:
			c.ImageConfig = p.imageConfig(x, name)
		case fThinking:
			c.ThinkingConfig = p.thinking(x, name)
		case fCandidates:
			var n int64
			p.integer(x, m, i, name, &n)
			c.CandidateCount = n
		case fPresence:
			c.PresencePenalty = p.number(x, m, i, name, new(float64))
		case fFrequency:
			c.FrequencyPenalty = p.number(x, m, i, name, new(float64))
		case fSeed:
			c.Seed = p.integer(x, m, i, name, new(int64))
		case fLogprobsOn:
			c.ResponseLogprobs = p.flag(x, m, i, name)
		case fLogprobs:
			c.Logprobs = p.integer(x, m, i, name, new(int64))
		case fSchema:
			if p.quota.Schema(x.Size()) {
				c.ResponseSchema = p.keptJSON(x, m, i, name)
			}
		case fJSONSchema, fOlderSchema:
			if x.Kind() == jsonwire.Null || !p.quota.Schema(x.Size()) {
				break
			}
			if c.ResponseJSONSchema != "" {
				p.violation(content.CodeUnknown, p.unknownNameText(name, "The field is already set in another spelling."))
			}
			c.ResponseJSONSchema = x.Raw()
		case fFormat:
			if p.quota.Schema(x.Size()) {
				c.ResponseFormat = p.keptJSON(x, m, i, name)
			}
		case fSpeech:
			c.SpeechConfig = p.keptJSON(x, m, i, name)
		case fResolution:
			c.MediaResolution = p.choice(x, m, i, name)
		default:
			more = true
		}
	}
	if more {
		c.Extra = p.extraWithout(v, m, 1<<configTyped-1|1<<fOlderSchema)
	}
}

func (p *parser) modalities(v jsonwire.Value) []string {
	n := size(v)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	p.each(v, configFields, fModalities, func(k int, x jsonwire.Value) {
		f := &configFields.fields[fModalities]
		if list[k] = modality.read(x); list[k] == "" {
			p.wrongKind(x, f, configFields)
		} else if !modality.has(list[k]) {
			p.unknownValue(x, f, configFields)
		}
	})
	return list
}

func (p *parser) imageConfig(v jsonwire.Value, name string) *ImageConfig {
	if !p.enter(v, configFields, fImage, name) {
		return nil
	}
	defer p.path.Pop()
	c, m, o, more := &ImageConfig{}, imageFields, openObject{m: imageFields}, false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fAspectRatio:
			c.AspectRatio = p.text(x, m, i, name)
		case fImageSize:
			c.ImageSize = p.text(x, m, i, name)
		default:
			more = true
		}
	}
	if more {
		c.Extra = p.extra(v, m, imageTyped)
	}
	return c
}

func (p *parser) thinking(v jsonwire.Value, name string) *ThinkingConfig {
	if !p.enter(v, configFields, fThinking, name) {
		return nil
	}
	defer p.path.Pop()
	c, m, o, more := &ThinkingConfig{}, thinkingFields, openObject{m: thinkingFields}, false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fIncludeThoughts:
			c.IncludeThoughts = p.optFlag(x, m, i, name)
		case fBudget:
			c.ThinkingBudget = p.integer(x, m, i, name, new(int64))
		case fLevel:
			c.ThinkingLevel = p.choice(x, m, i, name)
		default:
			more = true
		}
	}
	if more {
		c.Extra = p.extra(v, m, thinkingTyped)
	}
	return c
}

// tools parses all tool objects into one list and records the place of each tool.
func (p *parser) tools(r *Request, v jsonwire.Value) {
	if size(v) == 0 {
		return
	}
	n := countTools(v)
	if !p.quota.Tools(max(n, size(v))) {
		return
	}
	p.setExpected(n)
	if n > 0 {
		r.Tools = make([]content.Tool, 0, n)
		p.origin.tools = make([]place, 0, n)
	}
	p.each(v, requestFields, fTools, func(k int, x jsonwire.Value) {
		if p.isObject(x, toolFields) {
			p.tool(r, x, k)
		}
	})
}

// countTools returns an upper bound of the number of tools in all objects.
func countTools(v jsonwire.Value) (n int) {
	add := func(x jsonwire.Value) {
		for name, y := range x.Members() {
			if toolFields.find(name) == fDeclarations {
				n += size(y)
			} else {
				n++
			}
		}
	}
	add(v)
	for _, x := range v.Elems() {
		add(x)
	}
	return n
}

// tool parses the k-th tool object.
func (p *parser) tool(r *Request, v jsonwire.Value, k int) {
	o := openObject{m: toolFields}
	for name, x := range v.Members() {
		i := p.field(&o, name)
		switch {
		case i == fDeclarations:
			if size(x) > 0 {
				p.each(x, toolFields, i, func(n int, y jsonwire.Value) {
					r.Tools = append(r.Tools, content.Tool{})
					p.origin.tools = append(p.origin.tools, place{k, n})
					p.declaration(&r.Tools[len(r.Tools)-1], y)
				})
			}
		case x.Kind() == jsonwire.Null:
		case name == "": // a tool without a kind would be a function
			p.violation(content.CodeUnknown, p.unknownNameText(name, "Cannot find field."))
		default:
			t := content.Tool{Kind: name, Format: Format, Raw: x.Raw()}
			if i >= 0 {
				t.Kind, t.Raw = toolFields.camel[i], p.keptJSON(x, toolFields, i, name)
			}
			r.Tools = append(r.Tools, t)
			p.origin.tools = append(p.origin.tools, place{k, builtIn})
		}
	}
}

// declaration parses a function declaration.
func (p *parser) declaration(t *content.Tool, v jsonwire.Value) {
	m := declFields
	if !p.isObject(v, m) {
		return
	}
	o, more := openObject{m: m}, false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fDeclName:
			t.Name = p.text(x, m, i, name)
		case fDeclText:
			t.Description = p.text(x, m, i, name)
		case fDeclParams, fDeclParamsJSON:
			p.schema(&t.Input, x, i, name)
		case fDeclResponse, fDeclResponseJSON:
			p.schema(&t.Output, x, i, name)
		default:
			more = true
		}
	}
	if more {
		t.Extra = p.extra(v, m, declTyped)
	}
}

// schema parses a schema. A function has one of the two dialects.
func (p *parser) schema(s *content.Schema, x jsonwire.Value, i int, name string) {
	text, openAPI := "", declFields.fields[i].kind == kMessage
	if x.Kind() != jsonwire.Null && p.quota.Schema(x.Size()) {
		text = p.keptJSON(x, declFields, i, name)
	}
	switch {
	case text == "":
	case s.JSON != "":
		old := i ^ 1 // the two dialects of a schema are adjacent in the table
		p.violation(content.CodeConflict, declFields.snake[min(i, old)]+" and "+declFields.snake[max(i, old)]+
			" must not both be set")
	default:
		s.JSON, s.OpenAPI = text, openAPI
	}
}

// toolConfig parses the tool config.
func (p *parser) toolConfig(r *Request, v jsonwire.Value, name string) *ToolConfig {
	if !p.enter(v, requestFields, fToolConfig, name) {
		return nil
	}
	defer p.path.Pop()
	c, m, o, more := &ToolConfig{}, toolConfigFields, openObject{m: toolConfigFields}, false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fCalling:
			c.FunctionCalling = p.functionCalling(c, x, name)
		case fRetrieval:
			c.RetrievalConfig = p.keptJSON(x, m, i, name)
		case fServerSide:
			c.IncludeServerSideToolInvocations = p.flag(x, m, i, name)
		default:
			more = true
		}
	}
	if more {
		c.Extra = p.extra(v, m, toolConfigTyped)
	}
	return c
}

// functionCalling parses the function calling config.
func (p *parser) functionCalling(c *ToolConfig, v jsonwire.Value, name string) *FunctionCalling {
	if !p.enter(v, toolConfigFields, fCalling, name) {
		return nil
	}
	defer p.path.Pop()
	f, m, o, more := &FunctionCalling{}, callingFields, openObject{m: callingFields}, false
	for name, x := range v.Members() {
		switch i := p.field(&o, name); i {
		case fMode:
			f.Mode = p.choice(x, m, i, name)
		case fAllowed:
			f.AllowedFunctionNames = p.strings(x, m, i)
		default:
			more = true
		}
	}
	if more {
		f.Extra = p.extra(v, m, callingTyped)
	}
	return f
}

// safety parses the safety settings.
func (p *parser) safety(r *Request, v jsonwire.Value) {
	n := size(v)
	if n == 0 {
		return
	}
	if !p.quota.Parts(n) {
		return
	}
	r.SafetySettings = make([]SafetySetting, n)
	p.each(v, requestFields, fSafety, func(k int, x jsonwire.Value) {
		s, m, o, more := &r.SafetySettings[k], safetyFields, openObject{m: safetyFields}, false
		if !p.isObject(x, m) {
			return
		}
		for name, y := range x.Members() {
			switch i := p.field(&o, name); i {
			case fCategory:
				s.Category = p.choice(y, m, i, name)
			case fThreshold:
				s.Threshold = p.choice(y, m, i, name)
			default:
				more = true
			}
		}
		if more {
			s.Extra = p.extra(x, m, safetyTyped)
		}
	})
}
