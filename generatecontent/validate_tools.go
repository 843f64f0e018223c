package generatecontent

import (
	"slices"
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

const (
	maxFunctions = 512
	maxName      = 128
	maxSchema    = 10_000 // steps of a path: more than any document that was parsed has
)

const textFunctionName = "Invalid function name. It must start with a letter or an underscore, followed by letters, " +
	"digits, underscores, dots, colons or dashes, at most 128 characters in all."

// tools checks the declarations of functions. Built-in tools were read by their
// own types.
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
			v.declaration(t, seen)
			v.path.Pop()
			v.path.Pop()
		case t.Format != Format:
			v.fault(content.CodeUnsupported, "the tool is another vendor's own")
		default:
			v.search(t)
		}
		v.path.Pop()
	}
	if functions > maxFunctions {
		v.fault(content.CodeLimit, "at most "+strconv.Itoa(maxFunctions)+" function declarations can be specified, not "+
			strconv.Itoa(functions))
	}
	v.path.Pop()
}

func (v *validator) declaration(t *content.Tool, seen map[string]bool) {
	switch {
	case v.complained():
		return
	case !isFunction(t.Name):
		v.fault(content.CodeValue, textFunctionName, "name")
	case seen[t.Name]:
		if v.faults.Len() <= content.MaxViolations { // the text is not for nothing
			v.fault(content.CodeConflict, "Duplicate function declaration found: "+codec.Clip(t.Name), "name")
		}
	}
	seen[t.Name] = true
	v.schema(t.Input, "parameters", true)
	v.schema(t.Output, "response", false)
}

// isFunction reports whether s is the name of a function.
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

// schema checks a schema in the vendor's own dialect.
func (v *validator) schema(s content.Schema, name string, object bool) {
	if !s.OpenAPI || s.JSON == "" {
		return
	}
	v.path.Push(name)
	defer v.path.Pop()
	if v.unclear() {
		return
	}
	doc, err := jsonwire.Parse(s.JSON, codec.UnlimitedJSON)
	if err != nil || !jsonwire.IsObject(s.JSON) {
		v.fault(content.CodeSyntax, "the schema is not a JSON object")
		return
	}
	defer doc.Close()
	root := doc.Root()
	if t := root.Get("type"); object && (!t.Is("OBJECT") || root.Get("nullable").Kind() == jsonwire.True) {
		v.fault(content.CodeValue, "the schema must be a non-nullable OBJECT")
	}
	v.node(root)
}

// node checks one schema and those in it.
func (v *validator) node(s jsonwire.Value) {
	switch {
	case s.Kind() != jsonwire.Object:
		return
	case v.path.Depth() > maxSchema:
		v.fault(content.CodeLimit, "the schema is nested too deep")
		return
	}
	var kind, items, enum, required, anyOf, properties jsonwire.Value
	for name, x := range s.Members() {
		switch name {
		case "type":
			kind = x
		case "items":
			items = x
		case "enum":
			enum = x
		case "required":
			required = x
		case "anyOf":
			anyOf = x
		case "properties":
			properties = x
		}
	}
	if kind.Is("ARRAY") && !items.Exists() {
		v.fault(content.CodeMissing, "missing field.", "items")
	}
	if enum.Len() > 0 && kind.Exists() && !kind.Is("STRING") {
		v.fault(content.CodeConflict, "only allowed for STRING type", "enum")
	}
	v.required(required, properties)
	v.path.Push("items")
	v.node(items)
	v.path.Pop()
	v.path.Push("any_of")
	for i, x := range anyOf.Elems() {
		v.path.PushIndex(i)
		v.node(x)
		v.path.Pop()
	}
	v.path.Pop()
	v.path.Push("properties")
	for name, x := range properties.Members() {
		v.path.PushKey(name)
		v.node(x)
		v.path.Pop()
	}
	v.path.Pop()
}

// required checks that properties that are required are there.
func (v *validator) required(names, properties jsonwire.Value) {
	const few = 8 // are found as fast without a table
	var table map[string]bool
	if names.Len() > few && properties.Len() > few {
		table = make(map[string]bool, properties.Len())
		for name := range properties.Members() {
			table[name] = true
		}
	}
	v.path.Push("required")
	for i, x := range names.Elems() {
		if table == nil && !properties.Get(x.Str()).Exists() || table != nil && !table[x.Str()] {
			v.path.PushIndex(i)
			v.fault(content.CodeValue, "property is not defined")
			v.path.Pop()
		}
	}
	v.path.Pop()
}

// toolConfig checks which functions may be called.
func (v *validator) toolConfig() {
	c := v.r.ToolConfig
	if c == nil || c.FunctionCalling == nil {
		return
	}
	f, unclear := c.FunctionCalling, v.unclear("tools")
	v.path.Push("tool_config")
	v.path.Push("function_calling_config")
	v.oneOf(f.Mode, callingMode.values[1:], "mode")
	if len(f.AllowedFunctionNames) > 0 && !v.r.elsewhere() {
		if f.Mode != "ANY" && f.Mode != "VALIDATED" && !v.complained("mode") {
			v.fault(content.CodeConflict, "allowed_function_names should only be set when the mode is ANY or VALIDATED",
				"allowed_function_names")
		}
		known := make(map[string]bool, len(v.r.Tools))
		for i := range v.r.Tools {
			known[v.r.Tools[i].Name] = v.r.Tools[i].Kind == ""
		}
		unclear = unclear || v.unclear("allowed_function_names")
		if !unclear && slices.ContainsFunc(f.AllowedFunctionNames, func(s string) bool { return !known[s] }) {
			v.fault(content.CodeValue, "allowed_function_names should be a subset of the provided function_declarations",
				"allowed_function_names")
		}
	}
	v.path.Pop()
	v.path.Pop()
}

// elsewhere reports whether the tools may be elsewhere: a cache can bring them.
func (r *Request) elsewhere() bool { return r.CachedContent != "" }
