package jsonwire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
)

var longBase64 = strings.Repeat("QUJD", 100)

// base64Errors lists texts and their errors by the two rules.
var base64Errors = []struct {
	s           string
	strict, any Base64Error
}{
	{"QUJD", 0, 0},
	{"QUI=", 0, 0},
	{"QQ==", 0, 0},
	{"+/+/", 0, 0},
	{longBase64, 0, 0},
	{longBase64 + "QQ==", 0, 0},
	{"QI==", Base64TrailingBits, Base64TrailingBits}, {"QC==", Base64TrailingBits, Base64TrailingBits},
	{"QB==", Base64TrailingBits, Base64TrailingBits}, {"QUK=", Base64TrailingBits, Base64TrailingBits},
	{longBase64 + "QUI=", 0, 0},
	{"", Base64Empty, Base64Empty},
	{"=", Base64Padding, Base64Padding},
	{"==", Base64Padding, Base64Padding},
	{"====", Base64Padding, Base64Padding},
	{"QQ", Base64Padding, 0},
	{"QQ=", Base64Padding, Base64Padding},
	{"QUI", Base64Padding, 0},
	{"QUI==", Base64Padding, Base64Padding},
	{"QUJD=", Base64Padding, Base64Padding},
	{"QUJD====", Base64Padding, Base64Padding},
	{"QQ==QUJD", Base64Padding, Base64Padding},
	{"Q", Base64Length, Base64Length},
	{"QUJDQ", Base64Length, Base64Length},
	{"QUJDQ===", Base64Padding, Base64Padding},
	{"QR==", Base64TrailingBits, Base64TrailingBits},
	{"QUJ=", Base64TrailingBits, Base64TrailingBits},
	{"QR", Base64Padding, Base64TrailingBits},
	{longBase64 + "QR==", Base64TrailingBits, Base64TrailingBits},
	{longBase64 + "QQ", Base64Padding, 0},
	{longBase64 + "Q", Base64Length, Base64Length},
	{"QU\nJD", Base64LineBreak, Base64LineBreak},
	{"QUJD\r\n", Base64LineBreak, Base64LineBreak},
	{"QU D", Base64Alphabet, Base64Alphabet},
	{"QUJ\x00", Base64Alphabet, Base64Alphabet},
	{"QUJé", Base64Alphabet, Base64Alphabet},
	{"-_-_", Base64Alphabet, 0},
	{"-_-", Base64Alphabet, Base64TrailingBits},
	{"-_w=", Base64Alphabet, 0},
	{"-/-_", Base64Alphabet, Base64Mixed},
	{"+_AA", Base64Alphabet, Base64Mixed},
	{longBase64 + "-_-_", Base64Alphabet, 0},
	{longBase64 + "-_+_", Base64Alphabet, Base64Mixed},
	{longBase64 + "!", Base64Alphabet, Base64Alphabet},
	{"!" + longBase64, Base64Alphabet, Base64Alphabet},
	{longBase64 + "=" + longBase64, Base64Padding, Base64Padding},
}

func TestBase64Errors(t *testing.T) {
	for _, tt := range base64Errors {
		if got := CheckBase64(tt.s); got != tt.strict {
			t.Errorf("CheckBase64(%q): %v, want %v", tt.s, got, tt.strict)
		}
		if got := CheckLenientBase64(tt.s); got != tt.any {
			t.Errorf("CheckBase64Any(%q): %v, want %v", tt.s, got, tt.any)
		}
		if strings.ContainsAny(tt.s, "\r\n\x00") {
			tt.strict, tt.any = Base64Escaped, Base64Escaped
		}
		for _, format := range []string{`%s`, `{"data":%s}`, `[%s,1]`} {
			v := mustParse(t, fmt.Sprintf(format, AppendString(nil, tt.s)))
			if v.Kind() == Object {
				v = v.Get("data")
			}
			for _, e := range v.Elems() {
				v = e
				break
			}
			if data, got := v.Base64(); got != tt.strict || got == 0 && data != tt.s {
				t.Errorf("Base64 of %s: %q %v, want %v", v.Raw(), data, got, tt.strict)
			}
			if data, standard, got := v.LenientBase64(); got != tt.any || got == 0 && data != tt.s || standard != (tt.strict == 0) {
				t.Errorf("Base64Any of %s: %q %v %v, want %v", v.Raw(), data, standard, got, tt.any)
			}
		}
	}
}

