package codec

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

func TestCounts(t *testing.T) {
	for json, want := range map[string]bool{
		`{}`:                                 false,
		`{"made":0,"b":null,"c":0.0,"d":-0}`: false,
		`{"made":{"a":0,"b":[]},"tier":"standard"}`: false,
		`{"made":1}`:                    true,
		`{"a":{"b":[{"c":0},{"d":2}]}}`: true,
		`{"made":1e400}`:                true,
		`{"a":` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + `}`: true, // who knows
		`{"made":`: true,
	} {
		if got := Counts(&content.Extra{Format: "theirs", JSON: json}, "ours"); got != want {
			t.Errorf("%s: %v", json, got)
		}
		if Counts(&content.Extra{Format: "ours", JSON: json}, "ours") {
			t.Errorf("%s of this format is lost", json)
		}
	}
	if Counts(nil, "ours") {
		t.Error("nothing is lost of nothing")
	}
}
