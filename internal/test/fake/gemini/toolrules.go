package gemini

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

var functionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$`)

var toolRules = []rule{
	{"function-name", "§3.4", false, func(c *call) string {
		return c.eachDeclaration(func(at string, d *fake.Node) string {
			if !functionName.MatchString(str(d, "name")) {
				return at + ".name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128."
			}
			return ""
		})
	}},
	{"function-duplicate", "§3.4", false, func(c *call) string {
		var seen []string
		return c.eachDeclaration(func(_ string, d *fake.Node) string {
			if slices.Contains(seen, str(d, "name")) {
				return "Duplicate function declaration found: " + str(d, "name")
			}
			seen = append(seen, str(d, "name"))
			return ""
		})
	}},
	{"function-count", "§3.4", false, func(c *call) string {
		if n := len(c.declarations()); n > 512 {
			return fmt.Sprintf(".tools: at most 512 function declarations are allowed, got %d", n)
		}
		return ""
	}},
	{"function-schema", "§3.4, §3.8", false, func(c *call) string {
		return c.eachDeclaration(declarationComplaint(c.family))
	}},
	{"allowed-names", "§3.5", false, func(c *call) string {
		config := get(get(c.doc, "toolConfig"), "functionCallingConfig")
		allowed := list(config, "allowedFunctionNames")
		mode := strings.ToUpper(str(config, "mode"))
		if len(allowed) > 0 && mode != "ANY" && mode != "VALIDATED" {
			return ".tool_config.function_calling_config.allowed_function_names: only allowed with mode ANY or VALIDATED"
		}
		var names []string
		for _, d := range c.declarations() {
			names = append(names, str(d, "name"))
		}
		for _, a := range allowed {
			if !slices.Contains(names, a.Str) {
				return "allowed_function_names should be a subset of the provided function_declarations"
			}
		}
		return ""
	}},
	{"mode-tools", "[inferred]", false, func(c *call) string {
		mode := strings.ToUpper(str(get(get(c.doc, "toolConfig"), "functionCallingConfig"), "mode"))
		if (mode == "ANY" || mode == "VALIDATED") && len(c.declarations()) == 0 {
			return "Function calling config is set without function_declarations."
		}
		return ""
	}},
	{"tool-empty", "[inferred]", false, func(c *call) string {
		for i, t := range list(c.doc, "tools") {
			if len(t.Keys) == 0 {
				return fmt.Sprintf(".tools[%d].tool_type: required one_of 'tool_type' must have one initialized field", i)
			}
		}
		return ""
	}},
	{"built-in", "§3.3", false, func(c *call) string {
		builtIn := false
		for _, t := range list(c.doc, "tools") {
			for _, k := range t.Keys {
				builtIn = builtIn || camel(k) != "functionDeclarations"
			}
		}
		flag := get(c.doc, "toolConfig").True("includeServerSideToolInvocations", "include_server_side_tool_invocations")
		if builtIn && len(c.declarations()) > 0 && c.server.opts.Vertex != "" {
			return "Multiple tools are supported only when they are all search tools."
		}
		if builtIn && len(c.declarations()) > 0 && c.family.signsCalls() && !flag {
			return "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling."
		}
		return ""
	}},
	{"search-range", "§3.3", false, func(c *call) string {
		for _, t := range list(c.doc, "tools") {
			r := get(get(t, "googleSearch"), "timeRangeFilter")
			if (str(r, "startTime") == "") != (str(r, "endTime") == "") {
				return "Both start_time and end_time must be set in time_range_filter."
			}
		}
		return ""
	}},
}

func (c *call) declarations() []*fake.Node {
	var all []*fake.Node
	for _, t := range list(c.doc, "tools") {
		all = append(all, list(t, "functionDeclarations")...)
	}
	return all
}

func (c *call) eachDeclaration(f func(at string, d *fake.Node) string) string {
	for i, t := range list(c.doc, "tools") {
		for k, d := range list(t, "functionDeclarations") {
			if s := f(fmt.Sprintf(".tools[%d].function_declarations[%d]", i, k), d); s != "" {
				return s
			}
		}
	}
	return ""
}

func declarationComplaint(f family) func(string, *fake.Node) string {
	return func(at string, d *fake.Node) string {
		for _, pair := range [][2]string{{"parameters", "parametersJsonSchema"}, {"response", "responseJsonSchema"}} {
			if get(d, pair[0]) != nil && get(d, pair[1]) != nil {
				return fmt.Sprintf("%s: only one of %s and %s can be set", at, snake(pair[0]), snake(pair[1]))
			}
		}
		params := get(d, "parameters")
		if params == nil {
			return ""
		}
		if !strings.EqualFold(str(params, "type"), "OBJECT") || params.True("nullable") {
			return at + ".parameters: schema must be a non-nullable OBJECT"
		}
		return schemaComplaint(at+".parameters", params, f)
	}
}

// schemaComplaint checks the semantic rules of generatecontent.md §3.8.
func schemaComplaint(at string, n *fake.Node, f family) string {
	kind := strings.ToUpper(str(n, "type"))
	properties := get(n, "properties")
	switch {
	case get(n, "anyOf") != nil && len(n.Keys) > 1:
		return at + ": anyOf must be the only field in a schema node"
	case kind == "ARRAY" && get(n, "items") == nil:
		return at + ".items: missing field."
	case kind != "STRING" && get(n, "enum") != nil:
		return at + ".enum: only allowed for STRING type"
	case kind == "OBJECT" && properties != nil && len(properties.Keys) == 0 && f.version > 0 && f.version < 2.5:
		return at + ".properties: should be non-empty for OBJECT type"
	}
	for i, r := range list(n, "required") {
		if !properties.Has(r.Str) {
			return fmt.Sprintf("%s.required[%d]: property is not defined", at, i)
		}
	}
	if properties != nil {
		for i, k := range properties.Keys {
			if s := schemaComplaint(at+".properties["+k+"]", properties.Items[i], f); s != "" {
				return s
			}
		}
	}
	if items := get(n, "items"); items != nil && len(items.Keys) > 0 {
		return schemaComplaint(at+".items", items, f)
	}
	for i, s := range list(n, "anyOf") {
		if complaint := schemaComplaint(fmt.Sprintf("%s.any_of[%d]", at, i), s, f); complaint != "" {
			return complaint
		}
	}
	return ""
}

// refSiblings rejects members next to a $ref, generatecontent.md §3.9.
func refSiblings(n *fake.Node, schema bool) string {
	if n == nil {
		return ""
	}
	if schema && n.Has("$ref") {
		for _, k := range n.Keys {
			if !strings.HasPrefix(k, "$") {
				return "A schema with $ref can have no other fields than those that start with $."
			}
		}
	}
	for i, v := range n.Items {
		// The names in these members are the caller's, not keywords.
		names := n.Kind == fake.Object && slices.Contains([]string{"properties", "$defs", "definitions"}, n.Keys[i]) && schema
		if data := n.Kind == fake.Object && slices.Contains([]string{"enum", "const", "default", "example", "examples"}, n.Keys[i]) && schema; data {
			continue
		}
		if s := refSiblings(v, !names); s != "" {
			return s
		}
	}
	return ""
}
