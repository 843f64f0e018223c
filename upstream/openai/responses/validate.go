package responses

import (
	"cmp"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/openaiformat"
)

// ValidateOptions configures [Request.Validate] and [DecodeRequest]. The zero value and nil mean
// the defaults.
type ValidateOptions struct {
	// Strict applies the vendor's contract exactly. It refuses members and types of items,
	// parts and tools that the format does not define, and unknown values of settings. It also
	// refuses ids of calls with more than 64 characters, except those that carry state, names
	// of calls that do not match ^[a-zA-Z0-9_-]+$, and a tool choice without its tools.
	//
	// By default Validate accepts all of these, because clients may be newer than this package.
	Strict bool

	// AllowState accepts references to state that the vendor's server keeps: see [Request.Validate].
	AllowState bool

	// MediaTypes are additional media types of files. PDF, text and office documents are always
	// accepted.
	MediaTypes []string

	// Limits bounds files and images. The defaults are 500 files of 50 MiB each (decoded).
	// Images have no default limit of their size in pixels. [DecodeRequest] also applies the
	// limits of parsing.
	Limits content.Limits
}

// defaultOptions replaces nil options. It is never changed.
var defaultOptions ValidateOptions

// Validate returns an error that holds all violations of the request, or nil.
// [content.Violations] lists them. The violations that parsing found come first. Paths are the
// vendor's, in brackets, and so are texts and codes where they are known. Validate omits
// violations that follow from one that parsing found.
//
// Unless AllowState is set, it refuses references to state that only a server with a store has: previous_response_id,
// conversation, prompt, background, and items of type item_reference. Their Vendor code is
// "previous_response_not_found", and their text describes what to send instead.
//
// opts may be nil. Validate does not change the request, may be called by several goroutines, and
// does no I/O. Its time is linear in the size of the request. It decodes base64 data only for the
// headers of images.
//
// Validate does not check rules that depend on the model, the name of the model, or signatures.
func (r *Request) Validate(opts *ValidateOptions) error {
	opts = cmp.Or(opts, &defaultOptions)
	v := validator{r: r, opts: opts}
	v.Path.Style = codec.Bracketed
	v.state()
	v.settings()
	v.tools(r.Tools, -1)
	v.input()
	return r.found().Merge(&v.Violations, opts.Strict)
}

// documentTypes are the media types of files, besides text.
var documentTypes = []string{
	"application/pdf", "application/json", "application/msword",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"application/vnd.ms-excel", "application/vnd.ms-powerpoint", "application/rtf",
	"application/vnd.oasis.opendocument.text", "application/xml", "application/javascript",
	"application/x-yaml", "application/yaml", "application/typescript", "application/csv",
}

// A validator validates one request.
type validator struct {
	openaiformat.Reporter
	r     *Request
	opts  *ValidateOptions
	rules openaiformat.FileRules // set if files is not 0

	hasState bool            // the request refers to state at the server
	defined  map[string]bool // the names of the tools of the request; built on first use
	files    int
}

// vendorState is the vendor's code for state that the server does not have.
const vendorState = "previous_response_not_found"

// What to send instead of a reference to state.
const (
	storeAdvice        = " This server does not store responses: send `store: false`, and all items of the conversation as `input`."
	conversationAdvice = " This server does not store conversations: send all items of the conversation as `input`."
	promptAdvice       = " This server does not store prompts: send their text as `instructions` and `input`."
	backgroundAdvice   = "Background responses are not supported: leave out `background`, and stream the response."
)

