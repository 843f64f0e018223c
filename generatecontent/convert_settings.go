package generatecontent

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

func (c *converter) config() {
	g := c.to.GenerationConfig
	if g == nil {
		g = &GenerationConfig{}
	}
	g.CandidateCount = int64(c.from.Candidates)
	c.sampling(g)
	c.stopSequences(g)
	c.output(g)
	if g.ThinkingConfig == nil || !g.ThinkingConfig.equalsNeutral(&c.from.Thinking) {
		g.ThinkingConfig = c.thinking()
	}
	if c.to.GenerationConfig == nil && g.isSet() {
		c.to.GenerationConfig = g
	}
}

// isSet reports whether RequestFromUpstream has set a field.
func (c *GenerationConfig) isSet() bool {
	return c.MaxOutputTokens != nil || c.Temperature != nil || c.TopP != nil || c.TopK != nil || c.Seed != nil ||
		c.PresencePenalty != nil || c.FrequencyPenalty != nil || len(c.StopSequences) > 0 || c.CandidateCount != 0 ||
		c.ResponseMimeType != "" || c.ResponseSchema != "" || c.ResponseJSONSchema != "" ||
		len(c.ResponseModalities) > 0 || c.ImageConfig != nil || c.ThinkingConfig != nil
}

// sampling sets the sampling parameters. Those out of range are dropped, not replaced.
func (c *converter) sampling(g *GenerationConfig) {
	const low, high = -1 << 31, 1<<31 - 1
	below2 := math.Nextafter(2, 0) // the vendor excludes 2
	n := c.from
	g.MaxOutputTokens = inRange(c, n.MaxTokens, low, high, maxTokensRange, "max_tokens")
	g.Temperature = inRange(c, n.Temperature, 0, 2, temperatureRange, "temperature")
	g.TopP = inRange(c, n.TopP, 0, 1, topPRange, "top_p")
	g.TopK = inRange(c, n.TopK, 1, high, topKRange, "top_k")
	g.Seed = inRange(c, n.Seed, low, high, seedRange, "seed")
	g.PresencePenalty = inRange(c, n.PresencePenalty, -2, below2, penaltyRange, "presence_penalty")
	g.FrequencyPenalty = inRange(c, n.FrequencyPenalty, -2, below2, penaltyRange, "frequency_penalty")
}

// inRange returns n if it is in range, and otherwise nil.
func inRange[T int64 | float64](c *converter, n *T, low, high T, r *loss.Rule, path string) *T {
	if n == nil || *n >= low && *n <= high {
		return n
	}
	c.Report(r, path)
	return nil
}

func (c *converter) stopSequences(g *GenerationConfig) {
	list := c.from.StopSequences
	if slices.Contains(list, "") {
		c.Report(stopEmpty, "stop_sequences")
		list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	}
	if len(list) > maxStops {
		c.Report(stopsOverLimit, "stop_sequences")
		list = list[:maxStops:maxStops]
	}
	g.StopSequences = list
}

// tiers maps the service tiers of other formats to this one's.
var tiers = map[string]string{"standard_only": "standard", "default": "standard"}

func (c *converter) tier() {
	t := c.from.ServiceTier
	if own := tiers[t]; own != "" {
		t = own
	}
	if t == "auto" { // the same as no tier
		return
	}
	if t != "" && !slices.Contains(serviceTier.values, t) {
		c.Report(tierUnknown, "service_tier")
		return
	}
	c.to.ServiceTier = t
}

func (c *converter) output(g *GenerationConfig) {
	o := &c.from.Output
	c.Foreign(o.Extra, "output.extra")
	g.ResponseModalities = c.modalities(g)
	c.image(g)
	if mediaType, schema := textFormat(g.ResponseFormat); mediaType != "" {
		if o.MediaType == mediaType && o.Schema == (content.Schema{JSON: schema}) {
			return // responseFormat already specifies it
		}
		if o.MediaType == "" && o.Schema.JSON == "" {
			g.ResponseFormat = ""
			return
		}
	}
	if g.ResponseMimeType = o.MediaType; o.MediaType != "" && !slices.Contains(mimeTypes, o.MediaType) {
		c.Report(outputType, "output.media_type")
		g.ResponseMimeType = ""
	}
	c.responseSchema(g)
}

