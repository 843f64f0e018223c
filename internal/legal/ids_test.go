package legal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/upstream"
)

func TestRenameIDs(t *testing.T) {
	nonstandard, again := short.ID.Convert("call.1:x", 0), short.ID.Convert("call_0", 1)
	tests := []struct {
		name           string
		turns          []content.Turn
		calls, results []string
		reported       string // path of the first changed id
	}{
		{"nonstandard characters",
			turns(parts(use("call.1:x", "a")), parts(result("call.1:x", ""))),
			[]string{nonstandard}, []string{nonstandard}, "turns.0.parts.0.id"},
		{"no ids: by name and order",
			turns(parts(use("", "a"), use("", "b"), use("", "a")), parts(result("", "b"), result("", "a"), result("", "a"))),
			[]string{"call_1", "call_2", "call_3"}, []string{"call_2", "call_1", "call_3"}, "turns.0.parts.0.id"},
		{"no ids on the results",
			turns(parts(use("c1", "f"), use("c2", "g"), use("c3", "f")), parts(result("", "g"), result("", "f"), result("", "f"))),
			[]string{"c1", "c2", "c3"}, []string{"c2", "c1", "c3"}, ""},
		{"no ids on the calls",
			turns(parts(use("", "f"), use("", "g")), parts(result("u1", "g"), result("u2", "f"))),
			[]string{"call_1", "call_2"}, []string{"call_2", "call_1"}, "turns.0.parts.0.id"},
		{"other ids on the results",
			turns(parts(use("c1", "f"), use("c2", "g")), parts(result("u1", "f"), result("u2", "g"))),
			[]string{"c1", "c2"}, []string{"c1", "c2"}, "turns.1.parts.0.id"},
		{"ids on some results",
			turns(parts(use("c1", "f"), use("c2", "f"), use("c3", "f")), parts(result("", "f"), result("c1", "f"), result("", "f"))),
			[]string{"c1", "c2", "c3"}, []string{"c2", "c1", "c3"}, ""},
		{"neither id nor name on a result",
			turns(parts(use("c1", "f"), use("c2", "g")), parts(result("", ""), result("", "f"))),
			[]string{"c1", "c2"}, []string{"c2", "c1"}, "turns.1.parts.0.id"},
		{"equal ids: by position",
			turns(parts(use("call_0", "f"), use("call_0", "f")), parts(result("call_0", "f"), result("call_0", "f"))),
			[]string{"call_0", again}, []string{"call_0", again}, "turns.0.parts.1.id"},
		{"a generated id is in use",
			turns(parts(use("call_1", "a"), use("", "a")), parts(result("call_1", ""), result("", "a"))),
			[]string{"call_1", "call_2"}, []string{"call_1", "call_2"}, "turns.0.parts.1.id"},
		{"a generated id appears later",
			turns(parts(use("", "a")), parts(result("", "a")), parts(use("call_1", "a")), parts(result("call_1", "a"))),
			[]string{"call_1", short.ID.Convert("call_1", 1)}, []string{"call_1", short.ID.Convert("call_1", 1)}, "turns.0.parts.0.id"},
		{"the same id in two steps",
			turns(parts(use("call_0", "a")), parts(result("call_0", "")), parts(use("call_0", "a")), parts(result("call_0", ""))),
			[]string{"call_0", again}, []string{"call_0", again}, "turns.2.parts.0.id"},
		{"an earlier call with the same id has no result",
			turns(parts(use("call_0", "a")), parts(), parts(use("call_0", "a")), parts(result("call_0", ""))),
			[]string{"call_0", again}, []string{again}, "turns.2.parts.0.id"},
		{"a late result of a call with a nonstandard id",
			turns(parts(use("call.1:x", "f")), parts(), parts(use("c2", "f")), parts(result("call.1:x", "f"), result("c2", "f"))),
			[]string{nonstandard, "c2"}, []string{nonstandard, "c2"}, "turns.0.parts.0.id"},
		{"names do not pair with calls of an earlier step",
			turns(parts(use("", "f")), parts(result("", "g")), parts(use("", "g")), parts(result("", "f"))),
			[]string{"call_1", "call_2"}, []string{"", ""}, "turns.0.parts.0.id"},
		{"a result without its call",
			turns(nil, parts(result("call.1:x", ""), result("ok", ""), result("", "a"))),
			nil, []string{nonstandard, "ok", ""}, "turns.1.parts.0.id"},
		{"a result without its call whose id was generated for another",
			turns(parts(use("", "f"), use("", "g")), parts(result("call_1", ""), result("", "f"), result("", "g"))),
			[]string{"call_1", "call_2"}, []string{short.ID.Convert("call_1", 1), "call_1", "call_2"}, "turns.0.parts.0.id"},
		{"a second result of one call",
			turns(parts(use("call.1:x", "f")), parts(result("call.1:x", "f"), result("call.1:x", "f"))),
			[]string{nonstandard}, []string{nonstandard, nonstandard}, "turns.0.parts.0.id"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var log loss.Log
			n := &upstream.Request{Turns: test.turns}
			before := n.Clone()
			got, _ := Rename(n, short, &log)
			calls, results := pairs(got)
			if diff := cmp.Diff([][]string{test.calls, test.results}, [][]string{calls, results}); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
			var want []content.Loss
			if test.reported != "" {
				want = []content.Loss{RenamedCall.At(test.reported)}
			}
			if diff := cmp.Diff(want, log.Losses); diff != "" {
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
	ids := []string{"", "call_1", "call_2", "call_3", "call_1", short.ID.Convert("call_1", 1), "a.b", "c1"}
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
					some = append(some, use(id, name))
				} else {
					some = append(some, result(id, name))
				}
			}
			list = append(list, content.Turn{Role: role, Parts: some})
		}
		whole, _ := Rename(&upstream.Request{Turns: list}, short, new(loss.Log))
		distinct(t, whole)
		for n := range list {
			part, _ := Rename(&upstream.Request{Turns: list[:n]}, short, new(loss.Log))
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
	calls, _ := pairs(n)
	for _, id := range calls {
		if seen[id] || !short.ID.Valid(id) {
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
		calls, results = append(calls, use("x", "f")), append(results, result("x", "f"))
		planted, orphans = append(planted, use(short.ID.Convert("a.b", i), "f")), append(orphans, result("a.b", "g"))
	}
	got, _ := Rename(&upstream.Request{Turns: turns(calls, results)}, short, new(loss.Log))
	distinct(t, got)
	if a, b := pairs(got); !slices.Equal(a, b) {
		t.Error("results are not with their calls")
	}
	got, _ = Rename(&upstream.Request{Turns: turns(planted, orphans)}, short, new(loss.Log))
	distinct(t, got)
	_, ids := pairs(got)
	want := slices.Repeat([]string{short.ID.Convert("a.b", n)}, n)
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
			calls = append(calls, use(fmt.Sprintf("c%d", i), "f"))
			results = append(results, result(id, "f"))
		}
		list := turns(calls, results)
		got, _ := Rename(&upstream.Request{Turns: list}, short, new(loss.Log))
		a, b := pairs(got)
		if !slices.Equal(a, b) {
			t.Error("results are not with their calls")
		}
	}
}
