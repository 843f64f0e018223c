package lower

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
)

// ToolRules describes which tools a target accepts, and in which form.
type ToolRules struct {
	OnlyFunctions bool           // the server has no tools of its vendor
	Freeform      bool           // the server has free-form tools; otherwise functions replace them
	Schema        schema.Dialect // of the arguments and results of functions
	StrictSchema  schema.Dialect // of the arguments of strict functions
	OpenAPI       bool           // schemas in the OpenAPI dialect stay as they are
	Strict        StrictTools
	StrictDefault bool // functions without a setting are strict if they can be
	StrictLimit   StrictLimit
	KeepsSchema   bool // functions may have no schema, and members that add nothing are left out
	Results       bool // functions have schemas of their results
	Marks         bool // functions have cache marks
	Description   int  // the most characters of a description; 0 means no limit

	// Vendor returns the target's own tool for the purpose of a tool of another
	// vendor, and the losses of its members, which are those of its Raw. It returns a tool
	// without a Kind if there is none.
	Vendor func(t *content.Tool) (own content.Tool, losses []MemberLoss)

	// FunctionsOnly reports whether the choice of a tool's own format is limited to
	// functions, so that the tool may be called whatever it is.
	FunctionsOnly func(t *content.Tool) bool

	// VendorFree says that the target's tool choice does not limit its own tools.
	// Replacements follow all other tools then, and have no names.
	VendorFree bool

	VendorAlone bool // the model does not accept replacements beside functions
	VendorJSON  bool // the definition of an own tool may be any JSON value; otherwise it is an object
	VendorNames bool // own tools have names, which functions must not have

	// VendorMember returns the own members of a request with the one that is set if there
	// are replacements beside functions. It may be nil.
	VendorMember func(members string) string

	References bool // the conversation may load deferred tools by references
	Additions  bool // the conversation may add tools: see Request.Added

	DeclareCalls bool // tools of earlier calls must be declared
}

// StrictTools says how a function is represented whose arguments must satisfy their schema.
type StrictTools uint8

const (
	StrictNone   StrictTools = iota // not at all
	StrictChoice                    // by the tool choice, for all functions alike
	StrictEqual                     // in StrictSchema, if that changes nothing
	StrictAlways                    // in StrictSchema
)

// tools lowers the tools, and those that a member of the request stands for.
func (l *lowering) tools() {
	rules := &l.t.Tools
	l.listedTools()
	for _, t := range l.memberTools {
		if t.Format == l.t.Format || l.vendorTool(&t, l.memberAt) {
			l.to.Tools = append(slices.Clip(l.to.Tools), t)
			l.replaced = l.replaced || rules.VendorFree
		}
	}
	if l.replaced && rules.VendorMember != nil && slices.ContainsFunc(l.to.Tools, isFunction) { // one pass
		l.setMembers(rules.VendorMember)
	}
}

// listedTools lowers the tools of the request.
func (l *lowering) listedTools() {
	places := l.loadTools()
	rules, tools := &l.t.Tools, l.to.Tools
	if len(tools) == 0 {
		l.declareCalls()
		return
	}
	if c := &l.to.Choice; l.t.Choice.Optional && c.Mode == content.ChoiceAny {
		l.lose(ChoiceForced, At("choice.mode"))
		c.Mode = content.ChoiceAuto
	}
	only, limited := l.chosenFunctions()
	list, last, changed := tools, []content.Tool(nil), false
	for i := range tools {
		t, at := tools[i], In(Tools, i)
		if places != nil {
			at = In(Tools, places[i])
		}
		keep, other := true, false
		switch {
		case t.Kind == "":
			if keep = !limited || only[t.Name]; keep {
				other = l.function(&t, at)
			}
		case t.Format == l.t.Format && !rules.OnlyFunctions:
			if keep = rules.VendorJSON || jsonwire.ValidObject(t.Raw); !keep {
				l.refuse(content.CodeType, at, "the definition of a built-in tool must be a JSON object")
			}
		default:
			other = true
			if t, keep = l.replaceTool(t, at); !keep {
				break
			}
			if t.Kind != "" {
				if rules.VendorFree {
					last, keep = append(last, t), false
				}
			} else if keep = !limited || only[t.Name]; keep {
				l.function(&t, at)
			}
		}
		if keep && places != nil && !t.Deferred && l.addTool(&t, places[i]) {
			keep = false
		}
		if (other || !keep) && !changed {
			list, changed = append(make([]content.Tool, 0, len(tools)), tools[:i]...), true
		}
		if changed && keep {
			list = append(list, t)
		}
	}
	if l.to.Tools = append(list[:len(list):len(list)], last...); len(l.to.Tools) == 0 {
		l.declareCalls()
	}
	l.replaced = len(last) > 0
}

