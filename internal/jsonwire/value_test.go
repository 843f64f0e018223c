package jsonwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mustParse parses src and closes it when the test ends.
func mustParse(t testing.TB, src string) Value {
	t.Helper()
	d, err := Parse(src, Limits{})
	if err != nil {
		t.Fatalf("Parse(%.80q): %v", src, err)
	}
	t.Cleanup(d.Close)
	return d.Root()
}

func TestZeroValue(t *testing.T) {
	var v Value
	for range v.Members() {
		t.Error("it has members")
	}
	for range v.Elems() {
		t.Error("it has elements")
	}
	_, isBool := v.Bool()
	_, isInt := v.Int()
	_, isFloat := v.Float()
	_, e := v.Base64()
	_, _, any := v.LenientBase64()
	if v.Kind() != None || v.Exists() || v.Raw() != "" || v.Offset() != 0 || v.End() != 0 || v.Str() != "" ||
		v.Is("") || v.Len() != 0 || v.Get("").Exists() || isBool || isInt || isFloat ||
		e != Base64NotString || any != Base64NotString {
		t.Error("the zero Value is something")
	}
}

func TestKinds(t *testing.T) {
	for src, want := range map[string]Kind{
		"null": Null, "false": False, "true": True, "0": Number, `""`: String, "[]": Array, "{}": Object,
	} {
		v := mustParse(t, " "+src+" ")
		if v.Kind() != want || !v.Exists() || v.Raw() != src || v.Offset() != 1 || v.End() != 1+len(src) {
			t.Errorf("%s: kind %v, raw %q at %d:%d", src, v.Kind(), v.Raw(), v.Offset(), v.End())
		}
		if v.Is("") != (want == String) || v.Str() != "" || v.Len() != 0 || v.Get("a").Exists() {
			t.Errorf("%s: a method returns something", src)
		}
	}
	if got := fmt.Sprint(None, Null, False, True, Number, String, Array, Object); got !=
		"nothing null boolean boolean number string array object" {
		t.Errorf("names of kinds: %s", got)
	}
}

func TestWalk(t *testing.T) {
	v := mustParse(t, `{ "a" : [1, {"b":[]}, "x\u0079"] , "\u0063":{"d":{"e":null}}, "f\n":true}`)
	var names []string
	for name, m := range v.Members() {
		names = append(names, name+"="+m.Raw())
	}
	want := []string{`a=[1, {"b":[]}, "x\u0079"]`, `c={"d":{"e":null}}`, "f\n=true"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("Members (-want +got):\n%s", diff)
	}
	var elems []string
	for i, e := range v.Get("a").Elems() {
		elems = append(elems, fmt.Sprintf("%d %s %s", i, e.Raw(), e.Str()))
	}
	if diff := cmp.Diff([]string{"0 1 ", `1 {"b":[]} `, `2 "x\u0079" xy`}, elems); diff != "" {
		t.Errorf("Elems (-want +got):\n%s", diff)
	}
	if v.Len() != 3 || v.Get("a").Len() != 3 || v.Get("c").Len() != 1 {
		t.Error("wrong lengths")
	}
	if v.Get("c").Get("d").Get("e").Kind() != Null || !v.Get("f\n").Exists() ||
		v.Get("A").Exists() || v.Get("e").Exists() || v.Get("a").Get("b").Exists() {
		t.Error("Get finds the wrong members")
	}
	for range v.Members() {
		break
	}
	for range v.Get("a").Elems() {
		break
	}
}

func TestInt(t *testing.T) {
	tests := []struct {
		src  string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"-0", 0, true},
		{"7", 7, true},
		{"-7", -7, true},
		{"7.0", 7, true},
		{"-7.000", -7, true},
		{"9007199254740993", 9007199254740993, true},
		{"9223372036854775807", 9223372036854775807, true},
		{"-9223372036854775808", -9223372036854775808, true},
		{"9223372036854775808", 0, false},
		{"-9223372036854775809", 0, false},
		{"7.5", 0, false},
		{"7.01", 0, false},
		{"1e3", 0, false},
		{"1.0e1", 0, false},
		{"0e999999999", 0, false},
		{`"7"`, 0, false},
		{"true", 0, false},
		{"null", 0, false},
	}
	for _, tt := range tests {
		got, ok := mustParse(t, tt.src).Int()
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s: %d %v, want %d %v", tt.src, got, ok, tt.want, tt.ok)
		}
	}
}

