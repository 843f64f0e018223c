package conformance

import (
	"testing"
)

// chatTools returns the tools of the story.
func chatTools() (list arr) {
	for _, tool := range toolbox {
		list = append(list, obj{"type": "function", "function": obj{
			"name": tool[0], "description": "Does it.", "parameters": schemaOf(tool[1]),
		}})
	}
	return list
}

// chatResults returns the messages with tool results. A file is in a message of the user after
// them, because tool messages have only text.
func chatResults(list []outcome) (turns arr) {
	var files arr
	for _, o := range list {
		turns = append(turns, obj{"role": "tool", "tool_call_id": o.id, "content": o.text})
		if o.pdf {
			files = append(files, obj{"type": "file", "file": obj{"filename": "a.pdf", "file_data": "data:application/pdf;base64," + pdf64}})
		}
	}
	if files != nil {
		turns = append(turns, user(files))
	}
	return turns
}

// called returns the ids, the names, and the names with arguments of an answer's tool calls.
func (a *answer) called() (ids, names, calls []string) {
	for _, b := range a.Blocks {
		if b.Type == "tool_use" {
			ids, names = append(ids, b.ID), append(names, b.Name)
			calls = append(calls, b.Name+" "+string(b.Input))
		}
	}
	return ids, names, calls
}

// TestAdaptersChat runs a whole conversation between each client of Chat Completions and each
// vendor.
func TestAdaptersChat(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		bothOpenAI(t, func(t *testing.T, c openaiSDK, stream bool) {
			up, f := v.start(t)
			s := serveChat(t, up, nil)
			model := v.model
			if v.name == "chat" {
				model = "gpt-5" // it thinks, and has tools in this format
			}
			turns := arr{obj{"role": "developer", "content": "You help."}}
			var ids, names, calls []string
			for i, step := range story() {
				f.Say(step.say...)
				if step.user != "" {
					turns = append(turns, user(arr{text(step.user)}))
				} else {
					turns = append(turns, chatResults(outcomes(ids, names))...)
				}
				params := obj{
					"model": model, "messages": turns, "max_completion_tokens": 9000, "tools": chatTools(), "reasoning_effort": "high",
				}
				if stream {
					params["stream_options"] = obj{"include_usage": true}
				}
				a := s.mustAskOpenAI(t, c, call{Format: chatFormat, Stream: stream, Params: params}, f)
				ids, names, calls = a.called()
				step.wants(t, i, a.text(), calls)
				// The reason of a server of the format stays: the local one ends calls with "stop", too.
				want := "stop"
				if len(calls) > 0 && v.name != "local" {
					want = "tool_calls"
				}
				if a.StopReason != want {
					t.Errorf("turn %d: finish_reason %q, want %q", i, a.StopReason, want)
				}
				turns = append(turns, a.Turn)
			}
			v.checkStory(t, f)
		})
	})
}
