package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/messages"
	"github.com/polywire/polywire/upstream/script"
)

var (
	weather = obj{
		"name": "weather", "description": "The weather in a city.",
		"input_schema": obj{
			"type":       "object",
			"properties": obj{"city": obj{"type": "string"}, "days": obj{"type": "integer", "minimum": 1}},
			"required":   arr{"city"},
		},
	}
	clock = obj{"name": "clock", "input_schema": obj{"type": "object"}}
)

// wantInstance checks the value that echo made from TestStructuredOutput's
// schema.
func wantInstance(t *testing.T, text string) {
	t.Helper()
	var got struct {
		OK    *bool     `json:"ok"`
		Count *int      `json:"count"`
		Color string    `json:"color"`
		Tags  *[]string `json:"tags"`
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if got.OK == nil || got.Count == nil || got.Tags == nil ||
		(got.Color != "red" && got.Color != "green") {
		t.Errorf("%s does not match its schema", text)
	}
}

// results returns the results of all tool calls of a response, in order.
func results(t *testing.T, a *answer, texts ...string) obj {
	t.Helper()
	var blocks arr
	for _, b := range a.Blocks {
		if b.Type != "tool_use" {
			continue
		}
		if len(blocks) == len(texts) {
			t.Fatalf("more than the expected %d tool calls", len(texts))
		}
		blocks = append(blocks, obj{"type": "tool_result", "tool_use_id": b.ID, "content": texts[len(blocks)]})
	}
	if len(blocks) != len(texts) {
		t.Fatalf("%d tool calls, want %d", len(blocks), len(texts))
	}
	return user(blocks)
}

// TestToolLoop runs a loop with parallel calls: written in sequence, and
// interleaved.
func TestToolLoop(t *testing.T) {
	const first, second = `{"city":"Tromsø \"N\"","days":3}`, `{"city":"Oslo"}`
	look := script.Say("Let me look.")
	plays := map[string]string{
		"in sequence": play(look, script.Call("weather", first), script.Call("clock", ""), script.Call("weather", second)),
		"interleaved": play(look, weave([2]string{"weather", first}, [2]string{"clock", ""}, [2]string{"weather", second})),
	}
	tools := obj{"tools": arr{weather, clock}}
	both(t, func(t *testing.T, c sdk, stream bool) {
		for verb, text := range plays {
			s := serve(t, nil)
			question := user(text)
			a := s.mustAsk(t, c, stream, request(arr{question}, tools))
			wantKinds(t, a, "text", "tool_use", "tool_use", "tool_use")
			if a.StopReason != "tool_use" {
				t.Errorf("%s: stop reason %q, want tool_use", verb, a.StopReason)
			}
			wantJSON(t, "first input", obj{"city": `Tromsø "N"`, "days": 3.0}, a.Blocks[1].Input)
			wantJSON(t, "second input", obj{}, a.Blocks[2].Input)
			wantJSON(t, "third input", obj{"city": "Oslo"}, a.Blocks[3].Input)
			ids := map[string]bool{a.Blocks[1].ID: true, a.Blocks[2].ID: true, a.Blocks[3].ID: true}
			if len(ids) != 3 || ids[""] {
				t.Errorf("%s: duplicate ids of tool calls: %v", verb, ids)
			}

			b := s.mustAsk(t, c, stream, request(arr{question, a.Turn, results(t, a, "snow", "09:41", "rain")}, tools))
			wantLines(t, b,
				"weather answered: snow", "clock answered: 09:41", "weather answered: rain",
				"turns.1: assistant, 4 parts",
				fmt.Sprintf("turns.1.parts.2: tool use clock, id %q", a.Blocks[2].ID),
				fmt.Sprintf("turns.2.parts.2: tool result, id %q", a.Blocks[3].ID),
			)
			if b.StopReason != "end_turn" {
				t.Errorf("%s: the loop ends with stop reason %q, want end_turn", verb, b.StopReason)
			}
		}
	})
}

// TestForcedCall checks that a forced call has arguments that match the tool's
// schema.
func TestForcedCall(t *testing.T) {
	choices := map[string]obj{
		"any":  {"type": "any"},
		"tool": {"type": "tool", "name": "weather"},
	}
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		for name, choice := range choices {
			a := s.mustAsk(t, c, stream, request(arr{user("Well?")}, obj{
				"tools": arr{weather, clock}, "tool_choice": choice,
			}))
			wantKinds(t, a, "tool_use")
			if a.Blocks[0].Name != "weather" || a.StopReason != "tool_use" {
				t.Errorf("%s: %s calls %s, want tool_use of weather", name, a.StopReason, a.Blocks[0].Name)
			}
			var input struct{ City *string }
			if err := json.Unmarshal(a.Blocks[0].Input, &input); err != nil || input.City == nil {
				t.Errorf("%s: input %s has no city: %v", name, a.Blocks[0].Input, err)
			}
		}
	})
}

