package leak

import (
	"strings"
	"testing"
	"time"
)

type suite func() int

func (f suite) Run() int { return f() }

// A testing goroutine waits for each test, so the checks are made where only
// what this package's own tests have started can be left.
func leaked(t *testing.T, d time.Duration) (ours int) {
	t.Helper()
	for end := time.Now().Add(d); ; time.Sleep(time.Millisecond) {
		ours = 0
		for _, s := range others() {
			if strings.Contains(s, "leak.stay") {
				ours++
			}
		}
		if ours == 0 || time.Now().After(end) {
			return ours
		}
	}
}

func stay(here, until chan struct{}) { close(here); <-until }

func TestLeftOver(t *testing.T) {
	here, until := make(chan struct{}), make(chan struct{})
	go stay(here, until)
	<-here
	if n := leaked(t, 50*time.Millisecond); n != 1 {
		t.Errorf("%d goroutines found, want the one that stays", n)
	}
	close(until)
	if n := leaked(t, patience); n != 0 {
		t.Errorf("%d goroutines found after they ended", n)
	}
}

// TestCode checks that a failure stays one, unlooked at.
func TestCode(t *testing.T) {
	if code := Main(suite(func() int { return 3 })); code != 3 {
		t.Errorf("code %d, want 3", code)
	}
}
