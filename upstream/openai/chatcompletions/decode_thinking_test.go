package chatcompletions

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/openaiformat"
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
		}, partsOf(&content.Thinking{Redacted: content.Signature{Format: Format, Data: redacted}}, useOf("a", "f", "{}"))},
		{"encrypted only, at end", []string{
			chunkOf(`{"content":"hi"}`), chunkOf(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"b3BhcXVl","id":"r1"}]}`), stopped,
		}, partsOf(textOf("hi"), &content.Thinking{Redacted: content.Signature{Format: Format, Data: redacted}})},
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
