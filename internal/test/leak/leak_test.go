package leak

import (
	"strings"
	"testing"
	"time"
)

type suite func() int

func (f suite) Run() int { return f() }

// leaked waits until no goroutine runs stay, for d at most. It returns how many
// are left. Goroutines of package testing are not counted.
func leaked(t *testing.T, d time.Duration) (count int) {
	t.Helper()
	for end := time.Now().Add(d); ; time.Sleep(time.Millisecond) {
		count = 0
		for _, s := range others() {
			if strings.Contains(s, "leak.stay") {
				count++
			}
		}
		if count == 0 || time.Now().After(end) {
			return count
		}
	}
}

func stay(started, stop chan struct{}) { close(started); <-stop }

func TestOthers(t *testing.T) {
	started, stop := make(chan struct{}), make(chan struct{})
	go stay(started, stop)
	<-started
	if n := leaked(t, 50*time.Millisecond); n != 1 {
		t.Errorf("got %d goroutines, want 1", n)
	}
	close(stop)
	if n := leaked(t, grace); n != 0 {
		t.Errorf("got %d goroutines after the last has ended, want 0", n)
	}
}

func TestMainReturnsExitCode(t *testing.T) {
	if code := Main(suite(func() int { return 3 })); code != 3 {
		t.Errorf("got code %d, want 3", code)
	}
}
