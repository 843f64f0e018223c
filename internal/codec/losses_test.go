package codec

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/loss"
)

func TestOpen(t *testing.T) {
	for _, x := range []*content.Extra{nil, {Format: "g", JSON: "{}"}, {Format: "f", JSON: "{"}} {
		if Open(x, "f") != nil {
			t.Errorf("Open(%v): want none", x)
		}
	}
	deep := strings.Repeat(`[`, 1000) + strings.Repeat(`]`, 1000)
	doc := Open(&content.Extra{Format: "f", JSON: `{"a":` + deep + `}`}, "f")
	if doc == nil {
		t.Fatal("Open: want what a host's own limits have let pass")
	}
	defer doc.Close()
	if got := doc.Root().Get("a").Raw(); got != deep {
		t.Errorf("a = %.20s…", got)
	}
}

func TestRewrite(t *testing.T) {
	even := func(_ int, n int) (int, bool, bool) { return n, false, n%2 == 0 }
	negate := func(_ int, n int) (int, bool, bool) { return -n, n > 2, true }
	for _, tt := range []struct {
		name   string
		change func(int, int) (int, bool, bool)
		in     []int
		want   []int
		other  bool
	}{
		{"nothing", even, nil, nil, false},
		{"the same", even, []int{2, 4}, []int{2, 4}, false},
		{"one gone", even, []int{2, 3, 4}, []int{2, 4}, true},
		{"all gone", even, []int{1, 3}, []int{}, true},
		{"some changed", negate, []int{0, 3, 4}, []int{0, -3, -4}, true},
	} {
		before := append([]int(nil), tt.in...)
		got, other := Rewrite(tt.in, tt.change)
		if diff := cmp.Diff(tt.want, got); diff != "" || other != tt.other {
			t.Errorf("%s: other %v (-want +got):\n%s", tt.name, other, diff)
		}
		if diff := cmp.Diff(before, tt.in); diff != "" {
			t.Errorf("%s: the list was changed:\n%s", tt.name, diff)
		}
		if !other && len(got) > 0 && &got[0] != &tt.in[0] {
			t.Errorf("%s: want the list itself", tt.name)
		}
	}
}

// TestReportedMembers checks which members are reported by name.
func TestReportedMembers(t *testing.T) {
	many := "{"
	for i := range loss.MaxNames + 2 {
		many += `"m` + strconv.Itoa(i) + `":0,`
	}
	for _, tt := range []struct {
		name, json string
		want       []string
	}{
		{"in order", `{"speed":1,"cachedContent":{},"x_new-1":null}`, []string{"speed", "cachedContent", "x_new-1"}},
		{"names that are not plain", `{"a b":1,"ok":1,"":1,"` + strings.Repeat("n", 65) + `":1}`, []string{"ok", ""}},
		{"empty", `{}`, nil},
		{"not JSON", `{"a"`, []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := slices.Collect(ReportedMembers(&content.Extra{Format: "other", JSON: tt.json}))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	got := slices.Collect(ReportedMembers(&content.Extra{Format: "other", JSON: strings.TrimSuffix(many, ",") + "}"}))
	if len(got) != loss.MaxNames+1 || got[loss.MaxNames] != "" {
		t.Errorf("%d names are reported", len(got))
	}
}
