package jsonwire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// refusal returns the error for src, which must be a *SyntaxError.
func refusal(t *testing.T, src string, lim Limits) *SyntaxError {
	t.Helper()
	d, err := Parse(src, lim)
	if err == nil {
		d.Close()
		return nil
	}
	if d != nil {
		t.Errorf("Parse(%.80q): a document and an error", src)
	}
	var e *SyntaxError
	if !errors.As(err, &e) {
		t.Fatalf("Parse(%.80q): error %T %v, want a *SyntaxError", src, err, err)
	}
	return e
}

func TestAccepted(t *testing.T) {
	for _, src := range []string{
		`null`, `true`, `false`, `0`, `-0`, `1`, `-12`, `1.5`, `-0.25`, `1e5`, `1E+5`, `1e-5`, `0e0`, `0.0`,
		`123456789012345678901234567890`, `1e400`, `""`, `"a"`, `[]`, `{}`, `[ ]`, `{ }`, `[1]`, `[1,2]`,
		" \t\r\n1 \t\r\n", `{"a":1}`, `{"a":{"b":[{}]}}`, ` { "a" : [ 1 , 2 ] , "b" : null } `,
		`"\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\uD834\uDD1E\u0000"`, `"é€𝄞"`, "\"\u2028\x7f\"", `"\uFFFD\uFDD0\uFFFF"`,
		`{"":0}`, `{"a":0,"A":1}`, `{"a":{"a":{"a":0}}}`, `[{"a":0},{"a":0}]`, `["12345678","1234567","123456789"]`,
		`"1234567\n"`, `"12345678\u00e9"`, `"1234567` + "é" + `"`,
	} {
		if e := refusal(t, src, Limits{}); e != nil {
			t.Errorf("Parse(%q): %v", src, e)
		}
		if !json.Valid([]byte(src)) {
			t.Errorf("%q: encoding/json disagrees", src)
		}
	}
}

