package generatecontent

import (
	"cmp"
	"strings"
	"sync"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/object"
)

// ParseRequest parses a request document. The strings of the request share
// the memory of a body that is a string; bytes are copied first.
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
func ParseRequest[T ~string | ~[]byte](body T) (*Request, error) {
	return parseRequest(string(body), reading{})
}

// ParseCountRequest is [ParseRequest] for the body of countTokens: the members of a
// request, or a whole request as "generateContentRequest", but not both.
func ParseCountRequest[T ~string | ~[]byte](body T) (*Request, error) {
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
	p := newParser(w)
	defer p.close()
	r, o := &w.request, &w.origin
	root, err := p.Begin(body, &how.limits, &o.Origin)
	if err != nil {
		return nil, syntaxViolation(err)
	}
	if root.Kind() != jsonwire.Object {
		return nil, &content.Violation{Code: content.CodeType, Text: "Invalid JSON payload received. The request must be an object."}
	}
	p.version = cmp.Or(how.version, p.version)
	r.origin, p.Root, p.IsReplaced = o, r, isReplaced
	if how.count {
		p.countRequest(root)
	} else {
		p.Read(root, requestType, r)
	}
	if err := p.Quota.Err(); err != nil {
		return nil, err
	}
	o.Lenient = o.Lenient || p.Null
	return r, o.Finish(&p.Quota, &p.Violations, codec.Bracketed)
}

// A parsedRequest is a request with everything that it has once, in one allocation.
type parsedRequest struct {
	request  Request
	origin   origin
	config   GenerationConfig
	system   Instruction
	flags    [1]bool
	integers [2]int64
	numbers  [2]float64
	// For requests with a single text.
	turns [1]content.Turn
	texts [1]content.Text
	parts [1]content.Part
}

// A parser makes a Request of a valid JSON document, by the tables of objects. It continues
// after a violation: an invalid value is left zero, or becomes an Unknown to keep the indices
// of others.
type parser struct {
	object.Log
	object.Reader
	into    *parsedRequest // nil for responses
	origin  *origin
	version string
	turn    int // the turn that is being read

	emptyText bool // whether its parts have an empty text

	// The results of the checks of the latest value that is kept as JSON text.
	latestEnum  string // the latest enum in it
	validSchema bool   // it has no violations, also of the rules of schemas
	plainObject bool   // it is a schema of an object that is not nullable

	// The function response that is being read.
	response, files jsonwire.Value

	texts    codec.Chunk[content.Text]
	calls    codec.Chunk[content.ToolUse]
	results  codec.Chunk[content.ToolResult]
	thoughts codec.Chunk[content.Thinking]
	images   codec.Chunk[content.Image]
	base64s  codec.Chunk[content.Base64]
	lists    codec.Chunk[content.Part]
	out      rewriter
}

// parsers has parsers that are not used, because one on the stack could not be an
// [object.Format].
var parsers = sync.Pool{New: func() any { return new(parser) }}

// newParser returns a parser for a request, which the caller must close.
func newParser(w *parsedRequest) *parser {
	p := parsers.Get().(*parser)
	p.begin(&w.origin)
	p.into = w
	p.Seed(w.flags[:], w.integers[:], w.numbers[:])
	p.texts.Seed(w.texts[:])
	p.lists.Seed(w.parts[:])
	return p
}

// begin prepares a parser, which is zero or has been prepared before.
func (p *parser) begin(o *origin) {
	p.origin, p.Strict, p.Size, p.version, p.Path.Style = o, &o.Unknown, 1, "v1beta", codec.Bracketed
	p.Format, p.Name, p.ProtoJSON, p.Check.Path = p, Format, true, &p.Path
}

func (p *parser) close() {
	p.Close()
	*p = parser{}
	parsers.Put(p)
}

// field returns the field of a member, or nil. again reports whether the object has the
// member in its other spelling, too. It records a violation for that, and for a name that
// lenient parsers would read as another.
func (p *parser) field(seen *object.Members, t *object.Type, name string) (f *object.Field, again bool) {
	if f, again = seen.Field(t, name); f == nil || again {
		p.Unknown(t, name)
	}
	return f, again
}

// Value implements [object.Format].
func (p *parser) Value(f *object.Field, name string, x jsonwire.Value, to any) {
	switch to := to.(type) {
	case *string:
		*to = p.string(f, name, x, *to)
	case *[]string:
		*to = p.enums(f, x)
	case *content.Role:
		*to = p.role(f, name, x)
	case *ignored:
		p.Text(f, name, x)
	case *content.Schema:
		p.schema(f, name, x, to)
	case *[]content.Turn:
		*to = p.contents(f, x)
	case *[]content.Part:
		if f.Value.Elem == responsePart {
			p.files = x
		} else {
			*to = p.parts(f, x)
		}
	case *content.ToolResult:
		if p.keptJSON(f, name, x) != "" {
			p.response = x
		}
	case *[]content.Tool:
		*to = p.tools(f, x)
	case *[]SafetySetting:
		*to = p.safety(f, x)
	case **Instruction:
		p.turn = -1
		if p.Enter(f, name, x) {
			*to = &p.into.system
			p.Read(x, instructionType, *to)
			p.Path.Pop()
		}
	case **GenerationConfig:
		if p.Enter(f, name, x) {
			*to = &p.into.config
			p.Read(x, configType, *to)
			p.Path.Pop()
		}
	default:
		p.Object(f, name, x, to)
	}
}

