package generatecontent

import (
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/race"
)

// TestStreamReaderStart checks what reading an answer of usual length costs
// besides its texts: a handful of allocations, whatever the number of its pieces.
func TestStreamReaderStart(t *testing.T) {
	if race.Enabled {
		t.Skip("allocations cannot be counted under the race detector")
	}
	for name, usage := range map[string]func(int) string{"no usage": noUsage, "running usage": running} {
		for _, pieces := range []int{30, 300} {
			events, _ := chunks(pieces, usage)
			stream := strings.Join(events, "")
			if n := testing.AllocsPerRun(20, func() { drain(t, stream) }); n > 36 {
				t.Errorf("%s: %d pieces took %v allocations", name, pieces, n)
			} else {
				t.Logf("%s: %d pieces took %v allocations", name, pieces, n)
			}
		}
	}
}