// refused lists invalid documents with the reason and the position.
var refused = []struct {
	src    string
	reason Reason
	offset int
}{
	{"", Empty, 0},
	{" \n", Empty, 2},
	{"1 2", Trailing, 2},
	{"{} ]", Trailing, 3},
	{"[1],", Trailing, 3},
	{"1,2", Trailing, 1},
	{"[1", Truncated, 2},
	{"[", Truncated, 1},
	{"[1,", Truncated, 3},
	{"[1, ", Truncated, 4},
	{"{", Truncated, 1},
	{`{"a"`, Truncated, 4},
	{`{"a":`, Truncated, 5},
	{`{"a":1`, Truncated, 6},
	{`{"a":1,`, Truncated, 7},
	{`"abc`, Truncated, 4},
	{`"abcdefghijkl`, Truncated, 13},
	{`"a\`, Truncated, 3},
	{`"\u12`, Truncated, 5},
	{"tru", Truncated, 3},
	{"-", Truncated, 1},
	{"1.", Truncated, 2},
	{"1e", Truncated, 2},
	{"1e+", Truncated, 3},
	{"truE", Syntax, 3},
	{"nulL", Syntax, 3},
	{"True", Syntax, 0},
	{"NaN", Syntax, 0},
	{"Infinity", Syntax, 0},
	{"-Infinity", Syntax, 1},
	{"01", Syntax, 1},
	{"-01", Syntax, 2},
	{"+1", Syntax, 0},
	{".5", Syntax, 0},
	{"1.x", Syntax, 2},
	{"[1.]", Syntax, 3},
	{"[1e]", Syntax, 3},
	{"[1e5.2]", Syntax, 4},
	{"0x10", Trailing, 1},
	{"[1 2]", Syntax, 3},
	{"[1,]", Syntax, 3},
	{"[,1]", Syntax, 1},
	{"[1,,2]", Syntax, 3},
	{"[1}", Syntax, 2},
	{`{"a":1]`, Syntax, 6},
	{`{"a":1,}`, Syntax, 7},
	{`{,}`, Syntax, 1},
	{`{"a"}`, Syntax, 4},
	{`{"a" 1}`, Syntax, 5},
	{`{"a"::1}`, Syntax, 5},
	{`{a:1}`, Syntax, 1},
	{`{1:1}`, Syntax, 1},
	{`{'a':1}`, Syntax, 1},
	{`{"a":1 "b":2}`, Syntax, 7},
	{"]", Syntax, 0},
	{"\x00", Syntax, 0},
	{"[1,\x0b2]", Syntax, 3},
	{"\u00a01", Syntax, 0},
	{"1\x00", Trailing, 1},
	{"// a\n1", Syntax, 0},
	{"\"a\nb\"", Syntax, 2},
	{"\"a\tb\"", Syntax, 2},
	{"\"12345678\x00\"", Syntax, 9},
	{"\"12345678\x1f1234567\"", Syntax, 9},
	{`"\x41"`, Syntax, 2},
	{`"\U0041"`, Syntax, 2},
	{`"\u12G4"`, Syntax, 5},
	{`"\u123"`, Syntax, 6},
	{`"\'"`, Syntax, 2},
	{"\"\xff\"", InvalidUTF8, 1},
	{"\"abcdefgh\xc3\"", InvalidUTF8, 9},
	{"\"\xc0\x80\"", InvalidUTF8, 1},
	{"\"é\xed\xa0\x80\"", InvalidUTF8, 3},
	{"\"\xf4\x90\x80\x80\"", InvalidUTF8, 1},
	{"{\"\xe2\x82\":1}", InvalidUTF8, 2},
	{`"\ud800"`, LoneSurrogate, 1},
	{`"ab\udc00"`, LoneSurrogate, 3},
	{`"\ud800\ud800"`, LoneSurrogate, 1},
	{`"\ud800\u0041"`, LoneSurrogate, 1},
	{`"\ud800x"`, LoneSurrogate, 1},
	{`"\ud800\ue000"`, LoneSurrogate, 1},
	{`"\ud800\udbff"`, LoneSurrogate, 1},
	{`{"\uDFFF":1}`, LoneSurrogate, 2},
	{"\xef\xbb\xbf{}", ByteOrderMark, 0},
	{"\xef\xbb\xbf", ByteOrderMark, 0},
	{"\xff\xfe1\x00", ByteOrderMark, 0},
	{"\xfe\xff\x001", ByteOrderMark, 0},
}

func TestRefused(t *testing.T) {
	for _, tt := range refused {
		e := refusal(t, tt.src, Limits{})
		if e == nil {
			t.Errorf("Parse(%q): accepted, want %v", tt.src, tt.reason)
			continue
		}
		if e.Reason != tt.reason || e.Offset != tt.offset {
			t.Errorf("Parse(%q): %v at %d (%v), want %v at %d", tt.src, e.Reason, e.Offset, e, tt.reason, tt.offset)
		}
		if e.Text == "" || e.Line < 1 || e.Column < 1 {
			t.Errorf("Parse(%q): incomplete error %+v", tt.src, e)
		}
		if err := Valid(tt.src, Limits{}); err == nil || err.Error() != e.Error() {
			t.Errorf("Valid(%q): %v, want %v", tt.src, err, e)
		}
	}
}

func TestErrorPlaceAndText(t *testing.T) {
	long := strings.Repeat("é", 40)
	tests := []struct {
		src  string
		want SyntaxError
	}{
		{"{\n  \"é\": tru\n}", SyntaxError{Offset: 13, Line: 2, Column: 11, Reason: Syntax, Text: "expected a value"}},
		{"[1,\r\n2,\r\nx]", SyntaxError{Offset: 9, Line: 3, Column: 1, Reason: Syntax, Text: "expected a value"}},
		{"[\"a\",\n", SyntaxError{Offset: 6, Line: 2, Column: 1, Reason: Truncated, Text: "unexpected end of the document"}},
		{`{"model":1,"model":2}`, SyntaxError{Offset: 11, Line: 1, Column: 12, Reason: DuplicateName, Text: `duplicate member name "model"`}},
		{`{"a\nb":1,"\u0061\nb":2}`, SyntaxError{Offset: 10, Line: 1, Column: 11, Reason: DuplicateName, Text: `duplicate member name "a\nb"`}},
		{"{\"\u202e\":1,\"\u202e\":2}", SyntaxError{Offset: 9, Line: 1, Column: 8, Reason: DuplicateName, Text: `duplicate member name "\u202e"`}},
		{`{"x` + long + `":1,"x` + long + `":2}`, SyntaxError{Offset: 87, Line: 1, Column: 48, Reason: DuplicateName,
			Text: `duplicate member name "x` + long[:62] + `"…`}},
	}
	for _, tt := range tests {
		e := refusal(t, tt.src, Limits{})
		if diff := cmp.Diff(&tt.want, e); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", tt.src, diff)
		}
	}
	want := `duplicate member name "a" (line 1, column 8)`
	if got := refusal(t, `{"a":1,"a":2}`, Limits{}).Error(); got != want {
		t.Errorf("Error: %s, want %s", got, want)
	}
}