// countRequest parses the body of countTokens.
func (p *parser) countRequest(v jsonwire.Value) {
	inner, name := v.Get("generateContentRequest"), "generateContentRequest"
	if !inner.Exists() {
		inner, name = v.Get("generate_content_request"), "generate_content_request"
	}
	if !inner.Exists() || inner.Kind() == jsonwire.Null {
		p.Read(v, requestType, &p.into.request)
		return
	}
	p.origin.nested = true
	var seen object.Members
	for other := range v.Members() {
		if f, _ := p.field(&seen, countType, other); f != nil && f.Name == "contents" {
			p.Violation(content.CodeType, "", "Invalid value (oneof), oneof field 'request' is already set. Cannot set 'contents'")
		} else if f == nil && requestType.Find(other) != nil {
			p.Violation(content.CodeUnknown, "", p.unknownNameText(other, "It belongs in \""+name+"\"."))
		}
	}
	if p.Enter(countType.Find(name), name, inner) {
		p.Read(inner, requestType, &p.into.request)
		p.Path.Pop()
	}
}

// contents parses the turns.
func (p *parser) contents(f *object.Field, v jsonwire.Value) []content.Turn {
	n := size(v)
	if n == 0 || !p.Quota.Turns(n) {
		return nil
	}
	p.Expect(n)
	turns := p.into.turns[:]
	if n > 1 {
		turns = make([]content.Turn, n)
	}
	p.Each(f, v, func(i int, x jsonwire.Value) {
		p.turn = i
		if !p.Quota.Exceeded() && p.isObject(x, f.Value.Elem) {
			turns[i].Role = content.RoleUser
			p.Read(x, contentType, &turns[i])
			role := x.Get("role")
			p.origin.Lenient = p.origin.Lenient || !role.Exists() || role.Kind() == jsonwire.Null || role.Is("")
		}
	})
	return turns
}

// role parses the role of a turn: "model" is the assistant, every other valid role is the
// user. An invalid role is empty.
func (p *parser) role(f *object.Field, name string, x jsonwire.Value) content.Role {
	switch {
	case x.Is("user"), x.Is(""), x.Is("function"), x.Kind() == jsonwire.Null:
		return content.RoleUser
	case x.Is("model"):
		return content.RoleAssistant
	case x.Is("tool"): // of other vendors; clients use it for results
		p.AddStrict(content.CodeValue, name, func() string { return textRole })
		return content.RoleUser
	case x.Kind() == jsonwire.String:
		p.Violation(content.CodeValue, name, textRole)
	default:
		p.Mismatch(f, name, x)
	}
	return ""
}

const textRole = "Please use a valid role: user, model."

// tools parses all tool objects into one list and records the place of each tool.
func (p *parser) tools(f *object.Field, v jsonwire.Value) (list []content.Tool) {
	if size(v) == 0 {
		return nil
	}
	n := countTools(v)
	if !p.Quota.Tools(max(n, size(v))) {
		return nil
	}
	p.Expect(n)
	if n > 0 {
		list = make([]content.Tool, 0, n)
		p.origin.tools = make([]toolPlace, 0, n)
	}
	p.Each(f, v, func(k int, x jsonwire.Value) {
		if p.isObject(x, f.Value.Elem) {
			list = p.tool(list, x, k)
		}
	})
	return list
}

// countTools returns an upper bound of the number of tools in all objects.
func countTools(v jsonwire.Value) (n int) {
	add := func(x jsonwire.Value) {
		for name, y := range x.Members() {
			if f := toolType.Find(name); f != nil && f.Value == declarations {
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

// tool appends the tools of the k-th tool object.
func (p *parser) tool(list []content.Tool, v jsonwire.Value, k int) []content.Tool {
	var seen object.Members
	for name, x := range v.Members() {
		f, _ := p.field(&seen, toolType, name)
		switch {
		case f != nil && f.Value == declarations:
			if size(x) > 0 {
				p.Each(f, x, func(n int, y jsonwire.Value) {
					list = append(list, content.Tool{})
					p.origin.tools = append(p.origin.tools, toolPlace{place: place{k, n}})
					if p.isObject(y, declarations.Elem) {
						p.Read(y, declarationType, &list[len(list)-1])
					}
				})
			}
		case x.Kind() == jsonwire.Null:
		case name == "": // a tool without a kind would be a function
			p.Violation(content.CodeUnknown, "", p.unknownNameText(name, "Cannot find field."))
		default:
			t := content.Tool{Kind: name, Format: Format, Raw: x.Raw()}
			if f != nil {
				t.Kind, t.Raw = f.Name, p.keptJSON(f, name, x)
			}
			list = append(list, t)
			p.origin.tools = append(p.origin.tools, toolPlace{place: place{k, builtIn}})
		}
	}
	return list
}

// schema parses a schema. A function has one of the two dialects.
func (p *parser) schema(f *object.Field, name string, x jsonwire.Value, s *content.Schema) {
	text := ""
	if x.Kind() != jsonwire.Null && p.Quota.Schema(x.Size()) {
		text = p.keptJSON(f, name, x)
	}
	switch {
	case text == "":
	case s.JSON != "":
		first := strings.TrimSuffix(f.Alias, "_json_schema")
		p.Violation(content.CodeConflict, "", first+" and "+first+"_json_schema must not both be set")
	default:
		s.JSON, s.OpenAPI = text, f.Value == openAPI
		tool := &p.origin.tools[len(p.origin.tools)-1]
		switch {
		case !s.OpenAPI || !p.validSchema:
		case f.Name == "response":
			tool.output = text
		case p.plainObject:
			tool.input = text
		}
	}
}

// safety parses the safety settings.
func (p *parser) safety(f *object.Field, v jsonwire.Value) []SafetySetting {
	n := size(v)
	if n == 0 || !p.Quota.Parts(n) {
		return nil
	}
	list := make([]SafetySetting, n)
	p.Each(f, v, func(k int, x jsonwire.Value) {
		if p.isObject(x, f.Value.Elem) {
			p.Read(x, safetyType, &list[k])
		}
	})
	return list
}
