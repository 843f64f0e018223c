package budget_test

import (
	"testing"

	"github.com/polywire/polywire/internal/budget"
)

func TestState(t *testing.T) {
	var s budget.State
	first, second, third := s.Enter(2), s.Enter(2), s.Enter(2)
	if !first || !second || third {
		t.Error("want room for two requests, not three")
	}
	if !s.Take(6, 10) || s.Take(5, 10) || !s.Take(4, 10) || s.Take(1, 10) {
		t.Error("want room for ten bytes, no more")
	}
	s.Leave(6)
	if n, bytes := s.InFlight(); n != 1 || bytes != 4 {
		t.Errorf("in flight: %d, %d", n, bytes)
	}
	var zero budget.State
	if !zero.Enter(0) || !zero.Take(512<<20, 0) || zero.Take(1, 0) {
		t.Error("want room for any number of requests and 512 MiB")
	}
}
