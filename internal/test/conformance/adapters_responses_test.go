package conformance

import (
	"encoding/json"
	"testing"
)

// responseTools returns the tools of the story.
func responseTools() (list arr) {
	for _, tool := range toolbox {
		list = append(list, obj{
			"type": "function", "name": tool[0], "description": "Does it.", "parameters": schemaOf(tool[1]), "strict": false,
		})
	}
	return list
}

// responseResults returns the items with tool results. Files are part of the output.
func responseResults(list []outcome) (items arr) {
	for _, o := range list {
		var output any = o.text
		if o.pdf {
			output = arr{
				obj{"type": "input_text", "text": o.text},
				obj{"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64," + pdf64},
			}
		}
		items = append(items, obj{"type": "function_call_output", "call_id": o.id, "output": output})
	}
	return items
}

// TestAdaptersResponses runs a whole conversation between each client of Responses and each
// vendor. The client keeps the reasoning. Its requests are streamed, or whole and streamed in turn.
func TestAdaptersResponses(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		bothOpenAI(t, func(t *testing.T, c openaiSDK, stream bool) {
			up, f := v.start(t)
			s := serveResponses(t, up, nil)
			var items arr
			var ids, names, calls []string
			for i, step := range story() {
				f.Say(step.say...)
				if step.user != "" {
					items = append(items, user(arr{obj{"type": "input_text", "text": step.user}}))
				} else {
					items = append(items, responseResults(outcomes(ids, names))...)
				}
				a := s.mustAskOpenAI(t, c, call{Format: responsesFormat, Stream: stream || i%2 == 1, Params: obj{
					"model": v.model, "instructions": "You help.", "input": items, "max_output_tokens": 9000, "tools": responseTools(),
					"reasoning": obj{"effort": "high", "summary": "auto"}, "include": arr{"reasoning.encrypted_content"}, "store": false,
				}}, f)
				ids, names, calls = a.called()
				step.wants(t, i, a.text(), calls)
				if a.StopReason != "completed" {
					t.Errorf("turn %d: status %q, want completed", i, a.StopReason)
				}
				var turn arr
				if err := json.Unmarshal(a.Turn, &turn); err != nil {
					t.Fatal(err)
				}
				items = append(items, turn...)
			}
			v.checkStory(t, f)
		})
	})
}
