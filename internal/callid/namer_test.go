package callid

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// TestNamer checks that every call of a response has an id that neither the conversation nor
// an earlier call has.
func TestNamer(t *testing.T) {
	m := NewNamer("made_", []content.Turn{
		{Parts: []content.Part{&content.ToolUse{ID: "a"}, &content.ToolUse{ID: "made_2"}}},
		{Parts: []content.Part{&content.ToolResult{ID: "only a result"}}},
	})
	m.Notice("forwarded")
	var got []string
	for _, id := range []string{"a", "b", "b", "made_2", "", "made_5", "only a result", "forwarded", "c"} {
		got = append(got, m.Name(id))
	}
	want := []string{"made_3", "b", "made_4", "made_5", "made_6", "made_7", "made_8", "made_9", "c"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestManyIDs checks that ids are unique beyond the number of stored ids.
func TestManyIDs(t *testing.T) {
	m := NewNamer("made_", nil)
	seen := map[string]bool{}
	for i := range maxNoticed + 100 {
		for _, id := range []string{fmt.Sprintf("c%d", i), "c7", fmt.Sprintf("made_%d", maxNoticed*2+i)} {
			if id = m.Name(id); seen[id] {
				t.Fatalf("two calls have the id %q", id)
			}
			seen[id] = true
		}
	}
	if len(m.used) > maxNoticed {
		t.Errorf("%d ids are stored", len(m.used))
	}
}