// state reports references to state at the server.
func (v *validator) state() {
	refuse := func(name, text string) {
		v.hasState = true
		if !v.opts.AllowState {
			v.ViolationAs(content.CodeUnsupported, vendorState, name, text)
		}
	}
	for _, name := range [...]string{memberPrevious, memberConversation, memberPrompt} {
		json, ok := v.r.Extra.Get(name)
		switch {
		case !ok || json == "null":
		case name == memberPrevious:
			refuse(name, "Previous response with id '"+codec.Clip(gjson.Parse(json).String())+"' not found."+storeAdvice)
		case name == memberConversation:
			id := gjson.Parse(json)
			if id.IsObject() {
				id = id.Get("id")
			}
			refuse(name, "Conversation with id '"+codec.Clip(id.String())+"' not found."+conversationAdvice)
		default:
			refuse(name, "Prompt with id '"+codec.Clip(gjson.Get(json, "id").String())+"' not found."+promptAdvice)
		}
	}
	if json, _ := v.r.Extra.Get("background"); json == "true" && !v.opts.AllowState {
		v.ViolationAs(content.CodeUnsupported, vendorState, "background", backgroundAdvice)
	}
	for i := range v.r.Input {
		if item := &v.r.Input[i]; item.Type == typeReference {
			v.Path.Push("input")
			v.Path.PushIndex(i)
			refuse("id", "Item with id '"+codec.Clip(item.ID)+"' not found."+storeAdvice)
			v.Path.Truncate(0)
		}
	}
}

// settings validates the top level except tools and input.
func (v *validator) settings() {
	r := v.r
	if r.Model == "" && !v.r.found().Within("model") && !r.has(memberPrompt) {
		v.MissingMember("model")
	}
	if len(r.Model) > codec.MaxModelName {
		v.LongText("model", codec.MaxModelName, int64(len(r.Model)))
	}
	v.Between("temperature", 0, 2, r.Temperature)
	v.Between("top_p", 0, 1, r.TopP)
	v.Between("presence_penalty", -2, 2, r.PresencePenalty)
	v.Between("frequency_penalty", -2, 2, r.FrequencyPenalty)
	if json, ok := r.Extra.Get("metadata"); ok {
		v.metadata(json)
	}
	if c := r.Text; c != nil && c.Format != nil {
		v.Path.Push("text")
		v.Path.Push("format")
		v.format(c.Format)
		v.Path.Truncate(0)
	}
	if r.ToolChoice != nil {
		v.Path.Push("tool_choice")
		v.toolChoice(r.ToolChoice)
		v.Path.Pop()
	}
}

// Limits of metadata.
const (
	maxPairs   = 16
	maxPairKey = 64
)

func (v *validator) metadata(json string) {
	n := 0
	gjson.Parse(json).ForEach(func(key, _ gjson.Result) bool {
		n++
		if c := utf8.RuneCountInString(key.Str); c > maxPairKey && n <= content.MaxViolations {
			v.Invalid(content.CodeRange, "string_above_max_length", "metadata", "a key has "+strconv.Itoa(c)+" characters; the maximum is 64.")
		}
		return true
	})
	if n > maxPairs {
		v.Many("metadata", maxPairs, int64(n))
	}
}

// namePattern is the pattern of the names of functions.
const namePattern = "^[a-zA-Z0-9_-]+$"

// format validates the form of the response.
func (v *validator) format(f *TextFormat) {
	switch f.Type {
	case "json_schema":
		if f.Schema == "" && !v.r.found().Repeats("text.format.schema") {
			v.MissingMember("schema")
		}
		switch {
		case f.Name != "" && !codec.IsName(f.Name):
			v.Pattern("name", namePattern)
		case f.Name == "" && v.opts.Strict:
			v.MissingMember("name")
		}
	case "text", "json_object":
	case "":
		v.MissingMember("type")
	default:
		v.NotOneOf(content.CodeValue, "type", f.Type, formatTypes)
	}
}

// maxAllowed is the maximum number of allowed tools.
const maxAllowed = 128

func (v *validator) toolChoice(c *ToolChoice) {
	switch c.Type {
	case "auto", "none":
		return
	case "required":
	case "function", "custom":
		if c.Name == "" {
			v.MissingMember("name")
			return
		}
		if v.opts.Strict && !v.defines(c.Name) {
			v.unknownTool("", c.Name)
		}
	case typeAllowedTools:
		switch n := len(c.Tools); {
		case n == 0 && !v.r.found().Within("tool_choice"):
			v.Short("tools", 1, 0)
		case n > maxAllowed:
			v.Long("tools", maxAllowed, int64(n))
		}
		v.Path.Push("tools")
		for i := range c.Tools {
			t := &c.Tools[i]
			v.Path.PushIndex(i)
			switch {
			case t.Type != "function" && t.Type != "custom":
			case t.Name == "":
				v.MissingMember("name")
			case v.opts.Strict && !v.defines(t.Name):
				v.unknownTool("name", t.Name)
			}
			v.Path.Pop()
		}
		v.Path.Pop()
	case "":
		v.MissingMember("type")
		return
	default:
		if v.opts.Strict && !isHostedTool(c.Type) {
			v.NotOneOf(content.CodeValue, "type", c.Type, append([]string{"function", "custom", typeAllowedTools}, hostedTools...))
		}
	}
	if v.opts.Strict && !v.hasTools() {
		v.Violation(content.CodeConflict, "", "Tool choice '"+codec.Clip(c.Type)+"' must be specified with 'tools' parameter.")
	}
}

