package generatecontent

import (
	"slices"
	"strings"

	"github.com/polywire/polywire/content"
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
		c.Lose(outputType, "output.media_type")
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
		c.Lose(impliedType, "output.media_type")
	}
	s, losses := schema.Output(c.dialect(o.Schema), o.Schema)
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
		c.Lose(outputImage, "output.aspect_ratio")
		is.AspectRatio = ""
	}
	if is.ImageSize = o.ImageSize; o.ImageSize != "" && !slices.Contains(imageSizes, o.ImageSize) {
		c.Lose(outputImage, "output.image_size")
		is.ImageSize = ""
	}
	if is != (ImageConfig{}) {
		g.ImageConfig = &is
	}
}

func (c *converter) modalities(g *GenerationConfig) []string {
	var list []string
	for _, m := range c.from.Output.Modalities {
		if word := modality.find(m); word != "" {
			list = append(list, word)
		} else {
			c.Lose(outputModality, "output.modalities")
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
			c.Lose(budgetWithoutMode, "thinking.budget")
		}
	case upstream.ThinkingOff:
		t.ThinkingBudget = new(int64)
	case upstream.ThinkingBudget:
		if t.ThinkingBudget = n.Budget; n.Budget == nil {
			t.ThinkingBudget = asMuch()
			c.Lose(budgetUnsaid, "thinking.budget")
		}
	case upstream.ThinkingAuto:
		if level == "" {
			t.ThinkingBudget = asMuch()
		}
	case upstream.ThinkingBetweenTools:
		if level == "" {
			t.ThinkingBudget = asMuch()
		}
		c.Lose(thinkingBetween, "thinking.mode")
	default:
		c.Lose(thinkingMode, "thinking.mode")
	}
	if t.ThinkingBudget == nil {
		t.ThinkingLevel = level
	} else if level != "" {
		c.Lose(effortBesideBudget, "thinking.effort")
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
		c.Lose(effortHighest, "thinking.effort")
		return "HIGH"
	}
	c.Lose(effortUnknown, "thinking.effort")
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
		c.Lose(displaySummary, "thinking.display")
	default:
		c.Lose(displayUnknown, "thinking.display")
		return
	}
	t.IncludeThoughts = &show
}