func isFunction(t content.Tool) bool { return t.Kind == "" }

// replaceTool returns the function or the own tool that replaces a tool of another
// vendor, and whether there is one.
func (l *lowering) replaceTool(t content.Tool, at Path) (content.Tool, bool) {
	if f, r := foreign.Function(&t); r != nil { // the client runs it
		l.lose(r, at)
		return f, true
	}
	ok := l.vendorTool(&t, at)
	return t, ok
}

// function lowers a function or a free-form tool in place and reports whether it changed.
func (l *lowering) function(t *content.Tool, at Path) (changed bool) {
	rules := &l.t.Tools
	if t.Freeform && !rules.Freeform {
		l.freeform(t, at)
		changed = true
	}
	if x := l.extra(t.Extra, at, l.t.Own.Members, foreign.Tool); x != t.Extra {
		t.Extra, changed = x, true
	}
	if t.Cache != nil && !rules.Marks {
		l.lose(ToolCache, at.Member("cache"))
		t.Cache, changed = nil, true
	}
	if text := cut(t.Description, rules.Description); text != t.Description {
		l.lose(ToolDescription, at.Member("description"))
		t.Description, changed = text, true
	}
	if t.Freeform {
		return changed
	}
	was, strict := *t, t.Strict
	l.functionSchemas(t, at)
	return changed || t.Input != was.Input || t.Output != was.Output || t.Strict != strict
}

// notStrict is the setting of functions whose arguments are not validated. It is never changed.
var notStrict = false

// isOn reports whether a setting is set and true.
func isOn(setting *bool) bool { return setting != nil && *setting }

// functionSchemas lowers the schemas of a function in place.
func (l *lowering) functionSchemas(t *content.Tool, at Path) {
	rules := &l.t.Tools
	path := at.Member("input")
	done := false
	switch validated := l.n.Choice.Mode == content.ChoiceValidated; {
	case isOn(t.Strict):
		done = l.strict(t, at)
	case validated && rules.Strict > StrictChoice:
		done = l.validated(t, path)
	}
	if t.Strict == nil && rules.StrictDefault && l.n.Defaults.Format != l.t.Format {
		t.Strict = &notStrict // models make up values for the optional members of strict schemas
	}
	if !done && (t.Input.JSON != "" || !rules.KeepsSchema) {
		l.inputSchema(t, path)
	}
	l.outputSchema(t, at.Member("output"))
}

// inputSchema lowers the schema of a function's arguments in place.
func (l *lowering) inputSchema(t *content.Tool, at Path) {
	rules := &l.t.Tools
	if rules.OpenAPI && t.Input.OpenAPI {
		return
	}
	dialect := rules.Schema
	if isOn(t.Strict) {
		dialect = rules.StrictSchema
	}
	text, losses := l.schemas.Input(dialect, t.Input)
	l.schemaLosses(losses, at)
	if rules.KeepsSchema && len(losses) == 0 && !t.Input.OpenAPI && text != t.Input.JSON {
		if onlyAddsProperties(dialect, t.Input.JSON) {
			return
		}
		l.lose(ToolSchema, at)
	}
	if t.Input = (content.Schema{JSON: text}); text == "" {
		t.Input = content.Schema{}
	}
}

// onlyAddsProperties reports whether the only change to a schema would be a list of
// properties.
func onlyAddsProperties(d schema.Dialect, text string) bool {
	end := strings.LastIndexByte(text, '}')
	return end > 0 && schema.Fits(d, content.Schema{JSON: text[:end] + `,"properties":{}}`})
}

// outputSchema lowers the schema of a function's results in place.
func (l *lowering) outputSchema(t *content.Tool, at Path) {
	rules := &l.t.Tools
	if t.Output.JSON == "" || rules.Results && rules.OpenAPI && t.Output.OpenAPI {
		return
	}
	var text string
	var losses []schema.Loss
	if rules.Results {
		text, losses = l.schemas.Output(rules.Schema, t.Output)
		l.schemaLosses(losses, at)
	}
	switch {
	case text != "":
		t.Output = content.Schema{JSON: text}
	case len(losses) == 0:
		l.lose(ToolOutput, at)
		fallthrough
	default:
		t.Output = content.Schema{}
	}
}

