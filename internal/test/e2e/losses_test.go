package e2e

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
)

// checkReportedOnce checks that no loss is reported twice for a path, and that
// the header has no path twice.
func checkReportedOnce(t *testing.T, m mode, a *response) {
	t.Helper()
	seen := map[content.Loss]bool{}
	for _, l := range a.Report.Losses {
		if seen[l] {
			t.Errorf("%s: reported twice: %v", m, l)
		}
		seen[l] = true
	}
	paths := map[string]bool{}
	for item := range strings.SplitSeq(a.Header.Get("Polywire-Loss"), "; ") {
		_, path, found := strings.Cut(item, " ")
		if found && paths[path] {
			t.Errorf("%s: the header has %s twice: %s", m, path, a.Header.Get("Polywire-Loss"))
		}
		paths[path] = true
	}
}
