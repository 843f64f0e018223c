package messages

import (
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

// RequestOf returns the Messages request that says what n says, and a list of
// what it cannot say. It shares the parts of n; where a part has to be left
// out or said in another way, its list is copied first. Without losses the way
// from a [Request] to its neutral form and back gives an equal request.
//
// MaxTokens stays nil if n has none, although the format requires it: what is
// a good number depends on the model.
func RequestOf(n *upstream.Request) (*Request, []content.Loss) {
	c := converter{Losses: codec.Losses{Format: Format}, from: n, to: fragment(n.Extra)}
	r := c.to
	c.Foreign(n.Extra, "extra")
	r.Model, r.MaxTokens, r.Stream = n.Model, n.MaxTokens, n.Stream
	r.Temperature, r.TopP, r.TopK, r.StopSequences = n.Temperature, n.TopP, n.TopK, n.StopSequences
	r.System = c.system(n.System)
	r.Messages = c.turns(n.Turns)
	r.Tools = c.tools(n.Tools)
	r.ToolChoice = c.choice()
	r.Thinking = c.thinking()
	c.output()
	c.userID()
	c.tier()
	c.unsaid()
	return r, c.Losses.Losses
}

// fragment reads back what leftover has made. Whoever writes an Extra by hand
// can have anything in it; what is no good is left zero.
func fragment(x *content.Extra) *Request {
	w := &whole{}
	if doc := codec.Open(x, Format); doc != nil {
		defer doc.Close()
		p := parser{form: &w.form, size: 1}
		p.request(doc.Root(), w)
	}
	return &w.request
}

type converter struct {
	codec.Losses
	from *upstream.Request
	to   *Request
}

// unsaid reports what the format has no word for.
func (c *converter) unsaid() {
	n := c.from
	for _, x := range []struct {
		set          bool
		path, reason string
	}{
		{n.Seed != nil, "seed", "Messages has no seed"},
		{n.PresencePenalty != nil, "presence_penalty", "Messages has no presence penalty"},
		{n.FrequencyPenalty != nil, "frequency_penalty", "Messages has no frequency penalty"},
		{n.Candidates > 1, "candidates", "Messages gives one answer"},
		{n.Output.AspectRatio != "", "output.aspect_ratio", "Messages makes no images"},
		{n.Output.ImageSize != "", "output.image_size", "Messages makes no images"},
	} {
		if x.set {
			c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: x.reason}, x.path)
		}
	}
	for _, m := range n.Output.Modalities {
		if m != "text" {
			c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "Messages answers with text only"}, "output.modalities")
			break
		}
	}
}

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
	case content.ChoiceAuto, content.ChoiceNone:
		t.Type = string(n.Mode)
	case content.ChoiceAny:
		t.Type = "any"
		if len(n.Names) == 1 {
			t.Type, t.Name = "tool", n.Names[0]
			return t
		}
	case content.ChoiceValidated:
		t.Type = "auto"
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "Messages checks arguments only for tools that are strict"}, "choice.mode")
	default:
		t.Type = "auto"
		c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "Messages does not have this way of choosing tools"}, "choice.mode")
	}
	if len(n.Names) > 0 {
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "Messages can name one tool to be called, or none"}, "choice.names")
	}
	return t
}

func (c *converter) thinking() *Thinking {
	n := &c.from.Thinking
	c.Foreign(n.Extra, "thinking.extra")
	t := &Thinking{BudgetTokens: n.Budget, Display: n.Display, Extra: c.Ours(n.Extra)}
	switch n.Mode {
	case upstream.ThinkingBudget:
		t.Type = "enabled"
	case upstream.ThinkingAuto:
		t.Type = "adaptive"
	case upstream.ThinkingOff:
		t.Type = "disabled"
	case upstream.ThinkingBetweenTools:
		t.Type = "between_tools"
	case "":
		if old := c.to.Thinking; old != nil {
			return old
		}
		if n.Budget != nil {
			c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "Messages has no budget without a thinking mode"}, "thinking.budget")
		}
		if n.Display != "" {
			c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "Messages has no display without a thinking mode"}, "thinking.display")
		}
		return nil
	default:
		c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "Messages does not have this thinking mode"}, "thinking.mode")
		return nil
	}
	if n.Display == "full" {
		t.Display = "summarized"
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "Messages shows a summary of what was thought"}, "thinking.display")
	}
	return t
}

