package generatecontent

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/violation"
)

// ValidateOptions configures [Request.Validate] and [DecodeRequest]. The zero value,
// like nil, holds the defaults.
type ValidateOptions struct {
	// Strict refuses unknown names at every depth, with the vendor's error text. By
	// default they are accepted, because clients send members that are newer than this
	// package. Names are not checked in values that may be any JSON (JSON Schemas,
	// arguments and responses of functions, metadata, labels), in a few objects whose
	// members the vendor does not publish, and in query parameters.
	//
	// Strict also refuses unknown values of enums and of members such as aspectRatio,
	// imageSize and responseMimeType. By default any string is accepted where no rule
	// depends on the value; the mode of function calling and the thinking level must
	// always be known. Values in objects that Polywire does not interpret are not
	// checked.
	//
	// Strict also refuses results of one step in several turns, and the role "tool",
	// which clients send although the vendor refuses them.
	Strict bool

	// Count selects the rules for the body of countTokens: tool calls need no results,
	// and nothing but contents is required.
	Count bool

	// MediaTypes are media types that files may have in addition to the usual ones:
	// images, audio, video, text, PDF, JSON, RTF.
	MediaTypes []string

	// Limits bounds files and images: by default 100 files of 75 MiB each (decoded),
	// and images of 24,000 by 24,000 and 100,000,000 pixels. The limits of documents,
	// such as Depth and Values, apply to DecodeRequest only.
	Limits content.Limits
}

// Validate returns an error that holds all violations of the request, or nil.
// [content.Violations] lists them: first those that parsing found, then unknown names if
// Strict is set, then all others. Validate omits violations that follow from one that
// parsing found. The package comment describes how the handler makes the vendor's
// message of the violations.
//
// opts may be nil. Validate does not change the request, does no I/O, and may be called
// from several goroutines at once. Its time is linear in the size of the request. It
// decodes base64 data only for image headers and texts.
//
// Validate does not check rules that depend on the model: whether it thinks, reads
// images, signs, or accepts built-in tools besides functions.
//
// In a constructed request, nil parts and sources are violations too. Validate encodes such
// a request and also reports the violations that parsing its document finds. If the request
// cannot be encoded, encoding reports the reason.
func (r *Request) Validate(opts *ValidateOptions) error {
	opts = cmp.Or(opts, &defaultOptions)
	v := validator{r: r, opts: opts, parsed: r.parsedOrigin()}
	v.path.Style = codec.Bracketed
	if r.origin != nil && r.origin.nested {
		v.path.Push("generate_content_request")
	}
	v.model()
	v.contents()
	v.system()
	v.tools()
	v.toolConfig()
	v.safety()
	v.config()
	v.cached()
	return v.parsed.allViolations(&v.violations, v.opts.Strict)
}

// defaultOptions replaces nil options. It is never changed.
var defaultOptions ValidateOptions

// A validator walks over one request.
type validator struct {
	r          *Request
	parsed     *origin // what parsing found, or nil
	opts       *ValidateOptions
	path       codec.Path
	violations violation.List

	base64 int // the number of recorded texts before the next
	files  int
	pairs  lower.Pairing // of the tool calls in the latest model turn
}

// violation records a violation at the path, followed by names.
func (v *validator) violation(code content.Code, text string, names ...string) {
	if v.violations.Len() >= content.MaxViolations {
		v.violations.Add(code, "", "") // only counted
		return
	}
	v.violations.Add(code, v.path.At(names...), text)
}

// parsingReported reports whether parsing found a violation at the path, followed by
// names, or around it.
func (v *validator) parsingReported(names ...string) bool {
	o := v.parsed
	return o != nil && o.Violations != nil && o.Violations.CoversPath(&v.path, names...)
}

// oneOf records a violation for a string that is neither allowed nor empty.
func (v *validator) oneOf(s string, allowed []string, names ...string) {
	if s == "" || slices.Contains(allowed, s) { // bounded by mimeTypes
		return
	}
	text := "allowed values are "
	for i, a := range allowed {
		if i > 0 {
			text += ", "
		}
		text += "'" + a + "'"
	}
	v.violation(content.CodeValue, "'"+codec.Clip(s)+"' is not supported: "+text, names...)
}

// between records a violation for a number that is out of range.
func (v *validator) between(f *float64, low, high float64, name string) {
	if f != nil && !(*f >= low && *f <= high) {
		v.violation(content.CodeRange, name+" must be in the range ["+bound(low)+", "+bound(high)+"]", name)
	}
}

