package conformance

import (
	"testing"
)

// messagesTools returns the tools of the story.
func messagesTools() (list arr) {
	for _, tool := range toolbox {
		list = append(list, obj{"name": tool[0], "description": "Does it.", "input_schema": schemaOf(tool[1])})
	}
	return list
}

// brought returns the user turn with tool results. Files are part of the
// result.
func brought(list []outcome) obj {
	var blocks arr
	for _, o := range list {
		body := arr{text(o.text)}
		if o.pdf {
			body = append(body, obj{"type": "document", "source": obj{
				"type": "base64", "media_type": "application/pdf", "data": pdf64,
			}})
		}
		b := obj{"type": "tool_result", "tool_use_id": o.id, "content": body}
		if o.failed {
			b["is_error"] = true
		}
		blocks = append(blocks, b)
	}
	return user(blocks)
}

// TestAdaptersMessages runs a whole conversation between each Messages SDK and
// each vendor.
func TestAdaptersMessages(t *testing.T) {
	everyVendor(t, func(t *testing.T, v vendor) {
		both(t, func(t *testing.T, c sdk, stream bool) {
			up, f := v.start(t)
			s := serveModel(t, up, nil)
			var turns arr
			var ids, names []string
			for i, step := range story() {
				f.Say(step.say...)
				if step.user != "" {
					turns = append(turns, user(arr{text(step.user)}))
				} else {
					turns = append(turns, brought(outcomes(ids, names)))
				}
				a, err := s.ask(t, c, stream, request(turns, obj{
					"model": v.model, "system": "You help.", "max_tokens": 9000, "tools": messagesTools(),
					"thinking": obj{"type": "enabled", "budget_tokens": 2048},
				}))
				if err != nil {
					t.Fatalf("turn %d: %v\nsent: %.2000s", i, err, f.Last().Body)
				}
				r := s.report(t)
				v.checkNoLostThinking(t, i, r)
				if a.Output == 0 || a.Output != r.Usage.Completion() || a.Input != r.Usage.Prompt() {
					t.Errorf("turn %d: the client received %d+%d tokens, the host %d+%d", i, a.Input, a.Output, r.Usage.Prompt(), r.Usage.Completion())
				}
				var calls []string
				ids, names = nil, nil
				for _, b := range a.Blocks {
					if b.Type == "tool_use" {
						ids, names = append(ids, b.ID), append(names, b.Name)
						calls = append(calls, b.Name+" "+string(b.Input))
					}
				}
				step.wants(t, i, a.text(), calls)
				wantStop(t, i, a.StopReason, len(calls) > 0)
				turns = append(turns, a.Turn)
			}
			v.checkStory(t, f)
		})
	})
}

// wantStop checks the stop reason of a response.
func wantStop(t *testing.T, turn int, got string, called bool) {
	t.Helper()
	want := "end_turn"
	if called {
		want = "tool_use"
	}
	if got != want {
		t.Errorf("turn %d: stop reason %q, want %q", turn, got, want)
	}
}
