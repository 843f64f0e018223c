package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/lower"
	"github.com/polywire/polywire/internal/openaiformat"
	"github.com/polywire/polywire/upstream"
)

// TestDetails checks that lists of thinking are merged for their return and shown once.
func TestDetails(t *testing.T) {
	const redacted = `{"reasoning_details":[{"type":"reasoning.encrypted","data":"b3BhcXVl","id":"r1"}]}`
	tests := []struct {
		name   string
		chunks []string
		want   []content.Part
	}{
		{"texts", []string{
			chunkOf(`{"reasoning":"I ","reasoning_details":[{"type":"reasoning.text","text":"I ","signature":null,"index":0,"format":"x"}]}`),
			chunkOf(`{"reasoning":"see","reasoning_details":[{"type":"reasoning.text","text":"see","index":0,"format":"x"}]}`),
			chunkOf(`{"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","index":0,"format":"x"}]}`),
			chunkOf(`{"content":"hi"}`), stopped,
		}, partsOf(thinkingPart("I see", `{"reasoning_details":[{"type":"reasoning.text","text":"I see","signature":"c2ln","index":0,"format":"x"}]}`), textOf("hi"))},
		{"summaries only", []string{
			chunkOf(`{"reasoning_details":[{"type":"reasoning.summary","summary":"a","index":0}]}`),
			chunkOf(`{"reasoning_details":[{"type":"reasoning.summary","summary":"b","index":1}]}`),
			chunkOf(`{"content":"hi"}`), stopped,
		}, partsOf(thinkingPart("ab", `{"reasoning_details":[{"type":"reasoning.summary","summary":"a","index":0},{"type":"reasoning.summary","summary":"b","index":1}]}`), textOf("hi"))},
		{"encrypted only, with call", []string{
			chunkOf(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"b3BhcXVl","id":"r1"}],"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`), toolStop,
		}, partsOf(&content.Thinking{Redacted: content.Signature{Format: ChatFormat, Data: redacted}}, useOf("a", "f", "{}"))},
		{"encrypted only, at end", []string{
			chunkOf(`{"content":"hi"}`), chunkOf(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"b3BhcXVl","id":"r1"}]}`), stopped,
		}, partsOf(textOf("hi"), &content.Thinking{Redacted: content.Signature{Format: ChatFormat, Data: redacted}})},
		{"blocks", []string{
			chunkOf(`{"reasoning_content":"hm","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s"}]}`), chunkOf(`{"content":"hi"}`), stopped,
		}, partsOf(thinkingPart("hm", `{"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s"}]}`), textOf("hi"))},
		{"consecutive blocks", []string{
			chunkOf(`{"reasoning_content":"h","thinking_blocks":[{"type":"thinking","thinking":"h","signature":""}]}`),
			chunkOf(`{"reasoning_content":"m","thinking_blocks":[{"type":"thinking","thinking":"m"}]}`),
			chunkOf(`{"thinking_blocks":[{"type":"thinking","thinking":"","signature":"s1"}]}`),
			chunkOf(`{"reasoning_content":"!","thinking_blocks":[{"type":"thinking","thinking":"!"}]}`),
			chunkOf(`{"thinking_blocks":[{"type":"thinking","thinking":"","signature":"s2"}]}`), hi, stopped,
		}, partsOf(thinkingPart("hm!", `{"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"thinking","thinking":"!","signature":"s2"}]}`), textOf("hi"))},
		{"complete blocks", []string{
			`{"choices":[{"index":0,"message":{"content":"hi","reasoning_content":"hm!","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"thinking","thinking":"!","signature":"s2"}]},"finish_reason":"stop"}]}`,
		}, partsOf(thinkingPart("hm!", `{"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"thinking","thinking":"!","signature":"s2"}]}`), textOf("hi"))},
		{"complete details without indexes", []string{
			`{"choices":[{"index":0,"message":{"content":"hi","reasoning_details":[{"type":"reasoning.summary","summary":"a","id":"r1"},{"type":"reasoning.summary","summary":"b","id":"r2"}]},"finish_reason":"stop"}]}`,
		}, partsOf(thinkingPart("ab", `{"reasoning_details":[{"type":"reasoning.summary","summary":"a","id":"r1"},{"type":"reasoning.summary","summary":"b","id":"r2"}]}`), textOf("hi"))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := collectChat(t, strings.NewReader(events(test.chunks...)), ThinkTagsOff)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Parts); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestDetailsLimit checks that lists of thinking are bounded, and that the response
// continues without them.
func TestDetailsLimit(t *testing.T) {
	piece := chunkOf(`{"reasoning":"x","reasoning_details":[{"type":"reasoning.text","text":"` + strings.Repeat("x", 64<<10) + `","index":0}]}`)
	var chunks []string
	for range 20 {
		chunks = append(chunks, piece)
	}
	got, err := collectChat(t, strings.NewReader(events(append(chunks, chunkOf(`{"content":"hi"}`), stopped)...)), ThinkTagsOff)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(partsOf(thinkingPart(strings.Repeat("x", 20), "reasoning"), textOf("hi")), got.Parts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]content.Loss{openaiformat.LossThinkingState.At("parts")}, got.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

// TestThinkTags splits a response at every byte.
func TestThinkTags(t *testing.T) {
	tests := []struct {
		name, text string
		tags       ThinkTags
		want       []content.Part
	}{
		{"leading", " \n<think>\nhm < 3\n</think>\n\nhi <think>", ThinkTagsLeading, partsOf(thinkingPart("hm < 3\n", ""), textOf("hi <think>"))},
		{"none", "a <think>b</think>", ThinkTagsLeading, partsOf(textOf("a <think>b</think>"))},
		{"almost", "<thin", ThinkTagsLeading, partsOf(textOf("<thin"))},
		{"never closed", "<think>a</thi", ThinkTagsLeading, partsOf(thinkingPart("a</thi", ""))},
		{"open", "hm</think>hi", ThinkTagsOpen, partsOf(thinkingPart("hm", ""), textOf("hi"))},
		{"open, with tag", "<think>hm</think>hi", ThinkTagsOpen, partsOf(thinkingPart("hm", ""), textOf("hi"))},
		{"off", "<think>hm</think>hi", ThinkTagsOff, partsOf(textOf("<think>hm</think>hi"))},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for i := range len(test.text) + 1 {
				first := strings.ReplaceAll(test.text[:i], "\n", `\n`)
				second := strings.ReplaceAll(test.text[i:], "\n", `\n`)
				stream := events(chunkOf(`{"content":"`+first+`"}`), chunkOf(`{"content":"`+second+`"}`), stopped)
				got, err := collectChat(t, strings.NewReader(stream), test.tags)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got.Parts); diff != "" {
					t.Fatalf("cut at %d (-want +got):\n%s", i, diff)
				}
			}
		})
	}
}