// responseSchema sets the schema of the response.
func (c *converter) responseSchema(g *GenerationConfig) {
	o := &c.from.Output
	if o.Schema.JSON == "" {
		return
	}
	if g.ResponseMimeType == "" {
		g.ResponseMimeType = "application/json"
		c.Report(impliedType, "output.media_type")
	}
	s, losses := c.schemas.Output(c.dialect(o.Schema), o.Schema)
	c.Within("output.schema", losses)
	if c.isOpenAPI(o.Schema) {
		g.ResponseSchema = s
	} else {
		g.ResponseJSONSchema = s
	}
}

// isOpenAPI reports whether a schema is sent in the vendor's own dialect.
func (c *converter) isOpenAPI(s content.Schema) bool { return s.OpenAPI || c.target.ClosedSchemas }

func (c *converter) dialect(s content.Schema) schema.Dialect {
	if c.isOpenAPI(s) {
		return schema.GeminiSchema
	}
	return schema.GeminiJSON
}

func (c *converter) image(g *GenerationConfig) {
	o := &c.from.Output
	if o.AspectRatio == "" && o.ImageSize == "" {
		return
	}
	var is ImageConfig
	if g.ImageConfig != nil {
		is = *g.ImageConfig
	}
	if is.AspectRatio = o.AspectRatio; o.AspectRatio != "" && !slices.Contains(aspectRatios, o.AspectRatio) {
		c.Report(outputImage, "output.aspect_ratio")
		is.AspectRatio = ""
	}
	if is.ImageSize = o.ImageSize; o.ImageSize != "" && !slices.Contains(imageSizes, o.ImageSize) {
		c.Report(outputImage, "output.image_size")
		is.ImageSize = ""
	}
	if is != (ImageConfig{}) {
		g.ImageConfig = &is
	}
}

func (c *converter) modalities(g *GenerationConfig) []string {
	var list []string
	for _, m := range c.from.Output.Modalities {
		if word := modality.find(m); modality.has(word) {
			list = append(list, word)
		} else {
			c.Report(outputModality, "output.modalities")
		}
	}
	if slices.Equal(list, slices.DeleteFunc(slices.Clone(g.ResponseModalities), modality.unset)) {
		return g.ResponseModalities // has unset values too
	}
	return list
}

func (c *converter) thinking() *ThinkingConfig {
	n := &c.from.Thinking
	c.Foreign(n.Extra, "thinking.extra")
	t := &ThinkingConfig{Extra: c.Own(n.Extra)}
	switch n.Mode {
	case "":
		if n.Budget != nil {
			c.Report(budgetWithoutMode, "thinking.budget")
		}
		c.setEffort(t)
	case upstream.ThinkingOff:
		t.ThinkingBudget = new(int64)
		c.reportEffort(effortOff)
	case upstream.ThinkingBudget:
		if t.ThinkingBudget = n.Budget; n.Budget == nil {
			t.ThinkingBudget = autoBudget()
			c.Report(missingBudget, "thinking.budget")
		}
		c.reportEffort(effortBesideBudget)
	case upstream.ThinkingAuto, upstream.ThinkingBetweenTools:
		if c.setEffort(t); t.ThinkingLevel == "" {
			t.ThinkingBudget = autoBudget()
		}
		if n.Mode == upstream.ThinkingBetweenTools {
			c.Report(thinkingBetween, "thinking.mode")
		}
	default:
		c.Report(thinkingMode, "thinking.mode")
		c.setEffort(t)
	}
	c.display(t)
	if *t == (ThinkingConfig{}) {
		return nil
	}
	return t
}

// equalsNeutral reports whether n is the neutral form of t.
func (t *ThinkingConfig) equalsNeutral(n *upstream.Thinking) bool {
	m := t.toNeutral()
	return m.Mode == n.Mode && m.Effort == n.Effort && m.Display == n.Display && (m.Budget == nil) == (n.Budget == nil) &&
		(m.Budget == nil || *m.Budget == *n.Budget) && (m.Extra == nil) == (n.Extra == nil) &&
		(m.Extra == nil || *m.Extra == *n.Extra)
}

