package polywire_test

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The maximum numbers of allocations when a program starts: of all packages of the formats and
// adapters, and of those without the adapters and the formats beside them.
const (
	maxInitAllocs       = 400
	maxFormatInitAllocs = 300
)

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
	sum, formats, found := 0, 0, 0
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
		if !strings.HasPrefix(m[1], "upstream/") && m[1] != "internal/openaiformat" {
			formats += n
		}
		if m[1] == "messages" || m[1] == "generatecontent" {
			found++
		}
	}
	if found != 2 {
		t.Fatalf("%d of the two formats are in the trace:\n%s", found, trace.String())
	}
	if formats > maxFormatInitAllocs {
		t.Errorf("%d allocations of messages and generatecontent and what they import, want at most %d", formats, maxFormatInitAllocs)
	}
	if sum > maxInitAllocs {
		t.Errorf("%d allocations at the start of a program, want at most %d", sum, maxInitAllocs)
	}
}
