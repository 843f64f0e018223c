package recorded

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/upstream/openai/responses"
)

// refusedResponses are the recorded requests for Responses that the vendor refused for what is in
// them, and not for a model or a key, with the param of its error.
var refusedResponses = map[string]string{
	"r-1618cce414": "temperature",
	"r-f43be3bea0": "input", // reasoning without its message
	"r-1ea5b4abd5": "tools[0].parameters",
}

// TestResponsesRequests checks that a request for Responses that the vendor accepted has no
// violation, except that it refers to stored state, and that one that it refused has the
// vendor's.
func TestResponsesRequests(t *testing.T) {
	eachRecord(t, func(r *record) bool {
		return r.format == formatResponses && r.Method == "POST" && r.Request != "" && strings.HasPrefix(r.Request, "{")
	}, func(t *testing.T, r *record) {
		for _, strict := range []bool{false, true} {
			_, losses, err := responses.DecodeRequest([]byte(r.Request), &responses.ValidateOptions{Strict: strict})
			list, _ := content.Violations(err)
			if want, ok := refusedResponses[r.ID]; ok {
				if len(list) != 1 || list[0].Path != want {
					t.Errorf("strict %t: %v, want a violation at %s", strict, err, want)
				}
				continue
			}
			for _, v := range list {
				if v.Vendor != "previous_response_not_found" {
					t.Errorf("strict %t: %v", strict, v)
				}
			}
			for _, l := range losses {
				t.Errorf("strict %t: lost %v", strict, l)
			}
		}
	})
}