func TestDepth(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	mixed := func(n int) string {
		return strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2)
	}
	tests := []struct {
		src string
		lim Limits
		ok  bool
	}{
		{nest(256), Limits{}, true},
		{nest(257), Limits{}, false},
		{mixed(256), Limits{}, true},
		{mixed(258), Limits{}, false},
		{strings.Repeat("[", 257), Limits{}, false},
		{`{"a":` + nest(256) + `}`, Limits{}, false},
		{nest(3), Limits{Depth: 3}, true},
		{nest(4), Limits{Depth: 3}, false},
		{nest(10_000), Limits{Depth: 10_000}, true},
		{"[" + strings.Repeat(nest(255)+",", 100) + "0]", Limits{}, true},
	}
	for _, tt := range tests {
		e := refusal(t, tt.src, tt.lim)
		if tt.ok && e != nil {
			t.Errorf("Parse(%.40q…): %v", tt.src, e)
		}
		if !tt.ok && (e == nil || e.Reason != TooDeep) {
			t.Errorf("Parse(%.40q…): %v, want %v", tt.src, e, TooDeep)
		}
	}
}

func TestValues(t *testing.T) {
	array := func(n int) string { return "[" + strings.Repeat("1,", n-2) + "1]" }
	tests := []struct {
		src string
		lim Limits
		ok  bool
	}{
		{array(1_000_000), Limits{}, true},
		{array(1_000_001), Limits{}, false},
		{array(1_000_001), Limits{Values: 1_000_001}, true},
		{`{"a":1,"b":2}`, Limits{Values: 3}, true},
		{`{"a":1,"b":2}`, Limits{Values: 2}, false},
		{`[[],{}]`, Limits{Values: 3}, true},
		{`[[],{}]`, Limits{Values: 2}, false},
		{`1`, Limits{Values: 1}, true},
	}
	for _, tt := range tests {
		e := refusal(t, tt.src, tt.lim)
		if tt.ok && e != nil {
			t.Errorf("Parse(%.40q…): %v", tt.src, e)
		}
		if !tt.ok && (e == nil || e.Reason != TooManyValues) {
			t.Errorf("Parse(%.40q…): %v, want %v", tt.src, e, TooManyValues)
		}
	}
}

