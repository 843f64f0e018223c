package codec

import (
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

// TestUnsupported checks which members are reported, and how many by name.
func TestUnsupported(t *testing.T) {
	many := "{"
	for i := range loss.MaxNames + 2 {
		many += `"m` + strconv.Itoa(i) + `":0,`
	}
	names := func(json string) (names []string) {
		for name := range Unsupported(&content.Extra{Format: "other", JSON: json}, "") {
			names = append(names, name)
		}
		return names
	}
	for _, tt := range []struct {
		name, json string
		want       []string
	}{
		{"in order", `{"speed":1,"cachedContent":{"a":1},"x_new-1":true}`, []string{"speed", "cachedContent", "x_new-1"}},
		{"without effect", `{"speed":null,"cachedContent":{},"x":[],"y":false,"z":""}`, nil},
		{"names that are not plain", `{"a b":1,"ok":1,"":1,"` + strings.Repeat("n", 65) + `":1}`, []string{"ok", "members"}},
		{"empty", `{}`, nil},
		{"not JSON", `{"a"`, []string{"members"}},
	} {
		if diff := cmp.Diff(tt.want, names(tt.json)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := names(strings.TrimSuffix(many, ",") + "}"); len(got) != loss.MaxNames+1 || got[loss.MaxNames] != "members" {
		t.Errorf("%d names are reported", len(got))
	}
}
