package messages

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

const (
	maxToolName       = 128
	maxToolUseName    = 200 // of a tool call in the history
	namePattern       = "^[a-zA-Z0-9_-]{1,128}$"
	maxDeferred       = 10_000
	maxStrict         = 20
	cacheName         = "cache_control"
	textDeferredCache = "cache_control may not be set on a tool with defer_loading: true"
)

// tools validates the tool definitions.
func (v *validator) tools() {
	tools := v.r.Tools
	if len(tools) == 0 {
		return
	}
	names := make(map[string]struct{}, len(tools))
	deferred, strict := 0, 0
	v.path.Push("tools")
	for i := range tools {
		t := &tools[i]
		if t.Strict != nil && *t.Strict {
			strict++
		}
		v.path.PushIndex(i)
		if v.tool(t) {
			deferred++
		}
		v.path.Pop()
		if t.Name == "" {
			continue
		}
		if _, duplicate := names[t.Name]; duplicate {
			v.violationOnce(onceToolNames, content.CodeConflict, "tools", "Tool names must be unique.")
		}
		names[t.Name] = struct{}{}
	}
	v.path.Truncate(0)
	switch {
	case deferred == len(tools):
		v.violationAt(content.CodeConflict, "tools", "At least one tool must not have defer_loading: true")
	case deferred > maxDeferred:
		v.violationAt(content.CodeLimit, "tools", "At most 10000 tools may have defer_loading: true")
	}
	if strict > maxStrict {
		v.violationAt(content.CodeLimit, "tools", "At most 20 tools may be strict")
	}
}

// tool validates one definition and returns whether it is deferred.
func (v *validator) tool(t *content.Tool) (deferred bool) {
	switch {
	case t.Kind == "" || t.Kind == "custom":
		if v.r.origin != nil && t.Name == "" && t.Input.JSON == "" && t.Kind == "" && t.Extra == nil {
			return false // the parser has reported it
		}
		v.path.Push("custom")
		deferred = v.customTool(t)
	case t.Format != "" && t.Format != Format:
		v.violation(content.CodeUnsupported, "'"+codec.Clip(t.Kind)+"' is not a tool of this format")
		return false
	default:
		v.path.Push(t.Kind)
		deferred = v.builtinTool(t)
	}
	v.path.Pop()
	return deferred
}

func (v *validator) customTool(t *content.Tool) (deferred bool) {
	if v.require(t.Name, "name") && !(len(t.Name) <= maxToolName && codec.IsName(t.Name)) {
		v.violation(content.CodeValue, textPattern(namePattern), "name")
	}
	if t.Input.JSON == "" {
		v.violation(content.CodeMissing, textRequired, "input_schema")
	} else {
		v.schemaType(t.Input.JSON)
		if t.Strict != nil && *t.Strict {
			v.closedSchema(t.Input.JSON, "input_schema")
		}
	}
	if t.Deferred && t.Cache != nil {
		v.violation(content.CodeConflict, textDeferredCache, cacheName)
	}
	v.breakpoint(t.Cache)
	return t.Deferred
}

// schemaType reports a schema that does not describe an object.
func (v *validator) schemaType(schema string) {
	switch kind := gjson.Get(schema, "type"); {
	case !kind.Exists():
		v.violation(content.CodeMissing, textRequired, "input_schema", "type")
	case kind.Str != "object":
		v.violation(content.CodeValue, "Input should be 'object'", "input_schema", "type")
	}
}

// closedSchema reports a schema in which an object accepts additional properties, if
// Strict is set. The vendor requires closed schemas for constrained responses.
func (v *validator) closedSchema(schema, name string) {
	if !v.opts.Strict {
		return
	}
	doc := v.open(schema)
	defer doc.Close()
	if !isClosed(doc.Root(), 0) {
		v.violation(content.CodeValue, "For 'object' type, 'additionalProperties' must be explicitly set to false", name)
	}
}

// isClosed reports whether all objects in a schema refuse additional properties. It
// stops at a depth of 100.
func isClosed(x jsonwire.Value, depth int) bool {
	if depth > 100 {
		return true
	}
	switch x.Kind() {
	case jsonwire.Object:
		if x.Get("type").Is("object") {
			if open, is := x.Get("additionalProperties").Bool(); open || !is {
				return false
			}
		}
		for name, m := range x.Members() {
			if name != "enum" && name != "const" && name != "default" && name != "examples" && !isClosed(m, depth+1) {
				return false
			}
		}
	case jsonwire.Array:
		for _, e := range x.Elems() {
			if !isClosed(e, depth+1) {
				return false
			}
		}
	}
	return true
}

// builtinTool validates a tool of the vendor and returns whether it is deferred.
func (v *validator) builtinTool(t *content.Tool) (deferred bool) {
	if t.Raw == "" {
		v.violation(content.CodeMissing, "Raw must hold the definition of the tool")
		return false
	}
	doc := v.open(t.Raw)
	defer doc.Close()
	x := doc.Root()
	if v.opts.Strict && typeOfTag(builtins(), t.Kind) == nil {
		v.path.Pop()
		v.violation(content.CodeUnknown, quoteTag(t.Kind, quoteTags(builtinTags())))
		v.path.Push(t.Kind)
	}
	var allowed, blocked bool
	var mark jsonwire.Value
	for name, m := range x.Members() {
		switch name {
		case "allowed_domains":
			allowed = m.Kind() != jsonwire.Null
		case "blocked_domains":
			blocked = m.Kind() != jsonwire.Null
		case "defer_loading":
			deferred, _ = m.Bool()
		case cacheName:
			mark = m
		}
	}
	if allowed && blocked {
		v.violation(content.CodeConflict, "allowed_domains and blocked_domains may not both be given")
	}
	if mark.Kind() == jsonwire.Object {
		if deferred {
			v.violation(content.CodeConflict, textDeferredCache, cacheName)
		}
		v.rawBreakpoint(mark)
	}
	return deferred
}

func builtinTags() []string {
	tags := []string{"custom"}
	for _, t := range builtins() {
		tags = append(tags, t.Name)
	}
	return tags
}

// hasTools reports whether the model may have a tool with this name, or any if it is empty. MCP
// servers, a continued thread and system messages can define tools, too; their names are unknown.
func (v *validator) hasTools(name string) bool {
	return v.r.has("mcp_servers") || v.addsTool || v.r.continues() || v.found.Repeats("tools") || v.found.Within("tools") ||
		slices.ContainsFunc(v.r.Tools, func(t content.Tool) bool { // one pass
			return name == "" || t.Name == name || t.Kind == mcpToolset
		})
}

// continues reports whether a thread stores the beginning of the conversation.
func (r *Request) continues() bool { return continues(r.Extra) }

func continues(x *content.Extra) bool {
	thread, _ := x.Get("thread")
	return gjson.Get(thread, "previous_message_id").Exists()
}