// TestStringEnds puts a special byte at every index of strings of every length up to
// some words, to reach every path of the scanner.
func TestStringEnds(t *testing.T) {
	for size := range 40 {
		for at := range size {
			for _, c := range []string{`"`, `\`, "\x1f", "\x00", "\xff", "\xc3", "é", "\\n", "\\u00e9", " ", "\x7f"} {
				for _, tail := range []string{"", "          "} {
					text := strings.Repeat("a", at) + c + strings.Repeat("b", size-at-1)
					src := `"` + text + `"` + tail
					e := refusal(t, src, Limits{})
					var want string
					err := json.Unmarshal([]byte(src), &want)
					if c == "\xff" || c == "\xc3" {
						err = fmt.Errorf("not UTF-8")
					}
					if (e == nil) != (err == nil) {
						t.Fatalf("Parse(%q): %v; encoding/json: %v", src, e, err)
					}
					if err != nil {
						continue
					}
					d, _ := Parse(src, Limits{})
					if got := d.Root().Str(); got != want || !d.Root().Is(want) || d.Root().Is(want+"x") {
						t.Fatalf("Parse(%q): %q, want %q", src, got, want)
					}
					d.Close()
				}
			}
		}
	}
}

func TestLenient(t *testing.T) {
	tests := []struct {
		src, want string
		replaced  int
	}{
		{`"ok é \ud834\udd1e"`, "ok é 𝄞", 0},
		{`"a\ud800b"`, "a\uFFFDb", 1},
		{`"\udc00\ud800"`, "\uFFFD\uFFFD", 2},
		{`"\ud800\ud834\udd1e"`, "\uFFFD𝄞", 1},
		{`"\\ud800\ud800\\"`, "\\ud800\uFFFD\\", 1},
		{`"\"\uDFFF\""`, "\"\uFFFD\"", 1},
		{"\"\xff\xfe\"", "\uFFFD\uFFFD", 2},
		{"\"é\xe2\x82é\"", "é\uFFFD\uFFFDé", 2},
	}
	for _, tt := range tests {
		src := `{"x":[` + tt.src + `]}`
		d, err := Parse(src, Limits{AllowInvalidUTF8: true})
		if err != nil {
			t.Errorf("Parse(%q): %v", src, err)
			continue
		}
		v := d.Root().Get("x")
		for _, e := range v.Elems() {
			if e.Str() != tt.want {
				t.Errorf("Parse(%q): %q, want %q", src, e.Str(), tt.want)
			}
		}
		if d.Replacements() != tt.replaced {
			t.Errorf("Parse(%q): %d replaced, want %d", src, d.Replacements(), tt.replaced)
		}
		if err := Valid(v.Raw(), Limits{}); err != nil {
			t.Errorf("Parse(%q): raw text %q: %v", src, v.Raw(), err)
		}
		if d.Source()[v.Offset():v.End()] != v.Raw() {
			t.Errorf("Parse(%q): offsets do not fit the source", src)
		}
		d.Close()
	}
	for src, reason := range map[string]Reason{
		"[\"\xff\", \xff]":                   Syntax,
		"[\"\xff\"":                          Truncated,
		`["\ud800\x"]`:                       Syntax,
		`{"\ud800":1,"\ud801":2}`:            DuplicateName,
		"\xef\xbb\xbf\"\xff\"":               ByteOrderMark,
		"[\"\xff\"," + nested(300, "") + "]": TooDeep,
	} {
		if e := refusal(t, src, Limits{AllowInvalidUTF8: true}); e == nil || e.Reason != reason {
			t.Errorf("Parse(%.40q): %v, want %v", src, e, reason)
		}
	}
}

// nested returns inner inside n arrays.
func nested(n int, inner string) string {
	return strings.Repeat("[", n) + inner + strings.Repeat("]", n)
}

func TestClose(t *testing.T) {
	d, err := Parse(`{"a":["x\ny",1]}`, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	root, a := d.Root(), d.Root().Get("a")
	var text string
	for _, v := range a.Elems() {
		if v.Kind() == String {
			text = v.Str()
		}
	}
	d.Close()
	d.Close()
	other, err := Parse(`{"b":["secret",2],"c":{"d":true}}`, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, v := range []Value{root, a, d.Root()} {
		if v.Exists() || v.Raw() != "" || v.Str() != "" || v.Len() != 0 || v.Get("b").Exists() {
			t.Errorf("a value of a closed document is alive: %q", v.Raw())
		}
		for range v.Members() {
			t.Error("a value of a closed document has members")
		}
	}
	if text != "x\ny" {
		t.Errorf("a string changed after Close: %q", text)
	}
	var none *Doc
	none.Close()

	// An iteration over a document that is closed just ends.
	d, _ = Parse(`{"a":1,"b":2}`, Limits{})
	for range d.Root().Members() {
		d.Close()
	}
	d, _ = Parse(`[1,2]`, Limits{})
	for range d.Root().Elems() {
		d.Close()
	}
}
