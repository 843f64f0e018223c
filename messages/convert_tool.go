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

// tools converts the tools. Where several functions are the only ones that may
// be called, these are all that is told.
func (c *converter) tools(tools []content.Tool) []content.Tool {
	only, bound := c.only()
	list, _ := codec.Rewrite(tools, func(i int, t content.Tool) (content.Tool, bool, bool) {
		if bound && t.Kind == "" && !only[t.Name] {
			return t, false, false
		}
		return c.tool(t, "tools."+strconv.Itoa(i))
	})
	if len(list) == 0 {
		return nil
	}
	return list
}

// only returns the names of the functions that are to be told, if these are not
// all of them.
func (c *converter) only() (names map[string]bool, bound bool) {
	n := &c.from.Choice
	if len(n.Names) > 0 {
		names = make(map[string]bool, len(n.Names))
		for _, name := range n.Names {
			names[name] = true
		}
	}
	known, others := false, false
	for _, t := range c.from.Tools {
		if t.Kind == "" {
			named := names[t.Name]
			known, others = known || named, others || !named
		}
	}
	switch {
	case n.Mode == content.ChoiceNone:
		if (known || others) && c.unbound() {
			c.lose(lostNoFunctions, "choice.mode")
			return nil, true
		}
	case !others, len(n.Names) == 0, n.Mode == content.ChoiceAny && len(n.Names) == 1:
	default:
		c.lose(lostNames, "choice.names")
		return names, known // without one the names are a mistake, which the vendor tells
	}
	return nil, false
}

// unbound reports whether there are tools that this format's choice would bind,
// and the one that they come from does not.
func (c *converter) unbound() bool {
	return slices.ContainsFunc(c.from.Tools, func(t content.Tool) bool {
		return slices.ContainsFunc(likeTools[:], func(like likeness) bool { return like.theirs == t.Kind && like.free })
	})
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
	text, lost := c.schemas.Input(dialect, t.Input)
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

// A likeness is a tool of another vendor's that this one has too, by its word,
// and what it is here.
type likeness struct {
	theirs, kind, name string
	free               bool // it is used whatever functions may be called
}

var likeTools = [...]likeness{
	{"googleSearch", "web_search_20250305", "web_search", true},
	{"web_search", "web_search_20250305", "web_search", false},
	{"web_search_2025_08_26", "web_search_20250305", "web_search", false},
	{"web_search_preview", "web_search_20250305", "web_search", false},
	{"codeExecution", "code_execution_20250825", "code_execution", true},
	{"code_interpreter", "code_execution_20250825", "code_execution", false},
	{"urlContext", "web_fetch_20250910", "web_fetch", true},
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
		switch {
		case slices.ContainsFunc(c.served, func(o content.Tool) bool { return o.Kind == t.Kind && o.Raw == t.Raw }):
			c.lose(lostToolAgain, path)
			return t, false, false
		case c.taken(like.name):
			c.lose(lostToolTwice, path)
			return t, false, false
		}
		c.served = append(c.served, t)
		c.lose(lostToolMapped, path)
		return content.Tool{Kind: like.kind, Format: Format, Name: like.name, Raw: likeTool(like.kind, like.name, t.Raw)}, true, true
	}
	c.KeepTool(&t, path)
	return t, false, false
}

// taken reports whether a tool has a name that one of this vendor's own is to
// get.
func (c *converter) taken(name string) bool {
	if c.named == nil {
		c.named = make(map[string]bool, len(c.from.Tools))
		for _, t := range c.from.Tools {
			if t.Kind == "" || t.Format == Format {
				c.named[t.Name] = true
			}
		}
	}
	if c.named[name] {
		return true
	}
	for _, t := range c.served {
		for _, like := range likeTools {
			if like.theirs == t.Kind && like.name == name {
				return true
			}
		}
	}
	return false
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
	if doc, err := jsonwire.Parse(theirs, codec.UnlimitedJSON); err == nil && name == "web_search" {
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
	t := &ToolChoice{DisableParallelToolUse: n.NoParallel, Extra: c.Own(n.Extra)}
	if n.Mode == "" && !n.NoParallel && t.Extra == nil && len(n.Names) == 0 {
		return nil
	}
	if len(c.to.Tools) == 0 && c.to.MCPServers == "" {
		c.lose(lostNoTools, "choice")
		return nil
	}
	t.Type = "auto"
	switch n.Mode {
	case "", content.ChoiceAuto:
	case content.ChoiceNone:
		t.DisableParallelToolUse = false
		if !c.unbound() {
			t.Type = "none"
		}
	case content.ChoiceAny:
		c.forced(t)
	case content.ChoiceValidated:
		c.lose(lostChecked, "choice.mode")
	default:
		c.lose(lostChoice, "choice.mode")
	}
	return t
}

// forced makes t demand the call of a function.
func (c *converter) forced(t *ToolChoice) {
	names := c.from.Choice.Names
	if len(names) != 1 && c.unbound() {
		names = nil
		for _, tool := range c.to.Tools {
			if tool.Kind == "" {
				names = append(names, tool.Name)
			}
		}
		switch len(names) {
		case 0:
			c.lose(lostNoTools, "choice")
			return
		case 1:
		default:
			c.lose(lostAnyTool, "choice.mode")
		}
	}
	if t.Type = "any"; len(names) == 1 {
		t.Type, t.Name = "tool", names[0]
	}
}
