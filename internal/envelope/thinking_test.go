package envelope

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func TestEncodeThinking(t *testing.T) {
	const f = content.Format("messages")
	want := []State{
		{Thinking: &content.Thinking{Text: "first \"quoted\"\n", Signature: content.Signature{Format: f, Data: "c2ln"}}},
		{Thinking: &content.Thinking{Redacted: content.Signature{Format: f, Data: "b3BhcXVl"}}},
		{Thinking: &content.Thinking{Signature: content.Signature{Format: f, Data: "{}"}}, TextSignature: true},
		{Thinking: &content.Thinking{Signature: content.Signature{Format: f, Data: "x"},
			Extra: &content.Extra{Format: f, JSON: `{"z":1,"a":[2]}`}}},
	}
	got, ok := DecodeThinking(f, EncodeThinking(want))
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("%v (-want +got):\n%s", ok, diff)
	}
	for _, s := range []string{"", "{}", "[]", "[1]", "sig", `[{"text":"a"}`} {
		if got, ok := DecodeThinking(f, s); ok {
			t.Errorf("%q became %v", s, got)
		}
	}
}

// TestDecodeEarlierVersion decodes an envelope that an earlier version encoded:
// each block has its position among the texts, which is ignored.
func TestDecodeEarlierVersion(t *testing.T) {
	const s = `pw1.messages.9175b1f5edfb9e7a.t[{"text":"Hm","signature":"c2ln","back":12,"past":3,"first":true},` +
		`{"redacted":"b3BhcXVl","back":2},{"signature":"{}","back":1,"text_signature":true}]`
	e, ok := Decode(s)
	if !ok || e.Kind != KindThinking {
		t.Fatalf("%q: %v %v", s, e, ok)
	}
	got, ok := DecodeThinking(e.Format, e.Data)
	want := []State{
		{Thinking: &content.Thinking{Text: "Hm", Signature: content.Signature{Format: "messages", Data: "c2ln"}}},
		{Thinking: &content.Thinking{Redacted: content.Signature{Format: "messages", Data: "b3BhcXVl"}}},
		{Thinking: &content.Thinking{Signature: content.Signature{Format: "messages", Data: "{}"}}, TextSignature: true},
	}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("%v (-want +got):\n%s", ok, diff)
	}
}

func TestRestore(t *testing.T) {
	tests := []struct{ name, step, list, want string }{
		{"empty step", "", "1 2", "1 2"},
		{"text", "a", "1 2", "1 2 a"},
		{"texts and an image", "a img b", "1 2", "1 2 a img b"},
		{"all returned", "1 a 2 b", "1 2", "1 a 2 b"},
		{"first returned", "a 1 b c", "1 2", "a 1 2 b c"},
		{"second returned", "a 2 b", "1 2 3", "1 a 2 3 b"},
		{"returned in another order", "2 a 1 b", "1 2 3", "2 a 1 3 b"},
		{"no state", "a b", "", "a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			step := strings.Fields(tt.step)
			var list []State
			for _, s := range strings.Fields(tt.list) {
				list = append(list, State{Thinking: &content.Thinking{Text: s}})
			}
			got := Restore([]string{"before"}, step, list,
				func(s *State) int { return slices.Index(step, s.Text) },
				func(s *State) string { return s.Text })
			if diff := cmp.Diff("before "+tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
