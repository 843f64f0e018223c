// Package leak finds goroutines that the tests of a package leave behind.
package leak

import (
	"fmt"
	"log"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"
)

// patience is how long goroutines may take to end behind the last test.
const patience = 5 * time.Second

// Main runs the tests of a package, and fails if goroutines are left when they
// have passed. Handlers without a logger are silent meanwhile, since tests make
// much fail on purpose. It is what a TestMain consists of:
//
//	func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }
func Main(m interface{ Run() int }) (code int) {
	w := log.Writer()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetOutput(w) // as it was: package log is for what must not happen
	if code = m.Run(); code != 0 {
		return code
	}
	if left := Wait(patience); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: %d goroutines are left over\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		return 1
	}
	return 0
}

// Wait returns the stacks of the goroutines that are left after d beside its
// caller, or as soon as there are none.
func Wait(d time.Duration) []string {
	for end := time.Now().Add(d); ; time.Sleep(10 * time.Millisecond) {
		left := others()
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}

// others returns the stacks of all goroutines but the caller's and those that
// the system keeps once it has started them.
func others() (left []string) {
	b := make([]byte, 1<<20)
	for runtime.Stack(b, true) == len(b) {
		b = make([]byte, 2*len(b))
	}
	stacks := strings.Split(strings.TrimRight(string(b), "\x00\n"), "\n\n")
	for _, s := range stacks[1:] { // the first is the caller's
		if !strings.Contains(s, "os/signal.signal_recv") && !strings.Contains(s, "os/signal.loop") {
			left = append(left, s)
		}
	}
	return left
}
