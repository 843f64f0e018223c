// Package losstable compares the rules of each codec with the table files from which
// [page] is made:
//
//	func TestLossTable(t *testing.T) { losstable.Check(t, "messages-answer", responseLosses...) }
//
// With -update the test writes the file. Otherwise it fails if the file differs from
// the rules. Codecs therefore need not export their rules.
package losstable

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/polywire/polywire/internal/loss"
	"github.com/polywire/polywire/internal/test/losspage"
)

var update = flag.Bool("update", false, "write the tables of losses")

// Check compares the rules of a codec with the table of the given name.
func Check(t *testing.T, name string, rules ...*loss.Rule) {
	t.Helper()
	text, err := losspage.Format(rules)
	if err != nil {
		t.Fatalf("the rules are not valid: %v", err)
	}
	path, err := losspage.File(name)
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
		t.Errorf("the losses of the codec differ from its table; run this test with -update, then that of the module's root (-table +codec):\n%s%s",
			only('-', string(kept), text), only('+', text, string(kept)))
	}
}

// only returns the lines of a that b lacks, each after sign.
func only(sign rune, a, b string) string {
	var out strings.Builder
	for line := range strings.Lines(a) {
		if !strings.Contains("\n"+b, "\n"+line) {
			fmt.Fprintf(&out, "%c %s", sign, line)
		}
	}
	return out.String()
}