// TestCarriedThinkingLosses checks that unsigned thinking is not a loss if a tool call
// carries it, and is otherwise.
func TestCarriedThinkingLosses(t *testing.T) {
	c, err := New(&Options{BaseURL: "http://localhost/v1"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		known refusals
		parts []content.Part
		want  []content.Loss
	}{
		"in chunks": {refusals{}, partsOf(thinkingPart("h", ""), thinkingPart("m", ""), textOf("x"), carryingCall("c1", thinkingPart("hm", "reasoning"))), nil},
		"another":   {refusals{}, partsOf(thinkingPart("hmm", ""), carryingCall("c1", thinkingPart("hm", "reasoning"))), []content.Loss{lower.Thinking.At("turns.1.parts.0")}},
		"refused":   {refusals{fields: fieldReasoning}, partsOf(thinkingPart("hm", ""), carryingCall("c1", thinkingPart("hm", "reasoning"))), []content.Loss{lower.Thinking.At("turns.1.parts.1.signature")}},
	} {
		model := "model of " + name
		c.refusals.add(model, tt.known)
		p := c.plan(&upstream.Request{Model: model, Turns: []content.Turn{q, turnOf(content.RoleAssistant, tt.parts...), turnOf(content.RoleUser, resultOf("c1"))}})
		if diff := cmp.Diff(tt.want, p.Losses); diff != "" || p.Err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, p.Err, diff)
		}
	}
}

// TestThinkingChunks checks that thinking that a client stored in chunks is returned
// unchanged, with an empty line between two blocks.
func TestThinkingChunks(t *testing.T) {
	own := func(text string) content.Part { return thinkingPart(text, "reasoning_content") }
	pieces := func(list ...content.Part) (turns []content.Turn) {
		for _, p := range list {
			turns = append(turns, turnOf(content.RoleAssistant, p))
		}
		return turns
	}
	for name, tt := range map[string]struct {
		reasoning string
		turns     []content.Turn
		want      string
	}{
		"pieces":             {"reasoning_content", pieces(thinkingPart("Not f", ""), thinkingPart("ar.", ""), useOf("c1", "f", "{}")), "Not far."},
		"chunks in one turn": {"reasoning_content", []content.Turn{turnOf(content.RoleAssistant, thinkingPart("Not f", ""), thinkingPart("ar.", ""), useOf("c1", "f", "{}"))}, "Not far."},
		"two with text between": {"reasoning_content", pieces(thinkingPart("a", ""), thinkingPart("b", ""), textOf("x"), thinkingPart("c", ""), useOf("c1", "f", "{}")),
			`ab\n\nc`},
		"two complete ones": {"", pieces(own("a"), own("b"), useOf("c1", "f", "{}")), `a\n\nb`},
		"in previous turn":  {"", pieces(own("a"), useOf("c1", "f", "{}")), "a"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(&Options{BaseURL: "http://localhost/v1", Dialect: Dialect{Reasoning: tt.reasoning}})
			if err != nil {
				t.Fatal(err)
			}
			turns := append(append([]content.Turn{q}, tt.turns...), turnOf(content.RoleUser, resultOf("c1")))
			p := c.plan(&upstream.Request{Model: "m", Turns: turns})
			if want := `"reasoning_content":"` + tt.want + `"`; !strings.Contains(documentOf(t, p), want) {
				t.Errorf("%s is missing in %s", want, documentOf(t, p))
			}
			for _, l := range p.Losses {
				t.Errorf("reported: %v", l)
			}
		})
	}
}
