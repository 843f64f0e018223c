package codec

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
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
