package loss

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func TestBound(t *testing.T) {
	a := &Rule{Severity: content.LossHint, Reason: "a"}
	b := &Rule{Severity: content.LossDropped, Reason: "a"} // another one
	for _, n := range []int{0, 1, MaxPaths / 2, MaxPaths, MaxPaths + 1, 3*MaxPaths + 7} {
		var list, want []content.Loss
		for i := range n {
			list = append(list, a.At(fmt.Sprint(i)))
			if i%10 == 0 {
				list = append(list, b.At(fmt.Sprint(i)))
			}
			if i < MaxPaths {
				want = append(want, a.At(fmt.Sprint(i)))
			}
			if i%10 == 0 {
				want = append(want, b.At(fmt.Sprint(i)))
			}
		}
		for i := range want {
			if want[i] == a.At(fmt.Sprint(MaxPaths-1)) {
				want[i].More = max(0, n-MaxPaths)
			}
		}
		if diff := cmp.Diff(want, Bound(list)); diff != "" {
			t.Errorf("%d: (-want +got):\n%s", n, diff)
		}
	}
}

// TestBoundTwice checks that Bound counts losses of lists that are already bounded.
func TestBoundTwice(t *testing.T) {
	r := &Rule{Severity: content.LossHint, Reason: "a"}
	many := func() (list []content.Loss) {
		for i := range 5 * MaxPaths {
			list = append(list, r.At(fmt.Sprint(i)))
		}
		return list
	}
	got := Bound(append(Bound(many()), many()...))
	if len(got) != MaxPaths || got[MaxPaths-1].More != 9*MaxPaths {
		t.Errorf("%d losses, the last of %d more places", len(got), got[len(got)-1].More)
	}
	if cap(got) > 2*MaxPaths {
		t.Errorf("the result keeps memory for %d losses", cap(got))
	}
}
