// Package losstable lets the tests of each codec write down what the codec can lose,
// where [page] reads it to make the loss matrix:
//
//	func TestLossTable(t *testing.T) { losstable.Check(t, "messages", requestLosses...) }
//
// With -update the test writes the file, else it fails if the file says anything
// else than the codec's table. So no codec has to export what only a page needs.
package losstable

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/loss/page"
)

var update = flag.Bool("update", false, "write the table of losses that the page is made of")

// Check compares a codec's table with the file of a name.
func Check(t *testing.T, name string, rules ...*loss.Rule) {
	t.Helper()
	text, err := page.Format(rules)
	if err != nil {
		t.Fatalf("the table is no good: %v", err)
	}
	path, err := page.File(name)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run this test with -update, then that of the module's root", err)
	}
	if string(kept) != text {
		t.Errorf("the codec loses something else than the page says; run this test with -update, then that of the module's root (-page +codec):\n%s%s",
			only('-', string(kept), text), only('+', text, string(kept)))
	}
}

// only returns the lines of a that b does not have.
func only(sign rune, a, b string) string {
	var out strings.Builder
	for line := range strings.Lines(a) {
		if !strings.Contains("\n"+b, "\n"+line) {
			fmt.Fprintf(&out, "%c %s", sign, line)
		}
	}
	return out.String()
}
