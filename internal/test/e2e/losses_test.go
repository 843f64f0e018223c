package e2e

import (
	"slices"
	"strings"
	"testing"
)

// checkReportedOnce checks that no reason is reported twice, and no place for a reason, and that
// the header has each reason at most once.
func checkReportedOnce(t *testing.T, m mode, a *response) {
	t.Helper()
	seen := map[string]bool{}
	for _, l := range a.Report.Losses {
		key := l.Severity.String() + " " + l.Reason
		if seen[key] {
			t.Errorf("%s: reported twice: %v", m, l)
		}
		seen[key] = true
		if places := slices.Sorted(l.Places()); len(slices.Compact(places)) != l.Count()-l.More {
			t.Errorf("%s: a place is reported twice: %q", m, places)
		}
	}
	items := 0
	for item := range strings.SplitSeq(a.Header.Get("Polywire-Loss"), "; ") {
		if item != "" && !strings.HasPrefix(item, "and ") {
			items++
		}
	}
	if items > len(seen) {
		t.Errorf("%s: the header has more items than there are losses: %s", m, a.Header.Get("Polywire-Loss"))
	}
}
