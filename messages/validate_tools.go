package messages

import (
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
)

const (
	maxToolName   = 128
	namePattern   = "^[a-zA-Z0-9_-]{1,128}$"
	maxDeferred   = 10_000
	maxStrict     = 20
	cacheName     = "cache_control"
	deferredCache = "cache_control may not be set on a tool with defer_loading: true"
)

// tools checks the definitions of tools.
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
		if t.Strict {
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
		if _, twice := names[t.Name]; twice {
			v.wholeOnce(onceToolNames, content.CodeConflict, "tools", "Tool names must be unique.")
		}
		names[t.Name] = struct{}{}
	}
	v.path.Truncate(0)
	switch {
	case deferred == len(tools):
		v.whole(content.CodeConflict, "tools", "At least one tool must not have defer_loading: true")
	case deferred > maxDeferred:
		v.whole(content.CodeLimit, "tools", "At most 10000 tools may have defer_loading: true")
	}
	if strict > maxStrict {
		v.whole(content.CodeLimit, "tools", "At most 20 tools may be strict")
	}
}

// tool checks one definition and reports whether it is deferred.
func (v *validator) tool(t *content.Tool) (deferred bool) {
	switch {
	case t.Kind == "" || t.Kind == "custom":
		if !v.made && t.Name == "" && t.Input.JSON == "" && t.Kind == "" && t.Extra == nil {
			return false // the parser could make nothing of it, and has told so
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
	if v.need(t.Name, "name") && !isName(t.Name, maxToolName) {
		v.violation(content.CodeValue, textPattern(namePattern), "name")
	}
	if t.Input.JSON == "" {
		v.violation(content.CodeMissing, textRequired, "input_schema")
	} else if v.object(t.Input.JSON, "input_schema") {
		v.schemaType(t.Input.JSON)
		if t.Strict {
			v.closed(t.Input.JSON, "input_schema")
		}
	}
	if t.Extra != nil {
		deferred = strings.Contains(t.Extra.JSON, "defer_loading") && v.isTrue(t.Extra.JSON, "defer_loading")
		v.extra(t.Extra, customFields)
	}
	if deferred && t.Cache != nil {
		v.violation(content.CodeConflict, deferredCache, cacheName)
	}
	v.mark(t.Cache)
	return deferred
}

// schemaType checks that a schema describes an object.
func (v *validator) schemaType(schema string) {
	switch kind, found := memberText(schema, "type"); {
	case !found:
		v.violation(content.CodeMissing, textRequired, "input_schema", "type")
	case kind != `"object"`:
		v.violation(content.CodeValue, "Input should be 'object'", "input_schema", "type")
	}
}

// closed checks, by strict rules, that every object in a schema that answers
// are constrained by says which members it has.
func (v *validator) closed(schema, name string) {
	if !v.opts.Strict {
		return
	}
	doc := v.open(schema, name)
	if doc == nil {
		return
	}
	defer doc.Close()
	if !isClosed(doc.Root(), 0) {
		v.violation(content.CodeValue, "For 'object' type, 'additionalProperties' must be explicitly set to false", name)
	}
}

// isClosed looks at a schema and at those in it, down to a depth that no real
// one reaches.
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

// isTrue reports whether a member of an object is true.
func (v *validator) isTrue(object, name string) bool {
	doc, err := jsonwire.Parse(object, codec.UnlimitedJSON)
	if err != nil {
		return false
	}
	defer doc.Close()
	on, _ := doc.Root().Get(name).Bool()
	return on
}

// builtinTool checks one of the vendor's own tools.
func (v *validator) builtinTool(t *content.Tool) (deferred bool) {
	if t.Raw == "" {
		v.violation(content.CodeMissing, "the definition is missing: Raw must hold it")
		return false
	}
	doc := v.open(t.Raw)
	if doc == nil {
		return false
	}
	defer doc.Close()
	x := doc.Root()
	if x.Kind() != jsonwire.Object {
		v.violation(content.CodeType, textObject)
		return false
	}
	b := builtinOf(t.Kind)
	switch {
	case b != nil:
		v.judgeFields(x, b.all(), true)
	case v.opts.Strict:
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
			v.violation(content.CodeConflict, deferredCache, cacheName)
		}
		v.markRaw(mark)
	}
	return deferred
}

// all returns the fields of a tool, its name among them.
func (b *builtin) all() []field {
	if b.name == "" {
		return b.fields
	}
	return fieldsOf(b.fields, must("name", constant(b.name)))
}

func builtinTags() []string {
	tags := []string{"custom"}
	for i := range builtins {
		tags = append(tags, builtins[i].kind)
	}
	return tags
}

// hasTools reports whether the model has any tools. Servers bring theirs, so
// does a thread that goes on, and a system message may define some.
func (v *validator) hasTools() bool {
	return len(v.r.Tools) > 0 || v.r.MCPServers != "" || v.added || v.continues() || v.r.violated("tools")
}

// defines reports whether a tool of that name may be there.
func (v *validator) defines(name string) bool {
	if len(v.r.Tools) == 0 || v.r.MCPServers != "" || v.added || v.continues() {
		return true // not all names are known, or there are no tools at all
	}
	for i := range v.r.Tools {
		if t := &v.r.Tools[i]; t.Name == name || t.Kind == mcpToolset {
			return true
		}
	}
	return false
}

// continues reports whether the vendor keeps the beginning of the conversation.
func (v *validator) continues() bool { return v.r.continues() }

// continues reports whether a thread keeps the beginning of the conversation.
func (r *Request) continues() bool { return strings.Contains(r.Thread, "previous_message_id") }
