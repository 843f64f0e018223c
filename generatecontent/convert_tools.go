package generatecontent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
)

// tools converts the tools. Those of other vendors become the like of this one
// where there is such a tool.
func (c *converter) tools(tools []content.Tool) []content.Tool {
	c.survey(tools)
	var mapped []content.Tool     // behind the functions, so that these stay together
	var kinds map[string]struct{} // of the tools so far, and of those in place of them
	list, _ := codec.Rewrite(tools, func(i int, t content.Tool) (content.Tool, bool, bool) {
		if t.Kind == "" {
			changed := c.function(&t, i)
			return t, changed, true
		}
		own, keep := c.builtIn(&tools[i], i)
		other := own.Kind != t.Kind || own.Format != t.Format
		if kinds == nil {
			kinds = make(map[string]struct{})
		}
		if keep && other {
			if _, twice := kinds[own.Kind]; !twice {
				mapped = append(mapped, own)
			}
			kinds[own.Kind], keep = struct{}{}, false
		}
		kinds[t.Kind] = struct{}{}
		return t, false, keep
	})
	list = append(list[:len(list):len(list)], mapped...)
	c.mapped = len(mapped) > 0
	if c.mapped && slices.ContainsFunc(list, callersOwn) {
		if c.to.ToolConfig == nil {
			c.to.ToolConfig = &ToolConfig{}
		}
		c.to.ToolConfig.IncludeServerSideToolInvocations = true
	}
	return list
}

func callersOwn(t content.Tool) bool { return t.Kind == "" }

// survey finds out what is asked about all tools for each of them.
func (c *converter) survey(tools []content.Tool) {
	c.functions = slices.ContainsFunc(tools, callersOwn)
	if names := c.from.Choice.Names; len(names) > 0 {
		c.chosen = make(map[string]bool, len(names))
		for _, name := range names {
			c.chosen[name] = true
		}
		c.chooses = slices.ContainsFunc(tools, func(t content.Tool) bool { return c.chosen[toolName(&t)] })
	}
}

