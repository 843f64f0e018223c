package lower

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// TestLog checks that a loss is reported once at a place, and that the places of a rule are
// bounded.
func TestLog(t *testing.T) {
	a, b := hint("f", "a"), dropped("f", "b")
	for _, n := range []int{0, 1, 15, 17, loss.MaxPaths, loss.MaxPaths + 1, 3*loss.MaxPaths + 7} {
		var l log
		for range 2 { // the second time, only what has no path of its own is counted again
			for i := range min(n, loss.MaxPaths) {
				l.add(a, In(Turns, i))
				l.add(b, At("top_k"))
			}
		}
		for i := loss.MaxPaths; i < n; i++ {
			l.add(a, In(Turns, i))
		}
		got := l.sorted()
		if want := min(n, loss.MaxPaths) + min(n, 1); len(got) != want {
			t.Fatalf("%d places: %d losses, want %d", n, len(got), want)
		}
		if n > 0 && (got[0].Rule != b || got[0].Path != At("top_k")) {
			t.Errorf("%d places: the first is %v", n, got[0])
		}
		if n >= loss.MaxPaths {
			if last := got[len(got)-1]; last.Path != In(Turns, loss.MaxPaths-1) || last.More != n-loss.MaxPaths {
				t.Errorf("%d places: the last is %v", n, last)
			}
		}
		if want := 2 * min(n, loss.MaxPaths); l.dropped != want {
			t.Errorf("%d places: %d dropped, want %d", n, l.dropped, want)
		}
	}
}

// TestSorted checks the order of losses: settings, system text, turns, tools.
func TestSorted(t *testing.T) {
	r := hint("f", "r")
	paths := []Path{
		In(Tools, 0).Member("input.a"), In(Turns, 10), In(Turns, 9).In(Parts, 1), In(System, 0), At("top_k"), In(Turns, 9).In(Parts, 0).In(Parts, 3),
		At("extra.a"), In(Turns, 9), In(Turns, 9).In(Parts, 0).Member("cache"),
	}
	var l log
	for _, p := range paths {
		l.add(r, p)
	}
	var got []string
	for _, x := range Reports(l.sorted()) {
		got = append(got, x.Path)
	}
	want := []string{
		"top_k", "extra.a", "system.0", "turns.9", "turns.9.parts.0.cache", "turns.9.parts.0.parts.3", "turns.9.parts.1", "turns.10", "tools.0.input.a",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestNews checks that only losses are news that were not reported.
func TestNews(t *testing.T) {
	a, b := hint("f", "a"), hint("f", "b")
	list := func() []Loss {
		return []Loss{{Rule: a, Path: At("x")}, {Rule: b, Path: At("x")}, {Rule: a, Path: At("y")}}
	}
	got := News(list(), []Loss{{Rule: a, Path: At("x")}, {Rule: b, Path: At("y")}})
	if len(got) != 2 || got[0] != list()[1] || got[1] != list()[2] {
		t.Errorf("got %v", got)
	}
	if Reports(nil) != nil {
		t.Error("no losses are not nil")
	}
}

// TestPath checks paths as text.
func TestPath(t *testing.T) {
	deep := In(Turns, 1).In(Parts, 2).In(Parts, 3).In(SourceParts, 4).In(Parts, 5)
	for want, p := range map[string]Path{
		"": {}, "thinking.mode": At("thinking.mode"), "turns.0": In(Turns, 0), "extra.a": At("extra").Member("a"),
		"turns.1.parts.2.source.media_type":                        In(Turns, 1).In(Parts, 2).Member("source.media_type"),
		"turns.1.parts.2.parts.3.source.parts.4.parts.5":           deep,
		"turns.1.parts.2.parts.3.source.parts.4.parts.5.parts.6.x": deep.In(Parts, 6).Member("x"),
		"turns.0.parts.1.citations.2":                              In(Turns, 0).In(Parts, 1).In(Citations, 2),
	} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if i, inside := deep.Turn(); i != 1 || !inside {
		t.Errorf("turn %d, %v", i, inside)
	}
	if p := At("top_k"); p != At("top_k") {
		t.Error("equal paths differ")
	}
	var x content.Loss
	if n := testing.AllocsPerRun(10, func() { _ = In(Turns, 1).In(Parts, 2).Member("cache") == (Path{}) }); n > 0 {
		t.Errorf("%v allocations %v", n, x)
	}
}
