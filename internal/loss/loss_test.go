package loss

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// TestList checks that there is one loss for each severity and reason, with each place once, and
// that only what is new is news.
func TestList(t *testing.T) {
	type losses = []content.Loss
	hint := func(path string, also ...string) content.Loss {
		return content.Loss{Path: path, Severity: content.LossHint, Reason: "a", Also: also}
	}
	dropped := content.Loss{Path: "x", Severity: content.LossDropped, Reason: "a"}
	shared := append(make([]string, 0, 8), "y")
	for _, tt := range []struct {
		name      string
		add       losses
		all, news losses
	}{
		{"nothing", nil, nil, nil},
		{"one", losses{hint("x")}, losses{hint("x")}, losses{hint("x")}},
		{"twice", losses{hint("x"), hint("x")}, losses{hint("x")}, losses{hint("x")}},
		{"two places", losses{hint("x"), dropped, hint("y")}, losses{hint("x", "y"), dropped}, losses{hint("x"), dropped, hint("y")}},
		{"partly known", losses{hint("x", "y"), hint("y", "z", "x", "v")}, losses{hint("x", "y", "z", "v")}, losses{hint("x", "y"), hint("z", "v")}},
		{"shared places", losses{hint("x", shared...), hint("z")}, losses{hint("x", "y", "z")}, losses{hint("x", "y"), hint("z")}},
		{"all known", losses{hint("x", "y"), hint("y")}, losses{hint("x", "y")}, losses{hint("x", "y")}},
	} {
		var list List
		var news losses
		for _, l := range tt.add {
			if n, isNew := list.Add(l); isNew {
				news = append(news, n)
			}
		}
		if diff := cmp.Diff(tt.all, list.All); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.news, news); diff != "" {
			t.Errorf("%s: news (-want +got):\n%s", tt.name, diff)
		}
	}
	if shared = shared[:2]; shared[1] != "" {
		t.Errorf("the list of another loss was changed: %q", shared)
	}
}

// TestPlacesAreBounded checks that places without a path of their own are counted.
func TestPlacesAreBounded(t *testing.T) {
	var list List
	list.Add(content.Loss{Path: "more", Reason: "a", Also: []string{"p0"}, More: 7})
	for i := range MaxPaths {
		list.Add(content.Loss{Path: fmt.Sprint("p", i), Reason: "a"})
	}
	for i := range 10 {
		list.AddPlace(&Rule{Reason: "a"}, fmt.Sprint("q", i))
	}
	if l := list.All[0]; len(list.All) != 1 || len(l.Also) != MaxPaths-1 || l.Count() != MaxPaths+10+1+7 {
		t.Errorf("%d losses; the first has %d places of %d", len(list.All), 1+len(l.Also), l.Count())
	}
}

// TestSevereLossesAreKept checks that many mild losses do not hide a severe one that comes later.
func TestSevereLossesAreKept(t *testing.T) {
	var list List
	add := func(n int, s content.Severity) {
		for i := range n {
			if _, isNew := list.Add(content.Loss{Path: "x", Severity: s, Reason: fmt.Sprint(i)}); !isNew {
				t.Errorf("%v %d is not new", s, i)
			}
		}
	}
	add(MaxLosses+10, content.LossHint)
	add(MaxLosses-10, content.LossDegraded)
	add(100, content.LossDropped)
	count := make(map[content.Severity]int)
	for _, l := range list.All {
		count[l.Severity]++
	}
	want := map[content.Severity]int{content.LossDegraded: MaxLosses - 100, content.LossDropped: 100}
	if diff := cmp.Diff(want, count); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
