package messages

import (
	"slices"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	dialects "github.com/polywire/polywire/internal/schema"
)

// output sets OutputConfig and OutputFormat. What the fragment has of them is
// what the neutral request cannot hold.
func (c *converter) output() {
	n, r := &c.from.Output, c.to
	c.Foreign(n.Extra, "output.extra")
	wanted := c.schema()
	if wanted != "" && !said(wanted, r.OutputConfig.format(), r.OutputFormat) {
		text, lost := dialects.Output(dialects.MessagesStrict, n.Schema)
		c.Within("output.schema", lost)
		switch text {
		case "true": // whatever is JSON
			text = "{}"
		case "false": // nothing at all
			text = ""
			c.lose(lostJSONMode, "output.schema")
		}
		if text != "" && len(lost) == 0 && !n.Schema.OpenAPI && text != wanted {
			c.lose(lostAnswerWords, "output.schema")
		}
		wanted = text
	}
	cfg := r.OutputConfig
	if cfg == nil {
		cfg = &OutputConfig{}
	}
	cfg.Effort = c.effort()
	if !said(wanted, cfg.Format, r.OutputFormat) {
		if r.OutputFormat.schema() != "" {
			r.OutputFormat = nil
		}
		cfg.Format = cfg.Format.with(wanted)
	}
	if r.OutputConfig == nil && (cfg.Effort != "" || cfg.Format != nil) {
		r.OutputConfig = cfg
	}
	switch t := n.MediaType; {
	case t == "", t == plainType, t == jsonType && n.Schema.JSON != "":
	case t == jsonType:
		c.lose(lostJSONMode, "output.media_type")
	default:
		words := codec.EnumPrompt(t, n.Schema.JSON)
		if words == "" {
			c.lose(lostMediaType, "output.media_type")
			break
		}
		c.lose(lostOutputEnum, "output.media_type")
		r.System = append(slices.Clip(r.System), &content.Text{Text: words})
	}
}

// schema returns what the answer has to satisfy. The format holds only JSON to a
// schema: where another type is asked for, there is none.
func (c *converter) schema() string {
	switch o := &c.from.Output; o.MediaType {
	case "", plainType, jsonType:
		return o.Schema.JSON
	}
	return ""
}

func (c *OutputConfig) format() *OutputFormat {
	if c == nil {
		return nil
	}
	return c.Format
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
