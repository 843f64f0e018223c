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

func TestMakeIDs(t *testing.T) {
	odd, again := short.ID.Make("call.1:x", 0), short.ID.Make("call_0", 1)
	tests := []struct {
		name           string
		turns          []content.Turn
		calls, results []string
		told           string // where the first id stands that is changed
	}{
		{"odd letters",
			turns(parts(use("call.1:x", "a")), parts(result("call.1:x", ""))),
			[]string{odd}, []string{odd}, "turns.0.parts.0.id"},
		{"none at all, by name and order",
			turns(parts(use("", "a"), use("", "b"), use("", "a")), parts(result("", "b"), result("", "a"), result("", "a"))),
			[]string{"call_1", "call_2", "call_3"}, []string{"call_2", "call_1", "call_3"}, "turns.0.parts.0.id"},
		{"none on the results",
			turns(parts(use("c1", "f"), use("c2", "g"), use("c3", "f")), parts(result("", "g"), result("", "f"), result("", "f"))),
			[]string{"c1", "c2", "c3"}, []string{"c2", "c1", "c3"}, ""},
		{"none on the calls",
			turns(parts(use("", "f"), use("", "g")), parts(result("u1", "g"), result("u2", "f"))),
			[]string{"call_1", "call_2"}, []string{"call_2", "call_1"}, "turns.0.parts.0.id"},
		{"others on the results",
			turns(parts(use("c1", "f"), use("c2", "g")), parts(result("u1", "f"), result("u2", "g"))),
			[]string{"c1", "c2"}, []string{"c1", "c2"}, "turns.1.parts.0.id"},
		{"on some of the results",
			turns(parts(use("c1", "f"), use("c2", "f"), use("c3", "f")), parts(result("", "f"), result("c1", "f"), result("", "f"))),
			[]string{"c1", "c2", "c3"}, []string{"c2", "c1", "c3"}, ""},
		{"neither id nor name on a result",
			turns(parts(use("c1", "f"), use("c2", "g")), parts(result("", ""), result("", "f"))),
			[]string{"c1", "c2"}, []string{"c2", "c1"}, "turns.1.parts.0.id"},
		{"equal ones, by position",
			turns(parts(use("call_0", "f"), use("call_0", "f")), parts(result("call_0", "f"), result("call_0", "f"))),
			[]string{"call_0", again}, []string{"call_0", again}, "turns.0.parts.1.id"},
		{"one that is made up is already there",
			turns(parts(use("call_1", "a"), use("", "a")), parts(result("call_1", ""), result("", "a"))),
			[]string{"call_1", "call_2"}, []string{"call_1", "call_2"}, "turns.0.parts.1.id"},
		{"one that is made up comes later",
			turns(parts(use("", "a")), parts(result("", "a")), parts(use("call_1", "a")), parts(result("call_1", "a"))),
			[]string{"call_1", short.ID.Make("call_1", 1)}, []string{"call_1", short.ID.Make("call_1", 1)}, "turns.0.parts.0.id"},
		{"each turn begins anew",
			turns(parts(use("call_0", "a")), parts(result("call_0", "")), parts(use("call_0", "a")), parts(result("call_0", ""))),
			[]string{"call_0", again}, []string{"call_0", again}, "turns.2.parts.0.id"},
		{"a result in its turn, though an earlier call of the id has none",
			turns(parts(use("call_0", "a")), parts(), parts(use("call_0", "a")), parts(result("call_0", ""))),
			[]string{"call_0", again}, []string{again}, "turns.2.parts.0.id"},
		{"a late result of a call with an odd id",
			turns(parts(use("call.1:x", "f")), parts(), parts(use("c2", "f")), parts(result("call.1:x", "f"), result("c2", "f"))),
			[]string{odd, "c2"}, []string{odd, "c2"}, "turns.0.parts.0.id"},
		{"names pair no result with a call of an earlier step",
			turns(parts(use("", "f")), parts(result("", "g")), parts(use("", "g")), parts(result("", "f"))),
			[]string{"call_1", "call_2"}, []string{"", ""}, "turns.0.parts.0.id"},
		{"a result without its call",
			turns(nil, parts(result("call.1:x", ""), result("ok", ""), result("", "a"))),
			nil, []string{odd, "ok", ""}, "turns.1.parts.0.id"},
		{"a result without its call whose id is made up for another",
			turns(parts(use("", "f"), use("", "g")), parts(result("call_1", ""), result("", "f"), result("", "g"))),
			[]string{"call_1", "call_2"}, []string{short.ID.Make("call_1", 1), "call_1", "call_2"}, "turns.0.parts.0.id"},
		{"a second result of one call",
			turns(parts(use("call.1:x", "f")), parts(result("call.1:x", "f"), result("call.1:x", "f"))),
			[]string{odd}, []string{odd, odd}, "turns.0.parts.0.id"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var log loss.Log
			n := &upstream.Request{Turns: test.turns}
			before := n.Clone()
			got, _ := Make(n, short, &log)
			calls, results := pairs(got)
			if diff := cmp.Diff([][]string{test.calls, test.results}, [][]string{calls, results}); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
			var want []content.Loss
			if test.told != "" { // else nothing that was said is told in another form
				want = []content.Loss{RenamedCall.At(test.told)}
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

// TestMakePrefix checks what prompt caches need: whatever a conversation grows
// by, it changes nothing of the turns before.
func TestMakePrefix(t *testing.T) {
	ids := []string{"", "call_1", "call_2", "call_3", "call_1", short.ID.Make("call_1", 1), "a.b", "c1"}
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
		whole, _ := Make(&upstream.Request{Turns: list}, short, new(loss.Log))
		distinct(t, whole)
		for n := range list {
			part, _ := Make(&upstream.Request{Turns: list[:n]}, short, new(loss.Log))
			if diff := cmp.Diff(part.Turns, whole.Turns[:n]); diff != "" {
				t.Fatalf("seed %d: as the conversation grew beyond %d turns, these changed:\n%s", seed, n, diff)
			}
		}
	}
}

// distinct checks that all calls have ids of their own, which are legal.
func distinct(t *testing.T, n *upstream.Request) {
	t.Helper()
	seen := map[string]bool{}
	calls, _ := pairs(n)
	for _, id := range calls {
		if seen[id] || !short.ID.Fits(id) {
			t.Errorf("two calls have the id %q, or it is not legal", id)
		}
		seen[id] = true
	}
}

// TestMakeEqualIDs checks that ids that come again and again are not looked for
// from the beginning each time, which took hours: calls of one id, and results
// without a call whose ids are all in use by calls.
func TestMakeEqualIDs(t *testing.T) {
	const n = 50_000
	var calls, results, planted, orphans []content.Part
	for i := range n {
		calls, results = append(calls, use("x", "f")), append(results, result("x", "f"))
		planted, orphans = append(planted, use(short.ID.Make("a.b", i), "f")), append(orphans, result("a.b", "g"))
	}
	got, _ := Make(&upstream.Request{Turns: turns(calls, results)}, short, new(loss.Log))
	distinct(t, got)
	if a, b := pairs(got); !slices.Equal(a, b) {
		t.Error("results are not with their calls")
	}
	got, _ = Make(&upstream.Request{Turns: turns(planted, orphans)}, short, new(loss.Log))
	distinct(t, got)
	_, ids := pairs(got)
	want := slices.Repeat([]string{short.ID.Make("a.b", n)}, n)
	if !slices.Equal(ids, want) {
		t.Errorf("results without a call have the ids %q, …", ids[:2])
	}
}

// TestMakeManyIDs checks that very many calls that look alike get through. It
// takes minutes if each is compared with each.
func TestMakeManyIDs(t *testing.T) {
	const n = 50_000
	for _, id := range []string{"", "u1"} {
		var calls, results []content.Part
		for i := range n {
			calls = append(calls, use(fmt.Sprintf("c%d", i), "f"))
			results = append(results, result(id, "f"))
		}
		list := turns(calls, results)
		got, _ := Make(&upstream.Request{Turns: list}, short, new(loss.Log))
		a, b := pairs(got)
		if !slices.Equal(a, b) {
			t.Error("results are not with their calls")
		}
	}
}