func bound(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

// atLeast records a violation for an integer that is too small.
func (v *validator) atLeast(n *int64, low int64, name string) {
	if n != nil && *n < low {
		v.violation(content.CodeRange, name+" must be at least "+strconv.FormatInt(low, 10), name)
	}
}

// model checks the name in the body. Most requests have none there.
func (v *validator) model() {
	switch s := v.r.Model; {
	case len(s) > codec.MaxModelName:
		v.violation(content.CodeLimit, textModelName, "model")
	case s != "" && !isModel(s):
		v.violation(content.CodeValue, "unexpected model name format", "model")
	}
}

var textModelName = "a model name must not be longer than " + strconv.Itoa(codec.MaxModelName) + " bytes"

// isModel reports whether s can be the name of a model in a URL.
func isModel(s string) bool {
	if s[0] == '/' || s[len(s)-1] == '/' {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ', c == 0x7F, c == '?', c == '&', c == '#', c == '%', c == '\\':
			return false
		case c == '.' && i > 0 && s[i-1] == '.', c == '/' && s[i-1] == '/':
			return false
		}
	}
	return true
}

// cached checks that the request does not contain what cached content provides.
func (v *validator) cached() {
	r := v.r
	if r.CachedContent != "" && (r.SystemInstruction != nil && len(r.SystemInstruction.Parts) > 0 ||
		len(r.Tools) > 0 || r.ToolConfig != nil) {
		v.violation(content.CodeConflict, "CachedContent can not be used with GenerateContent request setting "+
			"system_instruction, tools or tool_config.", "cached_content")
	}
}

// safety checks the filters.
func (v *validator) safety() {
	list := v.r.SafetySettings
	if len(list) == 0 {
		return
	}
	seen := make(map[string]bool, len(list))
	for i, s := range list {
		v.path.Push("safety_settings")
		v.path.PushIndex(i)
		if v.parsingReported("category") {
			// parsing reported the category
		} else if s.Category == "" || slices.Contains(olderCategories, s.Category) { // bounded by olderCategories
			v.violation(content.CodeValue, "element predicate failed: $.category in ("+strings.Join(safetyCategories, ", ")+")")
		} else if seen[s.Category] {
			v.violation(content.CodeConflict, "there is more than one setting for "+s.Category, "category")
		}
		seen[s.Category] = true
		v.path.Pop()
		v.path.Pop()
	}
}

// olderCategories have no filters; the vendor parses and refuses them.
// safetyCategories are the others.
var olderCategories, safetyCategories = harmCategory.Values[:7], harmCategory.Values[7:]

var (
	mimeTypes    = []string{"text/plain", "application/json", "application/xml", "application/yaml", "text/x.enum"}
	aspectRatios = []string{"1:1", "1:4", "4:1", "1:8", "8:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"}
	imageSizes   = []string{"512", "1K", "2K", "4K"}
)

const (
	maxStops   = 5
	maxBudget  = 65535
	maxLogprob = 20
)

// config checks the generation config.
func (v *validator) config() {
	c := v.r.GenerationConfig
	if c == nil {
		return
	}
	v.path.Push("generation_config")
	defer v.path.Pop()
	v.between(c.Temperature, 0, 2, "temperature")
	v.between(c.TopP, 0, 1, "top_p")
	v.between(c.PresencePenalty, -2, 2, "presence_penalty")
	v.between(c.FrequencyPenalty, -2, 2, "frequency_penalty")
	v.atLeast(c.TopK, 1, "top_k")
	v.atLeast(c.MaxOutputTokens, 1, "max_output_tokens")
	v.atLeast(&c.CandidateCount, 0, "candidate_count")
	if len(c.StopSequences) > maxStops {
		v.violation(content.CodeLimit, "the number of stop_sequences must not exceed 5", "stop_sequences")
	}
	if n := c.Logprobs; n != nil {
		switch {
		case *n < 0 || *n > maxLogprob:
			v.violation(content.CodeRange, "logprobs must be in the range [0, 20]", "logprobs")
		case !c.ResponseLogprobs && !v.parsingReported("response_logprobs"):
			v.violation(content.CodeConflict, "logprobs needs response_logprobs to be true", "logprobs")
		}
	}
	v.modalities(c.ResponseModalities)
	if i := c.ImageConfig; i != nil && v.opts.Strict {
		v.oneOf(i.AspectRatio, aspectRatios, "image_config", "aspect_ratio")
		v.oneOf(i.ImageSize, imageSizes, "image_config", "image_size")
	}
	v.format(c)
	v.thinking(c.ThinkingConfig)
}

func (v *validator) modalities(list []string) {
	v.path.Push("response_modalities")
	for i, m := range list {
		v.path.PushIndex(i)
		if m == "" {
			v.violation(content.CodeValue, "a modality must not be empty")
		}
		v.path.Pop()
	}
	v.path.Pop()
}

