package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/polywire/polywire/upstream"
)

// TestNoTokens has a client that only fills the prompt cache of its vendor. No
// other vendor may be called, since it would respond without a limit.
func TestNoTokens(t *testing.T) {
	f := endpointNamed("messages")
	for _, b := range adapters {
		t.Run(b.name, func(t *testing.T) {
			up, vendor := b.start(t, vendor{trust: true})
			a := newGateway(f, up, upstream.HandlerOptions{}).ask(b.model, `"max_tokens":0,`+askedT1, whole)
			switch asked := len(vendor.Requests()); {
			case b.format == f.name:
				if a.Status != http.StatusOK || asked != 1 || !strings.Contains(string(vendor.Last().Body), `"max_tokens":0`) {
					t.Errorf("status %d %s", a.Status, clip(a.Body))
				}
			case a.Status != http.StatusBadRequest || a.Err == nil || !strings.Contains(a.Err.Message, "max_tokens") || asked != 0:
				t.Errorf("status %d %s after %d requests", a.Status, clip(a.Body), asked)
			}
		})
	}
}