// schemaLosses reports the losses of the schema at a path.
func (l *lowering) schemaLosses(losses []schema.Loss, at Path) {
	for _, x := range losses {
		l.lose(x.Rule, at.Member(x.Path))
	}
}

// A toolIndex is what the replacement of tools needs of all tools. It is made for the
// first tool of another vendor.
type toolIndex struct {
	functions map[string]bool // by name
	kinds     map[string]bool // of the target's own tools, also of replacements so far
	names     map[string]bool // the same by name
	replaced  map[string]bool // names of the tools for which an own one is sent
	chosen    map[string]bool // names in the tool choice

	choosesTool bool // a tool has one of these names
}

// indexTools makes the index.
func (l *lowering) indexTools() *toolIndex {
	if l.index == nil {
		set := func() map[string]bool { return make(map[string]bool) }
		l.index = &toolIndex{functions: set(), kinds: set(), names: set(), replaced: set(), chosen: setOf(l.n.Choice.Names)}
		for i := range l.to.Tools {
			t := &l.to.Tools[i]
			l.index.choosesTool = l.index.choosesTool || l.index.chosen[toolName(t)]
			switch {
			case t.Kind == "":
				l.index.functions[t.Name] = true
			case t.Format == l.t.Format:
				l.index.kinds[t.Kind], l.index.names[t.Name] = true, true
			default:
				if f, r := foreign.Function(t); r != nil {
					l.index.functions[f.Name] = true
				}
			}
		}
	}
	return l.index
}

// A MemberLoss is the loss of a member of an object.
type MemberLoss struct {
	Name string
	Rule *loss.Rule
}

// vendorTool replaces a tool of another vendor by the target's own tool for the same
// purpose, in place. It reports whether there is one.
func (l *lowering) vendorTool(t *content.Tool, at Path) bool {
	rules := &l.t.Tools
	var own content.Tool
	var losses []MemberLoss
	if rules.Vendor != nil {
		own, losses = rules.Vendor(t)
	}
	switch {
	case len(l.memberTools) > 0 && foreign.SelectsMemberTools(t): // they have its settings
		if t.Cache != nil {
			l.lose(ToolCache, at.Member("cache"))
		}
		return false
	case own.Kind == "":
		l.lose(ToolVendor, at)
		return false
	}
	x := l.indexTools()
	switch {
	case rules.VendorFree && l.isExcluded(t):
		return false // in this format, the choice would not be limited to other tools
	case rules.VendorAlone && len(x.functions) > 0:
		l.lose(ToolWithOthers, at)
		return false
	case rules.VendorNames && x.functions[own.Name]:
		l.lose(ToolNameTaken, at)
		return false
	case x.kinds[own.Kind], rules.VendorNames && x.names[own.Name]:
		l.lose(ToolTwice, at)
		x.replaced[toolName(t)] = true
		return false
	}
	x.replaced[toolName(t)] = true
	l.lose(ToolMapped, at)
	for _, m := range losses {
		place := at
		if loss.IsPlainName(m.Name) {
			place = at.Member(m.Name)
		}
		l.lose(m.Rule, place)
	}
	if t.Cache != nil && !rules.Marks {
		l.lose(ToolCache, at.Member("cache"))
	}
	if own.Name == "" && !rules.VendorFree {
		own.Name = toolName(t)
	}
	x.kinds[own.Kind], x.names[own.Name] = true, true
	if rules.FunctionsOnly != nil && rules.FunctionsOnly(t) {
		l.free = append(l.free, own.Name)
	}
	*t = own
	return true
}

// toolName returns the name of a tool in a tool choice. For a built-in tool without a
// name it is the kind.
func toolName(t *content.Tool) string {
	if t.Name == "" {
		return t.Kind
	}
	return t.Name
}

// declareCalls declares the tools of earlier tool calls, without schemas, if the target
// requires that.
func (l *lowering) declareCalls() {
	if !l.t.Tools.DeclareCalls {
		return
	}
	if l.to.Tools = CalledTools(l.to.Turns); len(l.to.Tools) > 0 {
		l.lose(ToolUndeclared, At("tools"))
		l.to.Choice = content.ToolChoice{Mode: content.ChoiceNone}
	}
}

// CalledTools returns the tools of earlier tool calls, without schemas.
func CalledTools(turns []content.Turn) (tools []content.Tool) {
	known := make(map[string]bool)
	for i := range turns {
		for _, p := range turns[i].Parts {
			if u, ok := p.(*content.ToolUse); ok && u != nil && !known[u.Name] {
				known[u.Name] = true
				tools = append(tools, content.Tool{Name: u.Name})
			}
		}
	}
	return tools
}
