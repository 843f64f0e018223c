package envelope

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/polywire/polywire/content"
	"github.com/polywire/polywire/internal/codec"
)

var plainID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// TestEncodeID checks that the state in an id is restored byte for byte, and that
// every client and vendor accepts the characters of the id.
func TestEncodeID(t *testing.T) {
	long := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("s\xff", 2000)))
	for _, id := range []string{"a", "call_0", "functions.get:0", "漢字", "a b", strings.Repeat("x", 256), "toolu_pwsig_x"} {
		for _, e := range []Envelope{
			{Kind: KindIDOnly},
			{Format: "generatecontent", Kind: KindPart, Data: "CiQBc2lnLWE="},
			{Format: "generatecontent", Kind: KindPart, Data: long},
			{Format: "generatecontent", Kind: KindPart, Data: "CiQBc2lnLWE"},      // without padding
			{Format: "generatecontent", Kind: KindPart, Data: "CiQBc2lnLWF="},     // bits that base64 ignores
			{Format: "generatecontent", Kind: KindPart, Data: "_-8="},             // the other alphabet
			{Format: "generatecontent", Kind: KindPart, Data: "CiQB\nc2lnLWE=\n"}, // line breaks
			{Format: "openai-responses", Kind: KindThinking, Data: `[{"redacted":"{}"}]`},
			{Format: "a host's", Kind: KindPart, Data: "x"},
			{Format: "some-host-format", Kind: KindPart, Data: "x"},
		} {
			s, ok := EncodeID(id, e)
			if e.Format == "a host's" {
				if ok {
					t.Errorf("encoded a format with a space: %s", s)
				}
				continue
			}
			got, back, decoded := DecodeID(s)
			if !ok || !decoded || got != id || back != e {
				t.Errorf("%q %v became %q %v, %v %v", id, e, got, back, ok, decoded)
			}
			if !plainID.MatchString(s) || len(s) > MaxIDSize {
				t.Errorf("%d bytes: %s", len(s), s)
			}
		}
	}
	for _, id := range []string{"", strings.Repeat("x", 257), "a\x00", "a\n", "\xff"} {
		if s, ok := EncodeID(id, Envelope{Kind: KindIDOnly}); ok {
			t.Errorf("%q became %s", id, s)
		}
	}
	if _, ok := EncodeID("a", Envelope{Format: "f", Kind: KindPart, Data: strings.Repeat("~", MaxIDSize*3/4)}); ok {
		t.Error("an id beyond MaxIDSize was encoded")
	}
}

// TestIDLength checks the lengths that are documented: a signature of 150 bytes
// fits into the 255 bytes of a file name, and a marked id is shorter than 64.
func TestIDLength(t *testing.T) {
	s, _ := EncodeID("8f3k2j1l", Envelope{Format: "generatecontent", Kind: KindPart, Data: base64.StdEncoding.EncodeToString(make([]byte, 150))})
	if len(s) > 250 {
		t.Errorf("%d bytes for a signature of 150", len(s))
	}
	for _, id := range []string{"a", "call_" + strings.Repeat("x", 32), strings.Repeat("x", 51)} {
		m, ok := MarkID(id)
		got, marked := UnmarkID(m)
		if !ok || !marked || got != id || len(m) >= 64 || !plainID.MatchString(m) {
			t.Errorf("%q became %q and %q", id, m, got)
		}
	}
	for _, id := range []string{"", strings.Repeat("x", 52), "functions.get:0", "toolu_pwsig_x", "toolu_pwblk_x"} {
		if m, ok := MarkID(id); ok {
			t.Errorf("%q was marked: %q", id, m)
		}
	}
}

// TestDecodeIDDamaged checks that DecodeID refuses an id with any byte changed or
// cut off, and which id replaces it.
func TestDecodeIDDamaged(t *testing.T) {
	s, _ := EncodeID("call_0", Envelope{Format: "generatecontent", Kind: KindPart, Data: "CiQBc2lnLWECiQBc2lnLWECiQBc2lnLWEa"})
	for i := range s {
		for _, c := range "aAbB01_-=\n." {
			d := s[:i] + string(c) + s[i+1:]
			if d == s {
				continue
			}
			if id, e, ok := DecodeID(d); ok {
				t.Errorf("byte %d: %q was decoded: %q %v", i, d, id, e)
			}
		}
		if id, e, ok := DecodeID(s[:i]); ok {
			t.Errorf("%q was decoded: %q %v", s[:i], id, e)
		}
	}
	for _, d := range []string{s[:40], s[:64], strings.ToLower(s)} {
		got := DamagedID(d)
		if got != DamagedID(d) || len(got) > 40 || !plainID.MatchString(got) || len(d) <= 40 && got != d {
			t.Errorf("%q is replaced by %q", d, got)
		}
	}
	for i := range 20 { // the length at which some clients cut
		if a, b := DamagedID(s[:45+i]), DamagedID(s[:44+i]); a == b {
			t.Errorf("two ids are both replaced by %s", a)
		}
	}
}

func FuzzDecodeID(f *testing.F) {
	for _, e := range []Envelope{{Kind: KindIDOnly}, {Format: "generatecontent", Kind: KindPart, Data: "CiQBc2lnLWE="}, {Format: "host", Kind: KindThinking, Data: "[]"}} {
		s, _ := EncodeID("call_0", e)
		f.Add(s, "a")
	}
	f.Fuzz(func(t *testing.T, s, data string) {
		if id, e, ok := DecodeID(s); ok {
			again, ok := EncodeID(id, e)
			if id2, e2, ok2 := DecodeID(again); !ok || !ok2 || id2 != id || e2 != e {
				t.Errorf("%q: %q %v, then %q %v", s, id, e, id2, e2)
			}
		}
		if s, ok := EncodeID("x", Envelope{Format: content.Format("generatecontent"), Kind: KindPart, Data: data}); ok && data != "" {
			if _, e, ok := DecodeID(s); ok != (e.Data == data) || !codec.IsName(s) {
				t.Errorf("%q became %q", data, e.Data)
			}
		}
		if d := DamagedID(s); len(d) > 40 {
			t.Errorf("%q is replaced by %q", s, d)
		}
	})
}
