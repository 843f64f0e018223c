package generatecontent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// RequestOf says a neutral request in this format, and reports what the format
// cannot say. The result shares parts and lists with n; where something had to
// be changed, it was copied first. Without losses the way from a [Request] to
// its neutral form and back gives an equal request, but for configurations with
// nothing in them.
//
// Names of tools and ids of calls are not changed; whether they fit the
// format's rules is for [Request.Validate] or whoever maps them.
func RequestOf(n *upstream.Request) (*Request, []content.Loss) {
	c := converter{Losses: codec.Losses{Format: Format}, from: n, to: fragment(n.Extra)}
	r := c.to
	c.Foreign(n.Extra, "extra")
	r.Model = n.Model
	c.system()
	r.Contents = c.turns(n.Turns)
	r.Tools = c.tools(n.Tools)
	c.choice()
	c.config()
	c.tier()
	if n.UserID != "" {
		c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "content generation has no name for the client's user"}, "user_id")
	}
	return r, c.Losses.Losses
}

// fragment reads back what leftover has made. Whoever writes an Extra by hand
// can have anything in it; what is no good is left zero.
func fragment(x *content.Extra) *Request {
	w := &whole{}
	if doc := codec.Open(x, Format); doc != nil {
		defer doc.Close()
		p := parser{form: &w.form, size: 1}
		if doc.Root().Kind() == jsonwire.Object {
			p.request(doc.Root(), w)
		}
	}
	return &w.request
}

type converter struct {
	codec.Losses
	from  *upstream.Request
	to    *Request
	names map[string]string // of tools, by the ids of their calls; by need
}

// system converts the system parts, which can only be texts.
func (c *converter) system() {
	parts, _ := c.parts(c.from.System, "system", content.System)
	if s := c.to.SystemInstruction; s != nil {
		s.Parts = parts
	} else if len(parts) > 0 {
		c.to.SystemInstruction = &Instruction{Parts: parts}
	}
}

func (c *converter) choice() {
	n := &c.from.Choice
	c.Foreign(n.Extra, "choice.extra")
	if n.NoParallel {
		c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "content generation cannot forbid parallel calls"}, "choice.no_parallel")
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
		c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "content generation does not have this way of choosing tools"}, "choice.mode")
		return
	}
	if c.to.ToolConfig == nil {
		c.to.ToolConfig = &ToolConfig{}
	}
	c.to.ToolConfig.FunctionCalling = &f
}

func (c *converter) config() {
	n, g := c.from, c.to.GenerationConfig
	if g == nil {
		g = &GenerationConfig{}
	}
	g.MaxOutputTokens, g.Temperature, g.TopP, g.TopK, g.Seed = n.MaxTokens, n.Temperature, n.TopP, n.TopK, n.Seed
	g.PresencePenalty, g.FrequencyPenalty = n.PresencePenalty, n.FrequencyPenalty
	g.StopSequences, g.CandidateCount = n.StopSequences, int64(n.Candidates)
	c.output(g)
	if g.ThinkingConfig == nil || !g.ThinkingConfig.says(&n.Thinking) {
		g.ThinkingConfig = c.thinking()
	}
	if c.to.GenerationConfig == nil && g.some() {
		c.to.GenerationConfig = g
	}
}

// some reports whether a configuration says anything that RequestOf sets.
func (c *GenerationConfig) some() bool {
	return c.MaxOutputTokens != nil || c.Temperature != nil || c.TopP != nil || c.TopK != nil || c.Seed != nil ||
		c.PresencePenalty != nil || c.FrequencyPenalty != nil || len(c.StopSequences) > 0 || c.CandidateCount != 0 ||
		c.ResponseMimeType != "" || c.ResponseSchema != "" || c.ResponseJSONSchema != "" ||
		len(c.ResponseModalities) > 0 || c.ImageConfig != nil || c.ThinkingConfig != nil
}

func (c *converter) output(g *GenerationConfig) {
	o := &c.from.Output
	c.Foreign(o.Extra, "output.extra")
	g.ResponseModalities = c.modalities(g)
	if o.AspectRatio != "" || o.ImageSize != "" {
		if g.ImageConfig == nil {
			g.ImageConfig = &ImageConfig{}
		}
		g.ImageConfig.AspectRatio, g.ImageConfig.ImageSize = o.AspectRatio, o.ImageSize
	}
	if mediaType, schema := textFormat(g.ResponseFormat); mediaType != "" {
		if o.MediaType == mediaType && o.Schema == (content.Schema{JSON: schema}) {
			return // the newer member says it
		}
		if o.MediaType == "" && o.Schema.JSON == "" {
			g.ResponseFormat = ""
			return
		}
	}
	g.ResponseMimeType = o.MediaType
	switch {
	case o.Schema.JSON == "":
		return
	case o.Schema.OpenAPI:
		g.ResponseSchema = o.Schema.JSON
	default:
		g.ResponseJSONSchema = o.Schema.JSON
	}
	if o.MediaType == "" {
		g.ResponseMimeType = "application/json"
		c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "a schema needs a media type here: it is application/json"}, "output.media_type")
	}
}