// format checks the form of the response.
func (v *validator) format(c *GenerationConfig) {
	if v.opts.Strict {
		v.oneOf(c.ResponseMimeType, mimeTypes, "response_mime_type")
	}
	structured := c.ResponseMimeType == "application/json" || c.ResponseMimeType == "text/x.enum" || v.parsingReported("response_mime_type")
	switch {
	case c.ResponseSchema != "" && c.ResponseJSONSchema != "":
		v.violation(content.CodeConflict, "response_schema and response_json_schema must not both be set", "response_json_schema")
	case c.ResponseSchema != "" && !structured:
		v.violation(content.CodeConflict, "a schema needs response_mime_type 'application/json' or 'text/x.enum'", "response_schema")
	case c.ResponseJSONSchema != "" && !structured:
		v.violation(content.CodeConflict, "a schema needs response_mime_type 'application/json' or 'text/x.enum'", "response_json_schema")
	}
	valid := ""
	if v.r.origin != nil {
		valid = v.r.origin.responseSchema
	}
	v.schema(content.Schema{JSON: c.ResponseSchema, OpenAPI: true}, "response_schema", false, valid)
}

func (v *validator) thinking(t *ThinkingConfig) {
	if t == nil {
		return
	}
	v.path.Push("thinking_config")
	v.oneOf(t.ThinkingLevel, thinkingLevel.Values[1:], "thinking_level")
	if b := t.ThinkingBudget; b != nil {
		if t.ThinkingLevel != "" {
			v.violation(content.CodeConflict, "You can only set only one of thinking budget and thinking level.")
		}
		if *b < -1 || *b > maxBudget {
			v.violation(content.CodeRange, "thinking_budget must be in the range [-1, 65535]", "thinking_budget")
		}
	}
	v.path.Pop()
}

const (
	maxFunctions = 512
	maxName      = 128
	maxSchema    = 10_000 // steps of a path: more than any parsed document has
)

const textFunctionName = "Invalid function name. It must start with a letter or an underscore, followed by letters, " +
	"digits, underscores, dots, colons or dashes, at most 128 characters in all."

// tools checks function declarations. The parser has checked built-in tools.
func (v *validator) tools() {
	places := v.r.toolPlaces()
	if len(places) == 0 {
		return
	}
	seen := make(map[string]bool, len(places))
	v.path.Push("tools")
	functions := 0
	for i := range v.r.Tools {
		t := &v.r.Tools[i]
		v.path.PushIndex(places[i].outer)
		switch {
		case t.Kind == "":
			functions++
			v.path.Push("function_declarations")
			v.path.PushIndex(places[i].inner)
			v.declaration(t, &places[i], seen)
			v.path.Pop()
			v.path.Pop()
		case t.Format != Format:
			v.violation(content.CodeUnsupported, "the tool is built into another vendor's API")
		}
		v.path.Pop()
	}
	if functions > maxFunctions {
		v.violation(content.CodeLimit, "at most "+strconv.Itoa(maxFunctions)+" function declarations can be specified, not "+
			strconv.Itoa(functions))
	}
	v.path.Pop()
}

func (v *validator) declaration(t *content.Tool, from *toolPlace, seen map[string]bool) {
	switch {
	case v.parsingReported():
		return
	case !isFunction(t.Name):
		v.violation(content.CodeValue, textFunctionName, "name")
	case seen[t.Name]:
		if v.violations.Len() <= content.MaxViolations { // skips the text if it is only counted
			v.violation(content.CodeConflict, "Duplicate function declaration found: "+codec.Clip(t.Name), "name")
		}
	}
	seen[t.Name] = true
	v.schema(t.Input, "parameters", true, from.input)
	v.schema(t.Output, "response", false, from.output)
}