// autoBudget returns the budget that lets the model decide.
func autoBudget() *int64 {
	n := int64(-1)
	return &n
}

// setEffort sets the thinking level.
func (c *converter) setEffort(t *ThinkingConfig) {
	switch e := c.from.Thinking.Effort; e {
	case "":
	case "minimal", "low", "medium", "high":
		t.ThinkingLevel = strings.ToUpper(e)
	case "xhigh", "max":
		c.Report(effortHighest, "thinking.effort")
		t.ThinkingLevel = "HIGH"
	default:
		c.Report(effortUnknown, "thinking.effort")
	}
}

// reportEffort reports that an effort was omitted.
func (c *converter) reportEffort(r *loss.Rule) {
	if c.from.Thinking.Effort != "" {
		c.Report(r, "thinking.effort")
	}
}

func (c *converter) display(t *ThinkingConfig) {
	show := true
	switch c.from.Thinking.Display {
	case "":
		return
	case "omitted":
		show = false
	case "summarized":
	case "full", "updates":
		c.Report(displaySummary, "thinking.display")
	default:
		c.Report(displayUnknown, "thinking.display")
		return
	}
	t.IncludeThoughts = &show
}

// tools converts the tools. Built-in tools of other vendors are replaced by similar
// ones of this vendor, if there are any.
func (c *converter) tools(tools []content.Tool) []content.Tool {
	c.inspectTools(tools)
	var mapped []content.Tool     // go after the functions, which stay adjacent
	var kinds map[string]struct{} // of the tools so far and of their replacements
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
	c.hasSubstitutes = len(mapped) > 0
	if c.hasSubstitutes && slices.ContainsFunc(list, isFunctionTool) {
		if c.to.ToolConfig == nil {
			c.to.ToolConfig = &ToolConfig{}
		}
		c.to.ToolConfig.IncludeServerSideToolInvocations = true
	}
	return list
}

func isFunctionTool(t content.Tool) bool { return t.Kind == "" }

// inspectTools sets the fields of c that depend on all tools.
func (c *converter) inspectTools(tools []content.Tool) {
	c.hasFunctions = slices.ContainsFunc(tools, isFunctionTool)
	if names := c.from.Choice.Names; len(names) > 0 {
		c.chosen = make(map[string]bool, len(names))
		for _, name := range names {
			c.chosen[name] = true
		}
		c.choosesTool = slices.ContainsFunc(tools, func(t content.Tool) bool { return c.chosen[toolName(&t)] })
	}
}

// function converts a function in place and reports whether it changed.
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
	in, out := c.toSchema(t.Input, input), c.toSchema(t.Output, output)
	changed = in != t.Input || out != t.Output
	t.Input, t.Output = in, out
	return changed
}

// toSchema returns the converted form of a schema.
func (c *converter) toSchema(was content.Schema, text string) content.Schema {
	if text == "" {
		return content.Schema{}
	}
	return content.Schema{JSON: text, OpenAPI: c.isOpenAPI(was)}
}

// A substitute is a built-in tool of this vendor that replaces one of another.
type substitute struct {
	prefix string // of the other tool's kind; a version follows
	kind   string
}

var substitutes = [...]substitute{
	{"web_search", "googleSearch"}, {"web_fetch", "urlContext"},
	{"code_execution", "codeExecution"}, {"code_interpreter", "codeExecution"},
}

// substituteOf returns the index of the substitute for a kind, or -1.
func substituteOf(kind string) int {
	return slices.IndexFunc(substitutes[:], func(s substitute) bool { return strings.HasPrefix(kind, s.prefix) })
}

// toolMemberLosses are the members of a built-in tool that do not restrict what it may
// do. A nil rule means that the member has no meaning here.
var toolMemberLosses = map[string]*loss.Rule{
	"type": nil, "name": nil, "cache_control": nil, "container": nil, "defer_loading": nil, "strict": nil,
	"user_location": mappedToolSettings, "search_context_size": mappedToolSettings, "response_inclusion": mappedToolSettings,
	"citations": mappedToolSettings, "use_cache": mappedToolSettings, "allowed_callers": mappedToolSettings,
}