func (v *validator) unknownTool(name, tool string) {
	v.Violation(content.CodeValue, name, "Tool choice '"+codec.Clip(tool)+"' not found in 'tools' parameter.")
}

// hasTools reports whether the request defines tools.
func (v *validator) hasTools() bool { return len(v.r.allTools()) > 0 }

// defines reports whether the request defines a tool with a name.
func (v *validator) defines(name string) bool {
	if v.defined == nil {
		v.defined = make(map[string]bool)
		for _, t := range v.r.allTools() {
			v.defined[t.Name] = true
		}
	}
	return v.defined[name]
}

// maxToolName is the maximum length of the name of a tool, in characters.
const maxToolName = 128

// tools validates a list of tools. item is the index of the item that has it, or -1.
func (v *validator) tools(list []content.Tool, item int) {
	if len(list) == 0 {
		return
	}
	var places []toolPlace
	if o := v.r.origin; o != nil {
		places = o.tools[sort.Search(len(o.tools), func(i int) bool { return o.tools[i].item >= item }):]
	}
	for i := range list {
		t, place := &list[i], toolPlace{item: item, outer: i, inner: -1}
		if i < len(places) {
			place = places[i]
		}
		depth := v.Path.Depth()
		v.Path.Push("tools")
		v.Path.PushIndex(place.outer)
		if place.inner >= 0 {
			v.Path.Push("tools")
			v.Path.PushIndex(place.inner)
		}
		v.tool(t)
		v.Path.Truncate(depth)
	}
}

func (v *validator) tool(t *content.Tool) {
	if t.Kind != "" || t.Name == "" {
		return // a missing name has been reported
	}
	if n := len(t.Name); n > maxToolName {
		v.LongText("name", maxToolName, int64(utf8.RuneCountInString(t.Name)))
	} else if !codec.IsName(t.Name) {
		v.Pattern("name", namePattern)
	}
	if g := t.Grammar; g != nil && g.Syntax != "" && g.Syntax != "lark" && g.Syntax != "regex" {
		v.NotOneOf(content.CodeValue, "format.syntax", g.Syntax, []string{"lark", "regex"})
	}
	if t.Strict != nil && *t.Strict {
		v.strictSchema(t)
	}
}

// strictSchema reports the parameters of a strict function if their properties are not all
// required, which the vendor checks before anything else.
func (v *validator) strictSchema(t *content.Tool) {
	schema := gjson.Parse(t.Input.JSON)
	if !schema.Get("properties").IsObject() {
		return
	}
	required := make(map[string]bool)
	schema.Get("required").ForEach(func(_, name gjson.Result) bool {
		required[name.Str] = true
		return true
	})
	missing := ""
	schema.Get("properties").ForEach(func(name, _ gjson.Result) bool {
		if !required[name.Str] {
			missing = name.Str
		}
		return missing == ""
	})
	const head = "Invalid schema for function '"
	if missing != "" {
		v.ViolationAs(content.CodeValue, vendorParameters, "parameters", head+codec.Clip(t.Name)+
			"': In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing '"+codec.Clip(missing)+"'.")
	} else if more := schema.Get("additionalProperties"); more.Type != gjson.False {
		v.ViolationAs(content.CodeValue, vendorParameters, "parameters", head+codec.Clip(t.Name)+
			"': In context=(), 'additionalProperties' is required to be supplied and to be false.")
	}
}

const vendorParameters = "invalid_function_parameters"
