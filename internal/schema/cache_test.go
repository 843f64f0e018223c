package schema

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/test/race"
)

// numbered returns a schema that most dialects change.
func numbered(i int) content.Schema {
	return content.Schema{JSON: fmt.Sprintf(`{"type":"object","properties":{"number%d":{"type":["integer","null"],"minimum":%d,"description":%q}},"oneOf":[{"required":["a"]}],"patternProperties":{"a":{}}}`,
		i, i, strings.Repeat("x", 100))}
}

// TestCache compares translations with and without a cache, which is so small that it forgets, over
// schemas that come again, in all dialects.
func TestCache(t *testing.T) {
	cache := NewCache(1 << 16)
	r := rand.New(rand.NewPCG(5, 6))
	for range 4000 {
		s := numbered(r.IntN(100))
		s.OpenAPI = r.IntN(8) == 0
		d := Dialect(r.IntN(int(OpenAIStrict) + 1))
		limit := ExpansionLimit{Cache: cache}
		got, losses := limit.Input(d, s)
		want, wantLosses := Input(d, s)
		if r.IntN(2) == 0 {
			got, losses = limit.Output(d, s)
			want, wantLosses = Output(d, s)
		}
		if got != want || !cmp.Equal(losses, wantLosses) {
			t.Fatalf("dialect %d: %s became %s %v, want %s %v", d, s.JSON, got, losses, want, wantLosses)
		}
		size := 0
		for _, all := range []map[cacheKey]translation{cache.now, cache.old} {
			for k, x := range all {
				size += len(k.json) + len(x.text)
			}
		}
		if size > 1<<16 {
			t.Fatalf("%d bytes are kept", size)
		}
	}
}

// TestCacheHits checks which schemas are kept, and that finding one does not allocate.
func TestCacheHits(t *testing.T) {
	growing := content.Schema{JSON: `{"type":"object","properties":{` + strings.TrimSuffix(strings.Repeat(`"p":{"$ref":"#/$defs/a"},`, 40), ",") +
		`,"n":{"$ref":"#/$defs/n"}},"$defs":{"n":{"$ref":"#/$defs/n"},"a":{"type":"object","properties":{` + strings.TrimSuffix(strings.Repeat(`"q":{"type":"string","description":"what it is"},`, 40), ",") + `}}}}`}
	for _, tt := range []struct {
		name   string
		cache  *Cache
		schema content.Schema
		kept   bool
	}{
		{"changed", NewCache(1 << 20), numbered(1), true},
		{"no cache", NewCache(0), numbered(1), false},
		{"larger than a part of the cache", NewCache(1 << 10), numbered(1), false},
		{"small", NewCache(1 << 20), content.Schema{JSON: `{"type":"object"}`}, false},
		{"uses the limit", NewCache(1 << 20), growing, false},
	} {
		limit := ExpansionLimit{Cache: tt.cache}
		limit.Input(MessagesStrict, tt.schema)
		k := cacheKey{MessagesStrict, true, false, tt.schema.JSON}
		if _, kept := tt.cache.get(k); kept != tt.kept {
			t.Errorf("%s: kept is %t", tt.name, kept)
		}
		if _, kept := tt.cache.get(cacheKey{MessagesStrict, false, false, tt.schema.JSON}); kept {
			t.Errorf("%s: kept as a schema of a response", tt.name)
		}
		if !tt.kept || race.Enabled {
			continue
		}
		if n := testing.AllocsPerRun(50, func() { limit.Input(MessagesStrict, tt.schema) }); n > 0 {
			t.Errorf("%s: %v allocations", tt.name, n)
		}
	}
}

// TestCacheParallel is for the race detector.
func TestCacheParallel(t *testing.T) {
	cache := NewCache(1 << 14)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for i := range 200 {
				limit := ExpansionLimit{Cache: cache}
				s := numbered(i % 20)
				if got, _ := limit.Input(MessagesStrict, s); !strings.Contains(got, fmt.Sprintf("number%d\"", i%20)) {
					t.Errorf("%s became %s", s.JSON, got)
				}
			}
		})
	}
	wait.Wait()
}
