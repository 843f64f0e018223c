package polywire_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// maxInitAllocs limits the allocations that all packages of the formats and adapters make when a
// program starts.
const maxInitAllocs = 500

// TestInitAllocs checks that importing the formats costs almost nothing: tables are built when
// they are first used. The runtime's trace has their number.
func TestInitAllocs(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run", "^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	sum, found := 0, 0
	line := regexp.MustCompile(`(?m)^init github\.com/polywire/polywire/(\S+) .* (\d+) allocs$`)
	for _, m := range line.FindAllStringSubmatch(trace.String(), -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(m[1], "internal/test/") {
			continue
		}
		t.Logf("%s: %d allocations", m[1], n)
		sum += n
		if m[1] == "messages" || m[1] == "generatecontent" {
			found++
		}
	}
	if found != 2 {
		t.Fatalf("%d of the two formats are in the trace:\n%s", found, trace.String())
	}
	if sum > maxInitAllocs {
		t.Errorf("%d allocations at the start of a program, want at most %d", sum, maxInitAllocs)
	}
}
