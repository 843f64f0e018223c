package envelope

import (
	"encoding/base64"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func TestEncodeThinking(t *testing.T) {
	const f = content.Format("messages")
	want := []*content.Thinking{
		{Text: "first \"quoted\"\n", Signature: content.Signature{Format: f, Data: "c2ln"}},
		{Redacted: content.Signature{Format: f, Data: "b3BhcXVl"}},
	}
	list := slices.Clone(want)
	list[0] = new(*want[0])
	list[0].Extra = &content.Extra{Format: f, JSON: `{"cache_control":{"type":"ephemeral"}}`} // is not encoded
	got, ok := DecodeThinking(f, EncodeThinking(list))
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("%v (-want +got):\n%s", ok, diff)
	}
	for _, s := range []string{"", "{}", "[]", "[1]", "sig", `[{"text":"a"}`} {
		if got, ok := DecodeThinking(f, s); ok {
			t.Errorf("%q became %v", s, got)
		}
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
			var list []*content.Thinking
			for _, s := range strings.Fields(tt.list) {
				list = append(list, &content.Thinking{Text: s})
			}
			var parts []content.Part
			for _, s := range step {
				parts = append(parts, &content.Text{Text: s})
			}
			var got []string
			for _, p := range Restore([]content.Part{&content.Text{Text: "before"}}, parts, list,
				func(t *content.Thinking) int { return slices.Index(step, t.Text) }) {
				switch p := p.(type) {
				case *content.Text:
					got = append(got, p.Text)
				case *content.Thinking:
					got = append(got, p.Text)
				}
			}
			if diff := cmp.Diff("before "+tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestForgedMembers decodes a list as a client could make it up: only the members that
// EncodeThinking writes remain.
func TestForgedMembers(t *testing.T) {
	const f = content.Format("messages")
	got, ok := DecodeThinking(f, `[{"text":"a","signature":"c2ln","type":"text","extra":{"cache_control":{"type":"ephemeral"}},`+
		`"cache_control":{"type":"ephemeral"},"source":{"url":"https://example.com"},"Format":"generatecontent"}]`)
	want := []*content.Thinking{{Text: "a", Signature: content.Signature{Format: f, Data: "c2ln"}}}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("%v (-want +got):\n%s", ok, diff)
	}
}

func TestStates(t *testing.T) {
	many := func(n int, state string) string { return "[" + strings.Repeat(state+",", n-1) + state + "]" }
	full := EncodeThinking([]*content.Thinking{{Text: "a", Signature: content.Signature{Data: "b"}, Redacted: content.Signature{Data: "c"}}})
	full = full[1 : len(full)-1]
	for _, tt := range []struct {
		name        string
		kind        Kind
		data        string
		limit, want int
	}{
		{"signature", KindPart, many(9, "{}"), 5, 0},
		{"no envelope", 0, "", 5, 0},
		{"empty list", KindThinking, "[]", 0, 0},
		{"below the limit", KindThinking, many(3, full), 5, 3},
		{"at the limit", KindThinking, many(5, full), 5, 5},
		{"above the limit", KindThinking, many(6, full), 5, 6},
		{"above the limit, empty", KindThinking, many(300_000, "{}"), 5, 6},
		{"no parts left", KindThinking, many(2, "{}"), 0, 1},
		{"members that are not written", KindThinking, `[{"a":` + many(100, "1") + `}]`, 5, 6},
		{"invalid", KindThinking, `[{}`, 5, 0},
		{"no limit", KindThinking, many(300_000, "{}"), math.MaxInt, 300_000},
	} {
		if got := (Envelope{Format: "messages", Kind: tt.kind, Data: tt.data}).States(tt.limit); got != tt.want {
			t.Errorf("%s: %d states, want %d", tt.name, got, tt.want)
		}
	}
}

// TestTooLargeEnvelope checks that an envelope above MaxSize is damaged, also if its
// checksum is right.
func TestTooLargeEnvelope(t *testing.T) {
	const f = content.Format("messages")
	for n, want := range map[int]bool{MaxSize: true, MaxSize + 1: false} {
		payload := "s" + strings.Repeat("x", n)
		s := prefix + string(f) + "." + checksum(f, payload) + "." + payload
		if _, ok := Decode(s); ok != want {
			t.Errorf("%d bytes: %v", n, ok)
		}
		if _, ok := DecodeBase64(base64.StdEncoding.EncodeToString([]byte(s))); ok != want {
			t.Errorf("%d bytes in base64: %v", n, ok)
		}
	}
	longest, ok := EncodeBase64(content.Format(strings.Repeat("f", maxInnerID)), KindPart, strings.Repeat("x", MaxSize))
	if !ok || len(longest) != maxBase64 {
		t.Errorf("the longest envelope has %d bytes, want %d", len(longest), maxBase64)
	}
	if _, ok := DecodeBase64(longest); !ok {
		t.Error("the longest envelope is damaged")
	}
}
