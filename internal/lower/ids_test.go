package lower

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

func TestRenameIDs(t *testing.T) {
	nonstandard, again := shortNames.ID.convert("call.1:x", 0), shortNames.ID.convert("call_0", 1)
	tests := []struct {
		name           string
		turns          []content.Turn
		calls, results []string
		reported       string // path of the first changed id
	}{
		{"nonstandard characters",
			turnsOf(partsOf(useOf("call.1:x", "a")), partsOf(resultOf("call.1:x", ""))),
			[]string{nonstandard}, []string{nonstandard}, "turns.0.parts.0.id"},
		{"no ids: by name and order",
			turnsOf(partsOf(useOf("", "a"), useOf("", "b"), useOf("", "a")), partsOf(resultOf("", "b"), resultOf("", "a"), resultOf("", "a"))),
			[]string{"call_1", "call_2", "call_3"}, []string{"call_2", "call_1", "call_3"}, "turns.0.parts.0.id"},
		{"no ids on the results",
			turnsOf(partsOf(useOf("c1", "f"), useOf("c2", "g"), useOf("c3", "f")), partsOf(resultOf("", "g"), resultOf("", "f"), resultOf("", "f"))),
			[]string{"c1", "c2", "c3"}, []string{"c2", "c1", "c3"}, ""},
		{"no ids on the calls",
			turnsOf(partsOf(useOf("", "f"), useOf("", "g")), partsOf(resultOf("u1", "g"), resultOf("u2", "f"))),
			[]string{"call_1", "call_2"}, []string{"call_2", "call_1"}, "turns.0.parts.0.id"},
		{"other ids on the results",
			turnsOf(partsOf(useOf("c1", "f"), useOf("c2", "g")), partsOf(resultOf("u1", "f"), resultOf("u2", "g"))),
			[]string{"c1", "c2"}, []string{"c1", "c2"}, "turns.1.parts.0.id"},
		{"ids on some results",
			turnsOf(partsOf(useOf("c1", "f"), useOf("c2", "f"), useOf("c3", "f")), partsOf(resultOf("", "f"), resultOf("c1", "f"), resultOf("", "f"))),
			[]string{"c1", "c2", "c3"}, []string{"c2", "c1", "c3"}, ""},
		{"neither id nor name on a result",
			turnsOf(partsOf(useOf("c1", "f"), useOf("c2", "g")), partsOf(resultOf("", ""), resultOf("", "f"))),
			[]string{"c1", "c2"}, []string{"c2", "c1"}, "turns.1.parts.0.id"},
		{"equal ids: by position",
			turnsOf(partsOf(useOf("call_0", "f"), useOf("call_0", "f")), partsOf(resultOf("call_0", "f"), resultOf("call_0", "f"))),
			[]string{"call_0", again}, []string{"call_0", again}, "turns.0.parts.1.id"},
		{"a generated id is in use",
			turnsOf(partsOf(useOf("call_1", "a"), useOf("", "a")), partsOf(resultOf("call_1", ""), resultOf("", "a"))),
			[]string{"call_1", "call_2"}, []string{"call_1", "call_2"}, "turns.0.parts.1.id"},
		{"a generated id appears later",
			turnsOf(partsOf(useOf("", "a")), partsOf(resultOf("", "a")), partsOf(useOf("call_1", "a")), partsOf(resultOf("call_1", "a"))),
			[]string{"call_1", shortNames.ID.convert("call_1", 1)}, []string{"call_1", shortNames.ID.convert("call_1", 1)}, "turns.0.parts.0.id"},
		{"the same id in two steps",
			turnsOf(partsOf(useOf("call_0", "a")), partsOf(resultOf("call_0", "")), partsOf(useOf("call_0", "a")), partsOf(resultOf("call_0", ""))),
			[]string{"call_0", again}, []string{"call_0", again}, "turns.2.parts.0.id"},
		{"an earlier call with the same id has no result",
			turnsOf(partsOf(useOf("call_0", "a")), partsOf(), partsOf(useOf("call_0", "a")), partsOf(resultOf("call_0", ""))),
			[]string{"call_0", again}, []string{again}, "turns.2.parts.0.id"},
		{"a late result of a call with a nonstandard id",
			turnsOf(partsOf(useOf("call.1:x", "f")), partsOf(), partsOf(useOf("c2", "f")), partsOf(resultOf("call.1:x", "f"), resultOf("c2", "f"))),
			[]string{nonstandard, "c2"}, []string{nonstandard, "c2"}, "turns.0.parts.0.id"},
		{"names do not pair with calls of an earlier step",
			turnsOf(partsOf(useOf("", "f")), partsOf(resultOf("", "g")), partsOf(useOf("", "g")), partsOf(resultOf("", "f"))),
			[]string{"call_1", "call_2"}, []string{"", ""}, "turns.0.parts.0.id"},
		{"a result without its call",
			turnsOf(nil, partsOf(resultOf("call.1:x", ""), resultOf("ok", ""), resultOf("", "a"))),
			nil, []string{nonstandard, "ok", ""}, "turns.1.parts.0.id"},
		{"a result without its call whose id was generated for another",
			turnsOf(partsOf(useOf("", "f"), useOf("", "g")), partsOf(resultOf("call_1", ""), resultOf("", "f"), resultOf("", "g"))),
			[]string{"call_1", "call_2"}, []string{shortNames.ID.convert("call_1", 1), "call_1", "call_2"}, "turns.0.parts.0.id"},
		{"a second result of one call",
			turnsOf(partsOf(useOf("call.1:x", "f")), partsOf(resultOf("call.1:x", "f"), resultOf("call.1:x", "f"))),
			[]string{nonstandard}, []string{nonstandard, nonstandard}, "turns.0.parts.0.id"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n := &upstream.Request{Turns: test.turns}
			before := n.Clone()
			got, _, lost := renamed(n, shortNames)
			calls, results := idsOf(got)
			if diff := cmp.Diff([][]string{test.calls, test.results}, [][]string{calls, results}); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
			var want []content.Loss
			if test.reported != "" {
				want = []content.Loss{RenamedCall.At(test.reported)}
			}
			if diff := cmp.Diff(want, losses(lost)); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, n); diff != "" {
				t.Errorf("the request itself was changed:\n%s", diff)
			}
		})
	}
}

