package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/schema"
	"github.com/polywire/polywire/upstream"
)

func (c *converter) output(g *GenerationConfig) {
	o := &c.from.Output
	c.Foreign(o.Extra, "output.extra")
	g.ResponseModalities = c.modalities(g)
	c.image(g)
	if mediaType, schema := textFormat(g.ResponseFormat); mediaType != "" {
		if o.MediaType == mediaType && o.Schema == (content.Schema{JSON: schema}) {
			return // the newer member says it
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
	c.answerSchema(g)
}

// answerSchema says of what form the answer is.
func (c *converter) answerSchema(g *GenerationConfig) {
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
	if c.closed(o.Schema) {
		g.ResponseSchema = s
	} else {
		g.ResponseJSONSchema = s
	}
}

// closed reports whether a schema is said in the format's own dialect.
func (c *converter) closed(s content.Schema) bool { return s.OpenAPI || c.target.ClosedSchemas }

func (c *converter) dialect(s content.Schema) schema.Dialect {
	if c.closed(s) {
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
		return g.ResponseModalities // of the fragment
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
		c.effort(t)
	case upstream.ThinkingOff:
		t.ThinkingBudget = new(int64)
		c.noEffort(effortOff)
	case upstream.ThinkingBudget:
		if t.ThinkingBudget = n.Budget; n.Budget == nil {
			t.ThinkingBudget = asMuch()
			c.Report(budgetUnsaid, "thinking.budget")
		}
		c.noEffort(effortBesideBudget)
	case upstream.ThinkingAuto, upstream.ThinkingBetweenTools:
		if c.effort(t); t.ThinkingLevel == "" {
			t.ThinkingBudget = asMuch()
		}
		if n.Mode == upstream.ThinkingBetweenTools {
			c.Report(thinkingBetween, "thinking.mode")
		}
	default:
		c.Report(thinkingMode, "thinking.mode")
		c.effort(t)
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

// effort says the effort.
func (c *converter) effort(t *ThinkingConfig) {
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

// noEffort notes that the effort is not said.
func (c *converter) noEffort(r *loss.Rule) {
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
