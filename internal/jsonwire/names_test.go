package jsonwire

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// object returns an object with the given names as JSON text.
func object(names ...string) string {
	var b strings.Builder
	for i, n := range names {
		fmt.Fprintf(&b, `%c"%s":%d`, "{,"[min(i, 1)], n, i)
	}
	return b.String() + "}"
}

// numbered returns n different names.
func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("member %d", i)
	}
	return names
}

func TestDuplicateNames(t *testing.T) {
	many := numbered(100)
	tests := []struct {
		src string
		dup bool
	}{
		{object("a", "b", "A", "", " ", "a ", "ab", "ba", "aa"), false},
		{object("a", "b", "a"), true},
		{object("", ""), true},
		{object("", "a", ""), true},
		{object("a", `\u0061`), true},
		{object(`\u0061`, "a"), true},
		{object(`\u0061`, `\u0061`), true},
		{object(`\u0061`, `\u0062`, `\\u0061`), false},
		{object(`\/`, "/"), true},
		{object(`\ud83d\ude00`, "😀"), true},
		{object("é", "e\u0301"), false}, // not normalized
		{object("a", `a\u0000`), false},
		{`{"a":{"a":{"a":1}},"b":{"a":1}}`, false},
		{`{"a":{"b":1,"b":2}}`, true},
		{`[{"a":1},{"a":1,"b":{},"a":2}]`, true},
		{`{"a":{"x":1,"y":[{"z":1}]},"b":1,"a":1}`, true},
		{object(many...), false},
		{object(append(many, "member 0")...), true},
		{object(append(many, "member 99")...), true},
		{object(append(many, `m\u0065mber 50`)...), true},
		{object(append(many, "member 100")...), false},
		{`[` + object(many...) + `,` + object(many...) + `]`, false},
		{`{"a":` + object(many...) + `,"b":` + object(append(many, "member 7")...) + `}`, true},
	}
	// A duplicate at every distance, around every limit.
	for n := range 40 {
		for k := range n {
			names := numbered(n)
			tests = append(tests, struct {
				src string
				dup bool
			}{object(append(names, names[k])...), true})
		}
	}
	for _, tt := range tests {
		e := refusal(t, tt.src, Limits{})
		if !tt.dup && e != nil {
			t.Errorf("Parse(%.200s): %v", tt.src, e)
		}
		if tt.dup && (e == nil || e.Reason != DuplicateName) {
			t.Errorf("Parse(%.200s): %v, want %v", tt.src, e, DuplicateName)
		}
	}
}

// TestNamesWithinValues has several open objects that all need the hash table.
func TestNamesWithinValues(t *testing.T) {
	inner := `0`
	for depth := range 50 {
		names := numbered(20)
		src := strings.Replace(object(names...), ":19}", ":"+inner+"}", 1)
		if e := refusal(t, src, Limits{}); e != nil {
			t.Fatalf("depth %d: %v", depth, e)
		}
		twice := strings.Replace(object(append(names, "member 3")...), ":19,", ":"+inner+",", 1)
		if e := refusal(t, twice, Limits{}); e == nil || e.Reason != DuplicateName {
			t.Fatalf("depth %d: %v", depth, e)
		}
		inner = src
	}
}

// TestNamesLinear compares the time per name for objects of 10^3 and 10^5 members
// whose names collide in a cheap hash.
func TestNamesLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	for name, format := range map[string]string{
		"plain":   "aaaaaaaaaa%06daaaaaaaaaa",
		"escaped": `\u0061aaaaaaaaa%06daaaaaaaaaa`,
	} {
		perName := func(n int) time.Duration {
			names := make([]string, n)
			for i := range names {
				names[i] = fmt.Sprintf(format, i)
			}
			src := object(names...)
			best := time.Duration(1 << 62)
			for range 5 {
				start := time.Now()
				for range max(1, 10_000/n) {
					if err := Valid(src, Limits{}); err != nil {
						t.Fatal(err)
					}
				}
				best = min(best, time.Since(start)/time.Duration(max(10_000, n)))
			}
			return best
		}
		few, many := perName(1_000), perName(100_000)
		// Cache misses cost something; a quadratic search would cost a hundred times
		// as much.
		if many > 15*few {
			t.Errorf("%s: %v a name among 10^5, %v among 10^3", name, many, few)
		}
	}
}
