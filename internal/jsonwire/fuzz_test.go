package jsonwire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// sameAsStandard checks that src parses to the same values as standard with
// encoding/json.
func sameAsStandard(t *testing.T, src, standard string, lim Limits) {
	t.Helper()
	d, err := Parse(src, lim)
	if err != nil {
		t.Errorf("Parse(%q): %v", src, err)
		return
	}
	defer d.Close()
	dec := json.NewDecoder(strings.NewReader(standard))
	dec.UseNumber()
	sameValue(t, dec, d.Root())
	if dec.More() {
		t.Errorf("Parse(%q): encoding/json reads on", src)
	}
}

// sameValue compares v with the next value of dec. The parser bounds the nesting.
func sameValue(t *testing.T, dec *json.Decoder, v Value) {
	t.Helper()
	token, err := dec.Token()
	if err != nil {
		t.Fatalf("%q: encoding/json: %v", v.Raw(), err)
	}
	ok := false
	switch want := token.(type) {
	case nil:
		ok = v.Kind() == Null
	case bool:
		b, isBool := v.Bool()
		ok = isBool && b == want
	case json.Number:
		ok = v.Kind() == Number && v.Raw() == want.String()
		n, err := want.Int64()
		if got, whole := v.Int(); err == nil && (!whole || got != n) {
			t.Errorf("%s.Int: %d %v", v.Raw(), got, whole)
		}
		f, err := want.Float64()
		if got, finite := v.Float(); finite != (err == nil) || finite && got != f {
			t.Errorf("%s.Float: %v %v", v.Raw(), got, finite)
		}
	case string:
		ok = v.Kind() == String && v.Str() == want && v.Is(want) && !v.Is(want+"x") &&
			decode(v.Raw()[1:len(v.Raw())-1]) == want
	case json.Delim:
		ok = true
		sameChildren(t, dec, v, want)
	}
	if !ok {
		t.Errorf("%q: %v, want %v", v.Raw(), v.Kind(), token)
	}
	checkRaw(t, v)
}

func sameChildren(t *testing.T, dec *json.Decoder, v Value, begin json.Delim) {
	n := 0
	if begin == '{' {
		for name, member := range v.Members() {
			token, err := dec.Token()
			if err != nil || token != name {
				t.Fatalf("name %q, want %v (%v)", name, token, err)
			}
			if got := v.Get(name); got != member {
				t.Errorf("Get(%q): %q, want %q", name, got.Raw(), member.Raw())
			}
			sameValue(t, dec, member)
			n++
		}
	} else {
		for i, e := range v.Elems() {
			if i != n {
				t.Errorf("element %d comes as %d", n, i)
			}
			sameValue(t, dec, e)
			n++
		}
	}
	if end, err := dec.Token(); err != nil || end != begin+2 {
		t.Fatalf("%q ends before %v (%v)", v.Raw(), end, err)
	}
	if v.Len() != n {
		t.Errorf("%q: Len %d, but %d came", v.Raw(), v.Len(), n)
	}
}

