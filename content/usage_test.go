package content_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
)

func TestUsageAdd(t *testing.T) {
	all := content.Usage{Input: 1, CacheRead: 2, CacheWrite: 3, CacheWrite1h: 4, ToolPrompt: 5, Output: 6, Thinking: 7}
	extra := &content.Extra{Format: "f", JSON: `{"service_tier":"standard"}`}
	text, image := content.ModalityCount{Kind: "prompt", Modality: "text", Tokens: 1}, content.ModalityCount{Kind: "prompt", Modality: "image", Tokens: 2}
	written := content.ModalityCount{Kind: "output", Modality: "text", Tokens: 3}
	for _, tt := range []struct {
		name       string
		a, b, want content.Usage
	}{
		{"nothing", content.Usage{}, content.Usage{}, content.Usage{}},
		{"one", content.Usage{}, all, all},
		{"each count", all, content.Usage{Input: 10, CacheRead: 20, CacheWrite: 30, CacheWrite1h: 40, ToolPrompt: 50, Output: 60, Thinking: 70},
			content.Usage{Input: 11, CacheRead: 22, CacheWrite: 33, CacheWrite1h: 44, ToolPrompt: 55, Output: 66, Thinking: 77}},
		{"sum that does not fit", content.Usage{Input: math.MaxInt64}, content.Usage{Input: 1}, content.Usage{Input: math.MaxInt64}},
		{"estimate", content.Usage{Input: 1, Estimated: true}, content.Usage{Input: 1}, content.Usage{Input: 2, Estimated: true}},
		{"modalities", content.Usage{Modalities: []content.ModalityCount{text, image}}, content.Usage{Modalities: []content.ModalityCount{image, written}},
			content.Usage{Modalities: []content.ModalityCount{text, {Kind: "prompt", Modality: "image", Tokens: 4}, written}}},
		{"members of one", content.Usage{Extra: extra}, content.Usage{Output: 1}, content.Usage{Output: 1, Extra: extra}},
		{"members of both", content.Usage{Extra: extra}, content.Usage{Extra: extra}, content.Usage{}},
	} {
		for _, pair := range [][2]content.Usage{{tt.a, tt.b}, {tt.b, tt.a}} {
			if tt.name == "modalities" && cmp.Equal(pair[0], tt.b) {
				continue // the order of the list follows the arguments
			}
			if diff := cmp.Diff(tt.want, pair[0].Add(pair[1])); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		}
	}
	a := content.Usage{Modalities: []content.ModalityCount{image}}
	a.Add(a)
	if a.Modalities[0] != image {
		t.Errorf("Add has changed its argument: %v", a)
	}
}
