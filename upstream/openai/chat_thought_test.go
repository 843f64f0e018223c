package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// TestDetails checks that lists of thoughts are put together as they have to go
// back, and shown once.
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
		}, partsOf(thoughtOf("I see", `{"reasoning_details":[{"type":"reasoning.text","text":"I see","signature":"c2ln","index":0,"format":"x"}]}`), sayText("hi"))},
		{"summaries alone", []string{
			chunkOf(`{"reasoning_details":[{"type":"reasoning.summary","summary":"a","index":0}]}`),
			chunkOf(`{"reasoning_details":[{"type":"reasoning.summary","summary":"b","index":1}]}`),
			chunkOf(`{"content":"hi"}`), stopped,
		}, partsOf(thoughtOf("ab", `{"reasoning_details":[{"type":"reasoning.summary","summary":"a","index":0},{"type":"reasoning.summary","summary":"b","index":1}]}`), sayText("hi"))},
		{"nothing to show, with a call", []string{
			chunkOf(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"b3BhcXVl","id":"r1"}],"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`), toolStop,
		}, partsOf(&content.Thinking{Redacted: content.Signature{Format: ChatFormat, Data: redacted}}, useOf("a", "f", "{}"))},
		{"nothing to show, at the end", []string{
			chunkOf(`{"content":"hi"}`), chunkOf(`{"reasoning_details":[{"type":"reasoning.encrypted","data":"b3BhcXVl","id":"r1"}]}`), stopped,
		}, partsOf(sayText("hi"), &content.Thinking{Redacted: content.Signature{Format: ChatFormat, Data: redacted}})},
		{"blocks", []string{
			chunkOf(`{"reasoning_content":"hm","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s"}]}`), chunkOf(`{"content":"hi"}`), stopped,
		}, partsOf(thoughtOf("hm", `{"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s"}]}`), sayText("hi"))},
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

// TestDetailsLimit checks that lists of thoughts are bounded, and that the
// answer goes on without.
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
	if diff := cmp.Diff(partsOf(thoughtOf(strings.Repeat("x", 20), "reasoning"), sayText("hi")), got.Parts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]content.Loss{lostDetails.At("")}, got.Losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}

// TestThinkTags splits an answer at every place there is.
func TestThinkTags(t *testing.T) {
	tests := []struct {
		name, text string
		tags       ThinkTags
		want       []content.Part
	}{
		{"leading", " \n<think>\nhm < 3\n</think>\n\nhi <think>", ThinkTagsLeading, partsOf(thoughtOf("hm < 3\n", ""), sayText("hi <think>"))},
		{"none", "a <think>b</think>", ThinkTagsLeading, partsOf(sayText("a <think>b</think>"))},
		{"almost", "<thin", ThinkTagsLeading, partsOf(sayText("<thin"))},
		{"never closed", "<think>a</thi", ThinkTagsLeading, partsOf(thoughtOf("a</thi", ""))},
		{"open", "hm</think>hi", ThinkTagsOpen, partsOf(thoughtOf("hm", ""), sayText("hi"))},
		{"open, and said", "<think>hm</think>hi", ThinkTagsOpen, partsOf(thoughtOf("hm", ""), sayText("hi"))},
		{"off", "<think>hm</think>hi", ThinkTagsOff, partsOf(sayText("<think>hm</think>hi"))},
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
