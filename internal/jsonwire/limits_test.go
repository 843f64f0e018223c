package jsonwire

import (
	"strings"
	"testing"
)

func TestParseOnce(t *testing.T) {
	var d Doc
	if err := d.ParseSingle(`{"a":"x\n"}`, Limits{}); err != nil {
		t.Fatal(err)
	}
	if got := d.Root().Get("a").Str(); got != "x\n" {
		t.Errorf("got %q", got)
	}
	d.Close()
	if err := new(Doc).ParseSingle(`{`, Limits{}); err == nil {
		t.Error("no error")
	}
}

// TestDuplicateNamesAllowed checks that AllowDuplicateNames accepts nothing else.
func TestDuplicateNamesAllowed(t *testing.T) {
	for _, json := range []string{`{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{` + strings.Repeat(`"a":1,`, 100) + `"b":2}`} {
		if Valid(json, Limits{}) == nil {
			t.Errorf("%.40s passes by default", json)
		}
		d, err := Parse(json, Limits{AllowDuplicateNames: true})
		if err != nil {
			t.Errorf("%.40s: %v", json, err)
			continue
		}
		if d.Root().Len() < 2 {
			t.Errorf("%.40s has %d members", json, d.Root().Len())
		}
		d.Close()
	}
	if Valid(`{"a":1,"a"}`, Limits{AllowDuplicateNames: true}) == nil {
		t.Error("a name without a value passes")
	}
}

// TestTapeGrows checks that a tape that grows is correct whatever follows.
func TestTapeGrows(t *testing.T) {
	const n = 300_000
	for name, json := range map[string]string{
		"even":         "[" + strings.Repeat("1,", n) + "1]",
		"dense first":  "[" + strings.Repeat("1,", n) + `"` + strings.Repeat("x", 10*n) + `"]`,
		"sparse first": `["` + strings.Repeat("x", 10*n) + `"` + strings.Repeat(",1", n) + "]",
	} {
		d, err := Parse(json, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for range d.Root().Elems() {
			count++
		}
		if count != n+1 {
			t.Errorf("%s: %d elements", name, count)
		}
		if c := cap(d.nodes); c > 8*n {
			t.Errorf("%s: room for %d nodes", name, c)
		}
		d.Close()
	}
}

func TestWriterGrow(t *testing.T) {
	var w Writer
	w.Grow(1000)
	if n := testing.AllocsPerRun(1, func() {
		w.Reset()
		w.String(strings.Repeat("x", 900))
	}); n > 1 { // that of Repeat
		t.Errorf("%v allocations", n)
	}
	if w.Len() != 902 {
		t.Errorf("Len = %d", w.Len())
	}
}
