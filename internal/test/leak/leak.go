// Package leak reports goroutines that the tests of a package leave running.
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

// grace is how long goroutines may run after the last test.
const grace = 5 * time.Second

// Main runs the tests of a package and fails if goroutines are left after them.
// It discards the output of slog.Default, the logger of handlers without one,
// because many tests cause errors on purpose. A TestMain consists of
//
//	func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }
func Main(m interface{ Run() int }) (code int) {
	w := log.Writer()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetOutput(w) // SetDefault redirects package log
	if code = m.Run(); code != 0 {
		return code
	}
	if left := Wait(grace); len(left) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: %d goroutines are left\n\n%s\n", len(left), strings.Join(left, "\n\n"))
		return 1
	}
	return 0
}

// Wait waits until no other goroutine runs, for d at most. It returns the
// stacks of those that are left.
func Wait(d time.Duration) []string {
	for end := time.Now().Add(d); ; time.Sleep(10 * time.Millisecond) {
		left := others()
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
	}
}

// others returns the stacks of all goroutines but the caller's and those that
// package os/signal never ends.
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
