package anthropic

import (
	"maps"
	"strings"

	"github.com/polywire/polywire/internal/test/fake"
)

// common is the shape of tools with the members that most of them share,
// messages.md §3.4.
func common(more fake.Fields) fake.Shape {
	f := fake.Fields{
		"type!": literal, "cache_control": cacheControl, "defer_loading": fake.Flag, "strict": fake.Flag,
		"allowed_callers": fake.List(fake.Enum("direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521"), 0, 0),
	}
	maps.Copy(f, more)
	return fake.Obj(f)
}

func custom() fake.Shape {
	return func(c *fake.Checker, at fake.Path, n *fake.Node) {
		fake.Obj(fake.Fields{
			"type": fake.Or(fake.Enum("custom")), "name!": fake.Match(`^[a-zA-Z0-9_-]{1,128}$`),
			"input_schema!": inputSchema, "description": fake.Str(0, 0), "cache_control": cacheControl,
			"strict": fake.Flag, "defer_loading": fake.Flag, "input_examples": fake.List(fake.FreeObject, 0, 0),
			"eager_input_streaming": optFlag,
			"allowed_callers":       fake.List(fake.Enum("direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521"), 0, 0),
		})(c, at.Tag("custom"), n)
	}
}

// inputSchema checks the type of the root; a rule checks the rest.
func inputSchema(c *fake.Checker, at fake.Path, n *fake.Node) {
	fake.FreeObject(c, at, n)
	if n.Kind != fake.Object {
		return
	}
	if n.Get("type") == nil {
		c.Report(at.Key("type"), fake.Missing, "", nil)
		return
	}
	fake.Enum("object")(c, at.Key("type"), n.Get("type"))
}

// tool is an element of tools, messages.md §3.4, by its type; without one it is
// a custom tool.
func tool() fake.Shape {
	forms := map[string]fake.Shape{}
	add := func(name string, more fake.Fields, types ...string) {
		for _, t := range types {
			f := maps.Clone(more)
			if f == nil {
				f = fake.Fields{}
			}
			f["name!"] = fake.Enum(name)
			forms[t] = common(f)
		}
	}
	examples := fake.Fields{"input_examples": fake.List(fake.FreeObject, 0, 0)}
	add("bash", examples, "bash_20250124", "bash_20241022@"+computerBeta)
	add("str_replace_editor", examples, "text_editor_20250124", "text_editor_20241022@"+computerBeta)
	add("str_replace_based_edit_tool", examples, "text_editor_20250429")
	add("str_replace_based_edit_tool", fake.Fields{"input_examples": examples["input_examples"], "max_characters": fake.Or(anyCount)}, "text_editor_20250728")
	add("memory", examples, "memory_20250818")
	add("code_execution", nil, "code_execution_20250522", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521")
	add("tool_search_tool_regex", nil, "tool_search_tool_regex_20251119", "tool_search_tool_regex")
	add("tool_search_tool_bm25", nil, "tool_search_tool_bm25_20251119", "tool_search_tool_bm25")
	add("advisor", fake.Fields{"model!": literal, "max_tokens": anyCount, "max_uses": anyCount, "caching": fake.Free}, "advisor_20260301@"+advisorBeta)
	screen := fake.Fields{
		"display_width_px!": fake.Int(1, fake.Inf), "display_height_px!": fake.Int(1, fake.Inf),
		"display_number": fake.Or(anyCount), "input_examples": examples["input_examples"],
	}
	add("computer", screen, "computer_20241022@"+computerBeta, "computer_20250124@"+computerBeta)
	zoom := maps.Clone(screen)
	zoom["enable_zoom"] = fake.Flag
	add("computer", zoom, "computer_20251124@"+computerBeta)
	addWeb(add)
	addToolsets(forms)
	typed := fake.Tagged("type", forms)
	return func(c *fake.Checker, at fake.Path, n *fake.Node) {
		if t := n.Get("type"); n.Kind == fake.Object && (t == nil || t.Str == "custom") {
			custom()(c, at, n)
			return
		}
		typed(c, at, n)
	}
}

func addWeb(add func(name string, more fake.Fields, types ...string)) {
	domains := fake.Or(fake.List(literal, 0, 0))
	search := fake.Fields{
		"max_uses": fake.Or(fake.Int(1, fake.Inf)), "allowed_domains": domains, "blocked_domains": domains,
		"user_location": fake.Or(fake.Obj(fake.Fields{
			"type!": fake.Enum("approximate"), "city": optStr, "region": optStr, "country": optStr, "timezone": optStr,
		})),
	}
	add("web_search", search, "web_search_20250305", "web_search_20260209")
	search = maps.Clone(search)
	search["response_inclusion"] = fake.Enum("full", "excluded")
	add("web_search", search, "web_search_20260318")
	fetch := fake.Fields{
		"max_uses": fake.Or(fake.Int(1, fake.Inf)), "allowed_domains": domains, "blocked_domains": domains,
		"citations":          fake.Or(fake.Obj(fake.Fields{"enabled": fake.Flag})),
		"max_content_tokens": fake.Or(anyCount), "url_sources": fake.FreeObject,
	}
	add("web_fetch", fetch, "web_fetch_20250910", "web_fetch_20260209")
	fetch = maps.Clone(fetch)
	fetch["use_cache"] = fake.Flag
	add("web_fetch", fetch, "web_fetch_20260309")
	fetch = maps.Clone(fetch)
	fetch["response_inclusion"] = fake.Enum("full", "excluded")
	add("web_fetch", fetch, "web_fetch_20260318")
}

func addToolsets(forms map[string]fake.Shape) {
	member := fake.Obj(fake.Fields{"enabled": fake.Flag, "defer_loading": fake.Flag})
	set := fake.Obj(fake.Fields{
		"type!": literal, "configs": fake.Or(fake.Map(fake.Or(member))), "cache_control": cacheControl,
		"allowed_callers": fake.List(fake.Enum("direct"), 0, 0),
	})
	forms["computer_toolset_20260801"] = set
	forms["browser_toolset_20260801"] = set
	forms["mcp_toolset@"+mcpBeta] = fake.Obj(fake.Fields{
		"type!": literal, "mcp_server_name!": literal, "default_config": member, "cache_control": cacheControl,
		"configs": fake.Or(fake.Map(fake.Or(member))), "tools": fake.List(fake.FreeObject, 0, 0),
	})
}

// isServerTool reports whether the vendor runs a tool.
func isServerTool(n *fake.Node) bool {
	t := n.Text("type")
	for _, p := range []string{"web_search", "web_fetch", "code_execution", "tool_search_tool"} {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return false
}