func TestFloat(t *testing.T) {
	tests := []struct {
		src  string
		want float64
		ok   bool
	}{
		{"0", 0, true},
		{"0.7", 0.7, true},
		{"-1.5e3", -1500, true},
		{"1e-400", 0, true},
		{"123456789012345", 123456789012345, true},
		{"0.12345678901234", 0.12345678901234, true},
		{"123456.7890123456", 123456.7890123456, true},
		{"0.00000000000001", 1e-14, true},
		{"1e400", 0, false},
		{"-1e400", 0, false},
		{`"1"`, 0, false},
	}
	for _, tt := range tests {
		got, ok := mustParse(t, tt.src).Float()
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s: %v %v, want %v %v", tt.src, got, ok, tt.want, tt.ok)
		}
	}
}

// TestStr decodes strings of lengths around each threshold, in documents whose strings are
// decoded while they are scanned and in longer ones.
func TestStr(t *testing.T) {
	for _, piece := range []struct{ raw, text string }{
		{`\n`, "\n"},
		{`abc\"`, `abc"`},
		{`\u00e9x`, "éx"},
		{`\ud83d\ude00`, "😀"},
		{"漢字", "漢字"},
		{`\u0000`, "\x00"},
		{"a long piece without any escape in it, so that it is copied word by word", ""},
	} {
		text := piece.text
		if text == "" {
			text = piece.raw
		}
		for _, n := range []int{1, 2, 7, 100, 700, 1365, 2047, 2048, 2049, 4090, 4096, 4097, 20_000} {
			want := "\t" + strings.Repeat(text, n) + "."
			src := `["\t` + strings.Repeat(piece.raw, n) + `.","next\n"]`
			for _, space := range []int{0, maxDecoded} {
				for i, e := range mustParse(t, src+strings.Repeat(" ", space)).Elems() {
					if i == 0 && (e.Str() != want || !e.Is(want) || e.Is(want[1:]+"x") || e.Is(want[:len(want)-1]+"x")) {
						t.Errorf("%d times %q: wrong text", n, piece.raw)
					}
					if i == 1 && e.Str() != "next\n" {
						t.Errorf("%q after %d times %q", e.Str(), n, piece.raw)
					}
				}
			}
		}
	}
}

// TestStrHugeShrink has more escapes than a node can count.
func TestStrHugeShrink(t *testing.T) {
	n := numMax/5 + 10
	v := mustParse(t, `"`+strings.Repeat(`\u0041`, n)+`"`)
	want := strings.Repeat("A", n)
	if v.Str() != want || !v.Is(want) || v.Is(want+"A") {
		t.Error("wrong text")
	}
}

func TestArena(t *testing.T) {
	var a Arena
	var got, want []string
	for i := range 3000 {
		p := []byte(fmt.Sprint(i, strings.Repeat("x", i*7%100)))
		if i%500 == 0 {
			p = append(p, strings.Repeat("y", 30_000)...)
		}
		want = append(want, string(p))
		got = append(got, a.Bytes(p))
		clear(p)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("strings changed (-want +got):\n%.500s", diff)
	}
	if a.Bytes(nil) != "" {
		t.Error("something from nothing")
	}
}

func TestIsObject(t *testing.T) {
	for src, want := range map[string]bool{
		"{}": true, " \n{\"a\":1}": true, "[{}]": false, `"{}"`: false, "": false, "null": false,
	} {
		if got := IsObject(src); got != want {
			t.Errorf("IsObject(%q): %v", src, got)
		}
	}
}
