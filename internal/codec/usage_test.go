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
		`{"made":{"a":0,"b":[]},"tier":"standard"}`:                                             false,
		`{"service_tier":"priority","speed":"standard","inference_geo":"global","credit":null}`: false,
		`{"serviceTier":"standard","trafficType":"ON_DEMAND"}`:                                  false,
		`{"service_tier":"batch"}`:                                                              true,
		`{"speed":"fast"}`:                                                                      true,
		`{"inference_geo":"us"}`:                                                                true,
		`{"fallback_credit":{"status":{"type":"redeemed"}}}`:                                    true,
		`{"made":1}`:                    true,
		`{"a":{"b":[{"c":0},{"d":2}]}}`: true,
		`{"made":1e400}`:                true,
		`{"a":` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + `}`: true, // who knows
		`{"made":`: true,
	} {
		if got := HasCounts(&content.Extra{Format: "theirs", JSON: json}, "ours"); got != want {
			t.Errorf("%s: %v", json, got)
		}
		if HasCounts(&content.Extra{Format: "ours", JSON: json}, "ours") {
			t.Errorf("%s of this format is lost", json)
		}
	}
	if HasCounts(nil, "ours") {
		t.Error("nothing is lost of nothing")
	}
}

func TestTier(t *testing.T) {
	for json, want := range map[string]string{
		`{"service_tier":"standard"}`: "standard", `{"a":1,"serviceTier":"priority"}`: "priority",
		`{"service_tier":"batch"}`: "", `{"serviceTier":null}`: "", `{"tier":"standard"}`: "", `{"service_tier":`: "",
	} {
		if got := Tier(&content.Extra{Format: "theirs", JSON: json}); got != want {
			t.Errorf("%s: %q", json, got)
		}
	}
	if Tier(nil) != "" {
		t.Error("nothing names a tier")
	}
}
