package codec

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHeaderList(t *testing.T) {
	var numbers, twice []string
	for i := range 40 {
		numbers = append(numbers, fmt.Sprint("v", i))
		twice = append(twice, numbers[i], numbers[0], numbers[i])
	}
	for _, tt := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"none", nil, nil},
		{"empty values", []string{"", " , ,"}, nil},
		{"one line", []string{"a, b ,\tc"}, []string{"a", "b", "c"}},
		{"several lines", []string{"b,a", "c"}, []string{"b", "a", "c"}},
		{"repeated", []string{"a,b,a", "b,c"}, []string{"a", "b", "c"}},
		{"many", []string{strings.Join(twice, ",")}, numbers},
	} {
		if diff := cmp.Diff(tt.want, HeaderList(tt.lines...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestHeaderListIsLinear checks that distinct values are not compared with
// each other: that would take minutes.
func TestHeaderListIsLinear(t *testing.T) {
	var b strings.Builder
	const n = 300_000
	for i := range n {
		fmt.Fprintf(&b, "value-%07d,", i)
	}
	start := time.Now()
	if got := len(HeaderList(b.String())); got != n {
		t.Errorf("%d values, want %d", got, n)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}
