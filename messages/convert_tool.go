package messages

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	dialects "github.com/polywire/polywire/internal/schema"
)

// tools converts the tools. Where several are the only ones that may be called,
// these are all that is told.
func (c *converter) tools(tools []content.Tool) []content.Tool {
	only := c.only()
	list, _ := codec.Rewrite(tools, func(i int, t content.Tool) (content.Tool, bool, bool) {
		if only != nil && !slices.Contains(only, t.Name) {
			return t, false, false
		}
		return c.tool(t, "tools."+strconv.Itoa(i))
	})
	if len(list) == 0 {
		return nil
	}
	return list
}

// only returns the names of the tools that are to be told, or nil for all.
func (c *converter) only() []string {
	n := &c.from.Choice
	switch {
	case n.Mode == content.ChoiceNone, len(n.Names) == 0, n.Mode == content.ChoiceAny && len(n.Names) == 1:
		return nil
	}
	c.lose(lostNames, "choice.names")
	if !slices.ContainsFunc(c.from.Tools, func(t content.Tool) bool { return slices.Contains(n.Names, t.Name) }) {
		return nil // none would be left: then the names are a mistake, which the vendor tells
	}
	return n.Names
}

// tool reports what is lost of a tool, and returns what is left of it.
func (c *converter) tool(t content.Tool, path string) (left content.Tool, changed, keep bool) {
	if t.Kind != "" {
		return c.vendorTool(t, path)
	}
	c.alien(t.Extra, path)
	if t.Output.JSON != "" {
		c.lose(lostToolOutput, path+".output")
	}
	if t.Input.JSON == "" {
		return t, false, true
	}
	dialect := dialects.JSONSchema
	if t.Strict {
		dialect = dialects.MessagesStrict
	}
	text, lost := dialects.Input(dialect, t.Input)
	c.Within(path+".input", lost)
	if len(lost) == 0 && !t.Input.OpenAPI {
		if text == t.Input.JSON || stays(dialect, t.Input.JSON) {
			return t, false, true
		}
		c.lose(lostSchemaWords, path+".input")
	}
	t.Input = content.Schema{JSON: text}
	return t, true, true
}

// stays reports whether a schema would stay as it is if it had a list of
// properties, which this format does not ask for.
func stays(d dialects.Dialect, schema string) bool {
	end := strings.LastIndexByte(schema, '}')
	return end > 0 && dialects.Fits(d, content.Schema{JSON: schema[:end] + `,"properties":{}}`})
}

// The tools of other vendors that this one has too, by the words of these, and
// what they are here.
var likeTools = [...]struct{ theirs, kind, name string }{
	{"googleSearch", "web_search_20250305", "web_search"},
	{"web_search", "web_search_20250305", "web_search"},
	{"web_search_2025_08_26", "web_search_20250305", "web_search"},
	{"web_search_preview", "web_search_20250305", "web_search"},
	{"codeExecution", "code_execution_20250825", "code_execution"},
	{"code_interpreter", "code_execution_20250825", "code_execution"},
	{"urlContext", "web_fetch_20250910", "web_fetch"},
}

// vendorTool returns this vendor's tool for the purpose of another's, if it has
// one.
func (c *converter) vendorTool(t content.Tool, path string) (left content.Tool, changed, keep bool) {
	if t.Format == Format {
		return t, false, true
	}
	for _, like := range likeTools {
		if like.theirs != t.Kind {
			continue
		}
		if slices.ContainsFunc(c.from.Tools, func(o content.Tool) bool { return o.Kind == "" && o.Name == like.name }) {
			c.lose(lostToolTwice, path)
			return t, false, false
		}
		c.lose(lostToolMapped, path)
		return content.Tool{Kind: like.kind, Format: Format, Name: like.name, Raw: likeTool(like.kind, like.name, t.Raw)}, true, true
	}
	c.Tool(&t, path)
	return t, false, false
}

// likeTool writes the definition of a tool, with the settings of another
// vendor's that mean the same here.
func likeTool(kind, name, theirs string) string {
	var w jsonwire.Writer
	w.BeginObject()
	w.Name("type")
	w.String(kind)
	w.Name("name")
	w.String(name)
	if doc, err := jsonwire.Parse(theirs, codec.AnyDocument); err == nil && name == "web_search" {
		if domains := doc.Root().Get("filters").Get("allowed_domains"); domains.Len() > 0 {
			w.Name("allowed_domains")
			w.Raw(domains.Raw())
		}
		if where := doc.Root().Get("user_location"); where.Get("type").Is("approximate") {
			w.Name("user_location")
			w.Raw(where.Raw())
		}
		doc.Close()
	}
	w.EndObject()
	return w.Text()
}

// choice says which tools to call. It is asked when the tools are known.
func (c *converter) choice() *ToolChoice {
	n := &c.from.Choice
	c.Foreign(n.Extra, "choice.extra")
	if t := c.to.ToolChoice; t != nil && n.Mode == t.neutral().Mode && len(n.Names) == 0 &&
		n.NoParallel == t.DisableParallelToolUse {
		return t
	}
	t := &ToolChoice{DisableParallelToolUse: n.NoParallel, Extra: c.Ours(n.Extra)}
	switch n.Mode {
	case "":
		if !n.NoParallel && t.Extra == nil && len(n.Names) == 0 {
			return nil
		}
		t.Type = "auto"
	case content.ChoiceAuto:
		t.Type = "auto"
	case content.ChoiceNone:
		t.Type, t.DisableParallelToolUse = "none", false
	case content.ChoiceAny:
		t.Type = "any"
		if len(n.Names) == 1 {
			t.Type, t.Name = "tool", n.Names[0]
		}
	case content.ChoiceValidated:
		t.Type = "auto"
		c.lose(lostChecked, "choice.mode")
	default:
		t.Type = "auto"
		c.lose(lostChoice, "choice.mode")
	}
	if len(c.to.Tools) == 0 && c.to.MCPServers == "" {
		c.lose(lostNoTools, "choice")
		return nil
	}
	return t
}