func TestFailedTool(t *testing.T) {
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		question := user("echo: call clock")
		tools := obj{"tools": arr{clock}}
		a := s.mustAsk(t, c, stream, request(arr{question}, tools))
		turn := user(arr{obj{
			"type": "tool_result", "tool_use_id": a.Blocks[0].ID, "is_error": true, "content": "no battery",
		}})
		b := s.mustAsk(t, c, stream, request(arr{question, a.Turn, turn}, tools))
		wantLines(t, b, "clock failed: no battery")
	})
}

// TestThinking checks that thinking returns to the model unchanged, including
// its signature.
func TestThinking(t *testing.T) {
	modes := map[string]obj{
		"enabled":  {"type": "enabled", "budget_tokens": 1024},
		"adaptive": {"type": "adaptive", "display": "summarized"},
	}
	const thinking = "It is about time. 時間"
	both(t, func(t *testing.T, c sdk, stream bool) {
		for name, mode := range modes {
			s := serve(t, nil)
			more := obj{"thinking": mode, "tools": arr{clock}}
			question := user(play(script.Think(thinking), script.Say("One moment."), script.Call("clock", "")))
			a := s.mustAsk(t, c, stream, request(arr{question}, more))
			wantKinds(t, a, "thinking", "text", "tool_use")
			thought := a.Blocks[0]
			if thought.Thinking != thinking || thought.Signature == "" {
				t.Errorf("%s: thinking %q with signature %q", name, thought.Thinking, thought.Signature)
			}

			turns := arr{question, a.Turn, results(t, a, "09:41")}
			b := s.mustAsk(t, c, stream, request(turns, more))
			wantLines(t, b, "clock answered: 09:41")
			if !strings.Contains(b.text(), "turns.1.parts.0: thinking, ") || !strings.Contains(b.text(), signature(messages.Format, thinking)) {
				t.Errorf("%s: the thinking was not returned unchanged:\n%s", name, b.text())
			}

			// And again, with two responses that think in the history.
			turns = append(arr{question, a.Turn, results(t, a, "09:41")}, obj{"role": "assistant", "content": arr{text("Fine.")}}, question)
			b = s.mustAsk(t, c, stream, request(turns, more))
			turns = append(turns, b.Turn, results(t, b, "09:42"))
			d := s.mustAsk(t, c, stream, request(turns, more))
			if n := strings.Count(d.text(), signature(messages.Format, thinking)); n != 2 {
				t.Errorf("%s: %d thinking blocks returned unchanged, want 2:\n%s", name, n, d.text())
			}
		}
	})
}

func TestOmittedThinking(t *testing.T) {
	both(t, func(t *testing.T, c sdk, stream bool) {
		s := serve(t, nil)
		more := obj{"thinking": obj{"type": "adaptive", "display": "omitted"}}
		mark := content.Signature{Format: messages.Format, Data: "c2lnbmVk"}
		question := user(play(script.Part(&content.Thinking{Signature: mark}), script.Say("Done.")))
		a := s.mustAsk(t, c, stream, request(arr{question}, more))
		wantKinds(t, a, "thinking", "text")
		if b := a.Blocks[0]; b.Thinking != "" || b.Signature == "" {
			t.Errorf("thinking %q with signature %q, want a signature only", b.Thinking, b.Signature)
		}
		b := s.mustAsk(t, c, stream, request(arr{question, a.Turn, user("And?")}, more))
		if !strings.Contains(b.text(), "signature messages 8 bytes "+digest([]byte(mark.Data))) {
			t.Errorf("the empty thinking was not returned unchanged:\n%s", b.text())
		}
	})
}
