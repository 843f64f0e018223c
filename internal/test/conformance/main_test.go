package conformance

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, n := range processes.list {
		if err := n.stop(); err != nil {
			fmt.Fprintln(os.Stderr, n.cmd.Path+":", err)
			code = 1
		}
	}
	if code == 0 {
		// A package that the Google SDK imports starts this goroutine
		// permanently.
		metrics := goleak.IgnoreTopFunction("go.opencensus.io/stats/view.(*worker).start")
		if err := goleak.Find(metrics); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}
