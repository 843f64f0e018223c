package generatecontent

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
	"github.com/polywire/polywire/internal/partfield"
)

// Path returns a neutral path in the format's own names. neutral is the path of a
// [content.Loss] of the request or of its response, such as "turns.3.parts.1". The result
// is a path of the document that the request was parsed from: "contents[3].parts[1]",
// or parts[2] after an empty part that parsing dropped. Unknown paths are returned
// unchanged.
func (r *Request) Path(neutral string) string { return r.path(neutral) }

// path is [Request.Path].
func (r *Request) path(neutral string) string {
	steps := strings.Split(neutral, ".")
	candidate := "0"
	if len(steps) > 2 && steps[0] == "candidates" {
		candidate, steps = steps[1], steps[2:]
	}
	w := wirePath{r: r}
	switch steps[0] {
	case "parts":
		w.b.WriteString("candidates[" + candidate + "].content.parts")
		w.steps(steps[1:])
	case "stop":
		w.b.WriteString("candidates[" + candidate + "].finish_reason")
	case "usage":
		w.b.WriteString("usage_metadata")
	default:
		return r.wirePath(neutral)
	}
	return w.b.String()
}

// wirePath is [Request.Path] for paths of the request. For example, "tools.2" is
// "tools[0].function_declarations[2]".
func (r *Request) wirePath(neutral string) string {
	steps := strings.Split(neutral, ".")
	w := wirePath{r: r}
	rest := steps[1:]
	switch steps[0] {
	case "turns":
		w.turn(rest)
	case "system":
		w.b.WriteString("system_instruction")
		if n, ok := codec.StepIndex(rest); ok {
			w.b.WriteString(".parts[" + strconv.Itoa(r.original(-1, n)) + "]")
			w.part(nil, rest[1:])
		}
	case "tools":
		w.b.WriteString("tools")
		if k, ok := codec.StepIndex(rest); ok {
			w.tool(k, rest)
		} else {
			w.steps(rest)
		}
	case "extra":
		w.members(rest)
	default:
		w.setting(steps)
	}
	return w.b.String()
}

// A wirePath builds a path.
type wirePath struct {
	b strings.Builder
	r *Request
}

// steps appends steps unchanged.
func (w *wirePath) steps(list []string) { codec.AppendSteps(&w.b, list) }

// members appends the names of members in an Extra, without the step for the Extra,
// which no document has.
func (w *wirePath) members(list []string) {
	if len(list) > 0 && list[0] == "extra" {
		list = list[1:]
	}
	for _, s := range list {
		w.steps([]string{snake(s)})
	}
}

func (w *wirePath) turn(rest []string) {
	w.b.WriteString("contents")
	n, ok := codec.StepIndex(rest)
	if !ok {
		w.steps(rest)
		return
	}
	w.b.WriteString("[" + rest[0] + "]")
	if rest = rest[1:]; len(rest) < 2 || rest[0] != "parts" {
		w.members(rest)
		return
	}
	m, ok := codec.StepIndex(rest[1:])
	if !ok {
		w.steps(rest)
		return
	}
	var p content.Part
	if n < len(w.r.Contents) && m < len(w.r.Contents[n].Parts) {
		p = w.r.Contents[n].Parts[m]
	}
	w.b.WriteString(".parts[" + strconv.Itoa(w.r.original(n, m)) + "]")
	w.part(p, rest[2:])
}

// part appends the path within a part.
func (w *wirePath) part(p content.Part, rest []string) {
	if len(rest) == 0 {
		return
	}
	switch rest[0] {
	case "extra":
		w.members(rest)
		return
	case "signature":
		w.b.WriteString(".thought_signature")
		return
	}
	switch p := p.(type) {
	case *content.ToolUse:
		w.b.WriteString(".function_call")
		if rest[0] == "input" {
			w.b.WriteString(".args")
			rest = rest[1:]
		}
	case *content.ToolResult:
		w.result(p, rest)
		return
	default:
		if source := partfield.SourceOf(p); source != nil {
			w.file(source, rest)
			return
		}
	}
	w.steps(rest)
}

// result appends the path within a tool result. The first part of a result is the text
// of its response, if there is one.
func (w *wirePath) result(p *content.ToolResult, rest []string) {
	w.b.WriteString(".function_response")
	switch rest[0] {
	case "object", "error":
		w.b.WriteString(".response")
	case "parts":
		of, ok := codec.StepIndex(rest[1:])
		if !ok || of >= len(p.Parts) {
			w.steps(rest)
			return
		}
		n := of
		if _, text := p.Parts[0].(*content.Text); text {
			n--
		}
		if n < 0 {
			w.b.WriteString(".response")
			return
		}
		w.b.WriteString(".parts[" + strconv.Itoa(n) + "]")
		w.part(p.Parts[of], rest[2:])
	default:
		w.steps(rest)
	}
}

// file appends the path within a file.
func (w *wirePath) file(s content.Source, rest []string) {
	link := ""
	switch s.(type) {
	case *content.URL, *content.File:
		w.b.WriteString(".file_data")
		link = "file_uri"
	default:
		w.b.WriteString(".inline_data")
	}
	if rest[0] == "source" {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return
	}
	switch rest[0] {
	case "media_type":
		w.b.WriteString(".mime_type")
	case "title", "name":
		w.b.WriteString(".display_name")
	case "url", "id":
		w.steps([]string{cmp.Or(link, rest[0])})
	default:
		w.members(rest)
	}
}