// TestBase64EveryByte puts each byte at each index of a word.
func TestBase64EveryByte(t *testing.T) {
	for c := range 256 {
		for at := range 16 {
			p := []byte("QUJDQUJDQUJDQUJDQUJD")
			p[at] = byte(c)
			_, err := base64.StdEncoding.Strict().DecodeString(string(p))
			if want := err == nil && c != '\n' && c != '\r'; (CheckBase64(string(p)) == 0) != want {
				t.Errorf("%q: %v, encoding/base64: %v", p, CheckBase64(string(p)), err)
			}
		}
	}
}

// TestLongTexts puts a byte at indexes around those where texts are read ahead, and at the end.
func TestLongTexts(t *testing.T) {
	const size = maxDecoded + 3*block
	standard, other := strings.Repeat("QUJD", size/4), strings.Repeat("-_-_", size/4)
	plain := strings.Repeat("text", size/4)
	for _, from := range []int{0, block - 9, 2*block - 16, maxDecoded - 9, size - 16} {
		for at := from; at < from+16; at++ {
			put := func(s, c string) string { return s[:at] + c + s[at+1:] }
			if e := CheckBase64(put(standard, "-")); e != Base64Alphabet {
				t.Errorf("standard alphabet at %d: %v", at, e)
			}
			if e := CheckLenientBase64(put(standard, "_")); e != 0 {
				t.Errorf("an underscore at %d: %v", at, e)
			}
			if e := CheckLenientBase64(put(other, "+")); e != Base64Mixed {
				t.Errorf("both alphabets at %d: %v", at, e)
			}
			if e := CheckLenientBase64(put(other, "!")); e != Base64Alphabet {
				t.Errorf("other alphabet at %d: %v", at, e)
			}
			for _, prefix := range []string{`"`, `"\n`, `"` + standard[:72]} {
				_, err := Parse(prefix+put(plain, "\x01")+`"`, Limits{})
				if e := (*SyntaxError)(nil); !errors.As(err, &e) || e.Offset != len(prefix)+at {
					t.Errorf("a control character at %d after %.8s: %v", at, prefix, err)
				}
			}
			if end := plainEnd(put(plain, `"`), 0); end != at {
				t.Errorf("a quote at %d: %d", at, end)
			}
		}
	}
}

// TestBase64Swept checks that the scan remembers long base64, so that Base64 takes
// constant time.
func TestBase64Swept(t *testing.T) {
	for _, n := range []int{17, 18, 19, 20, 100, 10_000} {
		for _, end := range []string{"", "QQ==", "QUI="} {
			v := mustParse(t, `{"data":"`+strings.Repeat("QUJD", n)+end+`"}`).Get("data")
			if node := v.node(); node.meta&flagBase64 == 0 {
				t.Errorf("%d times 4 and %q: not remembered", n, end)
			}
		}
	}
	for _, s := range []string{
		strings.Repeat("QUJD", 100) + "-QUJ", strings.Repeat("QUJD", 100) + "===", " " + strings.Repeat("QUJD", 100),
		strings.Repeat("QUJD", 100) + "=QUJ", strings.Repeat("QUJD", 100) + `\n`, strings.Repeat("QUJD", 100) + `é`,
		strings.Repeat("QUJD", 100) + `==\n`, strings.Repeat("QUJD", 100) + `==é`,
	} {
		v := mustParse(t, `{"data":"`+s+`"}`).Get("data")
		if node := v.node(); node.meta&flagBase64 != 0 {
			t.Errorf("%q: remembered as base64", s)
		}
	}
}

func TestBase64ErrorStrings(t *testing.T) {
	seen := make(map[string]bool)
	for e := Base64NotString; e <= Base64TrailingBits; e++ {
		if e.String() == "" || seen[e.String()] {
			t.Errorf("%d: %q", e, e)
		}
		seen[e.String()] = true
	}
	if Base64Error(0).String() != "" {
		t.Error("0 has a text")
	}
}
