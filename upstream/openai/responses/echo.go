package responses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/foreign"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/snapshot"
	"github.com/polywire/polywire/upstream"
)

// expectationOf returns what the client that sent r expects.
func expectationOf(r *upstream.Request) expectation {
	var x expectation
	own := snapshot.Parsed[*Request](r)
	if own != nil {
		x.hideThinking = !own.wantsReasoning()
		x.returnsItems = own.wantsState() && !document.Of(r.Wire).DropsState()
		for i := range own.Tools {
			_, rule := foreign.Function(&own.Tools[i])
			x.searches = x.searches || rule == foreign.SearchAsFunction
		}
	}
	x.knowsSearch = slices.ContainsFunc(r.Tools, isWebSearch) // one pass
	isList := own != nil && own.ToolChoice != nil && own.ToolChoice.Type == typeAllowedTools
	isNone := r.Choice.Mode == content.ChoiceNone
	if x.restricted = isNone || isList; isList && !isNone {
		x.allowed = make(map[string]bool, len(own.ToolChoice.Tools))
		for i := range own.ToolChoice.Tools {
			x.allowed[allowedName(&own.ToolChoice.Tools[i])] = true
		}
	}
	return x
}

// allowedName returns the name of an allowed tool in [expectation.allowed].
func allowedName(t *ToolRef) string {
	member := func(name string) string {
		json, _ := t.Extra.Get(name)
		return gjson.Parse(json).String()
	}
	switch namespace := member("namespace"); {
	case t.Type == "namespace":
		return member("name") + "."
	case namespace != "":
		return namespace + "." + t.Name
	}
	return t.name()
}

// settingsOf returns the settings of r that its response repeats.
func settingsOf(r *upstream.Request) settings {
	own := snapshot.Parsed[*Request](r)
	if own == nil {
		return settings{}
	}
	var s settings
	for i, m := range echoes {
		if m.of != nil {
			s.echoes[i] = m.of(own)
		}
	}
	if c := own.Reasoning; c != nil {
		s.effort, s.summary = textJSON(c.Effort), textJSON(c.summary())
	}
	if t := own.Text; t != nil {
		s.verbosity = textJSON(t.Verbosity)
		if t.Format != nil {
			s.format = formatJSON(t.Format)
		}
	}
	if x := own.Extra; x != nil {
		doc, err := jsonwire.Parse(x.JSON, jsonwire.Limits{})
		if err != nil {
			return s
		}
		defer doc.Close()
		for name, v := range doc.Root().Members() {
			for i, m := range echoes {
				if m.of == nil && m.name == name {
					s.echoes[i] = strings.Clone(v.Raw())
				}
			}
		}
	}
	return s
}

// restrict changes s to the form that Open Responses specifies.
func (s *settings) restrict(own *Request) {
	s.openResponses = true
	if s.effort == `"minimal"` || s.effort == `"max"` {
		s.effort = ""
	}
	if own == nil {
		return
	}
	if t := own.Text; t != nil && t.Format != nil && t.Format.Type == "json_schema" {
		f := *t.Format
		f.Schema = "null"
		s.format = formatJSON(&f)
	}
}

func textJSON(s string) string {
	if s == "" {
		return ""
	}
	return string(jsonwire.AppendString(nil, s))
}

func intJSON(n *int64) string {
	if n == nil {
		return ""
	}
	return string(jsonwire.AppendInt(nil, *n))
}

func numberJSON(n *float64) string {
	if n == nil {
		return ""
	}
	return string(jsonwire.AppendFloat(nil, *n))
}

// choiceJSON returns a tool_choice.
func choiceJSON(c *ToolChoice) string {
	if c == nil {
		return ""
	}
	switch c.Type {
	case "auto", "none", "required":
		return textJSON(c.Type)
	}
	var w jsonwire.Writer
	w.BeginObject()
	w.Member("type", c.Type)
	w.OptMember("name", c.Name)
	if c.Type == "allowed_tools" {
		w.Member("mode", cmp.Or(c.Mode, "auto"))
		w.Array("tools")
		for _, t := range c.Tools {
			w.BeginObject()
			w.Member("type", t.Type)
			w.OptMember("name", t.Name)
			if t.Extra != nil {
				w.Members(t.Extra.JSON)
			}
			w.EndObject()
		}
		w.EndArray()
	}
	if c.Extra != nil {
		w.Members(c.Extra.JSON)
	}
	w.EndObject()
	return w.Text()
}

// formatJSON returns a text.format.
func formatJSON(f *TextFormat) string {
	var w jsonwire.Writer
	w.BeginObject()
	w.Member("type", f.Type)
	if f.Type == "json_schema" {
		w.Member("name", f.Name)
		w.NullableMember("description", f.Description)
		w.BoolMember("strict", f.Strict != nil && *f.Strict)
		w.RawMember("schema", f.Schema)
	}
	if f.Extra != nil {
		w.Members(f.Extra.JSON)
	}
	w.EndObject()
	return w.Text()
}