func (c *converter) modalities(g *GenerationConfig) []string {
	var list []string
	for _, m := range c.from.Output.Modalities {
		if word := modality.find(m); word != "" {
			list = append(list, word)
		} else {
			c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "content generation does not have this kind of output"}, "output.modalities")
		}
	}
	if slices.Equal(list, slices.DeleteFunc(slices.Clone(g.ResponseModalities), modality.unset)) {
		return g.ResponseModalities // of the fragment
	}
	return list
}

func (c *converter) thinking() *ThinkingConfig {
	n := &c.from.Thinking
	c.Foreign(n.Extra, "thinking.extra")
	t := &ThinkingConfig{Extra: c.Ours(n.Extra)}
	level := c.level()
	switch n.Mode {
	case "":
		if n.Budget != nil {
			c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "there is no budget without a thinking mode"}, "thinking.budget")
		}
	case upstream.ThinkingOff:
		t.ThinkingBudget = new(int64)
	case upstream.ThinkingBudget:
		if t.ThinkingBudget = n.Budget; n.Budget == nil {
			t.ThinkingBudget = asMuch()
			c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "no budget was said: the model decides"}, "thinking.budget")
		}
	case upstream.ThinkingAuto:
		if level == "" {
			t.ThinkingBudget = asMuch()
		}
	case upstream.ThinkingBetweenTools:
		t.ThinkingBudget = asMuch()
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "content generation cannot confine thinking to the time between calls"}, "thinking.mode")
	default:
		c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "content generation does not have this thinking mode"}, "thinking.mode")
	}
	if t.ThinkingBudget == nil {
		t.ThinkingLevel = level
	} else if level != "" {
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "content generation takes a budget or an effort, not both"}, "thinking.effort")
	}
	c.display(t)
	if *t == (ThinkingConfig{}) {
		return nil
	}
	return t
}

// says reports whether t is n in this format's words.
func (t *ThinkingConfig) says(n *upstream.Thinking) bool {
	m := t.neutral()
	return m.Mode == n.Mode && m.Effort == n.Effort && m.Display == n.Display && (m.Budget == nil) == (n.Budget == nil) &&
		(m.Budget == nil || *m.Budget == *n.Budget) && (m.Extra == nil) == (n.Extra == nil) &&
		(m.Extra == nil || *m.Extra == *n.Extra)
}

// asMuch is the budget that leaves it to the model.
func asMuch() *int64 {
	n := int64(-1)
	return &n
}

// level returns the word for the effort.
func (c *converter) level() string {
	switch e := c.from.Thinking.Effort; e {
	case "":
		return ""
	case "minimal", "low", "medium", "high":
		return strings.ToUpper(e)
	case "xhigh", "max":
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "the most effort of content generation is high"}, "thinking.effort")
		return "HIGH"
	}
	c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "content generation does not have this effort"}, "thinking.effort")
	return ""
}

func (c *converter) display(t *ThinkingConfig) {
	show := true
	switch c.from.Thinking.Display {
	case "":
		return
	case "omitted":
		show = false
	case "summarized":
	case "full":
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "content generation shows a summary of what was thought"}, "thinking.display")
	default:
		c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "content generation does not have this display"}, "thinking.display")
		return
	}
	t.IncludeThoughts = &show
}

func (c *converter) tier() {
	t := c.from.ServiceTier
	if t != "" && !slices.Contains(serviceTier.values, t) {
		c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "content generation does not have this service tier"}, "service_tier")
		return
	}
	c.to.ServiceTier = t
}

func (c *converter) tools(tools []content.Tool) []content.Tool {
	list, _ := codec.Rewrite(tools, func(i int, t content.Tool) (content.Tool, bool, bool) {
		return t, false, c.tool(&tools[i], "tools."+strconv.Itoa(i))
	})
	return list
}

// tool reports what is lost of a tool.
func (c *converter) tool(t *content.Tool, path string) (keep bool) {
	if t.Kind != "" {
		return c.Tool(t, path)
	}
	c.Foreign(t.Extra, path+".extra")
	c.cache(t.Cache, path)
	if t.Strict {
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "content generation checks arguments for all functions or none"}, path+".strict")
	}
	return true
}

func (c *converter) cache(m *content.Cache, path string) {
	if m != nil {
		c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "content generation has no cache marks"}, path+".cache")
	}
}
