package recorded

import (
	"maps"
	"slices"

	"github.com/polywire/polywire/content"
)

func responsesWhole(v any) *answer {
	a := &answer{candidates: 1}
	for _, item := range listAt(v, "output") {
		responsesItem(a, item, true)
	}
	responsesEnd(a, v)
	a.complete = a.stop == "completed" || at(v, "incomplete_details") != nil
	return a
}

// responsesItem adds an item of the output. Texts of streams are read from their
// deltas: withText is false for them.
func responsesItem(a *answer, item any, withText bool) {
	switch stringAt(item, "type") {
	case "message":
		for _, p := range listAt(item, "content") {
			a.refused = a.refused || stringAt(p, "refusal") != ""
			if withText {
				a.addText(stringAt(p, "text") + stringAt(p, "refusal"))
			}
		}
	case "function_call":
		a.addCall(call{stringAt(item, "call_id"), stringAt(item, "name"), canonicalText(stringAt(item, "arguments"))})
	case "custom_tool_call": // clients have no free-form tools: its input is an argument
		a.addCall(call{stringAt(item, "call_id"), stringAt(item, "name"), canonicalText(encodeJSON(map[string]any{"input": stringAt(item, "input")}))})
	case "reasoning":
		for i, p := range listAt(item, "summary") {
			if i > 0 {
				a.addThinking("\n\n")
			}
			a.addThinking(stringAt(p, "text"))
		}
		for _, p := range listAt(item, "content") {
			a.addThinking(stringAt(p, "text"))
		}
	case "image_generation_call":
		a.addImage(stringAt(item, "result"))
	}
}

// responsesEnd reads usage and status.
func responsesEnd(a *answer, v any) {
	if u, ok := at(v, "usage").(object); ok {
		a.usage = &usage{
			prompt: numberAt(u, "input_tokens"),
			output: numberAt(u, "output_tokens"),
			cached: numberAt(u, "input_tokens_details", "cached_tokens"),
		}
	}
	a.stop = stringAt(v, "status")
	if s := stringAt(v, "incomplete_details", "reason"); s != "" {
		a.stop = s
	}
	switch a.stop {
	case "completed":
		switch {
		case a.refused:
			a.reason = content.StopRefusal
		case len(a.calls) > 0:
			a.reason = content.StopToolUse
		default:
			a.reason = content.StopEnd
		}
	case "max_output_tokens":
		a.reason = content.StopMaxTokens
	case "content_filter":
		a.reason = content.StopSafety
	}
}

func responsesStream(body string) (*answer, error) {
	a := &answer{candidates: 1}
	items := make(map[int64]any)              // by output_index
	texts := make(map[int64]map[int64]string) // by output_index and content_index
	addText := func(v any) {
		i := numberAt(v, "output_index")
		if texts[i] == nil {
			texts[i] = make(map[int64]string)
		}
		texts[i][numberAt(v, "content_index")] += stringAt(v, "delta")
	}
	var done any
	created := false
	for _, e := range splitEvents(body) {
		if e.data == "[DONE]" {
			continue
		}
		v, err := decodeJSON(e.data)
		if err != nil {
			return nil, err
		}
		switch stringAt(v, "type") {
		case "response.created":
			a.several = a.several || created
			created = true
		case "response.output_text.delta":
			addText(v)
		case "response.refusal.delta":
			a.refused = true
			addText(v)
		case "response.output_item.done":
			items[numberAt(v, "output_index")] = at(v, "item")
		case "response.completed", "response.incomplete":
			done = at(v, "response")
			a.complete = true
		case "response.failed":
			done = at(v, "response")
			a.failure = encodeJSON(at(done, "error"))
		case "error":
			a.failure = encodeJSON(v)
		}
	}
	indexes := make(map[int64]bool)
	for i := range items {
		indexes[i] = true
	}
	for i := range texts {
		indexes[i] = true
	}
	for _, i := range slices.Sorted(maps.Keys(indexes)) {
		for _, j := range slices.Sorted(maps.Keys(texts[i])) {
			a.addText(texts[i][j])
		}
		responsesItem(a, items[i], false)
	}
	responsesEnd(a, done)
	return a, nil
}
