package openai

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
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
		{"blocks one after another", []string{
			chunkOf(`{"reasoning_content":"h","thinking_blocks":[{"type":"thinking","thinking":"h","signature":""}]}`),
			chunkOf(`{"reasoning_content":"m","thinking_blocks":[{"type":"thinking","thinking":"m"}]}`),
			chunkOf(`{"thinking_blocks":[{"type":"thinking","thinking":"","signature":"s1"}]}`),
			chunkOf(`{"reasoning_content":"!","thinking_blocks":[{"type":"thinking","thinking":"!"}]}`),
			chunkOf(`{"thinking_blocks":[{"type":"thinking","thinking":"","signature":"s2"}]}`), hi, stopped,
		}, partsOf(thoughtOf("hm!", `{"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"thinking","thinking":"!","signature":"s2"}]}`), sayText("hi"))},
		{"whole blocks", []string{
			`{"choices":[{"index":0,"message":{"content":"hi","reasoning_content":"hm!","thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"thinking","thinking":"!","signature":"s2"}]},"finish_reason":"stop"}]}`,
		}, partsOf(thoughtOf("hm!", `{"thinking_blocks":[{"type":"thinking","thinking":"hm","signature":"s1"},{"type":"thinking","thinking":"!","signature":"s2"}]}`), sayText("hi"))},
		{"whole details without indices", []string{
			`{"choices":[{"index":0,"message":{"content":"hi","reasoning_details":[{"type":"reasoning.summary","summary":"a","id":"r1"},{"type":"reasoning.summary","summary":"b","id":"r2"}]},"finish_reason":"stop"}]}`,
		}, partsOf(thoughtOf("ab", `{"reasoning_details":[{"type":"reasoning.summary","summary":"a","id":"r1"},{"type":"reasoning.summary","summary":"b","id":"r2"}]}`), sayText("hi"))},
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
	if diff := cmp.Diff([]content.Loss{lostDetails.At("parts")}, got.Losses); diff != "" {
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

// TestCarriedQuiet checks that thoughts which are shown without a signature are
// not said to be lost where a call brings them along, and are where it does not
// help.
func TestCarriedQuiet(t *testing.T) {
	c, err := New(Options{BaseURL: "http://localhost/v1"})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		known refusals
		parts []content.Part
		want  []content.Loss
	}{
		"in pieces": {refusals{}, partsOf(thoughtOf("h", ""), thoughtOf("m", ""), sayText("x"), carrying("c1", thoughtOf("hm", "reasoning"))), nil},
		"another":   {refusals{}, partsOf(thoughtOf("hmm", ""), carrying("c1", thoughtOf("hm", "reasoning"))), []content.Loss{lostThought.At("turns.1.parts.0")}},
		"refused":   {refusals{fields: fieldReasoning}, partsOf(thoughtOf("hm", ""), carrying("c1", thoughtOf("hm", "reasoning"))), []content.Loss{lostThought.At("turns.1.parts.1")}},
	} {
		model := "model of " + name
		c.memory.add(model, tt.known)
		p := c.plan(&upstream.Request{Model: model, Turns: []content.Turn{q, turnOf(content.RoleAssistant, tt.parts...), turnOf(content.RoleUser, resultOf("c1"))}}, false)
		if diff := cmp.Diff(tt.want, p.losses); diff != "" || p.fault != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, p.fault, diff)
		}
	}
}

// TestThoughtPieces checks that a server which wants thoughts back gets one that
// a client has kept in pieces as it was, and an empty line between two.
func TestThoughtPieces(t *testing.T) {
	own := func(text string) content.Part { return thoughtOf(text, "reasoning_content") }
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
		"pieces":             {"reasoning_content", pieces(thoughtOf("Not f", ""), thoughtOf("ar.", ""), useOf("c1", "f", "{}")), "Not far."},
		"pieces in one turn": {"reasoning_content", []content.Turn{turnOf(content.RoleAssistant, thoughtOf("Not f", ""), thoughtOf("ar.", ""), useOf("c1", "f", "{}"))}, "Not far."},
		"two, a text between": {"reasoning_content", pieces(thoughtOf("a", ""), thoughtOf("b", ""), sayText("x"), thoughtOf("c", ""), useOf("c1", "f", "{}")),
			`ab\n\nc`},
		"two that are whole": {"", pieces(own("a"), own("b"), useOf("c1", "f", "{}")), `a\n\nb`},
		"in a turn before":   {"", pieces(own("a"), useOf("c1", "f", "{}")), "a"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := New(Options{BaseURL: "http://localhost/v1", Dialect: Dialect{Reasoning: tt.reasoning}})
			if err != nil {
				t.Fatal(err)
			}
			turns := append(append([]content.Turn{q}, tt.turns...), turnOf(content.RoleUser, resultOf("c1")))
			p := c.plan(&upstream.Request{Model: "m", Turns: turns}, false)
			if want := `"reasoning_content":"` + tt.want + `"`; !strings.Contains(p.doc.Text(), want) || p.fault != nil {
				t.Errorf("%v: no %s in %s", p.fault, want, p.doc.Text())
			}
			for _, l := range p.losses {
				if strings.Contains(l.Reason, "thought") {
					t.Errorf("reported: %v", l)
				}
			}
		})
	}
}
