package messages

import (
	"testing"

	"github.com/polywire/polywire/internal/test/formattest"
	"github.com/polywire/polywire/internal/test/race"
)

// A document of twice the size costs twice the memory and not more, whatever
// it is made of.
func TestWorstIsLinear(t *testing.T) {
	if race.Enabled {
		t.Skip("pools drop items at random")
	}
	for _, w := range worsts {
		t.Run(w.name, func(t *testing.T) {
			once, twice := w.body(w.n/4), w.body(w.n/2)
			b1, n1 := formattest.Allocated(func() { parseValidate(once) })
			b2, n2 := formattest.Allocated(func() { parseValidate(twice) })
			const bytes, objects = 5 << 20, 200 // for what comes from a pool, and what grows in steps
			if b2 > 2*b1+b1/4+bytes || n2 > 2*n1+n1/4+objects {
				t.Errorf("%d bytes in %d objects for %d, %d in %d for twice that", b1, n1, len(once), b2, n2)
			}
		})
	}
}
