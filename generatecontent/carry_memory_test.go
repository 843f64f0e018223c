package generatecontent

import (
	"slices"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/envelope"
	"github.com/polywire/polywire/upstream"
)

// TestCarriedMemory checks that thoughts are kept within bounds, however long.
func TestCarriedMemory(t *testing.T) {
	s := newStream(inEvents, "r-1", "m", maxBody)
	var out []byte
	text := strings.Repeat("x", 1<<10)
	for n := range 20_000 {
		out = s.Events(out[:0], []upstream.Event{{Kind: upstream.EventOpen, Block: n, Part: &content.Thinking{}}})
		out = s.Events(out[:0], []upstream.Event{{Kind: upstream.EventText, Block: n, Text: text}})
		out = s.Events(out[:0], []upstream.Event{{Kind: upstream.EventClose, Block: n}})
		if k, _ := s.said[0].thoughts.Size(); k > len(s.closed)+1 {
			t.Fatalf("%d thoughts are kept", k)
		}
	}
	if s.room < envelope.MaxSize-8<<10 {
		t.Errorf("there is room for %d bytes more", s.room)
	}
}

// TestSignedMemory checks that signed thoughts are kept within bounds, as long as
// no call comes that carries them, and that it is told when they are too many.
func TestSignedMemory(t *testing.T) {
	for size, many := range map[int]int{1: 20_000, 1 << 10: 10_000, 1 << 20: 20} {
		for _, p := range []*content.Thinking{
			{Signature: otherSign(strings.Repeat("s", size))},
			{Redacted: otherSign(strings.Repeat("s", size))},
			{Signature: otherSign("s"), Extra: &content.Extra{Format: other, JSON: `{"a":"` + strings.Repeat("x", size) + `"}`}},
		} {
			s := newStream(inEvents, "r-1", "m", maxBody)
			var out []byte
			for n := range many {
				out = s.Events(out[:0], []upstream.Event{
					{Kind: upstream.EventOpen, Block: n, Part: &content.Thinking{Redacted: p.Redacted, Extra: p.Extra}},
					{Kind: upstream.EventText, Block: n, Text: "t"},
					{Kind: upstream.EventSignature, Block: n, Signature: &p.Signature},
					{Kind: upstream.EventClose, Block: n}})
				if n%500 != 0 && many > 20 {
					continue
				}
				if _, kept := s.said[0].thoughts.Size(); kept > envelope.MaxSize+size || s.room < 0 || s.room > envelope.MaxSize {
					t.Fatalf("%d thoughts of %d bytes: %d bytes are kept, with room for %d more", n, size, kept, s.room)
				}
			}
			_ = s.Losses()
			_ = s.Events(out[:0], []upstream.Event{
				{Kind: upstream.EventOpen, Block: many, Part: &content.ToolUse{ID: "c", Name: "f", Input: "{}"}},
				{Kind: upstream.EventClose, Block: many}})
			lost := s.Losses()
			if !slices.ContainsFunc(lost, func(l content.Loss) bool { return l.Reason == envelope.TooLarge.Reason }) {
				t.Errorf("thoughts of %d bytes: %v", size, lost)
			}
			if s.room != envelope.MaxSize || s.said[0].thoughts.NeedsCarrier() {
				t.Errorf("thoughts of %d bytes: room for %d bytes behind the call", size, s.room)
			}
		}
	}
}