// function converts a function in place, and reports whether that changed it.
func (c *converter) function(t *content.Tool, i int) (changed bool) {
	path := "tools." + strconv.Itoa(i)
	c.Foreign(t.Extra, path+".extra")
	if t.Cache != nil {
		c.Report(cacheMark, path+".cache")
	}
	if t.Strict {
		c.Report(strictTool, path+".strict")
	}
	input, losses := c.schemas.Input(c.dialect(t.Input), t.Input)
	c.Within(path+".input", losses)
	output, losses := c.schemas.Output(c.dialect(t.Output), t.Output)
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

// toolMembers are the members of a built-in tool that do not bound what it may
// do: those of no account here, and those that only say how it works.
var toolMembers = map[string]*loss.Rule{
	"type": nil, "name": nil, "cache_control": nil, "container": nil, "defer_loading": nil, "strict": nil,
	"user_location": mappedToolSettings, "search_context_size": mappedToolSettings, "response_inclusion": mappedToolSettings,
	"citations": mappedToolSettings, "use_cache": mappedToolSettings, "allowed_callers": mappedToolSettings,
}

// builtIn returns what a vendor's own tool is here, and whether it is anything.
func (c *converter) builtIn(t *content.Tool, i int) (own content.Tool, keep bool) {
	path := "tools." + strconv.Itoa(i)
	if t.Format == Format {
		return *t, true
	}
	n := substituteOf(t.Kind)
	if n < 0 {
		return *t, c.KeepTool(t, path)
	}
	if c.barred(t) {
		return *t, false // where it comes from, the choice concerns it; here, it would concern functions only
	}
	kind := substitutes[n].kind
	if c.target.NoMixedTools && c.functions {
		c.Report(toolBesideFunctions, path)
		return *t, false
	}
	c.Report(mappedTool, path)
	c.bounds(t.Raw, path)
	if t.Cache != nil {
		c.Report(cacheMark, path+".cache")
	}
	return content.Tool{Kind: kind, Format: Format, Raw: "{}"}, true
}

// barred reports whether the choice keeps the model from calling another
// vendor's tool. Names of which none is a tool's keep it from nothing.
func (c *converter) barred(t *content.Tool) bool {
	switch c.from.Choice.Mode {
	case content.ChoiceNone:
		return true
	case "", content.ChoiceAuto, content.ChoiceAny, content.ChoiceValidated:
		return c.chooses && !c.chosen[toolName(t)]
	}
	return false
}

// toolName returns what a choice calls a tool. Built-in ones without a name go by
// their kind.
func toolName(t *content.Tool) string {
	if t.Name == "" {
		return t.Kind
	}
	return t.Name
}

// substituted returns the names of the tools which those of this vendor stand
// for.
func (c *converter) substituted() map[string]bool {
	if !c.mapped {
		return nil
	}
	names := make(map[string]bool)
	for i := range c.from.Tools {
		if t := &c.from.Tools[i]; t.Kind != "" && t.Format != Format && substituteOf(t.Kind) >= 0 {
			names[toolName(t)] = true
		}
	}
	return names
}

// bounds notes what the definition of a tool says besides what it is.
func (c *converter) bounds(raw, path string) {
	doc, err := jsonwire.Parse(raw, codec.UnlimitedJSON)
	if err != nil {
		return
	}
	defer doc.Close()
	for name, x := range doc.Root().Members() {
		r, known := toolMembers[name]
		switch {
		case !known:
			r = mappedToolBounds
		case name == "allowed_callers" && codec.OnlyDirect(x):
			r = nil
		}
		if r != nil && x.Kind() != jsonwire.Null {
			c.Report(r, path)
		}
	}
}

func (c *converter) choice() {
	n := &c.from.Choice
	c.Foreign(n.Extra, "choice.extra")
	functions := slices.ContainsFunc(c.to.Tools, callersOwn)
	if n.NoParallel && functions {
		c.Report(choiceParallel, "choice.no_parallel")
	}
	f := FunctionCalling{AllowedFunctionNames: n.Names, Extra: c.Own(n.Extra)}
	switch n.Mode {
	case "":
		if len(n.Names) == 0 && f.Extra == nil {
			return
		}
	case content.ChoiceAuto, content.ChoiceAny, content.ChoiceNone, content.ChoiceValidated:
		f.Mode = strings.ToUpper(string(n.Mode))
	default:
		c.Report(choiceMode, "choice.mode")
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
		c.Report(choiceForced, "choice.mode")
		return false
	case len(c.to.Tools) == 0 && f.Mode == "NONE" && len(c.from.Tools) > 0:
		return f.Extra != nil // those that may not be called are not told
	case !functions:
		c.Report(choiceNoTools, "choice.mode")
		return f.Extra != nil && !demands && f.Mode != "VALIDATED"
	case len(f.AllowedFunctionNames) == 0:
		if demands && c.mapped {
			c.Report(choiceForced, "choice.mode") // it cannot be one of these
		}
		return true
	case f.Mode == "NONE":
		c.Report(choiceNoneNames, "choice.names")
		f.AllowedFunctionNames = nil
		return true
	}
	return c.among(f, demands)
}

// among makes a choice by names one that the vendor takes: by names of
// functions. Other tools are used whatever the choice says, but never demanded.
func (c *converter) among(f *FunctionCalling, demands bool) bool {
	functions, substituted := make(map[string]bool, len(c.to.Tools)), c.substituted()
	for i := range c.to.Tools {
		if t := &c.to.Tools[i]; t.Kind == "" {
			functions[t.Name] = true
		}
	}
	others, unknown := false, false
	declared, _ := codec.Rewrite(f.AllowedFunctionNames, func(_ int, name string) (string, bool, bool) {
		if !functions[name] {
			other := substituted[name]
			others, unknown = others || other, unknown || !other
		}
		return name, false, functions[name]
	})
	if unknown {
		c.Report(choiceNames, "choice.names")
	}
	if others && demands {
		c.Report(choiceForced, "choice.mode")
	}
	f.AllowedFunctionNames = declared
	switch {
	case len(declared) == 0 && others: // only these may be called
		f.Mode = "NONE"
	case len(declared) == 0 && demands: // none of them is a function: nothing can be demanded of the others
		return false
	case len(declared) == 0:
	case f.Mode == "" || f.Mode == "AUTO":
		c.Report(choiceValidated, "choice.mode")
		f.Mode = "VALIDATED"
	}
	return true
}
