package jsonwire

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestAppendString(t *testing.T) {
	for s, want := range map[string]string{
		"":                    `""`,
		"a":                   `"a"`,
		"a\"b\\c/d":           `"a\"b\\c/d"`,
		"\b\f\n\r\t":          `"\b\f\n\r\t"`,
		"\x00\x01\x1f\x7f":    `"\u0000\u0001\u001f` + "\x7f\"",
		"é漢😀":                 `"é漢😀"`,
		"\u2028\u2029<>&":     "\"\u2028\u2029<>&\"",
		"\xff":                "\"\uFFFD\"",
		"a\xe2\x82b\n":        "\"a\uFFFD\uFFFDb\\n\"",
		"\xed\xa0\x80":        "\"\uFFFD\uFFFD\uFFFD\"",
		"12345678\n12345678":  `"12345678\n12345678"`,
		"1234567\"1234567\\8": `"1234567\"1234567\\8"`,
	} {
		if got := string(AppendString([]byte("x"), s)); got != "x"+want {
			t.Errorf("AppendString(%q): %s, want %s", s, got, want)
		}
	}
}

// TestAppendStringPlaces puts each byte at each index of strings of some words, with
// every amount of room in dst.
func TestAppendStringPlaces(t *testing.T) {
	for size := range 26 {
		for at := range size {
			for c := range 256 {
				p := []byte(strings.Repeat("a", size))
				p[at] = byte(c)
				got := AppendString(make([]byte, 0, size), string(p))
				var back string
				if err := json.Unmarshal(got, &back); err != nil || back != replaceEach(string(p)) {
					t.Fatalf("AppendString(%q): %q (%v)", p, got, err)
				}
				if c < 0x80 && Valid(string(got), Limits{}) != nil {
					t.Fatalf("AppendString(%q): %q is not valid", p, got)
				}
			}
		}
	}
	for n := range 200 {
		s := strings.Repeat("\x01", n) + strings.Repeat("a", n)
		want := `"` + strings.Repeat(`\u0001`, n) + strings.Repeat("a", n) + `"`
		if got := string(AppendString(nil, s)); got != want {
			t.Fatalf("AppendString(%q): %s", s, got)
		}
	}
}

func TestAppendNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", -1: "-1", math.MaxInt64: "9223372036854775807"} {
		if got := string(AppendInt(nil, n)); got != want {
			t.Errorf("AppendInt(%d): %s", n, got)
		}
	}
	for _, f := range []float64{
		0, 1, -1, 0.1, 1.5, 1e6, 123456789, 1e20, 1e21, 1e-6, 1e-7, -1e-7, 5e-324, math.MaxFloat64, 1.0 / 3,
	} {
		got := string(AppendFloat(nil, f))
		v := mustParse(t, got)
		if back, ok := v.Float(); !ok || back != f {
			t.Errorf("AppendFloat(%v): %s, which reads %v", f, got, back)
		}
		if len(got) > 25 {
			t.Errorf("AppendFloat(%v): %s is long", f, got)
		}
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := string(AppendFloat(nil, f)); got != "null" {
			t.Errorf("AppendFloat(%v): %s", f, got)
		}
	}
}

func TestAppendCompact(t *testing.T) {
	for src, want := range map[string]string{
		` { "a b" : [ 1 , 2.5 ,` + "\r\n\t" + `true ] , "c\" d" : "x \\" } ` + "\n": `{"a b":[1,2.5,true],"c\" d":"x \\"}`,
		`1`:                         `1`,
		` " " `:                     `" "`,
		"[\n]":                      `[]`,
		`["long text with spaces"]`: `["long text with spaces"]`,
	} {
		got := AppendCompact([]byte("x"), src)
		if string(got) != "x"+want {
			t.Errorf("AppendCompact(%q): %s, want %s", src, got, want)
		}
	}
	body := spaced(agentBody())
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(body)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(AppendCompact(nil, body), want.Bytes()) {
		t.Error("AppendCompact: the agent body comes out wrong")
	}
	// Invalid documents must not panic.
	for _, bad := range []string{`"`, `"\`, `"abcdefg\`, `{"a`, " ", "\x01", "\x01 \x02", `\`} {
		AppendCompact(nil, bad)
	}
}
