package schema

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// TestSpare checks that the schemas of one request do not grow without bound, one
// by one, and that those in front are told as if they were alone.
func TestSpare(t *testing.T) {
	var props, all strings.Builder
	for i := range 40 {
		fmt.Fprintf(&props, `"property%d":{"type":"string","description":"what it is"},`, i)
		fmt.Fprintf(&all, `"p%d":{"$ref":"#/$defs/a"},`, i)
	}
	s := content.Schema{JSON: `{"type":"object","properties":{` + strings.TrimSuffix(all.String(), ",") + `},"$defs":{"a":{"type":"object","properties":{` +
		strings.TrimSuffix(props.String(), ",") + `}}}}`}
	alone, none := Input(GeminiSchema, s)
	if grown := len(alone) / len(s.JSON); grown < 10 {
		t.Fatalf("the schema grows by %d only", grown)
	}
	for _, d := range []Dialect{GeminiSchema, JSONSchema, GeminiJSON, OpenAIStrict, MessagesStrict} {
		alone, none := Input(d, s)
		var spare Spare
		size, source, cut := 0, 0, false
		for i := range 1000 {
			text, losses := spare.Input(d, s)
			if i < allSpare/2 && (text != alone || !cmp.Equal(losses, none)) {
				t.Fatalf("dialect %d: schema %d is told in another way", d, i)
			}
			if cut = text != alone; cut && !slices.ContainsFunc(losses, func(l content.Loss) bool { return l.Reason == reasons[rTooLarge].text }) {
				t.Fatalf("dialect %d: schema %d is cut without a loss", d, i)
			}
			size, source = size+len(text), source+len(s.JSON)
		}
		if most := 5*source + 2*allSpare*spareBytes; size > most {
			t.Errorf("dialect %d: %d bytes of schemas have become %d, at most %d", d, source, size, most)
		}
		if d == GeminiSchema && !cut {
			t.Error("no schema was cut")
		}
	}
	small := content.Schema{JSON: `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}`}
	want, losses := Input(GeminiSchema, small)
	var spare Spare
	for i := range 5000 { // what stays about as large as it is takes nothing of it
		text, lost := spare.Input(GeminiSchema, small)
		if text != want || !cmp.Equal(losses, lost) {
			t.Fatalf("small schema %d is told as %s", i, text)
		}
	}
	if got, lost := Input(GeminiSchema, s); got != alone || !cmp.Equal(lost, none) {
		t.Error("a schema of its own has changed")
	}
}
