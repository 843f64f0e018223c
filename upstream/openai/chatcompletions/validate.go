package chatcompletions

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/openaiformat"
)

// ValidateOptions configures [Request.Validate] and [DecodeRequest]. The zero value and nil mean
// the defaults.
type ValidateOptions struct {
	// Model is the name of the model in the path of the request, as Azure's has it. The body
	// then needs no model.
	Model string

	// Strict applies the vendor's contract exactly. It refuses members, parts and types of tools
	// that the format does not define, and undefined values of settings such as service_tier.
	// It also applies rules that depend on the model, or that are known only from reports:
	//
	//   - Tools have a type, a tool_choice needs tools and names one of them, and
	//     parallel_tool_calls needs tools. A request has at most 128 tools.
	//   - A json_schema has a name. With json_object, a message contains the word "json".
	//   - Names of authors match '^[^\s<|\\/>]+$', and have at most 64 characters.
	//   - Results of tools have only text, and files are PDFs.
	//
	// By default Validate accepts all of these. Clients may be newer than this package, or may
	// have been written for compatible servers.
	Strict bool

	// MediaTypes are additional media types that documents may have. PDF is always accepted,
	// and text unless Strict is set.
	MediaTypes []string

	// Limits bounds files and images. The defaults are 500 files of 50 MiB each (decoded).
	// [DecodeRequest] also applies the limits of parsing.
	Limits content.Limits
}

// defaultOptions replaces nil options. It is never changed.
var defaultOptions ValidateOptions

// Validate returns an error that holds all violations of the request, or nil.
// [content.Violations] lists them. The violations that parsing found come first. Those of the
// vendor's rules follow: for the messages, the tools, then the settings. Paths, texts and codes are
// the vendor's if they are known. Texts contain the path, except those of rules for several
// messages. Validate omits violations that follow from one that parsing found.
//
// opts may be nil. Validate does not change the request, may be called by several goroutines, and
// does no I/O. Its time is linear in the size of the request. It decodes base64 data only for the
// headers of images.
//
// Validate does not check rules that depend on the model, the name of the model, or schemas.
func (r *Request) Validate(opts *ValidateOptions) error {
	opts = cmp.Or(opts, &defaultOptions)
	v := validator{r: r, opts: opts}
	v.Path.Style = codec.Bracketed
	v.model()
	v.conversation()
	v.tools()
	v.settings()
	return r.found().Merge(&v.Violations, opts.Strict)
}

// documentTypes are the media types of documents that the vendor accepts.
var documentTypes = []string{openaiformat.TypePDF}

// fileRules returns the rules for files.
func (o *ValidateOptions) fileRules() openaiformat.FileRules {
	return openaiformat.NewFileRules(documentTypes, o.MediaTypes, !o.Strict, &o.Limits)
}

// A validator validates one request.
type validator struct {
	openaiformat.Reporter
	r     *Request
	opts  *ValidateOptions
	files openaiformat.FileRules // set if fileCount is not 0

	fileCount int
	pairing   pairing
}

// model validates the name of the model.
func (v *validator) model() {
	switch name := v.r.Model; {
	case name == "" && v.opts.Model == "":
		v.MissingMember("model")
	case len(name) > codec.MaxModelName:
		v.LongText("model", codec.MaxModelName, int64(len(name)))
	}
}

// Bounds of settings.
const (
	maxTools        = 128 // with Strict
	maxToolName     = 64
	maxAuthor       = 64
	maxN            = 128
	maxStop         = 4
	maxMetadata     = 16
	maxMetadataName = 64

	toolNamePattern = "^[a-zA-Z0-9_-]+$"
	authorPattern   = `^[^\s<|\\/>]+$`
)

// tools validates the tools, the functions and the choice among them.
func (v *validator) tools() {
	r := v.r
	v.toolList("tools", r.Tools)
	v.toolList("functions", r.Functions)
	if c := r.ToolChoice; c != nil {
		v.toolChoice(c)
	}
	if c := r.FunctionCall; c != nil && c.Type != "none" && c.Type != "auto" && c.Type != "function" {
		v.NotOneOf(content.CodeValue, "function_call", c.Type, choiceNames[:2])
	}
	if v.opts.Strict && r.ParallelToolCalls != nil && len(r.Tools) == 0 {
		v.needsTools("parallel_tool_calls")
	}
}

