package conformance

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/internal/test/conformance/gen/drivers"
)

// TestGenerated checks that the drivers of the Go SDK are up to date. They
// differ in names only.
func TestGenerated(t *testing.T) {
	from, err := os.ReadFile(drivers.From)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range drivers.Of(string(from)) {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s differs from what go generate makes of %s (-want +got):\n%s", name, drivers.From, diff)
		}
	}
}
