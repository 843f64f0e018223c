package generatecontent

import (
	"sort"
	"strconv"
	"strings"
)

// Path tells a neutral path, as a [content.Loss] of the request or of its answer
// has it, in the words of the format and of the document that the request was
// parsed from: "turns.3.parts.1" is "contents[3].parts[1]", or parts[2] where a
// part that says nothing stood before it. What has no word of its own there stays
// as it is.
func (r *Request) Path(neutral string) string { return r.path(neutral) }

// wirePath tells a neutral path, as losses have it, in the words of the format
// and of the document that r was parsed from: "turns.3.parts.1" is
// "contents[3].parts[1]", or parts[2] where a part that says nothing stood
// before it; "tools.2" is "tools[0].function_declarations[2]". What it does not
// know stays as it is.
func (r *Request) wirePath(neutral string) string {
	if fixed, ok := fixedPaths[neutral]; ok {
		return fixed
	}
	steps := strings.Split(neutral, ".")
	index := func(i int) (int, bool) {
		if i >= len(steps) {
			return 0, false
		}
		n, err := strconv.Atoi(steps[i])
		return n, err == nil
	}
	var b strings.Builder
	i, turn := 1, -2
	switch first, n := steps[0], 0; first {
	case "turns":
		b.WriteString("contents")
		if n, ok := index(1); ok {
			turn, i = n, 2
			b.WriteString("[" + steps[1] + "]")
		}
	case "system":
		b.WriteString("system_instruction")
		if n, ok := index(1); ok {
			i = 2
			b.WriteString(".parts[" + strconv.Itoa(r.original(-1, n)) + "]")
		}
	case "tools":
		b.WriteString("tools")
		if places := r.toolPlaces(); true {
			if k, ok := index(1); ok && k >= 0 && k < len(places) {
				n, i = places[k].outer, 2
				b.WriteString("[" + strconv.Itoa(n) + "]")
				if places[k].inner == builtIn {
					b.WriteString("." + snake(r.Tools[k].Kind))
				} else {
					b.WriteString(".function_declarations[" + strconv.Itoa(places[k].inner) + "]")
				}
			}
		}
	default:
		b.WriteString(first)
	}
	for ; i < len(steps); i++ {
		n, err := strconv.Atoi(steps[i])
		switch {
		case err != nil:
			b.WriteString("." + steps[i])
		case turn >= 0 && i == 3 && steps[2] == "parts":
			b.WriteString("[" + strconv.Itoa(r.original(turn, n)) + "]")
		default:
			b.WriteString("[" + steps[i] + "]")
		}
	}
	return b.String()
}

// original returns where a part stood in the document.
func (r *Request) original(turn, part int) int {
	if r.Form == nil {
		return part
	}
	all := r.Form.dropped
	if turn < 0 {
		all = r.Form.droppedSystem
	}
	if len(all) == 0 {
		return part
	}
	// Both lists are in the order of the document. What stood before a part that
	// was left out, and was not, is the part's place less those left out before.
	from := sort.Search(len(all), func(i int) bool { return all[i].outer >= turn })
	left := all[from : from+sort.Search(len(all)-from, func(i int) bool { return all[from+i].outer > turn })]
	return part + sort.Search(len(left), func(i int) bool { return left[i].inner-i > part })
}

// fixedPaths are the neutral paths of settings.
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
	"extra":               "",
}