// builtIn returns the replacement of a built-in tool, and whether it is sent.
func (c *converter) builtIn(t *content.Tool, i int) (own content.Tool, keep bool) {
	path := "tools." + strconv.Itoa(i)
	if t.Format == Format {
		return *t, true
	}
	n := substituteOf(t.Kind)
	if n < 0 {
		return *t, c.KeepTool(t, path)
	}
	if c.isExcluded(t) {
		return *t, false // the choice excludes the tool, but here it would apply to functions only
	}
	kind := substitutes[n].kind
	if c.target.NoMixedTools && c.hasFunctions {
		c.Report(toolBesideFunctions, path)
		return *t, false
	}
	c.Report(mappedTool, path)
	c.reportToolMembers(t.Raw, path)
	if t.Cache != nil {
		c.Report(cacheMark, path+".cache")
	}
	return content.Tool{Kind: kind, Format: Format, Raw: "{}"}, true
}

// isExcluded reports whether the tool choice excludes another vendor's tool. A list of
// names that matches no tool excludes nothing.
func (c *converter) isExcluded(t *content.Tool) bool {
	switch c.from.Choice.Mode {
	case content.ChoiceNone:
		return true
	case "", content.ChoiceAuto, content.ChoiceAny, content.ChoiceValidated:
		return c.choosesTool && !c.chosen[toolName(t)]
	}
	return false
}

// toolName returns the name of a tool in a tool choice. For a built-in tool without a
// name it is the kind.
func toolName(t *content.Tool) string {
	if t.Name == "" {
		return t.Kind
	}
	return t.Name
}

// substitutedNames returns the names of the tools that were replaced.
func (c *converter) substitutedNames() map[string]bool {
	if !c.hasSubstitutes {
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

// reportToolMembers reports the settings of a tool that was replaced.
func (c *converter) reportToolMembers(raw, path string) {
	doc, err := jsonwire.Parse(raw, codec.UnlimitedJSON)
	if err != nil {
		return
	}
	defer doc.Close()
	for name, x := range doc.Root().Members() {
		r, known := toolMemberLosses[name]
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
	functions := slices.ContainsFunc(c.to.Tools, isFunctionTool)
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
	if !c.fitChoice(&f, functions) {
		return
	}
	if c.to.ToolConfig == nil {
		c.to.ToolConfig = &ToolConfig{}
	}
	c.to.ToolConfig.FunctionCalling = &f
}

// fitChoice changes a tool choice to one that the vendor accepts, and reports whether
// to send it.
func (c *converter) fitChoice(f *FunctionCalling, functions bool) bool {
	demands := f.Mode == "ANY"
	switch {
	case !functions && demands && len(c.to.Tools) > 0:
		c.Report(choiceForced, "choice.mode")
		return false
	case len(c.to.Tools) == 0 && f.Mode == "NONE" && len(c.from.Tools) > 0:
		return f.Extra != nil // the tools were not sent
	case !functions:
		c.Report(choiceNoTools, "choice.mode")
		return f.Extra != nil && !demands && f.Mode != "VALIDATED"
	case len(f.AllowedFunctionNames) == 0:
		if demands && c.hasSubstitutes {
			c.Report(choiceForced, "choice.mode") // a built-in tool does not satisfy it
		}
		return true
	case f.Mode == "NONE":
		c.Report(choiceNoneNames, "choice.names")
		f.AllowedFunctionNames = nil
		return true
	}
	return c.fitNames(f, demands)
}

// fitNames removes all names but those of functions from a choice. The model may always
// use built-in tools, but cannot be required to.
func (c *converter) fitNames(f *FunctionCalling, demands bool) bool {
	functions, substituted := make(map[string]bool, len(c.to.Tools)), c.substitutedNames()
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
	case len(declared) == 0 && others: // only built-in tools may be used
		f.Mode = "NONE"
	case len(declared) == 0 && demands: // no function can be required
		return false
	case len(declared) == 0:
	case f.Mode == "" || f.Mode == "AUTO":
		c.Report(choiceValidated, "choice.mode")
		f.Mode = "VALIDATED"
	}
	return true
}
