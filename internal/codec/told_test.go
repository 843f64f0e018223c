package codec

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

// TestTold checks which members are told by name: what a client made up is not.
func TestTold(t *testing.T) {
	many := "{"
	for i := range mostTold + 2 {
		many += `"m` + strconv.Itoa(i) + `":0,`
	}
	for _, tt := range []struct {
		name, json string
		want       []string
	}{
		{"in their order", `{"speed":1,"cachedContent":{},"x_new-1":null}`, []string{"speed", "cachedContent", "x_new-1"}},
		{"odd names", `{"a b":1,"ok":1,"":1,"` + strings.Repeat("n", 65) + `":1}`, []string{"ok", ""}},
		{"nothing", `{}`, nil},
		{"no JSON", `{"a"`, []string{""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := slices.Collect(ReportedMembers(&content.Extra{Format: "other", JSON: tt.json}))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	got := slices.Collect(ReportedMembers(&content.Extra{Format: "other", JSON: strings.TrimSuffix(many, ",") + "}"}))
	if len(got) != mostTold+1 || got[mostTold] != "" {
		t.Errorf("%d names are told of too many", len(got))
	}
}
