package lower

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

// TestLog checks that a loss is reported once at a place, and that the places of a rule are
// bounded.
func TestLog(t *testing.T) {
	a, b := loss.Hint("f", "a"), loss.Dropped("f", "b")
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
		var want []Report
		if n > 0 {
			want = []Report{{Rule: b, Paths: []Path{At("top_k")}}, {Rule: a, More: max(n-loss.MaxPaths, 0)}}
			for i := range min(n, loss.MaxPaths) {
				want[1].Paths = append(want[1].Paths, In(Turns, i))
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Path{}, step{})); diff != "" {
			t.Errorf("%d places (-want +got):\n%s", n, diff)
		}
		if want := 2 * min(n, loss.MaxPaths); l.dropped != want {
			t.Errorf("%d places: %d dropped, want %d", n, l.dropped, want)
		}
	}
}

// TestSorted checks the order of losses: settings, system text, turns, tools.
func TestSorted(t *testing.T) {
	r := loss.Hint("f", "r")
	paths := []Path{
		In(Tools, 0).Member("input.a"), In(Turns, 10), In(Turns, 9).In(Parts, 1), In(System, 0), At("top_k"), In(Turns, 9).In(Parts, 0).In(Parts, 3),
		At("extra.a"), In(Turns, 9), In(Turns, 9).In(Parts, 0).Member("cache"),
	}
	var l log
	for _, p := range paths {
		l.add(r, p)
	}
	var got []string
	for _, x := range Losses(l.sorted()) {
		got = slices.AppendSeq(got, x.Places())
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
	a, b := loss.Hint("f", "a"), loss.Hint("f", "b")
	report := func(r *loss.Rule, paths ...string) Report {
		report := Report{Rule: r}
		for _, p := range paths {
			report.Paths = append(report.Paths, At(p))
		}
		return report
	}
	got := News([]Report{report(a, "x", "y"), report(b, "x")}, []Report{report(a, "x"), report(b, "y")})
	if diff := cmp.Diff([]Loss{{a, At("y")}, {b, At("x")}}, each(got), cmp.AllowUnexported(Path{}, step{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := News([]Report{report(a, "x")}, []Report{report(a, "x")}); len(got) > 0 {
		t.Errorf("nothing is new, but got %v", got)
	}
	if Losses(nil) != nil {
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
