package conformance

import (
	"encoding/json"
	"testing"

	"github.com/polywire/polywire/internal/test/fake"
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

// TestAgentsSDKTurns checks that the Agents SDK keeps the reasoning of every vendor for ten responses, whose
// requests are whole and streamed in turn.
func TestAgentsSDKTurns(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		up, f := v.start(t)
		s := serveResponses(t, up, nil)
		for range 5 {
			f.Say(fake.Thinking("A tool for that."), fake.Call("weather", `{"city":"Rome"}`))
			f.Say(fake.Text("Sunny."))
		}
		r, err := inNode("agents", "agents-0.20", "responses")(t, libraryCall{
			BaseURL: s.url, Key: key, Model: v.model, Prompt: "Weather?", More: []string{"And now?", "And now?", "And now?", "And now?"}, Think: true, Tools: true, MaxTokens: 9000,
		})
		if err != nil {
			t.Fatal(err)
		}
		if r.Text != "Sunny." || len(r.Calls) != 5 {
			t.Errorf("got %q after the calls %q", r.Text, r.Calls)
		}
		for _, refused := range f.Refused() {
			t.Errorf("%s rejected a request by rule %s: %s", v.name, refused.Rule, refused.Message)
		}
		if n := f.Left(); n != 0 {
			t.Errorf("%s has %d unused responses", v.name, n)
		}
		body := string(f.Last().Body)
		if v.mark != nil && len(v.mark.FindAllString(body, -1)) < 5 {
			t.Errorf("the last request lacks reasoning: %.3000s", body)
		}
	})
}