func (w *wirePath) tool(k int, rest []string) {
	places := w.r.toolPlaces()
	if k >= len(places) {
		w.steps(rest)
		return
	}
	w.b.WriteString("[" + strconv.Itoa(places[k].outer) + "]")
	t := &w.r.Tools[k]
	rest = rest[1:]
	if places[k].inner == builtIn {
		w.b.WriteString("." + snake(t.Kind))
		w.members(rest)
		return
	}
	w.b.WriteString(".function_declarations[" + strconv.Itoa(places[k].inner) + "]")
	if len(rest) == 0 {
		return
	}
	schema, name := t.Input, "parameters"
	switch rest[0] {
	case "output":
		schema, name = t.Output, "response"
	case "input":
	default:
		w.members(rest)
		return
	}
	if schema.JSON != "" && !schema.OpenAPI {
		name += "_json_schema"
	}
	w.b.WriteString("." + name)
	w.steps(rest[1:])
}

// setting appends the path of a setting.
func (w *wirePath) setting(steps []string) {
	for n := len(steps); n > 0; n-- {
		name := strings.Join(steps[:n], ".")
		fixed, ok := fixedPaths[name]
		if !ok {
			continue
		}
		switch name {
		case "output.schema", "output.media_type":
			fixed = w.r.outputField(name, fixed)
		case "thinking.mode", "thinking.budget", "thinking.effort":
			fixed = w.r.thinkingField(fixed)
		}
		w.b.WriteString(fixed)
		if rest := steps[n:]; len(rest) > 0 && rest[0] == "extra" {
			w.members(rest)
		} else {
			w.steps(rest)
		}
		return
	}
	w.steps(steps)
}

const configPath = "generation_config."

// outputField returns the path of the response format. A document can specify it in
// three ways.
func (r *Request) outputField(name, usual string) string {
	c := r.GenerationConfig
	switch {
	case c == nil:
		return usual
	case name == "output.schema" && c.ResponseJSONSchema != "":
		return configPath + "response_json_schema"
	case c.ResponseSchema != "" || c.ResponseMimeType != "" || c.ResponseFormat == "":
		return usual
	}
	field := map[string]string{"output.schema": "schema", "output.media_type": "mime_type"}[name]
	place := ""
	if list := gjson.Parse(c.ResponseFormat); list.IsArray() {
		// one pass
		if i := slices.IndexFunc(list.Array(), func(x gjson.Result) bool { return x.Get("text").Exists() }); i >= 0 {
			place = "[" + strconv.Itoa(i) + "]"
		}
	}
	return configPath + "response_format" + place + ".text." + field
}

// thinkingField returns the path of the thinking configuration, which is not always
// the usual one.
func (r *Request) thinkingField(usual string) string {
	if r.GenerationConfig == nil || r.GenerationConfig.ThinkingConfig == nil {
		return usual
	}
	t := r.GenerationConfig.ThinkingConfig
	member := ""
	switch {
	case t.ThinkingBudget != nil && t.ThinkingLevel != "":
		return usual
	case t.ThinkingBudget != nil:
		member = "thinking_budget"
	case t.ThinkingLevel != "":
		member = "thinking_level"
	case t.IncludeThoughts != nil:
		member = "include_thoughts"
	default:
		return usual
	}
	return configPath + "thinking_config." + member
}

// original returns the index of a part in the document.
func (r *Request) original(turn, part int) int {
	dropped := r.droppedFrom(turn)
	return part + sort.Search(len(dropped), func(i int) bool { return dropped[i].inner-i > part })
}

// droppedFrom returns the dropped parts of a turn, in document order. The index of a dropped
// part, minus the number of dropped parts before it, is the number of kept parts before it.
func (r *Request) droppedFrom(turn int) []place {
	if r.origin == nil {
		return nil
	}
	all := r.origin.dropped
	if turn < 0 {
		all = r.origin.droppedSystem
	}
	if len(all) == 0 {
		return nil
	}
	from := sort.Search(len(all), func(i int) bool { return all[i].outer >= turn })
	return all[from : from+sort.Search(len(all)-from, func(i int) bool { return all[from+i].outer > turn })]
}

// fixedPaths maps the neutral paths of settings to the document's.
var fixedPaths = map[string]string{
	"max_tokens":          "generation_config.max_output_tokens",
	"temperature":         "generation_config.temperature",
	"top_p":               "generation_config.top_p",
	"top_k":               "generation_config.top_k",
	"seed":                "generation_config.seed",
	"presence_penalty":    "generation_config.presence_penalty",
	"frequency_penalty":   "generation_config.frequency_penalty",
	"stop_sequences":      "generation_config.stop_sequences",
	"candidates":          "generation_config.candidate_count",
	"thinking":            "generation_config.thinking_config",
	"thinking.mode":       "generation_config.thinking_config.thinking_budget",
	"thinking.budget":     "generation_config.thinking_config.thinking_budget",
	"thinking.effort":     "generation_config.thinking_config.thinking_level",
	"thinking.display":    "generation_config.thinking_config.include_thoughts",
	"output.modalities":   "generation_config.response_modalities",
	"output.media_type":   "generation_config.response_mime_type",
	"output.schema":       "generation_config.response_schema",
	"output.aspect_ratio": "generation_config.image_config.aspect_ratio",
	"output.image_size":   "generation_config.image_config.image_size",
	"choice":              "tool_config.function_calling_config",
	"choice.mode":         "tool_config.function_calling_config.mode",
	"choice.names":        "tool_config.function_calling_config.allowed_function_names",
	"output":              "generation_config",
}