// checkRaw checks that the raw text of a value is at its offset and is a document.
func checkRaw(t *testing.T, v Value) {
	t.Helper()
	if v.Raw() == "" || v.d.Source()[v.Offset():v.End()] != v.Raw() || strings.TrimSpace(v.Raw()) != v.Raw() {
		t.Errorf("raw text %q at %d:%d", v.Raw(), v.Offset(), v.End())
	}
	if v.Len() == 0 && (!json.Valid([]byte(v.Raw())) || !utf8.ValidString(v.Raw())) {
		t.Errorf("raw text %q is not valid", v.Raw())
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", " ", "null", "[1,2.5e-3,-0]", `{"a":"\u00e9\ud834\udd1e","b":[true,false,null]}`, `{"a":1,"a":2}`,
		`{"a":1,"\u0061":2}`, `"\ud800"`, "\"\xff\"", "\xef\xbb\xbf1", `{"data":"` + strings.Repeat("QUJD", 40) + `=="}`,
		object(numbered(20)...), nested(5, "1"), `"abcdefgh\"abcdefgh\\"`, `[{},[],"",{"":{}}]`, "[1\n,\t2 ]", `"é漢😀"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		valid := json.Valid([]byte(src))
		e := refusal(t, src, Limits{})
		switch {
		case e == nil && !valid:
			t.Fatalf("accepted %q, encoding/json does not", src)
		case e == nil:
			sameAsStandard(t, src, src, Limits{})
			compact(t, src)
		case valid && (e.Reason < TooDeep || e.Reason == ByteOrderMark):
			t.Fatalf("refused %q, encoding/json does not: %v", src, e)
		}
		d, err := Parse(src, Limits{AllowInvalidUTF8: true})
		if err != nil {
			if e == nil {
				t.Fatalf("refused only by the lenient reader: %q: %v", src, err)
			}
			return
		}
		if (d.Replacements() > 0) != (e != nil) {
			t.Errorf("%q: %d replaced, strict reader: %v", src, d.Replacements(), e)
		}
		if err := Valid(d.Source(), Limits{}); err != nil {
			t.Errorf("%q: repaired to %q: %v", src, d.Source(), err)
		}
		d.Close()
		// encoding/json repairs strings in the same way.
		sameAsStandard(t, src, src, Limits{AllowInvalidUTF8: true})
	})
}

// compact checks AppendCompact on a valid document.
func compact(t *testing.T, src string) {
	t.Helper()
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(src)); err != nil {
		t.Fatal(err)
	}
	if got := AppendCompact([]byte("x"), src); string(got) != "x"+want.String() {
		t.Errorf("AppendCompact(%q): %q, want %q", src, got, &want)
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{
		"", "plain", "a\"b\\c/d\b\f\n\r\t\x00\x1f\x7f", "é\u2028\u2029漢😀", "\xff", "é\xe2\x82", "1234567\n", "12345678\"",
		strings.Repeat("x", 5000), strings.Repeat("\n", 100), strings.Repeat("x\xffé\n", 2000),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := AppendString([]byte("1"), s)
		if got[0] != '1' {
			t.Fatalf("AppendString(%q): what was there is gone", s)
		}
		got = got[1:]
		if err := Valid(string(got), Limits{}); err != nil {
			t.Fatalf("AppendString(%q): %q: %v", s, got, err)
		}
		if bytes.ContainsAny(got, "\r\n") {
			t.Errorf("AppendString(%q): a line break in %q", s, got)
		}
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != strings.ToValidUTF8(replaceEach(s), "") {
			t.Errorf("AppendString(%q): %q, which reads %q (%v)", s, got, back, err)
		}
		var w Writer
		w.String(s)
		if text := w.Text(); text != string(got) {
			t.Errorf("Writer.String(%q): %q, want %q", s, text, got)
		}
	})
}

// replaceEach returns s with each invalid byte replaced by U+FFFD.
func replaceEach(s string) string { return string([]rune(s)) }

func FuzzBase64(f *testing.F) {
	for _, s := range []string{
		"", "QQ==", "QUI=", "QUJD", "QR==", "QUJ=", "QQ=", "Q", "QQ", "Q===", "====", "=", "QUJD\n", "QU\r\nJD",
		"QUJD=", "QQ==QQ==", "Q-_Q", "Q+/Q", "Q+_Q", "QQ=Q", strings.Repeat("QUJD", 30) + "QQ==", "QUJDQUJD\xff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		oneLine := !strings.ContainsAny(s, "\r\n")
		_, err := base64.StdEncoding.Strict().DecodeString(s)
		want := err == nil && s != "" && oneLine
		if got := CheckBase64(s); (got == 0) != want || (got.String() == "") != want {
			t.Errorf("CheckBase64(%q): %v, encoding/base64: %v", s, got, err)
		}
		if !utf8.ValidString(s) {
			return
		}
		// Text that must be escaped must not be accepted unescaped.
		src := string(AppendString(nil, s))
		d, err := Parse(src, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		data, e := d.Root().Base64()
		if (e == 0) != want || want && data != s {
			t.Errorf("Base64 of %s: %q %v, want %v", src, data, e, want)
		}
		data, standard, e := d.Root().LenientBase64()
		wantAny := s != "" && oneLine && anyBase64(s)
		if (e == 0) != wantAny || standard != want || wantAny && data != s {
			t.Errorf("Base64Any of %s: %q %v %v, want %v %v", src, data, standard, e, wantAny, want)
		}
	})
}

// anyBase64 reports whether one of the four standard decoders accepts s.
func anyBase64(s string) bool {
	for _, enc := range []*base64.Encoding{
		base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding,
	} {
		if _, err := enc.Strict().DecodeString(s); err == nil {
			return true
		}
	}
	return false
}
