package upstream

import (
	"iter"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/document"
	"github.com/polywire/polywire/internal/jsonwire"
	"github.com/polywire/polywire/internal/partfield"
)

// Texts returns all texts of the request that a model may read or that are only carried to a
// server, in order, each with its neutral path: see [Request.Path]. It is for guards, which must
// not miss a text. It includes
//
//   - the system text and every part of every turn, also in tool results and documents: texts,
//     thinking, titles, names, arguments, citations;
//   - the parts that have no type in package content, and the Extra of every value;
//   - tools: names, descriptions, schemas, grammars and the definitions of vendors' tools;
//   - names of the choice, stop sequences, the schema of the output, and UserID.
//
// JSON is taken apart: each of its strings, numbers and names of members is a text, without
// escapes. A JSON text that is not valid is one text.
//
// Not included are ids, signatures and redacted thinking, names of models, formats, media types and
// kinds of parts, the settings for which formats have lists of values, and Header. [Request.Files] has the
// files, without which an image of a text is missed. A text may be divided among parts.
func (r *Request) Texts() iter.Seq2[string, string] {
	return func(yield func(path, text string) bool) {
		var w textWalk
		w.text = func(path, text string) string {
			w.done = !yield(path, text)
			return text
		}
		w.request(r)
	}
}

// Files returns the sources of all files of the request, in order, each with its neutral path:
// everything that [Request.Texts] does not include because it is not a text of the request.
// [Request.Load] returns the contents. Files inside of JSON, such as in [content.Unknown], are texts.
func (r *Request) Files() iter.Seq2[string, content.Source] {
	return func(yield func(path string, s content.Source) bool) {
		var w textWalk
		w.file = func(path string, s content.Source) { w.done = !yield(path, s) }
		w.request(r)
	}
}

// MapTexts returns r with each text that [Request.Texts] has replaced by f of it. f is called once
// for each. If f changes none, MapTexts returns r, which keeps its document. Otherwise it returns a
// [Request.Clone], which is encoded anew and whose Path still converts to the client's document.
// The first error of f ends it and is returned; a [content.Violation] gets the path of the text.
//
// A number in JSON that f changes becomes a string. A part that f changes loses its signature,
// because its vendor would reject it. Names of tools are in several places: f should treat equal
// texts equally.
func (r *Request) MapTexts(f func(path, text string) (string, error)) (*Request, error) {
	changed, n := map[int]string{}, 0
	for path, text := range r.Texts() {
		to, err := f(path, text)
		if err != nil {
			return nil, content.AtPath(err, path)
		}
		if to != text {
			changed[n] = to
		}
		n++
	}
	if len(changed) == 0 {
		return r, nil
	}
	c := r.Clone()
	c.Wire = document.Of(r.Wire).Paths().Wire()
	n = 0
	w := textWalk{text: func(_, text string) string {
		if to, ok := changed[n]; ok {
			text = to
		}
		n++
		return text
	}}
	w.request(c)
	return c, nil
}

// A textWalk visits the texts and files of a request. It writes only texts that change.
type textWalk struct {
	text  func(path, text string) string // nil: texts are not visited
	file  func(path string, s content.Source)
	done  bool
	edits int // texts that text changed
}

func at(path string, i int) string { return path + "." + strconv.Itoa(i) }

func (w *textWalk) request(r *Request) {
	w.parts("system", r.System)
	for i := range r.Turns {
		path := at("turns", i)
		w.parts(path+".parts", r.Turns[i].Parts)
		w.extra(path, r.Turns[i].Extra)
	}
	for i := range r.Tools {
		w.tool(at("tools", i), &r.Tools[i])
	}
	w.list("choice.names", r.Choice.Names)
	w.extra("choice", r.Choice.Extra)
	w.list("stop_sequences", r.StopSequences)
	w.extra("thinking", r.Thinking.Extra)
	w.set("output.name", &r.Output.Name)
	w.set("output.description", &r.Output.Description)
	w.json("output.schema", &r.Output.Schema.JSON)
	w.extra("output", r.Output.Extra)
	w.set("user_id", &r.UserID)
	if r.Extra != nil {
		w.json("extra", &r.Extra.JSON)
	}
}

func (w *textWalk) tool(path string, t *content.Tool) {
	w.set(path+".name", &t.Name)
	w.set(path+".namespace", &t.Namespace)
	w.set(path+".description", &t.Description)
	w.json(path+".input", &t.Input.JSON)
	w.json(path+".output", &t.Output.JSON)
	if t.Grammar != nil {
		w.set(path+".grammar", &t.Grammar.Definition)
	}
	w.set(path, &t.Kind)
	w.json(path, &t.Raw)
	w.cache(path, t.Cache)
	w.extra(path, t.Extra)
}

