package generatecontent

import (
	"fmt"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream"
)

// TestUsualMessage checks that the vendor's message beside every call is no
// message, and that every other one is, and stays.
func TestUsualMessage(t *testing.T) {
	const call, text = `{"functionCall":{"name":"f","args":{}}}`, `{"text":"a"}`
	for _, tt := range []struct{ part, reason, said, message, details string }{
		{call, "STOP", `,"finishMessage":"Model generated function call(s)."`, "", ""},
		{call, "STOP", `,"finishMessage":"Model generated function call(s).","safetyRatings":[1]`, "", `{"safetyRatings":[1]}`},
		{call, "STOP", `,"finishMessage":"Enough."`, "Enough.", `{"finishMessage":"Enough."}`},
		{text, "STOP", `,"finishMessage":"Model generated function call(s)."`, "Model generated function call(s).", `{"finishMessage":"Model generated function call(s)."}`},
		{call, "MAX_TOKENS", `,"finishMessage":"Model generated function call(s)."`, "Model generated function call(s).", `{"finishMessage":"Model generated function call(s)."}`},
	} {
		f, err := DecodeResponse(fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":%q%s,"index":0}]}`, tt.part, tt.reason, tt.said), content.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var got *upstream.Stop
		for _, e := range f.Events {
			if e.Kind == upstream.EventStop {
				got = e.Stop
			}
		}
		if got == nil || got.Message != tt.message || got.Details != tt.details {
			t.Errorf("%s%s: got %+v", tt.reason, tt.said, got)
		}
	}
}
