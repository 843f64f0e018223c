package generatecontent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestNamelessCall checks that a call without a name, which clients could not
// run, is left out and reported, and no other.
func TestNamelessCall(t *testing.T) {
	r := &upstream.Reply{Parts: []content.Part{&content.ToolUse{ID: "a"}, &content.ToolUse{ID: "b", Name: "f"}}}
	res, losses := ResponseOf(r)
	want := []content.Loss{unsaidBroken.At("parts.0")}
	if diff := cmp.Diff(want, losses); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
	parts := res.Candidates[0].Parts
	if len(parts) != 1 || parts[0].(*content.ToolUse).Name != "f" {
		t.Errorf("the answer holds %v", parts)
	}
}