func (w *textWalk) parts(path string, list []content.Part) {
	for i, p := range list {
		if w.done {
			return
		}
		w.part(at(path, i), p)
	}
}

func (w *textWalk) part(path string, p content.Part) {
	f := partfield.Of(p)
	edits := w.edits
	for i := range f.Strings {
		switch s := &f.Strings[i]; {
		case s.At == nil, s.Role == partfield.ID, s.Role == partfield.Label && f.Kind != partfield.ToolResult:
		case s.Role == partfield.Argument && !(f.Kind == partfield.ToolUse && *f.On):
			w.json(path+".input", s.At)
		case s.Role == partfield.JSON:
			w.json(path, s.At)
		default:
			w.set(path, s.At)
		}
	}
	if f.Citations != nil {
		for i := range *f.Citations {
			c, path := &(*f.Citations)[i], at(path+".citations", i)
			w.set(path, &c.Text)
			w.set(path, &c.Title)
			w.set(path, &c.URL)
			w.extra(path, c.Extra)
		}
	}
	if f.Source != nil {
		w.source(path+".source", *f.Source)
	}
	if f.Parts != nil {
		w.parts(path+".parts", *f.Parts)
	}
	if f.Cache != nil {
		w.cache(path, *f.Cache)
	}
	if f.Extra != nil {
		w.extra(path, *f.Extra)
	}
	if f.Signature != nil {
		w.state(path+".signature", f.Signature.Data)
		if w.edits != edits {
			*f.Signature = content.Signature{}
		}
	}
}

// state visits the texts in a signature that is a vendor's item in JSON. Its state is in strings at
// the top.
func (w *textWalk) state(path, json string) {
	if w.text == nil || !strings.HasPrefix(json, "{") {
		return
	}
	doc, err := jsonwire.Parse(json, jsonwire.Limits{})
	if err != nil {
		return
	}
	defer doc.Close()
	for name, v := range doc.Root().Members() {
		if k := v.Kind(); k == jsonwire.Object || k == jsonwire.Array {
			w.value(new(jsonwire.Writer), path+"."+name, v)
		}
	}
}

func (w *textWalk) source(path string, s content.Source) {
	f := partfield.OfSource(s)
	switch f.Kind {
	case partfield.Nil:
	case partfield.PlainText:
		w.set(path, f.Data)
	case partfield.Parts:
		w.parts(path+".parts", *f.Parts)
	default:
		if w.file != nil && !w.done {
			w.file(path, s)
		}
	}
	if f.Extra != nil {
		w.extra(path, *f.Extra)
	}
}

func (w *textWalk) cache(path string, c *content.Cache) {
	if c != nil {
		w.extra(path+".cache", c.Extra)
	}
}

func (w *textWalk) extra(path string, x *content.Extra) {
	if x != nil {
		w.json(path+".extra", &x.JSON)
	}
}

func (w *textWalk) list(path string, texts []string) {
	for i := range texts {
		w.set(at(path, i), &texts[i])
	}
}

// set visits a text.
func (w *textWalk) set(path string, s *string) {
	if *s == "" {
		return
	}
	if to := w.mapped(path, *s); to != *s {
		*s = to
	}
}

// mapped returns what replaces a text.
func (w *textWalk) mapped(path, s string) string {
	if w.done || w.text == nil {
		return s
	}
	to := w.text(path, s)
	if to != s {
		w.edits++
	}
	return to
}

// json visits the texts of a JSON text.
func (w *textWalk) json(path string, s *string) {
	if *s == "" || w.text == nil {
		return
	}
	doc, err := jsonwire.Parse(*s, jsonwire.Limits{})
	if err != nil {
		w.set(path, s)
		return
	}
	defer doc.Close()
	edits := w.edits
	var out jsonwire.Writer
	w.value(&out, path, doc.Root())
	if w.edits != edits {
		*s = out.Text()
	}
}

// value visits the texts of a JSON value and writes the value to out.
func (w *textWalk) value(out *jsonwire.Writer, path string, v jsonwire.Value) {
	switch v.Kind() {
	case jsonwire.Object:
		out.BeginObject()
		taken := map[string]bool{} // names, which f may have made equal
		for name, m := range v.Members() {
			path := path + "." + name
			for name = w.mapped(path, name); taken[name]; {
				name += "_"
			}
			taken[name] = true
			out.Name(name)
			w.value(out, path, m)
		}
		out.EndObject()
	case jsonwire.Array:
		out.BeginArray()
		for i, e := range v.Elems() {
			w.value(out, at(path, i), e)
		}
		out.EndArray()
	case jsonwire.String:
		out.String(w.mapped(path, v.Str()))
	case jsonwire.Number:
		if to := w.mapped(path, v.Raw()); to != v.Raw() {
			out.String(to)
			return
		}
		out.Raw(v.Raw())
	default:
		out.Raw(v.Raw())
	}
}
