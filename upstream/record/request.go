package record

import (
	"slices"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/partfield"
	"github.com/polywire/polywire/upstream"
)

// A line is a field of a request: its path and its value as JSON.
type line struct{ path, json string }

// requestLines returns what of r all formats have, in a fixed order. It returns an error for parts
// that are nil or of an unknown kind.
func requestLines(r *upstream.Request) (lines []line, err error) {
	f := &fields{request: true, put: func(path, json string) { lines = append(lines, line{path, json}) }}
	c := *r // the fields below are only read
	f.text("model", &c.Model)
	f.parts("system", &c.System)
	for i := range r.Turns {
		t := r.Turns[i]
		f.kind(at("turns", i), (*string)(&t.Role))
		parts := slices.DeleteFunc(slices.Clone(t.Parts), isThinking) // many clients do not return it
		f.parts(at("turns", i)+".parts", &parts)
	}
	for i := range r.Tools {
		t, path := r.Tools[i], at("tools", i)
		f.kind(path, &t.Name)
		f.text(path+".description", &t.Description)
		f.schema(path+".input", &t.Input)
		f.schema(path+".output", &t.Output)
		f.flag(path+".freeform", &t.Freeform)
		if g := t.Grammar; g != nil {
			f.text(path+".grammar.syntax", &g.Syntax)
			f.text(path+".grammar.definition", &g.Definition)
		}
		f.text(path+".namespace", &t.Namespace)
		f.flag(path+".deferred", &t.Deferred)
		f.text(path+".kind", &t.Kind)
		f.text(path+".format", (*string)(&t.Format))
		f.json(path+".raw", &t.Raw)
	}
	f.text("choice.mode", (*string)(&c.Choice.Mode))
	f.names("choice.names", c.Choice.Names)
	f.flag("choice.no_parallel", &c.Choice.NoParallel)
	f.optional("max_tokens", c.MaxTokens)
	f.float("temperature", c.Temperature)
	f.float("top_p", c.TopP)
	f.optional("top_k", c.TopK)
	f.optional("seed", c.Seed)
	f.float("presence_penalty", c.PresencePenalty)
	f.float("frequency_penalty", c.FrequencyPenalty)
	f.names("stop_sequences", c.StopSequences)
	candidates := int64(c.Candidates)
	f.number("candidates", &candidates)
	f.text("thinking.mode", (*string)(&c.Thinking.Mode))
	f.optional("thinking.budget", c.Thinking.Budget)
	f.text("thinking.effort", &c.Thinking.Effort)
	o := &c.Output
	f.names("output.modalities", o.Modalities)
	f.text("output.media_type", &o.MediaType)
	f.schema("output.schema", &o.Schema)
	f.text("output.name", &o.Name)
	f.text("output.description", &o.Description)
	f.text("output.verbosity", &o.Verbosity)
	f.text("output.aspect_ratio", &o.AspectRatio)
	f.text("output.image_size", &o.ImageSize)
	return lines, f.err
}

func (f *fields) schema(path string, s *content.Schema) {
	f.json(path, &s.JSON)
	f.flag(path+".openapi", &s.OpenAPI)
}

func (f *fields) names(path string, names []string) {
	for i := range names {
		f.kind(at(path, i), &names[i])
	}
}

func (f *fields) optional(path string, n *int64) {
	if n != nil {
		f.put(path, string(jsonwire.AppendInt(nil, *n)))
	}
}

func (f *fields) float(path string, n *float64) {
	if n != nil {
		f.put(path, string(jsonwire.AppendFloat(nil, *n)))
	}
}

func isThinking(p content.Part) bool { return partfield.Of(p).Kind == partfield.Thinking }

// place returns the path in r of the path of a line, in which thinking does not count.
func place(r *upstream.Request, path string) string {
	steps := strings.SplitN(path, ".", 5)
	if len(steps) < 4 || steps[0] != "turns" {
		return path
	}
	turn, _ := strconv.Atoi(steps[1])
	part, _ := strconv.Atoi(steps[3])
	if turn >= len(r.Turns) {
		return path
	}
	for i, p := range r.Turns[turn].Parts {
		if i <= part && isThinking(p) {
			part++
		}
	}
	steps[3] = strconv.Itoa(part)
	return strings.Join(steps, ".")
}

// difference returns the number of lines at the beginning that are the same, and the path of the
// first difference with both values. The path is empty if the requests are equal. A limit of
// tokens that only one of them has makes no difference, since one format requires it.
func difference(recorded, got []line) (same int, path, was, is string) {
	for i, j := 0, 0; ; same++ {
		var a, b line
		if i < len(recorded) {
			a = recorded[i]
		}
		if j < len(got) {
			b = got[j]
		}
		switch {
		case a == b && a.path == "":
			return same, "", "", ""
		case a == b:
			i, j = i+1, j+1
		case a.path == "max_tokens" && b.path != a.path:
			i++
		case b.path == "max_tokens" && b.path != a.path:
			j++
		case a.path == b.path:
			return same, a.path, a.json, b.json
		case a.path == "" || b.path != "" && later(got[j:], a.path):
			return same, b.path, "", b.json
		default:
			return same, a.path, a.json, ""
		}
	}
}

// later reports whether a line with the path follows.
func later(lines []line, path string) bool {
	for i := range lines {
		if lines[i].path == path {
			return true
		}
	}
	return false
}

// common returns the number of bytes at the beginning of both texts that are the same.
func common(a, b string) int {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return i
}

// excerpt returns the beginning of a value, or of the rest from shortly before its first
// difference from another.
func excerpt(value, other string) string {
	const size, before = 100, 20
	if value == "" {
		return "nothing"
	}
	i := common(value, other)
	if i < size/2 {
		i = 0
	} else {
		i -= before
	}
	s := value[i:]
	if len(s) > size {
		s = s[:size] + "…"
	}
	if i > 0 {
		s = "…" + s
	}
	return strings.ToValidUTF8(s, "")
}