// output sets OutputConfig and OutputFormat. What the fragment has of them is
// what the neutral request cannot hold.
func (c *converter) output() {
	n, r := &c.from.Output, c.to
	c.Foreign(n.Extra, "output.extra")
	schema := n.Schema.JSON
	if n.Schema.OpenAPI && schema != "" {
		c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "the schema is not JSON Schema"}, "output.schema")
		schema = ""
	}
	cfg := r.OutputConfig
	if cfg == nil {
		cfg = &OutputConfig{}
	}
	cfg.Effort = c.effort()
	if !said(schema, cfg.Format, r.OutputFormat) {
		if r.OutputFormat.schema() != "" {
			r.OutputFormat = nil
		}
		cfg.Format = cfg.Format.with(schema)
	}
	if r.OutputConfig == nil && (cfg.Effort != "" || cfg.Format != nil) {
		r.OutputConfig = cfg
	}
	switch t := n.MediaType; {
	case t == "", t == "text/plain", t == jsonType && n.Schema.JSON != "":
	case t == jsonType:
		c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "Messages answers with JSON only by a schema"}, "output.media_type")
	default:
		c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "Messages answers with plain text or JSON"}, "output.media_type")
	}
}

// said reports whether the formats of a fragment, or the older spelling alone,
// say the schema.
func said(schema string, format, older *OutputFormat) bool {
	if f := format.schema(); f != "" {
		return f == schema
	}
	return older.schema() == schema && (format == nil || format.Type != "")
}

// with returns f with another schema. What only f's old schema had goes.
func (f *OutputFormat) with(schema string) *OutputFormat {
	switch {
	case schema == "" && f != nil && f.Type != "" && f.Type != jsonSchema:
		return f
	case schema == "":
		return nil
	case f == nil:
		f = &OutputFormat{}
	}
	f.Type, f.Schema = jsonSchema, schema
	return f
}

func (c *converter) effort() string {
	switch e := c.from.Thinking.Effort; e {
	case "", "low", "medium", "high", "xhigh", "max":
		return e
	case "minimal":
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "the least effort of Messages is low"}, "thinking.effort")
		return "low"
	}
	c.Lose(&loss.Rule{Severity: content.LossDropped, Reason: "Messages does not have this effort"}, "thinking.effort")
	return ""
}

func (c *converter) userID() {
	if c.from.UserID == "" {
		return
	}
	if c.to.Metadata == nil {
		c.to.Metadata = &Metadata{}
	}
	c.to.Metadata.UserID = c.from.UserID
}

func (c *converter) tier() {
	switch t := c.from.ServiceTier; t {
	case "", "auto", "standard_only":
		c.to.ServiceTier = t
	default:
		c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "Messages does not have this service tier"}, "service_tier")
	}
}

func (c *converter) tools(tools []content.Tool) []content.Tool {
	list, _ := codec.Rewrite(tools, func(i int, t content.Tool) (content.Tool, bool, bool) {
		return c.tool(t, "tools."+strconv.Itoa(i))
	})
	return list
}

// tool reports what is lost of a tool, and returns what is left of it.
func (c *converter) tool(t content.Tool, path string) (left content.Tool, changed, keep bool) {
	if t.Kind != "" {
		return t, false, c.Tool(&t, path)
	}
	c.Foreign(t.Extra, path+".extra")
	if t.Output.JSON != "" {
		c.Lose(&loss.Rule{Severity: content.LossHint, Reason: "Messages has no schema of a tool's result"}, path+".output")
	}
	if t.Input.OpenAPI {
		c.Lose(&loss.Rule{Severity: content.LossDegraded, Reason: "the schema is not JSON Schema; any arguments are accepted"}, path+".input")
		t.Input = content.Schema{}
		return t, true, true
	}
	return t, false, true
}