// TestRenamePrefix checks that later turns do not change earlier ones. Prompt caches
// depend on it.
func TestRenamePrefix(t *testing.T) {
	ids := []string{"", "call_1", "call_2", "call_3", "call_1", shortNames.ID.convert("call_1", 1), "a.b", "c1"}
	names := []string{"f", "g", "a.b", ""}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		var list []content.Turn
		for range 12 {
			var some []content.Part
			role := content.RoleUser
			if r.IntN(2) == 0 {
				role = content.RoleAssistant
			}
			for range r.IntN(4) {
				id, name := ids[r.IntN(len(ids))], names[r.IntN(len(names))]
				if role == content.RoleAssistant {
					some = append(some, useOf(id, name))
				} else {
					some = append(some, resultOf(id, name))
				}
			}
			list = append(list, content.Turn{Role: role, Parts: some})
		}
		whole, _, _ := renamed(&upstream.Request{Turns: list}, shortNames)
		distinct(t, whole)
		for n := range list {
			part, _, _ := renamed(&upstream.Request{Turns: list[:n]}, shortNames)
			if diff := cmp.Diff(part.Turns, whole.Turns[:n]); diff != "" {
				t.Fatalf("seed %d: as the conversation grew beyond %d turns, these changed:\n%s", seed, n, diff)
			}
		}
	}
}

// distinct checks that the ids of all calls are valid and unique.
func distinct(t *testing.T, n *upstream.Request) {
	t.Helper()
	seen := map[string]bool{}
	calls, _ := idsOf(n)
	for _, id := range calls {
		if seen[id] || !shortNames.ID.valid(id) {
			t.Errorf("the id %q is not unique or not valid", id)
		}
		seen[id] = true
	}
}

// TestRenameEqualIDs checks that many equal ids do not take quadratic time: calls with
// one id, and results without a call whose ids are in use by calls.
func TestRenameEqualIDs(t *testing.T) {
	const n = 50_000
	var calls, results, planted, orphans []content.Part
	for i := range n {
		calls, results = append(calls, useOf("x", "f")), append(results, resultOf("x", "f"))
		planted, orphans = append(planted, useOf(shortNames.ID.convert("a.b", i), "f")), append(orphans, resultOf("a.b", "g"))
	}
	got, _, _ := renamed(&upstream.Request{Turns: turnsOf(calls, results)}, shortNames)
	distinct(t, got)
	if a, b := idsOf(got); !slices.Equal(a, b) {
		t.Error("results are not with their calls")
	}
	got, _, _ = renamed(&upstream.Request{Turns: turnsOf(planted, orphans)}, shortNames)
	distinct(t, got)
	_, ids := idsOf(got)
	want := slices.Repeat([]string{shortNames.ID.convert("a.b", n)}, n)
	if !slices.Equal(ids, want) {
		t.Errorf("results without a call have the ids %q, …", ids[:2])
	}
}

// TestRenameManyIDs checks that many similar calls do not take quadratic time.
func TestRenameManyIDs(t *testing.T) {
	const n = 50_000
	for _, id := range []string{"", "u1"} {
		var calls, results []content.Part
		for i := range n {
			calls = append(calls, useOf(fmt.Sprintf("c%d", i), "f"))
			results = append(results, resultOf(id, "f"))
		}
		list := turnsOf(calls, results)
		got, _, _ := renamed(&upstream.Request{Turns: list}, shortNames)
		a, b := idsOf(got)
		if !slices.Equal(a, b) {
			t.Error("results are not with their calls")
		}
	}
}
