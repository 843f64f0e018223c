package upstream_test

import (
	"testing"

	"github.com/polywire/polywire/upstream"
)

func TestBudget(t *testing.T) {
	b := upstream.Budget{Bytes: 10, Requests: 2}
	first, second, third := b.Enter(), b.Enter(), b.Enter()
	if !first || !second || third {
		t.Error("want room for two requests, not three")
	}
	if !b.Reserve(6) || b.Reserve(5) || !b.Reserve(4) || b.Reserve(1) {
		t.Error("want room for ten bytes, no more")
	}
	b.Leave(6)
	if n, bytes := b.InFlight(); n != 1 || bytes != 4 {
		t.Errorf("in flight: %d, %d", n, bytes)
	}
	var zero upstream.Budget
	if !zero.Enter() || !zero.Reserve(512<<20) || zero.Reserve(1) {
		t.Error("want room for any number of requests and 512 MiB")
	}
}
