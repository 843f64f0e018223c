package openaiformat

import (
	"strings"
	"testing"
)

// TestStandardBase64 checks data in the URL-safe alphabet with its characters at any
// place.
func TestStandardBase64(t *testing.T) {
	long := strings.Repeat("AAAA", 10_000)
	for from, want := range map[string]string{
		"": "", "AA": "AA==", "AAA": "AAA=", "AAAA": "AAAA", "-_-_": "+/+/", "+/+/": "+/+/",
		long: long, long + "-A": long + "+A==", long + "___": long + "///=", "_" + long[1:]: "/" + long[1:],
	} {
		if got := StandardBase64(from); got != want {
			t.Errorf("%.8s… of %d: got %.8s… of %d", from, len(from), got, len(got))
		}
	}
}
