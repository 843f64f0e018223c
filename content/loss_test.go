package content_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func TestFoldHints(t *testing.T) {
	thought, mark, pattern := "the thinking was omitted", "there are no cache marks", "the pattern is left out"
	member := "members that only another format has are left out"
	hint := func(path, reason string, more int) content.Loss {
		return content.Loss{Path: path, Severity: content.LossHint, Reason: reason, More: more}
	}
	degraded := func(path, reason string) content.Loss {
		return content.Loss{Path: path, Severity: content.LossDegraded, Reason: reason}
	}
	list := []content.Loss{
		hint("turns.1.parts.0", thought, 0), degraded("tools.0.input", pattern), hint("system.1", mark, 0),
		hint("turns.3.parts.0", thought, 0), degraded("tools.1.input", pattern), degraded("tools.2", thought),
		hint("turns.5.parts.0", thought, 2), hint("system.2", mark, 0),
		hint("extra.speed", member, 0), hint("tools.0", member, 0), hint("extra.metadata", member, 0), hint("tools.1", member, 0),
		hint("parts.0", member, 0), hint("candidates.1.parts.3", member, 0), hint("candidates.1.members", member, 0), hint("usage", member, 0),
	}
	before := append([]content.Loss(nil), list...)
	want := []content.Loss{
		hint("turns.1.parts.0", thought, 4), degraded("tools.0.input", pattern), hint("system.1", mark, 1),
		degraded("tools.1.input", pattern), degraded("tools.2", thought),
		hint("extra.speed", member, 0), hint("tools.0", member, 3), hint("extra.metadata", member, 0),
		hint("candidates.1.members", member, 0), hint("usage", member, 0),
	}
	got := content.FoldHints(list)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, content.FoldHints(got)); diff != "" {
		t.Errorf("folded again (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, list); diff != "" {
		t.Errorf("the list was changed (-want +got):\n%s", diff)
	}
}

func ExampleFoldHints() {
	for _, l := range content.FoldHints([]content.Loss{
		{Path: "turns.1.parts.0", Severity: content.LossHint, Reason: "the thinking of another vendor was omitted"},
		{Path: "turns.3.parts.0", Severity: content.LossHint, Reason: "the thinking of another vendor was omitted"},
		{Path: "turns.5.parts.0", Severity: content.LossHint, Reason: "the thinking of another vendor was omitted"},
		{Path: "top_k", Severity: content.LossDropped, Reason: "the server does not have top_k"},
	}) {
		fmt.Println(l)
	}
	// Output:
	// hint turns.1.parts.0, and in 2 more places: the thinking of another vendor was omitted
	// dropped top_k: the server does not have top_k
}
