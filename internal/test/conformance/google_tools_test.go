package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"

	"github.com/polywire/polywire/generatecontent"
	"github.com/polywire/polywire/upstream/script"
)

func googleTools() []*genai.Tool {
	return []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
		{Name: "weather", Description: "The weather in a city.", Parameters: &genai.Schema{
			Type: genai.TypeObject,
			Properties: map[string]*genai.Schema{
				"city": {Type: genai.TypeString}, "days": {Type: genai.TypeInteger, Minimum: genai.Ptr(1.0)},
			},
			Required: []string{"city"},
		}},
		{Name: "clock", ParametersJsonSchema: obj{"type": "object"}},
	}}}
}

// chat starts a chat.
func (s googleServer) chat(t *testing.T, config *genai.GenerateContentConfig) googleChat {
	t.Helper()
	chat, err := s.sdk.chat(t.Context(), s.call(nil, config))
	if err != nil {
		t.Fatal(err)
	}
	return chat
}

// send sends a user turn in the SDK's chat.
func (s googleServer) send(t *testing.T, chat googleChat, stream bool, parts ...*genai.Part) *googleAnswer {
	t.Helper()
	a, err := chat.send(t.Context(), stream, parts)
	if err != nil {
		t.Fatal(err)
	}
	s.checkReport(t, stream, a)
	return a
}

// googleResults returns the results of all tool calls of a response, in order.
func googleResults(t *testing.T, a *googleAnswer, texts ...string) (parts []*genai.Part) {
	t.Helper()
	calls := a.calls()
	if len(calls) != len(texts) {
		t.Fatalf("%d tool calls, want %d", len(calls), len(texts))
	}
	for i, c := range calls {
		parts = append(parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{
			ID: c.ID, Name: c.Name, Response: obj{"output": texts[i]},
		}})
	}
	return parts
}

// TestGoogleToolLoop runs a tool loop with three parallel calls in the SDK's
// chat: written in sequence, and interleaved.
func TestGoogleToolLoop(t *testing.T) {
	const first, second = `{"city":"Tromsø \"N\"","days":3}`, `{"city":"Oslo"}`
	look := script.Say("Let me look.")
	plays := map[string]string{
		"in sequence": play(look, script.Call("weather", first), script.Call("clock", ""), script.Call("weather", second)),
		"interleaved": play(look, weave([2]string{"weather", first}, [2]string{"clock", ""}, [2]string{"weather", second})),
	}
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		for verb, text := range plays {
			chat := s.chat(t, &genai.GenerateContentConfig{Tools: googleTools()})
			a := s.send(t, chat, stream, genai.NewPartFromText(text))
			if a.text() != "Let me look." || a.finish != genai.FinishReasonStop {
				t.Errorf("%s: text %q, finish reason %s", verb, a.text(), a.finish)
			}
			type called struct {
				Name string
				Args map[string]any
			}
			var got []called
			ids := map[string]bool{}
			for _, c := range a.calls() {
				got = append(got, called{c.Name, c.Args})
				ids[c.ID] = true
			}
			want := []called{
				{"weather", obj{"city": `Tromsø "N"`, "days": 3.0}}, {"clock", obj{}}, {"weather", obj{"city": "Oslo"}},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: tool calls (-want +got):\n%s", verb, diff)
			}
			if len(ids) != 3 || ids[""] {
				t.Errorf("%s: duplicate ids of tool calls: %v", verb, ids)
			}

			last, err := chat.turns(t.Context()) // streamed, each chunk is a turn of the history
			if err != nil {
				t.Fatal(err)
			}
			b := s.send(t, chat, stream, googleResults(t, a, "snow", "09:41", "rain")...)
			b.wantLines(t,
				"weather answered: snow", "clock answered: 09:41", "weather answered: rain",
				fmt.Sprintf("turns.%d.parts.2: tool result weather, id %q", last, a.calls()[2].ID),
				"tools.0: tool weather, description, 22 bytes", "tools.1: tool clock, input, 17 bytes",
			)
			if len(b.calls()) != 0 || b.finish != genai.FinishReasonStop {
				t.Errorf("%s: the loop ends with finish reason %s and %d tool calls", verb, b.finish, len(b.calls()))
			}
		}
	})
}

// TestGoogleForcedCall checks that a forced call has arguments that match the
// tool's schema.
func TestGoogleForcedCall(t *testing.T) {
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		for _, names := range [][]string{nil, {"weather"}} {
			a := s.mustAsk(t, stream, genai.Text("Well?"), &genai.GenerateContentConfig{
				Tools: googleTools(),
				ToolConfig: &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{
					Mode: genai.FunctionCallingConfigModeAny, AllowedFunctionNames: names,
				}},
			})
			calls := a.calls()
			if len(calls) != 1 || calls[0].Name != "weather" {
				t.Fatalf("allowed %q: calls %+v, want one of weather", names, calls)
			}
			if city, ok := calls[0].Args["city"].(string); !ok {
				t.Errorf("allowed %q: the city is %v in %v", names, city, calls[0].Args)
			}
		}
	})
}

// TestGoogleSignatures checks that thinking returns unchanged with tool
// results.
func TestGoogleSignatures(t *testing.T) {
	const thinking = "It is about time."
	bothGoogle(t, func(t *testing.T, s googleServer, stream bool) {
		config := &genai.GenerateContentConfig{
			Tools:          googleTools(),
			ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true, ThinkingBudget: genai.Ptr[int32](1024)},
		}
		turns := genai.Text(play(script.Think(thinking), script.Call("clock", "")))
		a := s.mustAsk(t, stream, turns, config)
		if a.joined(true) != thinking {
			t.Errorf("thought %q", a.joined(true))
		}
		signed := 0
		for _, p := range a.content.Parts {
			if p.ThoughtSignature != nil {
				signed++
			}
		}
		if signed != 1 {
			t.Fatalf("%d signatures, want one", signed)
		}
		turns = append(turns, a.content, genai.NewContentFromParts(googleResults(t, a, "09:41"), genai.RoleUser))
		b := s.mustAsk(t, stream, turns, config)
		b.wantLines(t, "clock answered: 09:41", "turns.1: assistant, 2 parts", "turns.1.parts.0: thinking, 17 bytes, "+digest([]byte(a.joined(true))))
		if !strings.Contains(b.text(), signature(generatecontent.Format, thinking)+"\nturns.1.parts.1: tool use clock, ") {
			t.Errorf("the signature of the thinking was not returned:\n%s", b.text())
		}
	})
}