// isFunction reports whether s is a valid name of a function.
func isFunction(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		other := c >= '0' && c <= '9' || c == '.' || c == ':' || c == '-'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// schema checks a schema in the vendor's own dialect. It skips valid, which the parser has
// checked.
func (v *validator) schema(s content.Schema, name string, object bool, valid string) {
	if !s.OpenAPI || s.JSON == "" || s.JSON == valid {
		return
	}
	v.path.Push(name)
	defer v.path.Pop()
	if v.isUnclear() {
		return
	}
	doc, err := jsonwire.Parse(s.JSON, codec.UnlimitedJSON)
	if err != nil || !jsonwire.IsObject(s.JSON) {
		v.violation(content.CodeSyntax, "the schema is not a JSON object")
		return
	}
	defer doc.Close()
	v.subschema(doc.Root(), object)
}

// subschema checks a schema and the schemas in it. If object is set, it must be the schema of
// an object.
func (v *validator) subschema(s jsonwire.Value, object bool) {
	switch {
	case s.Kind() != jsonwire.Object:
		return
	case v.path.Depth() > maxSchema:
		v.violation(content.CodeLimit, "the schema is nested too deeply")
		return
	}
	var n schemaNode
	for name, x := range s.Members() {
		n.set(name, x)
	}
	kind := n.kind.Str()
	if object && !n.isPlainObject(kind) {
		v.violation(content.CodeValue, "the schema must be a non-nullable OBJECT")
	}
	if n.lacksItems(kind) {
		v.violation(content.CodeMissing, "missing field.", "items")
	}
	if n.hasOtherEnum(kind) {
		v.violation(content.CodeConflict, "only allowed for STRING type", "enum")
	}
	v.path.Push("required")
	for i := range n.undefined {
		v.path.PushIndex(i)
		v.violation(content.CodeValue, "property is not defined")
		v.path.Pop()
	}
	v.path.Pop()
	v.path.Push("items")
	v.subschema(n.items, false)
	v.path.Pop()
	v.path.Push("any_of")
	for i, x := range n.anyOf.Elems() {
		v.path.PushIndex(i)
		v.subschema(x, false)
		v.path.Pop()
	}
	v.path.Pop()
	v.path.Push("properties")
	for name, x := range n.properties.Members() {
		v.path.PushKey(name)
		v.subschema(x, false)
		v.path.Pop()
	}
	v.path.Pop()
}

// A schemaNode has the members of a schema that have rules. The type is that in canonical
// form.
type schemaNode struct{ kind, nullable, items, enum, required, anyOf, properties jsonwire.Value }

func (n *schemaNode) set(name string, x jsonwire.Value) {
	switch name {
	case "type":
		n.kind = x
	case "nullable":
		n.nullable = x
	case "items":
		n.items = x
	case "enum":
		n.enum = x
	case "required":
		n.required = x
	case "anyOf":
		n.anyOf = x
	case "properties":
		n.properties = x
	}
}

func (n *schemaNode) isPlainObject(kind string) bool {
	return kind == "OBJECT" && n.nullable.Kind() != jsonwire.True
}

func (n *schemaNode) lacksItems(kind string) bool { return kind == "ARRAY" && !n.items.Exists() }

// hasOtherEnum reports whether the schema has values that are not of its type.
func (n *schemaNode) hasOtherEnum(kind string) bool {
	return n.enum.Len() > 0 && n.kind.Exists() && kind != "STRING"
}

// undefined yields the indices of required properties that are not defined.
func (n *schemaNode) undefined(yield func(int) bool) {
	const few = 8 // up to this number a list is as fast as a table
	var table map[string]bool
	if n.required.Len() > few && n.properties.Len() > few {
		table = make(map[string]bool, n.properties.Len())
		for name := range n.properties.Members() {
			table[name] = true
		}
	}
	for i, x := range n.required.Elems() {
		if table == nil && !n.properties.Get(x.Str()).Exists() || table != nil && !table[x.Str()] {
			if !yield(i) {
				return
			}
		}
	}
}

// toolConfig checks the function calling config.
func (v *validator) toolConfig() {
	c := v.r.ToolConfig
	if c == nil || c.FunctionCalling == nil {
		return
	}
	f, unclear := c.FunctionCalling, v.isUnclear("tools")
	v.path.Push("tool_config")
	v.path.Push("function_calling_config")
	v.oneOf(f.Mode, callingMode.Values[1:], "mode")
	if len(f.AllowedFunctionNames) > 0 && v.r.CachedContent == "" { // cached content may have tools
		if f.Mode != "ANY" && f.Mode != "VALIDATED" && !v.parsingReported("mode") {
			v.violation(content.CodeConflict, "allowed_function_names should only be set when the mode is ANY or VALIDATED",
				"allowed_function_names")
		}
		known := make(map[string]bool, len(v.r.Tools))
		for i := range v.r.Tools {
			known[v.r.Tools[i].Name] = v.r.Tools[i].Kind == ""
		}
		unclear = unclear || v.isUnclear("allowed_function_names")
		if !unclear && slices.ContainsFunc(f.AllowedFunctionNames, func(s string) bool { return !known[s] }) { // one pass
			v.violation(content.CodeValue, "allowed_function_names should be a subset of the provided function_declarations",
				"allowed_function_names")
		}
	}
	v.path.Pop()
	v.path.Pop()
}
