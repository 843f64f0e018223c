package generatecontent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/schema"
)

// tools converts the tools. Those of other vendors become the like of this one
// where there is such a tool.
func (c *converter) tools(tools []content.Tool) []content.Tool {
	var mapped []content.Tool // behind the functions, so that these stay together
	list, _ := codec.Rewrite(tools, func(i int, t content.Tool) (content.Tool, bool, bool) {
		if t.Kind == "" {
			changed := c.function(&t, i)
			return t, changed, true
		}
		own, keep := c.builtIn(&tools[i], i)
		other := own.Kind != t.Kind || own.Format != t.Format
		if keep && other {
			if !slices.ContainsFunc(append(tools[:i:i], mapped...), func(t content.Tool) bool { return t.Kind == own.Kind }) {
				mapped = append(mapped, own)
			}
			return t, false, false
		}
		return t, false, keep
	})
	list = append(list[:len(list):len(list)], mapped...)
	if len(mapped) > 0 && slices.ContainsFunc(list, callersOwn) {
		if c.to.ToolConfig == nil {
			c.to.ToolConfig = &ToolConfig{}
		}
		c.to.ToolConfig.IncludeServerSideToolInvocations = true
	}
	return list
}

func callersOwn(t content.Tool) bool { return t.Kind == "" }

// function converts a function in place, and reports whether that changed it.
func (c *converter) function(t *content.Tool, i int) (changed bool) {
	path := "tools." + strconv.Itoa(i)
	c.Foreign(t.Extra, path+".extra")
	if t.Cache != nil {
		c.Lose(cacheMark, path+".cache")
	}
	if t.Strict {
		c.Lose(strictTool, path+".strict")
	}
	input, losses := schema.Input(c.dialect(t.Input), t.Input)
	c.Within(path+".input", losses)
	output, losses := schema.Output(c.dialect(t.Output), t.Output)
	c.Within(path+".output", losses)
	in, out := c.said(t.Input, input), c.said(t.Output, output)
	changed = in != t.Input || out != t.Output
	t.Input, t.Output = in, out
	return changed
}

// said returns what a schema has become.
func (c *converter) said(was content.Schema, text string) content.Schema {
	if text == "" {
		return content.Schema{}
	}
	return content.Schema{JSON: text, OpenAPI: c.closed(was)}
}

// A substitute is a tool of this vendor that does what one of another does.
type substitute struct {
	prefix string // of the other's kind: versions follow
	kind   string
}

var substitutes = [...]substitute{
	{"web_search", "googleSearch"}, {"web_fetch", "urlContext"},
	{"code_execution", "codeExecution"}, {"code_interpreter", "codeExecution"},
}

// substituteOf returns which of the substitutes is meant by a kind, -1 if none.
func substituteOf(kind string) int {
	return slices.IndexFunc(substitutes[:], func(s substitute) bool { return strings.HasPrefix(kind, s.prefix) })
}

// plainMembers are the members of a built-in tool that bound nothing.
var plainMembers = []string{"type", "name", "cache_control", "container"}

// builtIn returns what a vendor's own tool is here, and whether it is anything.
func (c *converter) builtIn(t *content.Tool, i int) (own content.Tool, keep bool) {
	path := "tools." + strconv.Itoa(i)
	if t.Format == Format {
		return *t, true
	}
	n := substituteOf(t.Kind)
	if n < 0 {
		return *t, c.Tool(t, path)
	}
	kind := substitutes[n].kind
	if c.target.NoMixedTools && slices.ContainsFunc(c.from.Tools, callersOwn) {
		c.Lose(toolBesideFunctions, path)
		return *t, false
	}
	c.Lose(mappedTool, path)
	if bounded(t.Raw) {
		c.Lose(mappedToolBounds, path)
	}
	if t.Cache != nil {
		c.Lose(cacheMark, path+".cache")
	}
	return content.Tool{Kind: kind, Format: Format, Raw: "{}"}, true
}

// bounded reports whether the definition of a tool says more than what it is.
func bounded(raw string) bool {
	doc, err := jsonwire.Parse(raw, codec.AnyDocument)
	if err != nil {
		return false
	}
	defer doc.Close()
	for name, x := range doc.Root().Members() {
		if x.Kind() != jsonwire.Null && !slices.Contains(plainMembers, name) {
			return true
		}
	}
	return false
}

func (c *converter) choice() {
	n := &c.from.Choice
	c.Foreign(n.Extra, "choice.extra")
	functions := slices.ContainsFunc(c.to.Tools, callersOwn)
	if n.NoParallel && functions {
		c.Lose(choiceParallel, "choice.no_parallel")
	}
	f := FunctionCalling{AllowedFunctionNames: n.Names, Extra: c.Ours(n.Extra)}
	switch n.Mode {
	case "":
		if len(n.Names) == 0 && f.Extra == nil {
			return
		}
	case content.ChoiceAuto, content.ChoiceAny, content.ChoiceNone, content.ChoiceValidated:
		f.Mode = strings.ToUpper(string(n.Mode))
	default:
		c.Lose(choiceMode, "choice.mode")
		return
	}
	if !c.choosable(&f, functions) {
		return
	}
	if c.to.ToolConfig == nil {
		c.to.ToolConfig = &ToolConfig{}
	}
	c.to.ToolConfig.FunctionCalling = &f
}

// choosable makes a choice one that the vendor takes, and reports whether there
// is anything left to say.
func (c *converter) choosable(f *FunctionCalling, functions bool) bool {
	demands := f.Mode == "ANY"
	switch {
	case !functions && demands && len(c.to.Tools) > 0:
		c.Lose(choiceForced, "choice.mode")
		return false
	case !functions:
		c.Lose(choiceNoTools, "choice.mode")
		return f.Extra != nil && !demands && f.Mode != "VALIDATED"
	case len(f.AllowedFunctionNames) == 0:
		return true
	case f.Mode == "NONE":
		c.Lose(choiceNoneNames, "choice.names")
		f.AllowedFunctionNames = nil
		return true
	}
	declared, _ := codec.Rewrite(f.AllowedFunctionNames, func(_ int, name string) (string, bool, bool) {
		return name, false, slices.ContainsFunc(c.to.Tools, func(t content.Tool) bool { return t.Kind == "" && t.Name == name })
	})
	if len(declared) < len(f.AllowedFunctionNames) {
		c.Lose(choiceNames, "choice.names")
	}
	f.AllowedFunctionNames = declared
	switch {
	case len(declared) == 0 && demands: // none of them is a function: nothing can be demanded of the others
		return false
	case len(declared) == 0:
		return true
	case f.Mode == "" || f.Mode == "AUTO":
		c.Lose(choiceValidated, "choice.mode")
		f.Mode = "VALIDATED"
	}
	return true
}