// needsTools reports a member that is only allowed with tools.
func (v *validator) needsTools(name string) {
	if !v.r.found().Within("tools") {
		v.Violation(content.CodeConflict, name, "Invalid value for '"+name+"': '"+name+"' is only allowed when 'tools' are specified.")
	}
}

func (v *validator) toolList(name string, tools []content.Tool) {
	if v.opts.Strict && len(tools) > maxTools {
		v.Long(name, maxTools, int64(len(tools)))
	}
	v.Path.Push(name)
	for i := range tools {
		t := &tools[i]
		if t.Kind != "" || codec.IsName(t.Name) && len(t.Name) <= maxToolName {
			continue
		}
		v.Path.PushIndex(i)
		depth, reported := v.Path.Depth(), v.r.found().Repeats(v.Path.At())
		switch {
		case name == "functions":
		case t.Freeform:
			v.Path.Push("custom")
		default:
			v.Path.Push("function")
		}
		if !reported && !v.r.found().Repeats(v.Path.At()) && !v.r.found().Within(v.Path.At("name")) {
			v.toolName(t.Name)
		}
		v.Path.Truncate(depth - 1)
	}
	v.Path.Truncate(0)
}

// toolName validates the name of a tool at the path.
func (v *validator) toolName(name string) {
	switch {
	case name == "":
		v.Empty("name")
	case len(name) > maxToolName:
		v.LongText("name", maxToolName, int64(utf8.RuneCountInString(name)))
	case !codec.IsName(name):
		v.Pattern("name", toolNamePattern)
	}
}

func (v *validator) toolChoice(c *ToolChoice) {
	switch c.Type {
	case "none", "auto", "required":
	case "any":
		if v.opts.Strict {
			v.NotOneOf(content.CodeValue, "tool_choice", c.Type, choiceNames)
		}
	case "function", "custom":
		v.chosen(c.Names)
	case "allowed_tools":
		v.Path.Push("tool_choice")
		v.Path.Push("allowed_tools")
		if c.Mode != "auto" && c.Mode != "required" && !v.r.found().Repeats(v.Path.At("mode")) {
			v.NotOneOf(content.CodeValue, "mode", c.Mode, choiceNames[1:])
		}
		v.Path.Truncate(0)
		v.chosen(c.Names)
	default:
		if v.r.found().Repeats("tool_choice") {
			return
		}
		if c.Extra != nil || len(c.Names) > 0 {
			v.NotOneOf(content.CodeValue, "tool_choice.type", c.Type, choiceTypes)
		} else {
			v.NotOneOf(content.CodeValue, "tool_choice", c.Type, choiceNames)
		}
	}
	if v.opts.Strict && len(v.r.Tools) == 0 {
		v.needsTools("tool_choice")
	}
}

// chosen reports names that no tool has.
func (v *validator) chosen(names []string) {
	if !v.opts.Strict || len(v.r.Tools) == 0 || len(names) == 0 || v.r.found().Within("tools") {
		return
	}
	known := make(map[string]bool, len(v.r.Tools))
	for i := range v.r.Tools {
		t := &v.r.Tools[i]
		known[t.Name], known[t.Kind] = true, true
	}
	for _, name := range names {
		if !known[name] {
			v.Violation(content.CodeValue, "tool_choice", "Tool choice '"+codec.Clip(name)+"' not found in 'tools' parameter.")
		}
	}
}

