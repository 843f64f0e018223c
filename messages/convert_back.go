package messages

import (
	"strconv"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
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
	c := converter{from: n, to: fragment(n.Extra)}
	r := c.to
	c.foreign(n.Extra, "extra")
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
	return r, c.losses
}

// fragment reads back what leftover has made. Whoever writes an Extra by hand
// can have anything in it; what is no good is left zero.
func fragment(x *content.Extra) *Request {
	w := &whole{}
	if x == nil || x.Format != Format {
		return &w.request
	}
	doc, err := jsonwire.Parse(x.JSON, anyDocument)
	if err != nil {
		return &w.request
	}
	defer doc.Close()
	p := parser{form: &w.form, size: 1}
	p.request(doc.Root(), w)
	return &w.request
}

type converter struct {
	from   *upstream.Request
	to     *Request
	losses []content.Loss
}

func (c *converter) lose(s content.Severity, path, reason string) {
	c.losses = append(c.losses, content.Loss{Path: path, Severity: s, Reason: reason})
}

// foreign reports members of another format.
func (c *converter) foreign(x *content.Extra, path string) {
	if x != nil && x.Format != Format {
		c.lose(content.LossHint, path, "members that only another format has are left out")
	}
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
			c.lose(content.LossDropped, x.path, x.reason)
		}
	}
	for _, m := range n.Output.Modalities {
		if m != "text" {
			c.lose(content.LossDropped, "output.modalities", "Messages answers with text only")
			break
		}
	}
}

func (c *converter) choice() *ToolChoice {
	n := &c.from.Choice
	c.foreign(n.Extra, "choice.extra")
	if t := c.to.ToolChoice; t != nil && n.Mode == t.neutral().Mode && len(n.Names) == 0 &&
		n.NoParallel == t.DisableParallelToolUse {
		return t
	}
	t := &ToolChoice{DisableParallelToolUse: n.NoParallel, Extra: ours(n.Extra)}
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
		c.lose(content.LossDegraded, "choice.mode", "Messages checks arguments only for tools that are strict")
	default:
		t.Type = "auto"
		c.lose(content.LossDropped, "choice.mode", "Messages does not have this way of choosing tools")
	}
	if len(n.Names) > 0 {
		c.lose(content.LossDegraded, "choice.names", "Messages can name one tool to be called, or none")
	}
	return t
}

// ours returns x if its members are this format's.
func ours(x *content.Extra) *content.Extra {
	if x != nil && x.Format == Format {
		return x
	}
	return nil
}

func (c *converter) thinking() *Thinking {
	n := &c.from.Thinking
	c.foreign(n.Extra, "thinking.extra")
	t := &Thinking{BudgetTokens: n.Budget, Display: n.Display, Extra: ours(n.Extra)}
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
			c.lose(content.LossDropped, "thinking.budget", "Messages has no budget without a thinking mode")
		}
		if n.Display != "" {
			c.lose(content.LossHint, "thinking.display", "Messages has no display without a thinking mode")
		}
		return nil
	default:
		c.lose(content.LossDropped, "thinking.mode", "Messages does not have this thinking mode")
		return nil
	}
	if n.Display == "full" {
		t.Display = "summarized"
		c.lose(content.LossDegraded, "thinking.display", "Messages shows a summary of what was thought")
	}
	return t
}

// output sets OutputConfig and OutputFormat. What the fragment has of them is
// what the neutral request cannot hold.
func (c *converter) output() {
	n, r := &c.from.Output, c.to
	c.foreign(n.Extra, "output.extra")
	schema := n.Schema.JSON
	if n.Schema.OpenAPI && schema != "" {
		c.lose(content.LossDropped, "output.schema", "the schema is not JSON Schema")
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
		c.lose(content.LossDropped, "output.media_type", "Messages answers with JSON only by a schema")
	default:
		c.lose(content.LossDropped, "output.media_type", "Messages answers with plain text or JSON")
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
		c.lose(content.LossDegraded, "thinking.effort", "the least effort of Messages is low")
		return "low"
	}
	c.lose(content.LossDropped, "thinking.effort", "Messages does not have this effort")
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
		c.lose(content.LossHint, "service_tier", "Messages does not have this service tier")
	}
}

func (c *converter) tools(tools []content.Tool) []content.Tool {
	var list []content.Tool // nil while it is the same as tools
	for i := range tools {
		t := tools[i]
		changed, keep := c.tool(&t, "tools."+strconv.Itoa(i))
		if (changed || !keep) && list == nil {
			list = append(make([]content.Tool, 0, len(tools)), tools[:i]...)
		}
		if keep && list != nil {
			list = append(list, t)
		}
	}
	if list == nil {
		return tools
	}
	return list
}

// tool reports what is lost of a tool, and changes the copy that it is given.
func (c *converter) tool(t *content.Tool, path string) (changed, keep bool) {
	if t.Kind != "" {
		if t.Format != Format {
			c.lose(content.LossDropped, path, "the tool is another vendor's own")
		}
		return false, t.Format == Format
	}
	c.foreign(t.Extra, path+".extra")
	if t.Output.JSON != "" {
		c.lose(content.LossHint, path+".output", "Messages has no schema of a tool's result")
	}
	if t.Input.OpenAPI {
		c.lose(content.LossDegraded, path+".input", "the schema is not JSON Schema; any arguments are accepted")
		t.Input = content.Schema{}
		return true, true
	}
	return false, true
}
