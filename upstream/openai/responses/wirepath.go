package responses

import (
	"sort"
	"strconv"
	"strings"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// Path returns a neutral path, such as that of a [content.Loss] of the request or its response, in
// the format's own names. The result is a path of the document that r was parsed from:
// "turns.3.parts.1" is "input[7].content[1]", or the item of a tool call. Unknown names are kept.
func (r *Request) Path(neutral string) string {
	steps := strings.Split(neutral, ".")
	w := wireWriter{r: r}
	if o := r.origin; o != nil && o.places != nil {
		w.places = o.places
	} else if steps[0] == "turns" || steps[0] == "system" {
		w.places = r.conversation(new(upstream.Request))
	}
	n, isIndex := codec.StepIndex(steps[1:])
	switch {
	case steps[0] == "turns" && isIndex:
		w.turn(n, steps[2:])
	case steps[0] == "system" && isIndex:
		w.system(n, steps[2:])
	case steps[0] == "tools" && isIndex:
		w.tool(n, steps[2:])
	default:
		return wirePath(neutral)
	}
	return w.b.String()
}

// fixedPaths maps neutral paths to those of the document. The longest match applies.
var fixedPaths = map[string]string{
	"turns":              "input",
	"system":             "instructions",
	"max_tokens":         "max_output_tokens",
	"user_id":            "safety_identifier",
	"thinking":           "reasoning",
	"thinking.mode":      "reasoning.effort",
	"thinking.budget":    "reasoning.effort",
	"thinking.effort":    "reasoning.effort",
	"thinking.display":   "reasoning.summary",
	"choice":             "tool_choice",
	"choice.mode":        "tool_choice",
	"choice.names":       "tool_choice",
	"choice.no_parallel": "parallel_tool_calls",
	"output":             "text",
	"output.media_type":  "text.format.type",
	"output.schema":      "text.format.schema",
	"output.name":        "text.format.name",
	"output.description": "text.format.description",
	"output.strict":      "text.format.strict",
	"parts":              "output",
	"stop":               "incomplete_details.reason",
}

// wirePath converts a neutral path that does not depend on the items of a request, such as one of
// a response. It keeps unknown names.
func wirePath(neutral string) string {
	steps := strings.Split(neutral, ".")
	if len(steps) > 2 && steps[0] == "candidates" {
		steps = steps[2:] // there is one response
	}
	var w wireWriter
	if steps[0] == "extra" && len(steps) > 1 {
		w.steps(steps[1:]) // the members are those of the document
		return w.b.String()
	}
	for n := min(len(steps), 2); n > 0; n-- {
		if path, ok := fixedPaths[strings.Join(steps[:n], ".")]; ok {
			w.b.WriteString(path)
			rest := steps[n:]
			for i, s := range rest {
				if s == "parts" && path == "input" {
					rest[i] = "content"
				}
			}
			w.members(rest)
			return w.b.String()
		}
	}
	w.steps(steps)
	return w.b.String()
}

// A wireWriter builds a path.
type wireWriter struct {
	b      strings.Builder
	r      *Request
	places []itemPlace // of the items
}

// steps appends steps unchanged.
func (w *wireWriter) steps(list []string) { codec.AppendSteps(&w.b, list) }

// members is steps without a step for an Extra, which no document has.
func (w *wireWriter) members(list []string) {
	if len(list) > 0 && list[0] == "extra" {
		list = list[1:]
	}
	w.steps(list)
}

func (w *wireWriter) at(name string, i int) {
	if name != "" && w.b.Len() > 0 {
		w.b.WriteByte('.')
	}
	w.b.WriteString(name + "[" + strconv.Itoa(i) + "]")
}

// system appends the path of a system text.
func (w *wireWriter) system(n int, rest []string) {
	if w.r.Instructions != "" {
		if n == 0 {
			w.b.WriteString("instructions")
			return
		}
	}
	w.part(-1, n, rest)
}

// turn appends the path within a turn. That of the turn itself is the path of its first item.
func (w *wireWriter) turn(n int, rest []string) {
	k, ok := codec.StepIndex(rest[min(1, len(rest)):])
	if len(rest) < 2 || rest[0] != "parts" || !ok {
		w.item(sort.Search(len(w.places), func(i int) bool { return w.places[i].turn >= n }))
		w.members(rest)
		return
	}
	w.part(n, k, rest[2:])
}

// item appends the path of an item. An input that is a string has none.
func (w *wireWriter) item(i int) {
	w.b.WriteString("input")
	if w.r.origin == nil || !w.r.origin.isText {
		w.at("", i)
	}
}

// part appends the path within part k of a turn, or of the system text.
func (w *wireWriter) part(turn, k int, rest []string) {
	// The last item that begins at the part or before it, and is not empty.
	i := sort.Search(len(w.places), func(i int) bool {
		p := w.places[i]
		return p.turn > turn || p.turn == turn && p.part > k
	}) - 1
	for i > 0 && len(w.r.Input[i].Parts) == 0 {
		i--
	}
	if i < 0 {
		w.b.WriteString("input")
		return
	}
	w.item(i)
	item := &w.r.Input[i]
	k -= w.places[i].part
	if k < 0 || k >= len(item.Parts) {
		w.steps(rest)
		return
	}
	if item.Type == typeMessage {
		if w.isText(i) {
			if !w.r.origin.isText {
				w.steps([]string{"content"})
			}
			return
		}
		w.at("content", k)
	}
	w.inside(i, item.Parts[k], rest)
}

// isText reports whether the content or the output of an item is a string.
func (w *wireWriter) isText(i int) bool {
	o := w.r.origin
	if o == nil || o.isText {
		return o != nil
	}
	n := sort.SearchInts(o.textItems, i)
	return n < len(o.textItems) && o.textItems[n] == i
}

// inside appends the path within a part of item i.
func (w *wireWriter) inside(i int, p content.Part, rest []string) {
	if len(rest) == 0 {
		return
	}
	name := rest[0]
	if name == "extra" {
		w.members(rest)
		return
	}
	switch p := p.(type) { // other kinds have no members of another name
	case *content.Thinking:
		name = map[string]string{"text": "summary", "signature": "encrypted_content", "redacted": "encrypted_content"}[name]
	case *content.ToolUse:
		switch {
		case name == "id", name == "signature" && p != nil && envelope.IsReservedID(p.ID):
			name = "call_id"
		case name == "input":
			name = "arguments"
		case name == "text":
			name = "input"
		case name == "signature":
			return
		}
	case *content.ToolResult:
		switch name {
		case "id":
			name = "call_id"
		case "object":
			name = "output"
		case "parts":
			if w.r.Input[i].Type == typeSearchOutput {
				w.steps([]string{"tools"})
				return
			}
			w.steps([]string{"output"})
			if k, ok := codec.StepIndex(rest[1:]); ok && p != nil && k < len(p.Parts) && !w.isText(i) {
				w.at("", k)
				w.inside(i, p.Parts[k], rest[2:])
			}
			return
		}
	case *content.Image:
		if name == "source" {
			name = "image_url"
			if _, ok := p.Source.(*content.File); ok {
				name = "file_id"
			}
			rest = rest[:1]
		}
	case *content.Document:
		switch name {
		case "title":
			name = "filename"
		case "source":
			name = fileMember(p.Source)
			rest = rest[:1]
		}
	case *content.Media:
		if name == "source" {
			name, rest = "input_audio", rest[:1]
		}
	case *content.Text:
		if name == "citations" {
			name = "annotations"
		}
	}
	switch name {
	case "":
		name = rest[0]
	case "cache":
		name = "prompt_cache_breakpoint"
	}
	w.steps([]string{name})
	if k, ok := codec.StepIndex(rest[1:]); ok && name == "annotations" {
		w.at("", k)
		rest = rest[1:]
	}
	w.members(rest[1:])
}

// fileMember returns the member that has the source of a file.
func fileMember(s content.Source) string {
	switch s.(type) {
	case *content.URL:
		return "file_url"
	case *content.File:
		return "file_id"
	}
	return "file_data"
}

// tool appends the path within a tool.
func (w *wireWriter) tool(n int, rest []string) {
	place := toolPlace{item: -1, outer: n, inner: -1}
	if o := w.r.origin; o != nil && n < len(o.tools) {
		place = o.tools[n]
	}
	if place.item >= 0 {
		w.item(place.item)
	}
	w.at("tools", place.outer)
	if len(rest) > 1 && rest[0] == "extra" && rest[1] == "namespace" {
		w.steps(rest[2:])
		return
	}
	if place.inner >= 0 {
		w.at("tools", place.inner)
	}
	if len(rest) == 0 {
		return
	}
	switch rest[0] {
	case "input":
		w.steps([]string{"parameters"})
	case "output":
		w.steps([]string{"output_schema"})
	case "grammar":
		w.steps([]string{"format"})
	default:
		w.members(rest)
		return
	}
	w.steps(rest[1:])
}