// settings validates the other members of the request.
func (v *validator) settings() {
	r := v.r
	v.positive("max_completion_tokens", r.MaxCompletionTokens)
	v.positive("max_tokens", r.MaxTokens)
	if r.MaxCompletionTokens != nil && r.MaxTokens != nil {
		v.ViolationAs(content.CodeConflict, "invalid_parameter_combination", "max_tokens",
			"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	}
	v.Between("temperature", 0, 2, r.Temperature)
	v.Between("top_p", 0, 1, r.TopP)
	v.Between("presence_penalty", -2, 2, r.PresencePenalty)
	v.Between("frequency_penalty", -2, 2, r.FrequencyPenalty)
	if r.TopK != nil && v.opts.Strict {
		v.UnknownMember("top_k")
	}
	if n := r.N; n != nil && *n < 1 {
		v.Below("n", 1, *n)
	} else if n != nil && *n > maxN {
		v.Above("n", maxN, *n)
	}
	if n := len(r.Stop); n > maxStop {
		v.Long("stop", maxStop, int64(n))
	}
	v.responseFormat()
	if r.StreamOptions != nil && !r.Stream && !r.found().Within("stream") {
		v.Violation(content.CodeConflict, "stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	if r.Extra != nil {
		v.extra(gjson.Parse(r.Extra.JSON))
	}
}

func (v *validator) positive(name string, n *int64) {
	if n != nil && *n < 1 {
		v.Below(name, 1, *n)
	}
}

// extra validates rules for the members without a field, beyond their tables.
func (v *validator) extra(x gjson.Result) {
	n := 0
	logprobs, top := false, false
	x.ForEach(func(name, value gjson.Result) bool {
		switch name.Str {
		case "logprobs":
			logprobs = value.Bool()
		case "top_logprobs":
			top = value.Type == gjson.Number
		case "metadata":
			value.ForEach(func(key, _ gjson.Result) bool {
				if n++; utf8.RuneCountInString(key.Str) > maxMetadataName {
					v.Invalid(content.CodeRange, "", "metadata", "a key is longer than the maximum of 64 characters.")
				}
				return true
			})
		case "logit_bias":
			value.ForEach(func(key, bias gjson.Result) bool {
				if bias.Type == gjson.Number && strings.Contains(bias.Raw, ".") { // the table has integers
					v.Path.Push("logit_bias")
					v.Between(codec.Clip(key.Str), -100, 100, &bias.Num)
					v.Path.Pop()
				}
				return true
			})
		}
		return true
	})
	if n > maxMetadata {
		v.Many("metadata", maxMetadata, int64(n))
	}
	if top && !logprobs {
		v.Violation(content.CodeConflict, "top_logprobs", "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.")
	}
}

func (v *validator) responseFormat() {
	f := v.r.ResponseFormat
	if f == nil {
		return
	}
	v.Path.Push("response_format")
	defer v.Path.Truncate(0)
	switch f.Type {
	case "text":
	case "json_object":
		if v.opts.Strict && !v.mentionsJSON() {
			v.Violation(content.CodeValue, "", "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
		}
	case "json_schema":
		v.jsonSchema(f.Schema)
		return
	case "": // the parser has reported it
	default:
		v.NotOneOf(content.CodeValue, "type", f.Type, formatTypes)
	}
	if f.Schema != nil {
		v.UnknownMember("json_schema")
	}
}

func (v *validator) jsonSchema(s *JSONSchema) {
	if s == nil {
		if !v.r.found().Within("response_format.json_schema") {
			v.MissingMember("json_schema")
		}
		return
	}
	v.Path.Push("json_schema")
	switch {
	case v.r.found().Within("response_format.json_schema.name"):
	case s.Name == "":
		if v.opts.Strict {
			v.MissingMember("name")
		}
	case len(s.Name) > maxToolName:
		v.LongText("name", maxToolName, int64(utf8.RuneCountInString(s.Name)))
	case !codec.IsName(s.Name):
		v.Pattern("name", toolNamePattern)
	}
}

// mentionsJSON reports whether a text of the conversation contains the word "json".
func (v *validator) mentionsJSON() bool {
	has := func(parts []content.Part) bool {
		for _, p := range parts {
			if t, ok := p.(*content.Text); ok && t != nil && containsJSON(t.Text) {
				return true
			}
		}
		return false
	}
	if has(v.r.System) {
		return true
	}
	for i := range v.r.Messages {
		for _, p := range v.r.Messages[i].Parts {
			if r, ok := p.(*content.ToolResult); ok && r != nil && has(r.Parts) {
				return true
			}
		}
		if has(v.r.Messages[i].Parts) {
			return true
		}
	}
	return false
}

// containsJSON reports whether s contains "json" in any case.
func containsJSON(s string) bool {
	for {
		i := strings.IndexAny(s, "jJ")
		if i < 0 || len(s)-i < len("json") {
			return false
		}
		if strings.EqualFold(s[i:i+len("json")], "json") {
			return true
		}
		s = s[i+1:]
	}
}
