package loss

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func TestUnique(t *testing.T) {
	a := &Rule{Severity: content.LossHint, Reason: "a"}
	b := &Rule{Severity: content.LossDropped, Reason: "a"}
	for _, n := range []int{1, 5, 6, 200} { // few, and many
		var list, want []content.Loss
		for i := range n {
			x, y := a.At(fmt.Sprint(i)), b.At(fmt.Sprint(i))
			want = append(want, x, y)
			list = append(list, x, y, x)
		}
		if diff := cmp.Diff(want, Unique(list)); diff != "" {
			t.Errorf("%d: (-want +got):\n%s", n, diff)
		}
	}
	if got := Unique(nil); got != nil {
		t.Errorf("Unique(nil) = %v", got)
	}
}
