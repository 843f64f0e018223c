package upstream

import (
	"context"
	"slices"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/test/losstable"
)

// TestLossTable compares the losses of this package with the table for docs/losses.md.
func TestLossTable(t *testing.T) { losstable.Check(t, "upstream", responseRules...) }

// TestResponseLosses checks that the package reports all losses of its table and no
// others, each once.
func TestResponseLosses(t *testing.T) {
	x := &content.Extra{Format: "vendor", JSON: `{"a":1}`}
	u := Func(func(_ context.Context, _ *Request, w *Writer) error {
		var list []Event
		for range 3 {
			list = append(list,
				Event{Kind: EventExtra, Text: "odd", Extra: x},
				Event{Kind: EventBlockExtra, Block: 1, Text: "odd", Extra: x},
				Event{Kind: EventText, Block: 0, Text: "a", Extra: x},
				Event{Kind: EventInput, Block: 1, Extra: x},
				Event{Kind: EventClose, Block: 2, Extra: x},
				Event{Kind: EventOpen, Block: 2, Part: &content.Unknown{}})
		}
		return w.Send(append([]Event{
			{Kind: EventOpen, Part: &content.Text{}},
			{Kind: EventOpen, Block: 1, Part: &content.ToolUse{Name: "f"}},
			{Kind: EventBlockExtra, Block: 7, Text: "odd", Extra: x},
			{Kind: EventOpen, Block: 2, Part: &content.Unknown{}},
		}, list...))
	})
	reply, err := Collect(t.Context(), u, new(Request))
	if err != nil {
		t.Fatal(err)
	}
	met := map[*loss.Rule]bool{}
	for _, l := range reply.Losses {
		i := slices.IndexFunc(responseRules, func(r *loss.Rule) bool { return r.Of(l) })
		if i < 0 {
			t.Errorf("the table does not have %v", l)
			continue
		}
		if met[responseRules[i]] {
			t.Errorf("reported twice: %v", l)
		}
		met[responseRules[i]] = true
		if places := slices.Sorted(l.Places()); len(slices.Compact(places)) != l.Count() {
			t.Errorf("a place is reported twice: %v", places)
		}
	}
	for _, r := range responseRules {
		if !met[r] {
			t.Errorf("nothing reports: %s", r.Reason)
		}
	}
}

// responseRules lists the losses for the table in docs/losses.md.
var responseRules = []*loss.Rule{lossOmittedBlock, lossVendorEvent, lossVendorBlockEvent, lossEventMembers}
